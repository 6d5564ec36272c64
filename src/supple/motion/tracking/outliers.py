"""Samples that cannot be where they were seen: spikes, ghosts, zeros, and labels that were exchanged for a while.

A sample is *odd* if it is missed by far more than its marker usually is and by a good share of the figure's extent. One odd
sample draws the posture after it and makes its neighbours look odd. So such frames are fitted anew from the nearest frame that
is in order, with Huber's loss, which sees through a few of them; what is odd there, and still is when it is left out, is set
aside if its marker has jumped there. A frame of which more than a third would be is left as it is: something else is wrong.

Samples of a frame that were set aside and lie each where another one of them belongs had their labels permuted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from supple.geometry.placements import Floats
from supple.motion.tracking.clip import LARGE, Clip, extent_of, stretch
from supple.motion.tracking.frame_by_frame import FrameByFrame
from supple.motion.tracking.frame_runs import run

TIMES, FAR = (
    4.0,
    0.04,
)  # an odd sample is missed by so many times what its marker usually is, and such a share of the extent
SUDDEN = 0.5  # of what an odd sample is missed by: how much of it has come from one frame to the next
MOST = 1 / 3  # of a frame's samples, to set aside
ROUNDS = 3  # times that a frame is fitted and looked at
MANY = 0.02  # of all samples: more is a problem, not a note
STEPS = 100


class Swap(NamedTuple):
    """Markers of a clip, and the frames in which each lies where the next one belongs, the last where the first does."""

    markers: tuple[int, ...]
    frames: np.ndarray  # (frames) of truth values


class Aside(NamedTuple):
    """Samples of a clip to leave out (frames, m), the markers that were exchanged, and postures without these samples."""

    samples: np.ndarray
    swaps: list[Swap]
    q: Floats


def odd_samples(clip: Clip, q: Floats, errors: Floats) -> Aside:
    """What is to be set aside in a clip that was fitted by postures q, which miss its markers by that."""
    extent, none = extent_of(clip), Aside(np.zeros(errors.shape, dtype=bool), [], q)
    if not np.fmax.reduce(errors, axis=None) > LARGE * extent:
        return none
    usual = _usual(errors)
    frames = np.flatnonzero((np.nan_to_num(errors) > np.maximum(TIMES / 2 * usual, LARGE * extent)).any(axis=1))
    good = np.setdiff1d(np.flatnonzero((clip.weights > 0.0).any(axis=1)), frames)
    if not len(frames) or not len(good) or FrameByFrame().refusals(clip):
        return none
    nearest = good[np.abs(good[None] - frames[:, None]).argmin(axis=1)]
    limit = np.maximum(TIMES * usual, FAR * extent)
    odd, fitted = _seen_through(clip, frames, q[nearest], limit, usual)
    out, q = none.samples.copy(), q.copy()
    out[frames], q[frames] = odd, fitted
    out &= _sudden(clip, q, out)
    return Aside(out, _swaps(clip, frames, out[frames], fitted, limit), q)


def _sudden(clip: Clip, q: Floats, odd: np.ndarray) -> np.ndarray:
    """The odd samples of stretches that a marker has jumped into and out of.

    What it slid into is skin, or a figure that does not fit; and where the marker did not jump, the figure did.
    """
    out, last = np.zeros_like(odd), len(odd) - 1
    off = clip.positions - clip.figure.marker_places(q, clip.names) if odd.any() else clip.positions
    for k in np.flatnonzero(odd.any(axis=0)):
        which = np.flatnonzero(odd[:, k])
        for part in np.split(which, np.flatnonzero(np.diff(which) > 1) + 1):
            out[part, k] = True
            for t, other in ((part[0], part[0] - 1), (part[-1], part[-1] + 1)):
                if 0 <= other <= last and clip.weights[other, k] > 0.0:
                    jump = np.linalg.norm(off[t, k] - off[other, k])
                    jump = min(jump, np.linalg.norm(clip.positions[t, k] - clip.positions[other, k]))
                    out[part, k] &= bool(jump > SUDDEN * np.linalg.norm(off[t, k]))
    return out


def _usual(errors: Floats) -> Floats:
    """The median of each marker's errors, at least that of all."""
    seen = np.isfinite(errors).any(axis=0)
    out = np.zeros(errors.shape[1])
    out[seen] = np.nanmedian(errors[:, seen], axis=0)
    return np.maximum(out, np.median(out[seen]))


def _seen_through(
    clip: Clip, frames: np.ndarray, begin: Floats, limit: Floats, usual: Floats
) -> tuple[np.ndarray, Floats]:
    """Of some frames the samples that are odd, and postures without them."""
    part = replace(clip, positions=clip.positions[frames], weights=clip.weights[frames], progress=lambda _: None)
    rows, odd = np.arange(len(frames)), np.zeros(part.weights.shape, dtype=bool)
    first = FrameByFrame(huber=max(float(np.median(usual)), 1e-6)).settings(clip, STEPS)
    q = run(part, rows, begin, first, chained=False).q
    plain = FrameByFrame().settings(clip, STEPS)
    for _ in range(ROUNDS):
        now = np.linalg.norm(part.figure.marker_places(q, part.names) - part.positions, axis=2) > limit
        now &= part.weights > 0.0
        now[:, list(clip.exact)] = False
        now[now.sum(axis=1) > MOST * (part.weights > 0.0).sum(axis=1)] = False
        if (now == odd).all():
            break
        odd = now
        q = run(part, rows, q, plain, chained=False, weights=np.where(odd, 0.0, part.weights)).q
    return odd, q


def _swaps(clip: Clip, frames: np.ndarray, odd: np.ndarray, q: Floats, limit: Floats) -> list[Swap]:
    """The markers that lie where others belong, in frames in which all of them are odd."""
    both = np.flatnonzero(odd.sum(axis=1) > 1)
    found: dict[tuple[int, ...], list[int]] = {}
    places = clip.figure.marker_places(q[both], clip.names) if len(both) else np.empty((0, 0, 3))
    for row, place in zip(both, places, strict=True):
        which, t = np.flatnonzero(odd[row]), int(frames[row])
        off = np.linalg.norm(clip.positions[t, which][:, None] - place[which][None], axis=2)
        for cycle in _cycles(off, limit[which]):
            found.setdefault(tuple(int(which[i]) for i in cycle), []).append(t)
    out = []
    for markers, times in found.items():
        mask = np.zeros(len(clip.positions), dtype=bool)
        mask[times] = True
        out.append(Swap(markers, mask))
    return out


def _cycles(off: Floats, limit: Floats) -> list[tuple[int, ...]]:
    """The rounds of two or more in which each lies nearest to where the next belongs, by their distances (k, k)."""
    there, done, out = off.argmin(axis=1).tolist(), set[int](), []
    for begin in range(len(there)):
        way = [begin]
        while there[way[-1]] not in way:
            way.append(there[way[-1]])
        near = all(off[i, there[i]] < limit[there[i]] for i in way)
        if there[way[-1]] == begin and len(way) > 1 and near and not done & set(way):
            done |= set(way)
            out.append(tuple(way))
    return out


def told_aside(clip: Clip, aside: Aside) -> tuple[list[str], list[str]]:
    """Problems and notes about what was set aside."""
    problems = [told_swap(clip, swap) for swap in aside.swaps]
    rest = aside.samples.copy()
    for swap in aside.swaps:
        rest[:, list(swap.markers)] &= ~swap.frames[:, None]
    counts = rest.sum(axis=0)
    notes = []
    if counts.any():
        worst = [f"{clip.names[k]!r} {counts[k]}" for k in np.argsort(-counts, kind="stable")[:6] if counts[k]]
        sentence = (
            f"{counts.sum()} samples cannot be where they were seen and were set aside, by marker: {', '.join(worst)}"
            f"{', …' if (counts > 0).sum() > 6 else ''} ({stretch(np.any(rest, axis=1), len(rest))})."
        )
        many = counts.sum() > MANY * (clip.weights > 0.0).sum()
        (problems if many else notes).append(sentence + (" Label the trial anew." if many else ""))
    return problems, notes


def told_swap(clip: Clip, swap: Swap) -> str:
    """A sentence about markers with each other's names."""
    names = [clip.names[k] for k in swap.markers]
    when = stretch(swap.frames, len(swap.frames))
    when = f"from frame 0 on, {when}," if swap.frames[0] and "whole" in when else when
    pairs = ", ".join(f"{a!r}: {b!r}" for a, b in zip(names, names[1:] + names[:1], strict=True))
    return (
        f"Markers {', '.join(map(repr, names[:-1]))} and {names[-1]!r} look {'swapped' if len(names) == 2 else 'permuted'} "
        f"{when} and were set aside there. Put them right by supple.motion.relabelled(figure, markers), or by "
        f"markers.renamed({{{pairs}}}) if the whole trial is meant."
    )


def exchanged(clip: Clip, swap: Swap) -> Clip:
    """The clip with the labels of some markers put right in some frames."""
    order = put_right(len(clip.names), swap)
    positions, weights = clip.positions.copy(), clip.weights.copy()
    positions[swap.frames] = positions[swap.frames][:, order]
    weights[swap.frames] = weights[swap.frames][:, order]
    return replace(clip, positions=positions, weights=weights)


def put_right(count: int, swap: Swap) -> np.ndarray:
    """For each of `count` markers, the one under whose label it is found."""
    order = np.arange(count)
    order[list(swap.markers[1:] + swap.markers[:1])] = swap.markers
    return order
