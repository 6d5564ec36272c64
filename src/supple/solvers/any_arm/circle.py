"""Zeros of a trigonometric polynomial on the circle, the determinant of a matrix, isolated safely.

Arcs are cut in two until each is without a zero, by ``|f| > |f′| w + |f″| w²/2 + M₃ w³/6`` in its middle with w half its width
and M₃ a bound on ``|f‴|`` everywhere, or f rises or falls all along it, by the same for f′: then signs at its ends tell.

The polynomial comes from a few determinants around the circle, and is lost where it is less than their rounding. There an arc
is looked at by itself: determinants at Chebyshev's points of it, ``x = cos θ``, make a cosine series in θ, which has its zeros
isolated in the same way. What no arc wider than `NARROW` tells apart even so is given as one zero, and is not sure.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf, row, stage, table
from supple.solvers.any_arm.pencil import factored, fill
from supple.solvers.any_arm.rows_of_elimination import (
    ARCS,
    COSINES,
    DEGREE,
    LOCAL,
    MATRIX,
    NODES,
    QUARTERS,
    ROWS_CHANGED,
    SAMPLES,
    SERIES,
    SIX,
    SIZE,
    VALUES,
)

BEGUN, WITHIN = 32, 8  # arcs at first, of the circle and of the half circle of θ
NARROW = 1e-6
LOST = 1e-13  # of the largest sample: what rounding may be
FAINT = 1e-7  # of the largest sample: an arc is looked at by itself
OVER = 1.01  # by which such an arc is wider than it is
TWICE = 1e-8  # [rad] two zeros of neighbouring arcs that are one


@leaf
def find_series(memory: Any) -> None:
    """The coefficients of the polynomial from its samples."""
    f, turns, a = row(memory, VALUES, SAMPLES), row(memory, COSINES, 2 * SAMPLES), row(memory, SERIES, 2 * DEGREE + 1)
    for k in range(DEGREE + 1):
        c = s = 0.0
        for i in range(SAMPLES):
            at = (k * i) % SAMPLES
            c += f[i] * turns[at]
            s += f[i] * turns[SAMPLES + at]
        if k == 0:
            a[0] = c / SAMPLES
        else:
            a[k], a[DEGREE + k] = 2.0 * c / SAMPLES, 2.0 * s / SAMPLES


@stage
def find_local(memory: Any, middle: float, half: float) -> float:
    """The cosine series in θ of an arc; returns its largest sample."""
    M, changed, six = table(memory, MATRIX, SIZE, SIZE), row(memory, ROWS_CHANGED, SIZE), table(memory, SIX, 3, 54)
    f, a, quarters = (
        row(memory, VALUES + SAMPLES, NODES),
        row(memory, LOCAL, 2 * NODES - 1),
        row(memory, QUARTERS, 4 * NODES),
    )
    most = 0.0
    for i in range(NODES):
        t = middle + half * quarters[2 * i + 1]
        fill(six, math.cos(t), math.sin(t), M)
        f[i] = factored(M, changed)
        most = max(most, abs(f[i]))
    for k in range(NODES):
        c = 0.0
        for i in range(NODES):
            c += f[i] * quarters[(k * (2 * i + 1)) % (4 * NODES)]
        a[k] = (1.0 if k == 0 else 2.0) * c / NODES
        if k > 0:
            a[NODES - 1 + k] = 0.0
    return most


@leaf
def bends(a: Any, degree: int, t: float) -> tuple[float, float, float]:
    """Value, first and second derivative."""
    c1, s1 = math.cos(t), math.sin(t)
    f, d, e = a[0], 0.0, 0.0
    c, s = 1.0, 0.0
    for k in range(1, degree + 1):
        c, s = c * c1 - s * s1, s * c1 + c * s1
        x, y = a[k], a[degree + k]
        v = x * c + y * s
        f += v
        d += k * (y * c - x * s)
        e -= k * k * v
    return f, d, e


@leaf
def third_bend(a: Any, degree: int) -> float:
    """A bound on the third derivative."""
    third = 0.0
    for k in range(1, degree + 1):
        third += k * k * k * math.sqrt(a[k] * a[k] + a[degree + k] * a[degree + k])
    return third


@stage
def zero_between(a: Any, degree: int, low: float, high: float, rising: bool) -> float:
    """The zero between two angles where f changes its sign: Newton's steps kept inside."""
    t = 0.5 * (low + high)
    for _ in range(60):
        f, d, _ = bends(a, degree, t)
        if (f < 0.0) == rising:
            low = t
        else:
            high = t
        new = t - f / d if d != 0.0 else high
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - t) < 1e-14:
            return new
        t = new
    return t


@stage
def zeros_on_arc(
    a: Any, degree: int, middle: float, half: float, bounds: tuple[float, float], arcs: Any, zeros: Any, n: int
) -> tuple[int, bool]:
    """The zeros on an arc behind the first n, and whether all are single and sure. Bounds: of the third bend, of rounding."""
    third, noise = bounds
    top = 1
    arcs[0, 0], arcs[0, 1] = middle, half
    while top > 0:
        top -= 1
        t, w = arcs[top, 0], arcs[top, 1]
        f, d, e = bends(a, degree, t)
        if abs(f) > abs(d) * w + 0.5 * abs(e) * w * w + third * w * w * w / 6.0 + noise:
            continue
        if n == zeros.shape[0]:
            return n, False
        if abs(d) * w > abs(e) * w * w + 0.5 * third * w * w * w + 2.0 * noise:
            low, high = bends(a, degree, t - w)[0], bends(a, degree, t + w)[0]
            if (low < 0.0) != (high < 0.0):
                zeros[n] = zero_between(a, degree, t - w, t + w, low < 0.0)
                n += 1
                continue
            if min(abs(low), abs(high)) > noise:
                continue
        if w < NARROW or top + 2 > arcs.shape[0]:
            zeros[n] = t
            return n + 1, False
        arcs[top, 0], arcs[top, 1] = t + 0.5 * w, 0.5 * w
        arcs[top + 1, 0], arcs[top + 1, 1] = t - 0.5 * w, 0.5 * w
        top += 2
    return n, True


@stage
def zeros_nearby(memory: Any, middle: float, half: float, zeros: Any, n: int) -> tuple[int, bool]:
    """The same for an arc that is looked at by itself."""
    half *= OVER
    most = find_local(memory, middle, half)
    a, arcs, first, sure = row(memory, LOCAL, 2 * NODES - 1), table(memory, ARCS, 64, 2), n, most > 0.0
    bounds, width = (third_bend(a, NODES - 1), LOST * most), 0.5 * math.pi / WITHIN
    for i in range(WITHIN):
        last, fine = zeros_on_arc(a, NODES - 1, (2 * i + 1) * width, width, bounds, arcs, zeros, n)
        sure = sure and fine
        kept = n
        for k in range(n, last):
            t, twice = middle + half * math.cos(zeros[k]), False
            for j in range(first):
                twice = twice or abs(zeros[j] - t) < TWICE
            if not twice:
                zeros[kept] = t
                kept += 1
        n = kept
    return n, sure


@stage
def zeros_on_circle(memory: Any, zeros: Any) -> tuple[int, bool]:
    """The zeros of the polynomial, and whether all are single and sure."""
    a, arcs = row(memory, SERIES, 2 * DEGREE + 1), table(memory, ARCS, 64, 2)
    most = 0.0
    for i in range(SAMPLES):
        most = max(most, abs(memory[VALUES + i]))
    if not (most > 0.0 and math.isfinite(most)):
        return 0, False
    n, sure, half = 0, True, math.pi / BEGUN
    bounds = third_bend(a, DEGREE), LOST * most
    for first in range(BEGUN):
        middle = (2 * first + 1) * half
        size = max(abs(bends(a, DEGREE, middle)[0]), abs(bends(a, DEGREE, middle + half)[0]))
        last, fine = n, False
        if size > FAINT * most:
            last, fine = zeros_on_arc(a, DEGREE, middle, half, bounds, arcs, zeros, n)
        if not fine:
            last, fine = zeros_nearby(memory, middle, half, zeros, n)
        n, sure = last, sure and fine
    if n > 1 and abs(zeros[0] + 2.0 * math.pi - zeros[n - 1]) < TWICE:
        n -= 1
    return n, sure
