"""Where attempts begin, and how their answers are unwound (the reasons are in `search`)."""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf
from supple.kernels.layouts import FREE_ROOT
from supple.solvers.levenberg_marquardt.room import LOWER, OFFSET, PACE, PERIOD, REACH, STRIDE, UPPER

INNER = 0.6  # share of the limits in which three starts out of four lie
OFF = 0.1  # how far off its limits a start is taken: of its range, and no more radians or metres than this


@leaf
def copy_posture(source: Any, to: Any) -> None:
    """Copy a posture."""
    for i in range(to.shape[0]):
        to[i] = source[i]


@leaf
def next_start(box: Any, start: Any, allowed: Any, k: int, part: float, q: Any) -> None:
    """Point k of the sequence: within reach of the start where limits are further away, else mostly in their inner part.

    Only `part` of the way from the start to that point is gone.
    """
    share = 1.0 if k % 4 == 0 else INNER
    for i in range(q.shape[0]):
        reach, low, high = box[REACH, i], allowed.lower[i], allowed.upper[i]
        if reach < math.inf:
            low = max(low, min(start[i] - reach, high - 2.0 * reach))
            high = min(high, low + 2.0 * reach)
        u = box[OFFSET, i] + k * box[STRIDE, i]
        u -= math.floor(u)
        x = low + (u if reach < math.inf else 0.5 + share * (u - 0.5)) * (high - low)
        q[i] = start[i] + part * (x - start[i])


@leaf
def step_off(box: Any, start: Any, allowed: Any, D: Any, q: Any) -> bool:
    """The start, a little inside the limits that it stands at; whether it stands at any that matter to the goals."""
    moved = False
    for i in range(q.shape[0]):
        q[i] = start[i]
        low, high = allowed.lower[i], allowed.upper[i]
        room = OFF * min(high - low, 1.0)
        if D[i] > 0.0 and box[REACH, i] > 0.0 and (start[i] < low + 0.1 * room or start[i] > high - 0.1 * room):
            q[i], moved = min(max(start[i], low + room), high - room), True
    return moved


@leaf
def next_attempt(I: Any, box: Any, allowed: Any, tries: int, together: bool, room: Any, q: Any) -> None:
    """Where an attempt after the first begins: as it was told (not aligned, or off its limits), then along the sequence."""
    again = tries == 1 and step_off(box, room.start, allowed, room.D, q)
    if not again and (tries > 1 or (I[FREE_ROOT] == 0 and together)):
        part = 1.0 if I[FREE_ROOT] == 0 or tries > 3 else 0.3 * (tries - 1)
        next_start(box, room.start, allowed, tries, part, q)


@leaf
def unwind(box: Any, start: Any, allowed: Any, q: Any) -> None:
    """Take whole turns off coordinates, so that they are as near to the start as the limits allow."""
    for i in range(q.shape[0]):
        period = box[PERIOD, i]
        if period > 0.0 and abs(q[i] - start[i]) > 0.5 * period:
            x = q[i] - period * math.floor((q[i] - start[i]) / period + 0.5)
            if x > allowed.upper[i]:
                x -= period * math.ceil((x - allowed.upper[i]) / period)
            elif x < allowed.lower[i]:
                x += period * math.ceil((allowed.lower[i] - x) / period)
            if x >= allowed.lower[i] and x <= allowed.upper[i]:
                q[i] = x


@leaf
def pace(box: Any, allowed: Any, q: Any) -> None:
    """Limits that the pace allows from q on, inside the figure's own."""
    for i in range(q.shape[0]):
        allowed.lower[i] = max(box[LOWER, i], q[i] - box[PACE, i])
        allowed.upper[i] = min(box[UPPER, i], q[i] + box[PACE, i])
