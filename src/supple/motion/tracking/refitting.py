"""A clip fitted again, whole or in part, once something in it was set aside."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.geometry.placements import Floats
from supple.motion.tracking.clip import Clip
from supple.motion.tracking.frame_by_frame import FrameByFrame
from supple.motion.tracking.frame_runs import Fits, run

PART = 0.1  # of a clip's frames: fewer are fitted by themselves


class Refitting(NamedTuple):
    """The method of the caller, one that is quick, and where both begin."""

    method: Any
    quick: Any
    begin: Floats

    def whole(self, clip: Clip) -> Fits:
        """All frames, by the caller's method."""
        return self.method.fit(clip, self.begin)

    def postures(self, clip: Clip) -> Floats:
        """The postures of a clip, quickly."""
        return self.quick.fit(clip, self.begin).q

    def part(self, clip: Clip, fits: Fits, begin: Floats, frames: np.ndarray) -> Fits:
        """The fits with those of some frames found anew, each from its row of `begin`; all of them if these are many."""
        if not isinstance(self.method, FrameByFrame) or len(frames) > PART * len(fits.q):
            return self.whole(clip)
        new = run(clip, frames, begin[frames], self.method.settings(clip, self.method.steps), chained=False)
        q, reports = fits.q.copy(), fits.reports.copy()
        q[frames], reports[frames] = new.q, new.reports
        return Fits(q, reports)
