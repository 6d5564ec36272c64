"""What a search has before it: its settings, where its starts lie, how far angles turn, and its scratch.

A desk is one array, ``settings | box | target | scratch``, laid out here and read by `search.search_entry`. One desk serves one
search at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.geometry.placements import Floats
from supple.kernels.layouts import TARGET_NUMBERS
from supple.kernels.scratch import EVALUATION
from supple.problem.goals import Near
from supple.problem.problem import Problem
from supple.solvers.levenberg_marquardt.room import (
    BOX,
    CHAINED,
    LOWER,
    OFFSET,
    PACE,
    PERIOD,
    REACH,
    SETTINGS,
    STRIDE,
    UPPER,
    room_size,
)


def desk(problem: Problem, settings: Any, seed: int, paces: Any = None) -> np.ndarray:
    """Settings, box and scratch for one search at a time.

    Further starts lie within the limits; an angle without limits, or with more than a turn between them, is sampled over
    one turn about the start, a slide without limits over a metre; what moves no effector stays. With `paces` (size), rows
    are chained and no coordinate moves by more than its pace from one row to the next.
    """
    I = problem.pack[0]
    figure, limits = problem.figure, problem.limits
    assert limits is not None
    n = figure.size
    out = np.zeros(SETTINGS + BOX * n + int(I[TARGET_NUMBERS]) + EVALUATION.size(I) + room_size(I))
    out[: len(settings)] = settings
    box = out[SETTINGS : SETTINGS + BOX * n].reshape(BOX, n)
    turning = figure.turning
    reach = np.where(turning, np.pi, 0.5)
    near = np.where(turning, limits.upper - limits.lower > 2.0 * np.pi, ~np.isfinite(limits.upper - limits.lower))
    box[REACH] = np.where((problem.free == 0.0) | ~problem.moved, 0.0, np.where(near, reach, np.inf))
    box[STRIDE] = strides(n)
    box[OFFSET] = (0.5 + seed * 0.6180339887498949 * (1 + np.arange(n))) % 1.0
    box[PERIOD] = np.where(free_to_turn(problem), 2.0 * np.pi, 0.0)
    box[LOWER], box[UPPER] = limits.lower, limits.upper
    if paces is not None:
        out[CHAINED] = 1.0
        box[PACE] = paces
    return out


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


def further_start(problem: Problem, start: Floats, seed: int, k: int) -> Floats:
    """Point k of the sequence in the whole of the limits."""
    limits, n = problem.limits, problem.figure.size
    assert limits is not None
    box = desk(problem, (), seed)[SETTINGS : SETTINGS + BOX * n].reshape(BOX, n)
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
