"""Sequences of targets: every step starts where the one before ended, within reach of the figure's speeds.

The first target is searched for from the start; from then on each search begins at the last posture, which for a smooth path
is two or three steps of Levenberg–Marquardt away. With a time step, no coordinate moves faster than its speed limit: the
limits of each step are the figure's own, cut to ``q ± speed · dt``. Where a step had to leave the branch of solutions it was
on, because that branch ends or because the path passes where branches meet, the posture jumps; such steps are listed as
`flips`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import endless, flag, instance, positive, seeded, spread
from supple.basics.stopping import Stop
from supple.errors import BadValue, Refused
from supple.geometry.placements import Floats
from supple.kernels.layouts import CHARTS, FREE_ROOT
from supple.problem.allowance import FREELY, TRIES
from supple.problem.goals import Near
from supple.problem.problem import Problem
from supple.problem.solution import JUMP
from supple.problem.targets import by_task, flat_targets
from supple.solvers.base import Proving, Solver
from supple.solvers.levenberg_marquardt.levenberg_marquardt import SearchCall
from supple.solvers.multistart import compiled_for_many
from supple.solving.many import Solutions
from supple.solving.rows import Rows

PART, LONGEST = 64, 512  # rows that are run before they are looked at: twice as many each time that nothing changes
PACED = 3  # attempts at a step whose coordinates have speed limits


@dataclass(frozen=True, eq=False, repr=False)
class Path(Solutions):
    """The answers to a sequence of targets, in order."""

    jump: float = JUMP
    branch: np.ndarray | None = None  # with `whole`: whether each posture lies on the branch that was found (n)

    @cached_property
    def breaks(self) -> tuple[int, ...]:
        """The steps that no continuous branch was found to lead to: flips and, of a `whole` path, postures off the branch."""
        off = () if self.branch is None else np.flatnonzero(~self.branch).tolist()
        return tuple(sorted({*self.flips, *off}))

    @property
    def reason(self) -> str:
        """One sentence: whether one branch of solutions leads along the path, and if not, where none was found to."""
        if not self.breaks:
            return "The path is followed without a break."
        shown = ", ".join(map(str, self.breaks[:4])) + (f" and {len(self.breaks) - 4} more" if self.breaks[4:] else "")
        looked = "in one look ahead: whole=True looks for one" if self.branch is None else "by a search, not by a proof"
        return f"No continuous branch was found, {looked}; it breaks at {shown}."

    @cached_property
    def flips(self) -> tuple[int, ...]:
        """The steps at which the posture jumps: some coordinate has moved by more than `jump` since the step before."""
        moved = np.abs(np.diff(self.q, axis=0)).max(axis=1, initial=0.0)
        return tuple((1 + np.flatnonzero(moved > self.jump)).tolist())


def _moved(rows: Rows, obstacles: Any, whole: bool) -> None:
    """Tell the rows where obstacles are that move."""
    if obstacles is not None and whole:
        raise Refused("whole=True knows obstacles that stand still: leave out obstacles=, or whole=")
    if obstacles is not None:
        rows.move(obstacles)


def follow(
    problem: Problem,
    targets: Any,
    *,
    start: ArrayLike | None = None,
    dt: float | None = None,
    speed: ArrayLike | None = None,
    jump: float = JUMP,
    solver: Solver | None = None,
    seed: int = 0,
    prove: bool = False,
    deadline: float | None = None,
    whole: bool = False,
    obstacles: Any = None,
) -> Path:
    """Follow a sequence of targets, shaped as for `solve_many`.

    `dt` is the time from one target to the next; with it, coordinates keep to `speed` (the figure's own by default, a number
    or one for each coordinate, in radians or metres a second). A step that cannot keep up is the nearest posture that
    can be reached in time. `solver` is `LevenbergMarquardt`, or `Multistart` of it, which is the default. With `prove` what
    the search does not solve is decided, as by `solve`; a posture that is too far for the speeds is not taken.

    With `whole` the branch of solutions is chosen for the whole path before the first step: one continuous branch where one is
    found, with the fewest breaks otherwise (`Path.breaks`, `Path.reason`). Preferences and posture goals choose among the
    branches that lead through, and never into a dead end; speeds are kept on it. `whole` has the figure's `jump` as its bound.

    `obstacles` says where those are that move, as for `solve_many`; `whole` does not know them. Steps that are not solved
    when the `deadline` [s] passes are STOPPED, where the last one ended. Ctrl-C raises `Interrupted`.
    """
    stop = Stop(deadline)
    instance(problem, Problem, "what follow() takes first")
    seed, jump = seeded(seed), endless(jump, "jump, how far a flip moves a coordinate at least,")
    searching, proving = Proving.by(solver, prove, problem)
    chosen = compiled_for_many(searching, problem)
    figure, paces = problem.figure, _paces(problem, dt, speed)
    given = by_task(problem, targets)
    T = flat_targets(problem, given)
    paced = bool(np.isfinite(paces).any())
    rows = Rows(problem, given, T, np.empty((len(T), figure.size)), FREELY.report(len(T)), seed, proving)
    _moved(rows, obstacles, whole)
    begin = problem.admitted(figure.rest if start is None else figure.posture(start))
    branch: np.ndarray | None = None
    if flag(whole, "whole"):
        branch = _whole(rows, begin, np.minimum(jump, paces), stop, lasting=not paced)
        rows.bound = True
    left = np.flatnonzero(~branch) if branch is not None else np.arange(len(T))
    if left.size and left[0] == 0:
        rows.Q[0] = begin
        _run(rows, SearchCall(problem, chosen.settings(), seed, rows.report), 0, 1, stop)
        left = left[1:]
    I = _without_charts(problem) if paced else problem.pack[0].copy()
    if paced:
        chosen = replace(chosen, attempts=min(chosen.attempts, PACED))  # there is little room to look around in
        rows.bound = True
    call = SearchCall(problem, chosen.settings(), seed, rows.report, paces=paces, I=I)
    for part in np.split(left, 1 + np.flatnonzero(np.diff(left) > 1)):
        if part.size:
            _run(rows, call, int(part[0]), int(part[-1]) + 1, stop)
    rows.settle(begin, stop, chained=True)
    return stop.conclude(rows.done, len(T), "targets", lambda: Path(**rows.told(), jump=jump, branch=branch))


def _without_charts(problem: Problem) -> np.ndarray:
    """The integers of a pack for speeds, which limit angles: a re-centred chart has others, and a root is not moved at will."""
    I = problem.pack[0].copy()
    I[CHARTS] = I[FREE_ROOT] = 0
    return I


def _whole(rows: Rows, begin: Floats, bound: Floats, stop: Stop, lasting: bool) -> np.ndarray:
    """Write one branch for the whole path into the rows; which of them lie on it (n). Not `lasting`, it ends at a break."""
    from supple.solving.branches import Branches, Halted
    from supple.solving.whole import Preferred, whole_path

    kept = [not (task.preference or isinstance(task.goal, Near)) for task in rows.problem.tasks]
    tasks = [task for task, stays in zip(rows.problem.tasks, kept, strict=True) if stays]
    joined = np.zeros(len(rows.T), dtype=bool)
    if not (tasks or rows.problem.loops) or not len(rows.T):
        return joined
    base = replace(rows.problem, tasks=tasks)
    T = flat_targets(base, tuple(t for t, stays in zip(rows.targets, kept, strict=True) if stays), len(rows.T))
    try:
        preferred = Preferred.by(rows.problem, rows.targets, len(T))
        found = whole_path(Branches(base, T, bound, rows.seed, stop), begin, preferred)
    except Halted:
        rows.halt()
        return joined
    if found is not None:
        joined = found.joined
        if not lasting:
            joined[np.argmin(np.append(joined, False)) :] = False
        rows.Q[joined], rows.report[joined] = found.Q[joined], found.report[joined]
        with stop:
            for i in np.flatnonzero(~rows.sure(0, len(T)) & joined).tolist():
                rows.judge(i, stop)
    return joined


def _run(rows: Rows, call: SearchCall, first: int, last: int, stop: Stop) -> None:
    """Solve rows first … last − 1 in place, one after the other, and judge them.

    Where judging moves a posture, the next row starts there: so rows are run in parts, short ones after each such change.
    """
    count = PART
    while first < last:
        end = min(first + count, last)
        halted = stop.run([partial(rows.run, call, first, end)], rows.halt)
        moved: int | None = None
        with stop:
            unsure = first + np.flatnonzero(~rows.sure(first, end) & rows.begun[first:end])
            moved = next((i for i in unsure.tolist() if rows.judge(i, stop)), None)
        if moved is not None:
            rows.report[moved + 1 : end, TRIES] = 0.0  # these are searched for again
        if halted:
            return
        first, count = (end, min(2 * count, LONGEST)) if moved is None else (moved + 1, 1)


def _paces(problem: Problem, dt: float | None, speed: Any) -> np.ndarray:
    """How far each coordinate may move in a step."""
    figure = problem.figure
    if dt is None:
        if speed is not None:
            raise BadValue("speed limits need the time step: give dt=")
        return np.full(figure.size, np.inf)
    dt = positive(dt, "dt, the seconds from one target to the next,")
    limits = figure.speed if speed is None else spread(speed, (figure.size,), "speed")
    if not (limits > 0.0).all():
        raise BadValue("speed limits must be positive")
    return limits * dt
