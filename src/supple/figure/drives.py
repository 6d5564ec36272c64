"""Joints that do not move on their own: exact elimination of coupled joints.

A driven joint has no coordinate in q. Its value is ``θ = offset + Σ_k f_k(q_k)``, a sum of smooth curves of one
coordinate each, with exact first and second derivatives; a mimic joint is the case of one straight line. Because θ is
substituted, not penalised, a driven joint can never leave its relation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from supple.basics.checks import check_fields, checked_limits, checked_speed, instance, items, mapping, named, number
from supple.basics.values import Value
from supple.errors import BadValue, find, shown
from supple.geometry.placements import Floats

Pair: TypeAlias = tuple[float, float]
FREE: Pair = (-np.inf, np.inf)


class Curve(Value):
    """A function of one coordinate. `Linear` is the plain one; those that bend are in `curves`."""

    def __call__(self, q: float) -> float:
        """The value at q."""
        raise NotImplementedError

    def span(self, lower: float, upper: float) -> Pair:
        """The least and the greatest value between two points."""
        raise NotImplementedError

    def steepest(self) -> float:
        """The greatest slope, up or down."""
        raise NotImplementedError

    def pieces(self) -> Floats:
        """Rows (knot, c0, c1, …) of ``f = Σ c_k tᵏ``, ``t = q − knot``, each from its knot on, the first one below it too."""
        raise NotImplementedError

    def stretched(self, along: float, up: float) -> Curve:
        """``up · f(q / along)``."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False)
class Linear(Curve):
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

    def pieces(self) -> Floats:
        """A single row."""
        return np.array([[0.0, 0.0, self.slope]])

    def stretched(self, along: float, up: float) -> Linear:
        """``up · f(q / along)``."""
        return Linear(up * self.slope / along)


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
            instance(curve, Curve, f"the curve by which {name!r} drives a joint")
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
