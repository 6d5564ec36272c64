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
| CLEAR | max(0, m − gap)², gap between the core of a bar and a solid (`clearance`) | max(0, m − gap) |
| CUSTOM | a user's function of the 12 numbers of X | none |

``dead(y) = y − clip(y, lower, upper)``. BEYOND, BOX, TILT and CLEAR are inequalities: zero where they hold.

On the sphere of unit vectors the two forms of FACE, TURN and AIM agree, and so do
their derivatives along motions of the frame; the second form has no second derivative in x and is the one evaluated.
"""

from __future__ import annotations

import math
from typing import Any

from supple.compiled import call_custom, leaf, row

AT, FACE, TURN, AIM, LINE, PLANE, BEYOND, BOX, TILT, CUSTOM, NEAR, CLEAR = range(12)
TARGET = {AT: 3, FACE: 3, TURN: 9, AIM: 3, LINE: 6, PLANE: 6, BEYOND: 6, BOX: 12, TILT: 9}
ROWS = {AT: 3, FACE: 3, TURN: 3, AIM: 3, LINE: 3, PLANE: 1, BEYOND: 1, BOX: 3, TILT: 3, CUSTOM: 0, NEAR: 0, CLEAR: 1}
NEAREST = 1e-9  # an aim at a point nearer than this to where the direction starts says nothing
MIXED = 120  # scratch numbers of a potential
# columns of a term's float row
FRAME, REFERENCE, WEIGHT, MET, SCALE, LOWER, UPPER, SHIFT, TERM = 0, 12, 24, 25, 26, 27, 30, 33, 36
HALF, KEEP, REACH = LOWER, UPPER, UPPER + 1  # of CLEAR: half of the core, how far it keeps, beyond what nothing is near


@leaf
def dead(y: float, lower: float, upper: float) -> float:
    """How far y is outside the interval."""
    return y - min(max(y, lower), upper)


@leaf
def is_inequality(kind: int) -> bool:
    """Whether a kind asks for room rather than for a place: its residuals vanish wherever it holds."""
    return kind == BEYOND or kind == BOX or kind == TILT or kind == CLEAR


@leaf
def turn_vector(X: Any, T: Any, t: int, phi: Any) -> None:
    """The rotation vector φ of ``E = RgᵀR``, from the goal's frame to the effector's, in the goal's axes; |φ| ≤ π.

    Read off the unit quaternion of E, whose largest component is found first, so that no turn is special: not the
    identity, and not half a turn, where of the two axes one is taken.
    """
    E = row(phi, 3, 9)
    for i in range(3):
        for k in range(3):
            a, b = t + i, 3 + 3 * k
            E[3 * i + k] = T[a] * X[b] + T[a + 3] * X[b + 1] + T[a + 6] * X[b + 2]
    w, x = 1.0 + E[0] + E[4] + E[8], E[7] - E[5]
    y, z = E[2] - E[6], E[3] - E[1]
    if w < 1.0:  # more than 120°: 4 × the quaternion times its largest component, row by row of 4 q qᵀ
        if E[0] >= E[4] and E[0] >= E[8]:
            w, x = x, 1.0 + E[0] - E[4] - E[8]
            y, z = E[1] + E[3], E[2] + E[6]
        elif E[4] >= E[8]:
            w, x = y, E[1] + E[3]
            y, z = 1.0 - E[0] + E[4] - E[8], E[5] + E[7]
        else:
            w, x = z, E[2] + E[6]
            y, z = E[5] + E[7], 1.0 - E[0] - E[4] + E[8]
        if w < 0.0:
            w, x = -w, -x
            y, z = -y, -z
    s = math.sqrt(x * x + y * y + z * z)
    factor = 2.0 * math.atan2(s, w) / s if s > 1e-150 else 0.0
    phi[0], phi[1], phi[2] = factor * x, factor * y, factor * z


@leaf
def turn_rates(square: float) -> Any:
    """κ and ``κ'(φ)/φ`` of ``κ = (1 − (φ/2) cot(φ/2))/φ²`` as functions of φ²; series near zero.

    ``dφ = (I − ½[φ]× + κ[φ]×²) δ`` for a small turn δ before E, in the goal's axes.
    """
    if square < 1e-2:
        k = 1 / 12 + square * (1 / 720 + square * (1 / 30240 + square / 1209600))
        return k, 2.0 * (1 / 720 + square * (2 / 30240 + square * 3 / 1209600))
    half = 0.5 * math.sqrt(square)
    cot = 1.0 / math.tan(half)
    k = (1.0 - half * cot) / square
    # (half cot half)' = (cot − half (1 + cot²))/2, then the quotient rule, all over φ
    return k, (-0.5 * (cot - half * (1.0 + cot * cot)) / (2.0 * half) - 2.0 * k) / square


@leaf
def turn_row(phi: Any, k: int, kappa: float, square: float, out: Any) -> None:
    """Row k of ``I − ½[φ]× + κ[φ]×²``."""
    i, j = (k + 1) % 3, (k + 2) % 3
    for m in range(3):
        out[m] = kappa * phi[k] * phi[m]
    out[k] += 1.0 - kappa * square
    out[i] += 0.5 * phi[j]
    out[j] -= 0.5 * phi[i]


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
def inverse_length(d0: float, d1: float, d2: float) -> float:
    """1/ℓ; 0 where the aim is at the very point where the direction starts: there P is held constant."""
    length = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    return 1.0 / length if length > NEAREST else 0.0


@leaf
def aim_potential(X: Any, T: Any, t: int, c2: float, f: Any) -> float:
    """AIM: ``P = 2c²(1 − d̂·x)``; with ``Q = I − d̂d̂ᵀ`` the forces are ``∂P/∂r = (2c²/ℓ) Q x`` and ``∂P/∂x = −2c² d̂``."""
    d0, d1, d2 = T[t] - X[0], T[t + 1] - X[1], T[t + 2] - X[2]
    inv = inverse_length(d0, d1, d2)
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
    s = 0.0
    for i in range(3):
        d[i] = T[t + i] - X[i]
    inv = inverse_length(d[0], d[1], d[2])
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
    """TILT: ``P = c² Σ dead(φ_k)²``. Its moment τ, ``dP = τ·δ``, is laid on the axes as ``f_k = ½ τ × x_k``."""
    phi, line, tau = row(G, 0, 12), row(G, 12, 3), row(G, 15, 3)
    turn_vector(X, T, t, phi)
    square = phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2]
    kappa, _ = turn_rates(square)
    P = 0.0
    for i in range(3):
        tau[i] = 0.0
    for k in range(3):
        out = dead(phi[k], A[LOWER + k], A[UPPER + k])
        P += c2 * out * out
        turn_row(phi, k, kappa, square, line)
        for i in range(3):
            a = t + 3 * i
            tau[i] += 2.0 * c2 * out * (T[a] * line[0] + T[a + 1] * line[1] + T[a + 2] * line[2])
    for k in range(3, 12, 3):
        f[k] = 0.5 * (tau[1] * X[k + 2] - tau[2] * X[k + 1])
        f[k + 1] = 0.5 * (tau[2] * X[k] - tau[0] * X[k + 2])
        f[k + 2] = 0.5 * (tau[0] * X[k + 1] - tau[1] * X[k])
    return P


@leaf
def tilt_second(phi: Any, A: Any, c2: float, line: Any, da: Any, N: Any) -> None:
    """The symmetric second derivative N (3, 3) of P with respect to a small turn δ, in the goal's axes.

    ``2c² Σ_k (r_k r_kᵀ + dead_k ∂r_k)`` over the axes that are outside, r_k the rows of ``L = I − ½[φ]× + κ[φ]×²``. Along b the
    vector φ moves by ``a = L b``, and row k by that of ``−½[a]× + (κ'/φ)(φ·a)[φ]×² + κ([a]×[φ]× + [φ]×[a]×)``; symmetrised.
    """
    square = phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2]
    kappa, rate = turn_rates(square)
    for i in range(9):
        N[i] = 0.0
    for b in range(3):
        for k in range(3):
            turn_row(phi, k, kappa, square, line)
            da[k] = line[b]
        dot = phi[0] * da[0] + phi[1] * da[1] + phi[2] * da[2]
        for k in range(3):
            out = dead(phi[k], A[LOWER + k], A[UPPER + k])
            if out == 0.0:
                continue
            turn_row(phi, k, kappa, square, line)
            i, j = (k + 1) % 3, (k + 2) % 3
            for m in range(3):
                h = rate * dot * (phi[k] * phi[m] - (square if k == m else 0.0))
                h += kappa * (da[k] * phi[m] + phi[k] * da[m] - (2.0 * dot if k == m else 0.0))
                h += 0.5 * da[j] if m == i else (-0.5 * da[i] if m == j else 0.0)
                N[3 * m + b] += c2 * (line[m] * line[b] + out * h)
                N[3 * b + m] += c2 * (line[m] * line[b] + out * h)


@leaf
def tilt_stiffness(X: Any, T: Any, t: int, A: Any, c2: float, G: Any, M: Any) -> None:
    """TILT's second derivative S in small turns, laid on the axes: ``M_kl = ¼ [x_k]×ᵀ S [x_l]×``, so that ``Gᵀ M G = S``."""
    phi, N, S = row(G, 0, 12), row(G, 18, 9), row(G, 27, 9)
    turn_vector(X, T, t, phi)
    tilt_second(phi, A, c2, row(G, 12, 3), row(G, 15, 3), N)
    for a in range(3):
        for b in range(3):
            s = 0.0
            for i in range(3):
                for j in range(3):
                    s += T[t + 3 * a + i] * N[3 * i + j] * T[t + 3 * b + j]
            S[3 * a + b] = s
    for k in range(3, 12, 3):
        for m in range(3, 12, 3):
            for a in range(3):
                for b in range(3):
                    # row a of [x_k]×ᵀ is e_a × … : entries of the cross product matrix, written out by cyclic indices
                    a1, a2 = (a + 1) % 3, (a + 2) % 3
                    b1, b2 = (b + 1) % 3, (b + 2) % 3
                    s = X[k + a2] * S[3 * a1 + b1] * X[m + b2] - X[k + a2] * S[3 * a1 + b2] * X[m + b1]
                    s -= X[k + a1] * S[3 * a2 + b1] * X[m + b2] - X[k + a1] * S[3 * a2 + b2] * X[m + b1]
                    M[k + a, m + b] = 0.25 * s


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
