"""Whether two things touch in every posture of a box.

A point w of a bar's core, seen from the other thing, is moved by the chain of joints between them. In a box of joint
ranges it stays within ρ of where it is in the middle posture: from the last joint to the first,

    ρ ← ρ + 2 sin(α/2) (d + ρ)   (hinge, half-width α, at a distance d from its axis),    ρ ← ρ + half-width   (slide),

since what lies within ``d + ρ`` of an axis moves by no more than the chord. The distance from a convex solid, negative
inside, changes by no more than w moves. So if w is at a distance s from the solid in the middle posture, ``s + ρ <
keep`` means that the bar is nearer than it may be in every posture of the box. For a solid with faces ``n_i·x ≤ b_i``,
``|n_i| = 1``, and w inside, ``s = max_i (n_i·w − b_i)``; otherwise any point x of the solid bounds it, ``s ≤ |w − x|``.

A bar has a place in the world on two ways: from the base, and, where an entry says where a segment is to be, from there back
along the chain. On the second way the proof is one *given* that entry, and the bar's place is known up to its
tolerances, ``ε + δ ℓ`` with ℓ the length of that way, which add to ρ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.geometry.placements import Floats
from supple.geometry.shapes import Ball, Box, Capsule, Core
from supple.proofs.checker.balls import (
    PRECISION,
    ROUNDING,
    Unproved,
    exact,
    length,
    moved,
    need_flint,
    norm,
    placed,
    still,
    turned_back,
)
from supple.proofs.checker.mechanism import Chain, Mechanism
from supple.proofs.checker.proof import Crash
from supple.proofs.checker.statement import Pair, Solid


class Ways:
    """The pairs of a statement, and the ways between their two things, found once for each."""

    def __init__(self, mechanism: Mechanism, pairs: tuple[Pair, ...], margin: float, tolerance: float) -> None:
        self.mechanism, self.pairs, self.margin, self.tolerance = mechanism, pairs, margin, tolerance
        self.known: dict[tuple[int, int], tuple[Chain, Any, Any]] = {}

    def touches(self, crash: Crash, lower: Floats, upper: Floats) -> bool:
        """Whether a pair touches in every posture of the box that meets the entry that is given, if one is."""
        if not (0 <= crash.pair < len(self.pairs) and bool((lower <= upper).all())):
            return False
        pair, arb = self.pairs[crash.pair], need_flint().arb
        core = core_of(pair)
        if not abs(crash.along) <= core.half or (crash.near is not None and not np.isfinite(crash.near).all()):
            return False
        with need_flint().ctx.workprec(PRECISION):
            chain, led, loose = self._way(crash.pair, crash.given, core)
            w, rho = _reach(led, chain, crash.along, *chain.box(lower, upper))
            away = _inside(pair.other.shape, w) if crash.near is None else _beside(pair.other.shape, w, crash.near)
            keep = arb(core.radius) + arb(self.margin) - arb(self.tolerance)
            if isinstance(pair.other.shape, Ball | Capsule):
                keep += arb(pair.other.shape.radius)
            return away is not None and bool(away + rho + loose + ROUNDING < keep)

    def _way(self, number: int, given: int, core: Core) -> tuple[Chain, Any, Any]:
        """The chain to a bar's core, what leads to its beginning, and how loosely that is known."""
        if (number, given) not in self.known:
            pair, arb = self.pairs[number], need_flint().arb
            segment, seen_from, frame = str(pair.bar.segment), pair.other.segment, placed(core.at)
            if given < 0:
                self.known[number, given] = self.mechanism.chain(segment, frame, seen_from), still(), arb(0)
            else:
                entries = self.mechanism.entries
                if not (given < len(entries) and entries[given].settles and seen_from is None):
                    raise Unproved("what touches is given an entry that does not say where a segment is")
                entry = entries[given]
                led, chain = (
                    entry.target * turned_back(entry.frame),
                    self.mechanism.chain(segment, frame, entry.segment),
                )
                far = sum((length(T) for T in (*chain.before, chain.behind, entry.frame)), arb(core.half))
                loose = entry.tolerance + entry.angle_tolerance * (far + sum(chain.far))
                self.known[number, given] = chain, led, loose
        return self.known[number, given]


def core_of(pair: Pair) -> Core:
    """The core of a pair's bar."""
    if not isinstance(pair.bar.shape, Ball | Capsule) or pair.bar.segment is None:
        raise Unproved("what keeps clear is no ball and no capsule of a segment")
    return Core.of(pair.bar.shape)


def _reach(led: Any, chain: Chain, along: float, lower: Floats, upper: Floats) -> tuple[list[Any], Any]:
    """Where a point behind the last joint is in the middle posture of a box, and how far from there it can get in it."""
    flint = need_flint()
    arb, T, axes, halves = flint.arb, led, [], []
    for B, sign, slides, low, high in zip(
        chain.before, chain.signs, chain.slides, lower.tolist(), upper.tolist(), strict=True
    ):
        T = T * B * moved((arb(low) + arb(high)) / 2 * sign, slides)
        halves.append((arb(high) - arb(low)) / 2)
        axes.append(T)
    W = T * chain.behind * flint.arb_mat([[0], [0], [along], [1]])
    w, rho = [W[i, 0] for i in range(3)], arb(0)
    for A, half, slides in zip(axes[::-1], halves[::-1], chain.slides[::-1], strict=True):
        if slides:
            rho = rho + half.abs_upper()
            continue
        r, z = [w[i] - A[i, 3] for i in range(3)], [A[i, 2] for i in range(3)]
        across = [r[1] * z[2] - r[2] * z[1], r[2] * z[0] - r[0] * z[2], r[0] * z[1] - r[1] * z[0]]
        chord = 2 * (half / 2).sin() if half < arb.pi() else arb(2)
        rho = (rho + chord * (norm(across) + rho)).abs_upper()
    return w, rho


def _levels(shape: Solid, w: list[Any]) -> list[Any]:
    """How far a point is outside each face of a solid."""
    flint = need_flint()
    arb = flint.arb
    if isinstance(shape, Box):
        back = turned_back(placed(shape.at))
        x = [sum((back[i, k] * w[k] for k in range(3)), back[i, 3]) for i in range(3)]
        return [side for v, low, high in zip(x, shape.lower, shape.upper, strict=True) for side in (v - high, low - v)]
    assert not isinstance(shape, Ball | Capsule)
    levels = []
    for row, offset in zip(shape.A.tolist(), shape.b.tolist(), strict=True):
        a = [arb(x) for x in row]
        square, level = arb(0), -arb(offset)
        for x, v in zip(a, w, strict=True):
            square, level = square + x * x, level + x * v
        levels.append(level / square.sqrt())
    return levels


def _inside(shape: Solid, w: list[Any]) -> Any:
    """The distance from a solid with faces of a point inside of it; None if it is not seen to be there."""
    if isinstance(shape, Ball | Capsule):
        return None
    levels = _levels(shape, w)
    if not all(bool(x <= 0) for x in levels):
        return None
    most = levels[0]
    for x in levels[1:]:
        most = most.max(x)
    return most


def _beside(shape: Solid, w: list[Any], near: Floats) -> Any:
    """The distance from a point of a solid with faces, or from that of a ball's or capsule's core that is nearest to it."""
    if isinstance(shape, Ball | Capsule):
        core = Core.of(shape)
        t = float(np.clip((near - core.at[:3, 3]) @ core.at[:3, 2], -core.half, core.half))
        X = placed(core.at) * need_flint().arb_mat([[0], [0], [t], [1]])
        x = [X[i, 0] for i in range(3)]
    else:
        x = [exact(near[None])[0, i] for i in range(3)]
        if not all(bool(level <= 0) for level in _levels(shape, x)):
            return None
    return norm(a - b for a, b in zip(w, x, strict=True))
