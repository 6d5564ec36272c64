"""What is to be placed: points, directions and frames fixed to segments, the centre of mass, and gaps that must close.

Every effector but `MassCentre` is a frame carried by one segment and seen from the world or from another segment; a goal
looks at the parts of that frame it needs: the position, one axis, or all of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from supple.basics.checks import check_fields, named, triple
from supple.basics.values import Value
from supple.errors import BadValue, shown
from supple.geometry.placements import Floats, Triple, X, compose, frozen, here, placement, unit


def along_x(axis: Triple) -> Floats:
    """A rotation whose x axis is the unit vector `axis`; the other two axes are arbitrary."""
    x = np.array(axis)
    helper = np.eye(3)[int(np.argmin(np.abs(x)))]
    y = np.cross(x, helper)
    y /= np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


@dataclass(frozen=True, eq=False, repr=False)
class Point(Value):
    """A point fixed in a segment, `offset` from its origin in the segment's own axes [m]."""

    segment: str
    offset: Triple = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        check_fields(self, "a point", segment=named)
        object.__setattr__(self, "offset", triple(self.offset, f"the offset of the point on {self.segment!r}"))

    @property
    def frame(self) -> Floats:
        """The carried frame in the segment; only its origin means anything."""
        return compose(np.eye(3), self.offset)


@dataclass(frozen=True, eq=False, repr=False)
class Direction(Value):
    """A unit vector fixed in a segment, starting at `offset`: a pointing finger, a line of sight."""

    segment: str
    axis: Triple = X
    offset: Triple = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        check_fields(self, "a direction", segment=named)
        object.__setattr__(self, "axis", unit(self.axis, f"the direction on {self.segment!r}"))
        object.__setattr__(self, "offset", triple(self.offset, f"the origin of the direction on {self.segment!r}"))

    @cached_property
    def frame(self) -> Floats:
        """A frame at the direction's origin whose x axis is the direction."""
        return frozen(compose(along_x(self.axis), self.offset))


@dataclass(frozen=True, eq=False, repr=False)
class Frame(Value):
    """A frame fixed in a segment: its position and all of its axes. Two of them say everything: x and y."""

    segment: str
    at: Floats = field(default_factory=here)

    def __post_init__(self) -> None:
        check_fields(self, "a frame", segment=named)
        object.__setattr__(self, "at", placement(self.at, f"the frame on {self.segment!r}"))

    @property
    def frame(self) -> Floats:
        """The frame in the segment."""
        return self.at


@dataclass(frozen=True, eq=False, repr=False)
class MassCentre(Value):
    """The centre of mass of the whole figure."""


@dataclass(frozen=True, eq=False, repr=False)
class Gap(Value):
    """The frame or point `b` seen from the frame or point `a` of the same figure; zero when the loop is closed."""

    a: Point | Direction | Frame
    b: Point | Direction | Frame

    def __post_init__(self) -> None:
        for end in (self.a, self.b):
            if not isinstance(end, Point | Direction | Frame):
                raise BadValue(f"the ends of a gap are points, directions or frames, not {shown(end)}")


Carried: TypeAlias = Point | Direction | Frame
Effector: TypeAlias = Point | Direction | Frame | MassCentre | Gap


def as_effector(value: Any) -> Effector:
    """An effector as it is; a bare name is the frame of that segment."""
    if isinstance(value, str):
        return Frame(value)
    if isinstance(value, Point | Direction | Frame | MassCentre | Gap):
        return value
    raise BadValue(f"an effector is a Point, Direction, Frame, MassCentre, Gap or a segment's name, not {shown(value)}")
