"""The face of the limits that a variable-metric method walks on: active normals A_q, the projector P, and H with ``H A_q = 0``.

The limits of single coordinates have unit vectors for normals, so they need no algebra. With B the coordinates that stand at
theirs, F the others and C the active rows, ``(A_qᵀA_q)⁻¹`` has the block ``W = (C_F C_Fᵀ)⁻¹`` for the rows and
``1 + c_iᵀW c_i`` on the diagonal for a coordinate i in B; ``P`` is the identity on F less ``C_Fᵀ W C_F``; dropping or adding i
changes ``C_F C_Fᵀ`` by ``± c_i c_iᵀ``. Only the factor of this small matrix is kept, and follows every change in O(n²).

Steps and equation numbers are those of Zhao & Badler (1994), written out in `active_set`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from supple.kernels.algebra.triangular import append, lower_by, raise_by, remove, solve_down, solve_up
from supple.kernels.compiling import leaf, row, shared, stage, table, written_in
from supple.kernels.layouts import COORDINATES, EQUALITIES, LINEAR_LIMITS
from supple.solvers.linear_limits import LOCKED, SIDEWAYS, TOUCHING, enter, spare_size


class Face(NamedTuple):
    """What the loop remembers, in units of φ where not said otherwise."""

    unit: Any  # (n) 1 − ρ, and 0 where the limits coincide
    lower: Any  # (n) of q
    upper: Any
    at: Any  # (n) −1 at the lower limit, 1 at the upper, 0 between them, LOCKED
    g: Any  # (n)
    y: Any  # (n) g⁺ of the last trial, then g⁺ − g
    s: Any  # (n)
    v: Any  # (n) Hy, P a, or H a
    trial: Any  # (n) q + γs
    H: Any  # (n, n)
    C: Any  # (m, n) all rows, of unit length
    slack: Any  # (m) b − C φ
    active: Any  # (m) the active rows in the order of the factor, equalities first
    alpha: Any  # (m) their multipliers
    w: Any  # (m)
    R: Any  # (m, m) RᵀR = C_F C_Fᵀ
    at_row: Any  # (m) 1 where a row is active
    tally: Any  # (6) number of active rows; G, unmet tasks and γ of the last trial; λ and the limit met there
    spare: Any  # for projections
    span: Any  # (6) what a line search knows: a step that is too short with its G and slope, and one that is too long


@shared
def room_size(I: Any) -> int:
    """Numbers of scratch that `read_face` lays out."""
    n, m = I[COORDINATES], I[LINEAR_LIMITS]
    return 9 * n + n * n + m * n + 5 * m + m * m + 12 + spare_size(I)


@written_in
def read_face(I: Any, room: Any) -> Any:
    """Views of the scratch."""
    n, m = I[COORDINATES], I[LINEAR_LIMITS]
    c = 9 * n + n * n
    r = c + m * n
    t = r + 5 * m + m * m
    return Face(
        row(room, 0, n), row(room, n, n), row(room, 2 * n, n), row(room, 3 * n, n), row(room, 4 * n, n),
        row(room, 5 * n, n), row(room, 6 * n, n), row(room, 7 * n, n), row(room, 8 * n, n), table(room, 9 * n, n, n),
        table(room, c, m, n), row(room, r, m), row(room, r + m, m), row(room, r + 2 * m, m), row(room, r + 3 * m, m),
        table(room, r + 5 * m, m, m), row(room, r + 4 * m, m), row(room, t, 6), row(room, t + 12, spare_size(I)),
        row(room, t + 6, 6),
    )  # fmt: skip


@leaf
def into_face(face: Any, v: Any) -> None:
    """``v ← P v``, with `w` as scratch."""
    count, n = int(face.tally[0]), v.shape[0]
    for i in range(n):
        if face.at[i] != 0.0:
            v[i] = 0.0
    for k in range(count):
        r, x = int(face.active[k]), 0.0
        for i in range(n):
            x += face.C[r, i] * v[i]
        face.w[k] = x
    solve_down(face.R, count, face.w)
    solve_up(face.R, count, face.w)
    for k in range(count):
        r = int(face.active[k])
        for i in range(n):
            if face.at[i] == 0.0:
                v[i] -= face.w[k] * face.C[r, i]


@leaf
def correct(face: Any, v: Any, c: float) -> None:
    """``H ← H + c v vᵀ``, leaving coordinates at their limits at 0."""
    n = v.shape[0]
    for i in range(n):
        x = c * v[i]
        if face.at[i] == 0.0 and x != 0.0:
            for j in range(n):
                face.H[i, j] += x * v[j]


@stage
def begin(I: Any, F: Any, room: Any, q: Any) -> None:
    """The change of unit, and which coordinates stand at a limit."""
    face = read_face(I, room)
    enter(I, F, q, face.unit, face.lower, face.upper, face.C, face.slack)
    for i in range(q.shape[0]):
        face.at[i] = 0.0
        if face.unit[i] == 0.0:
            face.at[i] = LOCKED
        elif q[i] == face.lower[i]:
            face.at[i] = -1.0
        elif q[i] == face.upper[i]:
            face.at[i] = 1.0


@leaf
def keep_row(face: Any, c: int) -> bool:
    """Row c joins A_q, unless it depends on what is there."""
    count, corner = int(face.tally[0]), 0.0
    for i in range(face.at.shape[0]):
        corner += face.C[c, i] * face.C[c, i] if face.at[i] == 0.0 else 0.0
    for k in range(count):
        r, x = int(face.active[k]), 0.0
        for i in range(face.at.shape[0]):
            x += face.C[r, i] * face.C[c, i] if face.at[i] == 0.0 else 0.0
        face.w[k] = x
    if not append(face.R, count, face.w, corner):
        return False
    face.active[count], face.at_row[c], face.tally[0] = c, 1.0, count + 1.0
    return True


@leaf
def keep_limit(face: Any, j: int) -> bool:
    """The active rows lose coordinate j, which joins A_q, unless they need it to be independent."""
    count, left = int(face.tally[0]), 1.0
    for k in range(count):
        face.w[k] = face.C[int(face.active[k]), j]
    solve_down(face.R, count, face.w)
    for k in range(count):
        left -= face.w[k] * face.w[k]
    if not left > 1e-11:
        return False
    for k in range(count):
        face.w[k] = face.C[int(face.active[k]), j]
    return lower_by(face.R, count, face.w)


@stage
def restart(I: Any, room: Any) -> None:
    """Step 0: ``H = P``. A_q is as many of the equalities, coordinates' limits and active rows as are independent."""
    face = read_face(I, room)
    n, m = I[COORDINATES], I[LINEAR_LIMITS]
    for r in range(m):
        face.at_row[r] = 0.0
    for i in range(n):
        face.v[i] = face.at[i]
        if face.at[i] != LOCKED:
            face.at[i] = 0.0
    face.tally[0] = 0.0
    for r in range(I[EQUALITIES]):
        keep_row(face, r)
    for i in range(n):
        if abs(face.v[i]) == 1.0 and keep_limit(face, i):
            face.at[i] = face.v[i]
    for r in range(I[EQUALITIES], m):
        if face.slack[r] <= TOUCHING:
            keep_row(face, r)
    for i in range(n):
        for j in range(n):
            face.s[j] = 1.0 if i == j else 0.0
        into_face(face, face.s)
        for j in range(n):
            face.H[i, j] = face.s[j]


@stage
def add(I: Any, room: Any, j: int) -> bool:
    """Equation 32, for the limit of coordinate j < n that s runs into, or for row j − n; False if A_q would lose its rank."""
    face = read_face(I, room)
    n, aHa = I[COORDINATES], 0.0
    for i in range(n):
        face.v[i] = face.H[j, i] if j < n else 0.0
    if j < n:
        aHa = face.H[j, j]
        face.at[j] = 1.0 if face.s[j] > 0.0 else -1.0
        if not keep_limit(face, j):
            return False
    else:
        for i in range(n):
            x = face.C[j - n, i]
            for k in range(n):
                face.v[k] += x * face.H[i, k]
        for i in range(n):
            aHa += face.v[i] * face.C[j - n, i]
        if not keep_row(face, j - n):
            return False
    if aHa > 0.0:
        correct(face, face.v, -1.0 / aHa)
    if j < n:
        for i in range(n):
            face.H[i, j] = 0.0
            face.H[j, i] = 0.0
    return True


@stage
def drop(I: Any, room: Any, m: int) -> None:
    """Step 2, for the limit of coordinate m < n or the active row number m − n."""
    face = read_face(I, room)
    n, count = I[COORDINATES], int(face.tally[0])
    for i in range(n):
        face.v[i] = 0.0
    if m < n:
        face.at[m] = 0.0
        for k in range(count):
            face.w[k] = face.C[int(face.active[k]), m]
        raise_by(face.R, count, face.w)
        face.v[m] = 1.0
    else:
        gone = m - n
        r = int(face.active[gone])
        for i in range(n):
            face.v[i] = face.C[r, i]
        remove(face.R, count, gone)
        for k in range(gone, count - 1):
            face.active[k] = face.active[k + 1]
        face.at_row[r] = 0.0
        face.tally[0] = count - 1.0
    into_face(face, face.v)
    aPa = 0.0
    for i in range(n):
        aPa += face.v[i] * face.v[i]
    if aPa > 0.0:
        correct(face, face.v, 1.0 / aPa)


@stage
def multipliers(I: Any, room: Any) -> Any:
    """Step 1: the largest of ``|P g|_i`` and α_i; the inequality m with the largest ``α_m a_mm^(−½)`` (−1: none), and that."""
    face = read_face(I, room)
    n, count = I[COORDINATES], int(face.tally[0])
    for k in range(count):
        r, x = int(face.active[k]), 0.0
        for i in range(n):
            if face.at[i] == 0.0:
                x += face.C[r, i] * face.g[i]
        face.alpha[k] = x
    solve_down(face.R, count, face.alpha)
    solve_up(face.R, count, face.alpha)
    for i in range(n):
        face.v[i] = face.g[i]
    for k in range(count):
        r = int(face.active[k])
        for i in range(n):
            face.v[i] -= face.alpha[k] * face.C[r, i]
    largest, m, most = 0.0, -1, 0.0
    for j in range(n + count):
        if j < n and face.at[j] == 0.0:
            largest = max(largest, abs(face.v[j]))
        if j < n:
            alpha = face.at[j] * face.v[j] if face.at[j] != LOCKED else 0.0
        else:
            alpha = face.alpha[j - n] if face.active[j - n] >= I[EQUALITIES] else 0.0
        largest = max(largest, alpha)
        if alpha > most:  # since a_jj ≥ 1
            for k in range(count):
                if j < n:
                    face.w[k] = face.C[int(face.active[k]), j]
                else:
                    face.w[k] = 1.0 if k == j - n else 0.0
            solve_down(face.R, count, face.w)
            a = 1.0 if j < n else 0.0
            for k in range(count):
                a += face.w[k] * face.w[k]
            if alpha > most * math.sqrt(a):
                m, most = j, alpha / math.sqrt(a)
    return largest, m, most


@stage
def direction(I: Any, room: Any, q: Any) -> Any:
    """Step 3: ``s = −Hg``, its length, and gᵀs; λ and the limit that is met there go to the tally."""
    face = read_face(I, room)
    n, m = I[COORDINATES], I[LINEAR_LIMITS]
    for i in range(n):
        face.s[i] = 0.0
    for i in range(n):
        x = face.g[i]
        if face.at[i] == 0.0 and x != 0.0:
            for j in range(n):
                face.s[j] -= x * face.H[i, j]
    into_face(face, face.s)
    square, slope, lam, first = 0.0, 0.0, np.inf, -1
    for i in range(n):
        square += face.s[i] * face.s[i]
        slope += face.g[i] * face.s[i]
    length = math.sqrt(square)
    for i in range(n):
        if abs(face.s[i]) > SIDEWAYS * length:
            end = face.upper[i] if face.s[i] > 0.0 else face.lower[i]
            reach = (end - q[i]) / (face.unit[i] * face.s[i])
            if reach < lam:
                lam, first = reach, i
    for r in range(m):
        towards = 0.0
        for i in range(n):
            towards += face.C[r, i] * face.s[i]
        face.w[r] = towards
        if face.at_row[r] == 0.0 and towards > SIDEWAYS * length:
            reach = max(face.slack[r], 0.0) / towards
            if reach < lam:
                lam, first = reach, n + r
    face.tally[4], face.tally[5] = lam, first
    return length, slope
