"""AIM, the x axis towards a point p: ``P = w c²‖d̂ − x‖² = 2w c²(1 − d̂·x)`` with ``d = p − r``, ``d̂ = d/ℓ``, c metres a radian.

| looks at | target | residual ρ [√w m] |
|---|---|---|
| position r, x axis | p (3) | √w c (d̂ − x) |
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf
from supple.kernels.terms.covectors import axis_row, point_row

NEAREST = 1e-9  # an aim at a point nearer than this to where the direction starts says nothing


@leaf
def inverse_length(d0: float, d1: float, d2: float) -> float:
    """1/ℓ; 0 where the aim is at the very point where the direction starts: there P is held constant."""
    length = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    return 1.0 / length if length > NEAREST else 0.0


@leaf
def aim_potential(X: Any, T: Any, t: int, c2: float, f: Any) -> float:
    """AIM: ``P = 2c²(1 − d̂·x)``; with ``Q = I − d̂d̂ᵀ`` the forces are ``∂P/∂r = (2c²/ℓ) Q x`` and ``∂P/∂x = −2c² d̂``."""
    d0, d1, d2 = T[t] - X[0], T[t + 1] - X[1], T[t + 2] - X[2]
    inv = inverse_length(d0, d1, d2)
    d0, d1, d2 = d0 * inv, d1 * inv, d2 * inv
    s = d0 * X[3] + d1 * X[4] + d2 * X[5]
    a = 2.0 * c2 * inv
    f[0], f[1], f[2] = a * (X[3] - s * d0), a * (X[4] - s * d1), a * (X[5] - s * d2)
    f[3], f[4], f[5] = -2.0 * c2 * d0, -2.0 * c2 * d1, -2.0 * c2 * d2
    e0, e1, e2 = d0 - X[3], d1 - X[4], d2 - X[5]
    return c2 * (e0 * e0 + e1 * e1 + e2 * e2)


@leaf
def aim_stiffness(X: Any, T: Any, t: int, c2: float, d: Any, M: Any) -> None:
    """``∂²P/∂r∂x = (2c²/ℓ) Q`` and ``∂²P/∂r² = (2c²/ℓ²) (d̂ (Qx)ᵀ + (Qx) d̂ᵀ + s Q)``, ``s = d̂·x``."""
    s = 0.0
    for i in range(3):
        d[i] = T[t + i] - X[i]
    inv = inverse_length(d[0], d[1], d[2])
    for i in range(3):
        d[i] *= inv
        s += d[i] * X[3 + i]
    for i in range(3):
        for j in range(3):
            Q = (1.0 if i == j else 0.0) - d[i] * d[j]
            y = d[i] * (X[3 + j] - s * d[j]) + (X[3 + i] - s * d[i]) * d[j]
            M[i, j] = 2.0 * c2 * inv * inv * (y + s * Q)
            M[i, 3 + j] = M[3 + j, i] = 2.0 * c2 * inv * Q
            M[3 + i, 3 + j] = 0.0


@leaf
def aim_residual(X: Any, T: Any, t: int, w: float, rho: Any, rows: Any, a: int) -> None:
    """AIM: ``ρ = d̂ − x``, ``dd̂ = −(I − d̂d̂ᵀ) dr/ℓ``."""
    d0, d1, d2 = T[t] - X[0], T[t + 1] - X[1], T[t + 2] - X[2]
    inv = inverse_length(d0, d1, d2)
    d0, d1, d2 = d0 * inv, d1 * inv, d2 * inv
    rho[a], rho[a + 1], rho[a + 2] = w * (d0 - X[3]), w * (d1 - X[4]), w * (d2 - X[5])
    u = w * inv
    point_row(X, u * (d0 * d0 - 1.0), u * d0 * d1, u * d0 * d2, rows, a)
    point_row(X, u * d1 * d0, u * (d1 * d1 - 1.0), u * d1 * d2, rows, a + 1)
    point_row(X, u * d2 * d0, u * d2 * d1, u * (d2 * d2 - 1.0), rows, a + 2)
    axis_row(X, 3, -w, 0.0, 0.0, rows, a)
    axis_row(X, 3, 0.0, -w, 0.0, rows, a + 1)
    axis_row(X, 3, 0.0, 0.0, -w, rows, a + 2)
