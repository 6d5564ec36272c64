"""Retargeting: a motion carried over to another figure.

1. A posture that stands for the source's rest pose is found (`retargeting.rest_pose`), or given.
2. Segments are matched by name and geometry (`retargeting.match`), or as told.
3. Both rest poses are aligned, limb by limb (`retargeting.rest_alignment`), and lengths scaled by the legs.
4. Planted phases of the source's feet are found (`retargeting.planted`), and the target's feet planned so that
   they do not slide (`retargeting.footing`).
5. All frames are fitted inside the target's limits, and what is doubtful searched for again (`retargeting.frames`).
6. A report says what was kept and lost (`retargeting.report`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from supple.basics.checks import flag, function, instance
from supple.basics.stopping import Stop
from supple.errors import BadValue, Interrupted
from supple.figure.figure import Figure
from supple.motion.motion import Motion
from supple.motion.retargeting.anatomy import Anatomy
from supple.motion.retargeting.frames import Follower
from supple.motion.retargeting.match import Match, as_match
from supple.motion.retargeting.report import Report, reported
from supple.motion.retargeting.rest_alignment import Alignment
from supple.motion.retargeting.rest_pose import resting
from supple.motion.retargeting.wishes import Wishes


@dataclass(frozen=True, eq=False, repr=False)
class Retargeted(Motion):
    """A motion that was made for another figure: with the `match` of segments, and a `report` on what was kept and lost.

    `errors` (frames, pairs) are the angles [rad] between each matched segment and where it should point, in the order of
    ``match.pairs``.
    """

    match: Match = field(kw_only=True)
    report: Report = field(kw_only=True)

    @property
    def ok(self) -> bool:
        """Whether nothing seems wrong; the report says what does."""
        return self.report.ok


def match_segments(source: Figure, target: Figure) -> Match:
    """Which segments of `target` would follow which of `source`, by name and geometry; ``print(match.text())`` to look."""
    instance(source, Figure, "the source of a match")
    instance(target, Figure, "the target of a match")
    return as_match(None, Anatomy(source), Anatomy(target))


def retarget(
    motion: Motion,
    to: Figure,
    match: Match | Mapping[str, str] | str | None = None,
    *,
    plant: bool = True,
    rest: int | str | None = None,
    progress: Callable[[int], None] | None = None,
    deadline: float | None = None,
) -> Retargeted:
    """Carry a motion over to the figure `to`: limbs point the same way, inside its limits, and planted feet stay planted.

    `match` says which segments follow which: a `Match`, its text, or a mapping from target to source segments; found
    by name and geometry by default. The target walks on the ground z = 0. Without `plant`, feet and ground are left
    alone: only directions and places are transferred. `rest` says which posture of the source stands for its rest
    pose: the number of a frame, "T" or "A" for the pose nearest to one, by default its zero pose, or a frame where
    that does not stand. `progress` is called with the number of each frame that is done. Frames that are not done
    when the `deadline` [s] passes stand still, and the report, which is written in any case, says so. Ctrl-C raises
    `Interrupted`. Whether the motion can be believed is `Retargeted.ok`; the report's `problems` say what is wrong,
    and what to do.
    """
    stop = Stop(deadline)
    instance(motion, Motion, "what retarget() takes first")
    instance(to, Figure, "to=, what retarget() moves,")
    flag(plant, "plant, whether feet stay planted,")
    function(progress, "progress")
    if not len(motion):
        raise BadValue("a motion without frames cannot be retargeted")
    source, target = resting(motion, rest), Anatomy(to)
    chosen = as_match(match, source, target)
    try:
        wishes = Wishes(motion, Alignment(source, target, chosen), plant)
        follower = Follower(to, wishes, stop)
        Q, done = follower.solved(progress)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted before any of {len(motion):,} frames was done", 0, len(motion)) from None

    def answer() -> Retargeted:
        report, errors = reported(to, wishes, follower, Q)
        if done < len(Q):
            report = replace(report, late=f"{stop.told(done, len(Q), 'frames')} The others stand still.")
        return Retargeted(to, Q, motion.times, errors, to.source, match=chosen, report=report)

    return stop.conclude(done, len(Q), "frames", answer)
