"""What came of retargeting, measured: the target's segments in all frames, and what they tell of feet, ground, jitter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from supple.basics.values import Value
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.motion.retargeting.footing import Footing
from supple.motion.retargeting.frames import Follower
from supple.motion.retargeting.planted import standing
from supple.motion.retargeting.rest_alignment import Pair
from supple.motion.retargeting.wishes import SourceFoot, Wishes

EDGE = 1e-3  # of a range
TOUCHING = 0.012  # [m] above the ground at which a point still touches it
NEARER = 0.007  # [m] the same for what rolls over the ground under a foot
LONG = ("thigh", "shank", "upper_arm", "forearm")
FINE = ("toes", "clavicle", "")  # parts whose own direction is a matter of taste
FAST = 40.0  # [rad/s, m/s] what only a jump is


@dataclass(frozen=True, eq=False, repr=False)
class Quality(Value):
    """A motion in three numbers: worst slide of planted feet [m], worst depth below the ground [m], mean jerk [m/s³]."""

    slide: float
    depth: float
    jerk: float


def of_source(wishes: Wishes) -> Quality:
    """The source, scaled to the target's size."""
    scale = wishes.alignment.scale
    slides = [_slide(way, phases) for foot in wishes.feet for way, phases in zip(foot.ways, foot.planted, strict=True)]
    heights = [way[:, 2] - wishes.ground.under(way, k) for foot in wishes.feet for k, way in enumerate(foot.ways)]
    depth = max((float(-h.min()) for h in heights), default=0.0)
    places = np.array([wishes.way(pair) for pair in wishes.alignment.pairs])
    return Quality(
        scale * max(slides, default=0.0), scale * max(0.0, depth), scale * _jerk(places, wishes.motion.times)
    )


class Seen:
    """The postures Q of the target, and where its segments are in them."""

    def __init__(self, figure: Figure, wishes: Wishes, follower: Follower, Q: Floats) -> None:
        self.figure, self.wishes, self.follower, self.Q = figure, wishes, follower, Q
        self.pairs = wishes.alignment.pairs
        taste = {pair.target for pair in self.pairs if pair.part in FINE}
        self.free = [s for s in figure.segments if s not in taste and self._is_free(s)]
        wanted = [pair.target for pair in self.pairs] + [spot.segment for spot in follower.spots]
        wanted += [s for segment in self.free for s in (segment, figure.parent_of(segment)) if s is not None]
        self.T = figure.placements(Q, wanted)

    def _is_free(self, segment: str) -> bool:
        """Whether a segment's joint has no limits; what carries the whole body is left out."""
        parent = self.figure.parent_of(segment)
        chain = self.figure.chain(parent, segment) if parent is not None else ()
        return any(np.isinf(self.follower.fastest[self.figure.coordinates.index(name)]) for name in chain)

    def _way(self, segment: str, local: Floats) -> Floats:
        """The way of a point of a segment (frames, 3)."""
        T = self.T[segment]
        return T[:, :3, :3] @ local + T[:, :3, 3]

    def lowest(self) -> tuple[str, Floats]:
        """The matched segment whose origin gets lowest, and its heights (frames,)."""
        heights = {pair.target: self.T[pair.target][:, 2, 3] for pair in self.pairs}
        name = min(heights, key=lambda segment: float(heights[segment].min()))
        return name, heights[name]

    def quality(self) -> Quality:
        """The target in three numbers."""
        slides, depths = [], [0.0]
        for foot, footing in zip(self.wishes.feet, self.follower.footings, strict=True):
            for point, phases in zip((footing.sole.heel, footing.sole.ball), foot.planted, strict=True):
                slides.append(_slide(self._way(footing.sole.foot, footing.sole.in_foot(point)), phases))
            slides += self._creeping(foot, footing)
        for hand in self.follower.hands:
            slides.append(_slide(self._way(hand.spot.segment, hand.spot.centre), hand.phases))
        if self.follower.spots:
            depths.append(float(-self.follower.heights_in(self.T).min()))
        places = [self.way_of(pair) for pair in self.pairs]
        return Quality(max(slides, default=0.0), max(depths), _jerk(np.array(places), self.wishes.motion.times))

    def _creeping(self, foot: SourceFoot, footing: Footing) -> list[float]:
        """How far heel, ball and points of the sole nearer to the ankle go on the ground while the source's surely stand.

        Nothing where feet are left alone.
        """
        out, sole = [], footing.sole
        under = sole.ankle - [0.0, 0.0, sole.height]
        behind, before = 0.75 * sole.heel + 0.25 * under, 0.9 * sole.ball + 0.1 * under
        points = ((0, sole.heel, TOUCHING), (0, behind, NEARER), (1, before, NEARER), (1, sole.ball, TOUCHING))
        for kind, point, near in points if self.wishes.plant else ():
            way, theirs = self._way(sole.foot, sole.in_foot(point)), self.wishes.joints_of_foot(foot.side)[kind]
            for a, b in standing(theirs, self.wishes.motion.times, self.wishes.leg):
                part = way[a:b][way[a:b, 2] < near, :2]
                if len(part):
                    out.append(float(np.linalg.norm(part - np.median(part, axis=0), axis=1).max()))
        return out

    def jumps(self) -> int:
        """Frames in which a coordinate that has limits jumps, or a segment whose joint has none turns as fast from its parent.

        A segment that turns so fast because its source turns half as fast, as thumbs do that nobody captured, does not jump.
        """
        most, fastest = FAST * self.follower.step, self.follower.fastest
        sources = {pair.target: self.wishes.frames[pair.source] for pair in self.pairs}
        fast = (np.abs(np.diff(self.Q, axis=0)) > np.where(np.isfinite(fastest), most, np.inf)).any(axis=1)
        for segment in self.free:
            above = self.T[str(self.figure.parent_of(segment))]
            turns = _turns(np.swapaxes(above[:, :3, :3], 1, 2) @ self.T[segment][:, :3, :3], most)
            fast |= turns & ~_turns(sources[segment][:, :3, :3], 0.5 * most) if segment in sources else turns
        return int(fast.sum())

    def source_jumps(self) -> list[int]:
        """In how many frames the source's segment of each pair turns faster than anything does."""
        most = FAST * self.follower.step
        return [int(_turns(self.wishes.frames[pair.source][:, :3, :3], most).sum()) for pair in self.pairs]

    def at_limits(self) -> tuple[dict[str, float], float]:
        """The share of frames that each coordinate spends at a limit, and that in which any does."""
        figure, Q = self.figure, self.Q
        edge = EDGE * np.minimum(figure.upper - figure.lower, 1.0)
        at = np.minimum(Q - figure.lower, figure.upper - Q) <= edge
        at &= np.ptp(Q, axis=0) > 1e-6
        shares = at.mean(axis=0)
        hit = {name: float(share) for name, share in zip(figure.coordinates, shares, strict=True) if share > 0.0}
        return hit, float(at.any(axis=1).mean())

    def off_limbs(self, errors: Floats) -> float:
        """The mean error of limbs (of `errors` by frame and pair) and of the line from hips to shoulders [rad]."""
        off = [errors[:, k].mean() for k, pair in enumerate(self.pairs) if pair.part in LONG]
        tops, hips = ([p for p in self.pairs if p.part == part] for part in ("upper_arm", "thigh"))
        if len(tops) > 1 and len(hips) > 1:
            off.append(_angles(*(_line(way, hips, tops) for way in (self.wishes.way, self.way_of))).mean())
        return float(np.mean(off)) if off else 0.0

    def way_of(self, pair: Pair) -> Floats:
        """The way of a target segment's turning point (frames, 3)."""
        target = self.wishes.alignment.target
        rest = target.anatomy.rest[pair.target]
        return self._way(pair.target, rest[:3, :3].T @ (target.start(pair.target) - rest[:3, 3]))

    def direction_errors(self) -> Floats:
        """The angle between each matched bone and where it is to point (frames, pairs)."""
        out = []
        for pair in self.pairs:
            axis, rest = self.wishes.axes(pair)[0], self.wishes.alignment.target.anatomy.rest[pair.target][:3, :3]
            is_now = self.T[pair.target][:, :3, :3] @ (rest.T @ axis)
            should = self.wishes.wished(pair) @ axis
            across = np.linalg.norm(np.cross(is_now, should), axis=1)
            out.append(np.arctan2(across, (is_now * should).sum(axis=1)))
        return np.array(out).T


def _line(way: Callable[[Pair], Floats], begin: list[Pair], end: list[Pair]) -> Floats:
    """From the middle of some turning points to that of others (frames, 3)."""
    return np.mean([way(p) for p in end], axis=0) - np.mean([way(p) for p in begin], axis=0)


def _angles(u: Floats, v: Floats) -> Floats:
    """The angles between rows of u and v."""
    return np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), (u * v).sum(axis=1))


def _turns(R: Floats, most: float) -> np.ndarray:
    """Between which frames R (frames, 3, 3) turns by more than an angle."""
    return np.einsum("kij,kij->k", R[1:], R[:-1]) < 1.0 + 2.0 * np.cos(min(most, np.pi))


def _slide(way: Floats, phases: list[tuple[int, int]]) -> float:
    """The greatest level distance from the middle of a planted phase's places."""
    parts = [way[a:b, :2] for a, b in phases]
    return max((float(np.linalg.norm(part - part.mean(axis=0), axis=1).max()) for part in parts), default=0.0)


def _jerk(places: Floats, times: Floats) -> float:
    """The mean size of the third derivative of places (points, frames, 3)."""
    if len(times) < 4:
        return 0.0
    dt = (times[-1] - times[0]) / (len(times) - 1)
    return float(np.linalg.norm(np.diff(places, n=3, axis=1), axis=2).mean() / dt**3)
