"""Jacobian transpose (Engell-Nørregård & Erleben 2009, equations 26–29): the gradient with a step of given length.

With ``e = g − F(θ)`` the weighted residuals of all goals (here ``e = −ρ``, ``f = |ρ|² = G``) the gradient is

    ∇f = −2 Jᵀe,                                                                     (26)

and the method goes

    θ ← θ − τ ∇f,                                                                    (27)

limits clamped after the step. The step rules are

* `FixedStep`: τ constant; 0.005 in the paper's experiments, beyond which their figure diverged. Its unit of length was a
  fifth of a metre, and for angles τ goes with the inverse square of lengths: the same step in metres is 0.125;
* `FittedStep`: Δθ = τ Jᵀe with the τ that brings ``JΔθ`` nearest to e,

      τ = eᵀz / zᵀz,   z = JJᵀe;                                                     (28)

* `CautiousStep`: only the part τe of the error is asked for, so small that the linear model misses it by at most ε,

      ‖(I − JJ⁺) τe‖ ≤ ε,   0 < τ ≤ 1.                                               (29)

  The paper leaves open which inverse J⁺ is. The pseudo-inverse proper would leave the step of a transpose method
  unbounded (``JJ⁺ = I`` wherever J has full rank), so J⁺ is the inverse that this method applies: Jᵀ scaled by (28).

With rigidity ρ the coordinates are measured in units of ``1 − ρ``: J and Δθ are scaled by it, and a locked one stays.
Nothing makes f fall at every step; the best posture on the way is the answer (`common`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

from supple.basics.checks import check_fields, instance, positive
from supple.kernels.compiling import entry, leaf, stage
from supple.kernels.objective import gradient
from supple.problem.meter import count
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

RULE, LENGTH = OWN, OWN + 1  # settings
FIXED, FITTED, CAUTIOUS = range(3)


@leaf
def fitted_step(rho: Any, J: Any, ease: Any, g: Any, epsilon: float) -> float:
    """Equation 28 as a factor of ``−D∇f`` (half of it is ``DJᵀe``); shortened by (29) where ε is finite."""
    ez, zz, ee = 0.0, 0.0, 0.0
    for r in range(rho.shape[0]):
        z = 0.0
        for i in range(g.shape[0]):
            z -= 0.5 * J[r, i] * ease[i] * g[i]
        ez -= rho[r] * z
        zz += z * z
        ee += rho[r] * rho[r]
    if not zz > 0.0:
        return 0.0
    tau = ez / zz
    missed = math.sqrt(max(ee - tau * ez, 0.0))  # ‖e − τz‖
    if missed > epsilon:
        tau *= epsilon / missed
    return 0.5 * tau


@stage
def look_by_rule(I: Any, F: Any, memory: Any, T: Any, q: Any, settings: Any, report: Any) -> Any:
    """G at q and the number of tasks not met; ∇G into the scratch, with ρ and J if the rule needs them."""
    if settings[RULE] != FIXED:
        return look_linear(I, F, memory, T, q, settings, report)
    count(report)
    return gradient(I, F, memory, T, q, open_baseline(I, memory).g)


@stage
def transpose_step(I: Any, F: Any, memory: Any, T: Any, q: Any, settings: Any) -> bool:
    """Equation 27."""
    s, tau = open_baseline(I, memory), settings[LENGTH]
    ease = open_projection(I, s.projection).ease
    if settings[RULE] != FIXED:
        model = open_linear(I, memory)
        tau = fitted_step(model.rho, model.J, ease, s.g, tau if settings[RULE] == CAUTIOUS else math.inf)
    for i in range(q.shape[0]):
        q[i] -= tau * ease[i] * s.g[i]
    return True


transpose_loop = baseline(look_by_rule, transpose_step)


@entry
def jacobian_transpose_entry(
    I: Any, F: Any, memory: Any, T: Any, Q: Any, settings: Any, report: Any, trace: Any, first: int, last: int
) -> None:
    """Solve rows first … last − 1 of Q (k, size) in place for the targets T (k, …)."""
    for k in range(first, last):
        transpose_loop(I, F, memory, T[k], Q[k], settings, report[k], trace)


@dataclass(frozen=True)
class FixedStep:
    """A step of constant length τ along −∇f."""

    length: float = 0.005

    def __post_init__(self) -> None:
        check_fields(self, length=positive)


@dataclass(frozen=True)
class FittedStep:
    """Equation 28: the length that brings the linear model nearest to the goals."""


@dataclass(frozen=True)
class CautiousStep:
    """Equation 29: equation 28's, shortened until the linear model misses what is asked by at most `deviation`."""

    deviation: float = 0.05  # ε, in the unit of the weighted residuals: metres for position goals of weight 1

    def __post_init__(self) -> None:
        check_fields(self, deviation=positive)


StepRule: TypeAlias = FixedStep | FittedStep | CautiousStep


@dataclass(frozen=True)
class JacobianTranspose(Descent):
    """``q ← Π(q − τ∇G)`` with τ constant or by formula. The simplest baseline: it may overshoot, and it is slow."""

    steps: int = 20_000
    tolerance: float = 1e-9  # on the projected gradient step
    step: StepRule = FixedStep()

    loop = Loop(jacobian_transpose_entry, LINEAR)

    def __post_init__(self) -> None:
        super().__post_init__()
        instance(self.step, (FixedStep, FittedStep, CautiousStep), "the step rule")

    def refuse(self, problem: Problem) -> list[str]:
        """Hard tasks, several priorities, obstacles; with a fitted step, also goals that have no residuals."""
        reasons = super().refuse(problem)
        return reasons if isinstance(self.step, FixedStep) else reasons + without_residuals(problem)

    def own_settings(self) -> tuple[float, ...]:
        """The rule and its number."""
        if isinstance(self.step, FixedStep):
            return FIXED, self.step.length
        return (CAUTIOUS, self.step.deviation) if isinstance(self.step, CautiousStep) else (FITTED, 0.0)
