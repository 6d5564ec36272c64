"""The search: attempts of Levenberg–Marquardt from many starts, then rank by rank, all of it compiled.

**Many starts.** A single attempt may end in a local minimum. The search begins at the given start, then goes on from the
points of a low-discrepancy sequence in the box of the limits, ``u_k = frac(u₀ + k α)`` with α the powers of the generalised
golden ratio and u₀ from the seed, three out of four of them in the inner part of the limits, where attempts succeed more
often. An attempt that lowers G by less than a tenth three times in a row is abandoned, the first restarts sooner still, late
ones not at all: many cheap attempts replace one expensive one, yet slow ones get their turn. The best of all is followed to
its end. The same seed gives the same answer.

**A free root** that is far from its goals is first moved to where they fit best, joints as they are (`root_placement`), if that
cannot raise G: all goals are points and frames in the world. The second attempt starts as it was told, and all further ones are
aligned, the next two near the start: characters should not jump.

**Ranks.** Where every task can be met, all residuals vanish, and neither weights nor ranks matter: the search looks at all
tasks together first. Only if that fails and tasks have several ranks (hard ones before soft ones, then by priority), they
are taken rank by rank: first those of rank 0 alone, from many starts; then, for each later rank, its residuals are
minimised while those of all lower ranks stay what they have become, by an augmented Lagrangian,

    minimise |ρ_r|² + w² Σ_{lower} |ρ − ρ* + λ/w²|²,    λ/w² ← λ/w² + ρ − ρ*,

with w raised when the constraints do not close. ρ* is 0 for what is met. An inequality ``dead(y) = 0`` is held by
``w² |dead(y − y* + λ/w²)|²``, which is the same thing with the room it leaves taken into account. A rank whose constraints do
not close at all is given up, and the posture of the rank before is the answer.

**Preferences** are the last ranks. They are improved in the same way once all tasks are met, or as far as they can be.

**Off the limits.** Where the start stands at limits, a straight knee for one, and leads nowhere, the second attempt begins a
little inside them: so limbs bend the way they can.

**Tolerances.** Where an attempt ends within a few tolerances of all targets but not within each, the tolerance set itself is
looked for from there (`tolerance_set`).

**Turns.** A coordinate that turns a joint is the same posture after a whole turn: it is reported as near to the start as
its limits allow.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import GENERAL, entry, flat, leaf, row, stage
from supple.kernels.layouts import COORDINATES, FREE_ROOT, RANKS, RANKS_THAT_MUST, TARGET_NUMBERS
from supple.kernels.tables import open_limits, open_terms
from supple.kernels.targets import read_placements, read_points
from supple.problem.allowance import EVALUATIONS, ITERATIONS, MET, REASON, ROWS, SPENT, STATIONARY, TRIES, VALUE
from supple.problem.meter import spent
from supple.solvers.levenberg_marquardt.attempt import attempt
from supple.solvers.levenberg_marquardt.phases import ALWAYS, NEVER, TIMIDLY
from supple.solvers.levenberg_marquardt.rank_by_rank import make_sure, note_met, plan_patience, rank_by_rank
from supple.solvers.levenberg_marquardt.ranks import hide_shifts, weighs_posture
from supple.solvers.levenberg_marquardt.restarts import copy_posture, keep_pace, next_attempt, unwind
from supple.solvers.levenberg_marquardt.scratch import (
    ALIGNMENT,
    ALL_MET,
    ATTEMPTS,
    CHAINED,
    HIGH_RANK,
    LIMIT,
    LOW_RANK,
    MOST_STEPS,
    POWER,
    SETTLED,
    STEPS,
    TIGHT,
    TOTAL,
    TRIED,
    UNFIT,
    open_call_scratch,
    open_starts_scratch,
)
from supple.solvers.levenberg_marquardt.tolerance_set import meet_within

WORTHWHILE, LEAST = 1500.0, 12  # attempts times coordinates that are worth while, and attempts at least
PREFERRING = 8  # attempts, at most, where a posture goal is weighed against tasks: these are seldom met


@leaf
def begin_search(I: Any, q: Any, limits: Any, scratch: Any, report: Any) -> None:
    """The metric of the steps, the start inside its box, nothing kept and nothing spent yet."""
    settings, outcome, plan = scratch.settings, scratch.outcome, scratch.plan
    for i in range(q.shape[0]):
        scratch.D[i] = limits.mobility[i] * limits.mobility[i]
        q[i] = min(max(q[i], limits.lower[i]), limits.upper[i])
        scratch.start[i] = scratch.best[i] = q[i]
    for r in range(scratch.kept.shape[0]):
        scratch.kept[r] = scratch.shift[r] = 0.0
    report[ITERATIONS] = report[EVALUATIONS] = report[ROWS] = 0.0
    worthwhile = math.floor(WORTHWHILE / I[COORDINATES])
    outcome[LIMIT] = max(min(settings[ATTEMPTS], worthwhile), min(settings[ATTEMPTS], LEAST))
    outcome[ALL_MET] = outcome[SETTLED] = 1.0 if I[RANKS_THAT_MUST] == 0 else 0.0
    outcome[TIGHT] = outcome[TOTAL] = 0.0
    plan[LOW_RANK], plan[HIGH_RANK] = 0.0, max(I[RANKS_THAT_MUST] - 1, 0)
    plan[MOST_STEPS], plan[POWER] = settings[STEPS], 0.0


@leaf
def plan_start(I: Any, q: Any, limits: Any, scratch: Any) -> None:
    """Where the next attempt from many starts begins, how long it may take, and whether a free root is moved first."""
    settings, plan, limit, tries = scratch.settings, scratch.plan, scratch.outcome[LIMIT], int(scratch.outcome[TRIED])
    plan[MOST_STEPS], plan[ALIGNMENT] = settings[STEPS], NEVER
    if tries == limit:  # none met every task: the best is followed to its end
        plan[MOST_STEPS] = 10.0 * settings[STEPS]
        copy_posture(scratch.best, q)
    elif tries > 0:
        next_attempt(I, limits, tries, plan[HIGH_RANK] + 1 == I[RANKS_THAT_MUST], scratch, q)
    if GENERAL and I[FREE_ROOT] > 0 and tries != 1 and tries < limit and settings[ATTEMPTS] > 1.0:
        if tries > 0:
            plan[ALIGNMENT] = ALWAYS
        elif I[FREE_ROOT] == 2:
            plan[ALIGNMENT] = TIMIDLY
    plan_patience(scratch.outcome[TOTAL], plan)


@stage
def from_many_starts(I: Any, F: Any, memory: Any, T: Any, q: Any, report: Any, trace: Any) -> None:
    """Attempts at the plan's ranks from q and from the points of the sequence, until one meets them; the best ends in q."""
    tasks, limits, scratch = open_terms(I, F), open_limits(I, F), open_starts_scratch(I, memory)
    settings, outcome, plan = scratch.settings, scratch.outcome, scratch.plan
    weighed = GENERAL and weighs_posture(tasks, I[RANKS_THAT_MUST])
    least, reason, finished = math.inf, SPENT, False
    outcome[TRIED] = 0.0
    while not finished:
        plan_start(I, q, limits, scratch)
        ended = attempt(I, F, memory, T, q, report, trace)
        if ended != MET and not weighed:
            tight = meet_within(I, F, memory, T, q, ended, report, trace)
            outcome[TIGHT] = 1.0 if tight else 0.0
            ended = MET if tight else ended
        outcome[TRIED] += 1.0
        outcome[TOTAL] += 1.0
        if report[VALUE] < least or ended == MET or outcome[TRIED] > outcome[LIMIT]:
            least, reason = report[VALUE], ended
            copy_posture(q, scratch.best)
        single = settings[ATTEMPTS] == 1.0 or reason == STATIONARY
        over = outcome[TRIED] - outcome[LIMIT]
        finished = ended == MET or over > 0.0 or (over == 0.0 and single)
        if ended == MET and plan[HIGH_RANK] + 1 == I[RANKS_THAT_MUST]:
            note_met(tasks, q, scratch)
        if spent(report):
            break
    outcome[SETTLED] = 1.0 if finished and (reason == MET or reason == STATIONARY) else 0.0
    copy_posture(scratch.best, q)


@stage
def search(I: Any, F: Any, memory: Any, T: Any, q: Any, report: Any, trace: Any) -> None:
    """All tasks together from many starts; if that fails, the first rank from many starts, the others rank by rank."""
    ranks, must = I[RANKS], I[RANKS_THAT_MUST]
    tasks, limits, scratch = open_terms(I, F), open_limits(I, F), open_starts_scratch(I, memory)
    outcome, plan = scratch.outcome, scratch.plan
    begin_search(I, q, limits, scratch, report)
    if GENERAL and weighs_posture(tasks, must):
        outcome[LIMIT] = min(outcome[LIMIT], PREFERRING)
    if must > 0:
        from_many_starts(I, F, memory, T, q, report, trace)
    if GENERAL:
        if must > 1 and outcome[ALL_MET] == 0.0 and not spent(report):
            plan[HIGH_RANK] = 0.0
            outcome[LIMIT] += 1.0
            from_many_starts(I, F, memory, T, q, report, trace)
        if must > 0 and (spent(report) or (must == ranks and (outcome[ALL_MET] != 0.0 or must == 1))):
            outcome[SETTLED] = outcome[SETTLED] if must == 1 else 0.0
        else:
            rank_by_rank(I, F, memory, T, q, report, trace)
        hide_shifts(tasks)
        copy_posture(scratch.best, q)
        if plan[LOW_RANK] > 0.0:
            make_sure(I, F, T, q, scratch, report)
    unwind(scratch.box, scratch.start, limits, q)
    settled = STATIONARY if outcome[SETTLED] != 0.0 else SPENT
    report[REASON], report[TRIES] = MET if outcome[ALL_MET] != 0.0 else settled, outcome[TOTAL]


@entry
def search_entry(I: Any, F: Any, memory: Any, T: Any, Q: Any, report: Any, trace: Any, first: int, last: int) -> None:
    """Solve rows first … last of Q (k, size) in place for the targets T, k times as many numbers; report (k, REPORT).

    T holds targets as kernels read them or, where every task wants a placement, these as they are given (`targets`).
    Settings and box must be in the scratch. F must be the caller's own: charts are folded into it on the way,
    and if rows are chained, each starting where the one before ended, so are the limits of their pace.
    """
    n, scratch, limits = I[COORDINATES], open_call_scratch(I, memory), open_limits(I, F)
    targets, width = scratch.target, T.shape[0] * T.shape[1] // max(Q.shape[0], 1)
    for k in range(first, last):
        if scratch.settings[CHAINED] != 0.0:
            if k > 0:
                for i in range(n):
                    Q[k, i] = Q[k - 1, i]
            keep_pace(scratch.box, limits, Q[k])
        finite = True
        for i in range(n):
            finite = finite and math.isfinite(Q[k, i])
        if width == I[TARGET_NUMBERS]:
            aimed = read_points(row(flat(T), k * width, width), targets)
        else:
            aimed = read_placements(row(flat(T), k * width, width), targets)
        if not (finite and aimed):
            report[k, REASON] = UNFIT
            continue
        search(I, F, memory, targets, Q[k], report[k], trace)
