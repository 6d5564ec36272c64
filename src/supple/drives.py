"""Joints that do not move on their own: exact elimination of coupled joints.

A driven joint has no coordinate in q. Its value is ``θ = offset + Σ_k f_k(q_k)``, a sum of smooth curves of one
coordinate each, with exact first and second derivatives; a mimic joint is the case of one straight line. Because θ is
substituted, not penalised, a driven joint can never leave its relation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from supple.errors import BadValue
from supple.space import finite

Pair: TypeAlias = tuple[float, float]
FREE: Pair = (-np.inf, np.inf)


def checked_speed(speed: float, what: str) -> float:
    """A greatest speed: positive, infinite where there is none, never NaN."""
    try:
        value = float(speed)
    except (TypeError, ValueError) as error:
        raise BadValue(f"the speed limit of {what} must be a number, not {speed!r}") from error
    if not value > 0.0:
        raise BadValue(f"the speed limit of {what} must be positive, not {speed!r}")
    return value


def checked_limits(limits: Pair, what: str) -> Pair:
    """A pair (lower, upper), possibly infinite, never inverted, never NaN."""
    try:
        lower, upper = (float(value) for value in limits)
    except (TypeError, ValueError) as error:
        raise BadValue(f"the limits of {what} must be a pair (lower, upper), not {limits!r}") from error
    if np.isnan(lower) or np.isnan(upper) or lower > upper or lower == np.inf or upper == -np.inf:
        raise BadValue(f"the limits of {what} must satisfy lower ≤ upper, not ({lower}, {upper})")
    return lower, upper


@dataclass(frozen=True)
class Line:
    """``f(q) = slope · q``."""

    slope: float = 1.0

    def __post_init__(self) -> None:
        finite(self.slope, (), "the slope of a line")

    def __call__(self, q: float) -> float:
        """The value at q."""
        return self.slope * q

    def span(self, lower: float, upper: float) -> Pair:
        """The least and the greatest value between two points."""
        return min(self(lower), self(upper)), max(self(lower), self(upper))

    def steepest(self) -> float:
        """The greatest slope, up or down."""
        return abs(self.slope)


@dataclass(frozen=True)
class Spline:
    """A cubic spline through the points ``(x, y)``, twice continuously differentiable, straight beyond its ends.

    The second derivative is zero at both ends ("natural"), which is what makes the straight continuation smooth.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        x, y = tuple(map(float, self.x)), tuple(map(float, self.y))
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)
        finite(x, (len(x),), "the knots of a spline")
        finite(y, (len(x),), "the values of a spline")
        if len(x) < 2 or any(b <= a for a, b in pairwise(x)):
            raise BadValue(f"a spline needs two or more knots in rising order, not {x}")

    def pieces(self) -> np.ndarray:
        """Rows (knot, c0, c1, c2, c3) of ``f = c0 + c1 t + c2 t² + c3 t³``, ``t = q − knot``; straight ends included.

        The first row is the continuation below the first knot and is measured from it too. The second derivatives m
        at the knots solve ``h₀ m₀ + 2(h₀ + h₁) m₁ + h₁ m₂ = 6 (s₁ − s₀)`` with h the widths and s the slopes of the chords.
        """
        x, y = np.array(self.x), np.array(self.y)
        h = np.diff(x)
        s = np.diff(y) / h
        m = np.zeros(len(x))
        if len(x) > 2:
            A = np.diag(2.0 * (h[:-1] + h[1:])) + np.diag(h[1:-1], 1) + np.diag(h[1:-1], -1)
            m[1:-1] = np.linalg.solve(A, 6.0 * np.diff(s))
        c1 = s - h * (2.0 * m[:-1] + m[1:]) / 6.0
        inner = np.column_stack([x[:-1], y[:-1], c1, m[:-1] / 2.0, np.diff(m) / (6.0 * h)])
        end_slope = s[-1] + h[-1] * m[-2] / 6.0
        return np.vstack([[x[0], y[0], c1[0], 0.0, 0.0], inner, [x[-1], y[-1], end_slope, 0.0, 0.0]])

    def __call__(self, q: float) -> float:
        """The value at q."""
        rows = self.pieces()
        row = rows[0] if q < self.x[0] else rows[int(np.searchsorted(rows[:, 0], q, side="right")) - 1]
        t = q - row[0]
        return float(row[1] + t * (row[2] + t * (row[3] + t * row[4])))

    def span(self, lower: float, upper: float) -> Pair:
        """The least and the greatest value between two points: at the ends, at knots, or where a piece is level."""
        rows = self.pieces()
        candidates = [lower, upper, *(x for x in self.x if lower < x < upper)]
        for (knot, _, c1, c2, c3), end in zip(rows[1:-1], self.x[1:], strict=True):
            roots = np.roots([3.0 * c3, 2.0 * c2, c1]) if c3 or c2 else np.empty(0)
            level = knot + np.real(roots[np.isreal(roots)])
            candidates += [float(x) for x in level if max(knot, lower) < x < min(end, upper)]
        values = [self(x) for x in candidates]
        return min(values), max(values)

    def steepest(self) -> float:
        """The greatest slope, up or down: at a knot, or inside a piece where its second derivative vanishes."""
        slopes = []
        for (_, _, c1, c2, c3), h in zip(self.pieces()[1:-1], np.diff(self.x), strict=True):
            flat = -c2 / (3.0 * c3) if c3 else 0.0
            slopes += [c1 + t * (2.0 * c2 + 3.0 * c3 * t) for t in (0.0, h, min(max(flat, 0.0), h))]
        return float(np.abs(slopes).max())


Curve: TypeAlias = Line | Spline


@dataclass(frozen=True)
class Drive:
    """``θ = offset + Σ f(q)`` over the named coordinates; a bare number stands for a line of that slope."""

    terms: tuple[tuple[str, Curve], ...]
    offset: float = 0.0

    def __post_init__(self) -> None:
        finite(self.offset, (), "the offset of a driven joint")
        if not self.terms:
            raise BadValue("a driven joint needs at least one coordinate that drives it")

    @staticmethod
    def by(terms: Mapping[str, Curve | float], offset: float = 0.0) -> Drive:
        """From a mapping of coordinates to curves or slopes."""
        rows = ((name, f if isinstance(f, Line | Spline) else Line(float(f))) for name, f in terms.items())
        return Drive(tuple(rows), offset)

    def value(self, q: Mapping[str, float]) -> float:
        """The joint's value when the coordinates have the values `q`."""
        return self.offset + sum(curve(q[name]) for name, curve in self.terms)


def mimic(name: str, ratio: float = 1.0, offset: float = 0.0) -> Drive:
    """Follow the coordinate `name`: ``θ = ratio · q + offset``."""
    return Drive.by({name: ratio}, offset)


@dataclass(frozen=True)
class Coordinate:
    """A coordinate of q that belongs to no single joint: the parameter of a group."""

    name: str
    limits: Pair = FREE
    rest: float = 0.0
    speed: float = np.inf  # greatest |dq/dt|

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", checked_limits(self.limits, f"coordinate {self.name!r}"))
        object.__setattr__(self, "speed", checked_speed(self.speed, f"coordinate {self.name!r}"))


@dataclass(frozen=True)
class Group:
    """Many joints driven by few parameters: a spine from three angles, a shoulder complex from three angles.

    `drives` maps the name of each joint in the group to the drive that replaces its own coordinate; `bounds` are
    further linear limits among coordinates, for example a polygon of shoulder angles.
    """

    name: str
    coordinates: tuple[Coordinate, ...]
    drives: Mapping[str, Drive]
    bounds: tuple[Bound, ...] = ()


@dataclass(frozen=True)
class Bound:
    """A linear limit among coordinates: ``Σ coefficient · q ≤ upper``, by name."""

    coefficients: tuple[tuple[str, float], ...]
    upper: float

    @staticmethod
    def of(coefficients: Mapping[str, float], upper: float) -> Bound:
        """From a mapping of coordinates to coefficients."""
        return Bound(tuple((name, float(c)) for name, c in coefficients.items()), float(upper))

    def __post_init__(self) -> None:
        values = [c for _, c in self.coefficients]
        finite(values, (len(values),), "the coefficients of a bound")
        finite(self.upper, (), "the upper side of a bound")
        if not any(values):
            raise BadValue("a bound needs a coefficient that is not zero")
