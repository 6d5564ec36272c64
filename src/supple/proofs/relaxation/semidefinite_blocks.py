"""Compiled: from moments to the blocks of a semidefinite program and back, moment by moment.

Each block is ``S_k = V_kᵀ M_k(y) V_k + t I``, M_k(y) being linear in the moments y (`packing`) and V_k = I but for the
whole of arc B, which is seen in a basis V of the face on which it lies. Some moments are *free*, the unknowns z; the
others are *tied* to them: ``y_tied = y₀ + D z``. The entries of all blocks lie one behind the other, row by row.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.algebra.dense_blocks import add_one
from supple.kernels.compiling import leaf, stage, table
from supple.proofs.relaxation.packing import STRIDE, TIED, UNKNOWNS, WIDTH_B, open_blocks, open_places, open_terms
from supple.proofs.relaxation.scratch import open_folding, open_unknowns


# ── the face of arc B ────────────────────────────────────────────────────────────────────────────────────────────────
@leaf
def entries_of(blocks: Any) -> int:
    """Of all blocks as they are seen."""
    total = 0
    for k in range(blocks.seen.shape[0]):
        total += blocks.seen[k] * blocks.seen[k]
    return total


@leaf
def is_folded(blocks: Any, k: int) -> bool:
    """Whether a block is seen on a face."""
    return blocks.seen[k] < blocks.order[k]


@leaf
def fold(folding: Any, M: Any, width: int, face: int, out: Any, at: int) -> None:
    """``Vᵀ M V``."""
    half, V = folding.half_folded, folding.V
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


@stage
def unfold(I: Any, memory: Any, M: Any, at: int, face: int, out: Any) -> None:
    """``V M Vᵀ``."""
    folding = open_folding(I, memory)
    half, V, Vt, width = folding.half_folded, folding.V, folding.Vt, I[WIDTH_B]
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
@stage
def moments_of(I: Any, memory: Any, z: Any, constant: float, y: Any) -> None:
    """``constant·y₀`` and what z adds to it."""
    unknowns = open_unknowns(I, memory)
    places = open_places(I, memory)
    m, tied = I[UNKNOWNS], I[TIED]
    D = table(unknowns.D, 0, tied, I[STRIDE])
    for i in range(y.shape[0]):
        y[i] = constant * unknowns.base[i]
    for i in range(m - 1):
        y[places.free[i]] = z[i]
    fours = m - 1 - (m - 1) % 4
    for d in range(tied):
        row, s, t, u, v = D[d], 0.0, 0.0, 0.0, 0.0
        for i in range(0, fours, 4):
            s += row[i] * z[i]
            t += row[i + 1] * z[i + 1]
            u += row[i + 2] * z[i + 2]
            v += row[i + 3] * z[i + 3]
        for i in range(fours, m - 1):
            s += row[i] * z[i]
        y[places.tied[d]] += (s + t) + (u + v)


@stage
def fill_blocks(I: Any, memory: Any, y: Any, t: float, out: Any) -> None:
    """All blocks of these moments, and t on their diagonals."""
    blocks = open_blocks(I, memory)
    folding = open_folding(I, memory)
    terms = open_terms(I, memory)
    for k in range(blocks.order.shape[0]):
        o, at, width, step = blocks.seen[k], blocks.entry[k], blocks.order[k], terms.step[k]
        folded = is_folded(blocks, k)
        M, a = (folding.wide, 0) if folded else (out, at)
        for e in range(a, a + width * width):
            M[e] = 0.0
        for g in range(terms.group_first[k], terms.group_first[k + 1] - 1):
            i = terms.moment[terms.group[g]]
            x = y[i] - y[i + step] if step > 0 else y[i]
            for j in range(terms.group[g], terms.half[g]):
                M[a + terms.place[j]] += folding.coefficient[j] * x
        for i in range(width):
            for j in range(i):
                M[a + i * width + j] = M[a + j * width + i]
        if folded:
            fold(folding, M, width, o, out, at)
        for i in range(o):
            out[at + i * o + i] += t


@stage
def weigh_moments(I: Any, memory: Any, W: Any) -> float:
    """What each moment is multiplied with in ``Σ ⟨W_k, S_k⟩`` with symmetric W, in `weight`; what t is."""
    blocks = open_blocks(I, memory)
    folding = open_folding(I, memory)
    terms = open_terms(I, memory)
    unknowns = open_unknowns(I, memory)
    weight, trace = unknowns.weight, 0.0
    for i in range(weight.shape[0]):
        weight[i] = 0.0
    for k in range(blocks.order.shape[0]):
        o, at, step = blocks.seen[k], blocks.entry[k], terms.step[k]
        for i in range(o):
            trace += W[at + i * o + i]
        folded = is_folded(blocks, k)
        if folded:
            unfold(I, memory, W, at, o, folding.wide)
        M, a = (folding.wide, 0) if folded else (W, at)
        for g in range(terms.group_first[k], terms.group_first[k + 1] - 1):
            i, x = terms.moment[terms.group[g]], 0.0
            for j in range(terms.group[g], terms.half[g]):
                x += folding.coefficient[j] * M[a + terms.place[j]]
            x *= 2.0 if terms.half[g] < terms.group[g + 1] else 1.0
            weight[i] += x
            if step > 0:
                weight[i + step] -= x
    return trace


@stage
def weigh_unknowns(I: Any, memory: Any, weight: Any, out: Any) -> None:
    """What each unknown but t is multiplied with, from what the moments are."""
    unknowns = open_unknowns(I, memory)
    places = open_places(I, memory)
    m, tied = I[UNKNOWNS], I[TIED]
    D = table(unknowns.D, 0, tied, I[STRIDE])
    for i in range(m - 1):
        out[i] = weight[places.free[i]]
    for d in range(tied):
        add_one(out, m - 1, weight[places.tied[d]], D[d])
