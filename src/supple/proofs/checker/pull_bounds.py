"""Whether a pull holds: no posture of a box, of a tree of any size, goes as far along some forces as all wishes together ask.

**Forces.** Each entry k is pulled by a force λ and a turn N (3 × 3). With its frame at (R, p), in the world or less where its
target is as another segment sees it, every posture that meets it to within ε and δ has

    λ·(p − t) + ⟨N, R − T⟩  ≥  −(|λ| ε + √2 ‖N‖ δ),

since ``‖R − T‖ = 2√2 sin(θ/2)`` for rotations θ apart (Frobenius norms); of an axis the third column of N counts, with
``|N e_z| δ``, of a point none. If the sum of the left sides is below that of the right sides everywhere, nothing meets all.

**Forms.** The left side is linear in positions and rotations of segments, so quadratic in their unit quaternions q:
``⟨B, R(q)⟩ = qᵀK(B)q``. It is bounded from the leaves of the tree to its root. Let the segments from b outwards give no more
than ``q_bᵀ M q_b``, with the force Λ on b. A hinge from a to b has ``q_b = (L₁ h₁ + L₂ h₂) q_a``, ``h = (cos x/2, sin x/2)``,
x the angle less the middle of its range, of half-width w. If a form Φ, ``W = GGᵀ`` and an ``Ω = −Ωᵀ`` make

    [Φ Ω; Ωᵀ Φ] − [L₁ L₂]ᵀ M [L₁ L₂] − [s²W 0; 0 −c²W]  ≻ 0,    s = sin(w/2), c = cos(w/2),  W = 0 if w ≥ π,

then ``q_bᵀ M q_b ≤ q_aᵀ Φ q_a`` throughout, because ``s² h₁² ≥ c² h₂²`` there and ``qᵀΩq = 0``. A slide along a by x has
``Φ − L₁ᵀ M L₁ − x K(Λ aᵀ) ≻ 0`` at both ends of its range, or, if no force is on it, Λ being zero, for any x. Then a is
pulled by Λ at where the joint is, too. At the root, the world or a segment of which nothing is said and which may be taken
for it, q is 1.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from supple.geometry.placements import Floats
from supple.proofs.checker.balls import (
    LARGEST,
    ROUNDING,
    Unproved,
    dual_of,
    exact,
    moved,
    need_flint,
    norm,
    product,
    upright,
)
from supple.proofs.checker.mechanism import Mechanism, moves
from supple.proofs.checker.proof import Pull
from supple.proofs.checker.statement import Link

Seat: TypeAlias = tuple[bool, str | None]
EVERYWHERE = float(np.nextafter(np.pi, 0.0))  # a half-width from which on a hinge has no limits


class _Load:
    """What pulls on a segment: the form M of its quaternion, and the force Λ on its origin."""

    def __init__(self) -> None:
        self.M: Any = need_flint().arb_mat(4, 4)
        self.force = [need_flint().arb(0)] * 3
        self.any = False

    def add(self, M: Any, force: list[Any]) -> None:
        """More of both."""
        self.M, self.force, self.any = self.M + M, [a + b for a, b in zip(self.force, force, strict=True)], True


class Pulls:
    """The tree of a statement's links, and whether pulls on its entries prove a box empty."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.order = list(mechanism.links.values())[::-1]
        self.number = {link.key: k for k, link in enumerate(k for k in mechanism.links.values() if moves(k))}
        self.fixed: dict[str, tuple[Any, ...]] = {}

    def refuted(self, pull: Pull, lower: Floats, upper: Floats) -> bool:
        """Whether no posture of a box meets all entries that are pulled."""
        if not self._fits(pull):
            return False
        loads: dict[Seat, _Load] = {}
        total = need_flint().arb(ROUNDING)
        for number, force, turn in zip(pull.entries, pull.forces, pull.turns, strict=True):
            total += self._pulled(number, exact(force[None]).entries(), exact(turn), loads)
        for link in self.order:
            load = loads.pop((True, link.key), None)
            if load is not None and load.any:
                above = loads.setdefault(self._seat(link.parent), _Load())
                if not self._passed(link, load, above, pull, lower, upper):
                    return False
        for load in loads.values():
            total += load.M[0, 0]
        return bool(total < 0)

    def _fits(self, pull: Pull) -> bool:
        count, moving = len(pull.entries), len(self.number)
        shapes = pull.forces.shape == (count, 3) and pull.turns.shape == (count, 3, 3)
        shapes = shapes and all(len(own) == moving for own in (pull.forms, pull.limits, pull.skews))
        if not shapes or not all(0 <= k < len(self.mechanism.entries) for k in pull.entries):
            return False
        good = all(F.shape == (4, 4) for F in (*pull.forms, *pull.skews))
        good = good and all(G.ndim == 2 and len(G) == 4 for G in pull.limits)
        return good and all(
            bool((np.abs(x) <= LARGEST).all())
            for x in (pull.forces, pull.turns, *pull.forms, *pull.limits, *pull.skews)
        )

    def _seat(self, key: str | None) -> Seat:
        """Whether a key is of a link, or else of a place at the root, and the key."""
        return key in self.mechanism.links, key

    def _root(self, key: str | None) -> str | None:
        return None if key is None else self.mechanism.above(key)[1]

    def _pulled(self, number: int, force: list[Any], turn: Any, loads: dict[Seat, _Load]) -> Any:
        """Add an entry's pull to the loads; its constant and the most that its tolerances make of it."""
        entry, matrix, arb = self.mechanism.entries[number], need_flint().arb_mat, need_flint().arb
        if self._root(entry.segment) != self._root(entry.seen_from):
            raise Unproved(f"there is no way to {entry.segment!r}")
        if entry.kind != "pose":
            columns = [[turn[i, 2] if j == 2 and entry.kind == "axis" else 0 for j in range(3)] for i in range(3)]
            turn = matrix(columns)
        loads.setdefault(self._seat(entry.segment), _Load()).add(
            form(_outer(force, entry.frame) + turn * _rotation(entry.frame).transpose()), force
        )
        back = [-x for x in force]
        other = loads.setdefault(self._seat(entry.seen_from), _Load())
        other.add(form(_outer(back, entry.target) - turn * _rotation(entry.target).transpose()), back)
        wide = arb(2).sqrt() if entry.kind == "pose" else arb(1)
        tolerance, angle = entry.tolerance + ROUNDING, entry.angle_tolerance + ROUNDING
        return norm(force) * tolerance + wide * norm(turn.entries()) * angle

    def _passed(self, link: Link, load: _Load, above: _Load, pull: Pull, lower: Floats, upper: Floats) -> bool:
        """Hand a load on to the segment above; False if the form that is to bound it is not seen to do so."""
        T, turned, axis, sign = self._placed(link)
        force, at = load.force, _outer(load.force, T)
        if not moves(link):
            above.add(form(at) + turned.transpose() * load.M * turned, force)
            return True
        k = self.number[link.key]
        Phi, G = exact(0.5 * (pull.forms[k] + pull.forms[k].T)), exact(pull.limits[k])
        low, high = lower[self.mechanism.unknown[link.name]], upper[self.mechanism.unknown[link.name]]
        above.add(form(at) + Phi, force)
        if any(link.slide):
            rest = Phi - turned.transpose() * load.M * turned
            if all(bool(x == 0) for x in force):
                return definite(rest)
            along = form(need_flint().arb_mat([[f * a for a in axis] for f in force]))
            ends = [need_flint().arb(float(x)) for x in (low, high)]
            return bool(np.isfinite([low, high]).all()) and all(definite(rest - along * x) for x in ends)
        skew = exact(pull.skews[k])
        weights = Phi, G * G.transpose(), (skew - skew.transpose()) / 2
        return definite(_hinge(weights, load.M, turned, sign, (float(low), float(high))))

    def _placed(self, link: Link) -> tuple[Any, ...]:
        """A link's placement, what it makes of quaternions, and its axis and sign, all in the segment above."""
        if link.key not in self.fixed:
            T, sign, U = self.mechanism.at_of(link), 1, None
            if not link.is_fixed:
                U, sign = upright(link.slide if any(link.slide) else link.turn)
                if not moves(link):
                    T = T * U * moved(need_flint().arb(link.lower) * sign, any(link.slide)) * U.transpose()
            first = behind(dual_of(T, 1)[:4])
            if U is None or not moves(link):
                self.fixed[link.key] = T, first, None, sign
            elif any(link.slide):
                along = T * U
                self.fixed[link.key] = T, first, [along[i, 2] * sign for i in range(3)], sign
            else:
                self.fixed[link.key] = (
                    T,
                    (behind(dual_of(T * U, 1)[:4]), behind(dual_of(U.transpose(), 1)[:4])),
                    None,
                    sign,
                )
        return self.fixed[link.key]


def _hinge(weights: tuple[Any, Any, Any], M: Any, turned: Any, sign: int, limits: tuple[float, float]) -> Any:
    """The matrix of a hinge that must be positive definite; of Φ, W and Ω."""
    flint, (before, after), (low, high), (Phi, W, skew) = need_flint(), turned, limits, weights
    arb = flint.arb
    middle, half = (arb(low) + arb(high)) / 2, (arb(high) - arb(low)) / 2
    turn = [(middle * sign / 2).cos(), arb(0), arb(0), (middle * sign / 2).sin()]
    one = behind(turn) * before
    L1, L2 = after * one, after * behind([arb(0), arb(0), arb(0), arb(sign)]) * one
    A, B, C = L1.transpose() * M * L1, L1.transpose() * M * L2 - skew, L2.transpose() * M * L2
    unlimited = not high - low < 2.0 * EVERYWHERE
    s, c = (arb(0), arb(0)) if unlimited else ((half / 2).sin(), (half / 2).cos())
    top, bottom = Phi - A - W * (s * s), Phi - C + W * (c * c)
    rows = [[*(top[i, j] for j in range(4)), *(-B[i, j] for j in range(4))] for i in range(4)]
    rows += [[*(-B[j, i] for j in range(4)), *(bottom[i, j] for j in range(4))] for i in range(4)]
    return flint.arb_mat(rows)


def form(B: Any) -> Any:
    """K with ``qᵀKq = ⟨B, R(q)⟩`` for unit quaternions q."""
    a, b, c = B[2, 1] - B[1, 2], B[0, 2] - B[2, 0], B[1, 0] - B[0, 1]
    d, e, f = B[1, 0] + B[0, 1], B[0, 2] + B[2, 0], B[2, 1] + B[1, 2]
    x, y, z = B[0, 0], B[1, 1], B[2, 2]
    rows = [[x + y + z, a, b, c], [a, x - y - z, d, e], [b, d, y - x - z, f], [c, e, f, z - x - y]]
    return need_flint().arb_mat(rows)


def behind(p: Any) -> Any:
    """The matrix of ``q ↦ q p``."""
    columns = [product([int(i == k) for i in range(4)], p) for k in range(4)]
    return need_flint().arb_mat([[columns[j][i] for j in range(4)] for i in range(4)])


def definite(S: Any) -> bool:
    """Whether every symmetric matrix in a matrix of balls is positive definite: all pivots of its elimination are positive."""
    n = S.nrows()
    rows = [[S[i, j] for j in range(n)] for i in range(n)]
    for k in range(n):
        d = rows[k][k]
        if not d > 0:
            return False
        for i in range(k + 1, n):
            factor = rows[k][i] / d
            for j in range(i, n):
                rows[i][j] -= factor * rows[k][j]
    return True


def _outer(force: list[Any], T: Any) -> Any:
    return need_flint().arb_mat([[f * T[j, 3] for j in range(3)] for f in force])


def _rotation(T: Any) -> Any:
    return need_flint().arb_mat([[T[i, j] for j in range(3)] for i in range(3)])
