"""One step within a face of the limits, for the model of `shifted_model`.

With F the free coordinates, C the rows in hand, ``M_FF = RᵀR``, ``Y = R⁻ᵀC_Fᵀ`` and ``h = g + Mx`` after the steps x so far,
the next one is

    YᵀY λ = −YᵀR⁻ᵀh_F,    d_F = −R⁻¹(R⁻ᵀh_F + Yλ),                                                           (b)

as far as the first limit on the way. Near a solution the rows hold almost all of g. So h also contains their share as last
known, ``Σ price·C``, and λ is the rest.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.algebra.triangular import append, factor, solve_down, solve_up
from supple.kernels.algebra.vectors import norm, products
from supple.kernels.compiling import leaf, stage
from supple.kernels.layouts import COORDINATES, EQUALITIES, LINEAR_LIMITS
from supple.solvers.descent import open_walk
from supple.solvers.linear_limits import SIDEWAYS
from supple.solvers.newton.scratch import FREE, IN_HAND, INDEPENDENT, open_newton

NOTHING = 1e-13  # slack from which a row counts as met; part of a vector that is rounding


@leaf
def let_row_go(walk: Any, s: Any, r: int) -> None:
    """Row r is no longer in hand, nor its price in h."""
    for i in range(s.h.shape[0]):
        s.h[i] -= s.base[r] * walk.C[r, i]
    s.taken[r], s.base[r] = 0.0, 0.0


@leaf
def price_rows(walk: Any, s: Any, equalities: int) -> None:
    """λ of equation b, and ``v ← v + Yλ``. An inequality that depends on other rows in hand is let go."""
    free, kept, held = int(s.state[FREE]), 0, 0
    for k in range(int(s.state[IN_HAND])):
        r, corner, x = int(s.active[k]), 0.0, 0.0
        y = s.Y[kept]
        for l in range(free):
            y[l] = walk.C[r, int(s.order[l])]
        solve_down(s.R, free, y)
        for l in range(free):
            corner += y[l] * y[l]
            x -= y[l] * s.v[l]
        for e in range(kept):
            z = 0.0
            for l in range(free):
                z += s.Y[e, l] * y[l]
            s.w[e] = z
        if append(s.K, kept, s.w, corner):
            s.active[held] = s.active[kept]
            s.active[kept], s.lam[kept] = r, x
            kept, held = kept + 1, held + 1
        elif r < equalities:
            s.active[held], held = r, held + 1
        else:
            let_row_go(walk, s, r)
    for e in range(kept, held):
        s.lam[e] = 0.0
    solve_down(s.K, kept, s.lam)
    solve_up(s.K, kept, s.lam)
    for e in range(kept):
        for l in range(free):
            s.v[l] += s.lam[e] * s.Y[e, l]
    s.state[IN_HAND], s.state[INDEPENDENT] = held, kept


@leaf
def keep_to_rows(walk: Any, s: Any) -> None:
    """Take from d what rounding, or an ill-conditioned M, left of it across the rows in hand, and of earlier such errors."""
    kept, n = int(s.state[INDEPENDENT]), s.d.shape[0]
    for k in range(kept):
        r = int(s.active[k])
        for l in range(k, kept):
            other = int(s.active[l])
            z = 0.0
            for i in range(n):
                z += walk.C[r, i] * walk.C[other, i] if walk.at[i] == 0.0 else 0.0
            s.K[k, l] = z
        x = -walk.left[r]
        for i in range(n):
            x += walk.C[r, i] * s.d[i]
        s.w[k] = x
    if factor(s.K, kept) < kept:
        return
    solve_down(s.K, kept, s.w)
    solve_up(s.K, kept, s.w)
    for k in range(kept):
        for i in range(n):
            if walk.at[i] == 0.0:
                s.d[i] -= s.w[k] * walk.C[int(s.active[k]), i]


@leaf
def to_minimum(walk: Any, s: Any, equalities: int) -> None:
    """d, by equation b: from x to the minimum of the face."""
    free = int(s.state[FREE])
    for l in range(free):
        s.v[l] = s.h[int(s.order[l])]
    solve_down(s.R, free, s.v)
    before = norm(s.v, free)
    price_rows(walk, s, equalities)
    after = norm(s.v, free)
    solve_up(s.R, free, s.v)
    for i in range(s.d.shape[0]):
        s.d[i] = 0.0
    if after > NOTHING * before:  # else all is held by the rows
        for l in range(free):
            s.d[int(s.order[l])] = -s.v[l]
        keep_to_rows(walk, s)


@leaf
def first_limit_met(walk: Any, s: Any, q: Any, equalities: int) -> Any:
    """How far d goes, at most all the way, and the limit that ends it: a coordinate, n + a row, or −1. ``C d`` goes to w."""
    n = q.shape[0]
    length, tau, first = norm(s.d, n), 1.0, -1
    for i in range(n):
        x = s.d[i]
        if abs(x) > SIDEWAYS * length:
            end = walk.upper[i] if x > 0.0 else walk.lower[i]
            reach = max(0.0, ((end - q[i]) / walk.unit[i] - s.x[i]) / x)
            if reach < tau:
                tau, first = reach, i
    products(walk.C, s.d, s.w)
    for r in range(equalities, s.w.shape[0]):
        if s.taken[r] == 0.0 and s.w[r] > SIDEWAYS * length:
            reach = walk.left[r] / s.w[r] if walk.left[r] > NOTHING else 0.0
            if reach < tau:
                tau, first = reach, n + r
    return tau, first


@stage
def advance_in_face(I: Any, memory: Any, q: Any) -> Any:
    """Go to the minimum of the face or to the first limit on the way. Returns that limit (−1: none) and the change of m."""
    walk, s = open_walk(I, memory), open_newton(I, memory)
    n, change = I[COORDINATES], 0.0
    to_minimum(walk, s, I[EQUALITIES])
    tau, first = first_limit_met(walk, s, q, I[EQUALITIES])
    for i in range(n):
        s.v[i] = 0.0
        s.x[i] += tau * s.d[i]
        change += tau * s.h[i] * s.d[i]
    for i in range(n):
        x = s.d[i]
        if x != 0.0:
            for j in range(n):
                s.v[j] += x * s.M[i, j]
    for i in range(n):
        s.h[i] += tau * s.v[i]
        change += 0.5 * tau * tau * s.d[i] * s.v[i]
    for r in range(I[LINEAR_LIMITS]):
        walk.left[r] -= tau * s.w[r]
    return first, change
