"""Compiled: from moments to the blocks of a semidefinite program and back, moment by moment.

Each block is ``S_k = V_kᵀ M_k(y) V_k + t I``, M_k(y) being linear in the moments y (`moments`) and V_k = I but for the
whole of arc B, which is seen in a basis V of the face on which it lies. Some moments are *free*, the unknowns z; the
others are *tied* to them: ``y_tied = y₀ + D z``.

**The matrix of a step** is ``H_ij = ⟨Fⁱ, X Fʲ S⁻¹⟩`` for the unknowns, Fⁱ what z_i is multiplied with. It comes from the
same of all moments, H̃: what one moment is multiplied with has only few numbers, one in a row. With f and d for free
and tied, and ``G = H̃_df + ½ H̃_dd D``,

    H = H̃_ff + Dᵀ G + Gᵀ D.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.compiled import leaf, table, written_in
from supple.deciding.dense import add_four, add_one, multiply, whole
from supple.deciding.moments import Layout


class Bench(NamedTuple):
    """A program, and room for solving it."""

    size: Any  # (3) unknowns with t, tied moments, entries of all blocks
    order: Any  # (blocks) as they are seen
    begin: Any  # (blocks) where the entries of each start; those of arc B's whole are the last
    coefficient: Any  # (terms)
    V: Any  # (width, width) the basis of the face, its columns the first
    Vt: Any  # the same, transposed
    free: Any  # (moments)
    tied: Any  # (moments)
    base: Any  # (moments) y₀; of what is free 0
    D: Any  # (tied, unknowns), rows with room at their ends, like those of G and H
    X: Any  # (entries) and so on, as long
    S: Any
    inverse: Any  # of S
    dX: Any
    dS: Any
    second: Any  # what the corrector takes off, symmetric
    one: Any  # (largest order²) matrices of one block
    two: Any
    wide: Any  # (width²) arc B's whole before it is seen on its face, or after
    other: Any
    half: Any
    columns: Any  # (largest order³)
    rows: Any
    z: Any  # (unknowns) z and t
    dz: Any
    rhs: Any
    inward: Any
    y: Any  # (moments)
    weight: Any
    full: Any  # (moments, moments) H̃
    G: Any  # (tied, unknowns)
    H: Any  # (unknowns, unknowns)
    panel: Any  # (4, unknowns), with room at the ends


def bench(s: Layout, moments: int) -> Bench:
    """Room for programs of a layout; `shaped` lays out its matrices."""
    second, order = int(s.arcs[2]), s.order.astype(np.int64)
    squares, width = order * order, int(order[second])
    behind = np.where(np.arange(len(order)) == second, 0, squares)
    begin = np.where(np.arange(len(order)) == second, behind.sum(), np.cumsum(behind) - behind)
    sizes: dict[str, Any] = {
        "coefficient": len(s.row),
        **dict.fromkeys(("V", "Vt"), (width, width)),
        **dict.fromkeys(("X", "S", "inverse", "dX", "dS", "second"), squares.sum()),
        **dict.fromkeys(("one", "two", "wide", "other", "half"), squares.max()),
        **dict.fromkeys(("columns", "rows"), (order**3).max()),
        **dict.fromkeys(("base", "z", "dz", "rhs", "inward", "y", "weight"), moments),
        "full": (moments, moments),
        **dict.fromkeys(("D", "G", "H"), moments * (moments + 32)),
        "panel": (4, moments + 32),
    }
    places = {name: np.zeros(n, dtype=np.int32) for name, n in (("size", 3), ("free", moments), ("tied", moments))}
    return Bench(
        order=order.astype(np.int32),
        begin=begin.astype(np.int32),
        **places,
        **{name: np.zeros(size) for name, size in sizes.items()},
    )


@leaf
def stride(m: int) -> int:
    """From one row of D, G and H to the next."""
    return whole(m) + 16


@written_in
def shaped(b: Any) -> Any:
    """The bench with D, G and H as tables."""
    m, tied = b.size[0], b.size[1]
    D, G, H = table(b.D, 0, tied, stride(m)), table(b.G, 0, tied, stride(m)), table(b.H, 0, m, stride(m))
    return Bench(
        b.size, b.order, b.begin, b.coefficient, b.V, b.Vt, b.free, b.tied, b.base, D, b.X, b.S, b.inverse, b.dX, b.dS,
        b.second, b.one, b.two, b.wide, b.other, b.half,
        b.columns, b.rows, b.z, b.dz, b.rhs, b.inward, b.y, b.weight, b.full, G, H, b.panel,
    )  # fmt: skip


# ── the face of arc B ────────────────────────────────────────────────────────────────────────────────────────────────
@leaf
def is_folded(s: Any, b: Any, k: int) -> bool:
    """Whether a block is seen on a face."""
    return b.order[k] < s.order[k]


@leaf
def fold(b: Any, M: Any, width: int, face: int, out: Any, at: int) -> None:
    """``Vᵀ M V``."""
    half, V = b.half, b.V
    for e in range(width * face):
        half[e] = 0.0
    for e in range(at, at + face * face):
        out[e] = 0.0
    for i in range(width):
        for d in range(width):
            x, row = M[i * width + d], V[d]
            for c in range(face):
                half[i * face + c] += x * row[c]
    for i in range(width):
        for c in range(face):
            x = V[i, c]
            for d in range(face):
                out[at + c * face + d] += x * half[i * face + d]


@leaf
def unfold(b: Any, M: Any, at: int, width: int, face: int, out: Any) -> None:
    """``V M Vᵀ``."""
    half, V, Vt = b.half, b.V, b.Vt
    for e in range(width * face):
        half[e] = 0.0
    for e in range(width * width):
        out[e] = 0.0
    for i in range(width):
        for c in range(face):
            x = V[i, c]
            for d in range(face):
                half[i * face + d] += x * M[at + c * face + d]
    for i in range(width):
        for d in range(face):
            x, row = half[i * face + d], Vt[d]
            for j in range(width):
                out[i * width + j] += x * row[j]


# ── from unknowns to moments to blocks, and back ─────────────────────────────────────────────────────────────────────
@leaf
def moments_of(b: Any, z: Any, constant: float, y: Any) -> None:
    """``constant·y₀`` and what z adds to it."""
    m, tied = b.size[0], b.size[1]
    for i in range(b.base.shape[0]):
        y[i] = constant * b.base[i]
    for i in range(m - 1):
        y[b.free[i]] = z[i]
    fours = m - 1 - (m - 1) % 4
    for d in range(tied):
        row, s, t, u, v = b.D[d], 0.0, 0.0, 0.0, 0.0
        for i in range(0, fours, 4):
            s += row[i] * z[i]
            t += row[i + 1] * z[i + 1]
            u += row[i + 2] * z[i + 2]
            v += row[i + 3] * z[i + 3]
        for i in range(fours, m - 1):
            s += row[i] * z[i]
        y[b.tied[d]] += (s + t) + (u + v)


@leaf
def fill(s: Any, b: Any, y: Any, t: float, out: Any) -> None:
    """All blocks of these moments, and t on their diagonals."""
    for k in range(b.order.shape[0]):
        o, at, width = b.order[k], b.begin[k], s.order[k]
        folded = is_folded(s, b, k)
        M, a = (b.wide, 0) if folded else (out, at)
        for e in range(a, a + width * width):
            M[e] = 0.0
        for i in range(s.begin[k], s.begin[k + 1]):
            M[a + s.place[i]] += b.coefficient[i] * y[s.moment[i]]
        if folded:
            fold(b, M, width, o, out, at)
        for i in range(o):
            out[at + i * o + i] += t


@leaf
def weigh(s: Any, b: Any, W: Any, weight: Any) -> float:
    """What each moment is multiplied with in ``Σ ⟨W_k, S_k⟩``; what t is."""
    trace = 0.0
    for i in range(weight.shape[0]):
        weight[i] = 0.0
    for k in range(b.order.shape[0]):
        o, at, width = b.order[k], b.begin[k], s.order[k]
        for i in range(o):
            trace += W[at + i * o + i]
        folded = is_folded(s, b, k)
        if folded:
            unfold(b, W, at, width, o, b.wide)
        M, a = (b.wide, 0) if folded else (W, at)
        for i in range(s.begin[k], s.begin[k + 1]):
            weight[s.moment[i]] += b.coefficient[i] * M[a + s.place[i]]
    return trace


@leaf
def drawn(b: Any, weight: Any, out: Any) -> None:
    """What each unknown but t is multiplied with, from what the moments are."""
    m, tied = b.size[0], b.size[1]
    for i in range(m - 1):
        out[i] = weight[b.free[i]]
    for d in range(tied):
        add_one(out, m - 1, weight[b.tied[d]], b.D[d])


# ── the matrix of a step ─────────────────────────────────────────────────────────────────────────────────────────────
@leaf
def widen(X: Any, inverse: Any, at: int, o: int, columns: Any, rows: Any) -> None:
    """Every column of X, each of its numbers o times, and every row of S⁻¹, o times over."""
    for i in range(o):
        for r in range(o):
            e, x = (i * o + r) * o, X[at + r * o + i]
            for c in range(o):
                columns[e + c] = x
                rows[e + c] = inverse[at + i * o + c]


@leaf
def sandwiched(s: Any, b: Any, begin: int, end: int, o: int, U: Any) -> None:
    """``X F S⁻¹`` for the F of one moment, whose terms go from `begin` to `end`."""
    size, c, columns, rows = o * o, b.coefficient, b.columns, b.rows
    for e in range(size):
        U[e] = 0.0
    fours = end - (end - begin) % 4
    for i in range(begin, fours, 4):
        w, x, y, z = c[i], c[i + 1], c[i + 2], c[i + 3]
        A, B = columns[s.row[i] * size :], columns[s.row[i + 1] * size :]
        C, D = columns[s.row[i + 2] * size :], columns[s.row[i + 3] * size :]
        P, Q = rows[s.column[i] * size :], rows[s.column[i + 1] * size :]
        R, T = rows[s.column[i + 2] * size :], rows[s.column[i + 3] * size :]
        for e in range(size):
            U[e] += (w * A[e] * P[e] + x * B[e] * Q[e]) + (y * C[e] * R[e] + z * D[e] * T[e])
    for i in range(fours, end):
        x, A, P = c[i], columns[s.row[i] * size :], rows[s.column[i] * size :]
        for e in range(size):
            U[e] += x * A[e] * P[e]


@leaf
def taken(s: Any, b: Any, begin: int, end: int, U: Any) -> float:
    """``⟨F, U⟩`` for the F of one moment, whose terms go from `begin` to `end`."""
    v, w, x, y, z = 0.0, 0.0, 0.0, 0.0, 0.0
    fours = end - (end - begin) % 4
    for t in range(begin, fours, 4):
        w += b.coefficient[t] * U[s.place[t]]
        x += b.coefficient[t + 1] * U[s.place[t + 1]]
        y += b.coefficient[t + 2] * U[s.place[t + 2]]
        z += b.coefficient[t + 3] * U[s.place[t + 3]]
    for t in range(fours, end):
        v += b.coefficient[t] * U[s.place[t]]
    return v + (w + x) + (y + z)


@leaf
def gather(s: Any, b: Any, k: int) -> None:
    """Add block k to H̃, each pair of moments on one side of the diagonal."""
    o, at, X, inverse = s.order[k], b.begin[k], b.X, b.inverse
    if is_folded(s, b, k):
        unfold(b, b.X, at, o, b.order[k], b.wide)
        unfold(b, b.inverse, at, o, b.order[k], b.other)
        X, inverse, at = b.wide, b.other, 0
    widen(X, inverse, at, o, b.columns, b.rows)
    first, step, full, U = s.groups[k], s.step[k], b.full, b.one
    for g in range(s.groups[k + 1] - first - 1):
        begin = s.group[first + g]
        sandwiched(s, b, begin, s.group[first + g + 1], o, U)
        j = s.moment[begin]
        for h in range(g + 1):
            i, x = s.moment[s.group[first + h]], taken(s, b, s.group[first + h], s.group[first + h + 1], U)
            x = 0.5 * x if g == h else x
            full[j, i] += x
            if step > 0:
                full[j + step, i + step] += x
                full[j, i + step] -= x
                full[j + step, i] -= x


@leaf
def mirrored(full: Any, begin: int, end: int) -> None:
    """Add what is on the other side of the diagonal."""
    for i in range(begin, end):
        for j in range(begin, i + 1):
            x = full[i, j] + full[j, i]
            full[i, j] = x
            full[j, i] = x


@leaf
def narrow(b: Any) -> None:
    """The lower triangle of H from H̃, but for its last row."""
    n, tied, full, D, G, H = b.size[0] - 1, b.size[1], b.full, b.D, b.G, b.H
    fours, pairs, long = tied - tied % 4, tied - tied % 2, whole(n)
    for d in range(tied):
        row, out = full[b.tied[d]], G[d]
        for i in range(n):
            out[i] = row[b.free[i]]
        for e in range(0, fours, 4):
            w, x, y, z = row[b.tied[e]], row[b.tied[e + 1]], row[b.tied[e + 2]], row[b.tied[e + 3]]
            if w != 0.0 or x != 0.0 or y != 0.0 or z != 0.0:
                add_four(out, long, 0.5 * w, D[e], 0.5 * x, D[e + 1], 0.5 * y, D[e + 2], 0.5 * z, D[e + 3])
        for e in range(fours, tied):
            add_one(out, long, 0.5 * row[b.tied[e]], D[e])
    for i in range(n):
        row, out, long = full[b.free[i]], H[i], whole(i + 1)
        for j in range(i + 1):
            out[j] = row[b.free[j]]
        for d in range(0, pairs, 2):
            add_four(out, long, D[d, i], G[d], G[d, i], D[d], D[d + 1, i], G[d + 1], G[d + 1, i], D[d + 1])
        for d in range(pairs, tied):
            add_one(out, long, D[d, i], G[d])
            add_one(out, long, G[d, i], D[d])


@leaf
def step_matrix(s: Any, b: Any) -> None:
    """The lower triangle of H; its last row belongs to t. What is in dX is lost."""
    for i in range(b.full.shape[0]):
        for j in range(b.full.shape[1]):
            b.full[i, j] = 0.0
    for k in range(b.order.shape[0]):
        gather(s, b, k)
        o, at = b.order[k], b.begin[k]
        multiply(b.X, at, b.inverse, at, o, b.one)
        for i in range(o):
            for j in range(o):
                b.dX[at + i * o + j] = 0.5 * (b.one[i * o + j] + b.one[j * o + i])
    mirrored(b.full, 0, s.arcs[3])
    mirrored(b.full, s.arcs[3], b.full.shape[0])
    narrow(b)
    last = b.H[b.size[0] - 1]
    last[b.size[0] - 1] = weigh(s, b, b.dX, b.weight)
    drawn(b, b.weight, last)
