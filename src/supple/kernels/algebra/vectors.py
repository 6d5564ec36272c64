"""Vectors: what every method does to them, written once."""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import flat, leaf


@leaf
def copy(a: Any, out: Any) -> None:
    """``out ← a``."""
    for i in range(a.shape[0]):
        out[i] = a[i]


@leaf
def clip(q: Any, lower: Any, upper: Any) -> None:
    """Nearest posture in the box, in place."""
    for i in range(q.shape[0]):
        q[i] = min(max(q[i], lower[i]), upper[i])


@leaf
def norm(v: Any, count: int) -> float:
    """Length of the first numbers of v."""
    square = 0.0
    for l in range(count):
        square += v[l] * v[l]
    return math.sqrt(square)


@leaf
def products(C: Any, v: Any, out: Any) -> None:
    """``out = C v``."""
    for r in range(out.shape[0]):
        s = 0.0
        for i in range(v.shape[0]):
            s += C[r, i] * v[i]
        out[r] = s


@leaf
def clear(a: Any) -> None:
    """Set a table to zero."""
    numbers = flat(a)
    for i in range(numbers.shape[0]):
        numbers[i] = 0.0
