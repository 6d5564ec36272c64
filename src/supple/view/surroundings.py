"""Obstacles in a picture.

A half-space that is solid below is the ground. Any other is a slab behind the figure, or a translucent pane where it would hide
the figure. What has no end is drawn as far as it is near the figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from supple.geometry.placements import Floats
from supple.geometry.shapes import Hull, Polytope
from supple.problem.bars import Obstacle
from supple.view.camera import Camera
from supple.view.colours import PANE
from supple.view.marks import Label, Mark, Patch
from supple.view.skeleton import Piece
from supple.view.solids import Block, Solid, of_polytope, of_shape

UPRIGHT = 1.0 - 1e-9  # cosine of the angle between a floor's normal and the vertical
AROUND = 0.3  # of the figure's size: how far around it endless things are drawn
FARTHEST = 2.0  # of the figure's size: walls further away are not drawn
SLAB = 0.02  # of the figure's size: how thick a wall looks


class Half(NamedTuple):
    """A half-space: the points x with ``normal · x ≤ offset``."""

    normal: Floats  # of unit length
    offset: float

    @property
    def is_floor(self) -> bool:
        """Whether it is everything below some height."""
        return bool(self.normal[2] >= UPRIGHT)


def half_of(body: Obstacle) -> Half | None:
    """A polytope of one row as a half-space."""
    if not isinstance(body, Polytope) or len(body.b) != 1:
        return None
    length = float(np.linalg.norm(body.A[0]))
    return Half(body.A[0] / length, float(body.b[0]) / length)


class Surroundings:
    """The obstacles around the pieces of a figure, which stands on the ground unless there is a floor."""

    def __init__(
        self, obstacles: Mapping[str, Obstacle], pieces: list[Piece], size: float, ground: float, camera: Camera
    ) -> None:
        skin = np.concatenate([piece.solid.skin()[0] for piece in pieces])
        self.box = np.stack([skin.min(axis=0) - AROUND * size, skin.max(axis=0) + AROUND * size])
        self.size, self.eye = size, camera.axes[2]
        self.halves = {name: half for name, body in obstacles.items() if (half := half_of(body)) is not None}
        self.ground = max((half.offset for half in self.halves.values() if half.is_floor), default=ground)
        found = {name: self._solid(name, body) for name, body in obstacles.items()}
        self.solids: dict[str, Solid] = {name: solid for name, solid in found.items() if solid is not None}

    def pieces(self) -> list[Piece]:
        """What is solid and does not hide the figure."""
        return [Piece(solid, "obstacle") for name, solid in self.solids.items() if not self._hides(name)]

    def marks(self, names: bool) -> list[Mark]:
        """Panes, and names."""
        hiding = {name: solid for name, solid in self.solids.items() if self._hides(name)}
        out: list[Mark] = [Patch(_face(solid, self.halves[name]), PANE, 0.12) for name, solid in hiding.items()]
        if names:
            out += [Label(_top(solid), name) for name, solid in self.solids.items()]
        return out

    def _hides(self, name: str) -> bool:
        """Whether an obstacle is a half-space between the eye and the figure."""
        return name in self.halves and float(self.halves[name].normal @ self.eye) < 0.0

    def _solid(self, name: str, body: Obstacle) -> Solid | None:
        if isinstance(body, Hull):
            return of_polytope(Polytope.of(body), self.box)
        if not isinstance(body, Polytope):
            return of_shape(body)
        if name not in self.halves:
            return of_polytope(body, self.box)
        return None if self.halves[name].is_floor else self._slab(self.halves[name])

    def _slab(self, half: Half) -> Block | None:
        """A thin layer of a half-space under its surface, near the figure and above the ground."""
        rows, thick = np.stack([half.normal, -half.normal]), SLAB * self.size
        middle = self.box.mean(axis=0)
        away = float(half.normal @ middle) - half.offset
        if away > FARTHEST * self.size:
            return None
        under = middle - (away + thick) * half.normal
        box = np.stack([np.minimum(self.box[0], under), np.maximum(self.box[1], under)])
        box[0, 2] = max(box[0, 2], self.ground)
        return of_polytope(Polytope(rows, np.array([half.offset, thick - half.offset])), box)


def _top(solid: Solid) -> Floats:
    """The middle of the highest places."""
    skin, _ = solid.skin()
    return skin[skin[:, 2] > skin[:, 2].max() - 1e-6].mean(axis=0)


def _face(slab: Solid, half: Half) -> Floats:
    """The corners of a slab's surface, in order around their middle."""
    corners, _ = slab.skin()
    corners = corners[corners @ half.normal > half.offset - 1e-6]
    middle = corners.mean(axis=0)
    u = corners[0] - middle
    v = np.cross(half.normal, u)
    return corners[np.argsort(np.arctan2((corners - middle) @ v, (corners - middle) @ u))]
