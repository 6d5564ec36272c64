"""Thousands of targets at once: the same problem, packed once, solved row by row in compiled code on several threads.

Row i of the answer equals the single solve of target i bit for bit, whatever the number of threads: every row begins at the
same start, with the same sequence of further starts, and shares nothing with the others.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.effectors import Direction, Frame, Point
from supple.errors import BadValue
from supple.goals import At, Placed
from supple.goals.base import numbers
from supple.problem import Problem, Task, miss_of
from supple.solution import Solution, Status, audited
from supple.solvers.base import Solver, insist
from supple.solvers.levenberg_marquardt import HARDNESS, MET, STATIONARY, LevenbergMarquardt, sampling_box, search_entry
from supple.solvers.multistart import Multistart
from supple.space import Floats

CHUNK = 32  # rows that a thread takes at a time


@dataclass(frozen=True, eq=False)
class Solutions:
    """The answers to many targets; ``solutions[i]`` is the single answer to target i."""

    problem: Problem
    targets: tuple[Any, ...]  # one array for each task, or None where the task's own target stands
    q: Floats  # (n, size)
    errors: Floats  # (n, tasks, 2): metres and radians, recomputed from the figure; closed loops last
    ok: np.ndarray  # (n) bool
    status: tuple[Status, ...]
    iterations: np.ndarray  # (n)
    evaluations: np.ndarray  # (n)
    seed: int = 0

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, i: int) -> Solution:
        i = range(len(self))[i]
        problem = self.problem.aimed(*(None if t is None else t[i] for t in self.targets))
        stationary = self.status[i] is Status.NEAREST
        counts = {"iterations": int(self.iterations[i]), "evaluations": int(self.evaluations[i]), "seed": self.seed}
        return audited(problem, self.q[i], stationary, **counts)


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
    chosen = _compiled(Multistart() if solver is None else solver)
    insist(chosen, problem)
    given = _by_task(problem, targets)
    T = _flat_targets(problem, given)
    figure = problem.figure
    assert problem.limits is not None
    first = problem.limits.project(figure.rest if start is None else figure.posture(start))
    Q, info = np.tile(first, (len(T), 1)), np.zeros((len(T), 5))
    workers = threads if threads is not None else os.cpu_count() or 1
    if workers < 1:
        raise BadValue(f"threads must be at least 1, not {threads}")
    box = sampling_box(problem, first, seed)
    _run(chosen, problem, problem.packed[1], T, Q, info, box, workers)
    if problem.has_hard:
        _harden(chosen, problem, T, Q, info, box, workers)
    return _checked(problem, given, Q, info, seed)


def _compiled(solver: Solver) -> LevenbergMarquardt:
    if isinstance(solver, Multistart) and isinstance(solver.solver, LevenbergMarquardt):
        return replace(solver.solver, attempts=solver.attempts)
    if isinstance(solver, LevenbergMarquardt):
        return solver
    raise BadValue(f"solve_many takes LevenbergMarquardt or Multistart of it, not {type(solver).__name__}")


def _by_task(problem: Problem, targets: Any) -> tuple[Any, ...]:
    """One array of targets for each task, all of one length."""
    several = len(problem.tasks) != 1
    rows = list(targets) if several else [targets]
    if len(rows) != len(problem.tasks):
        raise BadValue(f"the problem has {len(problem.tasks)} tasks but {len(rows)} arrays of targets")
    arrays = tuple(None if t is None else numbers(t, "targets") for t in rows)
    lengths = {len(t) for t in arrays if t is not None and t.ndim > 0}
    if len(lengths) != 1 or any(t is not None and t.ndim == 0 for t in arrays):
        raise BadValue(f"targets must be arrays of one length, not {sorted(lengths)}")
    return arrays


def _flat_targets(problem: Problem, given: Sequence[Any]) -> np.ndarray:
    """Targets as the kernels read them, a row for each."""
    count = next(len(t) for t in given if t is not None)
    columns = []
    for task, targets in zip(problem.all_tasks, (*given, *(None for _ in problem.loops)), strict=True):
        if targets is None:
            own = np.concatenate([np.empty(0), *(t.target for g, _ in task.alternatives for t in g.terms())])
            columns.append(np.tile(own, (count, 1)))
        else:
            columns.append(_columns(task, targets))
    return np.ascontiguousarray(np.hstack([np.empty((count, 0)), *columns]))


def _columns(task: Task, targets: np.ndarray) -> np.ndarray:
    """The numbers of one task's targets; whole arrays for the commonest goals, one by one for the others."""
    if isinstance(task.goal, At) and targets.shape[1:] == (3,) and np.isfinite(targets).all():
        return targets
    if isinstance(task.goal, Placed) and targets.shape[1:] == (4, 4) and np.isfinite(targets).all():
        R = targets[:, :3, :3]
        off = np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max(initial=0.0)
        last = np.abs(targets[:, 3] - (0.0, 0.0, 0.0, 1.0)).max(initial=0.0)
        if off <= 1e-15 and last == 0.0 and (np.linalg.det(R) > 0.0).all():
            return np.hstack([targets[:, :3, 3], R.reshape(-1, 9)])
    goals = []
    for i, target in enumerate(targets):
        try:
            goals.append(task.goal.aimed(target))
        except BadValue as error:
            raise BadValue(f"target {i} of {task.name!r}: {error}") from error
    aimed = [replace(task, goal=goal) for goal in goals]
    return np.array([np.concatenate([t.target for g, _ in one.alternatives for t in g.terms()]) for one in aimed])


def _run(
    solver: LevenbergMarquardt,
    problem: Problem,
    F: np.ndarray,
    T: np.ndarray,
    Q: np.ndarray,
    info: np.ndarray,
    box: np.ndarray,
    workers: int,
) -> None:
    """Solve all rows in place, each thread with scratch of its own."""
    I, settings = problem.packed[0], solver.settings()

    def work(first: int) -> None:
        scratch = solver.scratch(problem)
        for at in range(first * CHUNK, len(Q), workers * CHUNK):
            search_entry(I, F, scratch, T, Q, settings, box, info, at, min(at + CHUNK, len(Q)))

    if workers == 1:
        work(0)
        return
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, range(workers)))


def _harden(
    solver: LevenbergMarquardt,
    problem: Problem,
    T: np.ndarray,
    Q: np.ndarray,
    info: np.ndarray,
    box: np.ndarray,
    workers: int,
) -> None:
    """Where not everything could be met, hard tasks weigh ever more, as in a single solve."""
    left = np.flatnonzero(info[:, 3] != MET)
    once = solver.hardening
    rows, counts = np.ascontiguousarray(Q[left]), np.ascontiguousarray(info[left])
    for factor in HARDNESS:
        _run(once, problem, problem.hardened(factor), np.ascontiguousarray(T[left]), rows, counts, box, workers)
    Q[left], info[left] = rows, counts


def _checked(problem: Problem, given: tuple[Any, ...], Q: np.ndarray, info: np.ndarray, seed: int) -> Solutions:
    """The answers with their errors recomputed from the figure and a status that is true by them."""
    tasks = problem.all_tasks
    errors = np.zeros((len(Q), len(tasks), 2))
    for k, task in enumerate(tasks):
        errors[:, k] = _misses(problem, task, given[k] if k < len(given) else None, Q)
    fine = np.array([(task.tolerance, task.angle_tolerance) for task in tasks]).reshape(1, -1, 2)
    ok = np.asarray((errors <= fine).all(axis=(1, 2)))
    still = info[:, 3] == STATIONARY
    status = tuple(
        Status.SOLVED if a else Status.NEAREST if b else Status.STOPPED for a, b in zip(ok, still, strict=True)
    )
    for array in (Q, errors, ok):
        array.setflags(write=False)
    return Solutions(problem, given, Q, errors, ok, status, info[:, 0].astype(int), info[:, 1].astype(int), seed)


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
