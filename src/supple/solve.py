"""The front door: pose a figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from supple.errors import BadValue
from supple.figure import Figure
from supple.problem import Problem, Task
from supple.solution import Solution
from supple.solvers.active_set import ActiveSet
from supple.solvers.base import Solver
from supple.solvers.multistart import Multistart
from supple.solvers.newton import Newton
from supple.solvers.projected_gradient import ProjectedGradient
from supple.solvers.recentring import solve_recentred


def solve(
    problem: Problem | Figure,
    *more: Any,
    start: ArrayLike | None = None,
    solver: Solver | None = None,
    seed: int = 0,
) -> Solution:
    """The posture that meets the tasks, or the nearest legal one with the reason why it does not.

    ``solve(problem)`` or ``solve(problem, start)``; short form ``solve(figure, {"hand": goal})`` for goals on the frames
    of segments. A `start` outside the limits is projected onto them. Not reaching a goal is no error: see `Solution.status`.
    """
    if isinstance(problem, Figure):
        goals, *more_left = more or ({},)
        if not isinstance(goals, Mapping):
            raise BadValue("the short form is solve(figure, {segment: goal}); otherwise pass a Problem")
        problem = Problem(problem, [Task(segment, goal) for segment, goal in goals.items()])
    elif isinstance(problem, Problem):
        more_left = list(more)
    else:
        raise BadValue(f"solve takes a Problem, or a Figure and goals, not {problem!r}")
    if len(more_left) > 1 or (more_left and start is not None):
        raise BadValue("solve takes one start")
    given = more_left[0] if more_left else start
    figure = problem.figure
    posture = figure.rest if given is None else figure.posture(given)
    assert problem.limits is not None
    chosen = default_solver(problem) if solver is None else solver
    return solve_recentred(chosen, problem, problem.limits.project(posture), seed)


def default_solver(problem: Problem) -> Solver:
    """The first of the standing solvers that takes the problem; the first of all, to say why, if none does.

    Many attempts of Levenberg–Marquardt; where limits have linear rows or goals no residuals, some of Newton's method or
    of the active-set method; the projected gradient last.
    """
    solvers: tuple[Solver, ...] = (
        Multistart(),
        Multistart(Newton(), attempts=10),
        Multistart(ActiveSet(), attempts=10),
        ProjectedGradient(),
    )
    return next((solver for solver in solvers if not solver.refuse(problem)), solvers[0])
