"""The outer layer of OSIM files: which objects there are, and which frame of which body each one means.

Two generations of the format are read. In documents of OpenSim 4 joints stand in a set of their own and name frames by
path (``/bodyset/femur_r``, ``/jointset/knee_r/femur_r_offset``), absolute or as seen from the object that names them; a
frame is a body, the ground, or a `PhysicalOffsetFrame` on another frame. In documents of OpenSim 3 (version 30000 on) a
joint stands inside the body that it moves and names its parent, and both places are given in the axes of those bodies.
Either way a place ends up as a body and a placement in it. Orientations are three turns about x, y and z, each about the
axes that the one before has turned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from supple.files.xml import LONGEST_NAME, Element, parse_xml, shown
from supple.geometry.placements import HERE, Floats, Triple, X, Y, Z, compose, turned

GROUND = "ground"
MOST_OBJECTS = 20_000
OFFSET_FRAME = "PhysicalOffsetFrame"
SETS = ("BodySet", "JointSet", "ConstraintSet", "MarkerSet", "components")  # the others hold nothing that moves a body
PLAIN = ("Body", "Coordinate", "Marker", "SpatialTransform", "TransformAxis", OFFSET_FRAME)  # kinds that are read
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
    if not 30000 <= version < 50000:
        raise root.bad(f"documents of version {version:g} are not read: {SAVE_AGAIN}")
    model = root.needed("Model")
    _refuse_defaults(model)
    return model, notes


def _refuse_defaults(model: Element) -> None:
    """Default values for objects that move bodies would change what the rest of the file means."""
    for default in (d for group in model.all("defaults") for d in group.children):
        if default.tag in PLAIN or (moves(default.tag) and default.tag != "CMC_Joint"):
            raise default.bad(f"<defaults> for {default.tag} are not read: write the values into the objects")


def name_of(element: Element) -> str:
    """The name that an object must have."""
    name = element.attribute("name")
    if len(name) > LONGEST_NAME:
        raise element.bad(f"the name of a <{element.tag}> is longer than {LONGEST_NAME} characters")
    return name


def vector(element: Element, tag: str) -> Triple:
    """Three numbers in a child, zero if there is no such child."""
    child = element.first(tag)
    x, y, z = (0.0, 0.0, 0.0) if child is None else child.listed(3)
    return x, y, z


def says(element: Element, tag: str, default: bool) -> bool:
    """A child that reads true or false."""
    child = element.first(tag)
    if child is None:
        return default
    if child.text.lower() not in ("true", "false"):
        raise child.bad(f"<{tag}> of {element.label} must be true or false, not {shown(child.text)}")
    return child.text.lower() == "true"


def members(element: Element, tag: str) -> Iterator[Element]:
    """The objects in a set; objects of a plain list."""
    for group in element.all(tag):
        inner = group.first("objects")
        yield from (child for child in (inner or group).children if child.tag[:1].isupper())


def placed(element: Element, where: str, turn: str) -> Floats:
    """The placement that two children of an element say: a position and an orientation."""
    a, b, c = vector(element, turn)
    return compose(turned(X, a) @ turned(Y, b) @ turned(Z, c), vector(element, where))


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
        self._register()

    def _register(self) -> None:
        for ground in self.model.all("Ground"):
            self._register_in(ground, f"/{GROUND}")
        self._register_in(self.model, "")
        for tag in ("BodySet", "JointSet", "ConstraintSet"):
            for owner in self.found[tag]:
                self._register_in(owner, f"/{tag.lower()}/{owner.attributes.get('name', '')}")

    def _register_in(self, owner: Element, path: str) -> None:
        for tag in ("frames", "components"):
            for frame in members(owner, tag):
                if frame.tag == OFFSET_FRAME:
                    self._frames[f"{path}/{name_of(frame)}"] = frame
                    self._register_in(frame, f"{path}/{name_of(frame)}")

    # ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def place(self, owner: Element, path: str, socket: str) -> Place:
        """The frame that an object at `path` names in one of its sockets."""
        at, seen = HERE, set[str]()
        while True:
            named = owner.first(f"socket_{socket}") or owner.first(f"socket_{socket}_connectee_name")
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
            at = placed(owner, "translation", "orientation") @ at

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
        found = [(j, f"/jointset/{name_of(j)}") for j in self.found["JointSet"]]
        found += [(j, f"/{name_of(j)}") for j in self.found["components"] if j.tag.endswith("Joint")]
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
        parent, child = (self.place(joint, path, socket) for socket in ("parent_frame", "child_frame"))
        return Link(joint, name_of(joint), parent, child, tuple(members(joint, "coordinates")))

    def _nested(self, joint: Element, body: str) -> Link:
        if says(joint, "reverse", False):
            raise joint.bad(f"{joint.label} is reversed: {SAVE_AGAIN}")
        parent = self.body(joint, "parent_body", placed(joint, "location_in_parent", "orientation_in_parent"))
        child = Place(body, placed(joint, "location", "orientation"))
        return Link(joint, name_of(joint), parent, child, tuple(members(joint, "CoordinateSet")))

    def constraints(self) -> Iterator[tuple[Element, str]]:
        """All constraints with their paths."""
        for constraint in self.found["ConstraintSet"]:
            yield constraint, f"/constraintset/{name_of(constraint)}"
        for other in self.found["components"]:
            if other.tag.endswith("Constraint"):
                yield other, f"/{name_of(other)}"

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


def moves(tag: str) -> bool:
    """Whether objects of this kind tie bodies to each other."""
    return tag.endswith(("Joint", "Constraint"))


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
