"""The baseline solvers: each step as its formula says, every answer legal, every status true, refusals by name."""

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
from supple.figure.joints import ball, fixed, hinge, slide, universal
from supple.figure.limits import Limits
from supple.geometry.placements import X, Y, Z
from supple.geometry.shapes import Ball
from supple.kernels.tables import EVALUATION
from supple.problem.allowance import FREELY
from supple.problem.goals import AimedAt, AnyOf, At, Beyond, Custom, Facing, Near, OnLine, OnPlane, Placed, Within
from supple.problem.problem import Problem
from supple.problem.solution import Solution, Status
from supple.problem.task import Task
from supple.solvers.baselines.cyclic_coordinate_descent import CyclicCoordinateDescent, cyclic_coordinate_descent_entry
from supple.solvers.baselines.damped_least_squares import DampedLeastSquares, damped_least_squares_entry
from supple.solvers.baselines.fabrik import Fabrik, fabrik_entry
from supple.solvers.baselines.jacobian_transpose import (
    CautiousStep,
    FittedStep,
    FixedStep,
    JacobianTranspose,
    jacobian_transpose_entry,
)
from supple.solvers.baselines.pseudo_inverse import PseudoInverse, orthogonal_rows_entry, pseudo_inverse_entry
from supple.solving.solve import solve
from tests.tables.figures import FOUR_BAR, ONE_JOINT, TREES, posture, somewhere, trees

ARM, MIXED, TWINS, SPINE = (TREES[name] for name in ("arm", "mixed", "twins", "spine"))
BALLS = Figure(
    "balls",
    [
        *ball("a", None),
        *ball("b", "a", "xzx", at=(0, 0, 0.4)),
        *ball("c", "b", at=(0.1, 0, 0.3)),
        *fixed("tip", "c", (0, 0, 0.2)),
    ],
)
FLAT = Figure(
    "flat",
    [
        *hinge("a", None, Z),
        *hinge("b", "a", Z, at=(0.4, 0, 0.1)),
        *hinge("c", "b", Z, at=(0.3, 0, -0.1)),
        *fixed("tip", "c", (0.2, 0, 0)),
    ],
)
LIMB = Figure(
    "limb",
    [
        *ball("shoulder", None, "zyx", limits=[(-2, 2), (-1.5, 1.5), (-2, 2)]),
        *hinge("elbow", "shoulder", X, at=(0, 0, -0.3), limits=(0.1, 2.5)),
        *universal("wrist", "elbow", "xy", at=(0, 0, -0.25), limits=[(-1, 1), (-1, 1)]),
        *fixed("tip", "wrist", at=(0, 0, -0.1)),
    ],
)
GANTRY = Figure(
    "gantry",
    [
        *slide("x", None, X, limits=(-1, 1)),
        *slide("y", "x", (0.6, 0.8, 0), limits=(-1, 1)),
        *hinge("turn", "y", Z),
        *fixed("tip", "turn", (0.1, 0, 0)),
    ],
)

ANY: dict[str, Any] = {
    "transpose": JacobianTranspose(step=FixedStep(0.125)),
    "transpose 28": JacobianTranspose(step=FittedStep()),
    "transpose 29": JacobianTranspose(step=CautiousStep()),
    "damped": DampedLeastSquares(),
    "inverse": PseudoInverse(),
    "inverse, clamped at the end": PseudoInverse(at_end=True),
    "cyclic": CyclicCoordinateDescent(),
}
ALL: dict[str, Any] = {**ANY, "fabrik": Fabrik()}


def audit(solution: Solution, gain: float = 1e-5) -> None:
    """What must hold of any solution, checked without the solver."""
    problem, q = solution.problem, solution.q
    assert problem.limits is not None
    assert np.isfinite(q).all()
    assert problem.limits.contains(q)
    assert not q.flags.writeable
    assert (solution.status is Status.SOLVED) == solution.ok
    if solution.status is Status.NEAREST:
        moves = problem.free > 0.0
        lower, upper = np.where(moves, problem.limits.lower, q), np.where(moves, problem.limits.upper, q)
        held = replace(problem.limits, lower=lower, upper=upper)
        gradient = problem.evaluate(q, hessian=False).gradient
        assert gradient is not None
        step = held.project(q - np.where(moves, gradient, 0.0)) - q
        assert np.abs(step).max(initial=0.0) < gain


def near(figure: Figure, q: Any, spread: float = 0.1) -> np.ndarray:
    """A legal posture near q."""
    return figure.limits.project(np.asarray(q) + spread * np.random.default_rng(5).normal(size=figure.size))


def goal_of(figure: Figure, end: str, q: Any) -> np.ndarray:
    """Where the end is in the posture q."""
    return figure.placement(np.asarray(q), end)


# ── reachable goals are reached ──────────────────────────────────────────────────────────────────────────────────────
CHAINS: dict[str, tuple[Figure, str, list[float]]] = {
    "arm": (ARM, "hand", [0.4, 0.5, 1.0, -0.3]),
    "balls": (BALLS, "tip", [0.3, 0.2, 0.4, -0.3, 0.5, 0.2, 0.4, 0.6, -0.2]),
    "flat": (FLAT, "tip", [0.3, 0.8, -0.5]),
    "limb": (LIMB, "tip", [0.3, -0.4, 0.5, 1.1, 0.3, 0.2]),
}


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("solver", ALL)
def test_a_position_is_reached_on_every_chain(solver: str, chain: str):
    figure, end, q = CHAINS[chain]
    problem = Problem(figure, [Task(end, At(goal_of(figure, end, q)[:3, 3]))])
    solution = solve(problem, near(figure, q), solver=ALL[solver])
    audit(solution)
    assert solution.status is Status.SOLVED, solution.report()
    assert solution.iterations > 0
    assert solution.evaluations > 0


HAND = goal_of(ARM, "hand", [0.4, 0.5, 1.0, -0.3])
TASKS: dict[str, tuple[Figure, list[Task]]] = {
    "Placed": (ARM, [Task("hand", Placed(HAND, per_radian=0.3))]),
    "Facing": (ARM, [Task("hand", Facing(HAND[:3, 0], HAND[:3, 1]))]),
    "AimedAt": (ARM, [Task("hand", AimedAt((1.0, 0.2, 0.3)))]),
    "OnLine": (ARM, [Task("hand", OnLine((0.5, 0, 0.4), Y))]),
    "OnPlane": (ARM, [Task("hand", OnPlane((0.5, 0, 0.4), Y))]),
    "Beyond": (ARM, [Task("hand", Beyond((0.5, 0, 0.4), X))]),
    "Within": (ARM, [Task("hand", Within(HAND, box=0.05, tilt=0.2))]),
    "AnyOf": (ARM, [Task("hand", AnyOf([At((9, 9, 9)), At(HAND[:3, 3])]))]),
    "relative": (TWINS, [Task("left hand", At((0.1, 0.3, 0.2), relative_to="right hand"))]),
    "gap": (TWINS, [Task(Gap(Point("left hand"), Point("right elbow")), At((0.0, 0.2, 0.0)))]),
    "mass": (TWINS, [Task(MassCentre(), At(TWINS.mass_centre(posture(TWINS, 3, 0.3))))]),
    "two hands": (
        TWINS,
        [Task(f"{s} hand", At(goal_of(TWINS, f"{s} hand", posture(TWINS, 4, 0.3))[:3, 3])) for s in ("left", "right")],
    ),
    "groups": (SPINE, [Task("head", At(goal_of(SPINE, "head", posture(SPINE, 5, 0.3))[:3, 3]))]),
    "every joint": (MIXED, [Task("hand", At((0.3, 0.2, 0.1))), Task("foot", OnPlane((0, 0, 0.1), Z))]),
    "slides": (GANTRY, [Task("tip", At((0.5, 0.3, 0.0)))]),
}


@pytest.mark.parametrize("tasks", TASKS)
@pytest.mark.parametrize("solver", [name for name in ANY if name != "transpose"])
def test_other_goals_and_figures(solver: str, tasks: str):
    figure, goals = TASKS[tasks]
    start = near(figure, [0.2, 0.3, 1.2, -0.1] if figure is ARM else figure.rest, 0.2)
    solution = solve(Problem(figure, goals), start, solver=ANY[solver])
    audit(solution)
    if solver != "inverse, clamped at the end":
        assert solution.status is Status.SOLVED, solution.report()


@settings(max_examples=15)
@given(trees(), st.integers(0, 1 << 20))
def test_any_figure_any_target_legal_and_true(figure: Figure, seed: int):
    rng = np.random.default_rng(seed)
    limits = Limits(np.full(figure.size, -0.8), np.full(figure.size, 0.9))
    ends = rng.choice(figure.segments, size=2)
    problem = Problem(
        figure, [Task(str(ends[0]), Placed(somewhere(seed))), Task(str(ends[1]), At(rng.normal(size=3)))], limits
    )
    for solver in ANY.values():
        audit(solve(problem, rng.normal(size=figure.size), solver=replace(solver, steps=60)), gain=1e-4)


# ── steps as the formulas say ────────────────────────────────────────────────────────────────────────────────────────
def first_step(solver: Any, problem: Problem, q: np.ndarray) -> np.ndarray:
    """The change of posture that one iteration makes (only if it is an improvement, which it is for these)."""
    solution = replace(solver, steps=1).solve(problem, q)
    assert problem.value(solution.q) < problem.value(q)
    assert solution.iterations == 1
    return solution.q - q


RIGIDITY = np.append(np.linspace(0.0, 0.7, TWINS.size - 1), 1.0)
STEPS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[Any, np.ndarray]]] = {
    "26 and 27": lambda J, e, d: (JacobianTranspose(), 0.005 * 2.0 * d**2 * (J.T @ e)),
    "15": lambda J, e, d: (
        DampedLeastSquares(damping=0.4),
        d * np.linalg.solve((J * d).T @ (J * d) + 2 * 0.4**2 * np.eye(len(d)), (J * d).T @ e),
    ),
    "9 and 14": lambda J, e, d: (PseudoInverse(longest=math.inf), d * (np.linalg.pinv(J * d, rcond=1e-6) @ e)),
    "28": lambda J, e, d: (JacobianTranspose(step=FittedStep()), fitted(J * d, e) * d * ((J * d).T @ e)),
    "29": lambda J, e, d: (
        JacobianTranspose(step=CautiousStep(0.005)),
        min(1.0, 0.005 / np.linalg.norm(e - fitted(J * d, e) * (J * d) @ (J * d).T @ e))
        * fitted(J * d, e) * d * ((J * d).T @ e),
    ),
}  # fmt: skip


def fitted(J: np.ndarray, e: np.ndarray) -> float:
    z = J @ J.T @ e
    return float(e @ z / (z @ z))


@pytest.mark.parametrize("rigidity", [None, RIGIDITY], ids=["free", "rigid"])
@pytest.mark.parametrize("equation", STEPS)
def test_a_step_is_the_papers(equation: str, rigidity: Any):
    figure = replace(TWINS, joints=[replace(j, limits=(-np.inf, np.inf)) for j in TWINS.joints.values()])
    q = posture(figure, 6, 0.3)
    T = goal_of(figure, "left hand", q + 0.03 * np.random.default_rng(7).normal(size=figure.size))
    right = goal_of(figure, "right hand", q)[:3, 3] + (0.01, 0.0, 0.02)
    tasks = [Task("left hand", Placed(T, per_radian=0.3), weight=2.0), Task("right hand", At(right))]
    problem = Problem(figure, tasks, rigidity=rigidity)
    rho, J = problem.jacobian(q)
    solver, expected = STEPS[equation](J, -rho, problem.free)
    assert_allclose(first_step(solver, problem, q), expected, rtol=0, atol=1e-12)


def test_a_step_is_clamped_afterwards():
    limits = Limits(ARM.rest - 0.01, ARM.rest + 0.02)
    problem, free = (
        Problem(ARM, [Task("hand", At(HAND[:3, 3]))], x) for x in (limits, Limits(ARM.rest - 9, ARM.rest + 9))
    )
    for solver in (DampedLeastSquares(), PseudoInverse(), JacobianTranspose(step=FittedStep())):
        unlimited = ARM.rest + first_step(solver, free, ARM.rest)
        assert not limits.contains(unlimited)
        assert_array_equal(ARM.rest + first_step(solver, problem, ARM.rest), limits.project(unlimited))


def test_clamping_at_the_end_clamps_the_solution_without_limits():
    solver = PseudoInverse(at_end=True)
    limits = Limits(ARM.rest - 0.1, ARM.rest + 0.2)
    unlimited = solver.solve(
        Problem(ARM, [Task("hand", At(HAND[:3, 3]))], Limits(ARM.rest - 9, ARM.rest + 9)), ARM.rest
    )
    assert unlimited.ok
    clamped = solver.solve(Problem(ARM, [Task("hand", At(HAND[:3, 3]))], limits), ARM.rest)
    assert_array_equal(clamped.q, limits.project(unlimited.q))
    assert clamped.status is not Status.SOLVED


def test_a_long_step_is_shortened():
    problem, start = Problem(ARM, [Task("hand", At(HAND[:3, 3]))]), np.array([0.3, 0.4, 1.1, -0.2])
    step = first_step(PseudoInverse(longest=0.01), problem, start)
    assert_allclose(np.linalg.norm(step), 0.01, rtol=1e-12)
    whole = first_step(PseudoInverse(longest=math.inf), problem, start)
    assert np.linalg.norm(whole) > 0.05
    assert_allclose(step / 0.01, whole / np.linalg.norm(whole), atol=1e-12)


def test_a_fixed_step_that_is_too_long_does_no_harm():
    problem = Problem(ARM, [Task("hand", At(HAND[:3, 3]))])
    solution = solve(problem, solver=JacobianTranspose(steps=200, step=FixedStep(50.0)))
    audit(solution)
    assert problem.value(solution.q) <= problem.value(ARM.rest)


# ── singular values ──────────────────────────────────────────────────────────────────────────────────────────────────
def _matrices() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(6, 20))
    return {
        "wide": wide,
        "tall": rng.normal(size=(9, 4)),
        "one row": rng.normal(size=(1, 5)),
        "rank 2": rng.normal(size=(6, 2)) @ rng.normal(size=(2, 7)),
        "equal rows": np.repeat(rng.normal(size=(1, 5)), 4, axis=0),
        "orthogonal": np.linalg.qr(wide.T)[0].T.copy(),
        "zero": np.zeros((3, 4)),
        "a zero row": np.vstack([wide[:3], np.zeros(20), wide[3:]]),
        "scales": np.diag(10.0 ** np.arange(0, -12, -2)) @ wide,
        "tiny": 1e-120 * wide,
        "huge": 1e120 * wide,
    }


@pytest.mark.interpreted
@pytest.mark.parametrize("name", _matrices())
def test_singular_values_are_numpys(name: str):
    A = _matrices()[name]
    rows, turns = A.copy(), np.eye(len(A))
    assert orthogonal_rows_entry(rows, turns) < 40
    size = max(np.abs(A).max(), 1e-300)
    assert_allclose(turns @ turns.T, np.eye(len(A)), atol=1e-13)
    assert_allclose(turns @ A / size, rows / size, atol=1e-13)
    product = (rows / size) @ (rows / size).T
    assert np.abs(product - np.diag(np.diag(product))).max(initial=0.0) < 1e-12
    values = np.zeros(len(A))
    values[: min(A.shape)] = np.linalg.svd(A / size, compute_uv=False)
    assert_allclose(np.sort(np.linalg.norm(rows / size, axis=1))[::-1], values, atol=1e-13)


# ── cyclic coordinate descent ────────────────────────────────────────────────────────────────────────────────────────
ONE_GOAL: dict[str, Any] = {
    "At": At((0.3, -0.4, 0.9)),
    "Placed": Placed(somewhere(31), per_radian=0.7),
    "Facing": Facing((1, 2, 3), (3, 0, -1), per_radian=(0.5, 2.0)),
    "OnLine": OnLine((0.3, -0.4, 0.9), (1, 1, 0)),
    "OnPlane": OnPlane((0.3, -0.4, 0.9), (1, 1, 0)),
    "AimedAt": AimedAt((3, 1, 2)),
    "Beyond": Beyond((0.3, -0.4, 2.9), (1, 1, 1)),
}
CLOSED = {"hinge": ("At", "Placed", "Facing"), "slide": ("At", "Placed", "OnLine", "OnPlane")}


@pytest.mark.parametrize("limits", [(-np.inf, np.inf), (-0.4, 0.3), (0.5, 4.0), (-7.0, -2.0), (1.0, 1.0)], ids=str)
@pytest.mark.parametrize("goal", ONE_GOAL)
@pytest.mark.parametrize("joint", ["hinge", "hinge about −y", "slide", "slide along −x", "screw"])
def test_one_coordinate_goes_to_its_minimum(joint: str, goal: str, limits: tuple[float, float]):
    figure = ONE_JOINT[joint].with_limits({"j": limits})
    problem = Problem(figure, [Task("tool", ONE_GOAL[goal])])
    start = figure.limits.project([0.1])
    solution = solve(problem, start, solver=CyclicCoordinateDescent(steps=1))
    audit(solution, gain=math.inf)
    span = np.clip(np.linspace(-8.0, 8.0, 3001), *limits)
    least = min(problem.value([x]) for x in span)
    if goal in CLOSED.get(joint.split()[0], ()):
        assert problem.value(solution.q) <= least + 1e-12
    else:
        assert problem.value(solution.q) <= problem.value(start)


def test_the_closed_forms_solve_one_joint_in_one_sweep():
    for joint, names in CLOSED.items():
        for goal in names:
            figure = ONE_JOINT[joint]
            problem = Problem(figure, [Task("tool", ONE_GOAL[goal])])
            solution = solve(problem, [0.1], solver=CyclicCoordinateDescent(steps=1))
            assert solution.status is not Status.STOPPED, (joint, goal)
            assert solution.evaluations <= 3


WAYS: dict[str, Callable[[], tuple[Problem, np.ndarray]]] = {
    "arm": lambda: (Problem(ARM, [Task("hand", Placed(HAND, per_radian=0.3))]), ARM.upper),
    "far": lambda: (Problem(ARM, [Task("hand", At((5, 0, 0)))]), ARM.rest),
    "twins": lambda: (
        Problem(TWINS, [Task("left hand", Placed(somewhere(3))), Task("right hand", At((1, 0, 0)), weight=3)]),
        np.zeros(TWINS.size),
    ),
    "mass": lambda: (Problem(TWINS, [Task(MassCentre(), At((1, 0, 0)))]), np.zeros(TWINS.size)),
    "near": lambda: (Problem(ARM, [Task("hand", At(HAND[:3, 3])), Near(np.zeros(4) + 0.3, 0.1)]), ARM.rest),
    "alternatives": lambda: (Problem(ARM, [Task("hand", AnyOf([At((1, 0, 0)), At((-1, 0, 0))]))]), ARM.rest),
    "aim": lambda: (Problem(ARM, [Task(Direction("hand", Y), AimedAt((1, 2, 3)))]), ARM.rest),
    "groups": lambda: (Problem(SPINE, [Task("head", At((0.2, -0.3, 0.3)))]), SPINE.rest),
    "mixed": lambda: (Problem(MIXED, [Task("hand", At((1, 1, 0))), Task("foot", At((0, 1, 0)))]), MIXED.rest),
    "rows": lambda: (
        Problem(ARM, [Task("hand", At((1, 1, 0)))], Limits(ARM.lower, ARM.upper, A=[[1, 1, 1, 1]], b=[1])),
        ARM.rest,
    ),
    "rigid": lambda: (
        Problem(TWINS, [Task("left hand", Placed(somewhere(3)))], rigidity=np.linspace(0, 1, TWINS.size)),
        TWINS.rest,
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_cyclic_coordinate_descent_never_goes_uphill(way: str):
    problem, start = WAYS[way]()
    assert problem.limits is not None
    last = problem.value(problem.limits.project(start))
    for steps in (*range(12), 20, 40, 80):
        solution = solve(problem, start, solver=CyclicCoordinateDescent(steps=steps))
        audit(solution, gain=math.inf)
        assert solution.iterations <= steps
        value = problem.value(solution.q)
        assert value <= last * (1 + 1e-14)
        last = value
    assert last < problem.value(problem.limits.project(start))


def test_a_sweep_agrees_with_its_coordinates_taken_one_by_one():
    """Carrying the goals' frames along in a sweep is the same as minimising over each coordinate afresh."""
    tasks = [Task("left hand", Placed(somewhere(3), per_radian=0.4)), Task("right hand", At((0.3, 0.1, 0.2)))]
    q = posture(TWINS, 8, 0.5)
    once = CyclicCoordinateDescent(steps=1)
    swept = once.solve(Problem(TWINS, tasks), q).q
    for i in range(TWINS.size - 1, -1, -1):
        rigidity = np.ones(TWINS.size)
        rigidity[i] = 0.0
        q = once.solve(Problem(TWINS, tasks, rigidity=rigidity), q).q
    assert_allclose(swept, q, atol=1e-9)


# ── FABRIK ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_fabrik_stretches_towards_what_is_too_far():
    target = np.array([2.0, 1.0, 3.0])
    solution = solve(Problem(BALLS, [Task("tip", At(target))]), np.full(9, 0.3), solver=Fabrik())
    audit(solution)
    assert solution.status is Status.NEAREST, solution.report()
    frames = BALLS.placements(solution.q)
    towards = target / np.linalg.norm(target)
    for name in ("b", "c", "tip"):
        at = frames[name][:3, 3]
        assert_allclose(at, towards * np.linalg.norm(at), atol=1e-6)


@pytest.mark.parametrize("figure", ["balls", "flat"])
def test_fabrik_reaches_everything_a_chain_without_limits_can(figure: str):
    f, end, _ = CHAINS[figure]
    rng = np.random.default_rng(9)
    for _ in range(30):
        problem = Problem(f, [Task(end, At(goal_of(f, end, rng.normal(size=f.size))[:3, 3]))])
        solution = solve(problem, 0.3 * rng.normal(size=f.size), solver=Fabrik())
        audit(solution)
        assert solution.ok, solution.report()


def test_one_round_of_fabrik_is_reaching_and_one_joint_after_the_other():
    """Against the method as it is told: points moved to keep lengths, then each hinge to its best angle from the root on."""
    parts = [hinge(f"j{i}", f"j{i - 1}" if i else None, (X, Y)[i % 2], (0, 0, 0.3 + 0.1 * i)) for i in range(6)]
    figure = Figure("worm", [*(j for (j,) in parts), *fixed("tip", "j5", (0, 0, 0.4))])
    rng = np.random.default_rng(3)
    q, target = 0.5 * rng.normal(size=6), np.array([0.4, -0.3, 2.0])
    found = solve(Problem(figure, [Task("tip", At(target))]), q, solver=Fabrik(steps=1)).q

    def points(q: Any) -> np.ndarray:
        return np.array([T[:3, 3] for T in figure.placements(q).values()])

    P = points(q)
    lengths, root = np.linalg.norm(np.diff(P, axis=0), axis=1), P[0].copy()
    for moved, held, end in ((range(5, -1, -1), 1, target), (range(1, 7), -1, root)):
        P[moved[0] + held] = end
        for k in moved:
            way = P[k] - P[k + held]
            P[k] = P[k + held] + way / np.linalg.norm(way) * lengths[min(k, k + held)]
    for j in range(6):
        weights = np.array([1.0] + [0.3] * (5 - j))

        def far(t: float, j: int = j, weights: np.ndarray = weights) -> float:
            return float(weights @ ((points(q + t * np.eye(6)[j]) - P)[j + 1 :] ** 2).sum(axis=1))

        middle = 0.5 * (far(0.0) + far(math.pi))
        q[j] += math.atan2(middle - far(0.5 * math.pi), middle - far(0.0))
    assert_allclose(found, q, rtol=0, atol=1e-9)


def test_fabrik_gathers_axes_that_meet():
    """Waist and shoulder meet in one point, so that the first round already turns the waist to the target."""
    target = goal_of(ARM, "hand", [1.2, 0.5, 1.0, -0.3])[:3, 3]
    solution = solve(Problem(ARM, [Task("hand", At(target))]), [0.0, 0.4, 1.1, -0.2], solver=Fabrik(steps=1))
    assert abs(solution.q[0] - 1.2) < 0.2


# ── locks, chains, starts ────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("solver", ALL)
def test_locked_coordinates_and_those_outside_the_chain_stay(solver: str):
    start = np.array([0.2, 0.3, 1.2, -0.1])
    target = goal_of(ARM, "hand", [0.2, 0.5, 1.0, -0.4])[:3, 3]
    locked = solve(Problem(ARM, [Task("hand", At(target))], rigidity={"waist": 1.0}), start, solver=ALL[solver])
    audit(locked)
    assert locked.q[0] == start[0]
    assert locked.ok, locked.report()
    chained = solve(Problem(ARM, [Task("hand", At((0.2, 0.2, 0.2)), chain="elbow")]), start, solver=ALL[solver])
    audit(chained)
    assert_array_equal(chained.q[:2], start[:2])
    assert (chained.q[2:] != start[2:]).any()


@pytest.mark.parametrize("solver", ALL)
def test_a_figure_that_is_locked_altogether_stays(solver: str):
    solution = solve(Problem(ARM, [Task("hand", At((0.2, 0.2, 0.2)))], rigidity=1.0), solver=ALL[solver])
    assert solution.status is Status.NEAREST
    assert_array_equal(solution.q, ARM.rest)


@pytest.mark.parametrize("solver", ALL)
def test_starts(solver: str):
    problem = Problem(ARM, [Task("hand", At(HAND[:3, 3]))])
    start = np.array([9.0, -9.0, 9.0, -9.0])
    none = replace(ALL[solver], steps=0).solve(problem, start)
    assert_array_equal(none.q, [3.0, -2.0, 2.5, -1.5])
    assert none.status is Status.STOPPED
    assert none.iterations == 0
    assert_array_equal(start, [9, -9, 9, -9])
    q = np.array([0.4, 0.5, 1.0, -0.3])
    there = solve(problem, q, solver=ALL[solver])
    assert there.ok
    assert there.iterations == 0
    assert_array_equal(there.q, q)


@pytest.mark.parametrize("solver", ALL)
def test_linear_limits_are_kept(solver: str):
    limits = Limits(ARM.lower, ARM.upper, A=[[1, 1, 1, 1], [0, 1, -1, 0]], b=[1, 0])
    solution = solve(Problem(ARM, [Task("hand", At((0.4, 0.6, 0.4)))], limits), solver=replace(ALL[solver], steps=200))
    audit(solution)
    tied = Limits(ARM.lower, ARM.upper, A_eq=[[0, 1, 1, 0]], b_eq=[0.9])
    problem = Problem(ARM, [Task("hand", At((0.4, 0.6, 0.4)))], tied)
    if solver == "cyclic":
        with pytest.raises(Refused, match="linear equalities tie its coordinates together"):
            solve(problem, solver=ALL[solver])
    else:
        audit(solve(problem, solver=replace(ALL[solver], steps=200)))


# ── always the same ──────────────────────────────────────────────────────────────────────────────────────────────────
ENTRIES = {
    "transpose": (jacobian_transpose_entry, [300, 1e-9, 0.0, 0.0, 0.125]),
    "damped": (damped_least_squares_entry, [300, 1e-9, 0.0, 0.05]),
    "inverse": (pseudo_inverse_entry, [300, 1e-9, 0.0, 1e-6, 1.0, 0.0]),
    "cyclic": (cyclic_coordinate_descent_entry, [300, 1e-9, 0.0]),
    "fabrik": (fabrik_entry, [300, 1e-9, 0.0]),
}


@pytest.mark.parametrize("solver", ENTRIES)
def test_alone_and_in_a_batch_the_answer_is_the_same(solver: str):
    entry, numbers = ENTRIES[solver]
    rng = np.random.default_rng(11)
    postures = [posture(ARM, k) for k in range(6)]
    problems = [Problem(ARM, [Task("hand", At(goal_of(ARM, "hand", q)[:3, 3]))]) for q in postures]
    starts = np.array([ARM.limits.project(rng.normal(size=4)) for _ in problems])
    I, F, _ = problems[0].pack
    T = np.array([p.packed[2] for p in problems])
    Q, report, scratch = starts.copy(), FREELY.report(6), np.full(EVALUATION.size(I) + 1000, np.nan)
    entry(I, F, scratch, T, Q, np.array(numbers, dtype=float), report, FREELY.page(), 0, 6)
    for k in reversed(range(6)):
        alone = replace(ALL[solver], steps=300, tolerance=1e-9).solve(problems[k], starts[k])
        assert_array_equal(Q[k], alone.q)
        assert (report[k, 0], report[k, 1]) == (alone.iterations, alone.evaluations)


@pytest.mark.interpreted
@pytest.mark.parametrize("solver", ALL)
def test_a_small_arm(solver: str):
    parts = [*hinge("a", None, Z, limits=(-1, 1)), *hinge("b", "a", Z, at=(1, 0, 0)), *fixed("tip", "b", (1, 0, 0))]
    figure = Figure("two", parts)
    problem = Problem(figure, [Task("tip", At(figure.placement([0.5, 1.0], "tip")[:3, 3]))])
    solution = solve(problem, [0.45, 0.9], solver=replace(ALL[solver], steps=300))
    audit(solution, gain=math.inf)
    assert problem.value(solution.q) < 0.1 * problem.value([0.45, 0.9])
    assert solution.ok or solver == "transpose"


# ── what is not a number ─────────────────────────────────────────────────────────────────────────────────────────────
def not_a_number(a: Any, x: Any, g: Any, H: Any) -> float:
    return math.nan


def lies(a: Any, x: Any, g: Any, H: Any) -> float:
    g[0] = math.nan
    return 1.0


def cliff(a: Any, x: Any, g: Any, H: Any) -> float:
    """Downhill towards a place where there is nothing."""
    if x[2] > 0.9:
        return math.nan
    g[2] = -1.0
    return 2.0 - x[2]


@pytest.mark.parametrize("function", [not_a_number, lies, cliff])
@pytest.mark.parametrize("solver", ["transpose", "cyclic"])
def test_a_goal_that_is_not_a_number_is_never_solved(solver: str, function: Callable[..., float]):
    unlimited = Figure("arm", [replace(j, limits=(-np.inf, np.inf)) for j in ARM.joints.values()])
    for figure in (ARM, unlimited):
        problem = Problem(figure, [Task("hand", Custom(function))])
        solution = solve(problem, [0.0, 1.0, 1.0, 0.0], solver=replace(ANY[solver], steps=300))
        audit(solution, gain=math.inf)
        assert not solution.ok
        if function is cliff:
            assert problem.value(solution.q) < problem.value([0.0, 1.0, 1.0, 0.0])


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────────
REACH = Task("hand", At((0.3, 0.3, 0.3)), name="reach")


def _soft(**more: Any) -> Problem:
    return Problem(ARM, [replace(REACH, **more)])


REFUSED: dict[str, tuple[Callable[[], Problem], tuple[str, ...], str]] = {
    "hard": (lambda: _soft(hard=True), tuple(ALL), "'reach' is hard"),
    "priorities": (lambda: Problem(ARM, [REACH, replace(REACH, priority=1)]), tuple(ALL), "several priorities"),
    "obstacles": (
        lambda: Problem(ARM.with_spheres({"hand": [(0, 0, 0, 0.1)]}), [REACH], obstacles=[Ball((0, 0, 0), 1)]),
        tuple(ALL),
        "it keeps clear of obstacle 1",
    ),
    "loops": (lambda: Problem(FOUR_BAR, [Task("pen", At((0.3, 0.3, 0)))]), tuple(ALL), "'pin' is hard"),
    "custom": (
        lambda: _soft(goal=Custom(not_a_number)),
        ("transpose 28", "transpose 29", "damped", "inverse", "inverse, clamped at the end"),
        "'reach' has no residual form",
    ),
    "near": (
        lambda: Problem(ARM, [REACH, Near(np.zeros(4))]),
        ("transpose 28", "transpose 29", "damped", "inverse", "inverse, clamped at the end"),
        "'posture Near' has no residual form",
    ),
    "two": (lambda: Problem(ARM, [REACH, REACH]), ("fabrik",), "it has 2 tasks, not one"),
    "none": (lambda: Problem(ARM, []), ("fabrik",), "it has 0 tasks, not one"),
    "rotation": (lambda: _soft(goal=Placed(HAND)), ("fabrik",), "'reach' is not a position goal (At) in the world"),
    "relative": (lambda: _soft(goal=At(X, relative_to="elbow")), ("fabrik",), "'reach' is not a position goal"),
    "gap": (
        lambda: Problem(TWINS, [Task(Gap(Point("left hand"), Point("right hand")), At(X), name="clap")]),
        ("fabrik",),
        "the effector of 'clap' is not at the end of one chain",
    ),
    "mass": (
        lambda: _soft(effector=MassCentre()),
        ("fabrik",),
        "the effector of 'reach' is not at the end of one chain",
    ),
    "slide": (lambda: Problem(GANTRY, [Task("tip", At(X))]), ("fabrik",), "joint 'y' slides; joint 'x' slides"),
    "screw": (lambda: Problem(ONE_JOINT["screw"], [Task("tool", At(X))]), ("fabrik",), "joint 'j' slides"),
    "driven": (lambda: Problem(MIXED, [Task("hand", At(X))]), ("fabrik",), "joint 'wrist' follows elbow"),
    "rigid": (
        lambda: Problem(ARM, [REACH], rigidity={"elbow": 0.25}),
        ("fabrik",),
        "joint 'elbow' has rigidity 0.25, which is neither free nor locked",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_by_name(case: str):
    build, solvers, message = REFUSED[case]
    problem = build()
    for name, solver in ALL.items():
        reasons = solver.refuse(problem)
        if name in solvers:
            with pytest.raises(Refused) as refusal:
                solver.solve(problem, problem.figure.rest)
            assert message in str(refusal.value)
            assert type(solver).__name__ in str(refusal.value)
        elif name != "fabrik":
            assert not reasons


def test_locked_joints_of_any_kind_are_links_to_fabrik():
    rest = GANTRY.rest
    problem = Problem(GANTRY, [Task("tip", At((0.0, 0.1, 0.0)))], rigidity={"x": 1.0, "y": 1.0})
    solution = solve(problem, rest, solver=Fabrik())
    assert solution.ok, solution.report()
    assert_array_equal(solution.q[:2], rest[:2])


BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "steps": (lambda: JacobianTranspose(steps=-1), "at least 0"),
    "tolerance": (lambda: DampedLeastSquares(tolerance=math.nan), "must be finite and not negative"),
    "cyclic": (lambda: CyclicCoordinateDescent(steps=-1), "at least 0"),
    "fabrik": (lambda: Fabrik(tolerance=-1.0), "must be finite and not negative"),
    "length": (lambda: FixedStep(0.0), "the length of FixedStep must be positive and finite"),
    "deviation": (lambda: CautiousStep(math.inf), "the deviation of CautiousStep must be positive and finite"),
    "rule": (lambda: JacobianTranspose(step=0.1), "the step rule must be a FixedStep"),  # type: ignore[arg-type]
    "damping": (lambda: DampedLeastSquares(damping=0.0), "the damping of DampedLeastSquares must be positive"),
    "cutoff": (lambda: PseudoInverse(cutoff=1.0), "the cutoff of PseudoInverse must be not negative and below 1"),
    "longest": (lambda: PseudoInverse(longest=math.nan), "the longest of PseudoInverse must be positive"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_settings_are_refused(case: str):
    build, message = BAD[case]
    with pytest.raises(BadValue, match=message):
        build()
