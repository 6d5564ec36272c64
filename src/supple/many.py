"""Thousands of targets at once: the same problem, packed once, solved row by row in compiled code on several threads.

Row i of the answer equals the single solve of target i bit for bit, whatever the number of threads: every row begins at the
same start, with the same sequence of further starts, and shares nothing with the others.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from supple.effectors import Direction, Frame, Point
from supple.errors import BadValue
from supple.goals import At, Placed
from supple.problem import Problem, Task, miss_of
from supple.solution import Solution, Status, audited
from supple.solvers.base import Solver
from supple.solvers.desk import desk
from supple.solvers.levenberg_marquardt import LevenbergMarquardt
from supple.solvers.meter import EVALUATIONS, FREELY, ITERATIONS, MET, REASON, SPENT, STATIONARY
from supple.solvers.multistart import compiled_for_many
from supple.solvers.search import search_entry
from supple.space import Floats
from supple.targets import by_task, flat_targets

CHUNK = 32  # rows that a thread takes at a time


@dataclass(frozen=True, eq=False)
class Solutions:
    """The answers to many targets; ``solutions[i]`` is the single answer to target i."""

    problem: Problem
    targets: tuple[Any, ...]  # one array for each task, or None where the task's own target stands
    q: Floats  # (n, size)
    ok: np.ndarray  # (n) bool: whether every task is met to its tolerance
    stationary: np.ndarray  # (n) bool: whether no allowed move brings the goals nearer
    iterations: np.ndarray  # (n)
    evaluations: np.ndarray  # (n)
    seed: int = 0

    @classmethod
    def told(
        cls, problem: Problem, targets: tuple[Any, ...], Q: np.ndarray, info: np.ndarray, seed: int, **more: Any
    ) -> Self:
        """The answers that a search has written to Q and info; where rounding has left a linear row, brought back."""
        limits = problem.limits
        assert limits is not None
        for i in [] if limits.is_box else [i for i, q in enumerate(Q) if not limits.contains(q)]:
            one = audited(problem.aimed(*(None if t is None else t[i] for t in targets)), Q[i], False)
            Q[i], info[i, REASON] = one.q, MET if one.ok else SPENT
        ok, stationary = info[:, REASON] == MET, info[:, REASON] == STATIONARY
        for array in (Q, ok, stationary):
            array.setflags(write=False)
        counts = info[:, ITERATIONS].astype(int), info[:, EVALUATIONS].astype(int)
        return cls(problem, targets, Q, ok, stationary, *counts, seed, **more)

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, i: int) -> Solution:
        i = range(len(self))[i]
        problem = self.problem.aimed(*(None if t is None else t[i] for t in self.targets))
        spent = int(self.iterations[i]), int(self.evaluations[i])
        still = bool(self.stationary[i])
        return audited(problem, self.q[i], still, iterations=spent[0], evaluations=spent[1], seed=self.seed)

    @cached_property
    def status(self) -> tuple[Status, ...]:
        """Why each search ended."""
        pairs = zip(self.ok.tolist(), self.stationary.tolist(), strict=True)
        return tuple(Status.SOLVED if a else Status.NEAREST if b else Status.STOPPED for a, b in pairs)

    @cached_property
    def errors(self) -> Floats:
        """Metres and radians (n, tasks, 2) by which each task is missed, recomputed from the figure; closed loops last."""
        tasks = self.problem.all_tasks
        errors = np.zeros((len(self.q), len(tasks), 2))
        for k, task in enumerate(tasks):
            given = self.targets[k] if k < len(self.targets) else None
            errors[:, k] = _misses(self.problem, task, given, self.q)
        errors.setflags(write=False)
        return errors


def solve_many(
    problem: Problem,
    targets: Any,
    *,
    start: ArrayLike | None = None,
    solver: Solver | None = None,
    threads: int | None = None,
    device: str = "cpu",
    seed: int = 0,
) -> Solutions:
    """Solve a problem for many targets.

    `targets` is one array (n, …) if the problem has one task, else a list of one for each task, None where a task keeps its
    own target. The shapes are those of single targets: (n, 3) for `At` and `AimedAt`, (n, 4, 4) for `Placed`, (n, 2, 3) for
    lines, planes and half-spaces. `solver` is `LevenbergMarquardt`, or `Multistart` of it, which is the default.
    """
    if device != "cpu":
        raise BadValue(f"targets are solved on the device 'cpu', not {device!r}")
    workers = threads if threads is not None else os.cpu_count() or 1
    if workers < 1:
        raise BadValue(f"threads must be at least 1, not {threads}")
    chosen = compiled_for_many(solver, problem)
    given = by_task(problem, targets)
    T = flat_targets(problem, given)
    figure = problem.figure
    first = problem.admitted(figure.rest if start is None else figure.posture(start))
    Q, info = np.tile(first, (len(T), 1)), FREELY.info(len(T))
    _run(chosen, problem, T, Q, info, seed, workers)
    return Solutions.told(problem, given, Q, info, seed)


def _run(
    solver: LevenbergMarquardt,
    problem: Problem,
    T: np.ndarray,
    Q: np.ndarray,
    info: np.ndarray,
    seed: int,
    workers: int,
) -> None:
    """Solve all rows in place, each thread at a desk of its own."""
    I, F, _ = problem.packed
    page = FREELY.page()
    chunk = max(1, min(CHUNK, len(Q) // workers))

    def work(first: int) -> None:
        place, own = desk(problem, solver.settings(), seed), F.copy()
        for at in range(first * chunk, len(Q), workers * chunk):
            search_entry(I, own, place, T, Q, info, page, at, min(at + chunk, len(Q)))

    if workers == 1:
        work(0)
        return
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, range(workers)))


def _misses(problem: Problem, task: Task, targets: Any, Q: np.ndarray) -> np.ndarray:
    """Metres and radians of one task in every row (n, 2)."""
    figure, effector, goal = problem.figure, task.effector, task.goal
    if isinstance(effector, Point | Direction | Frame) and isinstance(goal, At | Placed) and goal.relative_to is None:
        X = figure.placement(Q, effector.segment) @ effector.frame
        own = goal.position if isinstance(goal, At) else goal.at
        wanted = np.broadcast_to(own, (len(Q), *own.shape)) if targets is None else targets
        p = wanted if isinstance(goal, At) else wanted[:, :3, 3]
        out = np.zeros((len(Q), 2))
        out[:, 0] = np.linalg.norm(X[:, :3, 3] - p, axis=1)
        if isinstance(goal, Placed):
            E = np.swapaxes(wanted[:, :3, :3], 1, 2) @ X[:, :3, :3]
            axis = np.stack([E[:, 2, 1] - E[:, 1, 2], E[:, 0, 2] - E[:, 2, 0], E[:, 1, 0] - E[:, 0, 1]], axis=1)
            trace = np.trace(E, axis1=1, axis2=2)
            out[:, 1] = np.arctan2(0.5 * np.linalg.norm(axis, axis=1), 0.5 * (trace - 1.0))
        return out
    aimed = (task if targets is None else replace(task, goal=goal.aimed(targets[i])) for i in range(len(Q)))
    return np.array([miss_of(figure, one, q) for one, q in zip(aimed, Q, strict=True)]).reshape(-1, 2)
