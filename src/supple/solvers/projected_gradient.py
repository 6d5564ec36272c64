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

`longest` bounds the first trial: a curvature of nearly nothing would send a figure across its whole range and back. With
`stagnation` the loop gives up when ten steps have brought too little, as an interactive editor must.

The loop ends when every task is met (unless a posture goal is still to be improved), when the budget is spent, or when
the step ``Π(q − τD∇f) − q``, in units of ``1 − ρ``, is below `tolerance` or no length of it is accepted. Before the last is
called the nearest posture, a few small moves in irregular directions are tried: a summit and a saddle have no slope either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from supple.basics.checks import check_fields, endless, flag, number, positive
from supple.errors import BadValue
from supple.kernels.algebra.vectors import copy
from supple.kernels.compiling import entry, leaf, stage
from supple.kernels.layouts import PROBLEM
from supple.kernels.objective import gradient
from supple.kernels.opening import Scratch, of
from supple.kernels.tables import EVALUATION
from supple.problem.allowance import ITERATIONS, MET, SPENT, STATIONARY, STUCK
from supple.problem.meter import close, count, record, spent
from supple.solvers import descent
from supple.solvers.base import OWN, PATIENT, STEPS, TOLERANCE, Descent, Loop
from supple.solvers.descent import ACCEPTED, HERE, REFUSED, THERE, UNMET_HERE, UNMET_THERE
from supple.solvers.linear_limits import PROJECTION, inside, open_projection

TAU, TURNS, MARK, STATE = range(descent.STATE, descent.STATE + 4)  # of the state, behind those of `descent`
ALPHA, BETA, SPECTRAL, LONGEST, STAGNATION = range(OWN, OWN + 5)  # settings
VAST = 1e9  # in place of no bound
LOOKS = 10  # steps between looks at whether it stagnates
NUDGES = 6  # looks around a point without a slope before it is called the nearest


class ArcScratch(NamedTuple):
    """What the loop remembers."""

    evaluation: Any = of(EVALUATION)
    g: Any = of("COORDINATES")
    g_new: Any = of("COORDINATES")  # at the trial
    trial: Any = of("COORDINATES")
    state: Any = of(STATE)  # as in `descent`, with the next τ, how often it has looked around, and f at the last look
    projection: Any = of(PROJECTION)


ARC = Scratch(ArcScratch, PROBLEM)
open_arc = ARC.open


@leaf
def step_on_arc(I: Any, F: Any, memory: Any, q: Any, tau: float) -> float:
    """Equation 38: ``trial = Π(q − τ D ∇f)``; returns its distance from q in the largest coordinate, in units of ``1 − ρ``."""
    s = open_arc(I, memory)
    ease = open_projection(I, s.projection).ease
    for i in range(q.shape[0]):
        s.trial[i] = q[i] - tau * ease[i] * s.g[i]
    inside(I, F, s.trial, s.projection)
    largest = 0.0
    for i in range(q.shape[0]):
        if ease[i] > 0.0:
            largest = max(largest, abs(s.trial[i] - q[i]) / math.sqrt(ease[i]))
    return largest


@leaf
def first_step(g: Any, ease: Any) -> float:
    """The τ that moves the most willing coordinate by a tenth of its unit, whatever the scale of f."""
    largest = 0.0
    for i in range(g.shape[0]):
        largest = max(largest, math.sqrt(ease[i]) * abs(g[i]))
    return 0.1 / largest if largest > 0.0 else 1.0


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


@stage
def backtrack(I: Any, F: Any, memory: Any, T: Any, q: Any, settings: Any, report: Any) -> int:
    """Shorten the step until equation 39 holds: ACCEPTED; REFUSED if no length is left or the first is below the tolerance."""
    s = open_arc(I, memory)
    f, tau = s.state[HERE], s.state[TAU]
    if settings[LONGEST] < VAST:
        tau = min(tau, 10.0 * settings[LONGEST] * first_step(s.g, open_projection(I, s.projection).ease))
    if not step_on_arc(I, F, memory, q, tau) > settings[TOLERANCE]:
        return REFUSED
    if not spent(report):
        report[ITERATIONS] += 1.0
    while not spent(report):
        slope = 0.0
        for i in range(q.shape[0]):
            slope += s.g[i] * (s.trial[i] - q[i])
        f_new, unmet = gradient(I, F, memory, T, s.trial, s.g_new)
        count(report)
        if f_new <= f + settings[ALPHA] * slope and slope < 0.0:  # equation 39
            s.state[THERE], s.state[UNMET_THERE] = f_new, unmet
            return ACCEPTED
        tau *= settings[BETA]
        if not (tau > 1e-200 and step_on_arc(I, F, memory, q, tau) > 0.0):
            return REFUSED
    return SPENT


@stage
def look_around(I: Any, F: Any, memory: Any, T: Any, q: Any, report: Any) -> int:
    """Small legal moves in fixed irregular directions, the way off a summit or a saddle: ACCEPTED if one goes down."""
    s = open_arc(I, memory)
    ease = open_projection(I, s.projection).ease
    while s.state[TURNS] < NUDGES:
        if spent(report):
            return SPENT
        turn = int(s.state[TURNS])
        sign = 1.0 if turn % 2 == 0 else -1.0
        for i in range(q.shape[0]):
            s.trial[i] = q[i] + 1e-3 * sign * math.sqrt(ease[i]) * math.cos(2.399963 * (i + 1) * (1 + turn // 2))
        inside(I, F, s.trial, s.projection)
        s.state[THERE], s.state[UNMET_THERE] = gradient(I, F, memory, T, s.trial, s.g_new)
        count(report)
        s.state[TURNS] = turn + 1.0
        if s.state[THERE] < s.state[HERE] * (1.0 - 1e-12):
            return ACCEPTED
    return STATIONARY


@leaf
def stagnates(s: Any, settings: Any, iterations: int) -> bool:
    """Whether f fell by less than the share `stagnation` over the last steps; looked at every `LOOKS` of them."""
    if iterations % LOOKS != 0 or settings[STAGNATION] == 0.0:
        return False
    before, s.state[MARK] = s.state[MARK], s.state[HERE]
    return s.state[HERE] > (1.0 - settings[STAGNATION]) * before


@stage
def projected_gradient_loop(
    I: Any, F: Any, memory: Any, T: Any, q: Any, settings: Any, report: Any, trace: Any
) -> None:
    """The loop."""
    s, reason = open_arc(I, memory), SPENT
    ease = open_projection(I, s.projection).ease
    inside(I, F, q, s.projection)
    s.state[HERE], s.state[UNMET_HERE] = gradient(I, F, memory, T, q, s.g)
    count(report)
    record(report, trace, s.state[HERE])
    s.state[TAU], s.state[TURNS] = first_step(s.g, ease) if settings[SPECTRAL] != 0.0 else 1.0, 0.0
    s.state[MARK] = math.inf
    while report[ITERATIONS] < settings[STEPS]:
        if s.state[UNMET_HERE] == 0.0 and settings[PATIENT] == 0.0:
            reason = MET
            break
        if stagnates(s, settings, int(report[ITERATIONS])):
            reason = STUCK
            break
        outcome = backtrack(I, F, memory, T, q, settings, report)
        if outcome == REFUSED:
            outcome = look_around(I, F, memory, T, q, report)
        if outcome != ACCEPTED:
            reason = outcome
            break
        s.state[HERE], s.state[UNMET_HERE] = s.state[THERE], s.state[UNMET_THERE]
        s.state[TAU] = next_step(q, s.trial, s.g, s.g_new, ease) if settings[SPECTRAL] != 0.0 else 1.0
        copy(s.trial, q)
        copy(s.g_new, s.g)
        record(report, trace, s.state[HERE])
    close(report, int(report[ITERATIONS]), s.state[HERE], reason)


@entry
def projected_gradient_entry(
    I: Any, F: Any, memory: Any, T: Any, Q: Any, settings: Any, report: Any, trace: Any, first: int, last: int
) -> None:
    """Solve rows first … last − 1 of Q (k, size) in place for the targets T (k, …)."""
    for k in range(first, last):
        projected_gradient_loop(I, F, memory, T[k], Q[k], settings, report[k], trace)


@dataclass(frozen=True)
class ProjectedGradient(Descent):
    """``q ← Π(q − τ∇G)``, τ by projected back-tracking. Cheap steps, always legal, never uphill."""

    steps: int = 2000
    tolerance: float = 1e-9  # on the projected gradient step
    alpha: float = 1e-4
    beta: float = 0.5
    spectral: bool = True
    longest: float = np.inf  # [rad, m] that a coordinate moves in the first trial of a step, at most
    stagnation: float = 0.0  # it ends when f fell by less than this share in ten steps

    loop = Loop(projected_gradient_entry, ARC)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, spectral=flag, alpha=positive, beta=positive, longest=endless)
        check_fields(self, stagnation=partial(number, least=0.0, below=1.0))
        if not 0.0 < self.alpha <= self.beta < 1.0:
            raise BadValue(f"back-tracking needs 0 < alpha ≤ beta < 1, not {self.alpha} and {self.beta}")

    def own_settings(self) -> tuple[float, ...]:
        """α, β, whether first steps are spectral and how long they may be, and when it stagnates."""
        return self.alpha, self.beta, self.spectral, min(self.longest, VAST), self.stagnation
