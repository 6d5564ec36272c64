"""New figures from old: every edit returns a new figure and leaves the old one as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import finite, flag, items, mapping, one_of, text
from supple.errors import BadValue, find, shown
from supple.figure.drives import Drive, Group, Pair
from supple.figure.effectors import Point
from supple.figure.joints import EULER_ORDERS, Joint, fixed, free as free_joint
from supple.geometry.placements import HERE, Floats, inverse, moved, placement
from supple.geometry.shapes import Ball, Capsule, Solid

if TYPE_CHECKING:
    from supple.figure.figure import Figure
    from supple.figure.marker_sets import MarkerSet


class Edits:
    """The edits of a `Figure`, which is the only class that has them (`self` is that figure)."""

    def renamed(self: Any, name: str) -> Figure:
        """The same figure under another name."""
        return replace(self, name=name)

    def with_limits(
        self: Any, limits: Mapping[str, Pair] | None = None, *, speed: Mapping[str, float] | None = None
    ) -> Figure:
        """Other ranges and greatest speeds for the named coordinates; inf takes a speed limit away.

        Names are as in `locked`; what means several coordinates takes one pair, or one speed, for each or for all.
        """
        ranges = self.by_coordinate({} if limits is None else limits, "limits", (2,))
        speeds = self.by_coordinate({} if speed is None else speed, "speeds")

        def change(item: Any) -> Any:
            if item.name in ranges:
                lower, upper = ranges[item.name]
                item = replace(item, limits=(lower, upper), rest=min(max(item.rest, lower), upper))
            return replace(item, speed=speeds[item.name]) if item.name in speeds else item

        return self._changed(change)

    def with_rest(self: Any, rest: Mapping[str, float] | ArrayLike) -> Figure:
        """Another rest posture, whole or for the named coordinates."""
        if not isinstance(rest, Mapping):
            rest = dict(zip(self.coordinates, finite(rest, (self.size,), "the rest posture").tolist(), strict=True))
        values = dict(rest)
        for name in values:
            find(self.coordinates, name, "coordinate", f"figure {self.name!r}")
        return self._changed(lambda item: replace(item, rest=values[item.name]) if item.name in values else item)

    def locked(self: Any, *names: str, q: ArrayLike | None = None) -> Figure:
        """The named coordinates frozen at their values in `q` (the rest posture by default); they leave q.

        A name is a coordinate, a joint or segment whose coordinates are meant together, or a pattern such as ``"*.flexion"``
        or ``"T[1-4]"`` for all names that match it. ``figure.chain(a, b)`` gives the names of a sub-chain.
        """
        posture = self.rest if q is None else finite(q, (self.size,), "the posture to lock at")
        values = dict(zip(self.coordinates, posture.tolist(), strict=True))
        frozen = {name for given in names for name in self.coordinates_of(given)}
        parts = [_locked(joint, frozen, values) for joint in self.joints.values()]
        kept = tuple(c for c in self.drivers if c.name not in frozen)
        bounds = []
        for bound in self.bounds:
            rest = tuple((name, c) for name, c in bound.coefficients if name not in frozen)
            used = sum(c * values[name] for name, c in bound.coefficients if name in frozen)
            if rest:
                bounds.append(replace(bound, coefficients=rest, upper=bound.upper - used))
        return replace(self, joints=parts, drivers=kept, bounds=tuple(bounds))

    def grouped(self: Any, *groups: Group) -> Figure:
        """The joints of each group driven by the group's few coordinates."""
        drives: dict[str, Drive] = {}
        for group in items(groups, "the groups", Group):
            for name in group.drives:
                find(self.coordinates, name, "coordinate", f"figure {self.name!r}, grouped by {group.name!r},")
            drives.update(group.drives)
        parts = [
            replace(j, drive=drives[j.name]) if j.name in drives and not j.is_fixed else j for j in self.joints.values()
        ]
        coordinates = (*self.drivers, *(c for group in groups for c in group.coordinates))
        bounds = (*self.bounds, *(b for group in groups for b in group.bounds))
        return replace(self, joints=parts, drivers=coordinates, bounds=bounds)

    def attached(self: Any, other: Figure | str, to: str | None, at: Any = HERE, prefix: str = "") -> Figure:
        """A tool frame (given by its name) or a whole other figure, fixed to the segment `to`, or with None to the world.

        The names of the other figure get `prefix`, so that two hands can be attached to two arms. Two figures that are
        attached to the world are one to every solver: they shake hands, or carry a box, by goals relative to each other.
        """
        if to is not None:
            self.check_segment(to)
        at = placement(at, f"what is attached to {to!r}")
        text(prefix, "the prefix of what is attached")
        if isinstance(other, str):
            return replace(self, joints=[*self.joints.values(), *fixed(prefix + other, to, at)])
        if not isinstance(other, type(self)):
            raise BadValue(f"what is attached to {to!r} is a Figure, or the name of a frame, not {shown(other)}")
        joined = other.prefixed(prefix) if prefix else other
        origin = None if to is not None or self.origin is None else self.origin.with_company(other.origin, at, prefix)
        roots = [replace(j, parent=to, at=at @ j.at) if j.parent is None else j for j in joined.joints.values()]
        both: Figure = replace(
            self,
            joints=[*self.joints.values(), *roots],
            drivers=(*self.drivers, *joined.drivers),
            bodies={**self.bodies, **joined.bodies},
            solids={**self.solids, **joined.solids},
            markers={**self.markers, **joined.markers},
            loops=(*self.loops, *joined.loops),
            bounds=(*self.bounds, *joined.bounds),
            remarks=(*self.remarks, *joined.remarks),
            uncovered=(*self.uncovered, *joined.uncovered),
            ignored=None if self.ignored is joined.ignored is None else (*_told(self), *_told(joined)),
        )
        return both if origin is None else both._with_origin(origin)

    def prefixed(self: Any, prefix: str) -> Figure:
        """The same figure with `prefix` before every name."""
        text(prefix, "the prefix of a figure")

        def called(name: str | None) -> str | None:
            return None if name is None else prefix + name

        def drive(d: Drive | None) -> Drive | None:
            return None if d is None else replace(d, terms=tuple((prefix + n, f) for n, f in d.terms))

        parts = [
            replace(j, name=prefix + j.name, parent=called(j.parent), segment=called(j.segment), drive=drive(j.drive))
            for j in self.joints.values()
        ]
        bounds = tuple(replace(b, coefficients=tuple((prefix + n, c) for n, c in b.coefficients)) for b in self.bounds)
        return replace(
            self,
            joints=parts,
            drivers=tuple(replace(c, name=prefix + c.name) for c in self.drivers),
            bodies={prefix + name: body for name, body in self.bodies.items()},
            solids={prefix + name: solids for name, solids in self.solids.items()},
            markers={prefix + name: Point(prefix + p.segment, p.offset) for name, p in self.markers.items()},
            loops=tuple(replace(p, name=prefix + p.name, a=prefix + p.a, b=prefix + p.b) for p in self.loops),
            bounds=bounds,
            uncovered=tuple(prefix + name for name in self.uncovered),
            ignored=None if self.ignored is None else tuple((prefix + a, prefix + b) for a, b in self.ignored),
        )

    def based_at(self: Any, at: Any = HERE, free: bool = False, order: str = "zyx") -> Figure:
        """The figure standing at another place in the world; with `free` it floats there on six new coordinates."""
        at = placement(at, "the base")
        one_of(order, EULER_ORDERS, "the order of a free base")
        if not flag(free, "free, whether the figure floats,"):
            parts = [replace(j, at=at @ j.at) if j.parent is None else j for j in self.joints.values()]
            return replace(self, joints=parts)._with_origin(self.origin and self.origin.standing(at))
        root = free_joint("root", None, order, at=at)
        parts = [replace(j, parent="root") if j.parent is None else j for j in self.joints.values()]
        origin = self.origin.standing(at, True) if self.origin is not None and order == "zyx" else None
        return replace(self, joints=[*root, *parts])._with_origin(origin)

    def rerooted(self: Any, segment: str) -> Figure:
        """The same mechanism held by `segment`, which takes the world's place; every coordinate keeps its meaning.

        A joint on the way is walked through backwards: ``(at · exp(q ξ))⁻¹ = exp(−q ξ) · at⁻¹``. What used to hang on the
        world becomes the segment "world".
        """
        path = [self.joint_of[key] for key in self.path_to_root(segment)]
        several = sum(joint.parent is None for joint in self.joints.values()) > 1
        parts: list[Joint] = [*fixed(segment)]
        called: dict[str | None, str] = {segment: segment}  # the keys that old parents have in the new figure
        for joint in path:
            if joint.parent is None and joint.is_fixed and not several:
                break  # the old root link needs no world behind it
            above = called[joint.key]
            if not joint.is_fixed:
                turn, back = (tuple(-x for x in axis) for axis in (joint.turn, joint.slide))
                parts.append(replace(joint, parent=above, at=HERE, turn=turn, slide=back, segment=None))
                above = parts[-1].key
            named = "world" if joint.parent is None else self.joint_of[joint.parent].segment
            parts.append(Joint(named or f"{joint.parent}'", above, inverse(joint.at), segment=named))
            called[joint.parent] = parts[-1].key
        walked = {joint.key for joint in path}
        others = [j for j in self.joints.values() if j.key not in walked]
        return replace(self, joints=[*parts, *(replace(j, parent=called.get(j.parent, j.parent)) for j in others)])

    def with_spheres(self: Any, spheres: Mapping[str, Sequence[Sequence[float]]]) -> Figure:
        """Balls ``(x, y, z, r)`` in the axes of the named segments, for what is to keep clear of things; see `with_solids`."""
        solids = {}
        for segment, several in mapping(spheres, "the spheres of a figure").items():
            rows = items(several, f"the spheres of {segment!r}")
            table = finite(rows, (len(rows), 4), f"the spheres of {segment!r}") if rows else np.empty((0, 4))
            solids[segment] = [Ball((x, y, z), r) for x, y, z, r in table.tolist()]
        return self.with_solids(solids)

    def with_capsules(
        self: Any, capsules: Mapping[str, Sequence[tuple[Sequence[float], Sequence[float], float]]]
    ) -> Figure:
        """Capsules ``(start, end, radius)`` in the axes of the named segments, as `with_spheres` takes balls."""
        solids = {}
        for segment, several in mapping(capsules, "the capsules of a figure").items():
            rows = items(several, f"the capsules of {segment!r}")
            if not all(isinstance(row, list | tuple) and len(row) == 3 for row in rows):
                raise BadValue(f"the capsules of {segment!r} are triples (start, end, radius), not {shown(several)}")
            solids[segment] = [Capsule.between(*row) for row in rows]
        return self.with_solids(solids)

    def with_solids(self: Any, solids: Mapping[str, Sequence[Solid]]) -> Figure:
        """What the named segments keep clear of things with, in place of their `bars` so far; none at all if it is empty.

        Looks and masses, which are in `bodies`, stay as they are. A segment that is named here is no longer `uncovered`.
        """
        own = mapping(solids, "the solids of a figure")
        return replace(self, solids={**self.solids, **own})._with_origin(self.origin)  # a scene file holds solids, too

    def with_markers(self: Any, markers: Mapping[str, Point | tuple[str, ArrayLike]]) -> Figure:
        """The named points that cameras see, as points or pairs (segment, offset), besides and in place of those so far."""
        given = mapping(markers, "the markers of a figure")
        points = {name: p if isinstance(p, Point) else _point(name, p) for name, p in given.items()}
        return replace(self, markers={**self.markers, **points})

    def with_marker_set(self: Any, markers: str | MarkerSet) -> Figure:
        """The markers of a usual set (see `marker_set`), such as "cmu41", on a person of the catalogue."""
        from supple.figure.marker_sets import MarkerSet, marker_set, placed_on

        chosen = markers if isinstance(markers, MarkerSet) else marker_set(markers)
        return self.with_markers(placed_on(self, chosen))

    def scaled(self: Any, factors: float | Mapping[str, float]) -> Figure:
        """Every length times a factor, or those of the named segments, each with what is welded to it; masses stay.

        A segment's lengths are where joints, markers, shapes and ends of loops lie in it. Slides stay in metres: their ranges
        scale. One factor for everything also scales where the figure stands in the world.
        """
        from supple.figure.scaling import scaled

        return scaled(self, factors)

    # ── helpers ──────────────────────────────────────────────────────────────────────────────────────────────────────
    def _changed(self: Any, change: Any) -> Figure:
        """Every joint that owns a coordinate, and every group coordinate, passed through `change`."""
        parts = [change(j) if j.drive is None and not j.is_fixed else j for j in self.joints.values()]
        return replace(self, joints=parts, drivers=tuple(change(c) for c in self.drivers))


def _told(figure: Any) -> tuple[tuple[str, str], ...]:
    """The pairs that a figure does not keep apart, as it would be told them."""
    return figure.ignored or tuple(pair for pairs in figure.left_out().values() for pair in pairs)


def _point(name: str, given: Any) -> Point:
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise BadValue(f"marker {name!r} is a Point or a pair (segment, offset), not {shown(given)}")
    return Point(*given)


def _locked(joint: Joint, frozen: set[str], values: Mapping[str, float]) -> Joint:
    """The joint with the frozen coordinates put in: fixed, or driven by what is left."""
    if joint.is_fixed:
        return joint
    if joint.drive is None:
        if joint.name not in frozen:
            return joint
        return _fixed_at(joint, values[joint.name])
    left = tuple(term for term in joint.drive.terms if term[0] not in frozen)
    offset = joint.drive.offset + sum(f(values[name]) for name, f in joint.drive.terms if name in frozen)
    if left:
        return replace(joint, drive=Drive(left, offset))
    return _fixed_at(joint, offset)


def _fixed_at(joint: Joint, value: float) -> Joint:
    at: Floats = joint.at @ moved(joint.turn, joint.slide, value)
    none = (0.0, 0.0, 0.0)
    return Joint(joint.name, joint.parent, at, none, none, segment=joint.segment)
