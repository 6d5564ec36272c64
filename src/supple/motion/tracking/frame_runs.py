"""Frames through the compiled fit, in any order, chained or each from a start of its own; what comes of them, and which of
them seem to be stuck."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from supple.geometry.placements import Floats
from supple.kernels.compiling import entry_in
from supple.motion.tracking.clip import Clip
from supple.motion.tracking.rig import CLOSED, CONVERGED, ENDED, FRAME, OPEN, REPORT, STEPS, VALUE

frames_entry = entry_in("supple.motion.tracking.frame_kernel.frames_entry")
CHUNK = 500  # frames between two calls of `progress`
LATE = 3.0  # how a frame ended that was not fitted before it was time to stop
HIGH = 3.0  # squares of errors that are much, of the clip's median
RISEN = 1.7  # the same, of what they were before a limit was met
LEAST = 1e-8  # [m²] of a marker on average: nothing to gain below
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


# ── which of them seem to be stuck ────────────────────────────────────────────────────────────────────────────────────
def value_of(reports: np.ndarray) -> Floats:
    """What is compared: the objective, and what is open of pins beyond what counts as closed."""
    return reports[:, VALUE] + 1e6 * np.maximum(reports[:, OPEN] - CLOSED, 0.0)


def stuck(clip: Clip, fits: Fits, high: float = HIGH) -> tuple[np.ndarray, Floats]:
    """Which frames seem to be stuck (see `second_looks`), and the mean squares by which markers are missed in each."""
    values = _values(clip, fits.reports)
    seen = values[values > 0.0]
    usual = max(float(np.median(seen)) if len(seen) else 0.0, LEAST)
    odd = (values > high * usual) | ((fits.reports[:, ENDED] != CONVERGED) & (values > LEAST))
    return odd | (_jammed(clip, fits.q, values) & (values > usual)), values


def _values(clip: Clip, reports: np.ndarray) -> Floats:
    """The mean square by which markers are missed in each frame, whatever number of them was seen; 0 for blind ones."""
    weights = clip.weights.sum(axis=1)
    return np.where(weights > 0.0, 2.0 * value_of(reports) / np.maximum(weights, 1e-300), 0.0)


def at_limits(clip: Clip, q: Floats) -> np.ndarray:
    """Of each posture and coordinate that moves a marker, whether it sits at a limit."""
    figure, chosen = clip.figure, clip.packing.chosen
    lower, upper = figure.lower[chosen], figure.upper[chosen]
    return ((q[..., chosen] <= lower) | (q[..., chosen] >= upper)) & (upper > lower)


def _jammed(clip: Clip, q: Floats, values: Floats) -> np.ndarray:
    """The frames of which a coordinate has come to a limit since when the error has risen."""
    out = np.zeros(len(q), dtype=bool)
    if not clip.limits:
        return out
    at = at_limits(clip, q)
    for column in at[:, at.any(axis=0) & ~at.all(axis=0)].T:
        edges = np.flatnonzero(np.diff(column)) + 1
        for a, b in zip([0, *edges], [*edges, len(q)], strict=True):
            if column[a]:
                around = [values[t] for t in (a - 1, b) if 0 <= t < len(q) and values[t] > 0.0]
                out[a:b] |= values[a:b] > max(RISEN * max(around, default=np.inf), LEAST)
    return out
