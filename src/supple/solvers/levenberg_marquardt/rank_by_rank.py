"""Rank by rank: each is improved while lower ones stay what they have become (the augmented Lagrangian is in `search`)."""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import GENERAL, leaf
from supple.kernels.jacobian import appraise, locate
from supple.kernels.layouts import RANKS, RANKS_THAT_MUST
from supple.kernels.tables import open_terms
from supple.problem.allowance import EVALUATIONS, MET, STATIONARY
from supple.problem.meter import spent
from supple.solvers.levenberg_marquardt.attempt import attempt
from supple.solvers.levenberg_marquardt.phases import ENDLESS, LITTLE, NEVER, USUAL
from supple.solvers.levenberg_marquardt.ranks import (
    hide_shifts,
    keep_ranks,
    move_multipliers,
    show_shifts,
    weaken_multipliers,
)
from supple.solvers.levenberg_marquardt.restarts import copy_posture
from supple.solvers.levenberg_marquardt.scratch import (
    ALIGNMENT,
    ALL_MET,
    HIGH_RANK,
    LOW_RANK,
    MOST_STEPS,
    PATIENCE,
    PENALTY,
    SETTLED,
    STEPS,
    TIGHT,
    TOTAL,
    open_starts_scratch,
)

ROUNDS = 30  # of the augmented Lagrangian
LIGHT = 10.0  # the weight w that it begins with
CLOSED = 1e-6  # constraints of lower ranks hold to this share of their tolerance, squared
HASTY_TRIES, PATIENT_TRIES = 6, 30  # attempts with little patience after the first; from when on it is endless


@leaf
def plan_patience(total: float, plan: Any) -> None:
    """Little patience with the first restarts, endless patience with late ones."""
    patience = USUAL if total == 0.0 or total > HASTY_TRIES else LITTLE
    plan[PATIENCE] = ENDLESS if total > PATIENT_TRIES else patience


@leaf
def note_met(tasks: Any, q: Any, scratch: Any) -> None:
    """All tasks are met at q."""
    scratch.outcome[ALL_MET] = 1.0
    if GENERAL:
        hide_shifts(tasks)
    copy_posture(q, scratch.best)
    copy_posture(q, scratch.before)


@leaf
def evaluate_at(I: Any, F: Any, T: Any, q: Any, scratch: Any, report: Any) -> int:
    """Residuals at q into ``scratch.rho_new``; how many tasks are not met."""
    locate(I, F, scratch.evaluation, q)
    _, unmet = appraise(I, F, scratch.evaluation, T, scratch.rho_new, scratch.chosen_new)
    report[EVALUATIONS] += 1.0
    return unmet


@leaf
def close_round(q: Any, ended: int, breach: float, worst: float, is_last: bool, scratch: Any) -> bool:
    """After a round that left the constraints of lower ranks broken by `worst`: whether the rank ends with it, and how.

    The weight grows where constraints close slowly, from the last round's `breach`.
    """
    outcome, finished = scratch.outcome, worst <= CLOSED or is_last
    if finished:
        if not (worst <= CLOSED and (ended == MET or ended == STATIONARY)):
            outcome[SETTLED] = 0.0
        if worst <= 1.0:  # what lower ranks have reached holds within tolerance
            copy_posture(q, scratch.best)
    if worst > 0.0625 * breach:
        scratch.plan[PENALTY] *= math.sqrt(10.0)
        weaken_multipliers(scratch, 0.1)
    return finished


@leaf
def improve_rank(I: Any, F: Any, memory: Any, T: Any, q: Any, report: Any, trace: Any) -> bool:
    """Improve the plan's rank with lower ones held, in rounds of an augmented Lagrangian; whether a later rank may follow."""
    tasks, scratch = open_terms(I, F), open_starts_scratch(I, memory)
    outcome, plan = scratch.outcome, scratch.plan
    rank, rounds, breach = int(plan[LOW_RANK]), 0, math.inf
    going, finished = True, False
    plan[PENALTY], plan[ALIGNMENT] = LIGHT, NEVER
    while not finished:
        plan_patience(outcome[TOTAL], plan)
        ended = attempt(I, F, memory, T, q, report, trace)
        outcome[TOTAL] += 1.0
        finished = ended == MET and rank + 1 == I[RANKS_THAT_MUST]
        met = finished
        if met:
            note_met(tasks, q, scratch)
        if spent(report):
            outcome[SETTLED] = 0.0
            return False
        evaluate_at(I, F, T, q, scratch, report)
        if not met:
            worst = move_multipliers(tasks, scratch, rank)
            rounds += 1
            finished = close_round(q, ended, breach, worst, rounds >= ROUNDS, scratch)
            going, breach = not finished or worst <= 1.0, worst
        if finished:
            keep_ranks(tasks, scratch, 0 if met else rank, rank, outcome[TIGHT] != 0.0)
            rank += 1
            plan[LOW_RANK] = plan[HIGH_RANK] = rank
            going = going and rank < I[RANKS]
        show_shifts(tasks, rank, scratch)
        if spent(report) and going:
            outcome[SETTLED] = 0.0
            return False
    return going


@leaf
def rank_by_rank(I: Any, F: Any, memory: Any, T: Any, q: Any, report: Any, trace: Any) -> None:
    """Keep what the plan's ranks have reached at q, and improve one later rank after the other; preferences are the last."""
    tasks, scratch = open_terms(I, F), open_starts_scratch(I, memory)
    outcome, plan, going = scratch.outcome, scratch.plan, True
    if I[RANKS_THAT_MUST] > 0:
        evaluate_at(I, F, T, q, scratch, report)
        keep_ranks(tasks, scratch, int(plan[LOW_RANK]), int(plan[HIGH_RANK]), outcome[TIGHT] != 0.0)
        plan[LOW_RANK] = plan[HIGH_RANK] = plan[HIGH_RANK] + 1.0
        plan[MOST_STEPS] = 3.0 * scratch.settings[STEPS]
        show_shifts(tasks, int(plan[LOW_RANK]), scratch)
        if spent(report):
            outcome[SETTLED], going = 0.0, False
    while going:
        going = improve_rank(I, F, memory, T, q, report, trace)
        plan[MOST_STEPS] = 3.0 * scratch.settings[STEPS]


@leaf
def make_sure(I: Any, F: Any, T: Any, q: Any, scratch: Any, report: Any) -> None:
    """While ranks were taken one by one, inequalities were seen with their shifts: look whether tasks are met without.

    Where preferences have taken what tolerances left, q goes back to where it was before them.
    """
    outcome, doubtful = scratch.outcome, True
    if outcome[TIGHT] != 0.0 and outcome[ALL_MET] != 0.0 and spent(report):
        copy_posture(scratch.before, q)
    while doubtful and not spent(report):
        unmet = evaluate_at(I, F, T, q, scratch, report)
        doubtful = outcome[TIGHT] != 0.0 and outcome[ALL_MET] != 0.0 and unmet > 0
        if doubtful:
            copy_posture(scratch.before, q)
        outcome[ALL_MET], outcome[TIGHT] = 1.0 if unmet == 0 else 0.0, 0.0
