"""Moments of an arc of joints, and the matrices that they fill.

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

from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from supple.space import Floats

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


class Layout(NamedTuple):
    """The blocks of two arcs one behind the other, for kernels: of A, then of B; the whole, then each joint with limits."""

    arcs: Any  # (4) joints of A and of B, which block is B's whole, how many moments A has
    order: Any  # (blocks)
    begin: Any  # (blocks + 1) where the terms of each block start
    row: Any
    column: Any
    place: Any  # of the entry, row by row
    moment: Any  # those of B behind those of A
    product: Any  # which product of κ, those of B's behind those of A's
    sign: Any
    groups: Any  # (blocks + 1) where the groups of each block start: its terms without a sign, moment by moment
    group: Any  # where the terms of each group start, and where the last of a block ends
    half: Any  # where those of them end that are not below the diagonal
    step: Any  # (blocks) from a group's moment to that of the same terms with a sign; 0 for a whole arc


@lru_cache(maxsize=64)
def layout(a: int, b: int, limited: tuple[bool, ...]) -> Layout:
    """The layout of arcs of a and b joints, some of which have limits."""
    parts, second = [], 0
    for k, flags, moments, product in ((a, limited[:a], 0, 0), (b, limited[a:], 3**a, 2**a)):
        second = len(parts) if moments else second
        found = [(terms(k), 0), *((terms(k, i), 3 ** (k - 1 - i)) for i, has in enumerate(flags) if has)]
        parts += [(t, moments, product, step) for t, step in found]
    begin = np.cumsum([0] + [len(t.row) for t, _, _, _ in parts])
    grouped = [at + _groups(t) for (t, _, _, _), at in zip(parts, begin, strict=False)]
    halves = [at + _halves(t) for (t, _, _, _), at in zip(parts, begin, strict=False)]
    columns = (
        [t.row for t, _, _, _ in parts],
        [t.column for t, _, _, _ in parts],
        [t.row * t.size + t.column for t, _, _, _ in parts],
        [t.moment + at for t, at, _, _ in parts],
        [t.factors + at for t, _, at, _ in parts],
        grouped,
        halves,
    )
    row, column, place, moment, product, group, half = (np.concatenate(x).astype(np.int32) for x in columns)
    return Layout(
        np.array([a, b, second, 3**a], dtype=np.int32),
        np.array([t.size for t, _, _, _ in parts], dtype=np.int32),
        begin.astype(np.int32),
        row,
        column,
        place,
        moment,
        product,
        np.concatenate([t.sign for t, _, _, _ in parts]),
        np.cumsum([0] + [len(g) for g in grouped]).astype(np.int32),
        group,
        half,
        np.array([step for _, _, _, step in parts], dtype=np.int32),
    )


def _groups(t: Terms) -> np.ndarray:
    """Where the terms of each moment start, of those without a sign, and where the last end."""
    plain = t.moment[t.sign > 0.0]
    return np.append(np.unique(plain, return_index=True)[1], len(plain))


def _halves(t: Terms) -> np.ndarray:
    """Where those of each moment end that are not below the diagonal; nothing for the last place."""
    starts, plain = _groups(t), (t.row <= t.column)[t.sign > 0.0]
    counts = [int(plain[a:b].sum()) for a, b in pairwise(starts)]
    return np.append(starts[:-1] + counts, starts[-1])
