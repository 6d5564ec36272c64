"""The loop of the methods that go downhill along linear limits: evaluate, model, trial, accept or slide.

    evaluate G and its gradient at a legal q
    until every task is met (unless a posture goal is still to be improved):
        model: what the method knows of G and of the limits at q; here it finds that nothing is left to gain
        trial: a legal posture with a lower G
        where no trial is good enough: slide, a projected gradient step; where that does not help either, end
        accept: the trial becomes q
        follow: what the method learns from the step

A method supplies four phases, kernels that `descent` makes a loop of:

    begin(I, F, memory, q, settings)                at a legal q, of which it knows nothing
    model(I, F, memory, T, q, settings, report)       GOING, or the reason to end
    trial(I, F, memory, T, q, settings, report)       ACCEPTED, STAYED, REFUSED, or the reason to end
    follow(I, F, memory, q, settings, outcome)      after ACCEPTED, STAYED, or SLID

All of it is done in units of φ with ``q = (1 − ρ) φ``, ρ the rigidity; only q itself is kept as it is, so that limits hold
to the last bit. Every iterate is legal and G never rises.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.kernels.algebra.vectors import copy
from supple.kernels.compiling import leaf, stage
from supple.kernels.layouts import PROBLEM
from supple.kernels.objective import gradient
from supple.kernels.opening import Scratch, of
from supple.kernels.tables import EVALUATION
from supple.problem.allowance import ITERATIONS, MET, SPENT, STATIONARY, STUCK
from supple.problem.meter import close, count, record, spent
from supple.solvers.base import PATIENT
from supple.solvers.linear_limits import PROJECTION, inside, rescaled

GOING, ACCEPTED, STAYED, REFUSED, SLID = range(-1, -6, -1)  # outcomes of a phase; reasons to end are not negative
HERE, UNMET_HERE, THERE, UNMET_THERE, STATE = range(5)  # G and the number of tasks not met at q, and at the trial


class WalkScratch(NamedTuple):
    """What every such method remembers, in units of φ where not said otherwise."""

    evaluation: Any = of(EVALUATION)
    unit: Any = of("COORDINATES")  # 1 − ρ, and 0 where the limits coincide
    lower: Any = of("COORDINATES")  # of q
    upper: Any = of("COORDINATES")
    at: Any = of("COORDINATES")  # −1 at the lower limit, 1 at the upper, 0 between them, LOCKED
    g: Any = of("COORDINATES")
    g_new: Any = of("COORDINATES")  # at the trial; once that is accepted, at the posture before
    trial: Any = of("COORDINATES")  # of q
    C: Any = of("LINEAR_LIMITS", "COORDINATES")  # all rows, of unit length
    slack: Any = of("LINEAR_LIMITS")  # b − C φ
    left: Any = of("LINEAR_LIMITS")  # the same at the trial
    state: Any = of(STATE)
    projection: Any = of(PROJECTION)


WALK = Scratch(WalkScratch, PROBLEM)
open_walk = WALK.open


@leaf
def evaluate(I: Any, F: Any, memory: Any, T: Any, q: Any, g: Any, report: Any) -> Any:
    """G at q, the number of tasks not met, and whether all of it is finite; the gradient goes to g, in units of φ."""
    G, unmet = gradient(I, F, memory, T, q, g)
    count(report)
    return G, unmet, rescaled(open_walk(I, memory).unit, G, g) < np.inf


@leaf
def step_along(walk: Any, q: Any, d: Any, t: float) -> None:
    """The trial ``q + t d``, within the limits of the coordinates."""
    for i in range(q.shape[0]):
        walk.trial[i] = min(max(q[i] + t * walk.unit[i] * d[i], walk.lower[i]), walk.upper[i])


@leaf
def accept_trial(walk: Any, q: Any) -> None:
    """The trial becomes q."""
    walk.state[HERE], walk.state[UNMET_HERE] = walk.state[THERE], walk.state[UNMET_THERE]
    copy(walk.trial, q)
    copy(walk.left, walk.slack)
    for i in range(q.shape[0]):
        walk.g[i], walk.g_new[i] = walk.g_new[i], walk.g[i]


@stage
def slide(I: Any, F: Any, memory: Any, T: Any, q: Any, report: Any) -> int:
    """A projected gradient step ``Π(q − τ D∇G)`` that lowers G becomes the trial: SLID, or the reason to end.

    STATIONARY if no step does; STUCK if that cannot be said because a projection failed. For corners with more limits than
    coordinates, where active sets may turn on the spot, and for wherever else they give up.
    """
    walk, tau, otherwise = open_walk(I, memory), 1.0, STATIONARY
    G, unit, g, trial = walk.state[HERE], walk.unit, walk.g, walk.trial
    while tau > 1e-12:
        slope = 0.0
        for i in range(q.shape[0]):
            trial[i] = q[i] - tau * unit[i] * g[i]
        legal = inside(I, F, trial, walk.projection)
        otherwise = otherwise if legal else STUCK
        for i in range(q.shape[0]):
            slope += g[i] * (trial[i] - q[i]) / unit[i] if unit[i] > 0.0 else 0.0
        if not -slope > 1e-16 * G:
            break
        if spent(report):
            return SPENT
        G_new, unmet, finite = evaluate(I, F, memory, T, trial, walk.g_new, report)
        if legal and finite and G_new <= G + 1e-4 * slope:
            walk.state[THERE], walk.state[UNMET_THERE] = G_new, unmet
            return SLID
        tau *= 0.25
    return SPENT if otherwise == STUCK and spent(report) else otherwise


def descent(begin: Any, model: Any, trial: Any, follow: Any) -> Any:
    """The loop that a method's four phases make, a kernel ``(I, F, memory, T, q, settings, report, trace)``."""

    @stage
    def descend(I: Any, F: Any, memory: Any, T: Any, q: Any, settings: Any, report: Any, trace: Any) -> None:
        walk, outcome = open_walk(I, memory), GOING
        inside(I, F, q, walk.projection)
        begin(I, F, memory, q, settings)
        G, unmet, finite = evaluate(I, F, memory, T, q, walk.g, report)
        walk.state[HERE], walk.state[UNMET_HERE] = G, unmet
        record(report, trace, G)
        outcome = GOING if finite else STUCK
        while outcome < 0:
            if walk.state[UNMET_HERE] == 0.0 and settings[PATIENT] == 0.0:
                outcome = MET
                break
            outcome = model(I, F, memory, T, q, settings, report)
            if outcome >= 0:
                break
            outcome = trial(I, F, memory, T, q, settings, report)
            if outcome == REFUSED:
                outcome = slide(I, F, memory, T, q, report)
            if outcome >= 0:
                break
            if outcome != STAYED:
                accept_trial(walk, q)
                report[ITERATIONS] += 1.0
                record(report, trace, walk.state[HERE])
            follow(I, F, memory, q, settings, outcome)
        close(report, int(report[ITERATIONS]), walk.state[HERE], outcome)

    return descend
