"""Vectors of space as three numbers, which live in registers; rows of a table (n, 3) come and go as such."""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf

Three = tuple[float, float, float]


@leaf
def triple(rows: Any, i: int) -> Three:
    """A row of a table."""
    return rows[i, 0], rows[i, 1], rows[i, 2]


@leaf
def put_triple(rows: Any, i: int, a: Three) -> None:
    """Write a row of a table."""
    rows[i, 0], rows[i, 1], rows[i, 2] = a


@leaf
def dot(a: Three, b: Three) -> float:
    """``a·b``."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@leaf
def cross(a: Three, b: Three) -> Three:
    """``a × b``."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@leaf
def plus(a: Three, b: Three) -> Three:
    """``a + b``."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@leaf
def minus(a: Three, b: Three) -> Three:
    """``a − b``."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@leaf
def times(f: float, a: Three) -> Three:
    """``f a``."""
    return f * a[0], f * a[1], f * a[2]


@leaf
def turned(k: Three, c: float, s: float, a: Three) -> Three:
    """a turned about the unit axis k by the angle of cosine c and sine s."""
    d = (k[0] * a[0] + k[1] * a[1] + k[2] * a[2]) * (1.0 - c)
    return (
        c * a[0] + s * (k[1] * a[2] - k[2] * a[1]) + d * k[0],
        c * a[1] + s * (k[2] * a[0] - k[0] * a[2]) + d * k[1],
        c * a[2] + s * (k[0] * a[1] - k[1] * a[0]) + d * k[2],
    )


@leaf
def perpendicular(k: Three) -> Three:
    """A unit vector at right angles to a unit vector."""
    e = (0.0, k[2], -k[1]) if abs(k[0]) < 0.6 else (-k[2], 0.0, k[0])
    f = 1.0 / math.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
    return f * e[0], f * e[1], f * e[2]


@leaf
def by_columns(rows: Any, i: int, a: Three) -> Three:
    """``M a``, M the matrix whose columns are the rows i, i + 1, i + 2 of a table."""
    return (
        rows[i, 0] * a[0] + rows[i + 1, 0] * a[1] + rows[i + 2, 0] * a[2],
        rows[i, 1] * a[0] + rows[i + 1, 1] * a[1] + rows[i + 2, 1] * a[2],
        rows[i, 2] * a[0] + rows[i + 1, 2] * a[1] + rows[i + 2, 2] * a[2],
    )


@leaf
def by_rows(rows: Any, i: int, a: Three) -> Three:
    """``Mᵀ a`` of that matrix."""
    return (
        rows[i, 0] * a[0] + rows[i, 1] * a[1] + rows[i, 2] * a[2],
        rows[i + 1, 0] * a[0] + rows[i + 1, 1] * a[1] + rows[i + 1, 2] * a[2],
        rows[i + 2, 0] * a[0] + rows[i + 2, 1] * a[1] + rows[i + 2, 2] * a[2],
    )
