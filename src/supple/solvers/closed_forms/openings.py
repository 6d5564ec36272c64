"""The two equations that all formulas are made of, and the quartic.

`opening`: ``a cos x + b sin x = c`` has the solutions ``x = α ± β`` with ``(cos α, sin α) ∝ (a, b)`` and
``cos β = c/√(a² + b²)``. A hair outside of what can be counts as touching: what comes of it is checked in the end.

`bringing`: the turn about an axis that brings one vector to another.

`quartic_angles`: ``f(x) = 0`` for a trigonometric polynomial of degree two. With x measured from where f is large,
``t = tan(x/2)`` makes it a polynomial of degree four, whose zeros lie between those of its derivative, and so on down.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.triples import Three, dot
from supple.kernels.compiling import leaf, stage

ON_AXIS = 1e-7  # parts of its length that a vector may be off an axis and still count as on it
SHIFTS = 8
HALVINGS = 80


@leaf
def opening(a: float, b: float, c: float, touching: float) -> tuple[int, float, float, float, float]:
    """How many solutions, and (cos α, sin α, cos β, sin β); what fails by `touching` counts as touching."""
    square = a * a + b * b
    if not square > 0.0:
        return 0, 1.0, 0.0, 1.0, 0.0
    r = 1.0 / math.sqrt(square)
    left = 1.0 - c * c / square
    if left <= 0.0:
        side = 1.0 if c > 0.0 else -1.0
        return (2 if left > -touching else 0), a * r, b * r, side, 0.0  # twice the same
    return 2, a * r, b * r, c * r, math.sqrt(left)


@leaf
def opened(way: tuple[int, float, float, float, float], k: int) -> tuple[float, float]:
    """Cosine and sine of solution 0 or 1."""
    s = way[4] if k == 0 else -way[4]
    return way[1] * way[3] - way[2] * s, way[2] * way[3] + way[1] * s


@leaf
def bringing(k: Three, a: Three, b: Three) -> tuple[float, float, int]:
    """Cosine and sine of the turn about the unit axis k that brings a to b; 1 if any turn does."""
    ak, bk = dot(k, a), dot(k, b)
    c = dot(a, b) - ak * bk
    s = k[0] * (a[1] * b[2] - a[2] * b[1]) + k[1] * (a[2] * b[0] - a[0] * b[2]) + k[2] * (a[0] * b[1] - a[1] * b[0])
    square = c * c + s * s
    if not square > ON_AXIS * ON_AXIS * ON_AXIS * ON_AXIS * (dot(a, a) * dot(b, b)):
        return 1.0, 0.0, 1
    r = 1.0 / math.sqrt(square)
    return c * r, s * r, 0


@leaf
def polynomial(p: Any, row: int, degree: int, t: float) -> float:
    """The polynomial whose coefficients stand in a row, the constant first."""
    value = p[row, degree]
    for i in range(degree - 1, -1, -1):
        value = value * t + p[row, i]
    return value


@leaf
def bracketed_zero(p: Any, degree: int, low: float, high: float) -> float:
    """The zero of row `degree` between two places where its signs differ: Newton's steps, halved where they leave."""
    rising = polynomial(p, degree, degree, low) < 0.0
    t = 0.5 * (low + high)
    for _ in range(HALVINGS):
        value = polynomial(p, degree, degree, t)
        if (value < 0.0) == rising:
            low = t
        else:
            high = t
        slope = polynomial(p, degree - 1, degree - 1, t)
        new = t - value / slope if slope != 0.0 else high
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - t) <= 1e-15 * (1.0 + abs(t)):
            return new
        t = new
    return t


@leaf
def zeros_of_quartic(p: Any, zeros: Any, flat: float) -> int:
    """Real zeros of row 4 of p, ascending, into row 4 of `zeros`; rows 3 … 1 are made its derivatives. Returns how many.

    An extremum that all but touches zero is given as two zeros.
    """
    for degree in range(4, 0, -1):
        for i in range(degree):
            p[degree - 1, i] = (i + 1) * p[degree, i + 1]
    below = 0
    for degree in range(1, 5):
        bound = 0.0
        for i in range(degree):
            bound = max(bound, abs(p[degree, i]))
        bound = 1.0 + bound / max(abs(p[degree, degree]), 1e-300)
        here, last = 0, -bound
        before = polynomial(p, degree, degree, last)
        for k in range(below + 1):
            at = zeros[degree - 1, k] if k < below else bound
            value = polynomial(p, degree, degree, at)
            size = 0.0
            for i in range(degree + 1):
                size += abs(p[degree, i]) * abs(at) ** i
            if before * value < 0.0 and here < degree:
                zeros[degree, here] = bracketed_zero(p, degree, last, at)
                here += 1
            elif k < below and degree == 4 and here < degree - 1 and abs(value) <= flat * size:
                zeros[degree, here] = zeros[degree, here + 1] = at
                here += 2
            last, before = at, value
        below = here
    return below


@stage
def quartic_angles(f: Any, p: Any, zeros: Any, angles: Any, flat: float) -> int:
    """Cosines and sines of all x with ``f₀ + f₁c + f₂s + f₃c² + f₄cs + f₅s² = 0``; returns how many rows of `angles`."""
    best, c0, s0 = -1.0, 1.0, 0.0
    for k in range(SHIFTS):
        c, s = math.cos(2.0 * math.pi * k / SHIFTS), math.sin(2.0 * math.pi * k / SHIFTS)
        value = abs(f[0] + f[1] * c + f[2] * s + f[3] * c * c + f[4] * c * s + f[5] * s * s)
        if value > best:
            best, c0, s0 = value, -c, -s  # that place becomes x = π, t = ∞
    if not best > 0.0:
        return 0
    # seen from x₀: c = c₀c' − s₀s', s = s₀c' + c₀s'
    a1, a2 = f[1] * c0 + f[2] * s0, f[2] * c0 - f[1] * s0
    b0 = f[3] * c0 * c0 + f[4] * c0 * s0 + f[5] * s0 * s0
    b1 = 2.0 * (f[5] - f[3]) * c0 * s0 + f[4] * (c0 * c0 - s0 * s0)
    b2 = f[3] * s0 * s0 - f[4] * c0 * s0 + f[5] * c0 * c0
    # c' = (1 − t²)/(1 + t²), s' = 2t/(1 + t²)
    p[4, 0] = f[0] + a1 + b0
    p[4, 1] = 2.0 * a2 + 2.0 * b1
    p[4, 2] = 2.0 * f[0] - 2.0 * b0 + 4.0 * b2
    p[4, 3] = 2.0 * a2 - 2.0 * b1
    p[4, 4] = f[0] - a1 + b0
    n = zeros_of_quartic(p, zeros, flat)
    for k in range(n):
        t = zeros[4, k]
        d = 1.0 / (1.0 + t * t)
        c, s = (1.0 - t * t) * d, 2.0 * t * d
        angles[k, 0], angles[k, 1] = c0 * c - s0 * s, s0 * c + c0 * s
    return n
