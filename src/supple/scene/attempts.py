"""Single bounded attempts of the search, many an event, without a check of each: who asks says in the end what is true.

The check of an answer that is not met recomputes every distance to obstacles in plain NumPy, which takes much longer than the
search. A drag makes several attempts for one answer; that answer alone is checked (`audited`), and only if somebody asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from supple.geometry.placements import Floats
from supple.problem.allowance import EVALUATIONS, ITERATIONS, MET, REASON, STATIONARY
from supple.problem.problem import Problem
from supple.problem.solution import LATER, Solution, Status, audited
from supple.problem.targets import slots, write_targets
from supple.scene.settle import nearby
from supple.solvers.base import Solver
from supple.solvers.levenberg_marquardt.levenberg_marquardt import LevenbergMarquardt, SearchCall
from supple.solvers.verdict import sure_within
from supple.solving.prepare import prepare


class Found(NamedTuple):
    """Where an attempt ended; `ok` is the search's own word, and `sure` if it needs no further check."""

    q: Floats
    ok: bool
    sure: bool
    stationary: bool
    iterations: int
    evaluations: int


@dataclass(frozen=True)
class Unchecked:
    """A posture of which is not known yet what is true of it."""

    problem: Problem
    targets: list[Any]
    q: Floats
    stationary: bool
    ended: str
    spent: dict[str, int]

    def audited(self) -> Solution:
        """What is true of it."""
        return audited(self.problem.aimed(*self.targets), self.q, self.stationary, self.ended, **self.spent)

    def told(self) -> dict[str, Any]:
        """The fields of a solution that were left for later."""
        solution = self.audited()
        return {name: getattr(solution, name) for name in LATER}


class Attempt:
    """A problem of which only targets change, searched from one posture within a budget of evaluations."""

    def __init__(self, problem: Problem, budget: int | None, chosen: Solver | None = None) -> None:
        self.problem = problem
        self.query = prepare(problem, solver=nearby(problem) if chosen is None else chosen, budget=budget)
        solver, limits, allowance = self.query.solver, problem.limits, self.query.allowance
        assert limits is not None
        self._call: SearchCall | None = None
        if isinstance(solver, LevenbergMarquardt) and limits.is_box:
            self._call = SearchCall(problem, solver.settings(), self.query.seed, allowance.report(), allowance.page())
            self._slots, self._sure = slots(problem), sure_within(problem)

    def __call__(self, targets: Sequence[Any], start: Floats) -> Found:
        """Search for targets, one a task, None for a task's own, from a posture within the limits."""
        wanted = targets[0] if len(targets) == 1 else list(targets)
        if self._call is None:
            solution = self.query(wanted, start=start)
            stationary = solution.status is Status.NEAREST
            return Found(solution.q, solution.ok, solution.ok, stationary, solution.iterations, solution.evaluations)
        write_targets(self._slots, wanted, self._call.T)
        Q = np.array(start, dtype=float)[None]
        self._call.run(self._call.T, Q)
        spent = self._call.told.tolist()
        small = max(np.abs(Q).max(), np.abs(self._call.T).max(initial=0.0)) <= self._sure
        Q.setflags(write=False)
        met = spent[REASON] == MET
        counts = int(spent[ITERATIONS]), int(spent[EVALUATIONS])
        return Found(Q[0], met, met and small, spent[REASON] == STATIONARY, *counts)
