"""Compiled: equations between moments, solved for as many moments as they give; then phase one for the others.

``E y = 0``, the first moment of each arc being 1, is solved pivot by pivot, each the largest number of its row. Rows of
which only little is left wait until the others are solved.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.algebra.dense_blocks import add_four, add_one, whole
from supple.kernels.compiling import entry, leaf
from supple.proofs.relaxation.equations import RANK
from supple.proofs.relaxation.interior_point import phase_one
from supple.proofs.relaxation.semidefinite_blocks import moments_of, shaped, stride


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
def pivoted(r: Any, i: int, at: int, n: int, done: int) -> None:
    """Solve row i for the moment in column `at`, take this column out of W, and put the row into those that are still open.

    Column n takes its place, and is nought from then on.
    """
    column, rows = r.taken[done], r.count[0]
    r.column[at], r.column[n] = r.column[n], r.column[at]
    for k in range(rows):
        column[k], r.W[k, at] = r.W[k, at], r.W[k, n]
        r.W[k, n] = 0.0
    scale, long = 1.0 / column[i], whole(n)
    for j in range(long):
        r.W[i, j] *= scale
    r.pivot[i], r.sequence[done] = n, i
    for k in range(rows):
        if r.pivot[k] < 0 and column[k] != 0.0:
            add_one(r.W[k], long, -column[k], r.W[i])


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
                pivoted(r, i, at, n, done)
                done += 1
    W, x, by = r.W, r.taken, r.sequence
    for q in range(done - 2, -1, -1):
        k, p = by[q], q + 1
        while p < done:
            if p + 4 <= done:
                A, B, C, D = W[by[p]], W[by[p + 1]], W[by[p + 2]], W[by[p + 3]]
                add_four(W[k], whole(n), (-x[p, k], -x[p + 1, k], -x[p + 2, k], -x[p + 3, k]), (A, B, C, D))
                p += 4
            else:
                add_one(W[k], whole(n), -x[p, k], W[by[p]])
                p += 1
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
