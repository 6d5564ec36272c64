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
from supple.kernels.charts import EXACT, STEEP, recentre, report
from supple.kernels.compiling import entry, leaf, stage
from supple.kernels.tree import open_tree
from supple.motion.optimal_tracking.feasible_model import derive, keep_prices, look, measure, pull_back, write_rows
from supple.motion.optimal_tracking.feasible_tables import MEMORY, Asked, bench_for, given_by, packed_with_charts
from supple.motion.optimal_tracking.trial import Trial

ITERATIONS, VIOLATION, STEP, CONVERGED, COST = range(5)
FLOOR = 1e-10  # of the largest diagonal entry: what keeps unseen coordinates where they are
NEARNESS = 1.0  # damping for every metre that the optimum is away
FARTHEST = 0.1  # and no more than this
BENT = 0.01  # the damping up to which curvature is kept that is not definite without
HALVINGS = 4
SMALL = 1e-5  # a step so short is taken as it is: its gain drowns in rounding
STEADY = 6  # where they say how much staying where the frame before was weighs
DAMPING = 5  # where the settings keep the damping of the next step


@leaf
def shifted(work: Any, R: Any, damping: float, shift: float) -> bool:
    """Factor ``H + damping diag |H| + shift I`` into R; False if that is not positive definite."""
    n = R.shape[0]
    for i in range(n):
        for j in range(n):
            R[i, j] = work.H[i, j]
        R[i, i] += damping * abs(work.H[i, i]) + shift
    return factor(R, n) == n


@leaf
def firm_up(work: Any, P: Any, equalities: int, largest: float) -> None:
    """Stiffen what cannot move anyway: ``ρ CᵀC`` for equalities, ``p_i²`` for coordinates that a limit held last time.

    Where these constraints hold the programme has the same solution, but its matrix is definite if it is so along them.
    """
    n = P.g.shape[0]
    for i in range(n):
        if work.firm[i] != 0.0:
            work.H[i, i] += largest
    for r in range(equalities):
        square = 1e-300
        for i in range(n):
            square += P.C[r, i] * P.C[r, i]
        rho = largest / square
        for i in range(n):
            if P.C[r, i] != 0.0:
                P.g[i] -= rho * P.C[r, i] * P.c[r]
                for j in range(n):
                    work.H[i, j] += rho * P.C[r, i] * P.C[r, j]


@leaf
def distance(asked: Any, frame: int, work: Any, P: Any, rows: int) -> float:
    """Roughly how far the markers are from the optimum [m]: what the last prices leave of the gradient, over the diagonal."""
    n, square, weight = P.g.shape[0], 0.0, 1e-300
    for i in range(n):
        r = P.g[i] - work.firm[i]
        for k in range(rows):
            r -= P.price[k] * P.C[k, i]
        if work.H[i, i] > 0.0:
            square += r * r / work.H[i, i]
    for k in range(asked.weight.shape[1]):
        weight += asked.weight[frame, k]
    return math.sqrt(square / weight)


@stage
def prepare(I: Any, F: Any, given: Any, asked: Any, frame: int, q: Any, settings: Any, work: Any, P: Any) -> Any:
    """Write and factor the programme at the posture last looked at; the number of its rows, and of equalities among them."""
    tree = open_tree(I, F)
    curved, damping = int(settings[3]), settings[DAMPING]
    pull_back(given, work)
    rows, equalities = write_rows(tree, given, asked, frame, q, int(settings[4]), work, P)
    largest = derive(I, F, given, asked, frame, q, curved, work, P.g)
    damping += min(NEARNESS * distance(asked, frame, work, P, rows), FARTHEST)
    definite = shifted(work, P.R, damping, FLOOR * largest)
    if not definite and curved != 0:
        firm_up(work, P, equalities, largest)
        raised, k = damping, 0
        while not definite and k < 4 and raised < BENT:
            definite = shifted(work, P.R, raised, FLOOR * largest)
            raised, k = 10.0 * raised, k + 1
    if not definite and curved != 0:
        largest = derive(I, F, given, asked, frame, q, 0, work, P.g)
        definite = shifted(work, P.R, damping, FLOOR * largest)
    while not definite:
        damping = max(10.0 * damping, 1e-8)
        definite = shifted(work, P.R, damping, damping * largest) or damping > 1e3
    return rows, equalities


@stage
def propose(I: Any, F: Any, given: Any, asked: Any, frame: int, q: Any, settings: Any, work: Any, P: Any) -> Any:
    """The step p of (a): the largest price of a row, what the cost is to fall by, and ‖p‖."""
    n = q.shape[0]
    rows, equalities = prepare(I, F, given, asked, frame, q, settings, work, P)
    minimise(P, rows, equalities, int(settings[4]))
    promised, square = 0.0, 0.0  # −(gᵀp + ½ pᵀHp), pᵀp
    for i in range(n):
        work.firm[i] = P.price[rows + i] - P.price[rows + n + i]
        s = P.g[i]
        for j in range(n):
            s += 0.5 * work.H[i, j] * P.p[j]
        promised -= s * P.p[i]
        square += P.p[i] * P.p[i]
    return keep_prices(given, work, P, rows), promised, math.sqrt(square)


@stage
def attempt(
    I: Any, F: Any, given: Any, asked: Any, frame: int, q: Any, alpha: float, limits: float, work: Any, P: Any
) -> Any:
    """Cost and violations at q + αp, which goes to `trial`."""
    tree = open_tree(I, F)
    for i in range(q.shape[0]):
        work.trial[i] = q[i] + alpha * P.p[i]
        if limits != 0.0:
            work.trial[i] = min(max(work.trial[i], given.lower[i]), given.upper[i])
    look(tree, given, work.trial, work)
    return measure(given, asked, frame, work.trial, work)


@leaf
def forget(work: Any, P: Any) -> None:
    """No prices: those of another frame mislead."""
    for k in range(P.price.shape[0]):
        P.price[k] = 0.0
    for i in range(P.p.shape[0]):
        P.p[i] = work.firm[i] = 0.0
    for k in range(work.pull.shape[0]):
        for i in range(3):
            work.pull[k, i] = 0.0
    for k in range(work.lean.shape[0]):
        work.lean[k] = 0.0


@leaf
def merit_of_the_past(work: Any, sigma: float, here: float, patient: bool) -> float:
    """What a new merit must stay below: that of here or, if patient, the largest of the last steps."""
    for m in range(MEMORY if patient else 0):
        here = max(here, work.past[m, 0] + sigma * work.past[m, 1])
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
def follow(
    I: Any, F: Any, given: Any, asked: Any, frame: int, q: Any, settings: Any, work: Any, P: Any, out: Any
) -> None:
    """Bring q to the optimum of one frame."""
    n, tolerance, whole, limits = q.shape[0], settings[0], settings[2] != 0.0, settings[4]
    forget(work, P)
    for i in range(n):
        work.anchor[i] = min(max(q[i], given.lower[i]), given.upper[i]) if limits != 0.0 else q[i]
    work.anchor[n] = settings[STEADY] if frame > 0 else 0.0
    f, total, square = attempt(I, F, given, asked, frame, q, 0.0, limits, work, P)
    for i in range(n):
        q[i] = work.trial[i]
    for m in range(MEMORY):
        work.past[m, 0], work.past[m, 1] = f, total
    sigma, k, moved, settings[DAMPING] = 1e-9, 0, math.inf, 0.0
    while k < int(settings[1]) and not (math.sqrt(square) < tolerance and moved < tolerance):
        price, promised, size = propose(I, F, given, asked, frame, q, settings, work, P)
        sigma, alpha, accepted = max(sigma, 2.0 * price), 1.0, False
        patient = whole or given.gap.shape[0] > 0
        bar = merit_of_the_past(work, sigma, f + sigma * total, patient)
        f_new, total_new, square_new = f, total, square
        for _ in range(HALVINGS):
            f_new, total_new, square_new = attempt(I, F, given, asked, frame, q, alpha, limits, work, P)
            tiny = size < SMALL and total_new <= total + 1e-9
            accepted = f_new + sigma * total_new < bar or tiny
            if accepted:
                break
            alpha *= 0.5
        k += 1
        if accepted:
            if total + total_new == 0.0:
                gain = (f - f_new) / max(promised, 1e-300) if size > SMALL else 1.0
                settings[DAMPING] = next_damping(settings[DAMPING], gain)
            moved, f, total, square = alpha * size, f_new, total_new, square_new
            for i in range(n):
                q[i] = work.trial[i]
            work.past[k % MEMORY, 0], work.past[k % MEMORY, 1] = f, total
        else:
            settings[DAMPING] = max(10.0 * settings[DAMPING], 1e-2)
            attempt(I, F, given, asked, frame, q, 0.0, limits, work, P)
    out[ITERATIONS], out[VIOLATION], out[STEP], out[COST] = k, math.sqrt(square), moved, f
    out[CONVERGED] = 1.0 if math.sqrt(square) < tolerance and moved < tolerance else 0.0


@entry
def track_entry(I: Any, F: Any, given: Any, asked: Any, Q: Any, settings: Any, work: Any, P: Any, out: Any) -> None:
    """Track all frames: row 0 of Q is the start on entry, every other frame starts from the one before.

    If that one could not meet its equations it starts from the last that did, where its own are less open there.
    """
    met = 0
    for k in range(Q.shape[0]):
        last = max(k - 1, 0)
        if met < last:
            _, gap, _ = attempt(I, F, given, asked, k, Q[met], 0.0, settings[4], work, P)
            _, other, _ = attempt(I, F, given, asked, k, Q[last], 0.0, settings[4], work, P)
            last = met if gap < other else last
        for i in range(Q.shape[1]):
            work.before[i] = Q[last, i]
            Q[k, i] = work.before[i]
        recentre(I, F, Q[k], STEEP)
        follow(I, F, given, asked, k, Q[k], settings, work, P, out[k])
        report(I, F, Q[k], work.before, EXACT)
        met = k if out[k, VIOLATION] < settings[0] else met


def track(
    trial: Trial, tolerance: float, iterations: int, whole: bool, curved: bool, limited: bool, steady: float, stop: Stop
) -> tuple[Floats, Floats]:
    """Postures (frames, size) and a report (frames, 5) of each: NaN where it was time to stop before, but for CONVERGED."""
    given = given_by(trial)
    rows = 3 * len(given.gap) + len(given.angle) + len(given.plane) + len(given.b)
    work, P = bench_for(trial, given, rows), programme(trial.figure.size, rows)
    asked = Asked(trial.positions, trial.weights, trial.holds, trial.values)
    Q, out = np.tile(trial.start, (trial.frames, 1)), np.full((trial.frames, 5), np.nan)
    late = np.zeros(trial.frames, dtype=bool)
    settings = np.array([tolerance, iterations, whole, curved, limited, 0.0, steady], dtype=float)
    packed = packed_with_charts(trial, given, limited)

    def halt() -> None:
        late[:] = np.isnan(out[:, CONVERGED])
        settings[1] = 0.0

    if stop.run([lambda: track_entry(*packed, given, asked, Q, settings, work, P, out)], halt):
        Q, out, done = Q.copy(), out.copy(), int((~late).sum())
        Q[late], out[late] = Q[done - 1] if done else trial.start, np.nan
        out[late, ITERATIONS] = out[late, CONVERGED] = 0.0
    return Q, out
