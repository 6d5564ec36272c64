"""BOX, a point in a box of its goal's frame: ``P = w Σ dead(y_k)²`` with ``y = Rgᵀ(r − p)`` [m].

``dead(y) = y − clip(y, lower, upper)``: an inequality, which asks nothing inside the box. ν_k are the goal's axes.

| looks at | target | force ∂P/∂r | ∂²P/∂r² | residuals ρ [√w m] |
|---|---|---|---|---|
| position r | Rg (9), p (3) | 2w Σ dead(y_k) ν_k | 2w Σ ν_k ν_kᵀ over the axes that are outside | √w dead(y_k) |
"""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import leaf
from supple.kernels.layouts import LOWER, SHIFT, UPPER, WEIGHT
from supple.kernels.terms.covectors import dead, point_row


@leaf
def box_potential(X: Any, T: Any, t: int, A: Any, f: Any) -> float:
    """P and its force."""
    P, w = 0.0, A[WEIGHT]
    d0, d1, d2 = X[0] - T[t + 9], X[1] - T[t + 10], X[2] - T[t + 11]
    f[0] = f[1] = f[2] = 0.0
    for k in range(3):
        n0, n1, n2 = T[t + k], T[t + 3 + k], T[t + 6 + k]
        e = dead(n0 * d0 + n1 * d1 + n2 * d2, A[LOWER + k], A[UPPER + k])
        P += w * e * e
        f[0] += 2.0 * w * e * n0
        f[1] += 2.0 * w * e * n1
        f[2] += 2.0 * w * e * n2
    return P


@leaf
def box_stiffness(X: Any, T: Any, t: int, A: Any, M: Any) -> None:
    """``2w Σ ν_k ν_kᵀ`` over the axes that are outside."""
    w = 2.0 * A[WEIGHT]
    for i in range(3):
        for j in range(3):
            M[i, j] = 0.0
    d0, d1, d2 = X[0] - T[t + 9], X[1] - T[t + 10], X[2] - T[t + 11]
    for k in range(3):
        y = T[t + k] * d0 + T[t + 3 + k] * d1 + T[t + 6 + k] * d2
        if dead(y, A[LOWER + k], A[UPPER + k]) != 0.0:
            for i in range(3):
                for j in range(3):
                    M[i, j] += w * T[t + 3 * i + k] * T[t + 3 * j + k]


@leaf
def box_residual(X: Any, T: Any, t: int, A: Any, w: float, rho: Any, rows: Any, a: int) -> None:
    """Three residuals, seen as if they had moved by their shifts; w is the root of the weight."""
    d0, d1, d2 = X[0] - T[t + 9], X[1] - T[t + 10], X[2] - T[t + 11]
    for k in range(3):
        n0, n1, n2 = T[t + k], T[t + 3 + k], T[t + 6 + k]
        e = dead(n0 * d0 + n1 * d1 + n2 * d2 + A[SHIFT + k], A[LOWER + k], A[UPPER + k])
        rho[a + k] = w * e
        u = w if e != 0.0 else 0.0
        point_row(X, u * n0, u * n1, u * n2, rows, a + k)
