"""Thousands of targets at once: the same problem, packed once, solved row by row in compiled code on several threads.

Row i of the answer equals the single solve of target i bit for bit, whatever the number of threads: every row begins at the
same start, with the same sequence of further starts, and shares nothing with the others.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.effectors import Direction, Frame, Point
from supple.errors import BadValue
from supple.goals import At, Placed
from supple.problem import Problem, Task, miss_of
from supple.solution import Solution, Status
from supple.solvers.base import Solver, answered
from supple.solvers.decide import UNASKED, Proving
from supple.solvers.desk import desk
from supple.solvers.levenberg_marquardt import LevenbergMarquardt
from supple.solvers.meter import EVALUATIONS, FREELY, ITERATIONS, MET, REASON
from supple.solvers.multistart import compiled_for_many
from supple.solvers.search import search_entry
from supple.solvers.verdict import sure_within
from supple.space import Floats
from supple.targets import by_task, flat_targets
from supple.values import Value

CHUNK = 32  # rows that a thread takes at a time
NO_PAGE = FREELY.page()


@dataclass(frozen=True, eq=False, repr=False)
class Solutions(Value):
    """The answers to many targets; ``solutions[i]`` is the single answer to target i."""

    problem: Problem
    targets: tuple[Any, ...]  # one array for each task, or None where the task's own target stands
    q: Floats  # (n, size)
    status: tuple[Status, ...]  # why each search ended, or what was proved
    info: Floats = field(repr=False)  # (n, …) what the search tells of each row: see `meter`
    seed: int = 0
    proving: Proving = UNASKED
    proofs: Mapping[int, Solution] = field(default_factory=dict, repr=False)  # of the rows that were decided

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, i: int) -> Solution:
        i = range(len(self))[i]
        if i in self.proofs:
            return self.proofs[i]
        rows = Rows(self.problem, self.targets, np.empty(0), np.array(self.q), self.info, self.seed, self.proving)
        return self.proving.judged(rows.audited(i))

    @cached_property
    def ok(self) -> np.ndarray:
        """Whether every task is met to its tolerance (n)."""
        return frozen_array([status is Status.SOLVED for status in self.status], bool)

    @cached_property
    def iterations(self) -> np.ndarray:
        """Steps that were taken (n)."""
        return frozen_array(self.info[:, ITERATIONS], int)

    @cached_property
    def evaluations(self) -> np.ndarray:
        """Evaluations that were made (n)."""
        return frozen_array(self.info[:, EVALUATIONS], int)

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
    prove: bool = False,
) -> Solutions:
    """Solve a problem for many targets.

    `targets` is one array (n, …) if the problem has one task, else a list of one for each task, None where a task keeps its
    own target. The shapes are those of single targets: (n, 3) for `At` and `AimedAt`, (n, 4, 4) for `Placed`, (n, 2, 3) for
    lines, planes and half-spaces. `solver` is `LevenbergMarquardt`, or `Multistart` of it, which is the default. With `prove`
    what the search does not solve is decided, as by `solve`; ``solutions[i].certificate`` is the proof.
    """
    if device != "cpu":
        raise BadValue(f"targets are solved on the device 'cpu', not {device!r}")
    workers = threads if threads is not None else os.cpu_count() or 1
    if workers < 1:
        raise BadValue(f"threads must be at least 1, not {threads}")
    searching, proving = Proving.by(solver, prove, problem)
    chosen = compiled_for_many(searching, problem)
    given = by_task(problem, targets)
    T = flat_targets(problem, given)
    figure = problem.figure
    first = problem.admitted(figure.rest if start is None else figure.posture(start))
    rows = Rows(problem, given, T, np.tile(first, (len(T), 1)), FREELY.info(len(T)), seed, proving)
    _run(chosen, problem, T, rows.Q, rows.info, seed, workers)
    unsure = np.flatnonzero(~rows.sure(0, len(T))).tolist()
    if proving.asked and workers > 1:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(rows.judge, unsure))
    else:
        for i in unsure:
            rows.judge(i)
    return Solutions(**rows.told())


def frozen_array(values: Any, dtype: Any) -> np.ndarray:
    """A read-only array."""
    out = np.array(values, dtype=dtype)
    out.setflags(write=False)
    return out


class Rows:
    """The rows of a batch while they are searched for and judged."""

    def __init__(
        self,
        problem: Problem,
        targets: tuple[Any, ...],
        T: np.ndarray,
        Q: np.ndarray,
        info: np.ndarray,
        seed: int,
        proving: Proving,
        bound: bool = False,
    ) -> None:
        self.problem, self.targets, self.T, self.Q, self.info = problem, targets, T, Q, info
        self.seed, self.proving, self.bound = seed, proving, bound
        self.status = [Status.SOLVED] * len(Q)
        self.proofs: dict[int, Solution] = {}

    @cached_property
    def within(self) -> float:
        """The size of numbers up to which the search is sure of what it says."""
        return sure_within(self.problem)

    def sure(self, first: int, last: int) -> np.ndarray:
        """Whether the search is sure that it met every task, of rows first … last − 1."""
        Q, limits = self.Q[first:last], self.problem.limits
        assert limits is not None
        sure = self.info[first:last, REASON] == MET
        if self.within < np.inf:
            T = self.T[first:last]
            sizes = np.maximum(np.abs(Q).max(axis=1, initial=0.0), np.abs(T).max(axis=1, initial=0.0))
            sure = sure & (sizes <= self.within)
        return sure if limits.is_box else sure & [limits.contains(q) for q in Q]

    def audited(self, i: int) -> Solution:
        """The answer to row i as the search left it, with a status that is true."""
        problem = self.problem.aimed(*(None if t is None else t[i] for t in self.targets))
        return answered(problem, self.Q[i], self.info[i], NO_PAGE, self.seed, FREELY)

    def judge(self, i: int) -> bool:
        """Audit row i and, if that is asked for, decide it; whether its posture is another one now.

        Rows that are `bound` to go no further than their speeds allow keep their posture.
        """
        found = self.audited(i)
        if self.proving.asked and not found.ok:
            local, found = found, self.proving.judged(found)
            if self.bound and found.ok:
                found = replace(local, reason=f"{local.reason} A posture that meets them is too far for one step.")
            self.proofs[i] = found
        moved = not np.array_equal(self.Q[i], found.q)
        self.Q[i], self.status[i] = found.q, found.status
        self.info[i, [ITERATIONS, EVALUATIONS]] = found.iterations, found.evaluations
        return moved

    def told(self) -> dict[str, Any]:
        """The fields of `Solutions`."""
        for array in (self.Q, self.info):
            array.setflags(write=False)
        return {
            "problem": self.problem,
            "targets": self.targets,
            "q": self.Q,
            "status": tuple(self.status),
            "info": self.info,
            "seed": self.seed,
            "proving": self.proving,
            "proofs": self.proofs,
        }


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
    I, F, _ = problem.pack
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
