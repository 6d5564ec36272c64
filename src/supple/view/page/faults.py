"""What is wrong with clips: how far markers are from where a figure carries them, and when it is worst."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.geometry.placements import Floats
from supple.motion.markers import Markers
from supple.motion.motion import Motion
from supple.view.page.clips import Clip

WORST = 5  # frames that are one click away
LOOKED_AT = 400  # frames
APART = 0.1  # s between two of the worst


def marker_errors(clips: Sequence[Clip], time: float) -> np.ndarray:
    """Lines (k, 2, 3) from markers that were seen to where the first figure with such markers carries them."""
    trial = next((clip for clip in clips if isinstance(clip.what, Markers)), None)
    if trial is None or not isinstance(trial.what, Markers):
        return np.zeros((0, 2, 3))
    for clip in clips:
        if isinstance(clip.what, Motion):
            shared = [name for name in trial.what.names if name in clip.what.figure.markers]
            if shared:
                carried = clip.what.figure.marker_places(clip.what.q[clip.frame(time)], shared) + np.array(clip.aside)
                index = [list(trial.what.names).index(name) for name in shared]
                seen = trial.what.positions[trial.frame(time)][index]
                pairs = np.stack([seen, carried.reshape(-1, 3)], axis=1)
                return pairs[~np.isnan(pairs).any(axis=(1, 2))]
    return np.zeros((0, 2, 3))


def worst_times(clips: Sequence[Clip]) -> list[float]:
    """When markers are missed most, or else when what was carried over is farthest off; nothing if nothing is known of that."""
    times, far = _by_marker(clips)
    if not np.any(far):
        times, far = _by_errors(clips)
    out: list[float] = []
    for k in np.argsort(far)[::-1]:
        if far[k] <= 0.0 or len(out) == WORST:
            break
        if all(abs(times[k] - t) > APART for t in out):
            out.append(float(times[k]))
    return out


def _by_marker(clips: Sequence[Clip]) -> tuple[Floats, Floats]:
    """Times, and the root mean square of what markers are missed by then [m]."""
    motion = next((clip for clip in clips if isinstance(clip.what, Motion)), None)
    if motion is None or not any(isinstance(clip.what, Markers) for clip in clips):
        return np.zeros(0), np.zeros(0)
    times = motion.times[:: max(1, len(motion.times) // LOOKED_AT)]
    pairs = [marker_errors(clips, float(t)) for t in times]
    far = [float(np.sqrt(((p[:, 0] - p[:, 1]) ** 2).sum(axis=1).mean())) if len(p) else 0.0 for p in pairs]
    return times, np.array(far)


def _by_errors(clips: Sequence[Clip]) -> tuple[Floats, Floats]:
    """Times, and the root mean square of a motion's own errors then, in whatever they are measured."""
    for clip in clips:
        if isinstance(clip.what, Motion) and clip.what.errors is not None and clip.what.errors.size:
            known = np.nan_to_num(np.asarray(clip.what.errors, dtype=float))
            return clip.times, np.sqrt((known**2).mean(axis=1))
    return np.zeros(0), np.zeros(0)
