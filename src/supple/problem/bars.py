"""What keeps clear and what it keeps clear of, as packs need them: bars of segments, obstacles in the world, pairs of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from supple.errors import BadValue
from supple.geometry.placements import HERE, Floats, compose
from supple.geometry.polyhedra import bounded, corners_of, polyhedron_of
from supple.geometry.shapes import Ball, Box, Capsule, Core, Cylinder, Hull, Polytope, Solid
from supple.kernels.solids import solid_of

Obstacle: TypeAlias = Ball | Box | Capsule | Polytope | Hull
Obstacles: TypeAlias = Sequence[Obstacle] | Mapping[str, Obstacle]


class Bar(NamedTuple):
    """What a segment keeps clear with, or something round that stands in the world."""

    segment: str | None
    shape: Solid
    at: Floats  # the frame of the core, or of the numbers, in the segment
    core: Core | None  # of a ball or capsule
    numbers: Floats  # of anything else, as kernels read them
    reach: float  # from the frame's origin to its farthest point
    world: Floats = HERE  # without a segment: where the frame is in which it is written
    moves: str | None = None  # the name of the obstacle, if it is one that moves

    is_bar = True

    @classmethod
    def of(cls, segment: str | None, shape: Solid) -> Bar:
        """A shape on a segment."""
        centre, reach = bounding_ball(shape)
        if isinstance(shape, Ball | Capsule):
            core = Core.of(shape)
            return cls(segment, shape, core.at, core, np.empty(0), reach)
        return cls(segment, shape, compose(np.eye(3), centre), None, solid_of(_about(shape, centre), True), reach)

    @property
    def centre(self) -> Floats:
        """The middle of it, in the segment."""
        return self.at[:3, 3]

    @property
    def radius(self) -> float:
        """What the core's distance has to be more than the body's."""
        return 0.0 if self.core is None else self.core.radius


class Other(NamedTuple):
    """What a bar must not touch."""

    name: str
    segment: str | None  # None: it stands in the world
    shape: Obstacle | Solid  # in the segment's frame, or in the world
    at: Floats  # the frame, in the segment, in which `numbers` are written
    numbers: Floats  # as kernels read them
    centre: Floats  # in the segment's frame
    reach: float  # from the centre to its farthest point
    core: Core | None = None  # in the segment's frame, or in the world, of a ball or capsule
    world: Floats = HERE
    moves: str | None = None

    is_bar = False


class Pair(NamedTuple):
    """A bar, what it must not touch, and how near its core may come."""

    bar: Bar
    other: Other
    keep: float


class Standing:
    """An obstacle in the world, as each kind of bar needs it."""

    def __init__(self, name: str, shape: Obstacle) -> None:
        self.name, self.shape = name, shape

    @cached_property
    def plain(self) -> Other:
        """For bars that are round."""
        return self._other(self.shape, False)

    @cached_property
    def cornered(self) -> Other:
        """For bars with corners, if it has corners too."""
        shape = bounded(self.shape) if isinstance(self.shape, Polytope) else self.shape
        return self._other(shape, True)

    @cached_property
    def round(self) -> Bar:
        """For bars with corners, if it is round: then it is the bar."""
        assert isinstance(self.shape, Ball | Capsule)
        return Bar.of(None, self.shape)

    def _other(self, shape: Obstacle, corners: bool) -> Other:
        centre, reach = bounding_ball(shape)
        core = Core.of(shape) if isinstance(shape, Ball | Capsule) else None
        return Other(self.name, None, shape, HERE, solid_of(shape, corners), centre, reach, core)

    def pair(self, bar: Bar, margin: float) -> Pair:
        """A bar and this obstacle."""
        if bar.core is not None:
            return Pair(bar, self.plain, bar.core.radius + margin)
        if isinstance(self.shape, Ball | Capsule):
            return Pair(self.round, carried(bar), self.round.radius + margin)
        return Pair(bar, self.cornered, margin)


class Wandering:
    """An obstacle that moves, as each kind of bar needs it: like what a segment carries, in a frame that is written anew."""

    def __init__(self, name: str, shape: Obstacle | Solid, at: Floats) -> None:
        if isinstance(shape, Polytope):
            if not np.isfinite(bounding_ball(shape)[1]):
                raise BadValue(
                    f"{name!r} has no end, and what moves must have one: let it stand, or give it more sides"
                )
            shape = Hull(corners_of(shape))
        self.bar = Bar.of(None, shape)._replace(world=at, moves=name)
        self.other = carried(self.bar)

    def pair(self, bar: Bar, margin: float) -> Pair:
        """A bar and this obstacle."""
        ((one, other),) = in_order([bar], [self.bar], [carried(bar)], [self.other])
        return Pair(one, other, one.radius + margin)


def in_order(
    ours: list[Bar], theirs: list[Bar], as_ours: list[Other], as_theirs: list[Other]
) -> list[tuple[Bar, Other]]:
    """All bars of one segment with those of another: first a bar that is round, if one of the two is."""
    return [
        (b, as_ours[i]) if a.core is None and b.core is not None else (a, as_theirs[j])
        for i, a in enumerate(ours)
        for j, b in enumerate(theirs)
    ]


def _about(shape: Box | Cylinder | Hull, centre: Floats) -> Box | Cylinder | Hull:
    """The same shape, as it is seen from another origin."""
    if isinstance(shape, Hull):
        return Hull(shape.points - centre, shape.radius)
    return replace(shape, at=compose(shape.at[:3, :3], shape.at[:3, 3] - centre))


def carried(bar: Bar) -> Other:
    """The bar of another segment, written in the frame of its own core."""
    core = bar.core
    name, where = bar.segment or bar.moves, (bar.world, bar.moves)
    assert name is not None
    if core is None:
        return Other(name, bar.segment, bar.shape, bar.at, bar.numbers, bar.centre, bar.reach, None, *where)
    own = Ball((0.0, 0.0, 0.0), core.radius) if core.half == 0.0 else Capsule(core.radius, 2.0 * core.half)
    reach = core.half + core.radius
    return Other(name, bar.segment, bar.shape, core.at, solid_of(own), core.at[:3, 3], reach, core, *where)


def bounding_ball(shape: Obstacle | Solid) -> tuple[Floats, float]:
    """Centre and radius of a ball around a shape; infinite if the shape is."""
    if isinstance(shape, Ball | Capsule):
        core = Core.of(shape)
        return core.at[:3, 3], core.half + core.radius
    body = polyhedron_of(shape)
    if len(body.points) == 0 or not np.isfinite(body.spans).all():
        return np.zeros(3), np.inf
    corners = np.vstack([body.points + body.spans[:, side, None] * body.directions for side in (0, 1)])
    centre, radius = corners.mean(axis=0), shape.radius if isinstance(shape, Hull) else 0.0
    return centre, float(np.linalg.norm(corners - centre, axis=1).max()) + radius


def carried_along(at: Floats, frames: Floats) -> Floats:
    """Frames (k, 4, 4) in a frame, as the world sees them: the same numbers for one as for many."""
    return np.einsum("ij,kjl->kil", at, frames)
