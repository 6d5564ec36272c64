"""The optimal tracking method on its own feasible set: the same optimum, a thousand times sooner.

**Why it is the same point.** The equations ``Φ(x) = 0`` of a tree of joints are solved by ``x = x(q)``, q the joint values, and
the columns of ``R = ∂x/∂q`` span the null space of Φ_x. So the paper's programme restricted to ``Φ_x Δ = 0`` is one in p,
``Δ = R p``, with the matrix ``RᵀHR`` and the gradient ``Rᵀg``: what markers, linear in x, see of a relative velocity p.
Multipliers of tree equations never appear, redundant or not, and x(q + p) obeys them to the last digit. What is left as
equations are the gaps c(q) of closed loops and of what is held exactly,

    minimise ½ pᵀ(RᵀHR + K)p + gᵀR p    subject to  c + C p = 0,  n·(r + J p) ≥ d,  lower ≤ q + p ≤ upper,            (a)

and limits and half-spaces come in as they are. A point is stationary for (a) if and only if it is for the paper's (13),
wherever the joint values themselves are regular. Natural coordinates know no gimbal lock; so that joint values do not either,
balls without limits are re-centred before each frame (`charts`).

**Curvature.** The paper's H leaves out the curvature of Φ, so its steps converge linearly, the slower the larger the errors of
the markers. Differentiating ``Φ(x(q)) = 0`` twice gives ``λᵀΦ_xx[R, R] = g · ∂²x/∂q²`` at a stationary point: the curvature of
the Lagrangian is K, the forces of markers and gaps on how points move at second order. With it convergence is quadratic.
The diagonal is raised in proportion to the distance from the optimum, which keeps that rate and still picks one step where
markers leave a coordinate open; where the matrix is not positive definite even so, K is left out for that step.

**Structure.** A marker leaves a 6 × 6 matrix with its body; summed over subtrees these give the matrix of (a), entries between
different branches staying zero (`tree`). Everything is done in the loop below, compiled, without a sparse factorisation.

**Steps.** *merit*: whole steps, halved while ``½ΨᵀWΨ + σ‖c‖₁`` does not fall (with gaps: below its largest value of the last
steps), then damped. *maxmin*: along the curve x(q + αp) the cost is, to second order, the parabola of (a) and ``‖c‖`` linear;
both are least at α = 1, so it takes whole steps as long as the merit is not above all of the last few.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from supple.basics.stopping import Stop
from supple.geometry.placements import Floats
from supple.kernels.algebra.dual_programme import minimise, programme
from supple.kernels.algebra.triangular import factor
from supple.kernels.algebra.vectors import clear
from supple.kernels.charts import EXACT, STEEP, recentre, report
from supple.kernels.compiling import entry, leaf, stage
from supple.kernels.layouts import counts_of
from supple.kernels.tree import open_tree
from supple.motion.optimal_tracking.feasible_model import (
    derive,
    find_cost,
    keep_prices,
    load_prices,
    place_items,
    write_rows,
)
from supple.motion.optimal_tracking.feasible_tables import (
    FEASIBLE,
    FEASIBLE_SCRATCH,
    REMEMBERED,
    Measured,
    open_feasible,
    open_items,
    packed_trial,
)
from supple.motion.optimal_tracking.trial import Trial

TOLERANCE, MOST_STEPS, WHOLE, CURVED, LIMITED, STEADY = range(
    6
)  # settings; all but the first two: 1 or 0, and a weight
ITERATIONS, VIOLATION, STEP, CONVERGED, COST = range(5)  # the report of a frame
REPORT = 5
FLOOR = 1e-10  # of the largest diagonal entry: what keeps unseen coordinates where they are
NEARNESS = 1.0  # damping for every metre that the optimum is away
FARTHEST = 0.1  # and no more than this
BENT = 0.01  # the damping up to which curvature is kept that is not definite without
HALVINGS = 4
SMALL = 1e-5  # a step so short is taken as it is: its gain drowns in rounding


@leaf
def factor_shifted(scratch: Any, R: Any, damping: float, shift: float) -> bool:
    """Factor ``H + damping diag |H| + shift I`` into R; False if that is not positive definite."""
    n = R.shape[0]
    for i in range(n):
        for j in range(n):
            R[i, j] = scratch.H[i, j]
        R[i, i] += damping * abs(scratch.H[i, i]) + shift
    return factor(R, n) == n


@leaf
def stiffen_constraints(scratch: Any, P: Any, equalities: int, largest: float) -> None:
    """Stiffen what cannot move anyway: ``ρ CᵀC`` for equalities, ``p_i²`` for coordinates that a limit held last time.

    Where these constraints hold the programme has the same solution, but its matrix is definite if it is so along them.
    """
    n = P.g.shape[0]
    for i in range(n):
        if scratch.limit_price[i] != 0.0:
            scratch.H[i, i] += largest
    for r in range(equalities):
        square = 1e-300
        for i in range(n):
            square += P.C[r, i] * P.C[r, i]
        rho = largest / square
        for i in range(n):
            if P.C[r, i] != 0.0:
                P.g[i] -= rho * P.C[r, i] * P.c[r]
                for j in range(n):
                    scratch.H[i, j] += rho * P.C[r, i] * P.C[r, j]


@leaf
def distance_left(seen: Any, scratch: Any, P: Any, rows: int) -> float:
    """Roughly how far the markers are from the optimum [m]: what the last prices leave of the gradient, over the diagonal."""
    n, square, weight = P.g.shape[0], 0.0, 1e-300
    for i in range(n):
        r = P.g[i] - scratch.limit_price[i]
        for k in range(rows):
            r -= P.price[k] * P.C[k, i]
        if scratch.H[i, i] > 0.0:
            square += r * r / scratch.H[i, i]
    for k in range(seen.weight.shape[0]):
        weight += seen.weight[k]
    return math.sqrt(square / weight)


@stage
def write_programme(I: Any, F: Any, memory: Any, seen: Any, q: Any, settings: Any, P: Any) -> Any:
    """Write and factor the programme at the posture last placed; the number of its rows, and of equalities among them."""
    tree, items, scratch = open_tree(I, F), open_items(I, F), open_feasible(I, memory)
    curved, damping = settings[CURVED], scratch.damping[0]
    load_prices(items, scratch)
    rows, equalities = write_rows(tree, items, seen, q, settings[LIMITED] != 0.0, scratch, P)
    largest = derive(I, F, memory, seen, q, curved, P.g)
    damping += min(NEARNESS * distance_left(seen, scratch, P, rows), FARTHEST)
    definite = factor_shifted(scratch, P.R, damping, FLOOR * largest)
    if not definite and curved != 0.0:
        stiffen_constraints(scratch, P, equalities, largest)
        raised, k = damping, 0
        while not definite and k < 4 and raised < BENT:
            definite = factor_shifted(scratch, P.R, raised, FLOOR * largest)
            raised, k = 10.0 * raised, k + 1
    if not definite and curved != 0.0:
        largest = derive(I, F, memory, seen, q, 0.0, P.g)
        definite = factor_shifted(scratch, P.R, damping, FLOOR * largest)
    while not definite:
        damping = max(10.0 * damping, 1e-8)
        definite = factor_shifted(scratch, P.R, damping, damping * largest) or damping > 1e3
    return rows, equalities


@stage
def find_step(I: Any, F: Any, memory: Any, seen: Any, q: Any, settings: Any, P: Any) -> Any:
    """The step p of (a): the largest price of a row, what the cost is to fall by, and ‖p‖."""
    items, scratch, n = open_items(I, F), open_feasible(I, memory), q.shape[0]
    rows, equalities = write_programme(I, F, memory, seen, q, settings, P)
    minimise(P, rows, equalities, int(settings[LIMITED]))
    promised, square = 0.0, 0.0  # −(gᵀp + ½ pᵀHp), pᵀp
    for i in range(n):
        scratch.limit_price[i] = P.price[rows + i] - P.price[rows + n + i]
        s = P.g[i]
        for j in range(n):
            s += 0.5 * scratch.H[i, j] * P.p[j]
        promised -= s * P.p[i]
        square += P.p[i] * P.p[i]
    return keep_prices(items, scratch, P, rows), promised, math.sqrt(square)


@stage
def evaluate_step(I: Any, F: Any, memory: Any, seen: Any, q: Any, alpha: float, limited: bool, P: Any) -> Any:
    """Cost and violations at q + αp, which goes to `trial`."""
    tree, items, scratch = open_tree(I, F), open_items(I, F), open_feasible(I, memory)
    for i in range(q.shape[0]):
        scratch.trial[i] = q[i] + alpha * P.p[i]
        if limited:
            scratch.trial[i] = min(max(scratch.trial[i], items.lower[i]), items.upper[i])
    place_items(tree, items, scratch, scratch.trial)
    return find_cost(items, seen, scratch.trial, scratch)


@leaf
def clear_prices(scratch: Any, P: Any) -> None:
    """No prices: those of another frame mislead."""
    clear(P.price)
    clear(P.p)
    clear(scratch.limit_price)
    clear(scratch.gap_price)
    clear(scratch.plane_price)


@leaf
def merit_of_the_past(scratch: Any, sigma: float, here: float, patient: bool) -> float:
    """What a new merit must stay below: that of here or, if patient, the largest of the last steps."""
    for m in range(REMEMBERED if patient else 0):
        here = max(here, scratch.past_cost[m] + sigma * scratch.past_gap[m])
    return here


@leaf
def next_damping(damping: float, gain: float) -> float:
    """The damping of the next step, by the ratio of true to promised decrease."""
    if gain < 0.25:
        return max(4.0 * damping, 1e-2)
    if gain > 0.75:
        return 0.2 * damping if damping > 1e-4 else 0.0
    return damping


@stage
def follow_frame(I: Any, F: Any, memory: Any, seen: Any, q: Any, settings: Any, P: Any, report: Any) -> None:
    """Bring q to the optimum of one frame."""
    items, scratch = open_items(I, F), open_feasible(I, memory)
    n, tolerance, limited = q.shape[0], settings[TOLERANCE], settings[LIMITED] != 0.0
    clear_prices(scratch, P)
    for i in range(n):
        scratch.anchor[i] = min(max(q[i], items.lower[i]), items.upper[i]) if limited else q[i]
    f, total, square = evaluate_step(I, F, memory, seen, q, 0.0, limited, P)
    for i in range(n):
        q[i] = scratch.trial[i]
    for m in range(REMEMBERED):
        scratch.past_cost[m], scratch.past_gap[m] = f, total
    sigma, k, moved, scratch.damping[0] = 1e-9, 0, math.inf, 0.0
    patient = settings[WHOLE] != 0.0 or items.gap.shape[0] > 0
    while k < int(settings[MOST_STEPS]) and not (math.sqrt(square) < tolerance and moved < tolerance):
        price, promised, size = find_step(I, F, memory, seen, q, settings, P)
        sigma, alpha, accepted = max(sigma, 2.0 * price), 1.0, False
        bar = merit_of_the_past(scratch, sigma, f + sigma * total, patient)
        f_new, total_new, square_new = f, total, square
        for _ in range(HALVINGS):
            f_new, total_new, square_new = evaluate_step(I, F, memory, seen, q, alpha, limited, P)
            tiny = size < SMALL and total_new <= total + 1e-9
            accepted = f_new + sigma * total_new < bar or tiny
            if accepted:
                break
            alpha *= 0.5
        k += 1
        if accepted:
            if total + total_new == 0.0:
                gain = (f - f_new) / max(promised, 1e-300) if size > SMALL else 1.0
                scratch.damping[0] = next_damping(scratch.damping[0], gain)
            moved, f, total, square = alpha * size, f_new, total_new, square_new
            for i in range(n):
                q[i] = scratch.trial[i]
            scratch.past_cost[k % REMEMBERED], scratch.past_gap[k % REMEMBERED] = f, total
        else:
            scratch.damping[0] = max(10.0 * scratch.damping[0], 1e-2)
            evaluate_step(I, F, memory, seen, q, 0.0, limited, P)
    report[ITERATIONS], report[VIOLATION], report[STEP], report[COST] = k, math.sqrt(square), moved, f
    report[CONVERGED] = 1.0 if math.sqrt(square) < tolerance and moved < tolerance else 0.0


@entry
def track_entry(
    I: Any, F: Any, memory: Any, position: Any, weight: Any, hold: Any, value: Any, Q: Any, settings: Any, P: Any,
    reports: Any,
) -> None:  # fmt: skip
    """Track all frames: row 0 of Q is the start on entry, every other frame starts from the one before.

    If that one could not meet its equations it starts from the last that did, where its own are less open there.
    """
    scratch, limited, met = open_feasible(I, memory), settings[LIMITED] != 0.0, 0
    for k in range(Q.shape[0]):
        seen, last = Measured(position[k], weight[k], hold[k], value[k]), max(k - 1, 0)
        if met < last:
            _, gap, _ = evaluate_step(I, F, memory, seen, Q[met], 0.0, limited, P)
            _, other, _ = evaluate_step(I, F, memory, seen, Q[last], 0.0, limited, P)
            last = met if gap < other else last
        for i in range(Q.shape[1]):
            scratch.before[i] = Q[last, i]
            Q[k, i] = scratch.before[i]
        recentre(I, F, Q[k], STEEP)
        scratch.anchor_weight[0] = settings[STEADY] if k > 0 else 0.0
        follow_frame(I, F, memory, seen, Q[k], settings, P, reports[k])
        report(I, F, Q[k], scratch.before, EXACT)
        met = k if reports[k, VIOLATION] < settings[TOLERANCE] else met


def track(trial: Trial, settings: Floats, stop: Stop) -> tuple[Floats, Floats]:
    """Postures (frames, size) and reports (frames, REPORT): NaN where it was time to stop before, but for CONVERGED."""
    I, F = packed_trial(trial, bool(settings[LIMITED]))
    P = programme(trial.figure.size, counts_of(FEASIBLE, I)["PROGRAMME_ROWS"])
    scratch = FEASIBLE_SCRATCH.fresh(I)
    seen = [np.ascontiguousarray(rows) for rows in (trial.positions, trial.weights, trial.holds, trial.values)]
    Q, reports = np.tile(trial.start, (trial.frames, 1)), np.full((trial.frames, REPORT), np.nan)
    late = np.zeros(trial.frames, dtype=bool)

    def halt() -> None:
        late[:] = np.isnan(reports[:, CONVERGED])
        settings[MOST_STEPS] = 0.0

    if stop.run([lambda: track_entry(I, F, scratch, *seen, Q, settings, P, reports)], halt):
        Q, reports, done = Q.copy(), reports.copy(), int((~late).sum())
        Q[late], reports[late] = Q[done - 1] if done else trial.start, np.nan
        reports[late, ITERATIONS] = reports[late, CONVERGED] = 0.0
    return Q, reports
