"""Prepared problems: packed once, then asked again and again with other targets, in microseconds.

A query keeps benches, each with everything that one search needs; a call takes a bench, writes the target, runs the compiled
search and puts the bench back. So calls build nothing but the answer, and threads can share a query: each takes a bench of
its own. The status comes from the kernel's last evaluation, which stops a little inside every tolerance; `errors` are
recomputed from the figure when they are read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import BadValue
from supple.problem import Problem
from supple.solution import OWN_STEPS, Solution, Status, audited
from supple.solvers.base import Solver, insist
from supple.solvers.default import default_solver
from supple.solvers.levenberg_marquardt import LevenbergMarquardt
from supple.solvers.meter import FREELY, MET, STATIONARY, Allowance
from supple.solvers.multistart import Multistart, compiled
from supple.solvers.search import desk, search_entry
from supple.targets import slots

_STATUS = {MET: Status.SOLVED, STATIONARY: Status.NEAREST}


class Answer(Solution):
    """A solution whose problem and sentence are made when somebody asks for them."""

    @cached_property
    def problem(self) -> Problem:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The problem with the target that was asked for."""
        return self.__dict__["_aimed"]()

    @cached_property
    def reason(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """One sentence."""
        if self.status is Status.SOLVED:
            return self.status.value
        allowance: Allowance = self.__dict__["_allowance"]
        ended = OWN_STEPS if self.evaluations < allowance.evaluations else allowance.ended(late=False)
        return audited(self.problem, self.q, self.status is Status.NEAREST, ended).reason

    @property
    def ok(self) -> bool:
        """Whether every task is met to its tolerance."""
        return self.status is Status.SOLVED


class _Bench:
    """What one search at a time needs."""

    def __init__(self, problem: Problem, solver: Solver, seed: int, allowance: Allowance) -> None:
        self.desk = desk(problem, solver.settings(), seed) if isinstance(solver, LevenbergMarquardt) else None
        self.F, self.T = problem.packed[1].copy(), problem.packed[2][None].copy()
        self.info, self.trace = allowance.info(), allowance.page()


class Query:
    """A prepared problem. ``query(target)`` answers one target array for each task; see `prepare`."""

    def __init__(self, problem: Problem, solver: Solver, seed: int, allowance: Allowance) -> None:
        self.problem, self.solver, self.seed, self.allowance = problem, solver, seed, allowance
        self._I = problem.packed[0]
        self._slots = slots(problem)
        assert problem.limits is not None
        self._rest = problem.limits.project(problem.figure.rest)[None].copy()
        self._size = problem.figure.size
        self._benches = [_Bench(problem, solver, seed, allowance)]

    def __call__(self, target: Any = None, start: ArrayLike | None = None) -> Solution:
        """Solve for a target: the bare array if the problem has one task, else a list with one for each.

        None keeps a task's own target. `start` is the posture to begin at, by default the figure's rest.
        """
        Q = self._rest.copy() if start is None else self._begin(start)
        try:
            bench = self._benches.pop()
        except IndexError:
            bench = _Bench(self.problem, self.solver, self.seed, self.allowance)
        try:
            given = []
            for slot, one in zip(self._slots, (target,) if len(self._slots) == 1 else self._given(target), strict=True):
                given.append(slot.reset(bench.T) if one is None else slot.write(one, bench.T))
            return self._run(Q, given, bench)
        finally:
            self._benches.append(bench)

    def _begin(self, start: ArrayLike) -> np.ndarray:
        """The start as a row of its own; anything unusual is looked at, and refused by name, by the figure."""
        plain = isinstance(start, np.ndarray) and start.shape == (self._size,) and start.dtype == np.float64
        if plain and math.isfinite(np.dot(start, start)):
            return start[None].copy()
        return self.problem.figure.posture(start)[None].copy()

    def _given(self, target: Any) -> Sequence[Any]:
        if target is None:
            return (None,) * len(self._slots)
        if len(target) != len(self._slots):
            raise BadValue(f"the problem has {len(self._slots)} tasks but {len(target)} targets")
        return target

    def _run(self, Q: np.ndarray, given: Sequence[Any], bench: _Bench) -> Solution:
        if bench.desk is None:
            problem = self.problem.aimed(*given)
            assert problem.limits is not None
            return self.solver.solve(problem, problem.limits.project(Q[0]), self.seed, self.allowance)
        search_entry(self._I, bench.F, bench.desk, bench.T, Q, bench.info, bench.trace, 0, 1)
        iterations, evaluations, _, reason, *_ = bench.info[0].tolist()
        q = Q[0]
        q.setflags(write=False)
        answer = Answer.__new__(Answer)
        answer.__dict__.update(
            q=q,
            status=_STATUS.get(reason, Status.STOPPED),
            iterations=int(iterations),
            evaluations=int(evaluations),
            seed=self.seed,
            _aimed=lambda: self.problem.aimed(*given),
            _allowance=self.allowance,
        )
        return answer


def prepare(problem: Problem, *, solver: Solver | None = None, seed: int = 0, budget: int | None = None) -> Query:
    """Pack a problem once; the query that comes back answers targets in microseconds, checks included.

    That is what the default, `Multistart` of `LevenbergMarquardt`, does; problems that it cannot take, and other solvers,
    are answered as `solve` would, at its pace. `budget` limits the evaluations of each call.
    """
    chosen = default_solver(problem) if solver is None else solver
    insist(chosen, problem)
    is_compiled = isinstance(chosen.solver if isinstance(chosen, Multistart) else chosen, LevenbergMarquardt)
    return Query(
        problem, compiled(chosen) if is_compiled else chosen, seed, FREELY if budget is None else Allowance(budget)
    )
