"""Rows of a matrix turned in their planes until they are orthogonal (Jacobi; Hestenes 1958), and what all rows annihilate.

`orthogonal_rows` keeps small singular values to their own accuracy, as a pseudo-inverse needs them. `orthogonalise` also brings
the longest rows to the front, and leaves alone what is small beside the longest: it asks for a rank.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf, stage

SWEEPS = 30
MOST_SWEEPS = 40  # of `orthogonal_rows`
ORTHOGONAL = 1e-15  # times the lengths of two rows: their product, if they count as orthogonal
NOTHING = 1e-15  # a row this much shorter than the longest is rounding


@leaf
def inner(M: Any, p: int, q: int) -> float:
    """The product of two rows."""
    x = 0.0
    for i in range(M.shape[1]):
        x += M[p, i] * M[q, i]
    return x


@leaf
def turn_rows(A: Any, r: int, s: int, c: float, d: float) -> None:
    """Turn rows r and s of A in their plane by the angle of cosine c and sine d."""
    for i in range(A.shape[1]):
        x, y = A[r, i], A[s, i]
        A[r, i], A[s, i] = c * x - d * y, d * x + c * y


@leaf
def longest_square(A: Any) -> float:
    """The square of the longest row."""
    greatest = 0.0
    for r in range(A.shape[0]):
        square = 0.0
        for i in range(A.shape[1]):
            square += A[r, i] * A[r, i]
        greatest = max(greatest, square)
    return greatest


@stage
def orthogonal_rows(A: Any, B: Any) -> int:
    """Turn the rows of A (m, n) until they are orthogonal, and those of B (m, k) with them; returns the sweeps it took.

    Two rows with squares a, b and product p become orthogonal by the turn of tangent t, the smaller root of
    ``t² + 2ζt − 1 = 0`` with ``ζ = (b − a)/2p``.
    """
    for sweep in range(MOST_SWEEPS):
        turned, floor = False, NOTHING * NOTHING * longest_square(A)
        for r in range(A.shape[0] - 1):
            for s in range(r + 1, A.shape[0]):
                a, b, p = 0.0, 0.0, 0.0
                for i in range(A.shape[1]):
                    a += A[r, i] * A[r, i]
                    b += A[s, i] * A[s, i]
                    p += A[r, i] * A[s, i]
                if not (min(a, b) > floor and abs(p) > ORTHOGONAL * math.sqrt(a) * math.sqrt(b)):
                    continue
                zeta = (b - a) / (2.0 * p)
                t = 1.0 / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
                t = -t if zeta < 0.0 else t
                c = 1.0 / math.sqrt(1.0 + t * t)
                turn_rows(A, r, s, c, c * t)
                turn_rows(B, r, s, c, c * t)
                turned = True
        if not turned:
            return sweep
    return MOST_SWEEPS


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
                    turn_rows(M, p, q, math.cos(half), -math.sin(half))
                    turn_rows(Q, p, q, math.cos(half), -math.sin(half))
                    done = False
        if done:
            return


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
