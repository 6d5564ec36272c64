"""Pseudo-inverse by singular values, limits clamped afterwards (Engell-Nørregård & Erleben 2009, equations 9–14, section 2).

The step is the shortest of those that bring the linear model of the goals nearest, ``Δθ = J⁺e`` with ``e = g − F(θ)``
(here ``e = −ρ``): equation 9 where J can be inverted, equation 14 where it has full column rank. From ``J = UΣVᵀ``

    J⁺e = Σ_r v_r (u_rᵀe) / σ_r   over the singular values with ``σ_r > cutoff · σ_max``.

The step knows nothing of limits. They are clamped after every step, or with `at_end` once, when a solution without limits
has been found: "projection of the final solution", as the paper describes Blender. Near a singular posture steps grow
without bound; `longest` clamps ``‖Δθ‖`` (the rate control of section 4.2).

**Singular values** by one-sided Jacobi rotations (see `jacobi`): pairs of rows of J are turned in their plane until all
are orthogonal. The turns make up Uᵀ, so afterwards row r of J is ``σ_r v_rᵀ``; carried along on e they give ``u_rᵀe``. Neither
U nor V is ever formed.

With rigidity ρ the coordinates are measured in units of ``1 − ρ``: J and Δθ are scaled by it, and a locked one stays.
Nothing makes G fall at every step; the best posture on the way is the answer (`common`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

from supple.basics.checks import check_fields, endless, flag, number
from supple.kernels.algebra.jacobi import longest_square, orthogonal_rows
from supple.kernels.compiling import entry, leaf, stage
from supple.kernels.tables import open_limits
from supple.problem.problem import Problem
from supple.solvers.base import OWN, Descent, Loop
from supple.solvers.baselines.common import (
    LINEAR,
    baseline,
    look_linear,
    open_baseline,
    open_linear,
    without_residuals,
)

CUTOFF, LONGEST, AT_END = range(OWN, OWN + 3)  # settings


@entry
def orthogonal_rows_entry(A: Any, B: Any) -> int:
    """`orthogonal_rows` for callers in Python."""
    return orthogonal_rows(A, B)


@leaf
def pseudo_inverse_step(J: Any, e: Any, cutoff: float, step: Any) -> None:
    """``step = J⁺e`` of a J with orthogonal rows, the turned e beside it."""
    greatest = longest_square(J)
    for i in range(J.shape[1]):
        step[i] = 0.0
    for r in range(J.shape[0]):
        square = 0.0
        for i in range(J.shape[1]):
            square += J[r, i] * J[r, i]
        if square > cutoff * cutoff * greatest:
            for i in range(J.shape[1]):
                step[i] += J[r, i] * e[r, 0] / square


@leaf
def take_step(q: Any, step: Any, free: Any, longest: float) -> None:
    """``q ← q − Δθ`` in units of ``1 − ρ``, Δθ no longer than `longest`."""
    length = 0.0
    for i in range(q.shape[0]):
        step[i] *= free[i]
        length += step[i] * step[i]
    length = math.sqrt(length)
    scale = longest / length if length > longest else 1.0
    for i in range(q.shape[0]):
        q[i] -= scale * step[i]


@stage
def inverse_step(I: Any, F: Any, memory: Any, T: Any, q: Any, settings: Any) -> bool:
    """The shortest step that brings the linear model nearest."""
    model, step, free = open_linear(I, memory), open_baseline(I, memory).trial, open_limits(I, F).mobility
    for s in range(model.J.shape[0]):
        for i in range(q.shape[0]):
            model.J[s, i] *= free[i]
    orthogonal_rows(model.J, model.column)
    pseudo_inverse_step(model.J, model.column, settings[CUTOFF], step)
    take_step(q, step, free, settings[LONGEST])
    return True


inverse_loop = baseline(look_linear, inverse_step, at_end=AT_END)


@entry
def pseudo_inverse_entry(
    I: Any, F: Any, memory: Any, T: Any, Q: Any, settings: Any, report: Any, trace: Any, first: int, last: int
) -> None:
    """Solve rows first … last − 1 of Q (k, size) in place for the targets T (k, …)."""
    for k in range(first, last):
        inverse_loop(I, F, memory, T[k], Q[k], settings, report[k], trace)


@dataclass(frozen=True)
class PseudoInverse(Descent):
    """``q ← clamp(q − J⁺ρ)``. Quadratic near a regular solution inside the limits, jumpy near singular postures."""

    steps: int = 500
    tolerance: float = 1e-9  # on the projected gradient step
    cutoff: float = 1e-6  # singular values below this share of the largest count as zero
    longest: float = 1.0  # greatest length of a step, in coordinate units
    at_end: bool = False  # clamp once, at the end, instead of after every step

    loop = Loop(pseudo_inverse_entry, LINEAR)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, longest=endless, at_end=flag, cutoff=partial(number, least=0.0, below=1.0))

    def refuse(self, problem: Problem) -> list[str]:
        """Hard tasks, several priorities, obstacles, goals that have no residuals."""
        return super().refuse(problem) + without_residuals(problem)

    def own_settings(self) -> tuple[float, ...]:
        """Cutoff, longest step, and whether limits are kept at the end alone."""
        return self.cutoff, self.longest, self.at_end
