"""All postures of an arm that fits a formula, in balls: boxes of which each posture of its motion lies in one.

The four kinds, and the derivation of the first three, in the numbers of the lines h_j, p_j of six hinges and g = (R, t):

* `meeting`: lines 4, 5, 6 meet in C = p_4 = p_5 = p_6, and lines 1, 2 in p_1 = p_2;
* `parallel`: lines 4, 5, 6 meet, and h_2 = ±h_1;
* `general`: lines 4, 5, 6 meet, nothing is said of the others;
* `planar`: h_2, h_3, h_4 are equal but for signs, and lines 5, 6 meet in p_5 = p_6.

With ``y = E_3 C − p_2``, ``m = p_2 − p_1``, ``v = R C + t − p_1``, and ``Rot_2`` the second turn, the first hinge keeps length
and height of ``m + Rot_2 y``: ``h_1·Rot_2 y = h_1·(v − m)`` and ``2 m·Rot_2 y = |v|² − |m|² − |y|²``. Across h_2, with Y what
is left of y there,

    h_1·Rot_2 Y = e = h_1·(v − m) − (h_1·h_2)(h_2·y),     m·Rot_2 Y = f = (|v|² − |m|² − |y|²)/2 − (m·h_2)(h_2·y),

e and f linear in cosine and sine of q_3. `meeting` has f = 0, `parallel` e = 0: equations for q_3. `general` has
``Rot_2 Y = e u + f w`` and so ``|Y|² = |e u + f w|²``, a trigonometric polynomial of degree two. q_1 then brings
``m + Rot_2 y`` to v, and the wrist follows: ``h_4·S h_6 = h_4·Rot_5 h_6`` with ``S = Rot_3ᵀ Rot_2ᵀ Rot_1ᵀ R``.

`planar`: the three parallel hinges keep what lies along h: ``h·E_1⁻¹ g C = h·C`` is an equation for q_1, ``Rot_1 h·R h_6 =
h·Rot_5 h_6`` one for q_5, and q_6 brings ``Rᵀ Rot_1 h`` to ``Rot_5ᵀ h``. What is left moves the plane, as two bars do.

Every step is an equation that a posture must satisfy, so nothing is lost; what is found too much does no harm. Where a step
divides by what may be zero, or a root may be double, nothing is proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from supple.proofs.checker.balls import Unproved, need_flint
from supple.proofs.checker.circle_zeros import circle_zeros
from supple.proofs.checker.hinge_lines import Three, applied, cross, dot, minus, plus, times, turned

KINDS = ("meeting", "parallel", "general", "planar")
MEETING, PARALLEL, GENERAL, PLANAR = range(4)
FREE = "an angle may be free: a family of postures, or nearly"
DOUBLE = "two postures meet, or nearly"
Turn = tuple[Any, Any]  # cosine and sine
Rows = Sequence[Three]


def opening(a: Any, b: Any, c: Any) -> list[Turn]:
    """All turns with ``a cos x + b sin x = c``."""
    square = a * a + b * b
    if not square > 0:
        raise Unproved(FREE)
    r = square.sqrt()
    x = c / r
    left = 1 - x * x
    if left < 0:
        return []
    if not left > 0:
        raise Unproved(DOUBLE)
    y, ca, sa = left.sqrt(), a / r, b / r
    return [(ca * x - sa * y, sa * x + ca * y), (ca * x + sa * y, sa * x - ca * y)]


def bringing(k: Three, a: Three, b: Three) -> Turn:
    """The turn about k that brings a to b, if there is one."""
    c, s = dot(a, b) - dot(k, a) * dot(k, b), dot(k, cross(a, b))
    square = c * c + s * s
    if not square > 0:
        raise Unproved(FREE)
    r = square.sqrt()
    return c / r, s / r


def angle(turn: Turn) -> Any:
    """The angle of a turn, wherever the ball lies on the circle."""
    arb = need_flint().arb
    c, s = turn
    return arb.atan2(s, c) if c.mid() > 0 else arb.pi() + arb.atan2(-s, -c)


def back(turn: Turn) -> Turn:
    """The turn undone."""
    return turn[0], -turn[1]


def boxes_of_formula(kind: int, h: Rows, p: Rows, R: Rows, t: Three) -> Iterator[list[Any]]:
    """Boxes of six angles: each posture of an arm of that kind whose motion is (R, t) lies in one, but for whole turns."""
    if kind == PLANAR:
        yield from _planar(h, p, R, t)
        return
    for first in _arm(kind, h, p, plus(applied(R, p[3]), t)):
        yield from ([angle(x) for x in (*first, *last)] for last in _wrist(h, R, first))


# ── three lines that meet ────────────────────────────────────────────────────────────────────────────────────────────
def _arm(kind: int, h: Rows, p: Rows, centre: Three) -> Iterator[tuple[Turn, Turn, Turn]]:
    """The first three turns that bring the wrist's centre to a place."""
    m, v, k = minus(p[1], p[0]), minus(centre, p[0]), minus(p[3], p[2])
    lift = times(dot(h[2], k), h[2])
    y = minus(plus(p[2], lift), p[1]), minus(k, lift), cross(h[2], k)  # of 1, cosine and sine
    x = [dot(h[1], each) for each in y]
    long = dot(y[0], y[0]) + dot(y[1], y[1]), 2 * dot(y[0], y[1]), 2 * dot(y[0], y[2])
    tilt, slid = dot(h[0], h[1]), dot(m, h[1])
    e = [-tilt * each for each in x]
    f = [-n / 2 - slid * each for n, each in zip(long, x, strict=True)]
    e[0] += dot(h[0], minus(v, m))
    f[0] += (dot(v, v) - dot(m, m)) / 2
    if kind == GENERAL:
        a, b = minus(h[0], times(tilt, h[1])), minus(m, times(slid, h[1]))
        side = dot(h[1], cross(a, b))
        if not abs(side) > 0:
            raise Unproved("the first two lines meet or are parallel, or nearly")
        u, w = times(1 / side, cross(b, h[1])), times(1 / side, cross(h[1], a))
        z = [plus(times(e[i], u), times(f[i], w)) for i in range(3)]
        linear = [2 * (dot(z[0], z[i]) + x[0] * x[i]) - long[i] for i in (1, 2)]
        square = [dot(z[1], z[1]) + x[1] * x[1], 2 * (dot(z[1], z[2]) + x[1] * x[2]), dot(z[2], z[2]) + x[2] * x[2]]
        thirds = circle_zeros([dot(z[0], z[0]) + x[0] * x[0] - long[0], *linear, *square])
    else:
        line = f if kind == MEETING else e
        thirds = opening(line[1], line[2], -line[0])
    for c, s in thirds:
        there = [y[0][i] + c * y[1][i] + s * y[2][i] for i in range(3)]
        right = e[0] + c * e[1] + s * e[2], f[0] + c * f[1] + s * f[2]
        Y = minus(there, times(dot(h[1], there), h[1]))
        if kind == GENERAL:
            seconds = [bringing(h[1], Y, plus(times(right[0], u), times(right[1], w)))]  # pyright: ignore[reportPossiblyUnboundVariable]
        else:
            row, value = (m, right[1]) if kind == PARALLEL else (h[0], right[0])
            seconds = opening(dot(row, Y), dot(row, cross(h[1], Y)), value)
        for second in seconds:
            yield bringing(h[0], plus(m, turned(h[1], *second, there)), v), second, (c, s)


def _wrist(h: Rows, R: Rows, first: Sequence[Turn]) -> Iterator[tuple[Turn, Turn, Turn]]:
    """The last three turns behind the first three."""

    def left(a: Three) -> Three:
        a = applied(R, a)
        for axis, turn in zip(h, first, strict=False):
            a = turned(axis, *back(turn), a)
        return a

    away, e = left(h[5]), across(h[5])
    aside, held = left(e), dot(h[3], h[4]) * dot(h[4], h[5])
    for fifth in opening(dot(h[3], h[5]) - held, dot(h[3], cross(h[4], h[5])), dot(h[3], away) - held):
        fourth = bringing(h[3], turned(h[4], *fifth, h[5]), away)
        yield fourth, fifth, bringing(h[5], e, turned(h[4], *back(fifth), turned(h[3], *back(fourth), aside)))


def across(k: Three) -> Three:
    """A direction at right angles to another."""
    e = [0 * k[0], k[2], -k[1]] if abs(k[0].mid()) < 0.6 else [-k[2], 0 * k[0], k[0]]
    r = dot(e, e).sqrt()
    return [x / r for x in e]


# ── three parallel lines ─────────────────────────────────────────────────────────────────────────────────────────────
def _planar(h: Rows, p: Rows, R: Rows, t: Three) -> Iterator[list[Any]]:
    up, columns = h[1], [[R[i][j] for i in range(3)] for j in range(3)]
    v = minus(plus(applied(R, p[5]), t), p[0])
    held, held5 = dot(h[0], v) * dot(h[0], up), dot(up, h[4]) * dot(h[4], h[5])
    last = applied(R, h[5])
    for first in opening(dot(v, up) - held, dot(v, cross(h[0], up)), dot(up, minus(p[5], p[0])) - held):
        upright = turned(h[0], *first, up)
        for fifth in opening(dot(up, h[5]) - held5, dot(up, cross(h[4], h[5])), dot(upright, last) - held5):
            sixth = bringing(h[5], applied(columns, upright), turned(h[4], *back(fifth), up))
            yield from _bars(h, p, R, (first, fifth, sixth), v)


def _bars(h: Rows, p: Rows, R: Rows, ends: tuple[Turn, Turn, Turn], v: Three) -> Iterator[list[Any]]:
    """The three parallel turns between the others: two bars in the plane, and what is left of its rotation."""
    first, fifth, sixth = ends

    def carried(a: Three) -> Three:
        a = turned(h[5], *back(sixth), turned(h[4], *back(fifth), a))
        return turned(h[0], *back(first), applied(R, a))

    up = h[1]
    e = across(up)
    g = cross(up, e)
    there = plus(turned(h[0], *back(first), v), carried(minus(p[3], p[5])))
    L, K, Y = ((dot(e, a), dot(g, a)) for a in (minus(p[2], p[1]), minus(p[3], p[2]), minus(plus(there, p[0]), p[1])))
    rest = (Y[0] ** 2 + Y[1] ** 2 - L[0] ** 2 - L[1] ** 2 - K[0] ** 2 - K[1] ** 2) / 2
    total = carried(e)
    signs = [1 if dot(up, h[j]).mid() > 0 else -1 for j in (2, 3)]
    for c, s in opening(L[0] * K[0] + L[1] * K[1], L[1] * K[0] - L[0] * K[1], rest):
        X = L[0] + c * K[0] - s * K[1], L[1] + s * K[0] + c * K[1]
        second = X[0] * Y[0] + X[1] * Y[1], X[0] * Y[1] - X[1] * Y[0]
        if not second[0] ** 2 + second[1] ** 2 > 0:
            raise Unproved(FREE)
        a2, a3 = angle(second), angle((c, s))
        a4 = angle((dot(e, total), dot(g, total))) - a2 - a3
        yield [angle(first), a2, signs[0] * a3, signs[1] * a4, angle(fifth), angle(sixth)]
