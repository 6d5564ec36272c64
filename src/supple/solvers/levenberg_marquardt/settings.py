"""Levenberg–Marquardt: damped Gauss–Newton steps inside the limits, with hard tasks and strict priorities.

The loop of one attempt, with its equations, is in `attempt`; the search over many starts and the augmented Lagrangian that
takes tasks rank by rank are in `search`; here are its settings.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from supple.basics.checks import check_fields, counted, flag, not_negative, number, positive, whole
from supple.geometry.placements import Floats
from supple.problem.allowance import FREELY, Allowance
from supple.problem.goals import Custom, Near
from supple.problem.problem import Problem
from supple.problem.solution import Solution
from supple.solvers.base import answered, insist, reasons_of_a_descent_method
from supple.solvers.levenberg_marquardt.search_call import SearchCall


@dataclass(frozen=True)
class LevenbergMarquardt:
    """Damped Gauss–Newton steps inside the limits, from the given start alone (`attempts` = 1) or from many."""

    steps: int = 100  # of one attempt
    attempts: int = 1
    tolerance: float = 1e-12  # on the largest coordinate of a step
    factor: float = 0.1  # μ, damping as a share of G
    floor: float = 1e-9  # λ₀, damping as a share of the mean diagonal of J D Jᵀ
    slow: float = 0.9  # an attempt with three steps in a row that leave more of G than this is abandoned
    formulas: bool = False  # whether an arm that has a formula is answered by it, the nearest branch to the start

    def __post_init__(self) -> None:
        check_fields(self, steps=whole, attempts=counted, tolerance=not_negative, formulas=flag)
        check_fields(self, factor=not_negative, floor=positive, slow=partial(number, above=0.0, most=1.0))

    def refuse(self, problem: Problem) -> list[str]:
        """Goals without residuals, and posture goals that come strictly before other tasks."""
        reasons = reasons_of_a_descent_method(problem, ranked=True)
        last = max(problem.ranks, default=0)
        for task, rank in zip(problem.tasks, problem.ranks, strict=False):
            if any(isinstance(goal, Custom) for goal, _ in task.alternatives):
                reasons.append(f"{task.name!r} has no residual form")
            if isinstance(task.goal, Near) and rank < last:
                reasons.append(f"{task.name!r} comes before other tasks: a posture goal leaves them nothing to do")
        return reasons

    def settings(self) -> tuple[float, ...]:
        """The numbers that the kernel reads."""
        return (self.steps, self.attempts, self.tolerance, self.factor, self.floor, self.slow, self.formulas)

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Allowance = FREELY) -> Solution:
        """Search from `start`, then, with several attempts, from the points of the sequence that `seed` names."""
        insist(self, problem)
        call = SearchCall(problem, self.settings(), seed, allowance.report(), allowance.page())
        Q = np.array(start, dtype=np.float64).reshape(1, -1)
        with allowance.watched(call.report):
            call.run(problem.pack[2][None], Q)
        (row,) = call.report
        return answered(problem, Q[0], row, call.trace, seed, allowance)
