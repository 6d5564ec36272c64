"""One differential step: optimal inside the box of limits and speeds, strict between levels, and steps that arrive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import lsq_linear, nnls

import supple
from supple import At, Custom, Facing, Frame, Near, OnPlane, Placed, Point, Problem, Task, step
from supple.errors import BadValue, Refused
from supple.figure.figure import Figure
from tests.tables.figures import FOUR_BAR, TREES
from tests.tables.solver_cases import HAND, HUMAN, PANDA, SIX, points, rows_on_panda, shaken

ARM = TREES["arm"].with_limits(speed={"waist": 1.0, "shoulder": 2.0, "elbow": 0.5, "wrist": 3.0})
BODY = HUMAN.with_limits(speed=dict.fromkeys(HUMAN.coordinates, 3.0))
DAMPING = 1e-6


def box(problem: Problem, q: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Where a step from q may end, seen from q; what may not move has no room."""
    limits, reach = problem.limits, problem.figure.speed * dt
    assert limits is not None
    moves = problem.free > 0.0
    lower, upper = np.maximum(limits.lower - q, -reach), np.minimum(limits.upper - q, reach)
    return np.where(moves, lower, 0.0), np.where(moves, upper, 0.0)


def best(A: np.ndarray, b: np.ndarray, D: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """SciPy's minimum of ``|A x − b|² + Σ D x²`` in a box."""
    x, moves = np.zeros(len(D)), upper > lower
    rows = np.vstack([A[:, moves], np.diag(np.sqrt(D[moves]))])
    right = np.concatenate([b, np.zeros(moves.sum())])
    x[moves] = lsq_linear(rows, right, (lower[moves], upper[moves]), method="bvls", tol=1e-15, max_iter=2000).x
    return x


def unexplained(g: np.ndarray, C: np.ndarray, x: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> float:
    """What rows that stay and bounds that are touched leave of −g (Kuhn–Tucker), as a part of its size."""
    eye, moves = np.eye(len(x)), upper > lower
    scale = 1e-9 * np.minimum(upper - lower, 1.0)
    normals = np.vstack([C, -C, eye[moves & (x >= upper - scale)], -eye[moves & (x <= lower + scale)]])[:, moves]
    size = np.linalg.norm(g[moves])
    if not len(normals) or size < 1e-13:
        return float(size)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return float(nnls((normals / np.where(lengths > 0, lengths, 1)).T, -g[moves], maxiter=10000)[1] / size)


def posed(figure: Figure, seed: int, *segments: str, spread: float = 0.3, **options: Any) -> list[Task]:
    """Whole frames that the figure reaches."""
    q = shaken(figure, seed, spread)
    return [Task(Frame(s), Placed(figure.placement(q, s)), **options) for s in segments]


# ── one level ────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("dt", [1e-3, 0.03, 0.1, 1.0, 1e3])
@pytest.mark.parametrize("seed", range(6))
def test_a_step_is_the_minimum_in_the_box(seed: int, dt: float):
    for figure, segments in ((PANDA, (HAND,)), (ARM, ("hand", "elbow")), (BODY, SIX)):
        problem = Problem(figure, [*posed(figure, seed, segments[0]), *points(figure, figure.rest, *segments[1:])])
        q = shaken(figure, seed + 100, 0.2)
        rho, J = problem.jacobian(q)
        lower, upper = box(problem, q, dt)
        expected = best(J, -rho, np.full(len(q), DAMPING), lower, upper)
        assert_allclose(step(problem, q, dt) - q, expected, rtol=0, atol=1e-8)


@given(st.integers(0, 10**6), st.floats(1e-3, 2.0), st.floats(0.05, 1.0), st.floats(1e-8, 1e-2))
@settings(max_examples=60)
def test_a_step_is_the_minimum_for_any_gain_damping_rigidity_and_weight(seed, dt, gain, damping):
    rng = np.random.default_rng(seed)
    rigidity = rng.choice([0.0, 0.0, 0.5, 1.0], size=PANDA.size)
    tasks = [*posed(PANDA, seed, HAND, weight=rng.uniform(0.1, 10)), *points(PANDA, PANDA.rest, "panda_link4")]
    problem = Problem(PANDA, tasks, rigidity=rigidity)
    q = shaken(PANDA, seed + 1, 0.5)
    rho, J = problem.jacobian(q)
    D = damping / np.where(problem.free > 0.0, problem.free, 1.0) ** 2
    expected = best(J, -gain * rho, D, *box(problem, q, dt))
    assert_allclose(step(problem, q, dt, gain=gain, damping=damping) - q, expected, rtol=0, atol=1e-8)


def test_a_posture_goal_is_part_of_its_level():
    weights = np.linspace(0.0, 0.3, PANDA.size)
    tasks = posed(PANDA, 3, HAND)
    problem = Problem(PANDA, [*tasks, Task(None, Near(PANDA.rest, weights), weight=0.5)])
    q = shaken(PANDA, 4, 0.4)
    rho, J = Problem(PANDA, tasks).jacobian(q)
    pull = np.sqrt(0.5 * weights)
    for dt in (0.02, 10.0):
        A, b = np.vstack([J, np.diag(pull)]), np.concatenate([-rho, pull * (PANDA.rest - q)])
        expected = best(A, b, np.full(len(q), DAMPING), *box(problem, q, dt))
        assert_allclose(step(problem, q, dt) - q, expected, rtol=0, atol=1e-8)


@pytest.mark.interpreted
def test_interpreted_a_step_is_the_minimum_in_the_box():
    problem = Problem(ARM, posed(ARM, 2, "hand"))
    for dt in (0.01, 0.3, 10.0):
        rho, J = problem.jacobian(ARM.rest)
        expected = best(J, -rho, np.full(4, DAMPING), *box(problem, ARM.rest, dt))
        assert_allclose(step(problem, ARM.rest, dt) - ARM.rest, expected, rtol=0, atol=1e-8)


# ── levels ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def two_levels(figure: Figure, seed: int) -> tuple[list[Task], list[Task]]:
    """Tasks that come first and tasks that come second, on one arm or all over a body."""
    if figure is BODY:
        return posed(figure, seed, "hand_l.palm", "foot_r"), posed(
            figure, seed + 1, "head.top", "hand_r.palm", priority=1
        )
    first, second = ("hand", "elbow") if figure is ARM else (HAND, "panda_link5")
    goal = OnPlane(figure.placement(shaken(figure, seed, 0.3), first)[:3, 3], (0.3, -0.5, 1.0))
    return [Task(Point(first), goal)], posed(figure, seed + 1, second, priority=1)


@pytest.mark.parametrize("dt", [1e-3, 0.03, 0.1, 1.0])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("figure", [ARM, PANDA, BODY], ids=lambda f: f.name)
def test_levels_are_strict_and_each_is_optimal_in_what_remains(figure: Figure, seed: int, dt: float):
    first, second = two_levels(figure, seed)
    alone, both = Problem(figure, first), Problem(figure, [*first, *second])
    q = shaken(figure, seed + 50, 0.3)
    x0, x = step(alone, q, dt) - q, step(both, q, dt) - q
    rho, J = both.jacobian(q)
    m = alone.residual_count
    C, A = J[:m], J[m:]
    lower, upper = box(both, q, dt)
    assert (x >= lower - 1e-15).all()
    assert (x <= upper + 1e-15).all()
    assert np.linalg.norm(C @ x + rho[:m]) == pytest.approx(np.linalg.norm(C @ x0 + rho[:m]), abs=1e-9)
    assert_allclose(C @ x, C @ x0, rtol=0, atol=1e-9)
    value = np.sum((A @ x + rho[m:]) ** 2) + DAMPING * x @ x
    assert value <= np.sum((A @ x0 + rho[m:]) ** 2) + DAMPING * x0 @ x0 + 1e-12
    g = A.T @ (A @ x + rho[m:]) + DAMPING * x
    assert unexplained(g, C, x, lower, upper) < 1e-6


def test_where_no_bound_is_felt_levels_are_the_textbook_projections():
    figure = HUMAN.with_limits(dict.fromkeys(HUMAN.coordinates, (-np.inf, np.inf)))
    first, second = two_levels(BODY, 1)
    both = Problem(figure, [*first, *second])
    q = shaken(BODY, 2, 0.2)
    rho, J = both.jacobian(q)
    m = Problem(figure, first).residual_count
    C, A = J[:m], J[m:]

    def damped(B: np.ndarray, b: np.ndarray) -> np.ndarray:
        rows = np.vstack([B, np.sqrt(DAMPING) * np.eye(B.shape[1])])
        return np.linalg.lstsq(rows, np.concatenate([b, np.zeros(B.shape[1])]), rcond=None)[0]

    x0 = damped(C, -rho[:m])
    Z = np.linalg.svd(C)[2][np.linalg.matrix_rank(C) :].T
    particular = np.linalg.pinv(C) @ (C @ x0)
    expected = particular + Z @ damped(A @ Z, -rho[m:] - A @ particular)
    assert_allclose(step(both, q, 1.0) - q, expected, rtol=0, atol=1e-8)


def test_hard_tasks_come_first_whatever_their_priority():
    hard, soft = Task(Point(HAND), At((0.9, 0.4, 0.9)), hard=True, priority=7), posed(PANDA, 2, "panda_link5")[0]
    q, dt = PANDA.rest, 0.05
    x = step(Problem(PANDA, [soft, hard]), q, dt, gain=0.3) - q
    alone = Problem(PANDA, [Task(Point(HAND), hard.goal)])
    C = alone.jacobian(q)[1]
    assert_allclose(C @ x, C @ (step(alone, q, dt) - q), rtol=0, atol=1e-9)  # the gain is for soft tasks


def test_a_posture_goal_of_a_later_level_uses_only_what_is_left():
    tasks = posed(PANDA, 3, HAND)
    q = shaken(PANDA, 9, 0.3)
    plain = Problem(PANDA, tasks)
    both = Problem(PANDA, [*tasks, Task(None, Near(PANDA.rest), priority=1)])
    C = plain.jacobian(q)[1]
    for dt in (0.01, 0.1, 10.0):
        x0, x = step(plain, q, dt) - q, step(both, q, dt) - q
        assert_allclose(C @ x, C @ x0, rtol=0, atol=1e-9)
        away = PANDA.rest - q
        assert np.sum((x - away) ** 2) <= np.sum((x0 - away) ** 2) + 1e-9
        assert unexplained(x * (1 + DAMPING) - away, C, x, *box(both, q, dt)) < 1e-6


def test_a_posture_goal_that_comes_first_is_not_disturbed():
    near = Task(None, Near(PANDA.rest, np.array([1.0, 0, 0, 1.0, 0, 0, 0, 0])))
    tasks = [Task(Point(HAND), At((0.3, 0.4, 0.5)), priority=1), near]
    q = shaken(PANDA, 9, 0.1)
    x = step(Problem(PANDA, tasks), q, 10.0) - q
    assert_allclose(x[[0, 3]], (PANDA.rest - q)[[0, 3]], atol=1e-5)
    assert np.abs(x[[1, 2, 4]]).max() > 0.05


# ── loops of steps ───────────────────────────────────────────────────────────────────────────────────────────────────
def run(problem: Problem, q: np.ndarray, dt: float, count: int, **options: Any) -> np.ndarray:
    """The postures of a control loop, each checked against limits and speeds."""
    figure, limits = problem.figure, problem.limits
    assert limits is not None
    path = [np.array(q)]
    for _ in range(count):
        path.append(step(problem, path[-1], dt, **options))
        assert limits.contains(path[-1], 0.0)
        assert (np.abs(path[-1] - path[-2]) <= figure.speed * dt + 1e-14).all()
    return np.array(path)


@pytest.mark.parametrize("seed", range(4))
def test_steps_arrive_where_solve_does(seed: int):
    goal = shaken(PANDA, seed, 0.25)
    problem = Problem(PANDA, [Task(Frame(HAND), Placed(PANDA.placement(goal, HAND)))])
    q = run(problem, PANDA.rest, 0.02, 60)[-1]
    assert supple.solve(problem, start=PANDA.rest).ok
    (miss,) = problem.misses(q)
    assert miss.metres < 1e-9
    assert miss.radians < 1e-9
    assert_allclose(supple.solve(problem, start=q).q, q, atol=1e-12)


def test_a_figure_without_redundancy_arrives_at_the_same_posture():
    arm = supple.load("ur5")
    goal = shaken(arm, 1, 0.2)
    problem = Problem(
        arm, [Task(Frame("tool0"), Placed(arm.placement(goal, "tool0")), tolerance=1e-12, angle_tolerance=1e-12)]
    )
    assert_allclose(run(problem, arm.rest, 0.01, 60)[-1], supple.solve(problem, start=arm.rest).q, atol=1e-8)


def test_a_body_arrives_within_limits_and_speeds():
    problem = Problem(BODY, posed(BODY, 3, *SIX, spread=0.1))
    q = run(problem, BODY.rest, 0.02, 60)[-1]
    assert max(miss.metres for miss in problem.misses(q)) < 1e-6


def test_out_of_reach_the_loop_comes_to_rest_at_the_limits():
    problem = Problem(ARM, [Task(Point("hand"), At((0.9, 0.6, 0.1)))])
    path = run(problem, ARM.rest, 0.05, 400, damping=0.1)
    assert problem.value(path[-1]) == pytest.approx(problem.value(supple.solve(problem).q), rel=1e-6)


def test_the_gain_is_the_part_of_the_error_that_a_step_removes():
    problem = Problem(PANDA, points(PANDA, PANDA.rest + 1e-4, HAND))
    before = problem.misses(PANDA.rest)[0].metres
    for gain in (0.1, 0.5, 1.0):
        after = problem.misses(step(problem, PANDA.rest, 1.0, gain=gain))[0].metres
        assert after / before == pytest.approx(1.0 - gain, abs=1e-3)


def test_closed_loops_stay_closed():
    start = supple.solve(Problem(FOUR_BAR, [])).q
    figure = FOUR_BAR.with_limits(speed={"crank": 1.0})
    problem = Problem(figure, [Task(Point("pen"), At(figure.placement(start + np.array([0.3, 0, 0]), "pen")[:3, 3]))])
    path = run(problem, start, 0.01, 100, gain=0.2)
    assert max(problem.misses(q)[-1].metres for q in path[2:]) < 1e-3
    assert problem.misses(path[-1])[-1].metres < 1e-8


def test_from_outside_the_limits_the_way_back_is_as_fast_as_allowed():
    problem = Problem(ARM, [Task(Point("hand"), At((0.1, 0.2, 0.9)))])
    q = ARM.rest.copy()
    q[2] = -0.2
    assert step(problem, q, 0.1)[2] == pytest.approx(-0.15)
    assert step(problem, q, 1.0)[2] >= 0.0


def test_what_is_locked_and_what_moves_nothing_stays():
    problem = Problem(PANDA, posed(PANDA, 1, HAND), rigidity={"panda_joint2": 1.0})
    q = step(problem, PANDA.rest, 0.1)
    still = [PANDA.coordinates.index("panda_joint2"), PANDA.coordinates.index("panda_finger_joint1")]
    assert_array_equal(q[still], PANDA.rest[still])
    assert (q != PANDA.rest).sum() == 6


def test_the_same_step_again():
    problem = Problem(BODY, posed(BODY, 3, *SIX))
    q = shaken(BODY, 8, 0.2)
    for dt in (1e-3, 0.1):
        assert_array_equal(step(problem, q, dt), step(problem, q, dt))
    assert_array_equal(q, shaken(BODY, 8, 0.2))


def test_targets_may_move_without_a_new_problem():
    problem = Problem(
        PANDA, [Task(Point(HAND), At((0.4, 0.1, 0.5))), Task(Frame("panda_link5"), Facing((0, 0, 1)), priority=1)]
    )
    moved = problem.aimed((0.3, 0.2, 0.6), None)
    there = step(problem, PANDA.rest, 0.01, targets=[(0.3, 0.2, 0.6), None], gain=0.5)
    assert_array_equal(there, step(moved, PANDA.rest, 0.01, gain=0.5))
    with pytest.raises(BadValue, match="2 tasks but 1 targets"):
        step(problem, PANDA.rest, 0.01, targets=[(0.3, 0.2, 0.6)])


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────────
REACH = Problem(ARM, [Task(Point("hand"), At((0.3, 0.2, 0.6)))])


def nothing(a: Any, x: Any, g: Any, H: Any) -> float:
    return 0.0


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no problem": (lambda: step(ARM, ARM.rest, 0.1), BadValue, "must be a Problem"),  # type: ignore[arg-type]
    "short posture": (lambda: step(REACH, [0.0], 0.1), BadValue, "has 4 coordinates"),
    "NaN posture": (lambda: step(REACH, [0, 0, np.nan, 0], 0.1), BadValue, "must be finite"),
    "no time": (lambda: step(REACH, ARM.rest, 0.0), BadValue, "the time dt of a step must be positive"),
    "back in time": (lambda: step(REACH, ARM.rest, -1.0), BadValue, "the time dt of a step must be positive"),
    "NaN time": (lambda: step(REACH, ARM.rest, np.nan), BadValue, "the time dt of a step must be positive"),
    "a word for a time": (lambda: step(REACH, ARM.rest, "soon"), BadValue, "dt of a step must be positive"),  # type: ignore[arg-type]
    "no gain": (
        lambda: step(REACH, ARM.rest, 0.1, gain=0.0),
        BadValue,
        "the part of the error to remove, must be positive",
    ),
    "too much gain": (lambda: step(REACH, ARM.rest, 0.1, gain=1.5), BadValue, "at most 1"),
    "NaN gain": (
        lambda: step(REACH, ARM.rest, 0.1, gain=np.nan),
        BadValue,
        "the part of the error to remove, must be positive",
    ),
    "no damping": (lambda: step(REACH, ARM.rest, 0.1, damping=0.0), BadValue, "the damping of a step must be positive"),
    "custom goal": (
        lambda: step(Problem(ARM, [Task(Point("hand"), Custom(nothing, (0.0,)), name="odd")]), ARM.rest, 0.1),
        Refused,
        "step cannot take this problem: 'odd' has no residual form",
    ),
    "linear limits": (
        lambda: step(Problem(PANDA, points(PANDA, PANDA.rest, HAND), rows_on_panda()), PANDA.rest, 0.1),
        Refused,
        "its limits have linear rows",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_step_refuses(case: str):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call()
