"""Near pairs: the same that a look at every distance finds, whatever was looked at before, and how they change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import supple
from supple.geometry.distances import distance_between
from supple.geometry.placements import Floats
from supple.geometry.shapes import Ball, Box, Capsule, Hull
from supple.kernels.compiling import INTERPRETED
from supple.kernels.near_pairs import NEAR_SCRATCH, open_near
from supple.problem import Moving
from supple.solvers.differential.nearing import INFLUENCE
from supple.solving.clear_steps import Keeper

COUNT = 4 if INTERPRETED else 60


def crowded() -> supple.Problem:
    """An arm of balls, capsules, boxes and hulls among obstacles of each kind, one of which moves."""
    rng, figure = np.random.default_rng(3), supple.load("panda")
    shapes: list[Any] = [Ball((0, 0, 0), 0.07), Capsule(0.05, 0.2), Box((-0.05, -0.06, -0.1), (0.05, 0.06, 0.1))]
    shapes += [Hull(rng.normal(size=(20, 3)) * 0.06, 0.01), Hull(rng.normal(size=(9, 3)) * 0.05)]
    bodies = {
        s: (shapes[k % 5], shapes[(k + 3) % 5]) if k % 2 else (shapes[k % 5],) for k, s in enumerate(figure.segments)
    }
    figure = figure.with_solids(bodies)
    obstacles = {
        "ball": Ball((0.4, 0.3, 0.4), 0.1),
        "box": Box((0.3, -0.6, -0.1), (0.7, -0.2, 0.5)),
        "floor": supple.Polytope.half_space((0, 0, -0.1), (0, 0, 1)),
        "hull": Moving(shapes[3], supple.place((0.5, 0.1, 0.6))),
    }
    return supple.Problem(figure, [], obstacles=obstacles, clearance=supple.Clearance(0.01, itself=True))


@pytest.fixture(scope="module")
def problem() -> supple.Problem:
    return crowded()


class Look:
    """Finds near pairs with memory that is kept from one posture to the next."""

    def __init__(self, problem: supple.Problem) -> None:
        found = Keeper.of(problem)
        assert found is not None
        self.keeper, self.memory = found, NEAR_SCRATCH.fresh(found.I)

    def __call__(self, q: Floats) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The near pairs, their slacks and their slopes."""
        self.keeper.spare[:] = [[self.memory, np.empty(10**6)]]
        self.keeper.kept(q, q, 1e-9)
        near = open_near(self.keeper.I, self.memory)
        count = int(near.found[0])
        return near.which[:count].copy(), near.slack[:count].copy(), near.slope[:count].copy()


def drawn(problem: supple.Problem, seed: int, spread: float = 1.0) -> Floats:
    """A posture out of a part of the range."""
    figure, rng = problem.figure, np.random.default_rng(seed)
    return figure.rest + spread * (rng.uniform(figure.lower, figure.upper) - figure.rest)


def slacks(problem: supple.Problem, q: Floats) -> np.ndarray:
    """The slack of every pair, by the audit's distances."""
    frames = problem.figure.placements(q)

    def where(thing: Any) -> Floats:
        return thing.world if thing.segment is None else frames[thing.segment]

    pairs = [pair for task in problem.clear for pair in task.goal.pairs]
    return np.array(
        [
            distance_between(bar.shape, other.shape, where(bar), where(other)) - keep + bar.radius
            for bar, other, keep in pairs
        ]
    )


@pytest.mark.interpreted
def test_near_pairs_are_those_that_a_look_at_every_distance_finds(problem: supple.Problem):
    look, found = Look(problem), 0
    for seed in range(COUNT):
        q = drawn(problem, seed)
        every = slacks(problem, q)
        which, slack, _ = look(q)
        assert np.array_equal(which, np.flatnonzero(every < INFLUENCE))
        assert np.abs(slack - every[which.astype(int)]).max(initial=0.0) < 1e-9
        found += len(which)
    assert found > 3 * COUNT


@settings(max_examples=5 if INTERPRETED else 60, deadline=None)
@given(before=st.lists(st.integers(0, 10**6), max_size=4), seed=st.integers(0, 10**6), spread=st.floats(0.0, 1.0))
def test_what_was_looked_at_before_changes_no_bit(before: list[int], seed: int, spread: float):
    problem = PROBLEM
    used, q = Look(problem), drawn(problem, seed, spread)
    for other in before:
        used(drawn(problem, other, spread))
    for ours, fresh in zip(used(q), Look(problem)(q), strict=True):
        assert np.array_equal(ours, fresh)


def test_even_memory_full_of_nonsense_changes_no_bit(problem: supple.Problem):
    for nonsense in (np.nan, np.inf, 1e300, -1.0, 0.5):
        look, q = Look(problem), drawn(problem, 8)
        look.memory[:] = nonsense
        for ours, fresh in zip(look(q), Look(problem)(q), strict=True):
            assert np.array_equal(ours, fresh)


def test_slopes_are_central_differences(problem: supple.Problem):
    look, h, seen = Look(problem), 1e-6, 0
    for seed in range(3):
        q = drawn(problem, seed)
        which, _, slope = look(q)
        pairs = which.astype(int)
        for i in range(len(q)):
            step = h * np.eye(len(q))[i]
            difference = (slacks(problem, q + step) - slacks(problem, q - step))[pairs] / (2 * h)
            smooth = np.abs(difference - slope[:, i]) < 1e-5
            assert smooth.mean() > 0.9  # where the nearest points jump, a distance has a kink
            seen += smooth.sum()
    assert seen > 100


def test_no_pair_is_nearer_than_it_was_or_than_its_margin(problem: supple.Problem):
    keeper, shorter = Keeper.of(problem), 0
    assert keeper is not None
    for seed in range(COUNT):
        q, to = drawn(problem, seed, 0.6), drawn(problem, seed, 0.65)
        taken = keeper.kept(q, to, 0.02)
        before, after = slacks(problem, q), slacks(problem, taken)
        assert (after >= np.minimum(before, 0.0) - 1e-8).all()
        shorter += bool((slacks(problem, to) < np.minimum(before, 0.0) - 1e-6).any())
    assert shorter > COUNT // 4


def test_rows_for_which_there_is_no_room_are_given_more(problem: supple.Problem):
    q, to = drawn(problem, 5), drawn(problem, 5, 1.05)
    own = Keeper.of(problem), Keeper.of(problem)
    for keeper, room in zip(own, (1, 10**6), strict=True):
        assert keeper is not None
        keeper.spare[:] = [[NEAR_SCRATCH.fresh(keeper.I), np.empty(room)]]
    one, other = (keeper.kept(q, to, 0.02) for keeper in own if keeper is not None)
    assert np.array_equal(one, other)
    assert own[0] is not None
    assert len(own[0].spare[0][1]) > 1


PROBLEM = crowded()
