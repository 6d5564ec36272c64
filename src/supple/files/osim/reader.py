"""OSIM files in: the skeletons of OpenSim, with their coordinates, couplings, closed loops and markers.

Bodies become segments under their own names and keep their frames; where a marker or a loop hangs on the ground, that is the
segment ``ground``. A coordinate keeps its name and its value. Its own joint is the first move that follows it one to one,
other moves are driven by it (see `osim_joints` for kinds of joints and `osim_functions` for functions). The model's axes
(y up) are turned into the world's once, under the roots. The rules:

- A *clamped* coordinate has its range as limits; the range of any other is no limit, in OpenSim's inverse kinematics
  neither, and is kept in ``figure.source.ranges``.
- A *locked* coordinate stays at its default value and is no coordinate of the figure; nor is one that a coordinate coupler
  determines: it is substituted, exactly. The limits of such a follower narrow its leader's if it follows by a line.
- Constraints of points, welds, points on lines and distances are loops, see `ties`. Those that are not enforced are left out.
- A joint whose child is nearer to the ground than its parent is walked through backwards. A joint between two bodies that
  other joints carry already closes a loop: it moves a frame ``<child>.<joint>`` that a loop ties to the child.
- Forces, muscles, wrapping, contact, controllers and geometry move nothing. They are left out, and counted in
  ``figure.source.left_out``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from supple.figure.drives import FREE, Coordinate, Pair
from supple.figure.effectors import Point
from supple.figure.figure import Figure, Loop, Source
from supple.figure.joints import Joint
from supple.files.osim.coordinates import Column, columns_of, fixed_at, number_in, range_of
from supple.files.osim.functions import Sum, function_in, read_function
from supple.files.osim.joints import UPRIGHT, Axis, chain
from supple.files.osim.objects import another, name_of, placed, says, vector
from supple.files.osim.text import GROUND, Document, Link, Place, parse_document
from supple.files.osim.ties import LOOPS, At, tie, touches_ground
from supple.files.xml import Element, blaming, read_bytes, shown
from supple.geometry.shapes import Body

MOST_FOLLOWERS = 100
NEAR = 1e-7  # how far over its range OpenSim lets a default value be, and a little more


@dataclass(frozen=True, eq=False, repr=False)
class OsimSource(Source):
    """What an OSIM file says beyond the figure: ranges of coordinates, locked ones at their values, what was left out."""

    ranges: tuple[tuple[str, Pair], ...] = ()
    locked: tuple[tuple[str, float], ...] = ()
    left_out: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()  # coordinates of the figure that the file does not have, see `ties`
    columns: tuple[Column, ...] = ()  # all coordinates of the file, as motions of it are written


def read_osim(path: str | Path) -> Figure:
    """The skeleton in an OSIM file, with its markers."""
    return parse_osim(read_bytes(path), str(path))


def parse_osim(text: str | bytes, file: str | None = None) -> Figure:
    """The skeleton in the text of an OSIM file; `file` is what messages call it."""
    model, notes = parse_document(text, file)
    name = model.attributes.get("name") or (Path(file).stem if file else "osim")
    with blaming(model):
        document = Document(model)
        reader = _Reader(document, notes)
        figure = reader.figure(name)
        return _Reader(document, notes, _at_rest(figure)).figure(name) if reader.rods else figure


def _at_rest(figure: Figure) -> At:
    """Where places are when a figure rests."""
    return lambda place: (UPRIGHT if place.body == GROUND else figure.placement(figure.rest, place.body)) @ place.at


class _Reader:
    """A document on its way to a figure."""

    def __init__(self, document: Document, notes: list[str], at: At | None = None) -> None:
        self.document, self.at, self.rods = document, at, False
        self.helping: list[Joint] = []
        self.helpers: list[str] = []
        self.links = document.links()
        self.notes = [*notes, *document.left_out()]
        self.ranges: list[tuple[str, Pair]] = []
        self.locked: list[tuple[str, float]] = []
        self.loops: list[Loop] = []
        self.couplers: dict[str, Element] = {}
        self.elements = self._coordinates()
        self._constraints()
        self.axes: dict[str, Axis] = {}
        for coordinate in self.elements:
            self._axis(coordinate, ())

    def figure(self, name: str) -> Figure:
        parts, markers = [*self._parts(), *self.helping], _markers(self.document)
        if GROUND in {p.segment for p in markers.values()} or touches_ground(self.loops, parts):
            parts.insert(0, Joint(GROUND, None, UPRIGHT, segment=GROUND))
        own = {j.name for j in parts if j.drive is None and not j.is_fixed}
        used = {n for j in parts if j.drive is not None for n, _ in j.drive.terms}
        free = {n: a for n, a in self.axes.items() if a.value is None and n not in own}
        self.notes += [f"coordinate {n!r}, which moves nothing" for n in free if n not in used]
        coordinates = [Coordinate(n, a.limits, a.rest) for n, a in free.items() if n in used]
        bodies = {n: body for n, element in self.document.bodies.items() if (body := _body(element)).mass > 0.0}
        source = OsimSource(
            "osim",
            1.0,
            "y",
            tuple(self.ranges),
            tuple(self.locked),
            tuple(self.notes),
            tuple(self.helpers),
            columns_of(self.links, self.axes),
        )
        return Figure(
            name,
            parts,
            coordinates,
            bodies,
            self.loops,
            source=source,
            markers=markers,
            remarks=self._remarks(),
            uncovered=list(bodies),
        )

    def _remarks(self) -> list[str]:
        """What was left out, held, and not taken for a limit."""
        held = [f"The coordinate {name!r} is locked or prescribed: held at {value:.6g}." for name, value in self.locked]
        ranges = ", ".join(name for name, _ in self.ranges)
        loose = [f"Ranges that are not clamped are no limits: {ranges}."] if ranges else []
        return [
            *(f"Left out: {note}." for note in self.notes),
            *held,
            *loose,
            "The file's y axis points up: turned, so that z does.",
        ]

    # ── the tree ─────────────────────────────────────────────────────────────────────────────────────────────────────
    def _parts(self) -> list[Joint]:
        """The joints of all bodies, level by level from the ground outwards; what is left over closes loops."""
        at: dict[str, set[int]] = {}
        for i, link in enumerate(self.links):
            for body in (link.parent.body, link.child.body):
                at.setdefault(body, set()).add(i)
        parts: list[Joint] = []
        carried, used, level = {GROUND}, set[int](), {GROUND}
        while level:
            reached: set[str] = set()
            for i in sorted(set[int]().union(*(at.get(body, set()) for body in level)) - used):
                link = self.links[i]
                backwards = link.parent.body not in level
                end = (link.parent if backwards else link.child).body
                if end not in carried:
                    parts += self._chain(link, backwards)
                    used.add(i)
                    carried.add(end)
                    reached.add(end)
            level = reached
        for name, body in self.document.bodies.items():
            if name not in carried:
                raise body.bad(f"{body.label} is not joined to the ground: give it a joint, for example a FreeJoint")
        left = [link for i, link in enumerate(self.links) if i not in used]
        return [*parts, *(joint for link in left for joint in self._closing(link))]

    def _chain(self, link: Link, backwards: bool = False) -> list[Joint]:
        with blaming(link.element):
            return chain(link, self.axes, backwards)

    def _closing(self, link: Link) -> list[Joint]:
        """A joint between bodies that others carry already: it ends in a frame that must coincide with its child's."""
        if link.parent.body == link.child.body:
            raise link.element.bad(f"{link.element.label} joins {link.child.body!r} to itself")
        if link.element.tag == "WeldJoint":
            (a, at_a), (b, at_b) = link.parent, link.child
            self.loops.append(Loop(link.name, a, b, at_a, at_b))
            return []
        end = f"{link.child.body}.{link.name}"
        self.loops.append(Loop(link.name, end, link.child.body))
        return self._chain(replace(link, child=Place(end, link.child.at)))

    # ── coordinates ──────────────────────────────────────────────────────────────────────────────────────────────────
    def _coordinates(self) -> dict[str, Element]:
        found: dict[str, Element] = {}
        for link in self.links:
            for coordinate in link.coordinates:
                name = name_of(coordinate)
                if name in found:
                    raise coordinate.bad(f"{coordinate.label} was already described on line {found[name].line}")
                found[name] = coordinate
        return found

    def _axis(self, name: str, seen: tuple[str, ...]) -> Axis:
        """What is known of a coordinate, once what it follows is known."""
        if name in self.axes:
            return self.axes[name]
        element, coupler = self.elements[name], self.couplers.get(name)
        clamped, span = says(element, "clamped", False), range_of(element)
        rest = number_in(element, "default_value", 0.0)
        limits = FREE
        if span is not None:
            self.ranges.append((name, span))
        if clamped:
            limits = span or FREE
            if not limits[0] - NEAR <= rest <= limits[1] + NEAR:
                raise element.bad(f"the default value {rest:g} of {element.label} is outside its range {limits}")
            rest = min(max(rest, limits[0]), limits[1])
        fixed = fixed_at(element, rest)
        if fixed is not None and coupler is not None:
            raise coupler.bad(
                f"{coupler.label} determines {name!r}, which is locked or prescribed: choose one of the two"
            )
        value = None if fixed is None else Sum(fixed)
        if fixed is not None:
            self.locked.append((name, fixed))
        if coupler is not None:
            value = self._followed(name, coupler, seen)
            if clamped and not value.is_straight:
                self.notes.append(f"the range of {name!r}, which follows others by a curve")
        self.axes[name] = axis = Axis(limits, rest, value)
        return axis

    def _followed(self, name: str, coupler: Element, seen: tuple[str, ...]) -> Sum:
        """What a coupler says of its follower, in coordinates that are free."""
        names = tuple(coupler.needed("independent_coordinate_names").text.split())
        holder = coupler.needed("coupled_coordinates_function")
        function = function_in(holder)
        if function is None:
            raise holder.bad(f"{coupler.label} has no function")
        if len(seen) > MOST_FOLLOWERS:
            raise coupler.bad(f"{coupler.label} ends a row of more than {MOST_FOLLOWERS} couplers")
        leaders: dict[str, Sum] = {}
        for leader in names:
            if leader not in self.elements:
                raise coupler.bad(f"{coupler.label} names {shown(leader)}, which is no coordinate of the model")
            if leader in (*seen, name):
                raise coupler.bad(f"{coupler.label}: {leader!r} follows itself")
            if (value := self._axis(leader, (*seen, name)).value) is not None:
                leaders[leader] = value
        with blaming(coupler):
            return read_function(function, names).scaled(number_in(coupler, "scale_factor", 1.0)).put_in(leaders)

    # ── constraints ──────────────────────────────────────────────────────────────────────────────────────────────────
    def _constraints(self) -> None:
        for element, path in self.document.constraints():
            name = path.rpartition("/")[2]
            if not says(element, "isEnforced", True) or says(element, "isDisabled", False):
                self.notes.append(f"{element.label}, which is not enforced")
            elif element.tag == "CoordinateCouplerConstraint":
                follower = element.needed("dependent_coordinate_name").text
                if follower not in self.elements:
                    raise element.bad(f"{element.label} names {shown(follower)}, which is no coordinate of the model")
                if follower in self.couplers:
                    raise element.bad(f"{follower!r} follows two couplers; keep one")
                self.couplers[follower] = element
            elif element.tag in LOOPS:
                if (tied := tie(self.document, element, path, name, self.at)) is not None:
                    self.loops.append(tied.loop)
                    self.helping += tied.joints
                    self.helpers += tied.helpers
                else:
                    self.rods = True
            else:
                raise element.bad(
                    f"constraints of type {element.tag} are not read: set its isEnforced to false, or delete it"
                )


def _body(element: Element) -> Body:
    with blaming(element):
        return Body(number_in(element, "mass", 0.0), vector(element, "mass_center"))


def _markers(document: Document) -> dict[str, Point]:
    found: dict[str, Point] = {}
    taken: set[str] = set()
    for tag, path in (("MarkerSet", "/markerset"), ("components", "")):
        for marker in (m for m in document.found[tag] if m.tag == "Marker"):
            name = another(name_of(marker), taken)
            if marker.first("body") is not None:
                place = document.body(marker, "body", placed(marker, "location", ""))
            else:
                where = document.place(marker, f"{path}/{name_of(marker)}", "parent_frame")
                place = Place(where.body, where.at @ placed(marker, "location", ""))
            x, y, z = place.at[:3, 3].tolist()
            found[name] = Point(place.body, (x, y, z))
    return found
