"""Solutions: a posture, why the solver stopped, and the problem itself, so that anyone can audit the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from supple.basics.values import Value
from supple.geometry.placements import Floats
from supple.problem.goals import Miss
from supple.problem.problem import Problem
from supple.problem.task import met

JUMP = 0.5  # radians or metres that a coordinate moves from one target to the next when it has changed its branch


class Status(Enum):
    """Why a solver stopped."""

    SOLVED = "Every task is met to its tolerance."
    NEAREST = "No allowed move brings the goals nearer; not all tasks are met."
    STOPPED = "The budget came first; raise it or start nearer."
    IMPOSSIBLE = "No posture within the limits meets the tasks to their tolerances; a certificate is attached."


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Value):
    """The way down: after how many evaluations the objective had which value, from the start on."""

    evaluations: np.ndarray  # whole numbers, never falling
    value: Floats

    def __len__(self) -> int:
        return len(self.value)

    @classmethod
    def joined(cls, parts: Sequence[Trace]) -> Trace:
        """One after the other."""
        return cls(np.concatenate([p.evaluations for p in parts]), np.concatenate([p.value for p in parts]))

    def later(self, evaluations: int) -> Trace:
        """The same after some evaluations more."""
        return replace(self, evaluations=self.evaluations + evaluations)


@dataclass(frozen=True)
class Decision:
    """What it took to decide: boxes of joint ranges looked at, seconds of searching them, seconds of checking the proof."""

    boxes: int
    seconds: float = field(default=0.0, compare=False)  # the clock's: the same decision may take longer another time
    checking: float = field(default=0.0, compare=False)


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Value):
    """A posture inside the limits, and what is true of it. The quality is recomputed from the problem, not remembered.

    Every door answers with one. Those in a hurry leave fields to be made when somebody asks for them (`solved_by`).
    """

    problem: Problem
    q: Floats
    status: Status
    reason: str
    iterations: int = field(default_factory=int)  # factories leave nothing on the class: see __getattr__
    evaluations: int = field(default_factory=int)
    seed: int = field(default_factory=int)
    trace: Trace | None = None
    certificate: Any = None
    decision: Decision | None = None
    jumped: bool = field(default_factory=bool, compare=False)  # of an answer to a query with a start: see `Query`

    def __getattr__(self, name: str) -> Any:
        """A field that has been left for later, together with all others."""
        record = self.__dict__
        if name not in LATER or "_later" not in record:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        asked, *given = record["_later"]
        record.update({"jumped": False, **asked.told(*given)})
        return record[name]

    @cached_property
    def errors(self) -> tuple[Miss, ...]:
        """Metres and radians by which each task is missed, recomputed from the figure; closed loops last."""
        return self.problem.misses(self.q)

    @cached_property
    def clearances(self) -> tuple[Any, ...]:
        """How far each segment is from what it keeps clear of, the nearest first: rows (segment, other, distance, point,
        other_point), recomputed without kernels. Distances are in metres, below zero where bodies overlap."""
        from supple.problem.clearances import clearances_of

        return clearances_of(self.problem, self.q)

    @property
    def ok(self) -> bool:
        """Whether every task is met to its tolerance."""
        return self.status is Status.SOLVED

    @property
    def named(self) -> dict[str, float]:
        """The posture as numbers by the names of its coordinates."""
        return self.problem.figure.named(self.q)

    @property
    def unmet(self) -> tuple[str, ...]:
        """The names of the tasks that are not met."""
        pairs = zip(self.problem.all_tasks, self.errors, strict=True)
        return tuple(task.name for task, miss in pairs if not met(task, miss))

    @property
    def active(self) -> tuple[str, ...]:
        """The coordinates that stand at a limit."""
        figure, limits = self.problem.figure, self.problem.limits
        assert limits is not None
        return tuple(
            n
            for n, x, lo, hi in zip(figure.coordinates, self.q, limits.lower, limits.upper, strict=True)
            if x in (lo, hi)
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What this answer does not mean, one sentence each; see `Problem.notes`."""
        return self.problem.notes

    def report(self) -> str:
        """One page of plain text: the status, every task's error, the limits that hold, and the notes."""
        lines = [f"{self.status.name}: {self.reason}", f"{'task':32s} {'metres':>12s} {'radians':>12s}"]
        for task, miss in zip(self.problem.all_tasks, self.errors, strict=True):
            mark = "" if met(task, miss) else "   not met"
            lines.append(f"{task.name:32s} {miss.metres:12.3g} {miss.radians:12.3g}{mark}")
        lines.append(f"{self.iterations} iterations, {self.evaluations} evaluations")
        if self.active:
            lines.append("at their limits: " + ", ".join(self.active))
        return "\n".join([*lines, *self.notes])


LATER = ("problem", "status", "reason", "iterations", "evaluations", "seed", "jumped")


def solved_by(q: Floats, later: tuple[Any, ...]) -> Solution:
    """A solution that is known to be one; with ``later = (made, …)``, ``made.told(…)`` gives the missing fields (`LATER`)."""
    out = _new(Solution)
    record = out.__dict__
    record["q"], record["status"], record["_later"] = q, _SOLVED, later
    return out


def judged_later(q: Floats, later: tuple[Any, ...], iterations: int, evaluations: int) -> Solution:
    """A solution whose status nobody knows yet: ``made.told(…)`` finds it out when somebody asks, with the other fields."""
    out = _new(Solution)
    out.__dict__.update(q=q, iterations=iterations, evaluations=evaluations, _later=later)
    return out


_new, _SOLVED = object.__new__, Status.SOLVED
OWN_STEPS = "The solver's own steps were used up"


def audited(problem: Problem, q: Floats, stationary: bool, ended: str = OWN_STEPS, **more: Any) -> Solution:
    """The solution for a posture that a solver ended at, with a status that is true by an independent check.

    Where the goals are not met and the posture is not `stationary`, `ended` says what came first; `more` are further
    fields of `Solution`.
    """
    assert problem.limits is not None
    q = np.array(q)
    if not problem.limits.is_box and not problem.limits.contains(q):
        q = problem.admitted(q)
    q.setflags(write=False)
    draft = Solution(problem, q, Status.SOLVED, Status.SOLVED.value, **more)
    names = draft.unmet
    if not names:
        return draft
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    if stationary:
        return replace(
            draft, status=Status.NEAREST, reason=f"No allowed move brings the goals nearer; not met: {shown}."
        )
    return replace(draft, status=Status.STOPPED, reason=f"{ended} before the goals were met; not met: {shown}.")
