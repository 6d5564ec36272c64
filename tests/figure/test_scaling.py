"""Scaled figures: places scale, everything else stays."""

from __future__ import annotations

import numpy as np
import pytest

import supple
from supple.figure import catalogue
from supple.figure.joints import angular
from supple.geometry.shapes import Ball, Body, Box, Capsule, Cylinder


def screwed() -> supple.Figure:
    """All that has a length: slides, a screw, joints that follow angles and lengths, a loop, shapes, a bound."""
    curve = supple.figure.Spline((-0.2, 0.0, 0.3, 0.5), (0.02, 0.0, -0.01, 0.05), ends="cubic")
    bend = supple.figure.PiecewisePolynomial(((-0.1, 0.01, 0.2, -0.3), (0.2, 0.03, 0.1, 0.4)))
    parts = [
        *supple.hinge("a", None, at=(0.1, 0.2, 0.3)),
        *supple.slide("lift", "a", (1, 2, 0), at=(0.0, 0.1, 0.2), limits=(-0.2, 0.3), rest=0.1, speed=2.0),
        *supple.screw("drill", "lift", (0, 1, 1), 0.05, at=(0.2, 0.0, 0.0)),
        *supple.slide("by_angle", "drill", drive=supple.figure.Drive.by({"a": curve}, 0.04), at=(0.0, 0.3, 0.0)),
        *supple.slide("by_length", "by_angle", (1, 0, 0), drive=supple.figure.Drive.by({"lift": bend}, 0.02)),
        *supple.hinge("turned", "by_length", (1, 0, 0), drive=supple.figure.Drive.by({"lift": bend, "a": 0.5}, 0.3)),
        *supple.fixed("tip", "turned", at=(0.0, 0.0, 0.4)),
    ]
    shapes = (Ball((0.1, 0.0, 0.2), 0.03), Box((0, 0, 0), (0.1, 0.2, 0.3)), Cylinder(0.1, 0.2), Capsule(0.1, 0.3))
    return supple.Figure(
        "screwed",
        parts,
        bodies={"turned": Body(2.0, (0.1, 0.2, 0.3), shapes)},
        loops=[supple.Loop("ring", "tip", "a", supple.place((0.1, 0.0, 0.2)), supple.place((0.0, 0.3, 0.0)))],
        bounds=[supple.figure.LinearLimit.of({"lift": 2.0, "a": 0.3}, 1.0)],
        markers={"dot": supple.Point("tip", (0.1, 0.2, 0.3))},
    )


def stretched(figure: supple.Figure, q: np.ndarray, factor: float) -> np.ndarray:
    turns = angular(figure.joints.values())
    return np.where([turns[name] for name in figure.coordinates], q, factor * q)


@pytest.mark.parametrize("name", [*catalogue.names(), "screwed"])
def test_one_factor_scales_all_places(name: str) -> None:
    figure = screwed() if name == "screwed" else supple.load(name)
    larger, factor = figure.scaled(1.3), 1.3
    rng = np.random.default_rng(0)
    for q in (figure.rest, figure.rest + rng.uniform(-0.1, 0.1, figure.size)):
        here, there = figure.placements(q), larger.placements(stretched(figure, q, factor))
        for segment in figure.segments:
            np.testing.assert_allclose(there[segment][:3, 3], factor * here[segment][:3, 3], atol=1e-12)
            np.testing.assert_allclose(there[segment][:3, :3], here[segment][:3, :3], atol=1e-12)
        if any(body.mass for body in figure.bodies.values()):
            centre = larger.mass_centre(stretched(figure, q, factor))
            np.testing.assert_allclose(centre, factor * figure.mass_centre(q), atol=1e-12)
    np.testing.assert_allclose(larger.rest, stretched(figure, figure.rest, factor), atol=1e-12)
    np.testing.assert_allclose(larger.lower, stretched(figure, figure.lower, factor), atol=1e-12)
    assert {s: b.mass for s, b in larger.bodies.items()} == {s: b.mass for s, b in figure.bodies.items()}


def test_shapes_markers_loops_and_bounds_scale() -> None:
    figure = screwed()
    larger, q = figure.scaled(2.0), figure.rest + 0.1
    wide = stretched(figure, q, 2.0)
    ball, box, cylinder, capsule = larger.bodies["turned"].shapes
    assert isinstance(ball, Ball)
    assert isinstance(box, Box)
    assert isinstance(cylinder, Cylinder)
    assert isinstance(capsule, Capsule)
    assert (ball.radius, ball.centre, box.upper) == (0.06, (0.2, 0.0, 0.4), (0.2, 0.4, 0.6))
    assert (cylinder.length, capsule.radius) == (0.4, 0.2)
    for seen in (figure.markers["dot"], supple.Gap(supple.Frame("tip"), supple.Frame("a"))):
        grown = larger.markers["dot"] if isinstance(seen, supple.Point) else seen
        np.testing.assert_allclose(larger.seen(wide, grown)[:3, 3], 2.0 * figure.seen(q, seen)[:3, 3], atol=1e-12)
    np.testing.assert_allclose(larger.loops[0].at_a[:3, 3], (0.2, 0.0, 0.4))
    sums = [
        sum(c * posture[f.coordinates.index(name)] for name, c in f.bounds[0].coefficients)
        for f, posture in ((figure, q), (larger, wide))
    ]
    assert sums[1] == pytest.approx(sums[0])
    assert larger.speed[larger.coordinates.index("lift")] == 2.0 * figure.speed[figure.coordinates.index("lift")]


def test_one_segment_scales_alone() -> None:
    human = supple.load("human").with_markers(
        {"KNE": ("thigh_l", (0.0, 0.05, -0.4)), "top": ("head.top", (0, 0, 0.01))}
    )
    longer = human.scaled({"thigh_l": 1.2, "head": 1.1})
    q = human.rest + 0.1
    here, there = human.placements(q), longer.placements(q)
    thigh = [f["shank_l"][:3, 3] - f["thigh_l"][:3, 3] for f in (here, there)]
    np.testing.assert_allclose(thigh[1], 1.2 * thigh[0], atol=1e-12)
    np.testing.assert_allclose(there["hand_r"], here["hand_r"], atol=1e-12)
    np.testing.assert_allclose(
        there["foot_l"][:3, 3] - there["shank_l"][:3, 3], here["foot_l"][:3, 3] - here["shank_l"][:3, 3], atol=1e-12
    )
    np.testing.assert_allclose(longer.markers["KNE"].offset, np.multiply(1.2, human.markers["KNE"].offset))
    assert longer.markers["top"].offset[2] == pytest.approx(0.011), "a frame welded to a segment has its size"
    with pytest.raises(supple.UnknownName, match="thigh_l"):
        human.scaled({"thigh": 1.2})
    for bad in (0.0, -1.0, np.nan, "big"):
        with pytest.raises(supple.BadValue, match="positive"):
            human.scaled(bad)  # pyright: ignore[reportArgumentType]


def test_what_stands_behind_a_joint_belongs_to_its_child() -> None:
    """A body's frame away from its joint, as OSIM files have it: scaling the body moves its origin, not the joint."""
    parts = [
        *supple.hinge("hip", None, at=(0, 0, 1), segment="thigh"),
        supple.Joint("knee", "thigh", supple.place((0, 0, -0.4)), (0, 1, 0)),
        supple.Joint("shank.origin", "knee'", supple.place((0, 0, -0.2)), segment="shank"),
    ]
    figure = supple.Figure("leg", parts)
    assert figure.scaled({"shank": 2.0}).placement([0, 0], "shank")[2, 3] == pytest.approx(0.2)
    assert figure.scaled({"thigh": 2.0}).placement([0, 0], "shank")[2, 3] == pytest.approx(0.0)
