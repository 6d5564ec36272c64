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
Nothing makes f fall at every step; the best posture on the way is the answer (`baseline`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from supple.compiled import entry, leaf, row, stage, table
from supple.errors import BadValue
from supple.evaluate import gradient
from supple.linear import jacobian
from supple.problem import Problem
from supple.solution import Solution
from supple.solvers.base import insist, reasons_of_a_descent_method
from supple.solvers.baseline import (
    ALIKE,
    MET,
    SPENT,
    STATIONARY,
    STUCK,
    check_budget,
    conclude,
    headway,
    is_patient,
    keep,
    read_room,
    room_of,
    run,
    settle,
    without_residuals,
)
from supple.space import Floats

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
def transpose_loop(I: Any, F: Any, scratch: Any, T: Any, q: Any, settings: Any, info: Any) -> None:
    """The loop; info receives iterations, evaluations, f and the reason."""
    steps, tolerance, patient, rule, value = settings[0], settings[1], settings[2], settings[3], settings[4]
    n, m = q.shape[0], I[10]
    room = room_of(I, scratch)
    r = read_room(I, room)
    rho, J = row(room, r.rest, m), table(room, r.rest + m, m, n)
    settle(I, F, room, q)
    f, unmet = gradient(I, F, scratch, T, q, r.g)
    for i in range(n):
        r.best[i] = q[i]
    least, k, evaluations, reason = f if math.isfinite(f) else math.inf, 0, 1, SPENT
    while k < steps:
        if unmet == 0 and patient == 0.0:
            reason = MET
            break
        if headway(I, F, room, q) <= tolerance:
            least, reason = keep(q, f, r.best, least * (1.0 + ALIKE)), STATIONARY
            break
        k += 1
        tau = value
        if rule != FIXED:
            jacobian(I, F, scratch, T, q, rho, J)
            tau = fitted_step(rho, J, r.ease, r.g, value if rule == CAUTIOUS else math.inf)
        for i in range(n):
            q[i] -= tau * r.ease[i] * r.g[i]  # equation 27
        settle(I, F, room, q)
        f, unmet = gradient(I, F, scratch, T, q, r.g)
        evaluations += 1
        if not math.isfinite(f):
            reason = STUCK
            break
        least = keep(q, f, r.best, least if unmet > 0 or patient != 0.0 else math.inf)
    info[0], info[1], info[2], info[3] = k, evaluations, least, reason
    conclude(I, F, scratch, T, room, q, tolerance, info)


@entry
def jacobian_transpose_entry(
    I: Any, F: Any, scratch: Any, T: Any, Q: Any, settings: Any, info: Any, first: int, last: int
) -> None:
    """Solve rows first … last − 1 of Q (k, size) in place for the targets T (k, …)."""
    for k in range(first, last):
        transpose_loop(I, F, scratch, T[k], Q[k], settings, info[k])


@dataclass(frozen=True)
class FixedStep:
    """A step of constant length τ along −∇f."""

    length: float = 0.005

    def __post_init__(self) -> None:
        if not (np.isfinite(self.length) and self.length > 0.0):
            raise BadValue(f"the length of a fixed step must be positive and finite, not {self.length!r}")


@dataclass(frozen=True)
class FittedStep:
    """Equation 28: the length that brings the linear model nearest to the goals."""


@dataclass(frozen=True)
class CautiousStep:
    """Equation 29: equation 28's, shortened until the linear model misses what is asked by at most `deviation`."""

    deviation: float = 0.05  # ε, in the unit of the weighted residuals: metres for position goals of weight 1

    def __post_init__(self) -> None:
        if not (np.isfinite(self.deviation) and self.deviation > 0.0):
            raise BadValue(f"the deviation of a cautious step must be positive and finite, not {self.deviation!r}")


StepRule: TypeAlias = FixedStep | FittedStep | CautiousStep


@dataclass(frozen=True)
class JacobianTranspose:
    """``q ← Π(q − τ∇G)`` with τ constant or by formula. The simplest baseline: it may overshoot, and it is slow."""

    steps: int = 20_000
    tolerance: float = 1e-9  # on the projected gradient step
    step: StepRule = FixedStep()

    def __post_init__(self) -> None:
        check_budget(self.steps, self.tolerance)
        if not isinstance(self.step, FixedStep | FittedStep | CautiousStep):
            raise BadValue(f"the step rule is a FixedStep, FittedStep or CautiousStep, not {self.step!r}")

    def refuse(self, problem: Problem) -> list[str]:
        """Hard tasks, several priorities, obstacles; with a fitted step, also goals that have no residuals."""
        reasons = reasons_of_a_descent_method(problem)
        return reasons if isinstance(self.step, FixedStep) else reasons + without_residuals(problem)

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Any = None) -> Solution:
        """Walk from `start` until every task is met, nothing is left to gain, or the budget is spent."""
        insist(self, problem)
        rule, value = FITTED, 0.0
        if isinstance(self.step, FixedStep):
            rule, value = FIXED, self.step.length
        elif isinstance(self.step, CautiousStep):
            rule, value = CAUTIOUS, self.step.deviation
        settings = [self.steps, self.tolerance, is_patient(problem), rule, value]
        room = problem.residual_count * (1 + problem.figure.size)
        return run(jacobian_transpose_entry, problem, start, settings, room, seed)
