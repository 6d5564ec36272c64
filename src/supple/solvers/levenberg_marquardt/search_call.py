"""One call of the compiled search: pack, scratch, report and trace. Every door that searches goes through here.

There are three entries, made of one source (`kernels.compiling.twins`). A *plain* problem asks for points, frames and
directions in the world, of one rank and without alternatives, on segments that undriven joints carry, within ranges; no ball
or root turns without limits, and goals are few for the number of joints. It is served by the plain entry, which compiles in a
third of the time; everything else by the general one. Both give a plain problem the same answer, bit for bit. A third
serves figures that keep clear of things with boxes and hulls.

**Formulas.** Where settings allow it, an arm of six hinges that has a formula is answered by it, with the branch that is
nearest to the start; rows that the formula leaves are searched for as if there were none. With seven, where a first or a last
hinge that is held leaves an arm with a formula, slices take the place of blind starts (`closed_forms.nearest_branch`); a target
that is near is first looked for from the start, so that a path goes on smoothly; and where slices have nothing, the whole
search is made. A formula counts for one evaluation, and so does each slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supple.kernels.compiling import entry_in, untyped
from supple.problem.allowance import BUDGET, EVALUATIONS, FREELY, ITERATIONS, MET, REASON, ROWS, SPENT, TRIES
from supple.problem.goals import Placed
from supple.problem.packing import is_plain, suited
from supple.problem.problem import Problem
from supple.solvers.levenberg_marquardt.scratch import (
    ATTEMPTS,
    CHAINED,
    FORMULAS,
    SEARCH_SCRATCH,
    UNFIT,
    open_call_scratch,
)
from supple.solvers.levenberg_marquardt.starts import search_box

NO_TRACE = FREELY.page()
search_entry = entry_in("supple.solvers.levenberg_marquardt.search.search_entry")
plain_search_entry = entry_in("supple.solvers.levenberg_marquardt.search.plain_search_entry")
HINGES = 6


class SearchCall:
    """What one search at a time needs; `run` searches for rows of postures."""

    def __init__(
        self,
        problem: Problem,
        settings: Sequence[float],
        seed: int = 0,
        report: np.ndarray | None = None,
        trace: np.ndarray = NO_TRACE,
        paces: Any = None,
        I: np.ndarray | None = None,
    ) -> None:
        """Searches write what they spend into `report` (rows, REPORT) and, where it has room, their way down into `trace`.

        With `paces` (size), rows are chained, each starting where the one before ended, and no coordinate moves by more
        than its pace from one row to the next. I is for a pack with other counts than the problem's.
        """
        own, F, T = problem.pack
        self.I, self.F, self.T = own if I is None else I, F.copy(), T[None].copy()
        self.report, self.trace = FREELY.report() if report is None else report, trace
        self.told = self.report[:1].reshape(-1)  # its first row
        self.scratch = SEARCH_SCRATCH.fresh(self.I)
        known = open_call_scratch(self.I, self.scratch)
        known.settings[: len(settings)] = settings
        known.settings[CHAINED] = 0.0 if paces is None else 1.0
        known.box[:] = search_box(problem, seed, paces)
        self.entry = plain_search_entry if is_plain(self.I, F) else suited(search_entry, self.I, F)
        self.has_run = False
        self.settings, self.formula = known.settings, None
        if known.settings[FORMULAS] and (count := hinges_placed(problem)):
            self.formula = FormulaFirst(problem, paces, sliced=count > HINGES)

    def run(self, T: np.ndarray, Q: np.ndarray, first: int = 0, last: int = 1) -> None:
        """Solve rows first … last − 1 of Q (k, size) in place for the targets T, k times as many numbers."""
        if self.formula is None:
            self.search(T, Q, first, last)
        else:
            self.formula.run(self, T, Q, first, last)

    def search(self, T: np.ndarray, Q: np.ndarray, first: int, last: int) -> None:
        """The same without a formula."""
        self.entry(self.I, self.F, self.scratch, T, Q, self.report, self.trace, first, last)
        if not self.has_run:  # from now on without a look at types, which stay what they are
            self.entry, self.has_run = untyped(self.entry), True


# ── formulas ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def hinges_placed(problem: Problem) -> int:
    """How many coordinates place the frame of a problem that may have a formula; 0 for all others."""
    if len(problem.tasks) != 1 or type(problem.tasks[0].goal) is not Placed:
        return 0
    count = int(np.count_nonzero(problem.moved))
    return count if count in (HINGES, HINGES + 1) else 0


class FormulaFirst:
    """What answers before a search is made; the formula is looked for when it is first needed."""

    def __init__(self, problem: Problem, paces: Any, sliced: bool) -> None:
        self.problem, self.paces, self.sliced = problem, paces, sliced
        self._call: Any = None

    def _begun(self) -> Any:
        """The call of the formula; None if there is none."""
        if self._call is None:
            from supple.solvers.closed_forms.at_doors import NearestCall, way_of

            way = way_of(self.problem)
            self._call = NearestCall(way, self.problem, self.paces) if way is not None else False
        return self._call or None

    def run(self, call: SearchCall, T: np.ndarray, Q: np.ndarray, first: int, last: int) -> None:
        """Rows first … last − 1, as `SearchCall.run`."""
        formula = self._call or self._begun()
        if formula is None or formula.held != self.sliced or (self.sliced and call.settings[ATTEMPTS] == 1.0):
            call.formula = None
            call.search(T, Q, first, last)
            return
        k = first
        while k < last:
            begun = Q[k].copy() if len(call.trace) else Q[k]
            k = formula.run(T, Q, call.report, k, last)
            if k < last:
                search = self._searched if self.sliced else _left
                search(call, T, Q, k)
                k += 1
            elif len(call.trace):
                self._traced(call, begun, Q[0])

    def _searched(self, call: SearchCall, T: np.ndarray, Q: np.ndarray, k: int) -> None:
        """Row k, which was left: near to its target, so that no slice was taken, or none had a posture."""
        report, begun = call.report[k], Q[k].copy()
        budget, spent, made = report[BUDGET], report[EVALUATIONS], 0.0
        limited = bool(np.isfinite(budget)) and budget > 0.0
        if spent == 0.0:
            attempts = call.settings[ATTEMPTS]
            call.settings[ATTEMPTS] = 1.0
            call.search(T, Q, k, k + 1)
            call.settings[ATTEMPTS] = attempts
            spent, made = report[EVALUATIONS], report[ITERATIONS]
            if report[REASON] in (MET, UNFIT) or not spent < report[BUDGET]:
                return
            report[TRIES] = 0.0  # it is not over
            end, Q[k] = Q[k].copy(), begun
            if limited:
                report[BUDGET] = budget - spent
            if self._call.run(T, Q, call.report, k, k + 1, near_too=True) > k:
                if len(call.trace):
                    self._traced(call, begun, Q[0])
                _add(report, spent, made, budget if limited else 0.0)
                return
            spent, begun, Q[k] = spent + report[EVALUATIONS], begun, end
        if not spent < budget:
            report[[EVALUATIONS, ITERATIONS, REASON, TRIES]] = spent, made, SPENT, 1.0
            return
        Q[k] = begun
        if limited:
            report[BUDGET] = budget - spent
        call.search(T, Q, k, k + 1)
        _add(report, spent, made, budget if limited else 0.0)

    def _traced(self, call: SearchCall, begun: np.ndarray, q: np.ndarray) -> None:
        """The start, if nothing is noted yet, and the answer, in the trace of a single row."""
        row = call.told
        noted = int(row[ROWS])
        for point in (q,) if noted else (begun, q):
            if noted < len(call.trace):
                call.trace[noted] = row[EVALUATIONS], self.problem.value(self.problem.admitted(point))
                noted += 1
        row[ROWS] = noted


def _left(call: SearchCall, T: np.ndarray, Q: np.ndarray, k: int) -> None:
    """Row k, which a formula has left, is searched for."""
    call.search(T, Q, k, k + 1)


def _add(report: np.ndarray, spent: float, made: float, budget: float) -> None:
    """What was spent and made before, added to a row of the report; and its budget as it was, if it has one."""
    report[EVALUATIONS] += spent
    report[ITERATIONS] += made
    report[TRIES] += 1.0
    if budget > 0.0:
        report[BUDGET] = budget
