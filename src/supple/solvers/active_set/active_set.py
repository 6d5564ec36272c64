"""Variable metric with gradient projection under linear limits (Zhao & Badler 1994, sections 6, 7, 11 and the appendix).

Minimise ``G(q)`` where ``aᵀq = b`` for the first l unit normals a and ``aᵀq ≤ b`` for the others (equation 23). A_q are the
normals of the active limits, g the gradient, and H an inverse Hessian on the face where they are active: ``H A_q = 0``.

0. From a legal posture, ``H = 1``; for each active normal apply (add).
1. ``α = (A_qᵀA_q)⁻¹A_qᵀg`` and ``P g = g − A_q α``. Stop if ``P g = 0`` and no active inequality has ``α_j > 0``.
2. Let m be the inequality with the largest ``α_m a_mm^(−½)``, a_mm on the diagonal of ``(A_qᵀA_q)⁻¹``. If ``‖Hg‖`` exceeds half
   of that, go to 3. Else (drop): ``H ← H + P a_m a_mᵀP / a_mᵀP a_m``, P onto the remaining normals' null space; go to 1.
3. ``s = −Hg``. The first inactive limit on the way is met at ``λ = min (b_j − a_jᵀq)/(a_jᵀs)`` over ``a_jᵀs > 0``. Search
   γ ≤ λ with

       G(q + γs) ≤ G(q) + δ₁ γ gᵀs,    g(q + γs)ᵀs ≥ δ₂ gᵀs                                               (31)

   from ``min(1, λ)`` on by cubic Hermite interpolation; at λ the first test suffices.
4. If ``γ = λ`` (add): ``H ← H − H a_j a_jᵀH / a_jᵀH a_j``, append a_j to A_q, go to 1.                       (32)
5. Else with ``σ = γs``, ``y = g⁺ − g``: if ``σᵀy ≥ yᵀHy``, BFGS ``H ← H + ((1 + yᵀHy/σᵀy) σσᵀ − σyᵀH − Hyσᵀ)/σᵀy``; otherwise
   DFP ``H ← H + σσᵀ/σᵀy − Hy yᵀH/yᵀHy``. Go to 1.

**Rigidity** ρ is a change of unit, ``q_i = (1 − ρ_i) φ_i``: everything above is done in φ; only q itself is kept as it is, so
that limits hold to the last bit. Coordinates of rigidity 1, and those whose limits coincide, take no part.

The limits of single coordinates need no algebra, and the factor of ``A_qᵀA_q`` is updated, never computed anew (see
`face`): an iteration costs O(n²) and one or two gradients. Every iterate is legal and G never rises.

Where more limits meet than there are coordinates, where rows almost depend on each other, or where no step is found, a
projected gradient step (see `descent.slide`) leads on, and Step 0 follows.

The loop ends when every task is met (unless a posture goal is still to be improved), at Step 1, when no step of a
representable length is accepted, or when the budget is spent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.basics.checks import one_of
from supple.kernels.compiling import entry, leaf, stage
from supple.kernels.layouts import COORDINATES, EQUALITIES, LINEAR_LIMITS
from supple.problem.allowance import ITERATIONS, SPENT, STATIONARY
from supple.problem.meter import spent
from supple.solvers.active_set.active_face import (
    add_limit,
    begin_face,
    direction,
    drop_limit,
    multipliers,
    restart_metric,
)
from supple.solvers.active_set.scratch import (
    FACE,
    FIRST,
    FRESH,
    GAMMA,
    LAMBDA,
    LENGTH,
    LONG,
    LONG_G,
    LONG_SLOPE,
    SHORT,
    SHORT_G,
    SHORT_SLOPE,
    SLOPE,
    TURNS,
    open_face,
)
from supple.solvers.base import OWN, STEPS, TOLERANCE, Descent, Loop
from supple.solvers.descent import (
    ACCEPTED,
    GOING,
    HERE,
    REFUSED,
    SLID,
    STAYED,
    THERE,
    UNMET_THERE,
    descent,
    evaluate,
    open_walk,
    step_along,
)
from supple.solvers.linear_limits import TOUCHING, oversteps

DECREASE, CURVATURE = 1e-4, 0.5  # δ₁, δ₂ (Powell)
SWITCH, BFGS, DFP = range(3)  # what Step 5 uses
UPDATES = {"switch": SWITCH, "bfgs": BFGS, "dfp": DFP}
UPDATE = OWN  # setting
TRIALS = 30  # evaluations of one line search


@leaf
def step_by(walk: Any, face: Any, q: Any, gamma: float) -> None:
    """The trial ``q + γs``; exactly at its limit when it stops at one."""
    step_along(walk, q, face.s, gamma)
    j = int(face.state[FIRST])
    if gamma == face.state[LAMBDA] and j < q.shape[0]:
        walk.trial[j] = walk.upper[j] if face.s[j] > 0.0 else walk.lower[j]


@leaf
def cubic(a: float, Ga: float, da: float, b: float, Gb: float, db: float) -> float:
    """Where the cubic with these values and slopes at a and b has its minimum; NaN if nowhere."""
    t = da + db - 3.0 * (Ga - Gb) / (a - b)
    square = t * t - da * db
    if not square >= 0.0:
        return np.nan
    u = math.copysign(math.sqrt(square), b - a)
    w = db - da + 2.0 * u
    return b - (b - a) * (db + u - t) / w if w != 0.0 else np.nan


@stage
def judge_step(I: Any, memory: Any, gamma: float, trials: int) -> float:
    """Inequalities 31 at the step γ, the last of `trials`: 0 if they hold, the next γ to try if not, −1 if there is none."""
    walk, face = open_walk(I, memory), open_face(I, memory)
    span, lam, slope, d = face.span, face.state[LAMBDA], face.state[SLOPE], 0.0
    G, G_new = walk.state[HERE], walk.state[THERE]
    for i in range(I[COORDINATES]):
        d += walk.g_new[i] * face.s[i]
    if trials == 1:
        span[SHORT], span[SHORT_G], span[SHORT_SLOPE], span[LONG] = 0.0, G, slope, np.inf
    if not (G_new <= G + DECREASE * gamma * slope and abs(d) < np.inf):
        if trials >= TRIALS or (span[SHORT] == 0.0 and -gamma * slope < 1e-16 * G):
            return -1.0
        span[LONG], span[LONG_G], span[LONG_SLOPE] = gamma, G_new, d
    elif d < CURVATURE * slope and gamma < lam and trials < TRIALS:
        longer = cubic(span[SHORT], span[SHORT_G], span[SHORT_SLOPE], gamma, G_new, d)
        span[SHORT], span[SHORT_G], span[SHORT_SLOPE] = gamma, G_new, d
        if span[LONG] == np.inf:
            return min(lam, min(longer, 8.0 * gamma) if longer > 1.5 * gamma else 1.5 * gamma)
    else:
        return 0.0
    if trials == TRIALS - 1 and span[SHORT] > 0.0:
        return span[SHORT]
    width = span[LONG] - span[SHORT]
    new = cubic(span[SHORT], span[SHORT_G], span[SHORT_SLOPE], span[LONG], span[LONG_G], span[LONG_SLOPE])
    if not (new > span[SHORT] + 0.05 * width and new < span[LONG] - 0.05 * width):
        new = span[SHORT] + (0.1 if new <= span[SHORT] + 0.05 * width else 0.5) * width
    return new


@stage
def line_search(I: Any, F: Any, memory: Any, T: Any, q: Any, report: Any) -> int:
    """Step 3: the trial ``q + γs`` with the γ of (31): ACCEPTED; STAYED if there is none; REFUSED if rows forbid to look on."""
    walk, face = open_walk(I, memory), open_face(I, memory)
    gamma, trials = min(1.0, face.state[LAMBDA]), 0
    while gamma > 0.0:
        if spent(report):
            return SPENT
        for r in range(I[LINEAR_LIMITS]):
            walk.left[r] = walk.slack[r] - gamma * face.w[r]
        if oversteps(walk.left, I[EQUALITIES]):
            return REFUSED
        step_by(walk, face, q, gamma)
        walk.state[THERE], walk.state[UNMET_THERE], _ = evaluate(I, F, memory, T, walk.trial, walk.g_new, report)
        trials += 1
        face.state[GAMMA], gamma = gamma, judge_step(I, memory, gamma, trials)
    return ACCEPTED if gamma == 0.0 else STAYED


@stage
def update_metric(I: Any, memory: Any, settings: Any) -> None:
    """Step 5: H meets the curvature of the last step; skipped where that is not positive. s becomes σ, g_new y."""
    walk, face = open_walk(I, memory), open_face(I, memory)
    n, gamma, y = I[COORDINATES], face.state[GAMMA], walk.g_new
    for i in range(n):
        y[i] = walk.g[i] - y[i]
        face.v[i] = 0.0
        face.s[i] *= gamma
    for i in range(n):
        x = y[i]
        if walk.at[i] == 0.0 and x != 0.0:
            for j in range(n):
                face.v[j] += x * face.H[i, j]
    sy, yHy, ss, yy = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        sy += face.s[i] * y[i]
        yHy += y[i] * face.v[i]
        ss += face.s[i] * face.s[i]
        yy += y[i] * y[i] if walk.at[i] == 0.0 else 0.0
    if not (sy > 1e-12 * math.sqrt(ss * yy) and yHy > 0.0):
        return
    if settings[UPDATE] == BFGS or (settings[UPDATE] == SWITCH and sy >= yHy):
        a, b, c = (1.0 + yHy / sy) / sy, -1.0 / sy, 0.0
    else:
        a, b, c = 1.0 / sy, 0.0, -1.0 / yHy
    for i in range(n):
        if walk.at[i] == 0.0:
            x, z = a * face.s[i] + b * face.v[i], b * face.s[i] + c * face.v[i]
            for j in range(n):
                face.H[i, j] += x * face.s[j] + z * face.v[j]


# ── phases ───────────────────────────────────────────────────────────────────────────────────────────────────────────
@leaf
def most_turns(I: Any) -> int:
    """How often Step 2 may drop a limit on the spot."""
    return 4 * (I[COORDINATES] + I[LINEAR_LIMITS]) + 20


@stage
def model_face(I: Any, F: Any, memory: Any, T: Any, q: Any, settings: Any, report: Any) -> int:
    """Steps 1 and 2: drop limits until s leads on, or nothing is left to gain."""
    face = open_face(I, memory)
    while True:
        largest, m, most = multipliers(I, memory)
        if largest <= settings[TOLERANCE]:
            return STATIONARY
        if report[ITERATIONS] >= settings[STEPS]:
            return SPENT
        face.state[TURNS] += 1.0
        direction(I, memory, q)
        if not (m >= 0 and face.state[LENGTH] <= 0.5 * most and face.state[TURNS] <= most_turns(I)):
            return GOING
        drop_limit(I, memory, m)


@stage
def try_face(I: Any, F: Any, memory: Any, T: Any, q: Any, settings: Any, report: Any) -> int:
    """Step 3; STAYED also at a limit, or so near one that G cannot tell: it joins the others."""
    walk, face = open_walk(I, memory), open_face(I, memory)
    lam, outcome = face.state[LAMBDA], STAYED
    if face.state[TURNS] > most_turns(I):
        return REFUSED
    if lam > 0.0 and face.state[SLOPE] < -1e-17 * walk.state[HERE]:
        outcome = line_search(I, F, memory, T, q, report)
    if outcome == STAYED and lam * face.state[LENGTH] < TOUCHING:
        face.state[GAMMA] = lam
    elif outcome == STAYED and face.state[FRESH] != 0.0:
        return REFUSED
    return outcome


@stage
def follow_face(I: Any, F: Any, memory: Any, q: Any, settings: Any, outcome: int) -> None:
    """Steps 4 and 5, or Step 0 where neither can be done."""
    face = open_face(I, memory)
    if outcome == SLID:
        begin_face(I, F, memory, q, settings)
        return
    if outcome == ACCEPTED:
        face.state[TURNS] = 0.0
    if face.state[GAMMA] == face.state[LAMBDA]:
        if not add_limit(I, memory, int(face.state[FIRST])):
            restart_metric(I, memory)
    elif outcome == STAYED:
        restart_metric(I, memory)
    else:
        update_metric(I, memory, settings)
        face.state[FRESH] = 0.0


active_set_loop = descent(begin_face, model_face, try_face, follow_face)


@entry
def active_set_entry(
    I: Any, F: Any, memory: Any, T: Any, Q: Any, settings: Any, report: Any, trace: Any, first: int, last: int
) -> None:
    """Solve rows first … last − 1 of Q (k, size) in place for the targets T (k, …)."""
    for k in range(first, last):
        active_set_loop(I, F, memory, T[k], Q[k], settings, report[k], trace)


@dataclass(frozen=True)
class ActiveSet(Descent):
    """BFGS along the faces of linear limits, with rigidities. Always legal, never uphill, O(n²) an iteration."""

    steps: int = 1000
    tolerance: float = 1e-9  # on the projected gradient and on multipliers of the wrong sign
    update: str = "switch"  # of Step 5: between both as there, or "bfgs" or "dfp" alone

    loop = Loop(active_set_entry, FACE)

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.update, UPDATES, "the update of ActiveSet")

    def own_settings(self) -> tuple[float, ...]:
        """Which formula meets the curvature."""
        return (float(UPDATES[self.update]),)
