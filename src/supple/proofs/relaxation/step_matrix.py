"""Compiled: the matrix of a step, from the blocks of a program (`blocks`).

It is ``H_ij = ⟨Fⁱ, X Fʲ S⁻¹⟩`` for the unknowns, Fⁱ what z_i is multiplied with. It comes from the same of all moments,
H̃: what one moment is multiplied with has only few numbers, one in a row. With f and d for free and tied, and ``G =
H̃_df + ½ H̃_dd D``,

    H = H̃_ff + Dᵀ G + Gᵀ D.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.algebra.dense_blocks import add_four, add_one, multiply, whole
from supple.kernels.compiling import leaf
from supple.proofs.relaxation.semidefinite_blocks import drawn, is_folded, unfold, weigh


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
    """``⟨F, U⟩`` for the F of one moment; those of its terms not below the diagonal go from `begin` to `end`."""
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
        for i in range(o):
            for h in range(i + 1, o):
                U[i * o + h] += U[h * o + i]
        for h in range(g + 1):
            i, x = s.moment[s.group[first + h]], taken(s, b, s.group[first + h], s.half[first + h], U)
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
                add_four(out, long, (0.5 * w, 0.5 * x, 0.5 * y, 0.5 * z), (D[e], D[e + 1], D[e + 2], D[e + 3]))
        for e in range(fours, tied):
            add_one(out, long, 0.5 * row[b.tied[e]], D[e])
    for i in range(n):
        row, out, long = full[b.free[i]], H[i], whole(i + 1)
        for j in range(i + 1):
            out[j] = row[b.free[j]]
        for d in range(0, pairs, 2):
            add_four(out, long, (D[d, i], G[d, i], D[d + 1, i], G[d + 1, i]), (G[d], D[d], G[d + 1], D[d + 1]))
        for d in range(pairs, tied):
            add_one(out, long, D[d, i], G[d])
            add_one(out, long, G[d, i], D[d])


@leaf
def step_matrix(s: Any, b: Any) -> None:
    """The lower triangle of H; its last row belongs to t. What is in dX is lost."""
    split, moments = s.arcs[3], b.base.shape[0]
    for i in range(moments):
        begin, end = (0, split) if i < split else (split, moments)
        for j in range(begin, end):
            b.full[i, j] = 0.0
    for k in range(b.order.shape[0]):
        gather(s, b, k)
        o, at = b.order[k], b.begin[k]
        multiply(b.X, at, b.inverse, at, o, b.one)
        for i in range(o):
            for j in range(o):
                b.dX[at + i * o + j] = 0.5 * (b.one[i * o + j] + b.one[j * o + i])
    mirrored(b.full, 0, split)
    mirrored(b.full, split, moments)
    narrow(b)
    last = b.H[b.size[0] - 1]
    last[b.size[0] - 1] = weigh(s, b, b.dX, b.weight)
    drawn(b, b.weight, last)
