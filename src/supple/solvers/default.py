"""Which solver answers when none is named."""

from __future__ import annotations

from supple.problem.problem import Problem
from supple.solvers.base import Solver
from supple.solvers.multistart import Multistart


def default_solver(problem: Problem) -> Solver:
    """The first of the standing solvers that takes the problem; the first of all, to say why, if none does.

    Many attempts of Levenberg–Marquardt; where limits have linear rows or goals no residuals, some of Newton's method or
    of the active-set method; the projected gradient last. Where more clearance is preferred than must be kept, it is asked for
    that first.
    """
    usual = Multistart()
    chosen = usual if not usual.refuse(problem) else _other(problem) or usual
    if problem.clearance.preferred <= problem.clearance.margin:
        return chosen
    from supple.solvers.clearance_first import PreferredClearance

    return PreferredClearance(chosen)


def _other(problem: Problem) -> Solver | None:
    """The first of the others that takes the problem; most problems need none of these modules."""
    from supple.solvers.active_set.active_set import ActiveSet
    from supple.solvers.newton.newton import Newton
    from supple.solvers.projected_gradient import ProjectedGradient

    others = (Multistart(Newton(), attempts=10), Multistart(ActiveSet(), attempts=10), ProjectedGradient())
    return next((solver for solver in others if not solver.refuse(problem)), None)
