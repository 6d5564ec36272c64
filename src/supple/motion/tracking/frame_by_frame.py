"""`FrameByFrame`: the compiled fit of each frame, from a first one that is searched for.

**The first frame** is the one that shows most markers. It is fitted from many starts, the same ones whatever the
caller's own, so that which of them wins does not depend on luck: postures all over the limits, each carried to where its
markers lie best on those seen. From there the clip is followed to both ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.basics.checks import check_fields, counted, endless, flag, positive
from supple.errors import Refused
from supple.geometry.placements import Floats
from supple.motion.tracking.carrying import starts
from supple.motion.tracking.clip import Clip
from supple.motion.tracking.frame_runs import Fits, joined, run, stuck
from supple.motion.tracking.rig import HUBER, LIMITED, OPEN, SETTINGS, STEPS, TOLERANCE, VALUE

STARTS = 48  # postures that the first frame is fitted from, at least
FIRST_STEPS = 200


@dataclass(frozen=True)
class FrameByFrame:
    """Fit every frame on its own, from the one before it, inside the limits, with loops closed.

    A fit ends with a step that promises less than the share `tolerance` of the objective, or after `steps` of them.
    Markers further off than `huber` [m] count as outliers. `search` looks for the first frame from many starts;
    without it the caller's start, or the rest posture, is all there is.
    """

    tolerance: float = 1e-4
    steps: int = 100
    huber: float = np.inf
    search: bool = True

    def __post_init__(self) -> None:
        check_fields(self, tolerance=positive, steps=counted, huber=endless, search=flag)

    def refusals(self, clip: Clip) -> list[str]:
        """Why this method cannot take a clip; empty if it can."""
        reasons = []
        if not clip.packing.is_tree:
            reasons.append("a coordinate moves several links with markers between them")
        limits = clip.figure.limits
        if clip.limits and (len(limits.b) or len(limits.b_eq)):
            reasons.append("its limits are more than a range for each coordinate")
        return reasons

    def fit(self, clip: Clip, start: Floats) -> Fits:
        """All frames of a clip."""
        reasons = self.refusals(clip)
        if reasons:
            raise Refused(f"FrameByFrame cannot track figure {clip.figure.name!r}: {'; '.join(reasons)}")
        first, q, settings = clip.first, self.first(clip, start), self.settings(clip, self.steps)
        onward = run(clip, np.arange(first, len(clip.positions)), q, settings)
        fits = joined(onward, run(clip, np.arange(first, -1, -1), q, settings) if first > 0 else onward)
        if not self.search or not stuck(clip, fits)[0].any():
            return fits
        from supple.motion.tracking.second_looks import looked_again  # most clips need none

        return looked_again(clip, fits, settings)

    def first(self, clip: Clip, start: Floats) -> Floats:
        """The posture of the clip's first frame that fits best; what moves no marker stays the caller's."""
        if not self.search:
            return start
        begin = starts(clip, clip.first, STARTS, start)
        settings, same = self.settings(clip, FIRST_STEPS), np.full(len(begin), clip.first)
        fits = run(clip, same, begin, settings, chained=False)
        value = fits.reports[:, VALUE] + 1e6 * fits.reports[:, OPEN]
        best = np.flatnonzero(value <= value.min() * (1.0 + 1e-6))
        chosen, q = clip.packing.chosen, start.copy()
        q[chosen] = fits.q[best[np.argmin(np.abs(fits.q[best] - start).sum(axis=1))], chosen]
        return q

    def settings(self, clip: Clip, steps: int) -> np.ndarray:
        """As kernels read them."""
        lower, upper, out = clip.figure.lower, clip.figure.upper, np.empty(SETTINGS)
        out[STEPS], out[TOLERANCE], out[HUBER] = steps, self.tolerance, self.huber
        out[LIMITED] = clip.limits and bool(np.isfinite(lower).any() or np.isfinite(upper).any())
        return out
