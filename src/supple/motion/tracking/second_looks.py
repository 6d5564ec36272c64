"""Frames that are stuck, looked at again.

A frame starts where the one before it ended. When an arm goes overhead, or a shoulder through its limits, that start may
lead into a limit with a better posture on the other side of it, and every frame behind it begins there as well. Such frames
show:

* their error is far above that of most frames of the clip (`HIGH`), or
* a coordinate sits at a limit, and the error has risen since it came there (`RISEN`), or
* the fit has not ended by itself.

The worst of them is fitted anew from other sides: from postures all over the limits, as the first frame of the clip was,
and from the posture itself with the limbs that are at a limit turned elsewhere. If one of them is better, the clip is
followed from there, onward and back, for as long as that is better than what was found before, and the first frame that is
not is looked at too. Then comes the next worst, unless one near to it was looked at in vain. So no frame ends worse than
without, and clips without such frames pay for the test alone.
"""

from __future__ import annotations

import numpy as np

from supple.geometry.placements import Floats
from supple.motion.tracking.carrying import evenly, starts
from supple.motion.tracking.clip import Clip
from supple.motion.tracking.frame_runs import HIGH, Fits, at_limits, run, stuck, value_of
from supple.motion.tracking.rig import STEPS

AGAIN = 2.0  # squares of errors that are much, of the clip's median, once a frame was found to be stuck
BETTER, MERGED = 0.99, 0.999  # shares of a value below which another one is better; and it is no longer the same
APART = 5  # frames between two looks in vain
MOST, EVERY = 4, 100  # second looks in vain at a clip: so many, and one more for so many frames
STARTS, TURNED = 24, 24  # postures a frame is fitted from: all over the limits, and with a limb turned elsewhere
LOOK_STEPS, BLOCK = 200, 16  # steps of such a fit; frames that are followed at first before they are compared


def looked_again(clip: Clip, fits: Fits, settings: np.ndarray) -> Fits:
    """The fits of a clip with those frames better that were stuck."""
    tried, ends, beyond = np.zeros(len(fits.q), dtype=bool), np.zeros(len(fits.q), dtype=bool), list[int]()
    most, gained = MOST + len(tried) // EVERY, False
    for _ in range(2 * most + len(tried) // 2):
        if tried.sum() >= most or clip.stop.asked:
            break
        within = not beyond
        frame = _worst(clip, fits, tried, AGAIN if gained else HIGH) if within else beyond.pop()
        if frame is None:
            break
        found = _searched(clip, fits, frame, settings)
        if value_of(found.reports)[0] >= BETTER * value_of(fits.reports)[frame]:
            tried[frame] |= within
            continue
        gained, most = True, most + 1
        for way in (1, -1):
            fits, end = _followed(clip, fits, found.q[0], frame, way, settings)
            if 0 <= end < len(tried) and not ends[end]:
                ends[end] = True
                beyond.append(end)
    return fits


def _worst(clip: Clip, fits: Fits, tried: np.ndarray, high: float) -> int | None:
    """The worst frame that seems stuck, and that nobody has looked at in vain, nor at one near; None if there is none."""
    odd, values = stuck(clip, fits, high)
    for t in np.flatnonzero(tried):
        odd[max(t - APART, 0) : t + APART + 1] = False
    return int(np.argmax(np.where(odd, values, -1.0))) if odd.any() else None


def _searched(clip: Clip, fits: Fits, frame: int, settings: np.ndarray) -> Fits:
    """The best fit of one frame from other sides."""
    begin = np.vstack([starts(clip, frame, STARTS, fits.q[frame]), _turned(clip, fits.q[frame])])
    settings = settings.copy()
    settings[STEPS] = max(LOOK_STEPS, settings[STEPS])
    found = run(clip, np.full(len(begin), frame), begin, settings, chained=False)
    best = [int(np.argmin(value_of(found.reports)))]
    return Fits(found.q[best], found.reports[best])


def _turned(clip: Clip, q: Floats) -> Floats:
    """The posture with the limbs that are at a limit turned elsewhere: all their coordinates, over all their ranges."""
    figure, chosen = clip.figure, clip.packing.chosen
    limb = np.zeros(figure.size, dtype=bool)
    if clip.limits:
        limb[chosen] = _limbs(clip)[at_limits(clip, q)].any(axis=0)
    which = np.flatnonzero(limb & np.isfinite(figure.lower) & np.isfinite(figure.upper))
    if not len(which):
        return np.empty((0, figure.size))
    out = np.repeat(q[None], TURNED, axis=0)
    share = (0.5 + np.arange(1, TURNED + 1)[:, None] * evenly(len(which))) % 1.0
    out[:, which] = figure.lower[which] + share * (figure.upper - figure.lower)[which]
    return out


def _limbs(clip: Clip) -> np.ndarray:
    """Of every two coordinates, whether the second moves the limb that the first is part of.

    A limb begins below the last link from which several hang.
    """
    links, size = clip.packing.links, len(clip.packing.chosen)
    up, several = links.up, np.bincount(links.up[1:], minlength=len(links.up)) > 1
    top = list(range(len(up)))
    for link in range(1, len(up)):
        above = int(up[link])
        top[link] = link if above == 0 or several[above] else top[above]
    owner = np.zeros(size, dtype=int)
    for link in range(1, len(up)):
        owner[links.axis[links.first[link] : links.first[link + 1]]] = top[link]
    carries = np.eye(len(up), dtype=bool)
    for link in range(1, len(up)):
        carries[link] |= carries[up[link]]
    return carries[owner][:, owner].T


def _followed(clip: Clip, fits: Fits, q: Floats, frame: int, way: int, settings: np.ndarray) -> tuple[Fits, int]:
    """The fits with those of the frames from one on, in one direction, that are better when they begin from q there.

    And the first frame that is not.
    """
    Q, reports, block, t = fits.q.copy(), fits.reports.copy(), BLOCK, frame
    old = value_of(reports)
    while 0 <= t < len(Q) and not clip.stop.asked:
        frames = np.arange(t, min(max(t + way * block, -1), len(Q)), way)
        new = run(clip, frames, q, settings)
        worse = np.flatnonzero((value_of(new.reports) >= MERGED * old[frames]) & (frames != frame))
        count = int(worse[0]) if len(worse) else len(frames)
        Q[frames[:count]], reports[frames[:count]] = new.q[:count], new.reports[:count]
        t += way * count
        if count < len(frames):
            break
        q, block = new.q[-1], 2 * block
    return Fits(Q, reports), t
