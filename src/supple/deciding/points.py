"""Points that are to meet: the equations of a chain of which only one point has a target.

Cut between joints a − 1 and a, the chain says ``w_B = w_A``: the point as the joints from a on carry it, and the target
as the joints before a see it. A rigid motion acts linearly on ``(w, |w|², 1)``,

    w' = R w + t,    |w'|² = |w|² + 2 tᵀR w + |t|²,

and the motions of hinges and slides are linear in {1, u, v} of `moments`: ``R = I + 2g v K + 2g² u K²`` with K the cross
product with z, or ``t = 2g v e_z``, ``|t|² = 4g² u`` in units of half the reach. So all four numbers are linear in the
moments of their arc, which makes four equations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.deciding.chain import Chain, moved
from supple.space import Floats, inverse

EQUATIONS = 4  # of meeting points: w and |w|²


def conformal(R: Any, t: Any) -> list[list[Any]]:
    """The motion of ``(w, |w|², 1)`` by a rotation (nested lists) and a translation."""
    zero, one = 0 * t[0], 1 + 0 * t[0]
    across = [2 * sum(t[k] * R[k][i] for k in range(3)) for i in range(3)]
    square = sum(x * x for x in t)
    return [*([*R[i], zero, t[i]] for i in range(3)), [*across, one, square], [zero, zero, zero, zero, one]]


def joint_parts(g: Any, slides: bool) -> list[list[list[Any]]]:
    """What 1, u and v are multiplied with in the motion of a joint; g has the joint's sign."""
    zero, one = 0 * g, 1 + 0 * g
    still = [[one if i == j else zero for j in range(5)] for i in range(5)]
    by_u, by_v = ([[zero] * 5 for _ in range(5)] for _ in range(2))
    if slides:
        by_u[3][4] = 4 * g * g
        by_v[2][4] = 2 * g
        by_v[3][2] = 4 * g
    else:
        by_u[0][0] = by_u[1][1] = -2 * g * g
        by_v[1][0], by_v[0][1] = 2 * g, -2 * g
    return [still, by_u, by_v]


def point_rows(chain: Chain, target: Floats, middle: Floats, g: Floats, first: int) -> Floats:
    """The equations over the moments of both arcs, arc A being the first so many joints."""
    scale, n = 2.0 / chain.reach, len(chain.names)
    fixed = [
        B @ moved(x, slides) for B, x, slides in zip(chain.before, chain.signs * middle, chain.slides, strict=True)
    ]
    ahead = _vector(scale * target[:3, 3])
    for j in range(first):
        ahead = _conformal(inverse(fixed[j]), scale) @ ahead
        parts = joint_parts(-chain.signs[j] * g[j], chain.slides[j])
        ahead = np.stack([np.array(M) @ ahead for M in parts], axis=2).reshape(5, -1)
    behind = _vector(scale * chain.behind[:3, 3])
    for j in range(n - 1, first - 1, -1):
        parts = joint_parts(chain.signs[j] * g[j], chain.slides[j])
        behind = np.stack([np.array(M) @ behind for M in parts], axis=1).reshape(5, -1)
        behind = _conformal(fixed[j], scale) @ behind
    return np.concatenate([ahead[:EQUATIONS], -behind[:EQUATIONS]], axis=1)


def _conformal(T: Floats, scale: float) -> Floats:
    return np.array(conformal(T[:3, :3].tolist(), (scale * T[:3, 3]).tolist()))


def _vector(w: Floats) -> Floats:
    return np.array([*w, w @ w, 1.0])[:, None]
