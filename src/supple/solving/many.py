"""Thousands of targets at once: the same problem, packed once, solved row by row in compiled code on several threads.

Row i of the answer equals the single solve of target i bit for bit, whatever the number of threads: every row begins at the
same start, with the same sequence of further starts, and shares nothing with the others.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import instance, one_of, seeded, whole
from supple.basics.stopping import Stop
from supple.basics.values import Value, read_only
from supple.errors import BadValue
from supple.figure.effectors import Direction, Frame, Point
from supple.geometry.placements import Floats
from supple.problem.allowance import BUDGET, EVALUATIONS, FREELY, ITERATIONS, TRIES, Allowance
from supple.problem.goals import At, Placed
from supple.problem.problem import Problem, Task, miss_of
from supple.problem.solution import Solution, Status
from supple.problem.targets import by_task, flat_targets
from supple.solvers.base import UNASKED, Proving, Solver
from supple.solvers.levenberg_marquardt.levenberg_marquardt import LevenbergMarquardt, SearchCall
from supple.solvers.multistart import compiled_for_many
from supple.solving.rows import NO_TIME, Rows

MOST_THREADS = 1024
CHUNK = 32  # rows that a thread takes at a time


@dataclass(frozen=True, eq=False, repr=False)
class Solutions(Value):
    """The answers to many targets; ``solutions[i]`` is the single answer to target i."""

    problem: Problem
    targets: tuple[Any, ...]  # one array for each task, or None where the task's own target stands
    q: Floats  # (n, size)
    status: tuple[Status, ...]  # why each search ended, or what was proved
    report: Floats = field(repr=False)  # (n, …) what the search tells of each row: see `meter`
    seed: int = 0
    proving: Proving = UNASKED
    proofs: Mapping[int, Solution] = field(default_factory=dict, repr=False)  # of the rows that were decided
    allowance: Allowance = FREELY  # the deadline of all together
    obstacles: Mapping[str, Floats] = field(default_factory=dict)  # where those were that move, (n, 4, 4) by name
    on_device: np.ndarray | None = None  # (n) which rows were solved on the device; None: there was none

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, i: int) -> Solution:
        i = range(len(self))[i]
        if i in self.proofs:
            return self.proofs[i]
        rows = Rows(self.problem, self.targets, np.empty(0), np.array(self.q), self.report, self.seed, self.proving)
        rows.allowance, rows.obstacles = self.allowance, self.obstacles
        found = rows.audited(i)
        if self.report[i, BUDGET] > 0.0:
            return self.proving.decided(found)
        if self.report[i, TRIES] == 0.0:
            found = replace(
                found, status=Status.STOPPED, reason=f"{self.allowance.ended(late=True)} before its turn came."
            )
        return replace(found, reason=f"{found.reason} {NO_TIME}") if self.proving.asked and not found.ok else found

    @cached_property
    def ok(self) -> np.ndarray:
        """Whether every task is met to its tolerance (n)."""
        return frozen_array([status is Status.SOLVED for status in self.status], bool)

    @cached_property
    def iterations(self) -> np.ndarray:
        """Steps that were taken (n)."""
        return frozen_array(self.report[:, ITERATIONS], int)

    @cached_property
    def evaluations(self) -> np.ndarray:
        """Evaluations that were made (n)."""
        return frozen_array(self.report[:, EVALUATIONS], int)

    @cached_property
    def errors(self) -> Floats:
        """Metres and radians (n, tasks, 2) by which each task is missed, recomputed from the figure; closed loops last."""
        if self.obstacles:
            return read_only(np.array([[(m.metres, m.radians) for m in one.errors] for one in self]))
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
    deadline: float | None = None,
    cluster: Any = None,
    obstacles: Any = None,
) -> Solutions:
    """Solve a problem for many targets.

    `targets` is one array (n, …) if the problem has one task, else a list of one for each task, None where a task keeps its
    own target. The shapes are those of single targets: (n, 3) for `At` and `AimedAt`, (n, 4, 4) for `Placed`, (n, 2, 3) for
    lines, planes and half-spaces. `solver` is `LevenbergMarquardt`, or `Multistart` of it, which is the default. With `prove`
    what the search does not solve is decided, as by `solve`; ``solutions[i].certificate`` is the proof. `start` is where all
    rows begin, or one posture for each (n, size).

    Rows that are not solved when the `deadline` [s] passes are STOPPED. Ctrl-C raises `Interrupted`. `cluster` is a
    ``distributed.Client``: its workers solve the rows, with the same answers, and know no deadline. `obstacles` says where
    those are that move (`Moving`), by name: a placement for all rows, or one for each (n, 4, 4).

    With ``device="cuda"`` (extra `cuda`) a GPU searches first, with a loop of its own, which begins at `start` and
    takes trees, ranges, free roots, and goals of places, orientations and directions; what it leaves, or does not
    take, is searched for here, and ``solutions.on_device`` says which rows were solved there.
    """
    stop = Stop(deadline)
    instance(problem, Problem, "what solve_many() takes first")
    one_of(device, ("cpu", "cuda"), "the device")
    seed, workers = seeded(seed), os.cpu_count() or 1
    if threads is not None:
        workers = whole(threads, "threads, how many work at a time,", 1, MOST_THREADS)
    searching, proving = Proving.by(solver, prove, problem)
    chosen = compiled_for_many(searching, problem)
    given = by_task(problem, targets)
    T = flat_targets(problem, given)
    if cluster is not None and len(T):
        if deadline is not None or threads is not None:
            raise BadValue("threads= and deadline= are for this machine: leave them out where cluster= is given")
        from supple.solving.spread import spread

        if not (start is None or isinstance(start, Mapping)) and np.ndim(start) > 1:
            raise BadValue("a start for each row is for this machine: give one start for all where cluster= is given")
        if obstacles is not None:
            raise BadValue("obstacles= are for this machine: leave them out where cluster= is given")
        options = {"start": start, "solver": solver, "seed": seed, "prove": prove}
        return Solutions(**spread(cluster, solve_many, problem, given, options))
    first = _starts(problem, start, len(T))
    rows = Rows(problem, given, T, np.array(first), FREELY.report(len(T)), seed, proving)
    if obstacles is not None:
        rows.move(obstacles)
    on_device = _searched(chosen, rows, None if device == "cpu" else (start, solver), workers, stop)
    rows.settle(first, stop)
    return stop.conclude(
        rows.done, len(T), "targets", lambda: Solutions(**_judged(rows, workers, stop), on_device=on_device)
    )


def _starts(problem: Problem, start: Any, count: int) -> Floats:
    """Where each row begins (count, size)."""
    figure = problem.figure
    q = figure.rest if start is None else figure.posture(start, many=True)
    if q.ndim == 1:
        return np.tile(problem.admitted(q), (count, 1))
    if len(q) != count:
        raise BadValue(f"there are {count} targets but {len(q)} starts; give one start, or one for each")
    return np.array([problem.admitted(one) for one in q]).reshape(count, figure.size)


def _judged(rows: Rows, workers: int, stop: Stop) -> dict[str, Any]:
    """The fields of `Solutions`: rows that the search is not sure of are audited and, while there is time, decided."""
    unsure = np.flatnonzero(~rows.sure(0, len(rows.Q)) & rows.begun).tolist()
    if rows.slow:

        def judge(some: list[int]) -> None:
            for i in some:
                if stop.asked:
                    return
                rows.judge(i, stop)

        stop.run([partial(judge, unsure[k::workers]) for k in range(workers)], lambda: None)
    for i in unsure:
        if i not in rows.proofs:
            rows.judge(i, stop)
    return rows.told()


def frozen_array(values: Any, dtype: Any) -> np.ndarray:
    """A read-only array."""
    out = np.array(values, dtype=dtype)
    out.setflags(write=False)
    return out


def _run(solver: LevenbergMarquardt, problem: Problem, rows: Rows, workers: int, stop: Stop) -> None:
    """Solve all rows in place, each thread with a call of its own."""
    chunk = max(1, min(CHUNK, len(rows.Q) // workers))

    def work(first: int) -> None:
        call = SearchCall(problem, solver.settings(), rows.seed, rows.report)
        for at in range(first * chunk, len(rows.Q), workers * chunk):
            if stop.asked:
                return
            rows.run(call, at, min(at + chunk, len(rows.Q)))

    stop.run([partial(work, first) for first in range(workers)], rows.halt)


def _searched(
    solver: LevenbergMarquardt, rows: Rows, there: tuple[Any, Any] | None, workers: int, stop: Stop
) -> np.ndarray | None:
    """Search for all rows, in place, those that a device leaves too; which it solved, if there is one (a start, a solver)."""
    if there is None:
        _run(solver, rows.problem, rows, workers, stop)
        return None
    from supple.solving.on_device import solve_on_device

    done = solve_on_device(rows, *there)
    left = np.flatnonzero(~done)
    if len(left) == len(done):
        _run(solver, rows.problem, rows, workers, stop)
    elif len(left):
        some = tuple(None if t is None else t[left] for t in rows.targets)
        part = Rows(rows.problem, some, rows.T[left], rows.Q[left], rows.report[left], rows.seed, rows.proving)
        _run(solver, rows.problem, part, workers, stop)
        rows.Q[left], rows.report[left], rows.late[left] = part.Q, part.report, part.late
    return done


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
