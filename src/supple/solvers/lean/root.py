"""From the frame of a free base to the six coordinates of the root that the figure has for it.

The pack's root is ``X = X₀ (I, d) (R₃, 0) T_i(α) T_j(β) T_k(γ)``, d the slides along its axes and T turns about the
three coordinate axes i, j, k in some order, of parity s (+1 if i, j, k is a cyclic order). With M the turns alone,

    M_ik = s sin β,   M_jk = −s sin α cos β,   M_kk = cos α cos β,   M_ij = −s cos β sin γ,   M_ii = cos β cos γ;

where cos β vanishes, γ is 0. Angles lie in [−π, π].

Before its first step a free base is put where the goals fit best with the joints as they are: Horn's quaternion, the
eigenvector of the largest eigenvalue of a symmetric 4 × 4 matrix, by power steps on that matrix, shifted to be positive.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from supple.kernels.kinds import AT
from supple.solvers.lean.shape import Root, Shape

LOCKED = 1e-12
POWER_STEPS = 24
LEAST_SHIFT = 1e-6  # where goals tell nothing of the turn, the base stays as it is
LEAST = 1e-20


def unfold(root: Root, jit: Callable[[Any], Any]) -> Any:
    """A leaf ``out(base, P, row)`` that writes the root's coordinates into a row of P."""
    FIRST, TURN = np.asarray(root.first, float), np.asarray(root.turn, float)
    i, j, k = root.turns
    S = 1.0 if (j - i) % 3 == 1 else -1.0
    A, B, C = root.slides
    SIGN, COORDINATE = np.asarray(root.sign, float), np.asarray(root.coordinate, np.int64)
    # M = F X with F = (R₀ R₃)ᵀ; the slides are the entries of R₀ᵀ(p − p₀)
    back = (FIRST[:9].reshape(3, 3) @ TURN.reshape(3, 3)).T.copy()
    own, p0 = FIRST[:9].reshape(3, 3).T.copy(), FIRST[9:12].copy()
    cyclic = np.array([A, B, C], np.int64)

    @jit
    def entry(base: Any, r: Any, c: Any) -> Any:
        """M[r, c]."""
        w, x, y, z = base[0], base[1], base[2], base[3]
        if c == 0:
            a, b, d = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)
        elif c == 1:
            a, b, d = 2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)
        else:
            a, b, d = 2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)
        return back[r, 0] * a + back[r, 1] * b + back[r, 2] * d

    @jit
    def out(base: Any, P: Any, row: Any) -> None:
        for s in range(3):
            r = cyclic[s]
            d = own[r, 0] * (base[4] - p0[0]) + own[r, 1] * (base[5] - p0[1]) + own[r, 2] * (base[6] - p0[2])
            P[row, COORDINATE[s]] = SIGN[s] * d
        mii, mij, mik = entry(base, i, i), entry(base, i, j), entry(base, i, k)
        flat = math.sqrt(mii * mii + mij * mij)
        if flat > LOCKED:
            a, c = math.atan2(-S * entry(base, j, k), entry(base, k, k)), math.atan2(-S * mij, mii)
        else:
            a, c = math.atan2(S * entry(base, k, j), entry(base, j, j)), 0.0
        P[row, COORDINATE[3]] = SIGN[3] * a
        P[row, COORDINATE[4]] = SIGN[4] * math.atan2(S * mik, flat)
        P[row, COORDINATE[5]] = SIGN[5] * c

    return out


def fitting(shape: Shape, real: Any, jit: Callable[[Any], Any]) -> Any:
    """The leaf that puts a base, now at rest, where places and orientations fit best, in the sense of least squares."""
    G, FIXED = len(shape.carrier), np.array([p == AT for p in shape.place])
    count = max(int(FIXED.sum()), 1)
    ZERO, ONE, TWO, SHARE, SHIFT, TINY = real(0), real(1), real(2), real(1 / count), real(1.2), real(LEAST)
    SMALL = real(LEAST_SHIFT)
    B0, C0, D0 = real(0.1), real(0.05), real(-0.07)  # no eigenvector of what is symmetric

    @jit
    def gather(T: Any, x: Any, M: Any, X: Any) -> None:
        """Means of points and goals in X; M gets what they tell of the turn."""
        for r in range(3):
            X[r], X[3 + r] = ZERO, ZERO
            for g in range(G):
                if FIXED[g]:
                    X[r] += SHARE * x[g, r]
                    X[3 + r] += SHARE * T[g, 9 + r]
        for g in range(G):
            if FIXED[g]:
                for r in range(3):
                    for c in range(3):
                        M[3 * r + c] += (T[g, 9 + r] - X[3 + r]) * (x[g, c] - X[c])

    @jit
    def fit(T: Any, x: Any, base: Any, M: Any, X: Any) -> None:
        gather(T, x, M, X)
        s = ZERO
        for k in range(9):
            s += M[k] * M[k]
        s = SHIFT * math.sqrt(s) + SMALL
        k00, k11 = M[0] + M[4] + M[8] + s, M[0] - M[4] - M[8] + s
        k22, k33 = M[4] - M[0] - M[8] + s, M[8] - M[0] - M[4] + s
        k01, k02, k03 = M[7] - M[5], M[2] - M[6], M[3] - M[1]
        k12, k13, k23 = M[1] + M[3], M[2] + M[6], M[5] + M[7]
        a, b, c, d = ONE, B0, C0, D0
        for _ in range(POWER_STEPS):
            w, y = k00 * a + k01 * b + k02 * c + k03 * d, k01 * a + k11 * b + k12 * c + k13 * d
            u, v = k02 * a + k12 * b + k22 * c + k23 * d, k03 * a + k13 * b + k23 * c + k33 * d
            s = ONE / math.sqrt(w * w + y * y + u * u + v * v + TINY)
            a, b, c, d = s * w, s * y, s * u, s * v
        base[0], base[1], base[2], base[3] = a, b, c, d
        # the turn of the base, row by row, takes the points' mean to the goals'
        m0, m1, m2 = X[0], X[1], X[2]
        base[4] = X[3] - (ONE - TWO * (c * c + d * d)) * m0 - TWO * (b * c - a * d) * m1 - TWO * (b * d + a * c) * m2
        base[5] = X[4] - TWO * (b * c + a * d) * m0 - (ONE - TWO * (b * b + d * d)) * m1 - TWO * (c * d - a * b) * m2
        base[6] = X[5] - TWO * (b * d - a * c) * m0 - TWO * (c * d + a * b) * m1 - (ONE - TWO * (b * b + c * c)) * m2

    return fit
