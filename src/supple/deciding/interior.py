"""Phase one of a semidefinite program, compiled: is there z with ``F⁰_k + Σ z_i Fⁱ_k ⪰ 0`` for every block k?

Minimise t subject to ``S_k = F⁰_k + Σ z_i Fⁱ_k + t I ⪰ 0`` by a primal–dual interior-point method (the HKM direction
with Mehrotra's predictor and corrector). The dual seeks X_k ⪰ 0 with ``⟨Fⁱ, X⟩ = 0`` and ``tr X = 1`` that maximise
``−⟨F⁰, X⟩``. Since no moment is larger than one, any X ⪰ 0 at all bounds t from below,

    t ≥ −(⟨F⁰, X⟩ + Σ_i |⟨Fⁱ, X⟩|)/tr X,

and if this is positive there is no such z, and X is the proof. The loop ends with it when the bound is above a margin
or within a sixth of t, which is the best there can be; and without a proof when t is well below zero, or as low as it gets
and less than a proof is worth.

**Layout.** All blocks lie one behind the other, row by row; ``F[e, i]`` is entry e of Fⁱ, the last i being the
identity that t multiplies, so that the inner loops run over i without a gap. The matrix of the step is ``H_ij = ⟨Fⁱ, X
Fʲ S⁻¹⟩``, gathered entry by entry.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from supple.compiled import leaf, stage, table, written_in
from supple.deciding.dense import back, factor, factored, invert, multiply

STEPS = 60
INSIDE = 1e-5  # how far inside all conditions a point is when the question is settled
SETTLED = 1e-8  # between t and its bound, from where on t gets no lower
WORTH = 1e-6  # a bound below which no proof is above its slack
NEARLY = 6.0 / 7.0  # share of t from which on a bound is as good as it gets
OPEN, REFUTED = 0, 1  # verdicts
SHRINK, TRIES = 0.85, 60  # of a step that leaves the cone


class Bench(NamedTuple):
    """The blocks of a program, and room for the method. E: entries of all blocks, m: unknowns with t."""

    order: Any  # (blocks)
    begin: Any  # (blocks) where the entries of each start
    F0: Any  # (E)
    F: Any  # (E, m)
    X: Any  # (E) and so on, as long
    S: Any
    inverse: Any  # of S
    dX: Any
    dS: Any
    second: Any  # what the corrector takes off, symmetric
    T: Any  # (largest order², m) X Fʲ
    P: Any  # (m) a row of X Fʲ S⁻¹
    H: Any  # (m, m)
    y: Any  # (m) z and t
    dy: Any
    rhs: Any
    base: Any
    one: Any  # (largest order²) matrices of one block
    two: Any


def bench(order: np.ndarray, unknowns: int) -> Bench:
    """Room for blocks of these orders and up to so many unknowns, t among them; `shaped` lays out its matrices."""
    squares = order * order
    begin = np.concatenate([[0], np.cumsum(squares)[:-1]]).astype(np.int32)
    entries, largest = int(squares.sum()), int(squares.max())
    sizes: dict[str, Any] = {
        **dict.fromkeys(("F0", "X", "S", "inverse", "dX", "dS", "second"), entries),
        **dict.fromkeys(("P", "y", "dy", "rhs", "base"), unknowns),
        **dict.fromkeys(("one", "two"), largest),
        "F": entries * unknowns,
        "T": largest * unknowns,
        "H": unknowns * unknowns,
    }
    return Bench(order=order.astype(np.int32), begin=begin, **{name: np.zeros(size) for name, size in sizes.items()})


@written_in
def shaped(b: Any, m: int) -> Any:
    """The bench of a program with m unknowns: F, T and H without a gap."""
    F, T, H = table(b.F, 0, b.X.shape[0], m), table(b.T, 0, b.one.shape[0], m), table(b.H, 0, m, m)
    return Bench(
        b.order, b.begin, b.F0, F, b.X, b.S, b.inverse, b.dX, b.dS, b.second,
        T, b.P, H, b.y, b.dy, b.rhs, b.base, b.one, b.two,
    )  # fmt: skip


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
def combine(F: Any, y: Any, m: int, out: Any) -> None:
    """``Σ_i y_i Fⁱ`` of all blocks."""
    whole = m - m % 4
    for e in range(out.shape[0]):
        s, t, u, v = 0.0, 0.0, 0.0, 0.0
        for i in range(0, whole, 4):
            s += F[e, i] * y[i]
            t += F[e, i + 1] * y[i + 1]
            u += F[e, i + 2] * y[i + 2]
            v += F[e, i + 3] * y[i + 3]
        for i in range(whole, m):
            s += F[e, i] * y[i]
        out[e] = (s + t) + (u + v)


@leaf
def project(F: Any, W: Any, m: int, out: Any) -> None:
    """``⟨Fⁱ, W⟩`` for every i."""
    for i in range(m):
        out[i] = 0.0
    for e in range(W.shape[0]):
        w = W[e]
        for i in range(m):
            out[i] += w * F[e, i]


@leaf
def gather(b: Any, k: int, m: int) -> None:
    """Add block k to the lower triangle of H."""
    o, a = b.order[k], b.begin[k]
    X, F, T, P, H, inverse = b.X, b.F, b.T, b.P, b.H, b.inverse
    for r in range(o):
        for d in range(o):
            for j in range(m):
                T[r * o + d, j] = 0.0
            for c in range(o):
                x = X[a + r * o + c]
                for j in range(m):
                    T[r * o + d, j] += x * F[a + c * o + d, j]
    for r in range(o):
        for s in range(r + 1):
            for j in range(m):
                P[j] = 0.0
            for d in range(o):
                x = inverse[a + d * o + s]
                for j in range(m):
                    P[j] += x * T[r * o + d, j]
                if r != s:
                    x = inverse[a + d * o + r]
                    for j in range(m):
                        P[j] += x * T[s * o + d, j]
            for i in range(m):
                x = F[a + r * o + s, i]
                if x != 0.0:
                    for j in range(i + 1):
                        H[i, j] += x * P[j]


@leaf
def prepared(b: Any, m: int) -> bool:
    """Invert S, gather and factorise H, and ``⟨Fⁱ, S⁻¹⟩``; whether rounding let it."""
    for i in range(m):
        for j in range(i + 1):
            b.H[i, j] = 0.0
    for k in range(b.order.shape[0]):
        if not factor(b.S, b.begin[k], b.S, 0.0, b.order[k], b.one):
            return False
        invert(b.one, b.two, b.order[k], b.inverse, b.begin[k])
        gather(b, k, m)
    project(b.F, b.inverse, m, b.base)
    most = 0.0
    for i in range(m):
        most = max(most, b.H[i, i])
    for i in range(m):
        b.H[i, i] += 1e-14 * most
    return factored(b.H, m)


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
def directed(b: Any, m: int, centre: float, corrects: bool) -> Any:
    """The directions towards ``X S = centre·I``, and how far X and S can go along them."""
    for i in range(m):
        b.dy[i] = 0.0
    if corrects:
        project(b.F, b.second, m, b.dy)
    for i in range(m):
        b.rhs[i] = centre * b.base[i] - b.dy[i]
    b.rhs[m - 1] -= 1.0
    back(b.H, m, b.rhs, b.dy)
    combine(b.F, b.dy, m, b.dS)
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
    for e in range(b.X.shape[0]):
        left += (b.X[e] + long_x * b.dX[e]) * (b.S[e] + long_s * b.dS[e])
    share = min(1.0, max((max(left, 0.0) / (mu * order)) ** 3, 1e-6))
    for k in range(b.order.shape[0]):
        o, a = b.order[k], b.begin[k]
        sandwich(b, b.dX, k)
        for e in range(o * o):
            b.second[a + e] = b.one[e]
    return max(share, 0.3) if min(long_x, long_s) < 0.2 else share


@leaf
def begun(b: Any, m: int) -> int:
    """Fill X, z and t so that all blocks are positive definite; the sum of all orders."""
    order, t = 0, 0.0
    for k in range(b.order.shape[0]):
        o, a = b.order[k], b.begin[k]
        order += o
        for i in range(o):
            s = -b.F0[a + i * o + i]
            for j in range(o):
                s += abs(b.F0[a + i * o + j]) if j != i else 0.0
            t = max(t, s)  # Gershgorin's bound of −λ
    for k in range(b.order.shape[0]):
        o, a = b.order[k], b.begin[k]
        for i in range(o):
            for j in range(o):
                b.X[a + i * o + j] = 1.0 / order if i == j else 0.0
    for i in range(m):
        b.y[i] = 0.0
    b.y[m - 1] = t + 0.1
    return order


@stage
def phase_one(b: Any, m: int, margin: float, out: Any) -> int:
    """Whether t is seen to be above `margin`, or as far above `WORTH` as it ever is. `out`: the bound, t, and the steps."""
    order, verdict, bound = begun(b, m), OPEN, -math.inf
    for steps in range(STEPS):
        out[2] = steps
        combine(b.F, b.y, m, b.S)
        project(b.F, b.X, m, b.rhs)
        constant, gap, off = 0.0, 0.0, 0.0
        for e in range(b.X.shape[0]):
            b.S[e] += b.F0[e]
            constant += b.F0[e] * b.X[e]
            gap += b.S[e] * b.X[e]
        for i in range(m - 1):
            off += abs(b.rhs[i])
        bound, t, mu = -(constant + off) / b.rhs[m - 1], b.y[m - 1], gap / order
        if bound > margin or (bound > WORTH and bound > NEARLY * t):
            verdict = REFUTED
        if (
            verdict != OPEN
            or t < -INSIDE
            or (t < WORTH and t - bound < SETTLED)
            or not mu >= 1e-12
            or not prepared(b, m)
        ):
            break
        long_x, long_s = directed(b, m, 0.0, False)
        share = foresee(b, mu, order, long_x, long_s)
        long_x, long_s = directed(b, m, share * mu, True)
        if max(long_x, long_s) < 1e-4:
            break
        keep = 0.9 if min(long_x, long_s) < 0.9 else 0.97
        long_x = 1.0 if long_x >= 1.0 else keep * long_x
        long_s = 1.0 if long_s >= 1.0 else keep * long_s
        for e in range(b.X.shape[0]):
            b.X[e] += long_x * b.dX[e]
        for i in range(m):
            b.y[i] += long_s * b.dy[i]
    out[0], out[1] = bound, b.y[m - 1]
    return verdict
