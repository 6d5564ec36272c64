"""The way of a foot: where the target's foot shall be in every frame, so that what is planted stays planted.

First the foot goes where the source's goes, scaled: its ankle at ``s (x, y)`` and as high above the ankle of a
standing foot as s times the source's is, turned by ``W D``. Then planted phases are made exact. In a *flat* phase,
heel and ball planted at once, the foot lies level and still; its heading and place are averages over the phase, moved
so that a point that is planted before keeps its place. A point that is planted without ever lying flat is locked at
its average place. So every planted phase has one lock on the ground, and locks of one foot agree with its length.

Turns are blended into flat phases within `BLEND` seconds. In frames with a planted point the foot's place follows
from the lock and the turn; in the air the correction runs smoothly from that of the last planted frame to that of the
next. What stands still on one side of a border and moves with the velocity v on the other would jerk: there the
correction begins with ``−v`` and gives that up along ``x (1 − x)²``, so that speeds pass the border smoothly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.geometry.placements import Floats, compose, rotation_vector, turned
from supple.motion.retargeting.anatomy import UP
from supple.motion.retargeting.planted import TIPPED, Phase, covered, runs
from supple.motion.retargeting.rest_alignment import arc, arcs
from supple.motion.retargeting.soles import Sole

BLEND = 0.15  # [s]


@dataclass(frozen=True, eq=False)
class Footing:
    """One foot of the target: its placements (frames, 4, 4), when heel and ball are planted, and where (frames, 3)."""

    sole: Sole
    placements: Floats
    planted: tuple[np.ndarray, np.ndarray]
    locks: tuple[Floats, Floats]


def levelled(turns: Floats, planted: list[list[Phase]]) -> Floats:
    """The turn C to put behind `turns` (frames, 3, 3) so that on average the sole is level while the foot lies flat.

    Frames in which it is tipped by more than `TIPPED` are no flat feet, but toes that carry a dancer.
    """
    flat = covered(planted[0], len(turns)) & covered(planted[1], len(turns))
    normals = np.einsum("kji,j->ki", turns[flat], UP)
    normals = normals[normals[:, 2] > np.cos(TIPPED)]
    return arc(UP, normals.mean(axis=0)) if len(normals) else np.eye(3)


def planned(sole: Sole, turns: Floats, ankles: Floats, planted: list[list[Phase]], times: Floats) -> Footing:
    """The footing of a foot that has turned by `turns` from its rest, with its ankle at `ankles` (frames, 3)."""
    frames = len(times)
    R = turns @ sole.rest[:3, :3]
    heel, ball, ankle = (sole.in_foot(point) for point in (sole.heel, sole.ball, sole.ankle))
    origins = ankles - R @ ankle
    masks = covered(planted[0], frames), covered(planted[1], frames)
    flats = runs(masks[0] & masks[1])
    level = [_level(R[a:b], origins[a:b], sole) for a, b in flats]
    locks = _locks((heel, ball), R, origins, planted, flats, level)
    R = _blended(R, flats, [T[:3, :3] for T in level], times)
    R = _not_tipped(R, ball - heel, masks)
    origins = _pinned(R, origins, (heel, ball), masks, locks, times)
    if planted[0] or planted[1]:
        origins = _raised(R, origins, sole, masks)
    T = np.zeros((frames, 4, 4))
    T[:, :3, :3], T[:, :3, 3], T[:, 3, 3] = R, origins, 1.0
    return Footing(sole, T, masks, locks)


def _not_tipped(R: Floats, along: Floats, masks: tuple[np.ndarray, ...]) -> Floats:
    """The turns, level where the heel would be below a planted ball or the ball below a planted heel."""
    way = R @ along
    size = float(np.linalg.norm(along))
    if size < 1e-9:
        return R
    tipped = (masks[1] & (way[:, 2] > 0.0)) | (masks[0] & ~masks[1] & (way[:, 2] < 0.0))
    flat = way * [1.0, 1.0, 0.0]
    k = np.flatnonzero(tipped & (np.linalg.norm(flat, axis=1) > 0.1 * size))
    out = R.copy()
    out[k] = arcs(way[k], flat[k]) @ R[k]
    return out


def flat_toes(toes: Floats, foot: Floats, footing: Footing, times: Floats) -> Floats:
    """The turns `toes` made level, with the heading of the foot, while the ball is planted, and smoothly to there."""
    from scipy.spatial.transform import Rotation

    frames = np.flatnonzero(footing.planted[1])
    if not len(frames):
        return toes
    after = frames[np.clip(np.searchsorted(frames, np.arange(len(times))), 0, len(frames) - 1)]
    before = frames[np.clip(np.searchsorted(frames, np.arange(len(times)), side="right") - 1, 0, len(frames) - 1)]
    away = np.minimum(np.abs(times[after] - times), np.abs(times - times[before]))
    heading = foot @ footing.sole.forward
    begin = footing.sole.forward
    angle = np.arctan2(heading[:, 1], heading[:, 0]) - np.arctan2(begin[1], begin[0])
    level = Rotation.from_rotvec(np.outer(angle, UP)).as_matrix()
    turn = Rotation.from_matrix(level @ np.swapaxes(toes, 1, 2)).as_rotvec()
    return Rotation.from_rotvec(_eased(1.0 - away / BLEND)[:, None] * turn).as_matrix() @ toes


def _raised(R: Floats, origins: Floats, sole: Sole, masks: tuple[np.ndarray, ...]) -> Floats:
    """The origins so high that no spot of a foot in the air is below the ground."""
    spots = [(spot.centre, spot.radius) for spot in sole.spots if spot.segment == sole.foot]
    points = [*spots, (sole.in_foot(sole.heel), 0.0), (sole.in_foot(sole.ball), 0.0)]
    low = np.min([R[:, 2] @ at + origins[:, 2] - radius for at, radius in points], axis=0)
    lift = np.where(masks[0] | masks[1], 0.0, np.maximum(0.0, -low))
    return origins + np.outer(lift, UP)


def _level(R: Floats, origins: Floats, sole: Sole) -> Floats:
    """The level placement nearest to those of a flat phase."""
    forward = sole.rest[:3, :3].T @ sole.forward
    heading = (R @ forward).mean(axis=0)
    heading[2] = 0.0
    turn = arc(sole.forward, heading) if np.linalg.norm(heading) > 1e-9 else np.eye(3)
    place = origins.mean(axis=0)
    place[2] = sole.rest[2, 3] - (sole.ankle[2] - sole.height)
    return compose(turn @ sole.rest[:3, :3], place)


def _locks(
    points: tuple[Floats, Floats],
    R: Floats,
    origins: Floats,
    planted: list[list[Phase]],
    flats: list[Phase],
    level: list[Floats],
) -> tuple[Floats, Floats]:
    """Where heel and ball are planted, frame by frame (NaN where not); a level foot is moved so that locks agree."""
    locks = np.full((2, len(R), 3), np.nan)
    for (a, b), T in zip(flats, level, strict=True):
        turn, origin = T[:3, :3], T[:3, 3]
        for kind in (1, 0):
            if not np.isnan(locks[kind, a, 0]):
                origin = locks[kind, a] - turn @ points[kind]
                break
        for kind in (0, 1):
            first, last = next(phase for phase in planted[kind] if phase[0] <= a and b <= phase[1])
            locks[kind, first:last] = turn @ points[kind] + origin
    for kind in (0, 1):
        for a, b in planted[kind]:
            if np.isnan(locks[kind, a, 0]):
                locks[kind, a:b] = (R[a:b] @ points[kind] + origins[a:b]).mean(axis=0) * [1.0, 1.0, 0.0]
    return locks[0], locks[1]


def _eased(x: Floats) -> Floats:
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)


def _bump(seconds: Floats, room: Floats | float = np.inf) -> Floats:
    """A correction [s] that begins with slope one and is gone after `BLEND` seconds, or half of the room there is."""
    end = np.maximum(np.minimum(BLEND, 0.5 * room), 1e-9)
    x = np.clip(seconds / end, 0.0, 1.0)
    return end * x * (1.0 - x) ** 2


def _blended(R: Floats, flats: list[Phase], level: list[Floats], times: Floats) -> Floats:
    """The turns with flat phases made level, and the way there made smooth."""
    out, frames = R.copy(), np.arange(len(R))
    correction, weight = np.zeros((len(R), 3)), np.zeros(len(R))
    for (a, b), turn in zip(flats, level, strict=True):
        nearest = np.clip(frames, a, b - 1)
        away = np.abs(times - times[nearest])
        share = _eased(1.0 - away / BLEND)
        for k in np.flatnonzero((share > 0.0) & (frames != nearest)):
            still = _bump(away[k]) * _spin(R, times, int(nearest[k]), 1 if k > nearest[k] else -1)
            correction[k] += share[k] * rotation_vector(turn @ R[nearest[k]].T) - still
            weight[k] += share[k]
        out[a:b] = turn
    for k in np.flatnonzero(weight > 0.0):
        if not any(a <= k < b for a, b in flats):
            vector = correction[k] / max(1.0, weight[k])
            angle = float(np.linalg.norm(vector))
            out[k] = turned((vector / angle).tolist(), angle) @ R[k] if angle > 1e-12 else R[k]
    return out


def _spin(R: Floats, times: Floats, k: int, way: int) -> Floats:
    """How fast R turns from frame k on, forwards or backwards in time."""
    other = k + way
    if not 0 <= other < len(R):
        return np.zeros(3)
    return rotation_vector(R[other] @ R[k].T) / abs(times[other] - times[k])


def _pinned(
    R: Floats,
    origins: Floats,
    points: tuple[Floats, Floats],
    masks: tuple[np.ndarray, ...],
    locks: tuple[Floats, ...],
    times: Floats,
) -> Floats:
    """The origins with planted points at their locks, and the correction carried smoothly through the air."""
    correction = np.full_like(origins, np.nan)
    for kind in (0, 1):  # where both are planted the foot is level, and both say the same
        on = masks[kind]
        correction[on] = locks[kind][on] - R[on] @ points[kind] - origins[on]
    known = np.flatnonzero(~np.isnan(correction[:, 0]))
    if not len(known):
        return origins
    frames = np.arange(len(R))
    after = np.clip(np.searchsorted(known, frames), 0, len(known) - 1)
    before = np.clip(np.searchsorted(known, frames, side="right") - 1, 0, len(known) - 1)
    a, b = known[before], known[after]
    share = _eased((frames - a) / np.maximum(1, b - a))[:, None]
    out = origins + (1.0 - share) * correction[a] + share * correction[b]
    slopes = _slopes(origins + correction, origins, times)
    room = np.where(b > a, times[b] - times[a], np.inf)
    for border, way in ((a, 1), (b, -1)):
        away = np.where((frames - border) * way > 0, np.abs(times - times[border]), 0.0)
        out += _bump(away, room)[:, None] * slopes[way][border]
    return out


def _slopes(pinned: Floats, origins: Floats, times: Floats) -> dict[int, Floats]:
    """For borders of planted phases: the velocity inside, less that of the origins outside, forwards (1) and backwards (−1)."""
    out = {1: np.zeros_like(origins), -1: np.zeros_like(origins)}
    for way in (1, -1) if len(times) > 2 else ():
        inside, outside = np.roll(pinned, way, axis=0), np.roll(origins, -way, axis=0)
        dt = np.abs(np.roll(times, -way) - times)[:, None]
        gone = (pinned - inside) / np.abs(np.roll(times, way) - times)[:, None] - (outside - origins) / dt
        out[way] = np.nan_to_num(gone)
        out[way][[0, -1]] = 0.0
    return out
