"""The step that minimises a shifted quadratic model within linear limits, by a primal active set.

    m(p) = gᵀp + ½ pᵀMp,    M = B + μ D⁻¹,    lower ≤ q + p ≤ upper,    A (q + p) (=, ≤) b                   (a)

Minimise on the face where the coordinates in hand stand at their limits and the rows in hand are active; stop at the first
limit on the way and take it in hand; at the face's minimum let go of the limit that pulls most the wrong way. With F the free
coordinates, C the rows in hand, ``M_FF = RᵀR``, ``Y = R⁻ᵀC_Fᵀ`` and ``h = g + Mx`` after the steps x so far, the next one is

    YᵀY λ = −YᵀR⁻ᵀh_F,    d_F = −R⁻¹(R⁻ᵀh_F + Yλ).                                                           (b)

Only along the rows in hand need M be positive definite. So ``M = B + μ + κ CᵀC`` for the rows that the search begins with: this
changes nothing as long as they stay, and makes it so across them, too.

Near a solution the rows hold almost all of g. So h also contains their share as last known, ``Σ price·C``, and λ is the rest.

R is computed once for each μ and follows every change of F in O(n²) operations. All in units of φ, where D is the identity.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from supple.kernels.algebra.triangular import append, factor, remove, solve_down, solve_up
from supple.kernels.compiling import leaf, stage
from supple.kernels.layouts import COORDINATES, EQUALITIES, LINEAR_LIMITS
from supple.solvers.linear_limits import LOCKED, SIDEWAYS, TOUCHING
from supple.solvers.newton.scratch import norm, read_sheet, step_to

STILL = 8  # turns on the spot
STIFF = 10.0  # how much stiffer than B the model is across rows
NOTHING = 1e-13  # slack from which a row counts as met; part of a vector that is rounding


@stage
def remainder(I: Any, room: Any, q: Any) -> None:
    """‖r‖_∞ and ‖r‖ into the tally; and the face to begin with: coordinates whose limits hold them, rows with a price."""
    sheet = read_sheet(I, room)
    n, m, count = I[COORDINATES], I[LINEAR_LIMITS], 0
    for i in range(n):
        sheet.rest[i] = sheet.g[i]
    for r in range(m):
        sheet.taken[r], sheet.base[r] = 0.0, 0.0
        if r < I[EQUALITIES] or (sheet.price[r] > 0.0 and sheet.slack[r] <= TOUCHING):
            sheet.taken[r], sheet.base[r], sheet.active[count] = 1.0, sheet.price[r], r
            count += 1
            for i in range(n):
                sheet.rest[i] += sheet.price[r] * sheet.C[r, i]
    sheet.tally[1] = count
    largest, square, count = 0.0, 0.0, 0
    for i in range(n):
        x, side = sheet.rest[i], 0.0
        if sheet.unit[i] == 0.0:
            side = LOCKED
        elif q[i] == sheet.lower[i] and x >= 0.0:
            side = -1.0
        elif q[i] == sheet.upper[i] and x <= 0.0:
            side = 1.0
        else:
            largest = max(largest, abs(x))
            square += x * x
            sheet.order[count] = i
            count += 1
        sheet.at[i] = side
    sheet.tally[0] = count
    sheet.tally[2], sheet.tally[3] = largest, math.sqrt(square)


@leaf
def gather(sheet: Any, mu: float) -> int:
    """M, and R from its free part; returns the number of R's good pivots."""
    n, count, size = sheet.g.shape[0], int(sheet.tally[0]), 0.0
    for i in range(n):
        for j in range(n):
            sheet.M[i, j] = sheet.B[i, j]
        sheet.M[i, i] += mu
        size = max(size, abs(sheet.M[i, i]))
    for k in range(int(sheet.tally[1])):
        r = int(sheet.active[k])
        for i in range(n):
            x = STIFF * size * sheet.C[r, i]
            if x != 0.0:
                for j in range(n):
                    sheet.M[i, j] += x * sheet.C[r, j]
    for k in range(count):
        i = int(sheet.order[k])
        for l in range(k, count):
            sheet.R[k, l] = sheet.M[i, int(sheet.order[l])]
    return factor(sheet.R, count)


@leaf
def let_go(sheet: Any, r: int) -> None:
    """Row r is no longer in hand, nor its price in h."""
    for i in range(sheet.h.shape[0]):
        sheet.h[i] -= sheet.base[r] * sheet.C[r, i]
    sheet.taken[r], sheet.base[r] = 0.0, 0.0


@leaf
def price_rows(sheet: Any, equalities: int) -> None:
    """λ of equation b, and ``v ← v + Yλ``. An inequality that depends on other rows in hand is let go."""
    count, rows, kept, held = int(sheet.tally[0]), int(sheet.tally[1]), 0, 0
    for k in range(rows):
        r, corner, x = int(sheet.active[k]), 0.0, 0.0
        y = sheet.Y[kept]
        for l in range(count):
            y[l] = sheet.C[r, int(sheet.order[l])]
        solve_down(sheet.R, count, y)
        for l in range(count):
            corner += y[l] * y[l]
            x -= y[l] * sheet.v[l]
        for e in range(kept):
            z = 0.0
            for l in range(count):
                z += sheet.Y[e, l] * y[l]
            sheet.w[e] = z
        if append(sheet.K, kept, sheet.w, corner):
            sheet.active[held] = sheet.active[kept]
            sheet.active[kept], sheet.lam[kept] = r, x
            kept, held = kept + 1, held + 1
        elif r < equalities:
            sheet.active[held], held = r, held + 1
        else:
            let_go(sheet, r)
    for e in range(kept, held):
        sheet.lam[e] = 0.0
    solve_down(sheet.K, kept, sheet.lam)
    solve_up(sheet.K, kept, sheet.lam)
    for e in range(kept):
        for l in range(count):
            sheet.v[l] += sheet.lam[e] * sheet.Y[e, l]
    sheet.tally[1], sheet.tally[4] = held, kept


@leaf
def straighten(sheet: Any) -> None:
    """Take from d what rounding, or an ill-conditioned M, left of it across the rows in hand, and of earlier such errors."""
    kept, n = int(sheet.tally[4]), sheet.d.shape[0]
    for k in range(kept):
        r = int(sheet.active[k])
        for l in range(k, kept):
            s = int(sheet.active[l])
            z = 0.0
            for i in range(n):
                z += sheet.C[r, i] * sheet.C[s, i] if sheet.at[i] == 0.0 else 0.0
            sheet.K[k, l] = z
        x = -sheet.left[r]
        for i in range(n):
            x += sheet.C[r, i] * sheet.d[i]
        sheet.w[k] = x
    if factor(sheet.K, kept) < kept:
        return
    solve_down(sheet.K, kept, sheet.w)
    solve_up(sheet.K, kept, sheet.w)
    for k in range(kept):
        for i in range(n):
            if sheet.at[i] == 0.0:
                sheet.d[i] -= sheet.w[k] * sheet.C[int(sheet.active[k]), i]


@stage
def advance(I: Any, room: Any, q: Any) -> Any:
    """Go to the minimum of the face or to the first limit on the way. Returns that limit (−1: none) and the change of m."""
    sheet = read_sheet(I, room)
    n, m, count = I[COORDINATES], I[LINEAR_LIMITS], int(sheet.tally[0])
    for l in range(count):
        sheet.v[l] = sheet.h[int(sheet.order[l])]
    solve_down(sheet.R, count, sheet.v)
    before, after = norm(sheet.v, count), 0.0
    price_rows(sheet, I[EQUALITIES])
    after = norm(sheet.v, count)
    solve_up(sheet.R, count, sheet.v)
    for i in range(n):
        sheet.d[i] = 0.0
    if after > NOTHING * before:  # else all is held by the rows
        for l in range(count):
            sheet.d[int(sheet.order[l])] = -sheet.v[l]
        straighten(sheet)
    length, tau, first = norm(sheet.d, n), 1.0, -1
    for i in range(n):
        x = sheet.d[i]
        if abs(x) > SIDEWAYS * length:
            end = sheet.upper[i] if x > 0.0 else sheet.lower[i]
            reach = max(0.0, ((end - q[i]) / sheet.unit[i] - sheet.x[i]) / x)
            if reach < tau:
                tau, first = reach, i
    for r in range(m):
        towards = 0.0
        for i in range(n):
            towards += sheet.C[r, i] * sheet.d[i]
        sheet.w[r] = towards
        if sheet.taken[r] == 0.0 and r >= I[EQUALITIES] and towards > SIDEWAYS * length:
            reach = sheet.left[r] / towards if sheet.left[r] > NOTHING else 0.0
            if reach < tau:
                tau, first = reach, n + r
    change = 0.0
    for i in range(n):
        sheet.v[i] = 0.0
        sheet.x[i] += tau * sheet.d[i]
        change += tau * sheet.h[i] * sheet.d[i]
    for i in range(n):
        x = sheet.d[i]
        if x != 0.0:
            for j in range(n):
                sheet.v[j] += x * sheet.M[i, j]
    for i in range(n):
        sheet.h[i] += tau * sheet.v[i]
        change += 0.5 * tau * tau * sheet.d[i] * sheet.v[i]
    for r in range(m):
        sheet.left[r] -= tau * sheet.w[r]
    return first, change


@stage
def take(I: Any, room: Any, first: int) -> None:
    """Take the limit of coordinate `first` < n that d runs into, or row `first` − n, in hand."""
    sheet = read_sheet(I, room)
    n, count, rows = I[COORDINATES], int(sheet.tally[0]), int(sheet.tally[1])
    if first >= n:
        sheet.active[rows], sheet.lam[rows], sheet.taken[first - n] = first - n, 0.0, 1.0
        sheet.tally[1] = rows + 1.0
        return
    sheet.at[first] = 1.0 if sheet.d[first] > 0.0 else -1.0
    place = 0
    while int(sheet.order[place]) != first:
        place += 1
    remove(sheet.R, count, place)
    for k in range(place, count - 1):
        sheet.order[k] = sheet.order[k + 1]
    sheet.tally[0] = count - 1.0


@stage
def release(I: Any, room: Any, least: float, still: int) -> int:
    """At the minimum of a face, let go of the limit that pulls most the wrong way: 1; 0 if none does; −1 if M is indefinite.

    After `STILL` turns on the spot it is the first such limit, not the worst: then no choice can come round again.
    """
    sheet = read_sheet(I, room)
    n, count, rows, worst, most = I[COORDINATES], int(sheet.tally[0]), int(sheet.tally[1]), -1, least
    for i in range(n):
        if abs(sheet.at[i]) == 1.0:
            pull = sheet.h[i]
            for k in range(rows):
                pull += sheet.lam[k] * sheet.C[int(sheet.active[k]), i]
            if pull * sheet.at[i] > most and (worst < 0 or still <= STILL):
                worst, most = i, pull * sheet.at[i]
    for k in range(rows):
        pull = -sheet.base[int(sheet.active[k])] - sheet.lam[k]
        if still <= STILL:
            better = pull > most
        else:
            better = pull > least and (worst < 0 or (worst >= n and sheet.active[k] < sheet.active[worst - n]))
        if better and sheet.active[k] >= I[EQUALITIES]:
            worst, most = n + k, pull
    if worst < 0:
        return 0
    if worst >= n:
        let_go(sheet, int(sheet.active[worst - n]))
        for k in range(worst - n, rows - 1):
            sheet.active[k], sheet.lam[k] = sheet.active[k + 1], sheet.lam[k + 1]
        sheet.tally[1] = rows - 1.0
        return 1
    for k in range(count):
        sheet.v[k] = sheet.M[worst, int(sheet.order[k])]
    if not append(sheet.R, count, sheet.v, sheet.M[worst, worst]):
        return -1
    sheet.at[worst], sheet.order[count], sheet.tally[0] = 0.0, worst, count + 1.0
    return 1


@stage
def minimise(I: Any, room: Any, q: Any, mu: float) -> float:
    """The trial ``q + p`` with the p of (a), and m(p); NaN if M is not positive definite on a face that was visited."""
    sheet = read_sheet(I, room)
    remainder(I, room, q)
    least = 1e-8 * sheet.tally[3]
    for i in range(I[COORDINATES]):
        sheet.x[i], sheet.h[i] = 0.0, sheet.rest[i]
        least = max(least, 1e-15 * abs(sheet.g[i]))
    for r in range(I[LINEAR_LIMITS]):
        sheet.left[r] = sheet.slack[r]
    if gather(sheet, mu) < int(sheet.tally[0]):
        return np.nan
    value, still = 0.0, 0
    for _ in range(10 * (I[COORDINATES] + I[LINEAR_LIMITS]) + 50):
        first, change = advance(I, room, q)
        value += change
        still = still + 1 if change == 0.0 else 0
        if first >= 0:
            take(I, room, first)
        else:
            more = release(I, room, least, still)
            if more == 0:
                break
            if more < 0:
                return np.nan
    step_to(sheet, q, 1.0)
    return value
