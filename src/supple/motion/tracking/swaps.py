"""Markers that have each other's names in most of a clip.

Of the worst ones every pair is tried: if the fit of frames that are bad gets better by more than half of what the pair was
missed by once they are exchanged, they were swapped. (Where they are for a while only, `outliers` sees it sooner.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from supple.geometry.placements import Floats
from supple.motion.tracking.clip import LARGE, Clip, errors_of, extent_of
from supple.motion.tracking.outliers import Swap, exchanged

OUTLYING = 2.5  # from which share of the markers' median on a marker may be swapped
SUSPECTS, SAMPLE, LEAST = 6, 16, 0.2  # markers of which pairs are tried, frames in which, and the share that must gain
MOST_SWAPS = 5  # pairs that are found
Refit = Callable[[Clip], Floats]  # the postures of a clip


class Found(NamedTuple):
    """A pair, and errors and clip with it put right."""

    swap: Swap
    errors: Floats
    clip: Clip


def find_swaps(clip: Clip, errors: Floats, refit: Refit) -> list[Swap]:
    """The pairs of markers that fit far better by each other's names.

    The worst pair comes first; then it is put right, and the rest is looked at again.
    """
    extent, swaps = extent_of(clip), list[Swap]()
    taken: set[int] = set()
    while len(swaps) < MOST_SWAPS and (found := _most_swapped(clip, errors, extent, refit)) is not None:
        swap, errors, clip = found
        if taken.intersection(swap.markers):
            break
        taken.update(swap.markers)
        swaps.append(swap)
    return swaps


def _most_swapped(clip: Clip, errors: Floats, extent: float, refit: Refit) -> Found | None:
    """The pair that gains most, in which frames, and errors and clip with those mended; None where no pair gains enough."""
    suspects = [k for k in _suspects(errors, extent) if k not in clip.exact]
    bad = np.flatnonzero(_bad_frames(errors[:, suspects], extent)) if len(suspects) > 1 else np.empty(0, dtype=int)
    if not len(bad):
        return None
    frames = bad[np.unique(np.linspace(0, len(bad) - 1, SAMPLE).astype(int))]
    part = replace(clip, positions=clip.positions[frames], weights=clip.weights[frames], progress=lambda _: None)
    before = np.fmin(_squares(errors[frames]), _squares(errors_of(part, refit(part))))
    gains = []
    for pair in combinations(suspects, 2):
        other = exchanged(part, Swap(pair, np.ones(len(frames), dtype=bool)))
        drop = before - _squares(errors_of(other, refit(other)))
        enough = drop > 0.5 * _squares(errors[frames][:, list(pair)])
        gains.append((float(drop[enough].sum()) if enough.mean() > LEAST else 0.0, pair))
    gain, pair = max(gains)
    if gain <= 0.0:
        return None
    other = replace(exchanged(clip, Swap(pair, np.ones(len(errors), dtype=bool))), progress=lambda _: None)
    anew = errors_of(other, refit(other))
    better = _squares(errors) - _squares(anew) > 0.5 * _squares(errors[:, pair])
    if _squares(anew[better]).sum() >= 0.5 * _squares(errors[better]).sum():
        return None  # other things are wrong, and of single markers nothing is to be learned
    swap = Swap(pair, better)
    return Found(swap, np.where(better[:, None], anew, errors), exchanged(clip, swap))


def _squares(errors: Floats) -> Floats:
    return np.nansum(errors**2, axis=1)


def _suspects(errors: Floats, extent: float) -> list[int]:
    """The markers that are missed by much in the worst tenth of their frames, if some are by far more than the others."""
    high = np.array([np.nanpercentile(e, 90) if np.isfinite(e).any() else 0.0 for e in errors.T])
    usual = float(np.median(high[high > 0.0])) if (high > 0.0).any() else 0.0
    worst = [int(k) for k in np.argsort(-high)[:SUSPECTS] if high[k] > LARGE * extent]
    return sorted(worst) if worst and high[worst[0]] > OUTLYING * usual else []


def _bad_frames(errors: Floats, extent: float) -> np.ndarray:
    """In which frames any of some markers is missed by much."""
    return np.nan_to_num(errors).max(axis=1) > LARGE * extent
