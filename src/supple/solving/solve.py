"""The front door: pose a figure."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import counted, seeded
from supple.errors import BadValue, shown
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.problem.allowance import Allowance
from supple.problem.goals import At, Placed
from supple.problem.problem import Problem, Task
from supple.problem.solution import Solution
from supple.solvers.base import Proving, Solver, checked_solver
from supple.solvers.levenberg_marquardt.levenberg_marquardt import default_solver
from supple.solving.prepare import Query, prepare

REMEMBERED = 32  # short forms that are kept prepared


@overload
def solve(
    problem: Problem | Figure, *more: Any, start: ArrayLike | None = ..., solver: Solver | None = ..., seed: int = ...,
    prove: bool = ..., distinct: Literal[None] = ..., budget: int | None = ..., deadline: float | None = ...,
    trace: bool = ..., tolerance: float | None = ..., angle_tolerance: float | None = ...,
) -> Solution: ...  # fmt: skip


@overload
def solve(
    problem: Problem | Figure, *more: Any, start: ArrayLike | None = ..., solver: Solver | None = ..., seed: int = ...,
    prove: bool = ..., distinct: int, budget: int | None = ..., deadline: float | None = ..., trace: bool = ...,
    tolerance: float | None = ..., angle_tolerance: float | None = ...,
) -> tuple[Solution, ...]: ...  # fmt: skip


def solve(
    problem: Problem | Figure,
    *more: Any,
    start: ArrayLike | None = None,
    solver: Solver | None = None,
    seed: int = 0,
    prove: bool = True,
    distinct: int | None = None,
    budget: int | None = None,
    deadline: float | None = None,
    trace: bool = False,
    tolerance: float | None = None,
    angle_tolerance: float | None = None,
) -> Solution | tuple[Solution, ...]:
    """The posture that meets the tasks, or the nearest legal one with the reason why it does not.

    ``solve(problem)`` or ``solve(problem, start)``; short form ``solve(figure, {"hand": goal})`` for goals on the frames
    of segments. A `start` outside the limits is projected onto them. Not reaching a goal is no error: see `Solution.status`.
    Where the default search fails, and the problem is of a kind that `Decide` can decide, it goes on to prove that there is
    no solution, in a bounded number of boxes of joint ranges; `Solution.decision` says what that took. With ``prove=False``
    it does not; whatever was not tried, `Solution.reason` says why. A named `solver` answers alone.

    With ``distinct=k`` the answer is a tuple of up to k different solutions, the nearest to the start first; if there is none,
    of the nearest posture alone. A `budget` is the greatest number of evaluations of the problem (at least one is made); it
    gives the same answer everywhere. A `deadline` in seconds is the clock's, so the answer is not. With `trace`,
    `Solution.trace` holds the way down. `tolerance` [m] and `angle_tolerance` [rad] are those of the short form's tasks.
    """
    seed, solver = seeded(seed), None if solver is None else checked_solver(solver)
    distinct = None if distinct is None else counted(distinct, "distinct, the greatest number of solutions,")
    within = _within(problem, tolerance, angle_tolerance)
    allowance = Allowance(np.inf if budget is None else budget, np.inf if deadline is None else deadline, trace)
    if isinstance(problem, Figure):
        goals, *left = more or ({},)
        if not isinstance(goals, Mapping):
            raise BadValue("the short form is solve(figure, {segment: goal}); otherwise pass a Problem")
        plain = solver is None and seed == 0 and distinct is None and allowance == Allowance() and not within
        if plain and _is_plain(goals):
            return _short(problem, goals, _start(left, start), bool(prove))
        problem = Problem(problem, [Task(segment, goal, **within) for segment, goal in goals.items()])
    elif isinstance(problem, Problem):
        left = list(more)
    else:
        raise BadValue(f"solve takes a Problem, or a Figure and goals, not {shown(problem)}")
    searching, proving = Proving.by(solver, prove, problem)
    figure, given = problem.figure, _start(left, start)
    posture = problem.admitted(figure.rest if given is None else figure.posture(given))
    chosen = default_solver(problem) if searching is None else searching
    if distinct is not None:
        if allowance != Allowance():
            raise BadValue("distinct= makes as many attempts as it takes: it has no budget, deadline or trace")
        from supple.solvers.distinct import distinct_solutions

        if found := distinct_solutions(problem, searching, posture, distinct, seed):
            return found
    begun = monotonic()
    from supple.solvers.recentring import solve_recentred

    local = solve_recentred(chosen, problem, posture, seed, allowance)
    solution = proving.judged(local, allowance, begun + allowance.seconds)
    return solution if distinct is None else (solution,)


def _within(problem: Any, tolerance: float | None, angle_tolerance: float | None) -> dict[str, Any]:
    """The tolerances of the short form's tasks, where they are told."""
    given = {"tolerance": tolerance, "angle_tolerance": angle_tolerance}
    told = {name: value for name, value in given.items() if value is not None}
    if told and not isinstance(problem, Figure):
        raise BadValue("tolerance= is for the short form: the tasks of a Problem have their own")
    return told


def _start(left: list[Any], start: Any) -> Any:
    if len(left) > 1 or (left and start is not None):
        raise BadValue("solve takes one start")
    return left[0] if left else start


def _is_plain(goals: Mapping[str, Any]) -> bool:
    return bool(goals) and all(type(goal) in (At, Placed) for goal in goals.values())


_kept: dict[
    Any, Query
] = {}  # prepared short forms, the oldest first; each holds its figure, so that its id stays its own


def _short(figure: Figure, goals: Mapping[str, Any], start: Any, prove: bool) -> Solution:
    """The short form with positions and placements: prepared once for each set of segments, then only numbers change.

    The query is taken out of what is kept while it works, so that threads do not share one.
    """
    kinds = tuple((name, type(g), getattr(g, "per_radian", None), g.relative_to) for name, g in goals.items())
    key = (id(figure), prove, kinds)
    query = _kept.pop(key, None)
    if query is None:
        problem = Problem(figure, [Task(segment, goal) for segment, goal in goals.items()])
        query = prepare(problem, prove=prove)
    targets: list[Floats] = [g.at if type(g) is Placed else g.position for g in goals.values()]
    try:
        return query(targets[0] if len(targets) == 1 else targets, start)
    finally:
        _kept[key] = query
        while len(_kept) > REMEMBERED:
            _kept.pop(next(iter(_kept), None), None)
