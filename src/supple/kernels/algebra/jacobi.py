"""Compiled: which rows of a matrix are none, and what all rows of a matrix annihilate."""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf

SWEEPS = 30
ORTHOGONAL = 1e-15  # times the lengths of two rows: their product


@leaf
def inner(M: Any, p: int, q: int) -> float:
    """The product of two rows."""
    x = 0.0
    for i in range(M.shape[1]):
        x += M[p, i] * M[q, i]
    return x


@leaf
def rotate(M: Any, p: int, q: int, c: float, s: float) -> None:
    """Two rows, turned into each other."""
    for i in range(M.shape[1]):
        x, y = M[p, i], M[q, i]
        M[p, i], M[q, i] = c * x - s * y, s * x + c * y


@leaf
def orthogonalise(M: Any, rows: int, Q: Any) -> None:
    """Turn the first rows of M, and those of Q with them, until they are orthogonal and the longest are first (Jacobi)."""
    most = 0.0
    for p in range(rows):
        most = max(most, inner(M, p, p))
    for _ in range(SWEEPS):
        done = True
        for p in range(rows - 1):
            for q in range(p + 1, rows):
                a, b, c = inner(M, p, p), inner(M, q, q), inner(M, p, q)
                if abs(c) > ORTHOGONAL * math.sqrt(a * b) + 1e-17 * most or a < b:
                    half = 0.5 * math.atan2(2.0 * c, a - b)
                    rotate(M, p, q, math.cos(half), -math.sin(half))
                    rotate(Q, p, q, math.cos(half), -math.sin(half))
                    done = False
        if done:
            return


@leaf
def annihilated(K: Any, rows: int, V: Any, Vt: Any) -> int:
    """A basis of what orthogonal rows annihilate, as the first columns of V and rows of Vt (Householder); how many."""
    width = K.shape[1]
    for i in range(rows):
        for j in range(i):
            reflect(K, j, K, i)
        for c in range(i):
            K[i, c] = 0.0
        length = math.sqrt(inner(K, i, i))
        K[i, i] += length if K[i, i] >= 0.0 else -length
    for v in range(width - rows):
        for c in range(width):
            Vt[v, c] = 1.0 if c == rows + v else 0.0
        for j in range(rows - 1, -1, -1):
            reflect(K, j, Vt, v)
        for c in range(width):
            V[c, v] = Vt[v, c]
    return width - rows


@leaf
def reflect(K: Any, j: int, M: Any, i: int) -> None:
    """Row i of M reflected along row j of K."""
    square, along = 0.0, 0.0
    for c in range(K.shape[1]):
        square += K[j, c] * K[j, c]
        along += K[j, c] * M[i, c]
    if square > 0.0:
        along *= 2.0 / square
        for c in range(K.shape[1]):
            M[i, c] -= along * K[j, c]
