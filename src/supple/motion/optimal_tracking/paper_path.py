"""The optimal tracking method as its paper has it (Ausejo, Suescun & Celigüeta 2011), step by step, with sparse matrices.

Natural coordinates x (the paper's q) obey ``Φ(x) = 0``; markers are ``Sx + s``, measured ones d, weights W:

    minimise ½ Ψᵀ W Ψ,  Ψ = Sx + s − d,    subject to Φ(x) = 0 and Ψ_s(x) = 0.                                  (12), (13)

Each step solves a quadratic programme whose constraints are the normal equations of the linearised ones, which can always be
met, however redundant the rows:

    minimise ½ Δᵀ H Δ + gᵀΔ    subject to A Δ = b,                                                                   (9)
    H = SᵀWS,  g = SᵀWΨ,  A = Φ_xᵀΦ_x,  b = −Φ_xᵀΦ,                                                      (3), (4), (7), (8)

    [H A; A 0] [Δ; −λ] = [−g; b],  λ = 0 for dependent columns.                                             (10), (11)

**Solving it.** The paper factors this matrix of 2n rows by a sparse QR that finds its dependent columns. Its appendix shows
that A + H is positive definite where markers see all that moves, redundant rows or not; so here ``P = H + ρA`` is factored,
n rows, in a structure that stays (`sparse_normal`), and the same Δ comes from a few solutions with it (multipliers):

    μ ← μ + ρ(Φ + Φ_xΔ),    Δ ← Δ − P⁻¹ (g + HΔ + Φ_xᵀ(μ + ρ(Φ + Φ_xΔ))).

What the rows contradict each other in, ``Φ_xᵀr = 0``, is added to μ in each round and taken out in the end: then
``μ = −Φ_x λ``, which is unique though λ is not. A test holds Δ and μ to a dense QR of (10), (11) where x is a
posture. Elsewhere redundant rows are independent, a little, and a QR needs a threshold for what it still calls dependent;
this meets all of them, as (9) has it.

**Lengths.** Along Δ the cost is a parabola, and ``‖Φ‖²`` a quartic, of the length α:

* **merit** (QRf): the paper does not say which function; here α minimises the augmented Lagrangian ``½ΨᵀWΨ + μᵀΦ + ½σ‖Φ‖²``: a
  quartic of α that falls along every Δ, and, unlike the cost with a penalty alone, asks for whole steps near the solution;
* **maxmin** (QRx): the larger of the two lengths that minimise the one and the other, as the paper has it.

Neither is longer than `LONGEST`, which is ours.

**Acceptance.** The paper accepts x as soon as ``‖Φ‖₂ < tolerance`` (here after a step at least, since a frame starts from the
one before, where that holds); otherwise ``‖αΔ‖₂`` must be as small too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from supple.geometry.placements import Floats
from supple.motion.optimal_tracking.natural import Natural
from supple.motion.optimal_tracking.sparse_normal import NormalMatrix
from supple.motion.optimal_tracking.trial import Trial

STIFF = 1e5  # ρ, where the heaviest weight is 1
RAISED = 1e-7  # on the diagonal of P, above what rounding leaves there: what nobody sees stays
ROUNDS = 25
SETTLED = 1e-11  # a correction as a share of the step
LONGEST = 1.5  # step: near the solution both curves are flat to the last digit
STIFFNESS = 0.1  # σ, where the heaviest weight is 1


class Frame(NamedTuple):
    """One frame's programme: ``S x + s`` should be zero to the `weight`, ``E x + e`` must be where it `counts`."""

    offset: Floats
    weight: Floats
    e: Floats
    counts: Floats


class Linear(NamedTuple):
    """Φ and Φ_x somewhere, the exact driving constraints Ψ_s below them (13)."""

    phi: Floats
    slope: csr_array


class Model:
    """What stays the same from frame to frame."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.natural = Natural(trial.figure, tuple(dict.fromkeys(a.coordinate for a in trial.driven)), trial.points)
        S, self.s = self.natural.marker_matrix(trial.points)
        E, self.e = self.natural.marker_matrix([h.effector for h in trial.held])
        self.soft = [k for k, angle in enumerate(trial.driven) if np.isfinite(angle.weight)]
        self.hard = [k for k, angle in enumerate(trial.driven) if np.isinf(angle.weight)]
        self.S, self.E = _stacked([S, self._units(self.soft)]), _stacked([E, self._units(self.hard)])
        slope = self.natural.jacobian(self.natural.from_posture(trial.start))
        self.matrix = NormalMatrix(_stacked([self.S, slope, self.E]))

    def _units(self, driven: list[int]) -> csr_array:
        at = [self.natural.index[self.trial.driven[k].coordinate] for k in driven]
        return csr_array((np.ones(len(at)), (np.arange(len(at)), at)), shape=(len(at), self.natural.size))

    def frame(self, k: int) -> Frame:
        """The programme of frame k."""
        trial, driven = self.trial, self.trial.values[k]
        missing = np.isnan(driven)
        values = np.where(missing, 0.0, driven)
        w = np.repeat(trial.weights[k], 3).tolist()
        w = np.array(w + [0.0 if missing[j] else trial.driven[j].weight for j in self.soft])
        w /= w.max(initial=0.0) or 1.0  # only ratios matter
        holds = trial.holds[k].ravel()
        counts = np.concatenate([~np.isnan(holds), ~missing[self.hard]]).astype(float)
        e = np.concatenate([self.e - np.where(np.isnan(holds), 0.0, holds), -values[self.hard]])
        return Frame(np.concatenate([self.s - trial.positions[k].ravel(), -values[self.soft]]), w, e, counts)

    def linearised(self, frame: Frame, x: Floats) -> Linear:
        """Φ and Φ_x with what must be met exactly."""
        phi, slope = self.natural.linearised(x)
        if not len(frame.e):
            return Linear(phi, slope)
        E = csr_array((self.E.data * np.repeat(frame.counts, np.diff(self.E.indptr)), self.E.indices, self.E.indptr),
                      shape=self.E.shape)  # fmt: skip
        return Linear(np.concatenate([phi, frame.counts * (self.E @ x + frame.e)]), _stacked([slope, E]))

    def violations(self, frame: Frame, x: Floats) -> Floats:
        """Φ."""
        phi = self.natural.constraints(x)
        return np.concatenate([phi, frame.counts * (self.E @ x + frame.e)]) if len(frame.e) else phi

    def step(self, frame: Frame, at: Linear, g: Floats) -> tuple[Floats, Floats]:
        """Δ and μ of (9)."""
        S, w, (phi, slope) = self.S, frame.weight, at
        rows = np.concatenate([w, np.full(len(phi), STIFF)])
        self.matrix.factor(np.append(S.data, slope.data).astype(float), rows, RAISED)
        delta, mu, rest, k, settled, last = np.zeros(len(g)), np.zeros(len(phi)), phi, 0, False, np.inf
        while k < ROUNDS and not settled:
            correction = self.matrix.solve(-g - S.T @ (w * (S @ delta)) - slope.T @ (mu + STIFF * rest))
            size = float(np.linalg.norm(correction))
            if not size < 10.0 * last:  # what is left is rounding
                break
            delta, last = delta + correction, size
            rest = phi + slope @ delta
            mu, k = mu + STIFF * rest, k + 1
            settled = size <= SETTLED * float(np.linalg.norm(delta))
        return (delta if k else np.full(len(g), np.nan)), mu - k * STIFF * rest


def _stacked(parts: list[csr_array]) -> csr_array:
    """Rows below each other, entries that are zero among them."""
    return csr_array(vstack(parts, format="csr"))


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


class Ended(NamedTuple):
    """x of one frame, the steps taken, ``‖Φ‖₂`` there and the length of the last step."""

    x: Floats
    steps: int
    violation: float
    moved: float


def reconstruct(
    model: Model, frame: Frame, x: Floats, rule: str, tolerance: float, iterations: int, still: bool
) -> Ended:
    """Bring x to the optimum of one frame, until its last step is short too if `still`."""
    k, moved, at = 0, np.inf, model.linearised(frame, x)
    while k < iterations and not (np.linalg.norm(at.phi) < tolerance and moved < (tolerance if still else np.inf)):
        misfit = model.S @ x + frame.offset
        g = model.S.T @ (frame.weight * misfit)
        delta, mu = model.step(frame, at, g)
        if not np.isfinite(delta).all():
            moved = np.inf
            break
        phi, linear, seen = at.phi, at.slope @ delta, model.S @ delta
        bend = model.violations(frame, x + delta) - phi - linear
        middle = linear @ linear + 2.0 * phi @ bend
        violation = np.array([phi @ phi, 2.0 * phi @ linear, middle, 2.0 * linear @ bend, bend @ bend])
        cost = np.array([0.5 * misfit @ (frame.weight * misfit), g @ delta, 0.5 * seen @ (frame.weight * seen)])
        alpha = step_length(rule, cost, mu @ np.column_stack([phi, linear, bend]), violation)
        x, moved, k = x + alpha * delta, float(np.linalg.norm(alpha * delta)), k + 1
        at = model.linearised(frame, x)
    return Ended(x, k, float(np.linalg.norm(at.phi)), moved)
