"""Whether a leaf holds: no posture of a box meets a claim.

The loop is cut into an arc A of three joints and an arc B of the others with the target, so that ``x = ±y``, x = L_A h_A and
y = L_B h_B. There are matrices G_k, a symmetric Λ and matrices N, Ω such that, for every posture that meets the claim,

    ‖G₀ᵀh_A‖² + ‖G₁ᵀh_B‖² + Σ_j (1 − u_j) ‖G_jᵀ h‖²  ≥ 0,
    xᵀΛx − yᵀΛy = 0   and   (N y)ᵀ Ω h_B = 0   (for points: λ·(w_A − w_B) = 0),   each but for a slack.

Their sum is a linear form in moments (`moments`), none of which is larger than one: if its constant plus the absolute
values of all other coefficients plus the slack (`slack`) is below zero, there is no such posture. All of it is evaluated
in balls but for the matrices of `slack`, of which rounding is bounded there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from supple.geometry.placements import Floats
from supple.proofs.checker.balls import (
    CONJUGATE,
    LARGEST,
    PRECISION,
    ROUNDING,
    above,
    dual_of,
    dual_product,
    exact,
    length,
    need_flint,
    norm,
)
from supple.proofs.checker.mechanism import Claim
from supple.proofs.checker.moments import FEWEST, FIRST_ARC, MOST, Ranges, arcs_of, entries, ranges
from supple.proofs.checker.points import ahead_of, behind_of
from supple.proofs.checker.proof import Leaf
from supple.proofs.checker.slack import MOST_TURNED, TINY, WIDTH, Loose, surely_withstands, withstands

Judge = Callable[[float], bool]
LARGE = 1e6  # a component of a dual quaternion above which floats are too coarse for `WIDTH`


class Loop:
    """A claim closed over its target to a loop of dual quaternions; lengths in units of half its reach."""

    def __init__(self, claim: Claim) -> None:
        self.claim, self.chain, self.reach = claim, claim.chain, claim.chain.reach
        self.slides, self.signs = claim.chain.slides, claim.chain.signs
        self.scale = need_flint().arb(2) / need_flint().arb(self.reach)
        self.fixed = [length(T) for T in self.chain.before]
        self.ends = length(claim.target), length(self.chain.behind)
        if not claim.point:
            self.parts = [dual_of(T, self.scale) for T in self.chain.before]
            self.behind = dual_of(self.chain.behind, self.scale)
            there = dual_of(claim.target, self.scale)
            self.back = [x * s for x, s in zip(there, CONJUGATE, strict=True)]

    def refuted(self, leaf: Leaf, lower: Floats, upper: Floats) -> bool:
        """Whether a leaf proves that no posture of a box of the chain's ranges meets the claim."""
        n = len(self.slides)
        if not (FEWEST <= n <= MOST and 0 <= leaf.start <= n - FIRST_ARC and bool((lower <= upper).all())):
            return False
        with need_flint().ctx.workprec(PRECISION), np.errstate(all="ignore"):
            return _Check(self, leaf, lower, upper).holds()


class _Check:
    """The number that must be below zero, for one leaf."""

    def __init__(self, loop: Loop, leaf: Leaf, lower: Floats, upper: Floats) -> None:
        self.loop, self.leaf, self.lower, self.upper = loop, leaf, lower, upper
        self.arb, self.matrix = need_flint().arb, need_flint().arb_mat
        self.ranges: Ranges = ranges(loop, lower, upper)
        self.middles = [self.arb(float(x)) for x in self.ranges.middle]
        self.g = [self.arb(float(x)) for x in self.ranges.g]
        self.a, self.b = arcs_of(len(loop.slides), leaf.start)
        self.shapes = [(len(arc), i) for arc in (self.a, self.b) for i in self.blocks(arc)]
        self.second = len(self.blocks(self.a))

    def blocks(self, arc: tuple[int, ...]) -> list[int]:
        """The blocks of an arc, in their order: the whole, −1, then one for each joint with limits."""
        return [-1, *(i for i, j in enumerate(arc) if self.ranges.limited[j])]

    def fits(self) -> bool:
        """Whether every matrix has the shape that it must have, and no number is too large."""
        leaf, wide, rows = self.leaf, 2 ** len(self.b), len(self.leaf.kernel)
        arrays = (*leaf.grams, leaf.symmetric, leaf.kernel, leaf.facial, leaf.linear)
        if not all(np.abs(values).max(initial=0.0) <= LARGEST for values in arrays):
            return False
        if [G.shape[0] for G in leaf.grams] != [2 ** (k - (i >= 0)) for k, i in self.shapes]:
            return False
        if not all(G.ndim == 2 and G.shape[1] <= G.shape[0] for G in leaf.grams):
            return False
        if self.loop.claim.point:
            return leaf.linear.shape == (4,) and leaf.start == 0
        facial = rows == 0 or leaf.facial.shape == (rows, wide)
        kernel = rows == 0 or (rows <= 8 and leaf.kernel.shape == (rows, 8))
        return leaf.symmetric.shape == (8, 8) and kernel and facial

    def holds(self) -> bool:
        """Whether the constant plus the absolute values of all other coefficients is as far below zero as tolerances need."""
        if not (self.fits() and self.is_wide_enough()):
            return False
        squares = [self.square(G) for G in self.leaf.grams]
        linear: list[Any] = [[], []]
        judge = self.of_points(linear) if self.loop.claim.point else self.of_poses(squares)
        if judge is None:
            return False
        total = self.arb(0)
        arcs = ((self.a, range(self.second)), (self.b, range(self.second, len(self.shapes))))
        for (joints, blocks), extra in zip(arcs, linear, strict=True):
            form = dict(enumerate(extra))
            for k in blocks:
                self.add(form, self.shapes[k], squares[k], joints)
            total += form.pop(0) + sum(abs(value) for value in form.values())
        beta = -above(total)
        return beta > TINY and judge(beta)

    def square(self, G: Floats) -> Any:
        """``G Gᵀ``."""
        if G.shape[1] == 0:
            return self.matrix(len(G), len(G))
        balls = exact(G)
        return balls * balls.transpose()

    def is_wide_enough(self) -> bool:
        """Whether ``g ≥ sin(α/2)`` for the half-width α of every range (slides: the half-width), 1 for what turns all round."""
        for j, x in enumerate(self.g):
            if not self.ranges.limited[j]:
                if x != 1 or self.loop.slides[j]:
                    return False
                continue
            middle, low, high = self.middles[j], self.arb(float(self.lower[j])), self.arb(float(self.upper[j]))
            half = (high - middle).max(middle - low)
            if self.loop.slides[j]:
                fits = bool(x * self.loop.reach >= half)
            else:
                fits = bool(half < self.arb.pi()) and bool(x >= (half / 2).sin())
            if not fits:
                return False
        return True

    def add(self, form: dict[int, Any], shape: tuple[int, int], W: Any, joints: tuple[int, ...]) -> None:
        """Add the coefficients of the moments in ``⟨W, M(y)⟩`` to a form."""
        known = [self.arb(1)]
        for j in joints:
            kappa = self.arb(0) if self.loop.slides[j] else -self.g[j] * self.g[j]
            known += [x * kappa for x in known]
        for row, column, moment, factors, sign in entries(*shape):
            value = W[row, column] * known[factors] if factors else W[row, column]
            value = value if sign > 0 else -value
            form[moment] = form[moment] + value if moment in form else value

    def slid(self) -> list[Any]:
        """Upper bounds of how far each joint slides."""
        far = np.maximum(np.abs(self.lower), np.abs(self.upper)).tolist()
        return [3 * self.arb(x) if slides else self.arb(0) for x, slides in zip(far, self.loop.slides, strict=True)]

    # ── poses ────────────────────────────────────────────────────────────────────────────────────────────────────────
    def of_poses(self, squares: list[Any]) -> Judge | None:
        """Add the multipliers of poses to the matrices of both arcs; what judges by how much a proof is below zero."""
        leaf, rows = self.leaf, len(self.leaf.kernel)
        L_a, L_b, halves = self.arcs()
        own = replace(leaf, symmetric=0.5 * (leaf.symmetric + leaf.symmetric.T))
        Lam, nu = exact(own.symmetric), self.arb(0)
        squares[0] = squares[0] + L_a.transpose() * Lam * L_a
        squares[self.second] = squares[self.second] - L_b.transpose() * Lam * L_b
        if rows:
            N, Om = exact(leaf.kernel), exact(leaf.facial)
            W = L_b.transpose() * N.transpose() * Om
            squares[self.second] = squares[self.second] + (W + W.transpose()) / 2
            nu = norm((N * L_a).entries()) * self.size_of(self.a)
        loose, (one, two) = self.looseness(nu), (floats(half) for half in halves)
        if not loose.delta <= MOST_TURNED or one is None or two is None:
            return None
        box, slides = self.ranges, self.loop.slides
        return lambda b: surely_withstands(own, loose, b) or withstands(own, loose, (one, two), slides, box, b)

    def looseness(self, nu: Any) -> Loose:
        """Upper bounds of what tolerances do."""
        claim, scale = self.loop.claim, self.loop.scale
        r = (sum(self.loop.fixed) + sum(self.slid()) + sum(self.loop.ends)) * scale / 2
        delta, tau = claim.angle_tolerance + ROUNDING, claim.tolerance + ROUNDING
        return Loose(*(above(x) for x in (delta, tau * scale / 2, r, nu, self.size_of(self.b))))

    def size_of(self, arc: tuple[int, ...]) -> Any:
        """An upper bound of ‖h‖."""
        total = self.arb(1)
        for j in arc:
            total *= 2 if self.loop.slides[j] else 2 - self.g[j] * self.g[j]
        return total.abs_upper().sqrt()

    def arcs(self) -> tuple[Any, Any, Any]:
        """L_A, L_B, and the columns of B₁ and ``T⁻¹ B₂``."""
        loop, unit = self.loop, [self.arb(1), *[self.arb(0)] * 7]
        parts = [dual_product(part, self.middle(j)) for j, part in enumerate(loop.parts)]
        one = times(self.arc(unit, parts, [j for j in self.b if j > self.a[-1]]), loop.behind)
        two = times(self.arc(loop.back, parts, [j for j in self.b if j < self.a[0]]), parts[self.a[0]])
        both = [[x * s for x, s in zip(dual_product(c, d), CONJUGATE, strict=True)] for c in one for d in two]
        first = self.arc(unit, [unit if j == self.a[0] else parts[j] for j in range(len(parts))], self.a)
        return self.matrix(first).transpose(), self.matrix(both).transpose(), (one, two)

    def arc(self, begin: Any, parts: list[Any], joints: Sequence[int]) -> list[Any]:
        """The columns of what begins so and goes on with these joints."""
        columns = [begin]
        for j in joints:
            s, new = self.g[j] * self.loop.signs[j], []
            for column in times(columns, parts[j]):
                w, x, y, z, W, X, Y, Z = column
                turned, rest = [-s * z, s * y, -s * x, s * w], [-s * Z, s * Y, -s * X, s * W]
                new += [column, [*[self.arb(0)] * 4, *turned] if self.loop.slides[j] else [*turned, *rest]]
            columns = new
        return columns

    def middle(self, j: int) -> Any:
        """The motion of a joint to the middle of its range, as a dual quaternion."""
        zero, half = self.arb(0), self.middles[j] * self.loop.signs[j] / 2
        if self.loop.slides[j]:
            return [self.arb(1), *[zero] * 6, half * self.loop.scale]
        return [half.cos(), zero, zero, half.sin(), *[zero] * 4]

    # ── points ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def of_points(self, linear: list[Any]) -> Judge | None:
        """The coefficients of both arcs' moments in ``λ·(w_A − w_B)``; what judges by how much a proof is below zero."""
        loop, weights = self.loop, self.leaf.linear
        row = self.matrix([[*weights.tolist(), 0]])
        linear[0] = [(row * v)[0, 0] for v in ahead_of(loop, self.middles, self.g)]
        linear[1] = [-(row * v)[0, 0] for v in behind_of(loop, self.middles, self.g)]
        epsilon, slid = (loop.claim.tolerance + ROUNDING) * loop.scale, self.slid()
        ways = [
            x + sum(loop.fixed[j] + slid[j] for j in arc) for x, arc in zip(loop.ends, (self.a, self.b), strict=True)
        ]
        far = ways[0].min(ways[1]) * loop.scale
        first, square = norm(exact(weights[None, :3]).entries()), abs(self.arb(float(weights[3])))
        slack = above(first * epsilon + square * (2 * far * epsilon + epsilon * epsilon))
        return lambda beta: beta > slack


def times(columns: list[Any], by: Any) -> list[Any]:
    """All columns multiplied by a dual quaternion."""
    return [dual_product(c, by) for c in columns]


def floats(columns: list[Any]) -> Floats | None:
    """The middles of balls; None if these are too wide, or their middles too large."""
    wide = max(float(x.rad()) for column in columns for x in column)
    middles = np.array([[float(x.mid()) for x in column] for column in columns])
    return middles if wide < WIDTH / 2 and np.abs(middles).max() < LARGE else None
