"""What `scaling` measures at one size: an iteration of a solver, an evaluation, or building; round by round, the best kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import Mock, patch

import numpy as np

import supple
from scaling_problems import Case
from supple.kernels.compiling import entry
from supple.kernels.jacobian import jacobian_entry, linearise
from supple.kernels.layouts import RESIDUALS
from supple.kernels.objective import gradient_entry, hessian_entry
from supple.kernels.tables import open_evaluation
from supple.problem.allowance import EVALUATIONS, ITERATIONS
from supple.solvers.levenberg_marquardt.levenberg_marquardt import SearchCall

ROUNDS, SPAN = 9, 6.0  # most rounds, and the seconds after which a cell has had enough of them; at least two
LONG = 1.0  # seconds; where the first solve takes longer, one start has to do
EVALUATED = ("value + gradient", "linearisation", "Jacobian", "Hessian")


def clocked(work: Callable[[], Any]) -> float:
    """Seconds of processor time."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


class Cell:
    """One line's point at one size: measured round by round, the best kept."""

    def __init__(self, size: int) -> None:
        self.size, self.rounds, self.spent = size, 0, 0.0

    def round(self) -> None:
        """Measure once more, unless that has been done enough."""
        if self.rounds < ROUNDS and (self.rounds < 2 or self.spent < SPAN):
            self.spent += clocked(self.measure)
            self.rounds += 1

    def measure(self) -> None:
        """Measure once."""
        raise NotImplementedError

    @property
    def seconds(self) -> float:
        """Of one iteration or one evaluation."""
        raise NotImplementedError


class Loop:
    """A solver's compiled loop with the arrays that `solve` gives it, to be run from other starts with other steps."""

    def __init__(self, problem: supple.Problem, solver: Any) -> None:
        if isinstance(solver, supple.LevenbergMarquardt):
            call = SearchCall(problem, solver.settings())
            self.entry, self.Q, self.report = call.entry, problem.figure.rest[None].copy(), call.report
            self.settings = call.scratch  # they lie first
            self.arguments = (call.I, call.F, call.scratch, call.T, self.Q, call.report, call.trace, 0, 1)
        else:
            loop, called = type(solver).loop, Mock()
            with patch.object(type(solver), "loop", loop._replace(entry=called)):
                solver.solve(problem, problem.figure.rest)
            self.entry, self.arguments = loop.entry, called.call_args.args
            self.Q, self.settings, self.report = self.arguments[4], self.arguments[5], self.arguments[6]
        self.clean = self.report.copy()

    def __call__(self, start: np.ndarray, steps: int) -> float:
        """Seconds; what the loop has counted is left in `report`."""
        self.Q[0], self.report[...], self.settings[0] = start, self.clean, steps
        return clocked(lambda: self.entry(*self.arguments))


class Iteration(Cell):
    """The time of one iteration: the loop cut short early and late."""

    def __init__(self, case: Case, solver: Any, most: int) -> None:
        super().__init__(case.size)
        self.starts, self.loop, self.cuts = case.starts, Loop(case.problem, solver), []
        if self.loop(self.starts[0], most) > LONG:
            self.starts = self.starts[:1]
        for start in self.starts:
            self.loop(start, most)
            made = int(self.loop.report[0, ITERATIONS])
            self.cuts.append((max(made // 4, 1), max(3 * made // 4, 2)))
        self.best = np.full((len(self.starts), 2), np.inf)
        self.iterations = self.evaluations = 0.0

    def measure(self) -> None:
        """Every start, early and late."""
        self.iterations = self.evaluations = 0.0
        for s, (start, cuts) in enumerate(zip(self.starts, self.cuts, strict=True)):
            for late, steps in enumerate(cuts):
                times = 10 if self.best[s, late] < 1e-3 else 1
                self.best[s, late] = min(self.best[s, late], *(self.loop(start, steps) for _ in range(times)))
                made, evaluations = self.loop.report[0, [ITERATIONS, EVALUATIONS]]
                assert made == steps, f"{self.loop.entry} stopped after {made} of {steps} iterations"
                self.iterations += (2 * late - 1) * made
                self.evaluations += (2 * late - 1) * evaluations

    @property
    def seconds(self) -> float:
        """Of one iteration."""
        early, late = self.best.sum(axis=0)
        return float((late - early) / self.iterations)


@entry
def _linearisations(I: Any, F: Any, scratch: Any, T: Any, Q: Any, rho: Any) -> None:
    """Residuals and their derivatives without zeros, at every posture of Q."""
    work = open_evaluation(I, scratch)
    for k in range(Q.shape[0]):
        linearise(I, F, scratch, T[k], Q[k], rho, work.columns, work.chosen)


class Evaluation(Cell):
    """The time of one evaluation inside compiled code."""

    def __init__(self, case: Case, what: str) -> None:
        super().__init__(case.size)
        problem, n = case.problem, case.size
        I, F, T = problem.pack
        m, scratch = int(I[RESIDUALS]), problem.scratch()
        Q = np.array(case.starts[:1] if what in ("Hessian", "Jacobian") else case.starts * 4)
        k = len(Q)
        targets, value, g, rho = np.repeat(T[None], k, axis=0), np.zeros((k, 2)), np.zeros((k, n)), np.zeros((k, m))
        if what == "value + gradient":
            self.work = lambda: gradient_entry(I, F, scratch, targets, Q, value, g)
        elif what == "linearisation":
            self.work = lambda: _linearisations(I, F, scratch, targets, Q, rho[0])
        elif what == "Jacobian":
            J = np.zeros((k, m, n))
            self.work = lambda: jacobian_entry(I, F, scratch, targets, Q, value, rho, J)
        else:
            H = np.zeros((k, n, n))
            self.work = lambda: hessian_entry(I, F, scratch, targets, Q, 1, value, g, H)
        self.work()
        self.count, self.best = k, np.inf

    def measure(self) -> None:
        """The best of some calls."""
        self.best = min(self.best, *(clocked(self.work) for _ in range(20)))

    @property
    def seconds(self) -> float:
        """Of one evaluation."""
        return self.best / self.count


class Building(Cell):
    """The time to build figure and problem anew from joints and tasks that are there, packs included."""

    def __init__(self, case: Case, stage: str) -> None:
        super().__init__(case.size)
        self.case, self.stage, self.best = case, stage, np.inf

    def measure(self) -> None:
        """Build once."""
        problem = self.case.problem
        figure = replace(problem.figure)
        if self.stage == "figure":
            self.best = min(self.best, clocked(lambda: replace(figure).packed))
        else:
            self.best = min(self.best, clocked(lambda: supple.Problem(figure, problem.tasks).packed))

    @property
    def seconds(self) -> float:
        """Of all of it."""
        return self.best
