"""Compiled: the equations between moments, solved for as many moments as they give.

**Poses.** ``L_A M_A L_Aᵀ = L_B M_B L_Bᵀ`` is turned by an orthogonal Q until the rows of ``Q L_A`` are orthogonal: R those
that are some, N those that are none. The equations are those of all pairs of rows, and ``N L_B M_B = 0``. From the
latter follow all pairs with a row of N; so those are not eliminated, but proofs may use them.

**Elimination.** ``E y = 0``, the first moment of each arc being 1, is solved pivot by pivot, each the largest number
of its row. Rows of which only little is left wait until the others are solved. The column of a pivot is put behind those
that are still open.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.compiled import entry, leaf
from supple.deciding.arcs import loop_arcs
from supple.deciding.blocks import Bench, bench, moments_of, shaped, stride
from supple.deciding.dense import add_one
from supple.deciding.faces import annihilated, inner, orthogonalise
from supple.deciding.interior import phase_one
from supple.deciding.moments import Layout

MEETING = 36  # equations where the arcs of a pose meet
RANK = 1e-9  # what is below this share of the largest number is none


class Room(NamedTuple):
    """Memory for one program after the other of the same layout."""

    count: Any  # (3) rows that are eliminated, all rows, rows of N
    E: Any  # (rows, moments) the equations, as they are
    W: Any  # (rows, moments) eliminated: constants, then moments
    pivot: Any  # (rows) the column of W that each row gives, or −1
    sequence: Any  # (rows) in which order rows were solved
    column: Any  # (moments) which moment stands in each column of W
    Q: Any  # (8, 8)
    turned: Any  # (8, 8) Q L_A
    L: Any  # (8, width) L_B, then Q L_B
    K: Any  # (8, width) N L_B
    spare: Any  # (8, 8)
    product: Any  # (2^a + 2^b) of the κ of an arc's joints
    out: Any  # (4) the bound, t, steps, and what is left of equations without unknowns
    bench: Bench


def room(s: Layout) -> Room:
    """Memory for the equations and the program of a layout."""
    a, b, _, _ = (int(x) for x in s.arcs)
    moments, width = 3**a + 3**b, 2**b
    rows = MEETING + 8 * width
    return Room(
        np.zeros(3, dtype=np.int32), np.zeros((rows, moments)), np.zeros((rows, moments)), np.zeros(rows, dtype=np.int32),
        np.zeros(rows, dtype=np.int32), np.zeros(moments, dtype=np.int32), np.zeros((8, 8)), np.zeros((8, 2**a)),
        np.zeros((8, width)), np.zeros((8, width)), np.zeros((8, 8)), np.zeros(2**a + width), np.zeros(4), bench(s, moments),
    )  # fmt: skip


# ── equations ────────────────────────────────────────────────────────────────────────────────────────────────────────
@leaf
def outer(s: Any, block: int, x: Any, y: Any, sign: float, coefficient: Any, out: Any) -> None:
    """Add ``sign·xᵀ M y`` of a whole block to the coefficients of moments."""
    for t in range(s.begin[block], s.begin[block + 1]):
        out[s.moment[t]] += sign * coefficient[t] * x[s.row[t]] * y[s.column[t]]


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
    """Pairs of rows of R; ``N L_B M_B = 0``; pairs with a row of N."""
    second, width, coefficient, E = s.arcs[2], r.L.shape[1], r.bench.coefficient, r.E
    pairs, lower = some * (some + 1) // 2, 8 - some
    facial = lower * width
    r.count[0], r.count[1], r.count[2] = pairs + facial, MEETING + facial, lower
    for i in range(r.count[1]):
        for j in range(E.shape[1]):
            E[i, j] = 0.0
    row, rest = 0, pairs + facial
    for i in range(8):
        for j in range(i, 8):
            at = row if j < some else rest
            row, rest = (row + 1, rest) if j < some else (row, rest + 1)
            if j < some:
                outer(s, 0, r.turned[i], r.turned[j], 1.0, coefficient, E[at])
            outer(s, second, r.L[i], r.L[j], -1.0, coefficient, E[at])
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


# ── elimination ──────────────────────────────────────────────────────────────────────────────────────────────────────
@leaf
def loaded(r: Any, split: int) -> float:
    """Fill W; the largest number."""
    n, most = 1, 0.0
    for j in range(1, r.E.shape[1]):
        if j != split:
            r.column[n] = j
            n += 1
    for i in range(r.count[0]):
        r.W[i, 0] = r.E[i, 0] + r.E[i, split]
        for j in range(1, n):
            x = r.E[i, r.column[j]]
            r.W[i, j] = x
            most = max(most, abs(x))
    return most


@leaf
def pivot_of(r: Any, i: int, n: int, least: float) -> int:
    """The column of row i's pivot; 0 if there is none."""
    best, at = least, 0
    for j in range(1, n):
        if abs(r.W[i, j]) > best:
            best, at = abs(r.W[i, j]), j
    return at


@leaf
def exchange(r: Any, a: int, c: int) -> None:
    """Two columns of W."""
    r.column[a], r.column[c] = r.column[c], r.column[a]
    for i in range(r.count[0]):
        r.W[i, a], r.W[i, c] = r.W[i, c], r.W[i, a]


@leaf
def pivoted(r: Any, i: int, at: int, n: int) -> None:
    """Solve row i for the moment in column `at`, which becomes column n, and put it into the rows that are still open."""
    exchange(r, at, n)
    scale = 1.0 / r.W[i, n]
    for j in range(n):
        r.W[i, j] *= scale
    for k in range(r.count[0]):
        if k != i and r.pivot[k] < 0 and r.W[k, n] != 0.0:
            add_one(r.W[k], n, -r.W[k, n], r.W[i])


@leaf
def eliminate(r: Any, split: int) -> int:
    """Solve the equations for as many moments as they give; how many columns are left, the constants among them."""
    most, n, rows, done = loaded(r, split), r.E.shape[1] - 1, r.count[0], 0
    for i in range(rows):
        r.pivot[i] = -1
    for least in (0.1, 1e-3, RANK):
        for i in range(rows):
            at = pivot_of(r, i, n, least * most) if r.pivot[i] < 0 else 0
            if at > 0:
                n -= 1
                pivoted(r, i, at, n)
                r.pivot[i] = n
                r.sequence[done] = i
                done += 1
    for p in range(done - 1, -1, -1):
        i = r.sequence[p]
        for q in range(p):
            k = r.sequence[q]
            x = r.W[k, r.pivot[i]]
            if x != 0.0:
                add_one(r.W[k], n, -x, r.W[i])
    return n


@leaf
def parametrise(s: Any, r: Any, n: int) -> None:
    """The free moments, and how the others are tied to them."""
    b, tied, entries, long = r.bench, 0, 0, stride(n)
    r.out[3] = 0.0
    for j in range(b.base.shape[0]):
        b.base[j] = 1.0 if j == 0 or j == s.arcs[3] else 0.0
    for j in range(1, n):
        b.free[j - 1] = r.column[j]
    for i in range(r.count[0]):
        if r.pivot[i] < 0:
            r.out[3] = max(r.out[3], abs(r.W[i, 0]))
        else:
            b.tied[tied] = r.column[r.pivot[i]]
            b.base[b.tied[tied]] = -r.W[i, 0]
            for j in range(long):
                b.D[tied * long + j] = -r.W[i, j + 1] if j < n - 1 else 0.0
                b.G[tied * long + j] = 0.0
            tied += 1
    for k in range(b.order.shape[0]):
        entries += b.order[k] * b.order[k]
    b.size[0], b.size[1], b.size[2] = n, tied, entries


@entry
def refute(s: Any, r: Any, margin: float, worth: float) -> int:
    """The verdict of phase one on the equations in `r.E`; the rest of what it found is in r. Asked again it goes on."""
    if r.out[2] == 0.0:
        parametrise(s, r, eliminate(r, s.arcs[3]))
    b = shaped(r.bench)
    verdict = phase_one(s, b, margin, worth, r.out)
    moments_of(b, b.z, 1.0, b.y)
    return verdict
