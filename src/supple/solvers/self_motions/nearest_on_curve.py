"""Where a curve comes nearest to a posture inside limits, and where it passes the limits.

How far the nearest winding of a posture is changes no faster than the length along the curve. So a part of it of length w whose
ends are f and g away has nothing nearer than ``(f + g − w)/2``: parts are halved until that is no nearer than what was found,
or w is `FINEST`. The nearest legal point found goes downhill along the curve from there, as far as the limits let it.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import entry, leaf, stage
from supple.solvers.closed_forms.closed_form import wound
from supple.solvers.self_motions.on_curves import reaching, turning_point
from supple.solvers.self_motions.rows_of_curves import (
    DIRECTION,
    LENGTH,
    ONTO,
    POINT,
    SEVEN,
    STACK,
    STACK_ROWS,
    TRIAL,
)
from supple.solvers.self_motions.staying import first_direction, held_at, newton_across, size_of
from supple.solvers.self_motions.tracing import TWO_PI, between, short_turn

FINEST = 2e-3  # [rad] the shortest part
LOOSELY = 1.01  # by which a part may be longer than was computed
DOWNHILL = 40
LEGAL = 1e-12  # [rad] by which rounding may leave the limits
LOWER, UPPER, START, COUNTED = range(4)  # rows of the ranges; the last is 1 where a coordinate counts, else 0
SEGMENT, PART, COORDINATE, BOUND = range(4)  # of an event


@leaf
def how_far(p: Any, ranges: Any) -> tuple[float, float]:
    """How far a posture is from the start, without limits and within them: there infinitely, if no winding is inside."""
    free, legal = 0.0, 0.0
    for j in range(SEVEN):
        x = short_turn(p[j] - ranges[START, j])
        y = wound(p[j], ranges[LOWER, j], ranges[UPPER, j], ranges[START, j]) - ranges[START, j]
        free += ranges[COUNTED, j] * x * x
        legal += ranges[COUNTED, j] * y * y
    return math.sqrt(free), math.sqrt(legal) if legal < math.inf else math.inf


@leaf
def point_between(a: Any, b: Any, s: float, p: Any) -> None:
    """The point at a part of the way from one vertex to the next."""
    for j in range(SEVEN):
        p[j] = between(a, b, s, j)


@stage
def nearest_between(a: Any, b: Any, ranges: Any, best: float, q: Any, scratch: Any) -> float:
    """The least distance between two vertices if it is less than `best`, which is given else; where, into q."""
    p, stack, n = scratch[POINT], scratch[STACK : STACK + STACK_ROWS], 1
    stack[0, 0], stack[0, 1] = 0.0, 1.0
    stack[0, 2], _ = how_far(a, ranges)
    stack[0, 3], _ = how_far(b, ranges)
    while n > 0:
        n -= 1
        s, w, f, g = stack[n, 0], stack[n, 1], stack[n, 2], stack[n, 3]
        if 0.5 * (f + g - LOOSELY * w * a[LENGTH]) >= best:
            continue
        point_between(a, b, s + 0.5 * w, p)
        free, legal = how_far(p, ranges)
        if legal < best:
            best = legal
            for j in range(SEVEN):
                q[j] = p[j]
        if w * a[LENGTH] > FINEST and n + 2 <= STACK_ROWS:
            stack[n, 0], stack[n, 1], stack[n, 2], stack[n, 3] = s, 0.5 * w, f, free
            stack[n + 1, 0], stack[n + 1, 1], stack[n + 1, 2], stack[n + 1, 3] = s + 0.5 * w, 0.5 * w, free, g
            n += 2
    return best


@leaf
def wind(q: Any, ranges: Any) -> None:
    """A posture as near to the start as whole turns inside the limits bring it."""
    for j in range(SEVEN):
        q[j] = wound(q[j], ranges[LOWER, j], ranges[UPPER, j], ranges[START, j])


@leaf
def outside(q: Any, ranges: Any) -> int:
    """The coordinate that is farthest outside its limits; −1 if none is."""
    at, most = -1, LEGAL
    for j in range(SEVEN):
        off = max(ranges[LOWER, j] - q[j], q[j] - ranges[UPPER, j])
        if off > most:
            at, most = j, off
    return at


@stage
def downhill(arm: Any, target: Any, ranges: Any, q: Any, scratch: Any) -> float:
    """From a posture near the curve onto it, and along it to where it comes nearest, or to a limit; how far that is."""
    p, h, last = scratch[TRIAL], 0.05, math.inf
    for j in range(SEVEN):
        p[j] = q[j]
    if first_direction(arm, p, target, scratch[ONTO], scratch) == 0.0:
        return math.inf
    move = 0.0
    for i in range(DOWNHILL):
        size = math.inf
        for _ in range(6):
            size = newton_across(arm, p, target, move, scratch)
            move = 0.0
            if not 1e-10 < size < math.inf:
                break
        k = outside(p, ranges)
        if k >= 0:
            x = ranges[LOWER, k] if p[k] < ranges[LOWER, k] else ranges[UPPER, k]
            size = 0.0 if held_at(arm, p, target, k, x, scratch) and outside(p, ranges) < 0 else math.inf
        far = 0.0
        for j in range(SEVEN):
            far += ranges[COUNTED, j] * (p[j] - ranges[START, j]) * (p[j] - ranges[START, j])
        if size < 1e-9 and (i == 0 or far < last):
            last = far
            for j in range(SEVEN):
                q[j] = p[j]
        else:
            h *= 0.25
        if h < 1e-9 or last == math.inf:
            break
        length = size_of(scratch[DIRECTION])
        for j in range(SEVEN):
            p[j] = q[j]
            scratch[ONTO, j] = scratch[DIRECTION, j] / length
        for j in range(SEVEN):
            move += ranges[COUNTED, j] * scratch[ONTO, j] * (ranges[START, j] - q[j])
        move = min(max(move, -h), h)
        if abs(move) < 1e-9:
            break
    return math.sqrt(last)


@entry
def nearest_on_curve(arm: Any, target: Any, vertices: Any, ranges: Any, best: float, q: Any, scratch: Any) -> float:
    """The posture of curves inside limits that is nearest to the start, into q, if it is nearer than `best`; how far it is.

    The curves stand one behind the other: from the last vertex of each no length goes on.
    """
    begun = best
    for i in range(vertices.shape[0]):
        _, legal = how_far(vertices[i], ranges)
        if legal < best:
            best = legal
            for j in range(SEVEN):
                q[j] = vertices[i, j]
    for i in range(vertices.shape[0] - 1):
        if vertices[i, LENGTH] > 0.0:
            best = nearest_between(vertices[i], vertices[i + 1], ranges, best, q, scratch)
    if not best < begun:
        return begun
    wind(q, ranges)
    found = downhill(arm, target, ranges, q, scratch)
    return found if found <= best else math.inf if not found < math.inf else found


@entry
def limit_events(vertices: Any, ranges: Any, events: Any) -> int:
    """Where a curve passes limits, whole turns not counted, into rows of `events`; how many, −1 if there is no room."""
    n = 0
    for i in range(vertices.shape[0] - 1):
        a, b = vertices[i], vertices[i + 1]
        for j in range(SEVEN):
            turn, from_ = turning_point(a, b, j), 0.0
            while from_ < 1.0:
                to = turn if from_ < turn else 1.0
                x, y = between(a, b, from_, j), between(a, b, to, j)
                for side in range(2):
                    bound = ranges[side, j]
                    if not math.isfinite(bound):
                        continue
                    first = math.ceil((min(x, y) - bound) / TWO_PI)
                    for k in range(first, math.floor((max(x, y) - bound) / TWO_PI) + 1):
                        if n == events.shape[0]:
                            return -1
                        at = bound + TWO_PI * k
                        events[n, SEGMENT], events[n, PART] = i, reaching(a, b, j, at, (from_, to))
                        events[n, COORDINATE], events[n, BOUND] = j, at
                        n += 1
                from_ = to
    return n
