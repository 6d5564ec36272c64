"""CUSTOM, a user's function of the 12 numbers of X: position and axes. It has no residuals."""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import call_custom, leaf, row


@leaf
def custom_potential(X: Any, T: Any, t: int, count: int, address: int, w: float, f: Any, M: Any) -> float:
    """CUSTOM: a user's P, ∇P and ∇²P with respect to the 12 numbers of X."""
    for i in range(12):
        f[i] = 0.0
        for j in range(12):
            M[i, j] = 0.0
    P = call_custom(address, row(T, t, count), X, f, M)
    for i in range(12):
        f[i] *= w
        for j in range(12):
            M[i, j] *= w
    return w * P
