"""TILT, a rotation vector φ = log RgᵀR within bounds: ``P = w c² Σ dead(φ_k)²``, φ in the goal's axes [rad], c metres a radian.

``dead(φ) = φ − clip(φ, lower, upper)``: an inequality, which asks nothing inside the bounds.

| looks at | target | residuals ρ [√w m] |
|---|---|---|
| x, y, z axes | Rg (9) | √w c dead(φ_k) |
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf, row
from supple.kernels.layouts import LOWER, SCALE, SHIFT, UPPER, WEIGHT
from supple.kernels.terms.covectors import dead


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
def tilt_residual(X: Any, T: Any, t: int, A: Any, rho: Any, rows: Any, a: int, M: Any) -> None:
    """TILT: the rows of ``dφ = (I − ½[φ]× + κ[φ]×²) Rgᵀδ`` (see `turn_rates`)."""
    phi, line, w = row(M, 0, 12), row(M, 12, 3), math.sqrt(A[WEIGHT]) * A[SCALE]
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
