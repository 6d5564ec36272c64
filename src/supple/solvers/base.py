"""What every solver is, how it says what it cannot take, how a compiled loop is called, and what follows where it fails.

Every loop lies behind an entry ``(I, F, memory, T, Q, settings, report, trace, first, last)`` that solves rows first … last − 1
of Q in place; what it spends and why it ends go to report, its way down to trace (see `allowance`). A `Descent` is a record of
settings with such a loop: a method's file has its derivation, its kernels and its fields, and the rest is here.

Scratch begins with that of the evaluation, so that every kernel is given the whole of it and opens what is its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from supple.basics.checks import check_fields, flag, not_negative, whole
from supple.errors import BadValue, Refused, shown
from supple.geometry.placements import Floats
from supple.kernels.kinds import NEAR
from supple.kernels.opening import Scratch
from supple.problem.allowance import (
    BUDGET,
    EVALUATIONS,
    FREELY,
    ITERATIONS,
    REASON,
    SPENT,
    STATIONARY,
    Allowance,
)
from supple.problem.problem import Problem
from supple.problem.solution import OWN_STEPS, Solution, Status, audited

FURTHER = 60  # boxes for a problem that the default search did not solve
NO_WAY_ON = "The method found no way on"
STEPS, TOLERANCE, PATIENT, OWN = range(4)  # settings of every descent method; its own begin at OWN


class Solver(Protocol):
    """A frozen record of settings that turns a problem and a legal start into a solution."""

    def refuse(self, problem: Problem) -> list[str]:
        """The reasons why this solver cannot take the problem; none if it can."""
        ...

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Allowance = FREELY) -> Solution:
        """A legal posture with a truthful status, for no more than the allowance."""
        ...


def checked_solver(solver: Any) -> Any:
    """A solver, which is an object and not its class."""
    if isinstance(solver, type):
        raise BadValue(f"a solver is an object: write {solver.__name__}(), not {solver.__name__}")
    if not callable(getattr(solver, "refuse", None)) or not callable(getattr(solver, "solve", None)):
        raise BadValue(f"a solver is an object such as Newton() or Multistart(), not {shown(solver)}")
    return solver


def insist(solver: Solver, problem: Problem) -> None:
    """Raise if the solver refuses the problem."""
    reasons = solver.refuse(problem)
    if reasons:
        raise Refused(f"{type(solver).__name__} cannot take this problem: " + "; ".join(reasons))


def reasons_of_a_descent_method(problem: Problem, ranked: bool = False) -> list[str]:
    """What a method that only walks downhill on a sum of potentials cannot honour; if `ranked`, it takes hard tasks first."""
    reasons = [f"{task.name!r} is hard" for task in (*problem.tasks, *problem.loops) if task.hard and not ranked]
    if len({task.priority for task in problem.tasks}) > 1 and not ranked:
        reasons.append("its tasks have several priorities")
    if not ranked:
        reasons += [f"it keeps {task.name}" for task in problem.clear]
        reasons += [f"{task.name!r} is a preference" for task in problem.tasks if task.preference]
    return reasons


def is_patient(problem: Problem) -> float:
    """1 if the loop must go on when all tasks are met, because a preferred posture is still to be approached."""
    return float(any(kind == NEAR for kind in problem.kinds))


class Loop(NamedTuple):
    """A compiled loop: its entry, and the scratch that it works in."""

    entry: Callable[..., None]
    scratch: Scratch


@dataclass(frozen=True)
class Descent:
    """A method that goes from one posture to a better one; what its settings and its loop are, its own class says."""

    steps: int
    tolerance: float

    loop: ClassVar[Loop]

    def __post_init__(self) -> None:
        check_fields(self, steps=whole, tolerance=not_negative)

    def refuse(self, problem: Problem) -> list[str]:
        """The reasons why this method cannot take the problem: hard tasks, several priorities, obstacles."""
        return reasons_of_a_descent_method(problem)

    def own_settings(self) -> tuple[float, ...]:
        """Further numbers for the loop, in the order of their names in the method's file."""
        return ()

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Allowance = FREELY) -> Solution:
        """Go on from `start` until every task is met, nothing is left to gain, or the budget is spent."""
        insist(self, problem)
        I, F, T = problem.pack
        Q, report, page = problem.admitted(start).reshape(1, -1), allowance.report(), allowance.page()
        settings = np.array((self.steps, self.tolerance, is_patient(problem), *self.own_settings()), dtype=float)
        loop = type(self).loop
        memory = loop.scratch.fresh(I)
        with allowance.watched(report):
            loop.entry(I, F, memory, T[None], Q, settings, report, page, 0, 1)
        assert loop.scratch.intact(I, memory), "a kernel has written past a table"
        (row,) = report
        return answered(problem, Q[0], row, page, seed, allowance, own=bool(row[ITERATIONS] >= self.steps))


def answered(
    problem: Problem,
    q: Floats,
    spent: Sequence[float] | np.ndarray,
    page: np.ndarray,
    seed: int,
    allowance: Allowance,
    own: bool | None = None,
) -> Solution:
    """The solution for a posture that a compiled loop ended at, by its row of the report; the audit says what it is.

    `own`: the loop's own steps were used up; by default, if its budget was not.
    """
    ended = NO_WAY_ON
    own = bool(spent[EVALUATIONS] < spent[BUDGET]) if own is None else own
    if spent[REASON] == SPENT:
        ended = OWN_STEPS if own else allowance.ended(late=bool(spent[BUDGET] == 0.0))
    return audited(
        problem,
        q,
        bool(spent[REASON] == STATIONARY),
        ended,
        iterations=int(spent[ITERATIONS]),
        evaluations=int(spent[EVALUATIONS]),
        seed=seed,
        trace=allowance.traced(spent, page),
    )


# ── what becomes of what a search did not solve ────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True)
class Proving:
    """What becomes of what a search did not solve: decided in no more than `boxes` boxes, if that is asked for.

    A solver that was `named` in place of the default search has the last word.
    """

    asked: bool
    boxes: int = FURTHER
    named: str = ""

    @classmethod
    def by(cls, solver: Solver | None, prove: bool, problem: Problem) -> tuple[Solver | None, Proving]:
        """Who searches, None for the default, and what becomes of what it does not solve; to name `Decide` is to ask."""
        prove = flag(prove, "prove, whether what is not solved is decided,")
        if solver is None:
            return None, cls(prove)
        checked_solver(solver)
        from supple.solvers.decide import Decide

        if isinstance(solver, Decide):
            insist(solver, problem)
            return solver.solver, cls(True, solver.boxes)
        return solver, cls(prove, named=type(solver).__name__)

    def judged(self, local: Solution, allowance: Allowance = FREELY, deadline: float = np.inf) -> Solution:
        """A solution as it is; anything else tried again by single alternatives, then `decided`."""
        if not local.ok and not self.named and has_alternatives(local.problem):
            from supple.solvers.alternatives import tried_alone

            local = tried_alone(local, allowance, deadline)
        return self.decided(local, allowance, deadline)

    def decided(self, local: Solution, allowance: Allowance = FREELY, deadline: float = np.inf) -> Solution:
        """A solution as it is; anything else decided, or with the reason why it was not tried."""
        if local.ok or local.status is Status.IMPOSSIBLE:
            return local
        if not self.asked:
            return _untried(local, "nobody asked (prove=True does)")
        if self.named:
            return _untried(local, f"{self.named} was named, which proves nothing (Decide does)")
        if local.status is Status.STOPPED and local.evaluations >= allowance.evaluations:
            return _untried(local, "the search did not come to its end")
        from supple.solvers.deciding import decided  # proofs are many modules, which most answers need not

        return decided(local, self.boxes, deadline)


UNASKED = Proving(False)


def has_alternatives(problem: Problem) -> bool:
    """Whether some task that must be met has several goals to choose from."""
    return any(len(task.alternatives) > 1 for task in problem.tasks if not task.preference)


def _untried(local: Solution, why: str) -> Solution:
    return replace(local, reason=f"{local.reason} Whether it is impossible was not looked into: {why}.")
