"""Points that are to meet: the equations of a chain of which only one point has a target.

Cut behind joint 3, the chain says ``w_B = w_A``: the point as the later joints carry it, and the target as the first three
see it. A rigid motion acts linearly on ``(w, |w|², 1)``,

    w' = R w + t,    |w'|² = |w|² + 2 tᵀR w + |t|²,

and the motions of hinges and slides are linear in {1, u, v} of `moments`: ``R = I + 2g v K + 2g² u K²`` with K the cross
product with z, or ``t = 2g v e_z``, ``|t|² = 4g² u`` in units of half the reach. So all four numbers are linear in the
moments of their arc, which makes four equations.
"""

from __future__ import annotations

from typing import Any

from supple.proofs.checker.balls import moved, need_flint, turned_back
from supple.proofs.checker.moments import FIRST_ARC


def conformal(R: Any, t: Any) -> list[list[Any]]:
    """The motion of ``(w, |w|², 1)`` by a rotation (nested lists) and a translation, of numbers of any kind."""
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


def ahead_of(loop: Any, middles: list[Any], g: list[Any]) -> list[Any]:
    """What each moment of arc A is multiplied with: the target as the first joints see it."""
    vectors = [_vector(loop.claim.target, loop.scale)]
    for j in range(FIRST_ARC):
        back = turned_back(loop.chain.before[j] * moved(middles[j] * loop.signs[j], loop.slides[j]))
        motion, parts = _motion(back, loop.scale), _parts(-g[j] * loop.signs[j], loop.slides[j])
        vectors = [M * (motion * v) for v in vectors for M in parts]
    return vectors


def behind_of(loop: Any, middles: list[Any], g: list[Any]) -> list[Any]:
    """What each moment of arc B is multiplied with: the point as the later joints carry it."""
    vectors = [_vector(loop.chain.behind, loop.scale)]
    for j in range(len(loop.slides) - 1, FIRST_ARC - 1, -1):
        motion = _motion(loop.chain.before[j] * moved(middles[j] * loop.signs[j], loop.slides[j]), loop.scale)
        parts = _parts(g[j] * loop.signs[j], loop.slides[j])
        vectors = [motion * (M * v) for M in parts for v in vectors]
    return vectors


def _parts(g: Any, slides: bool) -> list[Any]:
    return [need_flint().arb_mat(M) for M in joint_parts(g, slides)]


def _vector(T: Any, scale: Any) -> Any:
    """``(w, |w|², 1)`` of a placement's origin."""
    w = [scale * T[i, 3] for i in range(3)]
    return need_flint().arb_mat([[x] for x in (*w, sum(x * x for x in w), 1)])


def _motion(T: Any, scale: Any) -> Any:
    """A placement as a motion of such vectors."""
    R = [[T[i, k] for k in range(3)] for i in range(3)]
    return need_flint().arb_mat(conformal(R, [scale * T[i, 3] for i in range(3)]))
