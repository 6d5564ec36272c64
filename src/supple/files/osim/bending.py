"""Joints of constant curvature: a rod of constant length bent into an arc.

The child is turned by X(α) Z(β) Y(γ), and stands at the end of an arc that leaves the parent along y and arrives along the
child's y, ``l = R e_y``. Its chord lies half way between both, so with θ the angle between them

    p = L G (e_y + l),    G = tan(θ/2) / θ,    cos θ = cos α cos β.

That is a slide by ``L G`` before the turns and another one behind them. G is no sum of a curve of α and a curve of β, but
nearly: what is missing is a short sum of products ``u(α) v(β)`` (found by a singular value decomposition on a grid), and a
product of two numbers below one in size is a sum of points on circles, ``cos a cos b = ½ cos(a + b) + ½ cos(a − b)``, which
come in pairs that mirror each other so that only the slide along y is left. Products are added until what is left is below
`NEAR` of the length. Curves are splines over the range that OpenSim allows (1.56 rad from straight).
"""

from __future__ import annotations

import numpy as np

from supple.figure.curves import Spline
from supple.files.osim.functions import Sum
from supple.geometry.placements import Floats

BOUND = np.pi / 2 - 0.01  # OpenSim's
KNOTS = 81
NEAR = 1e-5
MOST_PRODUCTS = 3


def arc(
    name_a: str, name_b: str, neutral: tuple[float, float], length: float
) -> tuple[Sum, list[tuple[Sum, Sum, float]]]:
    """``L G`` as a sum of curves, and products ``w cos a cos b`` as (a, b, w) with a and b sums of one coordinate each."""
    x = np.linspace(-BOUND, BOUND, KNOTS)
    theta = np.arccos(np.clip(np.cos(x)[:, None] * np.cos(x)[None, :], -1.0, 1.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        G = length * np.where(theta < 1e-4, 0.5 + theta**2 / 24.0, np.tan(theta / 2.0) / theta)
    middle = KNOTS // 2
    base, rows, columns = G[middle, middle], G[:, middle] - G[middle, middle], G[middle, :] - G[middle, middle]
    left = G - base - rows[:, None] - columns[None, :]
    u, sizes, v = np.linalg.svd(left)
    value = Sum(base) + _curve(name_a, neutral[0], x, rows) + _curve(name_b, neutral[1], x, columns)
    products = []
    for k in range(MOST_PRODUCTS):
        if np.abs(left).max() < NEAR * abs(length):
            break
        f, g = u[:, k], v[k]
        high, wide = 1.25 * np.abs(f).max(), 1.25 * np.abs(g).max()
        a, b = np.arccos(f / high), np.arccos(g / wide)
        left = left - sizes[k] * np.outer(f, g)
        products.append((_curve(name_a, neutral[0], x, a), _curve(name_b, neutral[1], x, b), sizes[k] * high * wide))
    return value, products


def _curve(name: str, neutral: float, x: Floats, y: Floats) -> Sum:
    """A curve of a coordinate, whose zero is where the arc has its neutral angle."""
    return Sum(0.0, ((name, Spline(tuple((x - neutral).tolist()), tuple(y.tolist()), "cubic")),))
