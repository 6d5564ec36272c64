"""Compiled: the equations between the moments of two arcs.

**Poses.** ``L_A M_A L_Aᵀ = L_B M_B L_Bᵀ`` is turned by an orthogonal Q until the rows of ``Q L_A`` are orthogonal: R those
that are some, N those that are none. The equations are those of all pairs of rows, and ``N L_B M_B = 0``. From the
latter follow all pairs with a row of N; so those are not eliminated, but proofs may use them.

**Points.** They are made elsewhere (`points`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.kernels.algebra.dense_blocks import add_four, add_one, whole
from supple.kernels.algebra.jacobi import annihilated, inner, orthogonalise
from supple.kernels.compiling import entry, leaf
from supple.proofs.relaxation.arcs import loop_arcs
from supple.proofs.relaxation.moments import Layout
from supple.proofs.relaxation.semidefinite_blocks import Bench, bench

MEETING = 36  # equations where the arcs of a pose meet
RANK = 1e-9  # what is below this share of the largest number is none


class Room(NamedTuple):
    """Memory for one program after the other of the same layout."""

    count: Any  # (3) rows that are eliminated, all rows, rows of N
    E: Any  # (rows, moments) the equations, as they are
    W: Any  # (rows, moments) eliminated: constants, then moments; with room at the ends
    pivot: Any  # (rows) the column of W that each row gave, or −1
    sequence: Any  # (rows) in which order rows were solved
    taken: Any  # (moments, rows) the columns that were taken out of W, as they were
    column: Any  # (moments) which moment stands in each column of W
    Q: Any  # (8, 8)
    turned: Any  # (8, 8) Q L_A
    L: Any  # (8, width) L_B, then Q L_B
    K: Any  # (8, width) N L_B
    spare: Any  # (8, 8)
    outer: Any  # (entries of a whole block, 36) their products, with room at the ends
    pairs: Any  # (moments, 36) the equations of all pairs of rows, with room at the ends
    product: Any  # (2^a + 2^b) of the κ of an arc's joints
    out: Any  # (4) the bound, t, steps, and what is left of equations without unknowns
    bench: Bench


def room(s: Layout) -> Room:
    """Memory for the equations and the program of a layout."""
    a, b, _, _ = (int(x) for x in s.arcs)
    moments, width = 3**a + 3**b, 2**b
    rows = MEETING + 8 * width
    sizes: dict[str, Any] = {
        "E": (rows, moments),
        "W": (rows, moments + 16),
        "taken": (moments, rows),
        "Q": (8, 8),
        "turned": (8, 2**a),
        **dict.fromkeys(("L", "K"), (8, width)),
        "spare": (8, 8),
        "outer": max(4**a, 4**b) * (MEETING + 16),
        "pairs": (moments, MEETING + 16),
        "product": 2**a + width,
        "out": 4,
    }
    counts = (("count", 3), ("pivot", rows), ("sequence", rows), ("column", moments))
    places = {name: np.zeros(n, dtype=np.int32) for name, n in counts}
    return Room(bench=bench(s, moments), **places, **{name: np.zeros(size) for name, size in sizes.items()})


@leaf
def pair_rows(s: Any, r: Any, block: int, L: Any, sign: float) -> None:
    """The coefficients of a whole block's moments in ``sign·l_iᵀ M l_j``, for all pairs of rows l of L, in `pairs`."""
    width, long, c, product = L.shape[1], whole(MEETING), r.bench.coefficient, r.outer
    for p in range(width):
        for q in range(width):
            out, n = product[(p * width + q) * long :], 0
            for i in range(8):
                x = sign * L[i, p]
                for j in range(i, 8):
                    out[n] = x * L[j, q]
                    n += 1
    for g in range(s.groups[block], s.groups[block + 1] - 1):
        begin, end = s.group[g], s.group[g + 1]
        out, t = r.pairs[s.moment[begin]], begin
        for k in range(long):
            out[k] = 0.0
        while t < end:
            A = product[s.place[t] * long :]
            if t + 4 <= end:
                B, C = product[s.place[t + 1] * long :], product[s.place[t + 2] * long :]
                D = product[s.place[t + 3] * long :]
                add_four(out, long, (c[t], c[t + 1], c[t + 2], c[t + 3]), (A, B, C, D))
                t += 4
            else:
                add_one(out, long, c[t], A)
                t += 1


@leaf
def seen_whole(r: Any, width: int) -> None:
    """No face."""
    for i in range(width):
        for j in range(width):
            r.bench.V[i, j] = r.bench.Vt[i, j] = 1.0 if i == j else 0.0


@leaf
def turn_rows(r: Any) -> int:
    """Q, ``Q L_A`` and ``Q L_B``; how many rows of the first are some."""
    for i in range(8):
        for j in range(8):
            r.Q[i, j] = 1.0 if i == j else 0.0
    orthogonalise(r.turned, 8, r.Q)
    for c in range(r.L.shape[1]):
        for i in range(8):
            r.spare[0, i] = r.L[i, c]
        for i in range(8):
            r.L[i, c] = 0.0
            for j in range(8):
                r.L[i, c] += r.Q[i, j] * r.spare[0, j]
    some, most = 0, inner(r.turned, 0, 0)
    for i in range(8):
        some += 1 if inner(r.turned, i, i) > RANK * RANK * most else 0
    return some


@leaf
def faced(r: Any, some: int) -> int:
    """The basis of the face in V; the order of arc B's whole as it is seen."""
    width, kept = r.L.shape[1], 0
    for i in range(8 - some):
        for c in range(width):
            r.K[i, c] = r.L[some + i, c]
    orthogonalise(r.K, 8 - some, r.spare)
    for i in range(8 - some):
        kept += 1 if inner(r.K, i, i) > RANK * RANK else 0
    if kept == 0 or kept >= width:
        seen_whole(r, width)
        return width
    return annihilated(r.K, kept, r.bench.V, r.bench.Vt)


@leaf
def pose_rows(s: Any, r: Any, some: int) -> None:
    """Pairs of rows of R; ``N L_B M_B = 0``; pairs with a row of N, where there is nothing of arc A."""
    second, width, coefficient, E = s.arcs[2], r.L.shape[1], r.bench.coefficient, r.E
    pairs, lower = some * (some + 1) // 2, 8 - some
    facial = lower * width
    r.count[0], r.count[1], r.count[2] = pairs + facial, MEETING + facial, lower
    pair_rows(s, r, 0, r.turned, 1.0)
    pair_rows(s, r, second, r.L, -1.0)
    row, rest, n = 0, pairs + facial, 0
    for i in range(8):
        for j in range(i, 8):
            at = row if j < some else rest
            row, rest = (row + 1, rest) if j < some else (row, rest + 1)
            for k in range(E.shape[1]):
                E[at, k] = r.pairs[k, n] if j < some or k >= s.arcs[3] else 0.0
            n += 1
    for i in range(pairs, pairs + facial):
        for j in range(E.shape[1]):
            E[i, j] = 0.0
    for t in range(s.begin[second], s.begin[second + 1]):
        for i in range(lower):
            E[pairs + i * width + s.row[t], s.moment[t]] += coefficient[t] * r.L[some + i, s.column[t]]


@leaf
def weighted(s: Any, r: Any, kappa: Any) -> None:
    """The coefficients of all terms, from κ of both arcs' joints in their order."""
    at, joint, product = 0, 0, r.product
    for arc in range(2):
        product[at] = 1.0
        for j in range(s.arcs[arc]):
            for k in range(1 << j):
                product[at + (1 << j) + k] = product[at + k] * kappa[joint]
            joint += 1
        at += 1 << s.arcs[arc]
    for t in range(s.row.shape[0]):
        r.bench.coefficient[t] = s.sign[t] * product[s.product[t]]


@entry
def meet_poses(s: Any, r: Any, kappa: Any, chain: Any) -> None:
    """The equations of poses, for a chain's parts as `loop_arcs` takes them."""
    weighted(s, r, kappa)
    loop_arcs(chain, r.turned, r.L)
    some = turn_rows(r)
    r.bench.order[s.arcs[2]] = faced(r, some)
    pose_rows(s, r, some)
    r.out[2] = 0.0


@entry
def meet_points(s: Any, r: Any, kappa: Any, rows: Any) -> None:
    """These equations."""
    weighted(s, r, kappa)
    seen_whole(r, r.L.shape[1])
    r.bench.order[s.arcs[2]] = r.L.shape[1]
    r.count[0], r.count[1], r.count[2] = rows.shape[0], rows.shape[0], 0
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            r.E[i, j] = rows[i, j]
    r.out[2] = 0.0
