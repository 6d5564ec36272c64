"""Phase one of a semidefinite program, compiled: is there z with ``F⁰_k + Σ z_i Fⁱ_k ⪰ 0`` for every block k?

Minimise t subject to ``S_k = F⁰_k + Σ z_i Fⁱ_k + t I ⪰ 0`` by a primal–dual interior-point method (the HKM direction
with Mehrotra's predictor and corrector). The dual seeks X_k ⪰ 0 with ``⟨Fⁱ, X⟩ = 0`` and ``tr X = 1`` that maximise
``−⟨F⁰, X⟩``. Since no moment is larger than one, any X ⪰ 0 at all bounds t from below,

    t ≥ −(⟨F⁰, X⟩ + Σ_i |⟨Fⁱ, X⟩|)/tr X,

and if this is positive there is no such z, and X is the proof. The loop ends with it when the bound is above a margin
or within a sixth of t, which is the best there can be; and without a proof when t is less than a proof is worth.

The blocks are those of `blocks`, one behind the other, row by row; the matrix of a step is that of `step_matrix`.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.dense_blocks import back, factor, factored, invert, multiply
from supple.kernels.compiling import leaf, stage
from supple.proofs.relaxation.semidefinite_blocks import drawn, fill, moments_of, weigh
from supple.proofs.relaxation.step_matrix import step_matrix

STEPS = 60
NEARLY = 6.0 / 7.0  # share of t from which on a bound is as good as it gets
OPEN, REFUTED = 0, 1  # verdicts
SHRINK, TRIES = 0.93, 120  # of a step that leaves the cone
SETTLED = 3  # steps towards the average of all postures
SMALLER, ROOM = 0.7, 0.05  # by which a first t is brought down, and how much is added then
KEEP = 0.98  # share of a step that ends at the border of the cone


@leaf
def longest(b: Any, M: Any, D: Any, k: int, start: float) -> float:
    """The longest step along D, up to `start`, that is seen to keep block k of M positive definite."""
    step = start
    for _ in range(TRIES):
        if factor(M, b.begin[k], D, step, b.order[k], b.one):
            return step
        step *= SHRINK
    return 0.0


# ── the parts of a step ──────────────────────────────────────────────────────────────────────────────────────────────
@leaf
def prepared(s: Any, b: Any) -> bool:
    """Invert S, fill and factorise H, and ``⟨Fⁱ, S⁻¹⟩``; whether rounding let it."""
    m = b.size[0]
    for k in range(b.order.shape[0]):
        if not factor(b.S, b.begin[k], b.S, 0.0, b.order[k], b.one):
            return False
        invert(b.one, b.two, b.order[k], b.inverse, b.begin[k])
    step_matrix(s, b)
    b.inward[m - 1] = weigh(s, b, b.inverse, b.weight)
    drawn(b, b.weight, b.inward)
    most = 0.0
    for i in range(m):
        most = max(most, b.H[i, i])
    for i in range(m):
        b.H[i, i] += 1e-14 * most
    return factored(b.H, m, b.panel)


@leaf
def sandwich(b: Any, M: Any, k: int) -> None:
    """The symmetric part of ``M dS S⁻¹`` of block k, in `one`."""
    o, a = b.order[k], b.begin[k]
    multiply(M, a, b.dS, a, o, b.one)
    multiply(b.one, 0, b.inverse, a, o, b.two)
    for i in range(o):
        for j in range(o):
            b.one[i * o + j] = 0.5 * (b.two[i * o + j] + b.two[j * o + i])


@leaf
def directed(s: Any, b: Any, centre: float, corrects: bool) -> Any:
    """The directions towards ``X S = centre·I``, and how far X and S can go along them."""
    m = b.size[0]
    for i in range(m):
        b.dz[i] = 0.0
    if corrects:
        b.dz[m - 1] = weigh(s, b, b.second, b.weight)
        drawn(b, b.weight, b.dz)
    for i in range(m):
        b.rhs[i] = centre * b.inward[i] - b.dz[i]
    b.rhs[m - 1] -= 1.0
    back(b.H, m, b.rhs, b.dz)
    moments_of(b, b.dz, 0.0, b.y)
    fill(s, b, b.y, b.dz[m - 1], b.dS)
    long_x, long_s = 1.0, 1.0
    for k in range(b.order.shape[0]):
        o, a = b.order[k], b.begin[k]
        sandwich(b, b.X, k)
        for e in range(o * o):
            d = b.one[e] + (b.second[a + e] if corrects else 0.0)
            b.dX[a + e] = centre * b.inverse[a + e] - b.X[a + e] - d
        long_x = longest(b, b.X, b.dX, k, long_x)
        long_s = longest(b, b.S, b.dS, k, long_s)
    return long_x, long_s


@leaf
def foresee(b: Any, mu: float, order: int, long_x: float, long_s: float) -> float:
    """What the predictor leaves: how far to centre, and what the corrector takes off."""
    left = 0.0
    for e in range(b.size[2]):
        left += (b.X[e] + long_x * b.dX[e]) * (b.S[e] + long_s * b.dS[e])
    share = min(1.0, max((max(left, 0.0) / (mu * order)) ** 3, 1e-6))
    for k in range(b.order.shape[0]):
        o, a = b.order[k], b.begin[k]
        sandwich(b, b.dX, k)
        for e in range(o * o):
            b.second[a + e] = b.one[e]
    return share


@leaf
def average(s: Any, y: Any) -> None:
    """Moments well inside all conditions: products of 1, ½ and 0."""
    at, size = 0, s.arcs[3]
    for arc in range(2):
        for i in range(size):
            x, digits = 1.0, i
            for _ in range(s.arcs[arc]):
                x *= 0.5 if digits % 3 == 1 else 1.0 if digits % 3 == 0 else 0.0
                digits //= 3
            y[at + i] = x
        at, size = at + size, y.shape[0] - size


@leaf
def settle(s: Any, b: Any) -> None:
    """Unknowns whose moments are about the nearest to the average, by a few steps of conjugate gradients."""
    n, p, q, left = b.size[0] - 1, b.dz, b.inward, b.rhs
    average(s, b.weight)
    for i in range(n):
        b.z[i] = b.weight[b.free[i]]
    moments_of(b, b.z, 1.0, b.y)
    for j in range(b.y.shape[0]):
        b.weight[j] -= b.y[j]
    drawn(b, b.weight, left)
    square = 0.0
    for i in range(n):
        p[i] = left[i]
        square += left[i] * left[i]
    for _ in range(SETTLED):
        moments_of(b, p, 0.0, b.y)
        drawn(b, b.y, q)
        along, before = 0.0, square
        for i in range(n):
            along += p[i] * q[i]
        if not along > 0.0:
            return
        square = 0.0
        for i in range(n):
            b.z[i] += before / along * p[i]
            left[i] -= before / along * q[i]
            square += left[i] * left[i]
        for i in range(n):
            p[i] = left[i] + square / before * p[i]


@leaf
def definite(b: Any, M: Any, t: float) -> bool:
    """Whether ``M + t X`` is positive definite in all blocks."""
    is_so = True
    for k in range(b.order.shape[0]):
        is_so = is_so and factor(M, b.begin[k], b.X, t, b.order[k], b.one)
    return is_so


@leaf
def begin(s: Any, b: Any, order: int) -> None:
    """Fill X, z and t so that all blocks are positive definite."""
    t, m = 0.0, b.size[0]
    settle(s, b)
    moments_of(b, b.z, 1.0, b.y)
    fill(s, b, b.y, 0.0, b.S)
    for k in range(b.order.shape[0]):
        o, a = b.order[k], b.begin[k]
        for i in range(o):
            low = -b.S[a + i * o + i]
            for j in range(o):
                low += abs(b.S[a + i * o + j]) if j != i else 0.0
            t = max(t, low)  # Gershgorin's bound of −λ, which may be far too large
    for k in range(b.order.shape[0]):
        o, a = b.order[k], b.begin[k]
        for i in range(o):
            for j in range(o):
                b.X[a + i * o + j] = 1.0 / order if i == j else 0.0
    while t > ROOM and definite(b, b.S, SMALLER * t * order):
        t *= SMALLER
    b.z[m - 1] = t + ROOM


@leaf
def bounded(s: Any, b: Any) -> float:
    """The lower bound of t that X gives."""
    trace, value = weigh(s, b, b.X, b.weight), 0.0
    drawn(b, b.weight, b.rhs)
    for i in range(b.base.shape[0]):
        value += b.base[i] * b.weight[i]
    for i in range(b.size[0] - 1):
        value += abs(b.rhs[i])
    return -value / trace


@stage
def phase_one(s: Any, b: Any, margin: float, worth: float, out: Any) -> int:
    """Whether t is seen to be above `margin`, or as far above `worth` as it ever is. `out`: the bound, t, and the steps.

    After some steps it goes on from there.
    """
    order, verdict, bound, m, entries = 0, OPEN, -math.inf, b.size[0], b.size[2]
    for k in range(b.order.shape[0]):
        order += b.order[k]
    if out[2] == 0.0:
        begin(s, b, order)
    while out[2] < STEPS:
        moments_of(b, b.z, 1.0, b.y)
        t, gap = b.z[m - 1], 0.0
        fill(s, b, b.y, t, b.S)
        for e in range(entries):
            gap += b.S[e] * b.X[e]
        bound, mu = bounded(s, b), gap / order
        if bound > margin or (bound > worth and bound > NEARLY * t):
            verdict = REFUTED
        if verdict != OPEN or t < worth or not mu >= 1e-12 or not prepared(s, b):
            break
        long_x, long_s = directed(s, b, 0.0, False)
        share = foresee(b, mu, order, long_x, long_s)
        long_x, long_s = directed(s, b, share * mu, True)
        if max(long_x, long_s) < 1e-4:
            break
        long_x = 1.0 if long_x >= 1.0 else KEEP * long_x
        long_s = 1.0 if long_s >= 1.0 else KEEP * long_s
        for e in range(entries):
            b.X[e] += long_x * b.dX[e]
        for i in range(m):
            b.z[i] += long_s * b.dz[i]
        out[2] += 1.0
    out[0], out[1] = bound, b.z[m - 1]
    return verdict
