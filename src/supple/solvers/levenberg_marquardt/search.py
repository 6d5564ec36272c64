"""The search: attempts of Levenberg–Marquardt from many starts, then rank by rank, all of it compiled.

**Many starts.** A single attempt may end in a local minimum. The search begins at the given start, then goes on from the
points of a low-discrepancy sequence in the box of the limits, ``u_k = frac(u₀ + k α)`` with α the powers of the generalised
golden ratio and u₀ from the seed, three out of four of them in the inner part of the limits, where attempts succeed more
often. An attempt that lowers G by less than a tenth three times in a row is abandoned, the first restarts sooner still, late
ones not at all: many cheap attempts replace one expensive one, yet slow ones get their turn. The best of all is followed to
its end. The same seed gives the same answer.

**A free root** that is far from its goals is first moved to where they fit best, joints as they are (`alignment`), if that
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
looked for from there (`within`).

**Turns.** A coordinate that turns a joint is the same posture after a whole turn: it is reported as near to the start as
its limits allow.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import entry, flat, leaf, row, table, written_in
from supple.kernels.jacobian import appraise, locate
from supple.kernels.layouts import COORDINATES, FREE_ROOT, RANKS, RANKS_THAT_MUST, TARGET_NUMBERS
from supple.kernels.tables import open_limits, open_tasks
from supple.kernels.targets import read_placements, read_points
from supple.problem.allowance import EVALUATIONS, ITERATIONS, MET, REASON, ROWS, SPENT, STATIONARY, TRIES, VALUE, spent
from supple.solvers.levenberg_marquardt.attempt import ALWAYS, ENDLESS, LITTLE, NEVER, TIMIDLY, USUAL, attempt
from supple.solvers.levenberg_marquardt.ranks import close, hand_over, keep_ranks, weaken, weighs_posture
from supple.solvers.levenberg_marquardt.room import ATTEMPTS, BOX, CHAINED, SETTINGS, STEPS, read_room, room_size
from supple.solvers.levenberg_marquardt.starts import copy_posture, next_attempt, pace, unwind
from supple.solvers.levenberg_marquardt.within import meet_within

UNFIT = -1  # a reason: the start is not finite, or the target needs a closer look
ROUNDS = 30  # of the augmented Lagrangian
HASTY_TRIES, PATIENT_TRIES = 6, 30  # attempts with little patience after the first; from when on it is endless
CLOSED = 1e-6  # constraints of lower ranks hold to this share of their tolerance, squared
WORTHWHILE, LEAST = 1500.0, 12  # attempts times coordinates that are worth while, and attempts at least
PREFERRING = 8  # attempts, at most, where a posture goal is weighed against tasks: these are seldom met


@leaf
def begin(allowed: Any, q: Any, room: Any) -> None:
    """The metric of the steps, the start inside its box, and nothing kept yet."""
    for i in range(q.shape[0]):
        room.D[i] = allowed.mobility[i] * allowed.mobility[i]
        q[i] = min(max(q[i], allowed.lower[i]), allowed.upper[i])
        room.start[i] = room.best[i] = q[i]
    for r in range(room.kept.shape[0]):
        room.kept[r] = room.shift[r] = 0.0


@written_in
def search(
    I: Any, F: Any, scratch: Any, T: Any, q: Any, settings: Any, box: Any, memory: Any, info: Any, trace: Any
) -> None:
    """Attempts from q and from the sequence's points until one meets every task, then rank by rank; the best ends in q."""
    ranks, must = I[RANKS], I[RANKS_THAT_MUST]
    tasks = open_tasks(I, F)
    allowed = open_limits(I, F)
    room = read_room(I, memory)
    begin(allowed, q, room)
    info[ITERATIONS] = info[EVALUATIONS] = info[ROWS] = 0.0
    low, high = must - must, max(must - 1, 0)  # 0, but not known as such when this is compiled
    wide, most = must > 0, settings[STEPS]  # wide: from many starts
    limit = max(min(settings[ATTEMPTS], math.floor(WORTHWHILE / I[COORDINATES])), min(settings[ATTEMPTS], LEAST))
    weighed, tight = weighs_posture(tasks, must), False  # tight: tasks are met within their tolerances and no better
    if weighed:
        limit = min(limit, PREFERRING)
    least, reason, tries, total = math.inf, SPENT, 0, 0
    weight, rounds, breach = 10.0, 0, math.inf
    met, settled, searching = must == 0, must == 0, True
    while searching:
        if wide and tries == limit:  # none met every task: the best is followed to its end
            most = 10.0 * settings[STEPS]
            copy_posture(room.best, q)
        elif wide and tries > 0:
            next_attempt(I, box, allowed, tries, high + 1 == must, room, q)
        alignment = NEVER
        if I[FREE_ROOT] > 0 and wide and tries != 1 and tries < limit and settings[ATTEMPTS] > 1.0:
            alignment = ALWAYS if tries > 0 else TIMIDLY if I[FREE_ROOT] == 2 else NEVER
        patience = USUAL if total == 0 or total > HASTY_TRIES else LITTLE
        patience = ENDLESS if total > PATIENT_TRIES else patience
        ended = attempt(
            I, F, scratch, T, q, settings, box, memory, most, low, high, weight, alignment, patience, info, trace
        )
        if wide and ended != MET and not weighed:
            tight = meet_within(I, F, scratch, T, q, settings, box, memory, tasks, room, low, high, ended, info, trace)
            ended = MET if tight else ended
        tries, total = tries + 1, total + 1
        all_met = ended == MET and high + 1 == must
        finished = all_met or not wide  # with the starts of this rank
        if wide:
            if info[VALUE] < least or ended == MET or tries > limit:
                least, reason = info[VALUE], ended
                copy_posture(q, room.best)
            single = settings[ATTEMPTS] == 1.0 or reason == STATIONARY
            finished = ended == MET or tries > limit or (tries == limit and single)
            settled = finished and (reason == MET or reason == STATIONARY)
        if all_met:
            met = True
            hand_over(tasks, low - low, room)
            copy_posture(q, room.best)
            copy_posture(q, room.before)
        if spent(info) or (finished and wide and high + 1 == ranks and (met or must == 1)):
            settled = settled and finished and wide and must == 1
            searching = False
        elif finished and wide and not met and low == 0 and high > 0:  # not all together: rank by rank
            copy_posture(room.best, q)
            high, tries, limit = low, 0, limit + 1.0
            least, most = math.inf, settings[STEPS]
        elif finished:
            if wide:
                copy_posture(room.best, q)
            locate(I, F, scratch, q)
            appraise(I, F, scratch, T, room.rho_new, room.chosen_new)
            info[EVALUATIONS] += 1.0
            if not (wide or all_met):
                worst = close(tasks, room, low)
                rounds += 1
                finished = worst <= CLOSED or rounds >= ROUNDS
                if finished:
                    settled = settled and worst <= CLOSED and (ended == MET or ended == STATIONARY)
                    searching = worst <= 1.0  # what lower ranks have reached holds within tolerance
                    if searching:
                        copy_posture(q, room.best)
                if worst > 0.0625 * breach:
                    weight *= math.sqrt(10.0)
                    weaken(room, 0.1)
                breach = worst
            if finished:
                keep_ranks(tasks, room, low - low if all_met else low, high, tight)
                low, high = high + 1, high + 1
                wide, rounds, most = False, 0, 3.0 * settings[STEPS]
                breach, weight = math.inf, 10.0
                searching = searching and low < ranks
            hand_over(tasks, low, room)
            if spent(info) and searching:
                searching, settled = False, False
    hand_over(tasks, must - must, room)
    copy_posture(room.best, q)
    doubtful = low > 0  # while ranks were taken one by one, inequalities were seen with their shifts
    if doubtful and tight and met and spent(info):
        copy_posture(room.before, q)
    while doubtful and not spent(info):
        locate(I, F, scratch, q)
        _, unmet = appraise(I, F, scratch, T, room.rho_new, room.chosen_new)
        info[EVALUATIONS] += 1.0
        doubtful = tight and met and unmet > 0  # then preferences have taken what tolerances left: back to before
        if doubtful:
            copy_posture(room.before, q)
        met, tight = unmet == 0, False
    unwind(box, room.start, allowed, q)
    info[REASON], info[TRIES] = MET if met else STATIONARY if settled else SPENT, total


@entry
def search_entry(I: Any, F: Any, desk: Any, T: Any, Q: Any, info: Any, trace: Any, first: int, last: int) -> None:
    """Solve rows first … last of Q (k, size) in place for the targets T, k times as many numbers; info (k, INFO).

    T holds targets as kernels read them or, where every task wants a placement, these as they are given (`aims`).
    `desk` holds settings, the box and scratch (see `desk`). F must be the caller's own: charts are folded into it on the way,
    and if rows are chained, each starting where the one before ended, so are the limits of their pace.
    """
    n = I[COORDINATES]
    settings, box = row(desk, 0, SETTINGS), table(desk, SETTINGS, BOX, n)
    at = SETTINGS + BOX * n + I[TARGET_NUMBERS]
    targets = row(desk, at - I[TARGET_NUMBERS], I[TARGET_NUMBERS])
    scratch = row(desk, at, desk.shape[0] - at - room_size(I))
    memory = row(desk, desk.shape[0] - room_size(I), room_size(I))
    allowed = open_limits(I, F)
    width = T.shape[0] * T.shape[1] // max(Q.shape[0], 1)
    for k in range(first, last):
        if settings[CHAINED] != 0.0:
            if k > 0:
                for i in range(n):
                    Q[k, i] = Q[k - 1, i]
            pace(box, allowed, Q[k])
        finite = True
        for i in range(n):
            finite = finite and math.isfinite(Q[k, i])
        if width == I[TARGET_NUMBERS]:
            aimed = read_points(row(flat(T), k * width, width), targets)
        else:
            aimed = read_placements(row(flat(T), k * width, width), targets)
        if not (finite and aimed):
            info[k, REASON] = UNFIT
            continue
        search(I, F, scratch, targets, Q[k], settings, box, memory, info[k], trace)
