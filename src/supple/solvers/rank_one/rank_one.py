"""Rank minimisation over a convex relaxation (Wu and Tron, IKSPARK, 2025): no start, no descent in angles.

The rotations of a figure's bodies are lifted to positive semidefinite matrices of fixed trace (`coordinates.lifted`); without
the condition that these have rank one everything is linear or a cone. The relaxed problem is solved by Clarabel
(`cone_program`), then the rank is brought down (`rank_one_search`), then joint coordinates are read from the rotations, and a
local solver takes them to the last digit. Where the relaxation is infeasible there is no posture, if the cone solver is
right; its word is a hint and no proof (`Decide` proves).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any, Protocol

import numpy as np

from supple.basics.checks import check_fields, flag, number, one_of, positive, whole
from supple.errors import Refused
from supple.geometry.placements import Floats
from supple.problem.allowance import FREELY, Allowance
from supple.problem.problem import Problem
from supple.problem.solution import Solution, Status, Trace, audited
from supple.solvers.base import Solver, checked_solver, insist
from supple.solvers.levenberg_marquardt.levenberg_marquardt import LevenbergMarquardt
from supple.solvers.rank_one.conditions import checked_rows
from supple.solvers.rank_one.cone_program import Answer, ConeProgram, need_clarabel
from supple.solvers.rank_one.posture import Reader
from supple.solvers.rank_one.relaxed_set import misses, relaxed_set
from supple.solvers.rank_one.search import SOFTER, Attempt, Purse, Search
from supple.solvers.rank_one.targets import reasons, targets_of
from supple.solvers.rank_one.variables import Cone, Lifted

HINT = "The relaxation is infeasible, which is a hint and no proof: use Decide"
LIMITS = ("two axes", "cone", "planes")
KEPT = 16  # relaxations that are remembered
CLOSED = 1e-11  # to what a local solver closes loops [m and rad], whose tolerance nobody can state
_known: dict[Any, Relaxation] = {}  # the last few, by all that they depend on
_keeping = Lock()


class Rows(Protocol):
    """Further cones on a figure's lifted variables: obstacles, contacts, continuity."""

    def keep(self, problem: Problem) -> Sequence[str]:
        """Segments whose places it needs."""
        ...

    def cones(self, lifted: Lifted) -> tuple[Sequence[Cone], int]:
        """Its cones, and how many variables of its own they have behind those of the figure."""
        ...

    def push(self, x: Floats) -> Floats:
        """A linear cost at a point of all variables, added to that of Problem 3, such as (72)."""
        ...


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The structure of a relaxed problem: built once for a figure and its kinds of tasks, whatever the targets."""

    lifted: Lifted
    program: ConeProgram

    @classmethod
    def of(
        cls,
        problem: Problem,
        lift: str,
        given: bool,
        bounds: tuple[Floats, Floats],
        rows: Rows | None = None,
        limits: str = LIMITS[0],
    ) -> Relaxation:
        """Of a problem; with `given`, its targets are equations, else they are the cost (37)."""
        lifted = Lifted.of(problem, lift, given, () if rows is None else rows.keep(problem), bounds)
        cones, size = relaxed_set(lifted, limits), lifted.size
        if rows is not None:
            more, variables = rows.cones(lifted)
            cones, size = [*cones, *more], size + variables
        costs = []
        if not given:
            costs = [np.sqrt(aim.weight) * E for aim in lifted.aims for E in misses(lifted, aim)]
        return cls(lifted, ConeProgram.of(size, lifted.parameters, cones, costs))


@dataclass(frozen=True)
class RankOne:
    """The convex relaxation, rank minimisation with restarts, then a local solver from the posture found.

    For figures of hinges, balls and slides, trees and closed loops, and the goals At, Facing and Placed. The three angles
    of a ball without limits are one rotation; with limits they are three hinges.
    """

    lift: str = "quaternion"  # or "rotation"
    adaptive: bool = False  # Problem 4 instead of 3: targets in the cost, for those that may be out of reach
    steps: int = 50  # of one descent in rank
    restarts: int = 10
    tolerance: float = 1e-6  # on second eigenvalues
    factor: float = 0.1  # c of Problem 4
    softer: int = SOFTER  # how often c may move towards 1
    polish: Solver | None = field(default_factory=LevenbergMarquardt)
    rows: Rows | None = None
    limits: str = LIMITS[0]  # how ranges of hinges are stated: see `relaxed_set`; "planes" are the paper's own
    each: bool = False  # a condition of Problem 4 for every matrix, as in the paper, instead of one for their sum

    def __post_init__(self) -> None:
        one_of(self.lift, ("quaternion", "rotation"), "the lift of RankOne")
        one_of(self.limits, LIMITS, "the limits of RankOne")
        check_fields(self, each=flag, adaptive=flag, steps=whole, restarts=whole, softer=whole, tolerance=positive)
        check_fields(self, factor=partial(number, above=0.0, below=1.0))
        if self.polish is not None:
            checked_solver(self.polish)
        if self.rows is not None:
            checked_rows(self.rows, "the rows of RankOne")

    def refuse(self, problem: Problem) -> list[str]:
        """Goals and joints that are not linear in rotations, and what the local solver refuses."""
        limits = problem.limits
        assert limits is not None
        out = [reason for task in problem.tasks for reason in reasons(task)]
        if self.rows is None:
            out += [f"it keeps {task.name}" for task in problem.clear]
        if not limits.is_box:
            out.append("its limits are more than a range for each coordinate")
        if not out:
            try:
                self.relaxation(problem, not self.adaptive)
            except Refused as error:
                out.append(str(error))
        return out + ([] if self.polish is None else [r for r in self.polish.refuse(problem) if r not in out])

    def relaxation(self, problem: Problem, given: bool, start: Floats | None = None) -> Relaxation:
        """The relaxed problem's structure, one of the last few if such a problem has been seen before.

        Coordinates that may not move, because they are locked or outside of the tasks' chains, stay as in `start`.
        """
        limits = problem.limits
        assert limits is not None
        held = np.asarray(problem.rigidity) == 1.0
        if any(task.chain is not None for task in problem.tasks):
            held |= problem.free == 0.0
        where = problem.admitted(problem.figure.rest) if start is None else start
        bounds = np.where(held, where, limits.lower), np.where(held, where, limits.upper)
        tasks = tuple((*_shape(task.effector), *_goal(task.goal), task.weight) for task in problem.tasks)
        key = (problem.figure, self.lift, self.limits, given, self.rows, tasks, *(bound.tobytes() for bound in bounds))
        with _keeping:
            known = _known.get(key)
        if known is None:
            known = Relaxation.of(problem, self.lift, given, bounds, self.rows, self.limits)
            with _keeping:
                while len(_known) >= KEPT:
                    _known.pop(next(iter(_known)))
                _known[key] = known
        return known

    def search(self, problem: Problem, given: bool, purse: Purse, start: Floats | None = None) -> tuple[Search, Reader]:
        """The relaxed problem with the numbers of its targets, and what reads postures from its variables."""
        relaxation, parameters = self.relaxation(problem, given, start), targets_of(problem)
        posed, push = relaxation.program.at(parameters), None if self.rows is None else self.rows.push
        found = Search(relaxation.lifted, parameters, posed, purse, self.steps, self.tolerance, push)
        return found, Reader.of(relaxation.lifted, parameters)

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Allowance = FREELY) -> Solution:
        """A posture whose errors are recomputed from the figure; `start` says where coordinates are that may not move."""
        need_clarabel()
        insist(self, problem)
        search, reader = self.search(problem, not self.adaptive, Purse(allowance), start)
        answer = search.relaxed()
        if answer.x is None:
            return self._infeasible(problem, start, seed, search.purse, answer)
        best: Solution | None = None
        steps = 0
        for attempt in self._attempts(search, answer.x, seed):
            steps += attempt.steps
            found = self._polished(problem, reader.read(attempt.x, start), seed, search.purse, attempt)
            if best is None or problem.value(found.q) < problem.value(best.q):
                best = found
            if found.ok or search.purse.empty:
                break
        assert best is not None
        return replace(best, iterations=steps, evaluations=search.purse.solves)

    def _attempts(self, search: Search, x: Floats, seed: int) -> Iterable[Attempt]:
        if self.adaptive:
            return [search.adapt(x, self.factor, self.softer, self.each)]
        return search.attempts(x, self.restarts, seed)

    def _polished(self, problem: Problem, q: Floats, seed: int, purse: Purse, attempt: Attempt | None) -> Solution:
        """The local solver's answer from q, or q itself; what was spent before counts."""
        q, left = problem.admitted(q), purse.left
        if self.polish is None or left is None:
            ended = "The posture was read from the relaxation"
            if left is None:
                ended = purse.ended
            elif attempt is not None and attempt.spectrum.rank_gap > self.tolerance:
                ended = f"The rank stayed above one (second eigenvalue {attempt.spectrum.rank_gap:.2g})"
            trace = Trace(np.array([purse.solves]), np.array([problem.value(q)])) if purse.allowance.trace else None
            return audited(problem, q, False, ended, evaluations=purse.solves, seed=seed, trace=trace)
        before = purse.solves
        found = self.polish.solve(_closed(problem), q, seed, left)
        purse.solves += found.evaluations
        stationary, ended = found.status is Status.NEAREST, found.reason.partition(" before")[0]
        trace = None if found.trace is None else found.trace.later(before)
        if purse.left is None:
            ended = purse.ended
        return audited(problem, found.q, stationary, ended, evaluations=purse.solves, seed=seed, trace=trace)

    def _infeasible(self, problem: Problem, start: Floats, seed: int, purse: Purse, answer: Answer) -> Solution:
        """Where the cone solver finds nothing: what it means, and a posture near the relaxed one that misses least."""
        found = self._polished(problem, self._nearest(problem, start, purse), seed, purse, None)
        if found.ok or purse.left is None:
            return found
        missed = f"not met: {', '.join(found.unmet)}."
        if answer.infeasible:
            return replace(found, status=Status.NEAREST, reason=f"{HINT}; {missed}")
        return replace(found, reason=f"The cone solver gave no answer ({answer.status}); {missed}")

    def _nearest(self, problem: Problem, start: Floats, purse: Purse) -> Floats:
        """A posture near the relaxed one that misses the targets least; the start, where that cannot be had."""
        if purse.empty:
            return start
        try:
            search, reader = self.search(problem, False, purse, start)
        except Refused:  # a slide without limits is linear only along a direction that the target gives
            return start
        x = search.relaxed().x
        return start if x is None else reader.read(x, start)


def _closed(problem: Problem) -> Problem:
    """The problem with loops that must close to the last digits, in the charts that its figure has by now."""
    if not problem.loops and type(problem) is Problem:
        return problem
    return Problem(problem.figure, problem.tasks, problem.limits, problem.rigidity, problem.obstacles, problem.clearance,
                   loop_tolerance=CLOSED)  # fmt: skip


def _shape(effector: Any) -> tuple[Any, ...]:
    """What a structure depends on of an effector."""
    if hasattr(effector, "a"):
        return (*_shape(effector.a), *_shape(effector.b))
    return (type(effector).__name__, effector.segment, effector.frame.tobytes())


def _goal(goal: Any) -> tuple[Any, ...]:
    """What a structure depends on of a goal."""
    given = tuple(getattr(goal, name, None) is not None for name in ("x", "y", "matrix"))
    return (type(goal).__name__, goal.relative_to, given)
