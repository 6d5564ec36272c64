"""A clip in natural coordinates: `OptimalTracking` on the frames of a `Clip`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from supple.geometry.placements import Floats
from supple.motion.optimal_tracking.settings import OptimalTracking
from supple.motion.optimal_tracking.trial import DrivenAngle, Held, checked_trial
from supple.motion.tracking.clip import Clip
from supple.motion.tracking.frame_by_frame import FrameByFrame
from supple.motion.tracking.frame_runs import NOT_YET, Fits, joined
from supple.motion.tracking.rig import CONVERGED, ENDED, ITERATIONS, OPEN, REPORT, SPENT


@dataclass(frozen=True)
class ByNatural:
    """Track with `OptimalTracking`, from a first frame that is searched for in joint coordinates where they can be."""

    method: OptimalTracking

    def fit(self, clip: Clip, start: Floats) -> Fits:
        """All frames of a clip."""
        first, q = clip.first, start
        search = FrameByFrame()
        if not search.refusals(clip):
            q = search.first(clip, start)
        onward = self._run(clip, np.arange(first, len(clip.positions)), q)
        return joined(onward, self._run(clip, np.arange(first, -1, -1), q))

    def _run(self, clip: Clip, frames: np.ndarray, q: Floats) -> Fits:
        points = [clip.figure.markers[name] for name in clip.names]
        weights = clip.weights[frames].copy()
        weights[:, list(clip.exact)] = 0.0
        seen = np.where(clip.weights[frames, :, None] > 0.0, clip.positions[frames], np.nan)
        held = [Held(points[k], seen[:, k]) for k in clip.exact]
        wanted = np.flatnonzero(clip.near[0])
        driven = [DrivenAngle(clip.figure.coordinates[i], clip.near[1, i], clip.near[0, i]) for i in wanted]
        method = replace(self.method, limits=self.method.limits and clip.limits)
        trial = checked_trial(clip.figure, points, seen, weights, q, held, driven, ())
        answer = method.tracked(trial, clip.stop)
        reports = np.zeros((len(frames), REPORT))
        reports[:, ITERATIONS], reports[:, OPEN] = answer.iterations, answer.violations
        reports[:, ENDED] = np.where(answer.converged, CONVERGED, SPENT)
        reports[np.isnan(answer.violations)] = NOT_YET
        clip.progress(len(frames))
        return Fits(answer.q, reports)
