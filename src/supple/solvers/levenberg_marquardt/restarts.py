"""Where attempts of a search begin, and how its answers are unwound, as kernels (`levenberg_marquardt` fills in the box)."""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf
from supple.kernels.layouts import FREE_ROOT
from supple.solvers.levenberg_marquardt.scratch import INNER, LOWER, OFFSET, PACE, PERIOD, REACH, STRIDE, UPPER

OFF = 0.1  # how far off its limits a start is taken: of its range, and no more radians or metres than this


@leaf
def copy_posture(source: Any, to: Any) -> None:
    """Copy a posture."""
    for i in range(to.shape[0]):
        to[i] = source[i]


@leaf
def next_start(box: Any, start: Any, limits: Any, k: int, part: float, q: Any) -> None:
    """Point k of the sequence: within reach of the start where limits are further away, else mostly in their inner part.

    Only `part` of the way from the start to that point is gone.
    """
    share = 1.0 if k % 4 == 0 else INNER
    for i in range(q.shape[0]):
        reach, low, high = box[REACH, i], limits.lower[i], limits.upper[i]
        if reach < math.inf:
            low = max(low, min(start[i] - reach, high - 2.0 * reach))
            high = min(high, low + 2.0 * reach)
        u = box[OFFSET, i] + k * box[STRIDE, i]
        u -= math.floor(u)
        x = low + (u if reach < math.inf else 0.5 + share * (u - 0.5)) * (high - low)
        q[i] = start[i] + part * (x - start[i])


@leaf
def step_off(box: Any, start: Any, limits: Any, D: Any, q: Any) -> bool:
    """The start, a little inside the limits that it stands at; whether it stands at any that matter to the goals."""
    moved = False
    for i in range(q.shape[0]):
        q[i] = start[i]
        low, high = limits.lower[i], limits.upper[i]
        off = OFF * min(high - low, 1.0)
        if D[i] > 0.0 and box[REACH, i] > 0.0 and (start[i] < low + 0.1 * off or start[i] > high - 0.1 * off):
            q[i], moved = min(max(start[i], low + off), high - off), True
    return moved


@leaf
def next_attempt(I: Any, limits: Any, tries: int, together: bool, scratch: Any, q: Any) -> None:
    """Where an attempt after the first begins: as it was told (not aligned, or off its limits), then along the sequence."""
    again = tries == 1 and step_off(scratch.box, scratch.start, limits, scratch.D, q)
    if not again and (tries > 1 or (I[FREE_ROOT] == 0 and together)):
        part = 1.0 if I[FREE_ROOT] == 0 or tries > 3 else 0.3 * (tries - 1)
        next_start(scratch.box, scratch.start, limits, tries, part, q)


@leaf
def unwind(box: Any, start: Any, limits: Any, q: Any) -> None:
    """Take whole turns off coordinates, so that they are as near to the start as the limits allow."""
    for i in range(q.shape[0]):
        period = box[PERIOD, i]
        if period > 0.0 and abs(q[i] - start[i]) > 0.5 * period:
            x = q[i] - period * math.floor((q[i] - start[i]) / period + 0.5)
            if x > limits.upper[i]:
                x -= period * math.ceil((x - limits.upper[i]) / period)
            elif x < limits.lower[i]:
                x += period * math.ceil((limits.lower[i] - x) / period)
            if x >= limits.lower[i] and x <= limits.upper[i]:
                q[i] = x


@leaf
def keep_pace(box: Any, limits: Any, q: Any) -> None:
    """Limits that the pace allows from q on, inside the figure's own."""
    for i in range(q.shape[0]):
        limits.lower[i] = max(box[LOWER, i], q[i] - box[PACE, i])
        limits.upper[i] = min(box[UPPER, i], q[i] + box[PACE, i])
