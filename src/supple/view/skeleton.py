"""What a figure looks like in a posture: the shapes of its bodies, and bones and drums where it has none.

A segment without shapes is drawn as tapered bones from its origin to the segments that hang on it; a hinge on it is a
short drum about its axis. How thick a bone is depends on how far the figure still reaches beyond it.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.geometry.shapes import Box
from supple.view.solids import Bone, Drum, Solid, of_ball, of_shape


class Piece(NamedTuple):
    """A solid and its kind of colour: "flesh", "bone", "base", "obstacle", or how much of a joint's range is used."""

    solid: Solid
    colour: str | float | None
    through: tuple[Solid, ...] = ()  # what it lies in; it is drawn on their surface
    shadow: bool = True


class Skeleton:
    """A figure in one posture, ready to be drawn."""

    def __init__(self, figure: Figure, q: Floats) -> None:
        self.figure, self.q = figure, q
        self.frames = figure.placements(q)
        self.origin = {segment: T[:3, 3] for segment, T in self.frames.items()}
        self.above = {segment: figure.parent_of(segment) for segment in figure.segments}
        self.shaped = {s for s, body in figure.bodies.items() if body.shapes}

    @cached_property
    def flesh(self) -> dict[str, list[Solid]]:
        """The shapes of each segment that has any, in the world."""
        bodies = self.figure.bodies
        return {s: [of_shape(shape).moved(self.frames[s]) for shape in bodies[s].shapes] for s in sorted(self.shaped)}

    @cached_property
    def size(self) -> float:
        """How long the figure is from corner to corner [m]."""
        skins = [solid.skin()[0] for solids in self.flesh.values() for solid in solids]
        points = np.concatenate([np.array([*self.origin.values()]).reshape(-1, 3), *skins])
        span = float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0
        return span if span > 1e-9 else 1.0

    @cached_property
    def ends(self) -> dict[str, list[tuple[Floats, str | None]]]:
        """Where the bones of each segment lead: places, each with the segment that begins there."""
        ends: dict[str, list[tuple[Floats, str | None]]] = {s: [] for s in self.figure.segments}
        for child, parent in self.above.items():
            if parent is not None and child in self._moving:
                ends[parent].append((self.origin[child], child))
        for loop in self.figure.loops:
            for segment, at in ((loop.a, loop.at_a), (loop.b, loop.at_b)):
                ends[segment].append(((self.frames[segment] @ at)[:3, 3], None))
        for (
            child,
            parent,
        ) in self.above.items():  # mere frames matter where nothing else does: fingertips, not tool points
            if parent is not None and child not in self._moving and not any(c in self._moving for _, c in ends[parent]):
                ends[parent].append((self.origin[child], child))
        for segment, found in ends.items():
            if not found:
                found += [(place, None) for place in self._onwards(segment)]
        return ends

    def _onwards(self, segment: str) -> list[Floats]:
        """Where a last segment that says nothing of its length ends: a little further from its parent, across its slide."""
        parent, joint = self.above[segment], self.figure.joint_of[segment]
        if parent is None or parent in self.shaped or not self.figure.joints_of(segment):
            return []
        way = self.origin[segment] - self.origin[parent]
        along = self.frames[segment][:3, :3] @ np.array(joint.slide)
        way = way - (way @ along) * along
        length = float(np.linalg.norm(way))
        return [self.origin[segment] + min(0.7, 0.1 * self.size / length) * way] if length > 1e-6 * self.size else []

    @cached_property
    def _moving(self) -> set[str]:
        """The segments that move in their parent, have shapes, or carry one that does."""
        out: set[str] = set()
        for segment in self.figure.segments:
            if segment in self.shaped or self.figure.joints_of(segment):
                at: str | None = segment
                while at is not None and at not in out:
                    out.add(at)
                    at = self.above[at]
        return out

    @cached_property
    def reach(self) -> dict[str, tuple[float, float]]:
        """For each segment the way from its origin to its farthest end [m], and the longest bone on the way out."""
        out: dict[str, tuple[float, float]] = {}
        for segment in reversed(self.figure.segments):
            far = long = 0.0
            for place, child in self.ends[segment]:
                length = float(np.linalg.norm(place - self.origin[segment]))
                beyond, longest = out.get(child or "", (0.0, 0.0))
                far, long = max(far, length + beyond), max(long, length, longest)
            out[segment] = (far, long)
        return out

    def radius(self, segment: str) -> float:
        """How thick bones are at a segment's origin."""
        far, long = self.reach[segment]
        r = 0.041 * far + 0.009 * self.size
        return min(r, 0.45 * long) if long > 1e-3 * self.size else r

    # ── pieces ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def pieces(self) -> list[Piece]:
        """Everything that is drawn of the figure."""
        out = [Piece(solid, "flesh") for solids in self.flesh.values() for solid in solids]
        for segment in self.figure.segments:
            bones = self._struts(segment) if segment in self.shaped else self._bones(segment)
            out += [Piece(bone, "bone") for bone in bones]
        return out + self._joints() + self._plinths()

    def solids_of(self, segment: str) -> list[Solid]:
        """What is drawn of one segment, joints left out."""
        bones = self._struts(segment) if segment in self.shaped else self._bones(segment)
        return [*self.flesh.get(segment, ()), *bones]

    def joint_solids(self) -> dict[str, tuple[Solid, tuple[str, ...]]]:
        """The drum or ball of each joint, by the segment that it moves, and the joints whose ranges it shows."""
        rows = [s for s in self.figure.segments if self._is_drawn(s)]
        return {s: (piece.solid, self.figure.joints_of(s)) for s, piece in zip(rows, self._joints(), strict=True)}

    def _is_drawn(self, segment: str) -> bool:
        """Whether a segment has a joint to draw: any but a root's that moves freely."""
        names = self.figure.joints_of(segment)
        return bool(names) and not (self.above[segment] is None and len(names) > 1 and _unlimited(self.figure, names))

    def _stands(self, segment: str) -> bool:
        """Whether a segment is fixed to the world."""
        parent = self.above[segment]
        return not self.figure.joints_of(segment) and (parent is None or self._stands(parent))

    def _bones(self, segment: str) -> list[Bone]:
        """The bones of a segment; those that rise from a foot begin above it."""
        wide, out, seen = 0.92 * self.radius(segment), [], [self.origin[segment]]
        for place, child in self.ends[segment]:
            if any(np.linalg.norm(place - p) < 1e-6 * self.size for p in seen):
                continue
            seen.append(place)
            start, up = self.origin[segment], self.frames[segment][:3, 2]
            if self._stands(segment) and (place - start) @ up > wide:
                start = start + 1.05 * wide * up
            thin = 0.8 * wide if child is None else min(0.92 * self.radius(child), wide)
            out.append(Bone(start, place, wide, thin))
        return out

    def _struts(self, segment: str) -> list[Bone]:
        """Thin bones to the shapes of a segment if none of them is near its origin, as under some robots' feet."""
        start, out = self.origin[segment], []
        for solid in self.flesh[segment]:
            skin, _ = solid.skin()
            middle = skin.mean(axis=0)
            if np.linalg.norm(middle - start) < np.linalg.norm(skin - middle, axis=1).max() + 0.01 * self.size:
                return []
            out.append(Bone(start, middle, 0.008 * self.size, 0.005 * self.size))
        return out

    def _joints(self) -> list[Piece]:
        """A drum for a hinge between bones, a ball for any other joint; balls on flesh shine through it."""
        used, out = used_range(self.figure, self.q), []
        for segment in self.figure.segments:
            names = self.figure.joints_of(segment)
            if not self._is_drawn(segment):
                continue
            share = max((s for name in names if (s := used[name]) is not None), default=None)
            at, joint = self.origin[segment], self.figure.joint_of[segment]
            if segment in self.shaped or (self.above[segment] or "") in self.shaped:
                flesh = self._thickness(segment)
                ball = of_ball(at, min(0.3 * flesh, 0.0075 * self.size))
                out.append(Piece(ball, share, self._around(segment), shadow=False))
            elif len(names) == 1 and any(joint.turn):
                r, axis = 1.1 * self.radius(segment), self.frames[segment][:3, :3] @ np.array(joint.turn)
                out.append(Piece(Drum(at, axis, r, 2.1 * r), share))
            else:
                out.append(Piece(of_ball(at, 1.08 * self.radius(segment)), share))
        return out

    def _around(self, segment: str) -> tuple[Solid, ...]:
        """The shapes of a segment, of its parent and of what hangs on either."""
        parent = self.above[segment]
        near = {segment, parent, *(s for s, p in self.above.items() if p in (segment, parent) and p is not None)}
        return tuple(solid for s in near for solid in self.flesh.get(s or "", ()))

    def _thickness(self, segment: str) -> float:
        """How thick the shapes around a segment's origin are."""
        found = []
        for s in (segment, self.above[segment]):
            for shape in self.figure.bodies[s].shapes if s in self.shaped else ():
                found.append(
                    0.5 * min(np.subtract(shape.upper, shape.lower)) if isinstance(shape, Box) else shape.radius
                )
        return float(max(found, default=0.02 * self.size))

    def _plinths(self) -> list[Piece]:
        """A flat foot under every segment of bones that is fixed to the world."""
        out = []
        for segment in self.figure.segments:
            if (
                self.above[segment] is None
                and self._stands(segment)
                and segment not in self.shaped
                and self.reach[segment][0]
            ):
                r, h, up = 1.6 * self.radius(segment), 0.02 * self.size, self.frames[segment][:3, 2]
                out.append(Piece(Drum(self.origin[segment] + 0.5 * h * up, up, r, h), "base"))
        return out


def _unlimited(figure: Figure, names: tuple[str, ...]) -> bool:
    index = [figure.coordinates.index(name) for name in names if name in figure.coordinates]
    return bool(np.isinf(figure.lower[index]).all() and np.isinf(figure.upper[index]).all())


def used_range(figure: Figure, q: Floats) -> dict[str, float | None]:
    """How far each moving joint is from the middle of its range: 0 there, 1 at a limit; None where it has no limits.

    A driven joint without limits of its own shows the coordinates that drive it.
    """
    values = dict(zip(figure.coordinates, q.tolist(), strict=True))
    out: dict[str, float | None] = {}
    for name, value, lower, upper in zip(figure.coordinates, q, figure.lower, figure.upper, strict=True):
        out[name] = _share(float(value), float(lower), float(upper))
    for joint in figure.joints.values():
        if joint.drive is not None:
            own = _share(joint.drive.value(values), *joint.limits)
            shares = [share for name, _ in joint.drive.terms if (share := out[name]) is not None]
            out[joint.name] = max(shares, default=None) if own is None else own
    return out


def _share(value: float, lower: float, upper: float) -> float | None:
    if not np.isfinite([lower, upper]).all():
        return None
    if upper - lower < 1e-12:
        return 0.0
    return abs(2.0 * value - lower - upper) / (upper - lower)
