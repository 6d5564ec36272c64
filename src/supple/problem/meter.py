"""What a compiled loop does with its report (`allowance`): it asks before it evaluates, counts, notes its way and its end."""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import leaf
from supple.problem.allowance import BUDGET, EVALUATIONS, ITERATIONS, REASON, ROWS, VALUE


@leaf
def spent(report: Any) -> bool:
    """Whether no further evaluation is allowed."""
    return report[EVALUATIONS] >= report[BUDGET]


@leaf
def count(report: Any) -> None:
    """One more evaluation has been made."""
    report[EVALUATIONS] += 1.0


@leaf
def close(report: Any, iterations: int, value: float, reason: int) -> None:
    """Where the loop has ended, and why."""
    report[ITERATIONS], report[VALUE], report[REASON] = iterations, value, reason


@leaf
def record(report: Any, trace: Any, value: float) -> None:
    """Note the value of the present iterate, if a trace is kept and has room."""
    k = int(report[ROWS])
    if k < trace.shape[0]:
        trace[k, 0], trace[k, 1] = report[EVALUATIONS], value
        report[ROWS] = k + 1
