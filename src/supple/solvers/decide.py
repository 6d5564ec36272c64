"""Solve or prove: a local search from many starts, then branch and bound with relaxations that can refute.

The local search finds nearly every posture there is. Where it fails, the ranges of the joints are refuted box by box
(`proofs`): either the whole of them, then the problem is impossible and the certificate says why, or a box leads to a
posture after all. No more than `boxes` are looked at. IMPOSSIBLE is said only after the certificate has been
verified, in ball arithmetic, from the figure itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import monotonic

import numpy as np

from supple.basics.checks import check_fields, counted, flag
from supple.geometry.placements import Floats
from supple.problem.allowance import FREELY, Allowance
from supple.problem.problem import Problem
from supple.problem.solution import Solution, Status
from supple.solvers.base import Solver, checked_solver, insist
from supple.solvers.multistart import Multistart

QUICK = 16  # attempts of the local search before anything is proved
FURTHER = 60  # boxes for a problem that the default search did not solve


@dataclass(frozen=True)
class Decide:
    """Search with a local `solver`, then prove, in no more than `boxes` boxes of joint ranges.

    It decides poses and points of frames by chains of up to 8 hinges and slides with a range each, inside any figure: one
    or several, with joints in common or without, closed loops, and bodies that keep clear; and, where more joints move them,
    what pulls on all of them refute. A task that it cannot decide is
    left to the local solver: the others may still be proved impossible.
    """

    solver: Solver = field(default_factory=lambda: Multistart(attempts=QUICK))
    boxes: int = 400

    def __post_init__(self) -> None:
        checked_solver(self.solver)
        check_fields(self, boxes=counted)

    def refuse(self, problem: Problem) -> list[str]:
        """What cannot be decided, and what the local solver refuses."""
        from supple.solvers.deciding import undecidable

        why = undecidable(problem)
        return [*self.solver.refuse(problem), *([f"it cannot be decided: {why}"] if why else [])]

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Allowance = FREELY) -> Solution:
        """A posture, or a proof that there is none, or the nearest posture if the boxes do not suffice."""
        insist(self, problem)
        begun = monotonic()
        local = self.solver.solve(problem, start, seed, allowance)
        return Proving(True, self.boxes).judged(local, allowance, begun + allowance.seconds)


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
        if solver is not None:
            checked_solver(solver)
        if isinstance(solver, Decide):
            insist(solver, problem)
            return solver.solver, cls(True, solver.boxes)
        return solver, cls(prove, named="" if solver is None else type(solver).__name__)

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
