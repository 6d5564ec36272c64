"""The rows of a batch while they are searched for and judged: what `solve_many` and `follow` have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from supple.basics.stopping import Stop
from supple.geometry.placements import Floats
from supple.problem.allowance import BUDGET, EVALUATIONS, FREELY, ITERATIONS, MET, REASON, SPENT, TRIES, Allowance
from supple.problem.problem import Problem
from supple.problem.solution import Solution, Status
from supple.solvers.base import Proving, answered, has_alternatives
from supple.solvers.levenberg_marquardt.levenberg_marquardt import NO_TRACE, SearchCall
from supple.solvers.verdict import sure_within
from supple.solving.prepare import movers_of

NO_TIME = "Whether it is impossible was not looked into: there was no time."


class Rows:
    """The rows of a batch while they are searched for and judged."""

    def __init__(
        self,
        problem: Problem,
        targets: tuple[Any, ...],
        T: np.ndarray,
        Q: np.ndarray,
        report: np.ndarray,
        seed: int,
        proving: Proving,
        bound: bool = False,
    ) -> None:
        self.problem, self.targets, self.T, self.Q, self.report = problem, targets, T, Q, report
        self.seed, self.proving, self.bound = seed, proving, bound
        self.status = [Status.SOLVED] * len(Q)
        self.proofs: dict[int, Solution] = {}
        self.allowance, self.late = FREELY, np.zeros(len(Q), dtype=bool)
        self.obstacles: Mapping[str, Floats] = {}  # where those are that move, (n, 4, 4) by name
        self.movers: Any = None

    def move(self, obstacles: Any) -> None:
        """Let obstacles be elsewhere, each in one placement for all rows or in one for each."""
        from supple.problem.moving import placements_of_rows

        self.obstacles, self.movers = placements_of_rows(self.problem, obstacles, len(self.T)), movers_of(self.problem)

    def run(self, call: SearchCall, first: int, last: int) -> None:
        """Search for rows first … last − 1; where obstacles move, one after the other."""
        if self.movers is None:
            call.run(self.T, self.Q, first, last)
            return
        for i in range(first, last):
            self.movers.write(call.F, {name: frames[i] for name, frames in self.obstacles.items()})
            call.run(self.T, self.Q, i, i + 1)

    @property
    def begun(self) -> np.ndarray:
        """Whether a row was searched for (n); all of them, unless they were halted."""
        return ~self.late | (self.report[:, TRIES] > 0.0)

    @property
    def done(self) -> int:
        """How many searches were over before they were halted."""
        return len(self.Q) - int(self.late.sum())

    def halt(self) -> None:
        """Let no search that is not over evaluate again; one that runs ends where it is."""
        self.late = self.late | (self.report[:, TRIES] == 0.0)
        self.report[self.late, BUDGET] = 0.0

    def settle(self, first: Floats, stop: Stop, chained: bool = False) -> None:
        """After a halt: rows that were not begun stay at the start, chained ones where the last one ended, and are STOPPED."""
        if not self.late.any():
            return
        self.allowance = Allowance(seconds=stop.seconds)
        self.report, self.Q = (
            self.report.copy(),
            self.Q.copy(),
        )  # a thread that is left behind has the others; it writes report last
        absent = np.flatnonzero(~self.begun)
        self.report[absent, REASON] = SPENT
        begun = np.broadcast_to(first, self.Q.shape)[absent]
        self.Q[absent] = self.Q[absent[0] - 1] if chained and len(absent) and absent[0] > 0 else begun
        for i in absent.tolist():
            self.status[i] = Status.STOPPED

    @cached_property
    def slow(self) -> bool:
        """Whether there is more to do for a row that is not solved than to say so."""
        return self.proving.asked or has_alternatives(self.problem)

    @cached_property
    def within(self) -> float:
        """The size of numbers up to which the search is sure of what it says."""
        return sure_within(self.problem)

    def sure(self, first: int, last: int) -> np.ndarray:
        """Whether the search is sure that it met every task, of rows first … last − 1."""
        Q, limits = self.Q[first:last], self.problem.limits
        assert limits is not None
        sure = self.report[first:last, REASON] == MET
        if self.within < np.inf:
            T = self.T[first:last]
            sizes = np.maximum(np.abs(Q).max(axis=1, initial=0.0), np.abs(T).max(axis=1, initial=0.0))
            sure = sure & (sizes <= self.within)
        return sure if limits.is_box else sure & [limits.contains(q) for q in Q]

    def audited(self, i: int) -> Solution:
        """The answer to row i as the search left it, with a status that is true."""
        problem = self.problem.aimed(*(None if t is None else t[i] for t in self.targets))
        if self.obstacles:
            from supple.problem.moving import moved_to

            problem = moved_to(problem, {name: frames[i] for name, frames in self.obstacles.items()})
        return answered(problem, self.Q[i], self.report[i], NO_TRACE, self.seed, self.allowance)

    def judge(self, i: int, stop: Stop) -> bool:
        """Audit row i, try its alternatives and, if that is asked for, decide it; whether its posture is another one now.

        Rows that are `bound` to go no further than their speeds allow keep their posture.
        """
        found = self.audited(i)
        if self.slow and not found.ok:
            local = found
            if not stop.asked and not self.late[i]:
                judged = self.proving.decided if self.bound else self.proving.judged
                found = judged(local, Allowance(seconds=stop.seconds), stop.until)
            elif self.proving.asked:
                found = replace(local, reason=f"{local.reason} {NO_TIME}")
            if self.bound and found.ok:
                found = replace(local, reason=f"{local.reason} A posture that meets them is too far for one step.")
            self.proofs[i] = found
        moved = not np.array_equal(self.Q[i], found.q)
        self.Q[i], self.status[i] = found.q, found.status
        self.report[i, [ITERATIONS, EVALUATIONS]] = found.iterations, found.evaluations
        return moved

    def told(self) -> dict[str, Any]:
        """The fields of `Solutions`."""
        for array in (self.Q, self.report):
            array.setflags(write=False)
        return {
            "problem": self.problem,
            "targets": self.targets,
            "q": self.Q,
            "status": tuple(self.status),
            "report": self.report,
            "seed": self.seed,
            "proving": self.proving,
            "proofs": self.proofs,
            "allowance": self.allowance,
            "obstacles": self.obstacles,
        }
