"""The rows of `solve_many` that a GPU solves; what it leaves is searched for on the processor, in the same call."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.errors import BadValue
from supple.problem.allowance import EVALUATIONS, ITERATIONS, MET, REASON, TRIES
from supple.solvers.lean import gpu
from supple.solvers.lean.takes import takes
from supple.solving.rows import Rows


def solve_on_device(rows: Rows, start: Any, solver: Any) -> np.ndarray:
    """Solve what the device can, in place; which rows it solved (n).

    A row that it solved carries the report of a search that met every task: it is as sure of its word as the
    processor's, for it judges in float64 and stays as far inside the tolerances.
    """
    if solver is not None:
        raise BadValue("a GPU has a search of its own: leave solver= out, or device=")
    if start is not None and np.ndim(start) > 1:
        raise BadValue("a GPU begins all rows at one start: give one posture, or leave device= out")
    gpu.cuda()  # no GPU, no driver: refused before any work
    met = np.zeros(len(rows.Q), dtype=bool)
    problem, figure = rows.problem, rows.problem.figure
    if rows.movers is not None or not takes(problem, problem.admitted(figure.rest)):
        return met
    from supple.solvers.lean.batch import Batch

    found = Batch(problem, start).rows(rows.T)
    met = found.trips > 0
    rows.Q[met] = found.q[met]
    rows.report[met, REASON], rows.report[met, TRIES] = MET, 1.0
    rows.report[met, ITERATIONS] = rows.report[met, EVALUATIONS] = found.trips[met]
    return met
