"""Postures, lengths and places of markers at once: Gauss–Newton on a matrix shaped like an arrow.

Minimise over the postures q_t of T frames, the scale s̄ of the whole, those of groups, s_g, and how far markers are
moved, m_k,

    1/2T Σ_t Σ_k w_tk |p_k(q_t, s, m) − d_tk|² + ½ ν² [ ((s̄ − 1)/σ̄)² + Σ_g ((s_g − s̄)/σ)² + Σ_k (|m_k|/τ_k)² ],    l ≤ q_t ≤ h,

ν the noise of a marker [m], τ_k how far marker k is trusted to be where the figure has it. Skin and clothes err alike
in many frames, so all of them together count as one. Every frame meets the others only through ``θ = (s̄, s_g − s̄,
m_k)``. So with A and B the derivatives of its residuals by q_t and by θ,

    H_t = AᵀA + λ_t,   C_t = AᵀB,   S = Σ_t BᵀB + prior + μ diag − Σ_t C_tᵀ H_t⁻¹ C_t,
    S dθ = −(g_θ − Σ_t C_tᵀ H_t⁻¹ g_t),   dq_t = −H_t⁻¹ (g_t + C_t dθ),

a small system for each frame and one for θ. λ_t = κ f_t as in `tracking.frame_step`; μ is proportional to κ and to f.
Limits are an active set: what a step would carry across one is put on it, and the rest solved for again. Loops are
residuals of a large weight here; tracking closes them for good.

**What the trial tells.** ``ν² S⁻¹`` at the end, without damping, is the covariance of θ. Where it is hardly smaller than
the prior's, the trial has told nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.motion.subject.model import Model, Sight, Spot
from supple.motion.tracking.clip import ARM

KAPPA = 0.5  # κ to begin with
TURNS = 8  # times that a step is solved for, each time with the limits that the last one met
EASIEST, GREATEST = 1e-2, 1e9  # κ at least; κ with which nothing moves
FLOOR = 1e-12  # [m²] λ at least
MARQUARDT = 1e-2  # μ to begin with, for κ = KAPPA
CLOSING = 1e4  # weight of a loop's ends
NOTHING = 1e-22  # [m²] a value that counts as none


class Look(NamedTuple):
    """Residuals (T, rows) of all frames, and their derivatives by postures and parameters, all times √w."""

    r: Floats
    A: Floats  # (T, rows, n)
    B: Floats  # (T, rows, parameters)


class Step(NamedTuple):
    """How postures and parameters are to move, and how much lower the model is there."""

    dq: Floats
    dtheta: Floats
    gain: float


@dataclass
class Fit:
    """Postures Q (T, n) and parameters θ of a figure, and what they are fitted to."""

    model: Model
    spots: list[Spot]  # the markers, then the ends of loops two by two
    placed: np.ndarray  # the markers that may be moved
    seen: Floats  # (T, markers, 3)
    weights: Floats  # (T, markers), those of one frame
    sigma: Floats  # of each parameter, times 1/ν
    Q: Floats
    limited: bool
    theta: Floats = field(init=False)
    steps: int = 0
    settled: bool = False

    def __post_init__(self) -> None:
        self.theta = self.mean.copy()

    @property
    def mean(self) -> Floats:
        """The parameters before anything is seen."""
        return np.eye(len(self.sigma))[0]

    @property
    def scales(self) -> Floats:
        """The scale of each group; the first is that of the whole."""
        return self.theta[0] + np.concatenate([[0.0], self.theta[1 : self.model.count]])

    @property
    def moved(self) -> Floats:
        """How far every marker is moved, in the axes of its segment (markers, 3)."""
        out = np.zeros((self.seen.shape[1], 3))
        out[self.placed] = self.theta[self.model.count :].reshape(-1, 3)
        return out

    def descend(self, free: np.ndarray, steps: int, tolerance: float) -> None:
        """Gauss–Newton steps over the postures and the `free` parameters until one promises next to nothing."""
        kappa, look = KAPPA, self.look()
        value, first = self.value(look), self.value(look)
        self.settled = value < NOTHING
        for _ in range(0 if self.settled else steps):
            self.steps += 1
            step = self.step(look, free, kappa, kappa / KAPPA * MARQUARDT * min(1.0, value / first))
            Q, theta = self.Q, self.theta
            self.Q, self.theta = np.clip(Q + step.dq, *self._limits()), theta.copy()
            self.theta[free] += step.dtheta
            new = self.look() if (self.scales > 0.1).all() else None
            if new is not None and self.value(new) <= value * (1.0 + 1e-12):
                look, value = new, self.value(new)
                kappa = max(kappa / 3.0, EASIEST)
                self.settled = abs(step.gain) <= tolerance * value or value < NOTHING
            else:
                self.Q, self.theta = Q, theta
                kappa *= 4.0
                self.settled = abs(step.gain) <= 1e-3 * tolerance * value
            if self.settled or kappa > GREATEST:
                return

    def value(self, look: Look) -> float:
        """What is minimised."""
        return self._sum(look.r, self.theta)

    def _sum(self, r: Floats, theta: Floats) -> float:
        return 0.5 * float(np.sum(r**2) + np.sum(((theta - self.mean) / self.sigma) ** 2))

    def look(self) -> Look:
        """Residuals and derivatives where postures and parameters are now."""
        spots = [s._replace(stays=s.stays + m) for s, m in zip(self.spots, self.moved, strict=False)]
        sight = self.model.see(self.scales, [*spots, *self.spots[len(spots) :]], self.Q)
        T, m = self.weights.shape
        root = np.sqrt(np.concatenate([self.weights, np.full((T, (len(self.spots) - m) // 2), CLOSING)], axis=1) / T)
        r = np.concatenate([sight.places[:, :m] - self.seen, _between(sight.places, m)], axis=1)
        A = np.concatenate([sight.by_q[:, :m], _between(sight.by_q, m)], axis=1)
        s = np.concatenate([sight.by_scale[:, :m], _between(sight.by_scale, m)], axis=1)
        B = np.zeros((*r.shape, len(self.theta)))
        B[..., 0], B[..., 1 : self.model.count] = s.sum(axis=3), s[..., 1:]
        self._add_turns(sight, B)
        A, B = (np.reshape(root[:, :, None, None] * x, (T, 3 * root.shape[1], -1)) for x in (A, B))
        return Look((root[:, :, None] * r).reshape(T, -1), A, B)

    def _add_turns(self, sight: Sight, B: Floats) -> None:
        """A moved marker moves with its segment's turn."""
        for i, k in enumerate(self.placed):
            at = self.model.count + 3 * i
            B[:, k, :, at : at + 3] = sight.turns[:, k]

    def _limits(self) -> tuple[Floats, Floats]:
        figure, chosen = self.model.figure, self.model.chosen
        if not self.limited:
            return np.full(len(chosen), -np.inf), np.full(len(chosen), np.inf)
        return figure.lower[chosen], figure.upper[chosen]

    def step(self, look: Look, free: np.ndarray, kappa: float, mu: float) -> Step:
        """The step of the damped model, inside the limits."""
        lower, upper = self._limits()
        slope = np.einsum("trn,tr->tn", look.A, look.r)
        held = ((lower >= self.Q) & (slope > 0.0)) | ((upper <= self.Q) & (slope < 0.0))
        met, dq, dtheta = np.zeros_like(self.Q), np.zeros_like(self.Q), np.zeros(len(free))
        for _ in range(TURNS):
            ahead = look.r + np.einsum("trn,tn->tr", look.A, met)
            S, g, X = self._eliminated(look._replace(r=ahead), free, held, kappa, mu)
            dtheta = np.asarray(-np.linalg.solve(S, g), dtype=np.float64)
            dq = met - (X[:, :, -1] + X[:, :, :-1] @ dtheta)
            inside = np.clip(self.Q + dq, lower, upper) - self.Q
            crossed = (np.abs(inside - dq) > 1e-15) & ~held
            if not crossed.any():
                break
            met, held = np.where(crossed, inside, met), held | crossed
        dq = np.clip(self.Q + dq, lower, upper) - self.Q
        r = look.r + np.einsum("trn,tn->tr", look.A, dq) + look.B[:, :, free] @ dtheta
        theta = self.theta.copy()
        theta[free] += dtheta
        return Step(dq, dtheta, self.value(look) - self._sum(r, theta))

    def _eliminated(
        self, look: Look, free: np.ndarray, held: np.ndarray, kappa: float, mu: float
    ) -> tuple[Floats, Floats, Floats]:
        """S and its right side, and ``H⁻¹[C, g]`` of each frame, nothing `held` moving."""
        r, A, B = look.r, look.A, look.B[:, :, free]
        At, i = A.transpose(0, 2, 1), np.arange(A.shape[2])
        value = 0.5 * np.sum(r**2, axis=1)
        H, C = At @ A, At @ np.concatenate([B, r[:, :, None]], axis=2)
        C[held] = 0.0
        H *= ~held[:, :, None] & ~held[:, None, :]
        H[:, i, i] += kappa * np.maximum(value, value.mean())[:, None] + FLOOR + held
        X: Floats = np.asarray(np.linalg.solve(H, C), dtype=np.float64)
        flat = B.reshape(-1, B.shape[2])
        S, p = flat.T @ flat, np.arange(B.shape[2])
        S[p, p] += 1.0 / self.sigma[free] ** 2
        S[p, p] *= 1.0 + mu
        g = flat.T @ r.ravel() + (self.theta - self.mean)[free] / self.sigma[free] ** 2
        width = C.shape[2]
        left = C.reshape(-1, width)[:, :-1].T @ X.reshape(-1, width)
        return S - left[:, :-1], g - left[:, -1], X

    def covariance(self) -> Floats:
        """Of the parameters, in units of ν²."""
        nothing = np.zeros(self.Q.shape, dtype=bool)
        S, _, _ = self._eliminated(self.look(), np.arange(len(self.theta)), nothing, 0.0, 0.0)
        return np.asarray(np.linalg.inv(S), dtype=np.float64)


def _between(x: Floats, m: int) -> Floats:
    """Differences of the ends of loops."""
    return x[:, m::2] - x[:, m + 1 :: 2]


def ends_of_loops(figure: Figure) -> list[Spot]:
    """The points that loops bring together, two by two."""
    out = []
    for loop in figure.loops:
        for arm in [np.zeros(3)] if loop.point else [np.zeros(3), *(ARM * np.eye(3)[:2])]:
            for segment, at in ((loop.a, loop.at_a), (loop.b, loop.at_b)):
                out.append(Spot(segment, at[:3, 3], at[:3, :3] @ arm))
    return out
