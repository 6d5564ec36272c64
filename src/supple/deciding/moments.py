"""Moments of an arc of hinges, and the matrices that they fill.

For a hinge with ``|φ| ≤ α`` and ``g ≥ sin(α/2)`` let ``u = sin²(φ/2)/g²`` and ``v = sin φ/(2g)``; then ``0 ≤ u ≤ 1``
and ``|v| ≤ 1``, and

    [cos(φ/2); sin(φ/2)/g] [cos(φ/2); sin(φ/2)/g]ᵀ = [[1 − g²u, v], [v, u]].

For an arc of k hinges, ``h = ⊗_j (cos(φ_j/2), sin(φ_j/2)/g_j)``, the 2^k × 2^k matrix ``h hᵀ`` is linear in the 3^k
products of one of {1, u_j, v_j} for each hinge: its *moments*, none larger than one. With one hinge *localised*, ``(1
− u_j) h h ᵀ`` over the other hinges is so too. An arc's terms are the triples (entry, moment, coefficient) of such a
linear map: 5 for each hinge, multiplied out, and 2 for a localised one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from supple.space import Floats

# entry (row bit, column bit) of one hinge's matrix, moment (0: 1, 1: u, 2: v), and whether the coefficient is −g² instead of 1
_ONE = ((0, 0, 0, False), (0, 0, 1, True), (0, 1, 2, False), (1, 0, 2, False), (1, 1, 1, False))


class Terms(NamedTuple):
    """The linear map from moments to the entries of a matrix: ``M[row, column] += coefficient · y[moment]``.

    Terms stand in the order of entries; `by_moment` puts them in that of moments. Every entry has some.
    """

    size: int  # of the matrix
    row: np.ndarray
    column: np.ndarray
    moment: np.ndarray
    squares: np.ndarray  # (terms, k) which of the −g² the coefficient is a product of
    sign: Floats
    entry_begins: np.ndarray
    by_moment: np.ndarray
    moment_begins: np.ndarray
    occurring: np.ndarray  # the moments that have terms

    def coefficients(self, g: Floats) -> Floats:
        """The coefficients for these g (k,)."""
        return self.sign * np.prod(np.where(self.squares, -(g**2), 1.0), axis=1)

    def expand(self, y: Floats, g: Floats) -> Floats:
        """The matrices (…, size, size) of moments (…, 3^k)."""
        values = y[..., self.moment] * self.coefficients(g)
        return np.add.reduceat(values, self.entry_begins, axis=-1).reshape(*y.shape[:-1], self.size, self.size)

    def contract(self, W: Floats, g: Floats) -> Floats:
        """The coefficients (…, 3^k) of the moments in ``⟨W, M(y)⟩``."""
        values = W[..., self.row, self.column] * self.coefficients(g)
        out = np.zeros((*W.shape[:-2], 3 ** self.squares.shape[1]))
        out[..., self.occurring] = np.add.reduceat(values[..., self.by_moment], self.moment_begins, axis=-1)
        return out


@lru_cache(maxsize=64)
def terms(k: int, localised: int = -1) -> Terms:
    """The terms of an arc of k hinges, with one of them localised if it is named."""
    rows = [(0, 0, 0, (), 1.0)]
    for j in range(k):
        new = []
        for row, column, moment, squares, sign in rows:
            if j == localised:
                new.append((row, column, 3 * moment, (*squares, False), sign))
                new.append((row, column, 3 * moment + 1, (*squares, False), -sign))
            else:
                new += [
                    (2 * row + a, 2 * column + b, 3 * moment + m, (*squares, square), sign) for a, b, m, square in _ONE
                ]
        rows = new
    size = 2 ** (k - (localised >= 0))
    rows.sort(key=lambda term: (term[0], term[1], term[2]))
    r, c, m, squares, sign = (np.array(column) for column in zip(*rows, strict=True))
    by_moment = np.argsort(m, kind="stable")
    begins = np.flatnonzero(np.diff(r * size + c, prepend=-1))
    moment_begins = np.flatnonzero(np.diff(m[by_moment], prepend=-1))
    return Terms(size, r, c, m, squares.reshape(len(r), k), sign, begins, by_moment, moment_begins, np.unique(m))
