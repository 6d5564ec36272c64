"""Which postures are on a curve that is known: those of slices that it passes, and any other."""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf, stage
from supple.solvers.self_motions.rows_of_curves import LENGTH, ONTO, OWNER, POINT, SEVEN, TANGENT, TRIAL
from supple.solvers.self_motions.staying import held_at, newton_across
from supple.solvers.self_motions.tracing import SAME_POINT, SETTLED, TWO_PI, between, short_turn, slope_between

SURELY, FARTHER, NEARBY = 1e-3, 20.0, 0.1  # [rad] off a curve: sure if others are so much farther; looked at closely


@leaf
def two_nearest(seeds: Any, first: int, last: int, p: Any) -> tuple[int, float, float]:
    """Of some seeds the nearest to a posture, how far it is, and how far the next."""
    at, best, next_ = -1, math.inf, math.inf
    for k in range(first, last):
        far = 0.0
        for j in range(SEVEN):
            far = max(far, abs(short_turn(seeds[k, j] - p[j])))
        if far < best:
            at, best, next_ = k, far, best
        elif far < next_:
            next_ = far
    return at, best, next_


@stage
def passed_seed(arm: Any, target: Any, held: int, seeds: Any, slices: Any, p: Any, k: int, scratch: Any) -> int:
    """The seed of slice k at which a curve passes, near p; −1 if there is none."""
    seed, off, next_ = two_nearest(seeds, slices[k], slices[k + 1], p)
    if seed < 0 or not off < NEARBY:
        return -1
    if off < SURELY and next_ > FARTHER * off:
        return seed
    x = p[held] + short_turn(seeds[seed, held] - p[held])
    if not held_at(arm, p, target, held, x, scratch):
        return -1
    seed, off, next_ = two_nearest(seeds, slices[k], slices[k + 1], p)
    return seed if off < SAME_POINT else -1


@leaf
def turning_point(a: Any, b: Any, j: int) -> float:
    """Where a coordinate turns between two vertices, in parts of the way; 1 if it does not."""
    low, high, rising = 0.0, 1.0, slope_between(a, b, 0.0, j) > 0.0
    if rising == (slope_between(a, b, 1.0, j) > 0.0):
        return 1.0
    for _ in range(30):
        s = 0.5 * (low + high)
        if (slope_between(a, b, s, j) > 0.0) == rising:
            low = s
        else:
            high = s
    return low


@leaf
def reaching(a: Any, b: Any, j: int, x: float, ends: tuple[float, float]) -> float:
    """Where a coordinate is x between two parts of the way, between which it rises or falls."""
    low, high = ends
    rising = between(a, b, high, j) > between(a, b, low, j)
    for _ in range(30):
        s = 0.5 * (low + high)
        if (between(a, b, s, j) < x) == rising:
            low = s
        else:
            high = s
    return 0.5 * (low + high)


@stage
def owned(arm: Any, target: Any, held: int, seeds: Any, slices: Any, vertices: Any, ends: Any, scratch: Any) -> bool:
    """Mark the seeds that the curve `ends[2]`, vertices `ends[0]` to `ends[1]`, passes; whether another has one of them."""
    count, p, another = slices.shape[0] - 2, scratch[POINT], False
    width = TWO_PI / count
    for i in range(ends[0], ends[1] - 1):
        a, b = vertices[i], vertices[i + 1]
        turn, from_ = turning_point(a, b, held), 0.0
        while from_ < 1.0:
            to = turn if from_ < turn else 1.0
            x, y = between(a, b, from_, held) / width, between(a, b, to, held) / width
            for k in range(math.ceil(min(x, y)), math.floor(max(x, y)) + 1):
                s = reaching(a, b, held, k * width, (from_, to))
                for j in range(SEVEN):
                    p[j] = between(a, b, s, j)
                seed = passed_seed(arm, target, held, seeds, slices, p, k % count, scratch)
                if seed >= 0:
                    another = another or (seeds[seed, OWNER] >= 0.0 and seeds[seed, OWNER] != ends[2])
                    seeds[seed, OWNER] = ends[2] if seeds[seed, OWNER] < 0.0 else seeds[seed, OWNER]
            from_ = to
    return another


@stage
def lies_on(arm: Any, target: Any, vertices: Any, end: int, row: Any, scratch: Any) -> bool:
    """Whether the posture of a vertex is on one of the curves whose vertices come before `end`."""
    p = scratch[TRIAL]
    for i in range(end):
        a = vertices[i]
        along, far = 0.0, 0.0
        for j in range(SEVEN):
            x = short_turn(row[j] - a[j])
            along += x * a[TANGENT + j]
            far += x * x
        if a[LENGTH] == 0.0 or along < -0.2 * a[LENGTH] or along > 1.2 * a[LENGTH] or far > 2.0 * a[LENGTH] * a[LENGTH]:
            continue
        s, off = min(max(along / a[LENGTH], 0.0), 1.0), 0.0
        for j in range(SEVEN):
            p[j] = between(a, vertices[i + 1], s, j)
            scratch[ONTO, j] = row[TANGENT + j]
            off = max(off, abs(short_turn(row[j] - p[j])))
        if off > NEARBY:
            continue
        for _ in range(6):
            more = 0.0
            for j in range(SEVEN):
                more += scratch[ONTO, j] * short_turn(row[j] - p[j])
            if not SETTLED <= newton_across(arm, p, target, more, scratch) < math.inf:
                break
        off = 0.0
        for j in range(SEVEN):
            off = max(off, abs(short_turn(row[j] - p[j])))
        if off < SAME_POINT:
            return True
    return False
