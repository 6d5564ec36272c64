"""From forces on the parts of a frame to wrenches and 6 × 6 matrices on its segment (formulas in `terms`)."""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import leaf


@leaf
def push(X: Any, f: Any, first: int, last: int, w: Any) -> None:
    """The wrench of the forces f on parts first … last − 1 of X."""
    for i in range(6):
        w[i] = 0.0
    for part in range(first, last):
        k = 3 * part
        x, y, z = X[k], X[k + 1], X[k + 2]
        f0, f1, f2 = f[k], f[k + 1], f[k + 2]
        w[0] += y * f2 - z * f1
        w[1] += z * f0 - x * f2
        w[2] += x * f1 - y * f0
        if part == 0:
            w[3], w[4], w[5] = f0, f1, f2


@leaf
def curve(X: Any, f: Any, first: int, last: int, B: Any) -> None:
    """Add the curvature of the forces f to B: ``B_ωω += r fᵀ − (r·f) I`` and, for the position, ``B_ωv −= [f]×``."""
    for part in range(first, last):
        k = 3 * part
        s = X[k] * f[k] + X[k + 1] * f[k + 1] + X[k + 2] * f[k + 2]
        for i in range(3):
            for j in range(3):
                B[6 * i + j] += X[k + i] * f[k + j]
            B[7 * i] -= s
    if first == 0:
        B[4] += f[2]
        B[5] -= f[1]
        B[9] -= f[2]
        B[11] += f[0]
        B[15] += f[1]
        B[16] -= f[0]


@leaf
def stiffen(X: Any, M: Any, first: int, last: int, K: Any, B: Any) -> None:
    """Add ``Gᵀ M G``, where G takes a twist to the motion of the parts.

    ``G = (−[r]×, I)`` for the position, ``(−[d]×, 0)`` for an axis. K (12, 6) is scratch for ``M G``.
    """
    for i in range(3 * first, 3 * last):
        for c in range(6):
            K[i, c] = 0.0
        for part in range(first, last):
            k = 3 * part
            m0, m1, m2 = M[i, k], M[i, k + 1], M[i, k + 2]
            x, y, z = X[k], X[k + 1], X[k + 2]
            K[i, 0] += y * m2 - z * m1
            K[i, 1] += z * m0 - x * m2
            K[i, 2] += x * m1 - y * m0
            if part == 0:
                K[i, 3], K[i, 4], K[i, 5] = m0, m1, m2
    for part in range(first, last):
        k = 3 * part
        x, y, z = X[k], X[k + 1], X[k + 2]
        for c in range(6):
            m0, m1, m2 = K[k, c], K[k + 1, c], K[k + 2, c]
            B[c] += y * m2 - z * m1
            B[6 + c] += z * m0 - x * m2
            B[12 + c] += x * m1 - y * m0
            if part == 0:
                B[18 + c] += m0
                B[24 + c] += m1
                B[30 + c] += m2
