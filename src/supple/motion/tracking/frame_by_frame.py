"""`FrameByFrame`: the compiled fit of each frame, from a first one that is searched for.

**The first frame** is the one that shows most markers. It is fitted from many starts, the same ones whatever the
caller's own: postures all over the limits, each carried to where its markers lie best on those seen (a rigid fit,
Kabsch), so that which of them wins does not depend on luck. From there the clip is followed to both ends.

**Gaps.** Coordinates with no marker to tell them stay where they were; afterwards they are drawn straight from the
frame before the gap to the frame behind it, which moves nothing that was seen. Where a loop hangs on such a
coordinate it is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from supple.basics.checks import check_fields, counted, endless, flag, positive
from supple.errors import Refused
from supple.geometry.placements import Floats
from supple.motion.tracking.clip import Clip
from supple.motion.tracking.frame_kernel import frames_entry
from supple.motion.tracking.frame_step import ENDED, OPEN, STEPS, TOLD, VALUE
from supple.motion.tracking.rig import bench_size
from supple.motion.tracking.starts import starts

STARTS = 48  # postures that the first frame is fitted from, at least
FIRST_STEPS = 200
CHUNK = 500  # frames between two reports of progress
LATE = 3.0  # how a frame ended that was not fitted before it was time to stop
NOT_YET = (0.0, np.inf, 0.0, LATE)  # what is told of it


class Fits(NamedTuple):
    """Postures (frames, size), and what is told of each frame."""

    q: Floats
    told: np.ndarray


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
        if clip.limits and not clip.figure.limits.is_box:
            reasons.append("its limits are more than a range for each coordinate")
        return reasons

    def fit(self, clip: Clip, start: Floats) -> Fits:
        """All frames of a clip."""
        reasons = self.refusals(clip)
        if reasons:
            raise Refused(f"FrameByFrame cannot track figure {clip.figure.name!r}: {'; '.join(reasons)}")
        first, q = first_frame(clip), self.first(clip, start)
        settings = self._settings(clip, self.steps)
        onward = run(clip, np.arange(first, len(clip.positions)), q, settings)
        return joined(onward, run(clip, np.arange(first, -1, -1), q, settings) if first > 0 else onward)

    def first(self, clip: Clip, start: Floats) -> Floats:
        """The posture to begin with, of the frame that `first_frame` names."""
        return (
            first_posture(clip, first_frame(clip), start, self._settings(clip, FIRST_STEPS)) if self.search else start
        )

    def _settings(self, clip: Clip, steps: int) -> np.ndarray:
        lower, upper = clip.figure.lower, clip.figure.upper
        limited = clip.limits and bool(np.isfinite(lower).any() or np.isfinite(upper).any())
        return np.array([steps, self.tolerance, self.huber, float(limited)])


def first_frame(clip: Clip) -> int:
    """The first of the frames that show most markers."""
    return int(np.argmax((clip.weights > 0.0).sum(axis=1)))


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
    packing = clip.packing
    I, F = packing.packed
    base = np.atleast_2d(start)
    Q = np.empty((len(frames), len(packing.chosen)))
    Q[: len(base)] = base[:, packing.chosen]
    told = np.full((len(frames), TOLD), NOT_YET)
    if near is None:
        near = np.repeat(clip.near[None], len(frames), axis=0)
    near = np.ascontiguousarray(near[:, :, packing.chosen])
    D, W = clip.positions[frames], clip.weights[frames] if weights is None else weights
    memory, own, settings = np.zeros(bench_size(I)), F.copy(), settings.copy()
    late = np.zeros(len(frames), dtype=bool)

    def halt() -> None:
        late[:] = told[:, ENDED] == LATE
        settings[STEPS] = 0.0

    for first in range(0, len(frames), CHUNK):
        part = slice(first, first + CHUNK)
        if chained and first > 0:
            Q[first] = Q[first - 1]
        fit = partial(
            frames_entry, I, own, memory, D[part], W[part], near[part], Q[part], settings, chained, told[part]
        )
        if clip.stop.run([fit], halt):
            Q, told = stood_still(Q, told, late, base[:, packing.chosen])
            break
        clip.progress(len(Q[part]))
    whole = np.repeat(base[-1:], len(frames), axis=0) if len(base) == 1 else base.copy()
    whole[:, packing.chosen] = Q
    return Fits(whole, told)


def stood_still(Q: Floats, told: np.ndarray, late: np.ndarray, start: Floats) -> tuple[Floats, np.ndarray]:
    """Copies in which frames that were not fitted in time stand where the last one does, or where they start."""
    Q, told, done = Q.copy(), told.copy(), len(Q) - int(late.sum())
    told[late] = NOT_YET
    Q[late] = start[late] if len(start) == len(Q) else Q[done - 1] if done else start[0]
    return Q, told


def first_posture(clip: Clip, frame: int, start: Floats, settings: np.ndarray) -> Floats:
    """The posture of one frame that fits best, from many starts and the caller's; what moves no marker stays the caller's."""
    begin = starts(clip, frame, STARTS, start)
    fits = run(clip, np.full(len(begin), frame), begin, settings, chained=False)
    value = fits.told[:, VALUE] + 1e6 * fits.told[:, OPEN]
    best = np.flatnonzero(value <= value.min() * (1.0 + 1e-6))
    chosen, q = clip.packing.chosen, start.copy()
    q[chosen] = fits.q[best[np.argmin(np.abs(fits.q[best] - start).sum(axis=1))], chosen]
    return q


def bridged(clip: Clip, q: Floats, bent: int = 0) -> tuple[Floats, np.ndarray]:
    """The postures with what no marker told drawn straight across each gap; and which these were (frames, size).

    Gaps of up to `bent` frames with something told on either side are left as the method has bent them.
    """
    figure, out = clip.figure, q.copy()
    untold = clip.untold.copy()
    for loop in figure.loops:
        untold[:, [figure.coordinates.index(name) for name in figure.chain(loop.a, loop.b)]] = False
    frames = np.arange(len(q))
    for k in np.flatnonzero(untold.any(axis=0)):
        known = ~untold[:, k]
        if known.any():
            kept = known | _inside(frames[known], len(q), bent)
            out[:, k] = np.where(kept, q[:, k], np.interp(frames, frames[known], q[known, k]))
    return out, untold


def _inside(known: np.ndarray, count: int, longest: int) -> np.ndarray:
    """The frames of gaps between known frames that are no longer than that."""
    inside = np.zeros(count, dtype=bool)
    for a, b in pairwise(known.tolist()):
        if b - a <= longest + 1:
            inside[a + 1 : b] = True
    return inside
