"""Compiled: the equations between the moments of two arcs.

**Poses.** ``L_A M_A L_Aᵀ = L_B M_B L_Bᵀ`` is turned by an orthogonal Q until the rows of ``Q L_A`` are orthogonal: R those
that are some, N those that are none. The equations are those of all pairs of rows, and ``N L_B M_B = 0``. From the
latter follow all pairs with a row of N; so those are not eliminated, but proofs may use them.

**Points.** They are made elsewhere (`points`).
"""

from __future__ import annotations

from typing import Any

from supple.kernels.algebra.dense_blocks import add_four, add_one, whole
from supple.kernels.algebra.jacobi import annihilated, inner, orthogonalise
from supple.kernels.compiling import entry, leaf, stage
from supple.proofs.relaxation.arcs import multiply_loop
from supple.proofs.relaxation.packing import (
    ALL_ROWS,
    MEETING,
    NULL_ROWS,
    ROWS,
    SECOND,
    SPLIT,
    STEPS,
    WIDTH_B,
    open_blocks,
    open_terms,
)
from supple.proofs.relaxation.scratch import open_arcs, open_equations, open_folding, open_loop, open_unknowns

RANK = 1e-9  # what is below this share of the largest number is none


@stage
def pair_rows(I: Any, memory: Any, block: int, L: Any, sign: float) -> None:
    """The coefficients of a whole block's moments in ``sign·l_iᵀ M l_j``, for all pairs of rows l of L, in `pairs`."""
    arcs = open_arcs(I, memory)
    folding = open_folding(I, memory)
    terms = open_terms(I, memory)
    width, long, c, product = L.shape[1], whole(MEETING), folding.coefficient, arcs.outer
    for p in range(width):
        for q in range(width):
            out, n = product[p * width + q], 0
            for i in range(8):
                x = sign * L[i, p]
                for j in range(i, 8):
                    out[n] = x * L[j, q]
                    n += 1
    for g in range(terms.group_first[block], terms.group_first[block + 1] - 1):
        begin, end = terms.group[g], terms.group[g + 1]
        out, t = arcs.pairs[terms.moment[begin]], begin
        for k in range(long):
            out[k] = 0.0
        while t < end:
            A = product[terms.place[t]]
            if t + 4 <= end:
                B, C = product[terms.place[t + 1]], product[terms.place[t + 2]]
                D = product[terms.place[t + 3]]
                add_four(out, long, c[t], A, c[t + 1], B, c[t + 2], C, c[t + 3], D)
                t += 4
            else:
                add_one(out, long, c[t], A)
                t += 1


@stage
def turn_rows(I: Any, memory: Any) -> int:
    """Q, ``Q L_A`` and ``Q L_B``; how many rows of the first are some."""
    arcs = open_arcs(I, memory)
    loop = open_loop(I, memory)
    Q, turned, L = arcs.Q, arcs.turned, arcs.L
    for i in range(8):
        for j in range(8):
            Q[i, j] = 1.0 if i == j else 0.0
        for c in range(turned.shape[1]):
            turned[i, c] = loop.A[c, i]
    orthogonalise(turned, 8, Q)
    for c in range(L.shape[1]):
        for i in range(8):
            L[i, c] = 0.0
            for j in range(8):
                L[i, c] += Q[i, j] * loop.B[c, j]
    some, most = 0, inner(turned, 0, 0)
    for i in range(8):
        some += 1 if inner(turned, i, i) > RANK * RANK * most else 0
    return some


@stage
def find_face(I: Any, memory: Any, some: int) -> int:
    """The basis of the face in V; the order of arc B's whole as it is seen."""
    arcs = open_arcs(I, memory)
    folding = open_folding(I, memory)
    width, kept, lower = I[WIDTH_B], 0, 8 - some
    for i in range(lower):
        for c in range(width):
            arcs.K[i, c] = arcs.L[some + i, c]
    orthogonalise(arcs.K, lower, arcs.spare)
    for i in range(lower):
        kept += 1 if inner(arcs.K, i, i) > RANK * RANK else 0
    if kept == 0 or kept >= width:
        for i in range(width):
            for j in range(width):
                folding.V[i, j] = folding.Vt[i, j] = 1.0 if i == j else 0.0
        return width
    return annihilated(arcs.K, kept, folding.V, folding.Vt)


@leaf
def write_rows(I: Any, memory: Any, some: int) -> None:
    """Pairs of rows of R; ``N L_B M_B = 0``; pairs with a row of N, where there is nothing of arc A."""
    arcs = open_arcs(I, memory)
    equations = open_equations(I, memory)
    folding = open_folding(I, memory)
    terms = open_terms(I, memory)
    coefficient = folding.coefficient
    second, width, split, E = I[SECOND], I[WIDTH_B], I[SPLIT], equations.E
    pairs, lower = some * (some + 1) // 2, 8 - some
    facial = lower * width
    I[ROWS], I[ALL_ROWS], I[NULL_ROWS] = pairs + facial, MEETING + facial, lower
    row, rest, n = 0, pairs + facial, 0
    for i in range(8):
        for j in range(i, 8):
            at = row if j < some else rest
            row, rest = (row + 1, rest) if j < some else (row, rest + 1)
            for k in range(E.shape[1]):
                E[at, k] = arcs.pairs[k, n] if j < some or k >= split else 0.0
            n += 1
    for i in range(pairs, pairs + facial):
        for j in range(E.shape[1]):
            E[i, j] = 0.0
    for t in range(terms.term_first[second], terms.term_first[second + 1]):
        for i in range(lower):
            at = pairs + i * width + terms.row[t]
            E[at, terms.moment[t]] += coefficient[t] * arcs.L[some + i, terms.column[t]]


@entry
def meet_poses(I: Any, memory: Any) -> None:
    """The equations of poses, for a loop and coefficients that are in the scratch."""
    arcs = open_arcs(I, memory)
    blocks = open_blocks(I, memory)
    unknowns = open_unknowns(I, memory)
    multiply_loop(I, memory)
    some = turn_rows(I, memory)
    blocks.seen[I[SECOND]] = find_face(I, memory, some)
    pair_rows(I, memory, 0, arcs.turned, 1.0)
    pair_rows(I, memory, I[SECOND], arcs.L, -1.0)
    write_rows(I, memory, some)
    unknowns.report[STEPS] = 0.0
