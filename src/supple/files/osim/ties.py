"""The constraints of OSIM files as loops.

Points and welds are loops as they stand. A point on a line, and two points at a constant distance, are loops of a point with
helpers: a slider along the line, and a rod on two turns. The coordinates of helpers follow from the others, are no coordinates
of the file, and are not written. As OpenSim does, their places are given in the axes of bodies, even where frames are named.
The turns of a rod begin across it as it lies when the model rests, so that they are never near a stop of their range there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from supple.figure.figure import Loop
from supple.figure.joints import Joint
from supple.files.osim.objects import placed, vector
from supple.files.osim.text import GROUND, Document, Place
from supple.files.xml import Element, blaming
from supple.geometry.placements import Floats, X, Y, compose, unit

LOOPS = ("PointConstraint", "WeldConstraint", "PointOnLineConstraint", "ConstantDistanceConstraint")
SHORTEST = 1e-9  # [m] of a rod

At = Callable[[Place], Floats]  # where places are in the ground when the model rests


@dataclass(frozen=True, eq=False)
class Tie:
    """A loop, and the joints that help to say it."""

    loop: Loop
    joints: tuple[Joint, ...] = ()

    @property
    def helpers(self) -> tuple[str, ...]:
        """The coordinates of its joints."""
        return tuple(joint.name for joint in self.joints if not joint.is_fixed)


def tie(document: Document, element: Element, path: str, name: str, at: At | None) -> Tie | None:
    """What a constraint says; None for a rod while nobody knows yet where its ends are."""
    with blaming(element):
        if element.tag == "PointOnLineConstraint":
            return _on_line(document, element, path, name)
        if element.tag == "ConstantDistanceConstraint":
            return None if at is None else _rod(document, element, path, name, at)
        a, b = (_end(document, element, path, k) for k in (1, 2))
        return Tie(Loop(name, a.body, b.body, a.at, b.at, element.tag == "PointConstraint"))


def _end(document: Document, element: Element, path: str, k: int) -> Place:
    """One end of a point or a weld."""
    point = element.tag == "PointConstraint"
    at = placed(element, f"location_body_{k}", "" if point else f"orientation_body_{k}")
    if element.first(f"body_{k}") is not None:
        return document.body(element, f"body_{k}", at)
    place = document.place(element, path, f"body_{k}" if point else f"frame{k}")
    return Place(place.body, place.at @ at) if point else place


def _on_body(document: Document, element: Element, path: str, socket: str, where: str) -> Place:
    """A point in the axes of a body."""
    at = placed(element, where, "")
    if element.first(socket) is not None:
        return document.body(element, socket, at)
    return Place(document.place(element, path, socket).body, at)


def _on_line(document: Document, element: Element, path: str, name: str) -> Tie:
    line = _on_body(document, element, path, "line_body", "point_on_line")
    follower = _on_body(document, element, path, "follower_body", "point_on_follower")
    direction = unit(vector(element, "line_direction_vec"), f"the direction of {element.label}")
    end = f"{name}.on_line"
    slide = Joint(f"{name}.along", line.body, line.at, slide=direction, segment=end)
    return Tie(Loop(name, end, follower.body, at_b=follower.at, point=True), (slide,))


def _rod(document: Document, element: Element, path: str, name: str, at: At) -> Tie:
    a, b = (_on_body(document, element, path, f"body_{k}", f"location_body_{k}") for k in (1, 2))
    length = element.needed("constant_distance").listed(1)[0]
    if abs(length) < SHORTEST:
        return Tie(Loop(name, a.body, b.body, a.at, b.at, True))
    A, B = at(a), at(b)
    along = A[:3, :3].T @ (B[:3, 3] - A[:3, 3])
    reach = float(np.linalg.norm(along))
    along = along / reach if reach > SHORTEST else np.array((0.0, 0.0, 1.0))
    across = np.cross(np.eye(3)[int(np.argmin(np.abs(along)))], along)
    across /= np.linalg.norm(across)
    R = np.column_stack([across, np.cross(along, across), along])
    end = f"{name}.end"
    swing = Joint(f"{name}.turn1", a.body, a.at @ compose(R, (0.0, 0.0, 0.0)), turn=X)
    tilt = Joint(f"{name}.turn2", swing.key, turn=Y)
    joints = (swing, tilt, Joint(f"{name}.rod", tilt.key, compose(np.eye(3), (0.0, 0.0, abs(length))), segment=end))
    return Tie(Loop(name, end, b.body, at_b=b.at, point=True), joints)


def touches_ground(loops: list[Loop], joints: list[Joint]) -> bool:
    """Whether a loop or one of its helpers hangs on the ground."""
    return any(GROUND in (loop.a, loop.b) for loop in loops) or any(joint.parent == GROUND for joint in joints)
