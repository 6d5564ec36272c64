"""Triangular factors that follow their matrix: ``M = RᵀR``, R upper triangular, in the first `count` rows and columns.

Solvers with an active set add and remove one row and column at a time, or a rank-one term; each costs O(count²) here. Inner
loops run along rows, so that they can be vectorised.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf

TOGETHER = 4  # rows of a factor that are taken off the later ones at once
DEPENDENT = 1e-14  # a pivot smaller than this part of its diagonal entry counts as zero


@leaf
def factor(R: Any, count: int) -> int:
    """Replace the upper triangle of M by its factor, in place. Returns `count`, or the first k whose pivot, left in R[k, k],
    is not positive: then rows before k are done.

    Rows are finished `TOGETHER` and then taken off all later ones at once, which are so read less often.
    """
    for k in range(0, count, TOGETHER):
        after = min(k + TOGETHER, count)
        for i in range(k, after):
            for a in range(k, i):
                x = R[a, i]
                for j in range(i, count):
                    R[i, j] -= x * R[a, j]
            pivot = R[i, i]
            if not pivot > 0.0:
                return i
            scale = 1.0 / math.sqrt(pivot)
            for j in range(i, count):
                R[i, j] *= scale
        a, b, c, d = k, k + 1, k + 2, k + 3
        for i in range(after, count):
            x, y, z, w = R[a, i], R[b, i], R[c, i], R[d, i]
            if x != 0.0 or y != 0.0 or z != 0.0 or w != 0.0:
                for j in range(i, count):
                    R[i, j] = R[i, j] - x * R[a, j] - y * R[b, j] - z * R[c, j] - w * R[d, j]
    return count


@leaf
def solve_down(R: Any, count: int, x: Any) -> None:
    """``x ← R⁻ᵀx``."""
    for k in range(count):
        x[k] /= R[k, k]
        y = x[k]
        if y != 0.0:
            for i in range(k + 1, count):
                x[i] -= R[k, i] * y


@leaf
def solve_up(R: Any, count: int, x: Any) -> None:
    """``x ← R⁻¹x``."""
    for back in range(count):
        k = count - 1 - back
        s0, s1, s2, s3 = x[k], 0.0, 0.0, 0.0  # four sums that do not wait for each other
        i = k + 1
        while i + 3 < count:
            s0 -= R[k, i] * x[i]
            s1 -= R[k, i + 1] * x[i + 1]
            s2 -= R[k, i + 2] * x[i + 2]
            s3 -= R[k, i + 3] * x[i + 3]
            i += 4
        while i < count:
            s0 -= R[k, i] * x[i]
            i += 1
        x[k] = ((s0 + s1) + (s2 + s3)) / R[k, k]


@leaf
def append(R: Any, count: int, column: Any, corner: float) -> bool:
    """Give M a last column and row, `column` (destroyed) above `corner`; False, and R as it was, if that is not definite."""
    solve_down(R, count, column)
    pivot = corner
    for k in range(count):
        pivot -= column[k] * column[k]
    if not pivot > DEPENDENT * abs(corner):
        return False
    for k in range(count):
        R[k, count] = column[k]
    R[count, count] = math.sqrt(pivot)
    return True


@leaf
def rotate(a: float, b: float) -> Any:
    """``(c, s, r)`` with ``c a + s b = r`` and ``c b − s a = 0``."""
    r = math.hypot(a, b)
    if r == 0.0:
        return 1.0, 0.0, 0.0
    return a / r, b / r, r


@leaf
def remove(R: Any, count: int, gone: int) -> None:
    """Take row and column `gone` out of M; the later ones move up by one."""
    for i in range(count):
        for j in range(max(gone, i - 1), count - 1):
            R[i, j] = R[i, j + 1]
    for k in range(gone, count - 1):
        c, s, r = rotate(R[k, k], R[k + 1, k])
        R[k, k] = r
        for j in range(k + 1, count - 1):
            x, y = R[k, j], R[k + 1, j]
            R[k, j] = c * x + s * y
            R[k + 1, j] = c * y - s * x


@leaf
def raise_by(R: Any, count: int, v: Any) -> None:
    """``M ← M + v vᵀ``; v is destroyed."""
    for k in range(count):
        c, s, r = rotate(R[k, k], v[k])
        R[k, k] = r
        for j in range(k + 1, count):
            x, y = R[k, j], v[j]
            R[k, j] = c * x + s * y
            v[j] = c * y - s * x


@leaf
def lower_by(R: Any, count: int, v: Any) -> bool:
    """``M ← M − v vᵀ``; v is destroyed. False if that is not positive definite: then R is spoilt."""
    for k in range(count):
        square = (R[k, k] - v[k]) * (R[k, k] + v[k])
        if not square > DEPENDENT * R[k, k] * R[k, k]:
            return False
        r = math.sqrt(square)
        c, s = r / R[k, k], v[k] / R[k, k]
        R[k, k] = r
        for j in range(k + 1, count):
            R[k, j] = (R[k, j] - s * v[j]) / c
            v[j] = c * v[j] - s * R[k, j]
    return True
