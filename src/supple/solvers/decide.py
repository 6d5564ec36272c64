"""Solve or prove: a local search from many starts, then branch and bound with relaxations that can refute.

The local search finds nearly every posture there is. Where it fails, the chain's ranges are refuted box by box
(`deciding`): either the whole of them, then the pose is impossible and the certificate says why, or a box leads to a
posture after all. No more than `boxes` are looked at. IMPOSSIBLE is said only after the certificate has been
verified, in ball arithmetic, from the figure itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from supple.deciding.balls import need_flint
from supple.deciding.branching import searched
from supple.deciding.certificate import Certificate
from supple.deciding.chain import Chain, query_of
from supple.errors import BadValue, MissingExtra
from supple.problem import Problem, Task
from supple.solution import Solution, Status
from supple.solvers.base import Solver, insist
from supple.solvers.levenberg_marquardt import LevenbergMarquardt
from supple.solvers.meter import FREELY, Allowance
from supple.solvers.multistart import Multistart
from supple.space import Floats


@dataclass(frozen=True)
class Decide:
    """Search with a local `solver`, then prove, in no more than `boxes` boxes of joint ranges.

    It decides the placement of one frame by a chain of 4 to 8 hinges with a range each, inside any figure.
    """

    solver: Solver = field(default_factory=Multistart)
    boxes: int = 200

    def __post_init__(self) -> None:
        if self.boxes < 1:
            raise BadValue(f"Decide needs at least one box, not {self.boxes}")

    def refuse(self, problem: Problem) -> list[str]:
        """What cannot be decided, and what the local solver refuses."""
        query = query_of(problem)
        return self.solver.refuse(problem) + ([f"it cannot be decided: {query}"] if isinstance(query, str) else [])

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Allowance = FREELY) -> Solution:
        """A posture, or a proof that there is none, or the nearest posture if the boxes do not suffice."""
        insist(self, problem)
        query, local = query_of(problem), self.solver.solve(problem, start, seed, allowance)
        if local.ok or isinstance(query, str):
            return local
        try:
            need_flint()
        except MissingExtra as error:
            return replace(local, reason=f"{local.reason} Whether it is impossible cannot be proved: {error}.")
        return decided(problem, query, local, self.boxes)


def decided(problem: Problem, query: tuple[Chain, Task], local: Solution, boxes: int) -> Solution:
    """What branch and bound makes of a search that failed."""
    chain, task = query
    goal: Any = task.goal
    at = [problem.figure.joints.index(name) for name in chain.names]
    own = LevenbergMarquardt()

    def reach(guess: Floats) -> Floats | None:
        q = np.array(local.q)
        q[at] = guess
        found = own.solve(problem, problem.admitted(q))
        return found.q[at] if found.ok else None

    outcome = searched(chain, goal.at, (task.tolerance, task.angle_tolerance), boxes, reach)
    if outcome.q is not None:
        q = np.array(local.q)
        q[at] = outcome.q
        return own.solve(problem, problem.admitted(q))
    if outcome.proof is None:
        reason = f"{local.reason} Whether one could be met was not decided in {outcome.boxes} boxes of joint ranges."
        return replace(local, reason=reason)
    certificate = Certificate(chain, goal.at, task.tolerance, task.angle_tolerance, outcome.proof)
    if not certificate.verify():
        return replace(local, reason=f"{local.reason} A proof that none could be met did not stand up to its check.")
    return replace(local, status=Status.IMPOSSIBLE, reason=certificate.explain(), certificate=certificate)
