"""One attempt of Levenberg–Marquardt inside limits: the loop that `search` runs from many starts.

Minimise ``G(q) = |ρ(q)|²`` over ``l ≤ q ≤ h``. At q, with J the derivative of the residuals and D = diag((1 − ρᵢ)²) the
change of unit that rigidity stands for, the step solves one of

    (J_F D J_Fᵀ + λ I) y = ρ,  dq = −D J_Fᵀ y        (dual, m × m, where residuals are few),
    (S J_Fᵀ J_F S + λ I) u = −S J_Fᵀ ρ,  dq = S u     (primal, n × n, S = D^½, where they are many),

which are the same step; a posture goal ``|w^½ (q − r)|²`` adds its weights to the diagonal of the primal form. F are the
coordinates that may move: not locked, and not at a limit that the gradient presses against. Coordinates that the step would
carry past a limit are put on it and the others solved for once more, so the model's minimum along the face is found; every
trial is clipped, hence legal.

Linear rows ``aᵀq ≤ b`` join the same active set as stiff springs: a row that the step would cross is held to its face, one
that is pulled off it is let go, and the trial is projected onto the polytope, which the springs leave by next to nothing.

The damping follows the value,
``λ = μ min(G, 10t) s + λ₀ t``, ``t = tr(J D Jᵀ)/m`` at the start, which makes steps quadratic near a solution; s grows
eightfold when a trial does not lower G and shrinks fourfold when one does. G never rises. An angle that is pressed against a
limit, but may go on a whole turn back, does.

An attempt that is slow, and not abandoned for it, goes on in coordinates and adds to ``JᵀJ`` what Gauss–Newton leaves out,
learnt on the way (`secant`): goals out of reach would make it crawl otherwise. If that is not positive definite, the damping is
raised.

**Charts.** Unlimited balls and free roots are re-centred on the way (`charts`), so F must be the caller's own; q is given and
left in the stated order of angles.

**Ranks.** With several ranks of tasks, an attempt looks at those from `low` to `high`, whose residuals count as they are;
those of lower ranks are held to the values they have reached by the terms ``w |ρ + shift|²`` of an augmented Lagrangian
(inequalities by ``w |dead(y + shift)|²``), later ones not at all. Where a posture is preferred, an attempt does not end as
soon as all tasks are met.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from supple.charts import EXACT, STEEP, recentre, report
from supple.compiled import leaf, row, shared, stage, table, written_in
from supple.linear import linearise
from supple.potentials import MET as LIMIT
from supple.potentials import NEAR, WEIGHT, is_inequality
from supple.projection import project, row_room
from supple.rows import overstep
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
from supple.solvers.secant import forget, learn
from supple.tree import padded, read_tree
from supple.views import BLOCK, RANK, is_dual, read_limits, read_routes, read_tasks

DUAL, PRIMAL, LEARNT = range(3)  # what a step is solved for in: residuals, coordinates, coordinates with curvature
ABANDONED = 4  # a reason why an attempt ends, besides those of `meter`
USUAL, LITTLE, ENDLESS = range(3)  # patience with an attempt that is slow
HASTE = 0.8  # with little, it is abandoned after two steps in a row that leave more of G than this
MOST = 10.0  # damping follows G up to this multiple of the size of ``J D Jᵀ``
LEVEL = 1e-8  # of ``|J|²|ρ|²``: the square of a slope that counts as none
TURNS, ROW_TURNS = 3, 10  # times that a step is solved for, each time with the limits that the last one met
SPRING = 1e5  # stiffness of a row that holds, as a multiple of the size of ``J D Jᵀ``
LEARNING = 256  # coordinates beyond which nothing is learnt: it would take more time than it saves
ON_ROW = 1e-9  # a step that goes this far past a row crosses it
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
    pull: Any  # weights of the posture goals that count now
    lean: Any  # half of their gradient
    rho: Any  # (m)
    rho_new: Any
    y: Any
    shift: Any  # of lower ranks
    kept: Any  # residuals that lower ranks have reached
    chosen: Any  # (blocks)
    chosen_new: Any
    J: Any  # (blocks · widest, 3)
    J_new: Any
    A: Any  # (n, n) and its factor, rows padded
    B: Any  # (m, m) in the same place, where residuals are few
    S: Any  # (n, n) what Gauss–Newton leaves out, or nothing
    learnt: Any  # (4, n)
    on: Any  # (rows of limits) 1 where a row holds
    spare: Any  # for projections
    origin: Any  # (n)


@shared
def learns(I: Any) -> int:
    """The order of what is learnt: the number of coordinates, or 0."""
    return I[1] if I[1] <= LEARNING else 0


@shared
def few(I: Any) -> int:
    """The number of residuals if steps are solved for in these, else 0."""
    return I[10] if is_dual(I) else 0


@shared
def many(I: Any) -> int:
    """The number of coordinates if steps are solved for in these, ever, else 0."""
    return 0 if is_dual(I) and learns(I) == 0 else I[1]


@shared
def matrix_size(I: Any) -> int:
    """Numbers of the largest linear system."""
    return max(many(I) * padded(many(I)), few(I) * padded(few(I)))


@shared
def room_size(I: Any) -> int:
    """Numbers of scratch that a search needs besides the evaluation's."""
    n, m = I[1], I[10]
    learnt = learns(I) * learns(I) + 4 * n
    return 11 * n + 6 * m + 2 * I[22] * m + matrix_size(I) + learnt + max(n, m) + I[15] + row_room(I[15])


@written_in
def read_room(I: Any, memory: Any) -> Any:
    """Views of the scratch."""
    n, m, blocks = I[1], I[10], I[10] // BLOCK
    D, ease, root = row(memory, 0, n), row(memory, n, n), row(memory, 2 * n, n)
    held, trial, g = row(memory, 3 * n, n), row(memory, 4 * n, n), row(memory, 5 * n, n)
    best, start = row(memory, 6 * n, n), row(memory, 7 * n, n)
    pull, lean, origin = row(memory, 8 * n, n), row(memory, 9 * n, n), row(memory, 10 * n, n)
    at = 11 * n
    rho, rho_new, y = row(memory, at, m), row(memory, at + m, m), row(memory, at + 2 * m, max(n, m))
    at += 2 * m + max(n, m)
    shift, kept = row(memory, at, m), row(memory, at + m, m)
    chosen, chosen_new = row(memory, at + 2 * m, blocks), row(memory, at + 2 * m + blocks, blocks)
    at += 3 * m
    rows = blocks * I[22]
    J, J_new = table(memory, at, rows, BLOCK), table(memory, at + BLOCK * rows, rows, BLOCK)
    at += 2 * BLOCK * rows
    A, B = table(memory, at, many(I), padded(many(I))), table(memory, at, few(I), padded(few(I)))
    at += matrix_size(I)
    S, learnt = table(memory, at, learns(I), learns(I)), table(memory, at + learns(I) * learns(I), 4, n)
    at += learns(I) * learns(I) + 4 * n
    on, spare = row(memory, at, I[15]), row(memory, at + I[15], row_room(I[15]))
    return Room(
        D, ease, root, held, trial, g, best, start, pull, lean, rho, rho_new, y, shift, kept, chosen, chosen_new, J, J_new,
        A, B, S, learnt, on, spare, origin,
    )  # fmt: skip


@leaf
def lift(
    tasks: Any, low: int, high: int, must: int, weight: float, widest: int, shift: Any, rho: Any, J: Any, chosen: Any
) -> Any:
    """Make residuals those of ranks `low` to `high`: later ones vanish, lower ones are shifted and weighed.

    Returns the value and the number of blocks not met, of ranks below `must`.
    """
    value, unmet = 0.0, 0
    for b in range(chosen.shape[0]):
        k = int(chosen[b])
        if k < 0:
            continue
        mine, square = tasks.term[k, RANK], 0.0
        s = weight if mine < low else 1.0 if mine <= high else 0.0
        shifted = mine < low and not is_inequality(tasks.term[k, 0])
        for r in range(BLOCK * b, BLOCK * b + BLOCK):
            square += rho[r] * rho[r]
            rho[r] = s * (rho[r] + (shift[r] if shifted else 0.0))
            value += rho[r] * rho[r]
        if mine <= high and mine < must and not tasks.number[k, LIMIT] >= square:
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
def find_pull(tasks: Any, low: int, high: int, room: Any) -> bool:
    """The weights of the posture goals of ranks `low` to `high`; whether there are any."""
    found = False
    for i in range(room.pull.shape[0]):
        room.pull[i] = 0.0
    for k in range(tasks.term.shape[0]):
        if tasks.term[k, 0] == NEAR and tasks.term[k, RANK] >= low and tasks.term[k, RANK] <= high:
            found = True
            for i in range(room.pull.shape[0]):
                room.pull[i] += tasks.number[k, WEIGHT] * tasks.near[tasks.term[k, 1], i]
    return found


@leaf
def lean_on(tasks: Any, low: int, high: int, T: Any, q: Any, lean: Any) -> float:
    """The value of the posture goals of ranks `low` to `high` at q; half of their gradient goes to `lean`."""
    value = 0.0
    for i in range(q.shape[0]):
        lean[i] = 0.0
    for k in range(tasks.term.shape[0]):
        if tasks.term[k, 0] == NEAR and tasks.term[k, RANK] >= low and tasks.term[k, RANK] <= high:
            r, t = tasks.term[k, 1], tasks.term[k, 3]
            for i in range(q.shape[0]):
                w, e = tasks.number[k, WEIGHT] * tasks.near[r, i], q[i] - T[t + i]
                lean[i] += w * e
                value += w * e * e
    return value


@leaf
def add_springs(allowed: Any, q: Any, stiffness: float, room: Any) -> None:
    """Rows that hold, as springs in the primal system; ``room.origin`` is the step that is already made."""
    n = q.shape[0]
    for r in range(room.on.shape[0]):
        if room.on[r] != 0.0:
            over = overstep(allowed.A, allowed.b, r, q)
            for i in range(n):
                over += allowed.A[r, i] * room.origin[i]
            for i in range(n):
                x = stiffness * room.root[i] * allowed.A[r, i]
                if x != 0.0:
                    room.y[i] -= x * over
                    for j in range(i, n):
                        room.A[i, j] += x * room.root[j] * allowed.A[r, j]


@leaf
def model_step(
    form: int, tasks: Any, routes: Any, chosen: Any, J: Any, widest: int, q: Any, damping: float, size: float,
    allowed: Any, room: Any,
) -> bool:  # fmt: skip
    """The damped step of the coordinates with ease, into ``room.g``, which holds the step that is already made.

    `room.y` holds the residuals to be removed. False if the model has no minimum.
    """
    n, m, y, g = room.g.shape[0], room.rho.shape[0], room.y, room.g
    definite = True
    if form == DUAL:
        dual_matrix(tasks, routes, chosen, J, widest, room.ease, damping, room.B)
        solve_blocks(room.B, y, m)
        pull_back(tasks, routes, chosen, J, widest, y, g)
        for i in range(n):
            g[i] *= -room.ease[i]
    else:
        for i in range(n):
            room.origin[i] = g[i]
        pull_back(tasks, routes, chosen, J, widest, y, g)
        for i in range(n):
            room.root[i] = math.sqrt(room.ease[i])
            y[i] = -room.root[i] * (g[i] + room.lean[i])
        primal_matrix(tasks, routes, chosen, J, widest, room.root, damping, room.A)
        if form == LEARNT:
            add_learnt(room)
        for i in range(n):
            room.A[i, i] += room.ease[i] * room.pull[i]
        add_springs(allowed, q, SPRING * size, room)
        definite = solve_symmetric(room.A, y, n)
        for i in range(n):
            g[i] = room.root[i] * y[i]
    return definite


@leaf
def add_learnt(room: Any) -> None:
    """What has been learnt of the curvature, as it acts on a step that begins with ``room.origin``."""
    n = room.root.shape[0]
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += room.S[i, j] * room.origin[j]
        room.y[i] -= room.root[i] * s
        for j in range(i, n):
            room.A[i, j] += room.root[i] * room.root[j] * room.S[i, j]


@leaf
def project_into(allowed: Any, q: Any, room: Any) -> None:
    """The nearest allowed posture, in the metric of the step."""
    project(q, allowed.lower, allowed.upper, allowed.equalities, allowed.A, allowed.b, room.D, room.spare, room.origin)


@leaf
def switch_rows(allowed: Any, room: Any) -> int:
    """Hold the rows that the trial crosses, let go those that it is pulled off; how many changed."""
    changed = 0
    for r in range(allowed.equalities, room.on.shape[0]):
        over = overstep(allowed.A, allowed.b, r, room.trial)
        if room.on[r] == 0.0 and over > ON_ROW:
            room.on[r], changed = 1.0, changed + 1
        elif room.on[r] != 0.0 and over < 0.0:
            room.on[r], changed = 0.0, changed + 1
    return changed


@leaf
def trial_step(
    form: int, tasks: Any, routes: Any, chosen: Any, J: Any, widest: int, rho: Any, q: Any, damping: float, size: float,
    allowed: Any, room: Any,
) -> float:  # fmt: skip
    """The damped step inside the limits: what would cross one is put on it, and the rest solved for once more.

    Returns the largest change of a coordinate; −1 if the model has no minimum.
    """
    n, m, held, trial = q.shape[0], rho.shape[0], room.held, room.trial
    definite = True
    hits, largest, turns = 1, 0.0, ROW_TURNS if room.on.shape[0] > 0 else TURNS
    for turn in range(turns):
        if hits > 0:
            for a in range(m):
                room.y[a] = rho[a]
            for i in range(n):
                room.g[i] = trial[i] - q[i] if held[i] == 2.0 else 0.0
                room.ease[i] = room.D[i] if held[i] == 0.0 else 0.0
            if turn > 0:
                push_forward(tasks, routes, chosen, J, widest, room.g, room.y)
            definite = definite and model_step(form, tasks, routes, chosen, J, widest, q, damping, size, allowed, room)
            hits = 0
            for i in range(n):
                if held[i] != 2.0:
                    x = q[i] + room.g[i]
                    trial[i] = min(max(x, allowed.lower[i]), allowed.upper[i])
                    if trial[i] != x and turn < turns - 1:
                        held[i] = 2.0
                        hits += 1
            hits += switch_rows(allowed, room)
    if room.on.shape[0] > 0:
        project_into(allowed, trial, room)
    for i in range(n):
        largest = max(largest, abs(trial[i] - q[i]))
        if held[i] == 2.0:
            held[i] = 0.0  # a shorter step may leave it free again
    return largest if definite else -1.0


@leaf
def is_flat(q: Any, size: float, allowed: Any, level: float, room: Any) -> bool:
    """Whether the slope ``room.g`` that is left along the moves that are allowed is next to nothing.

    With rows, it is that of the way to the projection of a step down the slope.
    """
    slope, D = 0.0, room.D
    if room.on.shape[0] > 0:
        for i in range(q.shape[0]):
            room.trial[i] = q[i] - D[i] * room.g[i] / max(size, 1e-300)
        project_into(allowed, room.trial, room)
        for i in range(q.shape[0]):
            d = (room.trial[i] - q[i]) * size
            slope += d * d / D[i] if D[i] > 0.0 else 0.0
        return slope <= level
    for i in range(q.shape[0]):
        slope += D[i] * room.g[i] * room.g[i] if room.held[i] == 0.0 else 0.0
    return slope <= level


@leaf
def slope_at(tasks: Any, routes: Any, chosen: Any, J: Any, widest: int, rho: Any, room: Any) -> None:
    """Half of the gradient, ``Jᵀρ`` and that of the posture goals, into ``room.g``."""
    pull_back(tasks, routes, chosen, J, widest, rho, room.g)
    for i in range(room.g.shape[0]):
        room.g[i] += room.lean[i]


@leaf
def mean_pull(room: Any) -> float:
    """The mean weight of the posture goals."""
    total = 0.0
    for i in range(room.pull.shape[0]):
        total += room.pull[i] * room.D[i]
    return total / max(room.pull.shape[0], 1)


@leaf
def enter(allowed: Any, q: Any, room: Any) -> None:
    """Bring a start inside the limits, and hold the rows it stands on."""
    project_into(allowed, q, room)
    for r in range(room.on.shape[0]):
        room.on[r] = 1.0 if r < allowed.equalities or overstep(allowed.A, allowed.b, r, q) > -ON_ROW else 0.0


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
    I: Any, F: Any, scratch: Any, T: Any, q: Any, settings: Any, box: Any, memory: Any, most: float, low: int, high: int,
    weight: float, alignment: int, patience: int, info: Any, trace: Any,
) -> int:  # fmt: skip
    """Descend from q in place; the reason why it ended. info: iterations and evaluations added, the value written.

    Up to `most` steps; with no more than one attempt's, an attempt that is slow is abandoned.
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
    form = DUAL if is_dual(I) else PRIMAL
    preferring = find_pull(tasks, low, high, room) or low >= I[26]
    if I[17] > 0:
        recentre(I, F, q, STEEP)
    if alignment != NEVER:
        align(I, F, scratch, T, q, alignment == TIMIDLY)
    if I[15] > 0:
        enter(allowed, q, room)
    for i in range(n):
        room.trial[i] = q[i]
    k, slow, turns = 0.0, 0, 0
    scale, value, size = 1.0, math.inf, 0.0
    reason, fresh, still = SPENT, True, 1  # fresh: the posture is evaluated for its own sake, not as a trial
    while fresh or not spent(info):
        new, unmet = linearise(I, F, scratch, T, room.trial, rho_new, J_new, chosen_new)
        info[EVALUATIONS] += 1.0
        if low > 0 or high + 1 < I[23]:
            new, unmet = lift(tasks, low, high, I[26], weight, widest, room.shift, rho_new, J_new, chosen_new)
        if I[13] > 0:
            new += lean_on(tasks, low, high, T, room.trial, room.root)
        if fresh or new < value:
            if not fresh:
                slow = slow + 1 if new > (HASTE if patience == LITTLE else settings[SLOW]) * value else 0
                scale *= 0.25
                if form == LEARNT:
                    learn(
                        tasks, routes, widest, chosen, J, rho, chosen_new, J_new, rho_new, q, room.trial, room.S,
                        room.learnt[0], room.learnt[1], room.learnt[2], room.learnt[3],
                    )  # fmt: skip
            value, fresh, still = new, False, unmet
            rho, rho_new = rho_new, rho
            J, J_new = J_new, J
            chosen, chosen_new = chosen_new, chosen
            for i in range(n):
                q[i] = room.trial[i]
                room.lean[i] = room.root[i] if I[13] > 0 else 0.0
            record(info, trace, value)
            if still == 0 and not preferring:
                reason = MET
                break
            if not value < math.inf:
                break
            if I[17] > 0 and recentre(I, F, q, STEEP) > 0:
                for i in range(n):
                    room.trial[i] = q[i]
                fresh = not spent(info)
                if form == LEARNT:
                    forget(room.S)
                continue
            hopeless = slow >= (2 if patience == LITTLE else 3)
            if hopeless and patience != ENDLESS and settings[ATTEMPTS] > 1 and most <= settings[STEPS]:
                reason = ABANDONED
                break
            if hopeless and form != LEARNT and room.S.shape[0] > 0:
                form = LEARNT
                forget(room.S)
            slope_at(tasks, routes, chosen, J, widest, rho, room)
            hold(q, room.g, room.D, allowed, room.held)
            if size == 0.0:
                size = size_of(tasks, routes, chosen, J, widest, room.D) + mean_pull(room)
        else:
            scale = 8.0 * scale + 1e-3
        largest = -1.0
        while largest < 0.0 and k < most:
            k += 1.0
            damping = settings[FACTOR] * min(value, MOST * size) * scale + settings[FLOOR] * size
            largest = trial_step(form, tasks, routes, chosen, J, widest, rho, q, damping, size, allowed, room)
            scale = 8.0 * scale + 1e-3 if largest < 0.0 else scale
        if largest < 0.0:
            break
        if not largest > settings[TOLERANCE]:
            if turns < 4 and turn_back(box, allowed, room.D, room.held, q):
                turns += 1
                fresh = not spent(info)
                for i in range(n):
                    room.trial[i] = q[i]
                continue
            slope_at(tasks, routes, chosen, J, widest, rho, room)
            level = LEVEL * size * rho.shape[0] * value
            reason = STATIONARY if is_flat(q, size, allowed, level, room) else SPENT
            break
    if preferring and still == 0 and low < I[26]:
        reason = MET
    if I[17] > 0:
        report(I, F, q, room.start, EXACT)
    info[ITERATIONS] += k
    info[VALUE] = value
    return reason
