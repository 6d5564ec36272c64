"""Damped least squares (Engell-Nørregård & Erleben 2009, equations 10–15).

A step minimises the linear model of the residual with a price on its length, ``½‖JΔθ − e‖² + λ²‖Δθ‖²`` with
``e = g − F(θ)`` (here ``e = −ρ``). Its gradient ``JᵀJΔθ − Jᵀe + 2λ²Δθ`` vanishes for

    Δθ = (JᵀJ + 2λ²I)⁻¹ Jᵀe = Jᵀ (JJᵀ + 2λ²I)⁻¹ e,                                   (15)

where the paper writes λ² for 2λ². The second form has one row for every residual; as a rule these are fewer than the
coordinates, and it is the one that is solved, by Cholesky's factorisation. λ is constant, the whole step is taken, and
limits are clamped afterwards.

With rigidity ρ the coordinates are measured in units of ``1 − ρ``: J and Δθ are scaled by it, and a locked one stays.
Nothing makes G fall at every step; the best posture on the way is the answer (`baseline`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from supple.basics.checks import check_fields, not_negative, positive, whole
from supple.geometry.placements import Floats
from supple.kernels.compiling import entry, leaf, stage, table
from supple.kernels.layouts import RESIDUALS
from supple.problem.allowance import FREELY, ITERATIONS, STUCK, Allowance
from supple.problem.problem import Problem
from supple.problem.solution import Solution
from supple.solvers.base import reasons_of_a_descent_method, run
from supple.solvers.baselines.common import (
    GOING,
    arrive,
    conclude,
    linear_model,
    read_model,
    read_room,
    room_of,
    room_size,
    settle,
    without_residuals,
)


@leaf
def damped_normal_matrix(J: Any, ease: Any, damping: float, M: Any) -> None:
    """``M = J D Jᵀ + damping · I``, lower triangle."""
    for r in range(J.shape[0]):
        for s in range(r + 1):
            total = damping if r == s else 0.0
            for i in range(J.shape[1]):
                total += J[r, i] * ease[i] * J[s, i]
            M[r, s] = total


@leaf
def solve_cholesky(M: Any, y: Any) -> bool:
    """Solve ``M y = y`` in place by ``M = L Lᵀ``, whose lower triangle replaces M's; False if M is not positive definite."""
    m = M.shape[0]
    for r in range(m):
        for s in range(r + 1):
            total = M[r, s]
            for i in range(s):
                total -= M[r, i] * M[s, i]
            if r > s:
                M[r, s] = total / M[s, s]
            elif total > 0.0:
                M[r, r] = math.sqrt(total)
            else:
                return False
    for r in range(m):
        for i in range(r):
            y[r] -= M[r, i] * y[i]
        y[r] /= M[r, r]
    for r in range(m - 1, -1, -1):
        for i in range(r + 1, m):
            y[r] -= M[i, r] * y[i]
        y[r] /= M[r, r]
    return True


@stage
def damped_loop(I: Any, F: Any, scratch: Any, T: Any, q: Any, settings: Any, info: Any, trace: Any) -> None:
    """The loop."""
    steps, tolerance, damping = settings[0], settings[1], 2.0 * settings[2] * settings[2]
    n, m = q.shape[0], I[RESIDUALS]
    room = room_of(I, scratch)
    r, (rho, J) = read_room(I, room), read_model(I, room)
    M = table(room, r.rest + m + m * n, m, m)
    settle(I, F, room, q)
    f, unmet = linear_model(I, F, scratch, T, room, q, info)
    reason = arrive(I, F, room, q, f, unmet, steps, tolerance, info, trace)
    while reason == GOING:
        info[ITERATIONS] += 1.0
        damped_normal_matrix(J, r.ease, damping, M)
        if not solve_cholesky(M, rho):
            reason = STUCK
            break
        for i in range(n):
            for s in range(m):
                q[i] -= r.ease[i] * J[s, i] * rho[s]  # equation 15
        settle(I, F, room, q)
        f, unmet = linear_model(I, F, scratch, T, room, q, info)
        reason = arrive(I, F, room, q, f, unmet, steps, tolerance, info, trace)
    conclude(I, F, room, q, tolerance, reason, info)


@entry
def damped_least_squares_entry(
    I: Any, F: Any, scratch: Any, T: Any, Q: Any, settings: Any, info: Any, trace: Any, first: int, last: int
) -> None:
    """Solve rows first … last − 1 of Q (k, size) in place for the targets T (k, …)."""
    for k in range(first, last):
        damped_loop(I, F, scratch, T[k], Q[k], settings, info[k], trace)


@dataclass(frozen=True)
class DampedLeastSquares:
    """``q ← Π(q − Jᵀ(JJᵀ + 2λ²I)⁻¹ρ)`` with a constant λ. Steady near singular postures, slower the larger λ is."""

    steps: int = 1000
    tolerance: float = 1e-9  # on the projected gradient step
    damping: float = 0.05  # λ, in residual units per coordinate unit

    def __post_init__(self) -> None:
        check_fields(self, steps=whole, tolerance=not_negative, damping=positive)

    def refuse(self, problem: Problem) -> list[str]:
        """Hard tasks, several priorities, obstacles, goals that have no residuals."""
        return reasons_of_a_descent_method(problem) + without_residuals(problem)

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Allowance = FREELY) -> Solution:
        """Step from `start` until every task is met, nothing is left to gain, or the budget is spent."""
        m, n = int(problem.packed[0][RESIDUALS]), problem.figure.size
        settings = (self.steps, self.tolerance, self.damping)
        room = room_size(problem, m * (1 + n + m))
        return run(self, damped_least_squares_entry, room, settings, problem, start, seed, allowance)
