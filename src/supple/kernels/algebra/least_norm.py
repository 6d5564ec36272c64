"""The shortest vector that satisfies linear equations, by Householder reflections of their rows.

``B = L Qᵀ`` with L lower triangular and Q orthogonal: ``L z = b``, then ``y = Q (z, 0)`` is the shortest y with B y = b, and
``Lᵀ w = z`` its multipliers, ``y = Bᵀ w``. No condition number is squared on the way to y.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from supple.kernels.compiling import leaf

DEPENDENT = 1e-10  # an exact row with less than this part of its length left depends on those before


class Equations(NamedTuple):
    """Linear equations, their shortest solution, and what is written down on the way."""

    B: Any  # (rows, width) their coefficients; then L and the reflectors
    w: Any  # (rows) their right-hand side; then multipliers
    corner: Any  # (rows) their whole lengths; then the diagonal of L
    y: Any  # (1, width) the solution
    z: Any  # (rows)
    beta: Any  # (rows)
    place: Any  # (rows) of each in L; −1: left out


@leaf
def product(B: Any, a: int, v: Any, b: int, first: int, last: int) -> float:
    """Rows a of B and b of v multiplied, from `first` on; four sums that do not wait for each other."""
    s0, s1 = 0.0, 0.0
    s2, s3 = 0.0, 0.0
    i = first
    while i + 3 < last:
        s0 += B[a, i] * v[b, i]
        s1 += B[a, i + 1] * v[b, i + 1]
        s2 += B[a, i + 2] * v[b, i + 2]
        s3 += B[a, i + 3] * v[b, i + 3]
        i += 4
    while i < last:
        s0 += B[a, i] * v[b, i]
        i += 1
    return (s0 + s1) + (s2 + s3)


@leaf
def least_norm(equations: Any, count: int, exact: int, width: int) -> None:
    """The shortest y (1, width) with ``B y = w`` over `count` rows, and its multipliers ``Bᵀw = y`` in place of w.

    Rows are reflected onto the first axes, ``B = L Qᵀ``: L stays below the diagonal, its diagonal in `corner`, the
    reflectors' vectors on and above it. Of the first `exact` rows, those of which less than a part of the length that
    `corner` came with is left are left out.
    """
    B, w, y, z = equations.B, equations.w, equations.y, equations.z
    corner, beta, place = equations.corner, equations.beta, equations.place
    rank = 0
    for a in range(count):
        rest = math.sqrt(product(B, a, B, a, rank, width)) if rank < width else 0.0
        place[a] = -1.0
        if a < exact and not rest > DEPENDENT * corner[a]:
            continue
        place[a] = rank
        corner[a] = -rest if B[a, rank] > 0.0 else rest
        beta[a] = 1.0 / (rest * (rest + abs(B[a, rank])))
        B[a, rank] -= corner[a]
        for b in range(a + 1, count):
            s = beta[a] * product(B, a, B, b, rank, width)
            for i in range(rank, width):
                B[b, i] -= s * B[a, i]
        s = w[a]
        for i in range(rank):
            s -= B[a, i] * z[i]
        z[rank] = s / corner[a]
        rank += 1
    for i in range(width):
        y[0, i] = z[i] if i < rank else 0.0
    for back in range(count):
        a = count - 1 - back
        k = int(place[a])
        w[a] = 0.0
        if k < 0:
            continue
        s = beta[a] * product(B, a, y, 0, k, width)
        for i in range(k, width):
            y[0, i] -= s * B[a, i]
        w[a] = z[k] / corner[a]
        for i in range(k):
            z[i] -= B[a, i] * w[a]
