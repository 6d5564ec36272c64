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
from supple.motion.retargeting.frames import Follower
from supple.motion.retargeting.overlap import overlap_of
from supple.motion.retargeting.seen import Quality, Seen, of_source
from supple.motion.retargeting.verdict import problems_of
from supple.motion.retargeting.wishes import Wishes


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
    seen = Seen(figure, wishes, follower, Q)
    errors = seen.direction_errors()
    shares, at_limits = seen.at_limits()
    report = Report(
        of_source(wishes),
        seen.quality(),
        {p.target: (float(e.mean()), float(e.max())) for p, e in zip(wishes.alignment.pairs, errors.T, strict=True)},
        shares,
        at_limits,
        sum(len(phases) for foot in wishes.feet for phases in foot.planted),
        wishes.alignment.scale,
        seen.jumps(),
        overlap_of(wishes.alignment, Q),
    )
    return replace(report, problems=problems_of(seen, errors, report)), errors
