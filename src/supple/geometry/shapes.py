"""Solid shapes: what a segment occupies and what stands in its way. Lengths in metres."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from supple.basics.checks import finite, instance, items, not_negative, numbers, positive, triple
from supple.basics.values import Value
from supple.errors import BadValue
from supple.geometry.placements import Floats, Triple, compose, frozen, here, placement, unit


@dataclass(frozen=True, eq=False, repr=False)
class Ball(Value):
    """All points within `radius` of `centre`."""

    centre: Triple
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", triple(self.centre, "a ball's centre"))
        object.__setattr__(self, "radius", positive(self.radius, "a ball's radius"))


@dataclass(frozen=True, eq=False, repr=False)
class Box(Value):
    """The points between the corners `lower` and `upper` in the frame `at`."""

    lower: Triple
    upper: Triple
    at: Floats = field(default_factory=here)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", triple(self.lower, "a box's lower corner"))
        object.__setattr__(self, "upper", triple(self.upper, "a box's upper corner"))
        object.__setattr__(self, "at", placement(self.at, "a box's frame"))
        if any(h <= lo for lo, h in zip(self.lower, self.upper, strict=True)):
            raise BadValue(f"a box's upper corner {self.upper} must lie above its lower corner {self.lower}")


@dataclass(frozen=True, eq=False, repr=False)
class Cylinder(Value):
    """A solid cylinder about the z axis of the frame `at`, centred there."""

    radius: float
    length: float
    at: Floats = field(default_factory=here)

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive(self.radius, "a cylinder's radius"))
        object.__setattr__(self, "length", positive(self.length, "a cylinder's length"))
        object.__setattr__(self, "at", placement(self.at, "a cylinder's frame"))


@dataclass(frozen=True, eq=False, repr=False)
class Capsule(Value):
    """All points within `radius` of a line of `length` on the z axis of the frame `at`, centred there."""

    radius: float
    length: float
    at: Floats = field(default_factory=here)

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive(self.radius, "a capsule's radius"))
        object.__setattr__(self, "length", positive(self.length, "a capsule's length"))
        object.__setattr__(self, "at", placement(self.at, "a capsule's frame"))

    @classmethod
    def between(cls, start: Any, end: Any, radius: float) -> Capsule:
        """All points within `radius` of the line from `start` to `end`."""
        a, b = finite(start, (3,), "a capsule's start"), finite(end, (3,), "a capsule's end")
        z = np.array(unit(b - a, "a capsule's line from start to end"))
        x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
        x /= np.linalg.norm(x)
        return cls(radius, float(np.linalg.norm(b - a)), compose(np.column_stack([x, np.cross(z, x), z]), (a + b) / 2))


@dataclass(frozen=True, eq=False, repr=False)
class Polytope(Value):
    """The points x with ``A x ≤ b``, row by row; it need not be bounded."""

    A: Floats
    b: Floats

    def __post_init__(self) -> None:
        A, b = numbers(self.A, "a polytope's A"), np.atleast_1d(numbers(self.b, "a polytope's b"))
        if A.size == 0:
            raise BadValue("a polytope needs at least one row of A and b: without any it is the whole space")
        count = len(np.atleast_1d(A))
        object.__setattr__(self, "A", frozen(finite(A, (count, 3), "a polytope's A")))
        object.__setattr__(self, "b", frozen(finite(b, (count,), "a polytope's b")))
        if (np.hypot.reduce(self.A, axis=1) < 1e-12).any():
            raise BadValue("a polytope's A must not have a zero row")

    @classmethod
    def half_space(cls, point: Any, normal: Any) -> Polytope:
        """All points x with ``normal · (x − point) ≤ 0``: a floor is solid below `point` if `normal` points up."""
        n = np.array(unit(normal, "a half-space's normal"))
        return cls(n[None, :], [n @ finite(point, (3,), "a point of a half-space's surface")])  # pyright: ignore[reportArgumentType]

    @classmethod
    def of(cls, box: Box | Cylinder | Hull) -> Polytope:
        """The same points as a box; of a hull, whose faces its radius moves outwards, or a cylinder a little more."""
        instance(box, (Box, Cylinder, Hull), "what Polytope.of() takes")
        if not isinstance(box, Box):
            from supple.geometry.polyhedra import polyhedron_of

            body = polyhedron_of(box)
            return cls(body.normals, body.offsets + (box.radius if isinstance(box, Hull) else 0.0))
        R, p = box.at[:3, :3], box.at[:3, 3]
        A = np.vstack([R.T, -R.T])
        return cls(A, np.concatenate([box.upper, np.negative(box.lower)]) + A @ p)

    @classmethod
    def hull(cls, points: Any) -> Polytope:
        """All points between the given ones (k, 3), which must not lie in one plane."""
        from supple.geometry.polyhedra import polyhedron_of

        body = polyhedron_of(Hull(points))
        return cls(body.normals, body.offsets)


@dataclass(frozen=True, eq=False, repr=False)
class Hull(Value):
    """All points between the given ones (k, 3), which must not lie in one plane, and all within `radius` of these."""

    points: Floats
    radius: float = 0.0

    def __post_init__(self) -> None:
        points = numbers(self.points, "a hull's points")
        count = len(np.atleast_1d(points))
        object.__setattr__(self, "points", frozen(finite(points, (count, 3), "a hull's points")))
        object.__setattr__(self, "radius", not_negative(self.radius, "a hull's radius"))
        if count < 4:
            raise BadValue(f"a hull needs four points that do not lie in one plane, not {count}")


Shape: TypeAlias = Ball | Box | Cylinder | Capsule
Solid: TypeAlias = Ball | Capsule | Cylinder | Box | Hull  # what a segment keeps clear of things with


@dataclass(frozen=True, eq=False, repr=False)
class Core(Value):
    """What a ball or a capsule is round about: a line of half-length `half` on the z axis of `at`, centred there."""

    at: Floats
    half: float
    radius: float

    @classmethod
    def of(cls, bar: Ball | Capsule) -> Core:
        """The core of a capsule; a ball's has no length."""
        if isinstance(bar, Ball):
            return cls(compose(np.eye(3), bar.centre), 0.0, bar.radius)
        return cls(bar.at, 0.5 * bar.length, bar.radius)


def enclosing(shape: Shape | Hull) -> Ball | Capsule:
    """A ball or capsule as it is; the capsule around a cylinder, on the same line, or around a box, along its longest side.

    Around a hull it is the capsule around the box that its points' principal axes give.
    """
    if isinstance(shape, Ball | Capsule):
        return shape
    if isinstance(shape, Hull):
        middle = shape.points.mean(axis=0)
        axes = np.linalg.svd(shape.points - middle)[2]
        axes[2] = np.cross(axes[0], axes[1])
        at = compose(axes.T, middle)
        inside, r = (shape.points - middle) @ axes.T, shape.radius
        lower, upper = inside.min(axis=0) - r, inside.max(axis=0) + r
        return enclosing(Box(tuple(lower.tolist()), tuple(upper.tolist()), at))
    if isinstance(shape, Cylinder):
        return Capsule(shape.radius, shape.length, shape.at)
    middle, sides = np.add(shape.lower, shape.upper) / 2, np.subtract(shape.upper, shape.lower)
    k = int(np.argmax(sides))
    half = np.where(np.arange(3) == k, sides / 2, 0.0)
    start, end = (shape.at[:3, :3] @ p + shape.at[:3, 3] for p in (middle - half, middle + half))
    return Capsule.between(start, end, float(np.hypot.reduce(np.delete(sides, k) / 2)))


@dataclass(frozen=True, eq=False, repr=False)
class Body(Value):
    """What a segment is made of: its mass [kg], where that mass is centred, and the room it takes, in its own frame."""

    mass: float = 0.0
    centre: Triple = (0.0, 0.0, 0.0)
    shapes: tuple[Shape, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", not_negative(self.mass, "a body's mass"))
        object.__setattr__(self, "centre", triple(self.centre, "a body's centre of mass"))
        object.__setattr__(self, "shapes", items(self.shapes, "a body's shapes", (Ball, Box, Cylinder, Capsule)))
