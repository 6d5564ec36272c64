"""Solid shapes: what a segment occupies and what stands in its way. Lengths in metres."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from supple.errors import BadValue
from supple.space import Floats, Triple, finite, frozen, here, placement, unit


def _positive(value: float, what: str) -> float:
    if not (np.isfinite(value) and value > 0.0):
        raise BadValue(f"{what} must be positive and finite, not {value!r}")
    return float(value)


def _triple(values: Any, what: str) -> Triple:
    x, y, z = finite(values, (3,), what).tolist()
    return (x, y, z)


@dataclass(frozen=True)
class Ball:
    """All points within `radius` of `centre`."""

    centre: Triple
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", _triple(self.centre, "a ball's centre"))
        _positive(self.radius, "a ball's radius")


@dataclass(frozen=True, eq=False)
class Box:
    """The points between the corners `lower` and `upper` in the frame `at`."""

    lower: Triple
    upper: Triple
    at: Floats = field(default_factory=here)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", _triple(self.lower, "a box's lower corner"))
        object.__setattr__(self, "upper", _triple(self.upper, "a box's upper corner"))
        object.__setattr__(self, "at", placement(self.at, "a box's frame"))
        if any(h <= lo for lo, h in zip(self.lower, self.upper, strict=True)):
            raise BadValue(f"a box's upper corner {self.upper} must lie above its lower corner {self.lower}")


@dataclass(frozen=True, eq=False)
class Cylinder:
    """A solid cylinder about the z axis of the frame `at`, centred there."""

    radius: float
    length: float
    at: Floats = field(default_factory=here)

    def __post_init__(self) -> None:
        _positive(self.radius, "a cylinder's radius")
        _positive(self.length, "a cylinder's length")
        object.__setattr__(self, "at", placement(self.at, "a cylinder's frame"))


@dataclass(frozen=True, eq=False)
class Capsule:
    """All points within `radius` of a line of `length` on the z axis of the frame `at`, centred there."""

    radius: float
    length: float
    at: Floats = field(default_factory=here)

    def __post_init__(self) -> None:
        _positive(self.radius, "a capsule's radius")
        _positive(self.length, "a capsule's length")
        object.__setattr__(self, "at", placement(self.at, "a capsule's frame"))


@dataclass(frozen=True, eq=False)
class Polytope:
    """The points x with ``A x ≤ b``, row by row."""

    A: Floats
    b: Floats

    def __post_init__(self) -> None:
        b = np.atleast_1d(np.asarray(self.b, dtype=np.float64))
        object.__setattr__(self, "b", frozen(finite(b, b.shape[:1], "a polytope's b")))
        object.__setattr__(self, "A", frozen(finite(self.A, (len(b), 3), "a polytope's A")))
        if (np.linalg.norm(self.A, axis=1) < 1e-12).any():
            raise BadValue("a polytope's A must not have a zero row")

    @classmethod
    def half_space(cls, point: Any, normal: Any) -> Polytope:
        """Everything on the side of the plane through `point` from which `normal` points away."""
        n = np.array(unit(normal, "the normal of a half-space"))
        return cls(n[None], np.array([n @ finite(point, (3,), "the point of a half-space")]))


Shape: TypeAlias = Ball | Box | Cylinder | Capsule


@dataclass(frozen=True)
class Body:
    """What a segment is made of: its mass [kg], where that mass is centred, and the room it takes, in its own frame."""

    mass: float = 0.0
    centre: Triple = (0.0, 0.0, 0.0)
    shapes: tuple[Shape, ...] = ()

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mass) and self.mass >= 0.0):
            raise BadValue(f"a body's mass must be finite and not negative, not {self.mass!r}")
        object.__setattr__(self, "centre", _triple(self.centre, "a body's centre of mass"))
        object.__setattr__(self, "shapes", tuple(self.shapes))
