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

from supple.basics.checks import endless, instance, positive, seeded, spread
from supple.basics.stopping import Stop
from supple.errors import BadValue
from supple.kernels.layouts import CHARTS, FREE_ROOT
from supple.problem.allowance import FREELY, TRIES
from supple.problem.problem import Problem
from supple.problem.targets import by_task, flat_targets
from supple.solvers.base import Solver
from supple.solvers.decide import Proving
from supple.solvers.levenberg_marquardt.search_call import SearchCall
from supple.solvers.multistart import compiled_for_many
from supple.solving.many import Solutions
from supple.solving.rows import Rows

PART, LONGEST = 64, 512  # rows that are run before they are looked at: twice as many each time that nothing changes
PACED = 3  # attempts at a step whose coordinates have speed limits
JUMP = 0.5  # radians or metres that a coordinate moves in one step when it counts as a flip, unless told otherwise


@dataclass(frozen=True, eq=False, repr=False)
class Path(Solutions):
    """The answers to a sequence of targets, in order."""

    jump: float = JUMP

    @cached_property
    def flips(self) -> tuple[int, ...]:
        """The steps at which the posture jumps: some coordinate has moved by more than `jump` since the step before."""
        moved = np.abs(np.diff(self.q, axis=0)).max(axis=1, initial=0.0)
        return tuple((1 + np.flatnonzero(moved > self.jump)).tolist())


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
) -> Path:
    """Follow a sequence of targets, shaped as for `solve_many`.

    `dt` is the time from one target to the next; with it, coordinates keep to `speed` (the figure's own by default, a number
    or one for each coordinate, in radians or metres a second). A step that cannot keep up is the nearest posture that
    can be reached in time. `solver` is `LevenbergMarquardt`, or `Multistart` of it, which is the default. With `prove` what
    the search does not solve is decided, as by `solve`; a posture that is too far for the speeds is not taken.

    Steps that are not solved when the `deadline` [s] passes are STOPPED, where the last one ended. Ctrl-C raises `Interrupted`.
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
    rows.Q[:1] = begin = problem.admitted(figure.rest if start is None else figure.posture(start))
    _run(rows, SearchCall(problem, chosen.settings(), seed, rows.report), 0, min(1, len(T)), stop)
    I = problem.pack[0].copy()
    if paced:  # speeds limit angles: a chart that is re-centred has others, and a root is not moved at will
        I[CHARTS] = I[FREE_ROOT] = 0
        chosen = replace(chosen, attempts=min(chosen.attempts, PACED))  # there is little room to look around in
        rows.bound = True
    _run(rows, SearchCall(problem, chosen.settings(), seed, rows.report, paces=paces, I=I), 1, len(T), stop)
    rows.settle(begin, stop, chained=True)
    return stop.conclude(rows.done, len(T), "targets", lambda: Path(**rows.told(), jump=jump))


def _run(rows: Rows, call: SearchCall, first: int, last: int, stop: Stop) -> None:
    """Solve rows first … last − 1 in place, one after the other, and judge them.

    Where judging moves a posture, the next row starts there: so rows are run in parts, short ones after each such change.
    """
    count = PART
    while first < last:
        end = min(first + count, last)
        halted = stop.run([partial(call.run, rows.T, rows.Q, first, end)], rows.halt)
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
