"""One branch for a whole path: found where there is one, told where there is none, never at the cost of truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import supple
from supple import At, Near, Placed, Point, Problem, Status, Task
from supple.errors import BadValue

TIPS = {"panda": "panda_hand", "ur5": "tool0", "iiwa14": None}


def arm(name: str) -> tuple[supple.Figure, str]:
    figure = supple.load(name)
    tip = TIPS[name]
    return figure, tip if tip in figure.segments else figure.segments[-1]


def drawn(figure: supple.Figure, tip: str, seed: int, steps: int = 120) -> np.ndarray:
    """A smooth way through the inside of the limits (2 · steps − 1, size): every other row is a target."""
    rng, t = np.random.default_rng(seed), np.linspace(0.0, np.pi, 2 * steps - 1)[:, None]
    q = np.zeros((len(t), figure.size))
    for w in (1, 2, 3):
        q += (np.sin(w * t) * rng.normal(size=figure.size) + np.cos(w * t) * rng.normal(size=figure.size)) / w
    q = (q - q.min(axis=0)) / np.ptp(q, axis=0)
    span = figure.upper - figure.lower
    a, b = np.sort(rng.uniform(0.02, 0.98, (2, figure.size)), axis=0)
    q = figure.lower + span * (a + (np.minimum(b, a + 3.0 / span) - a) * q)
    return np.where(Problem(figure, [Task(tip, Placed(np.eye(4)))]).moved, q, figure.rest)


def two(lower: float, upper: float) -> Problem:
    """Two links in a plane, the first with limits."""
    parts = [*supple.hinge("a", None, limits=(lower, upper)), *supple.hinge("b", "a", at=(1, 0, 0), limits=(-3.0, 3.0))]
    figure = supple.Figure("two", [*parts, *supple.fixed("tip", "b", (1, 0, 0))])
    return Problem(figure, [Task(Point("tip"), At((1, 0, 0)))])


def circle(angles: np.ndarray, radius: float = 1.2) -> np.ndarray:
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), 0 * angles], axis=1)


# seeds at which following step by step jumps or gets stuck
GREEDY_FAILS = [
    ("panda", 0, False),
    ("panda", 3, True),
    ("ur5", 2, False),
    ("ur5", 1, True),
    ("iiwa14", 2, False),
    ("iiwa14", 2, True),
]


@pytest.mark.parametrize(("name", "seed", "preferring"), GREEDY_FAILS)
def test_a_path_with_a_continuous_solution_is_followed_on_one(name: str, seed: int, preferring: bool):
    figure, tip = arm(name)
    way = drawn(figure, tip, seed)
    placements = figure.placement(way, tip)
    problem = Problem(figure, [Task(tip, Placed(np.eye(4)))])
    targets = placements[::2]
    if preferring:
        problem = replace(problem, tasks=[*problem.tasks, Task(None, Near(figure.rest), preference=True)])
        targets = [targets, None]
    step_by_step = supple.follow(problem, targets)
    assert step_by_step.flips or not step_by_step.ok.all()
    path = supple.follow(problem, targets, whole=True)
    assert path.ok.all()
    assert path.flips == path.breaks == ()
    assert "without a break" in path.reason
    assert (path.q >= figure.lower).all()
    assert (path.q <= figure.upper).all()
    halfway = figure.placement(0.5 * (path.q[1:] + path.q[:-1]), tip)  # a change of branch would leave the path here
    assert np.abs(halfway - placements[1::2]).max() < 0.05
    assert all(path[k].ok for k in range(0, len(path), 17))


def test_a_preference_chooses_among_the_branches():
    targets = circle(np.linspace(0.2, 1.2, 40))
    for sign in (-1.0, 1.0):
        problem = two(-3.0, 3.0)
        problem = replace(problem, tasks=[*problem.tasks, Task(None, Near([0.0, sign]), preference=True)])
        path = supple.follow(problem, [targets, None], whole=True, start=[0.7 + sign, -1.8 * sign])
        assert path.breaks == ()
        assert (np.sign(path.q[:, 1]) == sign).all()


def test_an_arm_that_must_let_go_says_where():
    problem = two(-2.8, 2.8)
    targets = circle(np.linspace(-1.5, 5.5, 150))
    path = supple.follow(problem, targets, whole=True)
    assert path.ok.all()
    assert path.breaks == path.flips
    assert len(path.breaks) == 1
    assert str(path.breaks[0]) in path.reason
    assert "not by a proof" in path.reason
    moves = np.abs(np.diff(path.q, axis=0)).max(axis=1)
    assert (np.delete(moves, path.breaks[0] - 1) < 0.2).all()


def test_more_than_a_turn_is_wound_the_way_the_limits_allow():
    problem = two(-7.0, 7.0)
    targets = circle(np.linspace(-6.0, 6.0, 300))
    start = problem.figure.posture([0.283 - 0.9, 1.8])  # one turn above where the path must begin
    path = supple.follow(problem, targets, whole=True, start=start)
    assert path.breaks == ()
    assert path.ok.all()
    assert abs(np.ptp(path.q[:, 0]) - 12.0) < 1e-3


def test_targets_out_of_reach_are_off_the_branch():
    targets = circle(np.linspace(0.0, 1.5, 60))
    targets[20:30] *= 2.0
    path = supple.follow(two(-3.0, 3.0), targets, whole=True)
    assert path.ok[:20].all()
    assert path.ok[30:].all()
    assert set(range(20, 30)) <= set(path.breaks)
    assert path.status[25] is Status.NEAREST


def test_speeds_are_kept_on_the_branch():
    figure, tip = arm("panda")
    targets = figure.placement(drawn(figure, tip, 3)[::2], tip)
    problem = Problem(figure, [Task(tip, Placed(np.eye(4)))])
    path = supple.follow(problem, targets, whole=True, dt=0.1)
    assert path.ok.all()
    assert (np.abs(np.diff(path.q, axis=0)) <= figure.speed * 0.1 * (1 + 1e-12)).all()
    hurried = supple.follow(problem, targets, whole=True, dt=0.002)
    assert (np.abs(np.diff(hurried.q, axis=0)) <= figure.speed * 0.002 * (1 + 1e-12)).all()
    assert not hurried.ok.all()
    assert hurried.breaks


def test_the_same_path_gives_the_same_answer():
    targets = circle(np.linspace(-2.0, 5.5, 80))
    one, other = (supple.follow(two(-2.8, 2.8), targets, whole=True, seed=3) for _ in range(2))
    assert_array_equal(one.q, other.q)
    assert one == other


def test_short_paths_and_paths_without_tasks():
    problem = two(-3.0, 3.0)
    assert len(supple.follow(problem, np.empty((0, 3)), whole=True)) == 0
    assert supple.follow(problem, circle(np.array([0.3])), whole=True).ok.all()
    assert supple.follow(problem, circle(np.array([0.3, 0.31])), whole=True).breaks == ()
    posture = Problem(problem.figure, [Task(None, Near([0.1, 0.2]))])
    assert supple.follow(posture, np.array([[0.1, 0.2], [0.2, 0.3]]), whole=True).ok.all()
    with pytest.raises(BadValue, match="whole"):
        supple.follow(problem, circle(np.array([0.3])), whole="yes")  # type: ignore[arg-type]


def test_a_deadline_ends_it():
    path = supple.follow(two(-3.0, 3.0), circle(np.linspace(0, 1, 50)), whole=True, deadline=1e-9)
    assert set(path.status) == {Status.STOPPED}
