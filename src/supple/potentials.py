"""Potentials: how far a carried frame is from its goal, and how that changes when the frame moves.

A *term* looks at one frame X, the position r and the axes x, y, z of an effector as seen from the world or from a reference
segment, and gives ``P ≥ 0``. It knows nothing of figures. Moving the frame by a twist ``(ω, v)`` changes r by ``ω × r + v`` and
an axis d by ``ω × d``, so all a figure needs of a term is

* the wrench ``(N, F)`` with ``dP = N·ω + F·v``: for a force f at the point r ``(r × f, f)``, for a force f on an axis d
  ``(d × f, 0)``;
* the 6 × 6 matrix B with ``d²P = ξ_iᵀ B ξ_j`` when joint i carries joint j. A force f at r contributes, because
  ``∂²r/∂θ_i∂θ_j = ω_i × (ω_j × r + v_j)``, the blocks ``B_ωω = r fᵀ − (r·f) I`` and ``B_ωv = −[f]×`` (an axis only the
  first), and the second derivative M of P with respect to positions and axes contributes ``Gᵀ M G`` with G the map from
  twists to their motion;
* for Gauss–Newton, residuals ρ with ``P = |ρ|²`` and their rows ``dρ = N·ω + F·v``.

With ``w`` the weight, ``d = p − r``, ``ℓ = |d|``, ``d̂ = d/ℓ``, ν a unit normal (equations of Zhao & Badler, section 4):

| kind | P / w | residual ρ / √w |
|---|---|---|
| AT | ℓ² | −d |
| FACE | c²‖x_g − x‖² = 2c²(1 − x_g·x) | c (x − x_g) |
| TURN | c²(3 − tr RgᵀR) = 4c² sin²(φ/2) | 2c sin(φ/2) a, turn a·φ from goal to effector |
| AIM | c²‖d̂ − x‖² = 2c²(1 − d̂·x) | c (d̂ − x) |
| LINE | ‖d − (d·ν)ν‖² | (d·ν)ν − d |
| PLANE | (d·ν)² | −d·ν |
| BEYOND | max(0, d·ν)² | −max(0, d·ν) |
| BOX | Σ dead(y_k)², y = Rgᵀ(r − p) | dead(y_k) |
| TILT | c² Σ dead(φ_k)², φ = log RgᵀR | c dead(φ_k) |
| CUSTOM | a user's function of the 12 numbers of X | none |

``dead(y) = y − clip(y, lower, upper)``. On the sphere of unit vectors the two forms of FACE, TURN and AIM agree, and so do
their derivatives along motions of the frame; the second form has no second derivative in x and is the one evaluated.
"""

from __future__ import annotations

import math
from typing import Any

from supple.compiled import call_custom, leaf, row, table

AT, FACE, TURN, AIM, LINE, PLANE, BEYOND, BOX, TILT, CUSTOM, NEAR = range(11)
TARGET = {AT: 3, FACE: 3, TURN: 9, AIM: 3, LINE: 6, PLANE: 6, BEYOND: 6, BOX: 12, TILT: 9}
ROWS = {AT: 3, FACE: 3, TURN: 3, AIM: 3, LINE: 3, PLANE: 1, BEYOND: 1, BOX: 3, TILT: 3, CUSTOM: 0, NEAR: 0}
NEAREST = 1e-12  # an aim at the very point where the direction starts is held constant: every direction is as good
MIXED = 120  # scratch numbers of a potential
# columns of a term's float row
FRAME, REFERENCE, WEIGHT, MET, SCALE, LOWER, UPPER, TERM = 0, 12, 24, 25, 26, 27, 30, 34


@leaf
def dead(y: float, lower: float, upper: float) -> float:
    """How far y is outside the interval."""
    return y - min(max(y, lower), upper)


@leaf
def log_factor(c: float) -> Any:
    """``f = φ/sin φ`` as a function of ``c = cos φ``, with f' and f''; a series near c = 1, held finite near c = −1."""
    if c > 0.999:
        u = 1.0 - c  # f = Σ a_k u^k with a_0 = 1, a_{k+1} = a_k (k + 1)/(2k + 3): from (1 − c²) f' = c f − 1
        f = 1.0 + u * (1 / 3 + u * (2 / 15 + u * (2 / 35 + u * (8 / 315 + u * 8 / 693))))
        f1 = -(1 / 3 + u * (4 / 15 + u * (6 / 35 + u * (32 / 315 + u * 40 / 693))))
        f2 = 4 / 15 + u * (12 / 35 + u * (96 / 315 + u * 160 / 693))
        return f, f1, f2
    c = max(c, -1.0 + 1e-12)
    s = 1.0 - c * c
    f = math.acos(c) / math.sqrt(s)
    f1 = (c * f - 1.0) / s
    return f, f1, (3.0 * c * f1 + f) / s


@leaf
def error_matrix(X: Any, T: Any, t: int, E: Any) -> float:
    """``E = RgᵀR`` (9 numbers): the effector's axes in the goal's frame. Returns its cosine ``(tr E − 1)/2``."""
    for i in range(3):
        for k in range(3):
            a, b = t + i, 3 + 3 * k
            E[3 * i + k] = T[a] * X[b] + T[a + 3] * X[b + 1] + T[a + 6] * X[b + 2]
    return 0.5 * (E[0] + E[4] + E[8] - 1.0)


@leaf
def position_potential(kind: int, X: Any, T: Any, t: int, A: Any, f: Any) -> float:
    """AT, LINE, PLANE, BEYOND, BOX: functions of the position alone."""
    w = A[WEIGHT]
    if kind == BOX:
        P = 0.0
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
    d0, d1, d2 = X[0] - T[t], X[1] - T[t + 1], X[2] - T[t + 2]
    if kind != AT:
        n0, n1, n2 = T[t + 3], T[t + 4], T[t + 5]
        s = d0 * n0 + d1 * n1 + d2 * n2
        if kind == LINE:
            d0, d1, d2 = d0 - s * n0, d1 - s * n1, d2 - s * n2
        else:
            if kind == BEYOND:
                s = min(s, 0.0)
            d0, d1, d2 = s * n0, s * n1, s * n2
    f[0], f[1], f[2] = 2.0 * w * d0, 2.0 * w * d1, 2.0 * w * d2
    return w * (d0 * d0 + d1 * d1 + d2 * d2)


@leaf
def position_stiffness(kind: int, X: Any, T: Any, t: int, A: Any, M: Any) -> None:
    """``2w I`` for AT; ``2w Σ ν νᵀ`` over the directions ν that are felt, or ``2w (I − ν νᵀ)`` for LINE."""
    w = 2.0 * A[WEIGHT]
    for i in range(3):
        for j in range(3):
            M[i, j] = w if i == j and (kind == AT or kind == LINE) else 0.0
    if kind == BOX:
        d0, d1, d2 = X[0] - T[t + 9], X[1] - T[t + 10], X[2] - T[t + 11]
        for k in range(3):
            y = T[t + k] * d0 + T[t + 3 + k] * d1 + T[t + 6 + k] * d2
            if dead(y, A[LOWER + k], A[UPPER + k]) != 0.0:
                for i in range(3):
                    for j in range(3):
                        M[i, j] += w * T[t + 3 * i + k] * T[t + 3 * j + k]
    elif kind != AT:
        s = 0.0
        for i in range(3):
            s += (X[i] - T[t + i]) * T[t + 3 + i]
        if kind == LINE:
            w = -w
        elif kind == BEYOND and s >= 0.0:
            w = 0.0
        for i in range(3):
            for j in range(3):
                M[i, j] += w * T[t + 3 + i] * T[t + 3 + j]


@leaf
def turn_potential(X: Any, T: Any, t: int, c2: float, f: Any) -> float:
    """TURN: ``P = c² Σ_k (1 − x_gk·x_k)``, linear in the axes; the differences are formed first, to keep small P exact."""
    P = 0.0
    for k in range(3):
        for i in range(3):
            g = T[t + 3 * i + k]
            e = X[3 + 3 * k + i] - g
            P += 0.5 * c2 * e * e
            f[3 + 3 * k + i] = -c2 * g
    return P


@leaf
def aim_potential(X: Any, T: Any, t: int, c2: float, f: Any) -> float:
    """AIM: ``P = 2c²(1 − d̂·x)``; with ``Q = I − d̂d̂ᵀ`` the forces are ``∂P/∂r = (2c²/ℓ) Q x`` and ``∂P/∂x = −2c² d̂``."""
    d0, d1, d2 = T[t] - X[0], T[t + 1] - X[1], T[t + 2] - X[2]
    inv = 1.0 / max(math.sqrt(d0 * d0 + d1 * d1 + d2 * d2), NEAREST)
    d0, d1, d2 = d0 * inv, d1 * inv, d2 * inv
    s = d0 * X[3] + d1 * X[4] + d2 * X[5]
    a = 2.0 * c2 * inv
    f[0], f[1], f[2] = a * (X[3] - s * d0), a * (X[4] - s * d1), a * (X[5] - s * d2)
    f[3], f[4], f[5] = -2.0 * c2 * d0, -2.0 * c2 * d1, -2.0 * c2 * d2
    e0, e1, e2 = d0 - X[3], d1 - X[4], d2 - X[5]
    return c2 * (e0 * e0 + e1 * e1 + e2 * e2)


@leaf
def aim_stiffness(X: Any, T: Any, t: int, c2: float, d: Any, M: Any) -> None:
    """``∂²P/∂r∂x = (2c²/ℓ) Q`` and ``∂²P/∂r² = (2c²/ℓ²) (d̂ (Qx)ᵀ + (Qx) d̂ᵀ + s Q)``, ``s = d̂·x``."""
    square, s = 0.0, 0.0
    for i in range(3):
        d[i] = T[t + i] - X[i]
        square += d[i] * d[i]
    inv = 1.0 / max(math.sqrt(square), NEAREST)
    for i in range(3):
        d[i] *= inv
        s += d[i] * X[3 + i]
    for i in range(3):
        for j in range(3):
            Q = (1.0 if i == j else 0.0) - d[i] * d[j]
            y = d[i] * (X[3 + j] - s * d[j]) + (X[3 + i] - s * d[i]) * d[j]
            M[i, j] = 2.0 * c2 * inv * inv * (y + s * Q)
            M[i, 3 + j] = M[3 + j, i] = 2.0 * c2 * inv * Q
            M[3 + i, 3 + j] = 0.0


@leaf
def tilt_potential(X: Any, T: Any, t: int, A: Any, c2: float, G: Any, f: Any) -> float:
    """TILT: ``P = c² Σ dead(φ_k)²`` with ``φ = f(cos φ) e``; e and cos φ are linear in the entries of E (see `log_factor`).

    ``∂P/∂E = 2c² Σ_k dead_k (f' e_k ∂c + f ∂e_k)``; axis k of the effector then feels ``Σ_i ∂P/∂E_ik x_gi``.
    """
    E = row(G, 9, 9)
    c = error_matrix(X, T, t, E)
    factor, slope, _ = log_factor(c)
    P = 0.0
    for m in range(9):
        G[m] = 0.0
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        e = 0.5 * (E[3 * j + i] - E[3 * i + j])
        out = dead(factor * e, A[LOWER + k], A[UPPER + k])
        P += c2 * out * out
        G[3 * j + i] += c2 * out * factor
        G[3 * i + j] -= c2 * out * factor
        for m in range(3):
            G[4 * m] += c2 * out * slope * e
    for k in range(3):
        for i in range(3):
            a = t + 3 * i
            f[3 + 3 * k + i] = T[a] * G[k] + T[a + 1] * G[3 + k] + T[a + 2] * G[6 + k]
    return P


@leaf
def tilt_stiffness(X: Any, T: Any, t: int, A: Any, c2: float, G: Any, M: Any) -> None:
    """Over the axes k that are outside, ``2c² (∂φ_k ∂φ_kᵀ + dead_k ∂²φ_k)`` in the entries of E, carried over to the axes.

    ``∂²φ_k = f'' e_k ∂c ∂cᵀ + f' (∂e_k ∂cᵀ + ∂c ∂e_kᵀ)``.
    """
    E, D, N = row(G, 9, 9), row(G, 18, 9), table(G, 27, 9, 9)
    factor, slope, bend = log_factor(error_matrix(X, T, t, E))
    for m in range(81):
        G[27 + m] = 0.0
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        e = 0.5 * (E[3 * j + i] - E[3 * i + j])
        out = dead(factor * e, A[LOWER + k], A[UPPER + k])
        if out == 0.0:
            continue
        for m in range(9):
            D[m] = 0.5 * slope * e if m % 4 == 0 else 0.0
        D[3 * j + i] += 0.5 * factor
        D[3 * i + j] -= 0.5 * factor
        for m in range(9):
            for n in range(9):
                N[m, n] += 2.0 * c2 * D[m] * D[n]
        for m in range(0, 9, 4):
            for n in range(0, 9, 4):
                N[m, n] += 0.5 * c2 * out * bend * e
            h = 0.5 * c2 * out * slope
            N[m, 3 * j + i] += h
            N[3 * j + i, m] += h
            N[m, 3 * i + j] -= h
            N[3 * i + j, m] -= h
    for k in range(3):
        for m in range(3):
            for a in range(3):
                for b in range(3):
                    s = 0.0
                    for i in range(3):
                        for j in range(3):
                            s += T[t + 3 * a + i] * N[3 * i + k, 3 * j + m] * T[t + 3 * b + j]
                    M[3 + 3 * k + a, 3 + 3 * m + b] = s


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


@leaf
def parts(kind: int) -> Any:
    """Which of the four parts of X (position, x, y, z axis) a kind looks at: the first, and one past the last."""
    if kind == FACE:
        return 1, 2
    if kind == TURN or kind == TILT:
        return 1, 4
    if kind == AIM:
        return 0, 2
    if kind == CUSTOM:
        return 0, 4
    return 0, 1


@leaf
def potential(term: Any, X: Any, T: Any, A: Any, f: Any, M: Any, G: Any) -> float:
    """P of a term, with the forces ∂P/∂X in f for the parts it looks at. `term` and A are its integers and floats.

    M (12, 12) and G (`MIXED` numbers) are scratch.
    """
    kind, t = term[0], term[3]
    c2 = A[WEIGHT] * A[SCALE] * A[SCALE]
    if kind == TURN:
        return turn_potential(X, T, t, c2, f)
    if kind == FACE:
        e0, e1, e2 = X[3] - T[t], X[4] - T[t + 1], X[5] - T[t + 2]
        f[3], f[4], f[5] = -2.0 * c2 * T[t], -2.0 * c2 * T[t + 1], -2.0 * c2 * T[t + 2]
        return c2 * (e0 * e0 + e1 * e1 + e2 * e2)
    if kind == AIM:
        return aim_potential(X, T, t, c2, f)
    if kind == TILT:
        return tilt_potential(X, T, t, A, c2, G, f)
    if kind == CUSTOM:
        return custom_potential(X, T, t, term[7], term[8], A[WEIGHT], f, M)
    return position_potential(kind, X, T, t, A, f)


@leaf
def stiffness(term: Any, X: Any, T: Any, A: Any, f: Any, M: Any, G: Any) -> bool:
    """∂²P/∂X² in M for the parts that the kind looks at; False if it is zero and M was not written."""
    kind, t = term[0], term[3]
    c2 = A[WEIGHT] * A[SCALE] * A[SCALE]
    if kind == TURN or kind == FACE:
        return False
    if kind == AIM:
        aim_stiffness(X, T, t, c2, G, M)
    elif kind == TILT:
        tilt_stiffness(X, T, t, A, c2, G, M)
    elif kind == CUSTOM:
        custom_potential(X, T, t, term[7], term[8], A[WEIGHT], f, M)
    else:
        position_stiffness(kind, X, T, t, A, M)
    return True


@leaf
def push(X: Any, f: Any, first: int, last: int, w: Any) -> None:
    """The wrench of the forces f on parts first … last − 1 of X."""
    for i in range(6):
        w[i] = 0.0
    for part in range(first, last):
        k = 3 * part
        x, y, z, f0, f1, f2 = X[k], X[k + 1], X[k + 2], f[k], f[k + 1], f[k + 2]
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
            m0, m1, m2, x, y, z = M[i, k], M[i, k + 1], M[i, k + 2], X[k], X[k + 1], X[k + 2]
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
