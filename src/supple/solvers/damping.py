"""One attempt of Levenberg–Marquardt inside limits: the loop that `search` runs from many starts.

Minimise ``G(q) = |ρ(q)|²`` over ``l ≤ q ≤ h``. At q, with J the derivative of the residuals and D = diag((1 − ρᵢ)²) the
change of unit that rigidity stands for, the step solves one of

    (J_F D J_Fᵀ + λ I) y = ρ,  dq = −D J_Fᵀ y        (dual, m × m, where residuals are few),
    (S J_Fᵀ J_F S + λ I) u = −S J_Fᵀ ρ,  dq = S u     (primal, n × n, S = D^½, where they are many),

which are the same step. F are the coordinates that may move: not locked, and not at a limit that the gradient presses
against. Coordinates that the step would carry past a limit are put on it and the others solved for once more, so the
model's minimum along the face is found; every trial is clipped, hence legal. The damping follows the value,
``λ = μ min(G, 10t) s + λ₀ t``, ``t = tr(J D Jᵀ)/m`` at the start, which makes steps quadratic near a solution; s grows
eightfold when a trial does not lower G and shrinks fourfold when one does. G never rises. An angle that is pressed against a
limit, but may go on a whole turn back, does.

**Charts.** Unlimited balls and free roots are re-centred on the way (`charts`), so F must be the caller's own; q is given and
left in the stated order of angles.

**Ranks.** With several ranks of tasks, an attempt looks at those up to one rank: the residuals of that rank count as they
are, those of lower ranks are held to the values they have reached by the terms ``w |ρ + shift|²`` of an augmented
Lagrangian, later ones not at all.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from supple.charts import EXACT, STEEP, recentre, report
from supple.compiled import leaf, row, shared, stage, table, written_in
from supple.linear import linearise
from supple.potentials import MET as LIMIT
from supple.solvers.alignment import align
from supple.solvers.blocks import (
    dual_matrix,
    primal_matrix,
    pull_back,
    push_forward,
    size_of,
    solve_blocks,
    solve_symmetric,
)
from supple.solvers.meter import EVALUATIONS, ITERATIONS, MET, SPENT, STATIONARY, VALUE, record, spent
from supple.tree import padded, read_tree
from supple.views import BLOCK, RANK, read_limits, read_routes, read_tasks

ABANDONED = 4  # a reason why an attempt ends, besides those of `meter`
USUAL, LITTLE, ENDLESS = range(3)  # patience with an attempt that is slow
HASTE = 0.8  # with little, it is abandoned after two steps in a row that leave more of G than this
MOST = 10.0  # damping follows G up to this multiple of the size of ``J D Jᵀ``
LEVEL = 1e-8  # of ``|J|²|ρ|²``: the square of a slope that counts as none
TURNS = 3  # times that a step is solved for, each time with the limits that the last one met
NEVER, TIMIDLY, ALWAYS = range(3)  # whether a free root is moved to where the goals fit best before an attempt
REACH, OFFSET, STRIDE, PERIOD, PACE, LOWER, UPPER, BOX = range(8)  # rows of the search's box (see `desk`)
STEPS, ATTEMPTS, TOLERANCE, FACTOR, FLOOR, SLOW = range(6)  # settings


class Room(NamedTuple):
    """Scratch of a search."""

    D: Any  # (n) and so on: (1 − ρ)²
    ease: Any  # D of the coordinates that may move now, else 0
    root: Any  # its square root
    held: Any  # 0: moves; 1: may not; 2: put on its limit by this step
    trial: Any
    g: Any
    best: Any
    start: Any
    rho: Any  # (m)
    rho_new: Any
    y: Any
    shift: Any  # of lower ranks
    kept: Any  # residuals that lower ranks have reached
    chosen: Any  # (blocks)
    chosen_new: Any
    J: Any  # (blocks · widest, 3)
    J_new: Any
    A: Any  # (m, m) or (n, n), rows padded


@shared
def order_of(I: Any) -> int:
    """The order of the linear system: residuals or coordinates, whichever are fewer."""
    return min(I[10], I[1])


@shared
def room_size(I: Any) -> int:
    """Numbers of scratch that a search needs besides the evaluation's."""
    n, m, k = I[1], I[10], order_of(I)
    return 8 * n + 5 * m + m + 2 * I[22] * m + k * padded(k) + max(n, m)


@written_in
def read_room(I: Any, memory: Any) -> Any:
    """Views of the scratch."""
    n, m, blocks = I[1], I[10], I[10] // BLOCK
    D, ease, root = row(memory, 0, n), row(memory, n, n), row(memory, 2 * n, n)
    held, trial, g = row(memory, 3 * n, n), row(memory, 4 * n, n), row(memory, 5 * n, n)
    best, start = row(memory, 6 * n, n), row(memory, 7 * n, n)
    at = 8 * n
    rho, rho_new, y = row(memory, at, m), row(memory, at + m, m), row(memory, at + 2 * m, max(n, m))
    at += 2 * m + max(n, m)
    shift, kept = row(memory, at, m), row(memory, at + m, m)
    chosen, chosen_new = row(memory, at + 2 * m, blocks), row(memory, at + 2 * m + blocks, blocks)
    at += 3 * m
    rows, k = blocks * I[22], order_of(I)
    J, J_new = table(memory, at, rows, BLOCK), table(memory, at + BLOCK * rows, rows, BLOCK)
    A = table(memory, at + 2 * BLOCK * rows, k, padded(k))
    return Room(
        D, ease, root, held, trial, g, best, start, rho, rho_new, y, shift, kept, chosen, chosen_new, J, J_new, A
    )


@leaf
def lift(tasks: Any, rank: int, weight: float, widest: int, shift: Any, rho: Any, J: Any, chosen: Any) -> Any:
    """Make residuals those of one rank: later ones vanish, lower ones are shifted and weighed; value and blocks not met."""
    value, unmet = 0.0, 0
    for b in range(chosen.shape[0]):
        k = int(chosen[b])
        if k < 0:
            continue
        mine, square = tasks.term[k, RANK], 0.0
        s = 1.0 if mine == rank else 0.0 if mine > rank else weight
        for r in range(BLOCK * b, BLOCK * b + BLOCK):
            square += rho[r] * rho[r]
            rho[r] = s * (rho[r] + (shift[r] if mine < rank else 0.0))
            value += rho[r] * rho[r]
        if mine <= rank and not tasks.number[k, LIMIT] >= square:
            unmet += 1
        if s != 1.0:
            for c in range(b * widest, (b + 1) * widest):
                J[c, 0], J[c, 1], J[c, 2] = s * J[c, 0], s * J[c, 1], s * J[c, 2]
    return value, unmet


@leaf
def hold(q: Any, g: Any, D: Any, allowed: Any, held: Any) -> None:
    """Which coordinates may not move: locked ones, and those at a limit against which the gradient presses."""
    for i in range(q.shape[0]):
        pressed = (q[i] <= allowed.lower[i] and g[i] > 0.0) or (q[i] >= allowed.upper[i] and g[i] < 0.0)
        held[i] = 1.0 if pressed or D[i] == 0.0 else 0.0


@leaf
def model_step(tasks: Any, routes: Any, chosen: Any, J: Any, widest: int, damping: float, room: Any) -> None:
    """The damped step of the coordinates with ease, into ``room.g``; `room.y` holds the residuals to be removed."""
    n, m, y, g = room.g.shape[0], room.rho.shape[0], room.y, room.g
    if room.A.shape[0] == m:
        dual_matrix(tasks, routes, chosen, J, widest, room.ease, damping, room.A)
        solve_blocks(room.A, y, m)
        pull_back(tasks, routes, chosen, J, widest, y, g)
        for i in range(n):
            g[i] *= -room.ease[i]
    else:
        pull_back(tasks, routes, chosen, J, widest, y, g)
        for i in range(n):
            room.root[i] = math.sqrt(room.ease[i])
            y[i] = -room.root[i] * g[i]
        primal_matrix(tasks, routes, chosen, J, widest, room.root, damping, room.A)
        solve_symmetric(room.A, y, n)
        for i in range(n):
            g[i] = room.root[i] * y[i]


@leaf
def trial_step(
    tasks: Any, routes: Any, chosen: Any, J: Any, widest: int, rho: Any, q: Any, damping: float, allowed: Any, room: Any
) -> float:
    """The damped step inside the box: what would cross a limit is put on it, and the rest solved for once more.

    Returns the largest change of a coordinate.
    """
    n, m, held, trial = q.shape[0], rho.shape[0], room.held, room.trial
    hits, largest = 1, 0.0
    for turn in range(TURNS):
        if hits > 0:
            for a in range(m):
                room.y[a] = rho[a]
            for i in range(n):
                room.g[i] = trial[i] - q[i] if held[i] == 2.0 else 0.0
                room.ease[i] = room.D[i] if held[i] == 0.0 else 0.0
            if turn > 0:
                push_forward(tasks, routes, chosen, J, widest, room.g, room.y)
            model_step(tasks, routes, chosen, J, widest, damping, room)
            hits = 0
            for i in range(n):
                if held[i] != 2.0:
                    x = q[i] + room.g[i]
                    trial[i] = min(max(x, allowed.lower[i]), allowed.upper[i])
                    if trial[i] != x and turn < TURNS - 1:
                        held[i] = 2.0
                        hits += 1
    for i in range(n):
        largest = max(largest, abs(trial[i] - q[i]))
        if held[i] == 2.0:
            held[i] = 0.0  # a shorter step may leave it free again
    return largest


@leaf
def is_flat(g: Any, D: Any, held: Any, level: float) -> bool:
    """Whether the slope that is left along the coordinates that may move is next to nothing."""
    slope = 0.0
    for i in range(g.shape[0]):
        slope += D[i] * g[i] * g[i] if held[i] == 0.0 else 0.0
    return slope <= level


@leaf
def turn_back(box: Any, allowed: Any, D: Any, held: Any, q: Any) -> bool:
    """Take a whole turn off coordinates that are pressed against a limit, where limits leave room: the posture is the same."""
    moved = False
    for i in range(q.shape[0]):
        period = box[PERIOD, i]
        if held[i] == 1.0 and D[i] > 0.0 and period > 0.0 and allowed.upper[i] - allowed.lower[i] >= period:
            if q[i] >= allowed.upper[i]:
                q[i], moved = max(q[i] - period, allowed.lower[i]), True
            elif q[i] <= allowed.lower[i]:
                q[i], moved = min(q[i] + period, allowed.upper[i]), True
    return moved


@stage
def attempt(
    I: Any, F: Any, scratch: Any, T: Any, q: Any, settings: Any, box: Any, memory: Any, most: float, rank: int, weight: float,
    alignment: int, patience: int, info: Any, trace: Any,
) -> int:  # fmt: skip
    """Descend from q in place; the reason why it ended. info: iterations and evaluations added, the value written.

    Up to `most` steps; with no more than one attempt's, an attempt that is slow is abandoned. `rank` −1 looks at all tasks
    together.
    """
    n, widest = I[1], I[22]
    _, a, f = read_tree(I, F)
    tasks, f = read_tasks(I, F, a, f)
    routes = read_routes(I)
    allowed = read_limits(I, F, f)
    room = read_room(I, memory)
    rho, rho_new = room.rho, room.rho_new
    J, J_new = room.J, room.J_new
    chosen, chosen_new = room.chosen, room.chosen_new
    if I[17] > 0:
        recentre(I, F, q, STEEP)
    if alignment != NEVER:
        align(I, F, scratch, T, q, alignment == TIMIDLY)
    for i in range(n):
        room.trial[i] = q[i]
    k, slow, turns = 0.0, 0, 0
    scale, value, size = 1.0, math.inf, 0.0
    reason, fresh = SPENT, True  # fresh: the posture is evaluated for its own sake, not as a trial
    while fresh or not spent(info):
        new, still = linearise(I, F, scratch, T, room.trial, rho_new, J_new, chosen_new)
        info[EVALUATIONS] += 1.0
        if rank >= 0:
            new, still = lift(tasks, rank, weight, widest, room.shift, rho_new, J_new, chosen_new)
        if fresh or new < value:
            if not fresh:
                slow = slow + 1 if new > (HASTE if patience == LITTLE else settings[SLOW]) * value else 0
                scale *= 0.25
            value, fresh = new, False
            rho, rho_new = rho_new, rho
            J, J_new = J_new, J
            chosen, chosen_new = chosen_new, chosen
            for i in range(n):
                q[i] = room.trial[i]
            record(info, trace, value)
            if still == 0:
                reason = MET
                break
            if not value < math.inf:
                break
            if I[17] > 0 and recentre(I, F, q, STEEP) > 0:
                for i in range(n):
                    room.trial[i] = q[i]
                fresh = not spent(info)
                continue
            hopeless = slow >= (2 if patience == LITTLE else 3) and patience != ENDLESS
            if hopeless and settings[ATTEMPTS] > 1 and most <= settings[STEPS]:
                reason = ABANDONED
                break
            pull_back(tasks, routes, chosen, J, widest, rho, room.g)
            hold(q, room.g, room.D, allowed, room.held)
            if size == 0.0:
                size = size_of(tasks, routes, chosen, J, widest, room.D)
        else:
            scale = 8.0 * scale + 1e-3
        if not k < most:
            break
        k += 1.0
        damping = settings[FACTOR] * min(value, MOST * size) * scale + settings[FLOOR] * size
        largest = trial_step(tasks, routes, chosen, J, widest, rho, q, damping, allowed, room)
        if not largest > settings[TOLERANCE]:
            if turns < 4 and turn_back(box, allowed, room.D, room.held, q):
                turns += 1
                fresh = not spent(info)
                for i in range(n):
                    room.trial[i] = q[i]
                continue
            pull_back(tasks, routes, chosen, J, widest, rho, room.g)
            reason = STATIONARY if is_flat(room.g, room.D, room.held, LEVEL * size * rho.shape[0] * value) else SPENT
            break
    if I[17] > 0:
        report(I, F, q, room.start, EXACT)
    info[ITERATIONS] += k
    info[VALUE] = value
    return reason
