"""Ball arithmetic: whether a proof holds, every step in balls that contain the truth (the inequality is in `certificate`).

Everything is derived again from the chain's placements, with code of its own: nothing that the solver computed is
believed but the matrices of the proof, which may be any.

**Slack of poses.** A posture that misses the target by an angle δ and a distance ε closes the loop but for a small
motion at the target, ``y = ±(1 + m) x`` as seen from where arc A begins, or ``y = ±x (1 + m)`` as seen from where it
ends, whichever is nearer: it turns by δ and slides by no more than ``ε + δ ℓ``, ℓ the distance from the target to the
first joint and from there along the chain to the first joint of arc A, or that along the chain from its last joint.
With s the scale of lengths the halves of the dual quaternion m are no longer than δ/2 and ``τ = (ε + δℓ) s/2``, and
those of x no longer than 1 and ``r = s ℓ_A/2``, ℓ_A the lengths in arc A; together ``‖m x‖ ≤ κ = δ (1 + r)/2 + τ``.
Since x and y are unit dual quaternions both, ``x_r·x_r = 1`` and ``x_r·x_d = 0``, Λ may be changed by multiples of
these forms without changing the difference; so let its blocks ``[[P, Q], [Qᵀ, S]]`` be such that P and Q are small.
Then, with ``‖h‖² ≤ H = Π (2 − g²)`` over the joints of an arc (2 for a slide),

    |yᵀΛy − xᵀΛx| ≤ δ (‖P‖ + 2‖Q‖ r + ‖S‖ r²) + 2τ (‖Q‖ + ‖S‖ r) + ‖Λ‖ κ²,
    |(N y)ᵀ Ω h_B| ≤ (‖N L_A‖ √H_A + ‖N_r‖ δ/2 + ‖N_d‖ (τ + r δ/2)) ‖Ω‖ √H_B.

**Slack of points.** A point that misses its target by ε changes w by no more than ``ε s`` and ``|w|²`` by no more
than ``2 s (|p| + ℓ_A) ε s + (ε s)²``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.deciding.chain import CONJUGATE, Chain, dual, product, quaternion
from supple.deciding.claims import Claim
from supple.deciding.moments import Terms, terms
from supple.deciding.points import EQUATIONS, conformal, joint_parts
from supple.deciding.proof import Leaf
from supple.deciding.relaxation import FIRST_ARC, Ranges, arcs_of, ranges
from supple.errors import needed
from supple.space import Floats

PRECISION = 80  # bits
ROUNDING = 1e-12  # by how much placements may be off being exact rotations, in every component


def need_flint() -> Any:
    """The module of ball arithmetic."""
    return needed("flint", "python-flint", "convex", "checking a certificate")


def holds(claim: Claim, leaf: Leaf, lower: Floats, upper: Floats) -> bool:
    """Whether a leaf proves that no posture of the box meets the claim."""
    flint, n = need_flint(), len(claim.chain.names)
    fits = 0 <= leaf.start <= n - FIRST_ARC and claim.tolerance >= 0.0 and claim.angle_tolerance >= 0.0
    if not (fits and is_chain(claim.chain, claim.target) and all(np.isfinite(G).all() for G in leaf.grams)):
        return False
    with flint.ctx.workprec(PRECISION):
        total = _Check(claim, leaf, lower, upper, flint).total()
        return total is not None and bool(total < 0)


def is_chain(chain: Chain, target: Floats) -> bool:
    """Whether all placements are placements, and all signs signs."""
    turns = np.array([T[:3, :3] for T in (*chain.before, chain.behind, target)])
    off = np.abs(turns @ turns.transpose(0, 2, 1) - np.eye(3)).max()
    return bool(off < 1e-12 and (np.linalg.det(turns) > 0.0).all() and (np.abs(chain.signs) == 1.0).all())


def quarters(symmetric: Floats) -> tuple[Floats, Floats, Floats]:
    """P, Q and S of Λ, changed by multiples of ``x_r·x_r`` and ``x_r·x_d`` so that they are small."""
    L = 0.5 * (symmetric + symmetric.T)
    P, Q = L[:4, :4], 0.5 * (L[:4, 4:] + L[4:, :4].T)
    values = np.linalg.eigvalsh(P)
    return P - 0.5 * (values[0] + values[-1]) * np.eye(4), Q - 0.25 * np.trace(Q) * np.eye(4), L[4:, 4:]


class _Check:
    """The number that must be below zero, for one leaf."""

    def __init__(self, claim: Claim, leaf: Leaf, lower: Floats, upper: Floats, flint: Any) -> None:
        self.claim, self.chain, self.leaf, self.lower, self.upper = claim, claim.chain, leaf, lower, upper
        self.arb, self.matrix = flint.arb, flint.arb_mat
        self.ranges: Ranges = ranges(self.chain, lower, upper)
        self.g = [self.arb(float(x)) for x in self.ranges.g]
        self.a, self.b = arcs_of(len(self.chain.names), leaf.start)
        self.scale = self.arb(2) / self.arb(self.chain.reach)
        self.shapes = [t for arc in (self.a, self.b) for t in self.blocks(arc)]
        self.second = len(self.blocks(self.a))

    def blocks(self, arc: tuple[int, ...]) -> list[Terms]:
        """The terms of an arc's blocks, in their order."""
        local = [terms(len(arc), i) for i, j in enumerate(arc) if self.ranges.limited[j]]
        return [terms(len(arc)), *local]

    def total(self) -> Any:
        """The constant, the absolute values of all other coefficients, and the slack; None if the leaf has a wrong shape."""
        if not self.is_wide_enough() or [G.shape[0] for G in self.leaf.grams] != [t.size for t in self.shapes]:
            return None
        squares = [G * G.transpose() for G in (self.balls(G) for G in self.leaf.grams)]
        linear: list[Any] = [[], []]
        slack = self.of_points(linear) if self.claim.point else self.of_poses(squares)
        if slack is None:
            return None
        total = slack
        arcs = ((self.a, range(self.second)), (self.b, range(self.second, len(self.shapes))))
        for (joints, blocks), extra in zip(arcs, linear, strict=True):
            form = dict(enumerate(extra))
            for k in blocks:
                self.add(form, self.shapes[k], squares[k], joints)
            total += form.pop(0) + sum(abs(value) for value in form.values())
        return total

    def is_wide_enough(self) -> bool:
        """Whether ``g ≥ sin(α/2)`` for the half-width α of every range (slides: the half-width), 1 for what turns all round."""
        for j, x in enumerate(self.g):
            middle = self.arb(float(self.ranges.middle[j]))
            if not self.ranges.limited[j]:
                if x != 1:
                    return False
                continue
            half = (self.arb(float(self.upper[j])) - middle).max(middle - self.arb(float(self.lower[j])))
            if self.chain.slides[j]:
                fits = bool(x * self.chain.reach >= half)
            else:
                fits = bool(half < self.arb.pi()) and bool(x >= (half / 2).sin())
            if not fits:
                return False
        return True

    # ── poses ────────────────────────────────────────────────────────────────────────────────────────────────────────
    def of_poses(self, squares: list[Any]) -> Any:
        """Add the multipliers of poses to the matrices of both arcs; the slack."""
        leaf, rows = self.leaf, len(self.leaf.kernel)
        fits = leaf.symmetric.shape == (8, 8) and leaf.kernel.shape == (rows, 8)
        if not (fits and (rows == 0 or leaf.facial.shape == (rows, 2 ** len(self.b)))):
            return None
        L_a, L_b = self.arcs()
        delta, tau, r = self.looseness()
        Lam = self.balls(0.5 * (leaf.symmetric + leaf.symmetric.T))
        squares[0] = squares[0] + L_a.transpose() * Lam * L_a
        squares[self.second] = squares[self.second] - L_b.transpose() * Lam * L_b
        P, Q, S = (self.balls(block) for block in quarters(leaf.symmetric))
        p, q, d = self.spread(P), self.spread(Q), self.spread(S)
        kappa = delta * (1 + r) / 2 + tau
        slack = delta * (p + 2 * q * r + d * r * r) + 2 * tau * (q + d * r) + (p + 2 * q + d) * kappa * kappa
        if rows:
            N, Om = self.balls(leaf.kernel), self.balls(leaf.facial)
            W = L_b.transpose() * N.transpose() * Om
            squares[self.second] = squares[self.second] + (W + W.transpose()) / 2
            turned, slid = (self.spread(self.balls(half)) for half in (leaf.kernel[:, :4], leaf.kernel[:, 4:]))
            off = self.norm(N * L_a) * self.size_of(self.a) + turned * delta / 2 + slid * (tau + r * delta / 2)
            slack += off * self.spread(Om) * self.size_of(self.b)
        return slack

    def looseness(self) -> tuple[Any, Any, Any]:
        """Upper bounds of δ, τ and r."""
        fixed, slid = self.lengths()
        away = [self.arb(float(x)) - self.arb(float(y)) for x, y in zip(*self.to_target(), strict=True)]
        first, last = self.a[0], self.a[-1]
        ahead = self.norm(self.matrix([away])) + sum(fixed[1 : first + 1]) + sum(slid[: first + 1])
        behind = self.length(self.chain.behind) + sum(fixed[last + 1 :]) + sum(slid[last:])
        way = ahead.min(behind)
        delta, epsilon = self.arb(self.claim.angle_tolerance) + ROUNDING, self.arb(self.claim.tolerance) + ROUNDING
        inner = sum(fixed[j] for j in self.a[1:]) + sum(slid[j] for j in self.a)
        return delta, (epsilon + delta * way) * self.scale / 2, inner * self.scale / 2

    def to_target(self) -> tuple[Floats, Floats]:
        """Where the target and the first joint are."""
        return self.claim.target[:3, 3], self.chain.before[0, :3, 3]

    def size_of(self, arc: tuple[int, ...]) -> Any:
        """An upper bound of ‖h‖."""
        total = self.arb(1)
        for j in arc:
            total *= 2 if self.chain.slides[j] else 2 - self.g[j] * self.g[j]
        return total.abs_upper().sqrt()

    def arcs(self) -> tuple[Any, Any]:
        """L_A and L_B."""
        parts = [self.dual_product(self.placed(T), self.middle(j)) for j, T in enumerate(self.chain.before)]
        back = [x * int(s) for x, s in zip(self.placed(self.claim.target), CONJUGATE, strict=True)]
        parts[0] = self.dual_product(self.dual_product(self.placed(self.chain.behind), back), parts[0])
        arb = self.arb
        one = self.arc([arb(1), *[arb(0)] * 7], parts, self.a)
        two = [self.dual_product(c, parts[self.a[0]]) for c in self.arc(parts[self.b[0]], parts, self.b)]
        turned = [[x * int(s) for x, s in zip(c, CONJUGATE, strict=True)] for c in two]
        return self.matrix(one).transpose(), self.matrix(turned).transpose()

    def arc(self, begin: Any, parts: list[Any], joints: tuple[int, ...]) -> list[Any]:
        """The columns of L."""
        columns = [begin]
        for i, j in enumerate(joints):
            s, new = self.g[j] * int(self.chain.signs[j]), []
            for column in columns if i == 0 else [self.dual_product(c, parts[j]) for c in columns]:
                w, x, y, z, W, X, Y, Z = column
                turned, rest = [-s * z, s * y, -s * x, s * w], [-s * Z, s * Y, -s * X, s * W]
                new += [column, [*[self.arb(0)] * 4, *turned] if self.chain.slides[j] else [*turned, *rest]]
            columns = new
        return columns

    def middle(self, j: int) -> Any:
        """The motion of a joint to the middle of its range, as a dual quaternion."""
        zero, half = self.arb(0), self.arb(float(self.ranges.middle[j])) * int(self.chain.signs[j]) / 2
        if self.chain.slides[j]:
            return [self.arb(1), *[zero] * 6, half * self.scale]
        return [half.cos(), zero, zero, half.sin(), *[zero] * 4]

    def placed(self, T: Floats) -> Any:
        """A placement as a dual quaternion."""
        turn = [self.arb(float(x), ROUNDING) for x in quaternion(T[:3, :3])]
        return dual(turn, [self.scale * self.arb(float(x)) for x in T[:3, 3]])

    @staticmethod
    def dual_product(a: Any, b: Any) -> Any:
        """The product of two dual quaternions."""
        left, right = product(a[:4], b[4:]), product(a[4:], b[:4])
        return [*product(a[:4], b[:4]), *(x + y for x, y in zip(left, right, strict=True))]

    # ── points ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def of_points(self, linear: list[Any]) -> Any:
        """The coefficients of both arcs' moments in ``λ·(w_A − w_B)``; the slack."""
        leaf, arb = self.leaf, self.arb
        if leaf.linear.shape != (EQUATIONS,) or leaf.start != 0:
            return None
        row = self.matrix([[arb(float(x)) for x in leaf.linear] + [arb(0)]])
        n, chain = len(self.chain.names), self.chain
        ahead = [self.vector(self.claim.target)]
        for j in range(FIRST_ARC):
            parts = [self.matrix(M) for M in joint_parts(-self.g[j] * int(chain.signs[j]), bool(chain.slides[j]))]
            to_middle = self.moved(j, -1) * self.motion(chain.before[j], back=True)
            ahead = [M * (to_middle * v) for v in ahead for M in parts]
        behind = [self.vector(chain.behind)]
        for j in range(n - 1, FIRST_ARC - 1, -1):
            parts = [self.matrix(M) for M in joint_parts(self.g[j] * int(chain.signs[j]), bool(chain.slides[j]))]
            fixed = self.motion(chain.before[j]) * self.moved(j, 1)
            behind = [fixed * (M * v) for M in parts for v in behind]
        linear[0] = [(row * v)[0, 0] for v in ahead]
        linear[1] = [-(row * v)[0, 0] for v in behind]
        epsilon = (arb(self.claim.tolerance) + ROUNDING) * self.scale
        fixed, slid = self.lengths()
        far = (sum(fixed[:FIRST_ARC]) + sum(slid[:FIRST_ARC]) + self.length(self.claim.target)) * self.scale
        first = self.norm(self.balls(leaf.linear[None, :3]))
        return first * epsilon + abs(arb(float(leaf.linear[3]))) * (2 * far * epsilon + epsilon * epsilon)

    def vector(self, T: Floats) -> Any:
        """``(w, |w|², 1)`` of a placement's origin."""
        w = [self.scale * self.arb(float(x)) for x in T[:3, 3]]
        return self.matrix([[x] for x in (*w, sum(x * x for x in w), self.arb(1))])

    def motion(self, T: Floats, back: bool = False) -> Any:
        """A placement, or its inverse, as a motion of such vectors."""
        R = [[self.arb(float(T[i, k]), ROUNDING) for k in range(3)] for i in range(3)]
        t = [self.scale * self.arb(float(x)) for x in T[:3, 3]]
        if back:
            R = [[R[k][i] for k in range(3)] for i in range(3)]
            t = [-sum(R[i][k] * t[k] for k in range(3)) for i in range(3)]
        return self.matrix(conformal(R, t))

    def moved(self, j: int, direction: int) -> Any:
        """The motion of a joint to the middle of its range, or back from it."""
        zero, one = self.arb(0), self.arb(1)
        x = self.arb(float(self.ranges.middle[j])) * int(self.chain.signs[j]) * direction
        if self.chain.slides[j]:
            c, s, d = one, zero, self.scale * x
        else:
            c, s, d = x.cos(), x.sin(), zero
        return self.matrix(conformal([[c, -s, zero], [s, c, zero], [zero, zero, one]], [zero, zero, d]))

    # ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────
    def add(self, form: dict[int, Any], t: Terms, W: Any, joints: tuple[int, ...]) -> None:
        """Add the coefficients of the moments in ``⟨W, M(y)⟩`` to a form."""
        known = [self.arb(1)]
        for j in joints:
            kappa = self.arb(0) if self.chain.slides[j] else -self.g[j] * self.g[j]
            known += [x * kappa for x in known]
        zero = self.arb(0)
        columns = (x.tolist() for x in (t.row, t.column, t.moment, t.factors, t.sign.astype(int)))
        for row, column, moment, factors, sign in zip(*columns, strict=True):
            form[moment] = form.get(moment, zero) + W[row, column] * known[factors] * sign

    def lengths(self) -> tuple[list[Any], list[Any]]:
        """Upper bounds of the placements before each joint, and of how far it slides."""
        far = [3 * self.arb(float(x)) for x in np.maximum(np.abs(self.lower), np.abs(self.upper))]
        slid = [x if slides else self.arb(0) for x, slides in zip(far, self.chain.slides, strict=True)]
        return [self.length(T) for T in self.chain.before], slid

    def length(self, T: Floats) -> Any:
        """An upper bound of a placement's distance."""
        return self.norm(self.balls(T[None, :3, 3]))

    def balls(self, values: Floats) -> Any:
        """A matrix of exact numbers."""
        return self.matrix([[self.arb(float(x)) for x in line] for line in values])

    def norm(self, M: Any) -> Any:
        """An upper bound of the Frobenius norm."""
        total = self.arb(0)
        for i in range(M.nrows()):
            for j in range(M.ncols()):
                total += M[i, j] * M[i, j]
        return total.abs_upper().sqrt()

    def spread(self, M: Any) -> Any:
        """An upper bound of the spectral norm: the eighth root of the trace of ``(M Mᵀ)⁴``."""
        square = M * M.transpose()
        return self.norm(square * square).sqrt().sqrt()
