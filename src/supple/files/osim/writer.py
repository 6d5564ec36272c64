"""OSIM 4 files out: the generic model's own text with the lengths, markers and masses of a subject; all else stays as it was.

The tree of the generic file is edited, so what nobody here understands is kept. A body with the factor f has

- what lies in its frame f times as far from its origin: frames of joints and constraints, centres of mass, points of paths,
  wrapping surfaces and their sizes, drawn geometry;
- the translations of custom joints that slide on it as curves, inside a ``MultiplierFunction``, as OpenSim's own scale tool
  writes them; coordinates that are lengths stay in metres;
- inertia times f² and the change of mass.

Fibre and tendon lengths of muscles are not scaled. The file is read again before it is written: where its markers are not those
of the subject, in postures all over the limits, the model has something that is not understood, and is refused.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from supple.basics.writing import write_file
from supple.errors import BadFile
from supple.figure.figure import Figure
from supple.files.osim.reader import parse_osim
from supple.files.osim.text import GROUND
from supple.files.xml import read_bytes
from supple.geometry.placements import Floats

LEAST_VERSION = 40000
SAME = 1e-7  # [m] how far markers of the file may be from the subject's
POSTURES = 8
SOCKETS = ("socket_parent_frame", "socket_parent", "socket_body", "socket_frame")
SIZES = {"radius", "length", "dimensions", "inner_radius", "outer_radius"}  # of wrapping surfaces


def write_subject(
    figure: Figure,
    generic: str | Path,
    path: str | Path,
    factors: Mapping[str | None, float],
    mass: float | None = None,
) -> list[str]:
    """Write the generic model in the sizes of a fitted figure; what could not be scaled, one sentence each.

    `factors` are the scale of each body, and of the ground as None; `mass` [kg] is that of the whole subject.
    """
    data = read_bytes(generic)
    before = parse_osim(data, str(generic))  # refuses what is broken, before anything is made of it
    root = ET.fromstring(data, ET.XMLParser(target=ET.TreeBuilder(insert_comments=True)))
    version = int(root.get("Version", "0") or 0)
    if version < LEAST_VERSION:
        raise BadFile(
            f"subjects are written into files of version {LEAST_VERSION} on, this one has {version}: open and save it "
            "with OpenSim 4",
            file=str(generic),
        )
    edit = _Edit(root, factors)
    edit.scale(mass)
    edit.place_markers(figure)
    text = ET.tostring(root, encoding="UTF-8", xml_declaration=True)
    _check(figure, before, parse_osim(text, str(path)), str(generic))
    write_file(path, text)
    return edit.told()


def _check(figure: Figure, before: Figure, after: Figure, file: str) -> None:
    """Refuse a file whose markers are not where the subject has them."""
    rng, names = np.random.default_rng(0), list(figure.markers)
    lower, upper = np.maximum(figure.lower, -1.0), np.minimum(figure.upper, 1.0)
    q = rng.uniform(np.minimum(lower, upper), np.maximum(lower, upper), (POSTURES, figure.size))
    if after.coordinates != figure.coordinates or list(before.segments) != list(after.segments):
        raise BadFile("the scaled model has other coordinates or bodies: it cannot be written", file=file)
    off = np.abs(after.marker_places(q, names) - figure.marker_places(q, names)).max(axis=(0, 2))
    if off.max() > SAME:
        worst = names[int(np.argmax(off))]
        raise BadFile(
            f"the model has lengths that are not understood: marker {worst!r} would be {1e3 * off.max():.3g} mm off. Scale it "
            "by scales='whole', or leave out what is special about its joints",
            file=file,
        )


class _Edit:
    """The tree of a model that is being scaled."""

    def __init__(self, root: ET.Element, factors: Mapping[str | None, float]) -> None:
        self.root, self.factors = root, factors
        self.above = {child: parent for parent in root.iter() for child in parent}
        self.bodies = {b.get("name", ""): b for b in root.iter("Body")}
        self.frames = {f.get("name", ""): f for f in root.iter("PhysicalOffsetFrame")}
        self.coordinates = {c.get("name", ""): c for c in root.iter("Coordinate")}

    def told(self) -> list[str]:
        """What stays as it was though its body did not."""
        muscles = sum(1 for element in self.root.iter() if element.find("optimal_fiber_length") is not None)
        return [f"{muscles} muscles keep their fibre and tendon lengths."] if muscles else []

    # ── which body ───────────────────────────────────────────────────────────────────────────────────────────────────
    def factor(self, element: ET.Element) -> float:
        """The factor of the body that an element lies on: what its socket names, or what it stands in."""
        return self.factors.get(self._body_of(element), self.factors.get(None, 1.0))

    def _body_of(self, element: ET.Element, depth: int = 0) -> str | None:
        for tag in SOCKETS:
            named = (element.findtext(tag) or "").strip()
            last = named.rsplit("/", 1)[-1]
            if last in self.bodies:
                return last
            if last in ("ground", GROUND):
                return None
            if last in self.frames and depth < 20:
                return self._body_of(self.frames[last], depth + 1)
        parent = self.above.get(element)
        while parent is not None:
            if parent.tag == "Body":
                return parent.get("name")
            if parent.tag == "PhysicalOffsetFrame" and depth < 20:
                return self._body_of(parent, depth + 1)
            parent = self.above.get(parent)
        return None

    # ── lengths ──────────────────────────────────────────────────────────────────────────────────────────────────────
    def scale(self, mass: float | None) -> None:
        """Everything that has a length."""
        for element in [each for each in self.root.iter() if isinstance(each.tag, str)]:
            if element.tag == "PhysicalOffsetFrame":
                _times(element, "translation", self.factor(element))
            elif "Wrap" in element.tag and element.find("translation") is not None:
                for tag in ("translation", *SIZES):
                    _times(element, tag, self.factor(element))
            elif element.tag.endswith("PathPoint") and element.find("location") is not None:
                _times(element, "location", self.factor(element))
            elif element.tag == "PointConstraint":
                self._point_constraint(element)
            elif element.find("scale_factors") is not None:
                _times(element, "scale_factors", self.factor(element))
            elif element.tag == "TransformAxis" and element.get("name", "").startswith("translation"):
                self._slide(element)
        self._masses(mass)

    def _point_constraint(self, element: ET.Element) -> None:
        for k in (1, 2):
            last = (element.findtext(f"socket_body_{k}") or "").strip().rsplit("/", 1)[-1]
            body = self._body_of(self.frames[last]) if last in self.frames else last if last in self.bodies else None
            _times(element, f"location_body_{k}", self.factors.get(body, self.factors.get(None, 1.0)))

    def _slide(self, axis: ET.Element) -> None:
        """A translation that is a curve of angles goes with the body that it slides on."""
        joint: ET.Element | None = axis
        while joint is not None and joint.find("socket_parent_frame") is None:
            joint = self.above.get(joint)
        names = (axis.findtext("coordinates") or "").split()
        function = next((c for c in axis if isinstance(c.tag, str) and c.tag not in ("coordinates", "axis")), None)
        if joint is None or function is None or any(self._is_length(joint, name) for name in names):
            return
        factor = self.factor(joint)
        inner = function if function.tag != "function" else next(iter(function), None)
        if inner is None or abs(factor - 1.0) < 1e-15:
            return
        holder = axis if inner is function else function
        at = list(holder).index(inner)
        holder.remove(inner)
        around = ET.Element("MultiplierFunction", {"name": inner.get("name", "function")} if holder is axis else {})
        ET.SubElement(around, "function").append(inner)
        ET.SubElement(around, "scale").text = repr(float(factor))
        holder.insert(at, around)

    def _is_length(self, joint: ET.Element, name: str) -> bool:
        """Whether a coordinate of a joint moves translations alone."""
        axes = [a for a in joint.iter("TransformAxis") if name in (a.findtext("coordinates") or "").split()]
        return bool(axes) and all(a.get("name", "").startswith("translation") for a in axes)

    def _masses(self, mass: float | None) -> None:
        total = sum(float(b.findtext("mass") or 0.0) for b in self.bodies.values())
        more = 1.0 if mass is None or total <= 0.0 else mass / total
        for name, body in self.bodies.items():
            f = self.factors.get(name, 1.0)
            for tag, times in (("mass", more), ("mass_center", f), ("inertia", more * f * f)):
                _times(body, tag, times)

    # ── markers ──────────────────────────────────────────────────────────────────────────────────────────────────────
    def place_markers(self, figure: Figure) -> None:
        """Every marker where the figure has it, in the frame of its body."""
        for marker in self._markers():
            point = figure.markers.get(marker.get("name", ""))
            socket, location = marker.find("socket_parent_frame"), marker.find("location")
            if point is None or socket is None:
                continue
            socket.text = "/ground" if point.segment == GROUND else f"/bodyset/{point.segment}"
            location = ET.SubElement(marker, "location") if location is None else location
            location.text = _words(np.array(point.offset))

    def _markers(self) -> Iterator[ET.Element]:
        return self.root.iter("Marker")


def _times(element: ET.Element, tag: str, factor: float) -> None:
    """The numbers of a child times a factor; what is not there, or no numbers, stays."""
    child = element.find(tag)
    if child is None or not (child.text or "").strip() or factor == 1.0:
        return
    try:
        child.text = _words(factor * np.array([float(word) for word in (child.text or "").split()]))
    except ValueError:
        return


def _words(values: Floats) -> str:
    return " ".join(repr(float(value)) for value in values)
