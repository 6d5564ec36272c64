"""Small dense matrices for `interior`, compiled: blocks stored row by row from a place on, and one symmetric system."""

from __future__ import annotations

import math
from typing import Any

from supple.compiled import leaf


@leaf
def factor(M: Any, a: int, D: Any, step: float, o: int, L: Any) -> bool:
    """Cholesky's factor of ``M + step·D``; whether it is positive definite."""
    for i in range(o):
        for j in range(i + 1):
            s = M[a + i * o + j] + step * D[a + i * o + j]
            for k in range(j):
                s -= L[i * o + k] * L[j * o + k]
            if i > j:
                L[i * o + j] = s / L[j * o + j]
            elif s > 1e-300:
                L[i * o + i] = math.sqrt(s)
            else:
                return False
    return True


@leaf
def invert(L: Any, W: Any, o: int, out: Any, a: int) -> None:
    """``(L Lᵀ)⁻¹``, with W for the inverse of L."""
    for j in range(o):
        W[j * o + j] = 1.0 / L[j * o + j]
        for i in range(j + 1, o):
            s = 0.0
            for k in range(j, i):
                s -= L[i * o + k] * W[k * o + j]
            W[i * o + j] = s / L[i * o + i]
    for i in range(o):
        for j in range(i + 1):
            s = 0.0
            for k in range(i, o):
                s += W[k * o + i] * W[k * o + j]
            out[a + i * o + j] = s
            out[a + j * o + i] = s


@leaf
def multiply(A: Any, a: int, B: Any, b: int, o: int, out: Any) -> None:
    """``A B`` of two blocks."""
    for i in range(o):
        for j in range(o):
            out[i * o + j] = 0.0
        for k in range(o):
            x = A[a + i * o + k]
            for j in range(o):
                out[i * o + j] += x * B[b + k * o + j]


@leaf
def factored(H: Any, m: int) -> bool:
    """Cholesky's factor of H in its lower triangle."""
    for i in range(m):
        for j in range(i + 1):
            s = H[i, j]
            for k in range(j):
                s -= H[i, k] * H[j, k]
            if i > j:
                H[i, j] = s / H[j, j]
            elif s > 0.0:
                H[i, i] = math.sqrt(s)
            else:
                return False
    return True


@leaf
def back(H: Any, m: int, rhs: Any, out: Any) -> None:
    """Solve with the factor of H."""
    for i in range(m):
        s = rhs[i]
        for k in range(i):
            s -= H[i, k] * out[k]
        out[i] = s / H[i, i]
    for i in range(m - 1, -1, -1):
        out[i] /= H[i, i]
        x = out[i]
        for k in range(i):
            out[k] -= H[i, k] * x
