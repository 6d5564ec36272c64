"""What solvers may spend: budgets are exact and the same everywhere, deadlines end long searches, traces tell the way down."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from supple.errors import BadValue
from supple.figure.effectors import Point
from supple.figure.figure import Figure
from supple.figure.joints import fixed, hinge
from supple.geometry.placements import X, Y, Z
from supple.kernels.compiling import INTERPRETED, plain_twin
from supple.problem.allowance import TRACED, Allowance
from supple.problem.goals import At
from supple.problem.problem import Problem
from supple.problem.solution import Solution, Status
from supple.problem.task import Task
from supple.solvers.active_set.active_set import ActiveSet
from supple.solvers.baselines.cyclic_coordinate_descent import CyclicCoordinateDescent
from supple.solvers.baselines.damped_least_squares import DampedLeastSquares
from supple.solvers.baselines.fabrik import Fabrik
from supple.solvers.baselines.jacobian_transpose import FittedStep, FixedStep, JacobianTranspose
from supple.solvers.baselines.pseudo_inverse import PseudoInverse
from supple.solvers.levenberg_marquardt.levenberg_marquardt import LevenbergMarquardt, plain_search_entry
from supple.solvers.levenberg_marquardt.search import search_entry
from supple.solvers.multistart import Multistart
from supple.solvers.newton.newton import Newton
from supple.solvers.projected_gradient import ProjectedGradient
from supple.solving.solve import solve
from tests.tables.figures import TREES
from tests.tables.solver_cases import HAND, HUMAN, PANDA, human, narrowed, rows_on_panda, stretched

ENDLESS: dict[str, Any] = {"steps": 10**9, "tolerance": 0.0}
MONOTONE: dict[str, Any] = {
    "gradient": ProjectedGradient(),
    "the paper's gradient": ProjectedGradient(spectral=False),
    "active set": ActiveSet(),
    "newton": Newton(),
    "gauss": Newton(curvature=False),
    "cyclic": CyclicCoordinateDescent(),
    "levenberg": LevenbergMarquardt(),
}
BEST_SO_FAR: dict[str, Any] = {
    "transpose": JacobianTranspose(step=FixedStep(0.125)),
    "transpose 28": JacobianTranspose(step=FittedStep()),
    "damped": DampedLeastSquares(),
    "inverse": PseudoInverse(),
    "fabrik": Fabrik(),
}
SINGLE = MONOTONE | BEST_SO_FAR
CLAMPED = PseudoInverse(at_end=True)
SOLVERS = {**SINGLE, "inverse, clamped at the end": CLAMPED, "many starts": Multistart(Newton(), attempts=20)}

TWINS = TREES["twins"]
PROBLEMS: dict[str, Problem] = {
    "far": stretched(PANDA, HAND, (1.2, 0.3, 0.4)),
    "narrow": narrowed(),
    "rows": stretched(PANDA, HAND, (0.8, 0.7, 0.9), limits=rows_on_panda()),
    "human": human(),
    "apart": Problem(TWINS, [Task("left hand", At((0.1, 0.3, 0.2), relative_to="right hand"))]),
    "reluctant": Problem(
        TWINS, [Task("left hand", At((3, 1, 0), relative_to="right hand"))], rigidity=np.linspace(0, 1, TWINS.size)
    ),
}
PAIRS = [
    pytest.param(solver, problem, id=f"{name}, {case}")
    for name, solver in SOLVERS.items()
    for case, problem in PROBLEMS.items()
    if not solver.refuse(problem)
]


def worm(count: int = 300) -> Problem:
    """A goal that can be met, but not to its tolerance, for very many joints."""
    parts, above = [], None
    for i in range(count):
        parts += hinge(f"j{i}", above, (Z, Y, X)[i % 3], at=(0.03, 0.01, 0), limits=(-0.2, 0.3))
        above = f"j{i}"
    return Problem(Figure("worm", parts), [Task(Point(f"j{count - 1}"), At((0.3, 0.4, 0.2)), tolerance=1e-300)])


def crowd() -> Problem:
    """Six points for a person, never near enough."""
    return Problem(HUMAN, [replace(task, tolerance=1e-300) for task in human().tasks])


def legal(solution: Solution) -> bool:
    limits = solution.problem.limits
    assert limits is not None
    return limits.contains(solution.q)


# ── budgets ──────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(("solver", "problem"), PAIRS)
def test_a_budget_is_exact_and_only_cuts_the_way_short(solver: Any, problem: Problem) -> None:
    free = solve(problem, solver=solver, trace=True)
    for budget in (1, 2, 3, 9, 40):
        short, longer = (solve(problem, solver=solver, budget=k, trace=True) for k in (budget, budget + 5))
        assert 1 <= short.evaluations <= budget
        assert legal(short)
        assert (short.status is Status.SOLVED) == short.ok
        if short.status is Status.STOPPED and budget < free.evaluations:
            assert f"The budget of {budget} evaluations was spent" in short.reason
        kept = len(short.trace) - (solver is CLAMPED or problem is PROBLEMS["reluctant"])
        for whole in (longer.trace, free.trace):
            assert_array_equal(short.trace.evaluations[:kept], whole.evaluations[:kept])
            assert_array_equal(short.trace.value[:kept], whole.value[:kept])
        assert short.trace.evaluations[-1] <= budget


@pytest.mark.parametrize("name", SOLVERS)
def test_a_budget_that_comes_first_says_so(name: str) -> None:
    problem = PROBLEMS["far"]
    for budget in (1, 7):
        stopped = solve(problem, solver=SOLVERS[name], budget=budget)
        assert stopped.status is Status.STOPPED
        assert stopped.reason.startswith(f"The budget of {budget} evaluations was spent before the goals were met")
    own = solve(problem, solver=replace(SINGLE.get(name, CLAMPED), steps=1), budget=50)
    assert own.reason.startswith("The solver's own steps were used up before the goals were met")


@pytest.mark.parametrize(("solver", "problem"), PAIRS)
def test_enough_is_as_good_as_more(solver: Any, problem: Problem) -> None:
    free = solve(problem, solver=solver)
    for budget in (free.evaluations + (solver is CLAMPED), 10**9):
        same = solve(problem, solver=solver, budget=budget)
        assert_array_equal(same.q, free.q)
        assert (same.status, same.iterations, same.evaluations) == (free.status, free.iterations, free.evaluations)


BAD = [{"budget": b} for b in (0, -1, 2.5, math.nan, "many")] + [{"deadline": d} for d in (0, -1.0, math.nan, "soon")]


@pytest.mark.parametrize("wrong", BAD, ids=str)
def test_what_is_no_budget_or_deadline_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadValue, match=next(iter(wrong))):
        solve(PROBLEMS["far"], **wrong)


# ── deadlines ────────────────────────────────────────────────────────────────────────────────────────────────────────
LONG: dict[str, tuple[Any, Any]] = {
    "gradient": (ProjectedGradient(**ENDLESS, spectral=False), crowd),
    "active set": (ActiveSet(**ENDLESS), crowd),
    "cyclic": (CyclicCoordinateDescent(**ENDLESS), crowd),
    "transpose": (JacobianTranspose(**ENDLESS), crowd),
    "damped": (DampedLeastSquares(**ENDLESS), worm),
    "inverse": (PseudoInverse(**ENDLESS), worm),
    "inverse, clamped at the end": (replace(CLAMPED, **ENDLESS), worm),
    "newton": (Newton(**ENDLESS), worm),
    "fabrik": (Fabrik(**ENDLESS), lambda: worm(1200)),  # it ends by itself, where nothing moves any more
    "many starts": (Multistart(Newton(**ENDLESS), attempts=10**6), worm),
}


@pytest.mark.parametrize("name", LONG)
def test_a_deadline_ends_a_long_search(name: str) -> None:
    solver, build = LONG[name]
    problem = build()
    solve(problem, solver=solver, budget=2)  # whatever is compiled at the first call
    late = solve(problem, solver=solver, deadline=2e-3)
    assert late.status is Status.STOPPED
    assert late.reason.startswith("The deadline of 0.002 s passed before the goals were met")
    assert legal(late)
    assert late.evaluations >= 1


@pytest.mark.parametrize("name", SOLVERS)
def test_a_deadline_far_off_changes_nothing(name: str) -> None:
    free, watched = (solve(PROBLEMS["far"], solver=SOLVERS[name], deadline=d) for d in (None, 1e300))
    assert_array_equal(free.q, watched.q)
    assert free.reason == watched.reason


# ── traces ───────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(("solver", "problem"), PAIRS)
def test_a_trace_leads_from_the_start_to_the_answer(solver: Any, problem: Problem) -> None:
    assert solve(problem, solver=solver).trace is None
    solution = solve(problem, solver=solver, trace=True)
    trace = solution.trace
    assert trace is not None
    assert len(trace) == len(trace.evaluations) == len(trace.value)
    assert trace.evaluations[0] == 1
    assert (np.diff(trace.evaluations) >= 0).all()
    assert trace.evaluations[-1] <= solution.evaluations
    assert problem.limits is not None
    assert_allclose(trace.value[0], problem.value(problem.limits.project(problem.figure.rest)), rtol=1e-12)
    answer = problem.value(solution.q)
    if solver in MONOTONE.values():
        assert (np.diff(trace.value) <= 0.0).all()
        assert_allclose(trace.value[-1], answer, rtol=1e-5, atol=1e-20)
    elif solver in BEST_SO_FAR.values():
        assert (np.diff(trace.value) <= 1e-13 * trace.value[:-1]).all()
        assert_allclose(trace.value[-1], answer, rtol=1e-12)
    else:
        assert np.isclose(trace.value, answer, rtol=1e-12).any()


def test_a_trace_that_is_longer_than_its_page_keeps_its_end() -> None:
    problem = human()
    solution = solve(problem, solver=JacobianTranspose(steps=TRACED + 1000), trace=True)
    assert solution.trace is not None
    assert len(solution.trace) == TRACED
    assert solution.trace.evaluations[-1] == solution.evaluations > TRACED
    assert_allclose(solution.trace.value[-1], problem.value(solution.q), rtol=1e-12)


# ── many starts ──────────────────────────────────────────────────────────────────────────────────────────────────────
def test_attempts_share_the_budget_and_join_their_traces() -> None:
    problem = PROBLEMS["far"]
    one = solve(problem, solver=Newton(), trace=True)
    many = solve(problem, solver=Multistart(Newton(), attempts=4), trace=True)
    assert one.trace is not None
    assert many.trace is not None
    assert_array_equal(many.trace.value[: len(one.trace)], one.trace.value)
    assert many.trace.evaluations[len(one.trace)] == one.evaluations + 1
    assert many.evaluations > one.evaluations
    cut = solve(problem, solver=Multistart(Newton(), attempts=4), budget=one.evaluations + 3, trace=True)
    assert cut.evaluations == one.evaluations + 3
    assert cut.status is Status.NEAREST  # that is true of the first attempt, which is the best so far
    assert problem.value(cut.q) == one.trace.value[-1]


def test_a_solver_of_ones_own_is_told_what_it_may_spend() -> None:
    told = []

    class Own:
        def refuse(self, problem: Problem) -> list[str]:
            return []

        def solve(self, problem: Problem, start: Any, seed: int = 0, allowance: Any = None) -> Solution:
            told.append(allowance)
            return Newton().solve(problem, start, seed, allowance)

    solve(PROBLEMS["far"], solver=Own(), budget=30, deadline=60.0, trace=True)
    assert told == [Allowance(30, 60.0, True)]


# ── counting ─────────────────────────────────────────────────────────────────────────────────────────────────────────
EVALUATING = ("projected_gradient", "descent", "newton.newton", "baselines.common",
              "baselines.jacobian_transpose", "baselines.cyclic_coordinate_descent", "baselines.fabrik",
              "levenberg_marquardt.phases", "levenberg_marquardt.rank_by_rank",
              "levenberg_marquardt.tolerance_set")  # fmt: skip


@pytest.mark.interpreted
@pytest.mark.skipif(not INTERPRETED, reason="calls can be counted only where nothing is compiled")
@pytest.mark.parametrize("name", SOLVERS)
def test_every_evaluation_is_counted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(function: Any) -> Any:
        return lambda *given: (calls.append(1), function(*given))[1]

    for module in (import_module(f"supple.solvers.{name}") for name in EVALUATING):
        for evaluation in ("gradient", "hessian", "jacobian", "linearise", "appraise"):
            if hasattr(module, evaluation):
                monkeypatch.setattr(module, evaluation, counted(getattr(module, evaluation)))
    monkeypatch.setattr(plain_search_entry, "_ready", plain_twin(search_entry))  # it is made of what it finds
    parts = [*hinge("a", None, Z, limits=(-1, 1)), *hinge("b", "a", Z, at=(1, 0, 0)), *fixed("tip", "b", (1, 0, 0))]
    problem = Problem(Figure("two", parts), [Task("tip", At((1.5, 1.5, 0.0)))])
    for budget in (1, 2, 3, 10, 60):
        calls.clear()
        solution = solve(problem, [0.1, 0.2], solver=SOLVERS[name], budget=budget)
        assert len(calls) == solution.evaluations <= budget
