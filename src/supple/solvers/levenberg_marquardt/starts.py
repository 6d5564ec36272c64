"""Where attempts begin, and how their answers are unwound (the reasons are in `search`).

The box of a search says where its starts lie and how far angles turn: Python fills it in, kernels read it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.geometry.placements import Floats
from supple.problem.goals import Near
from supple.problem.problem import Problem
from supple.solvers.levenberg_marquardt.scratch import BOX, LOWER, OFFSET, PACE, PERIOD, REACH, STRIDE, UPPER


def strides(n: int) -> Floats:
    """The stride of the evenly spread sequence along each of n coordinates, in ranges: powers of the golden ratio's kin."""
    root = 2.0
    for _ in range(60):  # the positive root of x^(n+1) = x + 1
        root = (1.0 + root) ** (1.0 / (n + 1))
    return np.array((1.0 / root) ** np.arange(1, n + 1) % 1.0, dtype=np.float64)


def free_to_turn(problem: Problem) -> np.ndarray:
    """Whether a whole turn of each coordinate changes nothing: no segment, no row of the limits, no posture goal."""
    assert problem.limits is not None
    held = (problem.limits.rows[1] != 0.0).any(axis=0)
    for task in problem.tasks:
        if isinstance(task.goal, Near):
            held = held | (np.asarray(task.goal.weights) > 0.0)
    return problem.figure.turning & ~held


def search_box(problem: Problem, seed: int, paces: Any = None) -> np.ndarray:
    """The box (BOX, size) of a search.

    Further starts lie within the limits; an angle without limits, or with more than a turn between them, is sampled over
    one turn about the start, a slide without limits over a metre; what moves no effector stays. With `paces` (size) no
    coordinate moves by more than its pace from one row to the next.
    """
    figure, limits = problem.figure, problem.limits
    assert limits is not None
    n, turning, box = figure.size, figure.turning, np.zeros((BOX, figure.size))
    reach = np.where(turning, np.pi, 0.5)
    near = np.where(turning, limits.upper - limits.lower > 2.0 * np.pi, ~np.isfinite(limits.upper - limits.lower))
    box[REACH] = np.where((problem.free == 0.0) | ~problem.moved, 0.0, np.where(near, reach, np.inf))
    box[STRIDE] = strides(n)
    box[OFFSET] = (0.5 + seed * 0.6180339887498949 * (1 + np.arange(n))) % 1.0
    box[PERIOD] = np.where(free_to_turn(problem), 2.0 * np.pi, 0.0)
    box[LOWER], box[UPPER] = limits.lower, limits.upper
    if paces is not None:
        box[PACE] = paces
    return box


def further_start(problem: Problem, start: Floats, seed: int, k: int) -> Floats:
    """Point k of the sequence in the whole of the limits."""
    limits, box = problem.limits, search_box(problem, seed)
    assert limits is not None
    reach, far = np.where(np.isfinite(box[REACH]), box[REACH], 0.0), np.isfinite(box[REACH])
    low = np.where(far, np.maximum(limits.lower, np.minimum(start - reach, limits.upper - 2.0 * reach)), limits.lower)
    high = np.where(far, np.minimum(limits.upper, low + 2.0 * reach), limits.upper)
    return low + (box[OFFSET] + k * box[STRIDE]) % 1.0 * (high - low)


def unwound(problem: Problem, Q: Floats, reference: Floats) -> Floats:
    """Postures (k, size) with whole turns taken off towards the reference, as far as the limits allow."""
    limits, period = problem.limits, 2.0 * np.pi
    assert limits is not None
    X = Q - period * np.round((Q - reference) / period)
    X = np.where(limits.upper < X, X - period, np.where(limits.lower > X, X + period, X))
    legal = (limits.lower <= X) & (limits.upper >= X) & free_to_turn(problem)
    return np.where(legal & (np.abs(Q - reference) > 0.5 * period), X, Q)
