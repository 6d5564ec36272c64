"""Compiled: the matrix of a step, from the blocks of a program (`semidefinite_blocks`).

It is ``H_ij = ⟨Fⁱ, X Fʲ S⁻¹⟩`` for the unknowns, Fⁱ what z_i is multiplied with. It comes from the same of all moments,
H̃: what one moment is multiplied with has only few numbers, one in a row. With f and d for free and tied, and ``G =
H̃_df + ½ H̃_dd D``,

    H = H̃_ff + Dᵀ G + Gᵀ D.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.algebra.dense_blocks import add_four, add_one, multiply, whole
from supple.kernels.compiling import leaf, stage, table
from supple.proofs.relaxation.packing import (
    MOMENTS,
    SPLIT,
    STRIDE,
    TIED,
    UNKNOWNS,
    open_blocks,
    open_places,
    open_terms,
)
from supple.proofs.relaxation.scratch import open_folding, open_matrices, open_unknowns
from supple.proofs.relaxation.semidefinite_blocks import is_folded, unfold, weigh_moments, weigh_unknowns


@leaf
def widen(X: Any, inverse: Any, at: int, o: int, columns: Any, rows: Any) -> None:
    """Every column of X, each of its numbers o times, and every row of S⁻¹, o times over."""
    for i in range(o):
        for r in range(o):
            e, x = (i * o + r) * o, X[at + r * o + i]
            for c in range(o):
                columns[e + c] = x
                rows[e + c] = inverse[at + i * o + c]


@stage
def multiply_term(I: Any, memory: Any, begin: int, end: int, o: int) -> None:
    """``U = X F S⁻¹`` in `one` for the F of one moment, whose terms go from `begin` to `end`."""
    folding = open_folding(I, memory)
    matrices = open_matrices(I, memory)
    terms = open_terms(I, memory)
    U, c, columns, rows, size = matrices.one, folding.coefficient, folding.columns, folding.widened_rows, o * o
    for e in range(size):
        U[e] = 0.0
    fours = end - (end - begin) % 4
    for i in range(begin, fours, 4):
        w, x, y, z = c[i], c[i + 1], c[i + 2], c[i + 3]
        A, B = columns[terms.row[i] * size :], columns[terms.row[i + 1] * size :]
        C, D = columns[terms.row[i + 2] * size :], columns[terms.row[i + 3] * size :]
        P, Q = rows[terms.column[i] * size :], rows[terms.column[i + 1] * size :]
        R, T = rows[terms.column[i + 2] * size :], rows[terms.column[i + 3] * size :]
        for e in range(size):
            U[e] += (w * A[e] * P[e] + x * B[e] * Q[e]) + (y * C[e] * R[e] + z * D[e] * T[e])
    for i in range(fours, end):
        x, A, P = c[i], columns[terms.row[i] * size :], rows[terms.column[i] * size :]
        for e in range(size):
            U[e] += x * A[e] * P[e]


@leaf
def product_with(terms: Any, c: Any, begin: int, end: int, U: Any) -> float:
    """``⟨F, U⟩`` for the F of one moment; those of its terms not below the diagonal go from `begin` to `end`."""
    v, w, x, y, z = 0.0, 0.0, 0.0, 0.0, 0.0
    fours = end - (end - begin) % 4
    for t in range(begin, fours, 4):
        w += c[t] * U[terms.place[t]]
        x += c[t + 1] * U[terms.place[t + 1]]
        y += c[t + 2] * U[terms.place[t + 2]]
        z += c[t + 3] * U[terms.place[t + 3]]
    for t in range(fours, end):
        v += c[t] * U[terms.place[t]]
    return v + (w + x) + (y + z)


@stage
def gather_block(I: Any, memory: Any, k: int) -> None:
    """Add block k to H̃, each pair of moments on one side of the diagonal."""
    blocks = open_blocks(I, memory)
    folding = open_folding(I, memory)
    matrices = open_matrices(I, memory)
    terms = open_terms(I, memory)
    o, at, X, inverse = blocks.order[k], blocks.entry[k], matrices.X, matrices.inverse
    if is_folded(blocks, k):
        unfold(I, memory, X, at, blocks.seen[k], folding.wide)
        unfold(I, memory, inverse, at, blocks.seen[k], folding.other)
        X, inverse, at = folding.wide, folding.other, 0
    widen(X, inverse, at, o, folding.columns, folding.widened_rows)
    first, step, full, U = terms.group_first[k], terms.step[k], folding.full, matrices.one
    for g in range(first, terms.group_first[k + 1] - 1):
        begin = terms.group[g]
        multiply_term(I, memory, begin, terms.group[g + 1], o)
        j = terms.moment[begin]
        for i in range(o):
            for h in range(i + 1, o):
                U[i * o + h] += U[h * o + i]
        for h in range(first, g + 1):
            i, x = (
                terms.moment[terms.group[h]],
                product_with(terms, folding.coefficient, terms.group[h], terms.half[h], U),
            )
            x = 0.5 * x if g == h else x
            full[j, i] += x
            if step > 0:
                full[j + step, i + step] += x
                full[j, i + step] -= x
                full[j + step, i] -= x


@stage
def mirror(full: Any, begin: int, end: int) -> None:
    """Add what is on the other side of the diagonal."""
    for i in range(begin, end):
        for j in range(begin, i + 1):
            x = full[i, j] + full[j, i]
            full[i, j] = x
            full[j, i] = x


@stage
def reduce_to_unknowns(I: Any, memory: Any) -> None:
    """The lower triangle of H from H̃, but for its last row."""
    folding = open_folding(I, memory)
    unknowns = open_unknowns(I, memory)
    places = open_places(I, memory)
    n, tied, stride, full = I[UNKNOWNS] - 1, I[TIED], I[STRIDE], folding.full
    D, G, H = table(unknowns.D, 0, tied, stride), table(unknowns.G, 0, tied, stride), table(unknowns.H, 0, n, stride)
    fours, pairs, long = tied - tied % 4, tied - tied % 2, whole(n)
    for d in range(tied):
        row, out = full[places.tied[d]], G[d]
        for i in range(n):
            out[i] = row[places.free[i]]
        for e in range(0, fours, 4):
            w, x = row[places.tied[e]], row[places.tied[e + 1]]
            y, z = row[places.tied[e + 2]], row[places.tied[e + 3]]
            if w != 0.0 or x != 0.0 or y != 0.0 or z != 0.0:
                add_four(out, long, 0.5 * w, D[e], 0.5 * x, D[e + 1], 0.5 * y, D[e + 2], 0.5 * z, D[e + 3])
        for e in range(fours, tied):
            add_one(out, long, 0.5 * row[places.tied[e]], D[e])
    for i in range(n):
        row, out, long = full[places.free[i]], H[i], whole(i + 1)
        for j in range(i + 1):
            out[j] = row[places.free[j]]
        for d in range(0, pairs, 2):
            add_four(out, long, D[d, i], G[d], G[d, i], D[d], D[d + 1, i], G[d + 1], G[d + 1, i], D[d + 1])
        for d in range(pairs, tied):
            add_one(out, long, D[d, i], G[d])
            add_one(out, long, G[d, i], D[d])


@stage
def step_matrix(I: Any, memory: Any) -> None:
    """The lower triangle of H; its last row belongs to t. What is in dX is lost."""
    blocks = open_blocks(I, memory)
    folding = open_folding(I, memory)
    matrices = open_matrices(I, memory)
    unknowns = open_unknowns(I, memory)
    split, moments, full = I[SPLIT], I[MOMENTS], folding.full
    for i in range(moments):
        begin, end = (0, split) if i < split else (split, moments)
        for j in range(begin, end):
            full[i, j] = 0.0
    for k in range(blocks.order.shape[0]):
        gather_block(I, memory, k)
        o, at = blocks.seen[k], blocks.entry[k]
        multiply(matrices.X, at, matrices.inverse, at, o, matrices.one)
        for i in range(o):
            for j in range(o):
                matrices.dX[at + i * o + j] = 0.5 * (matrices.one[i * o + j] + matrices.one[j * o + i])
    mirror(full, 0, split)
    mirror(full, split, moments)
    reduce_to_unknowns(I, memory)
    last = table(unknowns.H, 0, I[UNKNOWNS], I[STRIDE])[I[UNKNOWNS] - 1]
    last[I[UNKNOWNS] - 1] = weigh_moments(I, memory, matrices.dX)
    weigh_unknowns(I, memory, unknowns.weight, last)
