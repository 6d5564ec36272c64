"""Figures: unchanging trees of joints with names, packed once into the arrays that kernels read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple import members_of
from supple.basics.checks import (
    check_fields,
    flag,
    instance,
    items,
    mapping,
    named,
    names_in,
    numbers,
    one_of,
    positive,
)
from supple.basics.values import FrozenDict, Value, read_only
from supple.errors import BadValue, find
from supple.figure.drives import Coordinate, LinearLimit
from supple.figure.effectors import Point
from supple.figure.joints import Joint
from supple.figure.limits import Limits
from supple.figure.packing import Packed, pack_tree
from supple.figure.structure import Origin, Structure, by_name, driven_rows, hung_on, in_order, pairs_in, resolved
from supple.geometry.placements import Floats, frozen, here, placement

if TYPE_CHECKING:
    from supple.figure.contacts import Contacts
    from supple.figure.edits import Edits
    from supple.figure.kinematics import Kinematics
    from supple.geometry.shapes import Body, Solid
else:  # they are imported when one of their members is asked for
    Kinematics = members_of(
        "supple.figure.kinematics.Kinematics",
        "placement placements marker_places mass_centre seen jacobian curvature _world _frames _rows _drivers "
        "to_pinocchio from_pinocchio to_mujoco from_mujoco",
    )
    Edits = members_of(
        "supple.figure.edits.Edits",
        "renamed with_limits with_rest locked grouped attached prefixed based_at rerooted with_spheres with_capsules "
        "with_solids with_markers with_marker_set scaled _changed",
    )
    Contacts = members_of(
        "supple.figure.contacts.Contacts",
        "bars round_bars joined_pairs touching left_out never_touching colliding_pairs with_pairs _hung_on _apart_at_rest "
        "_rest_was_chosen _packed_bars _distances _sampled _apart",
    )


@dataclass(frozen=True, eq=False, repr=False)
class Source(Value):
    """Where a figure or motion came from: the file's format, its unit [m] and its up axis, restored when written back."""

    format: str
    unit: float = 1.0
    up: str = "z"

    def __post_init__(self) -> None:
        check_fields(self, "a source", format=named, unit=positive)
        one_of(self.up, ("x", "y", "z", "-x", "-y", "-z"), "the up axis of a source")


@dataclass(frozen=True, eq=False, repr=False)
class Loop(Value):
    """A closed loop: frame `at_a` of segment `a` and frame `at_b` of segment `b` coincide, or only their origins."""

    name: str
    a: str
    b: str
    at_a: Floats = field(default_factory=here)
    at_b: Floats = field(default_factory=here)
    point: bool = False

    def __post_init__(self) -> None:
        check_fields(self, "a loop", name=named, a=named, b=named, point=flag)
        object.__setattr__(self, "at_a", placement(self.at_a, f"end a of loop {self.name!r}"))
        object.__setattr__(self, "at_b", placement(self.at_b, f"end b of loop {self.name!r}"))


@dataclass(frozen=True, eq=False, repr=False)
class Figure(Value, Structure, Kinematics, Edits, Contacts):
    """A tree of joints over named segments, with bodies, limits and closed loops. It never changes.

    `joints` are all of them, fixed and driven ones included, given in any order or by name, and kept by name, depth-first.
    ``q[i]`` is the coordinate called ``coordinates[i]``; `drivers` are coordinates that belong to no single joint. `solids`
    are what segments keep clear of things with; a segment without an entry keeps clear with the shapes of its body (see
    `bars`). `markers` are points that cameras see, by name. `remarks` are what a reader assumed, converted or left out, and
    `uncovered` the segments whose shapes it could not read; one that is given `solids` is covered. `ignored` are the pairs of
    segments that need not be kept apart, where they were told (`with_pairs`). `origin` is what it was
    loaded from: edits but `with_solids` forget it, and figures that differ in nothing else are equal.
    """

    name: str
    joints: Mapping[str, Joint]
    drivers: Sequence[Coordinate] = ()
    bodies: Mapping[str, Body] = field(default_factory=dict)
    loops: Sequence[Loop] = ()
    bounds: Sequence[LinearLimit] = ()
    source: Source | None = None
    solids: Mapping[str, Sequence[Solid]] = field(default_factory=dict)
    markers: Mapping[str, Point] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    uncovered: Sequence[str] = ()
    ignored: Sequence[tuple[str, str]] | None = None
    origin: Origin | None = field(init=False, repr=False, compare=False)

    if TYPE_CHECKING:

        def __init__(
            self, name: str, joints: Iterable[Joint] | Mapping[str, Joint], drivers: Sequence[Coordinate] = (),
            bodies: Mapping[str, Body] = ..., loops: Sequence[Loop] = (), bounds: Sequence[LinearLimit] = (),
            source: Source | None = None, solids: Mapping[str, Sequence[Solid]] = ...,
            markers: Mapping[str, Point] = ..., remarks: Sequence[str] = (), uncovered: Sequence[str] = (),
            ignored: Sequence[tuple[str, str]] | None = None,
        ) -> None: ...  # fmt: skip

    def __post_init__(self) -> None:
        object.__setattr__(self, "origin", None)
        what = f"figure {named(self.name, 'what a figure is called')!r}"
        for name, kind in (("drivers", Coordinate), ("loops", Loop), ("bounds", LinearLimit)):
            object.__setattr__(self, name, items(getattr(self, name), f"the {name} of {what}", kind))
        if self.source is not None:
            instance(self.source, Source, f"the source of {what}")
        own = {c.name for c in self.drivers}
        given = self.joints.values() if isinstance(self.joints, Mapping) else self.joints
        joints = resolved(in_order(items(given, f"the joints of {what}"), self.name), own, self.name)
        object.__setattr__(self, "joints", FrozenDict(by_name(joints)))
        bodies, solids = hung_on(self.bodies, self.solids, what)
        object.__setattr__(self, "bodies", bodies)
        object.__setattr__(self, "solids", FrozenDict(solids))
        object.__setattr__(self, "markers", mapping(self.markers, f"the markers of {what}", Point))
        for segment in sorted((self.bodies.keys() | self.solids.keys()) - set(self.segments)):
            self.check_segment(segment)
        for name, point in self.markers.items():
            self.check_segment(point.segment, f"marker {name!r} of figure {self.name!r}: it")
        unread = names_in(self.uncovered, f"the uncovered segments of {what}")
        for segment in unread:
            self.check_segment(segment, f"what is uncovered of figure {self.name!r}: it")
        bare = tuple(s for s in self.segments if s in unread and s not in self.solids)
        object.__setattr__(self, "uncovered", bare)
        object.__setattr__(self, "remarks", tuple(dict.fromkeys(names_in(self.remarks, f"the remarks of {what}"))))
        if self.ignored is not None:
            object.__setattr__(self, "ignored", pairs_in(self, self.ignored))
        for loop in self.loops:
            for segment in (loop.a, loop.b):
                self.check_segment(segment, f"loop {loop.name!r} of figure {self.name!r}: it")
        clash = own & {joint.name for joint in joints if not joint.is_fixed}
        if clash or len(own) != len(self.drivers):
            raise BadValue(f"figure {self.name!r} has two coordinates called {min(clash or own)!r}")
        idle = own - set(self.coordinates)
        if idle:
            raise BadValue(f"coordinate {min(idle)!r} of figure {self.name!r} drives no joint")
        if not self.limits.contains(self.rest):
            raise BadValue(f"the rest posture of figure {self.name!r} is outside its limits")

    def __repr__(self) -> str:
        return f"Figure({self.name!r}, {self.size} coordinates, {len(self.segments)} segments)"

    def _with_origin(self, origin: Origin | None) -> Figure:
        """The same figure, told what it was loaded from."""
        return self._varied(tuple(self.__dict__), origin=origin)

    # ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the entries of q, in order; fixed joints, and those that follow others, have none."""
        names: dict[str, None] = {}
        own = {c.name for c in self.drivers}
        for joint in self.joints.values():
            if joint.drive is not None:
                names.update((name, None) for name, _ in joint.drive.terms if name in own)
            elif not joint.is_fixed:
                names[joint.name] = None
        return tuple(names)

    @cached_property
    def segments(self) -> tuple[str, ...]:
        """The named segments, parents first."""
        return tuple(joint.segment for joint in self.joints.values() if joint.segment is not None)

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed, converted, frozen, narrowed or left out, one sentence each: the `remarks`, and what follows."""
        from supple.figure.remarks import notes_of

        return notes_of(self)

    # ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def _spans(self) -> dict[str, tuple[float, float, float, float]]:
        """Lower, upper, rest and speed of each coordinate, as declared."""
        spans = {c.name: (*c.limits, c.rest, c.speed) for c in self.drivers}
        for joint in self.joints.values():
            if joint.drive is None and not joint.is_fixed:
                lower, upper = joint.limits
                spans[joint.name] = (lower, upper, joint.rest, joint.speed)
        return spans

    @cached_property
    def limits(self) -> Limits:
        """The allowed postures: the coordinates' ranges, what driven joints' own ranges add to them, and the bounds."""
        box = {name: list(self._spans[name][:2]) for name in self.coordinates}
        rows: list[tuple[tuple[tuple[str, float], ...], float]] = []
        for joint in self.joints.values():
            if joint.drive is not None and np.isfinite(joint.limits).any():
                rows += driven_rows(joint, box)
        rows += [(bound.coefficients, bound.upper) for bound in self.bounds]
        A, b = np.zeros((len(rows), self.size)), np.array([upper for _, upper in rows])
        for r, (coefficients, _) in enumerate(rows):
            for name, value in coefficients:
                A[r, find(self.coordinates, name, "coordinate", f"a bound of figure {self.name!r}: it")] += value
        for name, (lower, upper) in box.items():
            if lower > upper:
                raise BadValue(f"the joints that follow {name!r} leave it no room: {lower:.6g} > {upper:.6g}")
        lower, upper = (np.array([box[name][side] for name in self.coordinates]) + 0.0 for side in (0, 1))  # no −0
        return Limits(lower, upper, A=A if rows else None, b=b if rows else None)

    @property
    def lower(self) -> Floats:
        """Lower limits, −inf where there is none."""
        return self.limits.lower

    @property
    def upper(self) -> Floats:
        """Upper limits, inf where there is none."""
        return self.limits.upper

    @cached_property
    def rest(self) -> Floats:
        """The posture to start from, inside the limits; a rest value of 0 means the nearest to it that is allowed."""
        q = np.array([self._spans[name][2] for name in self.coordinates])
        return frozen(np.where(q == 0.0, np.clip(q, self.lower, self.upper), q))

    @cached_property
    def turning(self) -> np.ndarray:
        """Whether each coordinate turns one joint and nothing else, so that a whole turn changes nothing."""
        drivers = {name for joint in self.joints.values() if joint.drive is not None for name, _ in joint.drive.terms}
        hinges = {
            j.name for j in self.joints.values() if any(j.turn) and not any(j.slide) and j.drive is None
        } - drivers
        return read_only(np.array([name in hinges for name in self.coordinates], dtype=bool))

    @cached_property
    def speed(self) -> Floats:
        """Greatest speed of each coordinate, inf where none is known; what follows one coordinate alone slows it down."""
        speeds = {name: self._spans[name][3] for name in self.coordinates}
        for joint in self.joints.values():
            if joint.drive is not None and len(joint.drive.terms) == 1 and np.isfinite(joint.speed):
                name, curve = joint.drive.terms[0]
                steepest = curve.steepest()
                speeds[name] = min(speeds[name], joint.speed / steepest if steepest > 0.0 else np.inf)
        return frozen([speeds[name] for name in self.coordinates])

    # ── kinematics ───────────────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def packed(self) -> Packed:
        """The whole tree in arrays, which cannot be written to."""
        return pack_tree(self.joints.values(), self.coordinates).sealed()

    @cached_property
    def _flat(self) -> tuple[np.ndarray, np.ndarray]:  # can be written to, as the kernels are compiled for; they do not
        return self.packed.arrays

    def named(self, q: ArrayLike | Mapping[str, Any]) -> dict[str, float]:
        """A posture as numbers by the names of its coordinates."""
        return dict(zip(self.coordinates, self.posture(q).tolist(), strict=True))

    def posture(self, q: ArrayLike | Mapping[str, Any], many: bool = False) -> Floats:
        """`q` as a new finite array of shape (size,), with `many` also (n, size), or an error that says what it should be.

        Numbers by name, of coordinates, joints, segments or patterns as in `locked`, leave the rest posture elsewhere.
        """
        if isinstance(q, Mapping):
            values = self.by_coordinate(q)
            q = [values.get(name, x) for name, x in zip(self.coordinates, self.rest.tolist(), strict=True)]
        array = np.array(numbers(q, f"a posture of {self.name!r}"), order="C")
        if array.ndim not in ((1, 2) if flag(many, "many") else (1,)) or array.shape[-1] != self.size:
            raise BadValue(f"a posture of {self.name!r} has {self.size} coordinates, not shape {array.shape}")
        if not np.isfinite(array).all():
            raise BadValue(f"a posture of {self.name!r} must be finite")
        return array
