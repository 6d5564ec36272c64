"""Preferences and posture goals inside the search: improved as far as tasks allow, checked against an independent optimiser."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import supple
from supple import At, Balanced, Beyond, LevenbergMarquardt, Near, Newton, Placed, Point, Problem, Status, Task
from supple.errors import BadValue, Refused

PANDA = supple.load("panda")
HUMAN = supple.load("human", fingers=False)
TIP = Point("panda_hand")


def somewhere(seed: int) -> np.ndarray:
    q = np.random.default_rng(seed).uniform(PANDA.lower, PANDA.upper)
    return PANDA.placement(q, "panda_hand")


def least(fun: Any, start: np.ndarray, equal: Any = None, above: Any = None) -> Any:
    """SLSQP's answer inside the Panda's limits."""
    rules = [{"type": kind, "fun": f} for kind, f in (("eq", equal), ("ineq", above)) if f is not None]
    bounds = list(zip(PANDA.lower, PANDA.upper, strict=True))
    options = {"maxiter": 1000, "ftol": 1e-15}
    return minimize(fun, start, bounds=bounds, constraints=rules, method="SLSQP", options=options)


@pytest.mark.parametrize("seed", range(6))
def test_of_all_postures_that_meet_the_tasks_the_nearest_to_the_preferred_one_is_found(seed: int):
    T = somewhere(seed)
    problem = Problem(PANDA, [Task(TIP, At(T[:3, 3])), Task(None, Near(PANDA.rest), preference=True)])
    solution = supple.solve(problem)
    assert solution.ok
    assert solution.errors[0].metres < 1e-6
    best = least(
        lambda x: ((x - PANDA.rest) ** 2).sum(),
        solution.q,
        equal=lambda x: PANDA.placement(x, "panda_hand")[:3, 3] - T[:3, 3],
    )
    assert ((solution.q - PANDA.rest) ** 2).sum() <= best.fun * (1 + 1e-5)
    free = supple.solve(Problem(PANDA, problem.tasks[:1]))
    assert np.linalg.norm(solution.q - PANDA.rest) <= np.linalg.norm(free.q - PANDA.rest) + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_a_preferred_place_of_the_elbow_moves_it_and_leaves_the_hand(seed: int):
    T, pole = somewhere(seed), np.array([0.0, 0.6, 0.6])
    hand = Task("panda_hand", Placed(T))
    elbow = Task(Point("panda_link4"), At(pole), preference=True)
    without, given = supple.solve(Problem(PANDA, [hand])), supple.solve(Problem(PANDA, [hand, elbow]))
    assert given.ok
    assert given.unmet == ()
    far = [np.linalg.norm(PANDA.placement(s.q, "panda_link4")[:3, 3] - pole) for s in (without, given)]
    assert far[1] <= far[0] + 1e-9


@pytest.mark.parametrize("weight", [1e-4, 1e-2, 1.0])
def test_a_posture_goal_that_is_weighed_is_the_same_compromise_as_newtons(weight: float):
    T = somewhere(3)
    problem = Problem(PANDA, [Task(TIP, At(T[:3, 3])), Near(PANDA.rest, weight)])
    ours = LevenbergMarquardt(attempts=20).solve(problem, PANDA.rest)
    theirs = Newton().solve(problem, ours.q)
    assert problem.value(ours.q) <= problem.value(theirs.q) * (1 + 1e-7)


def test_a_posture_goal_alone_is_reached():
    q = PANDA.limits.project(PANDA.rest + 0.3)
    for preference in (False, True):
        solution = supple.solve(Problem(PANDA, [Task(None, Near(q), preference=preference)]))
        assert solution.ok
        np.testing.assert_allclose(solution.q, q, atol=1e-9)


def test_preferences_come_after_every_priority_and_in_their_own_order():
    T = somewhere(5)
    tasks = [
        Task(Point("panda_link4"), At((0.0, 0.4, 0.6)), preference=True, priority=1),
        Task(TIP, At(T[:3, 3]), priority=7),
        Task(Point("panda_link5"), At((0.3, 0.0, 0.9)), preference=True, priority=0),
    ]
    problem = Problem(PANDA, tasks)
    assert problem.ranks == (2, 0, 1)
    assert problem.must == 1
    both = supple.solve(problem)
    first = supple.solve(Problem(PANDA, tasks[1:]))
    assert both.ok
    assert first.ok
    assert abs(both.errors[2].metres - first.errors[1].metres) < 1e-4


def test_where_tasks_cannot_be_met_preferences_still_do_not_make_them_worse():
    reach = Task(TIP, At((1.5, 0.2, 0.5)))
    alone = supple.solve(Problem(PANDA, [reach]))
    solution = supple.solve(Problem(PANDA, [reach, Task(None, Near(PANDA.rest), preference=True)]))
    assert solution.status is not Status.SOLVED
    assert solution.errors[0].metres <= alone.errors[0].metres + 1e-5


def test_a_preference_never_fails_a_solution_but_is_reported():
    solution = supple.solve(Problem(PANDA, [Task(TIP, At((9.0, 0.0, 0.0)), preference=True)]))
    assert solution.ok
    assert solution.errors[0].metres > 5.0


def test_what_contradicts_itself_is_refused():
    with pytest.raises(BadValue, match="not both"):
        Task(TIP, At((0, 0, 0)), hard=True, preference=True)
    first = Problem(PANDA, [Task(None, Near(PANDA.rest)), Task(TIP, At((0.4, 0, 0.4)), priority=1)])
    with pytest.raises(Refused, match="comes before other tasks"):
        supple.solve(first)
    with pytest.raises(Refused, match="is a preference"):
        supple.solve(Problem(PANDA, [Task(TIP, At((0.4, 0, 0.4)), preference=True)]), solver=Newton())


# ── inequalities that are hard, and bind ──────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("height", [0.3, 0.45, 0.6])
def test_a_hard_half_space_binds_exactly_and_the_soft_task_comes_as_near_as_it_can(height: float):
    wanted = np.array([0.45, 0.1, 0.2])
    wall = Task(TIP, Beyond((0, 0, height), (0, 0, 1)), hard=True, name="above")
    solution = supple.solve(Problem(PANDA, [wall, Task(TIP, At(wanted))]))
    assert solution.errors[0].metres <= 1e-5
    assert abs(solution.errors[1].metres - (height - wanted[2])) < 1e-5
    assert solution.status is Status.NEAREST


def test_a_hard_inequality_that_does_not_bind_is_as_if_it_were_not_there():
    T = somewhere(2)
    wall = Task(TIP, Beyond((0, 0, -9.0), (0, 0, 1)), hard=True)
    solution = supple.solve(Problem(PANDA, [wall, Task(TIP, At(T[:3, 3]))]))
    assert solution.ok


@pytest.mark.parametrize("seed", range(3))
def test_hard_inequalities_agree_with_an_independent_optimiser(seed: int):
    """Nearest posture to rest, hand in a tolerance box whose sides bind, elbow beyond a plane."""
    T = somewhere(seed + 20)
    p, half = T[:3, 3], 0.02
    tasks = [
        Task(TIP, supple.Within(p, box=half), hard=True),
        Task(Point("panda_link4"), Beyond((0, 0, 0.4), (0, 0, 1)), hard=True),
        Task(None, Near(PANDA.rest), preference=True),
    ]
    solution = supple.solve(Problem(PANDA, tasks))
    assert solution.ok, solution.report()  # the two go together for these seeds

    def room(x: np.ndarray) -> np.ndarray:
        d = PANDA.placement(x, "panda_hand")[:3, 3] - p
        return np.array([*(half - d), *(half + d), PANDA.placement(x, "panda_link4")[2, 3] - 0.4])

    best = least(lambda x: ((x - PANDA.rest) ** 2).sum(), solution.q, above=room)
    assert ((solution.q - PANDA.rest) ** 2).sum() <= best.fun * (1 + 1e-4) + 1e-9


# ── balance ───────────────────────────────────────────────────────────────────────────────────────────────────────────
FEET = [(x, y) for x in (-0.05, 0.20) for y in (-0.14, 0.14)]


def leaning(polygon: Any, **more: Any) -> Problem:
    feet = [Task(f, Placed(HUMAN.placement(HUMAN.rest, f)), hard=True) for f in ("foot_l", "foot_r")]
    balance = Task(supple.MassCentre(), Balanced(polygon, **more), hard=True, name="balance")
    reach = Task(Point("hand_r.tip"), At((1.3, -0.2, 0.9)), name="reach")
    return Problem(HUMAN, [*feet, balance, reach])


def test_a_person_that_reaches_too_far_keeps_balance_at_the_edge_of_the_feet():
    problem = leaning(FEET)
    solution = supple.solve(problem)
    assert all(e.metres <= 1e-5 for e in solution.errors[:3])
    assert HUMAN.mass_centre(solution.q)[0] == pytest.approx(0.20, abs=1e-3)
    free = supple.solve(Problem(HUMAN, [t for t in problem.tasks if t.name != "balance"]))
    assert HUMAN.mass_centre(free.q)[0] > 0.25
    assert free.errors[-1].metres < solution.errors[-1].metres


def test_over_means_the_hull_drawn_in_by_its_margin():
    a, b = Balanced([(0, 0), (2, 0), (1, 0.5), (2, 2), (0, 2)]), Balanced([(0, 0), (2, 0), (2, 2), (0, 2)], margin=0.5)
    assert len(a.edges) == 4
    for goal, point, miss in ((a, (3, 1), 1.0), (a, (1, 1), 0.0), (b, (1.8, 1.0), 0.3), (b, (1, 1), 0.0)):
        X = supple.place((*point, 7.0))
        assert goal.miss(X).metres == pytest.approx(miss)


@pytest.mark.parametrize(
    ("polygon", "margin", "message"),
    [
        ([(0, 0), (1, 0)], 0.0, "at least three points"),
        ([(0, 0), (1, 1), (2, 2)], 0.0, "on a line"),
        ([(0, 0), (1, 0), (0, 1)], 5.0, "leaves nothing"),
        ([(0, 0), (1, 0), (0, np.nan)], 0.0, "finite"),
        ([(0, 0), (1, 0), (0, 1)], -1.0, "not negative"),
    ],
)
def test_polygons_are_checked(polygon: Any, margin: float, message: str):
    with pytest.raises(BadValue, match=message):
        Balanced(polygon, margin)
