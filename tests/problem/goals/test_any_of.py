"""Disjunctions: any of several goals, nested with weights, outside of convex solids; and how solvers change their mind.

The laws of the last part look at a solver from outside. A budget cuts the same way short, so the answers to growing budgets are
the postures on its way; which alternative is the least at each of them comes from problems that have no other choice.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from time import monotonic
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose

from supple.errors import BadValue, Error
from supple.figure.catalogue import build
from supple.figure.effectors import Point
from supple.figure.figure import Figure
from supple.figure.limits import Limits
from supple.geometry.placements import X, Y, inverse
from supple.geometry.shapes import Ball, Box, Polytope
from supple.problem.allowance import Allowance
from supple.problem.goals import AimedAt, Aligned, AnyOf, At, Beyond, Facing, OnLine, OnPlane, Outside, Placed, Within
from supple.problem.problem import Problem
from supple.problem.solution import Status
from supple.problem.task import Task
from supple.proofs.certificates import Certificates, certificate_of
from supple.solvers.active_set.active_set import ActiveSet
from supple.solvers.alternatives import tried_alone
from supple.solvers.baselines.cyclic_coordinate_descent import CyclicCoordinateDescent
from supple.solvers.baselines.damped_least_squares import DampedLeastSquares
from supple.solvers.baselines.jacobian_transpose import FittedStep, JacobianTranspose
from supple.solvers.baselines.pseudo_inverse import PseudoInverse
from supple.solvers.levenberg_marquardt.levenberg_marquardt import LevenbergMarquardt
from supple.solvers.multistart import Multistart
from supple.solvers.newton.newton import Newton
from supple.solvers.projected_gradient import ProjectedGradient
from supple.solving.prepare import prepare
from supple.solving.solve import solve
from tests.tables.figures import TREES, posture, somewhere
from tests.tables.solver_cases import HAND, HUMAN, JACK, PANDA, rows_on_panda

ARM, TWINS = TREES["arm"], TREES["twins"]
MONOTONE: dict[str, Any] = {
    "gradient": ProjectedGradient(),
    "the paper's gradient": ProjectedGradient(spectral=False, steps=300),
    "active set": ActiveSet(),
    "newton": Newton(),
    "gauss": Newton(curvature=False),
    "levenberg": LevenbergMarquardt(steps=1000, slow=1.0),
    "cyclic": CyclicCoordinateDescent(),
}
BEST_SO_FAR: dict[str, Any] = {
    "transpose": JacobianTranspose(step=FittedStep(), steps=400),
    "damped": DampedLeastSquares(steps=200),
    "inverse": PseudoInverse(steps=100),
}
SOLVERS = MONOTONE | BEST_SO_FAR


# ── any of several, nested ───────────────────────────────────────────────────────────────────────────────────────────
SIMPLE: tuple[Any, ...] = (
    At((0.4, 0.1, 0.6)),
    OnLine((1, 0, 0), (1, 1, 1)),
    OnPlane((1, 0, 0), (1, 2, 1)),
    Beyond((1, 0, 0), (1, 2, 1)),
    Within(somewhere(3), box=(0.1, 0.2, 0.05)),
    Facing((0, 3, 4), per_radian=0.5),
    AimedAt((1, 2, 3), per_radian=0.7),
    Placed(somewhere(4), per_radian=0.4),
    Outside(Box((-2, -2, -2), (2, 1, 3), somewhere(5))),
)
WEIGHTS = st.floats(0.01, 100.0)
NESTED = st.recursive(
    st.sampled_from(SIMPLE),
    lambda inner: st.lists(st.tuples(inner, WEIGHTS), min_size=1, max_size=4).map(
        lambda pairs: AnyOf([goal for goal, _ in pairs], [weight for _, weight in pairs])
    ),
    max_leaves=8,
)


def flattened(goal: Any, weight: float = 1.0) -> list[tuple[Any, float]]:
    """What `AnyOf` says that its alternatives are, told once more."""
    if not isinstance(goal, AnyOf):
        return [(goal, weight)]
    assert goal.weights is not None
    return [pair for g, w in zip(goal.goals, goal.weights, strict=True) for pair in flattened(g, weight * w)]


@given(NESTED, st.integers(0, 1000))
@settings(max_examples=40)
def test_nested_alternatives_are_one_choice_with_products_of_weights(goal: Any, seed: int):
    q, pairs = posture(ARM, seed), flattened(goal)
    flat = AnyOf([g for g, _ in pairs], [w for _, w in pairs])
    nested, single = (Problem(ARM, [Task("hand", g, weight=3.0)]) for g in (AnyOf([goal]), flat))
    here, there = nested.evaluate(q), single.evaluate(q)
    each = [3.0 * w * Problem(ARM, [Task("hand", g)]).value(q) for g, w in pairs]
    assert_allclose(here.value, min(each), rtol=1e-12, atol=1e-300)
    assert_allclose(here.value, there.value, rtol=1e-12, atol=1e-300)
    assert_allclose(here.gradient, there.gradient, rtol=1e-9, atol=1e-12)
    assert_allclose(here.hessian, there.hessian, rtol=1e-9, atol=1e-12)
    assert nested.misses(q) == single.misses(q)


@given(NESTED, st.integers(0, 1000))
@settings(max_examples=40)
def test_derivatives_are_those_of_the_least_alternative(goal: Any, seed: int):
    q, pairs = posture(ARM, seed), flattened(goal)
    alone = [Problem(ARM, [Task("hand", g, weight=w)]).evaluate(q) for g, w in pairs]
    least = min(alone, key=lambda e: e.value)
    if sorted(e.value for e in alone)[1:2] == [least.value]:
        return  # a tie has several slopes
    here = Problem(ARM, [Task("hand", AnyOf([goal]))]).evaluate(q)
    assert_allclose(here.gradient, least.gradient, rtol=1e-9, atol=1e-12)
    assert_allclose(here.hessian, least.hessian, rtol=1e-9, atol=1e-12)


def test_a_task_is_met_when_any_of_its_goals_is():
    q = posture(ARM, 1)
    here = ARM.placement(q, "hand")
    goal = AnyOf([At((9, 9, 9)), AnyOf([Placed(somewhere(1)), Placed(here)], (1e-3, 1e3))], (1e-6, 1))
    task = Task("hand", goal)
    assert Problem(ARM, [task]).misses(q)[0] == pytest.approx((0.0, 0.0), abs=1e-7)
    assert Problem(ARM, [task]).value(q) < 1e-20
    assert solve(Problem(ARM, [task]), q).ok


def test_alternatives_may_be_seen_from_different_segments():
    goal = AnyOf([At((0.1, 0.2, 0.3), relative_to="right hand"), Beyond((9, 0, 0), X), At((1, 1, 1))])
    problem, q = Problem(TWINS, [Task(Point("left hand"), goal)]), posture(TWINS, 2)
    x, right = TWINS.placement(q, "left hand")[:3, 3], TWINS.placement(q, "right hand")
    seen = (inverse(right) @ np.append(x, 1.0))[:3]
    potentials = [np.sum((seen - (0.1, 0.2, 0.3)) ** 2), max(0.0, 9 - x[0]) ** 2, np.sum((x - 1) ** 2)]
    assert_allclose(problem.value(q), min(potentials), rtol=1e-12)


# ── outside of convex solids ─────────────────────────────────────────────────────────────────────────────────────────
@st.composite
def solids(draw: st.DrawFn) -> Box | Polytope:
    """A box anywhere, or the intersection of some half-spaces about a point, redundant ones among them."""
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    if draw(st.booleans()):
        lower = rng.uniform(-1, 0.5, 3)
        return Box(tuple(lower), tuple(lower + rng.uniform(0.1, 1.5, 3)), somewhere(int(rng.integers(1000))))
    A = rng.normal(size=(draw(st.integers(1, 9)), 3)) * rng.uniform(0.1, 10)
    return Polytope(A, A @ rng.normal(size=3) * 0.3 + rng.uniform(0.0, 2.0, len(A)))


def holds(solid: Box | Polytope, points: np.ndarray) -> np.ndarray:
    """Which points (k, 3) lie in the solid, by its definition."""
    if isinstance(solid, Box):
        local = (points - solid.at[:3, 3]) @ solid.at[:3, :3]
        return ((local >= solid.lower) & (local <= solid.upper)).all(axis=1)
    return (points @ solid.A.T <= solid.b).all(axis=1)


def frame_at(point: Any) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = point
    return T


@given(solids(), st.integers(0, 1 << 32))
@settings(max_examples=60)
def test_the_miss_is_the_exact_distance_by_which_a_point_is_inside(solid: Box | Polytope, seed: int):
    rng = np.random.default_rng(seed)
    goal, point = Outside(solid), rng.normal(size=3) * 0.5
    metres, radians = goal.miss(frame_at(point))
    assert radians == 0.0
    if not holds(solid, point[None])[0]:
        assert metres == 0.0
        return
    way = rng.normal(size=(500, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    assert holds(solid, point + 0.999999 * metres * way).all()  # nothing nearer is outside
    out = np.array([side.normal for side in goal.goals])
    assert not holds(solid, point + (1.000001 * metres + 1e-12) * out).all()  # but something at that distance is


@given(solids(), st.floats(0.0, 0.5), st.integers(0, 1000))
@settings(max_examples=30)
def test_the_value_is_the_miss_squared_and_a_margin_is_added_to_it(solid: Box | Polytope, margin: float, seed: int):
    q = posture(ARM, seed)
    problem = Problem(ARM, [Task(Point("hand"), Outside(solid, margin=margin), weight=2.0)])
    (miss,) = problem.misses(q)
    assert_allclose(problem.value(q), 2.0 * miss.metres**2, rtol=1e-9, atol=1e-24)
    bare = Outside(solid).miss(ARM.placement(q, "hand")).metres
    if bare > 0.0:
        assert_allclose(miss.metres, bare + margin, rtol=1e-12)
    else:
        assert miss.metres <= margin


def test_a_solid_that_is_part_of_a_segment_goes_with_it():
    solid = Box((-0.3, -0.2, -0.4), (0.3, 0.6, 0.5), somewhere(6))
    problem = Problem(TWINS, [Task(Point("left hand"), Outside(solid, 0.05, relative_to="right hand"))])
    for seed in range(6):
        q = posture(TWINS, seed)
        seen = inverse(TWINS.placement(q, "right hand")) @ TWINS.placement(q, "left hand")
        assert_allclose(problem.misses(q)[0].metres, Outside(solid, 0.05).miss(seen).metres, atol=1e-12)
        assert_allclose(problem.value(q), problem.misses(q)[0].metres ** 2, atol=1e-12)


def test_other_sides_for_a_solid_that_has_moved():
    goal = Outside(Polytope([X, Y, np.negative(X)], [1, 1, 1]))
    moved = goal.aimed([((2, 0, 0), X), ((0, 2, 0), Y), ((-2, 0, 0), np.negative(X))])
    assert_allclose(moved.miss(frame_at((0.5, 0, 0))).metres, 1.5)
    assert_allclose(goal.miss(frame_at((0.5, 0, 0))).metres, 0.5)


REFUSED: dict[str, tuple[Any, str]] = {
    "a ball": (lambda: Outside(Ball((0, 0, 0), 1.0)), "must be a Box or Polytope"),  # type: ignore[arg-type]
    "a negative margin": (lambda: Outside(Box((0, 0, 0), (1, 1, 1)), -0.1), "must be finite and not negative"),
    "a margin without end": (lambda: Outside(Box((0, 0, 0), (1, 1, 1)), math.inf), "margin"),
    "sides": (lambda: Outside(Box((0, 0, 0), (1, 1, 1))).aimed([(X, X)]), "AnyOf has 6 goals but 1 targets"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str):
    build, message = REFUSED[case]
    with pytest.raises(BadValue, match=message):
        build()


@pytest.mark.parametrize("solver", [None, *SOLVERS])
def test_a_hand_leaves_a_box_by_any_solver(solver: str | None):
    q = PANDA.rest
    here = PANDA.placement(q, HAND)[:3, 3]
    box = Box(here - np.array((0.1, 0.2, 0.15)), here + np.array((0.3, 0.2, 0.05)))
    problem = Problem(PANDA, [Task(Point(HAND), Outside(box, margin=0.01))])
    assert not solve(problem, q, solver=Newton(), budget=1).ok
    solution = solve(problem, q, solver=None if solver is None else SOLVERS[solver])
    assert solution.status is Status.SOLVED, solution.report()
    assert not holds(box, PANDA.placement(solution.q, HAND)[None, :3, 3])[0]


# ── changing one's mind ──────────────────────────────────────────────────────────────────────────────────────────────
def torn(
    figure: Figure, dragged: str, choosing: tuple[str, ...], seed: int, limits: Limits | None = None
) -> tuple[Problem, np.ndarray]:
    """A segment is dragged away while others, which share joints with it, have many goals to choose from on their way.

    Some of these are within reach and some are not. And a start.
    """
    rng = np.random.default_rng(seed)
    lower, upper = np.maximum(figure.lower, -2.0), np.minimum(figure.upper, 2.0)

    def place(segment: str) -> np.ndarray:
        return figure.placement(figure.limits.project(rng.uniform(lower, upper)), segment)[:3, 3]

    def goal(p: np.ndarray) -> Any:
        others = (OnPlane(p, rng.normal(size=3)), OnLine(p, rng.normal(size=3)), Beyond(p, rng.normal(size=3)))
        return At(p) if rng.random() < 0.8 else others[int(rng.integers(3))]

    tasks = [Task(Point(dragged), At(1.3 * place(dragged)), weight=2.0)]
    for segment in choosing:
        goals = [goal(place(segment) * rng.choice([1.0, 1.0, 1.4])) for _ in range(12)]
        tasks.append(Task(Point(segment), AnyOf(goals, rng.uniform(0.5, 1.0, 12))))
    problem = Problem(figure, tasks, limits)
    assert problem.limits is not None
    return problem, problem.limits.project(rng.uniform(lower, upper))


TORN = {
    "arm": lambda seed: torn(ARM, "hand", ("elbow", "wrist"), seed),
    "panda": lambda seed: torn(PANDA, HAND, ("panda_link5", "panda_link7"), seed),
    "panda with rows": lambda seed: torn(PANDA, HAND, ("panda_link7",), seed, rows_on_panda()),
    "human": lambda seed: torn(HUMAN, "hand_l.palm", ("forearm_l", "hand_r.palm", "head.top"), seed),
    "jack": lambda seed: torn(JACK, "hand_l.palm", ("forearm_l", "hand_r.palm"), seed),
}
BUDGETS = sorted({*range(1, 25), *np.geomspace(25, 2000, 25).astype(int).tolist()})


class Choices:
    """The potentials of every alternative of every task, each from a problem that has no other choice."""

    def __init__(self, problem: Problem) -> None:
        self.alone = [
            [
                Problem(problem.figure, [replace(task, goal=goal, weight=task.weight * weight)], problem.limits)
                for goal, weight in task.alternatives
            ]
            for task in problem.tasks
        ]

    def at(self, q: np.ndarray) -> tuple[float, tuple[int, ...]]:
        """The value of the whole, and which alternatives are the least."""
        potentials = [[p.value(q) for p in alternatives] for alternatives in self.alone]
        return sum(map(min, potentials)), tuple(int(np.argmin(p)) for p in potentials)


def followed(problem: Problem, start: np.ndarray, solver: Any) -> list[tuple[float, tuple[int, ...]]]:
    """Value and choices on the way of a solver."""
    choices = Choices(problem)
    way = [choices.at(start)]
    for budget in BUDGETS:
        solution = solve(problem, start, solver=solver, budget=budget)
        way.append(choices.at(solution.q))
        if solution.evaluations < budget:
            break
    return way


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("case", TORN)
def test_every_change_of_mind_is_a_fall_and_there_are_few(case: str, solver: str):
    for seed in range(2):
        problem, start = TORN[case](seed)
        if SOLVERS[solver].refuse(problem):
            continue
        way, changes = followed(problem, start, SOLVERS[solver]), 0
        assert_allclose(way[0][0], problem.value(start), rtol=1e-12)
        for (value, chosen), (new, now) in pairwise(way):
            assert new <= value * (1 + 1e-12) + 1e-24, f"seed {seed}: uphill"
            if now != chosen:
                assert new < value, f"seed {seed}: another alternative for nothing"
                changes += 1
        assert changes <= 12, f"seed {seed}: it goes back and forth"


def test_these_problems_do_change_minds():
    ways = [followed(*TORN[case](seed), ActiveSet()) for case in TORN for seed in range(2)]
    assert sum(a[1] != b[1] for way in ways for a, b in pairwise(way)) >= 10


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("case", TORN)
def test_the_trace_never_rises_and_ends_at_the_least_of_the_alternatives(case: str, solver: str):
    for seed in range(2, 4):
        problem, start = TORN[case](seed)
        if SOLVERS[solver].refuse(problem):
            continue
        solution = solve(problem, start, solver=SOLVERS[solver], trace=True)
        assert solution.trace is not None
        assert (np.diff(solution.trace.value) <= 1e-12 * solution.trace.value[:-1]).all()
        assert_allclose(solution.trace.value[-1], Choices(problem).at(solution.q)[0], rtol=1e-9, atol=1e-20)


@pytest.mark.parametrize("solver", ["active set", "newton"])
@pytest.mark.parametrize("case", TORN)
def test_a_choice_that_has_been_made_stays_made(case: str, solver: str):
    for seed in range(2, 6):
        problem, start = TORN[case](seed)
        if SOLVERS[solver].refuse(problem):
            continue
        solution = solve(problem, start, solver=SOLVERS[solver])
        assert solution.status in (Status.SOLVED, Status.NEAREST), solution.report()
        again, choices = solve(problem, solution.q, solver=SOLVERS[solver]), Choices(problem)
        assert choices.at(again.q)[1] == choices.at(solution.q)[1]
        assert choices.at(again.q)[0] <= choices.at(solution.q)[0] * (1 + 1e-12) + 1e-24


# ── the nearer one out of reach ──────────────────────────────────────────────────────────────────────────────────────
REACHING: dict[str, tuple[Figure, str]] = {
    "arm": (ARM, "hand"),
    "panda": (PANDA, HAND),
    "ur5": (build("ur5"), "tool0"),
    "human": (build("human", root="fixed"), "hand_l.palm"),
    "jack": (JACK, "hand_r.palm"),
}


def lured(figure: Figure, segment: str, seed: int, weight: float = 1.0) -> tuple[Problem, np.ndarray]:
    """Beyond all reach in the direction in which the start already points, or where another posture has the segment."""
    rng = np.random.default_rng(seed)
    lower, upper = np.maximum(figure.lower, -2.0), np.minimum(figure.upper, 2.0)
    drawn = [figure.limits.project(rng.uniform(lower, upper)) for _ in range(60)]
    places = np.array([figure.placement(q, segment)[:3, 3] for q in drawn])
    middle = places.mean(axis=0)
    reach = np.linalg.norm(places - middle, axis=1).max()
    for start, here in zip(drawn, places, strict=True):
        away = middle + (here - middle) / np.linalg.norm(here - middle) * (1.5 * reach + 0.2)
        for there in places:
            if weight * np.sum((away - here) ** 2) < np.sum((there - here) ** 2):
                goal = AnyOf([At(away), At(there)], (weight, 1.0))
                return Problem(figure, [Task(Point(segment), goal)]), start
    raise AssertionError("no such start")


@pytest.mark.parametrize("figure", REACHING)
def test_the_reachable_alternative_is_found_when_the_nearer_one_is_out_of_reach(figure: str):
    for seed in range(12):
        problem, start = lured(*REACHING[figure], seed)
        solution = solve(problem, start)
        assert solution.status is Status.SOLVED, f"seed {seed}: {solution.report()}"
        assert Choices(problem).at(solution.q)[1] == (1,)


@pytest.mark.parametrize("weight", [1e-2, 1e-4, 1e-8])
@pytest.mark.parametrize("figure", REACHING)
def test_weights_do_not_hide_the_reachable_alternative(figure: str, weight: float):
    for seed in range(12):
        problem, start = lured(*REACHING[figure], seed, weight)
        solution = solve(problem, start)
        assert solution.status is Status.SOLVED, f"seed {seed}: {solution.report()}"
        assert Choices(problem).at(solution.q)[1] == (1,)


def hidden(seed: int) -> tuple[Problem, np.ndarray]:
    """One to three tasks of the arm, each with goals that one posture meets among others out of reach, weighted at random."""
    rng = np.random.default_rng(seed)
    q, start = posture(PANDA, 2 * seed, 0.6), posture(PANDA, 2 * seed + 1, 0.6)
    tasks = []
    for segment in (HAND, "panda_link5", "panda_link3")[: 1 + seed % 3]:
        T = PANDA.placement(PANDA.limits.project(q), segment)
        met = At(T[:3, 3]) if rng.random() < 0.5 else Placed(T)
        goals: list[Any] = [At(T[:3, 3] + 9.0 * rng.normal(size=3)) for _ in range(int(rng.integers(1, 4)))]
        goals.insert(int(rng.integers(len(goals) + 1)), met)
        tasks.append(Task(segment, AnyOf(goals, 10.0 ** rng.uniform(-8.0, 8.0, len(goals)))))
    return Problem(PANDA, tasks), PANDA.limits.project(start)


def test_combinations_of_alternatives_are_found_whatever_their_weights():
    answers, misled = [solve(*hidden(seed)) for seed in range(60)], 0
    assert [seed for seed, answer in enumerate(answers) if not answer.ok] == []
    for seed in range(60):
        problem, start = hidden(seed)
        misled += not solve(problem, start, solver=Multistart()).ok
    assert misled >= 15  # of these problems a search by weighted potentials alone does not solve so many


def test_what_the_alternatives_cost_is_counted_and_kept_within_the_budget():
    problem, start = lured(PANDA, HAND, 0, weight=1e-6)
    free, alone = solve(problem, start, trace=True), solve(problem, start, solver=Multistart())
    assert alone.status is Status.NEAREST
    assert free.ok
    assert free.trace is not None
    assert free.evaluations == free.trace.evaluations[-1] > alone.evaluations
    assert_allclose(free.trace.value[-1], problem.value(free.q), rtol=1e-12)
    for budget in (10, alone.evaluations - 1, alone.evaluations, alone.evaluations + 3, free.evaluations - 1):
        answer = solve(problem, start, budget=budget)
        assert answer.status is Status.STOPPED, budget
        assert f"The budget of {budget} evaluations was spent" in answer.reason
        assert answer.evaluations <= budget
    whole = solve(problem, start, budget=free.evaluations)
    assert whole.ok
    assert whole.evaluations == free.evaluations
    assert (whole.q == free.q).all()


def test_alternatives_stop_at_the_deadline():
    local = solve(*lured(PANDA, HAND, 0, weight=1e-6), solver=Multistart())
    assert local.status is Status.NEAREST
    late = tried_alone(local, Allowance(seconds=1.0), deadline=monotonic() - 1.0)
    assert late.status is Status.STOPPED
    assert "The deadline of 1 s passed" in late.reason
    assert (late.q == local.q).all()


def test_where_no_alternative_can_be_met_the_answer_stays_what_it_was():
    problem, start = lured(PANDA, HAND, 0)
    away = problem.tasks[0].goal.goals[0].position
    problem = Problem(PANDA, [Task(Point(HAND), AnyOf([At(away), At(1.5 * away)], (1.0, 1e-6)))])
    ours, alone = solve(problem, start, prove=False), solve(problem, start, solver=Multistart())
    proved = solve(problem, start)
    assert proved.status is Status.IMPOSSIBLE
    assert len(proved.certificate.parts) == 2
    assert ours.status is alone.status is Status.NEAREST
    assert (ours.q == alone.q).all()
    assert ours.evaluations > alone.evaluations


def test_preferences_have_no_alternatives_to_try():
    problem, start = lured(PANDA, HAND, 0, weight=1e-6)
    (task,) = problem.tasks
    stated = Problem(PANDA, [replace(task, preference=True), Task(Point("panda_link3"), At((5.0, 0.0, 0.0)))])
    ours, alone = solve(stated, start, prove=False), solve(stated, start, solver=Multistart())
    assert not ours.ok
    assert (ours.q == alone.q).all()
    assert ours.evaluations == alone.evaluations


def test_several_solutions_are_those_of_every_alternative():
    for seed in range(3):
        places = [PANDA.placement(posture(PANDA, 10 * seed + k), HAND)[:3, 3] for k in range(3)]
        goal = AnyOf([At(p) for p in places], (1.0, 1e-4, 1e-8))
        found = solve(Problem(PANDA, [Task(Point(HAND), goal)]), distinct=100)
        ends = [PANDA.placement(solution.q, HAND)[:3, 3] for solution in found]
        assert {int(np.argmin([np.linalg.norm(end - p) for p in places])) for end in ends} == {0, 1, 2}


# ── alternatives for different effectors ─────────────────────────────────────────────────────────────────────────────
ENDS = ("left hand", "right hand")


def either(*goals: Any, weights: Any = None) -> Task:
    return Task(AnyOf([(Point(end), goal) for end, goal in zip(ENDS, goals, strict=True)], weights))


@pytest.mark.parametrize("seed", range(4))
def test_either_hand_is_the_least_of_both_with_its_derivatives(seed: int):
    q, rng = posture(TWINS, seed), np.random.default_rng(seed)
    near, far = rng.normal(size=(2, 3))
    for goals in ((At(near), At(far)), (At(far), OnPlane(near, X)), (At(near, relative_to="right hand"), At(far))):
        problem = Problem(TWINS, [either(*goals, weights=(2.0, 3.0))])
        alone = [Problem(TWINS, [Task(Point(e), g, weight=w)]) for e, g, w in zip(ENDS, goals, (2.0, 3.0), strict=True)]
        least = min((one.evaluate(q) for one in alone), key=lambda here: here.value)
        here = problem.evaluate(q)
        assert here.value == pytest.approx(least.value, rel=1e-14)
        assert_allclose(here.gradient, least.gradient, atol=1e-13)
        assert_allclose(here.hessian, least.hessian, atol=1e-12)
        rho, J = problem.jacobian(q)
        assert rho @ rho == pytest.approx(here.value, rel=1e-12)
        assert_allclose(2.0 * J.T @ rho, here.gradient, atol=1e-12)


@pytest.mark.parametrize("name", [*MONOTONE, *BEST_SO_FAR])
def test_every_solver_uses_the_hand_that_can(name: str):
    there = TWINS.placement(posture(TWINS, 5), "right hand")[:3, 3]
    problem = Problem(TWINS, [either(At((90.0, 0.0, 0.0)), At(there))])
    solution = solve(problem, posture(TWINS, 5) + 0.02, solver={**MONOTONE, **BEST_SO_FAR}[name])
    assert solution.ok, solution.report()
    assert problem.misses(solution.q)[0].metres <= 1e-5


def test_either_hand_is_found_though_weights_hide_it_and_by_every_door():
    there = TWINS.placement(posture(TWINS, 5), "right hand")[:3, 3]
    problem = Problem(TWINS, [either(At((90.0, 0.0, 0.0)), At(there), weights=(1e-9, 1.0))])
    solution = solve(problem, posture(TWINS, 8))
    assert solution.ok
    again = prepare(problem)([(90.0, 0.0, 0.0), there], start=posture(TWINS, 8))
    assert_allclose(again.q, solution.q, atol=0.0)


def test_either_hand_is_impossible_only_if_each_is():
    baxter, far = build("baxter"), At((3.0, 0.0, 0.0))
    hands = ("left_hand", "right_hand")
    problem = Problem(baxter, [Task(AnyOf([(Point(end), far) for end in hands]))])
    solution = solve(problem)
    assert solution.status is Status.IMPOSSIBLE
    assert "None of 2 alternatives" in solution.reason
    proof = certificate_of(solution.certificate.to_json())
    assert proof.verify(baxter)
    assert proof.to_json() == solution.certificate.to_json()
    assert all(end in proof.explain() for end in hands)
    assert not Certificates(()).verify(baxter)
    forged = replace(proof.parts[0], said=replace(proof.parts[0].said, figure="panda"))
    assert not Certificates((proof.parts[1], forged)).verify(baxter)
    open_one = AnyOf(
        [(Point(hands[0]), far), (Point(hands[1]), OnPlane((30.0, 0.0, 0.0), X))]
    )  # a plane is not decided
    undecided = solve(Problem(baxter, [Task(open_one)]))
    assert undecided.status is Status.NEAREST
    assert undecided.certificate is None
    can = At(baxter.placement(baxter.rest, hands[1])[:3, 3])
    assert solve(Problem(baxter, [Task(AnyOf([(Point(hands[0]), far), (Point(hands[1]), can)]))])).ok


def test_a_free_turn_is_impossible_where_its_point_is_out_of_reach():
    far = Aligned((3.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    solution = solve(Problem(PANDA, [Task(HAND, far)]))
    assert solution.status is Status.IMPOSSIBLE
    assert solution.certificate.verify(PANDA)
    for axis in "xy":
        T = PANDA.placement(posture(PANDA, 3), HAND)
        goal = Aligned(T[:3, 3], **{axis: T[:3, "xy".index(axis)]})
        assert solve(Problem(PANDA, [Task(HAND, goal)])).ok


MISTAKEN: dict[str, tuple[Callable[[], Any], str]] = {
    "an effector too many": (lambda: Task("hand", either(At(X), At(Y)).goal), "leave out that of the task"),
    "none": (lambda: Task(AnyOf([At(X), (Point("hand"), At(Y))])), "an effector is a Point"),
    "three together": (lambda: AnyOf([("hand", At(X), 2.0)]), "pairs (effector, goal)"),
    "unknown": (lambda: Problem(ARM, [either(At(X), At(Y))]), "left hand"),
    "no goal": (lambda: Task("hand"), "a task needs a goal such as At or Placed, not None"),
    "the parts": (lambda: Task(AnyOf([(Point("hand"), Facing(X))])), "Facing needs a direction"),
    "a joint elsewhere": (
        lambda: Problem(TWINS, [Task("left hand", At(X), chain=("left*", "right*"))]),
        "'right*' of its chain moves nothing that it looks at",
    ),
    "no such joint": (lambda: Problem(ARM, [Task("hand", At(X), chain=("nose",))]), "nose"),
    "an empty chain": (lambda: Task("hand", At(X), chain=()), "of one joint or more"),
}


@pytest.mark.parametrize("name", MISTAKEN)
def test_what_alternatives_and_chains_refuse(name: str):
    make, said = MISTAKEN[name]
    with pytest.raises(Error, match=re.escape(said)):
        make()


def test_a_chain_of_chosen_joints_moves_these_and_no_others():
    chosen = ("upper_arm_r.flexion", "forearm_r")
    problem = Problem(HUMAN, [Task(Point("hand_r.palm"), At((0.4, -0.3, 1.2)), chain=chosen)])
    moved = [name for name, free in zip(HUMAN.coordinates, problem.free, strict=True) if free]
    assert moved == ["upper_arm_r.flexion", *HUMAN.coordinates_of("forearm_r")]
    q = solve(problem, prove=False).q
    assert {n for n, a, b in zip(HUMAN.coordinates, q, HUMAN.rest, strict=True) if a != b} <= set(moved)
    assert problem == replace(problem, tasks=[replace(problem.tasks[0], chain=list(chosen))])
