"""The search: attempts of Levenberg–Marquardt from many starts, then rank by rank, all of it compiled.

**Many starts.** A single attempt may end in a local minimum. The search begins at the given start, then goes on from the
points of a low-discrepancy sequence in the box of the limits, ``u_k = frac(u₀ + k α)`` with α the powers of the generalised
golden ratio and u₀ from the seed, three out of four of them in the inner part of the limits, where attempts succeed more
often. An attempt that lowers G by less than a tenth three times in a row is abandoned; so many
cheap attempts replace one expensive one, and the best of all is followed to its end. The same seed gives the same answer.

**A free root** that is far from its goals is first moved to where they fit best, joints as they are (`alignment`), the second
attempt starts as it was told, and all further ones are aligned.

**Ranks.** Where every task can be met, all residuals vanish, and neither weights nor ranks matter: the search looks at all
tasks together first. Only if that fails and tasks have several ranks (hard ones before soft ones, then by priority), they
are taken rank by rank: first those of rank 0 alone, from many starts; then, for each later rank, its residuals are
minimised while those of all lower ranks stay what they have become, by an augmented Lagrangian,

    minimise |ρ_r|² + w² Σ_{lower} |ρ − ρ* + λ/w²|²,    λ/w² ← λ/w² + ρ − ρ*,

with w raised when the constraints do not close. ρ* is 0 for what is met.

**Turns.** A coordinate that turns a joint is the same posture after a whole turn: it is reported as near to the start as
its limits allow.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from supple.compiled import entry, leaf, row, shared, table, written_in
from supple.linear import linearise
from supple.potentials import MET as LIMIT
from supple.problem import Problem
from supple.solvers.damping import ALWAYS, ATTEMPTS, NEVER, STEPS, TIMIDLY, attempt, read_room, room_size
from supple.solvers.meter import EVALUATIONS, ITERATIONS, MET, REASON, ROWS, SPENT, STATIONARY, TRIES, VALUE, spent
from supple.space import Floats
from supple.tree import read_tree
from supple.views import BLOCK, RANK, read_limits, read_tasks, scratch_size

SETTINGS = 8  # numbers before the box in the search's table
REACH, OFFSET, STRIDE, PERIOD, PACE, LOWER, UPPER, BOX = range(8)  # rows of the box
CHAINED = 6  # setting: whether each row of a batch starts where the one before ended
INNER = 0.6  # share of the limits in which three starts out of four lie
ROUNDS = 30  # of the augmented Lagrangian
CLOSED = 1e-6  # constraints of lower ranks hold to this share of their tolerance, squared


@leaf
def next_start(box: Any, start: Any, allowed: Any, k: int, q: Any) -> None:
    """Point k of the sequence: within reach of the start where limits are further away, else mostly in their inner part."""
    share = 1.0 if k % 4 == 0 else INNER
    for i in range(q.shape[0]):
        reach, low, high = box[REACH, i], allowed.lower[i], allowed.upper[i]
        if reach < math.inf:
            low = max(low, min(start[i] - reach, high - 2.0 * reach))
            high = min(high, low + 2.0 * reach)
        u = box[OFFSET, i] + k * box[STRIDE, i]
        u -= math.floor(u)
        q[i] = low + (u if reach < math.inf else 0.5 + share * (u - 0.5)) * (high - low)


@leaf
def unwind(box: Any, start: Any, allowed: Any, q: Any) -> None:
    """Take whole turns off coordinates, so that they are as near to the start as the limits allow."""
    for i in range(q.shape[0]):
        period = box[PERIOD, i]
        if period > 0.0 and abs(q[i] - start[i]) > 0.5 * period:
            x = q[i] - period * math.floor((q[i] - start[i]) / period + 0.5)
            if x > allowed.upper[i]:
                x -= period * math.ceil((x - allowed.upper[i]) / period)
            elif x < allowed.lower[i]:
                x += period * math.ceil((allowed.lower[i] - x) / period)
            if x >= allowed.lower[i] and x <= allowed.upper[i]:
                q[i] = x


@leaf
def close(tasks: Any, room: Any, rank: int) -> float:
    """Move the multipliers of the ranks below `rank`; returns the worst breach, squared, in units of tolerance."""
    worst = 0.0
    for b in range(room.chosen_new.shape[0]):
        k = int(room.chosen_new[b])
        if k >= 0 and tasks.term[k, RANK] < rank:
            breach = 0.0
            for r in range(BLOCK * b, BLOCK * b + BLOCK):
                e = room.rho_new[r] - room.kept[r]
                room.shift[r] += e
                breach += e * e
            worst = max(worst, breach / max(tasks.number[k, LIMIT], 1e-300))
    return worst


@leaf
def weaken(room: Any, share: float) -> None:
    """Multipliers in units of a larger penalty."""
    for r in range(room.shift.shape[0]):
        room.shift[r] = share * (room.shift[r] + room.kept[r]) - room.kept[r]


@leaf
def keep_rank(tasks: Any, room: Any, rank: int) -> None:
    """What `rank` has reached is what later ranks must leave: zero where it is met."""
    for b in range(room.chosen_new.shape[0]):
        k = int(room.chosen_new[b])
        if k < 0:
            continue
        square = 0.0
        for r in range(BLOCK * b, BLOCK * b + BLOCK):
            square += room.rho_new[r] * room.rho_new[r]
        met = tasks.number[k, LIMIT] >= square
        for r in range(BLOCK * b, BLOCK * b + BLOCK):
            if tasks.term[k, RANK] == rank:
                room.kept[r] = 0.0 if met else room.rho_new[r]
            room.shift[r] = -room.kept[r]


@written_in
def search(
    I: Any, F: Any, scratch: Any, T: Any, q: Any, settings: Any, box: Any, memory: Any, info: Any, trace: Any
) -> None:
    """Attempts from q and from the sequence's points until one meets every task; the best posture ends in q."""
    n, ranks = I[1], I[23]
    _, a, f = read_tree(I, F)
    tasks, f = read_tasks(I, F, a, f)
    allowed = read_limits(I, F, f)
    room = read_room(I, memory)
    for i in range(n):
        room.D[i] = allowed.free[i] * allowed.free[i]
        q[i] = min(max(q[i], allowed.lower[i]), allowed.upper[i])
        room.start[i] = q[i]
    info[ITERATIONS] = info[EVALUATIONS] = info[ROWS] = 0.0
    attempts, most = settings[ATTEMPTS], settings[STEPS]
    least, reason, tries, total = math.inf, SPENT, 0, 0
    rank, weight, rounds = -1, 1.0, 0
    breach, worst = math.inf, math.inf
    searching = True
    while searching:
        if rank <= 0 and tries == attempts:  # none met every task: the best is followed to its end
            most = 10.0 * settings[STEPS]
            for i in range(n):
                q[i] = room.best[i]
        elif rank <= 0 and tries == 1 and I[24] > 0:  # not aligned
            for i in range(n):
                q[i] = room.start[i]
        elif rank <= 0 and tries > 0:
            next_start(box, room.start, allowed, tries, q)
        alignment = NEVER
        if I[24] > 0 and rank <= 0 and tries != 1 and tries < attempts:
            alignment = TIMIDLY if tries == 0 else ALWAYS
        ended = attempt(I, F, scratch, T, q, settings, memory, most, rank, weight, alignment, info, trace)
        tries += 1
        total += 1
        exhausted = spent(info)
        finished = True  # with this rank
        if rank <= 0:
            if info[VALUE] < least or ended == MET or tries > attempts:
                least, reason = info[VALUE], ended
                for i in range(n):
                    room.best[i] = q[i]
            finished = ended == MET or tries > attempts or exhausted
            if tries == attempts and (attempts == 1.0 or reason == STATIONARY):
                finished = True
            for i in range(n):
                q[i] = room.best[i] if finished else q[i]
        else:
            reason = ended
        if exhausted:
            searching = False
        elif rank < 0 and finished:
            searching = ranks > 1 and ended != MET
            rank, tries, finished = 0, 0, False
            least, most = math.inf, settings[STEPS]
        elif rank >= 0 and (finished or rank > 0):
            linearise(I, F, scratch, T, q, room.rho_new, room.J_new, room.chosen_new)
            info[EVALUATIONS] += 1.0
            if rank > 0:
                worst = close(tasks, room, rank)
                rounds += 1
                finished = worst <= CLOSED or rounds >= ROUNDS
                if worst > 0.0625 * breach:
                    weight *= math.sqrt(10.0)
                    weaken(room, 0.1)
                breach = worst
                if worst > CLOSED:
                    reason = SPENT
            if finished:
                searching = rank + 1 < ranks
                keep_rank(tasks, room, rank)
                rank, rounds, most = rank + 1, 0, 10.0 * settings[STEPS]
                breach, weight = math.inf, 10.0
    unwind(box, room.start, allowed, q)
    if reason != MET and reason != STATIONARY:
        reason = SPENT
    info[REASON], info[TRIES] = reason, total


@leaf
def pace(box: Any, allowed: Any, q: Any) -> None:
    """Limits that the pace allows from q on, inside the figure's own."""
    for i in range(q.shape[0]):
        allowed.lower[i] = max(box[LOWER, i], q[i] - box[PACE, i])
        allowed.upper[i] = min(box[UPPER, i], q[i] + box[PACE, i])


@entry
def search_entry(I: Any, F: Any, desk: Any, T: Any, Q: Any, info: Any, trace: Any, first: int, last: int) -> None:
    """Solve rows first … last of Q (k, size) in place for the targets T (k, …); info (k, INFO).

    `desk` holds settings, the box and scratch (see `desk`). F must be the caller's own: charts are folded into it on the way,
    and if rows are chained, each starting where the one before ended, so are the limits of their pace.
    """
    n = I[1]
    settings, box = row(desk, 0, SETTINGS), table(desk, SETTINGS, BOX, n)
    at = SETTINGS + BOX * n
    scratch = row(desk, at, desk.shape[0] - at - room_size(I))
    memory = row(desk, desk.shape[0] - room_size(I), room_size(I))
    _, a, f = read_tree(I, F)
    _, f = read_tasks(I, F, a, f)
    allowed = read_limits(I, F, f)
    for k in range(first, last):
        if settings[CHAINED] != 0.0:
            if k > 0:
                for i in range(n):
                    Q[k, i] = Q[k - 1, i]
            pace(box, allowed, Q[k])
        search(I, F, scratch, T[k], Q[k], settings, box, memory, info[k], trace)


@shared
def desk_size(I: Any, scratch: int) -> int:
    """Numbers of a desk."""
    return SETTINGS + BOX * I[1] + scratch + room_size(I)


def desk(problem: Problem, settings: Any, seed: int, paces: Any = None) -> np.ndarray:
    """Settings, box and scratch for one search at a time.

    Further starts lie within the limits; an angle without limits, or with more than a turn between them, is sampled over
    one turn about the start, a slide without limits over a metre; what moves no effector stays. With `paces` (size), rows
    are chained and no coordinate moves by more than its pace from one row to the next.
    """
    I = problem.packed[0]
    figure, limits = problem.figure, problem.limits
    assert limits is not None
    n = figure.size
    out = np.zeros(desk_size(I, scratch_size(I)))
    out[: len(settings)] = settings
    box = out[SETTINGS : SETTINGS + BOX * n].reshape(BOX, n)
    turning = figure.turning
    reach = np.where(turning, np.pi, 0.5)
    near = np.where(turning, limits.upper - limits.lower > 2.0 * np.pi, ~np.isfinite(limits.upper - limits.lower))
    box[REACH] = np.where((problem.free == 0.0) | ~problem.moved, 0.0, np.where(near, reach, np.inf))
    root = 2.0
    for _ in range(60):  # the positive root of x^(n+1) = x + 1
        root = (1.0 + root) ** (1.0 / (n + 1))
    box[STRIDE] = (1.0 / root) ** np.arange(1, n + 1) % 1.0
    box[OFFSET] = (0.5 + seed * 0.6180339887498949 * (1 + np.arange(n))) % 1.0
    box[PERIOD] = np.where(turning, 2.0 * np.pi, 0.0)
    box[LOWER], box[UPPER] = limits.lower, limits.upper
    if paces is not None:
        out[CHAINED] = 1.0
        box[PACE] = paces
    return out


def further_start(problem: Problem, start: Floats, seed: int, k: int) -> Floats:
    """Point k of the sequence in the whole of the limits."""
    limits, n = problem.limits, problem.figure.size
    assert limits is not None
    box = desk(problem, (), seed)[SETTINGS : SETTINGS + BOX * n].reshape(BOX, n)
    reach, far = np.where(np.isfinite(box[REACH]), box[REACH], 0.0), np.isfinite(box[REACH])
    low = np.where(far, np.maximum(limits.lower, np.minimum(start - reach, limits.upper - 2.0 * reach)), limits.lower)
    high = np.where(far, np.minimum(limits.upper, low + 2.0 * reach), limits.upper)
    return low + (box[OFFSET] + k * box[STRIDE]) % 1.0 * (high - low)


def unwound(problem: Problem, Q: Floats, reference: Floats) -> Floats:
    """Postures (k, size) with whole turns taken off towards the reference, as far as the limits allow."""
    limits, period = problem.limits, 2.0 * np.pi
    assert limits is not None
    X = Q - period * np.round((Q - reference) / period)
    X = np.where(limits.upper < X, X - period, np.where(limits.lower > X, X + period, X))
    legal = (limits.lower <= X) & (limits.upper >= X) & problem.figure.turning
    return np.where(legal & (np.abs(Q - reference) > 0.5 * period), X, Q)
