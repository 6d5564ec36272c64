"""ActiveSet: legal, monotone, at Kuhn–Tucker points, where SciPy goes; and the factors that it keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal

from supple.errors import BadValue, Refused
from supple.figure.effectors import Point
from supple.figure.figure import Figure
from supple.figure.joints import hinge
from supple.figure.limits import Limits
from supple.geometry.placements import Z
from supple.geometry.shapes import Ball
from supple.kernels.algebra.triangular import append, factor, lower_by, raise_by, remove, solve_down, solve_up
from supple.problem.goals import At, Custom, Near
from supple.problem.problem import Problem
from supple.problem.solution import Status
from supple.problem.task import Task
from supple.solvers.active_set.active_set import ActiveSet
from tests.tables.figures import FOUR_BAR, assert_close
from tests.tables.solver_cases import (
    ALL,
    ARM,
    HAND,
    HUMAN,
    JACK,
    PANDA,
    REACHABLE,
    UNREACHABLE,
    by_slsqp,
    check,
    corner,
    leaning,
    narrowed,
    normals,
    panda,
    reaching_up,
    rows_on_panda,
    unexplained,
    way_down,
)


@pytest.mark.parametrize("name", REACHABLE)
def test_reaches_what_can_be_reached(name: str) -> None:
    problem, start = REACHABLE[name]
    solution = ActiveSet().solve(problem, start)
    check(solution, start)
    assert solution.status is Status.SOLVED


@pytest.mark.parametrize("name", UNREACHABLE)
def test_ends_where_no_allowed_move_helps(name: str) -> None:
    problem, start = UNREACHABLE[name]
    solution = ActiveSet().solve(problem, start)
    check(solution, start)
    assert solution.status is Status.NEAREST
    assert unexplained(problem, solution.q) < 1e-7


def test_limits_and_rows_are_active_where_the_cases_say_so() -> None:
    narrow = ActiveSet().solve(*UNREACHABLE["panda at limits"])
    assert len(narrow.active) >= 2
    for name in ("panda with rows", "jack"):
        problem, start = UNREACHABLE[name]
        q = ActiveSet().solve(problem, start).q
        assert (problem.limits.A @ q >= problem.limits.b - 1e-9).any()


@pytest.mark.parametrize("name", ALL)
def test_every_iterate_is_legal_and_none_goes_uphill(name: str) -> None:
    problem, start = ALL[name]
    values = []
    for steps in range(25):
        solution = ActiveSet(steps=steps).solve(problem, start)
        assert solution.iterations <= steps
        assert problem.limits.contains(solution.q, slack=1e-12)
        values.append(problem.value(solution.q))
    assert (np.diff(values) <= 0.0).all()
    assert values[-1] < values[0]


@pytest.mark.parametrize("limits", [None, narrowed().limits, rows_on_panda()], ids=["wide", "narrow", "rows"])
@pytest.mark.parametrize("weight", [0.02, 0.3])
def test_agrees_with_scipy_on_the_minimum(limits: Limits | None, weight: float) -> None:
    problem = leaning(PANDA, reaching_up(), weight, limits)
    ours = ActiveSet().solve(problem, PANDA.rest)
    theirs = by_slsqp(problem, PANDA.rest)
    assert problem.value(ours.q) <= problem.value(theirs) + 1e-10
    assert_allclose(ours.q, theirs, atol=3e-5)
    assert unexplained(problem, ours.q) < 1e-7


def test_goes_on_to_improve_a_posture_goal_after_the_tasks_are_met() -> None:
    task = Task(Point(HAND), At(PANDA.placement(PANDA.rest, HAND)[:3, 3]), tolerance=0.5)
    problem = Problem(PANDA, [task, Near(PANDA.rest + 0.2)])
    solution = ActiveSet().solve(problem, PANDA.rest)
    assert solution.status is Status.SOLVED
    assert unexplained(problem, solution.q) < 1e-7


def test_the_first_step_is_along_the_gradient_in_the_metric_of_rigidity() -> None:
    rho = np.linspace(0.0, 0.9, PANDA.size)
    problem = panda(rigidity=rho)
    step = ActiveSet(steps=1).solve(problem, PANDA.rest).q - PANDA.rest
    ideal = -((1 - rho) ** 2) * problem.evaluate(PANDA.rest).gradient
    assert_allclose(step / np.linalg.norm(step), ideal / np.linalg.norm(ideal), atol=1e-12)


@pytest.mark.parametrize("name", ["panda, not reached", "jack, reached", "human, reached"])
def test_locked_coordinates_do_not_move(name: str) -> None:
    problem, start = ALL[name]
    rho = np.zeros(problem.figure.size)
    rho[::3] = 1.0
    locked = Problem(problem.figure, problem.tasks, problem.limits, rigidity=rho)
    solution = ActiveSet().solve(locked, start)
    check(solution, start)
    assert solution.iterations > 0


def test_limits_that_coincide_hold_a_coordinate() -> None:
    limits = Limits(
        np.where(np.arange(PANDA.size) == 2, PANDA.rest, PANDA.lower),
        np.where(np.arange(PANDA.size) == 2, PANDA.rest, PANDA.upper),
    )
    solution = ActiveSet().solve(panda(limits=limits), PANDA.rest)
    assert solution.q[2] == PANDA.rest[2]
    assert solution.iterations > 0


def test_a_start_outside_the_limits_is_brought_inside() -> None:
    solution = ActiveSet().solve(panda(), PANDA.upper + 1.0)
    assert PANDA.limits.contains(solution.q)
    check(solution, PANDA.upper)


def test_rows_that_repeat_each_other_do_no_harm() -> None:
    once = rows_on_panda()
    twice = Limits(
        once.lower,
        once.upper,
        np.vstack([once.A_eq] * 2),
        np.tile(once.b_eq, 2),
        np.vstack([once.A] * 3),
        np.tile(once.b, 3),
    )
    for limits in (once, twice):
        problem = leaning(PANDA, reaching_up(), 0.02, limits)
        solution = ActiveSet().solve(problem, PANDA.rest)
        assert unexplained(problem, solution.q) < 1e-6
    assert_allclose(solution.q, ActiveSet().solve(leaning(PANDA, reaching_up(), 0.02, once), PANDA.rest).q, atol=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_finds_the_way_out_of_crowded_corners(seed: int) -> None:
    problem, start = corner(seed)
    solution = ActiveSet().solve(problem, start)
    assert problem.limits.contains(solution.q)
    assert problem.value(solution.q) <= problem.value(start)
    assert_array_equal(solution.q[problem.free == 0.0], start[problem.free == 0.0])
    assert solution.ok == (seed == 24)  # of these targets one is reached
    if not solution.ok:
        assert solution.status is Status.NEAREST
        assert way_down(problem, solution.q) > -1e-5


def edge(a: Any, x: Any, g: Any, H: Any) -> float:
    """Squared distance to a; not a number beyond the plane x = 0.55."""
    P = 0.0
    for i in range(3):
        P += (x[i] - a[i]) ** 2
        g[i] = 2 * (x[i] - a[i])
        H[i, i] = 2.0
    if x[0] > 0.55:
        g[0] = np.nan
        return np.nan
    return P


def test_what_is_not_a_number_is_never_accepted() -> None:
    start = ARM.limits.project([0.5, 0.3, 0.5, 0.0])
    problem = Problem(ARM, [Task(Point("hand"), Custom(edge, (0.7, 0.2, 0.3)))])
    assert np.isfinite(problem.value(start))
    solution = ActiveSet().solve(problem, start)
    assert problem.value(solution.q) < problem.value(start)
    assert solution.status is not Status.SOLVED
    lost = ActiveSet().solve(problem, [0.0, 1.5, 0.0, 0.0])
    assert lost.status is Status.STOPPED
    assert lost.iterations == 0


def test_the_same_again() -> None:
    for problem, start in (REACHABLE["human"], UNREACHABLE["jack"]):
        one, two = (ActiveSet().solve(problem, start) for _ in range(2))
        assert_array_equal(one.q, two.q)
        assert (one.iterations, one.evaluations) == (two.iterations, two.evaluations)


def test_refuses_by_name() -> None:
    hard = Task(Point(HAND), At((0.4, 0, 0.4)), hard=True, name="weld")
    with pytest.raises(Refused, match="weld"):
        ActiveSet().solve(Problem(PANDA, [hard]), PANDA.rest)
    with pytest.raises(Refused, match="pin"):
        ActiveSet().solve(Problem(FOUR_BAR, []), FOUR_BAR.rest)
    tasks = [Task(Point(HAND), At((0.4, 0, 0.4)), priority=k) for k in range(2)]
    with pytest.raises(Refused, match="priorities"):
        ActiveSet().solve(Problem(PANDA, tasks), PANDA.rest)
    body = PANDA.with_spheres({"panda_hand": [(0, 0, 0, 0.1)]})
    with pytest.raises(Refused, match="it keeps clear of obstacle 1"):
        ActiveSet().solve(Problem(body, panda().tasks, obstacles=[Ball((0, 0, 0), 0.1)]), PANDA.rest)
    for wrong in ({"steps": -1}, {"tolerance": -1.0}, {"tolerance": np.nan}):
        with pytest.raises(BadValue, match=r"at least 0|not negative"):
            ActiveSet(**wrong)


def test_budget_and_counts() -> None:
    problem, start = REACHABLE["human"]
    stopped = ActiveSet(steps=2).solve(problem, start)
    assert stopped.status is Status.STOPPED
    assert stopped.iterations == 2
    assert ActiveSet(steps=0).solve(problem, start).evaluations == 1
    assert HUMAN.size > 70 > JACK.size


@pytest.mark.interpreted
def test_a_tiny_arm_against_its_limit() -> None:
    figure = Figure("two", [*hinge("a", None, Z, limits=(-1, 0.5)), *hinge("b", "a", Z, at=(1, 0, 0), limits=(0.2, 2))])
    problem = Problem(figure, [Task(Point("b", (1, 0, 0)), At((0.3, 1.9, 0.0)))])
    solution = ActiveSet().solve(problem, [0.0, 0.3])
    assert solution.status is Status.NEAREST
    assert solution.q[0] == 0.5
    assert unexplained(problem, solution.q) < 1e-8
    assert len(normals(problem, solution.q)) == 1


# ── the factors ──────────────────────────────────────────────────────────────────────────────────────────────────────
@njit
def _factored(R: Any, count: int) -> int:
    return factor(R, count)


@njit
def _changed(R: Any, count: int, what: int, v: Any, corner: float) -> bool:
    if what == 0:
        return append(R, count, v, corner)
    if what == 1:
        remove(R, count, int(corner))
    if what == 2:
        raise_by(R, count, v)
    if what == 3:
        return lower_by(R, count, v)
    return True


@njit
def _solved(R: Any, count: int, x: Any) -> None:
    solve_down(R, count, x)
    solve_up(R, count, x)


@given(st.integers(1, 9), st.integers(0, 1 << 32))
def test_factors_follow_their_matrix(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(n + 1, n + 3))
    M, v = S @ S.T, rng.normal(size=n + 1)
    R = M.copy()
    assert _factored(R, n) == n
    assert _changed(R, n, 0, M[:n, n].copy(), M[n, n])
    _is_factor(R, M)
    _changed(R, n + 1, 2, v.copy(), 0.0)
    _is_factor(R, M + np.outer(v, v))
    assert _changed(R, n + 1, 3, v.copy(), 0.0)
    _is_factor(R, M)
    gone = int(rng.integers(n + 1))
    _changed(R, n + 1, 1, v, float(gone))
    left = np.delete(np.delete(M, gone, 0), gone, 1)
    _is_factor(R[:n, :n], left)
    x = rng.normal(size=n)
    y = x.copy()
    _solved(R, n, y)
    assert_close(left @ y, x, 1e-6)


def _is_factor(R: np.ndarray, M: np.ndarray) -> None:
    U = np.triu(R)
    assert_close(U.T @ U, M, 1e-8)


def test_what_is_not_definite_is_not_factored() -> None:
    assert _factored(np.array([[1.0, 2.0], [2.0, 1.0]]), 2) == 1
    assert _factored(np.array([[np.nan]]), 1) == 0
    R = np.array([[1.0, 0.0], [0.0, 0.0]])
    assert not _changed(R, 1, 0, np.array([2.0, 0.0]), 4.0)
    assert not _changed(R, 1, 3, np.array([1.0]), 0.0)
