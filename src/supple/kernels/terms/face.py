"""FACE, an axis x along a direction x_g: ``P = w c²‖x_g − x‖² = 2w c²(1 − x_g·x)``, c metres a radian.

On the sphere of unit vectors both forms agree, and so do their derivatives along motions of the frame; the second is linear in
x, so that its second derivative in x is zero.

| looks at | target | force ∂P/∂x | residual ρ [√w m] |
|---|---|---|---|
| x axis | x_g (3) | −2w c² x_g | √w c (x − x_g) |
"""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import leaf
from supple.kernels.terms.covectors import axis_row


@leaf
def face_potential(X: Any, T: Any, t: int, c2: float, f: Any) -> float:
    """P and its force; c2 is ``w c²``."""
    e0, e1, e2 = X[3] - T[t], X[4] - T[t + 1], X[5] - T[t + 2]
    f[3], f[4], f[5] = -2.0 * c2 * T[t], -2.0 * c2 * T[t + 1], -2.0 * c2 * T[t + 2]
    return c2 * (e0 * e0 + e1 * e1 + e2 * e2)


@leaf
def face_residual(X: Any, T: Any, t: int, u: float, rho: Any, rows: Any, a: int) -> None:
    """Three residuals; u is ``√w c``."""
    for i in range(3):
        rho[a + i] = u * (X[3 + i] - T[t + i])
        for j in range(6):
            rows[a + i, j] = 0.0
    axis_row(X, 3, u, 0.0, 0.0, rows, a)
    axis_row(X, 3, 0.0, u, 0.0, rows, a + 1)
    axis_row(X, 3, 0.0, 0.0, u, rows, a + 2)
