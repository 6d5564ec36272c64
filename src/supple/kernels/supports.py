"""The corner of a solid that lies farthest in a direction, and what a direction tells of two solids (see `hulls`)."""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.clearance import EDGE, FACE, HEAD
from supple.kernels.compiling import leaf


@leaf
def corners(S: Any, s: int) -> int:
    """Where the corners of the solid at S[s] begin."""
    return s + HEAD + FACE * int(S[s]) + (EDGE + 2) * int(S[s + 1])


@leaf
def farthest(S: Any, s: int, d0: float, d1: float, d2: float) -> int:
    """Where the corner of the solid at S[s] begins that lies farthest along d."""
    first = corners(S, s)
    best, most = first, -math.inf
    for k in range(int(S[s + 3])):
        at = first + 3 * k
        x = S[at] * d0 + S[at + 1] * d1 + S[at + 2] * d2
        if x > most:
            best, most = at, x
    return best


@leaf
def turn_in(X: Any, d0: float, d1: float, d2: float) -> Any:
    """A direction in the axes of X."""
    x = X[3] * d0 + X[4] * d1 + X[5] * d2
    y = X[6] * d0 + X[7] * d1 + X[8] * d2
    return x, y, X[9] * d0 + X[10] * d1 + X[11] * d2


@leaf
def turn_out(X: Any, S: Any, at: int) -> Any:
    """The direction that begins at S[at], in the axes of X, as it is seen."""
    x, y, z = S[at], S[at + 1], S[at + 2]
    return X[3] * x + X[6] * y + X[9] * z, X[4] * x + X[7] * y + X[10] * z, X[5] * x + X[8] * y + X[11] * z


@leaf
def parted_along(S: Any, a: int, b: int, X: Any, axis: Any) -> float:
    """A bound of the distance: how far the solid at S[a], in X, is beyond that at S[b] along an axis; −∞ if it is none."""
    n0, n1, n2 = axis[0], axis[1], axis[2]
    square = n0 * n0 + n1 * n1 + n2 * n2
    if not 0.5 < square < 2.0:
        return -math.inf
    l0, l1, l2 = turn_in(X, -n0, -n1, -n2)
    p0, p1, p2 = turn_out(X, S, farthest(S, a, l0, l1, l2))
    k = farthest(S, b, n0, n1, n2)
    along = n0 * (X[0] + p0 - S[k]) + n1 * (X[1] + p1 - S[k + 1]) + n2 * (X[2] + p2 - S[k + 2])
    return along / math.sqrt(square) - S[a + 2] - S[b + 2]
