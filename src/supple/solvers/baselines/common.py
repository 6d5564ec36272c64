"""What the baseline solvers share: limits applied after the step, the best posture kept, and an honest end.

The baselines do not promise that every step is downhill. So each remembers the posture with the least G that it has seen,
returns that one, and asks of it, not of its last step, whether an allowed move would still bring the goals nearer:
``‖D^(−½)(Π(q − D∇G) − q)‖_∞ ≤ tolerance`` with Π the projection onto the limits and ``D = diag((1 − ρ)²)`` the change of unit
that rigidity ρ stands for. Its gradient is remembered with it, so that the end costs no evaluation; the trace holds its values.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from supple.kernels.algebra.nearest import project, row_room
from supple.kernels.compiling import leaf, row, stage, table, written_in
from supple.kernels.jacobian import jacobian
from supple.kernels.layouts import COORDINATES, LINEAR_LIMITS, PROBLEM, RESIDUALS
from supple.kernels.opening import Scratch, of
from supple.kernels.scratch import EVALUATION
from supple.kernels.tables import open_limits
from supple.problem.allowance import ITERATIONS, MET, REASON, SPENT, STATIONARY, STUCK, VALUE, count, record, spent
from supple.problem.goals import Custom, Near
from supple.problem.problem import Problem

ALIKE = 1e-14  # values of G that differ by less, relatively, are told apart by their gradients
GOING = -1  # in the place of a reason
ANY = math.nan  # no G is as large as this, or larger


class Room(NamedTuple):
    """Scratch of a baseline's loop: six postures and the limits' rows; what one solver alone needs begins at `rest`."""

    g: Any
    trial: Any
    best: Any
    slope: Any  # ∇G at the best
    ease: Any  # D
    back: Any
    y: Any
    rest: int


def room_size(problem: Problem, more: int = 0) -> int:
    """Numbers of scratch that `read_room` lays out, and `more`."""
    I = problem.packed[0]
    return 6 * int(I[COORDINATES]) + row_room(int(I[LINEAR_LIMITS])) + more


@written_in
def read_room(I: Any, room: Any) -> Any:
    """Views of the room."""
    n = I[COORDINATES]
    g, trial, best = row(room, 0, n), row(room, n, n), row(room, 2 * n, n)
    slope, ease, back = row(room, 3 * n, n), row(room, 4 * n, n), row(room, 5 * n, n)
    return Room(
        g,
        trial,
        best,
        slope,
        ease,
        back,
        row(room, 6 * n, row_room(I[LINEAR_LIMITS])),
        6 * n + row_room(I[LINEAR_LIMITS]),
    )


class EvaluationAlone(NamedTuple):
    """The scratch of an evaluation, in front of a method's own."""

    evaluation: Any = of(EVALUATION)


open_evaluation_alone = Scratch(EvaluationAlone, PROBLEM).open


@written_in
def room_of(I: Any, scratch: Any) -> Any:
    """The scratch behind that of the evaluation."""
    at = open_evaluation_alone(I, scratch).evaluation.shape[0]
    return row(scratch, at, scratch.shape[0] - at)


@leaf
def limits_of(I: Any, F: Any) -> Any:
    """Views of the limits in a pack."""
    return open_limits(I, F)


@stage
def settle(I: Any, F: Any, room: Any, q: Any) -> None:
    """The nearest legal posture, in place: a clamp where the limits are a box."""
    allowed, r = limits_of(I, F), read_room(I, room)
    for i in range(q.shape[0]):
        r.ease[i] = allowed.mobility[i] * allowed.mobility[i]
    project(q, allowed.lower, allowed.upper, allowed.equalities, allowed.A, allowed.b, r.ease, r.y, r.back)


@stage
def headway(I: Any, F: Any, room: Any, q: Any) -> float:
    """``‖D^(−½)(Π(q − D∇G) − q)‖_∞`` of a legal q whose gradient is in the room; `settle` has been called before."""
    r = read_room(I, room)
    for i in range(q.shape[0]):
        r.trial[i] = q[i] - r.ease[i] * r.g[i]
        if not math.isfinite(r.trial[i]):
            return math.inf
    settle(I, F, room, r.trial)
    largest = 0.0
    for i in range(q.shape[0]):
        if r.ease[i] > 0.0:
            largest = max(largest, abs(r.trial[i] - q[i]) / math.sqrt(r.ease[i]))
    return largest


@written_in
def read_model(I: Any, room: Any) -> Any:
    """Views of the residuals ρ and their Jacobian J, which lie first in the rest of the room."""
    at, n, m = read_room(I, room).rest, I[COORDINATES], I[RESIDUALS]
    return row(room, at, m), table(room, at + m, m, n)


@stage
def linear_model(I: Any, F: Any, scratch: Any, T: Any, room: Any, q: Any, info: Any) -> Any:
    """ρ and J at q, and ``∇G = 2 Jᵀρ``, into the room; returns G and the number of tasks not met."""
    g, (rho, J) = read_room(I, room).g, read_model(I, room)
    count(info)
    f, unmet = jacobian(I, F, scratch, T, q, rho, J)
    for i in range(q.shape[0]):
        g[i] = 0.0
    for s in range(rho.shape[0]):
        for i in range(q.shape[0]):
            g[i] += 2.0 * J[s, i] * rho[s]
    return f, unmet


@stage
def keep(I: Any, room: Any, q: Any, f: float, most: float, info: Any, trace: Any) -> None:
    """Remember q, its G and its gradient as the best, unless G is `most` or more, or q is not finite."""
    r = read_room(I, room)
    better = not f >= most
    for i in range(q.shape[0]):
        better = better and math.isfinite(q[i])
    if better:
        for i in range(q.shape[0]):
            r.best[i], r.slope[i] = q[i], r.g[i]
        info[VALUE] = f
        record(info, trace, f)


@stage
def arrive(
    I: Any, F: Any, room: Any, q: Any, f: float, unmet: int, steps: float, tolerance: float, info: Any, trace: Any
) -> int:
    """Take note of a posture that has been evaluated: the reason to end there, or GOING."""
    first = info[ITERATIONS] == 0.0
    if not (first or math.isfinite(f)):
        return STUCK
    keep(I, room, q, f, ANY if first or unmet == 0 else info[VALUE], info, trace)
    if unmet == 0:
        return MET
    if headway(I, F, room, q) <= tolerance:
        if f > info[VALUE]:
            keep(I, room, q, f, info[VALUE] * (1.0 + ALIKE), info, trace)
        return STATIONARY
    return SPENT if info[ITERATIONS] >= steps or spent(info) else GOING


@stage
def conclude(I: Any, F: Any, room: Any, q: Any, tolerance: float, reason: int, info: Any) -> None:
    """End at the best posture, with a reason that is true of it."""
    r = read_room(I, room)
    for i in range(q.shape[0]):
        q[i], r.g[i] = r.best[i], r.slope[i]
    if headway(I, F, room, q) <= tolerance:
        info[REASON] = STATIONARY
    else:
        info[REASON] = STUCK if reason == STATIONARY else reason


def without_residuals(problem: Problem) -> list[str]:
    """The tasks that a method of residuals cannot take, as reasons."""
    tasks = [t for t in problem.tasks if any(isinstance(goal, Custom | Near) for goal, _ in t.alternatives)]
    return [f"{task.name!r} has no residual form" for task in tasks]
