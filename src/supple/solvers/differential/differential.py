"""One differential step: linearised tasks in strict order, inside the box of limits and speeds.

With ρ the residuals of the tasks at q and J their derivatives, a step x = dq of duration dt lies in the box

    max(l − q, −v dt) ≤ x ≤ min(h − q, v dt),

with limits l, h and greatest speeds v. Tasks come in levels: hard ones first, then soft ones by priority. Level k, with rows
A = J_k and the wanted change b = −γ ρ_k (γ the gain; 1 for hard tasks), is

    minimise  |A x − b|² + Σ_i D_i (x_i − z_i)²    subject to the box and to  C x = C x′,

where x′ is the step after the levels before and C are their rows: what they have reached, to first order, stays. D_i is the
damping λ, divided by (1 − rigidity)²; a posture goal of the level with weights c adds to it, ``D_i = λ_i + c_i`` and
``z_i = γ c_i (ref_i − q_i) / D_i``, and later levels hold the coordinates that it weighs. How a level is
solved is told in `level`.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import entry, leaf, row, stage
from supple.kernels.jacobian import jacobian
from supple.kernels.layouts import FRAME_ROW, KIND, RESIDUALS, TARGET_AT, WEIGHT
from supple.kernels.tables import open_limits, open_tasks
from supple.kernels.terms.kinds import NEAR
from supple.solvers.differential.level import FREE, LOCKED, lock, minimise_level, open_step, stacked

DT, GAIN, DAMPING, SPEED = range(4)  # settings; speeds to the end
LEVELS, HARD, FIRST = range(3)  # plan; then where levels begin, the residuals in order, the levels of posture goals
FACTORISATIONS, NOT_FINITE, REPORT = range(3)  # what a step tells of itself


@leaf
def box(I: Any, F: Any, q: Any, settings: Any, s: Any) -> None:
    """The box of the step, the nearest point in it to standing still, and which coordinates may not move at all.

    Outside the limits the way back is taken as fast as is allowed.
    """
    allowed = open_limits(I, F)
    for i in range(q.shape[0]):
        reach = settings[SPEED + i] * settings[DT]
        s.lower[i] = min(max(allowed.lower[i] - q[i], -reach), reach)
        s.upper[i] = max(min(allowed.upper[i] - q[i], reach), -reach)
        s.x[i] = min(max(0.0, s.lower[i]), s.upper[i])
        s.held[i] = FREE if allowed.mobility[i] > 0.0 and s.lower[i] < s.upper[i] else LOCKED


@leaf
def metric(I: Any, F: Any, T: Any, q: Any, plan: Any, level: int, settings: Any, s: Any) -> float:
    """D and the centre z of a level, from the damping, the rigidity and the level's posture goals, whose weights go to c.

    Returns its gain.
    """
    tasks = open_tasks(I, F)
    allowed = open_limits(I, F)
    gain, damping = 1.0 if level < plan[HARD] else settings[GAIN], settings[DAMPING]
    near = FIRST + plan[LEVELS] + 1 + plan[FIRST + plan[LEVELS]]
    for i in range(q.shape[0]):
        s.c[i], s.z[i] = 0.0, 0.0
    for k in range(tasks.term.shape[0]):
        r, t = tasks.term[k, FRAME_ROW], tasks.term[k, TARGET_AT]
        if tasks.term[k, KIND] == NEAR and plan[near + r] == level:
            for i in range(q.shape[0]):
                weight = tasks.number[k, WEIGHT] * tasks.near[r, i]
                s.c[i] += weight
                s.z[i] += gain * weight * (T[t + i] - q[i])
    for i in range(q.shape[0]):
        s.D[i] = s.c[i] + damping / (allowed.mobility[i] * allowed.mobility[i]) if allowed.mobility[i] > 0.0 else 1.0
        s.z[i] /= s.D[i]
    return gain


@stage
def step_once(I: Any, F: Any, scratch: Any, T: Any, q: Any, plan: Any, settings: Any) -> Any:
    """Take one step from q, in place; the number of factorisations, and 1 if a number was not finite: then q stays."""
    s, levels, total = open_step(I, scratch), plan[LEVELS], 0
    order = row(plan, FIRST + levels + 1, I[RESIDUALS])
    jacobian(I, F, scratch, T, q, s.rho, s.J)
    box(I, F, q, settings, s)
    for level in range(levels):
        first, last = plan[FIRST + level], plan[FIRST + level + 1]
        gain = metric(I, F, T, q, plan, level, settings, s)
        for a in range(first, last):
            s.wanted[a] = -gain * s.rho[order[a]]
        total += minimise_level(s, order, first, last, level)
        for a in range(first, last):
            s.wanted[a] = stacked(s, order, a)
        if level < levels - 1:
            lock(s, order, last)
    return total, land(I, F, q, s.x)


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
    I: Any, F: Any, scratch: Any, T: Any, Q: Any, plan: Any, settings: Any, report: Any, first: int, last: int
) -> None:
    """One step of each of the postures first … last − 1 of Q (k, size), in place, towards the targets T (k, …).

    `report` (k, REPORT).
    """
    for k in range(first, last):
        factorisations, lost = step_once(I, F, scratch, T[k], Q[k], plan, settings)
        report[k, FACTORISATIONS], report[k, NOT_FINITE] = factorisations, lost
