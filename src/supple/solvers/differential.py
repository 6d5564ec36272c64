"""One differential step: linearised tasks in strict order, inside the box of limits and speeds.

With ρ the residuals of the tasks at q and J their derivatives, a step x = dq of duration dt lies in the box

    max(l − q, −v dt) ≤ x ≤ min(h − q, v dt),

with limits l, h and greatest speeds v. Tasks come in levels: hard ones first, then soft ones by priority. Level k, with rows
A = J_k and the wanted change b = −γ ρ_k (γ the gain; 1 for hard tasks), is

    minimise  |A x − b|² + Σ_i D_i (x_i − z_i)²    subject to the box and to  C x = C x′,

where x′ is the step after the levels before and C are their rows: what they have reached, to first order, stays. D_i is the
damping λ, divided by (1 − rigidity)²; a posture goal of the level with weights c adds to it, ``D_i = λ_i + c_i`` and
``z_i = γ c_i (ref_i − q_i) / D_i``, and later levels hold the coordinates that it weighs.

**Held coordinates.** For a set of coordinates held at their bounds the rest is a problem of least norm: with
``y_i = √D_i (x_i − z_i)`` and s = b − A x,

    minimise |y|² + |s|²   subject to   [C E 0; A E I] (y, s) = (C (x′ − z), b − A z),    E = diag(D_i^−½),

solved by Householder reflections of the rows, which square no condition number; rows of C that depend on earlier ones are
left out. Its multipliers w give the slope ``D_i (x_i − z_i) − (C, A)_i · w`` of every held coordinate, whose sign says
whether it is held rightly.

**Which are held.** A primal active set: walk from a point inside to the minimum over the free coordinates until a bound is met
and hold that one, or, at the minimum, release the one that presses inwards most. The problem is strictly convex, so what ends
with all signs right is the one minimum; whenever the loop ends, the step is inside the box and disturbs no level before. If
the first level's first walk is stopped, some sweeps of coordinate descent guess at once which coordinates end at a bound.

**What is left to later levels.** At the minimum of a level with slopes g, every x in the box with C x = C x′ and A x = A x′ has
``Σ_held g_i (x_i − x′_i) = Σ_j D_j (x′_j − z_j)(x_j − x′_j)``, and no term on the left is negative. So a held coordinate i
moves by at most ``Σ_j D_j |x′_j − z_j| (upper_j − lower_j) / |g_i|``. Where that is next to nothing it is held for good.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.least_norm import Equations, least_norm
from supple.kernels.compiling import entry, leaf, row, shared, stage, table
from supple.kernels.jacobian import jacobian
from supple.kernels.layouts import COORDINATES, FRAME_ROW, KIND, RESIDUALS, TARGET_AT, WEIGHT
from supple.kernels.tables import open_limits, open_tasks
from supple.kernels.terms.kinds import NEAR

DT, GAIN, DAMPING, SPEED = range(4)  # settings; speeds to the end
LEVELS, HARD, FIRST = range(
    3
)  # plan; then where each level begins, the residuals in order, the levels of posture goals
SWEEPS = 10  # over the coordinates, to guess which are held
SLACK = 1e-10  # an aim that is past a bound by less than this does not stop there: rounding would turn in circles
NOISE = 1e-14  # a slope smaller than this part of the sum of its terms' sizes has no sign
LITTLE = 1e-7  # a coordinate that later levels could move by less than this part of its way is held for good
FREE, LOCKED = 0.0, 2.0  # in `held`; −1 and 1 are held at the lower and the upper bound


@shared
def room_size(I: Any) -> int:
    """Numbers of scratch that a step needs besides the evaluation's."""
    n, m = I[COORDINATES], I[RESIDUALS]
    return 8 * n + 7 * m + (n + m) + m * n + m * (n + m)


@leaf
def box(I: Any, F: Any, q: Any, settings: Any, lower: Any, upper: Any, x: Any, held: Any) -> None:
    """The box of the step, the nearest point in it to standing still, and which coordinates may not move at all.

    Outside the limits the way back is taken as fast as is allowed.
    """
    allowed = open_limits(I, F)
    for i in range(q.shape[0]):
        reach = settings[SPEED + i] * settings[DT]
        lower[i] = min(max(allowed.lower[i] - q[i], -reach), reach)
        upper[i] = max(min(allowed.upper[i] - q[i], reach), -reach)
        x[i] = min(max(0.0, lower[i]), upper[i])
        held[i] = FREE if allowed.mobility[i] > 0.0 and lower[i] < upper[i] else LOCKED


@leaf
def metric(
    I: Any, F: Any, T: Any, q: Any, plan: Any, level: int, gain: float, damping: float, D: Any, c: Any, z: Any
) -> None:
    """D and the centre z of a level, from the damping, the rigidity and the level's posture goals, whose weights go to c."""
    tasks = open_tasks(I, F)
    allowed = open_limits(I, F)
    near = FIRST + plan[LEVELS] + 1 + plan[FIRST + plan[LEVELS]]
    for i in range(q.shape[0]):
        c[i], z[i] = 0.0, 0.0
    for k in range(tasks.term.shape[0]):
        r, t = tasks.term[k, FRAME_ROW], tasks.term[k, TARGET_AT]
        if tasks.term[k, KIND] == NEAR and plan[near + r] == level:
            for i in range(q.shape[0]):
                weight = tasks.number[k, WEIGHT] * tasks.near[r, i]
                c[i] += weight
                z[i] += gain * weight * (T[t + i] - q[i])
    for i in range(q.shape[0]):
        D[i] = c[i] + damping / (allowed.mobility[i] * allowed.mobility[i]) if allowed.mobility[i] > 0.0 else 1.0
        z[i] /= D[i]


@leaf
def fill(
    J: Any, order: Any, wanted: Any, first: int, last: int, x: Any, held: Any, D: Any, z: Any, B: Any, w: Any, size: Any
) -> int:
    """The rows ``[C E 0; A E I]`` over the free coordinates, what they should give in w, and their whole lengths in `size`.

    Returns the number of free coordinates.
    """
    free = 0
    for i in range(x.shape[0]):
        free += 1 if held[i] == FREE else 0
    for a in range(last):
        r, k, square = order[a], 0, 0.0
        w[a] = wanted[a]
        for i in range(x.shape[0]):
            v = J[r, i] / math.sqrt(D[i])
            square += v * v
            w[a] -= J[r, i] * (z[i] if held[i] == FREE else x[i])
            if held[i] == FREE:
                B[a, k] = v
                k += 1
        for b in range(first, last):
            B[a, free + b - first] = 1.0 if a == b else 0.0
        size[a] = math.sqrt(square)
    return free


@leaf
def pressing(J: Any, order: Any, last: int, i: int, x: Any, held: Any, D: Any, z: Any, w: Any, noise: float) -> float:
    """By how much a held coordinate presses inwards, away from its bound; 0 if it does not."""
    slope = D[i] * (x[i] - z[i])
    size = abs(slope)
    for a in range(last):
        slope -= J[order[a], i] * w[a]
        size += abs(J[order[a], i] * w[a])
    push = slope * held[i] / math.sqrt(D[i])
    return push if push > noise * size / math.sqrt(D[i]) else 0.0


@leaf
def stacked(J: Any, order: Any, a: int, x: Any) -> float:
    """What row a gives for x."""
    s = 0.0
    for i in range(x.shape[0]):
        s += J[order[a], i] * x[i]
    return s


@leaf
def sweep(
    J: Any, order: Any, last: int, wanted: Any, lower: Any, upper: Any, x: Any, held: Any, D: Any, z: Any, r: Any
) -> None:
    """One coordinate of the first level after the other is minimised, some times over; those that end at a bound are held."""
    for a in range(last):
        r[a] = stacked(J, order, a, x) - wanted[a]
    for _ in range(SWEEPS):
        for i in range(x.shape[0]):
            if held[i] == LOCKED:
                continue
            slope, curve = D[i] * (x[i] - z[i]), D[i]
            for a in range(last):
                v = J[order[a], i]
                slope += v * r[a]
                curve += v * v
            to = min(max(x[i] - slope / curve, lower[i]), upper[i])
            for a in range(last):
                r[a] += J[order[a], i] * (to - x[i])
            x[i] = to
            held[i] = -1.0 if to == lower[i] else (1.0 if to == upper[i] else FREE)


@leaf
def walk(lower: Any, upper: Any, x: Any, aim: Any, held: Any) -> int:
    """Go from x towards the aim as far as the box allows, and hold the coordinate that stopped the way; which, or −1."""
    part, stop = 1.0, -1
    for i in range(x.shape[0]):
        if held[i] == FREE and (aim[i] < lower[i] - SLACK or aim[i] > upper[i] + SLACK):
            way = ((lower[i] if aim[i] < lower[i] else upper[i]) - x[i]) / (aim[i] - x[i])
            if way < part:
                part, stop = way, i
    for i in range(x.shape[0]):
        if held[i] == FREE:
            x[i] = min(max(x[i] + part * (aim[i] - x[i]) if stop >= 0 else aim[i], lower[i]), upper[i])
    if stop >= 0:
        held[stop] = -1.0 if aim[stop] < lower[stop] else 1.0
        x[stop] = lower[stop] if aim[stop] < lower[stop] else upper[stop]
    return stop


@leaf
def pressing_most(J: Any, order: Any, last: int, x: Any, held: Any, D: Any, z: Any, w: Any, cautious: bool) -> int:
    """The coordinate to release: the one that presses inwards most, or, against turning in circles, the first that surely does.

    Returns which one, or −1.
    """
    noise = 1e4 * NOISE if cautious else NOISE
    most, worst = 0.0, -1
    for i in range(x.shape[0]):
        if held[i] != FREE and held[i] != LOCKED and not (cautious and worst >= 0):
            push = pressing(J, order, last, i, x, held, D, z, w, noise)
            if push > most:
                most, worst = push, i
    return worst


@leaf
def lock(
    J: Any, order: Any, last: int, lower: Any, upper: Any, x: Any, held: Any, D: Any, c: Any, z: Any, w: Any
) -> None:
    """Take from later levels what posture goals weigh, and what could move by next to nothing (see above)."""
    play = 0.0
    for i in range(x.shape[0]):
        if c[i] > 0.0:
            held[i] = LOCKED
        if held[i] != LOCKED and x[i] != z[i]:
            play += D[i] * abs(x[i] - z[i]) * (upper[i] - lower[i])
    for i in range(x.shape[0]):
        if held[i] != LOCKED and held[i] != FREE:
            slope = D[i] * (x[i] - z[i])
            for a in range(last):
                slope -= J[order[a], i] * w[a]
            if -slope * held[i] * LITTLE * (upper[i] - lower[i]) > play:
                held[i] = LOCKED


@stage
def step_once(I: Any, F: Any, scratch: Any, T: Any, q: Any, plan: Any, settings: Any, memory: Any) -> Any:
    """Take one step from q, in place; the number of factorisations, and 1 if a number was not finite: then q stays."""
    n, m, levels = I[COORDINATES], I[RESIDUALS], plan[LEVELS]
    lower, upper, x = row(memory, 0, n), row(memory, n, n), row(memory, 2 * n, n)
    aim, held, D = row(memory, 3 * n, n), row(memory, 4 * n, n), row(memory, 5 * n, n)
    z, c, at = row(memory, 6 * n, n), row(memory, 7 * n, n), 8 * n
    rho, wanted, w = row(memory, at, m), row(memory, at + m, m), row(memory, at + 2 * m, m)
    corner, beta, place = row(memory, at + 3 * m, m), row(memory, at + 4 * m, m), row(memory, at + 5 * m, m)
    front, y, J = row(memory, at + 6 * m, m), table(memory, at + 7 * m, 1, n + m), table(memory, at + 8 * m + n, m, n)
    B = table(memory, at + 8 * m + n + m * n, m, n + m)
    order = row(plan, FIRST + levels + 1, m)
    jacobian(I, F, scratch, T, q, rho, J)
    box(I, F, q, settings, lower, upper, x, held)
    total = 0
    for level in range(levels):
        first, last = plan[FIRST + level], plan[FIRST + level + 1]
        gain = 1.0 if level < plan[HARD] else settings[GAIN]
        metric(I, F, T, q, plan, level, gain, settings[DAMPING], D, c, z)
        for a in range(first, last):
            wanted[a] = -gain * rho[order[a]]
        turns, freed, side = 0, -1, FREE
        going = True
        while going and turns < 4 * n + 8:
            turns += 1
            free = fill(J, order, wanted, first, last, x, held, D, z, B, w, corner)
            least_norm(Equations(B, w, corner, y, front, beta, place), last, first, free + last - first)
            free = 0
            for i in range(n):
                if held[i] == FREE:
                    aim[i] = z[i] + y[0, free] / math.sqrt(D[i])
                    free += 1
            stop = walk(lower, upper, x, aim, held)
            if stop >= 0 and stop == freed and held[stop] == side:
                held[stop] = LOCKED  # it pressed inwards by rounding alone
            if stop >= 0 and level == 0 and turns == 1:
                sweep(J, order, last, wanted, lower, upper, x, held, D, z, front)
            freed = -1
            if stop < 0:
                freed = pressing_most(J, order, last, x, held, D, z, w, turns > 2 * n + 8)
                going = freed >= 0
            if freed >= 0:
                side, held[freed] = held[freed], FREE
        total += turns
        for a in range(first, last):
            wanted[a] = stacked(J, order, a, x)
        if level < levels - 1:
            lock(J, order, last, lower, upper, x, held, D, c, z, w)
    return total, land(I, F, q, x)


@leaf
def land(I: Any, F: Any, q: Any, x: Any) -> int:
    """Add the step to q, never past a limit by rounding; 1, and q as it was, if a number is not finite."""
    allowed = open_limits(I, F)
    for i in range(q.shape[0]):
        if not math.isfinite(x[i]):
            return 1
    for i in range(q.shape[0]):
        to = q[i] + x[i]
        if q[i] >= allowed.lower[i] and q[i] <= allowed.upper[i]:
            to = min(max(to, allowed.lower[i]), allowed.upper[i])
        q[i] = to
    return 0


@entry
def step_entry(
    I: Any, F: Any, scratch: Any, T: Any, Q: Any, plan: Any, settings: Any, info: Any, first: int, last: int
) -> None:
    """One step of each of the postures first … last − 1 of Q (k, size), in place, towards the targets T (k, …); info (k, 2)."""
    memory = row(scratch, scratch.shape[0] - room_size(I), room_size(I))
    for k in range(first, last):
        info[k, 0], info[k, 1] = step_once(I, F, scratch, T[k], Q[k], plan, settings, memory)
