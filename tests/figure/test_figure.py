"""Figures: names, order, chains, limits, rest, values that do not change, and refusals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from supple.errors import BadValue, Error, UnknownName
from supple.figure.curves import Spline
from supple.figure.drives import Drive, LinearLimit, mimic
from supple.figure.effectors import Direction, Frame, Gap, MassCentre, Point
from supple.figure.figure import Figure, Loop
from supple.figure.joints import ball, fixed, free, hinge, slide, universal
from supple.geometry.placements import X, inverse, place
from supple.geometry.shapes import Body
from tests.tables.figures import FIGURES, FIXED, FOUR_BAR, TREES, assert_close, posture, slope, trees

ARM, MIXED, TWINS = TREES["arm"], TREES["mixed"], TREES["twins"]


# ── names and order ──────────────────────────────────────────────────────────────────────────────────────────────────
@given(trees(), st.randoms())
@settings(max_examples=40)
def test_the_order_of_parts_does_not_matter_for_what_they_mean(figure: Figure, random: Any):
    parts = list(figure.joints.values())
    random.shuffle(parts)
    other = Figure("shuffled", parts, bodies=figure.bodies)
    assert set(other.coordinates) == set(figure.coordinates)
    q = dict(zip(figure.coordinates, np.linspace(-1, 1, figure.size), strict=True))
    here = figure.placements([q[name] for name in figure.coordinates])
    there = other.placements([q[name] for name in other.coordinates])
    for segment, T in here.items():
        assert_allclose(there[segment], T, rtol=0, atol=1e-12)


@given(trees())
@settings(max_examples=40)
def test_parents_come_first_and_subtrees_stay_together(figure: Figure):
    seen: set[str | None] = {None}
    for joint in figure.joints.values():
        assert joint.parent in seen
        seen.add(joint.key)
    position = {segment: k for k, segment in enumerate(figure.segments)}
    for segment in figure.segments:
        above = figure.parent_of(segment)
        assert above is None or position[above] < position[segment]


@pytest.mark.parametrize("name", TREES)
def test_the_pack_says_how_far_each_joint_s_subtree_goes(name: str):
    packed = TREES[name].packed
    last = packed.tables["LAST"]
    for joint in range(packed.count):
        below = [j for j in range(packed.count) if joint in packed.path(j + 1)]
        assert below == list(range(joint, last[joint] + 1))


def test_the_pack_of_a_chain_is_in_proportion_to_its_length():
    def packed(n: int) -> int:
        joints = [hinge(f"j{i}", f"j{i - 1}" if i else None, X, (0, 0, 1)) for i in range(n)]
        return sum(table.size for table in Figure("chain", [j for (j,) in joints]).packed.tables.values())

    assert packed(400) - packed(200) == packed(200) - packed(0)


def test_names_of_the_mixed_figure():
    assert MIXED.size == len(MIXED.coordinates) == 14
    assert "wrist" not in MIXED.coordinates  # it follows the elbow
    assert MIXED.segments[0] == "root"
    assert MIXED.parent_of("root") is None
    assert MIXED.parent_of("hand") == "wrist"
    assert MIXED.parent_of("shoulder") == "root"
    assert MIXED.joints_of("shoulder") == ("shoulder.z", "shoulder.y", "shoulder.z2")
    assert MIXED.joints_of("hand") == ()
    assert MIXED.joints_of("wrist") == ("wrist",)


def test_chains():
    assert ARM.chain(None, "hand") == ("waist", "shoulder", "elbow", "wrist")
    assert ARM.chain("shoulder", "hand") == ("elbow", "wrist")
    assert ARM.chain("hand", "shoulder") == ("elbow", "wrist")
    assert ARM.chain("hand", "hand") == ()
    assert MIXED.chain("elbow", "hand") == ("elbow",)  # the wrist in between follows the elbow
    assert MIXED.chain("rail", "foot") == ("rail", "knuckle.y", "knuckle.x")
    names = TWINS.chain("left hand", "right hand")
    assert names == tuple(n for n in TWINS.coordinates if n.startswith(("left", "right")))


@pytest.mark.parametrize("name", TREES)
def test_a_chain_is_what_moves_one_segment_as_seen_from_another(name: str):
    figure = TREES[name]
    q = posture(figure, 2, 0.5)
    for start, end in itertools.permutations(figure.segments, 2):

        def seen(x: np.ndarray, a: str = start, b: str = end) -> np.ndarray:
            return inverse(figure.placement(x, a)) @ figure.placement(x, b)

        change = np.abs(slope(seen, q)).max(axis=(0, 1))
        moving = {joint for joint, c in zip(figure.coordinates, change, strict=True) if c > 1e-6}
        assert moving <= set(figure.chain(start, end))


# ── what effectors read ──────────────────────────────────────────────────────────────────────────────────────────────
def test_what_is_seen_of_effectors():
    q = posture(MIXED, 3)
    T = MIXED.placement(q, "hand")
    assert_allclose(MIXED.seen(q, "hand"), T)
    assert_allclose(MIXED.seen(q, Point("hand", (1, 2, 3)))[:3, 3], (T @ [1, 2, 3, 1])[:3])
    assert_allclose(MIXED.seen(q, Direction("hand", (0, 3, 4)))[:3, 0], T[:3, :3] @ [0, 0.6, 0.8], atol=1e-15)
    gap = MIXED.seen(q, Gap(Frame("foot", place((1, 0, 0))), Point("hand")))
    assert_allclose(MIXED.placement(q, "foot") @ place((1, 0, 0)) @ gap, T, atol=1e-14)
    assert_allclose(MIXED.seen(q, MassCentre())[:3, 3], MIXED.mass_centre(q))


@pytest.mark.parametrize("name", TREES)
def test_jacobians_are_slopes(name: str):
    figure = TREES[name]
    q = posture(figure, 5, 0.6)
    for segment in figure.segments:
        J = figure.jacobian(q, segment)
        assert_close(J[:3], slope(lambda x, s=segment: figure.placement(x, s)[:3, 3], q), 1e-8)
        D = figure.jacobian(q, Direction(segment, (0, 0, 1)))
        assert_close(D, slope(lambda x, s=segment: figure.placement(x, s)[:3, 2], q), 1e-8)


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", [*FIGURES, "fixed"])
def test_figures_do_not_change(name: str):
    figure = {**FIGURES, "fixed": FIXED}[name]
    with pytest.raises(FrozenInstanceError):
        figure.name = "other"  # type: ignore[misc]
    for array in (figure.lower, figure.upper, figure.rest, figure.speed):
        assert array.shape == (figure.size,)
        assert array.dtype == np.float64
        assert not array.flags.writeable
    assert figure.limits.contains(figure.rest)
    with pytest.raises(TypeError, match="never changes"):
        figure.joints["other"] = None  # type: ignore[index]
    assert list(figure.joints.values()) == [figure.joint_of[joint.key] for joint in figure.joints.values()]


def test_a_caller_may_write_into_what_placement_returns():
    q = posture(ARM, 1)
    T = ARM.placement(q, "hand")
    kept = T.copy()
    T[:] = 0.0
    assert_array_equal(ARM.placement(q, "hand"), kept)


def test_the_posture_is_left_alone():
    q = np.array([5.0, 5.0, 5.0, 5.0])
    ARM.placement(q, "hand")
    assert_array_equal(q, 5.0)


def test_rest_is_zero_or_what_is_said_and_moves_into_the_limits_only_if_nothing_was_said():
    assert_array_equal(Figure("f", hinge("a", None, limits=(0.5, 1))).rest, [0.5])
    assert_array_equal(Figure("f", hinge("a", None, limits=(0.5, 1), rest=0.75)).rest, [0.75])


def test_what_follows_one_coordinate_slows_it_down():
    curve = Spline((-1, 0, 0.5, 1.5), (-0.4, 0, 0.3, 0.5))
    slopes = [abs(curve(x + 1e-6) - curve(x - 1e-6)) / 2e-6 for x in np.linspace(-2, 2, 4001)]
    figure = Figure(
        "f",
        [
            *hinge("a", None, speed=2.0),
            *hinge("b", "a", drive=mimic("a", -4.0), speed=3.0),
            *hinge("c", "b"),
            *hinge("d", "c", drive=Drive.by({"c": curve}), speed=1.5),
            *hinge("e", "d", drive=Drive.by({"a": 100.0, "c": 100.0}), speed=1.0),
        ],
    )
    assert_allclose(figure.speed, [0.75, 1.5 / max(slopes)], rtol=1e-6)


def test_speeds_are_kept():
    assert_array_equal(Figure("f", [*hinge("a", None, speed=2.0), *slide("b", "a")]).speed, [2.0, math.inf])


def test_bounds_are_limits_by_name():
    figure = Figure("f", [*hinge("a", None), *hinge("b", "a")], bounds=[LinearLimit.of({"a": 1, "b": -2}, 3)])
    assert figure.limits.contains([3, 0])
    assert not figure.limits.contains([3.1, 0])
    assert figure.limits.contains([5, 1])


def test_closed_loops_are_kept():
    assert FOUR_BAR.loops[0].name == "pin"
    assert FOUR_BAR.loops[0].at_a.shape == (4, 4)


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────────
NAN = math.nan
REFUSED: dict[str, tuple[Callable[[], Any], type[Error], str]] = {
    "forgotten star": (lambda: Figure("f", [hinge("a", None)]), BadValue, r"did a constructor miss its \*\?"),
    "two joints": (
        lambda: Figure("f", [*hinge("a", None), *hinge("a", None, segment="b")]),
        BadValue,
        "two .* called 'a'",
    ),
    "two segments": (lambda: Figure("f", [*hinge("a", None), *fixed("a", "a")]), BadValue, "two .* called 'a'"),
    "unknown parent": (lambda: Figure("f", hinge("a", "b")), UnknownName, "joint 'a' hangs on 'b', which figure 'f'"),
    "a cycle": (
        lambda: Figure("f", [*hinge("a", "c"), *hinge("b", "a"), *hinge("c", "b")]),
        BadValue,
        "has a cycle among a, b, c; close loops with Loop instead",
    ),
    "hangs on itself": (lambda: Figure("f", hinge("a", "a")), BadValue, "has a cycle among a"),
    "body of a stranger": (
        lambda: Figure("f", hinge("arm", None), bodies={"arn": Body(1)}),
        UnknownName,
        "figure 'f' has no segment called 'arn'; did you mean arm",
    ),
    "loop of a stranger": (
        lambda: Figure("f", hinge("arm", None), loops=[Loop("l", "arm", "leg")]),
        UnknownName,
        "loop 'l' of figure 'f': it has no segment called 'leg'",
    ),
    "loop of NaN": (lambda: Loop("l", "a", "b", (NAN, 0, 0)), BadValue, "end a of loop 'l' must be finite"),
    "rest beyond a bound": (
        lambda: Figure("f", hinge("a", None, rest=2.0), bounds=[LinearLimit.of({"a": 1}, 1)]),
        BadValue,
        "the rest posture of figure 'f' is outside its limits",
    ),
    "rest beyond a limit": (
        lambda: Figure("f", hinge("a", None, limits=(0, 1), rest=2.0)),
        BadValue,
        "the rest .* outside its limits",
    ),
    "short posture": (
        lambda: ARM.placement([0, 0], "hand"),
        BadValue,
        r"posture of 'arm' has 4 coordinates, not shape \(2,\)",
    ),
    "deep posture": (lambda: ARM.placement(np.zeros((1, 1, 4)), "hand"), BadValue, "has 4 coordinates, not shape"),
    "words": (lambda: ARM.placement("hello", "hand"), BadValue, "a posture of 'arm' must be real numbers, not 'hello'"),
    "NaN posture": (lambda: ARM.placement([0, 0, NAN, 0], "hand"), BadValue, "a posture of 'arm' must be finite"),
    "infinite posture": (lambda: ARM.jacobian([0, 0, math.inf, 0], "hand"), BadValue, "must be finite"),
    "unknown segment": (
        lambda: ARM.placement(ARM.rest, "hnad"),
        UnknownName,
        "no segment called 'hnad'; did you mean hand",
    ),
    "unknown effector": (
        lambda: ARM.jacobian(ARM.rest, Point("leg")),
        UnknownName,
        "figure 'arm' has no segment called 'leg'",
    ),
    "unknown chain": (lambda: ARM.chain("elbow", "leg"), UnknownName, "has no segment called 'leg'"),
    "unknown start": (lambda: ARM.chain("leg", "elbow"), UnknownName, "has no segment called 'leg'"),
    "jacobian of a gap": (lambda: ARM.jacobian(ARM.rest, MassCentre()), BadValue, r"use Problem\.jacobian for gaps"),
    "no mass": (lambda: FOUR_BAR.mass_centre([0, 0, 0]), BadValue, "figure 'four-bar' has no mass"),
    "negative mass": (lambda: Body(-1.0), BadValue, "a body's mass must be finite and not negative"),
    "no effector": (
        lambda: ARM.seen(ARM.rest, 3),
        BadValue,
        "an effector is a Point, Direction, Frame, MassCentre, Gap",
    ),
    "NaN offset": (lambda: Point("hand", (NAN, 0, 0)), BadValue, "the offset of the point on 'hand' must be finite"),
    "zero direction": (
        lambda: Direction("hand", (0, 0, 0)),
        BadValue,
        "the direction on 'hand' must not have length zero",
    ),
    "reflected frame": (lambda: Frame("hand", np.diag([1, 1, -1, 1])), BadValue, "the frame on 'hand' is a reflection"),
    "gap of a mass": (lambda: Gap(Point("hand"), MassCentre()), BadValue, "the ends of a gap are points"),  # type: ignore
    "jacobian of a stack": (lambda: ARM.jacobian(np.zeros((2, 2, 4)), "hand"), BadValue, "posture"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str):
    make, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        make()


def test_a_weld_may_bear_the_name_of_a_joint_that_others_follow():
    parts = [*hinge("a", None, segment="x"), *fixed("a", "x"), *hinge("b", "a", drive=mimic("a"))]
    assert Figure("f", parts).coordinates == ("a",)


def test_joints_with_and_without_segments_may_hang_on_one_another():
    figure = Figure(
        "f", [*free("r"), *ball("b", "r.z'", at=(1, 0, 0)), *universal("u", "b.y'", "xy"), *hinge("h", "u", X)]
    )
    assert figure.parent_of("b") is None
    assert figure.parent_of("u") is None
    assert figure.joints_of("u") == ("r.tx", "r.ty", "r.tz", "r.z", "b.z", "b.y", "u.x", "u.y")
    assert figure.chain("r", "b") == ("r.y", "r.x", "b.z", "b.y", "b.x")
