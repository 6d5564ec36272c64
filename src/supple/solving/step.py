"""One step of a control loop: the posture a moment later, within limits and speeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import flag, instance, number, positive
from supple.errors import BadValue, Refused
from supple.geometry.placements import Floats
from supple.kernels.compiling import plain_twin
from supple.problem.goals import Custom, Near
from supple.problem.packing import is_plain
from supple.problem.problem import PLAIN as CLEAR_OF_NOTHING, Problem
from supple.problem.targets import Slot, slots, write_targets
from supple.solvers.differential.differential import step_entry
from supple.solvers.differential.scratch import DAMPING, DT, FAILED, GAIN, REPORT, SPEED, STEP
from supple.solving.clear_steps import Keeper


def step(
    problem: Problem,
    q: ArrayLike,
    dt: float,
    *,
    targets: Any = None,
    gain: float = 1.0,
    damping: float = 1e-6,
    prove: bool = False,
    obstacles: Any = None,
) -> Floats:
    """The posture after one differential step of `dt` seconds from q, for control loops.

    The step removes as much of the tasks' errors as it can, to first order and at most the part `gain` of them, while every
    coordinate stays inside its range and within its greatest speed. Hard tasks and closed loops come first and are corrected
    whole; then soft tasks, strictly by priority. `damping` prices the step, ``damping · |dq|²``, against weighted residuals.
    From outside the limits the way back is taken as fast as speeds allow. Near obstacles, and near itself, the step slows down
    and ends at the margin (`clear_steps`). Linear limits and `Custom` are refused.

    `targets` moves the goals without packing the problem anew: the bare array if it has one task, else a list with one for
    each, None where a task keeps its own. `obstacles` says where those are that move, as in a query. One step decides nothing:
    ``prove=True`` is refused, `solve` proves.
    """
    if flag(prove, "prove"):
        raise Refused("one step proves nothing: solve(problem, prove=True) decides whether the tasks can be met")
    plan = planned(problem, gain, damping)
    posture, seconds = problem.figure.posture(q), duration(dt)
    if obstacles is not None:
        if plan.keeper is None:
            raise Refused("the problem has no obstacles that could move")
        plan = replace(plan, keeper=plan.keeper.placed(problem, obstacles))
    return plan.take(posture, plan.aimed(targets), seconds, plan.scratch())


@cache
def plain_step_entry() -> Any:
    """The step for plain problems."""
    return plain_twin(step_entry)


@dataclass(frozen=True, eq=False)
class Plan:
    """What a step reads besides the posture and the targets, packed once."""

    I: np.ndarray
    F: np.ndarray
    levels: np.ndarray  # the order of the residuals, as `solvers.differential` reads it
    settings: np.ndarray  # with a dt of 0
    T: np.ndarray  # (1, …) the problem's own targets
    slots: tuple[Slot, ...]
    keeper: Keeper | None = None  # where it keeps clear of something

    @cached_property
    def entry(self) -> Any:
        """The kernel that takes the step."""
        return plain_step_entry() if is_plain(self.I, self.F) else step_entry

    def scratch(self) -> np.ndarray:
        """Memory for one step at a time."""
        return STEP.fresh(self.I)

    def aimed(self, targets: Any) -> np.ndarray:
        """The targets as kernels read them."""
        if targets is None:
            return self.T
        T = self.T.copy()
        write_targets(self.slots, targets, T)
        return T

    def take(self, q: np.ndarray, T: np.ndarray, dt: float, scratch: np.ndarray) -> Floats:
        """Move q (size) in place by one step towards the packed targets T (1, …)."""
        settings = self.settings.copy()
        settings[DT] = dt
        return self.taken(q, T, settings, scratch)

    def taken(self, q: np.ndarray, T: np.ndarray, settings: np.ndarray, scratch: np.ndarray) -> Floats:
        """As `take`, with settings of one's own."""
        report = np.empty((1, REPORT))
        start = q if self.keeper is None else q.copy()
        self.entry(self.I, self.F, scratch, T, q[None], self.levels, settings, report, 0, 1)
        if report[0, FAILED] != 0.0:
            raise BadValue("no step: the tasks have no finite residuals or derivatives in this posture")
        if self.keeper is not None:
            q[:] = self.keeper.kept(start, q, float(settings[DT]))
        return q


def planned(problem: Problem, gain: float = 1.0, damping: float = 1e-6) -> Plan:
    """The plan of a problem's steps; what a step cannot take is refused, with the reasons by task."""
    instance(problem, Problem, "what step() takes first")
    part = number(gain, "the gain of a step, the part of the error to remove,", above=0.0, most=1.0)
    price = positive(damping, "the damping of a step")
    return _planned(problem, part, price)


def duration(dt: Any) -> float:
    """A time step [s]."""
    return positive(dt, "the time dt of a step")


@lru_cache(maxsize=8)
def _planned(problem: Problem, gain: float, damping: float) -> Plan:
    reasons = refusals(problem)
    if reasons:
        raise Refused("step cannot take this problem: " + "; ".join(reasons))
    keeper = Keeper.of(problem)
    if keeper is not None:  # what tasks want is found without it
        problem = replace(problem, obstacles=(), clearance=CLEAR_OF_NOTHING)
    I, F, T = problem.pack
    n = problem.figure.size
    settings = np.zeros(SPEED + 3 * n)
    settings[GAIN], settings[DAMPING] = gain, damping
    settings[SPEED : SPEED + n] = problem.figure.speed
    settings[SPEED + n :] = np.repeat((-np.inf, np.inf), n)
    return Plan(I, F, levelled(problem), settings, T[None].copy(), slots(problem), keeper)


def refusals(problem: Problem) -> list[str]:
    """What a step cannot take: linear limits, goals without residuals."""
    assert problem.limits is not None
    reasons = []
    if not problem.limits.is_box:
        reasons.append("its limits have linear rows")
    for task in problem.tasks:
        if any(isinstance(goal, Custom) for goal, _ in task.alternatives):
            reasons.append(f"{task.name!r} has no residual form")
    return reasons


def levelled(problem: Problem) -> np.ndarray:
    """The tasks' residuals in the order of their levels, and the levels of posture goals (see `differential`)."""
    rows: list[list[int]] = [[] for _ in range(max(problem.ranks, default=-1) + 1)]
    near: list[int] = []
    for task, level, own in zip(problem.all_tasks, problem.ranks, problem.rows_of_tasks, strict=True):
        rows[level] += own
        near += [level] if isinstance(task.goal, Near) else []
    first = np.cumsum([0, *map(len, rows)])
    numbers = [len(rows), int(problem.has_hard), *first, *(r for level in rows for r in level), *near]
    return np.array(numbers, dtype=np.int64)
