"""Whether a tracked motion can be believed: what is wrong with it, where, and what to do about it, one sentence each.

Lengths are judged as shares of the *extent* of the figure's markers, corner to corner in the rest posture. On trials that
are in order markers are missed by 1 % of it on average and the worst one by 4 %.

* A marker that lies at the world's origin in every frame is where files put what was not seen, unless it fits there. Its
  frames count as missing, and the clip is fitted again.
* Samples that cannot be where they were seen are set aside (`outliers`), and so are markers with each other's names
  (`swaps`); the clip is fitted again.
* A person that stands at rest and is upside down in the trial, or lies in it on what is no floor while another axis has
  one, was read with another axis up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.motion.markers import Markers
from supple.motion.tracking.clip import LARGE, Clip, errors_of, extent_of, mean_squares, stretch
from supple.motion.tracking.frame_runs import Fits
from supple.motion.tracking.refitting import Refitting

if TYPE_CHECKING:
    from supple.motion.tracking.outliers import Swap

MISSED, OFF = 0.04, 0.08  # the most that markers are missed by on average, and a single one, as shares of the extent
SAMPLE, FEW = 16, 4  # frames in which turns are tried, and markers that are off by themselves
TURNS = {  # what a trial looks like that was read with another axis up, and how to put it right
    "upside down": np.diag([1.0, -1.0, -1.0]),
    "lying, with y up": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "lying, with y down": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "lying, with x up": np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    "lying, with x down": np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
}
ORIGIN = 1e-9  # [m]
FLOOR = (-0.1, 0.35)  # where the lowest marker of somebody on the floor is [m]


def without_origin(clip: Clip, q: Floats) -> tuple[Clip, list[str]]:
    """The clip without markers that lie at the origin in every frame and do not fit there, and a sentence about each."""
    counts = clip.weights > 0.0
    at_origin = (np.abs(clip.positions).max(axis=2) <= ORIGIN) | ~counts
    still = [k for k in np.flatnonzero(at_origin.all(axis=0) & counts.any(axis=0)) if k not in clip.exact]
    if not still:
        return clip, []
    off, extent = mean_squares(errors_of(clip, q)), extent_of(clip)
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


class Sorted(NamedTuple):
    """A clip without what cannot be right, its fits, what was exchanged in it, and what is to be told of it."""

    clip: Clip
    fits: Fits
    swaps: list[Swap]
    problems: list[str]
    notes: list[str]


def sorted_out(clip: Clip, fits: Fits, refit: Refitting) -> Sorted:
    """The clip with samples set aside that cannot be right; the same clip and fits if there are none."""
    clip, problems = without_origin(clip, fits.q)
    fits = refit.whole(clip) if problems else fits
    errors = errors_of(clip, fits.q)
    turned = _upside_down(clip, fits.q) or _fits_turned(clip, fits.q, errors, refit)
    if turned:
        return Sorted(clip, fits, [], problems + turned, [])
    if not np.fmax.reduce(errors, axis=None) > LARGE * extent_of(clip):
        return Sorted(clip, fits, [], problems, [])
    return _set_aside(Sorted(clip, fits, [], problems, []), errors, refit)


def _set_aside(found: Sorted, errors: Floats, refit: Refitting) -> Sorted:
    """The same without odd samples and without markers that have each other's names, where some are missed by much."""
    from supple.motion.tracking.outliers import odd_samples, told_aside, told_swap
    from supple.motion.tracking.swaps import find_swaps

    clip, fits, problems = found.clip, found.fits, found.problems
    aside = odd_samples(clip, fits.q, errors)
    told, notes = told_aside(clip, aside)
    if aside.samples.any():
        clip = _less(clip, aside.samples)
        fits = refit.part(clip, fits, aside.q, np.flatnonzero(aside.samples.any(axis=1)))
        errors = errors_of(clip, fits.q)
    swaps = find_swaps(clip, errors, refit.postures)
    for swap in swaps:
        samples = np.zeros(clip.weights.shape, dtype=bool)
        samples[:, list(swap.markers)] = swap.frames[:, None]
        clip = _less(clip, samples)
    fits = refit.whole(clip) if swaps else fits
    problems = problems + told + [told_swap(clip, swap) for swap in swaps]
    return Sorted(clip, fits, aside.swaps + swaps, problems, notes)


def _less(clip: Clip, samples: np.ndarray) -> Clip:
    return replace(clip, weights=np.where(samples, 0.0, clip.weights))


def problems_of(out: Sorted, errors: Floats) -> list[str]:
    """What is wrong with the postures of a clip that is sorted out, by how far they miss its markers."""
    swapped = {k for swap in out.swaps for k in swap.markers}
    told = [] if any("up=" in problem for problem in out.problems) else _missed(out.clip, errors, swapped)
    return [*out.problems, *told]


# ── the whole ────────────────────────────────────────────────────────────────────────────────────────────────────────
def _missed(clip: Clip, errors: Floats, swapped: set[int]) -> list[str]:
    """Whether markers are far from where they should be: one of them, some frames, or all."""
    extent = extent_of(clip)
    rms = mean_squares(errors)
    off = [int(k) for k in np.flatnonzero(np.nan_to_num(rms) > OFF * extent) if k not in swapped]
    told = [
        f"Marker {clip.names[k]!r} is missed by {1e3 * rms[k]:.0f} mm on average: is it another one, or fixed elsewhere? "
        f"Rename it, move it by with_markers, or leave it out by weights={{{clip.names[k]!r}: 0}}."
        for k in (off if len(off) <= FEW else ())
    ]
    by_frame = mean_squares(errors.T)
    bad = np.nan_to_num(by_frame) > MISSED * extent
    if bad.any() and not told and not swapped:
        missed = 1e3 * float(np.sqrt(np.mean(by_frame[bad] ** 2)))
        told.append(
            f"Markers are missed by {missed:.0f} mm {stretch(bad, len(bad))}: is the figure of the right size (fit_subject), "
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


def _fits_turned(clip: Clip, q: Floats, errors: Floats, refit: Refitting) -> list[str]:
    """Whether a clip that does not fit would if another axis were up: limits may keep a figure from following it."""
    by_frame = mean_squares(errors.T)
    bad = np.flatnonzero(np.nan_to_num(by_frame) > MISSED * extent_of(clip))
    if len(bad) < 0.5 * len(q):
        return []
    frames = bad[np.unique(np.linspace(0, len(bad) - 1, SAMPLE).astype(int))]
    part = replace(clip, positions=clip.positions[frames], weights=clip.weights[frames], progress=lambda _: None)
    after = {}
    for how, R in TURNS.items():
        other = replace(part, positions=part.positions @ R.T)
        after[how] = float(np.nansum(errors_of(other, refit.postures(other)) ** 2))
    best = min(after, key=lambda how: after[how])
    if after[best] > 0.25 * float(np.nansum(errors_of(part, q[frames]) ** 2)):
        return []
    return [f"The trial fits far better if it is turned: it seems to be {best}. Say up= when it is read."]


def _has_floor(clip: Clip, axis: int, sign: float) -> bool:
    """Whether in most frames the lowest marker, seen along an axis, is near zero."""
    heights = np.where(clip.weights > 0.0, sign * clip.positions[:, :, axis], np.inf).min(axis=1)
    return bool(((heights > FLOOR[0]) & (heights < FLOOR[1])).mean() > 0.9)


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
