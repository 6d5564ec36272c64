"""What a solver may spend, what it has spent, and the trace of its way down: one layout for every compiled loop.

Every entry takes ``report`` (rows, REPORT) and ``trace`` (capacity, 2). A row of the report counts iterations and
evaluations, holds the value reached and the reason for the end, and says how many evaluations are allowed. Loops ask whether
it is spent before they evaluate (`meter`), so a budget is exact and the same on every machine. A deadline is a timer that sets
the allowance to nothing while the loop runs: the loop stops at its next question, wherever it is by then, so only a deadline
makes answers depend on the clock. A trace of capacity 0 costs nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from supple.basics.checks import endless, flag, number
from supple.errors import BadValue, shown
from supple.problem.solution import Trace

ITERATIONS, EVALUATIONS, VALUE, REASON, TRIES, BUDGET, ROWS = range(7)
STATIONARY, MET, SPENT, STUCK = range(4)  # reasons
REPORT = 8  # numbers in a row of a report
TRACED = 10_000  # points that a trace keeps


@dataclass(frozen=True)
class Allowance:
    """What a solve may spend: evaluations of the problem, seconds of the clock; and whether its way is noted down."""

    evaluations: float = np.inf
    seconds: float = np.inf
    trace: bool = False

    def __post_init__(self) -> None:
        n = number(self.evaluations, "a budget, a whole number of evaluations,", least=1.0, endless=True)
        if n != np.inf and n != int(n):
            raise BadValue(f"a budget is a whole number of evaluations, at least one, not {shown(n)}")
        object.__setattr__(self, "evaluations", n)
        object.__setattr__(self, "seconds", endless(self.seconds, "a deadline [s]"))
        flag(self.trace, "trace, whether the way down is noted,")

    def report(self, rows: int = 1) -> np.ndarray:
        """A report of so many rows with this budget, nothing spent."""
        report = np.zeros((rows, REPORT))
        report[:, BUDGET] = self.evaluations
        return report

    def page(self) -> np.ndarray:
        """Where a loop writes its trace."""
        return np.zeros((TRACED if self.trace else 0, 2))

    def traced(self, report: Sequence[float] | np.ndarray, page: np.ndarray) -> Trace | None:
        """What a loop with this row of the report has written; where the page was too short, its last point is the end."""
        if not self.trace:
            return None
        rows = int(report[ROWS])
        if rows == len(page):
            page[-1] = report[EVALUATIONS], report[VALUE]
        return Trace(page[:rows, 0].astype(np.int64), page[:rows, 1].copy())

    def left(self, evaluations: int, seconds: float) -> Allowance | None:
        """What remains when so much has been spent; None if nothing does."""
        if evaluations >= self.evaluations or seconds >= self.seconds:
            return None
        return Allowance(self.evaluations - evaluations, self.seconds - seconds, self.trace)

    def ended(self, late: bool) -> str:
        """What came first, the deadline if it is late, else the budget: the beginning of a sentence."""
        if late:
            if self.seconds == np.inf:
                return "It was interrupted"
            return f"The deadline of {self.seconds:g} s passed"
        return f"The budget of {self.evaluations:.0f} evaluations was spent"

    @contextmanager
    def watched(self, report: np.ndarray) -> Iterator[None]:
        """While the loop that writes `report` runs, a timer ends it at the deadline."""
        if self.seconds == np.inf:
            yield
            return
        timer = threading.Timer(min(self.seconds, threading.TIMEOUT_MAX), lambda: report[:, BUDGET].fill(0.0))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


FREELY = Allowance()
