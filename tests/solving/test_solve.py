"""Solving: every answer legal, every status true by an independent check, never uphill, always the same."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from supple.errors import BadValue, Refused
from supple.figure.effectors import Direction, Gap, MassCentre, Point
from supple.figure.figure import Figure
from supple.figure.joints import ball, fixed, free, hinge, slide
from supple.figure.limits import Limits
from supple.geometry.placements import X, Y, Z, place
from supple.geometry.shapes import Ball
from supple.problem.goals import (
    AimedAt,
    Aligned,
    AnyOf,
    At,
    Beyond,
    Custom,
    Facing,
    Near,
    OnLine,
    OnPlane,
    Placed,
    Within,
)
from supple.problem.problem import Problem
from supple.problem.solution import Solution, Status
from supple.problem.task import Task
from supple.solvers.multistart import Multistart
from supple.solvers.projected_gradient import ProjectedGradient
from supple.solving.solve import solve
from tests.tables.figures import ENDS, FIGURES, FOUR_BAR, TREES, posture, somewhere, trees

ARM, MIXED, TWINS, SPINE = (TREES[name] for name in ("arm", "mixed", "twins", "spine"))
BODY = ARM.with_spheres({"hand": [(0.0, 0.0, 0.0, 0.05)]})
REACHED = ARM.placement([0.4, 0.5, 1.0, -0.3], "hand")


def projected_step(problem: Problem, q: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Where a unit step against the gradient ends within the limits, for problems whose joints are all free or locked."""
    limits, moves = problem.limits, problem.free > 0.0
    assert limits is not None
    held = Limits(
        np.where(moves, limits.lower, q), np.where(moves, limits.upper, q), limits.A_eq, limits.b_eq, limits.A, limits.b
    )
    return held.project(q - np.where(moves, gradient, 0.0)) - q


def audit(solution: Solution, gain: float = 1e-5) -> None:
    """What must hold of any solution, checked without the solver."""
    problem, q = solution.problem, solution.q
    assert problem.limits is not None
    assert problem.limits.contains(q)
    assert not q.flags.writeable
    assert solution.status is not Status.IMPOSSIBLE or solution.certificate.verify()
    met = all(
        miss.metres <= task.tolerance and miss.radians <= task.angle_tolerance
        for task, miss in zip(problem.all_tasks, problem.misses(q), strict=True)
    )
    assert solution.ok == met
    assert (solution.status is Status.SOLVED) == met
    assert solution.reason
    if solution.status in (Status.NEAREST, Status.IMPOSSIBLE):
        step = projected_step(problem, q, problem.evaluate(q, hessian=False).gradient)
        assert np.abs(step).max(initial=0.0) < gain
    if solution.status is Status.NEAREST:
        for name in solution.unmet:
            assert name in solution.reason or "more" in solution.reason


GOALS: dict[str, Any] = {
    "At": At(REACHED[:3, 3]),
    "Facing": Facing(REACHED[:3, 0], REACHED[:3, 1]),
    "Placed": Placed(REACHED, per_radian=0.3),
    "Aligned": Aligned(REACHED[:3, 3], REACHED[:3, 0], weights=(1, 0.2)),
    "AimedAt": AimedAt((1.0, 0.2, 0.3)),
    "OnLine": OnLine((0.5, 0, 0.4), Y),
    "OnPlane": OnPlane((0.5, 0, 0.4), Y),
    "Beyond": Beyond((0.5, 0, 0.4), X),
    "Within": Within(REACHED, box=0.05, tilt=0.2),
    "AnyOf": AnyOf([At((9, 9, 9)), At(REACHED[:3, 3])]),
}


# ── reachable ────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("goal", GOALS)
def test_reachable_goals_are_reached(goal: str):
    solution = solve(Problem(ARM, [Task("hand", GOALS[goal])]), [0.2, 0.3, 1.2, -0.1])
    audit(solution)
    assert solution.status is Status.SOLVED, solution.report()


@pytest.mark.parametrize("figure", FIGURES)
def test_a_small_move_is_found_on_every_figure(figure: str):
    f = Figure(figure, FIGURES[figure].joints.values(), FIGURES[figure].drivers, bounds=FIGURES[figure].bounds)
    end, _ = ENDS[figure]
    q = posture(f, 1, 0.5)
    start = f.limits.project(q + 0.05 * np.random.default_rng(2).normal(size=f.size))
    solution = solve(f, {end: Placed(f.placement(q, end), per_radian=0.5)}, start)
    audit(solution)
    assert solution.status is Status.SOLVED, solution.report()


@pytest.mark.interpreted
def test_a_solve_on_a_small_arm():
    figure = Figure(
        "two", [*hinge("a", None, Z, limits=(-1, 1)), *hinge("b", "a", Z, at=(1, 0, 0)), *fixed("tip", "b", (1, 0, 0))]
    )
    target = figure.placement([0.5, 1.0], "tip")[:3, 3]
    solution = solve(figure, {"tip": At(target)}, start=[0.4, 0.8])
    audit(solution)
    assert solution.ok
    far = solve(figure, {"tip": At((5, 0, 0))}, start=[0.4, 0.8], solver=ProjectedGradient(steps=300))
    audit(far)
    assert_allclose(far.q, [0, 0], atol=1e-3)


def test_several_tasks_at_once():
    q = posture(TWINS, 3, 0.4)
    tasks = [
        Task("left hand", Placed(TWINS.placement(q, "left hand"), per_radian=0.5)),
        Task(Point("right hand", (0, 0, 0.1)), At((TWINS.placement(q, "right hand") @ [0, 0, 0.1, 1])[:3])),
        Task(MassCentre(), OnLine(TWINS.mass_centre(q), Z), tolerance=1e-4),
        Task(Direction("trunk", Z), Facing(TWINS.placement(q, "trunk")[:3, 2])),
    ]
    solution = solve(Problem(TWINS, tasks), start=np.zeros(TWINS.size), solver=ProjectedGradient(steps=50_000))
    audit(solution)
    assert solution.ok, solution.report()


def test_a_preference_is_honoured_among_solutions_and_never_fails():
    figure = Figure("plane", [*slide("x", None, X), *slide("y", "x", Y)])
    solution = solve(
        Problem(figure, [Task("y", OnLine((0, 2, 0), X)), Task(None, Near([5.0, 0.0], (1, 0)), weight=0.1)])
    )
    audit(solution)
    assert solution.ok
    assert_allclose(solution.q, [5, 2], atol=1e-4)
    audit(solve(Problem(figure, [Near([1.0, 2.0])])))


# ── unreachable, at limits ───────────────────────────────────────────────────────────────────────────────────────────
def test_out_of_reach_is_nearest_and_legal():
    solution = solve(Problem(ARM, [Task("hand", At((5.0, 1.0, 0.5)))]), solver=ProjectedGradient(steps=20_000))
    audit(solution)
    assert solution.status is Status.NEAREST
    assert not solution.ok
    assert solution.unmet == ("hand At",)


def test_at_an_active_limit():
    figure = Figure("wheel", [*hinge("a", None, Z, limits=(-0.5, 0.5)), *fixed("tip", "a", (1, 0, 0))])
    solution = solve(figure, {"tip": At((0, 1, 0))})
    audit(solution)
    assert solution.status is Status.IMPOSSIBLE
    assert solution.q[0] == 0.5
    assert solution.active == ("a",)
    assert "at their limits: a" in solution.report()
    there = solve(figure, {"tip": At((math.cos(0.5), math.sin(0.5), 0))})
    audit(there)
    assert there.ok


@given(trees(most=5), st.integers(0, 1 << 32))
@settings(max_examples=40)
def test_any_problem_has_a_legal_answer_with_a_true_status(figure: Figure, seed: int):
    rng = np.random.default_rng(seed)
    center = rng.normal(size=figure.size)
    width = rng.uniform(0, 1, size=figure.size)
    limits = Limits(center - width, center + width)
    tasks = [
        Task(figure.segments[-1], Placed(somewhere(seed % 1000, 1.0), per_radian=0.5)),
        Task(MassCentre(), Beyond(rng.normal(size=3), rng.normal(size=3)), weight=0.5),
    ]
    solution = solve(
        Problem(figure, tasks, limits), start=rng.normal(size=figure.size) * 2, solver=ProjectedGradient(steps=400)
    )
    audit(solution, gain=1e-3)


# ── linear limits, rigidity ──────────────────────────────────────────────────────────────────────────────────────────
def test_linear_limits_are_kept():
    limits = Limits(
        ARM.lower, ARM.upper, A_eq=[[0, 1, -0.5, 0]], b_eq=[0.1], A=[[1, 0, 1, 0], [-1, 0, 0, 1]], b=[1.0, 0.5]
    )
    for seed in range(5):
        target = ARM.placement(posture(ARM, seed), "hand")[:3, 3]
        solution = solve(Problem(ARM, [Task("hand", At(target))], limits), start=posture(ARM, seed + 50, 2.0))
        audit(solution)
        assert abs(solution.q[1] - 0.5 * solution.q[2] - 0.1) < 1e-9


def test_the_bounds_of_a_group_are_kept():
    solution = solve(SPINE, {"head": At((0.0, -3.0, 0.0))}, solver=ProjectedGradient(steps=5000))
    audit(solution)
    assert solution.q[:2].sum() <= 1.5 + 1e-9


@pytest.mark.parametrize("angle", [0.1, 0.02, 0.01, 0.001])
def test_sharp_linear_limits_are_kept_too(angle: float):
    """Two rows that are nearly opposite: a projection that stops early would leave the limits."""
    c, s = math.cos(angle), math.sin(angle)
    figure = Figure("plane", [*slide("x", None, X), *slide("y", "x", Y)])
    limits = Limits([-100, -100], [100, 100], A=[[c, s], [-c, s]], b=[0, 0])
    solution = solve(Problem(figure, [Task("y", At((1.0, 1.0, 0)))], limits), start=[0, -50])
    audit(solution)
    assert_allclose(solution.q, [0, 0], atol=1e-6)


def test_what_is_rigid_stays():
    start = np.array([0.2, 0.3, 1.2, -0.1])
    problem = Problem(ARM, [Task("hand", At(REACHED[:3, 3]))], rigidity={"shoulder": 1.0})
    solution = solve(problem, start)
    audit(solution)
    assert solution.q[1] == start[1]
    assert not np.array_equal(solution.q, start)


def test_what_is_outside_the_chain_stays():
    start = np.array([0.2, 0.3, 1.2, -0.1])
    solution = solve(Problem(ARM, [Task("hand", At((0.2, 0.2, 0.2)), chain="elbow")]), start)
    audit(solution)
    assert_array_equal(solution.q[:2], start[:2])


# ── the start ────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_start_outside_the_limits_is_projected():
    problem = Problem(ARM, [Task("hand", At(REACHED[:3, 3]))])
    wild, tame = solve(problem, [9.0, -9.0, 9.0, -9.0]), solve(problem, [3.0, -2.0, 2.5, -1.5])
    audit(wild)
    assert_array_equal(wild.q, tame.q)
    none = solve(problem, [9.0, -9.0, 9.0, -9.0], solver=ProjectedGradient(steps=0))
    assert_array_equal(none.q, [3.0, -2.0, 2.5, -1.5])
    assert none.status is Status.STOPPED


def test_the_default_start_is_rest():
    solution = solve(Problem(ARM, [Task("hand", At((9, 9, 9)))]), solver=ProjectedGradient(steps=0))
    assert_array_equal(solution.q, ARM.rest)


def test_the_start_is_left_alone():
    start = np.array([9.0, 0.0, 1.0, 0.0])
    solve(Problem(ARM, [Task("hand", At(REACHED[:3, 3]))]), start)
    ProjectedGradient().solve(Problem(ARM, [Task("hand", At(REACHED[:3, 3]))]), start)
    assert_array_equal(start, [9, 0, 1, 0])


def test_a_start_that_is_the_answer_is_returned_as_it_is():
    q = np.array([0.4, 0.5, 1.0, -0.3])
    solution = solve(Problem(ARM, [Task("hand", Placed(REACHED))]), q)
    assert solution.ok
    assert solution.iterations == 0
    assert_array_equal(solution.q, q)


# ── the way ──────────────────────────────────────────────────────────────────────────────────────────────────────────
WAYS: dict[str, Callable[[], tuple[Problem, np.ndarray]]] = {
    "arm": lambda: (Problem(ARM, [Task("hand", Placed(REACHED, per_radian=0.3))]), ARM.upper),
    "limits": lambda: (Problem(ARM, [Task("hand", At((5, 0, 0)))]), ARM.rest),
    "twins": lambda: (
        Problem(TWINS, [Task("left hand", Placed(somewhere(3))), Task(MassCentre(), At((1, 0, 0)), weight=3)]),
        np.zeros(TWINS.size),
    ),
    "alternatives": lambda: (Problem(ARM, [Task("hand", AnyOf([At((1, 0, 0)), At((-1, 0, 0))]))]), ARM.rest),
    "rows": lambda: (
        Problem(ARM, [Task("hand", At((1, 1, 0)))], Limits(ARM.lower, ARM.upper, A=[[1, 1, 1, 1]], b=[1])),
        ARM.rest,
    ),
    "rigid": lambda: (
        Problem(MIXED, [Task("hand", At((1, 1, 0)))], rigidity=np.linspace(0, 1, MIXED.size)),
        MIXED.rest,
    ),
}


@pytest.mark.parametrize("spectral", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_never_uphill_and_always_legal(way: str, spectral: bool):
    problem, start = WAYS[way]()
    assert problem.limits is not None
    solver, last = ProjectedGradient(spectral=spectral), math.inf
    for steps in (*range(12), 20, 40, 80, 160):
        solution = solve(problem, start, solver=replace(solver, steps=steps))
        audit(solution, gain=math.inf)
        assert solution.iterations <= steps
        value = problem.value(solution.q)
        assert value <= last * (1 + 1e-14)
        last = value


@pytest.mark.parametrize("way", WAYS)
def test_the_same_question_has_the_same_answer(way: str):
    one, two = (solve(*WAYS[way]()) for _ in range(2))
    assert_array_equal(one.q, two.q)
    assert (one.status, one.iterations, one.evaluations) == (two.status, two.iterations, two.evaluations)


@pytest.mark.parametrize("way", [w for w in WAYS if w not in ("rigid", "arm")])
def test_a_nearest_posture_cannot_be_bettered_nearby(way: str):
    """An independent look around: no legal posture within a small ball has a noticeably lower value."""
    problem, start = WAYS[way]()
    solution = solve(problem, start, solver=ProjectedGradient(steps=20_000))
    audit(solution)
    assert solution.status is Status.NEAREST
    rng, here = np.random.default_rng(4), problem.value(solution.q)
    assert problem.limits is not None
    for radius in (1e-4, 1e-3):
        for _ in range(200):
            q = problem.limits.project(solution.q + radius * rng.normal(size=len(solution.q)))
            assert problem.value(q) >= here - 1e-5 * radius * max(1.0, here)


def test_a_spent_budget_says_so():
    solution = solve(Problem(ARM, [Task("hand", At(REACHED[:3, 3]))]), solver=ProjectedGradient(steps=1))
    audit(solution)
    assert solution.status is Status.STOPPED
    assert "own steps were used up" in solution.reason


# ── honesty ──────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("tolerance", [1e-2, 1e-6, 1e-9, 1e-12, 1e-15])
def test_a_status_is_true_for_any_tolerance(tolerance: float):
    task = Task("hand", Placed(REACHED, per_radian=0.3), tolerance=tolerance, angle_tolerance=tolerance)
    solution = solve(Problem(ARM, [task]), [0.3, 0.4, 1.1, -0.2], solver=ProjectedGradient(steps=5000, tolerance=1e-15))
    audit(solution)


@pytest.mark.parametrize("weight", [1e6, 1.0, 1e-8, 1e-12])
def test_the_weight_of_an_only_task_does_not_matter(weight: float):
    solution = solve(Problem(ARM, [Task("hand", At(REACHED[:3, 3]), weight=weight)]), [0.2, 0.3, 1.2, -0.1])
    audit(solution)
    assert solution.ok, solution.report()


@pytest.mark.parametrize("size", [1e3, 1.0, 1e-3, 1e-6])
def test_the_size_of_a_mechanism_does_not_matter(size: float):
    parts = [*hinge("a", None, Z), *hinge("b", "a", Z, at=(size, 0, 0)), *fixed("tip", "b", (size, 0, 0))]
    figure = Figure("two", parts)
    task = Task("tip", At(figure.placement([0.5, 1.0], "tip")[:3, 3]), tolerance=1e-5 * size)
    solution = solve(Problem(figure, [task]), [0.3, 0.6])
    assert solution.ok, solution.report()


def test_half_a_turn_off_is_not_called_solved_and_not_called_nearest():
    """Exactly flipped, a tilt goal can be improved by any turn about the flip's axis."""
    figure = Figure("body", free("body"))
    solution = solve(Problem(figure, [Task("body", Within(tilt=0.1))]), start=[0, 0, 0, math.pi, 0, 0])
    audit(solution)
    assert solution.status is Status.SOLVED


def test_upside_down_is_a_summit_and_not_the_nearest_posture():
    """Every first-order method stands still on a summit; to say that no move helps would be wrong."""
    figure = Figure("wheel", [*hinge("a", None, Z), *fixed("tip", "a", (1, 0, 0))])
    solution = solve(figure, {"tip": At((-1, 0, 0))}, start=[0.0])
    audit(solution)
    assert solution.status is not Status.NEAREST


def not_a_number(a: Any, x: Any, g: Any, H: Any) -> float:
    return math.nan


def lies(a: Any, x: Any, g: Any, H: Any) -> float:
    g[0] = math.nan
    return 1.0


@pytest.mark.parametrize("function", [not_a_number, lies])
def test_a_goal_that_is_not_a_number_is_never_solved(function: Callable[..., float]):
    solution = solve(Problem(ARM, [Task("hand", Custom(function))]))
    assert solution.status is not Status.SOLVED
    assert not solution.ok
    assert ARM.limits.contains(solution.q)


def test_a_custom_goal_is_solved_and_judged_by_its_root():
    def bowl(a: Any, x: Any, g: Any, H: Any) -> float:
        g[2], H[2, 2] = 2 * (x[2] - a[0]), 2.0
        return (x[2] - a[0]) ** 2

    solution = solve(Problem(ARM, [Task("hand", Custom(bowl, [0.5]))]), ARM.upper)
    audit(solution)
    assert solution.ok
    assert_allclose(ARM.placement(solution.q, "hand")[2, 3], 0.5, atol=1.1e-5)


# ── forms of the call, refusals ──────────────────────────────────────────────────────────────────────────────────────
def test_short_forms():
    long = solve(Problem(ARM, [Task("hand", At(REACHED[:3, 3]))]), ARM.upper)
    for other in (
        solve(ARM, {"hand": At(REACHED[:3, 3])}, ARM.upper),
        solve(ARM, {"hand": At(REACHED[:3, 3])}, start=ARM.upper),
        solve(Problem(ARM, [Task("hand", At(REACHED[:3, 3]))]), start=ARM.upper, solver=Multistart()),
    ):
        assert_array_equal(other.q, long.q)
    assert solve(ARM).ok
    assert_array_equal(solve(ARM).q, ARM.rest)


def test_a_report_names_every_task():
    tasks = [Task("hand", At((5, 0, 0)), name="reach"), Task("elbow", Facing(X), name="look")]
    text = solve(Problem(ARM, tasks)).report()
    assert "reach" in text
    assert "look" in text
    assert "not met" in text


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "hard": (
        lambda: solve(Problem(ARM, [Task("hand", At(X), hard=True, name="grip")]), solver=ProjectedGradient()),
        Refused,
        "ProjectedGradient cannot take this problem: 'grip' is hard",
    ),
    "loops": (lambda: solve(FOUR_BAR, {"pen": At(X)}, solver=ProjectedGradient()), Refused, "'pin' is hard"),
    "priorities": (
        lambda: solve(
            Problem(ARM, [Task("hand", At(X)), Task("elbow", At(X), priority=1)]), solver=ProjectedGradient()
        ),
        Refused,
        "its tasks have several priorities",
    ),
    "obstacles": (
        lambda: solve(Problem(BODY, [], obstacles=[Ball((9, 9, 9), 1)]), solver=ProjectedGradient()),
        Refused,
        "it keeps clear of obstacle 1",
    ),
    "no body": (lambda: Problem(ARM, [], obstacles=[Ball((9, 9, 9), 1)]), BadValue, "has no solids: give it some by"),
    "NaN start": (
        lambda: solve(ARM, {"hand": At(X)}, [math.nan, 0, 0, 0]),
        BadValue,
        "a posture of 'arm' must be finite",
    ),
    "infinite start": (lambda: solve(ARM, {"hand": At(X)}, [math.inf, 0, 0, 0]), BadValue, "must be finite"),
    "short start": (lambda: solve(ARM, {"hand": At(X)}, [0, 0]), BadValue, "has 4 coordinates"),
    "two starts": (lambda: solve(ARM, {"hand": At(X)}, ARM.rest, start=ARM.rest), BadValue, "solve takes one start"),
    "many starts": (lambda: solve(ARM, {"hand": At(X)}, np.zeros((2, 4))), BadValue, "has 4 coordinates, not shape"),
    "not a problem": (lambda: solve("arm"), BadValue, "solve takes a Problem, or a Figure and goals"),  # type: ignore
    "no mapping": (lambda: solve(ARM, [At(X)]), BadValue, r"the short form is solve\(figure, \{segment: goal\}\)"),
    "alpha": (lambda: ProjectedGradient(alpha=0.6, beta=0.5), BadValue, "back-tracking needs 0 < alpha ≤ beta < 1"),
    "beta": (lambda: ProjectedGradient(beta=1.0), BadValue, "back-tracking needs"),
    "steps": (lambda: ProjectedGradient(steps=-1), BadValue, "at least 0"),
    "NaN tolerance": (lambda: ProjectedGradient(tolerance=math.nan), BadValue, "finite and not negative"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str):
    make, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        make()


def test_a_gap_closes():
    figure = Figure("four-bar", FOUR_BAR.joints.values())
    gap = Gap(Point("coupler", (0.4, 0, 0)), Point("rocker", (0.3, 0, 0)))
    solution = solve(Problem(figure, [Task(gap, At((0, 0, 0)))]), start=[1.0, -0.5, 1.5])
    audit(solution)
    assert solution.ok


def test_a_body_that_floats_goes_anywhere():
    figure = Figure("body", [*free("body"), *ball("head", "body", at=(0, 0, 1))])
    for seed in range(4):
        target = place(np.random.default_rng(seed).normal(size=3), rpy=np.random.default_rng(seed).uniform(-1, 1, 3))
        solution = solve(figure, {"body": Placed(target)})
        audit(solution)
        assert solution.ok, solution.report()
