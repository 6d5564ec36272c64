"""What retargeting has kept and lost, in numbers: feet, ground, jitter, limits, directions.

*Slide* is how far a planted heel or ball is from the middle of its place in that phase, level, at worst; so is one
that the source surely holds still, planted or not. *Depth* is how far anything that should not is below the ground,
at worst. *Jerk* is the third derivative of the places where matched segments turn, averaged over them and over time;
the source's is scaled to the target's size. A *jump* is a change of a coordinate from one frame to the next by more
than 40 rad/s. A coordinate is at a limit where it is within a thousandth of its range of one; coordinates that never
move do not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from supple.basics.values import Value
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.motion.retargeting.footing import Footing
from supple.motion.retargeting.frames import Follower
from supple.motion.retargeting.overlap import overlap_of
from supple.motion.retargeting.planted import standing
from supple.motion.retargeting.verdict import problems_of
from supple.motion.retargeting.wishes import SourceFoot, Wishes

EDGE = 1e-3  # of a range
TOUCHING = 0.012  # [m] above the ground at which a point still touches it
FAST = 40.0  # [rad/s, m/s] what only a jump is


@dataclass(frozen=True, eq=False, repr=False)
class Quality(Value):
    """A motion in three numbers: worst slide of planted feet [m], worst depth below the ground [m], mean jerk [m/s³]."""

    slide: float
    depth: float
    jerk: float


@dataclass(frozen=True, eq=False, repr=False)
class Report(Value):
    """The source (scaled) and the target side by side; mean and worst direction error by segment [rad]; limits that were hit.

    `limits` are the shares of frames that each coordinate spends at a limit; `at_limits` is the share of frames in which
    any does. `phases` is the number of planted phases of heels and balls. `late` says that
    not all frames were done in time, and is empty where they were. `problems` say what is wrong, and what to do.
    """

    source: Quality
    target: Quality
    directions: Mapping[str, tuple[float, float]]
    limits: Mapping[str, float]
    at_limits: float
    phases: int
    scale: float
    jumps: int = 0  # frames in which a coordinate changes faster than anything moves
    overlap: float = 0.0  # how deep parts of the body are in each other at worst, beyond what they are at rest [m]
    late: str = ""  # what came before the last frame was done, if anything
    problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing seems wrong."""
        return not self.problems

    @property
    def verdict(self) -> str:
        """In one sentence whether the motion can be believed, then what is wrong, one sentence each."""
        return "\n".join(["Not to be relied on:", *self.problems]) if self.problems else "Nothing seems wrong."

    def text(self) -> str:
        """A table for people."""
        rows = [
            ("", "source", "target"),
            ("slide of planted feet [mm]", *(f"{1e3 * q.slide:.2f}" for q in (self.source, self.target))),
            ("depth below the ground [mm]", *(f"{1e3 * q.depth:.2f}" for q in (self.source, self.target))),
            ("mean jerk [m/s³]", *(f"{q.jerk:.1f}" for q in (self.source, self.target))),
            ("frames at a limit [%]", "–", f"{100 * self.at_limits:.1f}"),
            ("depth in itself [mm]", "–", f"{1e3 * self.overlap:.1f}"),
            ("frames that jump", "–", f"{self.jumps}"),
            ("direction error, mean [°]", "–", f"{np.rad2deg(self._mean()):.2f}"),
            ("direction error, worst [°]", "–", f"{np.rad2deg(self._worst()[1]):.1f} ({self._worst()[0]})"),
        ]
        lines = [f"{a:28}{b:>10}  {c:>10}" for a, b, c in rows]
        hit = sorted(self.limits.items(), key=lambda item: -item[1])[:6]
        tail = [f"{self.phases} planted phases; the target is {self.scale:.3f} times the source's size"]
        if hit:
            tail.append("most at a limit: " + ", ".join(f"{name} {100 * share:.0f} %" for name, share in hit))
        return "\n".join([*lines, *tail, *([self.late] if self.late else []), self.verdict])

    def _mean(self) -> float:
        return float(np.mean([mean for mean, _ in self.directions.values()]))

    def _worst(self) -> tuple[str, float]:
        name = max(self.directions, key=lambda segment: self.directions[segment][1])
        return name, self.directions[name][1]


def reported(figure: Figure, wishes: Wishes, follower: Follower, Q: Floats) -> tuple[Report, Floats]:
    """The report on the postures Q, and the direction error of each pair in each frame (frames, pairs) [rad]."""
    errors = _direction_errors(figure, wishes, Q)
    shares, at_limits = _at_limits(figure, Q)
    target = _of_target(figure, wishes, follower, Q)
    report = Report(
        _of_source(wishes),
        target,
        {p.target: (float(e.mean()), float(e.max())) for p, e in zip(wishes.alignment.pairs, errors.T, strict=True)},
        shares,
        at_limits,
        sum(len(phases) for foot in wishes.feet for phases in foot.planted),
        wishes.alignment.scale,
        _jumps(follower, Q),
        overlap_of(wishes.alignment, Q),
    )
    problems = problems_of(figure, wishes, Q, errors, report)
    return replace(report, problems=problems), errors


def _jumps(follower: Follower, Q: Floats) -> int:
    """Frames in which a coordinate that does not carry the whole body jumps."""
    fast = np.abs(np.diff(Q, axis=0)) > np.where(np.isfinite(follower.fastest), FAST * follower.step, np.inf)
    return int(fast.any(axis=1).sum())


def _of_source(wishes: Wishes) -> Quality:
    scale = wishes.alignment.scale
    slides = [_slide(way, phases) for foot in wishes.feet for way, phases in zip(foot.ways, foot.planted, strict=True)]
    heights = [way[:, 2] - wishes.ground.under(way, k) for foot in wishes.feet for k, way in enumerate(foot.ways)]
    depth = max((float(-h.min()) for h in heights), default=0.0)
    places = np.array([wishes.way(pair) for pair in wishes.alignment.pairs])
    return Quality(
        scale * max(slides, default=0.0), scale * max(0.0, depth), scale * _jerk(places, wishes.motion.times)
    )


def _of_target(figure: Figure, wishes: Wishes, follower: Follower, Q: Floats) -> Quality:
    slides, depths, places = [], [0.0], []
    for foot, footing in zip(wishes.feet, follower.footings, strict=True):
        T = figure.placement(Q, footing.sole.foot)
        for point, phases in zip((footing.sole.heel, footing.sole.ball), foot.planted, strict=True):
            slides.append(_slide(T[:, :3, :3] @ footing.sole.in_foot(point) + T[:, :3, 3], phases))
        slides += _creeping(wishes, foot, footing, T)
    for hand in follower.hands:
        T = figure.placement(Q, hand.spot.segment)
        slides.append(_slide(T[:, :3, :3] @ hand.spot.centre + T[:, :3, 3], hand.phases))
    if follower.spots:
        depths.append(float(-follower.heights(Q).min()))
    target = wishes.alignment.target
    for pair in wishes.alignment.pairs:
        rest, T = target.anatomy.rest[pair.target], figure.placement(Q, pair.target)
        offset = rest[:3, :3].T @ (target.start(pair.target) - rest[:3, 3])
        places.append(T[:, :3, :3] @ offset + T[:, :3, 3])
    return Quality(max(slides, default=0.0), max(depths), _jerk(np.array(places), wishes.motion.times))


def _creeping(wishes: Wishes, foot: SourceFoot, footing: Footing, T: Floats) -> list[float]:
    """How far heel and ball go on the ground while the source's surely stand; nothing where feet are left alone."""
    out = []
    for kind, point in enumerate((footing.sole.heel, footing.sole.ball) if wishes.plant else ()):
        way, theirs = T[:, :3, :3] @ footing.sole.in_foot(point) + T[:, :3, 3], wishes.joints_of_foot(foot.side)[kind]
        for a, b in standing(theirs, wishes.motion.times, wishes.leg):
            part = way[a:b][way[a:b, 2] < TOUCHING, :2]
            if len(part):
                out.append(float(np.linalg.norm(part - np.median(part, axis=0), axis=1).max()))
    return out


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


def _at_limits(figure: Figure, Q: Floats) -> tuple[dict[str, float], float]:
    edge = EDGE * np.minimum(figure.upper - figure.lower, 1.0)
    at = np.minimum(Q - figure.lower, figure.upper - Q) <= edge
    at &= np.ptp(Q, axis=0) > 1e-6
    shares = at.mean(axis=0)
    hit = {name: float(share) for name, share in zip(figure.coordinates, shares, strict=True) if share > 0.0}
    return hit, float(at.any(axis=1).mean())


def _direction_errors(figure: Figure, wishes: Wishes, Q: Floats) -> Floats:
    """The angle between each matched bone and where it is to point (frames, pairs)."""
    out = []
    for pair in wishes.alignment.pairs:
        axis, rest = wishes.axes(pair)[0], wishes.alignment.target.anatomy.rest[pair.target][:3, :3]
        is_now = figure.placement(Q, pair.target)[:, :3, :3] @ (rest.T @ axis)
        should = wishes.wished(pair) @ axis
        across = np.linalg.norm(np.cross(is_now, should), axis=1)
        out.append(np.arctan2(across, (is_now * should).sum(axis=1)))
    return np.array(out).T
