"""Rest poses aligned: what turns the target's rest pose, segment by segment, into the source's.

A T-pose and a robot with hanging arms differ in their rest pose, not in what they do. With b the bone of a segment at
rest, in the world's axes, D of a pair is the turn that takes the target's rest pose to the source's:

    D_root = B_s B_tᵀ                 the body axes (forward, left, up) of both
    D = arc(D_parent b_t, b_s) D_parent    for limbs: the parent's turn, then the shortest one that makes the bones parallel
    D = D_root                        for pelvis, trunk, neck, head and clavicles, whose bones are a matter of taste
    D = D_foot                        for toes, likewise

so an arm that hangs is first lifted at the shoulder, then straightened at the elbow, and the palm comes out right. In
a frame of the motion the source has turned by ``W = R_s R_s(rest)ᵀ`` from its rest, and the target should have turned
by ``W D``.

A bone runs from where the segment turns (the point nearest to its hinges' axes, those of the links above it included
as long as they are not matched themselves) to where the next matched segment of the limb does, or to its farthest
end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from supple.geometry.placements import Floats, turned
from supple.motion.retargeting.anatomy import Anatomy
from supple.motion.retargeting.match import FREE, Match, keys_of
from supple.motion.retargeting.names import AXIAL, LIMBS
from supple.motion.retargeting.soles import Sole, spots_of

SHORT = 0.03  # of the body's height: a bone that is none
HINGED = ("thigh", "upper_arm")  # parts in front of a knee or elbow
STRAIGHT = ("clavicle", *AXIAL)  # parts that take over whole orientations
NEXT = {a: b for limb in LIMBS.values() for a, b in pairwise(limb)}


@dataclass(frozen=True)
class Pair:
    """A target segment, the source segment that it follows, and what part of the body they are."""

    target: str
    source: str
    part: str
    side: str


def arc(u: Floats, v: Floats) -> Floats:
    """The shortest turn that makes u parallel to v."""
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    axis, cosine = np.cross(u, v), float(u @ v)
    sine = float(np.linalg.norm(axis))
    if sine < 1e-12:
        if cosine > 0.0:
            return np.eye(3)
        axis, sine = np.cross(u, np.eye(3)[int(np.argmin(np.abs(u)))]), 0.0
    return turned((axis / np.linalg.norm(axis)).tolist(), float(np.arctan2(sine, cosine)))


def arcs(u: Floats, v: Floats) -> Floats:
    """The shortest turns (k, 3, 3) that make rows of u parallel to those of v (k, 3), which are not opposite to them."""
    u, v = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (u, v))
    w, c = np.cross(u, v), (u * v).sum(axis=1)
    K = np.zeros((len(u), 3, 3))
    K[:, 0, 1], K[:, 0, 2], K[:, 1, 2] = -w[:, 2], w[:, 1], -w[:, 0]
    K -= np.swapaxes(K, 1, 2)
    return np.eye(3) + K + K @ K / (1.0 + c)[:, None, None]


class Skeleton:
    """One of the two figures with the segments of it that are matched."""

    def __init__(self, anatomy: Anatomy, matched: dict[tuple[str, str], str], segments: set[str]) -> None:
        self.anatomy, self.matched, self.segments = anatomy, matched, segments
        self._starts: dict[str, Floats] = {}

    def start(self, segment: str) -> Floats:
        """Where a segment turns, at rest in the world."""
        if segment not in self._starts:
            self._starts[segment] = self._turning_point(segment)
        return self._starts[segment]

    def _turning_point(self, segment: str) -> Floats:
        """The point nearest to the axes of the segment and of the unmatched links above it, up to three of them."""
        anatomy, at, hinges = self.anatomy, segment, 0
        A, b = 1e-6 * np.eye(3), 1e-6 * anatomy.origin[segment]
        while True:
            count = sum(any(anatomy.figure.joint_of[key].turn) for key in keys_of(anatomy.figure, at))
            axis = anatomy.rest[at][:3, :3] @ np.array(anatomy.figure.joint_of[at].turn) if count == 1 else np.zeros(3)
            across = np.eye(3) - np.outer(axis, axis)  # several hinges of one segment meet in its origin
            A, b, hinges = A + across, b + across @ anatomy.origin[at], hinges + count
            above = anatomy.above[at]
            if hinges >= FREE or above is None or above in self.segments or above not in anatomy.moving:
                return np.asarray(np.linalg.solve(A, b), dtype=np.float64)
            at = above

    def end(self, segment: str, part: str, side: str) -> Floats:
        """Where the segment's bone ends, at rest in the world."""
        following = self.matched.get((NEXT.get(part, ""), side))
        if following is not None:
            return self.start(following)
        if part == "foot":
            return Sole(self.anatomy, segment, self.start(segment)).ball
        start, rest = self.start(segment), self.anatomy.rest[segment]
        end = self.anatomy.farthest(segment, start)
        if np.linalg.norm(end - start) > SHORT * self.anatomy.size:
            return end
        spots = [rest[:3, :3] @ spot.centre + rest[:3, 3] for spot in spots_of(self.anatomy, segment)]
        return max([end, *spots], key=lambda p: float(np.linalg.norm(p - start)))

    def bone(self, pair: Pair, segment: str) -> Floats:
        """The vector along a segment's bone, at rest in the world.

        Where the next segment turns about a hinge, as a shank does, what lies along that is how a robot is built, and left out.
        """
        bone = self.end(segment, pair.part, pair.side) - self.start(segment)
        following = self.matched.get((NEXT.get(pair.part, ""), pair.side)) if pair.part in HINGED else None
        axis = None if following is None else self._hinge(following)
        return bone if axis is None else bone - (bone @ axis) * axis

    def _hinge(self, segment: str) -> Floats | None:
        """The axis of a segment that turns about one only, at rest in the world."""
        figure = self.anatomy.figure
        if sum(any(figure.joint_of[key].turn) for key in keys_of(figure, segment)) != 1:
            return None
        axis = self.anatomy.rest[segment][:3, :3] @ np.array(figure.joint_of[segment].turn)
        size = float(np.linalg.norm(axis))
        return axis / size if size > 0.0 else None


class Alignment:
    """Both figures at rest, matched and aligned."""

    def __init__(self, source: Anatomy, target: Anatomy, match: Match) -> None:
        self.match = match
        self.pairs = tuple(self._pair(t, s, source, target) for t, s in match.pairs)
        known = [pair for pair in self.pairs if pair.part]
        self.source = Skeleton(source, {(p.part, p.side): p.source for p in known}, {p.source for p in self.pairs})
        self.target = Skeleton(target, {(p.part, p.side): p.target for p in known}, {p.target for p in self.pairs})

    @staticmethod
    def _pair(t: str, s: str, source: Anatomy, target: Anatomy) -> Pair:
        """A pair, with the part that either name tells."""
        for name in (target.said[t], source.said[s]):
            if name.part and name.part != "digit":
                return Pair(t, s, name.part, name.side)
        return Pair(t, s, "pelvis" if t in target.parts.get(("pelvis", ""), ()) else "", "")

    def of(self, part: str, side: str = "") -> Pair | None:
        """The pair that is a part of the body; of a row of them the last."""
        found = [pair for pair in self.pairs if (pair.part, pair.side) == (part, side)]
        return found[-1] if found else None

    @cached_property
    def root(self) -> Floats:
        """D of the body as a whole."""
        return self.source.anatomy.axes @ self.target.anatomy.axes.T

    @cached_property
    def turns(self) -> dict[str, Floats]:
        """D of every pair, by target segment."""
        out: dict[str, Floats] = {}
        for pair in self.pairs:
            D = next((out[s] for s in reversed(self.target.anatomy.path(pair.target)) if s in out), self.root)
            if pair.part in STRAIGHT or pair.part == "toes":
                out[pair.target] = D if pair.part == "toes" else self.root
                continue
            mine, theirs = self.target.bone(pair, pair.target), self.source.bone(pair, pair.source)
            if min(np.linalg.norm(mine), np.linalg.norm(theirs)) > 1e-6:
                D = arc(D @ mine, theirs) @ D
            out[pair.target] = D
        return out

    @cached_property
    def scale(self) -> float:
        """The target's size over the source's: of the legs from hip to ankle, else of all matched bones."""
        lengths = np.zeros(2)
        for which in (("thigh", "shank"), None):
            for pair in self.pairs:
                if which is None or pair.part in which:
                    sides = (self.source, pair.source), (self.target, pair.target)
                    lengths += [np.linalg.norm(skeleton.bone(pair, segment)) for skeleton, segment in sides]
            if lengths.min() > 1e-6:
                return float(lengths[1] / lengths[0])
        return 1.0
