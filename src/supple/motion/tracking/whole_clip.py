"""`WholeClip`: all frames at once, so that what one does not show, its neighbours tell.

Minimise over all postures q_t of a clip with frames dt apart

    Σ_t f_t(q_t) + ½ Σ_t Σ_i s² (q_{t+1,i} − 2 q_{t,i} + q_{t−1,i})²/dt⁴,    l ≤ q_t ≤ h,    |q_{t+1,i} − q_{t,i}| ≤ v_i dt,

f_t as in `frame_step` and s the smoothness: an acceleration of 1 rad/s² costs as much as a marker that is off by s
metres. Gauss–Newton's matrix has a dense block for each frame and diagonal ones for its two neighbours on either
side: a band, factorised by LAPACK in time proportional to the frames. Limits are an active set: what presses against
one is left out of the step, and every step is clipped. Speeds are held by an augmented Lagrangian, ``½ρ Σ max(0, |d|
− v dt + μ/ρ)²``, and so are pins, which a last fit of each frame then closes for good. Steps are damped by ``λ_t = κ_t
f_t``, as in `frame_step`, and accepted when the sum falls. Each frame has its own κ: few of them are curved so that they
need much of it, and one κ for all would slow down the others.

A long clip is cut into windows: each holds what the one before has settled, and looks some frames beyond its own end.

Angles of a ball accelerate without bound near its gimbal lock while the segment turns calmly. There the smoothness of
its outer angles is scaled by the sine β of the angle between its outer axes (`charts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import check_fields, counted, endless, not_negative, numbers, positive, spread
from supple.errors import BadValue, shown
from supple.geometry.placements import Floats, frozen
from supple.motion.tracking.clip import Clip
from supple.motion.tracking.frame_by_frame import FrameByFrame
from supple.motion.tracking.frame_runs import NOT_YET, Fits, run
from supple.motion.tracking.rig import CLOSED, ENDED, OPEN, PINS, REPORT, SPENT
from supple.motion.tracking.window import Window

WINDOW, BEYOND = 400, 60  # frames that are solved for at once, and those of them that come again
CLOSING_STEPS = 100
ROUGH = 1e-3  # tolerance of the fits of single frames that all begin from


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
    tolerance: float = 1e-4
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
        first = FrameByFrame(huber=self.huber, tolerance=ROUGH).fit(clip, start)
        q, reports = first.q.copy(), np.full((len(first.q), REPORT), NOT_YET)
        done = 0
        while done < len(q) and not clip.stop.asked:
            held = max(done - 2, 0)
            window = Window(self, clip, np.arange(held, min(done + WINDOW, len(q))), q, done - held, self._paces(clip))
            keep = WINDOW - BEYOND if done + WINDOW < len(q) else WINDOW
            with clip.stop:
                reports[done : done + keep] = window.solve()[done - held :][:keep]
                q[done : done + keep] = window.postures()[done - held :][:keep]
            if clip.stop.asked:
                break
            done += keep
            clip.progress(min(keep, len(q) - done + keep))
        reports[done:] = NOT_YET
        return Fits(q, reports) if clip.stop.asked else _closed(clip, q, reports)

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


def _closed(clip: Clip, q: Floats, reports: np.ndarray) -> Fits:
    """The postures with their pins closed, as near to q as can be."""
    if clip.packing.packed[0][PINS] > 0:
        weights = np.zeros_like(clip.weights)
        weights[:, list(clip.exact)] = clip.weights[:, list(clip.exact)]
        near = np.stack([np.ones_like(q), q], axis=1)
        closing = FrameByFrame(tolerance=1e-12).settings(clip, CLOSING_STEPS)
        fits = run(clip, np.arange(len(q)), q, closing, chained=False, weights=weights, near=near)
        q, reports[:, OPEN] = fits.q, fits.reports[:, OPEN]
        reports[reports[:, OPEN] > CLOSED, ENDED] = SPENT
    return Fits(q, reports)
