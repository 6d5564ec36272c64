"""Newton's method on exact Hessians under linear limits (the Hessian of Erleben & Andrews 2019, for every goal).

At a posture q with gradient g and Hessian B, find the step that minimises the shifted model over all legal steps,

    m(p) = gᵀp + ½ pᵀ(B + μ D⁻¹)p,    lower ≤ q + p ≤ upper,    A (q + p) (=, ≤) b,                         (a)

and take it if G falls by a part of what the model promised, ``G(q + p) ≤ G(q) + δ m(p)``; else raise μ and try again. B is
usually indefinite far from a solution: μ is also raised until ``B + μ D⁻¹`` is positive definite on every face of the limits
that the search for p visits. D = diag((1 − ρ)²) is the metric that rigidity ρ stands for; as in the other solvers this is a
change of unit ``q = (1 − ρ) φ``, in which D is the identity.

**The shift** is ``μ = ν ‖r‖``, r what the multipliers of the limits leave of the gradient, zero at a solution. So 1/ν is
roughly the longest step, and ν follows the ratio of true to promised decrease. Near a solution μ falls with the error and
convergence is quadratic, also along a limit, and also where a redundant figure has a whole surface of solutions: the
curvature there is indefinite, but no more than in proportion to r. How (a) is solved is told in `shifted_model`.

**Saddles.** Where r vanishes and B has negative curvature along the free coordinates, no first-order method can leave; here
a step along that curvature is tried before the posture is called the nearest.

Without `curvature`, B is the Gauss–Newton matrix, positive semidefinite, and convergence is quadratic only if all goals can
be met.

Where no model leads on, in corners with more limits than coordinates, a projected gradient step does (see `entrance.slide`).
Every iterate is legal and G never rises. The loop ends when every task is met (unless a posture goal is still to be improved),
when ``‖r‖_∞`` falls below `tolerance`, when no step of a representable length is accepted, or when the budget is spent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.basics.checks import check_fields, flag, not_negative, positive, whole
from supple.geometry.placements import Floats
from supple.kernels.algebra.triangular import solve_up
from supple.kernels.compiling import entry, leaf, row, stage
from supple.kernels.layouts import COORDINATES, EQUALITIES, LINEAR_LIMITS
from supple.kernels.objective import gradient, hessian
from supple.kernels.terms.kinds import CUSTOM
from supple.problem.allowance import (
    EVALUATIONS,
    FREELY,
    MET,
    SPENT,
    STATIONARY,
    STUCK,
    Allowance,
    close,
    count,
    record,
    spent,
)
from supple.problem.problem import Problem
from supple.problem.solution import Solution
from supple.solvers.base import is_patient, reasons_of_a_descent_method, run
from supple.solvers.linear_limits import inside, rescaled, slide
from supple.solvers.newton.scratch import begin, norm, oversteps, read_sheet, room_size, step_to
from supple.solvers.newton.shifted_model import gather, minimise, remainder

DECREASE = 1e-4  # δ
TURNS = 20  # trials to leave a saddle
TIMID = 10.0  # ν from which steps are short
ENDLESS = 1e14  # a shift so much larger than B leaves no step


@leaf
def rescale(sheet: Any) -> float:
    """B from units of q to units of φ; returns its largest diagonal entry."""
    size, n = 0.0, sheet.unit.shape[0]
    for i in range(n):
        for j in range(n):
            sheet.B[i, j] *= sheet.unit[i] * sheet.unit[j]
        size = max(size, abs(sheet.B[i, i]))
    return size


@stage
def bend_away(I: Any, room: Any, q: Any, size: float, turn: int) -> float:
    """A trial along negative curvature κ, to one side and the other by ever shorter steps t: ``½ t² κ``; 0 if none is left."""
    sheet = read_sheet(I, room)
    n, m, count = I[COORDINATES], I[LINEAR_LIMITS], int(sheet.tally[0])
    k = gather(sheet, 0.0)
    if turn >= TURNS or sheet.tally[1] > 0.0 or k == count or not sheet.R[k, k] < -1e-9 * size:
        return 0.0
    for l in range(k):  # vᵀMv = R_kk for v = (−M⁻¹m, 1), m the column above the bad pivot
        sheet.v[l] = -sheet.R[l, k]
    solve_up(sheet.R, k, sheet.v)
    sheet.v[k], square = 1.0, 0.0
    for l in range(k + 1):
        square += sheet.v[l] * sheet.v[l]
    for i in range(n):
        sheet.x[i] = 0.0
    for l in range(k + 1):
        sheet.x[int(sheet.order[l])] = (sheet.v[l] if turn % 2 == 0 else -sheet.v[l]) / math.sqrt(square)
    t = 0.25 ** (turn // 2)
    for r in range(m):
        towards = 0.0
        for i in range(n):
            towards += sheet.C[r, i] * sheet.x[i]
        sheet.w[r] = towards
        if towards * t > sheet.slack[r]:
            t = max(sheet.slack[r], 0.0) / towards
    for r in range(m):
        sheet.left[r] = sheet.slack[r] - t * sheet.w[r]
    step_to(sheet, q, t)
    return 0.5 * t * t * sheet.R[k, k] / square


@leaf
def keep_prices(sheet: Any, equalities: int) -> None:
    """The multipliers of the rows in hand become their prices; other rows have none."""
    for r in range(sheet.price.shape[0]):
        sheet.price[r] = 0.0
    for k in range(int(sheet.tally[1])):
        r = int(sheet.active[k])
        price = sheet.base[r] + sheet.lam[k]
        sheet.price[r] = price if r < equalities else max(price, 0.0)


@leaf
def move_on(sheet: Any, q: Any) -> None:
    """The trial becomes q."""
    for i in range(q.shape[0]):
        q[i], sheet.g[i] = sheet.trial[i], sheet.rest[i]
    for r in range(sheet.slack.shape[0]):
        sheet.slack[r] = sheet.left[r]


@stage
def propose(I: Any, room: Any, q: Any, size: float, nu: float) -> Any:
    """The trial for the first ν from here on for which M is definite where it must be: m(p) and that ν.

    Where only negative curvature asks for a large ν and steps become timid, it is brought down again as far as it can be.
    """
    sheet = read_sheet(I, room)
    remainder(I, room, q)
    length, bad = sheet.tally[3], 0.0
    promised = minimise(I, room, q, nu * length)
    while not promised <= 0.0 and nu * length < ENDLESS * (size + length):
        bad, nu = nu, max(2.5 * nu, 1e-3 * size / length)
        promised = minimise(I, room, q, nu * length)
    best = nu
    while bad > 0.0 and best > TIMID and best > 1.001 * bad and norm(sheet.x, I[COORDINATES]) < 1.0 / TIMID:
        nu = 0.5 * (bad + best)
        promised = minimise(I, room, q, nu * length)
        if promised <= 0.0:
            best = nu
        else:
            bad = nu
    if nu != best:
        promised = minimise(I, room, q, best * length)
    return promised, best


@leaf
def next_shift(nu: float, gain: float) -> float:
    """ν for the next step, by the ratio of true to promised decrease."""
    if gain > 0.75:
        return max(0.2 * nu, 1e-6)
    return 3.0 * nu if gain < 0.25 else nu


@stage
def descend(I: Any, F: Any, scratch: Any, T: Any, q: Any, settings: Any, room: Any, info: Any, trace: Any) -> None:
    """The loop."""
    sheet = read_sheet(I, room)
    steps, tolerance, patient, curvature, nu = settings[0], settings[1], settings[2], int(settings[3]), settings[4]
    inside(I, F, q, sheet.spare)
    begin(I, F, room, q)
    G, unmet = gradient(I, F, scratch, T, q, sheet.g)
    count(info)
    record(info, trace, G)
    searching = rescaled(sheet.unit, G, sheet.g) < np.inf
    reason, k, afresh = SPENT if searching else STUCK, 0, True
    while searching:
        if unmet == 0 and patient == 0.0:
            reason = MET
            break
        if k >= steps or spent(info):
            break
        hessian(I, F, scratch, T, q, curvature, sheet.v, sheet.B)
        count(info)
        size, before = rescale(sheet), int(info[EVALUATIONS])
        if afresh and I[LINEAR_LIMITS] > 0 and minimise(I, room, q, 1e8 * size) <= 0.0:
            keep_prices(sheet, I[EQUALITIES])  # a step so short asks nothing but which rows hold the gradient
        remainder(I, room, q)
        saddle, length, found, afresh, G_new = sheet.tally[2] <= tolerance, sheet.tally[3], False, False, G
        while nu * length < ENDLESS * (size + length):
            if saddle:
                promised = bend_away(I, room, q, size, int(info[EVALUATIONS]) - before)
            else:
                promised, nu = propose(I, room, q, size, nu)
            if not promised < 0.0:
                break
            if spent(info):
                searching = False
                break
            afresh = oversteps(sheet, I[EQUALITIES])
            legal = not afresh or inside(I, F, sheet.trial, sheet.spare)
            G_new, missed = gradient(I, F, scratch, T, sheet.trial, sheet.rest)
            count(info)
            found = legal and rescaled(sheet.unit, G_new, sheet.rest) < np.inf and G_new <= G + DECREASE * promised
            if found:
                nu = settings[4] if saddle else next_shift(nu, (G_new - G) / promised)
                G, unmet = G_new, missed
            if found or -promised < 1e-16 * G:
                break
            nu = nu if saddle else 2.5 * nu
        if not searching:
            break
        if not found and not saddle:
            G_new, missed = slide(
                I, F, scratch, T, q, G, sheet.g, sheet.unit, sheet.trial, sheet.rest, sheet.spare, info
            )
            found, afresh, nu = G_new < np.inf, True, settings[4]
            if found:
                G, unmet = G_new, missed
        if not found:
            reason = STATIONARY if saddle or G_new == np.inf else (SPENT if spent(info) else STUCK)
            break
        keep_prices(sheet, I[EQUALITIES])
        move_on(sheet, q)
        k += 1
        record(info, trace, G)
        if afresh:
            begin(I, F, room, q)
    close(info, k, G, reason)


@entry
def newton_entry(
    I: Any, F: Any, scratch: Any, T: Any, Q: Any, settings: Any, info: Any, trace: Any, first: int, last: int
) -> None:
    """Solve rows first … last − 1 of Q (k, size) in place for the targets T (k, …)."""
    work = scratch.shape[0] - room_size(I)
    for k in range(first, last):
        descend(I, F, scratch, T[k], Q[k], settings, row(scratch, work, room_size(I)), info[k], trace)


@dataclass(frozen=True)
class Newton:
    """``q ← q − (B + μ D⁻¹)⁻¹ g`` within the limits. Few, costlier steps; quadratic in the end; always legal, never uphill."""

    steps: int = 200
    tolerance: float = 1e-9  # on what the limits leave of the gradient
    curvature: bool = True  # without: Gauss–Newton
    damping: float = 0.1  # the first ν

    def __post_init__(self) -> None:
        check_fields(self, steps=whole, tolerance=not_negative, curvature=flag, damping=positive)

    def refuse(self, problem: Problem) -> list[str]:
        """Hard tasks, several priorities, obstacles; for Gauss–Newton also goals without residuals."""
        reasons = reasons_of_a_descent_method(problem)
        if not self.curvature and CUSTOM in problem.kinds:
            reasons.append("a custom goal has no residuals; keep the curvature")
        return reasons

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Allowance = FREELY) -> Solution:
        """Walk downhill from `start` until nothing is left to gain."""
        settings = (self.steps, self.tolerance, is_patient(problem), self.curvature, self.damping)
        return run(self, newton_entry, room_size(problem.packed[0]), settings, problem, start, seed, allowance)
