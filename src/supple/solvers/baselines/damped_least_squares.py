"""Damped least squares (Engell-Nørregård & Erleben 2009, equations 10–15).

A step minimises the linear model of the residual with a price on its length, ``½‖JΔθ − e‖² + λ²‖Δθ‖²`` with
``e = g − F(θ)`` (here ``e = −ρ``). Its gradient ``JᵀJΔθ − Jᵀe + 2λ²Δθ`` vanishes for

    Δθ = (JᵀJ + 2λ²I)⁻¹ Jᵀe = Jᵀ (JJᵀ + 2λ²I)⁻¹ e,                                   (15)

where the paper writes λ² for 2λ². The second form has one row for every residual; as a rule these are fewer than the
coordinates, and it is the one that is solved, by Cholesky's factorisation. λ is constant, the whole step is taken, and
limits are clamped afterwards.

With rigidity ρ the coordinates are measured in units of ``1 − ρ``: J and Δθ are scaled by it, and a locked one stays.
Nothing makes G fall at every step; the best posture on the way is the answer (`common`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from supple.basics.checks import check_fields, positive
from supple.kernels.algebra.triangular import factor, solve_down, solve_up
from supple.kernels.compiling import entry, leaf, stage
from supple.kernels.layouts import PROBLEM, RESIDUALS
from supple.kernels.opening import Scratch, of
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
from supple.solvers.linear_limits import open_projection

DAMPING = OWN  # setting


class DampedScratch(NamedTuple):
    """The linear model, and what is made of it."""

    linear: Any = of(LINEAR)
    M: Any = of("RESIDUALS", "RESIDUALS")


DAMPED = Scratch(DampedScratch, PROBLEM)
open_damped = DAMPED.open


@leaf
def damped_normal_matrix(J: Any, ease: Any, damping: float, M: Any) -> None:
    """``M = J D Jᵀ + damping · I``, upper triangle."""
    for r in range(J.shape[0]):
        for s in range(r + 1):
            total = damping if r == s else 0.0
            for i in range(J.shape[1]):
                total += J[r, i] * ease[i] * J[s, i]
            M[s, r] = total


@stage
def damped_step(I: Any, F: Any, memory: Any, T: Any, q: Any, settings: Any) -> bool:
    """Equation 15; False if M is not positive definite."""
    model, M, m = open_linear(I, memory), open_damped(I, memory).M, I[RESIDUALS]
    ease = open_projection(I, open_baseline(I, memory).projection).ease
    damped_normal_matrix(model.J, ease, 2.0 * settings[DAMPING] * settings[DAMPING], M)
    if factor(M, m) < m:
        return False
    solve_down(M, m, model.rho)
    solve_up(M, m, model.rho)
    for i in range(q.shape[0]):
        for s in range(m):
            q[i] -= ease[i] * model.J[s, i] * model.rho[s]
    return True


damped_loop = baseline(look_linear, damped_step)


@entry
def damped_least_squares_entry(
    I: Any, F: Any, memory: Any, T: Any, Q: Any, settings: Any, report: Any, trace: Any, first: int, last: int
) -> None:
    """Solve rows first … last − 1 of Q (k, size) in place for the targets T (k, …)."""
    for k in range(first, last):
        damped_loop(I, F, memory, T[k], Q[k], settings, report[k], trace)


@dataclass(frozen=True)
class DampedLeastSquares(Descent):
    """``q ← Π(q − Jᵀ(JJᵀ + 2λ²I)⁻¹ρ)`` with a constant λ. Steady near singular postures, slower the larger λ is."""

    steps: int = 1000
    tolerance: float = 1e-9  # on the projected gradient step
    damping: float = 0.05  # λ, in residual units per coordinate unit

    loop = Loop(damped_least_squares_entry, DAMPED)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, damping=positive)

    def refuse(self, problem: Problem) -> list[str]:
        """Hard tasks, several priorities, obstacles, goals that have no residuals."""
        return super().refuse(problem) + without_residuals(problem)

    def own_settings(self) -> tuple[float, ...]:
        """λ."""
        return (self.damping,)
