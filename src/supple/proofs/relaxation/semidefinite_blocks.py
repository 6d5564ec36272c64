"""Compiled: from moments to the blocks of a semidefinite program and back, moment by moment.

Each block is ``S_k = V_kᵀ M_k(y) V_k + t I``, M_k(y) being linear in the moments y (`moments`) and V_k = I but for the
whole of arc B, which is seen in a basis V of the face on which it lies. Some moments are *free*, the unknowns z; the
others are *tied* to them: ``y_tied = y₀ + D z``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.kernels.algebra.dense_blocks import add_one, whole
from supple.kernels.compiling import leaf, table, written_in
from supple.proofs.relaxation.moments import Layout


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
    full: Any  # (moments, moments) H̃, with room at the ends
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
        "full": (moments, moments + 32),
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
        for g in range(s.groups[k], s.groups[k + 1] - 1):
            i = s.moment[s.group[g]]
            x = y[i] - y[i + s.step[k]] if s.step[k] > 0 else y[i]
            for j in range(s.group[g], s.half[g]):
                M[a + s.place[j]] += b.coefficient[j] * x
        for i in range(width):
            for j in range(i):
                M[a + i * width + j] = M[a + j * width + i]
        if folded:
            fold(b, M, width, o, out, at)
        for i in range(o):
            out[at + i * o + i] += t


@leaf
def weigh(s: Any, b: Any, W: Any, weight: Any) -> float:
    """What each moment is multiplied with in ``Σ ⟨W_k, S_k⟩`` with symmetric W; what t is."""
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
        for g in range(s.groups[k], s.groups[k + 1] - 1):
            i, x = s.moment[s.group[g]], 0.0
            for j in range(s.group[g], s.half[g]):
                x += b.coefficient[j] * M[a + s.place[j]]
            x *= 2.0 if s.half[g] < s.group[g + 1] else 1.0
            weight[i] += x
            if s.step[k] > 0:
                weight[i + s.step[k]] -= x
    return trace


@leaf
def drawn(b: Any, weight: Any, out: Any) -> None:
    """What each unknown but t is multiplied with, from what the moments are."""
    m, tied = b.size[0], b.size[1]
    for i in range(m - 1):
        out[i] = weight[b.free[i]]
    for d in range(tied):
        add_one(out, m - 1, weight[b.tied[d]], b.D[d])
