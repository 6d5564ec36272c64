"""The nearest posture in a box with linear rows, by the dual active-set method of Goldfarb & Idnani (1983).

``½ Σ (q − q₀)²/d`` is made least under ``lower ≤ q ≤ upper`` and rows ``A q (=, ≤) b``. Some of the limits are *active*: rows W
with multipliers y, and the bounds of the coordinates that the box holds; F are the free ones. At all times q is the nearest
posture with the active limits met exactly: with ``x = q₀ − D A_Wᵀy``, a free coordinate has q = x, and a held one lies at its
bound with x beyond it, ``(x − q)/d`` being the bound's multiplier. The clip of q₀ is such a start. In each round the limit
that is overstepped most, of normal g, is pushed back by t > 0,

    L Lᵀ r = A_W D_F g,   v = g − A_Wᵀr,   y ← y − t r,   x ← x − t D v,                (L Lᵀ = A_W D_F A_Wᵀ)

until it is kept (``t = s/‖v‖²_F``, s the overstep) and becomes active, or the multiplier of an active inequality reaches 0:
that one is let go, and the push goes on. If g depends on the active normals, ``v_F = 0``, and no multiplier falls, the limits
contradict each other, and r is the proof. The distance from q₀ rises from round to round, so no active set comes twice.

No flags are kept for coordinates: one is free if q = x to the last bit, and has NaN for x if no row can move it, which
keeps the rounds cheap on figures where only a few coordinates are coupled.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.active_rows import (
    State,
    answer,
    backward,
    factor_rows,
    forward,
    normal,
    overstep,
    respond,
)
from supple.kernels.algebra.vectors import clip, copy
from supple.kernels.compiling import flat, leaf, shared, stage, table
from supple.kernels.tables import ACTIVE, ANSWER, MULTIPLIER, REMAINDER, ROWS, SLACK, WHITE, row_room

TIMES = 20  # rounds of a projection, for each limit and coordinate; one for each limit that becomes active is the rule
EXACT = 1e-13  # a limit counts as kept by a projection if it is overstepped by less than this part of what is summed
ROUNDING = 1e-20  # a push that mends less than this part of its force would do more harm by rounding than good
CONTRADICTION, HOPELESS = -1, -2  # in the place of the number of active rows
SURE = 1e-13  # a multiplier that falls by less than this part of the push does not fall


shared(row_room)


@stage
def first_to_fall(f: Any, equalities: int, count: int, p: int, sign: float) -> Any:
    """The push t at which the first multiplier is 0, and whose: an active row's place, m + a coordinate, or −1."""
    longest, whose, peak = math.inf, -1, 1.0
    for k in range(count):
        peak = max(peak, abs(f.r[k]))
    for k in range(count):
        if f.r[k] > SURE * peak and f.active[k] >= equalities:
            t = max(f.y[k], 0.0) / f.r[k]
            if t < longest:
                longest, whose = t, k
    for i in range(f.q.shape[0]):
        if f.q[i] != f.x[i] and not math.isnan(f.x[i]) and f.b.shape[0] + i != p:
            v = sign * normal(f, p, i) - answer(f, count, i)
            if (v > SURE * peak and f.q[i] == f.upper[i]) or (v < -SURE * peak and f.q[i] == f.lower[i]):
                t = max((f.x[i] - f.q[i]) / (f.ease[i] * v), 0.0)
                if t < longest:
                    longest, whose = t, f.b.shape[0] + i
    return longest, whose


@stage
def advance(f: Any, count: int, p: int, sign: float, t: float) -> int:
    """``y ← y − t r``, ``x ← x − t D v`` and q with it; the first row of L that is out of date, if that freed a coordinate."""
    first = count
    for k in range(count):
        f.y[k] -= t * f.r[k]
    for i in range(f.q.shape[0]):
        if math.isnan(f.x[i]):
            continue
        pull = answer(f, count, i)
        way = t * f.ease[i] * (sign * normal(f, p, i) - pull)
        if f.b.shape[0] + i == p:
            f.q[i] -= way
            f.x[i] += t * f.ease[i] * pull
        elif f.q[i] == f.x[i]:
            f.q[i] -= way
            f.x[i] = f.q[i]
        else:
            f.x[i] -= way
            first = 0 if f.x[i] == f.q[i] else first
    return first


@stage
def keep_active(f: Any, count: int, p: int) -> None:
    """Take out of the active rows what rounding has left in them."""
    for _ in range(3):
        worst = 0.0
        for k in range(count):
            r = int(f.active[k])
            f.r[k], f.h[k] = 0.0, overstep(f.A, f.b, r, f.q)
            worst = max(worst, abs(f.h[k]) / (1.0 + abs(f.b[r])))
        if worst <= EXACT:
            break
        forward(f, count)
        backward(f, count)
        factor_rows(f, advance(f, count, p, 0.0, -1.0), count, p - f.b.shape[0])


@leaf
def first_row_on(f: Any, count: int, i: int) -> int:
    """The place of the first active row with a coefficient of coordinate i."""
    k = 0
    while k < count and f.A[int(f.active[k]), i] == 0.0:
        k += 1
    return k


@leaf
def deactivate(f: Any, count: int, whose: int) -> Any:
    """Let a limit go: the number of active rows, and the first whose row of L is out of date."""
    m = f.b.shape[0]
    if whose >= m:
        f.x[whose - m] = f.q[whose - m]
        return count, first_row_on(f, count, whose - m)
    for k in range(whose, count - 1):
        f.active[k], f.y[k] = f.active[k + 1], f.y[k + 1]
    return count - 1, whose


@leaf
def total(r: Any, count: int) -> float:
    """``Σ |r|``: by how much what is left in the active rows may be multiplied in a proof."""
    s = 0.0
    for k in range(count):
        s += abs(r[k])
    return s


@leaf
def activate(f: Any, count: int, p: int, y: float, sign: float, square: float) -> None:
    """Make row p active, which `respond` has just answered."""
    f.active[count], f.y[count] = p, y
    for k in range(count):
        f.L[count, k] = sign * f.w[k]
    f.L[count, count] = math.sqrt(square)


@stage
def push_back(f: Any, equalities: int, count: int, p: int, sign: float) -> int:
    """Push q back to limit p, which becomes active: the number of active rows, or why that cannot be."""
    n, m, force = f.q.shape[0], f.b.shape[0], 0.0
    for _ in range(n + m + 1):
        i, limit = p - m, 0.0
        if i >= 0:
            limit = f.upper[i] if sign > 0.0 else f.lower[i]
        over = max(sign * (f.q[i] - limit if i >= 0 else overstep(f.A, f.b, p, f.q)), 0.0)
        square, size = respond(f, count, p, sign, i)
        full = over / square if square > 0.0 else math.inf
        longest, whose = first_to_fall(f, equalities, count, p, sign)
        t = min(full, longest)
        if over <= SLACK and ROUNDING * t * size > over:
            return HOPELESS
        if not t < math.inf:
            return CONTRADICTION if over > EXACT * (1.0 + total(f.r, count)) else HOPELESS
        first = advance(f, count, p, sign, t)
        force += t
        kept = full <= longest
        if not kept:
            count, out = deactivate(f, count, whose)
        elif i >= 0:
            f.q[i], out = limit, first_row_on(f, count, i)
        else:
            activate(f, count, p, sign * force, sign, square)
            count += 1
            out = count
        p = -1 if kept else p
        factor_rows(f, min(first, out), count, p - m)
        keep_active(f, count, p)
        if kept:
            return count
    return HOPELESS


@leaf
def is_active(f: Any, count: int, r: int) -> bool:
    """Whether row r is active."""
    k = 0
    while k < count and f.active[k] != r:
        k += 1
    return k < count


@leaf
def summed(A: Any, b: Any, r: int, q: Any) -> float:
    """What rounding of `overstep` is measured by: ``1 + |b_r| + Σ |a_ri q_i|``."""
    size = 1.0 + abs(b[r])
    for i in range(q.shape[0]):
        size += abs(A[r, i] * q[i])
    return size


@stage
def most_overstepped(f: Any, equalities: int, count: int) -> Any:
    """The limit that q oversteps most, or −1, and to which side."""
    worst, p, side = 0.0, -1, 1.0
    for r in range(f.b.shape[0]):
        over = overstep(f.A, f.b, r, f.q)
        if (over > EXACT or (over < -EXACT and r < equalities)) and not is_active(f, count, r):
            excess = abs(over) - EXACT * summed(f.A, f.b, r, f.q)
            if excess > worst:
                worst, p, side = excess, r, 1.0 if over > 0.0 else -1.0
    for i in range(f.q.shape[0]):
        excess = max(f.q[i] - f.upper[i], f.lower[i] - f.q[i])
        if excess > worst + EXACT * (1.0 + abs(f.q[i])):
            worst, p, side = excess, f.b.shape[0] + i, 1.0 if f.q[i] > f.upper[i] else -1.0
    return p, side


@leaf
def set_aside(f: Any) -> None:
    """NaN in the place of x for coordinates that no row moves: without a coefficient or ease, or whose bounds coincide."""
    for i in range(f.q.shape[0]):
        r = 0
        while r < f.b.shape[0] and f.A[r, i] == 0.0:
            r += 1
        if r == f.b.shape[0] or not f.ease[i] > 0.0 or not f.lower[i] < f.upper[i]:
            f.x[i] = math.nan


@leaf
def worst_row(equalities: int, A: Any, b: Any, q: Any) -> Any:
    """The most by which a row is overstepped, NaN if q is; and the largest b, at least 1."""
    worst, size = 0.0, 1.0
    for r in range(b.shape[0]):
        over = overstep(A, b, r, q)
        over = abs(over) if r < equalities else over
        worst = worst if over <= worst else over
        size = max(size, abs(b[r]))
    return worst, size


@stage
def project(q: Any, allowed: Any, ease: Any, rows: Any, origin: Any) -> float:
    """Nearest allowed posture, in place. Linear limits have unit length, equalities first.

    Returns the most by which a row is still overstepped: rounding, unless rows are so nearly parallel or opposite that nothing
    better can be found. Infinity if the limits contradict each other by more than `SLACK`.

    `ease` (size) is D, the inverse metric: distance is ``Σ dq²/ease``, and a coordinate of ease 0 does not move. `rows`
    (ROWS + m, m; infinity is returned if it is smaller) and `origin` (size) are scratch.
    """
    lower, upper, equalities, A, b = allowed.lower, allowed.upper, allowed.equalities, allowed.A, allowed.b
    n, m = q.shape[0], b.shape[0]
    copy(q, origin)
    clip(q, lower, upper)
    if flat(rows).shape[0] < row_room(m):
        return math.inf
    t = table(flat(rows), 0, ROWS + m, m)
    f = State(
        q, origin, lower, upper, A, b, ease, t[ACTIVE], t[MULTIPLIER], t[ANSWER], t[WHITE], t[REMAINDER], t[ROWS:]
    )
    count = p = min(m, 0)  # no literal, for which all would be compiled once more
    for turn in range(TIMES * (n + m)):
        p, side = most_overstepped(f, equalities, count)
        if p < 0:
            break
        if turn == 0:
            set_aside(f)
        count = push_back(f, equalities, count, p, side)
        if count < 0:
            break
    over = max(q[p - m] - upper[p - m], lower[p - m] - q[p - m]) if p >= m else 0.0
    clip(q, lower, upper)
    worst, size = worst_row(equalities, A, b, q)
    return worst if count != CONTRADICTION or max(worst, over) <= SLACK * size else math.inf
