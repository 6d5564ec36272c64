"""Residuals: the same terms as in `potentials`, written as ``P = |ρ|²`` for Gauss–Newton methods.

Each residual row a of a term has a value ρ_a and a covector ``(N_a, F_a)`` such that ``dρ_a = N_a·ω + F_a·v`` when the
term's frame moves by the twist ``(ω, v)``. A row of a figure's Jacobian is that covector on the twists of the joints that
carry the frame: six multiply-adds an entry, whatever the goal.

An inequality is seen as if it had moved by the `SHIFT` of its term: an augmented Lagrangian puts its multipliers there.
"""

from __future__ import annotations

import math
from typing import Any

from supple.clearance import gap
from supple.compiled import leaf, row
from supple.potentials import (
    AIM,
    AT,
    BEYOND,
    BOX,
    CLEAR,
    FACE,
    HALF,
    KEEP,
    LINE,
    LOWER,
    PLANE,
    SCALE,
    SHIFT,
    TILT,
    TURN,
    UPPER,
    WEIGHT,
    dead,
    inverse_length,
    turn_rates,
    turn_row,
    turn_vector,
)


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


@leaf
def position_residual(kind: int, X: Any, T: Any, t: int, A: Any, w: float, rho: Any, rows: Any, a: int) -> None:
    """AT, LINE, PLANE, BEYOND, BOX."""
    if kind == BOX:
        d0, d1, d2 = X[0] - T[t + 9], X[1] - T[t + 10], X[2] - T[t + 11]
        for k in range(3):
            n0, n1, n2 = T[t + k], T[t + 3 + k], T[t + 6 + k]
            e = dead(n0 * d0 + n1 * d1 + n2 * d2 + A[SHIFT + k], A[LOWER + k], A[UPPER + k])
            rho[a + k] = w * e
            u = w if e != 0.0 else 0.0
            point_row(X, u * n0, u * n1, u * n2, rows, a + k)
        return
    d0, d1, d2 = X[0] - T[t], X[1] - T[t + 1], X[2] - T[t + 2]
    if kind == AT:
        rho[a], rho[a + 1], rho[a + 2] = w * d0, w * d1, w * d2
        point_row(X, w, 0.0, 0.0, rows, a)
        point_row(X, 0.0, w, 0.0, rows, a + 1)
        point_row(X, 0.0, 0.0, w, rows, a + 2)
        return
    n0, n1, n2 = T[t + 3], T[t + 4], T[t + 5]
    s = d0 * n0 + d1 * n1 + d2 * n2
    if kind == LINE:
        rho[a], rho[a + 1], rho[a + 2] = w * (d0 - s * n0), w * (d1 - s * n1), w * (d2 - s * n2)
        point_row(X, w * (1.0 - n0 * n0), -w * n0 * n1, -w * n0 * n2, rows, a)
        point_row(X, -w * n1 * n0, w * (1.0 - n1 * n1), -w * n1 * n2, rows, a + 1)
        point_row(X, -w * n2 * n0, -w * n2 * n1, w * (1.0 - n2 * n2), rows, a + 2)
        return
    if kind == BEYOND:
        s += A[SHIFT]
        if s > 0.0:
            s, w = 0.0, 0.0
    rho[a] = w * s
    point_row(X, w * n0, w * n1, w * n2, rows, a)


@leaf
def turn_residual(X: Any, T: Any, t: int, w: float, rho: Any, rows: Any, a: int) -> None:
    """TURN: ρ = 2 sin(φ/2) a is twice the vector part of the unit quaternion (u, ρ/2) of ``R Rgᵀ``.

    A small turn δ before it makes ``dρ = u δ + ½ δ × ρ``. Half a turn away, where the axis cannot be read off the
    antisymmetric part, it is read off the symmetric one.
    """
    e0, e1 = 0.0, 0.0
    e2, c = 0.0, -0.5
    for k in range(3):
        g0, g1, g2 = T[t + k], T[t + 3 + k], T[t + 6 + k]
        x, y, z = X[3 + 3 * k], X[4 + 3 * k], X[5 + 3 * k]
        e0 += 0.5 * (g1 * z - g2 * y)
        e1 += 0.5 * (g2 * x - g0 * z)
        e2 += 0.5 * (g0 * y - g1 * x)
        c += 0.5 * (g0 * x + g1 * y + g2 * z)
    u = math.sqrt(max(0.5 * (1.0 + c), 0.0))
    if u > 1e-4:
        e0, e1, e2 = e0 / u, e1 / u, e2 / u
    else:
        e0, e1, e2 = half_turn_axis(X, T, t, e0, e1, e2)
    rho[a], rho[a + 1], rho[a + 2] = w * e0, w * e1, w * e2
    h = 0.5 * w
    for i in range(3):
        rows[a + i, 3] = rows[a + i, 4] = rows[a + i, 5] = 0.0
    rows[a, 0], rows[a, 1], rows[a, 2] = w * u, h * e2, -h * e1
    rows[a + 1, 0], rows[a + 1, 1], rows[a + 1, 2] = -h * e2, w * u, h * e0
    rows[a + 2, 0], rows[a + 2, 1], rows[a + 2, 2] = h * e1, -h * e0, w * u


@leaf
def half_turn_axis(X: Any, T: Any, t: int, e0: float, e1: float, e2: float) -> Any:
    """ρ near half a turn: twice the longest column of ``½(R Rgᵀ + I)``, scaled to a unit vector, on e's side."""
    best, b0 = -1.0, 0.0
    b1, b2 = 0.0, 0.0
    for j in range(3):
        m0, m1, m2 = 0.0, 0.0, 0.0
        for k in range(3):
            g = T[t + 3 * j + k]
            m0 += X[3 + 3 * k] * g
            m1 += X[4 + 3 * k] * g
            m2 += X[5 + 3 * k] * g
        m0, m1, m2 = m0 + (j == 0), m1 + (j == 1), m2 + (j == 2)
        size = m0 * m0 + m1 * m1 + m2 * m2
        if size > best:
            best, b0 = size, m0
            b1, b2 = m1, m2
    scale = 2.0 / math.sqrt(best)
    if b0 * e0 + b1 * e1 + b2 * e2 < 0.0:
        scale = -scale
    return scale * b0, scale * b1, scale * b2


@leaf
def tilt_residual(X: Any, T: Any, t: int, A: Any, w: float, rho: Any, rows: Any, a: int, M: Any) -> None:
    """TILT: the rows of ``dφ = (I − ½[φ]× + κ[φ]×²) Rgᵀδ`` (see `turn_rates`)."""
    phi, line = row(M, 0, 12), row(M, 12, 3)
    turn_vector(X, T, t, phi)
    square = phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2]
    kappa, _ = turn_rates(square)
    for k in range(3):
        e = dead(phi[k] + A[SHIFT + k], A[LOWER + k], A[UPPER + k])
        u = w if e != 0.0 else 0.0
        turn_row(phi, k, kappa, square, line)
        rho[a + k] = w * e
        for i in range(3):
            rows[a + k, i] = u * (T[t + 3 * i] * line[0] + T[t + 3 * i + 1] * line[1] + T[t + 3 * i + 2] * line[2])
            rows[a + k, 3 + i] = 0.0


@leaf
def aim_residual(X: Any, T: Any, t: int, w: float, rho: Any, rows: Any, a: int) -> None:
    """AIM: ``ρ = d̂ − x``, ``dd̂ = −(I − d̂d̂ᵀ) dr/ℓ``."""
    d0, d1, d2 = T[t] - X[0], T[t + 1] - X[1], T[t + 2] - X[2]
    inv = inverse_length(d0, d1, d2)
    d0, d1, d2 = d0 * inv, d1 * inv, d2 * inv
    rho[a], rho[a + 1], rho[a + 2] = w * (d0 - X[3]), w * (d1 - X[4]), w * (d2 - X[5])
    u = w * inv
    point_row(X, u * (d0 * d0 - 1.0), u * d0 * d1, u * d0 * d2, rows, a)
    point_row(X, u * d1 * d0, u * (d1 * d1 - 1.0), u * d1 * d2, rows, a + 1)
    point_row(X, u * d2 * d0, u * d2 * d1, u * (d2 * d2 - 1.0), rows, a + 2)
    axis_row(X, 3, -w, 0.0, 0.0, rows, a)
    axis_row(X, 3, 0.0, -w, 0.0, rows, a + 1)
    axis_row(X, 3, 0.0, 0.0, -w, rows, a + 2)


@leaf
def clear_residual(X: Any, S: Any, s: int, A: Any, w: float, rho: Any, rows: Any, a: int, M: Any) -> None:
    """CLEAR: how much nearer the core of a bar is to a solid than it may be; pushed at the nearest point of the core."""
    least = A[KEEP] + A[SHIFT]
    e = least - gap(S, s, X, A[HALF], least, M)
    u = -w if e > 0.0 else 0.0
    rho[a] = w * max(e, 0.0)
    point_row(row(M, 3, 3), u * M[0], u * M[1], u * M[2], rows, a)


@leaf
def residual(term: Any, X: Any, T: Any, S: Any, A: Any, rho: Any, rows: Any, a: int, M: Any) -> None:
    """Write the residuals of a term into ``rho[a:]`` and their covectors into ``rows[a:]``; S are the solids."""
    kind, t = term[0], term[3]
    w = math.sqrt(A[WEIGHT])
    if kind == AT or kind == LINE or kind == PLANE or kind == BEYOND or kind == BOX:
        position_residual(kind, X, T, t, A, w, rho, rows, a)
    elif kind == TURN:
        turn_residual(X, T, t, w * A[SCALE], rho, rows, a)
    elif kind == FACE:
        u = w * A[SCALE]
        for i in range(3):
            rho[a + i] = u * (X[3 + i] - T[t + i])
            for j in range(6):
                rows[a + i, j] = 0.0
        axis_row(X, 3, u, 0.0, 0.0, rows, a)
        axis_row(X, 3, 0.0, u, 0.0, rows, a + 1)
        axis_row(X, 3, 0.0, 0.0, u, rows, a + 2)
    elif kind == AIM:
        aim_residual(X, T, t, w * A[SCALE], rho, rows, a)
    elif kind == TILT:
        tilt_residual(X, T, t, A, w * A[SCALE], rho, rows, a, M)
    elif kind == CLEAR:
        clear_residual(X, S, t, A, w, rho, rows, a, M)
