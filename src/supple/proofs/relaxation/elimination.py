"""Compiled: equations between moments, solved for as many moments as they give; then phase one for the others.

``E y = 0``, the first moment of each arc being 1, is solved pivot by pivot, each the largest number of its row. Rows of
which only little is left wait until the others are solved.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.algebra.dense_blocks import add_four, add_one, whole
from supple.kernels.compiling import entry, leaf, stage
from supple.proofs.relaxation.equations import RANK
from supple.proofs.relaxation.interior_point import phase_one
from supple.proofs.relaxation.packing import LEFT, ROWS, SPLIT, STEPS, STRIDE, TIED, UNKNOWNS, open_places
from supple.proofs.relaxation.scratch import open_equations, open_unknowns
from supple.proofs.relaxation.semidefinite_blocks import moments_of


@leaf
def load_rows(I: Any, memory: Any) -> float:
    """Fill W; the largest number."""
    equations = open_equations(I, memory)
    places = open_places(I, memory)
    E, W, split, n, most = equations.E, equations.W, I[SPLIT], 1, 0.0
    for j in range(1, E.shape[1]):
        if j != split:
            places.column[n] = j
            n += 1
    for i in range(I[ROWS]):
        W[i, 0] = E[i, 0] + E[i, split]
        for j in range(1, n):
            x = E[i, places.column[j]]
            W[i, j] = x
            most = max(most, abs(x))
    return most


@leaf
def pivot_of(W: Any, i: int, n: int, least: float) -> int:
    """The column of row i's pivot; 0 if there is none."""
    best, at = least, 0
    for j in range(1, n):
        if abs(W[i, j]) > best:
            best, at = abs(W[i, j]), j
    return at


@stage
def take_pivot(I: Any, memory: Any, i: int, at: int, n: int, done: int) -> None:
    """Solve row i for the moment in column `at`, take this column out of W, and put the row into those that are still open.

    Column n takes its place, and is nought from then on.
    """
    equations = open_equations(I, memory)
    places = open_places(I, memory)
    W, column, rows = equations.W, equations.taken[done], I[ROWS]
    places.column[at], places.column[n] = places.column[n], places.column[at]
    for k in range(rows):
        column[k], W[k, at] = W[k, at], W[k, n]
        W[k, n] = 0.0
    scale, long = 1.0 / column[i], whole(n)
    for j in range(long):
        W[i, j] *= scale
    places.pivot[i], places.sequence[done] = n, i
    for k in range(rows):
        if places.pivot[k] < 0 and column[k] != 0.0:
            add_one(W[k], long, -column[k], W[i])


@stage
def eliminate(I: Any, memory: Any) -> int:
    """Solve the equations for as many moments as they give; how many columns are left, the constants among them."""
    equations = open_equations(I, memory)
    places = open_places(I, memory)
    W, x, by, rows = equations.W, equations.taken, places.sequence, I[ROWS]
    most, n, done = load_rows(I, memory), equations.E.shape[1] - 1, 0
    for i in range(rows):
        places.pivot[i] = -1
    for least in (0.1, 1e-3, RANK):
        for i in range(rows):
            at = pivot_of(W, i, n, least * most) if places.pivot[i] < 0 else 0
            if at > 0:
                n -= 1
                take_pivot(I, memory, i, at, n, done)
                done += 1
    for q in range(done - 2, -1, -1):
        k, p = by[q], q + 1
        while p < done:
            if p + 4 <= done:
                A, B, C, D = W[by[p]], W[by[p + 1]], W[by[p + 2]], W[by[p + 3]]
                add_four(W[k], whole(n), -x[p, k], A, -x[p + 1, k], B, -x[p + 2, k], C, -x[p + 3, k], D)
                p += 4
            else:
                add_one(W[k], whole(n), -x[p, k], W[by[p]])
                p += 1
    return n


@stage
def parametrise(I: Any, memory: Any, n: int) -> None:
    """The free moments, and how the others are tied to them."""
    equations = open_equations(I, memory)
    unknowns = open_unknowns(I, memory)
    places = open_places(I, memory)
    W, D, base, tied, long = equations.W, unknowns.D, unknowns.base, 0, whole(n) + 16
    unknowns.report[LEFT] = 0.0
    for j in range(base.shape[0]):
        base[j] = 1.0 if j == 0 or j == I[SPLIT] else 0.0
    for j in range(1, n):
        places.free[j - 1] = places.column[j]
    for i in range(I[ROWS]):
        if places.pivot[i] < 0:
            unknowns.report[LEFT] = max(unknowns.report[LEFT], abs(W[i, 0]))
        else:
            places.tied[tied] = places.column[places.pivot[i]]
            base[places.tied[tied]] = -W[i, 0]
            for j in range(long):
                D[tied * long + j] = -W[i, j + 1] if j < n - 1 else 0.0
            tied += 1
    I[UNKNOWNS], I[TIED], I[STRIDE] = n, tied, long


@entry
def refute(I: Any, memory: Any, margin: float, worth: float) -> int:
    """The verdict of phase one on the equations; the rest of what it found is in the scratch. Asked again it goes on."""
    unknowns = open_unknowns(I, memory)
    if unknowns.report[STEPS] == 0.0:
        parametrise(I, memory, eliminate(I, memory))
    verdict = phase_one(I, memory, margin, worth)
    moments_of(I, memory, unknowns.z, 1.0, unknowns.y)
    return verdict
