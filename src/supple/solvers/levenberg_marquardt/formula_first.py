"""Arms that have a formula: it answers what it can, and the search the rest.

Where settings allow it, an arm of six hinges that has a formula is answered by it, with the branch that is
nearest to the start; rows that the formula leaves are searched for as if there were none. With seven, where a first or a last
hinge that is held leaves an arm with a formula, slices take the place of blind starts (`closed_forms.nearest_branch`); a target
that is near is first looked for from the start, so that a path goes on smoothly; and where slices have nothing, the whole
search is made. A formula counts for one evaluation, and so does each slice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple.problem.allowance import BUDGET, EVALUATIONS, ITERATIONS, MET, REASON, ROWS, SPENT, TRIES
from supple.problem.problem import Problem
from supple.solvers.levenberg_marquardt.scratch import ATTEMPTS, UNFIT

if TYPE_CHECKING:
    from supple.solvers.levenberg_marquardt.levenberg_marquardt import SearchCall


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
