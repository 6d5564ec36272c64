"""Lifted lines as kernels move them: fifteen numbers, seen from an origin on the axis that turns them (see `elimination`)."""

from __future__ import annotations

from typing import Any

from supple.kernels.algebra.triples import Three, cross, dot, minus, plus, times
from supple.kernels.compiling import leaf
from supple.solvers.any_arm.rows_of_elimination import LINE

ONE, PLACE, ALONG, SQUARE, INNER, MOMENT, THIRD = 0, 1, 4, 7, 8, 9, 12  # where the numbers of a line are


@leaf
def three(v: Any, at: int) -> Three:
    """Three numbers of a line."""
    return v[at], v[at + 1], v[at + 2]


@leaf
def put_three(v: Any, at: int, a: Three) -> None:
    """Write three numbers."""
    v[at], v[at + 1], v[at + 2] = a


@leaf
def lift(p: Three, l: Three, v: Any) -> None:
    """The fifteen numbers of the line through p along l."""
    v[ONE], v[SQUARE], v[INNER] = 1.0, dot(p, p), dot(p, l)
    put_three(v, PLACE, p)
    put_three(v, ALONG, l)
    put_three(v, MOMENT, cross(p, l))
    put_three(v, THIRD, minus(times(dot(p, p), l), times(2.0 * dot(p, l), p)))


@leaf
def shift(v: Any, o: Three) -> None:
    """The numbers as seen from o."""
    p, l, m = three(v, PLACE), three(v, ALONG), three(v, MOMENT)
    square, along = dot(o, o), dot(o, l)
    w = plus(plus(times(2.0, cross(o, m)), times(square, l)), times(2.0 * v[INNER] - 2.0 * along, o))
    put_three(v, THIRD, plus(three(v, THIRD), w))
    put_three(v, MOMENT, minus(m, cross(o, l)))
    v[SQUARE] += v[ONE] * square - 2.0 * dot(o, p)
    v[INNER] -= along
    put_three(v, PLACE, minus(p, times(v[ONE], o)))


@leaf
def split(v: Any, k: Three, sign: float, a: Any, b: Any, c: Any) -> None:
    """What a turn about an axis through the origin makes of v: a + b cos + c sin, c with a sign."""
    for i in range(LINE):
        a[i] = b[i] = c[i] = 0.0
    a[ONE], a[SQUARE], a[INNER] = v[ONE], v[SQUARE], v[INNER]
    for part in range(4):
        at = PLACE if part == 0 else (ALONG if part == 1 else (MOMENT if part == 2 else THIRD))
        x = three(v, at)
        still = times(dot(k, x), k)
        put_three(a, at, still)
        put_three(b, at, minus(x, still))
        put_three(c, at, times(sign, cross(k, x)))
