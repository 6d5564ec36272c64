"""LINE, a point on a line through p along the unit vector ν: ``P = w ‖d − (d·ν)ν‖²`` with ``d = p − r`` [m].

| looks at | target | force ∂P/∂r | ∂²P/∂r² | residual ρ [√w m] |
|---|---|---|---|---|
| position r | p (3), ν (3) | 2w (I − ννᵀ)(r − p) | 2w (I − ννᵀ) | √w (I − ννᵀ)(r − p) |
"""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import leaf
from supple.kernels.layouts import WEIGHT
from supple.kernels.terms.covectors import point_row


@leaf
def line_potential(X: Any, T: Any, t: int, A: Any, f: Any) -> float:
    """P and its force."""
    w = A[WEIGHT]
    d0, d1, d2 = X[0] - T[t], X[1] - T[t + 1], X[2] - T[t + 2]
    n0, n1, n2 = T[t + 3], T[t + 4], T[t + 5]
    s = d0 * n0 + d1 * n1 + d2 * n2
    d0, d1, d2 = d0 - s * n0, d1 - s * n1, d2 - s * n2
    f[0], f[1], f[2] = 2.0 * w * d0, 2.0 * w * d1, 2.0 * w * d2
    return w * (d0 * d0 + d1 * d1 + d2 * d2)


@leaf
def line_stiffness(T: Any, t: int, A: Any, M: Any) -> None:
    """``2w (I − ννᵀ)``."""
    w = 2.0 * A[WEIGHT]
    for i in range(3):
        for j in range(3):
            M[i, j] = (w if i == j else 0.0) - w * T[t + 3 + i] * T[t + 3 + j]


@leaf
def line_residual(X: Any, T: Any, t: int, w: float, rho: Any, rows: Any, a: int) -> None:
    """Three residuals, two of which are independent; w is the root of the weight."""
    d0, d1, d2 = X[0] - T[t], X[1] - T[t + 1], X[2] - T[t + 2]
    n0, n1, n2 = T[t + 3], T[t + 4], T[t + 5]
    s = d0 * n0 + d1 * n1 + d2 * n2
    rho[a], rho[a + 1], rho[a + 2] = w * (d0 - s * n0), w * (d1 - s * n1), w * (d2 - s * n2)
    point_row(X, w * (1.0 - n0 * n0), -w * n0 * n1, -w * n0 * n2, rows, a)
    point_row(X, -w * n1 * n0, w * (1.0 - n1 * n1), -w * n1 * n2, rows, a + 1)
    point_row(X, -w * n2 * n0, -w * n2 * n1, w * (1.0 - n2 * n2), rows, a + 2)
