"""Which problems the doors answer by a formula, the call that does it, and what becomes of rows that it leaves.

One task, a frame `Placed` in the world or as another segment sees it, that six hinges move of equal mobility, within ranges;
whatever else the figure has stays where it is. Of seven hinges the first or the last is held, in slices.

Where settings allow it, the formula answers with the branch that is nearest to the start; rows that it leaves are searched for
as if there were none. With seven, slices take the place of blind starts (`nearest_branch`); a target that is near is first
looked for from the start, so that a path goes on smoothly; and where slices have nothing, the whole search is made. A formula
counts for one evaluation, and so does each slice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from supple.figure.effectors import Frame
from supple.figure.figure import Figure
from supple.geometry.placements import Floats, inverse
from supple.kernels.compiling import entry_in, untyped
from supple.problem.allowance import BUDGET, EVALUATIONS, ITERATIONS, MET, REASON, ROWS, SPENT, TRIES
from supple.problem.goals import Placed
from supple.problem.problem import Problem
from supple.proofs.serial_chain import Undecidable, chain_of
from supple.solvers.closed_forms.axes import HINGES, Axes
from supple.solvers.closed_forms.recognition import GENERAL, Formula, recognised
from supple.solvers.closed_forms.rows_of_arms import (
    AT,
    BACKWARDS,
    CHAINED,
    HELD,
    HELD_AT,
    HELD_LAST,
    KIND,
    NEAR_TOO,
    SCRATCH_COLUMNS,
    SCRATCH_ROWS,
    WAY,
)
from supple.solvers.levenberg_marquardt.scratch import ATTEMPTS, UNFIT

if TYPE_CHECKING:
    from supple.solvers.levenberg_marquardt.levenberg_marquardt import SearchCall

FINE = 1e-8  # [m, rad] a tolerance that formulas keep to
nearest_rows = entry_in("supple.solvers.closed_forms.nearest_branch.nearest_rows")
slice_rows = entry_in("supple.solvers.closed_forms.nearest_branch.slice_rows")


@dataclass(frozen=True, eq=False)
class Way:
    """An arm as the kernels read it, and the coordinates of its hinges."""

    numbers: np.ndarray
    arm: Floats

    @property
    def held(self) -> bool:
        """Whether a seventh hinge is held."""
        return bool(self.numbers[HELD_AT] >= 0)


class NearestCall:
    """What one call at a time needs; `run` answers rows of postures."""

    def __init__(self, way: Way, problem: Problem, paces: Any = None) -> None:
        limits = problem.limits
        assert limits is not None
        self.way, self.arm = way.numbers.copy(), way.arm
        self.way[CHAINED] = paces is not None
        self.ranges = np.array([limits.lower, limits.upper, np.full(problem.figure.size, np.inf)])
        if paces is not None:
            self.ranges[2] = paces
        self.scratch = np.zeros((SCRATCH_ROWS, SCRATCH_COLUMNS))
        self.held, self.has_run = way.held, False
        self.entry: Any = slice_rows if self.held else nearest_rows

    def run(
        self, T: np.ndarray, Q: np.ndarray, report: np.ndarray, first: int, last: int, near_too: bool = False
    ) -> int:
        """Answer rows first … last − 1 of Q in place; the first that has to be searched for.

        Slices are taken of targets that are far, or that are `near_too`.
        """
        self.way[NEAR_TOO] = near_too
        left = self.entry(self.way, self.arm, self.ranges, self.scratch, T, Q, report, first, last)
        if not self.has_run:
            self.entry, self.has_run = untyped(self.entry), True
        return int(left)


_known: WeakKeyDictionary[Figure, dict[Any, Way | None]] = WeakKeyDictionary()
_REMEMBERED = 64  # ways of one figure


def way_of(problem: Problem) -> Way | None:
    """How a problem is answered by a formula; None if it is not."""
    if len(problem.tasks) != 1 or problem.loops or problem.clear:
        return None
    (task,), limits, figure = problem.tasks, problem.limits, problem.figure
    goal, end = task.goal, task.effector
    if type(goal) is not Placed or type(end) is not Frame or len(task.alternatives) != 1 or task.preference:
        return None
    assert limits is not None
    if task.chain is not None or not limits.is_box or min(task.tolerance, task.angle_tolerance) < FINE:
        return None
    free = problem.free[problem.moved]
    if not (len(free) in (HINGES, HINGES + 1) and free[0] > 0.0 and (free == free[0]).all()):
        return None
    known = _known.setdefault(figure, {})
    key = (end.segment, end.frame.tobytes(), limits.lower.tobytes(), limits.upper.tobytes(), goal.relative_to)
    if key not in known:
        if len(known) >= _REMEMBERED:
            known.clear()
        known[key] = _found(problem, end, goal.relative_to)
    return known[key]


def _found(problem: Problem, end: Frame, seen_from: str | None) -> Way | None:
    limits, names = problem.limits, problem.figure.coordinates
    assert limits is not None
    try:
        chain = chain_of(problem.figure, end.segment, end.frame, limits.lower, limits.upper, seen_from)
    except Undecidable:
        return None
    if chain.slides.any() or not all(name in names for name in chain.names):
        return None
    at, axes = [names.index(name) for name in chain.names], Axes.of(chain)
    if len(at) == HINGES:
        formula = recognised(axes)
        return None if formula is None else _way(axes, formula, at)
    return sliced_way(axes, at) if len(at) == HINGES + 1 else None


def _way(axes: Axes, formula: Formula, at: list[int]) -> Way:
    numbers = np.zeros(WAY, dtype=np.int64)
    numbers[KIND] = formula.kind + (BACKWARDS if formula.backwards else 0)
    numbers[AT : AT + HINGES], numbers[HELD_AT] = at, -1
    return Way(numbers, axes.packed(formula.along, formula.through))


def sliced_way(axes: Axes, at: list[int]) -> Way | None:
    """The arm with its last or its first hinge held, whichever has the quicker formula."""
    found: list[tuple[bool, Way]] = []
    for last in (True, False):
        six, one = (slice(0, HINGES), HINGES) if last else (slice(1, HINGES + 1), 0)
        rest = replace(
            axes, along=axes.along[six], through=axes.through[six], lower=axes.lower[six], upper=axes.upper[six]
        )
        formula = recognised(rest)
        if formula is not None:
            way = _way(rest, formula, at[six])
            way.numbers[HELD_AT], way.numbers[HELD_LAST] = at[one], last
            back = inverse(axes.home) if last else np.eye(4)
            way.arm[HELD], way.arm[HELD + 1] = (
                back[:3, :3] @ axes.along[one],
                back[:3, :3] @ axes.through[one] + back[:3, 3],
            )
            found.append((formula.kind == GENERAL, way))
    return min(found, key=lambda one: one[0])[1] if found else None


# ── the formula, and the search for the rest ──────────────────────────────────────────────────────────────────────────
class FormulaFirst:
    """What answers before a search is made; the formula is looked for when it is first needed."""

    def __init__(self, problem: Problem, paces: Any, sliced: bool) -> None:
        self.problem, self.paces, self.sliced = problem, paces, sliced
        self._call: Any = None

    def _begun(self) -> Any:
        """The call of the formula; None if there is none."""
        if self._call is None:
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
        budget, spent, made = float(report[BUDGET]), float(report[EVALUATIONS]), 0.0
        limited = 0.0 < budget < np.inf
        if spent == 0.0:
            settings = call.settings
            attempts, settings[ATTEMPTS] = settings[ATTEMPTS], 1.0
            call.search(T, Q, k, k + 1)
            settings[ATTEMPTS] = attempts
            if report[REASON] == MET:
                return
            spent, made = float(report[EVALUATIONS]), float(report[ITERATIONS])
            if report[REASON] == UNFIT or not spent < report[BUDGET]:  # a deadline empties it meanwhile
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
