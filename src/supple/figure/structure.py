"""The structure of a figure: joints in order, what hangs on what, what a name means; and what the figure was loaded from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.basics.checks import items, mapping, numbers
from supple.basics.values import FrozenDict, Value
from supple.errors import BadValue, UnknownName, find, shown
from supple.figure.drives import Drive, Linear
from supple.figure.joints import Joint
from supple.geometry.placements import HERE, Floats, finite

if TYPE_CHECKING:
    from supple.geometry.shapes import Body, Solid


class Structure:
    """What a `Figure`, which is the only class that has this, knows of its tree and its names (`self` is that figure)."""

    @cached_property
    def joint_of(self: Any) -> Mapping[str, Joint]:
        """The joint that moves each segment (or that has no segment), by that name."""
        return FrozenDict({joint.key: joint for joint in self.joints.values()})

    def parent_of(self: Any, segment: str) -> str | None:
        """The nearest named segment above; None for one that hangs on the world."""
        self.check_segment(segment)
        above = self.joint_of[segment].parent
        while above is not None and self.joint_of[above].segment is None:
            above = self.joint_of[above].parent
        return above

    def joints_of(self: Any, segment: str) -> tuple[str, ...]:
        """The joints that move `segment` in its parent, outermost first; fixed ones left out."""
        self.check_segment(segment)
        names: list[str] = []
        joint: Joint | None = self.joint_of[segment]
        while joint is not None:
            if not joint.is_fixed:
                names.append(joint.name)
            above = None if joint.parent is None else self.joint_of[joint.parent]
            joint = above if above is not None and above.segment is None else None
        return tuple(names[::-1])

    def chain(self: Any, start: str | None, end: str) -> tuple[str, ...]:
        """The coordinates that move `end` as seen from `start` (None: from the world)."""
        ends: list[str] = [end] if start is None else [start, end]
        keys = [self.path_to_root(segment) for segment in ends]
        shared = set(keys[0]) & set(keys[-1]) if len(keys) == 2 else set()
        names: dict[str, None] = {}
        for key in [k for path in keys for k in path if k not in shared]:
            joint = self.joint_of[key]
            if joint.drive is not None:
                names.update((name, None) for name, _ in joint.drive.terms)
            elif not joint.is_fixed:
                names[joint.name] = None
        return tuple(name for name in self.coordinates if name in names)

    def path_to_root(self: Any, segment: str) -> tuple[str, ...]:
        """The segment and all that carry it, up to the root; between the joints of a ball they have the joints' names."""
        self.check_segment(segment)
        keys, at = [], segment
        while at is not None:
            keys.append(at)
            at = self.joint_of[at].parent
        return tuple(keys)

    def check_segment(self: Any, segment: Any, owner: str = "") -> None:
        """Refuse a segment that the figure does not have; `owner` is who names it."""
        if not (isinstance(segment, str) and segment in self._is_segment):
            find(self.segments, segment, "segment", owner or f"figure {self.name!r}")

    @cached_property
    def _is_segment(self: Any) -> frozenset[str]:
        return frozenset(self.segments)

    def coordinates_of(self: Any, name: str) -> tuple[str, ...]:
        """The coordinates that a name means: one of its own, all those of a joint or segment, or of all that match it."""
        if not isinstance(name, str) or not name:
            find(self.coordinates, name, "coordinate", f"figure {self.name!r}")
        if name in self._spans:
            return (name,)
        several = tuple(n for n in self.coordinates if n.rpartition(".")[0] == name)
        if not several and name in self.segments:
            several = tuple(n for n in self.joints_of(name) if n in self.coordinates)
        if not several and any(sign in name for sign in "*?["):
            carried = {n for s in self.segments if fnmatchcase(s, name) for n in self.joints_of(s)}
            stems = ((n, n.rpartition(".")[0]) for n in self.coordinates)
            several = tuple(n for n, stem in stems if n in carried or fnmatchcase(n, name) or fnmatchcase(stem, name))
        if not several:
            find(self.coordinates, name, "coordinate", f"figure {self.name!r}")
        return several

    def by_coordinate(
        self: Any, values: Mapping[str, Any], what: str = "values", shape: tuple[int, ...] = ()
    ) -> dict[str, Any]:
        """Numbers by coordinate, or pairs if `shape` is (2,), from those by whatever `coordinates_of` takes.

        A joint or segment gets one for all of its coordinates or one for each; the last of several counts.
        """
        one, many = ("a pair", "pairs") if shape else ("a number", "numbers")
        out: dict[str, Any] = {}
        for name, given in mapping(values, f"the {what} of figure {self.name!r}").items():
            names = self.coordinates_of(name)
            array = numbers(given, f"the {what} of {name!r}, {one}, or {len(names)} {many},")
            if array.shape not in (shape, (len(names), *shape)):
                raise BadValue(f"the {what} of {name!r} are {one}, or {len(names)} {many}, not {shown(given)}")
            out.update(zip(names, np.broadcast_to(array, (len(names), *shape)).tolist(), strict=True))
        return out


def pairs_in(figure: Any, given: Any) -> tuple[tuple[str, str], ...]:
    """Pairs of two different segments of a figure, each once."""
    what, out = f"the ignored pairs of figure {figure.name!r}", {}
    for pair in items(given, what):
        two = items(pair, f"each of {what}")
        for segment in two:
            figure.check_segment(segment, f"{what}: one")
        if len(set(two)) != 2 or len(two) != 2:
            raise BadValue(f"{what} are pairs of two segments, not {shown(pair)}")
        out.setdefault(frozenset(two), (two[0], two[1]))
    return tuple(out.values())


def hung_on(
    bodies: Mapping[str, Body], solids: Mapping[str, Sequence[Solid]], what: str
) -> tuple[Mapping[str, Body], dict[str, tuple[Solid, ...]]]:
    """Bodies, and solids as tuples, by segment; solids are balls, capsules, cylinders, boxes and hulls."""
    masses, given = mapping(bodies, f"the bodies of {what}"), mapping(solids, "the solids of a figure")
    if not (masses or given):
        return masses, {}
    from supple.geometry.shapes import Ball, Body, Box, Capsule, Cylinder, Hull

    return mapping(masses, f"the bodies of {what}", Body), {
        segment: items(several, f"the solids of {segment!r}", (Ball, Capsule, Cylinder, Box, Hull))
        for segment, several in given.items()
    }


# ── putting joints together ──────────────────────────────────────────────────────────────────────────────────────────
def in_order(parts: Sequence[Joint], figure: str) -> tuple[Joint, ...]:
    """The joints depth-first, parents before children; doubles, strangers and cycles are refused by name."""
    children: dict[str | None, list[Joint]] = {}
    names: set[str] = set()
    keys: set[str] = set()
    for joint in parts:
        if not isinstance(joint, Joint):
            raise BadValue(
                f"figure {figure!r} is built from joints, not {shown(joint)} (did a constructor miss its *?)"
            )
        moving = {joint.name} if not joint.is_fixed else set()
        if moving & names or joint.key in keys or joint.key == "":
            raise BadValue(f"figure {figure!r} has two joints or segments called {joint.name!r}")
        names |= moving
        keys.add(joint.key)
        children.setdefault(joint.parent, []).append(joint)
    for parent in children:
        if parent is not None and parent not in keys:
            culprit = children[parent][0].name
            raise UnknownName(f"joint {culprit!r} hangs on {parent!r}, which figure {figure!r} does not have")
    order: list[Joint] = []
    stack = children.get(None, [])[::-1]
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack.extend(children.get(joint.key, [])[::-1])
    if len(order) != len(parts):
        lost = sorted(set(keys) - {joint.key for joint in order})
        raise BadValue(f"figure {figure!r} has a cycle among {', '.join(lost[:6])}; close loops with Loop instead")
    return tuple(order)


def resolved(parts: Sequence[Joint], own: set[str], figure: str) -> tuple[Joint, ...]:
    """Drives rewritten so that they name coordinates only: a joint that follows a follower follows its leader."""
    by_name = {joint.name: joint for joint in parts if not joint.is_fixed}

    def terms(drive: Drive, scale: float, seen: tuple[str, ...]) -> tuple[list[tuple[str, Any]], float]:
        out: list[tuple[str, Any]] = []
        offset = scale * drive.offset
        for name, curve in drive.terms:
            leader = by_name.get(name)
            if name in own or (leader is not None and leader.drive is None and not leader.is_fixed):
                line = isinstance(curve, Linear)
                if not line and scale != 1.0:
                    raise BadValue(f"joint {seen[-1]!r} follows {name!r} through a spline of a spline: name its leader")
                out.append((name, Linear(scale * curve.slope) if line else curve))
            elif leader is None or leader.is_fixed or leader.drive is None:
                raise UnknownName(f"joint {seen[0]!r} follows {name!r}, which is no coordinate of figure {figure!r}")
            elif name in seen or not isinstance(curve, Linear):
                raise BadValue(f"joint {seen[0]!r} follows {name!r}, which is driven itself: name its leader")
            else:
                more, constant = terms(leader.drive, scale * curve.slope, (*seen, name))
                out += more
                offset += constant
        return out, offset

    done = []
    for joint in parts:
        if joint.drive is not None:
            rows, offset = terms(joint.drive, 1.0, (joint.name,))
            joint = replace(joint, drive=Drive(tuple(rows), offset))
        done.append(joint)
    return tuple(done)


def by_name(joints: Sequence[Joint]) -> dict[str, Joint]:
    """Joints by name, in order; a fixed one whose name another joint has gets an apostrophe."""
    moving = {joint.name for joint in joints if not joint.is_fixed}
    out: dict[str, Joint] = {}
    for joint in joints:
        name = joint.name
        while name in out or (joint.is_fixed and name in moving):
            name += "'"
        out[name] = joint
    return out


def driven_rows(joint: Joint, box: dict[str, list[float]]) -> list[tuple[tuple[tuple[str, float], ...], float]]:
    """What a driven joint's own limits mean for its coordinates: narrower ranges (in `box`), or rows of inequalities."""
    assert joint.drive is not None
    lower, upper = (side - joint.drive.offset for side in joint.limits)
    curves = joint.drive.terms
    if all(isinstance(curve, Linear) for _, curve in curves):
        slopes = tuple((name, curve.slope) for name, curve in curves if isinstance(curve, Linear) and curve.slope)
        if len(slopes) == 1:
            name, slope = slopes[0]
            a, b = sorted((lower / slope, upper / slope))
            box[name] = [max(box[name][0], a), min(box[name][1], b)]
            return []
        up = [(slopes, upper)] if np.isfinite(upper) else []
        down = [(tuple((name, -s) for name, s in slopes), -lower)] if np.isfinite(lower) else []
        return (up + down) if slopes else []
    low = high = 0.0
    for name, curve in curves:
        ends = finite(box[name], (2,), f"the limits of {name!r}, which drives {joint.name!r} through a spline")
        least, most = curve.span(*ends.tolist())
        low, high = low + least, high + most
    if low < lower - 1e-9 or high > upper + 1e-9:
        reach = (low + joint.drive.offset, high + joint.drive.offset)
        raise BadValue(f"driven joint {joint.name!r} would reach {reach}, beyond its limits {joint.limits}")
    return []


# ── what it was loaded from ──────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False, repr=False)
class Origin(Value):
    """What a figure was loaded from: a name of the catalogue or a file, and the options that were given.

    Besides: the four rows of the placement at which it `stands` in the world (`based_at`), whether it floats there, and, of
    several figures in one world (`attached`), those `beside` it, each with the `prefix` of its names.
    """

    what: str
    is_file: bool
    options: Mapping[str, Any] = field(default_factory=dict)
    stands: tuple[tuple[float, ...], ...] | None = None
    floats: bool = False
    prefix: str = ""
    beside: tuple[Origin, ...] = ()

    def standing(self, at: Floats, floats: bool = False) -> Origin | None:
        """What is left of it when the figure is based elsewhere; nothing where that would be hard to tell."""
        if self.stands is not None or self.floats or self.beside:
            return self if not floats and np.array_equal(at, HERE) else None
        return replace(self, stands=_rows(at), floats=floats)

    def with_company(self, other: Origin | None, at: Floats, prefix: str) -> Origin | None:
        """What is told of it and another figure that was put beside it."""
        placed = None if other is None or other.beside or other.prefix else other
        if placed is not None and not np.array_equal(at, HERE):
            placed = placed.standing(at)
        if placed is None:
            return None
        return replace(self, beside=(*self.beside, replace(placed, prefix=prefix)))


def _rows(T: Floats) -> tuple[tuple[float, ...], ...] | None:
    return None if np.array_equal(T, HERE) else tuple(tuple(row) for row in np.asarray(T, dtype=float).tolist())
