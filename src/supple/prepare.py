"""Prepared problems: packed once, then asked again and again with other targets, in microseconds.

A query keeps benches, each with everything that one search needs; a call takes a bench, writes the target, runs the compiled
search and puts the bench back. So calls build nothing but the answer, and threads can share a query: each takes a bench of
its own. The status comes from the kernel's last evaluation, which stops a little inside every tolerance; `errors` are
recomputed from the figure when they are read.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.compiled import untyped
from supple.problem import Problem
from supple.solution import OWN_STEPS, Solution, Status, audited
from supple.solvers.base import Solver, insist
from supple.solvers.decide import Decide, decided
from supple.solvers.default import default_solver
from supple.solvers.desk import desk
from supple.solvers.levenberg_marquardt import LevenbergMarquardt
from supple.solvers.meter import EVALUATIONS, FREELY, ITERATIONS, MET, REASON, SPENT, STATIONARY, Allowance
from supple.solvers.multistart import compiled
from supple.solvers.recentring import solve_recentred
from supple.solvers.search import UNFIT, search_entry
from supple.targets import slots, write_targets

_STATUS = {MET: Status.SOLVED, STATIONARY: Status.NEAREST, SPENT: Status.STOPPED}
_new = object.__new__


class Answer(Solution):
    """A solution whose problem and sentence are made when somebody asks for them."""

    asked: tuple[Query, Any]  # the query and its targets
    spent: list[float]  # the row of info

    @cached_property
    def problem(self) -> Problem:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The problem with the target that was asked for."""
        query, targets = self.asked
        return query.problem.aimed(*query.apart(targets))

    @cached_property
    def reason(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """One sentence."""
        if self.status is Status.SOLVED:
            return self.status.value
        allowance = self.asked[0].allowance
        ended = OWN_STEPS if self.evaluations < allowance.evaluations else allowance.ended(late=False)
        return audited(self.problem, self.q, self.status is Status.NEAREST, ended).reason

    @property
    def iterations(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Steps that were taken."""
        return int(self.spent[ITERATIONS])

    @property
    def evaluations(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Evaluations that were made."""
        return int(self.spent[EVALUATIONS])

    @property
    def seed(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The seed of the sequence of starts."""
        return self.asked[0].seed

    @property
    def ok(self) -> bool:
        """Whether every task is met to its tolerance."""
        return self.status is Status.SOLVED


class _Bench:
    """What one search at a time needs."""

    def __init__(self, query: Query) -> None:
        problem, solver = query.problem, query.solver
        self.desk = desk(problem, solver.settings(), query.seed) if isinstance(solver, LevenbergMarquardt) else None
        self.I, self.F, self.T = problem.packed[0], problem.packed[1].copy(), problem.packed[2][None].copy()
        self.info, self.trace = query.allowance.info(), query.allowance.page()
        self.spent = self.info[0]


class Query:
    """A prepared problem. ``query(target)`` answers one target array for each task; see `prepare`."""

    def __init__(
        self, problem: Problem, solver: Solver, seed: int, allowance: Allowance, boxes: int | None = None
    ) -> None:
        self.problem, self.solver, self.seed, self.allowance = problem, solver, seed, allowance
        self._boxes = boxes  # in which what is not solved is decided; None: it is not
        self.slots = slots(problem)
        shapes = {slot.shape for slot in self.slots}
        alike = next(iter(shapes)) if len(shapes) == 1 and not problem.loops else None
        single = len(self.slots) == 1
        self.shape = alike if alike is None or single else (len(self.slots), *alike)  # of all targets in one array
        self._rest = problem.admitted(problem.figure.rest)[None].copy()
        assert problem.limits is not None
        self._rows = None if problem.limits.is_box else problem.limits  # rounding may leave linear rows, never the box
        self._benches = [_Bench(self)]
        self._search = search_entry

    def __call__(self, target: Any = None, start: ArrayLike | None = None) -> Solution:
        """Solve for a target: the bare array if the problem has one task, else a list (or array) with one for each.

        None keeps a task's own target. `start` is the posture to begin at, by default the figure's rest.
        """
        try:
            bench = self._benches.pop()
        except IndexError:
            bench = _Bench(self)
        try:
            T = targets = self._given(target)
            Q = self._rest.copy() if start is None else self._begin(start)
            if T is None:
                T, targets = self._aimed(target, bench)
            elif T.ndim != 2:
                T = T.reshape(1, -1)
            if bench.desk is None:
                return self._slowly(Q[0], targets)
            self._search(bench.I, bench.F, bench.desk, T, Q, bench.info, bench.trace, 0, 1)
            spent = bench.spent.tolist()
            if spent[REASON] == UNFIT:  # it is looked at again, and cleaned or refused by name
                if start is not None:
                    self.problem.figure.posture(start)
                T, targets = self._aimed(target, bench)
                self._search(bench.I, bench.F, bench.desk, T, Q, bench.info, bench.trace, 0, 1)
                spent = bench.spent.tolist()
            if self._search is search_entry:
                self._search = untyped(search_entry)
        finally:
            self._benches.append(bench)
        q = Q[0]
        if self._rows is not None and not self._rows.contains(q):
            problem = self.problem.aimed(*self.apart(targets))
            return audited(problem, q, False, evaluations=int(spent[EVALUATIONS]), seed=self.seed)
        q.setflags(write=False)
        answer = _new(Answer)
        record = answer.__dict__
        record["q"], record["status"] = q, _STATUS[spent[REASON]]
        record["spent"], record["asked"] = spent, (self, targets)
        return answer if self._boxes is None or answer.ok else decided(answer, self._boxes)

    def _begin(self, start: Any) -> np.ndarray:
        """The start as a row of its own; anything unusual is looked at, and refused by name, by the figure."""
        if self._rows is not None:
            return self.problem.admitted(self.problem.figure.posture(start))[None]
        if type(start) is np.ndarray and start.shape == self._rest.shape[1:] and start.dtype == np.float64:
            return start[None].copy()  # the kernel looks whether it is finite
        return self.problem.figure.posture(start)[None].copy()

    def _given(self, target: Any) -> Any:
        """Targets that are all points or all placements, as they are; None if they need a closer look."""
        if self.shape is not None and target is not None:
            try:
                array = np.array(target, dtype=np.float64, order="C")
            except (TypeError, ValueError):
                return None
            if array.shape == self.shape:
                return array
        return None

    def _aimed(self, target: Any, bench: _Bench) -> Any:
        """Targets written one by one, checked and cleaned, and copies of them."""
        targets = write_targets(self.slots, target, bench.T)
        return bench.T, targets[0] if len(targets) == 1 else targets

    def apart(self, targets: Any) -> Any:
        """One target for each task."""
        return (targets,) if len(self.slots) == 1 else targets

    def _slowly(self, start: np.ndarray, targets: Any) -> Solution:
        """The answer of a solver that is not the compiled search."""
        problem = self.problem.aimed(*self.apart(targets))
        return solve_recentred(self.solver, problem, problem.admitted(start), self.seed, self.allowance)


def prepare(problem: Problem, *, solver: Solver | None = None, seed: int = 0, budget: int | None = None) -> Query:
    """Pack a problem once; the query that comes back answers targets in microseconds, checks included.

    That is what the default, `Multistart` of `LevenbergMarquardt`, does; problems that it cannot take, and other solvers,
    are answered as `solve` would, at its pace. With `Decide` what the search does not solve is decided. `budget` limits the
    evaluations of each call.
    """
    chosen = default_solver(problem) if solver is None else solver
    insist(chosen, problem)
    allowance, boxes = FREELY if budget is None else Allowance(budget), None
    if isinstance(chosen, Decide) and compiled(chosen.solver) is not None:
        chosen, boxes = chosen.solver, chosen.boxes
    return Query(problem, compiled(chosen) or chosen, seed, allowance, boxes)
