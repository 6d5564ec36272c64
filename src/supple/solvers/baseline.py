"""What the baseline solvers share: limits applied after the step, the best posture kept, and an honest end.

The baselines do not promise that every step is downhill. So each remembers the posture with the least G that it has seen,
returns that one, and asks of it, not of its last step, whether an allowed move would still bring the goals nearer:
``‖Π(q − D∇G) − q‖_∞ ≤ tolerance`` with Π the projection onto the limits and ``D = diag((1 − ρ)²)`` the change of unit that
rigidity ρ stands for.

Every loop lies behind an entry ``(I, F, scratch, T, Q, settings, info, first, last)`` that solves rows first … last − 1 of
Q in place and writes iterations, evaluations, G and the reason for stopping into info.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from supple.compiled import leaf, row, stage
from supple.errors import BadValue
from supple.evaluate import gradient
from supple.goals import Custom, Near
from supple.limits import project, row_room
from supple.potentials import NEAR
from supple.problem import Problem
from supple.solution import Solution, Status, audited
from supple.space import Floats
from supple.tree import read_tree
from supple.views import read_limits, read_tasks, read_work, scratch_size

STATIONARY, MET, SPENT, STUCK = range(4)
ALIKE = 1e-14  # values of G that differ by less, relatively, are told apart by their gradients


class Room(NamedTuple):
    """Scratch of a baseline's loop: five postures and the limits' rows; what one solver alone needs begins at `rest`."""

    g: Any
    trial: Any
    best: Any
    ease: Any  # D
    back: Any
    y: Any
    rest: int


def shared_room(I: Any) -> int:
    """Numbers of scratch that `read_room` lays out."""
    return 5 * int(I[1]) + row_room(int(I[15]))


@leaf
def read_room(I: Any, room: Any) -> Any:
    """Views of the room."""
    n = I[1]
    g, trial, best = row(room, 0, n), row(room, n, n), row(room, 2 * n, n)
    ease, back, y = row(room, 3 * n, n), row(room, 4 * n, n), row(room, 5 * n, row_room(I[15]))
    return Room(g, trial, best, ease, back, y, 5 * n + row_room(I[15]))


@leaf
def room_of(I: Any, scratch: Any) -> Any:
    """The scratch behind that of the evaluation."""
    _, at = read_work(I, scratch)
    return row(scratch, at, scratch.shape[0] - at)


@leaf
def limits_of(I: Any, F: Any) -> Any:
    """Views of the limits in a pack."""
    _, a, f = read_tree(I, F)
    _, f = read_tasks(I, F, a, f)
    return read_limits(I, F, f)


@stage
def settle(I: Any, F: Any, room: Any, q: Any) -> None:
    """The nearest legal posture, in place: a clamp where the limits are a box."""
    allowed, r = limits_of(I, F), read_room(I, room)
    for i in range(q.shape[0]):
        r.ease[i] = allowed.free[i] * allowed.free[i]
    project(q, allowed.lower, allowed.upper, allowed.equalities, allowed.A, allowed.b, r.ease, r.y, r.back)


@stage
def headway(I: Any, F: Any, room: Any, q: Any) -> float:
    """``‖Π(q − D∇G) − q‖_∞`` of a legal q whose gradient is in the room; `settle` has been called before."""
    r = read_room(I, room)
    for i in range(q.shape[0]):
        r.trial[i] = q[i] - r.ease[i] * r.g[i]
        if not math.isfinite(r.trial[i]):
            return math.inf
    settle(I, F, room, r.trial)
    largest = 0.0
    for i in range(q.shape[0]):
        largest = max(largest, abs(r.trial[i] - q[i]))
    return largest


@leaf
def keep(q: Any, f: float, best: Any, least: float) -> float:
    """Remember q if it is the best so far and finite; returns the least G."""
    finite = True
    for i in range(q.shape[0]):
        finite = finite and math.isfinite(q[i])
    if not (f < least and finite):
        return least
    for i in range(q.shape[0]):
        best[i] = q[i]
    return f


@stage
def conclude(I: Any, F: Any, scratch: Any, T: Any, room: Any, q: Any, tolerance: float, info: Any) -> None:
    """End at the best posture. `info` holds iterations, evaluations, G and reason; the last two are made true of it."""
    r = read_room(I, room)
    for i in range(q.shape[0]):
        q[i] = r.best[i]
    settle(I, F, room, q)
    info[2], unmet = gradient(I, F, scratch, T, q, r.g)
    info[1] += 1.0
    if headway(I, F, room, q) <= tolerance:
        info[3] = STATIONARY
    elif unmet == 0:
        info[3] = MET
    elif info[3] != SPENT:
        info[3] = STUCK


def without_residuals(problem: Problem) -> list[str]:
    """The tasks that a method of residuals cannot take, as reasons."""
    tasks = [t for t in problem.tasks if any(isinstance(goal, Custom | Near) for goal, _ in t.alternatives)]
    return [f"{task.name!r} has no residual form" for task in tasks]


def check_budget(steps: int, tolerance: float) -> None:
    """Refuse a negative budget or tolerance."""
    if steps < 0 or not tolerance >= 0.0:
        raise BadValue(f"steps and tolerance must not be negative: {steps}, {tolerance}")


def is_patient(problem: Problem) -> float:
    """1 if the loop must go on when all tasks are met, because a preferred posture is still to be approached."""
    return float(any(kind == NEAR for kind in problem.kinds))


def run(
    entry: Callable[..., None], problem: Problem, start: Floats, settings: Sequence[float], room: int, seed: int
) -> Solution:
    """Solve one problem with a compiled loop that needs `room` numbers besides the shared ones."""
    assert problem.limits is not None
    I, F, T = problem.packed
    Q, info = problem.limits.project(start).reshape(1, -1), np.zeros((1, 4))
    scratch = np.zeros(scratch_size(I) + shared_room(I) + room)
    entry(I, F, scratch, T[None], Q, np.array(settings, dtype=float), info, 0, 1)
    counts = {"iterations": int(info[0, 0]), "evaluations": int(info[0, 1]), "seed": seed}
    solution = audited(problem, Q[0], stationary=bool(info[0, 3] == STATIONARY), **counts)
    if solution.status is Status.STOPPED and info[0, 3] == STUCK:
        names = ", ".join(solution.unmet[:4]) + (" and more" if len(solution.unmet) > 4 else "")
        lead = "The method makes no more headway, though an allowed move would bring the goals nearer"
        return replace(solution, reason=f"{lead}; not met: {names}.")
    return solution
