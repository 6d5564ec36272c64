"""The outer layer of OSIM files: which objects there are, and which frame of which body each one means.

Three generations of the format are read. In documents of OpenSim 4 joints stand in a set of their own and name frames by
path (``/bodyset/femur_r``, ``/jointset/knee_r/femur_r_offset``), absolute or as seen from the object that names them; a
frame is a body, the ground, a `PhysicalOffsetFrame` on another frame, or a `StationDefinedFrame` on three points. In documents
of OpenSim 1 to 3 (version 10901 on) a joint stands inside the body that it moves and names its parent, and both places are
given in the axes of those bodies; those between them (version 30500 on) name frames in ``<connectors>``. Any way a place ends
up as a body and a placement in it. Orientations are three turns about x, y and z, each about the axes that the one before has
turned. What has no name is called by its kind, as OpenSim calls it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from supple.files.osim.objects import another, members, moves, name_of, placed, says, socket_of
from supple.files.osim.stations import on_points
from supple.files.xml import Element, parse_xml, shown
from supple.geometry.placements import HERE, Floats, compose

GROUND = "ground"
MOST_OBJECTS = 20_000
MOST_NESTED = 30  # frames on points of frames
OFFSET_FRAME = "PhysicalOffsetFrame"
SETS = ("BodySet", "JointSet", "ConstraintSet", "MarkerSet", "components")  # the others hold nothing that moves a body
STATION_FRAME = "StationDefinedFrame"
PLAIN = (
    "Body",
    "Coordinate",
    "Marker",
    "SpatialTransform",
    "TransformAxis",
    OFFSET_FRAME,
    STATION_FRAME,
)  # kinds that are read
OLDEST = 10901  # OpenSim reads none before it
SAVE_AGAIN = "open the model in OpenSim 4 and save it again"


class Place(NamedTuple):
    """A frame fixed to a body, or to the ground."""

    body: str
    at: Floats


@dataclass(frozen=True, eq=False)
class Link:
    """A joint as the file describes it: where it holds its parent and its child, and its coordinates."""

    element: Element
    name: str
    parent: Place
    child: Place
    coordinates: tuple[Element, ...]


def parse_document(text: str | bytes, file: str | None) -> tuple[Element, list[str]]:
    """The <Model> of a document, and what had to be done to its text.

    Many models declare UTF-8 but hold a few characters of Windows; those are read as such.
    """
    notes: list[str] = []
    if isinstance(text, bytes) and b"utf-8" in text[:200].lower():
        try:
            text.decode("utf-8")
        except UnicodeDecodeError:
            text = text.decode("cp1252", "replace")
            notes.append("the text is not UTF-8, as it says, and was read as Windows-1252")
    root = parse_xml(text, file)
    if root.tag != "OpenSimDocument":
        raise root.bad(f"an OSIM file begins with <OpenSimDocument>, not with <{shown(root.tag)[1:-1]}>")
    version = root.number("Version")
    if not OLDEST <= version < 50000:
        raise root.bad(f"documents of version {version:g} are not read: {SAVE_AGAIN}")
    model = root.needed("Model")
    _refuse_defaults(model)
    return model, notes


def _refuse_defaults(model: Element) -> None:
    """Default values for objects that move bodies would change what the rest of the file means."""
    for default in (d for group in model.all("defaults") for d in group.children):
        if default.tag in PLAIN or (moves(default.tag) and default.tag != "CMC_Joint"):
            raise default.bad(f"<defaults> for {default.tag} are not read: write the values into the objects")


class Document:
    """A model's objects by name, and its frames by path."""

    def __init__(self, model: Element) -> None:
        self.model = model
        self.found = {tag: tuple(members(model, tag)) for tag in SETS}
        if sum(map(len, self.found.values())) > MOST_OBJECTS:
            raise model.bad(f"{model.label} has more than {MOST_OBJECTS} objects")
        bodies = [b for tag in ("BodySet", "components") for b in self.found[tag] if b.tag == "Body"]
        self.bodies: dict[str, Element] = {}
        for body in bodies:
            name = name_of(body)
            if name in self.bodies:
                raise body.bad(f"{body.label} was already described on line {self.bodies[name].line}")
            if name != GROUND:
                self.bodies[name] = body
        self._frames: dict[str, Element] = {}  # by path
        self._depth = 0
        self._unnamed: dict[int, str] = {}
        self._taken = {
            e.attributes["name"] for objects in self.found.values() for e in objects if "name" in e.attributes
        }
        self._stations: dict[str, Element] = {}
        self._register()

    def _register(self) -> None:
        for ground in self.model.all("Ground"):
            self._register_in(ground, f"/{GROUND}")
        self._register_in(self.model, "")
        for frame in members(self.model, "FrameSet"):
            if frame.tag == OFFSET_FRAME:
                self._frames[f"/{name_of(frame)}"] = frame
        for marker in self.found["MarkerSet"]:
            self._stations[f"/markerset/{name_of(marker)}"] = marker
        for tag in ("BodySet", "JointSet", "ConstraintSet"):
            for owner in self.found[tag]:
                self._register_in(owner, f"/{tag.lower()}/{self._called(owner)}")

    def _called(self, owner: Element) -> str:
        """The name of an object, or that which only this one has if it has none."""
        if id(owner) not in self._unnamed and not owner.attributes.get("name", "").strip() and moves(owner.tag):
            self._unnamed[id(owner)] = another(name_of(owner), self._taken)
        return self._unnamed.get(id(owner)) or owner.attributes.get("name", "")

    def _register_in(self, owner: Element, path: str) -> None:
        for tag in ("frames", "components"):
            for frame in members(owner, tag):
                if frame.tag in (OFFSET_FRAME, STATION_FRAME):
                    self._frames[f"{path}/{name_of(frame)}"] = frame
                    self._register_in(frame, f"{path}/{name_of(frame)}")
                elif frame.tag in ("Station", "Marker"):
                    self._stations[f"{path}/{name_of(frame)}"] = frame

    # ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def place(self, owner: Element, path: str, socket: str) -> Place:
        """The frame that an object at `path` names in one of its sockets."""
        at, seen = HERE, set[str]()
        while True:
            named = socket_of(owner, socket)
            if named is None:
                raise owner.bad(f"{owner.label} has no <socket_{socket}>: {SAVE_AGAIN}")
            path = self._resolved(named, path)
            body = _last(path)
            if path not in self._frames:
                return Place(body, at)
            if path in seen:
                raise owner.bad(f"the frame {body!r} hangs on itself")
            seen.add(path)
            owner, socket = self._frames[path], "parent"
            if owner.tag == STATION_FRAME:
                return self._on_stations(owner, path, at)
            at = placed(owner, "translation", "orientation") @ at

    def _on_stations(self, frame: Element, path: str, at: Floats) -> Place:
        """A place in a frame that three points define, and a fourth, its origin."""
        bodies, points = [], []
        if self._depth >= MOST_NESTED:
            raise frame.bad(f"{frame.label} hangs on itself")
        for socket in ("point_a", "point_b", "point_c", "origin_point"):
            named = frame.needed(f"socket_{socket}")
            where = _normal(named.text if named.text.startswith("/") else f"{path}/{named.text}")
            station = self._stations.get(where)
            if station is None:
                raise named.bad(f"<{named.tag}> names {shown(named.text)}, which is no station of the model")
            self._depth += 1
            place = self.place(station, where, "parent_frame")
            self._depth -= 1
            bodies.append(place.body)
            points.append((place.at @ placed(station, "location", ""))[:3, 3])
        if len(set(bodies)) > 1:
            raise frame.bad(f"the points of {frame.label} lie on different bodies: {', '.join(sorted(set(bodies)))}")
        return Place(bodies[0], compose(on_points(frame, *points[:3]), points[3]) @ at)

    def _resolved(self, named: Element, owner: str) -> str:
        """The path of the body or frame that a text means, seen from the object at the path `owner`."""
        text = named.text
        path = _normal(text if text.startswith("/") else f"{owner}/{text}")
        if path in self._frames or self._is_body(path):
            return path
        last = _last(path)
        if last == GROUND or last in self.bodies:
            return f"/bodyset/{last}"
        same = [other for other in self._frames if _last(other) == last]
        if len(same) != 1:
            many = f"{len(same)} frames are" if same else "no frame of the model is"
            raise named.bad(f"<{named.tag}> names {shown(text)}, but {many} called so")
        return same[0]

    def _is_body(self, path: str) -> bool:
        head, _, name = path.rpartition("/")
        return (head in ("/bodyset", "") and name in self.bodies) or path == f"/{GROUND}"

    def body(self, owner: Element, tag: str, at: Floats) -> Place:
        """A place in a body that a child names outright, as in documents of OpenSim 3."""
        named = owner.needed(tag)
        if named.text != GROUND and named.text not in self.bodies:
            raise named.bad(f"<{tag}> of {owner.label} names {shown(named.text)}, which is no body of the model")
        return Place(named.text, at)

    # ── objects ──────────────────────────────────────────────────────────────────────────────────────────────────────
    def links(self) -> list[Link]:
        """All joints, in the order of the file."""
        found = [(j, f"/jointset/{self._called(j)}") for j in self.found["JointSet"]]
        found += [(j, f"/{self._called(j)}") for j in self.found["components"] if j.tag.endswith("Joint")]
        links = [self._link(joint, path) for joint, path in found]
        for name, body in self.bodies.items():
            for joint in members(body, "Joint"):
                links.append(self._nested(joint, name))
        taken: dict[str, Element] = {}
        for link in links:
            if link.name in taken:
                raise link.element.bad(f"{link.element.label} was already described on line {taken[link.name].line}")
            taken[link.name] = link.element
        return links

    def _link(self, joint: Element, path: str) -> Link:
        ends = []
        for end in ("parent", "child"):
            socket = f"{end}_frame" if socket_of(joint, f"{end}_frame") is not None else f"{end}_body"
            place = self.place(joint, path, socket)
            ends.append(Place(place.body, place.at @ placed(joint, f"location_in_{end}", f"orientation_in_{end}")))
        return self._joined(joint, ends[0], ends[1], "coordinates" if joint.first("coordinates") else "CoordinateSet")

    def _nested(self, joint: Element, body: str) -> Link:
        parent = self.body(joint, "parent_body", placed(joint, "location_in_parent", "orientation_in_parent"))
        return self._joined(joint, parent, Place(body, placed(joint, "location", "orientation")), "CoordinateSet")

    def _joined(self, joint: Element, parent: Place, child: Place, coordinates: str) -> Link:
        if says(joint, "reverse", False):  # as OpenSim 4 reads it: the frames change places
            parent, child = child, parent
        return Link(joint, self._called(joint) or name_of(joint), parent, child, tuple(members(joint, coordinates)))

    def constraints(self) -> Iterator[tuple[Element, str]]:
        """All constraints with their paths."""
        for constraint in self.found["ConstraintSet"]:
            yield constraint, f"/constraintset/{self._called(constraint) or name_of(constraint)}"
        for other in self.found["components"]:
            if other.tag.endswith("Constraint"):
                yield other, f"/{self._called(other)}"

    def left_out(self) -> list[str]:
        """How many objects of which kinds are in the file and play no part in where bodies are."""
        kinds: Counter[str] = Counter()
        for section in self.model.children:
            if section.tag not in SETS:
                kinds.update(m.tag for m in members(self.model, section.tag) if section.first("objects") is not None)
        kinds.update(c.tag for c in self.found["components"] if c.tag not in PLAIN and not moves(c.tag))
        for body in self.bodies.values():
            kinds.update(wrap.tag for wrap in members(body, "WrapObjectSet"))
        return [f"{count} {kind}" for kind, count in kinds.items()]


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _normal(path: str) -> str:
    """A path without "." and ".."."""
    out: list[str] = []
    for word in path.split("/"):
        if word == "..":
            out = out[:-1]
        elif word not in ("", "."):
            out.append(word)
    return "/" + "/".join(out)
