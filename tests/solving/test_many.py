"""Many targets at once: every row is the single solve, whatever the number of threads, and its status is true."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple import (
    At,
    Custom,
    Frame,
    LevenbergMarquardt,
    OnPlane,
    Placed,
    Point,
    Problem,
    ProjectedGradient,
    Status,
    Task,
)
from supple.errors import BadValue, Refused

PANDA = supple.load("panda")
POSES = PANDA.placement(np.random.default_rng(0).uniform(PANDA.lower, PANDA.upper, (40, PANDA.size)), "panda_hand")
PROBLEM = Problem(PANDA, [Task("panda_hand", Placed(POSES[0]))])


def test_a_row_is_the_single_solve_bit_for_bit():
    many = supple.solve_many(PROBLEM, POSES)
    assert len(many) == 40
    assert many.ok.all()
    for i in range(0, 40, 7):
        single = supple.solve(PROBLEM.aimed(POSES[i]))
        assert_array_equal(many.q[i], single.q)
        assert many.status[i] is single.status is many[i].status
        assert many.iterations[i] == single.iterations
        assert_allclose(many.errors[i], np.array(single.errors), atol=1e-12)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_changes_nothing(threads: int):
    assert_array_equal(supple.solve_many(PROBLEM, POSES, threads=threads).q, supple.solve_many(PROBLEM, POSES).q)


def test_out_of_reach_is_said_row_by_row():
    points = np.array([[0.4, 0.1, 0.5], [9.0, 0.0, 0.0], [0.3, -0.2, 0.6]])
    many = supple.solve_many(Problem(PANDA, [Task(Point("panda_hand"), At(points[0]))]), points)
    assert many.ok.tolist() == [True, False, True]
    assert many.status[1] is not Status.SOLVED
    for q in many.q:
        assert PANDA.limits.contains(q)


def test_several_tasks_take_several_arrays_and_may_keep_their_own():
    plane = Task(Point("panda_link4"), OnPlane((0, 0, 0.5), (0, 0, 1)))
    problem = Problem(PANDA, [Task(Point("panda_hand"), At((0.4, 0.0, 0.4))), plane])
    points = np.random.default_rng(1).uniform((0.3, -0.2, 0.3), (0.5, 0.2, 0.5), (6, 3))
    planes = np.array([[(0, 0, 0.4 + 0.02 * k), (0, 0, 1)] for k in range(6)])
    for targets in ([points, planes], [points, None]):
        many = supple.solve_many(problem, targets)
        for i in range(6):
            single = supple.solve(problem.aimed(points[i], None if targets[1] is None else planes[i]))
            assert_array_equal(many.q[i], single.q)
            assert many.ok[i] == single.ok


def test_hard_tasks_hold_in_every_row():
    stewart = supple.load("stewart")
    here = stewart.placement(stewart.rest, "platform")
    poses = np.stack([here @ supple.place((0, 0, z)) for z in (0.0, 0.01, 5.0)])
    problem = Problem(stewart, [Task(Frame("platform"), Placed(here))])
    many = supple.solve_many(problem, poses)
    assert (many.errors[:, 1:, 0] < 1e-5).all()
    assert many.ok.tolist() == [True, True, False]
    for i in range(3):
        assert_array_equal(many.q[i], supple.solve(problem.aimed(poses[i])).q)


def cost(a, x, g, H):
    return 0.0


REFUSED = {
    "NaN": (lambda: supple.solve_many(PROBLEM, np.full((2, 4, 4), np.nan)), BadValue, "target 0 of 'panda_hand Placed'"),
    "reflection": (
        lambda: supple.solve_many(PROBLEM, np.stack([POSES[0], np.diag([1, 1, -1, 1.0])])), BadValue, "target 1 .*reflection",
    ),
    "shape": (lambda: supple.solve_many(PROBLEM, np.zeros((2, 3))), BadValue, "target 0"),
    "no array": (lambda: supple.solve_many(PROBLEM, 3.0), BadValue, "arrays of one length"),
    "device": (lambda: supple.solve_many(PROBLEM, POSES, device="toaster"), BadValue, "not 'toaster'"),
    "threads": (lambda: supple.solve_many(PROBLEM, POSES, threads=0), BadValue, "at least 1"),
    "solver": (lambda: supple.solve_many(PROBLEM, POSES, solver=ProjectedGradient()), BadValue, "not ProjectedGradient"),
    "custom": (
        lambda: supple.solve_many(Problem(PANDA, [Task("panda_hand", Custom(cost))]), np.zeros((2, 1))),
        Refused,
        "has no residual form",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str):
    make, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        make()


def test_one_attempt_from_a_start_of_ones_own():
    start = PANDA.limits.project(PANDA.rest + 0.1)
    many = supple.solve_many(PROBLEM, POSES[:5], start=start, solver=LevenbergMarquardt())
    for i in range(5):
        assert_array_equal(many.q[i], LevenbergMarquardt().solve(PROBLEM.aimed(POSES[i]), start).q)


def test_each_row_may_have_a_start_of_its_own():
    figure = supple.load("panda")
    hand = "panda_hand"
    rng = np.random.default_rng(5)
    Q = rng.uniform(figure.lower, figure.upper, (12, figure.size))
    targets = figure.placement(np.clip(Q + 0.05, figure.lower, figure.upper), hand)
    problem = supple.Problem(figure, [supple.Task(hand, supple.Placed(np.eye(4)))])
    many, query = supple.solve_many(problem, targets, start=Q, threads=1), supple.prepare(problem)
    for k in range(12):
        assert_array_equal(many.q[k], query(targets[k], start=Q[k]).q)
    named = {"panda_joint4": -1.5}
    assert_array_equal(supple.solve_many(problem, targets, start=named).q[3], query(targets[3], start=named).q)
    with pytest.raises(BadValue, match="12 targets but 5 starts"):
        supple.solve_many(problem, targets, start=Q[:5])
