"""What can touch the ground: round spots of segments, and the soles of feet at rest.

A spot is a ball fixed in a segment: an end of a bar, a corner of a box (of no radius), the end of a segment without
shapes. It is above the ground z = 0 when its centre is above z = its radius, however the segment is turned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.figure.effectors import Point
from supple.geometry.placements import Floats, inverse
from supple.geometry.shapes import Box, Core, Shape, enclosing
from supple.motion.retargeting.anatomy import UP, Anatomy

TINY, USUAL = 0.5, (-0.9, 1.2)  # of the ankle's height: a sole without length; where heel and ball usually are
LOW = 0.3  # how far above the sole a spot still belongs to it, as a share of the ankle's height


class Spot(NamedTuple):
    """A ball of a segment: its centre in the segment's axes, and its radius."""

    segment: str
    centre: Floats
    radius: float

    @property
    def point(self) -> Point:
        """The centre as an effector."""
        x, y, z = self.centre.tolist()
        return Point(self.segment, (x, y, z))


def _corners(shape: Shape) -> list[tuple[Floats, float]]:
    """The balls whose hull a shape is, near enough: centres in the segment's axes, and radii."""
    if isinstance(shape, Box):
        grid = np.array(np.meshgrid(*zip(shape.lower, shape.upper, strict=True))).reshape(3, -1).T
        return [(shape.at[:3, :3] @ corner + shape.at[:3, 3], 0.0) for corner in grid]
    core = Core.of(enclosing(shape))
    ends = (-core.half, core.half) if core.half else (0.0,)
    return [(core.at[:3, 2] * z + core.at[:3, 3], core.radius) for z in ends]


def spots_of(anatomy: Anatomy, segment: str) -> list[Spot]:
    """The spots of one segment: of its shapes, and the ends of welded segments that have none."""
    figure, out = anatomy.figure, []
    body = figure.bodies.get(segment)
    for shape in body.shapes if body is not None else ():
        out += [Spot(segment, centre, radius) for centre, radius in _corners(shape)]
    if not out:
        to_segment = inverse(anatomy.rest[segment])
        ends = [s for s in anatomy.below[segment][1:] if anatomy.above[s] == segment and s not in anatomy.moving]
        out = [Spot(segment, (to_segment @ anatomy.rest[s])[:3, 3], 0.0) for s in ends]
    return out


def lowest(anatomy: Anatomy, spot: Spot) -> Floats:
    """The lowest point of a spot at rest, in the world."""
    T = anatomy.rest[spot.segment]
    return T[:3, :3] @ spot.centre + T[:3, 3] - spot.radius * UP


def extremes(anatomy: Anatomy, spots: list[Spot]) -> list[Spot]:
    """Of the spots of one segment those that lie farthest out, seen from above along the four diagonals of the body."""
    if not spots:
        return []
    flat = np.array([anatomy.axes.T @ lowest(anatomy, spot) for spot in spots])
    chosen = {int(np.argmax(flat[:, 0] * a + flat[:, 1] * b)) for a in (-1.0, 1.0) for b in (-0.5, 0.5)}
    return [spots[k] for k in sorted(chosen)]


class Sole:
    """The sole of a foot at rest: heel and ball on it, in the world and in the foot's axes, and all spots that may touch."""

    def __init__(self, anatomy: Anatomy, foot: str, ankle: Floats) -> None:
        self.foot, self.rest = foot, anatomy.rest[foot]
        self.ankle = ankle
        moving = [s for s in anatomy.below[foot] if s in anatomy.moving or s == foot]
        spots = {s: spots_of(anatomy, s) for s in moving}
        under = [lowest(anatomy, spot) for found in spots.values() for spot in found]
        points = np.array([*under, *(anatomy.origin[s] for s in anatomy.below[foot])])
        self.height = float(ankle[2] - points[:, 2].min())
        points = points[points[:, 2] < ankle[2] - (1.0 - LOW) * self.height]
        self.forward = self._forward(points, anatomy)
        self.heel = self._across(points, -self.forward, ankle)
        toes = [s for s in moving if s != foot]
        self.ball = self._on(anatomy.origin[toes[0]]) if toes else self._across(points, self.forward, ankle)
        if np.linalg.norm(self.ball - self.heel) < TINY * self.height:  # nothing shows how long the foot is
            self.heel, self.ball = (self._on(ankle + share * self.height * self.forward) for share in USUAL)
        low = [[spot for spot in found if self._is_low(lowest(anatomy, spot))] for found in spots.values()]
        ends = () if toes else (Spot(foot, self.in_foot(self.heel), 0.0), Spot(foot, self.in_foot(self.ball), 0.0))
        self.spots = (*(spot for found in low for spot in extremes(anatomy, found)), *ends)

    def _forward(self, points: Floats, anatomy: Anatomy) -> Floats:
        """Where the foot points: to the farthest low point, made level; the body's own forward if it has no length."""
        ways = (points - self.ankle) * [1.0, 1.0, 0.0]
        size = ways @ anatomy.axes[:, 0]
        far = ways[np.abs(size) >= np.abs(size).max() - 1e-6].mean(axis=0) if len(ways) else np.zeros(3)
        return far / np.linalg.norm(far) if np.linalg.norm(far) > 1e-6 else anatomy.axes[:, 0]

    def _across(self, points: Floats, way: Floats, ankle: Floats) -> Floats:
        """The point on the sole under the foot's own line that is as far along `way` as any; the ankle's at least."""
        return self._on(ankle + max(0.0, float(((points - ankle) @ way).max(initial=0.0))) * way)

    def _on(self, point: Floats) -> Floats:
        return np.array([point[0], point[1], self.ankle[2] - self.height])

    def _is_low(self, point: Floats) -> bool:
        return bool(point[2] < self.ankle[2] - (1.0 - LOW) * self.height)

    def in_foot(self, point: Floats) -> Floats:
        """A point of the world at rest, in the foot's axes."""
        return self.rest[:3, :3].T @ (point - self.rest[:3, 3])
