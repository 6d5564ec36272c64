"""Ball arithmetic: whether a proof holds, every step in balls that contain the truth (the inequality is in `certificate`).

Everything is derived again from the chain's placements, with code of its own: nothing that the solver computed is
believed but the matrices of the proof, which may be any.

Of what tolerances do to a proof (`slack`) only the matrices that must be positive definite are looked at in floating point,
with a bound of what rounding does to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from supple.deciding.chain import CONJUGATE, Chain, dual, product, quaternion
from supple.deciding.claims import Claim
from supple.deciding.moments import Terms, terms
from supple.deciding.points import EQUATIONS, conformal, joint_parts
from supple.deciding.proof import Leaf
from supple.deciding.relaxation import FIRST_ARC, Ranges, arcs_of, ranges
from supple.deciding.slack import MOST_TURNED, WIDTH, Loose, surely_withstands, withstands
from supple.errors import needed
from supple.space import Floats

Judge = Callable[[float], bool]
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
        return _Check(claim, leaf, lower, upper, flint).holds()


def is_chain(chain: Chain, target: Floats) -> bool:
    """Whether all placements are placements, and all signs signs."""
    turns = np.array([T[:3, :3] for T in (*chain.before, chain.behind, target)])
    off = np.abs(turns @ turns.transpose(0, 2, 1) - np.eye(3)).max()
    return bool(off < 1e-12 and (np.linalg.det(turns) > 0.0).all() and (np.abs(chain.signs) == 1.0).all())


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

    def holds(self) -> bool:
        """Whether the constant plus the absolute values of all other coefficients is as far below zero as tolerances need."""
        if not self.is_wide_enough() or [G.shape[0] for G in self.leaf.grams] != [t.size for t in self.shapes]:
            return False
        squares = [G * G.transpose() for G in (self.balls(G) for G in self.leaf.grams)]
        linear: list[Any] = [[], []]
        judge = self.of_points(linear) if self.claim.point else self.of_poses(squares)
        if judge is None:
            return False
        total = self.arb(0)
        arcs = ((self.a, range(self.second)), (self.b, range(self.second, len(self.shapes))))
        for (joints, blocks), extra in zip(arcs, linear, strict=True):
            form = dict(enumerate(extra))
            for k in blocks:
                self.add(form, self.shapes[k], squares[k], joints)
            total += form.pop(0) + sum(abs(value) for value in form.values())
        return judge(-above(total))

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
    def of_poses(self, squares: list[Any]) -> Judge | None:
        """Add the multipliers of poses to the matrices of both arcs; what judges by how much a proof is below zero."""
        leaf, rows = self.leaf, len(self.leaf.kernel)
        fits = leaf.symmetric.shape == (8, 8) and leaf.kernel.shape == (rows, 8)
        if not (fits and (rows == 0 or leaf.facial.shape == (rows, 2 ** len(self.b)))):
            return None
        L_a, L_b, halves = self.arcs()
        own = replace(leaf, symmetric=0.5 * (leaf.symmetric + leaf.symmetric.T))
        Lam, nu = self.balls(own.symmetric), self.arb(0)
        squares[0] = squares[0] + L_a.transpose() * Lam * L_a
        squares[self.second] = squares[self.second] - L_b.transpose() * Lam * L_b
        if rows:
            N, Om = self.balls(leaf.kernel), self.balls(leaf.facial)
            W = L_b.transpose() * N.transpose() * Om
            squares[self.second] = squares[self.second] + (W + W.transpose()) / 2
            nu = self.norm(N * L_a) * self.size_of(self.a)
        loose, (one, two) = self.looseness(nu), (self.floats(half) for half in halves)
        if loose.delta > MOST_TURNED or one is None or two is None:
            return None
        box = self.ranges
        return lambda b: surely_withstands(own, loose, b) or withstands(own, loose, one, two, self.chain, box, b)

    def looseness(self, nu: Any) -> Loose:
        """Upper bounds of what tolerances do."""
        fixed, slid = self.lengths()
        r = (sum(fixed) + sum(slid) + self.length(self.chain.behind) + self.length(self.claim.target)) * self.scale / 2
        delta, tau = (self.arb(x) + ROUNDING for x in (self.claim.angle_tolerance, self.claim.tolerance))
        return Loose(*(above(x) for x in (delta, tau * self.scale / 2, r, nu, self.size_of(self.b))))

    def floats(self, columns: list[Any]) -> Floats | None:
        """The middles of balls; None if these are too wide."""
        wide = max(float(x.rad()) for column in columns for x in column)
        return np.array([[float(x.mid()) for x in column] for column in columns]) if wide < WIDTH / 2 else None

    def size_of(self, arc: tuple[int, ...]) -> Any:
        """An upper bound of ‖h‖."""
        total = self.arb(1)
        for j in arc:
            total *= 2 if self.chain.slides[j] else 2 - self.g[j] * self.g[j]
        return total.abs_upper().sqrt()

    def arcs(self) -> tuple[Any, Any, Any]:
        """L_A, L_B, and the columns of B₁ and ``T⁻¹ B₂``."""
        arb, parts = (
            self.arb,
            [self.dual_product(self.placed(T), self.middle(j)) for j, T in enumerate(self.chain.before)],
        )
        unit = [arb(1), *[arb(0)] * 7]
        back = [x * int(s) for x, s in zip(self.placed(self.claim.target), CONJUGATE, strict=True)]
        behind = [j for j in self.b if j > self.a[-1]]
        one = self.times(self.arc(unit, parts, behind), self.placed(self.chain.behind))
        two = self.times(self.arc(back, parts, [j for j in self.b if j < self.a[0]]), parts[self.a[0]])
        both = [[x * int(s) for x, s in zip(self.dual_product(c, d), CONJUGATE, strict=True)] for c in one for d in two]
        first = self.arc(unit, [unit if j == self.a[0] else parts[j] for j in range(len(parts))], self.a)
        return self.matrix(first).transpose(), self.matrix(both).transpose(), (one, two)

    def times(self, columns: list[Any], by: Any) -> list[Any]:
        """All columns multiplied by a dual quaternion."""
        return [self.dual_product(c, by) for c in columns]

    def arc(self, begin: Any, parts: list[Any], joints: Sequence[int]) -> list[Any]:
        """The columns of what begins so and goes on with these joints."""
        columns = [begin]
        for j in joints:
            s, new = self.g[j] * int(self.chain.signs[j]), []
            for column in self.times(columns, parts[j]):
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
    def of_points(self, linear: list[Any]) -> Judge | None:
        """The coefficients of both arcs' moments in ``λ·(w_A − w_B)``; what judges by how much a proof is below zero."""
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
        ends = self.length(self.claim.target), self.length(chain.behind)
        ways = [x + sum(fixed[j] + slid[j] for j in arc) for x, arc in zip(ends, (self.a, self.b), strict=True)]
        far = ways[0].min(ways[1]) * self.scale
        first = self.norm(self.balls(leaf.linear[None, :3]))
        slack = above(first * epsilon + abs(arb(float(leaf.linear[3]))) * (2 * far * epsilon + epsilon * epsilon))
        return lambda beta: beta > slack

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


def above(x: Any) -> float:
    """A floating-point number that is no smaller than any in a ball."""
    return float(np.nextafter(float(x.upper()), np.inf))
