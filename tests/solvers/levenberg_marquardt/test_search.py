"""Levenberg–Marquardt and many starts: dependable, legal, monotone, reproducible, and honest about hard tasks."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import supple
from supple import (
    At,
    Custom,
    Frame,
    Gap,
    LevenbergMarquardt,
    Limits,
    Multistart,
    Near,
    Placed,
    Point,
    Problem,
    Status,
    Task,
)
from supple.errors import BadValue, Refused
from supple.problem.task import met
from supple.solvers.levenberg_marquardt.levenberg_marquardt import further_start, unwound

PANDA = supple.load("panda")
STEWART = supple.load("stewart")
ROBOTS = {"panda": "panda_hand", "ur5": "ee_link", "iiwa14": "iiwa_link_ee", "sawyer": "right_hand"}


def reachable(figure: supple.Figure, tip: str, seed: int) -> Problem:
    q = np.random.default_rng(seed).uniform(figure.lower, figure.upper)
    return Problem(figure, [Task(tip, Placed(figure.placement(q, tip)))])


def audit(solution: supple.Solution) -> None:
    """The posture is legal, and the status is what an independent look at the misses says."""
    assert solution.problem.limits is not None
    assert solution.problem.limits.contains(solution.q)
    misses = solution.problem.misses(solution.q)
    fine = all(met(task, miss) for task, miss in zip(solution.problem.all_tasks, misses, strict=True))
    assert (solution.status is Status.SOLVED) == fine == solution.ok


@pytest.mark.parametrize("name", ROBOTS)
def test_every_reachable_pose_is_found_from_the_rest_posture(name: str):
    figure = supple.load(name)
    tip = ROBOTS[name] if ROBOTS[name] in figure.segments else figure.segments[-1]
    for seed in range(40):
        solution = supple.solve(reachable(figure, tip, seed))
        audit(solution)
        assert solution.ok, solution.report()


def test_one_attempt_never_goes_uphill_and_stays_legal():
    problem = reachable(PANDA, "panda_hand", 8)
    values = []
    for steps in range(25):
        solution = LevenbergMarquardt(steps=steps).solve(problem, PANDA.rest)
        audit(solution)
        values.append(problem.value(solution.q))
    assert (np.diff(values) <= 0.0).all()
    assert values[-1] < 1e-9


def test_the_end_of_an_attempt_is_quadratic():
    problem = reachable(PANDA, "panda_hand", 8)
    task = Task("panda_hand", problem.tasks[0].goal, tolerance=1e-13, angle_tolerance=1e-13)
    fine = Problem(PANDA, [task])
    errors = [np.sqrt(fine.value(LevenbergMarquardt(steps=k).solve(fine, PANDA.rest).q)) for k in range(1, 25)]
    tail = [e for e in errors if 1e-12 < e < 1e-2]
    assert any(b < 20 * a**1.7 for a, b in pairwise(tail)), errors


def test_out_of_reach_is_the_nearest_legal_posture():
    solution = supple.solve(PANDA, {"panda_hand": At((3.0, 0.0, 0.5))})
    audit(solution)
    assert solution.status is Status.IMPOSSIBLE
    here = np.linalg.norm(PANDA.placement(solution.q, "panda_hand")[:3, 3] - (3.0, 0.0, 0.5))
    for seed in range(20):
        other = PANDA.placement(np.random.default_rng(seed).uniform(PANDA.lower, PANDA.upper), "panda_hand")[:3, 3]
        assert here <= np.linalg.norm(other - (3.0, 0.0, 0.5)) + 1e-9


def test_the_same_seed_gives_the_same_answer():
    problem = reachable(PANDA, "panda_hand", 11)
    once, again = (Multistart().solve(problem, PANDA.rest, seed=5) for _ in range(2))
    assert_array_equal(once.q, again.q)
    assert once.iterations == again.iterations


def test_further_starts_fill_the_box():
    problem = Problem(PANDA, [Task("panda_hand", At((0, 0, 1)))])
    points = np.array([further_start(problem, PANDA.rest, 0, k) for k in range(1, 400)])
    assert (points >= PANDA.lower - 1e-12).all()
    assert (points <= PANDA.upper + 1e-12).all()
    assert (points[:, 7] == PANDA.rest[7]).all()  # a finger moves no hand
    shares = ((points - PANDA.lower) / (PANDA.upper - PANDA.lower))[:, :7]
    for tenth in np.arange(0, 1, 0.1):
        inside = ((shares >= tenth) & (shares < tenth + 0.1)).mean(axis=0)
        assert (abs(inside - 0.1) < 0.03).all()


def test_continuous_joints_are_reported_nearest_to_the_start():
    wheel = supple.Figure("wheel", [*supple.hinge("a", None), *supple.fixed("rim", "a", (1, 0, 0))])
    for turns in (-7, -1, 0, 3):
        start = np.array([2 * np.pi * turns + 0.3])
        for angle in (0.1, 2.0, 3.3, 6.0):
            target = wheel.placement([angle], "rim")[:3, 3]
            solution = supple.solve(Problem(wheel, [Task(Point("rim"), At(target))]), start)
            assert solution.ok
            assert abs(solution.q[0] - start[0]) <= np.pi + 1e-9


def test_turns_are_taken_off_only_as_far_as_limits_allow():
    wheel = supple.Figure("wheel", [*supple.hinge("a", None), *supple.fixed("rim", "a", (1, 0, 0))])
    limits = Limits([-1.0], [20.0])
    problem = Problem(wheel, [Task(Point("rim"), At((1, 0, 0)))], limits)
    Q = np.array([[19.0], [12.0], [5.0]])
    near = unwound(problem, Q, np.array([-0.5]))
    assert (near >= -1.0).all()
    assert (near <= 20.0).all()
    np.testing.assert_allclose(np.cos(near), np.cos(Q), atol=1e-12)
    np.testing.assert_allclose(near, Q - 2 * np.pi * np.array([[3], [2], [0]]), atol=1e-12)


def test_what_is_rigid_stays_and_what_is_reluctant_moves_less():
    start = PANDA.rest
    task = Task("panda_hand", At(PANDA.placement(start, "panda_hand")[:3, 3] + 0.05))
    locked = LevenbergMarquardt().solve(Problem(PANDA, [task], rigidity={"panda_joint1": 1.0}), start)
    assert locked.q[0] == start[0]
    moves = [
        abs(LevenbergMarquardt().solve(Problem(PANDA, [task], rigidity={"panda_joint1": r}), start).q[0] - start[0])
        for r in (0.0, 0.5, 0.9)
    ]
    assert moves[0] > moves[1] > moves[2]


def test_closed_loops_hold_where_the_platform_can_follow():
    here = STEWART.placement(STEWART.rest, "platform")
    for seed in range(10):
        rng = np.random.default_rng(seed)
        target = here @ supple.place(rng.uniform(-0.02, 0.02, 3), rpy=rng.uniform(-0.05, 0.05, 3))
        solution = supple.solve(STEWART, {"platform": Placed(target)})
        audit(solution)
        assert solution.ok, solution.report()


def test_closed_loops_hold_where_the_platform_cannot_follow():
    beyond = STEWART.placement(STEWART.rest, "platform") @ supple.place((0, 0, 5.0))
    solution = supple.solve(STEWART, {"platform": Placed(beyond)})
    audit(solution)
    assert solution.unmet == ("platform Placed",)


def test_a_hard_task_wins_against_a_soft_one():
    there, elsewhere = (0.5, 0.0, 0.5), (0.5, 0.4, 0.5)
    tasks = [Task(Point("panda_hand"), At(there), hard=True), Task(Point("panda_hand"), At(elsewhere))]
    solution = supple.solve(Problem(PANDA, tasks))
    audit(solution)
    assert solution.unmet == (tasks[1].name,)


def two_priorities(first: float, second: float) -> Problem:
    """The hand at a height that it can reach, and at a place that it cannot."""
    tasks = [
        Task(Point("panda_hand"), supple.OnPlane((0, 0, first), (0, 0, 1)), priority=0),
        Task(Point("panda_hand"), At((2.0, 0.0, second)), priority=1),
    ]
    return Problem(PANDA, tasks)


def test_a_lower_priority_number_comes_strictly_first():
    problem = two_priorities(0.4, 0.7)
    solution = supple.solve(problem)
    audit(solution)
    assert solution.unmet == (problem.tasks[1].name,)
    height, reach = PANDA.placement(solution.q, "panda_hand")[[2, 0], 3]
    assert abs(height - 0.4) <= 1e-5
    only = supple.solve(
        Problem(PANDA, [replace(t, priority=0, weight=w) for t, w in zip(problem.tasks, (1e6, 1.0), strict=True)])
    )
    assert reach >= PANDA.placement(only.q, "panda_hand")[0, 3] - 1e-4  # as far out as a heavy weight gets


def test_what_a_rank_cannot_meet_is_left_as_near_as_it_came():
    reach = Task(Point("panda_hand"), At((2.0, 0.0, 0.5)))
    tasks = [reach, Task("panda_hand", supple.Facing((0, 0, 1)), priority=3)]
    first = supple.solve(Problem(PANDA, tasks[:1]))
    both = supple.solve(Problem(PANDA, tasks))
    audit(both)
    assert abs(both.errors[0].metres - first.errors[0].metres) < 1e-5


def test_many_residuals_take_the_primal_form_and_get_the_same_answer():
    human = supple.load("human")
    rng = np.random.default_rng(4)
    q = human.limits.project(human.rest + rng.uniform(-0.2, 0.2, human.size))
    ends = [s for s in human.segments if s.startswith(("hand", "foot", "head", "forearm", "shin", "thigh", "pelvis"))]
    tasks = [Task(s, Placed(human.placement(q, s))) for s in ends]
    few, many = Problem(human, tasks[:3]), Problem(human, tasks * 4)
    assert few.residual_count < human.size < many.residual_count
    for problem in (few, many):
        solution = supple.solve(problem)
        audit(solution)
        assert solution.ok


def cost(a, x, g, H):
    return 0.0


REFUSED = {
    "custom": (lambda: Problem(PANDA, [Task("panda_hand", Custom(cost))]), "has no residual form"),
    "near": (
        lambda: Problem(PANDA, [Near(PANDA.rest), Task("panda_hand", At((0, 0, 1)), priority=1)]),
        "comes before other tasks",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_it_cannot_take_it_refuses_by_name(case: str):
    make, message = REFUSED[case]
    with pytest.raises(Refused, match=message):
        LevenbergMarquardt().solve(make(), PANDA.rest)


@pytest.mark.parametrize("settings", [{"steps": -1}, {"attempts": 0}, {"floor": 0.0}, {"slow": 0.0}, {"slow": 2.0}])
def test_settings_are_checked(settings: dict[str, float]):
    with pytest.raises(BadValue):
        LevenbergMarquardt(**settings)  # type: ignore[arg-type]


@pytest.mark.interpreted
def test_interpreted_it_closes_a_gap():
    parts = [*supple.hinge("a", None), *supple.hinge("b", "a", at=(1, 0, 0)), *supple.fixed("tip", "b", (1, 0, 0))]
    figure = supple.Figure(
        "two", [*parts, *supple.hinge("c", None, at=(1, 0.5, 0)), *supple.fixed("end", "c", (0.3, 0, 0))]
    )
    solution = supple.solve(Problem(figure, [Task(Gap(Frame("end"), Point("tip")), At((0, 0, 0)))]), [0.1, 0.2, 0.3])
    audit(solution)
    assert solution.ok


def test_what_moves_no_effector_stays_where_it_was():
    human = supple.load("human")
    start = human.rest + np.where(human.upper - human.lower > 0.2, 0.05, 0.0)
    start = human.limits.project(start)
    solution = supple.solve(Problem(human, [Task(Point("hand_l"), At((2.5, 0.2, 1.2)))]).aimed((0.4, 0.3, 1.1)), start)
    assert solution.ok
    moving = set(human.chain(None, "hand_l"))
    for name, before, after in zip(human.coordinates, start, solution.q, strict=True):
        assert name in moving or before == after
