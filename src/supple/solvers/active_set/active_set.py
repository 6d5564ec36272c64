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
`faces`): an iteration costs O(n²) and one or two gradients. Every iterate is legal and G never rises.

Where more limits meet than there are coordinates, where rows almost depend on each other, or where no step is found, a
projected gradient step (see `entrance.slide`) leads on, and Step 0 follows.

The loop ends when every task is met (unless a posture goal is still to be improved), at Step 1, when no step of a
representable length is accepted, or when the budget is spent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.basics.checks import check_fields, not_negative, whole
from supple.geometry.placements import Floats
from supple.kernels.compiling import entry, leaf, row, stage
from supple.kernels.layouts import COORDINATES, EQUALITIES, LINEAR_LIMITS
from supple.kernels.objective import gradient
from supple.problem.allowance import FREELY, MET, SPENT, STATIONARY, STUCK, Allowance, close, count, record, spent
from supple.problem.problem import Problem
from supple.problem.solution import Solution
from supple.solvers.active_set.face import add, begin, direction, drop, multipliers, read_face, restart, room_size
from supple.solvers.base import is_patient, reasons_of_a_descent_method, run
from supple.solvers.linear_limits import TOUCHING, inside, rescaled, slide

DECREASE, CURVATURE = 1e-4, 0.5  # δ₁, δ₂ (Powell)
TRIALS = 30  # evaluations of one line search


@leaf
def step_to(face: Any, q: Any, gamma: float) -> None:
    """The trial ``q + γs``; exactly at its limit when it stops at one."""
    for i in range(q.shape[0]):
        x = q[i] + gamma * face.unit[i] * face.s[i]
        face.trial[i] = min(max(x, face.lower[i]), face.upper[i])
    j = int(face.tally[5])
    if gamma == face.tally[4] and j < q.shape[0]:
        face.trial[j] = face.upper[j] if face.s[j] > 0.0 else face.lower[j]


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
def judge(I: Any, room: Any, G: float, slope: float, gamma: float, trials: int) -> float:
    """Inequalities 31 at the step γ, the last of `trials`: 0 if they hold, the next γ to try if not, −1 if there is none."""
    face = read_face(I, room)
    span, lam, G_new, d = face.span, face.tally[4], face.tally[1], 0.0
    for i in range(I[COORDINATES]):
        face.y[i] *= face.unit[i]
        d += face.y[i] * face.s[i]
    if trials == 1:
        span[0], span[1], span[2], span[3] = 0.0, G, slope, np.inf
    if not (G_new <= G + DECREASE * gamma * slope and abs(d) < np.inf):
        if trials >= TRIALS or (span[0] == 0.0 and -gamma * slope < 1e-16 * G):
            return -1.0
        span[3], span[4], span[5] = gamma, G_new, d
    elif d < CURVATURE * slope and gamma < lam and trials < TRIALS:
        longer = cubic(span[0], span[1], span[2], gamma, G_new, d)
        span[0], span[1], span[2] = gamma, G_new, d
        if span[3] == np.inf:
            return min(lam, min(longer, 8.0 * gamma) if longer > 1.5 * gamma else 1.5 * gamma)
    else:
        return 0.0
    if trials == TRIALS - 1 and span[0] > 0.0:
        return span[0]
    width = span[3] - span[0]
    new = cubic(span[0], span[1], span[2], span[3], span[4], span[5])
    if not (new > span[0] + 0.05 * width and new < span[3] - 0.05 * width):
        new = span[0] + (0.1 if new <= span[0] + 0.05 * width else 0.5) * width
    return new


@leaf
def move_on(face: Any, q: Any) -> None:
    """``q ← q + γs`` and ``g ← g⁺``; y becomes ``g⁺ − g``."""
    gamma = face.tally[3]
    for i in range(q.shape[0]):
        q[i] = face.trial[i]
        g_new = face.y[i]
        face.y[i] -= face.g[i]
        face.g[i] = g_new
    for r in range(face.slack.shape[0]):
        face.slack[r] -= gamma * face.w[r]


@stage
def renew(I: Any, room: Any) -> None:
    """Step 5: H meets the curvature of the last step; skipped where that is not positive. s becomes σ."""
    face = read_face(I, room)
    n, gamma = I[COORDINATES], face.tally[3]
    for i in range(n):
        face.v[i] = 0.0
        face.s[i] *= gamma
    for i in range(n):
        x = face.y[i]
        if face.at[i] == 0.0 and x != 0.0:
            for j in range(n):
                face.v[j] += x * face.H[i, j]
    sy, yHy, ss, yy = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        sy += face.s[i] * face.y[i]
        yHy += face.y[i] * face.v[i]
        ss += face.s[i] * face.s[i]
        yy += face.y[i] * face.y[i] if face.at[i] == 0.0 else 0.0
    if not (sy > 1e-12 * math.sqrt(ss * yy) and yHy > 0.0):
        return
    if sy >= yHy:
        a, b, c = (1.0 + yHy / sy) / sy, -1.0 / sy, 0.0
    else:
        a, b, c = 1.0 / sy, 0.0, -1.0 / yHy
    for i in range(n):
        if face.at[i] == 0.0:
            x, z = a * face.s[i] + b * face.v[i], b * face.s[i] + c * face.v[i]
            for j in range(n):
                face.H[i, j] += x * face.s[j] + z * face.v[j]


@leaf
def oversteps(face: Any, gamma: float, equalities: int) -> bool:
    """Whether the trial breaks a row, by rounding where rows almost depend on each other."""
    worst = 0.0
    for r in range(face.slack.shape[0]):
        over = gamma * face.w[r] - face.slack[r]
        worst = max(worst, abs(over) if r < equalities else over)
    return worst > TOUCHING


@stage
def descend(I: Any, F: Any, scratch: Any, T: Any, q: Any, settings: Any, room: Any, info: Any, trace: Any) -> None:
    """The loop."""
    face = read_face(I, room)
    steps, tolerance, patient, longest = settings[0], settings[1], settings[2], 4 * (q.shape[0] + I[LINEAR_LIMITS]) + 20
    inside(I, F, q, face.spare)
    begin(I, F, room, q)
    G, unmet = gradient(I, F, scratch, T, q, face.g)
    count(info)
    record(info, trace, G)
    searching = rescaled(face.unit, G, face.g) < np.inf
    restart(I, room)
    reason, k, turns, fresh = SPENT if searching else STUCK, 0, 0, True  # turns: on the spot; fresh: H is P
    while searching:
        if unmet == 0 and patient == 0.0:
            reason = MET
            break
        largest, m, most = multipliers(I, room)  # Step 1
        if largest <= tolerance:
            reason = STATIONARY
            break
        if k >= steps:
            break
        turns += 1
        length, slope = direction(I, room, q)
        if m >= 0 and length <= 0.5 * most and turns <= longest:  # Step 2
            drop(I, room, m)
            continue
        lam, j, more, stuck = face.tally[4], int(face.tally[5]), -1.0, turns > longest
        if lam > 0.0 and slope < -1e-17 * G and not stuck:  # Step 3
            gamma, more, trials = min(1.0, lam), 1.0, 0
            while more > 0.0 and not spent(info):
                if oversteps(face, gamma, I[EQUALITIES]):
                    stuck, more = True, -1.0
                    break
                step_to(face, q, gamma)
                face.tally[1], face.tally[2] = gradient(I, F, scratch, T, face.trial, face.y)
                count(info)
                trials += 1
                face.tally[3], more = gamma, judge(I, room, G, slope, gamma, trials)
                gamma = more
            if more > 0.0:
                break
        if more < 0.0 and lam * length < TOUCHING and not stuck:  # at a limit, or so near that G cannot tell
            face.tally[3] = lam
        elif more < 0.0 and (fresh or stuck):
            face.tally[1], face.tally[2] = slide(
                I, F, scratch, T, q, G, face.g, face.unit, face.trial, face.y, face.spare, info
            )
            if not face.tally[1] < np.inf:
                reason = STATIONARY if face.tally[1] == np.inf else (SPENT if spent(info) else STUCK)
                break
            more, stuck = 0.0, True
        if more == 0.0:
            G, unmet = face.tally[1], face.tally[2]
            move_on(face, q)
            k, turns = k + 1, 0
            record(info, trace, G)
        if stuck:
            begin(I, F, room, q)
        if stuck or (more < 0.0 and face.tally[3] != lam) or (face.tally[3] == lam and not add(I, room, j)):  # Step 4
            restart(I, room)
            fresh = True
        elif face.tally[3] != lam:  # Step 5
            renew(I, room)
            fresh = False
    close(info, k, G, reason)


@entry
def active_set_entry(
    I: Any, F: Any, scratch: Any, T: Any, Q: Any, settings: Any, info: Any, trace: Any, first: int, last: int
) -> None:
    """Solve rows first … last − 1 of Q (k, size) in place for the targets T (k, …)."""
    work = scratch.shape[0] - room_size(I)
    for k in range(first, last):
        descend(I, F, scratch, T[k], Q[k], settings, row(scratch, work, room_size(I)), info[k], trace)


@dataclass(frozen=True)
class ActiveSet:
    """BFGS along the faces of linear limits, with rigidities. Always legal, never uphill, O(n²) an iteration."""

    steps: int = 1000
    tolerance: float = 1e-9  # on the projected gradient and on multipliers of the wrong sign

    def __post_init__(self) -> None:
        check_fields(self, steps=whole, tolerance=not_negative)

    def refuse(self, problem: Problem) -> list[str]:
        """Hard tasks, several priorities, obstacles."""
        return reasons_of_a_descent_method(problem)

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Allowance = FREELY) -> Solution:
        """Walk downhill from `start` until nothing is left to gain."""
        settings = (self.steps, self.tolerance, is_patient(problem))
        room = room_size(problem.packed[0])
        return run(self, active_set_entry, room, settings, problem, start, seed, allowance)
