"""The two-arc relaxation: whether moments of two arcs can agree where the arcs meet.

The closed loop of a chain (`chain`) is cut into an arc A of three joints and an arc B of the others, the target among
these: ``A B = ±1``, hence ``L_A h_A = ± L_B h_B`` with 8-row matrices L (B's conjugated). Squared, the sign is gone:

    L_A E[h_A h_Aᵀ] L_Aᵀ = L_B E[h_B h_Bᵀ] L_Bᵀ                                               (36 equations)
    N L_B E[h_B h_Bᵀ] = 0    for N L_A = 0                               (facial rows, where L_A has not full rank)
    E[h_A h_Aᵀ] ⪰ 0,  E[h_B h_Bᵀ] ⪰ 0,  E[(1 − u_j) h hᵀ] ⪰ 0 for each joint with limits

are linear in the moments y of both arcs (`moments`). If nothing satisfies them, no posture reaches the pose. The
equations are eliminated, ``y = y₀ + Σ z_i y_i`` with z some of the moments themselves, and the rest is a feasibility
problem for `interior`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from supple.deciding.chain import CONJUGATE, Chain, dual, dual_product, quaternion
from supple.deciding.moments import Terms, terms
from supple.space import Floats

FIRST_ARC = 3  # joints
RANK = 1e-9  # singular values below this share of the largest are none
WIDER = 1.0 + 1e-12  # g is a little more than it need be, so that rounding cannot make it too small
FULL = np.pi - 1e-9  # half a range from which a joint turns all the way round


class Arc(NamedTuple):
    """Some joints of the loop in order."""

    joints: tuple[int, ...]
    g: Floats
    L: Floats  # (8, 2^k)
    limited: tuple[int, ...]  # positions in the arc of joints with limits

    @property
    def whole(self) -> Terms:
        """From moments to ``h hᵀ``."""
        return terms(len(self.joints))

    def local(self, position: int) -> Terms:
        """From moments to ``(1 − u) h hᵀ`` of one joint with limits."""
        return terms(len(self.joints), position)


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The problem for one target and one box of joint ranges."""

    a: Arc
    b: Arc
    kernel: Floats  # N (rows, 8)
    face: Floats  # (2^k, r) what the facial rows leave of the second arc
    equations: Floats  # (rows, moments of both arcs)
    middle: Floats  # (n) of each joint's range
    g: Floats  # (n)

    @property
    def split(self) -> int:
        """Moments of the first arc."""
        return 3 ** len(self.a.joints)

    def blocks(self, y: Floats) -> list[Floats]:
        """The matrices that must be positive semidefinite, of moments (…, all)."""
        out = []
        for arc, part in ((self.a, y[..., : self.split]), (self.b, y[..., self.split :])):
            whole = arc.whole.expand(part, arc.g)
            out.append(whole if arc is self.a else self.face.T @ whole @ self.face)
            out += [arc.local(i).expand(part, arc.g) for i in arc.limited]
        return out

    def angles(self, y: Floats) -> tuple[Floats, Floats]:
        """The joint angles that the first moments stand for, and how far each is from being one: 0 if it is, up to 1."""
        q, spread = np.empty(len(self.g)), np.empty(len(self.g))
        for arc, at in ((self.a, 0), (self.b, self.split)):
            k = len(arc.joints)
            for i, j in enumerate(arc.joints):
                unit, g = 3 ** (k - 1 - i), self.g[j]
                c, s = 1.0 - 2.0 * g * g * y[at + unit], 2.0 * g * y[at + 2 * unit]
                q[j], spread[j] = self.middle[j] + np.arctan2(s, c), 1.0 - c * c - s * s
        return q, spread

    def contracted(self, weights: list[Floats]) -> Floats:
        """The coefficients of all moments in ``Σ ⟨W_k, block_k⟩``."""
        out, k = np.zeros(self.equations.shape[1]), 0
        for arc, part in ((self.a, slice(0, self.split)), (self.b, slice(self.split, None))):
            out[part] += arc.whole.contract(weights[k], arc.g)
            for i in arc.limited:
                k += 1
                out[part] += arc.local(i).contract(weights[k], arc.g)
            k += 1
        return out


def ranges(lower: Floats, upper: Floats) -> tuple[Floats, Floats, np.ndarray]:
    """Middle and g of each joint's range, and whether it has limits at all."""
    finite = np.isfinite(lower) & np.isfinite(upper)
    middle = np.where(finite, 0.5 * (np.where(finite, lower, 0.0) + np.where(finite, upper, 0.0)), 0.0)
    half = np.where(finite, np.maximum(upper - middle, middle - lower), np.inf)
    limited = half < FULL
    g = np.where(limited, np.sin(0.5 * np.where(limited, half, 0.0)) * WIDER, 1.0)
    return middle, np.maximum(g, 1e-9), limited


def fixed_parts(
    chain: Chain, target: Floats, halves: Sequence[tuple[Any, Any]], placed: Callable[[Floats], Any]
) -> list[Any]:
    """D_j of every joint, of numbers of any kind; the target is in D_0.

    `halves` are cosine and sine of half of the middle of each joint's range, `placed` makes a placement a dual
    quaternion.
    """
    parts = []
    for T, (c, s) in zip(chain.before, halves, strict=True):
        zero = 0 * c
        parts.append(dual_product(placed(T), [c, zero, zero, s, zero, zero, zero, zero]))
    back = [x * int(sign) for x, sign in zip(placed(target), CONJUGATE, strict=True)]
    parts[0] = dual_product(dual_product(placed(chain.behind), back), parts[0])
    return parts


def arc_matrix(parts: list[Any], joints: tuple[int, ...], g: Any, closing: Any, signs: Any) -> list[Any]:
    """The columns of L: the products of the arc with 1 or g k for each joint, of numbers of any kind.

    The first joint's fixed part belongs to the arc before; `closing` is the fixed part at the end.
    """
    columns = None
    for j in joints:
        new = []
        for column in [parts[j]] if columns is None else [dual_product(c, parts[j]) for c in columns]:
            w, x, y, z, W, X, Y, Z = column
            s = g[j] * signs[j]
            new += [column, [-s * z, s * y, -s * x, s * w, -s * Z, s * Y, -s * X, s * W]]
        columns = new
    assert columns is not None
    return columns if closing is None else [dual_product(c, closing) for c in columns]


def _parts(chain: Chain, target: Floats, middle: Floats) -> list[Any]:
    """D_j in floating point."""
    scale, turn = 2.0 / chain.reach, 0.5 * chain.signs * middle
    halves = list(zip(np.cos(turn), np.sin(turn), strict=True))
    return fixed_parts(chain, target, halves, lambda T: dual(quaternion(T[:3, :3]), scale * T[:3, 3]))


def _first_arc(chain: Chain, parts: list[Any], joints: tuple[int, ...], g: Floats) -> Floats:
    """L_A, without the fixed part before its first joint, which closes the other arc."""
    identity = [1.0] + [0.0] * 7
    own = [identity if j == joints[0] else part for j, part in enumerate(parts)]
    return np.array(arc_matrix(own, joints, g, None, chain.signs)).T


def relaxation_of(chain: Chain, target: Floats, lower: Floats, upper: Floats, start: int) -> Relaxation:
    """The relaxation whose first arc begins with joint `start`."""
    middle, g, limited = ranges(lower, upper)
    parts = _parts(chain, target, middle)
    order = [(start + i) % len(g) for i in range(len(g))]
    a, b = tuple(order[:FIRST_ARC]), tuple(order[FIRST_ARC:])
    L_a = _first_arc(chain, parts, a, g)
    L_b = CONJUGATE[:, None] * np.array(arc_matrix(parts, b, g, parts[a[0]], chain.signs)).T
    first, second = (
        Arc(joints, g[list(joints)], L, tuple(i for i, j in enumerate(joints) if limited[j]))
        for joints, L in ((a, L_a), (b, L_b))
    )
    u, s, _ = np.linalg.svd(L_a)
    kernel = u[:, np.count_nonzero(s > RANK * s[0]) :].T
    equations = _equations(first, second, kernel)
    return Relaxation(first, second, kernel, _null_space(kernel @ L_b), equations, middle, g)


def _null_space(rows: Floats) -> Floats:
    """An orthonormal basis (columns) of what all rows annihilate."""
    if not len(rows):
        return np.eye(rows.shape[1])
    _, s, vt = np.linalg.svd(rows)
    return vt[np.count_nonzero(s > RANK) :].T


def best_start(chain: Chain) -> int:
    """The first joint of the arc whose three axes are the most special: all through one point, or parallel."""
    middle, g, _ = ranges(*chain.box)
    parts, ranks = _parts(chain, np.eye(4), middle), []
    for start in range(len(g) - FIRST_ARC + 1):
        s = np.linalg.svd(_first_arc(chain, parts, tuple(range(start, start + FIRST_ARC)), g), compute_uv=False)
        ranks.append(int(np.count_nonzero(s > RANK * s[0])))
    return int(np.argmin(ranks))


def _equations(a: Arc, b: Arc, kernel: Floats) -> Floats:
    """All equations as rows over the moments of both arcs; their right sides are zero."""
    i, j = np.triu_indices(8)
    left, right = (arc.whole.contract(_both(arc.L[i], arc.L[j]), arc.g) for arc in (a, b))
    meet = np.concatenate([left, -right], axis=1)
    width = b.L.shape[1]
    facial = np.repeat(kernel @ b.L, width, axis=0)
    units = np.tile(np.eye(width), (len(kernel), 1))
    rows = b.whole.contract(_both(facial, units), b.g)
    return np.concatenate([meet, np.concatenate([np.zeros((len(rows), left.shape[1])), rows], axis=1)])


def _both(x: Floats, y: Floats) -> Floats:
    """The symmetric parts of ``x yᵀ``, row by row."""
    return 0.5 * (x[:, :, None] * y[:, None, :] + y[:, :, None] * x[:, None, :])


class Free(NamedTuple):
    """Moments that satisfy the equations: ``y = base + z @ directions``; each z is a moment itself."""

    base: Floats
    directions: Floats


def eliminated(relaxation: Relaxation) -> Free:
    """Solve the equations by a QR factorisation with pivoting; the moments that are left over are the unknowns."""
    E = relaxation.equations
    ones = [0, relaxation.split]
    others = np.delete(np.arange(E.shape[1]), ones)
    factors: Any = qr(E[:, others], mode="economic", pivoting=True, check_finite=False)
    Q, R, order = factors
    rank = int(np.count_nonzero(np.abs(np.diag(R)) > RANK * abs(R[0, 0])))
    right = -Q.T @ E[:, ones].sum(axis=1)
    solved = solve_triangular(R[:rank, :rank], np.column_stack([R[:rank, rank:], right[:rank]]), check_finite=False)
    pivots, free = others[order[:rank]], others[order[rank:]]
    base = np.zeros(E.shape[1])
    base[ones] = 1.0
    base[pivots] = solved[:, -1]
    directions = np.zeros((len(free), E.shape[1]))
    directions[np.arange(len(free)), free] = 1.0
    directions[:, pivots] = -solved[:, :-1].T
    return Free(base, directions)
