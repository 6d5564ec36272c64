"""Problems with alternatives that a search did not solve, tried again with one alternative for each task.

A task with alternatives is met when any of them is. The search follows ``G = Σ_t min_k w_k P_k``, so from every start it goes
where the least of the weighted potentials leads, be that out of reach: an alternative of a small weight hides the others from
all starts but those right beside them. Alone, each alternative is an ordinary goal, and weights hide nothing.

So what was not solved is searched for once more from where it ended, alternative by alternative; where several tasks have
some, combinations. Those that the posture is nearest to, in shares of tolerance, come first. Some attempts are made at each of
some combinations, all within what the search left of its budget and its time. The first posture that meets every task is the
answer; if there is none, the answer is what it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from heapq import heappop, heappush
from itertools import product
from time import monotonic

import numpy as np

from supple.geometry.placements import Floats
from supple.problem.allowance import Allowance
from supple.problem.problem import Problem, Task, miss_of
from supple.problem.solution import Solution, Status, Trace, audited
from supple.solvers.base import Solver
from supple.solvers.levenberg_marquardt.levenberg_marquardt import LevenbergMarquardt, default_solver
from supple.solvers.multistart import Multistart
from supple.solvers.recentring import solve_recentred

COMBINATIONS = 16  # that are tried, at most
ATTEMPTS = 16  # at each


def tried_alone(local: Solution, allowance: Allowance, deadline: float) -> Solution:
    """A solution by one alternative for each task, or the answer as it is; all that was spent is counted in it.

    `allowance` is that of the search and of this together, `deadline` a time of the monotonic clock. Where they end the trials,
    the answer is STOPPED.
    """
    problem, evaluations, iterations, cut = local.problem, local.evaluations, local.iterations, False
    for alone in one_by_one(problem, local.q):
        left = min(deadline - monotonic(), allowance.seconds)
        cut = evaluations >= allowance.evaluations or left <= 0.0
        if cut:
            break
        spending = Allowance(allowance.evaluations - evaluations, left)
        found = solve_recentred(_few_attempts(alone), alone, local.q, local.seed, spending)
        evaluations, iterations = evaluations + found.evaluations, iterations + found.iterations
        over = evaluations >= allowance.evaluations or monotonic() >= deadline
        cut = found.status is Status.STOPPED and over
        solution = audited(problem, found.q, True, iterations=iterations, evaluations=evaluations, seed=local.seed)
        if solution.ok:
            return replace(solution, trace=_ended(local.trace, evaluations, problem.value(solution.q)))
    if cut:
        ended = allowance.ended(late=evaluations < allowance.evaluations)
        local = replace(audited(problem, local.q, False, ended), seed=local.seed, trace=local.trace)
    return replace(local, evaluations=evaluations, iterations=iterations)


def _ended(trace: Trace | None, evaluations: int, value: float) -> Trace | None:
    """The way down with its new end: on the way there the value was that of another problem."""
    end = Trace(np.array([evaluations]), np.array([value]))
    return None if trace is None else Trace.joined([trace, end])


def _few_attempts(problem: Problem) -> Solver:
    """The default search with fewer starts."""
    solver = default_solver(problem)
    makes_many = isinstance(solver, LevenbergMarquardt | Multistart)
    return replace(solver, attempts=min(solver.attempts, ATTEMPTS)) if makes_many else solver


def one_by_one(problem: Problem, q: Floats) -> Iterator[Problem]:
    """The problem with one alternative for each task: first the nearest of each, then one place further, and so on."""
    orders = [_by_share(problem, task, q) for task in problem.tasks]
    waiting, seen = [(0, (0,) * len(orders))], {(0,) * len(orders)}
    for _ in range(COMBINATIONS):
        if not waiting:
            return
        _, places = heappop(waiting)
        yield replace(problem, tasks=[order[place] for order, place in zip(orders, places, strict=True)])
        for t, order in enumerate(orders):
            further = (*places[:t], places[t] + 1, *places[t + 1 :])
            if further[t] < len(order) and further not in seen:
                seen.add(further)
                heappush(waiting, (sum(further), further))


def every_one(problem: Problem) -> list[Problem]:
    """The problem with one alternative for each task that must be met, every combination; none if they are too many."""
    orders = [[task] if task.preference or len(task.choices) == 1 else singles(task) for task in problem.tasks]
    if np.prod([float(len(order)) for order in orders]) > COMBINATIONS:
        return []
    return [replace(problem, tasks=tasks) for tasks in product(*orders)]


def _by_share(problem: Problem, task: Task, q: Floats) -> list[Task]:
    """A task for each alternative, the nearest in shares of tolerance first; the task itself where it has no choice."""
    if task.preference or len(task.alternatives) == 1:
        return [task]

    def share(single: Task) -> float:
        miss = miss_of(problem.figure, single, q)
        return max(miss.metres / task.tolerance, miss.radians / task.angle_tolerance)

    return sorted(singles(task), key=share)


def singles(task: Task) -> list[Task]:
    """A task for each alternative of a task, in their order."""
    return [replace(task, effector=end, goal=goal, weight=task.weight * w) for end, goal, w in task.choices]
