"""Which solver answers when none is named."""

from __future__ import annotations

from supple.problem.problem import Problem
from supple.solvers.active_set.active_set import ActiveSet
from supple.solvers.base import Solver
from supple.solvers.clearance_first import Roomy
from supple.solvers.multistart import Multistart
from supple.solvers.newton.newton import Newton
from supple.solvers.projected_gradient import ProjectedGradient


def default_solver(problem: Problem) -> Solver:
    """The first of the standing solvers that takes the problem; the first of all, to say why, if none does.

    Many attempts of Levenberg–Marquardt; where limits have linear rows or goals no residuals, some of Newton's method or
    of the active-set method; the projected gradient last. Where more clearance is preferred than must be kept, it is asked for
    that first.
    """
    solvers: tuple[Solver, ...] = (
        Multistart(),
        Multistart(Newton(), attempts=10),
        Multistart(ActiveSet(), attempts=10),
        ProjectedGradient(),
    )
    chosen = next((solver for solver in solvers if not solver.refuse(problem)), solvers[0])
    return Roomy(chosen) if problem.clearance.preferred > problem.clearance.margin else chosen
