"""Steps near contact: they slow down, slide along, and from outside never end inside."""

from __future__ import annotations

import numpy as np
import pytest

import supple
from supple.geometry.distances import distance_between
from supple.geometry.shapes import Ball, Box, Capsule
from supple.kernels.compiling import INTERPRETED
from supple.solvers.differential.nearing import INFLUENCE, PART

MARGIN = 0.01


def arm(corners: bool) -> supple.Figure:
    """The Panda with simple bodies, a hand with corners if asked for."""
    figure = supple.load("panda")
    hand = Box((-0.03, -0.1, 0), (0.03, 0.1, 0.1)) if corners else Capsule(0.04, 0.15, supple.place((0, 0, 0.05)))
    return figure.with_solids(
        {
            **dict.fromkeys(figure.segments, ()),
            "panda_link2": (Capsule(0.06, 0.15),),
            "panda_link4": (Ball((0, 0, 0), 0.07),),
            "panda_link5": (Capsule(0.05, 0.2, supple.place((0, 0, -0.15))),),
            "panda_hand": (hand,),
        }
    )


def worst(problem: supple.Problem, q: np.ndarray) -> float:
    """What the worst pair lacks of the margin, by the audit."""
    clear = len(problem.clear)
    return max(miss.metres for miss in problem.misses(q)[-clear:])


@pytest.mark.parametrize("corners", [False, True])
def test_from_outside_no_step_ends_inside(corners: bool):
    figure = arm(corners)
    at = figure.placement(figure.rest, "panda_hand")[:3, 3]
    walls = {
        "wall": Box((at[0] + 0.12, -1, -1), (at[0] + 0.3, 1, 2)),
        "post": Ball(tuple(np.add(at, (0.0, 0.4, 0))), 0.1),
    }
    rng, touched = np.random.default_rng(6), 0
    for _ in range(2 if INTERPRETED else 6):
        goal = at + rng.uniform((0.1, -0.6, -0.3), (0.6, 0.6, 0.3))
        task = supple.Task(supple.Point("panda_hand"), supple.At(goal))
        clear = supple.Clearance(MARGIN, itself=True)
        problem = supple.Problem(figure, [task], obstacles=walls, clearance=clear)
        q, dt = np.array(figure.rest), 0.05  # long steps: nothing is linear
        assert worst(problem, q) == 0.0
        for _ in range(10 if INTERPRETED else 40):
            new = supple.step(problem, q, dt)
            assert (np.abs(new - q) <= figure.speed * dt + 1e-12).all()
            assert figure.limits.contains(new)
            assert worst(problem, new) <= 1e-8
            q = new
        touched += worst(supple.Problem(figure, [], obstacles=walls, clearance=supple.Clearance(0.03)), q) > 0.0
    assert touched or INTERPRETED


def test_far_from_everything_it_is_the_same_step():
    figure = arm(False)
    task = supple.Task(supple.Point("panda_hand"), supple.At((0.5, 0.2, 0.5)))
    alone = supple.Problem(figure, [task])
    beside = supple.Problem(figure, [task], obstacles=[Ball((5, 5, 5), 0.1)])
    assert np.array_equal(supple.step(alone, figure.rest, 0.01), supple.step(beside, figure.rest, 0.01))


def test_near_a_wall_it_slows_down_by_the_bound():
    figure = arm(False)
    at = figure.placement(figure.rest, "panda_hand")[:3, 3]
    task = supple.Task(supple.Point("panda_hand"), supple.At(np.add(at, (0.3, 0, 0))))
    for gap in (0.5 * INFLUENCE, 0.1 * INFLUENCE):
        wall = _wall_at(figure, gap)
        problem = supple.Problem(figure, [task], obstacles=[wall])
        after = supple.step(problem, figure.rest, 0.004)  # a short step, which is nearly linear
        left = _gap(figure, after, wall)
        assert left >= (1 - PART) * gap - 3e-4
        assert left < gap - 1e-3


def _gap(figure: supple.Figure, q: np.ndarray, wall: Box) -> float:
    frames = figure.placements(q)
    return min(distance_between(bar, wall, frames[s]) for s, bars in figure.bars.items() for bar in bars)


def _wall_at(figure: supple.Figure, gap: float) -> Box:
    away = _gap(figure, figure.rest, Box((9, -1, -1), (10, 1, 2)))
    return Box((9 - away + gap, -1, -1), (11 - away + gap, 1, 2))


def test_from_inside_the_way_out_is_taken():
    figure = arm(True)
    wall = _wall_at(figure, -0.02)
    problem = supple.Problem(figure, [], obstacles=[wall])
    q, lacking = np.array(figure.rest), [worst(problem, figure.rest)]
    for _ in range(40):
        q = supple.step(problem, q, 0.02)
        lacking.append(worst(problem, q))
    assert lacking[0] == pytest.approx(0.02)
    assert (np.diff(lacking) <= 1e-9).all()
    assert lacking[-1] < 1e-4
