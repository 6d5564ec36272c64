"""PLANE and BEYOND, a point on a plane through p with the unit normal ν, or on the side that ν points to.

With ``s = ν·(r − p)`` [m], for BEYOND ``s = min(s, 0)``: an inequality, which asks nothing where it holds.

| looks at | target | P | force ∂P/∂r | ∂²P/∂r² | residual ρ [√w m] |
|---|---|---|---|---|---|
| position r | p (3), ν (3) | w s² | 2w s ν | 2w ννᵀ where felt | √w s |
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf
from supple.kernels.kinds import BEYOND
from supple.kernels.layouts import SHIFT, WEIGHT
from supple.kernels.terms.covectors import point_row


@leaf
def plane_potential(kind: int, X: Any, T: Any, t: int, A: Any, f: Any) -> float:
    """P and its force."""
    w = A[WEIGHT]
    d0, d1, d2 = X[0] - T[t], X[1] - T[t + 1], X[2] - T[t + 2]
    n0, n1, n2 = T[t + 3], T[t + 4], T[t + 5]
    s = d0 * n0 + d1 * n1 + d2 * n2
    if kind == BEYOND:
        s = min(s, 0.0)
    d0, d1, d2 = s * n0, s * n1, s * n2
    f[0], f[1], f[2] = 2.0 * w * d0, 2.0 * w * d1, 2.0 * w * d2
    return w * (d0 * d0 + d1 * d1 + d2 * d2)


@leaf
def plane_stiffness(kind: int, X: Any, T: Any, t: int, A: Any, M: Any) -> None:
    """``2w ννᵀ``; nothing on the far side of BEYOND."""
    w, s = 2.0 * A[WEIGHT], 0.0
    for i in range(3):
        s += (X[i] - T[t + i]) * T[t + 3 + i]
    if kind == BEYOND and s >= 0.0:
        w = 0.0
    for i in range(3):
        for j in range(3):
            M[i, j] = w * T[t + 3 + i] * T[t + 3 + j]


@leaf
def plane_residual(kind: int, X: Any, T: Any, t: int, A: Any, rho: Any, rows: Any, a: int) -> None:
    """One residual. BEYOND is seen as if it had moved by its shift."""
    w = math.sqrt(A[WEIGHT])
    d0, d1, d2 = X[0] - T[t], X[1] - T[t + 1], X[2] - T[t + 2]
    n0, n1, n2 = T[t + 3], T[t + 4], T[t + 5]
    s = d0 * n0 + d1 * n1 + d2 * n2
    if kind == BEYOND:
        s += A[SHIFT]
        if s > 0.0:
            s, w = 0.0, 0.0
    rho[a] = w * s
    point_row(X, w * n0, w * n1, w * n2, rows, a)
