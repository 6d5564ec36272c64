"""Compiled: the proof that the matrices X of a refuted relaxation stand for.

With ``X_k = G_k G_kᵀ``, their traces adding up to one, ``Σ ⟨X_k, M_k(y)⟩ = v·y``. The multipliers x of the equations are
the smallest with ``v + Eᵀ x = 0`` for all moments that the equations were solved for: ``x = −A (Aᵀ A)⁻¹ v``, A the
columns of E that belong to them. The same once more takes off what rounding left. As no moment is larger than one, the
proof is below zero by its constant less the absolute values of all other coefficients of ``v + Eᵀ x``: its *bound*.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.dense_blocks import add_four, add_one, back, factor, factored
from supple.kernels.compiling import entry, leaf, table
from supple.proofs.relaxation.semidefinite_blocks import shaped, stride, weigh


@leaf
def roots(b: Any, total: float, out: Any) -> bool:
    """G of every block; whether rounding let it."""
    for k in range(b.order.shape[0]):
        o, at = b.order[k], b.begin[k]
        if not factor(b.X, at, b.X, 0.0, o, b.one):
            return False
        for i in range(o):
            for j in range(o):
                out[at + i * o + j] = b.one[i * o + j] / math.sqrt(total) if j <= i else 0.0
    return True


@leaf
def normal(r: Any, M: Any, rows: int, n: int) -> None:
    """The columns of the moments that are tied in W, and the lower triangle of ``Aᵀ A``."""
    W, fours = r.W, rows - rows % 4
    for i in range(rows):
        for p in range(n):
            W[i, p] = r.E[i, r.bench.tied[p]]
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
def left_over(s: Any, r: Any, total: float, x: Any) -> float:
    """The bound of the proof."""
    left, constant, others = r.bench.weight, 0.0, 0.0
    for j in range(left.shape[0]):
        left[j] /= total
    for i in range(r.count[1]):
        add_one(left, left.shape[0], x[i], r.E[i])
    for j in range(left.shape[0]):
        if j == 0 or j == s.arcs[3]:
            constant += left[j]
        else:
            others += abs(left[j])
    return -constant - others


@entry
def multiply_out(s: Any, r: Any, x: Any) -> None:
    """Fill x, the bench's dS with G of every block as it is seen, and the bound: −∞ if rounding does not let it."""
    b = shaped(r.bench)
    rows, n, left, step = r.count[1], b.size[1], b.rhs, b.dz
    total, most = weigh(s, b, b.X, b.weight), 0.0
    M = table(r.bench.G, 0, n, stride(n))
    normal(r, M, rows, n)
    for p in range(n):
        most = max(most, M[p, p])
    for p in range(n):
        M[p, p] += 1e-15 * most
    for i in range(rows):
        x[i] = 0.0
    if not roots(b, total, b.dS) or not factored(M, n, b.panel):
        r.out[0] = -math.inf
        return
    for _ in range(2):
        for p in range(n):
            left[p] = -b.weight[b.tied[p]] / total
        for i in range(rows):
            add_one(left, n, -x[i], r.W[i])
        back(M, n, left, step)
        for i in range(rows):
            for p in range(n):
                x[i] += r.W[i, p] * step[p]
    r.out[0] = left_over(s, r, total, x)
