"""Compiled: which coordinates of a step are held at their bounds (see `differential`)."""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf
from supple.solvers.differential.scratch import FREE, LOCKED

SWEEPS = 10  # over the coordinates, to guess which are held
SLACK = 1e-10  # a minimum that is past a bound by less than this does not stop there: rounding would turn in circles
NOISE = 1e-14  # a slope smaller than this part of the sum of its terms' sizes has no sign
LITTLE = 1e-7  # a coordinate that later levels could move by less than this part of its way is held for good


@leaf
def row_times(A: Any, a: int, x: Any) -> float:
    """What row a gives for x."""
    s = 0.0
    for i in range(x.shape[0]):
        s += A[a, i] * x[i]
    return s


@leaf
def sweep_level(rows: Any, box: Any, metric: Any, last: int, r: Any) -> None:
    """One coordinate of the first level after the other is minimised, some times over; those that end at a bound are held.

    `r` takes the residuals.
    """
    A, x, held, D, z = rows.A, box.x, box.held, metric.D, metric.z
    for a in range(last):
        r[a] = row_times(A, a, x) - rows.wanted[a]
    for _ in range(SWEEPS):
        for i in range(x.shape[0]):
            if held[i] == LOCKED:
                continue
            slope, curve = D[i] * (x[i] - z[i]), D[i]
            for a in range(last):
                v = A[a, i]
                slope += v * r[a]
                curve += v * v
            to = min(max(x[i] - slope / curve, box.lower[i]), box.upper[i])
            for a in range(last):
                r[a] += A[a, i] * (to - x[i])
            x[i] = to
            held[i] = -1.0 if to == box.lower[i] else (1.0 if to == box.upper[i] else FREE)


@leaf
def walk(box: Any) -> int:
    """Go from x towards the minimum as far as the box allows, and hold the coordinate that stopped the way; which, or −1."""
    lower, upper, x, to, held = box.lower, box.upper, box.x, box.to, box.held
    part, stop = 1.0, -1
    for i in range(x.shape[0]):
        if held[i] == FREE and (to[i] < lower[i] - SLACK or to[i] > upper[i] + SLACK):
            way = ((lower[i] if to[i] < lower[i] else upper[i]) - x[i]) / (to[i] - x[i])
            if way < part:
                part, stop = way, i
    for i in range(x.shape[0]):
        if held[i] == FREE:
            x[i] = min(max(x[i] + part * (to[i] - x[i]) if stop >= 0 else to[i], lower[i]), upper[i])
    if stop >= 0:
        held[stop] = -1.0 if to[stop] < lower[stop] else 1.0
        x[stop] = lower[stop] if to[stop] < lower[stop] else upper[stop]
    return stop


@leaf
def pressing(rows: Any, box: Any, metric: Any, last: int, i: int, noise: float) -> float:
    """By how much a held coordinate presses inwards, away from its bound; 0 if it does not."""
    slope, root = metric.D[i] * (box.x[i] - metric.z[i]), math.sqrt(metric.D[i])
    size = abs(slope)
    for a in range(last):
        slope -= rows.A[a, i] * rows.w[a]
        size += abs(rows.A[a, i] * rows.w[a])
    push = slope * box.held[i] / root
    return push if push > noise * size / root else 0.0


@leaf
def pressing_most(rows: Any, box: Any, metric: Any, last: int, cautious: bool) -> int:
    """The coordinate to release: the one that presses inwards most, or, against turning in circles, the first that surely does.

    Returns which one, or −1.
    """
    noise = 1e4 * NOISE if cautious else NOISE
    most, worst, held = 0.0, -1, box.held
    for i in range(held.shape[0]):
        if held[i] != FREE and held[i] != LOCKED and not (cautious and worst >= 0):
            push = pressing(rows, box, metric, last, i, noise)
            if push > most:
                most, worst = push, i
    return worst


@leaf
def lock(rows: Any, box: Any, metric: Any, last: int) -> None:
    """Take from later levels what posture goals weigh, and what could move by next to nothing (see `differential`)."""
    x, held, D, z, play = box.x, box.held, metric.D, metric.z, 0.0
    for i in range(x.shape[0]):
        if metric.c[i] > 0.0:
            held[i] = LOCKED
        if held[i] != LOCKED and x[i] != z[i]:
            play += D[i] * abs(x[i] - z[i]) * (box.upper[i] - box.lower[i])
    for i in range(x.shape[0]):
        if held[i] != LOCKED and held[i] != FREE:
            slope = D[i] * (x[i] - z[i])
            for a in range(last):
                slope -= rows.A[a, i] * rows.w[a]
            if -slope * held[i] * LITTLE * (box.upper[i] - box.lower[i]) > play:
                held[i] = LOCKED
