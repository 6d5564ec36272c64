"""AT, a point at a place: ``P = w ℓ²`` with ``d = p − r``, ``ℓ = |d|`` [m].

| looks at | target | force ∂P/∂r | ∂²P/∂r² | residual ρ [√w m] |
|---|---|---|---|---|
| position r | p (3) | −2w d | 2w I | −√w d |
"""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import leaf
from supple.kernels.layouts import WEIGHT
from supple.kernels.terms.covectors import point_row


@leaf
def at_potential(X: Any, T: Any, t: int, A: Any, f: Any) -> float:
    """P and its force."""
    w = A[WEIGHT]
    d0, d1, d2 = X[0] - T[t], X[1] - T[t + 1], X[2] - T[t + 2]
    f[0], f[1], f[2] = 2.0 * w * d0, 2.0 * w * d1, 2.0 * w * d2
    return w * (d0 * d0 + d1 * d1 + d2 * d2)


@leaf
def at_stiffness(A: Any, M: Any) -> None:
    """``2w I``."""
    w = 2.0 * A[WEIGHT]
    for i in range(3):
        for j in range(3):
            M[i, j] = w if i == j else 0.0


@leaf
def at_residual(X: Any, T: Any, t: int, w: float, rho: Any, rows: Any, a: int) -> None:
    """Three residuals; w is the root of the weight."""
    d0, d1, d2 = X[0] - T[t], X[1] - T[t + 1], X[2] - T[t + 2]
    rho[a], rho[a + 1], rho[a + 2] = w * d0, w * d1, w * d2
    point_row(X, w, 0.0, 0.0, rows, a)
    point_row(X, 0.0, w, 0.0, rows, a + 1)
    point_row(X, 0.0, 0.0, w, rows, a + 2)
