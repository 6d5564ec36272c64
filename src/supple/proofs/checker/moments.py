"""Moments of an arc of joints, the matrices that they fill, and how a loop is cut into arcs.

For a hinge with ``|φ| ≤ α`` and ``g ≥ sin(α/2)`` let ``u = sin²(φ/2)/g²`` and ``v = sin φ/(2g)``; then ``0 ≤ u ≤ 1``
and ``|v| ≤ 1``, and with ``h = (cos(φ/2), sin(φ/2)/g)``

    h hᵀ = [[1 + κu, v], [v, u]],    κ = −g².

For a slide with ``|d| ≤ δ ≤ g`` let ``h = (1, d/g)``, ``u = (d/g)²``, ``v = d/g``: the same with κ = 0.

For an arc of k joints, ``h = ⊗_j h_j``, the 2^k × 2^k matrix ``h hᵀ`` is linear in the 3^k products of one of {1, u_j,
v_j} for each joint: its *moments*, none larger than one. With one joint *localised*, ``(1 − u_j) h hᵀ`` over the other
joints is so too. An arc's terms are the triples (entry, moment, coefficient) of such a linear map: 5 for each joint,
multiplied out, and 2 for a localised one. What one moment is multiplied with has no more than one number in any row.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from supple.geometry.placements import Floats

FEWEST, MOST = 4, 8  # joints of a loop; a chain with fewer is given joints that do not move
FIRST_ARC = 3  # joints
WIDER = 1.0 + 1e-12  # g is a little more than it need be, so that rounding cannot make it too small
LEAST = 1e-9  # g of a joint that hardly moves
FULL = np.pi - 1e-9  # half a range from which a joint turns all the way round

# entry (row bit, column bit) of one joint's matrix, moment (0: 1, 1: u, 2: v), and whether the coefficient is κ instead of 1
_ONE = ((0, 0, 0, False), (0, 0, 1, True), (0, 1, 2, False), (1, 0, 2, False), (1, 1, 1, False))


class Terms(NamedTuple):
    """The linear map from moments to the entries of a matrix: ``M[row, column] += coefficient · y[moment]``.

    Those without a sign come first, moment by moment, of each those that are not below the diagonal first; those with a sign
    are the same with another moment.
    """

    size: int  # of the matrix
    row: np.ndarray
    column: np.ndarray
    moment: np.ndarray
    factors: np.ndarray  # bit j: κ of joint j is a factor of the coefficient
    sign: Floats


@lru_cache(maxsize=64)
def terms(k: int, localised: int = -1) -> Terms:
    """The terms of an arc of k joints, with one of them localised if it is named."""
    rows = [(0, 0, 0, 0, 1.0)]
    for j in range(k):
        new = []
        for row, column, moment, factors, sign in rows:
            if j == localised:
                new += [(row, column, 3 * moment + m, factors, sign * s) for m, s in ((0, 1.0), (1, -1.0))]
            else:
                new += [
                    (2 * row + a, 2 * column + b, 3 * moment + m, factors | (has << j), sign) for a, b, m, has in _ONE
                ]
        rows = new
    rows.sort(key=lambda x: (-x[4], x[2], x[0] > x[1], x[0]))
    r, c, m, factors, sign = (np.array(column) for column in zip(*rows, strict=True))
    return Terms(2 ** (k - (localised >= 0)), r, c, m, factors, sign)


@lru_cache(maxsize=64)
def entries(k: int, localised: int = -1) -> tuple[tuple[int, int, int, int, int], ...]:
    """The terms one by one: row, column, moment, factors, sign."""
    t = terms(k, localised)
    columns = (x.tolist() for x in (t.row, t.column, t.moment, t.factors, t.sign.astype(int)))
    return tuple(zip(*columns, strict=True))


class Ranges(NamedTuple):
    """What the moments of joints with given ranges are made of."""

    middle: Floats
    g: Floats
    kappa: Floats  # −g², 0 for slides
    limited: tuple[bool, ...]


def ranges(chain: Any, lower: Floats, upper: Floats) -> Ranges:
    """Middle, g and κ of each joint's range, and whether it has limits at all; a chain has `slides` and a `reach`."""
    middles, gs, kappas, limited = [], [], [], []
    for low, high, slides in zip(lower.tolist(), upper.tolist(), chain.slides, strict=True):
        middle = 0.5 * (low + high) if math.isfinite(low) and math.isfinite(high) else 0.0
        half = max(high - middle, middle - low)
        has = bool(slides or half < FULL)
        g = max((half / chain.reach if slides else math.sin(0.5 * half)) * WIDER, LEAST) if has else 1.0
        middles.append(middle)
        gs.append(g)
        kappas.append(0.0 if slides else -g * g)
        limited.append(has)
    return Ranges(np.array(middles), np.array(gs), np.array(kappas), tuple(limited))


def arcs_of(n: int, start: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The joints of both arcs, in the order of the loop."""
    order = [(start + i) % n for i in range(n)]
    return tuple(order[:FIRST_ARC]), tuple(order[FIRST_ARC:])
