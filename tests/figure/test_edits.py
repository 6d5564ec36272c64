"""New figures from old: laws that relate the placements of both, and refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from supple.errors import BadValue, Error, UnknownName
from supple.figure.drives import Coordinate, Drive, Group, LinearLimit, mimic
from supple.figure.figure import Figure
from supple.figure.joints import ball, fixed, free, hinge
from supple.geometry.placements import X, inverse, place
from supple.geometry.shapes import Ball, Capsule
from supple.problem.problem import Problem
from tests.tables.figures import FIGURES, FOUR_BAR, TREES, posture, somewhere, trees

ARM, MIXED, TWINS, SPINE = (TREES[name] for name in ("arm", "mixed", "twins", "spine"))


def by_name(old: Figure, q: np.ndarray, new: Figure) -> np.ndarray:
    """The same posture in the order of another figure."""
    values = dict(zip(old.coordinates, q, strict=True))
    return np.array([values[name] for name in new.coordinates])


def assert_same_places(
    old: Figure, q: np.ndarray, new: Figure, moved: np.ndarray | None = None, q_new: Any = None
) -> None:
    """Every segment of the old figure is at the same place in the new one, after moving the old one as a whole."""
    there = new.placements(by_name(old, q, new) if q_new is None else q_new)
    for segment, T in old.placements(q).items():
        assert_allclose(there[segment], T if moved is None else moved @ T, rtol=0, atol=1e-12, err_msg=segment)


# ── limits and rest ──────────────────────────────────────────────────────────────────────────────────────────────────
def test_with_limits_changes_only_what_is_named():
    new = ARM.with_limits({"elbow": (1, 2), "waist": (-math.inf, 0.5)})
    assert_array_equal(new.lower, [-math.inf, -2, 1, -1.5])
    assert_array_equal(new.upper, [0.5, 2, 2, 1.5])
    assert_array_equal(new.rest, [0, 0, 1, 0])
    assert_array_equal(ARM.lower, [-3, -2, 0, -1.5])
    assert_same_places(ARM, posture(ARM, 1), new)


def test_with_limits_of_a_joint_of_several_coordinates():
    one = TWINS.with_limits({"left shoulder": (-1, 1)})
    each = TWINS.with_limits({"left shoulder": [(-1, 0), (-2, 0), (-3, 0)]})
    at = [TWINS.coordinates.index(f"left shoulder.{a}") for a in "yxz"]
    assert_array_equal(one.lower[at], [-1, -1, -1])
    assert_array_equal(each.lower[at], [-1, -2, -3])


def test_with_limits_of_a_group():
    assert_array_equal(SPINE.with_limits({"bow": (-0.5, 0.25)}).upper[:2], [0.25, 1.2])


def test_with_limits_sets_speeds_and_every_edit_keeps_them():
    new = ARM.with_limits({"elbow": (1, 2)}, speed={"elbow": 0.5, "waist": 2})
    assert_array_equal(new.speed, [2, math.inf, 0.5, math.inf])
    assert_array_equal(new.with_limits(speed={"elbow": math.inf}).speed, [2, math.inf, math.inf, math.inf])
    assert_array_equal(new.upper, [3, 2, 2, 1.5])
    assert_array_equal(ARM.speed, [math.inf] * 4)
    assert_array_equal(new.locked("waist").speed, [math.inf, 0.5, math.inf])
    assert_array_equal(new.attached("tool", "hand").based_at((1, 0, 0), free=True).speed[6:], new.speed)
    assert_array_equal(ARM.attached(new, "hand", prefix="b ").speed[4:], new.speed)
    turned = new.rerooted("hand")
    assert dict(zip(turned.coordinates, turned.speed, strict=True)) == dict(
        zip(new.coordinates, new.speed, strict=True)
    )
    assert not new.speed.flags.writeable


def test_with_limits_sets_speeds_of_several_coordinates_and_of_groups():
    at = [TWINS.coordinates.index(f"left shoulder.{a}") for a in "yxz"]
    assert_array_equal(TWINS.with_limits(speed={"left shoulder": 2.0}).speed[at], [2, 2, 2])
    assert_array_equal(TWINS.with_limits(speed={"left shoulder": [1, 2, 3]}).speed[at], [1, 2, 3])
    assert_array_equal(SPINE.with_limits(speed={"bow": 0.25}).speed[:2], [0.25, math.inf])


def test_with_rest():
    assert_array_equal(ARM.with_rest({"elbow": 1.0}).rest, [0, 0, 1, 0])
    assert_array_equal(ARM.with_rest([0.1, 0.2, 0.3, 0.4]).rest, [0.1, 0.2, 0.3, 0.4])
    assert_array_equal(SPINE.with_rest({"lean": 0.5}).rest[:2], [0, 0.5])


def test_renamed_and_prefixed():
    assert ARM.renamed("limb").name == "limb"
    left = SPINE.prefixed("left ")
    assert left.coordinates == tuple("left " + name for name in SPINE.coordinates)
    q = posture(SPINE, 2)
    for segment, T in SPINE.placements(q).items():
        assert_array_equal(left.placement(q, "left " + segment), T)
    assert left.limits.contains(q)
    assert not left.limits.contains([0.9, 0.9, 0, 0, 0])
    assert FOUR_BAR.prefixed("a ").loops[0].a == "a coupler"


# ── locked ───────────────────────────────────────────────────────────────────────────────────────────────────────────
@given(trees(), st.integers(0, 1 << 32))
@settings(max_examples=60)
def test_locked_coordinates_leave_q_and_everything_stays_in_place(figure: Figure, seed: int):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=figure.size)
    names = [name for name in figure.coordinates if rng.random() < 0.5]
    new = figure.locked(*names, q=q)
    assert new.coordinates == tuple(name for name in figure.coordinates if name not in names)
    assert_same_places(figure, q, new)


def test_locked_by_joint_by_segment_and_by_chain():
    assert "shoulder.z" not in MIXED.locked("shoulder").coordinates
    assert MIXED.locked("shoulder").size == 11
    assert ARM.locked(*ARM.chain("shoulder", "hand")).coordinates == ("waist", "shoulder")
    assert_same_places(ARM, ARM.rest, ARM.locked("elbow"))
    assert SPINE.locked("bow").coordinates == SPINE.coordinates[1:]


PATTERNS = {  # a pattern, and the coordinates of TWINS that it means
    "left*": ["left shoulder.y", "left shoulder.x", "left shoulder.z", "left elbow"],
    "* elbow": ["left elbow", "right elbow"],  # coordinates called after their segment
    "*shoulder": [f"{side} shoulder.{a}" for side in ("left", "right") for a in "yxz"],  # joints of several
    "*.[xy]": ["trunk.x", "trunk.y", "left shoulder.y", "left shoulder.x", "right shoulder.y", "right shoulder.x"],
    "????? shoulder.z": ["right shoulder.z"],
    "trun?": [f"trunk.{a}" for a in ("tx", "ty", "tz", "x", "y", "z")],
    "*": TWINS.coordinates,
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_means_all_that_match_it(pattern: str):
    meant = set(PATTERNS[pattern])
    kept = tuple(name for name in TWINS.coordinates if name not in meant)
    assert TWINS.locked(pattern).coordinates == kept
    narrow = TWINS.with_limits({pattern: (-0.1, 0.1)}, speed={pattern: 3.0})
    assert {n for n, x in zip(narrow.coordinates, narrow.upper, strict=True) if x == 0.1} == meant
    assert {n for n, x in zip(narrow.coordinates, narrow.speed, strict=True) if x == 3.0} == meant
    problem = Problem(TWINS, [], rigidity={"*": 0.25, pattern: 0.5})  # the last that means a coordinate counts
    assert {n for n, x in zip(TWINS.coordinates, problem.rigidity, strict=True) if x == 0.5} == meant


def test_a_name_that_looks_like_a_pattern_is_a_name_first():
    figure = Figure("marked", [*hinge("a[1]", None, X), *hinge("a1", "a[1]", X)])
    assert figure.locked("a[1]").coordinates == ("a1",)
    assert figure.locked("a[1-3]").coordinates == ("a[1]",)


def test_locked_bounds_keep_what_is_left_of_them():
    new = SPINE.locked("bow", q=[0.8, 0, 0, 0, 0])
    assert new.limits.contains([0.7, 0, 0, 0])
    assert not new.limits.contains([0.71, 0, 0, 0])


# ── grouped ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_grouped_joints_follow_the_group():
    group = Group(
        "bend", (Coordinate("bend", (0, 1), 0.5),), {"elbow": mimic("bend", 2.0), "wrist": mimic("bend", -1.0)}
    )
    new = ARM.grouped(group)
    assert new.coordinates == ("waist", "shoulder", "bend")
    assert_same_places(ARM, np.array([0.1, 0.2, 1.4, -0.7]), new, q_new=[0.1, 0.2, 0.7])
    assert_array_equal(new.upper, [3, 2, 1])  # the wrist's own limits would have allowed 1.5, the elbow's 1.25


# ── attached, based ──────────────────────────────────────────────────────────────────────────────────────────────────
def test_an_attached_figure_hangs_on_its_segment():
    at = somewhere(5)
    both = ARM.attached(MIXED, "hand", at, prefix="m ")
    assert both.coordinates == ARM.coordinates + tuple("m " + name for name in MIXED.coordinates)
    q, r = posture(ARM, 1), posture(MIXED, 2)
    places = both.placements([*q, *r])
    for segment, T in MIXED.placements(r).items():
        assert_allclose(places["m " + segment], ARM.placement(q, "hand") @ at @ T, atol=1e-13)
    weights = (sum(b.mass for b in ARM.bodies.values()), sum(b.mass for b in MIXED.bodies.values()))
    carried = (ARM.placement(q, "hand") @ at @ [*MIXED.mass_centre(r), 1])[:3]
    expected = np.average([ARM.mass_centre(q), carried], axis=0, weights=weights)
    assert_allclose(both.mass_centre([*q, *r]), expected, atol=1e-14)


def test_two_of_one_kind_are_attached_by_prefix():
    both = ARM.attached(SPINE, "hand", prefix="a ").attached(SPINE, "hand", prefix="b ")
    assert both.size == 14
    assert len(both.bounds) == 2


def test_an_attached_tool_is_a_frame():
    tool = ARM.attached("gripper", "hand", (0, 0, 0.2))
    assert tool.coordinates == ARM.coordinates
    assert_allclose(tool.placement(ARM.rest, "gripper"), ARM.placement(ARM.rest, "hand") @ place((0, 0, 0.2)))


@pytest.mark.parametrize("name", FIGURES)
def test_based_somewhere_else_everything_moves_along(name: str):
    figure, at = FIGURES[name], somewhere(6)
    q = posture(figure, 3)
    assert_same_places(figure, q, figure.based_at(at), moved=at)


def test_based_freely_it_floats():
    at = somewhere(7)
    new = ARM.based_at(at, free=True, order="xyz")
    assert new.size == ARM.size + 6
    q = posture(ARM, 4)
    root = Figure("root", free("root", None, "xyz", at)).placement([1, 2, 3, 0.4, 0.5, 0.6], "root")
    assert_same_places(ARM, q, new, moved=root, q_new=[1, 2, 3, 0.4, 0.5, 0.6, *q])


# ── rerooted ─────────────────────────────────────────────────────────────────────────────────────────────────────────
@given(trees(), st.integers(0, 1 << 32))
@settings(max_examples=80)
def test_held_by_another_segment_every_coordinate_keeps_its_meaning(figure: Figure, seed: int):
    rng = np.random.default_rng(seed)
    segment = figure.segments[rng.integers(len(figure.segments))]
    new = figure.rerooted(segment)
    assert set(new.coordinates) == set(figure.coordinates)
    q = rng.normal(size=figure.size)
    assert_same_places(figure, q, new, moved=inverse(figure.placement(q, segment)))
    if "world" in new.segments:
        world = new.placement(by_name(figure, q, new), "world")
        assert_allclose(world, inverse(figure.placement(q, segment)), atol=1e-12)
    assert_allclose(new.mass_centre(by_name(figure, q, new)),
                    (inverse(figure.placement(q, segment)) @ [*figure.mass_centre(q), 1])[:3], atol=1e-11)  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
def test_there_and_back_again(name: str):
    figure = FIGURES[name]
    q = posture(figure, 5)
    for segment in figure.segments:
        new = figure.rerooted(segment)
        assert_array_equal(by_name(new, new.lower, figure), figure.lower)
        assert_array_equal(by_name(new, new.rest, figure), figure.rest)
        if "world" in new.segments:
            assert_same_places(figure, q, new.rerooted("world"))


def test_rerooted_keeps_loops_bounds_and_bodies():
    assert FOUR_BAR.rerooted("pen").loops == FOUR_BAR.loops
    new = SPINE.rerooted("head")
    assert not new.limits.contains(by_name(SPINE, np.array([0.9, 0.9, 0, 0, 0]), new))


def test_a_root_link_of_a_robot_needs_no_world():
    robot = Figure("r", [*fixed("base"), *hinge("a", "base", X, at=(0, 0, 1)), *fixed("tool", "a", (1, 0, 0))])
    new = robot.rerooted("tool")
    assert new.segments[0] == "tool"
    assert "world" not in new.segments
    assert "base" in new.segments


# ── solids ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_spheres_replace_bars_and_leave_bodies_alone():
    new = ARM.with_spheres({"elbow": [(0, 0, 0.1, 0.05), (0, 0, 0.2, 0.04)], "wrist": [(0, 0, 0, 0.1)]})
    assert new.solids == {
        "elbow": (Ball((0, 0, 0.1), 0.05), Ball((0, 0, 0.2), 0.04)),
        "wrist": (Ball((0, 0, 0), 0.1),),
    }
    assert new.bodies == ARM.bodies
    assert not ARM.solids


def test_capsules_go_from_start_to_end():
    new = ARM.with_capsules({"elbow": [((0.1, 0, 0), (0.1, 0.2, 0.3), 0.05)]})
    (bar,) = new.solids["elbow"]
    assert isinstance(bar, Capsule)
    assert_allclose(bar.at @ (0, 0, -bar.length / 2, 1), (0.1, 0, 0, 1), atol=1e-12)
    assert_allclose(bar.at @ (0, 0, bar.length / 2, 1), (0.1, 0.2, 0.3, 1), atol=1e-12)


def test_the_last_word_on_a_segment_holds():
    ball = Ball((0, 0, 0), 0.1)
    first = ARM.with_solids({"elbow": [ball], "wrist": [ball]})
    assert first.with_spheres({"elbow": []}).solids == {"elbow": (), "wrist": (ball,)}


def test_solids_are_carried_along():
    ball = Ball((0, 0, 0), 0.1)
    solid = ARM.with_solids({"elbow": [ball], "hand": [ball]})
    for new in (
        solid.renamed("other"),
        solid.with_limits({"elbow": (0, 1)}),
        solid.with_rest({"elbow": 0.2}),
        solid.locked("elbow"),
        solid.grouped(Group("g", (Coordinate("c"),), {"wrist": mimic("c")})),
        solid.based_at((1, 2, 3)),
        solid.based_at((1, 2, 3), free=True),
        solid.rerooted("hand"),
        solid.attached("tool", "hand"),
        solid.with_spheres({"wrist": []}),
        ARM.prefixed("x_").attached(solid, "x_hand"),
    ):
        assert (new.solids["elbow"], new.solids["hand"]) == ((ball,), (ball,))
    assert solid.prefixed("left_").solids == {"left_elbow": (ball,), "left_hand": (ball,)}
    both = solid.attached(solid, "hand", prefix="second_")
    assert set(both.solids) == {"elbow", "hand", "second_elbow", "second_hand"}


REFUSED: dict[str, tuple[Callable[[], Any], type[Error], str]] = {
    "limits of a stranger": (lambda: ARM.with_limits({"elbwo": (0, 1)}), UnknownName, "'elbwo'; did you mean elbow"),
    "limits of a follower": (lambda: MIXED.with_limits({"wrist": (0, 1)}), UnknownName, "no coordinate called 'wrist'"),
    "inverted limits": (lambda: ARM.with_limits({"elbow": (1, 0)}), BadValue, "limits of joint 'elbow' must satisfy"),
    "NaN limits": (lambda: ARM.with_limits({"elbow": (math.nan, 0)}), BadValue, "limits of joint 'elbow' must satisfy"),
    "no pair": (lambda: ARM.with_limits({"elbow": 1.0}), BadValue, "the limits of 'elbow' are a pair"),
    "speed of a stranger": (lambda: ARM.with_limits(speed={"leg": 1}), UnknownName, "no coordinate called 'leg'"),
    "negative speed": (lambda: ARM.with_limits(speed={"elbow": -1}), BadValue, "speed limit of joint 'elbow' must be"),
    "no speed at all": (lambda: ARM.with_limits(speed={"elbow": 0}), BadValue, "speed limit of joint 'elbow' must be"),
    "NaN speed": (lambda: ARM.with_limits(speed={"elbow": math.nan}), BadValue, "speed limit of joint 'elbow' must be"),
    "NaN speed of a group": (
        lambda: SPINE.with_limits(speed={"bow": math.nan}),
        BadValue,
        "of coordinate 'bow' must be",
    ),
    "two speeds": (lambda: ARM.with_limits(speed={"elbow": (1, 2)}), BadValue, "the speeds of 'elbow' are a number"),
    "a word for a speed": (lambda: ARM.with_limits(speed={"elbow": "fast"}), BadValue, "the speeds of 'elbow'"),
    "rest of a stranger": (lambda: ARM.with_rest({"leg": 1}), UnknownName, "no coordinate called 'leg'"),
    "NaN rest": (lambda: ARM.with_rest({"elbow": math.nan}), BadValue, "rest .* must be finite"),
    "short rest": (lambda: ARM.with_rest([1, 2]), BadValue, r"the rest posture must have shape \(4,\)"),
    "rest beyond its limits": (lambda: ARM.with_rest({"elbow": 9.0}), BadValue, "rest"),
    "lock a stranger": (lambda: ARM.locked("leg"), UnknownName, "no coordinate called 'leg'"),
    "lock what nothing matches": (lambda: ARM.locked("leg*"), UnknownName, r"no coordinate called 'leg\*'"),
    "limits of what nothing matches": (
        lambda: ARM.with_limits({"[!a-z]*": (0, 1)}),
        UnknownName,
        r"called '\[!a-z\]\*'",
    ),
    "lock a number": (lambda: ARM.locked(3), UnknownName, "no coordinate called 3"),  # type: ignore
    "lock at many": (
        lambda: ARM.locked("elbow", q=np.zeros((2, 4))),
        BadValue,
        r"the posture to lock at must have shape \(4,\)",
    ),
    "attach to a stranger": (lambda: ARM.attached("tool", "leg"), UnknownName, "no segment called 'leg'"),
    "attach a namesake": (lambda: ARM.attached(ARM, "hand"), BadValue, "two joints or segments called"),
    "attach at NaN": (
        lambda: ARM.attached("t", "hand", (math.nan, 0, 0)),
        BadValue,
        "what is attached to 'hand' must be finite",
    ),
    "base": (lambda: ARM.based_at((1, 2)), BadValue, "the base must be a position"),
    "reroot at a stranger": (lambda: ARM.rerooted("leg"), UnknownName, "no segment called 'leg'"),
    "spheres of a stranger": (lambda: ARM.with_spheres({"leg": []}), UnknownName, "no segment called 'leg'"),
    "flat spheres": (
        lambda: ARM.with_spheres({"hand": [(0, 0, 0)]}),
        BadValue,
        "the spheres of 'hand' must have shape",
    ),
    "negative sphere": (
        lambda: ARM.with_spheres({"hand": [(0, 0, 0, -1)]}),
        BadValue,
        "a ball's radius must be positive",
    ),
    "a sphere that is none": (lambda: ARM.with_spheres({"hand": [1, 2]}), BadValue, "the spheres of 'hand' must have"),
    "capsules of a stranger": (lambda: ARM.with_capsules({"leg": []}), UnknownName, "no segment called 'leg'"),
    "capsules without a radius": (
        lambda: ARM.with_capsules({"hand": [((0, 0, 0), (0, 0, 1))]}),  # pyright: ignore
        BadValue,
        "the capsules of 'hand' are triples",
    ),
    "a capsule without a length": (
        lambda: ARM.with_capsules({"hand": [((0, 0, 1), (0, 0, 1), 0.1)]}),
        BadValue,
        "a capsule's line from start to end must not have length zero",
    ),
    "a capsule without an end": (
        lambda: ARM.with_capsules({"hand": [((0, 0, 1), (0, 0), 0.1)]}),
        BadValue,
        "a capsule's end must have shape",
    ),
    "a cone for a solid": (
        lambda: ARM.with_solids({"hand": ["cone"]}),  # pyright: ignore
        BadValue,
        "the solids of 'hand' must be a Ball, Capsule, Cylinder, Box or Hull, not 'cone'",
    ),
    "spline drive of nobody": (
        lambda: ARM.grouped(Group("g", (), {"elbow": Drive.by({"z": 1})})),
        UnknownName,
        "follows 'z'",
    ),
    "bound of nobody": (
        lambda: ARM.grouped(Group("g", (Coordinate("c"),), {"elbow": mimic("c")}, (LinearLimit.of({"z": 1}, 1),))),
        UnknownName,
        "no coordinate called 'z'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str):
    make, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        make()


def test_edits_leave_the_old_figure_alone():
    before = (ARM.coordinates, ARM.segments, ARM.lower.tolist(), ARM.rest.tolist(), dict(ARM.bodies))
    ARM.with_limits({"elbow": (1, 2)}).locked("waist").based_at((1, 2, 3), free=True).rerooted("hand")
    ARM.attached(Figure("b", ball("b", None)), "hand")
    assert (ARM.coordinates, ARM.segments, ARM.lower.tolist(), ARM.rest.tolist(), dict(ARM.bodies)) == before
