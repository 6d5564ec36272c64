"""The objective of a problem at a posture: value, gradient, Hessian; residuals and their derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.values import Value
from supple.errors import BadValue
from supple.geometry.placements import Floats
from supple.kernels.compiling import entry_in
from supple.kernels.layouts import RESIDUALS
from supple.kernels.objective import gradient_entry, hessian_entry
from supple.kernels.tables import EVALUATION
from supple.problem.packing import suited
from supple.problem.problem import Problem

jacobian_entry = entry_in("supple.kernels.jacobian.jacobian_entry")


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Value):
    """The objective at a posture."""

    value: float  # G(q) = Σ w P
    gradient: Floats | None = None  # (size)
    hessian: Floats | None = None  # (size, size)


def evaluate(problem: Problem, q: ArrayLike, hessian: bool, curvature: bool) -> Evaluation:
    """Value and gradient at q and, if asked for, the Hessian; without `curvature` the Gauss–Newton matrix."""
    (I, F, T), size = problem.pack, problem.figure.size
    g, value = np.zeros((1, size)), np.zeros((1, 2))
    Q, scratch = problem.figure.posture(q).reshape(1, size), EVALUATION.fresh(I)
    if not hessian:
        gradient_entry(I, F, scratch, T[None], Q, value, g)
        return Evaluation(float(value[0, 0]), g[0])
    if not curvature:
        _need_residuals(problem)
    H = np.zeros((1, size, size))
    hessian_entry(I, F, scratch, T[None], Q, int(curvature), value, g, H)
    return Evaluation(float(value[0, 0]), g[0], H[0])


def jacobian(problem: Problem, q: ArrayLike) -> tuple[Floats, Floats]:
    """Residuals ρ with ``G = |ρ|²`` and their derivatives (m, size)."""
    _need_residuals(problem)
    (I, F, T), size = problem.pack, problem.figure.size
    m = int(I[RESIDUALS])
    rho, J, value = np.zeros((1, m)), np.zeros((1, m, size)), np.zeros((1, 2))
    Q = problem.figure.posture(q).reshape(1, size)
    suited(jacobian_entry, I, F)(I, F, EVALUATION.fresh(I), T[None], Q, value, rho, J)
    rows = [row for rows in problem.rows_of_tasks for row in rows]
    return rho[0, rows], J[0, rows]


def _need_residuals(problem: Problem) -> None:
    without = [task.name for task in problem.tasks if not task.has_residuals]
    if without:
        raise BadValue(f"no residual form: {', '.join(without)}")
