"""Arms whose last three axes meet in a point C, the wrist's centre (Pieper 1968).

**The arm.** ``E_1 E_2 E_3 C = w`` with ``w = g C``. Let ``y = E_3 C − p_2``, linear in cosine and sine of the third angle,
``m = p_2 − p_1``, ``v = w − p_1``, and ``R`` the second hinge's turn, so that ``E_2 E_3 C − p_1 = m + R y``. The first hinge
changes neither its length nor its part along h_1:

    h_1·R y = h_1·(v − m),      2 m·R y = |v|² − |m|² − |y|².

With y split into ``h_2·y`` and a vector Y of the plane across h_2, and h_1, m likewise into ``a`` and ``b`` of that plane,

    a·R Y = e_1 = h_1·(v − m) − (h_1·h_2)(h_2·y),      b·R Y = e_2 = (|v|² − |m|² − |y|²)/2 − (m·h_2)(h_2·y),

and e_1, e_2 are linear in cosine and sine of the third angle as well. Three cases:

* the first two axes meet: m = 0, and ``e_2 = 0`` is an equation for the third angle; then the first is one for the second;
* they are parallel: a = 0, and ``e_1 = 0`` is the equation for the third; then the second is one for the second angle;
* otherwise ``R Y = (a b)⁻ᵀ e``, and ``|Y|² = |(a b)⁻ᵀ e|²`` is the quartic for the third.

**The wrist.** ``R_4 R_5 R_6 = S``: ``h_4·S h_6 = h_4·R_5 h_6`` is an equation for the fifth angle; the fourth brings
``R_5 h_6`` to ``S h_6``; the sixth brings e to ``R_5ᵀ R_4ᵀ S e``, for e across h_6.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.algebra.triples import (
    Three,
    by_columns,
    cross,
    dot,
    minus,
    perpendicular,
    plus,
    put_triple,
    times,
    triple,
    turned,
)
from supple.kernels.compiling import leaf, stage
from supple.solvers.closed_forms.openings import ON_AXIS, bringing, opened, opening, quartic_angles
from supple.solvers.closed_forms.recognition import GENERAL, MEETING, PARALLEL
from supple.solvers.closed_forms.rows_of_arms import (
    ALONG,
    FOUND,
    LEFT,
    MOST,
    MOTION,
    POWERS,
    QUARTIC,
    THROUGH,
    TOUCH,
    ZEROS,
)


@stage
def wrist_angles(arm: Any, start: Any, scratch: Any, branches: Any, n: int) -> tuple[int, int]:
    """Both turns of the wrist behind the first three angles of branch n; returns the number of branches, and if one is free."""
    h4, h5, h6 = triple(arm, ALONG + 3), triple(arm, ALONG + 4), triple(arm, ALONG + 5)
    for i in range(3):
        column = triple(scratch, MOTION + i)
        for j in range(3):
            column = turned(triple(arm, ALONG + j), branches[n, j, 0], -branches[n, j, 1], column)
        put_triple(scratch, LEFT + i, column)
    away, e = by_columns(scratch, LEFT, h6), perpendicular(h6)
    aside = by_columns(scratch, LEFT, e)
    held = dot(h4, h5) * dot(h5, h6)
    way = opening(dot(h4, h6) - held, dot(h4, cross(h5, h6)), dot(h4, away) - held, arm[TOUCH, 0])
    first, free = n, 0
    for k in range(way[0]):
        if n == MOST:
            break
        c5, s5 = opened(way, k)
        c4, s4, any4 = bringing(h4, turned(h5, c5, s5, h6), away)
        if any4:
            c4, s4, free = start[3, 0], start[3, 1], 1
        back = turned(h5, c5, -s5, turned(h4, c4, -s4, aside))
        c6, s6, _ = bringing(h6, e, back)
        for j in range(3):
            branches[n, j, 0], branches[n, j, 1] = branches[first, j, 0], branches[first, j, 1]
        branches[n, 3, 0], branches[n, 3, 1] = c4, s4
        branches[n, 4, 0], branches[n, 4, 1] = c5, s5
        branches[n, 5, 0], branches[n, 5, 1] = c6, s6
        n += 1
    return n, free


@leaf
def on_circle(arm: Any, c: float, s: float) -> Three:
    """Where the third hinge brings the wrist's centre, from a point of the second axis."""
    h3, p3 = triple(arm, ALONG + 2), triple(arm, THROUGH + 2)
    there = turned(h3, c, s, minus(triple(arm, THROUGH + 3), p3))
    return minus(plus(p3, there), triple(arm, THROUGH + 1))


@leaf
def solved_plane(h1: Three, h2: Three, m: Three) -> tuple[Three, Three]:
    """The vectors u, w of ``R Y = e u + g w``, of the plane across h_2, from ``h_1·R Y = e`` and ``m·R Y = g``."""
    a, b = minus(h1, times(dot(h1, h2), h2)), minus(m, times(dot(m, h2), h2))
    side = 1.0 / dot(h2, cross(a, b))
    return times(side, cross(b, h2)), times(side, cross(h2, a))


@stage
def third_angles(kind: int, arm: Any, v: Three, scratch: Any) -> int:
    """Cosines and sines of the third angle, into the scratch; returns how many."""
    h1, h2, h3 = triple(arm, ALONG), triple(arm, ALONG + 1), triple(arm, ALONG + 2)
    m = minus(triple(arm, THROUGH + 1), triple(arm, THROUGH))
    k = minus(triple(arm, THROUGH + 3), triple(arm, THROUGH + 2))
    lift = times(dot(h3, k), h3)
    y0 = minus(plus(triple(arm, THROUGH + 2), lift), triple(arm, THROUGH + 1))  # y = y₀ + c y₁ + s y₂
    y1, y2 = minus(k, lift), cross(h3, k)
    x0, x1, x2 = dot(h2, y0), dot(h2, y1), dot(h2, y2)
    q0, q1, q2 = dot(y0, y0) + dot(y1, y1), 2.0 * dot(y0, y1), 2.0 * dot(y0, y2)  # |y|²
    tilt, slid = dot(h1, h2), dot(m, h2)
    e0, e1, e2 = dot(h1, minus(v, m)) - tilt * x0, -tilt * x1, -tilt * x2
    g0 = 0.5 * (dot(v, v) - dot(m, m) - q0) - slid * x0
    g1, g2 = -0.5 * q1 - slid * x1, -0.5 * q2 - slid * x2
    if kind != GENERAL:
        touch = arm[TOUCH, 0]
        way = opening(g1, g2, -g0, touch) if kind == MEETING else opening(e1, e2, -e0, touch)
        for i in range(way[0]):
            scratch[FOUND + i, 0], scratch[FOUND + i, 1] = opened(way, i)
        return way[0]
    u, w = solved_plane(h1, h2, m)
    z0, z1, z2 = (
        plus(times(e0, u), times(g0, w)),
        plus(times(e1, u), times(g1, w)),
        plus(times(e2, u), times(g2, w)),
    )
    f = scratch[QUARTIC]
    f[0] = dot(z0, z0) + x0 * x0 - q0
    f[1] = 2.0 * (dot(z0, z1) + x0 * x1) - q1
    f[2] = 2.0 * (dot(z0, z2) + x0 * x2) - q2
    f[3] = dot(z1, z1) + x1 * x1
    f[4] = 2.0 * (dot(z1, z2) + x1 * x2)
    f[5] = dot(z2, z2) + x2 * x2
    powers, zeros = scratch[POWERS : POWERS + 5], scratch[ZEROS : ZEROS + 5]
    return quartic_angles(f, powers, zeros, scratch[FOUND : FOUND + 4], arm[TOUCH, 1])


@leaf
def second_angles(
    kind: int, h1: Three, h2: Three, m: Three, Y: Three, right: tuple[float, float, float]
) -> tuple[int, float, float, float, float]:
    """The second angles that go with a third, as an opening."""
    if kind == GENERAL:
        u, w = solved_plane(h1, h2, m)
        c, s, free = bringing(h2, Y, plus(times(right[0], u), times(right[1], w)))
        return 1 - free, c, s, 1.0, 0.0
    row, value = (m, right[1]) if kind == PARALLEL else (h1, right[0])
    return opening(dot(row, Y), dot(row, cross(h2, Y)), value, right[2])


@stage
def wristed_branches(kind: int, arm: Any, start: Any, scratch: Any, branches: Any) -> tuple[int, int]:
    """All branches of an arm with a wrist; returns how many, and whether some angle is free."""
    h1, h2 = triple(arm, ALONG), triple(arm, ALONG + 1)
    centre = plus(by_columns(scratch, MOTION, triple(arm, THROUGH + 3)), triple(scratch, MOTION + 3))
    v = minus(centre, triple(arm, THROUGH))
    m = minus(triple(arm, THROUGH + 1), triple(arm, THROUGH))
    n, free = 0, 0
    for i in range(third_angles(kind, arm, v, scratch)):
        c3, s3 = scratch[FOUND + i, 0], scratch[FOUND + i, 1]
        y = on_circle(arm, c3, s3)
        x = dot(h2, y)
        Y = minus(y, times(x, h2))
        e = dot(h1, minus(v, m)) - dot(h1, h2) * x
        g = 0.5 * (dot(v, v) - dot(m, m) - dot(y, y)) - dot(m, h2) * x
        way = second_angles(kind, h1, h2, m, Y, (e, g, arm[TOUCH, 0]))
        if way[0] == 0:
            free |= int(dot(Y, Y) <= ON_AXIS * ON_AXIS * dot(y, y))
        for k in range(way[0]):
            c2, s2 = opened(way, k)
            c1, s1, any1 = bringing(h1, plus(m, turned(h2, c2, s2, y)), v)
            if any1:
                c1, s1, free = start[0, 0], start[0, 1], 1
            if n < MOST:
                branches[n, 0, 0], branches[n, 0, 1] = c1, s1
                branches[n, 1, 0], branches[n, 1, 1] = c2, s2
                branches[n, 2, 0], branches[n, 2, 1] = c3, s3
                n, more = wrist_angles(arm, start, scratch, branches, n)
                free |= more
    return n, free
