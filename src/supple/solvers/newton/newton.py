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

Where no model leads on, in corners with more limits than coordinates, a projected gradient step does (see `descent.slide`).
Every iterate is legal and G never rises. The loop ends when every task is met (unless a posture goal is still to be improved),
when ``‖r‖_∞`` falls below `tolerance`, when no step of a representable length is accepted, or when the budget is spent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from supple.basics.checks import check_fields, flag, positive
from supple.kernels.algebra.triangular import solve_up
from supple.kernels.algebra.vectors import norm, products
from supple.kernels.compiling import entry, leaf, stage
from supple.kernels.kinds import CUSTOM
from supple.kernels.layouts import COORDINATES, EQUALITIES, LINEAR_LIMITS
from supple.kernels.objective import hessian
from supple.problem.allowance import EVALUATIONS, ITERATIONS, SPENT, STATIONARY
from supple.problem.meter import count, spent
from supple.problem.problem import Problem
from supple.solvers.base import OWN, STEPS, TOLERANCE, Descent, Loop
from supple.solvers.descent import (
    ACCEPTED,
    GOING,
    HERE,
    REFUSED,
    SLID,
    THERE,
    UNMET_THERE,
    descent,
    evaluate,
    open_walk,
)
from supple.solvers.linear_limits import change_unit, inside, oversteps
from supple.solvers.newton.scratch import AFRESH, FREE, IN_HAND, LARGEST, LENGTH, NEWTON, NU, SIZE, open_newton
from supple.solvers.newton.shifted_model import load_model, minimise_model, remainder, step_to

CURVATURE, DAMPING = OWN, OWN + 1  # settings
DECREASE = 1e-4  # δ
TURNS = 20  # trials to leave a saddle
TIMID = 10.0  # ν from which steps are short
ENDLESS = 1e14  # a shift so much larger than B leaves no step


@leaf
def change_unit_of_hessian(unit: Any, B: Any) -> float:
    """B from units of q to units of φ; returns its largest diagonal entry."""
    size, n = 0.0, unit.shape[0]
    for i in range(n):
        for j in range(n):
            B[i, j] *= unit[i] * unit[j]
        size = max(size, abs(B[i, i]))
    return size


@stage
def bend_away(I: Any, memory: Any, q: Any, turn: int) -> float:
    """A trial along negative curvature κ, to one side and the other by ever shorter steps t: ``½ t² κ``; 0 if none is left."""
    walk, s = open_walk(I, memory), open_newton(I, memory)
    k = load_model(walk, s, 0.0)
    if turn >= TURNS or s.state[IN_HAND] > 0.0 or k == int(s.state[FREE]) or not s.R[k, k] < -1e-9 * s.state[SIZE]:
        return 0.0
    for l in range(k):  # vᵀMv = R_kk for v = (−M⁻¹m, 1), m the column above the bad pivot
        s.v[l] = -s.R[l, k]
    solve_up(s.R, k, s.v)
    s.v[k], square = 1.0, 0.0
    for l in range(k + 1):
        square += s.v[l] * s.v[l]
    for i in range(I[COORDINATES]):
        s.x[i] = 0.0
    for l in range(k + 1):
        s.x[int(s.order[l])] = (s.v[l] if turn % 2 == 0 else -s.v[l]) / math.sqrt(square)
    t = 0.25 ** (turn // 2)
    products(walk.C, s.x, s.w)
    for r in range(I[LINEAR_LIMITS]):
        if s.w[r] * t > walk.slack[r]:
            t = max(walk.slack[r], 0.0) / s.w[r]
    for r in range(I[LINEAR_LIMITS]):
        walk.left[r] = walk.slack[r] - t * s.w[r]
    step_to(walk, q, s.x, t)
    return 0.5 * t * t * s.R[k, k] / square


@leaf
def keep_prices(s: Any, equalities: int) -> None:
    """The multipliers of the rows in hand become their prices; other rows have none."""
    for r in range(s.price.shape[0]):
        s.price[r] = 0.0
    for k in range(int(s.state[IN_HAND])):
        r = int(s.active[k])
        price = s.base[r] + s.lam[k]
        s.price[r] = price if r < equalities else max(price, 0.0)


@stage
def shifted_step(I: Any, memory: Any, q: Any, nu: float) -> Any:
    """The trial for the first ν from here on for which M is definite where it must be: m(p) and that ν.

    Where only negative curvature asks for a large ν and steps become timid, it is brought down again as far as it can be.
    """
    s = open_newton(I, memory)
    remainder(I, memory, q)
    length, size, bad = s.state[LENGTH], s.state[SIZE], 0.0
    promised = minimise_model(I, memory, q, nu * length)
    while not promised <= 0.0 and nu * length < ENDLESS * (size + length):
        bad, nu = nu, max(2.5 * nu, 1e-3 * size / length)
        promised = minimise_model(I, memory, q, nu * length)
    best = nu
    while bad > 0.0 and best > TIMID and best > 1.001 * bad and norm(s.x, I[COORDINATES]) < 1.0 / TIMID:
        nu = 0.5 * (bad + best)
        promised = minimise_model(I, memory, q, nu * length)
        if promised <= 0.0:
            best = nu
        else:
            bad = nu
    if nu != best:
        promised = minimise_model(I, memory, q, best * length)
    return promised, best


@leaf
def next_shift(nu: float, gain: float) -> float:
    """ν for the next step, by the ratio of true to promised decrease."""
    if gain > 0.75:
        return max(0.2 * nu, 1e-6)
    return 3.0 * nu if gain < 0.25 else nu


# ── phases ───────────────────────────────────────────────────────────────────────────────────────────────────────────
@stage
def begin_newton(I: Any, F: Any, memory: Any, q: Any, settings: Any) -> None:
    """The change of unit, rows without a price, and the first ν."""
    s = open_newton(I, memory)
    change_unit(I, F, q, open_walk(I, memory))
    for r in range(I[LINEAR_LIMITS]):
        s.price[r] = 0.0
    s.state[AFRESH], s.state[NU] = 1.0, settings[DAMPING]


@stage
def model_curvature(I: Any, F: Any, memory: Any, T: Any, q: Any, settings: Any, report: Any) -> int:
    """B, and what the multipliers of the limits leave of the gradient."""
    if report[ITERATIONS] >= settings[STEPS] or spent(report):
        return SPENT
    walk, s = open_walk(I, memory), open_newton(I, memory)
    hessian(I, F, memory, T, q, int(settings[CURVATURE]), s.v, s.B)
    count(report)
    size = change_unit_of_hessian(walk.unit, s.B)
    s.state[SIZE] = size
    if s.state[AFRESH] != 0.0 and I[LINEAR_LIMITS] > 0 and minimise_model(I, memory, q, 1e8 * size) <= 0.0:
        keep_prices(s, I[EQUALITIES])  # a step so short asks nothing but which rows hold the gradient
    remainder(I, memory, q)
    return GOING


@stage
def try_shifts(I: Any, F: Any, memory: Any, T: Any, q: Any, settings: Any, report: Any) -> int:
    """Steps of the shifted model with ever larger ν, or, at a saddle, along negative curvature, until G falls enough."""
    walk, s = open_walk(I, memory), open_newton(I, memory)
    G, nu, before = walk.state[HERE], s.state[NU], int(report[EVALUATIONS])
    saddle, length, size = s.state[LARGEST] <= settings[TOLERANCE], s.state[LENGTH], s.state[SIZE]
    while nu * length < ENDLESS * (size + length):
        if saddle:
            promised = bend_away(I, memory, q, int(report[EVALUATIONS]) - before)
        else:
            promised, nu = shifted_step(I, memory, q, nu)
        if not promised < 0.0:
            break
        if spent(report):
            return SPENT
        afresh = oversteps(walk.left, I[EQUALITIES])
        legal = not afresh or inside(I, F, walk.trial, walk.projection)
        G_new, unmet, finite = evaluate(I, F, memory, T, walk.trial, walk.g_new, report)
        if legal and finite and G_new <= G + DECREASE * promised:
            walk.state[THERE], walk.state[UNMET_THERE] = G_new, unmet
            s.state[NU] = settings[DAMPING] if saddle else next_shift(nu, (G_new - G) / promised)
            s.state[AFRESH] = 1.0 if afresh else 0.0
            return ACCEPTED
        if -promised < 1e-16 * G:
            break
        nu = nu if saddle else 2.5 * nu
    return STATIONARY if saddle else REFUSED


@stage
def follow_prices(I: Any, F: Any, memory: Any, q: Any, settings: Any, outcome: int) -> None:
    """The prices of the rows at the new q; where the way there was not the model's, they are found anew."""
    s = open_newton(I, memory)
    nu = s.state[NU]
    if outcome == SLID:
        begin_newton(I, F, memory, q, settings)
    elif s.state[AFRESH] != 0.0:
        begin_newton(I, F, memory, q, settings)
        s.state[NU] = nu
    else:
        keep_prices(s, I[EQUALITIES])


newton_loop = descent(begin_newton, model_curvature, try_shifts, follow_prices)


@entry
def newton_entry(
    I: Any, F: Any, memory: Any, T: Any, Q: Any, settings: Any, report: Any, trace: Any, first: int, last: int
) -> None:
    """Solve rows first … last − 1 of Q (k, size) in place for the targets T (k, …)."""
    for k in range(first, last):
        newton_loop(I, F, memory, T[k], Q[k], settings, report[k], trace)


@dataclass(frozen=True)
class Newton(Descent):
    """``q ← q − (B + μ D⁻¹)⁻¹ g`` within the limits. Few, costlier steps; quadratic in the end; always legal, never uphill."""

    steps: int = 200
    tolerance: float = 1e-9  # on what the limits leave of the gradient
    curvature: bool = True  # without: Gauss–Newton
    damping: float = 0.1  # the first ν

    loop = Loop(newton_entry, NEWTON)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, curvature=flag, damping=positive)

    def refuse(self, problem: Problem) -> list[str]:
        """Hard tasks, several priorities, obstacles; for Gauss–Newton also goals without residuals."""
        reasons = super().refuse(problem)
        if not self.curvature and CUSTOM in problem.kinds:
            reasons.append("a custom goal has no residuals; keep the curvature")
        return reasons

    def own_settings(self) -> tuple[float, ...]:
        """Whether there is curvature, and the first ν."""
        return self.curvature, self.damping
