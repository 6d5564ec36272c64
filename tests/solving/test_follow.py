"""Following a path: warm, within limits and speeds, truthful at every step, and aware of jumps."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import supple
from supple import At, LevenbergMarquardt, Placed, Point, Problem, Status, Task
from supple.errors import BadValue

PANDA, HAND = supple.load("panda"), "panda_hand"
PROBLEM = Problem(PANDA, [Task(HAND, Placed(np.eye(4)))])


def smooth(steps: int) -> np.ndarray:
    """Placements of the hand along a smooth motion inside the limits."""
    t = np.linspace(0.0, 1.0, steps)[:, None]
    waves = 0.35 * np.sin(2 * np.pi * t * np.array([1, 2, 1, 2, 3, 1, 2, 0]) + np.arange(8))
    return PANDA.placement(PANDA.limits.project(PANDA.rest) + waves * (np.arange(8) < 7), HAND)


def test_a_smooth_path_is_followed_without_jumps_in_a_few_evaluations():
    targets = smooth(500)
    path = supple.follow(PROBLEM, targets)
    assert path.ok.all()
    assert path.flips == ()
    assert path.evaluations[1:].mean() < 4
    assert (path.errors[:, 0, 0] <= 1e-5).all()
    assert (path.errors[:, 0, 1] <= 1e-4).all()
    assert (path.q >= PANDA.lower).all()
    assert (path.q <= PANDA.upper).all()


def test_every_step_is_the_warm_started_solve():
    targets = smooth(40)
    path = supple.follow(PROBLEM, targets)
    q = PANDA.rest
    for k, target in enumerate(targets):
        q = supple.solve(PROBLEM.aimed(target), start=q).q
        assert_array_equal(path.q[k], q)


def test_speeds_are_kept_and_steps_that_cannot_keep_up_say_so():
    targets, dt, speed = smooth(60), 0.01, 1.0
    path = supple.follow(PROBLEM, targets, dt=dt, speed=speed)
    assert (np.abs(np.diff(path.q, axis=0)) <= speed * dt * (1 + 1e-12)).all()
    assert not path.ok.all()
    for k in range(len(path)):
        solution = path[k]
        assert solution.ok == path.ok[k]
        assert path.status[k] is solution.status


def test_the_figures_own_speeds_count_when_only_the_time_step_is_given():
    targets, dt = smooth(40), 0.01
    path = supple.follow(PROBLEM, targets, dt=dt)
    moves = np.abs(np.diff(path.q, axis=0))
    assert (moves <= PANDA.speed * dt * (1 + 1e-12)).all()


def test_a_path_that_leaves_and_returns_is_picked_up_again():
    inside = np.tile((0.5, 0.0, 0.5), (30, 1))
    inside[10:20, 0] = np.linspace(0.5, 2.0, 10)
    path = supple.follow(Problem(PANDA, [Task(Point(HAND), At((0, 0, 1)))]), inside)
    assert path.ok[:10].all()
    assert path.ok[-5:].all()
    assert path.status[19] is Status.NEAREST


def test_a_jump_of_the_target_is_a_flip():
    there, far = PANDA.placement(PANDA.rest, HAND), PANDA.placement(PANDA.rest + 2.0 * np.eye(8)[0], HAND)
    path = supple.follow(PROBLEM, np.array([there, there, far, far]))
    assert path.flips == (2,)
    assert supple.follow(PROBLEM, np.array([there, there]), jump=1e-9).flips == ()


def test_the_limits_of_the_problem_come_back_unharmed():
    before = [pack.copy() for pack in PROBLEM.packed]
    supple.follow(PROBLEM, smooth(10), dt=0.01)
    for a, b in zip(before, PROBLEM.packed, strict=True):
        assert_array_equal(a, b)


def test_an_empty_path_and_a_single_target():
    assert len(supple.follow(PROBLEM, np.empty((0, 4, 4)))) == 0
    path = supple.follow(PROBLEM, smooth(1))
    assert path.ok.all()
    assert path.flips == ()


BAD = {
    "speed without dt": ({"speed": 1.0}, "dt="),
    "no time": ({"dt": 0.0}, "dt, the seconds from one target to the next, must be"),
    "no speed": ({"dt": 0.1, "speed": 0.0}, "positive"),
    "jump": ({"jump": -1.0}, "jump"),
    "solver": ({"solver": supple.Newton()}, "Newton"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_settings_are_refused(case: str):
    settings, message = BAD[case]
    with pytest.raises(BadValue, match=message):
        supple.follow(PROBLEM, smooth(2), **settings)


@pytest.mark.interpreted
def test_interpreted_it_follows_a_circle():
    parts = [*supple.hinge("a", None), *supple.hinge("b", "a", at=(1, 0, 0)), *supple.fixed("tip", "b", (1, 0, 0))]
    figure = supple.Figure("two", parts)
    angle = np.linspace(0, 1, 8)
    circle = np.stack([1.2 * np.cos(angle), 1.2 * np.sin(angle), 0 * angle], axis=1)
    path = supple.follow(
        Problem(figure, [Task(Point("tip"), At((1, 0, 0)))]), circle, start=[0.1, 0.8], solver=LevenbergMarquardt()
    )
    assert path.ok.all()
