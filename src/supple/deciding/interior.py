"""Phase one of a semidefinite program: is there z with ``F⁰_k + Σ z_i Fⁱ_k ⪰ 0`` for every block k?

Minimise t subject to ``S_k = F⁰_k + Σ z_i Fⁱ_k + t I ⪰ 0`` by a primal–dual interior-point method (the HKM direction
with Mehrotra's predictor and corrector). The dual seeks X_k ⪰ 0 with ``⟨Fⁱ, X⟩ = 0`` and ``tr X = 1`` that maximise
``−⟨F⁰, X⟩``. Since no moment is larger than one, any X ⪰ 0 at all bounds t from below,

    t ≥ −(⟨F⁰, X⟩ + Σ_i |⟨Fⁱ, X⟩|)/tr X,

and as soon as this is positive there is no such z: the loop ends, with X as the proof. If t falls below zero there is
one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from supple.space import Floats

STEPS = 60
ENOUGH = 1e-5  # how far inside all conditions a point is when the question is settled


class Verdict(NamedTuple):
    """What the loop found: whether z exists, as far as it can tell, with z, or the X that prove that none does."""

    refuted: bool
    bound: float  # on t from below
    t: float
    z: Floats
    X: list[Floats]


def _longest(M: Floats, D: Floats) -> float:
    """The longest step along D, up to 1, that keeps M positive definite."""
    L = np.linalg.cholesky(M)
    half = np.linalg.solve(L, np.linalg.solve(L, D).T)
    least = float(np.linalg.eigvalsh(0.5 * (half + half.T))[0])
    return 1.0 if least >= -1.0 else -1.0 / least


def phase_one(base: list[Floats], directions: list[Floats], margin: float) -> Verdict:
    """Blocks F⁰_k (n, n) and Fⁱ_k (m, n, n). Refuted if t is above `margin`; ended if t is below −`ENOUGH`."""
    blocks = [np.concatenate([F, np.eye(F.shape[1])[None]]) for F in directions]
    m, order = len(blocks[0]), sum(len(F0) for F0 in base)
    y = np.zeros(m)
    off = (np.abs(F0).sum(axis=1) - np.abs(np.diag(F0)) - np.diag(F0) for F0 in base)  # Gershgorin's bound of −λ
    y[-1] = 0.1 + max(0.0, *(float(x.max()) for x in off))
    X = [np.eye(len(F0)) / order for F0 in base]
    best = -np.inf
    for _ in range(STEPS):
        S = [F0 + np.tensordot(y, F, 1) for F0, F in zip(base, blocks, strict=True)]
        products: Any = sum(np.tensordot(F, x, 2) for F, x in zip(blocks, X, strict=True))
        constant = sum(float(np.sum(F0 * x)) for F0, x in zip(base, X, strict=True))
        bound = -(constant + float(np.abs(products[:-1]).sum())) / float(products[-1])
        best = max(best, bound)
        if bound > margin:
            return Verdict(True, bound, float(y[-1]), y[:-1], X)
        gap = sum(float(np.sum(s * x)) for s, x in zip(S, X, strict=True))
        mu = gap / order
        if y[-1] < -ENOUGH or mu < 1e-12 or y[-1] - best < 1e-9:
            break
        try:
            y, X, moved = _step(S, X, blocks, y, mu, order)
        except np.linalg.LinAlgError:  # as far as rounding lets it go
            break
        if moved < 1e-4:
            break
    return Verdict(False, best, float(y[-1]), y[:-1], X)


def _step(
    S: list[Floats], X: list[Floats], blocks: list[Floats], y: Floats, mu: float, order: int
) -> tuple[Floats, list[Floats], float]:
    """One step of predictor and corrector; the new y and X, and how long it was."""
    m = len(y)
    inverse = [np.linalg.inv(s) for s in S]
    H, base = np.zeros((m, m)), np.zeros(m)
    for F, x, si in zip(blocks, X, inverse, strict=True):
        H += np.reshape(x @ F, (m, -1)) @ np.reshape(np.transpose(si @ F, (0, 2, 1)), (m, -1)).T
        base += np.tensordot(F, si, 2)
    factor = cho_factor(0.5 * (H + H.T) + 1e-14 * np.trace(H) * np.eye(m), check_finite=False)
    sigma = 0.0
    dX: list[Any] = [np.zeros_like(x) for x in X]
    dS: list[Any] = [np.zeros_like(x) for x in X]
    dy, long_x, long_s = y, 1.0, 1.0
    for corrects in (False, True):
        rhs = sigma * mu * base
        rhs[-1] -= 1.0
        second = [dx @ ds @ si if corrects else np.zeros_like(si) for dx, ds, si in zip(dX, dS, inverse, strict=True)]
        rhs = rhs - sum(np.tensordot(F, 0.5 * (e + e.T), 2) for F, e in zip(blocks, second, strict=True))
        dy = cho_solve(factor, rhs, check_finite=False)
        dS = [np.tensordot(dy, F, 1) for F in blocks]
        dX = []
        for x, ds, si, e in zip(X, dS, inverse, second, strict=True):
            d = x @ ds @ si + e
            dX.append(-x + sigma * mu * si - 0.5 * (d + d.T))
        long_x = min(_longest(x, dx) for x, dx in zip(X, dX, strict=True))
        long_s = min(_longest(s, ds) for s, ds in zip(S, dS, strict=True))
        if not corrects:
            left = sum(
                float(np.sum((x + long_x * dx) * (s + long_s * ds))) for x, dx, s, ds in zip(X, dX, S, dS, strict=True)
            )
            sigma = min(1.0, max((max(left, 0.0) / (mu * order)) ** 3, 1e-6))
            sigma = max(sigma, 0.3) if min(long_x, long_s) < 0.2 else sigma
    back = 0.9 if min(long_x, long_s) < 0.9 else 0.97
    long_x, long_s = (1.0 if a >= 1.0 else back * a for a in (long_x, long_s))
    new = [0.5 * (n + n.T) for n in (x + long_x * dx for x, dx in zip(X, dX, strict=True))]
    return y + long_s * dy, new, max(long_x, long_s)
