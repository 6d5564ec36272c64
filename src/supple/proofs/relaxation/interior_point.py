"""Phase one of a semidefinite program, compiled: is there z with ``F⁰_k + Σ z_i Fⁱ_k ⪰ 0`` for every block k?

Minimise t subject to ``S_k = F⁰_k + Σ z_i Fⁱ_k + t I ⪰ 0`` by a primal–dual interior-point method (the HKM direction
with Mehrotra's predictor and corrector). The dual seeks X_k ⪰ 0 with ``⟨Fⁱ, X⟩ = 0`` and ``tr X = 1`` that maximise
``−⟨F⁰, X⟩``. Since no moment is larger than one, any X ⪰ 0 at all bounds t from below,

    t ≥ −(⟨F⁰, X⟩ + Σ_i |⟨Fⁱ, X⟩|)/tr X,

and if this is positive there is no such z, and X is the proof. The loop ends with it when the bound is above a margin
or within a sixth of t, which is the best there can be; and without a proof when t is less than a proof is worth.

The blocks are those of `semidefinite_blocks`; the matrix of a step is that of `step_matrix`.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.dense_blocks import back, factor_sum, factored, invert, multiply
from supple.kernels.compiling import leaf, stage, table
from supple.proofs.relaxation.packing import (
    BOUND,
    JOINTS_A,
    JOINTS_B,
    MOMENTS,
    SPLIT,
    STEPS,
    STRIDE,
    UNKNOWNS,
    VALUE,
    open_blocks,
    open_places,
)
from supple.proofs.relaxation.scratch import open_matrices, open_unknowns
from supple.proofs.relaxation.semidefinite_blocks import (
    entries_of,
    fill_blocks,
    moments_of,
    weigh_moments,
    weigh_unknowns,
)
from supple.proofs.relaxation.step_matrix import step_matrix

MOST_STEPS = 60
NEARLY = 6.0 / 7.0  # share of t from which on a bound is as good as it gets
OPEN, REFUTED = 0, 1  # verdicts
SHRINK, TRIES = 0.93, 120  # of a step that leaves the cone
SETTLED = 3  # steps towards the average of all postures
SMALLER, MORE = 0.7, 0.05  # by which a first t is brought down, and how much is added then
KEEP = 0.98  # share of a step that ends at the border of the cone


@stage
def is_definite(M: Any, D: Any, at: int, step: float, o: int, L: Any) -> bool:
    """Whether the block of ``M + step·D`` that begins at `at` is positive definite; its factor in L."""
    return factor_sum(M, at, D, step, o, L)


@stage
def longest_step(I: Any, memory: Any, M: Any, D: Any, k: int, start: float) -> float:
    """The longest step along D, up to `start`, that is seen to keep block k of M positive definite."""
    blocks = open_blocks(I, memory)
    matrices = open_matrices(I, memory)
    step, L = start, matrices.one
    for _ in range(TRIES):
        if is_definite(M, D, blocks.entry[k], step, blocks.seen[k], L):
            return step
        step *= SHRINK
    return 0.0


# ── the parts of a step ──────────────────────────────────────────────────────────────────────────────────────────────
@stage
def prepare_step(I: Any, memory: Any) -> bool:
    """Invert S, fill and factorise H, and ``⟨Fⁱ, S⁻¹⟩``; whether rounding let it."""
    blocks = open_blocks(I, memory)
    matrices = open_matrices(I, memory)
    unknowns = open_unknowns(I, memory)
    m, one = I[UNKNOWNS], matrices.one
    H = table(unknowns.H, 0, m, I[STRIDE])
    for k in range(blocks.seen.shape[0]):
        if not is_definite(matrices.S, matrices.S, blocks.entry[k], 0.0, blocks.seen[k], one):
            return False
        invert(one, matrices.two, blocks.seen[k], matrices.inverse, blocks.entry[k])
    step_matrix(I, memory)
    unknowns.inward[m - 1] = weigh_moments(I, memory, matrices.inverse)
    weigh_unknowns(I, memory, unknowns.weight, unknowns.inward)
    most = 0.0
    for i in range(m):
        most = max(most, H[i, i])
    for i in range(m):
        H[i, i] += 1e-14 * most
    return factored(H, m, unknowns.panel)


@stage
def symmetric_product(I: Any, memory: Any, M: Any, k: int) -> None:
    """The symmetric part of ``M dS S⁻¹`` of block k, in `one`."""
    blocks = open_blocks(I, memory)
    matrices = open_matrices(I, memory)
    o, a, one, two = blocks.seen[k], blocks.entry[k], matrices.one, matrices.two
    multiply(M, a, matrices.dS, a, o, one)
    multiply(one, 0, matrices.inverse, a, o, two)
    for i in range(o):
        for j in range(o):
            one[i * o + j] = 0.5 * (two[i * o + j] + two[j * o + i])


@stage
def find_directions(I: Any, memory: Any, centre: float, corrects: bool) -> Any:
    """The directions towards ``X S = centre·I``, and how far X and S can go along them."""
    blocks = open_blocks(I, memory)
    matrices = open_matrices(I, memory)
    unknowns = open_unknowns(I, memory)
    m, dz, rhs, X, S = I[UNKNOWNS], unknowns.dz, unknowns.rhs, matrices.X, matrices.S
    for i in range(m):
        dz[i] = 0.0
    if corrects:
        dz[m - 1] = weigh_moments(I, memory, matrices.correction)
        weigh_unknowns(I, memory, unknowns.weight, dz)
    for i in range(m):
        rhs[i] = centre * unknowns.inward[i] - dz[i]
    rhs[m - 1] -= 1.0
    back(table(unknowns.H, 0, m, I[STRIDE]), m, rhs, dz)
    moments_of(I, memory, dz, 0.0, unknowns.y)
    fill_blocks(I, memory, unknowns.y, dz[m - 1], matrices.dS)
    long_x, long_s = 1.0, 1.0
    for k in range(blocks.seen.shape[0]):
        o, a = blocks.seen[k], blocks.entry[k]
        symmetric_product(I, memory, X, k)
        for e in range(o * o):
            d = matrices.one[e] + (matrices.correction[a + e] if corrects else 0.0)
            matrices.dX[a + e] = centre * matrices.inverse[a + e] - X[a + e] - d
        long_x = longest_step(I, memory, X, matrices.dX, k, long_x)
        long_s = longest_step(I, memory, S, matrices.dS, k, long_s)
    return long_x, long_s


@stage
def predict(I: Any, memory: Any, gap: float, long_x: float, long_s: float) -> float:
    """What the predictor leaves: how far to centre, and what the corrector takes off."""
    blocks = open_blocks(I, memory)
    matrices = open_matrices(I, memory)
    left = 0.0
    for e in range(entries_of(blocks)):
        left += (matrices.X[e] + long_x * matrices.dX[e]) * (matrices.S[e] + long_s * matrices.dS[e])
    share = min(1.0, max((max(left, 0.0) / gap) ** 3, 1e-6))
    for k in range(blocks.seen.shape[0]):
        o, a = blocks.seen[k], blocks.entry[k]
        symmetric_product(I, memory, matrices.dX, k)
        for e in range(o * o):
            matrices.correction[a + e] = matrices.one[e]
    return share


@leaf
def average(y: Any, at: int, end: int, joints: int) -> None:
    """Moments of an arc well inside all conditions: products of 1, ½ and 0."""
    for i in range(end - at):
        x, digits = 1.0, i
        for _ in range(joints):
            x *= 0.5 if digits % 3 == 1 else 1.0 if digits % 3 == 0 else 0.0
            digits //= 3
        y[at + i] = x


@stage
def start_near_average(I: Any, memory: Any) -> None:
    """Unknowns whose moments are about the nearest to the average, by a few steps of conjugate gradients."""
    unknowns = open_unknowns(I, memory)
    places = open_places(I, memory)
    n, p, q, left, z = I[UNKNOWNS] - 1, unknowns.dz, unknowns.inward, unknowns.rhs, unknowns.z
    y, weight, split = unknowns.y, unknowns.weight, I[SPLIT]
    for arc in range(2):
        begin, end = (0, split) if arc == 0 else (split, I[MOMENTS])
        average(weight, begin, end, I[JOINTS_A] if arc == 0 else I[JOINTS_B])
    for i in range(n):
        z[i] = weight[places.free[i]]
    moments_of(I, memory, z, 1.0, y)
    for j in range(y.shape[0]):
        weight[j] -= y[j]
    weigh_unknowns(I, memory, weight, left)
    square = 0.0
    for i in range(n):
        p[i] = left[i]
        square += left[i] * left[i]
    for _ in range(SETTLED):
        moments_of(I, memory, p, 0.0, y)
        weigh_unknowns(I, memory, y, q)
        along, before = 0.0, square
        for i in range(n):
            along += p[i] * q[i]
        if not along > 0.0:
            return
        square = 0.0
        for i in range(n):
            z[i] += before / along * p[i]
            left[i] -= before / along * q[i]
            square += left[i] * left[i]
        for i in range(n):
            p[i] = left[i] + square / before * p[i]


@leaf
def is_inside(blocks: Any, matrices: Any, t: float) -> bool:
    """Whether ``S + t X`` is positive definite in all blocks."""
    is_so = True
    for k in range(blocks.seen.shape[0]):
        is_so = is_so and is_definite(matrices.S, matrices.X, blocks.entry[k], t, blocks.seen[k], matrices.one)
    return is_so


@stage
def begin_inside(I: Any, memory: Any, order: int) -> None:
    """Fill X, z and t so that all blocks are positive definite."""
    start_near_average(I, memory)
    blocks = open_blocks(I, memory)
    matrices = open_matrices(I, memory)
    unknowns = open_unknowns(I, memory)
    t, S = 0.0, matrices.S
    moments_of(I, memory, unknowns.z, 1.0, unknowns.y)
    fill_blocks(I, memory, unknowns.y, 0.0, S)
    for k in range(blocks.seen.shape[0]):
        o, a = blocks.seen[k], blocks.entry[k]
        for i in range(o):
            low = -S[a + i * o + i]
            for j in range(o):
                low += abs(S[a + i * o + j]) if j != i else 0.0
            t = max(t, low)  # Gershgorin's bound of −λ, which may be far too large
    for k in range(blocks.seen.shape[0]):
        o, a = blocks.seen[k], blocks.entry[k]
        for i in range(o):
            for j in range(o):
                matrices.X[a + i * o + j] = 1.0 / order if i == j else 0.0
    while t > MORE and is_inside(blocks, matrices, SMALLER * t * order):
        t *= SMALLER
    unknowns.z[I[UNKNOWNS] - 1] = t + MORE


@leaf
def bound_of(I: Any, memory: Any) -> float:
    """The lower bound of t that X gives."""
    matrices = open_matrices(I, memory)
    unknowns = open_unknowns(I, memory)
    trace, value = weigh_moments(I, memory, matrices.X), 0.0
    weigh_unknowns(I, memory, unknowns.weight, unknowns.rhs)
    for i in range(unknowns.base.shape[0]):
        value += unknowns.base[i] * unknowns.weight[i]
    for i in range(I[UNKNOWNS] - 1):
        value += abs(unknowns.rhs[i])
    return -value / trace


@leaf
def take_step(matrices: Any, unknowns: Any, entries: int, m: int, long_x: float, long_s: float) -> None:
    """One step along the directions, not quite to the border of the cone."""
    long_x = 1.0 if long_x >= 1.0 else KEEP * long_x
    long_s = 1.0 if long_s >= 1.0 else KEEP * long_s
    for e in range(entries):
        matrices.X[e] += long_x * matrices.dX[e]
    for i in range(m):
        unknowns.z[i] += long_s * unknowns.dz[i]


@stage
def phase_one(I: Any, memory: Any, margin: float, worth: float) -> int:
    """Whether t is seen to be above `margin`, or as far above `worth` as it ever is; the bound, t and the steps in the report.

    After some steps it goes on from there.
    """
    blocks = open_blocks(I, memory)
    matrices = open_matrices(I, memory)
    unknowns = open_unknowns(I, memory)
    order, verdict, bound, m, entries = 0, OPEN, -math.inf, I[UNKNOWNS], entries_of(blocks)
    for k in range(blocks.seen.shape[0]):
        order += blocks.seen[k]
    if unknowns.report[STEPS] == 0.0:
        begin_inside(I, memory, order)
    while unknowns.report[STEPS] < MOST_STEPS:
        moments_of(I, memory, unknowns.z, 1.0, unknowns.y)
        t, gap = unknowns.z[m - 1], 0.0
        fill_blocks(I, memory, unknowns.y, t, matrices.S)
        for e in range(entries):
            gap += matrices.S[e] * matrices.X[e]
        bound, mu = bound_of(I, memory), gap / order
        if bound > margin or (bound > worth and bound > NEARLY * t):
            verdict = REFUTED
        if verdict != OPEN or t < worth or not mu >= 1e-12 or not prepare_step(I, memory):
            break
        long_x, long_s = find_directions(I, memory, 0.0, False)
        share = predict(I, memory, mu * order, long_x, long_s)
        long_x, long_s = find_directions(I, memory, share * mu, True)
        if max(long_x, long_s) < 1e-4:
            break
        take_step(matrices, unknowns, entries, m, long_x, long_s)
        unknowns.report[STEPS] += 1.0
    unknowns.report[BOUND], unknowns.report[VALUE] = bound, unknowns.z[m - 1]
    return verdict
