"""Some frames of a clip that are solved for together: Gauss–Newton with a banded matrix (formulas in `whole_clip`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import maximum_filter1d

from supple.geometry.placements import Floats
from supple.kernels.layouts import TREE, view
from supple.motion.tracking.banded import solve_band
from supple.motion.tracking.clip import Clip
from supple.motion.tracking.frame_by_frame import FrameByFrame
from supple.motion.tracking.frame_step import KAPPA, SETTLED
from supple.motion.tracking.normal_equations import normal_entry
from supple.motion.tracking.rig import CONVERGED, ENDED, FRAME, ITERATIONS, PINS, REPORT, SPENT

ROUNDS = 20  # of the augmented Lagrangian
GREATEST = 1e18  # κ with which nothing moves
NEIGHBOURS, LEAST = 0.7, 0.04  # of the κ of the two frames on either side; of the first κ: as little as κ may become
OVER = 1e-5  # share of a pace, or metres, by which a bound may be broken when the rounds end


class Window:
    """Some frames that are solved for together; the first `settled` of them stay as they are."""

    def __init__(self, method: Any, clip: Clip, frames: np.ndarray, q: Floats, settled: int, paces: Floats) -> None:
        packing = clip.packing
        self.method, self.clip, self.frames, self.settled = method, clip, frames, settled
        self.base, self.Q = q[frames].copy(), q[frames][:, packing.chosen].copy()
        self.I, self.F = packing.packed
        figure = clip.figure
        unlimited = np.full(len(packing.chosen), np.inf)
        self.lower = figure.lower[packing.chosen] if clip.limits else -unlimited
        self.upper = figure.upper[packing.chosen] if clip.limits else unlimited
        self.pace = paces[packing.chosen]
        T, n = self.Q.shape
        self.rho, self.price = 0.0, np.zeros((T - 1, n))
        self.pin_price = np.zeros((T, 3 * int(self.I[PINS])))

    def postures(self) -> Floats:
        """The postures of the whole figure."""
        out = self.base.copy()
        out[:, self.clip.packing.chosen] = self.Q
        return out

    def solve(self) -> np.ndarray:
        """Descend; the reports of all frames."""
        bound = bool(np.isfinite(self.pace).any()) or self.I[PINS] > 0
        T, settled, kept = len(self.Q), False, False
        reports = np.zeros((T, REPORT))
        for _ in range(ROUNDS if bound else 1):
            settled, steps = self._descend()
            reports[:, ITERATIONS] += steps
            if kept := not bound or self._raise_prices() <= OVER:
                break
        for t in range(max(self.settled, 1), T):  # what little is left
            self.Q[t] = np.clip(self.Q[t], self.Q[t - 1] - self.pace, self.Q[t - 1] + self.pace)
        reports[:, ENDED] = CONVERGED if settled and kept else SPENT
        return reports

    def _look(self) -> tuple[Floats, ...]:
        """Values, gradients, matrices, gaps and their derivatives of all frames, where the postures are now."""
        T, n = self.Q.shape
        rows = 3 * int(self.I[PINS])
        value, G, H = np.empty(T), np.empty((T, n)), np.empty((T, n, n))
        gap, C = np.zeros((T, rows)), np.zeros((T, rows, n))
        near = np.repeat(self.clip.near[None][:, :, self.clip.packing.chosen], T, axis=0)
        D, W = self.clip.positions[self.frames], self.clip.weights[self.frames]
        settings, scratch = FrameByFrame(huber=self.method.huber).settings(self.clip, 0), FRAME.fresh(self.I)
        normal_entry(self.I, self.F, scratch, D, W, near, self.Q, settings, value, G, H, gap, C)
        return value, G, H, gap, C

    def _calm(self) -> Floats:
        """``s²/dt⁴`` of each frame and coordinate, less near a gimbal lock."""
        T, n = self.Q.shape
        weight = np.full((T, n), (self.method.smoothness / self.clip.step**2) ** 2)
        tree = self.clip.packing.tree
        axis, coordinate = tree.tables["AXIS"], tree.tables["COORDINATE"]
        for i in view(TREE, self.I, self.F, "CHART"):
            middle = self.Q[:, coordinate[i + 1]]
            beta = np.abs(np.sin(middle) if axis[i] == axis[i + 2] else np.cos(middle))
            weight[:, coordinate[[i, i + 2]]] *= np.maximum(beta, 1e-3)[:, None] ** 2
        return weight

    def _value(self, value: Floats, gap: Floats, calm: Floats) -> float:
        """The sum that is minimised."""
        bend = np.diff(self.Q, 2, axis=0)
        total = value.sum() + 0.5 * np.sum(calm[1:-1] * bend**2)
        if self.rho > 0.0:
            total += 0.5 * self.rho * np.sum(self._over() ** 2)
            total += 0.5 * self.rho * np.sum((gap + self.pin_price / self.rho) ** 2)
        return float(total)

    def _over(self) -> Floats:
        """By how much moves from frame to frame are too long, multipliers included, with their sign."""
        move = np.diff(self.Q, axis=0) + (self.price / self.rho if self.rho > 0.0 else 0.0)
        return move - np.clip(move, -self.pace, self.pace)

    def _raise_prices(self) -> float:
        """Multipliers after a round; how much is still open, as a share of the paces and in metres."""
        _, _, H, gap, _ = self._look()
        excess = np.maximum(np.abs(np.diff(self.Q, axis=0)) - self.pace, 0.0)
        share = np.where(np.isfinite(self.pace), excess / np.where(np.isfinite(self.pace), self.pace, 1.0), 0.0)
        if self.rho > 0.0:
            self.price = self.rho * self._over()
            self.pin_price = self.pin_price + self.rho * gap
            self.rho *= 3.0
        else:
            self.rho = 10.0 * float(np.mean([np.trace(h) for h in H]) / H.shape[1])
        return float(max(share.max(initial=0.0), np.abs(gap).max(initial=0.0)))

    def _descend(self) -> tuple[bool, int]:
        """Gauss–Newton steps until one promises next to nothing."""
        calm, kappa = self._calm(), np.full(len(self.Q), KAPPA)
        value, G, H, gap, C = self._look()
        total = self._value(value, gap, calm)
        for k in range(1, self.method.steps + 1):
            if self.clip.stop.asked:
                return False, k
            damping = kappa * np.maximum(value, value.mean()) + 1e-12
            step, gain = self._step(G, H, gap, C, calm, damping)
            before = self.Q
            self.Q = np.clip(before + step, self.lower, self.upper)
            self.Q[: self.settled] = before[: self.settled]
            seen = self._look()
            new = self._value(seen[0], seen[3], calm)
            lower = gain > 0.0 and new <= total * (1.0 + 1e-12)
            kappa *= _eased(self.Q - before, value, G, H, damping, seen[0], gain, lower)
            if lower:
                value, G, H, gap, C = seen
                total, small = new, gain <= self.method.tolerance * new
            else:
                self.Q, small = before, 0.0 < gain <= 1e-3 * self.method.tolerance * total
            if small or 0.0 <= gain <= SETTLED:
                return True, k
            kappa = np.maximum(np.maximum(kappa, NEIGHBOURS * maximum_filter1d(kappa, 5)), LEAST * KAPPA)
            if kappa.min() > GREATEST:
                return False, k
        return False, self.method.steps

    def _step(
        self, G: Floats, H: Floats, gap: Floats, C: Floats, calm: Floats, damping: Floats
    ) -> tuple[Floats, float]:
        """The step of the banded model, and how much it promises: −1 if the model has no minimum."""
        T, n = self.Q.shape
        g, blocks = G.copy(), H.copy()
        near, far = np.zeros((T, n)), np.zeros((T, n))  # diagonals that couple frame t with t + 1 and t + 2
        i = np.arange(n)
        inner = calm[1:-1]
        pull = inner * np.diff(self.Q, 2, axis=0)
        for shift, factor in ((0, 1.0), (1, -2.0), (2, 1.0)):
            g[shift : shift + T - 2] += factor * pull
            blocks[shift : shift + T - 2, i, i] += factor**2 * inner
        near[: T - 2] -= 2.0 * inner
        near[1 : T - 1] -= 2.0 * inner
        far[: T - 2] += inner
        if self.rho > 0.0:
            over = self._over()
            stiff = self.rho * (over != 0.0)
            g[1:] += self.rho * over
            g[:-1] -= self.rho * over
            blocks[1:, i, i] += stiff
            blocks[:-1, i, i] += stiff
            near[:-1] -= stiff
            if gap.shape[1]:
                g += np.einsum("tri,tr->ti", C, self.rho * gap + self.pin_price)
                blocks += self.rho * np.einsum("tri,trj->tij", C, C)
        blocks[:, i, i] += damping[:, None]
        free = ~(((self.lower >= self.Q) & (g > 0.0)) | ((self.upper <= self.Q) & (g < 0.0)))
        free[: self.settled] = False
        step = solve_band(blocks, near, far, -g, free, self.rho == 0.0)
        return (np.zeros((T, n)), -1.0) if step is None else (step, float(-0.5 * np.sum(g * free * step)))


def _eased(
    move: Floats, value: Floats, G: Floats, H: Floats, damping: Floats, new: Floats, gain: float, lower: bool
) -> Floats:
    """By what the damping of each frame is to be multiplied after a move.

    What a frame's own part of the sum has come out higher than its model, as a share of what the model curves: where that is
    more than all of it, the frame is damped more, where it is little, less.
    """
    curve = 0.5 * np.sum(move * np.matmul(H, move[:, :, None])[:, :, 0], axis=1)
    off = new - value - np.sum(G * move, axis=1) - curve
    share = off / (curve + 0.5 * damping * np.sum(move**2, axis=1) + 1e-3 * abs(gain) / len(move) + 1e-300)
    kept, less = (1.0, 0.5) if lower else (1.5, 1.0)
    factors = np.where(share > 1.0, 4.0, np.where(share > 0.3, kept, less))
    return factors if lower or (share > 1.0).any() else 4.0 * factors
