"""Whether a tracked motion can be believed: what is wrong with it, where, and what to do about it, one sentence each.

Lengths are judged as shares of the *extent* of the figure's markers, corner to corner in the rest posture. On trials that
are in order markers are missed by 1 % of it on average and the worst one by 4 %.

* A marker that lies at the world's origin in every frame is where files put what was not seen, unless it fits there. Its
  frames count as missing, and the clip is fitted again.
* Two markers may have each other's names. Of the worst ones every pair is tried: if the fit of frames that are bad gets
  better by more than half of what the pair was missed by once they are exchanged, they were swapped.
* A person that stands at rest and is upside down in the trial, or lies in it on what is no floor while another axis has
  one, was read with another axis up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.motion.markers import Markers
from supple.motion.tracking.clip import Clip

MISSED, OFF = 0.04, 0.08  # the most that markers are missed by on average, and a single one, as shares of the extent
LARGE, OUTLYING = 0.025, 2.5  # from which share of the extent, and of the markers' median, on a marker may be swapped
SUSPECTS, SAMPLE, LEAST = 6, 16, 0.2  # markers of which pairs are tried, frames in which, and the share that must gain
MOST_SWAPS, FEW = 5, 4  # pairs that are named, and markers that are off by themselves
TURNS = {  # what a trial looks like that was read with another axis up, and how to put it right
    "upside down": np.diag([1.0, -1.0, -1.0]),
    "lying, with y up": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "lying, with y down": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "lying, with x up": np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    "lying, with x down": np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
}
ORIGIN = 1e-9  # [m]
FLOOR = (-0.1, 0.35)  # where the lowest marker of somebody on the floor is [m]
Refit = Callable[[Clip], Floats]  # the postures of a clip


def extent_of(clip: Clip) -> float:
    """From corner to corner of the box around the figure's markers at rest [m]."""
    places = clip.figure.marker_places(clip.figure.rest, clip.names)
    return float(np.linalg.norm(np.ptp(places, axis=0))) or 1.0


def errors_of(clip: Clip, q: Floats) -> Floats:
    """How far each marker is missed (frames, m) [m], NaN where it does not count."""
    off = np.linalg.norm(clip.figure.marker_places(q, clip.names) - clip.positions, axis=2)
    return np.where(clip.weights > 0.0, off, np.nan)


def without_origin(clip: Clip, q: Floats) -> tuple[Clip, list[str]]:
    """The clip without markers that lie at the origin in every frame and do not fit there, and a sentence about each."""
    counts = clip.weights > 0.0
    at_origin = (np.abs(clip.positions).max(axis=2) <= ORIGIN) | ~counts
    still = [k for k in np.flatnonzero(at_origin.all(axis=0) & counts.any(axis=0)) if k not in clip.exact]
    off, extent = _rms(errors_of(clip, q)), extent_of(clip)
    wrong = [int(k) for k in still if off[k] > LARGE * extent]
    if not wrong or len(wrong) == len(clip.names):
        return clip, []
    weights = clip.weights.copy()
    weights[:, wrong] = 0.0
    told = [
        f"Marker {clip.names[k]!r} lies at the origin in every frame and was taken as not seen: "
        f"read the trial with zeros='missing', or leave it out by weights={{{clip.names[k]!r}: 0}}."
        for k in wrong
    ]
    return replace(clip, weights=weights), told


def problems_of(clip: Clip, q: Floats, refit: Refit) -> list[str]:
    """What is wrong with the postures of a clip."""
    turned = _upside_down(clip, q) or _fits_turned(clip, q, refit)
    if turned:
        return turned
    swaps, swapped = _swaps(clip, q, refit)
    return [*swaps, *_missed(clip, q, swapped)]


# ── swapped names ────────────────────────────────────────────────────────────────────────────────────────────────────
def _swaps(clip: Clip, q: Floats, refit: Refit) -> tuple[list[str], set[int]]:
    """A sentence for each pair of markers that fit far better by each other's names, and the markers of such pairs.

    The worst pair comes first; then it is put right, and the rest is looked at again.
    """
    errors, extent = errors_of(clip, q), extent_of(clip)
    told: list[str] = []
    swapped: set[int] = set()
    while len(told) < MOST_SWAPS and (found := _most_swapped(clip, errors, extent, refit)) is not None:
        (i, j), better, mended, clip = found
        if {i, j} & swapped:
            break
        swapped |= {i, j}
        a, b = clip.names[i], clip.names[j]
        told.append(
            f"Markers {a!r} and {b!r} seem to be swapped {_stretch(better, len(q))}: with their names exchanged they fit. "
            f"Exchange them by markers.renamed({{{a!r}: {b!r}, {b!r}: {a!r}}}), or in those frames of its positions."
        )
        errors = mended
    return told, swapped


def _most_swapped(
    clip: Clip, errors: Floats, extent: float, refit: Refit
) -> tuple[tuple[int, int], np.ndarray, Floats, Clip] | None:
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
        other = _exchanged(part, pair, slice(None))
        drop = before - _squares(errors_of(other, refit(other)))
        enough = drop > 0.5 * _squares(errors[frames][:, list(pair)])
        gains.append((float(drop[enough].sum()) if enough.mean() > LEAST else 0.0, pair))
    gain, pair = max(gains)
    if gain <= 0.0:
        return None
    other = replace(_exchanged(clip, pair, slice(None)), progress=lambda _: None)
    anew = errors_of(other, refit(other))
    better = _squares(errors) - _squares(anew) > 0.5 * _squares(errors[:, pair])
    if _squares(anew[better]).sum() >= 0.5 * _squares(errors[better]).sum():
        return None  # other things are wrong, and of single markers nothing is to be learned
    return pair, better, np.where(better[:, None], anew, errors), _exchanged(clip, pair, better)


def _exchanged(clip: Clip, pair: tuple[int, int], frames: Any) -> Clip:
    """The clip with two markers exchanged in some frames."""
    order = np.arange(len(clip.names))
    order[list(pair)] = pair[::-1]
    positions, weights = clip.positions.copy(), clip.weights.copy()
    positions[frames], weights[frames] = positions[frames][:, order], weights[frames][:, order]
    return replace(clip, positions=positions, weights=weights)


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


def _stretch(bad: np.ndarray, frames: int) -> str:
    which = np.flatnonzero(bad)
    if len(which) >= 0.95 * frames:
        return "in the whole clip"
    return f"in {len(which)} of {frames} frames, from frame {which[0]} to {which[-1]}"


# ── the whole ────────────────────────────────────────────────────────────────────────────────────────────────────────
def _missed(clip: Clip, q: Floats, swapped: set[int]) -> list[str]:
    """Whether markers are far from where they should be: one of them, some frames, or all."""
    errors, extent = errors_of(clip, q), extent_of(clip)
    rms = _rms(errors)
    off = [int(k) for k in np.flatnonzero(np.nan_to_num(rms) > OFF * extent) if k not in swapped]
    told = [
        f"Marker {clip.names[k]!r} is missed by {1e3 * rms[k]:.0f} mm on average: is it another one, or fixed elsewhere? "
        f"Rename it, move it by with_markers, or leave it out by weights={{{clip.names[k]!r}: 0}}."
        for k in (off if len(off) <= FEW else ())
    ]
    by_frame = _rms(errors.T)
    bad = np.nan_to_num(by_frame) > MISSED * extent
    if bad.any() and not told and not swapped:
        missed = 1e3 * float(np.sqrt(np.mean(by_frame[bad] ** 2)))
        told.append(
            f"Markers are missed by {missed:.0f} mm {_stretch(bad, len(q))}: is the figure of the right size (fit_subject), "
            "are unit and up axis those of the trial, and are the joints' limits wide enough?"
        )
    return told


def _upside_down(clip: Clip, q: Floats) -> list[str]:
    """Whether somebody who stands at rest is on the head, or lies beside the floor, for most of the clip."""
    figure, rest = clip.figure, clip.figure.marker_places(clip.figure.rest, clip.names)
    size = np.ptp(rest, axis=0)
    root = next((s for s in figure.segments if figure.chain(None, s)), None)
    if root is None or size[2] < 0.6 * size.max():
        return []
    up = figure.placement(q, root)[:, :3, :3] @ figure.placement(figure.rest, root)[:3, :3].T[:, 2]
    mean = up.mean(axis=0)
    if (up[:, 2] < -0.5).mean() > 0.5:
        return [
            f"The figure is upside down in {int((up[:, 2] < -0.5).sum())} of {len(q)} frames: say up= of the trial."
        ]
    axis = int(np.argmax(np.abs(mean)))
    steady = (np.abs(up[:, axis]) > 0.75).mean() > 0.9
    if axis < 2 and steady and _has_floor(clip, axis, np.sign(mean[axis])) and not _has_floor(clip, 2, 1.0):
        return [f"The figure lies, on no floor, in the whole clip, along the axis {'xy'[axis]}: say up= of the trial."]
    return []


def _fits_turned(clip: Clip, q: Floats, refit: Refit) -> list[str]:
    """Whether a clip that does not fit would if another axis were up: limits may keep a figure from following it."""
    by_frame = _rms(errors_of(clip, q).T)
    bad = np.flatnonzero(np.nan_to_num(by_frame) > MISSED * extent_of(clip))
    if len(bad) < 0.5 * len(q):
        return []
    frames = bad[np.unique(np.linspace(0, len(bad) - 1, SAMPLE).astype(int))]
    part = replace(clip, positions=clip.positions[frames], weights=clip.weights[frames], progress=lambda _: None)
    after = {}
    for how, R in TURNS.items():
        other = replace(part, positions=part.positions @ R.T)
        after[how] = float(np.nansum(errors_of(other, refit(other)) ** 2))
    best = min(after, key=lambda how: after[how])
    if after[best] > 0.25 * float(np.nansum(errors_of(part, q[frames]) ** 2)):
        return []
    return [f"The trial fits far better if it is turned: it seems to be {best}. Say up= when it is read."]


def _has_floor(clip: Clip, axis: int, sign: float) -> bool:
    """Whether in most frames the lowest marker, seen along an axis, is near zero."""
    heights = np.where(clip.weights > 0.0, sign * clip.positions[:, :, axis], np.inf).min(axis=1)
    return bool(((heights > FLOOR[0]) & (heights < FLOOR[1])).mean() > 0.9)


def _rms(errors: Floats) -> Floats:
    """Root mean squares of the columns; NaN where nothing was seen."""
    seen = np.isfinite(errors).sum(axis=0)
    return np.where(seen > 0, np.sqrt(np.nansum(errors**2, axis=0) / np.maximum(seen, 1)), np.nan)


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────
def unused_markers(figure: Figure, markers: Markers) -> tuple[list[str], list[str]]:
    """Problems and notes about markers that only the trial or only the figure has."""
    idle = [name for name in markers.names if name not in figure.markers]
    lost = [name for name in figure.markers if name not in markers.names]
    shared = len(figure.markers) - len(lost)
    called = {_bare(name): name for name in lost}
    meant = {name: called[_bare(name)] for name in idle if _bare(name) in called}
    problems, notes = [], []
    if meant:
        pairs = ", ".join(f"{a!r}: {b!r}" for a, b in meant.items())
        problems.append(
            f"Markers of the trial are called a little differently: markers.renamed({{{pairs}}}) lets them count."
        )
    if 2 * shared < min(len(figure.markers), len(markers.names)):
        problems.append(
            f"Only {shared} of the trial's {len(markers.names)} and the figure's {len(figure.markers)} markers have the same "
            "name: rename the others by markers.renamed."
        )
    if idle:
        notes.append(f"Markers of the trial that the figure does not have, not used: {', '.join(idle)}.")
    if lost:
        notes.append(f"Markers of the figure that the trial does not have: {', '.join(lost)}.")
    return problems, notes


def _bare(name: str) -> str:
    """A name without subject, signs and capitals."""
    return "".join(letter for letter in name.rpartition(":")[2].lower() if letter.isalnum())
