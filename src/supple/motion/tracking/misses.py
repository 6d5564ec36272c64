"""How far markers are missed, and what counts as much: shares of the extent of the figure's markers."""

from __future__ import annotations

import numpy as np

from supple.geometry.placements import Floats
from supple.motion.tracking.clip import Clip

LARGE = 0.025  # of the extent: from here on a marker may be swapped, or no sample at all


def extent_of(clip: Clip) -> float:
    """From corner to corner of the box around the figure's markers at rest [m]."""
    places = clip.figure.marker_places(clip.figure.rest, clip.names)
    return float(np.linalg.norm(np.ptp(places, axis=0))) or 1.0


def errors_of(clip: Clip, q: Floats) -> Floats:
    """How far each marker is missed (frames, m) [m], NaN where it does not count."""
    off = np.linalg.norm(clip.figure.marker_places(q, clip.names) - clip.positions, axis=2)
    return np.where(clip.weights > 0.0, off, np.nan)


def mean_squares(errors: Floats) -> Floats:
    """Root mean squares of the columns; NaN where nothing was seen."""
    seen = np.isfinite(errors).sum(axis=0)
    return np.where(seen > 0, np.sqrt(np.nansum(errors**2, axis=0) / np.maximum(seen, 1)), np.nan)


def stretch(bad: np.ndarray, frames: int) -> str:
    """Which frames, in words."""
    which = np.flatnonzero(bad)
    if len(which) >= 0.95 * frames:
        return "in the whole clip"
    return f"in {len(which)} of {frames} frames, from frame {which[0]} to {which[-1]}"
