"""A strictly convex quadratic programme by the dual active set method (Goldfarb & Idnani 1983), small and dense.

    minimise ½ pᵀMp + gᵀp    subject to  C p = c (the first rows),  C p ≥ c (the others),  lower ≤ p ≤ upper

It starts from the minimum without constraints and takes in one violated constraint after the other, equalities first, letting
go of those whose multiplier would change its sign; so it needs no feasible start. With ``M = RᵀR`` and ``y = R⁻ᵀn`` for a
normal n, what a step along a new constraint must leave alone are the y of those in hand; their Gram matrix is kept factored.
An equality that depends on others is passed over, and its multiplier is zero.

Constraints are numbered: the rows of C, then the n lower bounds, then the n upper ones.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from supple.kernels.algebra.triangular import append, remove, solve_down, solve_up
from supple.kernels.compiling import leaf, stage

DEPENDENT = 1e-11  # the part of ‖y‖² that is new in a constraint which counts as independent
MET = 1e-13  # a constraint missed by less is met


class Programme(NamedTuple):
    """The arrays of a programme and of its solution."""

    R: Any  # (n, n) upper factor of M
    g: Any  # (n)
    C: Any  # (rows, n)
    c: Any  # (rows)
    lower: Any  # (n)
    upper: Any  # (n)
    p: Any  # (n) the answer
    price: Any  # (rows + 2 n) multipliers: M p + g = Σ price · normal
    Y: Any  # (n, n) y of each constraint in hand
    G: Any  # (n, n) factor of their Gram matrix
    active: Any  # (n) their numbers
    sign: Any  # (n) −1 where an equality's normal is reversed
    u: Any  # (n) their multipliers, not negative but of equalities
    y: Any  # (n)
    r: Any  # (n)
    t: Any  # (n)
    skip: Any  # (rows + 2 n) passed over


def programme(n: int, rows: int) -> Programme:
    """An empty programme of that size."""

    def floats(*shape: int) -> np.ndarray:
        return np.zeros(shape)

    whole = rows + 2 * n
    return Programme(
        floats(n, n), floats(n), floats(rows, n), floats(rows), floats(n), floats(n), floats(n), floats(whole),
        floats(n, n), floats(n, n), np.zeros(n, dtype=np.int64), floats(n), floats(n), floats(n), floats(n), floats(n),
        floats(whole),
    )  # fmt: skip


@leaf
def excess(P: Any, rows: int, k: int) -> float:
    """By how much p meets constraint k, negative where it does not."""
    n = P.g.shape[0]
    if k >= rows + n:
        return P.upper[k - rows - n] - P.p[k - rows - n]
    if k >= rows:
        return P.p[k - rows] - P.lower[k - rows]
    s = -P.c[k]
    for i in range(n):
        s += P.C[k, i] * P.p[i]
    return s


@leaf
def load_normal(P: Any, rows: int, k: int, sign: float) -> None:
    """y ← R⁻ᵀ (sign · normal of constraint k)."""
    n = P.g.shape[0]
    for i in range(n):
        P.y[i] = sign * P.C[k, i] if k < rows else 0.0
    if k >= rows + n:
        P.y[k - rows - n] = -1.0
    elif k >= rows:
        P.y[k - rows] = 1.0
    solve_down(P.R, n, P.y)


@leaf
def let_go(P: Any, count: int, j: int) -> None:
    """Take the j-th constraint out of hand."""
    remove(P.G, count, j)
    for a in range(j, count - 1):
        P.active[a], P.sign[a], P.u[a] = P.active[a + 1], P.sign[a + 1], P.u[a + 1]
        for i in range(P.g.shape[0]):
            P.Y[a, i] = P.Y[a + 1, i]


@leaf
def overlaps(P: Any, count: int) -> None:
    """r ← Yᵀy: how far the new constraint and those in hand go the same way."""
    for a in range(count):
        s = 0.0
        for i in range(P.g.shape[0]):
            s += P.Y[a, i] * P.y[i]
        P.r[a] = s


@leaf
def split(P: Any, count: int) -> Any:
    """r: the answer of those in hand; t: what is left of y across them. Returns ``‖y‖²`` and ``‖t‖²``."""
    n, square, new = P.g.shape[0], 0.0, 0.0
    overlaps(P, count)
    solve_down(P.G, count, P.r)
    solve_up(P.G, count, P.r)
    for i in range(n):
        P.t[i] = P.y[i]
        square += P.y[i] * P.y[i]
    for a in range(count):
        for i in range(n):
            P.t[i] -= P.r[a] * P.Y[a, i]
    for i in range(n):
        new += P.t[i] * P.t[i]
    return square, new


@leaf
def first_price_to_vanish(P: Any, count: int, equalities: int) -> Any:
    """The step at which the first multiplier in hand is 0, and whose; infinity and −1 if none falls."""
    part, gone = math.inf, -1
    for a in range(count):
        if P.active[a] >= equalities and P.r[a] > 0.0 and P.u[a] < part * P.r[a]:
            part, gone = P.u[a] / P.r[a], a
    return part, gone


@stage
def take_in(P: Any, rows: int, equalities: int, k: int, count: int) -> int:
    """Move p onto constraint k; returns how many are in hand then. One that cannot be met with the others is skipped."""
    n, miss, own = P.g.shape[0], excess(P, rows, k), 0.0
    sign = -1.0 if k < equalities and miss > 0.0 else 1.0
    load_normal(P, rows, k, sign)
    while True:
        square, new = split(P, count)
        miss = sign * excess(P, rows, k)
        full = max(-miss, 0.0) / new if new > DEPENDENT * square and count < n else math.inf
        part, gone = first_price_to_vanish(P, count, equalities)
        step = min(part, full)
        if step == math.inf:
            P.skip[k] = 1.0
            return count
        if full < math.inf:
            solve_up(P.R, n, P.t)
            for i in range(n):
                P.p[i] += step * P.t[i]
        for a in range(count):
            P.u[a] -= step * P.r[a]
        own += step
        if full <= part:
            overlaps(P, count)
            if not append(P.G, count, P.r, square):
                P.skip[k] = 1.0
                return count
            for i in range(n):
                P.Y[count, i] = P.y[i]
            P.active[count], P.sign[count], P.u[count] = k, sign, own
            return count + 1
        let_go(P, count, gone)
        count -= 1


@stage
def minimise(P: Any, rows: int, equalities: int, bounded: int) -> None:
    """Solve the programme whose first `rows` rows count, `equalities` of them equalities; R is given, p and price are found."""
    n, count = P.g.shape[0], 0
    for i in range(n):
        P.p[i] = -P.g[i]
    solve_down(P.R, n, P.p)
    solve_up(P.R, n, P.p)
    last = rows + 2 * n if bounded != 0 else rows
    for k in range(rows + 2 * n):
        P.price[k] = P.skip[k] = 0.0
    for k in range(equalities):
        count = take_in(P, rows, equalities, k, count)
    for _ in range(10 * (rows + n)):
        worst, least = -1, -MET
        for k in range(equalities, last):
            s = excess(P, rows, k)
            if s < least and P.skip[k] == 0.0:
                worst, least = k, s
        if worst < 0:
            break
        count = take_in(P, rows, equalities, worst, count)
    for a in range(count):
        P.price[P.active[a]] = P.sign[a] * P.u[a]
