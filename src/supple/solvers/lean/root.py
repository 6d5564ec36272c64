"""From the frame of a free base to the six coordinates of the root that the figure has for it.

The pack's root is ``X = X₀ (I, d) (R₃, 0) T_i(α) T_j(β) T_k(γ)``, d the slides along its axes and T turns about the
three coordinate axes i, j, k in some order, of parity s (+1 if i, j, k is a cyclic order). With M the turns alone,

    M_ik = s sin β,   M_jk = −s sin α cos β,   M_kk = cos α cos β,   M_ij = −s cos β sin γ,   M_ii = cos β cos γ;

where cos β vanishes, γ is 0. Angles lie in [−π, π].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from supple.solvers.lean.shape import Root

LOCKED = 1e-12


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
