"""supple on a trial: what it finds, and processor time a frame, alone and with everything that a call of `track` does once."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import supple
from markers_data import Trial, places, rms
from supple.motion.tracking.clip import clip_of

DEFAULT = supple.motion.FrameByFrame()
SHARP = supple.motion.FrameByFrame(tolerance=1e-8, steps=500)
EXACT = supple.motion.FrameByFrame(tolerance=1e-12, steps=5000)


@dataclass(frozen=True)
class Row:
    """One line of a table: who, how far off [mm], milliseconds a frame, and what else there is to say."""

    trial: str
    limits: bool
    who: str
    rms: float = np.nan
    ms: float = np.nan
    ratio: float = np.nan  # to supple's milliseconds in the runs around it
    call: float = np.nan  # milliseconds a frame of a whole call
    over: float = np.nan  # how far limits are overrun at worst [°]
    held: float = np.nan  # how far off when all angles are put back inside the limits [mm]
    note: str = ""


def least(function: Any, passes: int) -> float:
    """The least processor time of several calls [s]."""
    spans = []
    for _ in range(passes):
        begin = time.process_time()
        function()
        spans.append(time.process_time() - begin)
    return min(spans)


def frame_time(trial: Trial, method: Any, passes: int = 5) -> float:
    """Milliseconds a frame of the frames alone: no search for the first, no packing, as peers are timed."""
    weights = {name: trial.weights.get(name, 1.0) for name in trial.names}
    clip = clip_of(trial.figure, trial.markers.only(trial.names), weights, None, trial.limits)
    begin = method.fit(clip, trial.start).q[0]
    alone = replace(method, search=False)
    return 1e3 * least(lambda: alone.fit(clip, begin), passes) / len(trial.seen)


def call_time(trial: Trial, method: Any, passes: int = 3) -> float:
    """Milliseconds a frame of a whole call of `track`."""
    return 1e3 * least(lambda: trial.track(method), passes) / len(trial.seen)


def ours(trial: Trial, who: str, method: Any) -> tuple[Row, supple.motion.Tracked]:
    """A line of supple's, without ratios, and the motion."""
    motion = trial.track(method)
    off = rms(places(trial.figure, motion.q, trial.names), trial.seen)
    quick = isinstance(method, supple.motion.FrameByFrame)
    ms = frame_time(trial, method) if quick else np.nan
    lost = int((~motion.converged).sum())
    note = f"{motion.iterations.mean():.1f} steps a frame, {lost} frames not converged"
    if trial.figure.loops:
        note += f", loop open by {motion.gap.max():.0e} m"
    call = call_time(trial, method, 3 if quick else 1)
    return Row(trial.name, trial.limits, who, off, ms, call=call, note=note, **overrun(trial, motion.q)), motion


def overrun(trial: Trial, q: np.ndarray) -> dict[str, float]:
    """How far postures are outside the limits, and the distances with all of them put inside."""
    lower, upper = trial.figure.lower, trial.figure.upper
    if not trial.limits:
        return {}
    over = float(np.degrees(np.maximum(np.maximum(lower - q, q - upper), 0.0).max()))
    return {"over": over, "held": rms(places(trial.figure, np.clip(q, lower, upper), trial.names), trial.seen)}
