"""The optimal tracking method as its paper has it (Ausejo, Suescun & Celigüeta 2011), step by step and dense.

Natural coordinates x (the paper's q) obey ``Φ(x) = 0``; markers are ``Sx + s``, measured ones d, weights W:

    minimise ½ Ψᵀ W Ψ,  Ψ = Sx + s − d,    subject to Φ(x) = 0 and Ψ_s(x) = 0.                                  (12), (13)

Each step solves a quadratic programme whose constraints are the normal equations of the linearised ones, which can always be
met, however redundant the rows:

    minimise ½ Δᵀ H Δ + gᵀΔ    subject to A Δ = b,                                                                   (9)
    H = SᵀWS,  g = SᵀWΨ,  A = Φ_xᵀΦ_x,  b = −Φ_xᵀΦ,                                                      (3), (4), (7), (8)

    [H A; A 0] [Δ; −λ] = [−g; b],  λ = 0 for dependent columns,                                              (10), (11)

by a QR factorisation that finds the dependent columns. Along Δ the cost is a parabola, and ``‖Φ‖²`` a quartic, of the length α:

* **merit**: α minimises the augmented Lagrangian ``½ΨᵀWΨ + μᵀΦ + ½σ‖Φ‖²``, μ = −Φ_x λ: a quartic of α that falls along every
  Δ, and, unlike the cost with a penalty alone, asks for whole steps near the solution;
* **maxmin**: the larger of the two lengths that minimise the one and the other.

Neither is longer than `LONGEST`.

The paper accepts x as soon as ``‖Φ‖₂ < tolerance``; here ``‖αΔ‖₂`` must be as small too.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
from scipy.linalg import qr_multiply, solve_triangular

from supple.geometry.placements import Floats
from supple.motion.optimal_tracking.natural import Natural
from supple.motion.optimal_tracking.trial import Trial

DEPENDENT = 1e-9  # of the largest pivot
LONGEST = 1.5  # step: near the solution both curves are flat to the last digit
STIFFNESS = 0.1  # σ, where the heaviest weight is 1


class Frame(NamedTuple):
    """One frame's programme: ``S x + s`` should be `target` to the `weight`, ``E x + e`` must vanish."""

    S: Floats
    offset: Floats
    weight: Floats
    E: Floats
    e: Floats

    def misfit(self, x: Floats) -> Floats:
        """Ψ."""
        return self.S @ x + self.offset

    def cost(self, x: Floats) -> float:
        """½ ΨᵀWΨ."""
        misfit = self.misfit(x)
        return float(0.5 * misfit @ (self.weight * misfit))


class Model:
    """What stays the same from frame to frame."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.natural = Natural(trial.figure, tuple(dict.fromkeys(a.coordinate for a in trial.driven)), trial.points)
        S, self.s = self.natural.marker_matrix(trial.points)
        E, self.e = self.natural.marker_matrix([h.effector for h in trial.held])
        self.S, self.E = S.toarray(), E.toarray()

    def frame(self, k: int) -> Frame:
        """The programme of frame k."""
        trial, unit = self.trial, np.eye(self.natural.size)
        S, E = [self.S], [self.E[np.repeat(~np.isnan(trial.holds[k, :, 0]), 3)]]
        offset, weight = [self.s - trial.positions[k].ravel()], [np.repeat(trial.weights[k], 3)]
        e = self.e - trial.holds[k].ravel()
        rest = [e[~np.isnan(e)]]
        for angle, value in zip(trial.driven, trial.values[k], strict=True):
            row = unit[self.natural.index[angle.coordinate]][None]
            if np.isnan(value):
                continue
            if np.isinf(angle.weight):
                E.append(row)
                rest.append(np.array([-value]))
            else:
                S.append(row)
                offset.append(np.array([-value]))
                weight.append(np.array([angle.weight]))
        w = np.hstack(weight)
        w /= w.max(initial=0.0) or 1.0  # only ratios matter
        return Frame(np.vstack(S), np.hstack(offset), w, np.vstack(E), np.hstack(rest))

    def equations(self, frame: Frame, x: Floats) -> tuple[Floats, Floats]:
        """Φ and Φ_x, the exact driving constraints Ψ_s below them (13)."""
        phi, slope = self.natural.linearised(x)
        return np.concatenate([phi, frame.E @ x + frame.e]), np.vstack([slope.toarray(), frame.E])


def quadratic_step(H: Floats, g: Floats, A: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Δ and −λ of (10), with the multipliers of dependent columns zero (11)."""
    n = len(g)
    K = np.block([[H, A], [A, np.zeros((n, n))]])
    rotated, R, order = cast(
        "tuple[Floats, Floats, np.ndarray]",
        qr_multiply(K, np.concatenate([-g, b]), mode="right", pivoting=True, overwrite_a=True),
    )
    pivots = np.abs(np.diagonal(R))
    rank = int(np.count_nonzero(pivots > DEPENDENT * pivots[0]))
    solution = np.zeros(2 * n)
    solution[order[:rank]] = solve_triangular(R[:rank, :rank], rotated[:rank])
    return solution[:n], solution[n:]


def _least(quartic: Floats) -> float:
    """The positive length that minimises a quartic (coefficients from the highest), 0 if there is none."""
    roots = np.roots(np.polyder(np.poly1d(quartic)).coeffs)
    lengths = np.real(roots[np.abs(np.imag(roots)) < 1e-9])
    lengths = lengths[lengths > 0.0]
    return float(min(lengths, key=np.poly1d(quartic))) if len(lengths) else 0.0


def step_length(rule: str, cost: Floats, priced: Floats, violation: Floats) -> float:
    """α for the parabolas ½ΨᵀWΨ and μᵀΦ and the quartic ‖Φ‖², as coefficients of 1, α, α² …; 1 where none has a minimum."""
    if rule == "maxmin":
        alone = -cost[1] / (2.0 * cost[2]) if cost[2] > 1e-30 else 0.0
        alpha = max(alone, _least(violation[::-1]))
    else:
        alpha = _least((np.pad(cost + priced, (0, 2)) + 0.5 * STIFFNESS * violation)[::-1])
    return min(alpha, LONGEST) or 1.0


def reconstruct(
    model: Model, frame: Frame, x: Floats, rule: str, tolerance: float, iterations: int
) -> tuple[Floats, int, float, float]:
    """x of one frame, the steps taken, ``‖Φ‖₂`` there and the length of the last step."""
    H = frame.S.T @ (frame.weight[:, None] * frame.S)
    phi, slope = model.equations(frame, x)
    k, moved = 0, np.inf
    while k < iterations and not (np.linalg.norm(phi) < tolerance and moved < tolerance):
        g = frame.S.T @ (frame.weight * frame.misfit(x))
        delta, prices = quadratic_step(H, g, slope.T @ slope, -slope.T @ phi)
        mu, linear = slope @ prices, slope @ delta
        bend = model.equations(frame, x + delta)[0] - phi - linear
        middle = linear @ linear + 2.0 * phi @ bend
        violation = np.array([phi @ phi, 2.0 * phi @ linear, middle, 2.0 * linear @ bend, bend @ bend])
        cost = np.array([frame.cost(x), g @ delta, 0.5 * delta @ H @ delta])
        alpha = step_length(rule, cost, mu @ np.column_stack([phi, linear, bend]), violation)
        x, moved, k = x + alpha * delta, float(np.linalg.norm(alpha * delta)), k + 1
        phi, slope = model.equations(frame, x)
    return x, k, float(np.linalg.norm(phi)), moved
