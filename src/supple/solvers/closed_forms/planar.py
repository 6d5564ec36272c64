"""Arms whose second, third and fourth axes are parallel and whose last two meet, as those of Universal Robots.

Let h be the common direction and C where the last two axes meet. The three parallel hinges change no part along h:

* of ``E_1⁻¹ g C``, which is ``h·C``: an equation for the first angle;
* of the rotation, ``R_1 h · R h_6 = h·R_5 h_6``: an equation for the fifth; the sixth then brings ``Rᵀ R_1 h`` to ``R_5ᵀ h``.

What is left, ``D = E_1⁻¹ g E_6⁻¹ E_5⁻¹ = E_2 E_3 E_4``, moves the plane: with L, K from the second to the third and from the
third to the fourth axis, ``D p_4 − p_2 = A_2 (L + A_3 K)``. Its length gives the third angle, its direction the second, and
the rotation of D the sum of all three.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.triples import (
    Three,
    by_columns,
    by_rows,
    cross,
    dot,
    minus,
    perpendicular,
    plus,
    triple,
    turned,
)
from supple.kernels.compiling import leaf, stage
from supple.solvers.closed_forms.openings import ON_AXIS, bringing, opened, opening
from supple.solvers.closed_forms.rows_of_arms import ALONG, MOST, MOTION, THROUGH, TOUCH

CosSin = tuple[float, float]


@leaf
def carried(arm: Any, scratch: Any, first: CosSin, fifth: CosSin, sixth: CosSin, a: Three) -> Three:
    """The rotation of ``E_1⁻¹ g E_6⁻¹ E_5⁻¹`` applied to a vector."""
    a = turned(triple(arm, ALONG + 4), fifth[0], -fifth[1], a)
    a = by_columns(scratch, MOTION, turned(triple(arm, ALONG + 5), sixth[0], -sixth[1], a))
    return turned(triple(arm, ALONG), first[0], -first[1], a)


@stage
def elbow_angles(
    arm: Any, scratch: Any, ends: tuple[CosSin, CosSin, CosSin], v: Three, branches: Any, n: int
) -> tuple[int, int]:
    """Both bends of the parallel hinges between a first, fifth and sixth angle; returns the branches, and if one is free."""
    first, fifth, sixth = ends
    h = triple(arm, ALONG + 1)
    e = perpendicular(h)
    f = cross(h, e)
    p2, p3, p4 = triple(arm, THROUGH + 1), triple(arm, THROUGH + 2), triple(arm, THROUGH + 3)
    there = turned(triple(arm, ALONG), first[0], -first[1], v)
    there = plus(there, carried(arm, scratch, first, fifth, sixth, minus(p4, triple(arm, THROUGH + 5))))
    there = minus(plus(there, triple(arm, THROUGH)), p2)
    L, K, Y = minus(p3, p2), minus(p4, p3), there
    l0, l1, k0, k1, y0, y1 = dot(e, L), dot(f, L), dot(e, K), dot(f, K), dot(e, Y), dot(f, Y)
    turn = carried(arm, scratch, first, fifth, sixth, e)
    total = math.atan2(dot(f, turn), dot(e, turn))
    left = 0.5 * (y0 * y0 + y1 * y1 - l0 * l0 - l1 * l1 - k0 * k0 - k1 * k1)
    way = opening(l0 * k0 + l1 * k1, l1 * k0 - l0 * k1, left, arm[TOUCH, 0])
    free = 0
    same3 = 1.0 if dot(h, triple(arm, ALONG + 2)) > 0.0 else -1.0
    same4 = 1.0 if dot(h, triple(arm, ALONG + 3)) > 0.0 else -1.0
    for k in range(way[0]):
        if n == MOST:
            break
        c3, s3 = opened(way, k)
        x0, x1 = l0 + c3 * k0 - s3 * k1, l1 + s3 * k0 + c3 * k1
        c2, s2 = x0 * y0 + x1 * y1, x0 * y1 - x1 * y0
        if c2 * c2 + s2 * s2 <= ON_AXIS * ON_AXIS * (l0 * l0 + l1 * l1) * (k0 * k0 + k1 * k1):
            free = 1
        turn4 = total - math.atan2(s2, c2) - math.atan2(s3, c3)
        branches[n, 0, 0], branches[n, 0, 1] = first
        branches[n, 1, 0], branches[n, 1, 1] = c2, s2
        branches[n, 2, 0], branches[n, 2, 1] = c3, same3 * s3
        branches[n, 3, 0], branches[n, 3, 1] = math.cos(turn4), same4 * math.sin(turn4)
        branches[n, 4, 0], branches[n, 4, 1] = fifth
        branches[n, 5, 0], branches[n, 5, 1] = sixth
        n += 1
    return n, free


@stage
def planar_branches(arm: Any, start: Any, scratch: Any, branches: Any) -> tuple[int, int]:
    """All branches of such an arm; returns how many, and whether some angle is free."""
    h1, h, h5, h6 = triple(arm, ALONG), triple(arm, ALONG + 1), triple(arm, ALONG + 4), triple(arm, ALONG + 5)
    centre, p1 = triple(arm, THROUGH + 5), triple(arm, THROUGH)
    v = minus(plus(by_columns(scratch, MOTION, centre), triple(scratch, MOTION + 3)), p1)
    held = dot(h1, v) * dot(h1, h)
    a, b = dot(v, h) - held, dot(v, cross(h1, h))
    one = opening(a, b, dot(h, minus(centre, p1)) - held, arm[TOUCH, 0])
    n, free = 0, int(a * a + b * b <= ON_AXIS * ON_AXIS * dot(v, v))
    held5 = dot(h, h5) * dot(h5, h6)
    last = by_columns(scratch, MOTION, h6)
    for i in range(one[0]):
        c1, s1 = opened(one, i)
        upright = turned(h1, c1, s1, h)
        five = opening(dot(h, h6) - held5, dot(h, cross(h5, h6)), dot(upright, last) - held5, arm[TOUCH, 0])
        for k in range(five[0]):
            c5, s5 = opened(five, k)
            c6, s6, any6 = bringing(h6, by_rows(scratch, MOTION, upright), turned(h5, c5, -s5, h))
            if any6:
                c6, s6, free = start[5, 0], start[5, 1], 1
            n, more = elbow_angles(arm, scratch, ((c1, s1), (c5, s5), (c6, s6)), v, branches, n)
            free |= more
    return n, free
