"""Effectors seen from a segment: gaps and relative goals obey the same laws, and agree with each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose

from supple.errors import BadValue, UnknownName
from supple.figure.effectors import Direction, Frame, Gap, Point
from supple.figure.figure import Figure
from supple.figure.joints import fixed, hinge
from supple.geometry.placements import X, Y, Z, inverse, place
from supple.problem.goals import AimedAt, AnyOf, At, Beyond, Facing, OnLine, OnPlane, Placed, Within
from supple.problem.problem import Problem
from supple.problem.task import Task
from tests.tables.figures import ENDS, FOUR_BAR, TREES, assert_close, posture, slope, somewhere, trees

T = somewhere(80)
GOALS: dict[str, Any] = {
    "At": At((0.1, 0.2, 0.3)),
    "Facing": Facing((1, 2, 2)),
    "Facing x and y": Facing(X, Z, per_radian=(0.5, 2)),
    "Facing matrix": Facing(matrix=T[:3, :3]),
    "Placed": Placed(T, per_radian=0.4),
    "AimedAt": AimedAt((0.5, 2, 1)),
    "OnLine": OnLine((1, 0, 0), (1, 1, 1)),
    "OnPlane": OnPlane((1, 0, 0), (1, 1, 1)),
    "Beyond": Beyond((1, 0, 0), (1, 1, 1)),
    "Within": Within(T, box=0.05, tilt=(0.1, 0.2, 0.3)),
}


def relative(goal: Any, segment: str) -> Any:
    """The same goal, seen from a segment."""
    match goal:
        case Facing() if goal.matrix is not None:
            return Facing(matrix=goal.matrix, per_radian=goal.per_radian, relative_to=segment)
        case Facing():
            return Facing(goal.x, goal.y, per_radian=goal.per_radian, relative_to=segment)
        case Placed():
            return Placed(goal.at, per_radian=goal.per_radian, relative_to=segment)
        case Within():
            return Within(goal.at, goal.box, goal.tilt, goal.per_radian, relative_to=segment)
        case At():
            return At(goal.position, relative_to=segment)
        case AimedAt():
            return AimedAt(goal.point, goal.per_radian, relative_to=segment)
    return type(goal)(goal.point, goal.normal, relative_to=segment)


def check(problem: Problem, q: np.ndarray) -> None:
    here = problem.evaluate(q)
    assert_close(here.gradient, slope(problem.value, q), 1e-6)
    assert_close(here.hessian, slope(lambda x: problem.evaluate(x, hessian=False).gradient, q), 1e-6)
    rho, J = problem.jacobian(q)
    assert_close(rho @ rho, here.value, 1e-10)
    assert_close(J, slope(lambda x: problem.jacobian(x)[0], q), 1e-6)
    assert_close(2 * J.T @ J, problem.evaluate(q, curvature=False).hessian, 1e-12)


@pytest.mark.parametrize("figure", TREES)
@pytest.mark.parametrize("goal", GOALS)
def test_laws_of_relative_goals(goal: str, figure: str):
    end, other = ENDS[figure]
    task = Task(Frame(end, somewhere(81)), relative(GOALS[goal], other), weight=1.3)
    check(Problem(TREES[figure], [task]), posture(TREES[figure], 82, 0.7))


@pytest.mark.parametrize("figure", TREES)
@pytest.mark.parametrize("goal", GOALS)
def test_a_relative_goal_is_a_gap_is_a_goal_in_the_world_of_a_figure_held_there(goal: str, figure: str):
    f, (end, other) = TREES[figure], ENDS[figure]
    q, at = posture(f, 83), somewhere(84)
    seen = Problem(f, [Task(Frame(end, at), relative(GOALS[goal], other))])
    gap = Problem(f, [Task(Gap(Frame(other), Frame(end, at)), GOALS[goal])])
    held = f.rerooted(other)
    order = [f.coordinates.index(name) for name in held.coordinates]
    world = Problem(held, [Task(Frame(end, at), GOALS[goal])])
    here, there = seen.evaluate(q), world.evaluate(q[order])
    for other_form in (gap.evaluate(q),):
        assert_close(other_form.value, here.value, 1e-13)
        assert_close(other_form.gradient, here.gradient, 1e-13)
        assert_close(other_form.hessian, here.hessian, 1e-13)
    assert_close(there.value, here.value, 1e-11)
    assert_close(there.gradient, here.gradient[order], 1e-11)
    assert_close(there.hessian, here.hessian[np.ix_(order, order)], 1e-8)
    assert_allclose(seen.misses(q), gap.misses(q), atol=1e-12)
    assert_allclose(seen.misses(q), world.misses(q[order]), atol=1e-12)


@given(trees(), st.integers(0, 1 << 32))
@settings(max_examples=30)
def test_laws_of_gaps_in_random_trees(figure: Figure, seed: int):
    if not figure.size:
        return
    rng = np.random.default_rng(seed)
    a, b = rng.choice(figure.segments, size=2)
    goal = list(GOALS.values())[rng.integers(9)]
    task = Task(Gap(Frame(str(a), somewhere(85)), Frame(str(b), somewhere(86))), goal)
    check(Problem(figure, [task]), rng.normal(size=figure.size) * 0.8)


@pytest.mark.interpreted
def test_laws_of_a_gap_on_a_small_figure():
    figure = Figure("v", [*hinge("a", None, (1, 2, 3)), *hinge("b", "a", Y, at=T), *hinge("c", "a", Z, at=(0.5, 0, 0))])
    check(Problem(figure, [Task(Gap(Frame("c"), Frame("b")), Placed(T))]), np.array([0.3, -0.4, 0.5]))


def test_what_carries_both_ends_does_not_matter():
    figure = TREES["twins"]
    q = posture(figure, 87)
    problem = Problem(figure, [Task(Gap(Frame("left hand"), Frame("right hand")), Placed(T))])
    here = problem.evaluate(q)
    trunk = [k for k, name in enumerate(figure.coordinates) if name.startswith("trunk")]
    assert np.array_equal(here.gradient[trunk], np.zeros(6))
    assert np.array_equal(here.hessian[trunk], np.zeros((6, figure.size)))


def test_a_segment_seen_from_itself_never_moves():
    figure = TREES["arm"]
    problem = Problem(figure, [Task("hand", At((1, 0, 0), relative_to="hand"))])
    here = problem.evaluate(posture(figure, 88))
    assert_allclose(here.value, 1.0)
    assert not here.gradient.any()
    assert not here.hessian.any()


def test_seen_from_what_never_moves():
    figure = Figure("f", [*fixed("table", None, T), *hinge("a", None, Z), *fixed("hand", "a", (1, 0, 0))])
    q = np.array([0.7])
    goal = np.array(T @ [0.1, 0.2, 0.3, 1])[:3]
    near = Problem(figure, [Task("hand", At((0.1, 0.2, 0.3), relative_to="table"))]).evaluate(q)
    world = Problem(figure, [Task("hand", At(goal))]).evaluate(q)
    assert_allclose(near.value, world.value)
    assert_allclose(near.gradient, world.gradient)
    assert_allclose(near.hessian, world.hessian)
    back = Problem(figure, [Task("table", At((0.1, 0.2, 0.3), relative_to="hand"))])
    check(back, q)


def test_a_gap_is_the_second_end_seen_from_the_first():
    figure = TREES["mixed"]
    q = posture(figure, 89)
    a, b = Frame("hand", somewhere(90)), Point("foot", (0.1, 0.2, 0.3))
    Ta, Tb = figure.placement(q, "hand") @ a.at, figure.placement(q, "foot") @ place((0.1, 0.2, 0.3))
    distance = np.linalg.norm(Ta[:3, 3] - Tb[:3, 3])
    assert_allclose(Problem(figure, [Task(Gap(a, b), At((0, 0, 0)))]).value(q), distance**2, rtol=1e-13)
    assert_allclose(figure.seen(q, Gap(a, b)), inverse(Ta) @ Tb, atol=1e-14)


def test_alternatives_may_be_seen_from_different_segments():
    figure = TREES["twins"]
    q = posture(figure, 91)
    goals = [At((0.1, 0, 0), relative_to="right hand"), At((5, 5, 5)), At((0, 0, 0.3), relative_to="trunk")]
    alone = [Problem(figure, [Task("left hand", goal)]).value(q) for goal in goals]
    problem = Problem(figure, [Task("left hand", AnyOf(goals, (1.0, 0.5, 2.0)))])
    assert_allclose(problem.value(q), min(alone[0], 0.5 * alone[1], 2 * alone[2]), rtol=1e-13)
    check(problem, q)


def test_the_loops_of_a_figure_are_hard_gaps():
    problem = Problem(FOUR_BAR, [])
    (loop,) = problem.loops
    assert loop.hard
    assert loop.name == "pin"
    q = np.array([0.3, 0.4, 0.5])
    coupler, rocker = FOUR_BAR.placement(q, "coupler"), FOUR_BAR.placement(q, "rocker")
    distance = np.linalg.norm(coupler @ [0.4, 0, 0, 1] - rocker @ [0.3, 0, 0, 1])
    assert_allclose(problem.misses(q)[0].metres, distance)
    assert_allclose(problem.value(q), distance**2)
    check(problem, q)


def test_refusals():
    figure = TREES["arm"]
    with pytest.raises(BadValue, match="a gap is seen from its own first end"):
        Task(Gap(Frame("hand"), Frame("elbow")), At(X, relative_to="waist"))
    with pytest.raises(UnknownName, match="figure 'arm' has no segment called 'leg'"):
        Problem(figure, [Task("hand", At(X, relative_to="leg"))])
    with pytest.raises(UnknownName, match="figure 'arm' has no segment called 'leg'"):
        Problem(figure, [Task(Gap(Point("leg"), Direction("hand")), At(X))])
    with pytest.raises(BadValue, match="Facing needs a direction"):
        Task(Gap(Frame("hand"), Point("elbow")), Facing(X))
