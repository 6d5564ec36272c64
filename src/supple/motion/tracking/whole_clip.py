"""`WholeClip`: all frames at once, so that what one does not show, its neighbours tell.

Minimise over all postures q_t of a clip with frames dt apart

    Σ_t f_t(q_t) + ½ Σ_t Σ_i s² (q_{t+1,i} − 2 q_{t,i} + q_{t−1,i})²/dt⁴,    l ≤ q_t ≤ h,    |q_{t+1,i} − q_{t,i}| ≤ v_i dt,

f_t as in `fitting` and s the smoothness: an acceleration of 1 rad/s² costs as much as a marker that is off by s
metres. Gauss–Newton's matrix has a dense block for each frame and diagonal ones for its two neighbours on either
side: a band, factorised by LAPACK in time proportional to the frames. Limits are an active set: what presses against
one is left out of the step, and every step is clipped. Speeds are held by an augmented Lagrangian, ``½ρ Σ max(0, |d|
− v dt + μ/ρ)²``, and so are pins, which a last fit of each frame then closes for good. Steps are damped by ``λ_t = κ
f_t``, as in `fitting`, and accepted when the sum falls.

A long clip is cut into windows: each holds what the one before has settled, and looks some frames beyond its own end.

Angles of a ball accelerate without bound near its gimbal lock while the segment turns calmly. There the smoothness of
its outer angles is scaled by the sine β of the angle between its outer axes (`charts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, solveh_banded

from supple.basics.checks import check_fields, counted, endless, not_negative, numbers, positive, spread
from supple.errors import BadValue, shown
from supple.geometry.placements import Floats, frozen
from supple.kernels.layouts import TREE, view
from supple.motion.tracking.clip import Clip
from supple.motion.tracking.frame_by_frame import NOT_YET, Fits, FrameByFrame, run
from supple.motion.tracking.frame_step import (
    CLOSED,
    CONVERGED,
    ENDED,
    HUBER,
    ITERATIONS,
    KAPPA,
    OPEN,
    SETTLED,
    SPENT,
    TOLD,
)
from supple.motion.tracking.normal_equations import normal_entry
from supple.motion.tracking.rig import PINS, bench_size

WINDOW, BEYOND = 400, 60  # frames that are solved for at once, and those of them that come again
ROUNDS = 20  # of the augmented Lagrangian
GREATEST = 1e18  # κ with which nothing moves
OVER = 1e-5  # share of a pace, or metres, by which a bound may be broken when the rounds end


@dataclass(frozen=True)
class WholeClip:
    """Fit all frames of a clip together: smooth, within speeds, across gaps.

    `smoothness` [m s²]: the marker error that weighs as much as an acceleration of 1 rad/s²; 0 fits every frame on
    its own. `speed` is a bound on each coordinate's speed, ``"figure"`` for the figure's own, or None. `huber` and
    `tolerance` are as in `FrameByFrame`, whose answer this method starts from.
    """

    smoothness: float = 3e-5
    speed: Any = None
    huber: float = np.inf
    tolerance: float = 1e-6
    steps: int = 40

    def __post_init__(self) -> None:
        check_fields(self, smoothness=not_negative, huber=endless, tolerance=positive, steps=counted)
        if self.speed is not None and not (isinstance(self.speed, str) and self.speed == "figure"):
            speed = numbers(self.speed, 'the speed of WholeClip, "figure" or numbers,')
            if speed.ndim > 1 or not (speed > 0.0).all():
                raise BadValue(
                    f"speed limits must be positive, one or one for each coordinate, not {shown(self.speed)}"
                )
            object.__setattr__(self, "speed", float(speed) if speed.ndim == 0 else frozen(speed))

    @property
    def bends(self) -> int:
        """The longest gap, in frames, that is bent smoothly; windows do not see across longer ones."""
        return BEYOND if self.smoothness > 0.0 else 0

    def fit(self, clip: Clip, start: Floats) -> Fits:
        """All frames of a clip."""
        first = FrameByFrame(huber=self.huber).fit(clip, start)
        q, told = first.q.copy(), np.full((len(first.q), TOLD), NOT_YET)
        done = 0
        while done < len(q) and not clip.stop.asked:
            held = max(done - 2, 0)
            window = _Window(self, clip, np.arange(held, min(done + WINDOW, len(q))), q, done - held, self._paces(clip))
            keep = WINDOW - BEYOND if done + WINDOW < len(q) else WINDOW
            with clip.stop:
                told[done : done + keep] = window.solve()[done - held :][:keep]
                q[done : done + keep] = window.postures()[done - held :][:keep]
            if clip.stop.asked:
                break
            done += keep
            clip.progress(min(keep, len(q) - done + keep))
        told[done:] = NOT_YET
        return Fits(q, told) if clip.stop.asked else _closed(clip, q, told)

    def _paces(self, clip: Clip) -> Floats:
        """How far each coordinate may move from frame to frame."""
        figure = clip.figure
        if self.speed is None:
            return np.full(figure.size, np.inf)
        speeds = figure.speed if isinstance(self.speed, str) else _speeds(self.speed, figure.size)
        return speeds * clip.step


def _speeds(speed: ArrayLike, size: int) -> Floats:
    speeds = spread(speed, (size,), "speed")
    if not (speeds > 0.0).all():
        raise BadValue("speed limits must be positive")
    return speeds


def _closed(clip: Clip, q: Floats, told: np.ndarray) -> Fits:
    """The postures with their pins closed, as near to q as can be."""
    if clip.packing.packed[0][PINS] > 0:
        weights = np.zeros_like(clip.weights)
        weights[:, list(clip.exact)] = clip.weights[:, list(clip.exact)]
        near = np.stack([np.ones_like(q), q], axis=1)
        closing = np.array([100.0, 1e-12, np.inf, float(clip.limits)])
        fits = run(clip, np.arange(len(q)), q, closing, chained=False, weights=weights, near=near)
        q, told[:, OPEN] = fits.q, fits.told[:, OPEN]
        told[told[:, OPEN] > CLOSED, ENDED] = SPENT
    return Fits(q, told)


class _Window:
    """Some frames that are solved for together; the first `settled` of them stay as they are."""

    def __init__(
        self, method: WholeClip, clip: Clip, frames: np.ndarray, q: Floats, settled: int, paces: Floats
    ) -> None:
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
        """Descend; what is told of each frame."""
        bound = bool(np.isfinite(self.pace).any()) or self.I[PINS] > 0
        T, settled, kept = len(self.Q), False, False
        told = np.zeros((T, TOLD))
        for _ in range(ROUNDS if bound else 1):
            settled, steps = self._descend()
            told[:, ITERATIONS] += steps
            if kept := not bound or self._raise_prices() <= OVER:
                break
        for t in range(max(self.settled, 1), T):  # what little is left
            self.Q[t] = np.clip(self.Q[t], self.Q[t - 1] - self.pace, self.Q[t - 1] + self.pace)
        told[:, ENDED] = CONVERGED if settled and kept else SPENT
        return told

    def _look(self) -> tuple[Floats, ...]:
        """Values, gradients, matrices, gaps and their derivatives of all frames, where the postures are now."""
        T, n = self.Q.shape
        rows = 3 * int(self.I[PINS])
        value, G, H = np.empty(T), np.empty((T, n)), np.empty((T, n, n))
        gap, C = np.zeros((T, rows)), np.zeros((T, rows, n))
        near = np.repeat(self.clip.near[None][:, :, self.clip.packing.chosen], T, axis=0)
        settings = np.zeros(4)
        settings[HUBER] = self.method.huber
        D, W = self.clip.positions[self.frames], self.clip.weights[self.frames]
        memory = np.zeros(bench_size(self.I))
        normal_entry(self.I, self.F, memory, D, W, near, self.Q, settings, value, G, H, gap, C)
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
        calm, kappa = self._calm(), KAPPA
        value, G, H, gap, C = self._look()
        total = self._value(value, gap, calm)
        for k in range(1, self.method.steps + 1):
            if self.clip.stop.asked:
                return False, k
            step, gain = self._step(value, G, H, gap, C, calm, kappa)
            before = self.Q
            self.Q = np.clip(before + step, self.lower, self.upper)
            self.Q[: self.settled] = before[: self.settled]
            value_new, G_new, H_new, gap_new, C_new = self._look()
            new = self._value(value_new, gap_new, calm)
            if new <= total * (1.0 + 1e-12):
                value, G, H, gap, C = value_new, G_new, H_new, gap_new, C_new
                total, small = new, gain <= self.method.tolerance * new
                kappa = max(0.5 * kappa, 0.1 * KAPPA)
            else:
                self.Q, small = before, gain <= 1e-3 * self.method.tolerance * total
                kappa *= 6.0
            if small or gain <= SETTLED:
                return True, k
            if kappa > GREATEST:
                return False, k
        return False, self.method.steps

    def _step(
        self, value: Floats, G: Floats, H: Floats, gap: Floats, C: Floats, calm: Floats, kappa: float
    ) -> tuple[Floats, float]:
        """The step of the banded model, and how much it promises."""
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
        blocks[:, i, i] += (kappa * np.maximum(value, value.mean()) + 1e-12)[:, None]
        pressed = ((self.lower >= self.Q) & (g > 0.0)) | ((self.upper <= self.Q) & (g < 0.0))
        pressed[: self.settled] = True
        return _banded(blocks, near, far, g, pressed)


def _banded(blocks: Floats, near: Floats, far: Floats, g: Floats, held: np.ndarray) -> tuple[Floats, float]:
    """Solve for all frames at once, nothing held moving; and how much lower the model is there."""
    T, n = g.shape
    free = ~held
    blocks *= free[:, :, None] & free[:, None, :]
    i = np.arange(n)
    blocks[:, i, i] += held
    near[:-1] *= free[:-1] & free[1:]
    far[:-2] *= free[:-2] & free[2:]
    band = np.zeros((2 * n + 1, T * n))  # band[r, c] is entry (c + r, c)
    for d in range(n):
        rows = np.arange(n - d)
        band[d].reshape(T, n)[:, : n - d] = blocks[:, rows + d, rows]
    band[n] = near.ravel()
    band[2 * n] = far.ravel()
    slope = (g * free).ravel()
    try:
        step = solveh_banded(band, -slope, lower=True, overwrite_ab=True, check_finite=False)
    except LinAlgError:
        return np.zeros((T, n)), 0.0
    return step.reshape(T, n), float(-0.5 * slope @ step)
