"""A figure at rest as seen by a matcher: which segments move, what their names say, where they are in the body.

The *body axes* are forward, left and up: up is the world's z; left is where the segments with left names lie as seen
from their right partners, hips and shoulders before all others, for they lie alike in any posture. Without such names
left is across the feet. A segment's *reach* is the way along the bones from the pelvis to its origin, as a share of
the longest such way: unlike its place it is the same whatever the arms do at rest.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from supple.errors import BadValue
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.motion.retargeting.limb_parts import cut
from supple.motion.retargeting.names import Named, named

UP = np.array([0.0, 0.0, 1.0])
NEAR_THE_TRUNK = ("thigh", "upper_arm", "shank", "forearm", "foot", "hand")  # the first two that there are tell left


class Anatomy:
    """The rest posture of a figure, or another one that stands for it, and the meaning of its names."""

    def __init__(self, figure: Figure, posture: Floats | None = None) -> None:
        self.figure = figure
        self.posture = figure.rest if posture is None else posture
        self.rest = figure.placements(self.posture)
        self.origin = {segment: T[:3, 3] for segment, T in self.rest.items()}
        self.above = {segment: figure.parent_of(segment) for segment in figure.segments}
        self.moving = tuple(segment for segment in figure.segments if figure.joints_of(segment))

    @cached_property
    def below(self) -> dict[str, tuple[str, ...]]:
        """The segments that hang on each one, itself first, all the way down."""
        out: dict[str, list[str]] = {segment: [segment] for segment in self.above}
        for segment in reversed(self.figure.segments):
            parent = self.above[segment]
            if parent is not None:
                out[parent] += out[segment]
        return {segment: tuple(found) for segment, found in out.items()}

    def path(self, segment: str) -> list[str]:
        """The segments from the root to this one."""
        out, at = [], segment
        while at is not None:
            out.append(at)
            at = self.above[at]
        return out[::-1]

    def farthest(self, segment: str, start: Floats) -> Floats:
        """The origin farthest from a point, of a segment and what hangs on it."""
        points = np.array([self.origin[s] for s in self.below[segment]])
        return points[int(np.argmax(np.linalg.norm(points - start, axis=1)))]

    # ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def said(self) -> dict[str, Named]:
        """What each segment's name says; a shoulder without another name for the upper arm is the upper arm."""
        bare = {segment: named(segment) for segment in self.figure.segments}
        tips = {segment: self.farthest(segment, self.origin[segment]) for segment in self.moving}
        out = cut(bare, self.moving, self.origin, tips)
        armed = {name.side for segment, name in out.items() if name.part == "upper_arm" and segment in self.moving}
        for segment, name in out.items():
            if name.part == "clavicle" and name.side not in armed:
                out[segment] = name._replace(part="upper_arm")
        return out

    @cached_property
    def parts(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """The segments of each part and side, from the root outwards; where some of them move, only those."""
        out: dict[tuple[str, str], tuple[str, ...]] = {}
        for segment, name in self.said.items():
            if name.part and name.part != "digit":
                out[name.part, name.side] = (*out.get((name.part, name.side), ()), segment)
        for key, found in out.items():
            moving = tuple(segment for segment in found if segment in self.moving)
            out[key] = moving or found[:1]
        if ("pelvis", "") not in out and (root := self._carrier_of_legs(out)) is not None:
            out["pelvis", ""] = (root,)
        return out

    @property
    def over_the_pelvis(self) -> tuple[str, ...]:
        """The segments that the pelvis hangs on, such as a root on the floor: they are no part of the body."""
        return tuple(self.path(self.parts["pelvis", ""][0])[:-1]) if ("pelvis", "") in self.parts else ()

    def _carrier_of_legs(self, parts: dict[tuple[str, str], tuple[str, ...]]) -> str | None:
        """The last segment that both thighs hang on."""
        thighs = [parts[key][0] for key in (("thigh", "l"), ("thigh", "r")) if key in parts]
        if len(thighs) < 2:
            return None
        shared = [s for s in self.path(thighs[0])[:-1] if s in self.path(thighs[1])]
        return shared[-1] if shared else None

    # ── geometry ─────────────────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def axes(self) -> Floats:
        """Forward, left and up of the body at rest, as columns."""
        across = [
            self.origin[self.parts[part, "l"][-1]] - self.origin[self.parts[part, "r"][-1]]
            for part in NEAR_THE_TRUNK
            if (part, "l") in self.parts and (part, "r") in self.parts
        ]
        left = np.sum(across[:2], axis=0) * [1.0, 1.0, 0.0] if across else np.zeros(3)
        if np.linalg.norm(left) < 1e-6:
            left = self._across_the_feet()
        left /= np.linalg.norm(left)
        return np.column_stack([np.cross(left, UP), left, UP])

    def _across_the_feet(self) -> Floats:
        """Left, for a figure whose names tell nothing: across the way from its ankles to what else is low."""
        heights = np.array([p[2] for p in self.origin.values()])
        low = [s for s in self.figure.segments if self.origin[s][2] < heights.min() + 0.08 * np.ptp(heights)]
        forward = np.zeros(3)
        for segment in low:
            ankle = next(s for s in self.path(segment) if s in low)
            forward += (self.origin[segment] - self.origin[ankle]) * [1.0, 1.0, 0.0]
        if not np.linalg.norm(forward) > 1e-6:
            raise BadValue(
                f"figure {self.figure.name!r} does not tell left from right: name its segments, as left_foot or foot_l"
            )
        return np.cross(UP, forward)

    @cached_property
    def size(self) -> float:
        """The height of all origins together; 1 where they lie in a plane."""
        return float(np.ptp([p[2] for p in self.origin.values()])) or 1.0

    @cached_property
    def ways(self) -> dict[str, float]:
        """The way from the pelvis to each segment's origin along the bones."""
        root = self.parts.get(("pelvis", ""), self.figure.segments[:1])[0]
        way = {root: 0.0}
        for segment in self.figure.segments:
            parent = self.above[segment]
            if parent is not None and segment != root:
                way[segment] = way.get(parent, 0.0) + float(np.linalg.norm(self.origin[segment] - self.origin[parent]))
            way.setdefault(segment, 0.0)
        return way

    @cached_property
    def longest(self) -> float:
        """The longest such way; 1 where all are nothing."""
        return max(self.ways.values()) or 1.0

    @cached_property
    def reach(self) -> dict[str, float]:
        """The way to each segment's origin as a share of the longest."""
        return {segment: length / self.longest for segment, length in self.ways.items()}

    def place(self, segment: str) -> Floats:
        """Reach, side (−1 right, 0 middle, 1 left) and half of the body (−1 below the pelvis, 1 above)."""
        root = self.parts.get(("pelvis", ""), self.figure.segments[:1])[0]
        size = float(np.ptp([p[2] for p in self.origin.values()])) or 1.0
        away = self.axes.T @ (self.origin[segment] - self.origin[root])
        lowest = min(self.origin[s][2] for s in self.below[segment]) - self.origin[root][2]
        side = float(np.sign(away[1])) if abs(away[1]) > 0.02 * size else 0.0
        return np.array([self.reach[segment], side, -1.0 if lowest < -0.3 * size else 1.0])
