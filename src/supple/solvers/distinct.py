"""Several different solutions of one problem, the nearest to a reference first.

Single attempts are made from the reference and from the points of the low-discrepancy sequence, as many as it takes; whole
turns are taken off towards the reference; of the postures that meet every task, the nearest is kept first, then always the
next nearest that differs from all kept ones by more than `APART` in some coordinate. An arm without redundancy has finitely
many; a redundant one has a continuum, of which these are scattered samples. Where tasks have alternatives, each is also
looked at alone, lest weights hide it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.errors import BadValue
from supple.geometry.placements import Floats
from supple.kernels.compiling import entry_in
from supple.kernels.tables import EXACT
from supple.problem.allowance import FREELY, MET, REASON
from supple.problem.problem import Problem
from supple.problem.solution import Solution, audited
from supple.solvers.base import Solver, has_alternatives, insist
from supple.solvers.levenberg_marquardt.levenberg_marquardt import (
    LevenbergMarquardt,
    SearchCall,
    default_solver,
    further_start,
    one_attempt,
    unwound,
)
from supple.solvers.multistart import Multistart

report_entry = entry_in("supple.kernels.charts.report_entry")
APART = 0.1  # radians or metres in some coordinate that make two solutions different
FIRST, LAST = 64, 4096  # attempts at first, and at most


def distinct_solutions(
    problem: Problem, solver: Solver | None, reference: Floats, count: int, seed: int = 0
) -> tuple[Solution, ...]:
    """Up to `count` solutions by attempts of a solver, None for the default; none if none is found."""
    if count < 1:
        raise BadValue(f"distinct must be at least 1, not {count}")
    local = one_attempt(default_solver(problem)) if solver is None else solver
    local = local.solver if isinstance(local, Multistart) else local
    found, kept = np.empty((0, len(reference))), np.empty((0, len(reference)))
    asked = [problem]
    if has_alternatives(problem):
        from supple.solvers.alternatives import one_by_one

        asked += [alone for alone in one_by_one(problem, reference) if not local.refuse(alone)]
    first, last = 0, max(FIRST, 8 * count)
    while first < last and len(kept) < count:
        starts = [further_start(problem, reference, seed, k) if k else reference for k in range(first, last)]
        ends = np.vstack([_met(local, one, np.array(starts), reference, seed) for one in asked])
        found = np.vstack([found, unwound(problem, ends, reference)])
        kept = _apart(found, reference, count)
        first, last = last, min(2 * last, LAST)
    answers = (audited(problem, q, stationary=True, seed=seed) for q in kept)
    return tuple(answer for answer in answers if answer.ok)


def _met(local: Solver, problem: Problem, starts: Floats, reference: Floats, seed: int) -> Floats:
    """The postures that meet every task among those that attempts from these starts end in, angles near the reference."""
    if isinstance(local, LevenbergMarquardt):
        insist(local, problem)
        Q, T = starts.copy(), np.tile(problem.pack[2], (len(starts), 1))
        call = SearchCall(problem, replace(local, attempts=1).settings(), seed, FREELY.report(len(Q)))
        call.run(T, Q, 0, len(Q))
        for q in Q:
            report_entry(call.I, call.F, q, reference, EXACT)
        return Q[call.report[:, REASON] == MET]
    solutions = [local.solve(problem, problem.admitted(start), seed) for start in starts]
    return np.array([s.q for s in solutions if s.ok]).reshape(-1, starts.shape[1])


def _apart(found: Floats, reference: Floats, count: int) -> Floats:
    """The nearest postures that differ from each other."""
    kept: list[int] = []
    for i in np.argsort(np.linalg.norm(found - reference, axis=1), kind="stable").tolist():
        if len(kept) < count and all(np.abs(found[i] - found[k]).max(initial=0.0) > APART for k in kept):
            kept.append(i)
    return found[kept]
