"""The kinds of joints, all of them made of one: a scalar coordinate that moves a child along one fixed twist.

A hinge, a slide and a screw are one `Joint`; a universal joint two, a ball three, a planar joint three, a free root six;
a fixed joint has no coordinate. The constructors below return tuples of joints, so a figure is written as one list::

    arm = Figure("arm", [
        *ball("shoulder", None, "zyx"),
        *hinge("elbow", "shoulder", X, at=(0, 0, -0.30), limits=(0, 2.5)),
        *fixed("hand", "elbow", at=(0, 0, -0.25)),
    ])

A joint's `parent` is the name of a segment (``None``: the world); the segment it moves bears the joint's name unless
`segment` says otherwise. Of a joint with several coordinates only the last one moves a segment with a name; the others
are called after their axis, ``shoulder.z`` and ``shoulder.y`` before ``shoulder.x``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import (
    check_fields,
    checked_limits,
    checked_speed,
    finite,
    instance,
    items,
    named,
    named_or_none,
    number,
    one_of,
)
from supple.basics.values import Value
from supple.errors import BadValue, shown
from supple.figure.drives import FREE, Drive, Pair
from supple.geometry.placements import HERE, Floats, Triple, X, Y, Z, here, placement, unit

NOT: Triple = (0.0, 0.0, 0.0)
AXES: dict[str, Triple] = {"x": X, "y": Y, "z": Z}
UNIVERSAL_ORDERS = ("xy", "xz", "yx", "yz", "zx", "zy")
EULER_ORDERS = ("xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz")


@dataclass(frozen=True, eq=False, repr=False)
class Joint(Value):
    """One coordinate q that turns its child by ``q·turn`` and slides it by ``q·slide``, both in the child's axes.

    The child's frame in its parent is ``at · exp(q · (turn, slide))``. With neither turn nor slide the joint is fixed
    and has no coordinate; with a `drive` its value follows other coordinates.
    """

    name: str
    parent: str | None  # the key of another joint, as a rule its segment; None: the world
    at: Floats = field(default_factory=here)  # child in parent at q = 0
    turn: Triple = NOT  # unit axis or 0                          [rad per unit q]
    slide: Triple = NOT  # along the same axis as turn, if both    [m per unit q]
    limits: Pair = FREE
    segment: str | None = None  # the segment it moves; None: only the next joint hangs on it
    rest: float = 0.0  # the coordinate's value in the rest posture
    speed: float = np.inf  # greatest |dq/dt|
    drive: Drive | None = None

    def __post_init__(self) -> None:
        what = f"joint {named(self.name, 'what a joint is called')!r}"
        check_fields(self, what, parent=named_or_none, segment=named_or_none, rest=number)
        turn, slide = finite(self.turn, (3,), f"the axis of {what}"), finite(self.slide, (3,), f"the slide of {what}")
        object.__setattr__(self, "limits", checked_limits(self.limits, what))
        object.__setattr__(self, "speed", checked_speed(self.speed, what))
        object.__setattr__(self, "at", placement(self.at, f"the placement of {what}"))
        if turn.any():
            turn = np.array(unit(turn, f"the axis of {what}"))
            if slide.any() and np.abs(np.cross(turn, slide)).max() > 1e-12 * max(1.0, np.abs(slide).max()):
                raise BadValue(f"{what} turns about {turn.tolist()} but slides along {slide.tolist()}: not one axis")
        object.__setattr__(self, "turn", tuple(turn.tolist()))
        object.__setattr__(self, "slide", tuple(slide.tolist()))
        if self.drive is not None:
            instance(self.drive, Drive, f"the drive of {what}")
        if self.drive is not None and self.is_fixed:
            raise BadValue(f"{what} is fixed and cannot be driven")

    @cached_property
    def is_fixed(self) -> bool:
        """Whether the joint has no motion at all."""
        return not any(self.turn) and not any(self.slide)

    @cached_property
    def key(self) -> str:
        """What the next joint names as its parent: the segment, or the joint's name with a prime if it has none."""
        return self.segment if self.segment is not None else f"{self.name}'"


def _called(name: Any) -> str:
    """A joint in a message."""
    return f"joint {shown(name)}"


def fixed(name: str, parent: str | None = None, at: Any = HERE) -> tuple[Joint]:
    """A segment `name` welded to `parent`: a tool, a marker frame, the root link of a robot."""
    return (Joint(name, parent, at, segment=name),)


def hinge(
    name: str,
    parent: str | None,
    axis: ArrayLike = Z,
    at: Any = HERE,
    limits: Pair = FREE,
    segment: str | None = None,
    **more: Any,
) -> tuple[Joint]:
    """Turns about `axis` (child's axes). `more`: `rest`, `speed`, `drive` of the joint."""
    turn = unit(axis, f"the axis of {_called(name)}")
    return (Joint(name, parent, at, turn, NOT, limits, name if segment is None else segment, **more),)


def slide(
    name: str,
    parent: str | None,
    axis: ArrayLike = Z,
    at: Any = HERE,
    limits: Pair = FREE,
    segment: str | None = None,
    **more: Any,
) -> tuple[Joint]:
    """Slides along `axis` (child's axes), q in metres."""
    along = unit(axis, f"the axis of {_called(name)}")
    return (Joint(name, parent, at, NOT, along, limits, name if segment is None else segment, **more),)


def screw(
    name: str,
    parent: str | None,
    axis: ArrayLike = Z,
    pitch: float = 0.0,
    at: Any = HERE,
    limits: Pair = FREE,
    segment: str | None = None,
    **more: Any,
) -> tuple[Joint]:
    """Turns about `axis` and advances `pitch` metres along it for every radian."""
    turn = np.array(unit(axis, f"the axis of {_called(name)}"))
    along = tuple((number(pitch, f"the pitch of {_called(name)}") * turn).tolist())
    return (Joint(name, parent, at, tuple(turn.tolist()), along, limits, name if segment is None else segment, **more),)


def _in_sequence(
    name: str,
    parent: str | None,
    at: Any,
    steps: Sequence[tuple[str, Triple, Triple]],
    limits: Sequence[Pair] | None,
    segment: str | None,
    rest: Sequence[float] | None,
) -> tuple[Joint, ...]:
    """Joints one after the other through the same place; only the last moves a named segment."""
    count = len(steps)
    named(name, "what a joint is called")
    what = _called(name)
    bounds = (FREE,) * count if limits is None else items(limits, f"the limits of {what}")
    values = (0.0,) * count if rest is None else items(rest, f"the rest values of {what}")
    for given, several in ((bounds, "limits"), (values, "rest values")):
        if len(given) != count:
            raise BadValue(f"{what} has {count} coordinates but {len(given)} {several}")
    joints: list[Joint] = []
    for k, (suffix, turn, along) in enumerate(steps):
        hangs_on = parent if k == 0 else joints[-1].key
        target = (name if segment is None else segment) if k == count - 1 else None
        where = at if k == 0 else HERE
        joints.append(Joint(f"{name}.{suffix}", hangs_on, where, turn, along, bounds[k], target, values[k]))
    return tuple(joints)


def _turns(order: str) -> list[tuple[str, Triple, Triple]]:
    return [(axis + ("2" if axis in order[:k] else ""), AXES[axis], NOT) for k, axis in enumerate(order)]


def universal(
    name: str,
    parent: str | None,
    order: str = "xy",
    at: Any = HERE,
    limits: Sequence[Pair] | None = None,
    segment: str | None = None,
    rest: Sequence[float] | None = None,
) -> tuple[Joint, ...]:
    """Two hinges through one centre, about two different coordinate axes in the given order."""
    if not isinstance(order, str) or order not in UNIVERSAL_ORDERS:
        raise BadValue(f"a universal joint's order is two different axes such as 'xy', not {shown(order)}")
    return _in_sequence(name, parent, at, _turns(order), limits, segment, rest)


def ball(
    name: str,
    parent: str | None,
    order: str = "zyx",
    at: Any = HERE,
    limits: Sequence[Pair] | None = None,
    segment: str | None = None,
    rest: Sequence[float] | None = None,
) -> tuple[Joint, ...]:
    """Three hinges through one centre: ``R = R_first · R_second · R_third``, any of the 12 Euler orders."""
    one_of(order, EULER_ORDERS, "a ball's order")
    return _in_sequence(name, parent, at, _turns(order), limits, segment, rest)


def planar(
    name: str,
    parent: str | None,
    at: Any = HERE,
    limits: Sequence[Pair] | None = None,
    segment: str | None = None,
    rest: Sequence[float] | None = None,
) -> tuple[Joint, ...]:
    """Slides along x and y of the frame `at`, then turns about z."""
    steps = [("tx", NOT, X), ("ty", NOT, Y), ("z", Z, NOT)]
    return _in_sequence(name, parent, at, steps, limits, segment, rest)


def free(
    name: str,
    parent: str | None = None,
    order: str = "zyx",
    at: Any = HERE,
    limits: Sequence[Pair] | None = None,
    segment: str | None = None,
    rest: Sequence[float] | None = None,
) -> tuple[Joint, ...]:
    """Slides along x, y and z, then turns as a ball in the given Euler order: a root that floats."""
    one_of(order, EULER_ORDERS, "a free joint's order")
    steps = [("tx", NOT, X), ("ty", NOT, Y), ("tz", NOT, Z), *_turns(order)]
    return _in_sequence(name, parent, at, steps, limits, segment, rest)


def angular(joints: Collection[Joint]) -> dict[str, bool]:
    """Whether each coordinate is an angle; the coordinate of a group is what the joints are that it drives."""
    out = {joint.name: any(joint.turn) for joint in joints if joint.drive is None}
    for joint in joints:
        for name, _ in joint.drive.terms if joint.drive is not None else ():
            out.setdefault(name, any(joint.turn))
    return out
