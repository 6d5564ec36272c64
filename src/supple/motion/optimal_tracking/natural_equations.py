"""Sparse equations ``Φ(x) = 0`` that are linear or quadratic, with their Jacobian: structure found once, values compiled.

A row is a constant and a sum of terms; a term is ``c x_i``, ``c x_i x_j`` or ``c f(x_i)`` with f a cosine, a sine or a cubic
spline (only angles that are coordinates of their own need those). So an entry of the Jacobian is constant or linear wherever
its row has no such angle.

`Vec` is what rows are written with: a vector of space that is linear in x, ``const + Σ c · x[i : i + 3]``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from supple.figure.drives import Curve, Linear
from supple.geometry.placements import Floats
from supple.kernels.compiling import entry

LINEAR, PRODUCT, COSINE, SINE, CURVE = range(5)  # kinds of terms
# of a term: its row, kind, unknowns x_i and x_j (or its curve), and where its slopes along them go (or its pieces)
IN_ROW, KIND, FIRST, SECOND, FIRST_SLOPE, SECOND_SLOPE = range(6)


class Vec(NamedTuple):
    """A vector of space that is linear in x."""

    const: Floats
    terms: tuple[tuple[float, int], ...] = ()

    def plus(self, other: Vec, factor: float = 1.0) -> Vec:
        """``self + factor · other``."""
        more = tuple((factor * c, i) for c, i in other.terms)
        return Vec(self.const + factor * other.const, self.terms + more)

    def at(self, x: Floats) -> Floats:
        """The vector's value."""
        return self.const + sum((c * x[i : i + 3] for c, i in self.terms), start=np.zeros(3))

    def component(self, k: int) -> tuple[float, list[tuple[float, int]]]:
        """Component k: its constant, and its terms ``c · x_i``."""
        return float(self.const[k]), [(c, i + k) for c, i in self.terms]


def combined(vectors: Sequence[Vec], factors: Iterable[float]) -> Vec:
    """``Σ factor · vector``, terms with factor zero left out."""
    total = Vec(np.zeros(3))
    for vector, factor in zip(vectors, factors, strict=True):
        if factor != 0.0:
            total = total.plus(vector, float(factor))
    return total


@entry
def _rows_entry(term: Any, coefficient: Any, curve: Any, x: Any, phi: Any, data: Any) -> None:
    """Add the terms' values to phi and their slopes to the entries of the Jacobian."""
    for t in range(term.shape[0]):
        r, kind, i, j = term[t, IN_ROW], term[t, KIND], term[t, FIRST], term[t, SECOND]
        c, a, b = coefficient[t], term[t, FIRST_SLOPE], term[t, SECOND_SLOPE]
        if kind == LINEAR:
            phi[r] += c * x[i]
            data[a] += c
        elif kind == PRODUCT:
            phi[r] += c * x[i] * x[j]
            data[a] += c * x[j]
            data[b] += c * x[i]
        elif kind == COSINE:
            phi[r] += c * math.cos(x[i])
            data[a] -= c * math.sin(x[i])
        elif kind == SINE:
            phi[r] += c * math.sin(x[i])
            data[a] += c * math.cos(x[i])
        else:
            width = int(curve[j])  # of the rows (knot, c0, c1, …) behind it, b of them
            at = j + 1
            for piece in range(1, b):
                if curve[j + 1 + width * piece] <= x[i]:
                    at = j + 1 + width * piece
            s, value, slope = x[i] - curve[at], 0.0, 0.0
            for k in range(at + width - 1, at, -1):
                slope = value + s * slope
                value = curve[k] + s * value
            phi[r] += c * value
            data[a] += c * slope


class Rows(NamedTuple):
    """Equations over `size` unknowns, ready to be evaluated."""

    size: int
    constant: Floats
    term: np.ndarray  # (t, 6): row, kind, i, j, where the slopes along x_i and x_j go
    coefficient: Floats
    curve: Floats
    indices: np.ndarray
    indptr: np.ndarray

    def at(self, x: Floats) -> tuple[Floats, csr_array]:
        """Φ(x) and Φ_x(x)."""
        phi, data = self.constant.copy(), np.zeros(len(self.indices))
        _rows_entry(self.term, self.coefficient, self.curve, x, phi, data)
        return phi, csr_array((data, self.indices, self.indptr), shape=(len(phi), self.size))


class Writer:
    """Collects rows, then finds their structure."""

    def __init__(self) -> None:
        self.constants: list[float] = []
        self.terms: list[tuple[int, int, int, int, int]] = []  # row, kind, i, j, pieces of a curve
        self.coefficients: list[float] = []
        self.curve: list[float] = []

    def row(self, constant: float = 0.0) -> int:
        """A new row."""
        self.constants.append(float(constant))
        return len(self.constants) - 1

    def add(self, row: int, c: float, i: int, j: int = -1, kind: int | None = None) -> None:
        """``c x_i``, ``c x_i x_j``, or ``c f(x_i)`` if a kind is given."""
        self.terms.append((row, (LINEAR if j < 0 else PRODUCT) if kind is None else kind, i, max(j, 0), 0))
        self.coefficients.append(float(c))

    def add_curve(self, row: int, c: float, i: int, f: Curve) -> None:
        """``c f(x_i)``."""
        if isinstance(f, Linear):
            self.add(row, c * f.slope, i)
            return
        pieces = f.pieces()
        self.terms.append((row, CURVE, i, len(self.curve), len(pieces)))
        self.coefficients.append(float(c))
        self.curve.extend([pieces.shape[1], *pieces.ravel()])

    def vanish(self, vector: Vec) -> list[int]:
        """Three rows: the vector is zero."""
        rows = []
        for k in range(3):
            constant, terms = vector.component(k)
            rows.append(self.row(constant))
            for c, i in terms:
                self.add(rows[-1], c, i)
        return rows

    def dot(self, u: Vec, v: Vec, value: float = 0.0) -> int:
        """One row: ``u · v = value``."""
        row = self.row(float(u.const @ v.const) - value)
        for k in range(3):
            (a, us), (b, vs) = u.component(k), v.component(k)
            for c, i in us:
                if b != 0.0:
                    self.add(row, b * c, i)
                for d, j in vs:
                    self.add(row, c * d, i, j)
            for d, j in vs:
                if a != 0.0:
                    self.add(row, a * d, j)
        return row

    def scaled(self, rows: Sequence[int], factor: float, i: int, vector: Vec) -> None:
        """Add ``factor · x_i · vector`` to three rows."""
        for k, row in enumerate(rows):
            constant, terms = vector.component(k)
            if constant != 0.0:
                self.add(row, factor * constant, i)
            for c, j in terms:
                self.add(row, factor * c, i, j)

    def done(self, size: int) -> Rows:
        """The rows over `size` unknowns."""
        cells = {(r, i) for r, _, i, _, _ in self.terms}
        cells |= {(r, j) for r, kind, _, j, _ in self.terms if kind == PRODUCT}
        order = sorted(cells)
        place = {cell: k for k, cell in enumerate(order)}
        table = [
            (r, kind, i, j, place[r, i], place[r, j] if kind == PRODUCT else pieces)
            for r, kind, i, j, pieces in self.terms
        ]
        counts = np.bincount([r for r, _ in order], minlength=len(self.constants))
        return Rows(
            size,
            np.array(self.constants),
            np.array(table, dtype=np.int64).reshape(-1, 6),
            np.array(self.coefficients),
            np.array(self.curve),
            np.array([i for _, i in order], dtype=np.int64),
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        )
