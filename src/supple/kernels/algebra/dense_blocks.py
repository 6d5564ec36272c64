"""Small dense matrices for proofs: blocks stored row by row from a place on, and one symmetric system."""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf


@leaf
def factor_sum(M: Any, a: int, D: Any, step: float, o: int, L: Any) -> bool:
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
def whole(n: int) -> int:
    """n or a little more, so that loops over rows of numbers are cut into equal pieces; rows have room for it."""
    return (n + 15) // 16 * 16


@leaf
def add_four(out: Any, n: int, factors: Any, rows: Any) -> None:
    """Add ``w A + x B + y C + z D`` to the first n numbers of `out`: four factors, four rows."""
    (w, x, y, z), (A, B, C, D) = factors, rows
    for k in range(n):
        out[k] += (w * A[k] + x * B[k]) + (y * C[k] + z * D[k])


@leaf
def add_one(out: Any, n: int, x: float, A: Any) -> None:
    """Add ``x A`` to the first n numbers of `out`."""
    for k in range(n):
        out[k] += x * A[k]


@leaf
def factored(H: Any, m: int, panel: Any) -> bool:
    """Cholesky's factor of H in its lower triangle, four columns after four. What is above it is lost."""
    for p in range(0, m, 4):
        wide = min(4, m - p)
        for i in range(p, m):
            for q in range(wide):
                panel[q, i] = H[i, p + q]
        for q in range(wide):
            column = panel[q]
            if not column[p + q] > 0.0:
                return False
            share = 1.0 / math.sqrt(column[p + q])
            for i in range(p + q, m):
                column[i] *= share
            for k in range(q + 1, wide):
                add_one(panel[k], whole(m), -column[p + k], column)
        for i in range(p, m):
            for q in range(min(wide, i - p + 1)):
                H[i, p + q] = panel[q, i]
        a, b, c, d = panel[0], panel[1], panel[2], panel[3]
        for i in range(p + wide, m):
            begin = p + 4
            rows = a[begin:], b[begin:], c[begin:], d[begin:]
            add_four(H[i, begin:], whole(i + 1 - begin), (-a[i], -b[i], -c[i], -d[i]), rows)
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
