"""Jumps and jolts taken slowly.

**Jumps.** Where a coordinate jumps, because a shoulder has reached the end of its range and the way on leads round the
other side, the frames around are fitted again near to the postures' averages over a while, so that the change takes as
long as it needs. So it is where the speed of a coordinate changes suddenly.

**Jolts.** Where a lock or a floor comes or goes that the target can only hold with its whole body elsewhere, the body
jolts. There points of the pelvis are drawn to the averages of their own ways, as strongly as it takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from supple.geometry.placements import Floats
from supple.motion.retargeting.stars import Mark, fixed
from supple.motion.tracking.clip import Clip
from supple.motion.tracking.frame_runs import run

if TYPE_CHECKING:
    from supple.motion.retargeting.frames import Follower

FASTEST = 20.0  # what no coordinate exceeds without being slowed down, or its own speed limit if lower [rad/s, m/s]
SUDDEN, JOLT = (
    400.0,
    40.0,
)  # changes of speed that are taken slowly too: of coordinates [rad/s², m/s²], of the pelvis [m/s²]
SLOWLY, HARDER, TRIES = 0.3, 4.0, 4  # weight of the averages where a coordinate jumps, how it grows, and how often
CALM, CALMER = 60.0, 2.0  # weight of the pelvis on its averages [1/m²], and how it grows
AVERAGED = 0.15  # seconds on either side over which they are taken
ARM = 0.4  # [m] from the hips to the other points of the pelvis


def slowed(follower: Follower, Q: Floats) -> Floats:
    """The postures with jumps and jolts taken slowly, more and more so until there are none."""
    weight, reach, fastest = SLOWLY, max(2, round(AVERAGED / follower.step)), follower.fastest
    limited = np.isfinite(fastest)
    clip = follower.grounded if follower.spots else follower.plain
    for _ in range(TRIES):
        jumps = np.flatnonzero((np.abs(np.diff(Q, axis=0)) > fastest).any(axis=1))
        if not len(jumps) or follower.stop.asked:
            break
        Q, weight = _near_averages(follower, clip, Q, jumps, weight), HARDER * weight
        fastest = np.where(
            limited, FASTEST * follower.step, np.inf
        )  # what only passes its own speed limit does so once
    weight, calm = SLOWLY, CALM
    for _ in range(TRIES):
        marks = _pelvis(follower)
        ways = _ways(follower, Q, marks)
        jolts = _sudden(ways, JOLT * follower.step**2)
        sudden = (np.abs(np.diff(Q, n=2, axis=0)) > SUDDEN * follower.step**2) & limited
        frames = np.flatnonzero(sudden.any(axis=1) | jolts) + 1
        if not len(frames) or follower.stop.asked:
            break
        own = clip
        if jolts.any():
            near = _fading(len(Q), np.flatnonzero(jolts) + 1, reach)
            drawn = [
                m._replace(places=averaged(w, reach), weights=calm * near) for m, w in zip(marks, ways, strict=True)
            ]
            own = follower.clip_with(drawn)
        Q = _near_averages(follower, own, Q, frames, weight)
        weight, calm = HARDER * weight, CALMER * calm
    return Q


def _fading(count: int, frames: np.ndarray, reach: int) -> Floats:
    """Weights that are 1 at some frames and fade away from there (count,)."""
    away = np.abs(np.arange(count)[:, None] - frames[None]).min(axis=1) / (0.7 * reach)
    return np.exp(-0.5 * away**2)


def _pelvis(follower: Follower) -> list[Mark]:
    """Points of the pelvis: between the hips, in front of it and beside it."""
    wishes, none = follower.wishes, np.zeros(0)
    pair = wishes.alignment.of("pelvis") or wishes.alignment.pairs[0]
    anatomy = wishes.alignment.target.anatomy
    middle = anatomy.origin[pair.target] if wishes.hips is None else wishes.hips[0]
    points = [middle, middle + ARM * anatomy.axes[:, 0], middle + ARM * anatomy.axes[:, 1]]
    rest = anatomy.rest[pair.target]
    return [Mark(f"pelvis {k}", fixed(pair.target, rest, at), none, none) for k, at in enumerate(points)]


def _ways(follower: Follower, Q: Floats, marks: list[Mark]) -> list[Floats]:
    """Where the points of marks go (frames, 3)."""
    T = follower.figure.placement(Q, marks[0].point.segment)
    return [T[:, :3, :3] @ np.array(mark.point.offset) + T[:, :3, 3] for mark in marks]


def _sudden(ways: list[Floats], most: float) -> np.ndarray:
    """Between which frames, but the ends, a way changes its speed by more than so much from frame to frame."""
    return np.any([np.linalg.norm(np.diff(way, n=2, axis=0), axis=1) > most for way in ways], axis=0)


def _near_averages(follower: Follower, clip: Clip, Q: Floats, jumps: np.ndarray, weight: float) -> Floats:
    """The frames around jumps fitted again near to averages, with weights that fade away from there."""
    reach = max(2, round(AVERAGED / follower.step))
    concerned = np.unique(np.clip((jumps[:, None] + np.arange(-2 * reach, 2 * reach + 2)).ravel(), 0, len(Q) - 1))
    near, smooth = np.repeat(clip.near[None], len(concerned), axis=0), averaged(Q, reach)[concerned]
    away = np.abs(concerned[:, None] - jumps[None] - 0.5).min(axis=1) / (0.7 * reach)
    moving = (near[:, 0] > 0.0) & np.isfinite(follower.fastest)  # averages of angles that go round and round are none
    more = moving * (weight * np.exp(-0.5 * away**2))[:, None]
    near[:, 0] += more
    near[:, 1] += more / near[:, 0].clip(1e-12) * (smooth - near[:, 1])
    start, out = np.where(moving, smooth, Q[concerned]), Q.copy()
    out[concerned] = run(clip, concerned, start, follower.settings, chained=False, near=near).q
    return out


def averaged(Q: Floats, reach: int) -> Floats:
    """Averages over `reach` frames on either side, with weights that fall off like a triangle."""
    weights = 1.0 + reach - np.abs(np.arange(-reach, reach + 1))
    padded = np.pad(Q, ((reach, reach), (0, 0)), mode="edge")
    total = sum(w * padded[k : k + len(Q)] for k, w in enumerate(weights))
    return np.asarray(total / weights.sum(), dtype=np.float64)
