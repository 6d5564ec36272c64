"""TURN, a frame in an orientation: ``P = w c²(3 − tr RgᵀR) = 4w c² sin²(φ/2)``, φ the angle between both, c metres a radian.

P is linear in the axes, so that its second derivative in them is zero.

| looks at | target | force ∂P/∂x_k | residual ρ [√w m] |
|---|---|---|---|
| x, y, z axes | Rg (9) | −w c² x_gk | 2√w c sin(φ/2) a, the turn a·φ from goal to effector |
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf


@leaf
def turn_potential(X: Any, T: Any, t: int, c2: float, f: Any) -> float:
    """TURN: ``P = c² Σ_k (1 − x_gk·x_k)``, linear in the axes; the differences are formed first, to keep small P exact."""
    P = 0.0
    for k in range(3):
        for i in range(3):
            g = T[t + 3 * i + k]
            e = X[3 + 3 * k + i] - g
            P += 0.5 * c2 * e * e
            f[3 + 3 * k + i] = -c2 * g
    return P


@leaf
def turn_residual(X: Any, T: Any, t: int, w: float, rho: Any, rows: Any, a: int) -> None:
    """TURN: ρ = 2 sin(φ/2) a is twice the vector part of the unit quaternion (u, ρ/2) of ``R Rgᵀ``.

    A small turn δ before it makes ``dρ = u δ + ½ δ × ρ``. Half a turn away, where the axis cannot be read off the
    antisymmetric part, it is read off the symmetric one.
    """
    e0, e1 = 0.0, 0.0
    e2, c = 0.0, -0.5
    for k in range(3):
        g0, g1, g2 = T[t + k], T[t + 3 + k], T[t + 6 + k]
        x, y, z = X[3 + 3 * k], X[4 + 3 * k], X[5 + 3 * k]
        e0 += 0.5 * (g1 * z - g2 * y)
        e1 += 0.5 * (g2 * x - g0 * z)
        e2 += 0.5 * (g0 * y - g1 * x)
        c += 0.5 * (g0 * x + g1 * y + g2 * z)
    u = math.sqrt(max(0.5 * (1.0 + c), 0.0))
    if u > 1e-4:
        e0, e1, e2 = e0 / u, e1 / u, e2 / u
    else:
        e0, e1, e2 = half_turn_axis(X, T, t, e0, e1, e2)
    rho[a], rho[a + 1], rho[a + 2] = w * e0, w * e1, w * e2
    h = 0.5 * w
    for i in range(3):
        rows[a + i, 3] = rows[a + i, 4] = rows[a + i, 5] = 0.0
    rows[a, 0], rows[a, 1], rows[a, 2] = w * u, h * e2, -h * e1
    rows[a + 1, 0], rows[a + 1, 1], rows[a + 1, 2] = -h * e2, w * u, h * e0
    rows[a + 2, 0], rows[a + 2, 1], rows[a + 2, 2] = h * e1, -h * e0, w * u


@leaf
def half_turn_axis(X: Any, T: Any, t: int, e0: float, e1: float, e2: float) -> Any:
    """ρ near half a turn: twice the longest column of ``½(R Rgᵀ + I)``, scaled to a unit vector, on e's side."""
    best, b0 = -1.0, 0.0
    b1, b2 = 0.0, 0.0
    for j in range(3):
        m0, m1, m2 = 0.0, 0.0, 0.0
        for k in range(3):
            g = T[t + 3 * j + k]
            m0 += X[3 + 3 * k] * g
            m1 += X[4 + 3 * k] * g
            m2 += X[5 + 3 * k] * g
        m0, m1, m2 = m0 + (j == 0), m1 + (j == 1), m2 + (j == 2)
        size = m0 * m0 + m1 * m1 + m2 * m2
        if size > best:
            best, b0 = size, m0
            b1, b2 = m1, m2
    scale = 2.0 / math.sqrt(best)
    if b0 * e0 + b1 * e1 + b2 * e2 < 0.0:
        scale = -scale
    return scale * b0, scale * b1, scale * b2
