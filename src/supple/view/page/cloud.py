"""A map of where the selected part can go, filled in layer by layer beside the work (`reach`).

Root and trunk stay where they are: only the joints below the nearest segment from which several limbs part move. Positions
that are proved out of reach are left out; those that were not decided are grey.
"""

from __future__ import annotations

import pickle
import threading
from itertools import pairwise
from typing import Any

import numpy as np

from supple.errors import BadValue
from supple.figure.effectors import Point
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.view.page.beside import Helper
from supple.view.page.session import Session

LAYERS = 13
DECIDED = 8  # joints that `reach` can decide about; of more, those next to the trunk stay
PATIENCE = 20.0  # s for a layer
REACHED, OPEN = (33, 120, 158), (170, 176, 184)


def held_still(figure: Figure, q: Floats, segment: str) -> tuple[Figure, Floats, float]:
    """The figure with all joints locked but those of the limb, the place of its first joint, and its length."""
    path = [s for s in figure.path_to_root(segment) if s in figure.segments]
    children = {s: sum(figure.parent_of(c) == s and bool(figure.joints_of(c)) for c in figure.segments) for s in path}
    limb = [segment]
    for s in path[1:]:
        if children[s] > 1:
            break
        limb.append(s)
    some = figure.limits.project(q + 0.3)
    felt = (
        np.abs(figure.jacobian(some, Point(segment))).max(axis=0) > 1e-6
    )  # what turns about the origin does not move it
    own = [c for s in reversed(limb) for c in figure.chain(figure.parent_of(s), s)]
    moving = [c for c in own if felt[figure.coordinates.index(c)]][-DECIDED:]
    if not moving:
        raise BadValue(f"{segment!r} has no joints of its own limb")
    others = [c for c in figure.coordinates if c not in moving]
    places = [figure.placement(q, s)[:3, 3] for s in limb]
    length = sum(float(np.linalg.norm(a - b)) for a, b in pairwise(places))
    return (figure.locked(*others, q=q) if others else figure), places[-1], max(length, 0.05)


class Cloud:
    """The points on the page."""

    def __init__(self, scene: Any, size: float) -> None:
        self._scene, self._size = scene, size
        self._helper: Helper | None = None
        self._nodes: list[Any] = []
        self._turn = 0

    def show(self, session: Session) -> None:
        """Begin to fill in the map of the selected segment."""
        self.hide()
        if session.selected is None:
            raise BadValue("select a part first: click on it")
        figure, base, length = held_still(session.figure, session.q, session.selected)
        self._helper = Helper()
        heights = base[2] + length * np.linspace(-1.0, 1.0, LAYERS)
        order = np.argsort(np.abs(heights - base[2]))
        job = (figure, session.selected, heights[order], length / 6.0, self._turn, self._helper)
        threading.Thread(target=self._fill, args=job, daemon=True).start()

    def _fill(self, figure: Figure, segment: str, heights: Floats, spacing: float, turn: int, helper: Helper) -> None:
        for k, z in enumerate(heights):
            found = helper.ask(pickle.dumps(("layer", figure, segment, float(z), spacing, PATIENCE)))
            if turn != self._turn:
                break
            for kind, points, colour in zip(("in", "open"), found or (), (REACHED, OPEN), strict=False):
                if len(points):
                    node = self._scene.add_point_cloud(
                        f"/reach/{turn}/{kind} {k}", np.asarray(points, dtype=np.float32), colour,
                        point_size=0.008 * self._size, point_shape="circle",
                    )  # fmt: skip
                    self._nodes.append(node)
        helper.close()

    def hide(self) -> None:
        """Take it off the page."""
        self._turn += 1
        if self._helper is not None:
            self._helper.close()
            self._helper = None
        for node in self._nodes:
            node.remove()
        self._nodes = []
