"""From the targets that users give, one array for each task, to the numbers that kernels read.

The commonest, positions (3,) and placements (4, 4), are checked and copied by compiled code; a rotation that is orthonormal
to within rounding is taken as it is. Everything else goes through the goal's own `aimed`, which cleans it or refuses it by
name. Both ways give the same numbers, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from supple.basics.checks import items, numbers
from supple.errors import BadValue
from supple.kernels.compiling import entry_in
from supple.problem.goals import AimedAt, At, Placed
from supple.problem.problem import Problem
from supple.problem.task import Task

read_targets_entry = entry_in("supple.kernels.targets.read_targets_entry")


def own_numbers(task: Task) -> np.ndarray:
    """The numbers of a task's own targets."""
    return np.concatenate([np.empty(0), *(t.target for goal, _ in task.alternatives for t in goal.terms())])


class Slot:
    """Where the target of one task goes, and how."""

    def __init__(self, task: Task, at: int) -> None:
        self.task, self.at, self.own = task, at, own_numbers(task)
        self.count = len(self.own)
        goal = task.goal
        self.shape = (4, 4) if isinstance(goal, Placed) else (3,) if isinstance(goal, At | AimedAt) else None

    def write(self, target: Any, T: np.ndarray, row: int = 0) -> np.ndarray:
        """Write one target into a row of T and return a copy of it; refuse it by name if it is none."""
        array = np.array(numbers(target, f"the target of {self.task.name!r}"))
        if array.shape != self.shape or self.many(array[None], T, row) >= 0:
            T[row, self.at : self.at + self.count] = own_numbers(replace(self.task, goal=self.task.goal.aimed(array)))
        return array

    def reset(self, T: np.ndarray) -> None:
        """Write the task's own target."""
        T[0, self.at : self.at + self.count] = self.own

    def many(self, targets: np.ndarray, T: np.ndarray, first: int = 0) -> int:
        """Write targets (k, …) into rows of T; returns the first that needs a closer look, or −1."""
        return read_targets_entry(targets.reshape(len(targets), -1), T, first, self.at, self.count)


def slots(problem: Problem) -> tuple[Slot, ...]:
    """One slot for each task of a problem, in order."""
    out, at = [], 0
    for task in problem.tasks:
        out.append(Slot(task, at))
        at += out[-1].count
    return tuple(out)


def write_targets(slots: Sequence[Slot], target: Any, T: np.ndarray) -> list[Any]:
    """Write one target for each task (the bare array if there is one task) into the only row of T; copies of them.

    None keeps a task's own target, or those of all.
    """
    several = len(slots) != 1
    given = [None] * len(slots) if target is None else items(target, "the targets") if several else [target]
    if len(given) != len(slots):
        raise BadValue(f"the problem has {len(slots)} tasks but {len(given)} targets")
    pairs = zip(slots, given, strict=True)
    return [slot.reset(T) if one is None else slot.write(one, T) for slot, one in pairs]


def by_task(problem: Problem, targets: Any) -> tuple[Any, ...]:
    """One array of targets for each task, all of one length; None where a task keeps its own."""
    several = len(problem.tasks) != 1
    rows = items(targets, "the arrays of targets, one for each task,") if several else [targets]
    if len(rows) != len(problem.tasks):
        raise BadValue(f"the problem has {len(problem.tasks)} tasks but {len(rows)} arrays of targets")
    arrays = tuple(None if t is None else numbers(t, "targets") for t in rows)
    lengths = {len(t) for t in arrays if t is not None and t.ndim > 0}
    if len(lengths) != 1 or any(t is not None and t.ndim == 0 for t in arrays):
        raise BadValue(f"targets must be arrays of one length, not {sorted(lengths)}")
    return arrays


def flat_targets(problem: Problem, given: Sequence[Any], count: int | None = None) -> np.ndarray:
    """Targets as the kernels read them, a row for each; `count` of them if all tasks keep their own."""
    count = next((len(t) for t in given if t is not None), count)
    assert count is not None, "somebody must say how many"
    T = np.tile(problem.packed[2], (count, 1))
    for slot, targets in zip(slots(problem), given, strict=True):
        if targets is None:
            continue
        rows, done = np.array(targets), 0  # kernels are compiled for contiguous arrays that can be written
        while done < count:
            if rows.shape[1:] == slot.shape:
                next_one = slot.many(rows[done:], T, done)
                if next_one < 0:
                    break
                done += next_one
            try:
                slot.write(rows[done], T, done)
            except BadValue as error:
                raise BadValue(f"target {done} of {slot.task.name!r}: {error}") from error
            done += 1
    return T
