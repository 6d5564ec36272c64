"""One differential step: linearised tasks in strict order, inside the box of limits and speeds.

With ρ the residuals of the tasks at q and J their derivatives, a step x = dq of duration dt lies in the box

    max(l − q, −v dt, v₋ dt) ≤ x ≤ min(h − q, v dt, v₊ dt),

with limits l, h, greatest speeds v, and velocities v₋ ≤ v₊ that accelerations allow. Tasks come in levels: hard ones first,
then soft ones by priority. Level k, with rows
A = J_k and the wanted change b = −γ ρ_k (γ the gain; 1 for hard tasks), is

    minimise  |A x − b|² + Σ_i D_i (x_i − z_i)²    subject to the box and to  C x = C x′,

where x′ is the step after the levels before and C are their rows: what they have reached, to first order, stays. D_i is
the damping ``λ = damping + ease |ρ|²``, divided by (1 − rigidity)²; a posture goal of the level with weights c adds to it,
``D_i = λ_i + c_i`` and ``z_i = γ c_i (ref_i − q_i) / D_i``, and later levels hold the coordinates that it weighs.

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
from supple.kernels.compiling import entry, leaf, row, stage
from supple.kernels.jacobian import jacobian
from supple.kernels.kinds import NEAR
from supple.kernels.layouts import FRAME_ROW, KIND, RESIDUALS, TARGET_AT, WEIGHT
from supple.kernels.tables import open_limits, open_tasks
from supple.solvers.differential.held import lock, pressing_most, row_times, sweep_level, walk
from supple.solvers.differential.scratch import (
    DAMPING,
    DT,
    EASE,
    FAILED,
    FIRST,
    FREE,
    GAIN,
    HARD,
    LEVELS,
    LOCKED,
    SPEED,
    TURNS,
    open_box,
    open_least_norm,
    open_metric,
    open_rows,
    open_step,
)


@leaf
def find_box(I: Any, F: Any, q: Any, settings: Any, box: Any) -> None:
    """The box of the step, the nearest point in it to standing still, and which coordinates may not move at all.

    Outside the limits the way back is taken as fast as is allowed.
    """
    allowed, n = open_limits(I, F), q.shape[0]
    for i in range(n):
        reach = settings[SPEED + i] * settings[DT]
        least, most = settings[SPEED + n + i] * settings[DT], settings[SPEED + 2 * n + i] * settings[DT]
        box.lower[i] = min(max(allowed.lower[i] - q[i], max(-reach, least)), min(reach, most))
        box.upper[i] = max(min(allowed.upper[i] - q[i], min(reach, most)), max(-reach, least))
        box.x[i] = min(max(0.0, box.lower[i]), box.upper[i])
        box.held[i] = FREE if allowed.mobility[i] > 0.0 and box.lower[i] < box.upper[i] else LOCKED


@leaf
def find_metric(I: Any, F: Any, T: Any, q: Any, plan: Any, level: int, prices: Any, metric: Any) -> float:
    """D and the centre z of a level, from the damping, the rigidity and its posture goals, whose weights go to c; its gain."""
    tasks = open_tasks(I, F)
    allowed = open_limits(I, F)
    damping, part = prices
    D, c, z, gain = metric.D, metric.c, metric.z, 1.0 if level < plan[HARD] else part
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
        mobility = allowed.mobility[i]
        D[i] = c[i] + damping / (mobility * mobility) if mobility > 0.0 else 1.0
        z[i] /= D[i]
    return gain


@leaf
def fill_rows(rows: Any, least: Any, box: Any, metric: Any, first: int, last: int) -> int:
    """The rows ``[C E 0; A E I]`` over the free coordinates, what they should give in w, and their whole lengths in `corner`.

    Returns the number of free coordinates.
    """
    A, w, B, x, held, z, free = rows.A, rows.w, least.B, box.x, box.held, metric.z, 0
    for i in range(x.shape[0]):
        free += 1 if held[i] == FREE else 0
    for a in range(last):
        k, square = 0, 0.0
        w[a] = rows.wanted[a]
        for i in range(x.shape[0]):
            v = A[a, i] / math.sqrt(metric.D[i])
            square += v * v
            w[a] -= A[a, i] * (z[i] if held[i] == FREE else x[i])
            if held[i] == FREE:
                B[a, k] = v
                k += 1
        for b in range(first, last):
            B[a, free + b - first] = 1.0 if a == b else 0.0
        least.corner[a] = math.sqrt(square)
    return free


@leaf
def minimum_over_free(rows: Any, least: Any, box: Any, metric: Any, first: int, last: int) -> None:
    """Where the free coordinates are best, the others being where they are; the multipliers in w."""
    wide = fill_rows(rows, least, box, metric, first, last) + last - first
    equations = Equations(least.B, rows.w, least.corner, least.y, least.front, least.beta, least.place)
    least_norm(equations, last, first, wide)
    free = 0
    for i in range(box.x.shape[0]):
        if box.held[i] == FREE:
            box.to[i] = metric.z[i] + least.y[0, free] / math.sqrt(metric.D[i])
            free += 1


@leaf
def minimise_level(rows: Any, least: Any, box: Any, metric: Any, first: int, last: int, is_first: bool) -> int:
    """The step of one level, rows first … last − 1; the number of factorisations."""
    n, held = box.x.shape[0], box.held
    turns, freed, side, going = 0, -1, FREE, True
    while going and turns < 4 * n + 8:
        turns += 1
        minimum_over_free(rows, least, box, metric, first, last)
        stop = walk(box)
        if stop >= 0 and stop == freed and held[stop] == side:
            held[stop] = LOCKED  # it pressed inwards by rounding alone
        if stop >= 0 and is_first and turns == 1:
            sweep_level(rows, box, metric, last, least.front)
        freed = -1
        if stop < 0:
            freed = pressing_most(rows, box, metric, last, turns > 2 * n + 8)
            going = freed >= 0
        if freed >= 0:
            side, held[freed] = held[freed], FREE
    return turns


@leaf
def add_step(I: Any, F: Any, q: Any, x: Any) -> int:
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


@stage
def step_once(I: Any, F: Any, memory: Any, T: Any, q: Any, plan: Any, settings: Any) -> Any:
    """Take one step from q, in place; the number of factorisations, and 1 if a number was not finite: then q stays."""
    scratch = open_step(I, memory)
    box = open_box(I, scratch.box)
    metric = open_metric(I, scratch.metric)
    rows = open_rows(I, scratch.rows)
    least = open_least_norm(I, scratch.least)
    jacobian(I, F, scratch.evaluation, T, q, rows.rho, rows.J)
    levels, total = plan[LEVELS], 0
    order = row(plan, FIRST + levels + 1, I[RESIDUALS])
    for a in range(plan[FIRST + levels]):
        for i in range(q.shape[0]):
            rows.A[a, i] = rows.J[order[a], i]
    find_box(I, F, q, settings, box)
    square = 0.0
    for a in range(plan[FIRST + levels]):
        square += rows.rho[order[a]] * rows.rho[order[a]]
    prices = (settings[DAMPING] + settings[EASE] * square, settings[GAIN])
    for level in range(levels):
        first, last = plan[FIRST + level], plan[FIRST + level + 1]
        gain = find_metric(I, F, T, q, plan, level, prices, metric)
        for a in range(first, last):
            rows.wanted[a] = -gain * rows.rho[order[a]]
        total += minimise_level(rows, least, box, metric, first, last, level == 0)
        for a in range(first, last):
            rows.wanted[a] = row_times(rows.A, a, box.x)
        if level < levels - 1:
            lock(rows, box, metric, last)
    return total, add_step(I, F, q, box.x)


@entry
def step_entry(
    I: Any, F: Any, memory: Any, T: Any, Q: Any, plan: Any, settings: Any, report: Any, first: int, last: int
) -> None:
    """One step of each of the postures first … last − 1 of Q (k, size), in place, for T (k, …); report (k, REPORT)."""
    for k in range(first, last):
        report[k, TURNS], report[k, FAILED] = step_once(I, F, memory, T[k], Q[k], plan, settings)
