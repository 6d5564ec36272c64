"""The face of the limits that a variable-metric method walks on: active normals A_q, the projector P, and H with ``H A_q = 0``.

The limits of single coordinates have unit vectors for normals, so they need no algebra. With B the coordinates that stand at
theirs, F the others and C the active rows, ``(A_qᵀA_q)⁻¹`` has the block ``W = (C_F C_Fᵀ)⁻¹`` for the rows and
``1 + c_iᵀW c_i`` on the diagonal for a coordinate i in B; ``P`` is the identity on F less ``C_Fᵀ W C_F``; dropping or adding i
changes ``C_F C_Fᵀ`` by ``± c_i c_iᵀ``. Only the factor of this small matrix is kept, and follows every change in O(n²).

Steps and equation numbers are those of Zhao & Badler (1994), written out in `active_set`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from supple.kernels.algebra.triangular import append, lower_by, raise_by, remove, solve_down, solve_up
from supple.kernels.algebra.vectors import copy, norm, products
from supple.kernels.compiling import leaf, stage
from supple.kernels.layouts import COORDINATES, EQUALITIES, LINEAR_LIMITS
from supple.solvers.active_set.scratch import ACTIVE, FIRST, FRESH, GAMMA, LAMBDA, LENGTH, SLOPE, TURNS, open_face
from supple.solvers.descent import open_walk
from supple.solvers.linear_limits import LOCKED, SIDEWAYS, TOUCHING, change_unit


@leaf
def into_face(walk: Any, face: Any, v: Any) -> None:
    """``v ← P v``, with `w` as scratch."""
    count, n = int(face.state[ACTIVE]), v.shape[0]
    for i in range(n):
        if walk.at[i] != 0.0:
            v[i] = 0.0
    for k in range(count):
        r, x = int(face.active[k]), 0.0
        for i in range(n):
            x += walk.C[r, i] * v[i]
        face.w[k] = x
    solve_down(face.R, count, face.w)
    solve_up(face.R, count, face.w)
    for k in range(count):
        r = int(face.active[k])
        for i in range(n):
            if walk.at[i] == 0.0:
                v[i] -= face.w[k] * walk.C[r, i]


@leaf
def correct(at: Any, H: Any, v: Any, c: float) -> None:
    """``H ← H + c v vᵀ``, leaving coordinates at their limits at 0."""
    n = v.shape[0]
    for i in range(n):
        x = c * v[i]
        if at[i] == 0.0 and x != 0.0:
            for j in range(n):
                H[i, j] += x * v[j]


@leaf
def keep_row(walk: Any, face: Any, c: int) -> bool:
    """Row c joins A_q, unless it depends on what is there."""
    count, corner = int(face.state[ACTIVE]), 0.0
    for i in range(walk.at.shape[0]):
        corner += walk.C[c, i] * walk.C[c, i] if walk.at[i] == 0.0 else 0.0
    for k in range(count):
        r, x = int(face.active[k]), 0.0
        for i in range(walk.at.shape[0]):
            x += walk.C[r, i] * walk.C[c, i] if walk.at[i] == 0.0 else 0.0
        face.w[k] = x
    if not append(face.R, count, face.w, corner):
        return False
    face.active[count], face.at_row[c], face.state[ACTIVE] = c, 1.0, count + 1.0
    return True


@leaf
def keep_limit(walk: Any, face: Any, j: int) -> bool:
    """The active rows lose coordinate j, which joins A_q, unless they need it to be independent."""
    count, left = int(face.state[ACTIVE]), 1.0
    for k in range(count):
        face.w[k] = walk.C[int(face.active[k]), j]
    solve_down(face.R, count, face.w)
    for k in range(count):
        left -= face.w[k] * face.w[k]
    if not left > 1e-11:
        return False
    for k in range(count):
        face.w[k] = walk.C[int(face.active[k]), j]
    return lower_by(face.R, count, face.w)


@stage
def restart_metric(I: Any, memory: Any) -> None:
    """Step 0: ``H = P``. A_q is as many of the equalities, coordinates' limits and active rows as are independent."""
    walk, face = open_walk(I, memory), open_face(I, memory)
    n, m = I[COORDINATES], I[LINEAR_LIMITS]
    for r in range(m):
        face.at_row[r] = 0.0
    for i in range(n):
        face.v[i] = walk.at[i]
        if walk.at[i] != LOCKED:
            walk.at[i] = 0.0
    face.state[ACTIVE], face.state[FRESH] = 0.0, 1.0
    for r in range(I[EQUALITIES]):
        keep_row(walk, face, r)
    for i in range(n):
        if abs(face.v[i]) == 1.0 and keep_limit(walk, face, i):
            walk.at[i] = face.v[i]
    for r in range(I[EQUALITIES], m):
        if walk.slack[r] <= TOUCHING:
            keep_row(walk, face, r)
    for i in range(n):
        for j in range(n):
            face.s[j] = 1.0 if i == j else 0.0
        into_face(walk, face, face.s)
        copy(face.s, face.H[i])


@stage
def begin_face(I: Any, F: Any, memory: Any, q: Any, settings: Any) -> None:
    """The change of unit, which coordinates stand at a limit, and Step 0."""
    walk, face = open_walk(I, memory), open_face(I, memory)
    change_unit(I, F, q, walk)
    for i in range(q.shape[0]):
        walk.at[i] = 0.0
        if walk.unit[i] == 0.0:
            walk.at[i] = LOCKED
        elif q[i] == walk.lower[i]:
            walk.at[i] = -1.0
        elif q[i] == walk.upper[i]:
            walk.at[i] = 1.0
    face.state[TURNS], face.state[GAMMA] = 0.0, 0.0
    restart_metric(I, memory)


@stage
def add_limit(I: Any, memory: Any, j: int) -> bool:
    """Equation 32, for the limit of coordinate j < n that s runs into, or for row j − n; False if A_q would lose its rank."""
    walk, face = open_walk(I, memory), open_face(I, memory)
    n, aHa = I[COORDINATES], 0.0
    for i in range(n):
        face.v[i] = face.H[j, i] if j < n else 0.0
    if j < n:
        aHa = face.H[j, j]
        walk.at[j] = 1.0 if face.s[j] > 0.0 else -1.0
        if not keep_limit(walk, face, j):
            return False
    else:
        for i in range(n):
            x = walk.C[j - n, i]
            for k in range(n):
                face.v[k] += x * face.H[i, k]
        for i in range(n):
            aHa += face.v[i] * walk.C[j - n, i]
        if not keep_row(walk, face, j - n):
            return False
    if aHa > 0.0:
        correct(walk.at, face.H, face.v, -1.0 / aHa)
    if j < n:
        for i in range(n):
            face.H[i, j] = 0.0
            face.H[j, i] = 0.0
    return True


@stage
def drop_limit(I: Any, memory: Any, m: int) -> None:
    """Step 2, for the limit of coordinate m < n or the active row number m − n."""
    walk, face = open_walk(I, memory), open_face(I, memory)
    n, count = I[COORDINATES], int(face.state[ACTIVE])
    for i in range(n):
        face.v[i] = 0.0
    if m < n:
        walk.at[m] = 0.0
        for k in range(count):
            face.w[k] = walk.C[int(face.active[k]), m]
        raise_by(face.R, count, face.w)
        face.v[m] = 1.0
    else:
        gone = m - n
        r = int(face.active[gone])
        for i in range(n):
            face.v[i] = walk.C[r, i]
        remove(face.R, count, gone)
        for k in range(gone, count - 1):
            face.active[k] = face.active[k + 1]
        face.at_row[r] = 0.0
        face.state[ACTIVE] = count - 1.0
    into_face(walk, face, face.v)
    aPa = 0.0
    for i in range(n):
        aPa += face.v[i] * face.v[i]
    if aPa > 0.0:
        correct(walk.at, face.H, face.v, 1.0 / aPa)


@leaf
def root_of_diagonal(walk: Any, face: Any, j: int) -> float:
    """``a_jj^½`` of ``(A_qᵀA_q)⁻¹``, for the limit of coordinate j < n or the active row number j − n."""
    n, count = walk.at.shape[0], int(face.state[ACTIVE])
    for k in range(count):
        if j < n:
            face.w[k] = walk.C[int(face.active[k]), j]
        else:
            face.w[k] = 1.0 if k == j - n else 0.0
    solve_down(face.R, count, face.w)
    a = 1.0 if j < n else 0.0
    for k in range(count):
        a += face.w[k] * face.w[k]
    return math.sqrt(a)


@stage
def multipliers(I: Any, memory: Any) -> Any:
    """Step 1: the largest of ``|P g|_i`` and α_i; the inequality m with the largest ``α_m a_mm^(−½)`` (−1: none), and that."""
    walk, face = open_walk(I, memory), open_face(I, memory)
    n, count = I[COORDINATES], int(face.state[ACTIVE])
    for k in range(count):
        r, x = int(face.active[k]), 0.0
        for i in range(n):
            if walk.at[i] == 0.0:
                x += walk.C[r, i] * walk.g[i]
        face.alpha[k] = x
    solve_down(face.R, count, face.alpha)
    solve_up(face.R, count, face.alpha)
    copy(walk.g, face.v)
    for k in range(count):
        r = int(face.active[k])
        for i in range(n):
            face.v[i] -= face.alpha[k] * walk.C[r, i]
    largest, m, most = 0.0, -1, 0.0
    for j in range(n + count):
        if j < n and walk.at[j] == 0.0:
            largest = max(largest, abs(face.v[j]))
        if j < n:
            alpha = walk.at[j] * face.v[j] if walk.at[j] != LOCKED else 0.0
        else:
            alpha = face.alpha[j - n] if face.active[j - n] >= I[EQUALITIES] else 0.0
        largest = max(largest, alpha)
        if alpha > most:  # since a_jj ≥ 1
            root = root_of_diagonal(walk, face, j)
            if alpha > most * root:
                m, most = j, alpha / root
    return largest, m, most


@leaf
def first_limit(walk: Any, face: Any, q: Any, length: float) -> Any:
    """λ, and the limit that s meets there: of a coordinate, n + a row, or −1. ``C s`` goes to w."""
    n, lam, first = q.shape[0], np.inf, -1
    for i in range(n):
        if abs(face.s[i]) > SIDEWAYS * length:
            end = walk.upper[i] if face.s[i] > 0.0 else walk.lower[i]
            reach = (end - q[i]) / (walk.unit[i] * face.s[i])
            if reach < lam:
                lam, first = reach, i
    products(walk.C, face.s, face.w)
    for r in range(face.w.shape[0]):
        if face.at_row[r] == 0.0 and face.w[r] > SIDEWAYS * length:
            reach = max(walk.slack[r], 0.0) / face.w[r]
            if reach < lam:
                lam, first = reach, n + r
    return lam, first


@stage
def direction(I: Any, memory: Any, q: Any) -> None:
    """Step 3: ``s = −Hg``; its length, gᵀs, λ and the limit that is met there go to the state."""
    walk, face = open_walk(I, memory), open_face(I, memory)
    n, slope = I[COORDINATES], 0.0
    for i in range(n):
        face.s[i] = 0.0
    for i in range(n):
        x = walk.g[i]
        if walk.at[i] == 0.0 and x != 0.0:
            for j in range(n):
                face.s[j] -= x * face.H[i, j]
    into_face(walk, face, face.s)
    for i in range(n):
        slope += walk.g[i] * face.s[i]
    length = norm(face.s, n)
    face.state[LENGTH], face.state[SLOPE] = length, slope
    face.state[LAMBDA], face.state[FIRST] = first_limit(walk, face, q, length)
