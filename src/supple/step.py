"""One step of a control loop: the posture a moment later, within limits and speeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import BadValue, Refused
from supple.goals import Custom, Near
from supple.potentials import ROWS
from supple.problem import Problem, Task
from supple.solvers.differential import DT, SPEED, room_size, step_entry
from supple.space import Floats
from supple.views import scratch_size


def step(problem: Problem, q: ArrayLike, dt: float, *, gain: float = 1.0, damping: float = 1e-6) -> Floats:
    """The posture after one differential step of `dt` seconds from q, for control loops.

    The step removes as much of the tasks' errors as it can, to first order and at most the part `gain` of them, while every
    coordinate stays inside its range and within its greatest speed. Hard tasks and closed loops come first and are corrected
    whole; then soft tasks, strictly by priority. `damping` prices the step, ``damping · |dq|²``, against weighted residuals.
    From outside the limits the way back is taken as fast as speeds allow. Linear limits, obstacles and `Custom` are refused.
    """
    plan = planned(problem, gain, damping)
    posture, seconds = problem.figure.posture(q), duration(dt)
    return plan.take(posture, problem.packed[2], seconds, plan.scratch())


@dataclass(frozen=True, eq=False)
class Plan:
    """What a step reads besides the posture and the targets, packed once."""

    I: np.ndarray
    F: np.ndarray
    levels: np.ndarray  # the order of the residuals, as `differential` reads it
    settings: np.ndarray  # with a dt of 0

    def scratch(self) -> np.ndarray:
        """Memory for one step at a time."""
        return np.zeros(scratch_size(self.I) + room_size(self.I))

    def take(self, q: np.ndarray, T: np.ndarray, dt: float, scratch: np.ndarray) -> Floats:
        """Move q (size) in place by one step towards the packed targets T."""
        settings, info = self.settings.copy(), np.empty((1, 2))
        settings[DT] = dt
        step_entry(self.I, self.F, scratch, T[None], q[None], self.levels, settings, info, 0, 1)
        if info[0, 1] != 0.0:
            raise BadValue("no step: the tasks have no finite residuals or derivatives in this posture")
        return q


class Stepper:
    """Steps of one problem with memory of their own, for one thread at a time; targets may move from call to call."""

    def __init__(self, problem: Problem, gain: float = 1.0, damping: float = 1e-6) -> None:
        self.problem = problem
        self._plan = planned(problem, gain, damping)
        self._scratch = self._plan.scratch()
        self._targets = problem.packed[2]

    def __call__(self, q: ArrayLike, dt: float, targets: Sequence[Any] | None = None) -> Floats:
        """The posture after one step; `targets` has one array for each task, None where a task keeps its own."""
        posture, seconds = self.problem.figure.posture(q), duration(dt)
        T = self._targets if targets is None else flat_targets(self.problem, targets)
        return self._plan.take(posture, T, seconds, self._scratch)


def planned(problem: Problem, gain: float = 1.0, damping: float = 1e-6) -> Plan:
    """The plan of a problem's steps; what a step cannot take is refused, with the reasons by task."""
    if not isinstance(problem, Problem):
        raise BadValue(f"step takes a Problem, not {problem!r}")
    part, price = number(gain, "the gain of a step"), number(damping, "the damping of a step")
    if part > 1.0:
        raise BadValue(f"the gain of a step is the part of the error to remove, at most 1, not {gain!r}")
    return _planned(problem, part, price)


def duration(dt: Any) -> float:
    """A time step [s]."""
    return number(dt, "the time dt of a step")


def number(value: Any, what: str) -> float:
    """A positive finite number."""
    try:
        out = float(value)
    except (TypeError, ValueError) as error:
        raise BadValue(f"{what} must be a number, not {value!r}") from error
    if not 0.0 < out < np.inf:
        raise BadValue(f"{what} must be positive and finite, not {value!r}")
    return out


@lru_cache(maxsize=8)
def _planned(problem: Problem, gain: float, damping: float) -> Plan:
    reasons = refusals(problem)
    if reasons:
        raise Refused("step cannot take this problem: " + "; ".join(reasons))
    I, F, _ = problem.packed
    settings = np.zeros(SPEED + problem.figure.size)
    settings[:SPEED] = 0.0, gain, damping
    settings[SPEED:] = problem.figure.speed
    return Plan(I, F, levelled(problem), settings)


def refusals(problem: Problem) -> list[str]:
    """What a step cannot take: obstacles, linear limits, goals without residuals."""
    assert problem.limits is not None
    reasons = ["it has obstacles"] if problem.obstacles else []
    if not problem.limits.is_box:
        reasons.append("its limits have linear rows")
    for task in problem.tasks:
        if any(isinstance(goal, Custom) for goal, _ in task.alternatives):
            reasons.append(f"{task.name!r} has no residual form")
    return reasons


def residuals_of(task: Task) -> int:
    """The number of a task's residuals; alternatives share theirs."""
    return max(sum(ROWS[term.kind] for term in goal.terms()) for goal, _ in task.alternatives)


def flat_targets(problem: Problem, targets: Sequence[Any]) -> np.ndarray:
    """Targets as the kernels read them, one array for each task, None where a task keeps its own."""
    if len(targets) != len(problem.tasks):
        raise BadValue(f"the problem has {len(problem.tasks)} tasks but {len(targets)} targets")
    out: list[Any] = [np.empty(0)]
    for task, target in zip(problem.all_tasks, (*targets, *(None for _ in problem.loops)), strict=True):
        aimed = task if target is None else replace(task, goal=task.goal.aimed(target))
        out += [term.target for goal, _ in aimed.alternatives for term in goal.terms()]
    return np.concatenate(out)


def levelled(problem: Problem) -> np.ndarray:
    """The tasks' residuals in the order of their levels, and the levels of posture goals (see `differential`)."""
    tasks = problem.all_tasks
    ranks = [(-np.inf if task.hard else task.priority) for task in tasks]
    levels = sorted(set(ranks))
    rows: list[list[int]] = [[] for _ in levels]
    near: list[int] = []
    at = 0
    for task, rank in zip(tasks, ranks, strict=True):
        level = levels.index(rank)
        count = residuals_of(task)
        rows[level] += range(at, at + count)
        at += count
        near += [level] if isinstance(task.goal, Near) else []
    first = np.cumsum([0, *map(len, rows)])
    numbers = [len(levels), int(problem.has_hard), *first, *(r for level in rows for r in level), *near]
    return np.array(numbers, dtype=np.int64)
