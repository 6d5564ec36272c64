"""Problems: rigidity, chains, moved targets, alternatives, what is packed, and refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from supple.basics.values import same
from supple.errors import BadValue, Error, UnknownName
from supple.figure.effectors import Direction, Frame, Gap, MassCentre, Point
from supple.figure.limits import Limits
from supple.geometry.placements import X, Y, Z
from supple.geometry.shapes import Ball, Box
from supple.problem.goals import AnyOf, At, Custom, Facing, Near, OnPlane, Placed
from supple.problem.problem import WITHOUT_TARGETS, Problem
from supple.problem.task import Task
from supple.solving.solve import solve
from tests.tables.figures import FIXED, FOUR_BAR, TREES, assert_close, posture, somewhere

ARM, MIXED, TWINS, SPINE = (TREES[name] for name in ("arm", "mixed", "twins", "spine"))
BODY = ARM.with_spheres({"hand": [(0.0, 0.0, 0.0, 0.05)]})


def may_move(problem: Problem) -> set[str]:
    return {name for name, free in zip(problem.figure.coordinates, problem.free, strict=True) if free > 0.0}


# ── who may move ─────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_task_moves_what_is_above_its_effector():
    assert may_move(Problem(TWINS, [Task("left hand", At(X))])) == set(TWINS.chain(None, "left hand"))
    assert may_move(Problem(ARM, [Task("elbow", At(X))])) == {"waist", "shoulder", "elbow"}


def test_a_chain_keeps_what_is_above_it_still():
    assert may_move(Problem(ARM, [Task("hand", At(X), chain="elbow")])) == {"elbow", "wrist"}
    assert may_move(Problem(TWINS, [Task("left hand", At(X), chain="left shoulder")])) == {
        "left shoulder.y", "left shoulder.x", "left shoulder.z", "left elbow",
    }  # fmt: skip


def test_the_union_of_all_chains_may_move():
    tasks = [Task("left hand", At(X), chain="left elbow"), Task("right hand", At(X), chain="right shoulder")]
    assert may_move(Problem(TWINS, tasks)) == {"left elbow"} | {n for n in TWINS.coordinates if n.startswith("right")}
    assert may_move(Problem(TWINS, [*tasks, Task("trunk", At(X))])) >= {"trunk.x", "left elbow"}


def test_gaps_relative_goals_and_the_mass_centre_move_both_sides():
    gap = Task(Gap(Frame("left hand"), Frame("right hand")), At(X))
    assert may_move(Problem(TWINS, [gap])) >= set(TWINS.chain("left hand", "right hand"))
    seen = Task("left hand", At(X, relative_to="right hand"))
    assert may_move(Problem(TWINS, [seen])) >= set(TWINS.chain("left hand", "right hand"))
    assert may_move(Problem(TWINS, [Task(MassCentre(), At(X))])) == set(TWINS.coordinates)


def test_driven_joints_are_moved_by_their_drivers():
    assert may_move(Problem(SPINE, [Task("s1", At(X))])) == {"bow"}
    assert may_move(Problem(SPINE, [Task("s2", At(X))])) == {"bow", "lean"}


def test_rigidity_by_name_by_joint_and_by_number():
    by_name = Problem(MIXED, [Task("hand", At(X))], rigidity={"elbow": 0.25, "shoulder": 1.0})
    index = MIXED.coordinates.index
    assert by_name.free[index("elbow")] == 0.75
    assert [by_name.free[index(f"shoulder.{a}")] for a in ("z", "y", "z2")] == [0, 0, 0]
    assert by_name.free[index("root.x")] == 1.0
    assert_array_equal(Problem(ARM, [Task("hand", At(X))], rigidity=0.5).free, 0.5)
    assert_array_equal(Problem(ARM, [Task("hand", At(X))], rigidity=[0, 0.5, 1, 0]).free, [1, 0.5, 0, 1])


def test_rigidity_does_not_change_the_objective():
    tasks, q = [Task("hand", At(X))], posture(ARM, 1)
    assert_array_equal(
        Problem(ARM, tasks, rigidity=[0, 0.5, 1, 0]).evaluate(q).gradient, Problem(ARM, tasks).evaluate(q).gradient
    )


# ── the objective ────────────────────────────────────────────────────────────────────────────────────────────────────
def test_weights_multiply():
    q = posture(ARM, 2)
    one, three = (Problem(ARM, [Task("hand", Placed(somewhere(1)), weight=w)]).evaluate(q) for w in (1.0, 3.0))
    assert_close(three.value, 3 * one.value, 1e-14)
    assert_close(three.gradient, 3 * one.gradient, 1e-14)
    assert_close(three.hessian, 3 * one.hessian, 1e-13)


def test_a_bare_name_is_the_frame_of_its_segment():
    task = Task("hand", At(X))
    assert isinstance(task.effector, Frame)
    assert task.name == "hand At"
    assert Task(Gap(Point("hand"), Point("elbow")), At(X)).name == "hand–elbow At"
    assert Task(MassCentre(), At(X)).name == "mass centre At"
    assert Task("hand", At(X), name="grasp").name == "grasp"


def test_a_bare_posture_goal_is_a_task():
    problem = Problem(ARM, [Near(ARM.rest)])
    assert problem.tasks[0].effector is None
    assert may_move(problem) == set(ARM.coordinates)


def test_nested_alternatives_are_flattened_and_their_weights_multiplied():
    goals = [At((k, 0, 0)) for k in range(4)]
    nested = AnyOf([goals[0], AnyOf([goals[1], AnyOf([goals[2], goals[3]], (5, 7))], (2, 3))], (1, 11))
    assert [(g, w) for g, w in nested.alternatives()] == [
        (goals[0], 1), (goals[1], 22), (goals[2], 165), (goals[3], 231),
    ]  # fmt: skip
    flat = AnyOf(goals, (1, 22, 165, 231))
    for seed in range(5):
        q = posture(ARM, seed)
        a, b = (Problem(ARM, [Task("hand", g)]).evaluate(q) for g in (nested, flat))
        assert a.value == b.value
        assert_array_equal(a.hessian, b.hessian)
        assert_allclose(
            a.value,
            min(w * np.sum((ARM.placement(q, "hand")[:3, 3] - g.position) ** 2) for g, w in flat.alternatives()),
        )


def test_nothing_to_do_is_worth_nothing():
    here = Problem(ARM, []).evaluate(ARM.rest)
    assert here.value == 0.0
    assert not here.gradient.any()
    assert not here.hessian.any()


def test_a_figure_without_coordinates_has_a_value():
    problem = Problem(FIXED, [Task("b", At((0, 0, 0))), Task(MassCentre(), OnPlane((0, 0, 0), Z))])
    here = problem.evaluate([])
    p = FIXED.placement([], "b")[:3, 3]
    assert_allclose(here.value, p @ p + p[2] ** 2)
    assert here.gradient.shape == (0,)
    assert here.hessian.shape == (0, 0)
    solution = solve(problem)
    assert solution.q.shape == (0,)
    assert not solution.ok


def test_a_task_on_what_is_fixed_to_the_world_has_no_slope():
    figure = ARM.attached(FIXED, "waist").attached("post", "waist")
    problem = Problem(figure, [Task("post", At(X))])
    assert_allclose(problem.value(figure.rest), 1.0)
    rho, J = problem.jacobian(figure.rest)
    assert rho.shape == (3,)
    assert not J.any()


# ── moved targets ────────────────────────────────────────────────────────────────────────────────────────────────────
def test_aimed_changes_only_the_targets():
    tasks = [Task("hand", At(X), weight=2.0, chain="elbow"), Task("elbow", Facing(Y), tolerance=0.1), Near(ARM.rest)]
    limits = Limits(ARM.lower / 2, ARM.upper / 2)
    old = Problem(BODY, tasks, limits, rigidity=0.5, obstacles=[Ball((5, 5, 5), 1)])
    new = old.aimed((4, 5, 6), None, ARM.upper)
    assert_array_equal(new.tasks[0].goal.position, (4, 5, 6))
    assert new.tasks[1] is old.tasks[1]
    assert_array_equal(new.tasks[2].goal.reference, ARM.upper)
    assert (new.tasks[0].weight, new.tasks[0].chain) == (2.0, "elbow")
    assert new.limits is limits
    assert_array_equal(new.rigidity, old.rigidity)
    assert new.obstacles == old.obstacles
    assert_array_equal(old.tasks[0].goal.position, X)


@pytest.mark.parametrize("name", WITHOUT_TARGETS)
def test_what_targets_do_not_change_is_the_same_for_other_ones(name: str):
    tasks = [Task("hand", At(X), weight=2.0, chain="elbow"), Task("elbow", Facing(Y)), Task("hand", At(Y), priority=1)]
    old = Problem(BODY, tasks, rigidity=0.5, obstacles=[Ball((5, 5, 5), 1)])
    assert getattr(old, name) is not None
    new = old.aimed((4, 5, 6), None, (1, 2, 3))
    assert name in new.__dict__  # passed on
    fresh = Problem(BODY, new.tasks, rigidity=0.5, obstacles=old.obstacles)
    assert same(getattr(new, name), getattr(fresh, name))


def test_misses_come_in_the_order_of_tasks_with_loops_last():
    problem = Problem(FOUR_BAR, [Task("pen", At((1, 0, 0))), Task("pen", Facing(X))])
    misses = problem.misses([0.0, 0.0, 0.0])
    assert len(misses) == 3
    assert_allclose(misses[0].metres, np.linalg.norm(FOUR_BAR.placement([0, 0, 0], "pen")[:3, 3] - X))
    assert_allclose(misses[1].radians, 0.0, atol=1e-15)
    assert_allclose(misses[2].metres, 0.2)


def test_problems_do_not_follow_the_arrays_they_were_made_from():
    rigidity, target = np.zeros(4), np.array([1.0, 0, 0])
    problem = Problem(ARM, [Task("hand", At(target))], rigidity=rigidity)
    before = problem.value(ARM.rest)
    rigidity[0], target[0] = 1.0, 5.0
    assert problem.value(ARM.rest) == before
    assert problem.rigidity[0] == 0.0


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def zero(a: Any, x: Any, g: Any, H: Any) -> float:
    return 0.0


REFUSED: dict[str, tuple[Callable[[], Any], type[Error], str]] = {
    "no goal": (
        lambda: Task("hand", (1, 2, 3)),
        BadValue,
        r"a task needs a goal such as At or Placed, not \(1, 2, 3\)",
    ),
    "no effector": (lambda: Task(7, At(X)), BadValue, "an effector is a Point"),  # type: ignore[arg-type]
    "effector of a posture": (lambda: Task("hand", Near([0])), BadValue, "its task has no effector"),
    "posture without Near": (lambda: Task(None, At(X)), BadValue, "an effector is a Point"),
    "no weight": (lambda: Task("hand", At(X), weight=0.0), BadValue, "the weight of a task must be positive"),
    "NaN weight": (lambda: Task("hand", At(X), weight=math.nan), BadValue, "the weight of a task must be positive"),
    "no tolerance": (lambda: Task("hand", At(X), tolerance=0.0), BadValue, "the tolerance of a task must be positive"),
    "NaN angle": (lambda: Task("hand", At(X), angle_tolerance=math.nan), BadValue, "the angle_tolerance of a task"),
    "no task": (lambda: Problem(ARM, [At(X)]), BadValue, "a problem's tasks must be a Task"),
    "unknown segment": (
        lambda: Problem(ARM, [Task("hnd", At(X))]),
        UnknownName,
        "no segment called 'hnd'; did you mean hand",
    ),
    "unknown chain": (lambda: Problem(ARM, [Task("hand", At(X), chain="leg")]), UnknownName, "no segment called 'leg'"),
    "empty chain": (
        lambda: Problem(ARM, [Task("elbow", At(X), chain="hand")]).free,
        BadValue,
        "no joint between 'hand' and",
    ),
    "other limits": (lambda: Problem(ARM, [], Limits([0], [1])), BadValue, "limits on 1 coordinates do not fit Figure"),
    "rigidity": (lambda: Problem(ARM, [], rigidity=1.5), BadValue, "rigidity lies between 0"),
    "NaN rigidity": (lambda: Problem(ARM, [], rigidity=math.nan), BadValue, "rigidity lies between 0"),
    "rigidity of a stranger": (
        lambda: Problem(ARM, [], rigidity={"leg": 1}),
        UnknownName,
        "no coordinate called 'leg'",
    ),
    "rigidity of what nothing matches": (
        lambda: Problem(ARM, [], rigidity={"*.bending": 1}),
        UnknownName,
        r"no coordinate called '\*\.bending'",
    ),
    "which rigidity": (lambda: Problem(ARM, [], rigidity={"elbow": 2}), BadValue, "not 2 as for 'elbow'"),
    "a word for a rigidity": (
        lambda: Problem(ARM, [], rigidity={"elbow": "stiff"}),
        BadValue,
        "rigidities of 'elbow', a number",
    ),
    "short rigidity": (lambda: Problem(ARM, [], rigidity=[1, 0]), BadValue, "rigidity"),
    "other posture": (lambda: Problem(ARM, [Near([0, 0])]), BadValue, "Near needs 4 numbers for figure 'arm', not 2"),
    "no obstacle": (
        lambda: Problem(ARM, [], obstacles=["cone"]),
        BadValue,
        "must be a Ball, Box, Capsule, Cylinder, Polytope, Hull, Mesh or Cloud",
    ),  # type: ignore
    "NaN posture": (
        lambda: Problem(ARM, []).evaluate([math.nan, 0, 0, 0]),
        BadValue,
        "a posture of 'arm' must be finite",
    ),
    "short posture": (lambda: Problem(ARM, []).value([0, 0]), BadValue, "has 4 coordinates"),
    "two postures": (lambda: Problem(ARM, []).value(np.zeros((2, 4))), BadValue, "posture"),
    "targets": (lambda: Problem(ARM, [Task("hand", At(X))]).aimed(), BadValue, "the problem has 1 tasks but 0 targets"),
    "residuals of a custom goal": (
        lambda: Problem(ARM, [Task("hand", Custom(zero), name="mine")]).jacobian(ARM.rest),
        BadValue,
        "no residual form: mine",
    ),
    "Gauss–Newton of a posture": (
        lambda: Problem(ARM, [Near(ARM.rest)]).evaluate(ARM.rest, curvature=False),
        BadValue,
        "no residual form: posture Near",
    ),
    "direction of a point": (
        lambda: Task(Point("hand"), Facing(X)),
        BadValue,
        "'hand Facing': Facing needs a direction",
    ),
    "frame of a direction": (lambda: Task(Direction("hand"), Placed(np.eye(4))), BadValue, "Placed needs a frame"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str):
    make, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        make()


def test_obstacles_are_kept():
    assert len(Problem(BODY, [], obstacles=[Ball((0, 0, 0), 1), Box((0, 0, 0), (1, 1, 1))]).obstacles) == 2
