"""Projected gradient with back-tracking (Engell-Nørregård & Erleben 2009, equations 30–40).

Minimise ``f(q) = G(q)`` over the allowed postures. From q the direction is ``−∇f``; a trial step of length τ is projected,

    q(τ) = Π(q − τ D ∇f),                                                            (38)

and accepted by the sufficient decrease along the projection arc

    f(q(τ)) ≤ f(q) + α ∇f·(q(τ) − q),                                                (39)

else ``τ ← β τ``, with ``0 < α ≤ β < 1``. D = diag((1 − ρ)²) is the change of unit that rigidity ρ stands for (the identity
without rigidity), and Π is the projection in its metric. The start is projected first: from outside the limits no step
may ever pass the test. Every iterate is legal and f never rises.

The first τ of an iteration is 1 in the paper. With `spectral`, it is the inverse curvature met on the last step,
``σᵀD⁻¹σ / σᵀy`` (Barzilai & Borwein), which the same test then safeguards; this changes no guarantee, saves most of the
iterations, and makes the loop indifferent to the scale of f.

The loop ends when every task is met (unless a posture goal is still to be improved), when the budget is spent, or when
the step ``Π(q − τD∇f) − q``, in units of ``1 − ρ``, is below `tolerance` or no length of it is accepted. Before the last is
called the nearest posture, a few small moves in irregular directions are tried: a summit and a saddle have no slope either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from supple.basics.checks import check_fields, flag, not_negative, positive, whole
from supple.errors import BadValue
from supple.geometry.placements import Floats
from supple.kernels.algebra.nearest import project, row_room
from supple.kernels.compiling import entry, leaf, row, shared, written_in
from supple.kernels.layouts import COORDINATES, LINEAR_LIMITS
from supple.kernels.objective import gradient
from supple.kernels.tables import open_limits
from supple.problem.allowance import FREELY, MET, SPENT, STATIONARY, Allowance, close, count, record, spent
from supple.problem.problem import Problem
from supple.problem.solution import Solution
from supple.solvers.base import is_patient, reasons_of_a_descent_method, run

NUDGES = 6  # looks around a point without a slope before it is called the nearest


@shared
def room_size(I: Any) -> int:
    """Numbers of scratch that `descend` needs besides the evaluation's: 5 postures and the projection's."""
    return 5 * I[COORDINATES] + row_room(I[LINEAR_LIMITS])


@leaf
def step_along(q: Any, g: Any, tau: float, allowed: Any, ease: Any, room: Any, origin: Any, trial: Any) -> float:
    """Equation 38: ``trial = Π(q − τ D ∇f)``; returns its distance from q in the largest coordinate, in units of ``1 − ρ``."""
    for i in range(q.shape[0]):
        trial[i] = q[i] - tau * ease[i] * g[i]
    project(trial, allowed.lower, allowed.upper, allowed.equalities, allowed.A, allowed.b, ease, room, origin)
    largest = 0.0
    for i in range(q.shape[0]):
        if ease[i] > 0.0:
            largest = max(largest, abs(trial[i] - q[i]) / math.sqrt(ease[i]))
    return largest


@leaf
def first_step(g: Any, ease: Any) -> float:
    """The τ that moves the most willing coordinate by a tenth of its unit, whatever the scale of f."""
    largest = 0.0
    for i in range(g.shape[0]):
        largest = max(largest, math.sqrt(ease[i]) * abs(g[i]))
    return 0.1 / largest if largest > 0.0 else 1.0


@leaf
def nudge(q: Any, ease: Any, turn: int, allowed: Any, room: Any, origin: Any, trial: Any) -> None:
    """A small legal move in a fixed irregular direction, another one for each turn: the way off a summit or a saddle."""
    sign = 1.0 if turn % 2 == 0 else -1.0
    for i in range(q.shape[0]):
        trial[i] = q[i] + 1e-3 * sign * math.sqrt(ease[i]) * math.cos(2.399963 * (i + 1) * (1 + turn // 2))
    project(trial, allowed.lower, allowed.upper, allowed.equalities, allowed.A, allowed.b, ease, room, origin)


@written_in
def descend(I: Any, F: Any, scratch: Any, T: Any, q: Any, settings: Any, memory: Any, info: Any, trace: Any) -> None:
    """The loop. `memory` is scratch of `room_size`."""
    n = q.shape[0]
    allowed = open_limits(I, F)
    g, g_new, trial = row(memory, 0, n), row(memory, n, n), row(memory, 2 * n, n)
    ease, origin, room = row(memory, 3 * n, n), row(memory, 4 * n, n), row(memory, 5 * n, row_room(I[LINEAR_LIMITS]))
    steps, tolerance, alpha, beta = settings[0], settings[1], settings[2], settings[3]
    spectral, patient = settings[4], settings[5]
    for i in range(n):
        ease[i] = allowed.mobility[i] * allowed.mobility[i]
    project(q, allowed.lower, allowed.upper, allowed.equalities, allowed.A, allowed.b, ease, room, origin)
    f, unmet = gradient(I, F, scratch, T, q, g)
    count(info)
    record(info, trace, f)
    reason, k, turns = SPENT, 0, 0
    tau = first_step(g, ease) if spectral != 0.0 else 1.0
    while k < steps:
        if unmet == 0 and patient == 0.0:
            reason = MET
            break
        accepted, f_new, still = False, f, unmet
        ended = not step_along(q, g, tau, allowed, ease, room, origin, trial) > tolerance
        if not ended and not spent(info):
            k += 1
        while not (ended or accepted or spent(info)):
            slope = 0.0
            for i in range(n):
                slope += g[i] * (trial[i] - q[i])
            f_new, still = gradient(I, F, scratch, T, trial, g_new)
            count(info)
            accepted = f_new <= f + alpha * slope and slope < 0.0  # equation 39
            if not accepted:
                tau *= beta
                ended = not (tau > 1e-200 and step_along(q, g, tau, allowed, ease, room, origin, trial) > 0.0)
        while not accepted and turns < NUDGES and not spent(info):
            nudge(q, ease, turns, allowed, room, origin, trial)
            f_new, still = gradient(I, F, scratch, T, trial, g_new)
            count(info)
            turns += 1
            accepted = f_new < f * (1.0 - 1e-12)
        if not accepted:
            reason = STATIONARY if ended and turns == NUDGES else SPENT
            break
        f, unmet = f_new, still
        tau = next_step(q, trial, g, g_new, ease) if spectral != 0.0 else 1.0
        for i in range(n):
            q[i] = trial[i]
            g[i] = g_new[i]
        record(info, trace, f)
    close(info, k, f, reason)


@leaf
def next_step(q: Any, trial: Any, g: Any, g_new: Any, ease: Any) -> float:
    """``σᵀD⁻¹σ / σᵀy``; a tenth of a unit along the new gradient where the curvature along the step is not positive."""
    ss, sy = 0.0, 0.0
    for i in range(q.shape[0]):
        if ease[i] > 0.0:
            s = trial[i] - q[i]
            ss += s * s / ease[i]
            sy += s * (g_new[i] - g[i])
    return ss / sy if sy > 1e-14 * ss / first_step(g_new, ease) else first_step(g_new, ease)


@entry
def projected_gradient_entry(
    I: Any, F: Any, scratch: Any, T: Any, Q: Any, settings: Any, info: Any, trace: Any, first: int, last: int
) -> None:
    """Solve rows first … last − 1 of Q (k, size) in place for the targets T (k, …)."""
    work = scratch.shape[0] - room_size(I)
    for k in range(first, last):
        descend(I, F, scratch, T[k], Q[k], settings, row(scratch, work, room_size(I)), info[k], trace)


@dataclass(frozen=True)
class ProjectedGradient:
    """``q ← Π(q − τ∇G)``, τ by projected back-tracking. Cheap steps, always legal, never uphill."""

    steps: int = 2000
    tolerance: float = 1e-9  # on the projected gradient step
    alpha: float = 1e-4
    beta: float = 0.5
    spectral: bool = True

    def __post_init__(self) -> None:
        check_fields(self, steps=whole, tolerance=not_negative, spectral=flag, alpha=positive, beta=positive)
        if not 0.0 < self.alpha <= self.beta < 1.0:
            raise BadValue(f"back-tracking needs 0 < alpha ≤ beta < 1, not {self.alpha} and {self.beta}")

    def refuse(self, problem: Problem) -> list[str]:
        """Hard tasks, several priorities, obstacles."""
        return reasons_of_a_descent_method(problem)

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Allowance = FREELY) -> Solution:
        """Walk downhill from `start` until nothing is left to gain."""
        settings = (self.steps, self.tolerance, self.alpha, self.beta, self.spectral, is_patient(problem))
        room = room_size(problem.packed[0])
        return run(self, projected_gradient_entry, room, settings, problem, start, seed, allowance)
