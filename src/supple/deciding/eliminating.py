"""Compiled: from equations between moments to the blocks of a semidefinite program.

The equations ``E y = 0`` over the moments of two arcs, the first moment of each being 1, are eliminated: pivot by
pivot, each the largest number of its row, until ``y = y₀ + Σ z_i y_i``, the z being the moments that are left over.
Every block of `moments` is linear in y, hence in z. That of arc B is seen in a basis V of the face on which it lies.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.compiled import entry, leaf
from supple.deciding.interior import Bench, bench, phase_one, shaped
from supple.deciding.moments import Layout

MEETING = 36  # equations where the arcs of a pose meet
RANK = 1e-9  # what is below this share of the largest number is none


class Room(NamedTuple):
    """Memory for one program after the other of the same layout and face."""

    E: Any  # (rows, moments) the equations, as they are
    W: Any  # (rows, moments) eliminated
    pivot: Any  # (rows) the moment that each row gives, or −1
    free: Any  # (moments) the moments that are left over
    base: Any  # (moments) y₀
    Y: Any  # (moments, unknowns) y_i
    whole: Any  # (4^k, unknowns) arc B's block before it is seen on its face
    whole0: Any  # (4^k)
    half: Any  # (2^k r, unknowns)
    half0: Any  # (2^k r)
    coefficient: Any  # (terms)
    out: Any  # (4) the bound, t, steps, unknowns
    bench: Bench


def room(shape: Layout, rows: int, face: int) -> Room:
    """Memory for so many equations, arc B being seen in a basis of `face` columns."""
    a, b, second, _ = (int(x) for x in shape.arcs)
    moments, width = 3**a + 3**b, 2**b
    unknowns = moments - 1
    order = np.array(shape.order)
    order[second] = face
    return Room(
        np.zeros((rows, moments)), np.zeros((rows, moments)), np.zeros(rows, dtype=np.int32),
        np.zeros(moments, dtype=np.int32), np.zeros(moments), np.zeros((moments, unknowns)),
        np.zeros((width * width, unknowns)), np.zeros(width * width), np.zeros((width * face, unknowns)),
        np.zeros(width * face), np.zeros(len(shape.row)), np.zeros(4), bench(order, unknowns),
    )  # fmt: skip


@leaf
def outer(s: Any, block: int, x: Any, y: Any, coefficient: Any, out: Any) -> None:
    """Add ``xᵀ M y`` of a whole block, term by term with these coefficients, to those of moments."""
    for t in range(s.begin[block], s.begin[block + 1]):
        out[s.moment[t]] += coefficient[t] * x[s.row[t]] * y[s.column[t]]


@entry
def pose_rows(s: Any, L_a: Any, L_b: Any, facial: Any, product: Any, coefficient: Any, E: Any) -> None:
    """``L_A M_A L_Aᵀ = L_B M_B L_Bᵀ`` and ``facial M_B = 0`` as rows of E."""
    second, r = s.arcs[2], 0
    for i in range(E.shape[0]):
        for j in range(E.shape[1]):
            E[i, j] = 0.0
    for t in range(s.begin[second + 1]):
        coefficient[t] = s.sign[t] * product[s.product[t]]
    for t in range(s.begin[second], s.begin[second + 1]):
        for i in range(facial.shape[0]):
            E[MEETING + i * facial.shape[1] + s.row[t], s.moment[t]] += coefficient[t] * facial[i, s.column[t]]
        coefficient[t] = -coefficient[t]
    for i in range(8):
        for j in range(i, 8):
            outer(s, 0, L_a[i], L_a[j], coefficient, E[r])
            outer(s, second, L_b[i], L_b[j], coefficient, E[r])
            r += 1


@leaf
def eliminate(r: Any, split: int) -> int:
    """Solve the equations for as many moments as they give; how many are left over."""
    rows, count = r.W.shape
    most = 0.0
    for i in range(rows):
        for j in range(count):
            r.W[i, j] = r.E[i, j]
            most = max(most, abs(r.E[i, j]))
    for j in range(count):
        r.free[j] = -1 if j == 0 or j == split else 1
    for i in range(rows):
        best, at = RANK * most, -1
        for j in range(count):
            if r.free[j] == 1 and abs(r.W[i, j]) > best:
                best, at = abs(r.W[i, j]), j
        r.pivot[i] = at
        if at < 0:
            continue
        r.free[at] = 0
        scale = 1.0 / r.W[i, at]
        for j in range(count):
            r.W[i, j] *= scale
        for k in range(rows):
            x = r.W[k, at]
            if k != i and x != 0.0:
                for j in range(count):
                    r.W[k, j] -= x * r.W[i, j]
    left = 0
    for j in range(count):
        if r.free[j] == 1:
            r.free[left] = j
            left += 1
    return left


@leaf
def parametrise(r: Any, split: int, left: int) -> None:
    """y₀ and y_i from the eliminated equations."""
    for j in range(r.base.shape[0]):
        r.base[j] = 1.0 if j == 0 or j == split else 0.0
        for i in range(left):
            r.Y[j, i] = 0.0
    for i in range(left):
        r.Y[r.free[i], i] = 1.0
    for k in range(r.pivot.shape[0]):
        if r.pivot[k] >= 0:
            at = r.pivot[k]
            r.base[at] = -(r.W[k, 0] + r.W[k, split])
            for i in range(left):
                r.Y[at, i] = -r.W[k, r.free[i]]


@leaf
def expand(s: Any, r: Any, product: Any, block: int, order: int, left: int, at: int, F0: Any, F: Any) -> None:
    """A block as a function of z, its entries from `at` on."""
    for e in range(at, at + order * order):
        F0[e] = 0.0
        for i in range(left):
            F[e, i] = 0.0
    for t in range(s.begin[block], s.begin[block + 1]):
        e, x, k = at + s.row[t] * order + s.column[t], s.sign[t] * product[s.product[t]], s.moment[t]
        F0[e] += x * r.base[k]
        for i in range(left):
            F[e, i] += x * r.Y[k, i]


@leaf
def seen(r: Any, b: Any, V: Any, left: int, at: int) -> None:
    """``Vᵀ M V`` of the whole block of arc B."""
    width, face = V.shape
    F0, F = b.F0, b.F
    for a in range(width):
        for c in range(face):
            e = a * face + c
            r.half0[e] = 0.0
            for i in range(left):
                r.half[e, i] = 0.0
            for d in range(width):
                x, f = V[d, c], a * width + d
                r.half0[e] += x * r.whole0[f]
                for i in range(left):
                    r.half[e, i] += x * r.whole[f, i]
    for c in range(face):
        for d in range(face):
            e = at + c * face + d
            F0[e] = 0.0
            for i in range(left):
                F[e, i] = 0.0
            for a in range(width):
                x, f = V[a, c], a * face + d
                F0[e] += x * r.half0[f]
                for i in range(left):
                    F[e, i] += x * r.half[f, i]


@entry
def refute(s: Any, r: Any, V: Any, product: Any, margin: float) -> int:
    """The verdict of phase one on the equations in `r.E`; the rest of what it found is in r."""
    split, second, width = s.arcs[3], s.arcs[2], V.shape[0]
    left = eliminate(r, split)
    parametrise(r, split, left)
    b = shaped(r.bench, left + 1)
    for k in range(b.order.shape[0]):
        o, a = b.order[k], b.begin[k]
        if k == second and o < width:
            expand(s, r, product, k, width, left, 0, r.whole0, r.whole)
            seen(r, b, V, left, a)
        else:
            expand(s, r, product, k, o, left, a, b.F0, b.F)
        for i in range(o):
            for j in range(o):
                b.F[a + i * o + j, left] = 1.0 if i == j else 0.0
    r.out[3] = left
    return phase_one(b, left + 1, margin, r.out)


@entry
def contract(s: Any, block: int, W: Any, product: Any, out: Any) -> None:
    """Add ``⟨W, M⟩`` of a block to the coefficients of moments."""
    for t in range(s.begin[block], s.begin[block + 1]):
        out[s.moment[t]] += s.sign[t] * product[s.product[t]] * W[s.row[t], s.column[t]]
