"""What every solver is, and how it says what it cannot take."""

from __future__ import annotations

from typing import Protocol

from supple.errors import Refused
from supple.problem import Problem
from supple.solution import Solution
from supple.space import Floats


class Solver(Protocol):
    """A frozen record of settings that turns a problem and a legal start into a solution."""

    def refuse(self, problem: Problem) -> list[str]:
        """The reasons why this solver cannot take the problem; none if it can."""
        ...

    def solve(self, problem: Problem, start: Floats, seed: int = 0) -> Solution:
        """A legal posture with a truthful status."""
        ...


def insist(solver: Solver, problem: Problem) -> None:
    """Raise if the solver refuses the problem."""
    reasons = solver.refuse(problem)
    if reasons:
        raise Refused(f"{type(solver).__name__} cannot take this problem: " + "; ".join(reasons))


def reasons_of_a_descent_method(problem: Problem, ranked: bool = False) -> list[str]:
    """What a method that only walks downhill on a sum of potentials cannot honour; if `ranked`, it takes hard tasks first."""
    reasons = [f"{task.name!r} is hard" for task in problem.all_tasks if task.hard and not ranked]
    if len({task.priority for task in problem.tasks}) > 1 and not ranked:
        reasons.append("its tasks have several priorities")
    if problem.obstacles:
        reasons.append("it has obstacles")
    return reasons
