"""Joints that do not move on their own: exact elimination of coupled joints.

A driven joint has no coordinate in q. Its value is ``θ = offset + Σ_k f_k(q_k)``, a sum of smooth curves of one
coordinate each, with exact first and second derivatives; a mimic joint is the case of one straight line. Because θ is
substituted, not penalised, a driven joint can never leave its relation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from scipy.linalg import solve_banded

from supple.basics.checks import check_fields, endless, finite, instance, items, mapping, named, number, numbers, one_of
from supple.basics.values import Value
from supple.errors import BadValue, find, shown
from supple.geometry.placements import Floats

Pair: TypeAlias = tuple[float, float]
FREE: Pair = (-np.inf, np.inf)


def checked_speed(speed: float, what: str) -> float:
    """A greatest speed: positive, infinite where there is none, never NaN."""
    return endless(speed, f"the speed limit of {what}")


def checked_limits(limits: Pair, what: str) -> Pair:
    """A pair (lower, upper), possibly infinite, never inverted, never NaN."""
    pair = numbers(limits, f"the limits of {what}")
    if pair.shape != (2,):
        raise BadValue(f"the limits of {what} must be a pair (lower, upper), not {shown(limits)}")
    lower, upper = pair.tolist()
    if np.isnan(lower) or np.isnan(upper) or lower > upper or lower == np.inf or upper == -np.inf:
        raise BadValue(f"the limits of {what} must satisfy lower ≤ upper, not ({lower}, {upper})")
    return lower, upper


@dataclass(frozen=True, eq=False, repr=False)
class Linear(Value):
    """``f(q) = slope · q``."""

    slope: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self, "a line", slope=number)

    def __call__(self, q: float) -> float:
        """The value at q."""
        return self.slope * q

    def span(self, lower: float, upper: float) -> Pair:
        """The least and the greatest value between two points."""
        lower, upper = (number(end, "an end of the stretch of a curve") for end in (lower, upper))
        return min(self(lower), self(upper)), max(self(lower), self(upper))

    def steepest(self) -> float:
        """The greatest slope, up or down."""
        return abs(self.slope)


class _Pieced:
    """What polynomials laid end to end can be asked; a kind of them says what its pieces are."""

    def pieces(self) -> Floats:
        """Rows (knot, c0, c1, …) of ``f = Σ c_k tᵏ``, ``t = q − knot``, each from its knot on, the first one below it too."""
        raise NotImplementedError

    def __call__(self, q: float) -> float:
        """The value at q."""
        rows = self.pieces()
        knot, *c = rows[int(np.searchsorted(rows[1:, 0], q, side="right"))]
        return float(np.polynomial.polynomial.polyval(q - knot, c))

    def _stretches(self) -> list[tuple[float, Floats, float, float]]:
        """Of each piece: its knot, its coefficients, and from where to where it holds."""
        rows = self.pieces()
        ends = [-np.inf, *rows[1:, 0].tolist(), np.inf]
        return [(float(row[0]), row[1:], a, b) for row, a, b in zip(rows, ends, ends[1:], strict=False)]

    def span(self, lower: float, upper: float) -> Pair:
        """The least and the greatest value between two points: at the ends, at knots, or where a piece is level."""
        lower, upper = (number(end, "an end of the stretch of a curve") for end in (lower, upper))
        values = [self(lower), self(upper)]
        for knot, c, a, b in self._stretches():
            a, b = max(a, lower) - knot, min(b, upper) - knot
            values += _extremes(c, a, b) if a < b else []
        return min(values), max(values)

    def steepest(self) -> float:
        """The greatest slope, up or down; infinite where an end piece grows ever steeper."""
        slopes = []
        for knot, c, a, b in self._stretches():
            d = c[1:] * np.arange(1, len(c))
            if np.isfinite(a) and np.isfinite(b):
                slopes += _extremes(d, a - knot, b - knot) if a < b else []
            else:
                slopes.append(np.inf if d[1:].any() else d[0] if len(d) else 0.0)
        return float(np.abs(slopes).max())


def _extremes(c: Floats, a: float, b: float) -> list[float]:
    """The values of ``Σ c_k tᵏ`` at a and b and where it is level between them."""
    scaled = c * (b - a) ** np.arange(len(c))  # of u = t / (b − a), so that what is negligible can be told
    level = scaled[1:] * np.arange(1, len(c))
    level = np.where(np.abs(level) > 1e-16 * np.abs(level).max(initial=0.0), level, 0.0)
    roots = np.polynomial.polynomial.polyroots(np.trim_zeros(level, "b")) if level[1:].any() else np.empty(0)
    between = (b - a) * np.real(roots[np.abs(np.imag(roots)) < 1e-9])
    where = [a, b, *(t for t in between if a < t < b)]
    return np.polynomial.polynomial.polyval(np.array(where), c).tolist()


@dataclass(frozen=True, eq=False, repr=False)
class Spline(Value, _Pieced):
    """A cubic spline through the points ``(x, y)``, twice continuously differentiable between them, straight beyond its ends.

    With "natural" `ends` the second derivative is zero at both ends, which makes the straight continuation as smooth as
    the rest. With "cubic" ends the third derivative at an end is that of the cubic through the four points there (zero for
    three points): it follows smooth data more closely, but its second derivative jumps to zero where the line begins.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    ends: str = "natural"

    def __post_init__(self) -> None:
        knots = np.atleast_1d(numbers(self.x, "the knots of a spline"))
        x: tuple[float, ...] = tuple(finite(knots, knots.shape[:1], "the knots of a spline").tolist())
        y: tuple[float, ...] = tuple(finite(self.y, (len(x),), "the values of a spline").tolist())
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)
        if len(x) < 2 or any(b <= a for a, b in pairwise(x)):
            raise BadValue(f"a spline needs two or more knots in rising order, not {x}")
        one_of(self.ends, ("natural", "cubic"), "the ends of a spline")
        with np.errstate(all="ignore"):
            if not np.isfinite(self.pieces()).all():
                raise BadValue("the knots of a spline are too near to each other for its values")

    def pieces(self) -> Floats:
        """Rows (knot, c0, c1, c2, c3) of ``f = c0 + c1 t + c2 t² + c3 t³``, ``t = q − knot``; straight ends included.

        The first row is the continuation below the first knot and is measured from it too. The second derivatives m at the
        knots solve ``h₀ m₀ + 2(h₀ + h₁) m₁ + h₁ m₂ = 6 (s₁ − s₀)`` with h the widths and s the slopes of the chords; at an
        end ``m₀ = 0``, or ``m₁ − m₀ = 6 h₀ D`` with D the third divided difference of the four points there.
        """
        x, y = np.array(self.x), np.array(self.y)
        h = np.diff(x)
        s = np.diff(y) / h
        m = np.zeros(len(x)) if len(x) == 2 else self._bends(x, h, s)
        c1 = s - h * (2.0 * m[:-1] + m[1:]) / 6.0
        inner = np.column_stack([x[:-1], y[:-1], c1, m[:-1] / 2.0, np.diff(m) / (6.0 * h)])
        end_slope = s[-1] + h[-1] * (m[-2] + 2.0 * m[-1]) / 6.0
        return np.vstack([[x[0], y[0], c1[0], 0.0, 0.0], inner, [x[-1], y[-1], end_slope, 0.0, 0.0]])

    def _bends(self, x: Floats, h: Floats, s: Floats) -> Floats:
        """The second derivatives at three or more knots, from a band of three diagonals."""
        n = len(x)
        band, right = np.zeros((3, n)), np.zeros(n)
        band[0, 2:], band[1, 1:-1], band[2, :-2] = h[1:], 2.0 * (h[:-1] + h[1:]), h[:-1]
        right[1:-1] = 6.0 * np.diff(s)
        band[1, 0] = band[1, -1] = 1.0
        if self.ends == "cubic":
            band[0, 1] = band[2, -2] = -1.0
            if n > 3:
                second = np.diff(s) / (x[2:] - x[:-2])
                third = np.diff(second) / (x[3:] - x[:-3])
                right[0], right[-1] = -6.0 * h[0] * third[0], 6.0 * h[-1] * third[-1]
        return solve_banded((1, 1), band, right, check_finite=False)


@dataclass(frozen=True, eq=False, repr=False)
class PiecewisePolynomial(Value, _Pieced):
    """Polynomials laid end to end: rows (knot, c0, c1, …) of ``f = Σ c_k tᵏ``, ``t = q − knot``, each from its knot on.

    The first row holds below its knot as well; one row is a polynomial. How smooth f is at the knots is up to the rows:
    where they do not fit, derivatives are those of the piece that begins there.
    """

    rows: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        table = numbers(self.rows, "the rows of a curve in pieces, (knot, c0, c1, …), all of one length,")
        if table.ndim != 2 or not len(table) or table.shape[1] < 2:
            raise BadValue("a curve in pieces needs rows (knot, c0, c1, …), all of one length")
        rows = tuple(map(tuple, finite(table, table.shape, "the numbers of a curve in pieces").tolist()))
        object.__setattr__(self, "rows", rows)
        if any(b[0] < a[0] for a, b in pairwise(rows)):
            raise BadValue("the pieces of a curve must be in the order of their knots")

    def pieces(self) -> Floats:
        """The rows as an array."""
        return np.array(self.rows)

    def scaled(self, factor: float) -> PiecewisePolynomial:
        """``factor · f(q)``."""
        factor = number(factor, "the factor of a curve")
        return PiecewisePolynomial(tuple((knot, *(factor * c for c in more)) for knot, *more in self.rows))

    def after(self, slope: float, shift: float) -> PiecewisePolynomial:
        """``f(slope · q + shift)``, for a slope that is not zero."""
        slope, shift = (
            number(slope, "the slope of a curve's argument"),
            number(shift, "the shift of a curve's argument"),
        )
        if slope == 0.0:
            raise BadValue("the slope of a curve's argument must not be 0: the curve would be a constant")
        rows = [((knot - shift) / slope, c * slope ** np.arange(len(c))) for knot, c, _, _ in self._stretches()]
        if slope < 0.0:  # each piece now begins where the next one began
            begins = [rows[-1][0], *(knot for knot, _ in rows[:0:-1])]
            rows = [(to, _about(c, to - knot)) for (knot, c), to in zip(rows[::-1], begins, strict=True)]
        return PiecewisePolynomial(tuple((knot, *c.tolist()) for knot, c in rows))


def _about(c: Floats, step: float) -> Floats:
    """The coefficients of ``g(t) = f(t + step)``."""
    out = c.copy()
    for k in range(len(c) - 1):
        for j in range(len(c) - 2, k - 1, -1):
            out[j] += step * out[j + 1]
    return out


Curve: TypeAlias = Linear | Spline | PiecewisePolynomial


def _pairs(value: Any, what: str, form: str) -> tuple[tuple[str, Any], ...]:
    """Pairs of a name and something else."""
    out = []
    for pair in items(value, what):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise BadValue(f"{what} must be pairs {form}, not {shown(pair)}")
        out.append((named(pair[0], f"the name in each of {what}"), pair[1]))
    return tuple(out)


@dataclass(frozen=True, eq=False, repr=False)
class Drive(Value):
    """``θ = offset + Σ f(q)`` over the named coordinates; a bare number stands for a line of that slope."""

    terms: tuple[tuple[str, Curve], ...]
    offset: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self, "a driven joint", offset=number)
        terms = _pairs(self.terms, "the terms of a drive", "(coordinate, curve)")
        for name, curve in terms:
            instance(curve, (Linear, Spline, PiecewisePolynomial), f"the curve by which {name!r} drives a joint")
        object.__setattr__(self, "terms", terms)
        if not terms:
            raise BadValue("a driven joint needs at least one coordinate that drives it")
        super().__post_init__()

    @staticmethod
    def by(terms: Mapping[str, Curve | float], offset: float = 0.0) -> Drive:
        """From a mapping of coordinates to curves or slopes."""
        curves = mapping(terms, "the terms of a drive")
        rows = ((name, f if isinstance(f, Curve) else Linear(f)) for name, f in curves.items())
        return Drive(tuple(rows), offset)

    def value(self, q: Mapping[str, float]) -> float:
        """The joint's value when the coordinates have the values `q`."""
        values = mapping(q, "the coordinates of a drive")
        for name, _ in self.terms:
            find(tuple(values), name, "coordinate", "q")
        pairs = [(curve, number(values[name], f"the coordinate {name!r}")) for name, curve in self.terms]
        return self.offset + sum(curve(value) for curve, value in pairs)


def mimic(name: str, ratio: float = 1.0, offset: float = 0.0) -> Drive:
    """Follow the coordinate `name`: ``θ = ratio · q + offset``."""
    return Drive.by({named(name, "the coordinate that a joint follows"): ratio}, offset)


@dataclass(frozen=True, eq=False, repr=False)
class Coordinate(Value):
    """A coordinate of q that belongs to no single joint: the parameter of a group."""

    name: str
    limits: Pair = FREE
    rest: float = 0.0
    speed: float = np.inf  # greatest |dq/dt|

    def __post_init__(self) -> None:
        what = f"coordinate {named(self.name, 'the name of a coordinate')!r}"
        object.__setattr__(self, "limits", checked_limits(self.limits, what))
        object.__setattr__(self, "speed", checked_speed(self.speed, what))
        check_fields(self, what, rest=number)


@dataclass(frozen=True, eq=False, repr=False)
class Group(Value):
    """Many joints driven by few parameters: a spine from three angles, a shoulder complex from three angles.

    `drives` maps the name of each joint in the group to the drive that replaces its own coordinate; `bounds` are
    further linear limits among coordinates, for example a polygon of shoulder angles.
    """

    name: str
    coordinates: tuple[Coordinate, ...]
    drives: Mapping[str, Drive]
    bounds: tuple[LinearLimit, ...] = ()

    def __post_init__(self) -> None:
        what = f"group {named(self.name, 'the name of a group')!r}"
        coordinates = items(self.coordinates, f"the coordinates of {what}", Coordinate)
        object.__setattr__(self, "coordinates", coordinates)
        object.__setattr__(self, "drives", mapping(self.drives, f"the drives of {what}", Drive))
        object.__setattr__(self, "bounds", items(self.bounds, f"the bounds of {what}", LinearLimit))


@dataclass(frozen=True, eq=False, repr=False)
class LinearLimit(Value):
    """A linear limit among coordinates: ``Σ coefficient · q ≤ upper``, by name."""

    coefficients: tuple[tuple[str, float], ...]
    upper: float

    @staticmethod
    def of(coefficients: Mapping[str, float], upper: float) -> LinearLimit:
        """From a mapping of coordinates to coefficients."""
        return LinearLimit(tuple(mapping(coefficients, "the coefficients of a bound").items()), upper)

    def __post_init__(self) -> None:
        check_fields(self, "a bound", upper=number)
        pairs = _pairs(self.coefficients, "the coefficients of a bound", "(coordinate, number)")
        pairs = tuple((name, number(c, f"the coefficient of {name!r} in a bound")) for name, c in pairs)
        object.__setattr__(self, "coefficients", pairs)
        if not any(c for _, c in pairs):
            raise BadValue("a bound needs a coefficient that is not zero")
        super().__post_init__()
