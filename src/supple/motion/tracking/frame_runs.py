"""Frames through the compiled fit, in any order, chained or each from a start of its own; what comes of them."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from supple.geometry.placements import Floats
from supple.motion.tracking.clip import Clip
from supple.motion.tracking.frame_kernel import frames_entry
from supple.motion.tracking.frame_step import ENDED, REPORT, STEPS, VALUE
from supple.motion.tracking.rig import FRAME

CHUNK = 500  # frames between two calls of `progress`
LATE = 3.0  # how a frame ended that was not fitted before it was time to stop
NOT_YET = np.zeros(REPORT)  # its report
NOT_YET[VALUE], NOT_YET[ENDED] = np.inf, LATE


class Fits(NamedTuple):
    """Postures (frames, size), and a report (frames, REPORT) of each."""

    q: Floats
    reports: np.ndarray


def joined(onward: Fits, back: Fits) -> Fits:
    """Frames that were fitted from one of them onward and back, in order; what begins with frame 0 has nothing behind it."""
    if back is onward or len(back.q) == 1:
        return onward
    return Fits(*(np.concatenate([b[:0:-1], a]) for a, b in zip(onward, back, strict=True)))


def run(
    clip: Clip,
    frames: np.ndarray,
    start: Floats,
    settings: np.ndarray,
    chained: bool = True,
    weights: Floats | None = None,
    near: Floats | None = None,
) -> Fits:
    """Fit the given frames in that order, from `start` (size,) on; if they are not chained, each from its row of `start`.

    `weights` (frames, m) and `near` (frames, 2, size) take the place of the clip's.
    """
    packing, base = clip.packing, np.atleast_2d(start)
    I, F = packing.packed
    Q = np.empty((len(frames), len(packing.chosen)))
    Q[: len(base)] = base[:, packing.chosen]
    reports = np.full((len(frames), REPORT), NOT_YET)
    if near is None:
        near = np.repeat(clip.near[None], len(frames), axis=0)
    near = np.ascontiguousarray(near[:, :, packing.chosen])
    D, W = clip.positions[frames], clip.weights[frames] if weights is None else weights
    scratch, own, settings, late = FRAME.fresh(I), F.copy(), settings.copy(), np.zeros(len(frames), dtype=bool)

    def halt() -> None:
        late[:] = reports[:, ENDED] == LATE
        settings[STEPS] = 0.0

    for first in range(0, len(frames), CHUNK):
        part = slice(first, first + CHUNK)
        if chained and first > 0:
            Q[first] = Q[first - 1]
        rows = (table[part] for table in (D, W, near, Q))
        fit = partial(frames_entry, I, own, scratch, *rows, settings, chained, reports[part])
        if clip.stop.run([fit], halt):
            Q, reports = stood_still(Q, reports, late, base[:, packing.chosen])
            break
        clip.progress(len(Q[part]))
    whole = np.repeat(base[-1:], len(frames), axis=0) if len(base) == 1 else base.copy()
    whole[:, packing.chosen] = Q
    return Fits(whole, reports)


def stood_still(Q: Floats, reports: np.ndarray, late: np.ndarray, start: Floats) -> tuple[Floats, np.ndarray]:
    """Copies in which frames that were not fitted in time stand where the last one does, or where they start."""
    Q, reports, done = Q.copy(), reports.copy(), len(Q) - int(late.sum())
    reports[late] = NOT_YET
    Q[late] = start[late] if len(start) == len(Q) else Q[done - 1] if done else start[0]
    return Q, reports
