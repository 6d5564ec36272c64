"""The step that minimises a shifted quadratic model within linear limits, by a primal active set.

    m(p) = gᵀp + ½ pᵀMp,    M = B + μ D⁻¹,    lower ≤ q + p ≤ upper,    A (q + p) (=, ≤) b                   (a)

Minimise on the face where the coordinates in hand stand at their limits and the rows in hand are active; stop at the first
limit on the way and take it in hand (see `face_step`); at the face's minimum let go of the limit that pulls most the wrong way.

Only along the rows in hand need M be positive definite. So ``M = B + μ + κ CᵀC`` for the rows that the search begins with: this
changes nothing as long as they stay, and makes it so across them, too.

``M_FF = RᵀR`` on the free coordinates F is factored once for each μ, and R follows every change of F in O(n²) operations. All
in units of φ, where D is the identity.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from supple.kernels.algebra.triangular import append, factor, remove
from supple.kernels.algebra.vectors import copy
from supple.kernels.compiling import leaf, stage
from supple.kernels.layouts import COORDINATES, EQUALITIES, LINEAR_LIMITS
from supple.solvers.descent import open_walk, step_along
from supple.solvers.linear_limits import LOCKED, TOUCHING
from supple.solvers.newton.face_step import advance_in_face, let_row_go
from supple.solvers.newton.scratch import FREE, IN_HAND, LARGEST, LENGTH, open_newton

STILL = 8  # turns on the spot
STIFF = 10.0  # how much stiffer than B the model is across rows


@stage
def remainder(I: Any, memory: Any, q: Any) -> None:
    """‖r‖_∞ and ‖r‖ into the state; and the face to begin with: coordinates whose limits hold them, rows with a price."""
    walk, s = open_walk(I, memory), open_newton(I, memory)
    n, m, rows = I[COORDINATES], I[LINEAR_LIMITS], 0
    copy(walk.g, s.rest)
    for r in range(m):
        s.taken[r], s.base[r] = 0.0, 0.0
        if r < I[EQUALITIES] or (s.price[r] > 0.0 and walk.slack[r] <= TOUCHING):
            s.taken[r], s.base[r], s.active[rows] = 1.0, s.price[r], r
            rows += 1
            for i in range(n):
                s.rest[i] += s.price[r] * walk.C[r, i]
    largest, square, free = 0.0, 0.0, 0
    for i in range(n):
        x, side = s.rest[i], 0.0
        if walk.unit[i] == 0.0:
            side = LOCKED
        elif q[i] == walk.lower[i] and x >= 0.0:
            side = -1.0
        elif q[i] == walk.upper[i] and x <= 0.0:
            side = 1.0
        else:
            largest = max(largest, abs(x))
            square += x * x
            s.order[free] = i
            free += 1
        walk.at[i] = side
    s.state[FREE], s.state[IN_HAND], s.state[LARGEST], s.state[LENGTH] = free, rows, largest, math.sqrt(square)


@leaf
def load_model(walk: Any, s: Any, mu: float) -> int:
    """M, and R from its free part; returns the number of R's good pivots."""
    n, free, size = s.x.shape[0], int(s.state[FREE]), 0.0
    for i in range(n):
        for j in range(n):
            s.M[i, j] = s.B[i, j]
        s.M[i, i] += mu
        size = max(size, abs(s.M[i, i]))
    for k in range(int(s.state[IN_HAND])):
        r = int(s.active[k])
        for i in range(n):
            x = STIFF * size * walk.C[r, i]
            if x != 0.0:
                for j in range(n):
                    s.M[i, j] += x * walk.C[r, j]
    for k in range(free):
        i = int(s.order[k])
        for l in range(k, free):
            s.R[k, l] = s.M[i, int(s.order[l])]
    return factor(s.R, free)


@stage
def take_in_hand(I: Any, memory: Any, first: int) -> None:
    """Take the limit of coordinate `first` < n that d runs into, or row `first` − n, in hand."""
    walk, s = open_walk(I, memory), open_newton(I, memory)
    n, free, rows = I[COORDINATES], int(s.state[FREE]), int(s.state[IN_HAND])
    if first >= n:
        s.active[rows], s.lam[rows], s.taken[first - n] = first - n, 0.0, 1.0
        s.state[IN_HAND] = rows + 1.0
        return
    walk.at[first] = 1.0 if s.d[first] > 0.0 else -1.0
    place = 0
    while int(s.order[place]) != first:
        place += 1
    remove(s.R, free, place)
    for k in range(place, free - 1):
        s.order[k] = s.order[k + 1]
    s.state[FREE] = free - 1.0


@leaf
def worst_in_hand(I: Any, walk: Any, s: Any, least: float, still: int) -> int:
    """The limit that pulls most the wrong way, by more than `least`: a coordinate, n + the place of a row in hand, or −1.

    After `STILL` turns on the spot it is the first such limit, not the worst: then no choice can come round again.
    """
    n, rows, worst, most = I[COORDINATES], int(s.state[IN_HAND]), -1, least
    for i in range(n):
        if abs(walk.at[i]) == 1.0:
            pull = s.h[i]
            for k in range(rows):
                pull += s.lam[k] * walk.C[int(s.active[k]), i]
            if pull * walk.at[i] > most and (worst < 0 or still <= STILL):
                worst, most = i, pull * walk.at[i]
    for k in range(rows):
        pull = -s.base[int(s.active[k])] - s.lam[k]
        if still <= STILL:
            better = pull > most
        else:
            better = pull > least and (worst < 0 or (worst >= n and s.active[k] < s.active[worst - n]))
        if better and s.active[k] >= I[EQUALITIES]:
            worst, most = n + k, pull
    return worst


@stage
def release_worst(I: Any, memory: Any, least: float, still: int) -> int:
    """At the minimum of a face, let go of the limit that pulls most the wrong way: 1; 0 if none does; −1 if M is indefinite."""
    walk, s = open_walk(I, memory), open_newton(I, memory)
    n, free, rows = I[COORDINATES], int(s.state[FREE]), int(s.state[IN_HAND])
    worst = worst_in_hand(I, walk, s, least, still)
    if worst < 0:
        return 0
    if worst >= n:
        let_row_go(walk, s, int(s.active[worst - n]))
        for k in range(worst - n, rows - 1):
            s.active[k], s.lam[k] = s.active[k + 1], s.lam[k + 1]
        s.state[IN_HAND] = rows - 1.0
        return 1
    for k in range(free):
        s.v[k] = s.M[worst, int(s.order[k])]
    if not append(s.R, free, s.v, s.M[worst, worst]):
        return -1
    walk.at[worst], s.order[free], s.state[FREE] = 0.0, worst, free + 1.0
    return 1


@leaf
def step_to(walk: Any, q: Any, x: Any, t: float) -> None:
    """The trial ``q + t x``, exactly at the limits that are in hand."""
    step_along(walk, q, x, t)
    for i in range(q.shape[0]):
        if walk.at[i] == -1.0:
            walk.trial[i] = walk.lower[i]
        if walk.at[i] == 1.0:
            walk.trial[i] = walk.upper[i]


@stage
def minimise_model(I: Any, memory: Any, q: Any, mu: float) -> float:
    """The trial ``q + p`` with the p of (a), and m(p); NaN if M is not positive definite on a face that was visited."""
    walk, s = open_walk(I, memory), open_newton(I, memory)
    remainder(I, memory, q)
    least = 1e-8 * s.state[LENGTH]
    for i in range(I[COORDINATES]):
        s.x[i], s.h[i] = 0.0, s.rest[i]
        least = max(least, 1e-15 * abs(walk.g[i]))
    copy(walk.slack, walk.left)
    if load_model(walk, s, mu) < int(s.state[FREE]):
        return np.nan
    value, still = 0.0, 0
    for _ in range(10 * (I[COORDINATES] + I[LINEAR_LIMITS]) + 50):
        first, change = advance_in_face(I, memory, q)
        value += change
        still = still + 1 if change == 0.0 else 0
        if first >= 0:
            take_in_hand(I, memory, first)
        else:
            more = release_worst(I, memory, least, still)
            if more == 0:
                break
            if more < 0:
                return np.nan
    step_to(walk, q, s.x, 1.0)
    return value
