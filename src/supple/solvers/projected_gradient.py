"""Projected gradient with back-tracking (Engell-Nørregård & Erleben 2009, equations 30–40).

Minimise ``f(q) = G(q)`` over the allowed postures. From q the direction is ``−∇f``; a trial step of length τ is projected,

    q(τ) = Π(q − τ D ∇f),                                                            (38)

and accepted by the sufficient decrease along the projection arc

    f(q(τ)) ≤ f(q) + α ∇f·(q(τ) − q),                                                (39)

else ``τ ← β τ``, with ``0 < α ≤ β < 1``. D = diag((1 − ρ)²) is the change of unit that rigidity ρ stands for (the identity
without rigidity), and Π is the projection in its metric. The start is projected first: from outside the limits no step
may ever pass the test. Every iterate is legal and f never rises.

The first τ of an iteration is 1 in the paper. With `spectral`, it is the inverse curvature met on the last step,
``σᵀD⁻¹σ / σᵀy`` (Barzilai & Borwein), which the same test then safeguards; this changes no guarantee and saves most of
the iterations.

The loop ends when every task is met (unless a posture goal is still to be improved), when the projected gradient step
``‖Π(q − D∇f) − q‖_∞`` falls below `tolerance`, when no step of a representable length is accepted, or when the budget is spent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.compiled import entry, leaf, row, stage
from supple.errors import BadValue
from supple.evaluate import gradient, read_limits, read_tasks, scratch_size
from supple.limits import project
from supple.potentials import NEAR
from supple.problem import Problem
from supple.solution import Solution, audited
from supple.solvers.base import insist, reasons_of_a_descent_method
from supple.space import Floats
from supple.tree import read_tree

STATIONARY, MET, SPENT = range(3)


@leaf
def room_size(I: Any) -> int:
    """Numbers of scratch that `descend` needs besides the evaluation's: 5 postures and the limits' rows."""
    return 5 * I[1] + I[15]


@leaf
def step_along(q: Any, g: Any, tau: float, ease: Any, allowed: Any, y: Any, back: Any, trial: Any) -> None:
    """Equation 38: ``trial = Π(q − τ D ∇f)``."""
    for i in range(q.shape[0]):
        trial[i] = q[i] - tau * ease[i] * g[i]
    project(trial, allowed.lower, allowed.upper, allowed.equalities, allowed.A, allowed.b, ease, y, back)


@stage
def descend(I: Any, F: Any, scratch: Any, T: Any, q: Any, settings: Any, room: Any, info: Any) -> int:
    """The loop. `room` is scratch for 5 postures and the rows; info receives iterations, evaluations, f, reason."""
    n = q.shape[0]
    _, a, f_at = read_tree(I, F)
    _, f_at = read_tasks(I, F, a, f_at)
    allowed = read_limits(I, F, f_at)
    g, g_new, trial = row(room, 0, n), row(room, n, n), row(room, 2 * n, n)
    ease, back, y = row(room, 3 * n, n), row(room, 4 * n, n), row(room, 5 * n, allowed.b.shape[0])
    steps, tolerance, alpha, beta, spectral, patient = (
        settings[0],
        settings[1],
        settings[2],
        settings[3],
        settings[4],
        settings[5],
    )
    for i in range(n):
        ease[i] = allowed.free[i] * allowed.free[i]
    project(q, allowed.lower, allowed.upper, allowed.equalities, allowed.A, allowed.b, ease, y, back)
    f, unmet = gradient(I, F, scratch, T, q, g)
    evaluations, tau, reason, k = 1, 1.0, SPENT, 0
    while k < steps:
        if unmet == 0 and patient == 0.0:
            reason = MET
            break
        step_along(q, g, 1.0, ease, allowed, y, back, trial)
        largest = 0.0
        for i in range(n):
            largest = max(largest, abs(trial[i] - q[i]))
        if not largest > tolerance:
            reason = STATIONARY
            break
        k += 1
        f_new, accepted = f, False
        while tau > 1e-30:
            step_along(q, g, tau, ease, allowed, y, back, trial)
            slope = 0.0
            for i in range(n):
                slope += g[i] * (trial[i] - q[i])
            f_new, unmet = gradient(I, F, scratch, T, trial, g_new)
            evaluations += 1
            if f_new <= f + alpha * slope and slope < 0.0:  # equation 39
                accepted = True
                break
            tau *= beta
        if not accepted:
            reason = STATIONARY
            break
        f = f_new
        tau = next_step(q, trial, g, g_new, ease) if spectral != 0.0 else 1.0
        for i in range(n):
            q[i] = trial[i]
            g[i] = g_new[i]
    info[0], info[1], info[2], info[3] = k, evaluations, f, reason
    return unmet


@leaf
def next_step(q: Any, trial: Any, g: Any, g_new: Any, ease: Any) -> float:
    """``σᵀD⁻¹σ / σᵀy``, held between 1e-6 and 1e6; 1 where the curvature along the step is not positive."""
    ss, sy = 0.0, 0.0
    for i in range(q.shape[0]):
        if ease[i] > 0.0:
            s = trial[i] - q[i]
            ss += s * s / ease[i]
            sy += s * (g_new[i] - g[i])
    if not sy > 1e-300:
        return 1.0
    return min(max(ss / sy, 1e-6), 1e6)


@entry
def projected_gradient_entry(
    I: Any, F: Any, scratch: Any, T: Any, Q: Any, settings: Any, info: Any, first: int, last: int
) -> None:
    """Solve rows first … last of Q (k, size) in place for the targets T (k, …)."""
    work = scratch.shape[0] - room_size(I)
    for k in range(first, last):
        descend(I, F, scratch, T[k], Q[k], settings, row(scratch, work, room_size(I)), info[k])


@dataclass(frozen=True)
class ProjectedGradient:
    """``q ← Π(q − τ∇G)``, τ by projected back-tracking. Cheap steps, always legal, never uphill."""

    steps: int = 2000
    tolerance: float = 1e-9  # on the projected gradient step
    alpha: float = 1e-4
    beta: float = 0.5
    spectral: bool = True

    def __post_init__(self) -> None:
        if not 0.0 < self.alpha <= self.beta < 1.0:
            raise BadValue(f"back-tracking needs 0 < alpha ≤ beta < 1, not {self.alpha} and {self.beta}")
        if self.steps < 0 or not self.tolerance >= 0.0:
            raise BadValue(f"steps and tolerance must not be negative: {self.steps}, {self.tolerance}")

    def refuse(self, problem: Problem) -> list[str]:
        """Hard tasks, several priorities, obstacles."""
        return reasons_of_a_descent_method(problem)

    def solve(self, problem: Problem, start: Floats, seed: int = 0) -> Solution:
        """Walk downhill from `start` until nothing is left to gain."""
        insist(self, problem)
        I, F, T = problem.packed
        patient = float(any(term == NEAR for term in problem.kinds))
        settings = np.array([self.steps, self.tolerance, self.alpha, self.beta, self.spectral, patient], dtype=float)
        Q, info = np.array(start, dtype=float).reshape(1, -1), np.zeros((1, 4))
        scratch = np.zeros(scratch_size(I) + 5 * I[1] + I[15])
        projected_gradient_entry(I, F, scratch, T[None], Q, settings, info, 0, 1)
        counts = {"iterations": int(info[0, 0]), "evaluations": int(info[0, 1]), "seed": seed}
        return audited(problem, Q[0], stationary=info[0, 3] != SPENT, **counts)
