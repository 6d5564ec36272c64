"""Solve or prove: a local search from many starts, then branch and bound with relaxations that can refute.

The local search finds nearly every posture there is. Where it fails, the ranges of the joints are refuted box by box
(`proofs`): either the whole of them, then the problem is impossible and the certificate says why, or a box leads to a
posture after all. No more than `boxes` are looked at. IMPOSSIBLE is said only after the certificate has been
verified, in ball arithmetic, from the figure itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

from supple.basics.checks import check_fields, counted
from supple.geometry.placements import Floats
from supple.problem.allowance import FREELY, Allowance
from supple.problem.problem import Problem
from supple.problem.solution import Solution
from supple.solvers.base import Proving, Solver, checked_solver, insist
from supple.solvers.multistart import Multistart

QUICK = 16  # attempts of the local search before anything is proved


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
