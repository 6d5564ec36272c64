"""What the baseline solvers share: limits applied after the step, the best posture kept, and an honest end.

The baselines do not promise that every step is downhill. So each remembers the posture with the least G that it has seen,
returns that one, and asks of it, not of its last step, whether an allowed move would still bring the goals nearer:
``‖D^(−½)(Π(q − D∇G) − q)‖_∞ ≤ tolerance`` with Π the projection onto the limits and ``D = diag((1 − ρ)²)`` the change of unit
that rigidity ρ stands for. Its gradient is remembered with it, so that the end costs no evaluation; the trace holds its values.

A baseline supplies two kernels, of which `baseline` makes a loop:

    look(I, F, memory, T, q, settings, report)    G and the number of tasks not met; ∇G goes to the scratch
    step(I, F, memory, T, q, settings)          the next q, limits or no limits; False if there is none
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from supple.kernels.algebra.vectors import copy
from supple.kernels.compiling import leaf, stage
from supple.kernels.jacobian import jacobian
from supple.kernels.layouts import PROBLEM
from supple.kernels.opening import Scratch, of
from supple.kernels.tables import EVALUATION
from supple.problem.allowance import BUDGET, EVALUATIONS, ITERATIONS, MET, REASON, SPENT, STATIONARY, STUCK, VALUE
from supple.problem.goals import Custom, Near
from supple.problem.meter import count, record, spent
from supple.problem.problem import Problem
from supple.solvers.base import PATIENT, STEPS, TOLERANCE
from supple.solvers.descent import GOING
from supple.solvers.linear_limits import PROJECTION, inside, open_projection

ALIKE = 1e-14  # values of G that differ by less, relatively, are told apart by their gradients
ANY = math.nan  # no G is as large as this, or larger
HERE, UNMET_HERE, SINCE, STATE = range(4)  # G and the number of tasks not met at q; steps since the best posture


class BaselineScratch(NamedTuple):
    """What a baseline's loop remembers; what a method alone needs lies behind it."""

    evaluation: Any = of(EVALUATION)
    g: Any = of("COORDINATES")
    trial: Any = of("COORDINATES")
    best: Any = of("COORDINATES")
    slope: Any = of("COORDINATES")  # ∇G at the best
    state: Any = of(STATE)
    projection: Any = of(PROJECTION)


BASELINE = Scratch(BaselineScratch, PROBLEM)
open_baseline = BASELINE.open


class LinearScratch(NamedTuple):
    """The linear model of the goals."""

    baseline: Any = of(BASELINE)
    rho: Any = of("RESIDUALS")
    J: Any = of("RESIDUALS", "COORDINATES")
    column: Any = of("RESIDUALS", 1, over="rho")


LINEAR = Scratch(LinearScratch, PROBLEM)
open_linear = LINEAR.open


@stage
def headway(I: Any, F: Any, memory: Any, q: Any) -> float:
    """``‖D^(−½)(Π(q − D∇G) − q)‖_∞`` of a legal q whose gradient is in the scratch; `inside` has been called before."""
    s = open_baseline(I, memory)
    ease = open_projection(I, s.projection).ease
    for i in range(q.shape[0]):
        s.trial[i] = q[i] - ease[i] * s.g[i]
        if not math.isfinite(s.trial[i]):
            return math.inf
    inside(I, F, s.trial, s.projection)
    largest = 0.0
    for i in range(q.shape[0]):
        if ease[i] > 0.0:
            largest = max(largest, abs(s.trial[i] - q[i]) / math.sqrt(ease[i]))
    return largest


@stage
def look_linear(I: Any, F: Any, memory: Any, T: Any, q: Any, settings: Any, report: Any) -> Any:
    """ρ and J at q, and ``∇G = 2 Jᵀρ``, into the scratch; returns G and the number of tasks not met."""
    g, model = open_baseline(I, memory).g, open_linear(I, memory)
    rho, J = model.rho, model.J
    count(report)
    f, unmet = jacobian(I, F, memory, T, q, rho, J)
    for i in range(q.shape[0]):
        g[i] = 0.0
    for s in range(rho.shape[0]):
        for i in range(q.shape[0]):
            g[i] += 2.0 * J[s, i] * rho[s]
    return f, unmet


@leaf
def keep_best(s: Any, q: Any, most: float, report: Any, trace: Any) -> None:
    """Remember q, its G and its gradient as the best, unless G is `most` or more, or q is not finite."""
    f = s.state[HERE]
    better = not f >= most
    for i in range(q.shape[0]):
        better = better and math.isfinite(q[i])
    if better:
        copy(q, s.best)
        copy(s.g, s.slope)
        report[VALUE] = f
        record(report, trace, f)


@stage
def arrive(I: Any, F: Any, memory: Any, q: Any, steps: float, tolerance: float, report: Any, trace: Any) -> int:
    """Take note of a posture that has been evaluated: the reason to end there, or GOING."""
    s = open_baseline(I, memory)
    first, f, unmet = report[ITERATIONS] == 0.0, s.state[HERE], s.state[UNMET_HERE]
    s.state[SINCE] = 0.0 if first or f < (1.0 - ALIKE) * report[VALUE] else s.state[SINCE] + 1.0
    if not (first or math.isfinite(f)):
        return STUCK
    keep_best(s, q, ANY if first or unmet == 0.0 else report[VALUE], report, trace)
    if unmet == 0.0:
        return MET
    if headway(I, F, memory, q) <= tolerance:
        if f > report[VALUE]:
            keep_best(s, q, report[VALUE] * (1.0 + ALIKE), report, trace)
        return STATIONARY
    return SPENT if report[ITERATIONS] >= steps or spent(report) else GOING


@stage
def conclude(I: Any, F: Any, memory: Any, q: Any, tolerance: float, reason: int, report: Any) -> None:
    """End at the best posture, with a reason that is true of it."""
    s = open_baseline(I, memory)
    copy(s.best, q)
    copy(s.slope, s.g)
    if headway(I, F, memory, q) <= tolerance:
        report[REASON] = STATIONARY
    else:
        report[REASON] = STUCK if reason == STATIONARY else reason


def baseline(look: Any, step: Any, patience: float = math.inf, at_end: int = -1) -> Any:
    """The loop that a baseline's two kernels make, a kernel ``(I, F, memory, T, q, settings, report, trace)``.

    After so many steps without a better posture as its `patience` is long, it gives up. Where it has a setting `at_end` that is
    not 0, limits are not kept after every step but once, at the end.
    """

    @leaf
    def arrived(I: Any, F: Any, memory: Any, T: Any, q: Any, settings: Any, report: Any, trace: Any) -> int:
        s = open_baseline(I, memory)
        late = settings[at_end] if at_end >= 0 else 0.0
        f, unmet = look(I, F, memory, T, q, settings, report)
        s.state[HERE], s.state[UNMET_HERE] = f, unmet + settings[PATIENT]
        enough = settings[TOLERANCE] if late == 0.0 else -1.0
        reason = arrive(I, F, memory, q, settings[STEPS], enough, report, trace)
        return STUCK if reason == GOING and s.state[SINCE] >= patience else reason

    @stage
    def iterate(I: Any, F: Any, memory: Any, T: Any, q: Any, settings: Any, report: Any, trace: Any) -> None:
        s = open_baseline(I, memory)
        late = settings[at_end] if at_end >= 0 else 0.0
        inside(I, F, q, s.projection)
        reason = arrived(I, F, memory, T, q, settings, report, trace)
        while (
            reason == GOING and report[EVALUATIONS] + late < report[BUDGET]
        ):  # one is left for the posture that is late
            report[ITERATIONS] += 1.0
            if not step(I, F, memory, T, q, settings):
                reason = STUCK
                break
            if late == 0.0:
                inside(I, F, q, s.projection)
            reason = arrived(I, F, memory, T, q, settings, report, trace)
        if late != 0.0 and report[ITERATIONS] > 0.0:
            copy(s.best, q)
            inside(I, F, q, s.projection)
            s.state[HERE], s.state[UNMET_HERE] = look(I, F, memory, T, q, settings, report)
            keep_best(s, q, ANY, report, trace)
        conclude(I, F, memory, q, settings[TOLERANCE], SPENT if reason == GOING else reason, report)

    return iterate


def without_residuals(problem: Problem) -> list[str]:
    """The tasks that a method of residuals cannot take, as reasons."""
    tasks = [t for t in problem.tasks if any(isinstance(goal, Custom | Near) for goal, _ in t.alternatives)]
    return [f"{task.name!r} has no residual form" for task in tasks]
