"""One attempt of Levenberg–Marquardt inside limits: the loop that `search` runs from many starts.

Minimise ``G(q) = |ρ(q)|²`` over ``l ≤ q ≤ h``. At q, with J the derivative of the residuals and D = diag((1 − ρᵢ)²) the
change of unit that rigidity stands for, the step solves one of

    (J_F D J_Fᵀ + λ I) y = ρ,  dq = −D J_Fᵀ y        (dual, m × m, where residuals are few),
    (S J_Fᵀ J_F S + λ I) u = −S J_Fᵀ ρ,  dq = S u     (primal, n × n, S = D^½, where they are many),

which are the same step, as is that of `articulated`, found joint by joint where goals are many for the number of joints. To the
last `bending` adds a second-order part if there is one rank. A posture goal ``|w^½ (q − r)|²`` adds its weights to the diagonal
of the primal form. F are the coordinates that may move: not locked, and not at a limit that the gradient presses against.
Coordinates that the step would carry past a limit are put on it and the others solved for once more, so the model's minimum
along the face is found; every trial is clipped, hence legal.

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

**Powers.** With the setting `POWER` p an attempt minimises the sum of p-th powers of shares of tolerances instead (`powers`),
and ends as soon as every share is surely below one.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.blocks_of_three import pull_back, size_of
from supple.kernels.charts import EXACT, STEEP, recentre, report
from supple.kernels.compiling import leaf, stage
from supple.kernels.jacobian import appraise, differentiate, locate
from supple.kernels.layouts import (
    BLOCK,
    BY_JOINTS,
    CHARTS,
    COORDINATES,
    KIND,
    LINEAR_LIMITS,
    MET as LIMIT,
    POSTURE_TERMS,
    RANK,
    RANKS,
    RANKS_THAT_MUST,
    RESIDUALS_ARE_FEW,
    WIDEST_ROUTE,
)
from supple.kernels.scratch import open_evaluation
from supple.kernels.tables import open_limits, open_routes, open_tasks
from supple.kernels.terms.kinds import is_inequality
from supple.kernels.tree import open_tree
from supple.problem.allowance import EVALUATIONS, ITERATIONS, MET, SPENT, STATIONARY, VALUE, record, spent
from supple.solvers.levenberg_marquardt.joint_by_joint import gather, joint_slopes, size_by_joints
from supple.solvers.levenberg_marquardt.posture_goals import find_pull, lean_on, mean_pull
from supple.solvers.levenberg_marquardt.powers import raise_columns, raise_residuals
from supple.solvers.levenberg_marquardt.room import (
    ATTEMPTS,
    FACTOR,
    FLOOR,
    PERIOD,
    POWER,
    SLOW,
    STEPS,
    TOLERANCE,
    read_room,
)
from supple.solvers.levenberg_marquardt.root_placement import align
from supple.solvers.levenberg_marquardt.secant import forget, learn
from supple.solvers.levenberg_marquardt.second_order import can_bend
from supple.solvers.levenberg_marquardt.step import (
    DUAL,
    JOINTS,
    LEARNT,
    PRIMAL,
    enter,
    hold,
    is_flat,
    touches,
    trial_step,
)

ABANDONED = 4  # a reason why an attempt ends, besides those of `meter`
USUAL, LITTLE, ENDLESS = range(3)  # patience with an attempt that is slow
HASTE = 0.8  # with little, it is abandoned after two steps in a row that leave more of G than this
MOST = 10.0  # damping follows G up to this multiple of the size of ``J D Jᵀ``
LEVEL = 1e-8  # of ``|J|²|ρ|²``: the square of a slope that counts as none
NOTHING = 1e-14  # a value below which slopes are looked at as if it were this: a rank that is met has none
NEVER, TIMIDLY, ALWAYS = range(3)  # whether a free root is moved to where the goals fit best before an attempt


@leaf
def lift(tasks: Any, low: int, high: int, must: int, weight: float, room: Any, rho: Any, rows: Any, chosen: Any) -> Any:
    """Make residuals and their covectors `rows` those of ranks `low` to `high`: later ones vanish, lower ones are weighed.

    Lower ones are shifted, too. Returns the value and the number of blocks not met, of ranks below `must`. An inequality
    of theirs is seen shifted: it counts as not met if what it has reached is not 0.
    """
    value, unmet = 0.0, 0
    for b in range(chosen.shape[0]):
        k = int(chosen[b])
        if k < 0:
            continue
        mine, square, kept = tasks.term[k, RANK], 0.0, 0.0
        s = weight if mine < low else 1.0 if mine <= high else 0.0
        seen = mine < low and is_inequality(tasks.term[k, KIND])  # with its shift
        for r in range(BLOCK * b, BLOCK * b + BLOCK):
            square += rho[r] * rho[r]
            kept += abs(room.kept[r]) if seen else 0.0
            rho[r] = s * (rho[r] + (room.shift[r] if mine < low and not seen else 0.0))
            value += rho[r] * rho[r]
        if mine <= high and mine < must and not (tasks.number[k, LIMIT] >= square and kept == 0.0):
            unmet += 1
        if s != 1.0:
            for r in range(BLOCK * b, BLOCK * b + BLOCK):
                for i in range(6):
                    rows[r, i] *= s
    return value, unmet


@leaf
def slope_at(
    form: int, tree: Any, tasks: Any, routes: Any, chosen: Any, J: Any, widest: int, rho: Any, room: Any
) -> None:
    """Half of the gradient, ``Jᵀρ`` and that of the posture goals, into ``room.g``."""
    if form == JOINTS:
        joint_slopes(tree, tasks, chosen, room)
        return
    pull_back(tasks, routes, chosen, J, widest, rho, room.g)
    for i in range(room.g.shape[0]):
        room.g[i] += room.lean[i]


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
    n, widest = I[COORDINATES], I[WIDEST_ROUTE]
    tree = open_tree(I, F)
    tasks = open_tasks(I, F)
    routes = open_routes(I, F)
    allowed = open_limits(I, F)
    room = read_room(I, memory)
    work = open_evaluation(I, scratch)
    rho, rho_new = room.rho, room.rho_new
    J, J_new = room.J, room.J_new
    chosen, chosen_new = room.chosen, room.chosen_new
    power = settings[POWER]
    form = JOINTS if I[BY_JOINTS] == 1 and power == 0.0 else DUAL if I[RESIDUALS_ARE_FEW] == 1 else PRIMAL
    preferring = find_pull(tasks, low, high, room) or low >= I[RANKS_THAT_MUST]
    if I[CHARTS] > 0:
        recentre(I, F, q, STEEP)
    placed = alignment != NEVER and not align(I, F, scratch, T, q, alignment == TIMIDLY)  # all is where q has it
    if I[LINEAR_LIMITS] > 0:
        enter(allowed, q, room)
        placed = False
    for i in range(n):
        room.trial[i] = q[i]
    k, slow, turns = 0.0, 0, 0
    scale, value, size = 1.0, math.inf, 0.0
    bends = False
    reason, fresh, still = SPENT, True, 1  # fresh: the posture is evaluated for its own sake, not as a trial
    while fresh or not spent(info):
        if not placed:
            locate(I, F, scratch, room.trial)
        placed = False
        new, unmet = appraise(I, F, scratch, T, rho_new, chosen_new)
        info[EVALUATIONS] += 1.0
        if power > 0.0:
            new, unmet = raise_residuals(tasks, high, power, rho_new, chosen_new)
        elif low > 0 or high + 1 < I[RANKS]:
            new, unmet = lift(tasks, low, high, I[RANKS_THAT_MUST], weight, room, rho_new, work.rows, chosen_new)
        if I[POSTURE_TERMS] > 0:
            new += lean_on(tasks, low, high, T, room.trial, room.root)
        if fresh or new < value:
            if form != JOINTS:
                differentiate(I, F, scratch, chosen_new, J_new)
            if power > 0.0:
                raise_columns(tasks, routes, power, rho_new, chosen_new, J_new, widest)
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
                room.lean[i] = room.root[i] if I[POSTURE_TERMS] > 0 else 0.0
            if power == 0.0:
                record(info, trace, value)
            if still == 0 and not preferring:
                reason = MET
                break
            if not value < math.inf:
                break
            if I[CHARTS] > 0 and recentre(I, F, q, STEEP) > 0:
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
                if form == JOINTS:
                    differentiate(I, F, scratch, chosen, J)
                form = LEARNT
                forget(room.S)
            bends = form == JOINTS and I[RANKS] == 1 and can_bend(tasks, chosen)
            if form == JOINTS:
                gather(tasks, chosen, work, rho, room)
            if touches(q, allowed):  # else slopes press against nothing
                slope_at(form, tree, tasks, routes, chosen, J, widest, rho, room)
            hold(q, room.g, room.D, allowed, room.held)
            if size == 0.0:
                if form == JOINTS:
                    size = size_by_joints(tree, tasks, routes, chosen, room) + mean_pull(room)
                else:
                    size = size_of(tasks, routes, chosen, J, widest, room.D) + mean_pull(room)
        else:
            scale = 8.0 * scale + 1e-3
        largest = -1.0
        while largest < 0.0 and k < most:
            k += 1.0
            damping = settings[FACTOR] * min(value, MOST * size) * scale + settings[FLOOR] * size
            largest = trial_step(
                form, bends, tree, tasks, routes, chosen, J, widest, rho, q, damping, size, allowed, room
            )
            scale = 8.0 * scale + 1e-3 if largest < 0.0 else scale
        if not largest > settings[TOLERANCE]:  # or the model has no minimum
            if largest >= 0.0 and turns < 4 and turn_back(box, allowed, room.D, room.held, q):
                turns += 1
                fresh = not spent(info)
                for i in range(n):
                    room.trial[i] = q[i]
                continue
            slope_at(form, tree, tasks, routes, chosen, J, widest, rho, room)
            level = LEVEL * size * rho.shape[0] * max(value, NOTHING)
            reason = STATIONARY if is_flat(q, size, allowed, level, room) else SPENT
            break
    if preferring and still == 0 and low < I[RANKS_THAT_MUST]:
        reason = MET
    if I[CHARTS] > 0:
        report(I, F, q, room.start, EXACT)
    info[ITERATIONS] += k
    info[VALUE] = value
    return reason
