"""The search along linear limits: legal, as low as the active-set method, and honest about being stationary."""

from __future__ import annotations

import numpy as np
import pytest

import supple
from supple import ActiveSet, At, LevenbergMarquardt, Limits, Multistart, Placed, Point, Problem, Status, Task

PANDA = supple.load("panda")
JACK = supple.load("jack", spine="grouped", shoulders="grouped", root="fixed", legs=False, fingers=False)
TIP = Point("panda_hand")


def crowded(seed: int, rows: int, equalities: int = 0) -> Limits:
    """Random rows that leave a good part of the box, through or near the rest posture."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(rows, PANDA.size))
    A /= np.linalg.norm(A, axis=1)[:, None]
    E = rng.normal(size=(equalities, PANDA.size))
    more = {"A_eq": E, "b_eq": E @ PANDA.rest} if equalities else {}
    return Limits(PANDA.lower, PANDA.upper, A=A, b=A @ PANDA.rest + rng.uniform(0.0, 0.4, rows), **more)


@pytest.mark.parametrize(("equalities", "least"), [(0, 2), (1, 8)])
def test_it_ends_no_higher_than_the_active_set_method_from_the_same_place(equalities: int, least: int):
    nearest = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        limits = crowded(seed, 6, equalities)
        p = PANDA.placement(rng.uniform(PANDA.lower, PANDA.upper), "panda_hand")[:3, 3]
        problem = Problem(PANDA, [Task(TIP, At(p))], limits)
        ours = LevenbergMarquardt().solve(problem, limits.project(PANDA.rest))
        assert limits.contains(ours.q), seed
        refined = ActiveSet().solve(problem, ours.q)
        assert problem.value(ours.q) <= problem.value(refined.q) + 1e-9, seed
        if ours.status is Status.NEAREST:
            nearest += 1
            assert problem.value(ours.q) > 1e-11, seed
    assert nearest >= least


def test_every_pose_that_is_legal_is_found():
    rng = np.random.default_rng(0)
    for seed in range(10):
        limits = crowded(seed, 3)
        q = 0.7 * limits.project(rng.uniform(PANDA.lower, PANDA.upper)) + 0.3 * PANDA.rest
        problem = Problem(PANDA, [Task("panda_hand", Placed(PANDA.placement(q, "panda_hand")))], limits)
        solution = supple.solve(problem)
        assert limits.contains(solution.q)
        assert solution.ok, solution.report()


def test_grouped_shoulders_keep_to_their_polygon():
    rng, limits = np.random.default_rng(1), JACK.limits
    assert not limits.is_box
    problems = []
    for _ in range(10):
        q = limits.project(rng.uniform(limits.lower, limits.upper))
        problems.append(Problem(JACK, [Task(s, Placed(JACK.placement(q, s))) for s in ("hand_l", "hand_r")]))
    query = supple.prepare(problems[0])
    for problem in problems:
        solution = query([task.goal.at for task in problem.tasks])
        assert limits.contains(solution.q)
        assert solution.ok
        np.testing.assert_array_equal(solution.q, supple.solve(problem).q)


def test_a_target_out_of_reach_ends_at_a_stationary_posture_of_the_polygon():
    problem = Problem(JACK, [Task(Point("hand_l.tip"), At((0.4, 2.0, 2.0)))])
    solution = supple.solve(problem)
    assert solution.status is Status.NEAREST
    assert JACK.limits.contains(solution.q)
    for step in (1e-3, 1e-5):  # the projected gradient leads nowhere
        g = problem.evaluate(solution.q, hessian=False).gradient
        assert g is not None
        moved = JACK.limits.project(solution.q - step * g)
        assert problem.value(moved) >= problem.value(solution.q) - 1e-9


def test_solving_many_keeps_the_rows_and_agrees_with_solving_one():
    rng, limits = np.random.default_rng(2), crowded(3, 4)
    Q = [limits.project(rng.uniform(PANDA.lower, PANDA.upper)) for _ in range(20)]
    T = np.array([PANDA.placement(q, "panda_hand") for q in Q])
    problem = Problem(PANDA, [Task("panda_hand", Placed(T[0]))], limits)
    many = supple.solve_many(problem, T, threads=2)
    for i in range(len(T)):
        assert limits.contains(many.q[i])
        np.testing.assert_array_equal(many.q[i], supple.solve(problem.aimed(T[i])).q)


def test_whole_turns_are_left_alone_where_a_row_counts_them():
    arm = supple.Figure("arm", [*supple.hinge("a", None), *supple.hinge("b", "a", at=(0.5, 0, 0))])
    row = Limits([-20, -20], [20, 20], A=[[-1.0, 0.0]], b=[-8.0])  # a ≥ 8
    problem = Problem(arm, [Task(Point("b", (0.5, 0, 0)), At((0.7, 0.2, 0.0)))], row)
    solution = supple.solve(problem, solver=Multistart())
    assert solution.ok
    assert solution.q[0] >= 8.0
