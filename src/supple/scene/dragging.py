"""Following a target that is dragged: bounded work an event, from the posture before, whether the target is in reach or not.

One attempt of the usual solver answers in microseconds where the target can be met. Where it cannot, and some constraints come
strictly before others, an exact answer takes rank after rank and has no bound. So a drag asks for something a little easier,
with the ranks r = 0 … n as weights,

    min Σ w_r P,    w_r = FIRM^(n − r),

which the same attempt answers within `DRAGGED` evaluations, and then takes the way back to what is hard, from there:

    q ← the posture next to q in which the hard constraints are met.

In reach all P vanish and the weights do not matter. Out of reach hard constraints hold after every event, and the next event,
or the same target again, goes on from where this one ended.

A limb that is straight towards the target has no slope to bend by, and Gauss and Newton's model does not see that it may. An
attempt that does not get away is made once more from a nudge beside, and taken if it ends lower.

A *stride* bounds by how much any coordinate changes in one event. A longer way is cut: the target is taken part of the way from
where the effector is, so that the answer is again one in which the other constraints hold; what is left is cut in the posture,
and more of it if the way back to what is hard would not fit in the stride.

Another solver may be chosen, to feel how its method moves. It gets the ranks as weights too, w_r = HEAVY^(n − r), since methods
of small steps make no way where weights differ much, and `CHOSEN` evaluations; the way back to what is hard stays the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.problem.goals import AimedAt, At
from supple.problem.problem import Problem, Task
from supple.problem.solution import OWN_STEPS, Solution, Status, judged_later, solved_by
from supple.scene.attempts import Attempt, Found, Unchecked
from supple.scene.state import Setup
from supple.solvers.base import Solver

DRAGGED = 10  # evaluations that an attempt may take
BACK = 8  # evaluations of the way back to what is hard
FIRM = 1e4  # how much more a rank weighs than the next one
HEAVY, CHOSEN = 10.0, 40  # the same for a solver that was chosen, and the evaluations that it may take
SHARES = (
    1.0,
    0.5,
    0.25,
    0.1,
    0.0,
)  # of a stride: how far a posture is cut until the way back to what is hard fits in one
CUTS = 1  # how often a way is shortened before its posture is
STUCK = 1e-3  # rad, m: an attempt that gets no further may be at a straight limb
NUDGE = 0.03  # of the way to the middle of the range
GAIN = 1e-6  # by which part of the value a nudged attempt must be better
SHORT = "The figure follows in strides"


class Follower:
    """The prepared attempts for some constraints; they answer as long as only targets change."""

    def __init__(self, figure: Figure, setup: Setup, tasks: Mapping[str, Task], chosen: Solver | None = None) -> None:
        self.names = tuple(tasks)
        self.problem = setup.problem(figure, tasks)
        ranked = max(self.problem.ranks, default=0) > 0
        hard = {name: task for name, task in tasks.items() if task.hard}
        eased = ranked and not any(task.preference for task in tasks.values())
        first = self._eased(setup, tasks, FIRM if chosen is None else HEAVY) if eased else self.problem
        usual = DRAGGED if eased or not ranked else None
        self.first = Attempt(first, usual if chosen is None else CHOSEN, chosen)
        self.back = Attempt(setup.problem(figure, hard), BACK) if eased and hard else None
        self._hard = tuple(name in hard for name in tasks)

    def _eased(self, setup: Setup, tasks: Mapping[str, Task], firm: float) -> Problem:
        """The problem with weights in the place of ranks, each `firm` times the next one's."""
        top = max(self.problem.ranks)
        pairs = zip(tasks.items(), self.problem.ranks, strict=False)  # ranks go on with loops and obstacles
        eased = {
            name: replace(task, hard=False, priority=0, weight=task.weight * firm ** (top - rank))
            for (name, task), rank in pairs
        }
        return setup.problem(self.problem.figure, eased)

    def __call__(self, targets: Sequence[Any], start: Floats, dragged: str, stride: float | None) -> Solution:
        """The posture after an event; `dragged` is the constraint whose target has moved."""
        at, asked = self.names.index(dragged), list(targets)
        found = self._once(asked, start, at)
        longest = 0.0 if stride is None else _farthest(found.q, start)
        for _ in range(CUTS):
            if stride is None or longest <= stride:
                break
            nearer = self._part_of_the_way(at, targets[at], start, stride / longest)
            if nearer is None:
                break
            asked[at] = nearer
            found = self._once(asked, start, at)
            longest = _farthest(found.q, start)
        if stride is not None and longest > stride:
            return self._told(found._replace(q=self._strode(found.q, targets, at, start, stride)), targets, SHORT)
        if found.sure and asked[at] is targets[at]:
            kept = [None if target is None else np.array(target, dtype=float) for target in targets]
            return solved_by(found.q, (self, kept, [found.iterations, found.evaluations]))
        return self._told(found, targets, OWN_STEPS if asked[at] is targets[at] else SHORT)

    def _once(self, targets: Sequence[Any], start: Floats, at: int) -> Found:
        found = self._attempted(targets, start)
        if found.ok or self.first.problem is self.problem:
            return found
        held = self._held(found.q, targets, at)
        held = self._held(start, targets, at) if held is None else held
        return found if held is None else found._replace(q=held)

    def _held(self, q: Floats, targets: Sequence[Any], at: int) -> Floats | None:
        """The posture next to q that meets what is hard; none if there is nothing hard or it is not met from there."""
        if self.back is None or self._hard[at]:
            return None
        hard = [target for target, wanted in zip(targets, self._hard, strict=True) if wanted]
        held = self.back(hard, q)
        return held.q if held.ok else None

    def _attempted(self, targets: Sequence[Any], start: Floats) -> Found:
        """One attempt; where it does not get away from the start, a second one a nudge beside it, if that ends lower."""
        found = self.first(targets, start)
        if found.ok or _farthest(found.q, start) > STUCK:
            return found
        other = self.first(targets, self._nudged(start))
        if other.ok:
            return other
        asked = self.first.problem.aimed(*targets)
        return other if asked.value(other.q) < (1.0 - GAIN) * asked.value(found.q) else found

    def _nudged(self, q: Floats) -> Floats:
        """A posture a little nearer to the middle of all ranges: limbs bent that were straight."""
        limits = self.problem.limits
        assert limits is not None
        moving = (self.problem.free > 0.0) & np.isfinite(limits.lower) & np.isfinite(limits.upper)
        with np.errstate(invalid="ignore"):
            middle = np.where(moving, 0.5 * (limits.lower + limits.upper), q)
        return self.problem.admitted(q + NUDGE * (middle - q))

    def _told(self, found: Found, targets: Sequence[Any], ended: str) -> Solution:
        """What is true of a posture in the problem as it was stated, found out when somebody asks."""
        spent = {"iterations": found.iterations, "evaluations": found.evaluations, "seed": self.first.query.seed}
        stationary = ended == OWN_STEPS and found.stationary
        kept = [None if target is None else np.array(target, dtype=float) for target in targets]
        check = Unchecked(self.problem, kept, found.q, stationary, ended, spent)
        if self.problem.limits is None or not self.problem.limits.is_box:
            return check.audited()
        return judged_later(found.q, (check,), found.iterations, found.evaluations)

    def _strode(self, q: Floats, targets: Sequence[Any], at: int, start: Floats, stride: float) -> Floats:
        """A posture no further than a stride, on the way to q, in which what is hard holds if a shorter way has one."""
        first = None
        for share in SHARES:
            part = self._cut(q, start, share * stride)
            held = self._held(part, targets, at)
            if held is None:
                first = part if first is None else first
                continue
            if _farthest(held, start) <= stride:
                return held
            first = self._cut(held, start, stride) if first is None else first
        assert first is not None
        return first

    def _cut(self, q: Floats, start: Floats, stride: float) -> Floats:
        """A posture on the way to q, no further than a stride."""
        return self.problem.admitted(start + min(1.0, stride / max(_farthest(q, start), 1e-12)) * (q - start))

    def told(self, targets: Sequence[Any], spent: list[float]) -> dict[str, Any]:
        """What an answer says besides its posture, if it is a solution."""
        rest = {"iterations": int(spent[0]), "evaluations": int(spent[1]), "seed": self.first.query.seed}
        return {"problem": self._asked(targets), "reason": Status.SOLVED.value, **rest}

    def _asked(self, targets: Sequence[Any]) -> Problem:
        return self.problem.aimed(*targets)

    def _part_of_the_way(self, at: int, target: Any, start: Floats, share: float) -> Floats | None:
        """A target between where the effector is and where it is wanted; none if the goal has no such place."""
        task = self.problem.tasks[at]
        if not isinstance(task.goal, At | AimedAt) or task.goal.relative_to is not None or task.effector is None:
            return None
        seen = self.problem.figure.seen(start, task.effector)
        wanted = np.asarray(target, dtype=float)
        if isinstance(task.goal, At):
            here = seen[:3, 3]
        else:  # as far away as the target, where it is aimed at now
            here = seen[:3, 3] + np.linalg.norm(wanted - seen[:3, 3]) * seen[:3, 0]
        return here + share * (wanted - here)


def _farthest(q: Floats, start: Floats) -> float:
    """The greatest change of a coordinate."""
    return float(np.abs(q - start).max(initial=0.0))
