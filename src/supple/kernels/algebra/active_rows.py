"""The active rows of a projection, and how they answer a push.

In the letters of `nearest`: ``L Lᵀ r = A_W D_F g``, ``v = g − A_Wᵀr``, with ``L Lᵀ = A_W D_F A_Wᵀ``, W the active rows and F
the free coordinates. L is built row by row from the lengths of v, and v is made orthogonal to the rows twice over, so that its
errors grow with the condition of the rows and not with its square: rows may be parallel to ten digits.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from supple.kernels.compiling import leaf, stage

DEPENDENT = 1e-11  # a normal with less than this part of its length left depends on the active ones


class State(NamedTuple):
    """The state of a projection; `r`, `w` and `h` are scratch, `active`, `y` and L those of the active rows, in their order."""

    q: Any
    x: Any
    lower: Any
    upper: Any
    A: Any
    b: Any
    ease: Any
    active: Any
    y: Any
    r: Any
    w: Any
    h: Any
    L: Any


@leaf
def overstep(A: Any, b: Any, r: int, q: Any) -> float:
    """``a_r·q − b_r``, in four sums that do not wait for each other."""
    n, i = q.shape[0], 0
    s0, s1, s2, s3 = -b[r], 0.0, 0.0, 0.0
    while i + 3 < n:
        s0 += A[r, i] * q[i]
        s1 += A[r, i + 1] * q[i + 1]
        s2 += A[r, i + 2] * q[i + 2]
        s3 += A[r, i + 3] * q[i + 3]
        i += 4
    while i < n:
        s0 += A[r, i] * q[i]
        i += 1
    return (s0 + s1) + (s2 + s3)


@leaf
def is_free(f: Any, i: int, own: int) -> bool:
    """Whether coordinate i moves: the box does not hold it, or it is the one on its way to its bound, `own`."""
    return f.q[i] == f.x[i] or i == own


@leaf
def normal(f: Any, p: int, i: int) -> float:
    """Coordinate i of the normal of limit p: a row, or the bound of coordinate ``p − m``; 0 for no limit, ``p < 0``."""
    m = f.b.shape[0]
    if p >= m:
        return 1.0 if i == p - m else 0.0
    return f.A[p, i] if p >= 0 else 0.0


@leaf
def answer(f: Any, count: int, i: int) -> float:
    """``(A_Wᵀr)_i``."""
    s = 0.0
    for k in range(count):
        s += f.r[k] * f.A[int(f.active[k]), i]
    return s


@leaf
def forward(f: Any, count: int) -> float:
    """``h ← L⁻¹h``; returns its square."""
    square = 0.0
    for k in range(count):
        for j in range(k):
            f.h[k] -= f.L[k, j] * f.h[j]
        f.h[k] /= f.L[k, k]
        square += f.h[k] * f.h[k]
    return square


@leaf
def backward(f: Any, count: int) -> None:
    """``r ← r + L⁻ᵀh``."""
    for k in range(count - 1, -1, -1):
        for j in range(k + 1, count):
            f.h[k] -= f.L[j, k] * f.h[j]
        f.h[k] /= f.L[k, k]
    for k in range(count):
        f.r[k] += f.h[k]


@leaf
def remainder(f: Any, count: int, p: int, sign: float, own: int) -> Any:
    """``h = A_W D_F v``; returns ``‖v‖²_F``, and the same with all that v is summed from taken positive."""
    square, size = 0.0, 0.0
    for k in range(count):
        f.h[k] = 0.0
    for i in range(f.q.shape[0]):
        if is_free(f, i, own):
            v = sign * normal(f, p, i)
            most = abs(v)
            for k in range(count):
                part = f.r[k] * f.A[int(f.active[k]), i]
                v -= part
                most += abs(part)
            square += f.ease[i] * v * v
            size += f.ease[i] * most * most
            if v != 0.0:
                for k in range(count):
                    f.h[k] += f.ease[i] * v * f.A[int(f.active[k]), i]
    return square, size


@stage
def respond(f: Any, count: int, p: int, sign: float, own: int) -> Any:
    """How `count` active rows answer a push at limit p: r, and ``w = Lᵀr``. Returns what `remainder` does, 0 for dependence."""
    for k in range(count):
        f.r[k] = f.w[k] = 0.0
    square, size = remainder(f, count, p, sign, own)
    for turn in range(4):
        more = forward(f, count)
        if (turn > 0 and more <= 1e-22 * square) or count == 0:
            break
        for k in range(count):
            f.w[k] += f.h[k]
        backward(f, count)
        square, size = remainder(f, count, p, sign, own)
    return (square if square > DEPENDENT * DEPENDENT * size else 0.0), size


@stage
def factor_rows(f: Any, first: int, count: int, own: int) -> None:
    """L anew from row `first` on. A row that has come to depend on those before rests: it no longer answers."""
    for k in range(first, count):
        square, _ = respond(f, k, int(f.active[k]), 1.0, own)
        for j in range(k):
            f.L[k, j] = f.w[j]
        f.L[k, k] = math.sqrt(square) if square > 0.0 else 1e150
