"""Many starts: a local solver made dependable.

The first attempt begins where it is told; the others at the points of a low-discrepancy sequence in the box of the limits
(see `search`). The first attempt that meets every task ends the search; if none does, the best legal posture
of all is the answer. With `LevenbergMarquardt` the whole search is one compiled loop: the solver that answers where none is
named. A budget and a deadline are those of all attempts together.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import monotonic

import numpy as np

from supple.basics.checks import check_fields, counted, flag
from supple.errors import BadValue, Refused
from supple.geometry.placements import Floats
from supple.problem.allowance import FREELY, Allowance
from supple.problem.problem import Problem
from supple.problem.solution import Solution, Status, Trace, audited
from supple.solvers.base import Solver, checked_solver, insist
from supple.solvers.levenberg_marquardt.levenberg_marquardt import MANY, LevenbergMarquardt, compiled, further_start


@dataclass(frozen=True)
class Multistart:
    """Attempts of a local `solver` from many starts, reproducible by the seed.

    With `LevenbergMarquardt`, arms that have a formula are answered by it first, unless `formulas` is False (`closed_forms`).
    """

    solver: Solver = field(default_factory=LevenbergMarquardt)
    attempts: int = MANY
    formulas: bool = True

    def __post_init__(self) -> None:
        checked_solver(self.solver)
        check_fields(self, attempts=counted, formulas=flag)

    def refuse(self, problem: Problem) -> list[str]:
        """What the local solver refuses."""
        return self.solver.refuse(problem)

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Allowance = FREELY) -> Solution:
        """The first solution found, or the best posture of all attempts."""
        if isinstance(self.solver, LevenbergMarquardt):
            return self.joined(self.solver).solve(problem, start, seed, allowance)
        insist(self, problem)
        begun, evaluations, iterations, least = monotonic(), 0, 0, np.inf
        left: Allowance | None = allowance
        best: Solution | None = None
        traces: list[Trace] = []
        for k in range(self.attempts):
            q = start if k == 0 else problem.admitted(further_start(problem, start, seed, k))
            solution = self.solver.solve(problem, q, seed, left)
            if solution.trace is not None:
                traces.append(solution.trace.later(evaluations))
            iterations, evaluations = iterations + solution.iterations, evaluations + solution.evaluations
            value = problem.value(solution.q)
            if best is None or solution.ok or value < least:
                best, least = solution, value
            left = allowance.left(evaluations, monotonic() - begun)
            if solution.ok or left is None:
                break
        assert best is not None
        if left is None and best.status is Status.STOPPED:
            ended = allowance.ended(late=evaluations < allowance.evaluations)
            best = audited(problem, best.q, False, ended, seed=seed)
        trace = Trace.joined(traces) if traces else None
        return replace(best, iterations=iterations, evaluations=evaluations, trace=trace)

    def joined(self, local: LevenbergMarquardt) -> LevenbergMarquardt:
        """The compiled search with many starts."""
        return replace(local, attempts=self.attempts, formulas=self.formulas)


def compiled_for_many(solver: Solver | None, problem: Problem) -> LevenbergMarquardt:
    """As `compiled`, many starts by default, for a problem that it takes; any other solver is refused."""
    if solver is None and problem.clearance.preferred > problem.clearance.margin:
        raise Refused("no more clearance than must be kept is looked for in one compiled call: leave `preferred` out")
    chosen = compiled(Multistart() if solver is None else checked_solver(solver))
    if chosen is None:
        name = type(solver).__name__
        raise BadValue(
            f"only LevenbergMarquardt and Multistart of it answer many targets in one compiled call, not {name}"
        )
    insist(chosen, problem)
    return chosen
