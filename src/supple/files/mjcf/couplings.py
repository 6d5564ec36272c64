"""Joints that equalities couple, by exact elimination.

With ``t = qpos − qpos0`` an equality of joints says ``t₁ = a₀ + a₁ t₂ + … + a₄ t₂⁴``, and one of fixed tendons the same of the
sums ``Σ c t`` over their joints. So each is one equation ``c + Σ_k P_k(t_k) = 0`` with polynomials ``P_k(0) = 0``. It is
solved for a joint that stands in it by a multiple of itself, the first one if possible, and that joint follows the others
from then on: in later equations, and in what was solved before, it is replaced. An equation that leaves nothing to solve
says what the others say already, or contradicts them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.polynomial import polynomial

from supple.figure.curves import PiecewisePolynomial
from supple.figure.drives import Curve, Drive, Linear, Pair
from supple.geometry.placements import Floats

poly: Any = polynomial  # its types are wider than ours
NOTHING = 1e-12  # a coefficient that is no more is none, beside the greatest of its equation
MOST_DEGREE = 16
SLACK = 1e-9  # by how much a range may be left [rad, m]


class Impossible(Exception):
    """An equation that cannot be solved here; the message says why."""


@dataclass
class Equation:
    """``constant + Σ P(t) = 0``: coefficients of each P by joint, that of t⁰ always 0."""

    constant: float = 0.0
    terms: dict[int, Floats] = field(default_factory=dict)

    def add(self, joint: int, coefficients: Iterable[float]) -> None:
        """Add a polynomial of one joint; its own constant goes to that of the equation."""
        c = np.array([*coefficients], dtype=float)
        self.constant += float(c[0])
        c[0] = 0.0
        c = poly.polyadd(self.terms.pop(joint, np.zeros(1)), c)
        if np.abs(c).max() > 0.0:
            self.terms[joint] = c

    def replaced(self, rules: dict[int, Equation]) -> Equation:
        """The same equation with each joint that has a rule ``t = constant + Σ P`` replaced by it."""
        out = Equation(self.constant)
        for joint, c in self.trimmed().terms.items():
            rule = rules.get(joint)
            if rule is None:
                out.add(joint, c)
            elif len(c) == 2:
                out.constant += c[1] * rule.constant
                for other, more in rule.terms.items():
                    out.add(other, c[1] * more)
            elif len(rule.terms) <= 1:
                (other, inner), *_ = rule.terms.items() or [(joint, np.zeros(1))]
                out.add(other, _inside(c, poly.polyadd(inner, [rule.constant])))
            else:
                raise Impossible("a curve of a joint that follows several others")
        return out.trimmed()

    def trimmed(self) -> Equation:
        """Without what rounding has left."""
        size = max([1.0, *(float(np.abs(c).max()) for c in self.terms.values())])
        kept = {j: poly.polytrim(c, NOTHING * size) for j, c in self.terms.items()}
        return Equation(self.constant, {j: c for j, c in kept.items() if len(c) > 1})

    def solved(self, joint: int) -> Equation:
        """The rule ``t_joint = …`` of an equation in which it stands by a multiple of itself."""
        slope = self.terms[joint][1]
        others = {j: -c / slope for j, c in self.terms.items() if j != joint}
        return Equation(-self.constant / slope, others)


def _inside(outer: Floats, inner: Floats) -> Floats:
    """``outer(inner(t))`` by Horner's rule."""
    if (len(outer) - 1) * (len(inner) - 1) > MOST_DEGREE:
        raise Impossible(f"curves of curves of a degree above {MOST_DEGREE}")
    out = outer[-1:]
    for c in outer[-2::-1]:
        out = poly.polyadd(poly.polymul(out, inner), [c])
    return out


class Couplings:
    """Rules by joint, found from one equation after the other."""

    def __init__(self) -> None:
        self.rules: dict[int, Equation] = {}

    def couple(self, equation: Equation, preferred: Iterable[int]) -> None:
        """Let one more joint follow the others, one of the preferred if that is possible."""
        rest = equation.replaced(self.rules)
        if not rest.terms:
            if abs(rest.constant) > SLACK:
                raise Impossible(f"it contradicts other equalities by {abs(rest.constant):.6g}")
            return
        lines = [j for j, c in rest.terms.items() if len(c) == 2]
        order = [*(j for j in preferred if j in lines), *lines]
        if not order:
            raise Impossible("it is a curve of every joint in it")
        joint = order[0]
        rule = rest.solved(joint)
        self.rules = {j: old.replaced({joint: rule}) for j, old in self.rules.items()} | {joint: rule}


def drive_of(rule: Equation, starts: Floats, names: list[str], start: float) -> Drive | float:
    """The drive of a joint by a rule; a number where nothing drives it. `starts` are the values of qpos0 by joint."""
    offset, terms = start + rule.constant, list[tuple[str, Curve]]()
    for joint, c in rule.terms.items():
        if len(c) == 2:
            terms.append((names[joint], Linear(float(c[1]))))
            offset -= float(c[1]) * float(starts[joint])
        else:
            terms.append((names[joint], PiecewisePolynomial(((float(starts[joint]), *c.tolist()),))))
    return Drive(tuple(terms), offset) if terms else offset


def narrowed(rule: Equation, limits: Pair, around: float, own: Pair) -> Pair | None:
    """The part about `around` of a leader's own range in which its follower stays in `limits`; None if there is none.

    All in t, the distances from the start. For a rule of one leader.
    """
    ((_, c),) = rule.terms.items()
    curve = poly.polyadd(c, [rule.constant])
    lower, upper = own
    value = float(poly.polyval(around, curve))
    if not limits[0] - SLACK <= value <= limits[1] + SLACK:
        return None
    for limit in limits:
        if np.isfinite(limit):
            roots = poly.polyroots(poly.polyadd(curve, [-limit]))
            for t in np.real(roots[np.abs(np.imag(roots)) < SLACK]).tolist():
                crosses = _crosses(curve, limit, t)
                if crosses and t <= around:
                    lower = max(lower, t)
                if crosses and t >= around:
                    upper = min(upper, t)
    return (lower, upper) if lower < upper else None


def _crosses(curve: Floats, limit: float, t: float) -> bool:
    """Whether a curve is on both sides of a limit about t, and does not only touch it."""
    step = 1e-4 * max(1.0, abs(t))
    a, b = (float(poly.polyval(t + s, curve)) - limit for s in (-step, step))
    return a * b < 0.0
