"""Poses out of reach by less than their tolerances: some legal posture meets them, so they are solved, and truly."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hairline import Case, anywhere, targets, with_rows, worst
from supple import (
    At,
    Facing,
    Figure,
    LevenbergMarquardt,
    Near,
    Placed,
    Problem,
    Status,
    Task,
    fixed,
    follow,
    hinge,
    load,
    prepare,
    solve,
    solve_many,
)
from supple.kernels.compiling import INTERPRETED
from supple.kernels.layouts import FIELDS, MET, TERM
from supple.solvers.levenberg_marquardt.powers import raise_columns, raise_residuals
from tests.tables.figures import TREES, placements_by_exponentials

PANDA, IIWA, SAWYER, BAXTER, STEWART = map(load, ("panda", "iiwa14", "sawyer", "baxter", "stewart"))
ROWS = with_rows(IIWA, np.random.default_rng(5))
CASES = {  # panda and ur5 were looked at while the method was made; of these only other mixes of tasks are here
    "iiwa14": Case(IIWA, (("iiwa_link_ee", Placed, {}),), {}),
    "sawyer": Case(SAWYER, (("right_hand", Placed, {}),), {}),
    "baxter": Case(BAXTER, (("left_hand", Placed, {}),), {}),
    "arm, a point": Case(TREES["arm"], (("hand", At, {}),), {}),
    "arm, a rotation": Case(TREES["arm"], (("hand", Facing, {}),), {}),
    "iiwa14, coarse": Case(IIWA, (("iiwa_link_ee", Placed, {"tolerance": 1e-3, "angle_tolerance": 1e-2}),), {}),
    "iiwa14, uneven": Case(IIWA, (("iiwa_link_ee", Placed, {"tolerance": 1e-4, "angle_tolerance": 1e-5}),), {}),
    "elbow and hand": Case(PANDA, (("panda_hand_tcp", Placed, {}), ("panda_link4", At, {})), {}),
    "hard elbow": Case(PANDA, (("panda_hand_tcp", Placed, {}), ("panda_link4", At, {"hard": True})), {}),
    "linear limits": Case(IIWA, (("iiwa_link_ee", Placed, {}),), {"limits": ROWS}),
    "closed loops": Case(STEWART, (("platform", Placed, {}),), {}),
}
EACH = 40
SMALL = Figure("small", [*hinge("turn", None), *fixed("tip", "turn", at=(1, 0, 0))])
METRES, RADIANS = 1e-5, 1e-4


def judged(problem: Problem, q: np.ndarray) -> float:
    """The largest miss as a share of its tolerance, by matrix exponentials; infinite outside the limits."""
    assert problem.limits is not None
    if not problem.limits.contains(q):
        return np.inf
    frames, shares = placements_by_exponentials(problem.figure, q), []
    for task in problem.tasks:
        X = frames[task.effector.segment]  # pyright: ignore[reportAttributeAccessIssue, reportOptionalMemberAccess]
        goal: Any = task.goal
        if isinstance(goal, At | Placed):
            p = goal.position if isinstance(goal, At) else goal.at[:3, 3]
            shares.append(np.linalg.norm(X[:3, 3] - p) / task.tolerance)
        if isinstance(goal, Facing | Placed):
            R = goal.matrix if isinstance(goal, Facing) else goal.at[:3, :3]
            shares.append(Rotation.from_matrix(R.T @ X[:3, :3]).magnitude() / task.angle_tolerance)
    if problem.loops:
        shares.append(worst(problem, q))
    return max(shares)


@pytest.mark.parametrize("name", CASES)
def test_a_pose_that_a_posture_meets_within_its_tolerances_is_solved(name: str) -> None:
    case, solved, asked = CASES[name], 0, 0
    for _, _, q, problem in targets(case, EACH, 7):
        assert judged(problem, q) < 1.0
        answer = prepare(problem)(None, anywhere(case, np.random.default_rng(asked)))
        asked += 1
        solved += answer.status is Status.SOLVED
        assert answer.status is not Status.SOLVED or judged(problem, np.asarray(answer.q)) <= 1.0
    assert asked == EACH
    assert solved >= 0.95 * EACH


def test_from_a_posture_that_meets_it_every_pose_is_solved() -> None:
    for name in ("sawyer", "baxter", "hard elbow"):
        for k, (_, _, q, problem) in enumerate(targets(CASES[name], 24, 11)):
            nudged = problem.limits.project(q + 1e-3 * np.random.default_rng(k).normal(size=len(q)))  # pyright: ignore[reportOptionalMemberAccess]
            assert solve(problem, nudged, solver=LevenbergMarquardt()).status is Status.SOLVED


def test_nothing_possible_is_called_impossible() -> None:
    for name in ("iiwa14", "sawyer"):
        for k, (_, _, _, problem) in enumerate(targets(CASES[name], 24, 13)):
            answer = solve(problem, anywhere(CASES[name], np.random.default_rng(k)))
            assert answer.status is not Status.IMPOSSIBLE


def test_every_door_gives_the_same_posture() -> None:
    case = CASES["sawyer"]
    for _, _, _, problem in targets(case, 8, 17):
        goal: Any = problem.tasks[0].goal
        answers = [
            solve(problem, case.figure.rest).q,
            prepare(problem)(goal.at, case.figure.rest).q,
            solve_many(problem, goal.at[None], start=case.figure.rest).q[0],
            follow(problem, goal.at[None], start=case.figure.rest).q[0],
        ]
        assert all(np.array_equal(answers[0], q) for q in answers)


def test_a_preference_does_not_spoil_what_is_met() -> None:
    case = CASES["iiwa14"]
    for k, (_, _, q, problem) in enumerate(targets(case, 16, 19)):
        near = Task(None, Near(case.figure.rest), preference=True)
        start = anywhere(case, np.random.default_rng(k))
        both, alone = solve(Problem(case.figure, [*problem.tasks, near]), q), solve(problem, start)
        assert both.status is Status.SOLVED
        assert alone.status is not Status.SOLVED or judged(problem, np.asarray(alone.q)) <= 1.0
        assert judged(problem, np.asarray(both.q)) <= 1.0


def test_budgets_stay_exact() -> None:
    case = CASES["sawyer"]
    for k, (_, _, _, problem) in enumerate(targets(case, 6, 23)):
        start = anywhere(case, np.random.default_rng(k))
        for budget in (1, 7, 20, 40, 80, 200):
            answer = solve(problem, start, budget=budget)
            assert answer.evaluations <= budget
            assert answer.status is not Status.SOLVED or judged(problem, np.asarray(answer.q)) <= 1.0


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_what_a_query_calls_solved_is_met_at_any_size(scale: float) -> None:
    parts = [*hinge("a", None, (0, 0, 1), limits=(-2, 2))]
    for name, above in (("b", "a"), ("c", "b"), ("d", "c")):
        parts += hinge(name, above, (0, 1, 0), at=(0, 0, scale), limits=(-2, 2))
    figure = Figure("any size", [*parts, *fixed("tip", "d", at=(0.1 * scale, 0.0, scale))])
    case = Case(figure, (("tip", Placed, {"tolerance": METRES * min(scale, 1.0)}),), {})
    solved = 0
    for k, (_, _, _, problem) in enumerate(targets(case, 24, 29)):
        answer = prepare(problem)(None, anywhere(case, np.random.default_rng(k)))
        solved += answer.status is Status.SOLVED
        assert answer.status is not Status.SOLVED or worst(problem, np.asarray(answer.q)) <= 1.0
    assert solved >= 20 or scale > 1e3


# ── one hinge: everything by hand ──────────────────────────────────────────────────────────────────
def on_a_hinge(aside: float, back: float) -> Problem:
    """The tip of a hinge, a metre out, wanted `aside` along its way and turned `back` against it."""
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec((0, 0, -back)).as_matrix()
    T[:3, 3] = (1.0, aside, 0.0)
    return Problem(SMALL, [Task("tip", Placed(T, per_radian=1.0))])


@pytest.mark.interpreted
@pytest.mark.parametrize("share", [0.9, 0.99, 0.999])
def test_interpreted_one_hinge_ends_where_both_tolerances_overlap(share: float) -> None:
    """Turned by θ it misses by |θ − aside| and |θ + back|; the least sum of squares misses the point by far."""
    aside, back = share * METRES + 1e-5, share * RADIANS - 1e-5  # at θ = 1e-5 both are missed by the same share
    problem = on_a_hinge(aside, back)
    assert abs(0.5 * (aside - back) - aside) > 3.0 * METRES
    answer = solve(problem, solver=LevenbergMarquardt())
    assert answer.status is Status.SOLVED
    assert aside - METRES <= answer.q[0] <= RADIANS - back


@pytest.mark.interpreted
def test_interpreted_beyond_both_tolerances_the_least_sum_is_the_answer() -> None:
    for share in (1.001, 1.1, 2.0, 20.0):
        aside, back = share * METRES + 1e-5, share * RADIANS - 1e-5
        answer = solve(on_a_hinge(aside, back), solver=LevenbergMarquardt())
        assert answer.status is Status.NEAREST
        assert abs(answer.q[0] - 0.5 * (aside - back)) < 1e-9


@pytest.mark.interpreted
@pytest.mark.parametrize("power", [2.0, 8.0, 512.0])
def test_interpreted_powers_and_their_derivatives(power: float) -> None:
    """The sum is Σ rᵖ, later ranks left out, and columns are those of the raised residuals, by central differences."""
    if not INTERPRETED:
        pytest.skip("leaves are called from Python only where nothing is compiled")
    rng, blocks, widest = np.random.default_rng(0), 3, 4
    term, number = np.zeros((blocks, FIELDS), dtype=np.int64), np.zeros((blocks, TERM))
    number[:, MET], term[2, 10] = rng.uniform(0.5, 2.0, blocks), 1
    tasks = SimpleNamespace(term=term, number=number)
    routes = SimpleNamespace(begin=np.array([0, widest]))
    rho, J, chosen = rng.normal(size=9), rng.normal(size=(blocks * widest, 3)), np.arange(3.0)
    for b in range(blocks):
        rho[3 * b : 3 * b + 3] *= 0.98 * np.sqrt(number[b, MET]) / np.linalg.norm(rho[3 * b : 3 * b + 3])

    def raised(dq: np.ndarray) -> tuple[np.ndarray, float, int]:
        moved = rho + np.concatenate([J[b * widest : (b + 1) * widest].T @ dq for b in range(blocks)])
        value, unmet = raise_residuals(tasks, 0, power, moved, chosen)
        return moved, value, unmet

    e, value, unmet = raised(np.zeros(widest))
    assert unmet == 0
    assert np.isclose(value, 2.0 * 0.98 ** (2.0 * power), rtol=1e-9)
    assert np.isclose(e @ e, value, rtol=1e-9)
    assert not e[6:].any()
    raise_columns(tasks, routes, power, e, chosen, J_new := J.copy(), widest)
    for c in range(widest):
        h = 1e-6 * np.eye(widest)[c]
        slope = (raised(h)[0] - raised(-h)[0]) / 2e-6
        column = np.concatenate([J_new[b * widest + c] for b in range(blocks)])
        assert np.allclose(column, slope, rtol=1e-4, atol=1e-4 * np.abs(slope).max())
