"""What residuals of several kinds are made of: forces at a point or on an axis as covectors, and intervals.

A residual row a has a covector ``(N, F)`` such that ``dρ = N·ω + F·v`` when the term's frame moves by the twist ``(ω, v)``.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import leaf


@leaf
def dead(y: float, lower: float, upper: float) -> float:
    """How far y is outside the interval."""
    return y - min(max(y, lower), upper)


@leaf
def point_row(X: Any, f0: float, f1: float, f2: float, rows: Any, a: int) -> None:
    """Row a: the force f at the point of X."""
    rows[a, 0] = X[1] * f2 - X[2] * f1
    rows[a, 1] = X[2] * f0 - X[0] * f2
    rows[a, 2] = X[0] * f1 - X[1] * f0
    rows[a, 3], rows[a, 4], rows[a, 5] = f0, f1, f2


@leaf
def axis_row(X: Any, k: int, f0: float, f1: float, f2: float, rows: Any, a: int) -> None:
    """Add to row a the force f on the axis at X[k]."""
    rows[a, 0] += X[k + 1] * f2 - X[k + 2] * f1
    rows[a, 1] += X[k + 2] * f0 - X[k] * f2
    rows[a, 2] += X[k] * f1 - X[k + 1] * f0
