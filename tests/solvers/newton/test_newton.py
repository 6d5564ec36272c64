"""Newton: legal, monotone, at Kuhn–Tucker points, where SciPy goes, and there quadratically."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import Bounds, LinearConstraint, minimize

from supple.errors import BadValue, Refused
from supple.figure.effectors import Frame, Point
from supple.figure.figure import Figure
from supple.figure.joints import fixed, hinge
from supple.figure.limits import Limits
from supple.geometry.placements import Z
from supple.problem.goals import AnyOf, At, Custom, Near, Placed
from supple.problem.problem import Problem
from supple.problem.solution import Status
from supple.problem.task import Task
from supple.solvers.active_set.active_set import ActiveSet
from supple.solvers.newton.newton import Newton
from tests.tables.figures import FOUR_BAR
from tests.tables.solver_cases import (
    ALL,
    ARM,
    HAND,
    PANDA,
    REACHABLE,
    SIX,
    UNREACHABLE,
    by_slsqp,
    check,
    corner,
    leaning,
    narrowed,
    normals,
    panda,
    points,
    reaching_up,
    rows_on_panda,
    shaken,
    unexplained,
    way_down,
)

BOTH = [Newton(), Newton(curvature=False)]
NAMES = ["exact", "Gauss–Newton"]


@pytest.mark.parametrize("solver", BOTH, ids=NAMES)
@pytest.mark.parametrize("name", REACHABLE)
def test_reaches_what_can_be_reached(name: str, solver: Newton) -> None:
    problem, start = REACHABLE[name]
    solution = solver.solve(problem, start)
    check(solution, start)
    assert solution.status is Status.SOLVED


@pytest.mark.parametrize("name", UNREACHABLE)
def test_ends_where_no_allowed_move_helps(name: str) -> None:
    problem, start = UNREACHABLE[name]
    solution = Newton().solve(problem, start)
    check(solution, start)
    assert solution.status is Status.NEAREST
    assert unexplained(problem, solution.q) < 1e-7


@pytest.mark.parametrize("name", UNREACHABLE)
def test_gauss_newton_is_legal_and_true_where_it_ends(name: str) -> None:
    problem, start = UNREACHABLE[name]
    check(Newton(curvature=False, steps=2000).solve(problem, start), start)


@pytest.mark.parametrize("solver", [Newton(), Newton(curvature=False), Newton(damping=1e-6)], ids=[*NAMES, "bold"])
@pytest.mark.parametrize("name", ALL)
def test_every_iterate_is_legal_and_none_goes_uphill(name: str, solver: Newton) -> None:
    problem, start = ALL[name]
    values = []
    for steps in range(12):
        solution = Newton(steps, 1e-9, solver.curvature, solver.damping).solve(problem, start)
        assert solution.iterations <= steps
        assert problem.limits.contains(solution.q, slack=1e-12)
        values.append(problem.value(solution.q))
    assert (np.diff(values) <= 0.0).all()
    assert values[-1] < values[0]


@pytest.mark.parametrize("limits", [None, narrowed().limits, rows_on_panda()], ids=["wide", "narrow", "rows"])
@pytest.mark.parametrize("weight", [0.02, 0.3])
def test_agrees_with_scipy_on_the_minimum(limits: Limits | None, weight: float) -> None:
    problem = leaning(PANDA, reaching_up(), weight, limits)
    ours = Newton().solve(problem, PANDA.rest)
    theirs = by_slsqp(problem, PANDA.rest)
    assert problem.value(ours.q) <= problem.value(theirs) + 1e-12
    assert_allclose(ours.q, theirs, atol=3e-5)
    assert unexplained(problem, ours.q) < 1e-8
    assert_allclose(ours.q, ActiveSet().solve(problem, PANDA.rest).q, atol=1e-6)


def test_agrees_with_an_interior_point_method_on_rows() -> None:
    limits = rows_on_panda()
    problem = leaning(PANDA, reaching_up(), 0.05, limits)
    found = minimize(
        problem.value,
        PANDA.rest,
        jac=lambda q: problem.evaluate(q, hessian=False).gradient,
        hess=lambda q: problem.evaluate(q).hessian,
        method="trust-constr",
        bounds=Bounds(limits.lower, limits.upper),
        constraints=[
            LinearConstraint(limits.A_eq, limits.b_eq, limits.b_eq),
            LinearConstraint(limits.A, -np.inf, limits.b),
        ],
        options={"gtol": 1e-10, "xtol": 1e-12, "maxiter": 2000},
    )
    arm = problem.free > 0.0  # the gripper, which only SciPy moves, has no part in the goal
    assert_allclose(Newton().solve(problem, PANDA.rest).q[arm], found.x[arm], atol=1e-4)


# ── convergence ──────────────────────────────────────────────────────────────────────────────────────────────────────
def exponent(problem: Problem, end: np.ndarray, curvature: bool = True) -> float:
    """p of ``e₁ = C e₀^p`` for one step from postures at several small distances e₀ from the minimum."""
    before, after = [], []
    away = np.where(problem.free > 0.0, np.random.default_rng(0).normal(size=len(end)), 0.0)
    for size in (3e-2, 1e-2, 3e-3, 1e-3):
        start = problem.limits.project(end + size * away)
        before.append(np.linalg.norm(start - end))
        after.append(np.linalg.norm(Newton(1, 0.0, curvature).solve(problem, start).q - end))
    return float(np.polyfit(np.log(before), np.log(after), 1)[0])


@pytest.mark.parametrize("limits", [None, narrowed().limits, rows_on_panda()], ids=["inside", "at limits", "on rows"])
def test_converges_quadratically_to_a_minimum_that_misses_the_goal(limits: Limits | None) -> None:
    problem = leaning(PANDA, reaching_up(), 0.05, limits)
    solution = Newton(tolerance=0.0).solve(problem, PANDA.rest)
    assert unexplained(problem, solution.q) < 1e-9
    if limits is not None:
        assert len(normals(problem, solution.q)) > len(limits.A_eq) * 2
    assert exponent(problem, solution.q) > 1.85
    assert exponent(problem, solution.q, curvature=False) < 1.2
    path = [Newton(k, 0.0).solve(problem, PANDA.rest).q for k in range(solution.iterations)]
    errors = np.array([np.linalg.norm(q - solution.q) for q in path])
    late = errors[errors < 0.1]
    assert (late[1:] <= 10.0 * late[:-1] ** 2 + 1e-9).all()


def test_converges_quadratically_to_a_surface_of_solutions() -> None:
    goal = Placed(PANDA.placement(shaken(PANDA, 1, 0.3), HAND))
    tight = Problem(PANDA, [Task(Frame(HAND), goal, tolerance=1e-14, angle_tolerance=1e-14)])
    for curvature in (True, False):
        values = [tight.value(Newton(k, 0.0, curvature).solve(tight, PANDA.rest).q) for k in range(25)]
        errors = np.sqrt(values)
        assert errors[-1] < 1e-12
        late = errors[errors < 2e-3]
        assert len(late) > 2
        assert (late[1:] <= 200.0 * late[:-1] ** 2 + 1e-13).all()


def test_leaves_a_saddle() -> None:
    """A straight arm whose goal lies on its own line: no first-order method can tell where to bend."""
    figure = Figure(
        "straight", [*hinge("a", None, Z), *hinge("b", "a", Z, at=(1, 0, 0)), *fixed("tip", "b", at=(1, 0, 0))]
    )
    problem = Problem(figure, [Task(Point("tip"), At((1.5, 0, 0)))])
    assert_allclose(problem.evaluate([0.0, 0.0]).gradient, 0.0, atol=1e-15)
    assert ActiveSet().solve(problem, [0.0, 0.0]).status is Status.NEAREST
    assert Newton().solve(problem, [0.0, 0.0]).status is Status.SOLVED
    nowhere = Problem(figure, [Task(Point("tip"), At((2.5, 0, 0)))])
    stuck = Newton().solve(nowhere, [0.0, 0.0])
    assert stuck.status is Status.NEAREST
    assert stuck.iterations == 0


def test_takes_fewer_steps_than_the_active_set_with_six_goals() -> None:
    figure = REACHABLE["human"][0].figure
    for seed in range(3):
        problem = Problem(figure, points(figure, shaken(figure, seed, 0.15), *SIX))
        newton, gauss, bfgs = (s.solve(problem, figure.rest) for s in (*BOTH, ActiveSet()))
        assert max(newton.iterations, gauss.iterations) < bfgs.iterations
        assert newton.ok
        assert gauss.ok


# ── rigidity, locks, and what may go wrong ───────────────────────────────────────────────────────────────────────────
def test_a_much_damped_step_is_along_the_gradient_in_the_metric_of_rigidity() -> None:
    rho = np.linspace(0.0, 0.9, PANDA.size)
    problem = panda(rigidity=rho)
    step = Newton(steps=1, damping=1e7).solve(problem, PANDA.rest).q - PANDA.rest
    ideal = -((1 - rho) ** 2) * problem.evaluate(PANDA.rest).gradient
    assert_allclose(step / np.linalg.norm(step), ideal / np.linalg.norm(ideal), atol=1e-5)


@pytest.mark.parametrize("name", ["panda, not reached", "jack, reached", "human, reached", "jack, not reached"])
def test_locked_coordinates_do_not_move(name: str) -> None:
    problem, start = ALL[name]
    rho = np.zeros(problem.figure.size)
    rho[::3] = 1.0
    solution = Newton().solve(Problem(problem.figure, problem.tasks, problem.limits, rigidity=rho), start)
    check(solution, start)
    assert solution.iterations > 0


def test_rows_that_repeat_each_other_do_no_harm() -> None:
    once = rows_on_panda()
    A_eq, b_eq, A, b = np.vstack([once.A_eq] * 2), np.tile(once.b_eq, 2), np.vstack([once.A] * 3), np.tile(once.b, 3)
    twice = Limits(once.lower, once.upper, A_eq, b_eq, A, b)
    one, two = (Newton().solve(leaning(PANDA, reaching_up(), 0.02, limits), PANDA.rest) for limits in (once, twice))
    assert_allclose(one.q, two.q, atol=1e-7)
    assert unexplained(two.problem, two.q) < 1e-7


def test_alternatives_custom_and_posture_goals() -> None:
    near, far = PANDA.placement(shaken(PANDA, 1, 0.2), HAND), PANDA.placement(shaken(PANDA, 2, 0.9), HAND)
    either = Problem(PANDA, [Task(Frame(HAND), AnyOf([Placed(near), Placed(far)]))])
    assert Newton().solve(either, PANDA.rest).ok
    held = Problem(PANDA, [*panda().tasks, Near(PANDA.rest)])
    for solver in BOTH:
        q = solver.solve(held, PANDA.rest).q
        assert unexplained(held, q) < 1e-6


@pytest.mark.parametrize("seed", range(60))
def test_finds_the_way_out_of_crowded_corners(seed: int) -> None:
    problem, start = corner(seed)
    solution = Newton().solve(problem, start)
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
    solution = Newton().solve(problem, start)
    assert problem.value(solution.q) < problem.value(start)
    assert solution.status is not Status.SOLVED
    lost = Newton().solve(problem, [0.0, 1.5, 0.0, 0.0])
    assert lost.status is Status.STOPPED
    assert lost.iterations == 0


def test_the_same_again() -> None:
    for problem, start in (REACHABLE["human"], UNREACHABLE["jack"]):
        one, two = (Newton().solve(problem, start) for _ in range(2))
        assert_array_equal(one.q, two.q)
        assert (one.iterations, one.evaluations) == (two.iterations, two.evaluations)


def test_refuses_by_name() -> None:
    hard = Task(Point(HAND), At((0.4, 0, 0.4)), hard=True, name="weld")
    with pytest.raises(Refused, match="weld"):
        Newton().solve(Problem(PANDA, [hard]), PANDA.rest)
    with pytest.raises(Refused, match="pin"):
        Newton().solve(Problem(FOUR_BAR, []), FOUR_BAR.rest)
    own = Problem(ARM, [Task(Point("hand"), Custom(edge, (0.3, 0.3, 0.3)))])
    assert Newton().refuse(own) == []
    with pytest.raises(Refused, match="residuals"):
        Newton(curvature=False).solve(own, ARM.rest)
    for wrong in ({"steps": -1}, {"tolerance": np.nan}, {"damping": 0.0}, {"damping": np.inf}):
        with pytest.raises(BadValue):
            Newton(**wrong)


@pytest.mark.interpreted
def test_a_tiny_arm_against_its_limit() -> None:
    figure = Figure("two", [*hinge("a", None, Z, limits=(-1, 0.5)), *hinge("b", "a", Z, at=(1, 0, 0), limits=(0.2, 2))])
    problem = Problem(figure, [Task(Point("b", (1, 0, 0)), At((0.3, 1.9, 0.0)))])
    solution = Newton().solve(problem, [0.0, 0.3])
    assert solution.status is Status.NEAREST
    assert solution.q[0] == 0.5
    assert unexplained(problem, solution.q) < 1e-8
