"""More room than must be kept, where there is some.

Bodies made of a few balls are coarse: a posture that only just keeps them clear may touch with what lies between. So the
search first asks for the clearance that is preferred, ``m_0``, then for less and less, down to the margin m that must be
kept, and takes the first posture it finds:

    m_k = m + (1 − k / n) (m_0 − m),    k = 0 … n.

Every rung is a problem of its own, searched from the same start. Only the last one is the problem that was stated, so only it
can end without a solution.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import monotonic

from supple.basics.checks import check_fields, counted
from supple.geometry.placements import Floats
from supple.problem.allowance import FREELY, Allowance
from supple.problem.obstacles import kept_apart
from supple.problem.problem import Problem
from supple.problem.solution import Solution, Trace, audited
from supple.solvers.base import Solver, checked_solver, insist
from supple.solvers.multistart import Multistart


@dataclass(frozen=True)
class PreferredClearance:
    """A `solver` that is asked for the preferred clearance first, then for less in so many `rungs`."""

    solver: Solver = field(default_factory=Multistart)
    rungs: int = 4

    def __post_init__(self) -> None:
        checked_solver(self.solver)
        check_fields(self, rungs=counted)

    def refuse(self, problem: Problem) -> list[str]:
        """What the solver refuses."""
        return self.solver.refuse(problem)

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Allowance = FREELY) -> Solution:
        """The first solution on the way down, or what the solver makes of the problem itself."""
        insist(self, problem)
        margin, preferred = problem.clearance.margin, problem.clearance.preferred
        rungs = self.rungs if preferred > margin else 0
        begun, evaluations, iterations = monotonic(), 0, 0
        traces: list[Trace] = []
        for k in range(rungs + 1):
            left = allowance.left(evaluations, monotonic() - begun)
            if left is None:
                break
            asked = problem
            if k < rungs:
                wider = margin + (1.0 - k / rungs) * (preferred - margin)
                asked = _with_room(problem, wider)
            found = self.solver.solve(asked, start, seed, left)
            evaluations, iterations = evaluations + found.evaluations, iterations + found.iterations
            traces += [] if found.trace is None else [found.trace.later(evaluations - found.evaluations)]
            kept = replace(found, problem=problem)  # pairs nearer at rest than is asked for now count here again
            if (found.ok and kept.ok) or k == rungs:
                trace = Trace.joined(traces) if traces else None
                return replace(kept, iterations=iterations, evaluations=evaluations, trace=trace)
        ended = allowance.ended(late=evaluations < allowance.evaluations)
        return audited(problem, start, False, ended, iterations=iterations, evaluations=evaluations, seed=seed)


def _with_room(problem: Problem, margin: float) -> Problem:
    """The same with another margin, in the charts that its figure has by now."""
    asked = replace(problem.clearance, margin=margin, preferred=0.0)
    asked = replace(asked, itself=asked.itself and bool(kept_apart(problem.figure, asked)))
    return Problem(problem.figure, problem.tasks, problem.limits, problem.rigidity, problem.obstacles, asked,
                   problem.loop_tolerance)  # fmt: skip
