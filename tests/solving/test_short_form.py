"""The short form of `solve` with tolerances, and placements that are not quite rotations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple import At, Placed, Problem, Task
from supple.errors import BadValue

PANDA, HAND = supple.load("panda"), "panda_hand"


def test_tolerances_of_the_short_form_are_those_of_its_tasks():
    reach = PANDA.placement(PANDA.rest, HAND)[:3, 3]
    far = reach / np.linalg.norm(reach) * 1.5
    assert not supple.solve(PANDA, {HAND: At(far)}, prove=False).ok
    loose = supple.solve(PANDA, {HAND: At(far)}, tolerance=1.0, prove=False)
    assert loose.ok
    assert loose.problem.tasks[0].tolerance == 1.0
    turned = supple.solve(PANDA, {HAND: Placed(PANDA.placement(PANDA.rest, HAND))}, angle_tolerance=0.3)
    assert turned.problem.tasks[0].angle_tolerance == 0.3
    with pytest.raises(BadValue, match="short form"):
        supple.solve(Problem(PANDA, [Task(HAND, At(far))]), tolerance=0.1)
    with pytest.raises(BadValue, match="tolerance"):
        supple.solve(PANDA, {HAND: At(far)}, tolerance=-1.0)


def test_a_matrix_within_the_slack_is_the_rotation_nearest_to_it():
    T = PANDA.placement(PANDA.rest, HAND)
    rough = T.copy()
    rough[:3, :3] += 2e-4 * np.random.default_rng(1).normal(size=(3, 3))
    with pytest.raises(BadValue, match="orthonormal"):
        Placed(rough)
    goal = Placed(rough, slack=1e-3)
    R = goal.at[:3, :3]
    assert_allclose(R.T @ R, np.eye(3), atol=1e-12)
    assert 1e-5 < goal.off < 1e-3
    assert Placed(T).off < 1e-12
    assert Placed(T) == Placed(T, slack=1e-3)
    with pytest.raises(BadValue, match="orthonormal"):
        Placed(rough, slack=1e-4)
    with pytest.raises(BadValue, match="slack"):
        Placed(T, slack=2.0)
    query = supple.prepare(Problem(PANDA, [Task(HAND, Placed(T, slack=1e-3))]))
    assert query(rough).ok
    assert_array_equal(query(rough).problem.tasks[0].goal.at, goal.at)


def test_jacobians_of_many_postures_are_those_of_each():
    rng = np.random.default_rng(2)
    for figure in (PANDA, supple.load("human"), supple.load("jack")):
        Q = figure.rest + 0.1 * rng.normal(size=(5, figure.size))
        last = figure.segments[-1]
        for effector in (supple.Frame(last), supple.Point(last, (0.1, 0, 0)), supple.Direction(last, (0, 0, 1))):
            J = figure.jacobian(Q, effector)
            assert J.shape == (5, 6 if isinstance(effector, supple.Frame) else 3, figure.size)
            for q, one in zip(Q, J, strict=True):
                assert_array_equal(figure.jacobian(q, effector), one)
        h = 1e-6
        slope = (
            figure.placement(Q[0] + h * np.eye(figure.size), last)
            - figure.placement(Q[0] - h * np.eye(figure.size), last)
        ) / (2 * h)
        assert_allclose(figure.jacobian(Q, supple.Point(last))[0].T, slope[:, :3, 3], atol=1e-8)


def test_results_of_figures_and_steps_may_be_written_to():
    problem = Problem(PANDA, [Task(HAND, At((0.4, 0.1, 0.5)))])
    for array in (
        PANDA.posture(PANDA.rest), PANDA.placement(PANDA.rest, HAND), PANDA.jacobian(PANDA.rest, supple.Point(HAND)),
        supple.step(problem, PANDA.rest, 0.01),
    ):  # fmt: skip
        array[0] = 0.0
