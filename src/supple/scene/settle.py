"""Solving from a posture that should not jump.

First come single attempts from where the figure is: the usual solver's, and Newton's method where that leaves a task unmet.
Only if it does too, the whole search looks elsewhere, and what it finds is taken if it meets tasks of a rank (hard ones, then
by priority) that the near posture does not: with r(q) the lowest rank of a task that is not met at q,

    q ← q_far  if  r(q_far) > r(q_near),  else  q_near.

So where not all can be met, the answer is the posture nearest by for the given weights, not one from anywhere whose objective
is a little lower.
"""

from __future__ import annotations

import numpy as np

from supple.geometry.placements import Floats
from supple.problem.problem import Problem
from supple.problem.solution import Solution
from supple.problem.task import met
from supple.solvers.base import Solver
from supple.solvers.levenberg_marquardt.levenberg_marquardt import LevenbergMarquardt, default_solver, one_attempt
from supple.solving.solve import solve


def nearby(problem: Problem) -> Solver:
    """A single attempt of the solver that answers when none is named."""
    chosen = default_solver(problem)
    if not isinstance(chosen, LevenbergMarquardt):
        from supple.solvers.clearance_first import PreferredClearance

        chosen = chosen.solver if isinstance(chosen, PreferredClearance) else chosen
    return one_attempt(chosen)


def settled(problem: Problem, q: Floats, seed: int = 0) -> Solution:
    """The near answer, or one from elsewhere that meets more important tasks."""
    near = solve(problem, start=q, solver=nearby(problem), seed=seed)
    if near.ok:
        return near
    from supple.solvers.newton.newton import Newton  # most scenes need none of it

    if not Newton().refuse(problem):
        near = solve(problem, start=q, solver=Newton(), seed=seed)
    far = near if near.ok else solve(problem, start=q, seed=seed)
    return far if first_unmet(far) > first_unmet(near) else near


def first_unmet(solution: Solution) -> float:
    """The lowest rank of a task that is not met."""
    problem = solution.problem
    rows = zip(problem.all_tasks, problem.ranks, solution.errors, strict=True)
    return min((rank for task, rank, miss in rows if not met(task, miss)), default=np.inf)
