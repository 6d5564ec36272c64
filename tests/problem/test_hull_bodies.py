"""Figures that keep clear with boxes and hulls: residuals, slopes, answers, and what else reads them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.files.scene.text import read_scene_file, write_scene
from supple.geometry.distances import distance_between
from supple.geometry.shapes import Ball, Box, Capsule, Hull, Polytope
from supple.kernels.compiling import INTERPRETED

HEAP = np.random.default_rng(5).normal(size=(14, 3)) * (0.04, 0.03, 0.1)
OBSTACLES = {
    "box": Box((0.35, -0.2, 0.1), (0.55, 0.2, 0.4)),
    "ball": Ball((0.3, 0.4, 0.5), 0.15),
    "bar": Capsule.between((-0.3, -0.5, 0.3), (0.3, -0.5, 0.3), 0.05),
    "heap": Hull(np.add(HEAP, (0.2, 0.3, 0.9)), 0.02),
    "floor": Polytope.half_space((0, 0, -0.1), (0, 0, 1)),
}


def arm() -> supple.Figure:
    """The Panda with a box for a hand, a hull for a forearm, and capsules elsewhere."""
    plain = supple.load("panda")
    return plain.with_solids(
        {
            **dict.fromkeys(plain.segments, ()),
            "panda_link2": (Capsule(0.06, 0.15),),
            "panda_link4": (Ball((0, 0, 0), 0.07),),
            "panda_link5": (Hull(np.subtract(HEAP, (0, 0, 0.1)), 0.02),),
            "panda_hand": (Box((-0.03, -0.1, 0), (0.03, 0.1, 0.1)),),
        }
    )


def problem(**more: object) -> supple.Problem:
    figure = arm()
    pose = figure.placement(figure.rest, "panda_hand")
    task = supple.Task("panda_hand", supple.Placed(pose))
    return supple.Problem(figure, [task], obstacles=OBSTACLES, clearance=supple.Clearance(0.01, itself=True), **more)  # pyright: ignore


def test_residuals_are_what_the_audit_finds_and_slopes_are_differences():
    stated = problem()
    figure, rng, touched = stated.figure, np.random.default_rng(2), 0
    for q in rng.uniform(figure.lower, figure.upper, (6 if INTERPRETED else 25, figure.size)):
        rho, J = stated.jacobian(q)
        worst = max(miss.metres for miss in stated.misses(q)[1:])
        assert rho[6:].max() == pytest.approx(worst, abs=1e-9)
        touched += worst > 0.0
        step, slopes = 1e-6, np.empty_like(J)
        for i in range(figure.size):
            ends = [stated.jacobian(q + sign * step * np.eye(figure.size)[i])[0] for sign in (1, -1)]
            slopes[:, i] = (ends[0] - ends[1]) / (2 * step)
        kinks = np.abs(slopes - J).max(axis=1) > 1e-4  # the nearest point jumps, or the pair parts, within the step
        assert kinks.sum() <= 2
    assert touched


@pytest.mark.skipif(INTERPRETED, reason="many searches")
def test_answers_keep_clear():
    stated = problem()
    figure, query, solved, moved = stated.figure, supple.prepare(stated), 0, 0
    for q in np.random.default_rng(4).uniform(figure.lower, figure.upper, (60, figure.size)):
        solution = query(figure.placement(q, "panda_hand"))
        solved += solution.ok
        if solution.ok:
            assert max(miss.metres for miss in solution.problem.misses(solution.q)) < 1e-5
            moved += max(miss.metres for miss in stated.misses(q)[1:]) > 0.01
    assert solved > 25
    assert moved > 0  # some postures that reach the target would have been in the way


def test_a_box_is_no_capsule_through_its_corners():
    plate = Box((-0.3, -0.3, 0.0), (0.3, 0.3, 0.02))
    figure = supple.load("panda").with_solids({"panda_hand": (plate,)})
    figure = figure.with_solids({s: () for s in figure.segments if s != "panda_hand"})
    at = figure.placement(figure.rest, "panda_hand")
    above = (at @ (0, 0, 0.2, 1))[:3]
    assert supple.Problem(figure, [], obstacles=[Ball(tuple(above), 0.1)]).misses(figure.rest)[0].metres == 0.0
    near = (at @ (0, 0, 0.1, 1))[:3]
    assert supple.Problem(figure, [], obstacles=[Ball(tuple(near), 0.1)]).misses(figure.rest)[
        0
    ].metres == pytest.approx(0.02)


def test_what_knows_bars_alone_takes_capsules_around():
    figure = arm()
    assert all(isinstance(bar, Ball | Capsule) for bars in figure.round_bars.values() for bar in bars)
    points = np.array([*HEAP]) - (0, 0, 0.1)
    (around,) = figure.round_bars["panda_link5"]
    assert all(distance_between(Ball(tuple(p), 0.02), around) <= -0.04 + 1e-9 for p in points)


def test_proofs_leave_out_what_they_cannot_speak_of():
    stated = problem()
    far = stated.aimed(supple.place((5.0, 0.0, 0.0)))
    solution = supple.solve(far, prove=True)
    assert solution.status in (supple.Status.IMPOSSIBLE, supple.Status.NEAREST)
    if solution.certificate is not None:
        assert solution.certificate.checked()


def test_scene_files_hold_hulls_and_boxes(tmp_path: Path):
    scene = supple.Scene(arm(), obstacles=OBSTACLES)
    write_scene(scene, tmp_path / "scene.json")
    again = read_scene_file(tmp_path / "scene.json", supple.load)
    assert again.figure.solids == scene.figure.solids
    assert again.obstacles == scene.obstacles
