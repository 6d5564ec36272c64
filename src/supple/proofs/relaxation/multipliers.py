"""Compiled: the proof that the matrices X of a refuted relaxation stand for.

With ``X_k = G_k G_kᵀ``, their traces adding up to one, ``Σ ⟨X_k, M_k(y)⟩ = v·y``. The multipliers x of the equations are
the smallest with ``v + Eᵀ x = 0`` for all moments that the equations were solved for: ``x = −A (Aᵀ A)⁻¹ v``, A the
columns of E that belong to them. The same once more takes off what rounding left. As no moment is larger than one, the
proof is below zero by its constant less the absolute values of all other coefficients of ``v + Eᵀ x``: its *bound*.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.dense_blocks import add_four, add_one, back, factor_sum, factored, whole
from supple.kernels.compiling import entry, leaf, table
from supple.proofs.relaxation.packing import ALL_ROWS, BOUND, SPLIT, TIED, open_blocks, open_places
from supple.proofs.relaxation.scratch import open_equations, open_matrices, open_unknowns
from supple.proofs.relaxation.semidefinite_blocks import weigh_moments


@leaf
def find_roots(blocks: Any, matrices: Any, total: float) -> bool:
    """G of every block in dS; whether rounding let it."""
    one, X, out = matrices.one, matrices.X, matrices.dS
    for k in range(blocks.seen.shape[0]):
        o, at = blocks.seen[k], blocks.entry[k]
        if not factor_sum(X, at, X, 0.0, o, one):
            return False
        for i in range(o):
            for j in range(o):
                out[at + i * o + j] = one[i * o + j] / math.sqrt(total) if j <= i else 0.0
    return True


@leaf
def normal_matrix(equations: Any, tied: Any, rows: int, n: int, M: Any) -> None:
    """The columns of the moments that are tied in W, and the lower triangle of ``Aᵀ A``."""
    W, E, fours = equations.W, equations.E, rows - rows % 4
    for i in range(rows):
        for p in range(n):
            W[i, p] = E[i, tied[p]]
    for p in range(n):
        for q in range(p + 1):
            M[p, q] = 0.0
        for i in range(0, fours, 4):
            a, b, c, d = W[i, p], W[i + 1, p], W[i + 2, p], W[i + 3, p]
            if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:
                add_four(M[p], p + 1, (a, b, c, d), (W[i], W[i + 1], W[i + 2], W[i + 3]))
        for i in range(fours, rows):
            add_one(M[p], p + 1, W[i, p], W[i])


@leaf
def bound_of_proof(I: Any, equations: Any, left: Any, total: float) -> float:
    """The bound of the proof, whose weights of moments are in `left`."""
    constant, others, x = 0.0, 0.0, equations.multiplier
    for j in range(left.shape[0]):
        left[j] /= total
    for i in range(I[ALL_ROWS]):
        add_one(left, left.shape[0], x[i], equations.E[i])
    for j in range(left.shape[0]):
        if j == 0 or j == I[SPLIT]:
            constant += left[j]
        else:
            others += abs(left[j])
    return -constant - others


@entry
def multiply_out(I: Any, memory: Any) -> None:
    """Fill the multipliers, dS with G of every block as it is seen, and the bound: −∞ if rounding does not let it."""
    equations = open_equations(I, memory)
    matrices = open_matrices(I, memory)
    unknowns = open_unknowns(I, memory)
    tied = open_places(I, memory).tied
    rows, n, left, step, x = I[ALL_ROWS], I[TIED], unknowns.rhs, unknowns.dz, equations.multiplier
    total, most, M = weigh_moments(I, memory, matrices.X), 0.0, table(unknowns.G, 0, n, whole(n) + 16)
    normal_matrix(equations, tied, rows, n, M)
    for p in range(n):
        most = max(most, M[p, p])
    for p in range(n):
        M[p, p] += 1e-15 * most
    for i in range(rows):
        x[i] = 0.0
    if not find_roots(open_blocks(I, memory), matrices, total) or not factored(M, n, unknowns.panel):
        unknowns.report[BOUND] = -math.inf
        return
    for _ in range(2):
        for p in range(n):
            left[p] = -unknowns.weight[tied[p]] / total
        for i in range(rows):
            add_one(left, n, -x[i], equations.W[i])
        back(M, n, left, step)
        for i in range(rows):
            for p in range(n):
                x[i] += equations.W[i, p] * step[p]
    unknowns.report[BOUND] = bound_of_proof(I, equations, unknowns.weight, total)
