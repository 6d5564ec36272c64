"""Pseudo-inverse by singular values, limits clamped afterwards (Engell-Nørregård & Erleben 2009, equations 9–14, section 2).

The step is the shortest of those that bring the linear model of the goals nearest, ``Δθ = J⁺e`` with ``e = g − F(θ)``
(here ``e = −ρ``): equation 9 where J can be inverted, equation 14 where it has full column rank. From ``J = UΣVᵀ``

    J⁺e = Σ_r v_r (u_rᵀe) / σ_r   over the singular values with ``σ_r > cutoff · σ_max``.

The step knows nothing of limits. They are clamped after every step, or with `at_end` once, when a solution without limits
has been found: "projection of the final solution", as the paper describes Blender. Near a singular posture steps grow
without bound; `longest` clamps ``‖Δθ‖`` (the rate control of section 4.2).

**Singular values** by one-sided Jacobi rotations (Hestenes 1958): pairs of rows of J are turned in their plane until all
are orthogonal. The turns make up Uᵀ, so afterwards row r of J is ``σ_r v_rᵀ``; carried along on e they give ``u_rᵀe``. Neither
U nor V is ever formed.

With rigidity ρ the coordinates are measured in units of ``1 − ρ``: J and Δθ are scaled by it, and a locked one stays.
Nothing makes G fall at every step; the best posture on the way is the answer (`baseline`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

from supple.basics.checks import check_fields, endless, flag, not_negative, number, whole
from supple.geometry.placements import Floats
from supple.kernels.compiling import entry, leaf, stage, table
from supple.kernels.layouts import RESIDUALS
from supple.problem.allowance import BUDGET, EVALUATIONS, FREELY, ITERATIONS, SPENT, Allowance
from supple.problem.problem import Problem
from supple.problem.solution import Solution
from supple.solvers.base import reasons_of_a_descent_method, run
from supple.solvers.baselines.common import (
    ANY,
    GOING,
    arrive,
    conclude,
    keep,
    limits_of,
    linear_model,
    read_model,
    read_room,
    room_of,
    room_size,
    settle,
    without_residuals,
)

SWEEPS = 40
ORTHOGONAL = 1e-15  # two rows of J count as orthogonal when the cosine between them is smaller
NOTHING = 1e-15  # a row this much shorter than the longest is rounding


@leaf
def longest_square(A: Any) -> float:
    """The square of the longest row."""
    greatest = 0.0
    for r in range(A.shape[0]):
        square = 0.0
        for i in range(A.shape[1]):
            square += A[r, i] * A[r, i]
        greatest = max(greatest, square)
    return greatest


@leaf
def turn_rows(A: Any, r: int, s: int, c: float, d: float) -> None:
    """Turn rows r and s of A in their plane by the angle of cosine c and sine d."""
    for i in range(A.shape[1]):
        x, y = A[r, i], A[s, i]
        A[r, i], A[s, i] = c * x - d * y, d * x + c * y


@stage
def orthogonal_rows(A: Any, B: Any) -> int:
    """Turn the rows of A (m, n) until they are orthogonal, and those of B (m, k) with them; returns the sweeps it took.

    Two rows with squares a, b and product p become orthogonal by the turn of tangent t, the smaller root of
    ``t² + 2ζt − 1 = 0`` with ``ζ = (b − a)/2p``.
    """
    for sweep in range(SWEEPS):
        turned, floor = False, NOTHING * NOTHING * longest_square(A)
        for r in range(A.shape[0] - 1):
            for s in range(r + 1, A.shape[0]):
                a, b, p = 0.0, 0.0, 0.0
                for i in range(A.shape[1]):
                    a += A[r, i] * A[r, i]
                    b += A[s, i] * A[s, i]
                    p += A[r, i] * A[s, i]
                if not (min(a, b) > floor and abs(p) > ORTHOGONAL * math.sqrt(a) * math.sqrt(b)):
                    continue
                zeta = (b - a) / (2.0 * p)
                t = 1.0 / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
                t = -t if zeta < 0.0 else t
                c = 1.0 / math.sqrt(1.0 + t * t)
                turn_rows(A, r, s, c, c * t)
                turn_rows(B, r, s, c, c * t)
                turned = True
        if not turned:
            return sweep
    return SWEEPS


@entry
def orthogonal_rows_entry(A: Any, B: Any) -> int:
    """`orthogonal_rows` for callers in Python."""
    return orthogonal_rows(A, B)


@leaf
def pseudo_inverse_step(J: Any, e: Any, cutoff: float, step: Any) -> None:
    """``step = J⁺e`` of a J with orthogonal rows, the turned e beside it."""
    greatest = longest_square(J)
    for i in range(J.shape[1]):
        step[i] = 0.0
    for r in range(J.shape[0]):
        square = 0.0
        for i in range(J.shape[1]):
            square += J[r, i] * J[r, i]
        if square > cutoff * cutoff * greatest:
            for i in range(J.shape[1]):
                step[i] += J[r, i] * e[r, 0] / square


@leaf
def take_step(q: Any, step: Any, free: Any, longest: float) -> None:
    """``q ← q − Δθ`` in units of ``1 − ρ``, Δθ no longer than `longest`."""
    length = 0.0
    for i in range(q.shape[0]):
        step[i] *= free[i]
        length += step[i] * step[i]
    length = math.sqrt(length)
    scale = longest / length if length > longest else 1.0
    for i in range(q.shape[0]):
        q[i] -= scale * step[i]


@stage
def inverse_loop(I: Any, F: Any, scratch: Any, T: Any, q: Any, settings: Any, info: Any, trace: Any) -> None:
    """The loop."""
    steps, tolerance, cutoff = settings[0], settings[1], settings[2]
    longest, at_end = settings[3], settings[4]
    n, m = q.shape[0], I[RESIDUALS]
    free, room = limits_of(I, F).mobility, room_of(I, scratch)
    r, (_, J) = read_room(I, room), read_model(I, room)
    column = table(room, r.rest, m, 1)  # ρ
    enough = tolerance if at_end == 0.0 else -1.0
    settle(I, F, room, q)
    f, unmet = linear_model(I, F, scratch, T, room, q, info)
    reason = arrive(I, F, room, q, f, unmet, steps, enough, info, trace)
    while reason == GOING and info[EVALUATIONS] + at_end < info[BUDGET]:  # one is left for the clamped posture
        info[ITERATIONS] += 1.0
        for s in range(m):
            for i in range(n):
                J[s, i] *= free[i]
        orthogonal_rows(J, column)
        pseudo_inverse_step(J, column, cutoff, r.trial)
        take_step(q, r.trial, free, longest)
        if at_end == 0.0:
            settle(I, F, room, q)
        f, unmet = linear_model(I, F, scratch, T, room, q, info)
        reason = arrive(I, F, room, q, f, unmet, steps, enough, info, trace)
    if at_end != 0.0 and info[ITERATIONS] > 0.0:
        for i in range(n):
            q[i] = r.best[i]
        settle(I, F, room, q)
        f, unmet = linear_model(I, F, scratch, T, room, q, info)
        keep(I, room, q, f, ANY, info, trace)
    conclude(I, F, room, q, tolerance, SPENT if reason == GOING else reason, info)


@entry
def pseudo_inverse_entry(
    I: Any, F: Any, scratch: Any, T: Any, Q: Any, settings: Any, info: Any, trace: Any, first: int, last: int
) -> None:
    """Solve rows first … last − 1 of Q (k, size) in place for the targets T (k, …)."""
    for k in range(first, last):
        inverse_loop(I, F, scratch, T[k], Q[k], settings, info[k], trace)


@dataclass(frozen=True)
class PseudoInverse:
    """``q ← clamp(q − J⁺ρ)``. Quadratic near a regular solution inside the limits, jumpy near singular postures."""

    steps: int = 500
    tolerance: float = 1e-9  # on the projected gradient step
    cutoff: float = 1e-6  # singular values below this share of the largest count as zero
    longest: float = 1.0  # greatest length of a step, in coordinate units
    at_end: bool = False  # clamp once, at the end, instead of after every step

    def __post_init__(self) -> None:
        check_fields(self, steps=whole, tolerance=not_negative, longest=endless, at_end=flag)
        check_fields(self, cutoff=partial(number, least=0.0, below=1.0))

    def refuse(self, problem: Problem) -> list[str]:
        """Hard tasks, several priorities, obstacles, goals that have no residuals."""
        return reasons_of_a_descent_method(problem) + without_residuals(problem)

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Allowance = FREELY) -> Solution:
        """Step from `start` until every task is met, nothing is left to gain, or the budget is spent."""
        settings = (self.steps, self.tolerance, self.cutoff, self.longest, self.at_end)
        room = room_size(problem, int(problem.packed[0][RESIDUALS]) * (1 + problem.figure.size))
        return run(self, pseudo_inverse_entry, room, settings, problem, start, seed, allowance)
