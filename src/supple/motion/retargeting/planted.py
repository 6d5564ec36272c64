"""When feet stand: planted phases of the source's heels and balls, and the ground that they stand on.

The ankle stands for the heel, the root of the toes for the ball. A point is a candidate where it is slow; through the
candidates that are low goes the ground: a plane ``z = h + b x + c y`` with one h for ankles and one for balls,
because captured floors are seldom level; the slopes only where the feet have gone far enough to tell them. A plane on
which balls are higher than ankles was not stood on; then heights are those that the lowest twentieth is below. A point is
planted from when it is slower than `SLOW` and lower than `LOW` above its ground, until it is faster than `FAST` or
higher than `HIGH`, or lifted by `RISE` above where it stood. Phases that are too short are dropped, gaps that are too
short are closed. Lengths are shares of the leg, hip to ankle; speeds are legs a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from supple.geometry.placements import Floats

SLOW, FAST = 0.3, 0.55  # speeds [leg/s]
LOW, HIGH = 0.03, 0.045  # heights [leg]
CANDIDATE = 0.15  # height above the lowest sample below which slow samples tell the ground [leg]
WALKED = 1.5  # how far feet must have gone in a direction to tell the ground's slope along it [leg]
RISE = 0.012  # height above the lower quarter of a phase's own heights at which its point is lifted [leg]
SHORTEST, GAP = 0.06, 0.04  # phases and gaps between them [s]
STILL, HAIR = 0.13, 0.0055  # speed [leg/s] and distance [leg] of what surely stands
WINDOW = 0.02  # speeds are averages over twice this time [s]
TIPPED = np.deg2rad(40.0)  # a foot that is tipped by more lies on its heel alone, or stands on its toes

Phase = tuple[int, int]  # from a frame up to, not including, another


@dataclass(frozen=True, eq=False)
class Ground:
    """The plane under ankles and balls: heights of each, and the slopes (b, c)."""

    heights: tuple[float, float]
    slopes: Floats

    def under(self, points: Floats, kind: int) -> Floats:
        """The ground's height under points (…, 3) of a kind: 0 ankles, 1 balls."""
        return self.heights[kind] + points[..., :2] @ self.slopes


def speeds(points: Floats, times: Floats) -> Floats:
    """The speed of a point (frames, 3), averaged over a short window."""
    if len(times) < 2:
        return np.zeros(len(times))
    reach = max(1, round(WINDOW * (len(times) - 1) / (times[-1] - times[0])))
    k = np.arange(len(times))
    a, b = np.maximum(k - reach, 0), np.minimum(k + reach, len(times) - 1)
    return np.linalg.norm(points[b] - points[a], axis=1) / (times[b] - times[a])


def ground_under(ways: list[tuple[Floats, Floats]], times: Floats, leg: float) -> Ground:
    """The ground from the ways of each foot's ankle and ball (frames, 3); where nobody stood, under which they hardly go."""
    samples, kinds = [], []
    for kind in (0, 1):
        everything = np.concatenate([foot[kind] for foot in ways])
        slow = np.concatenate([speeds(foot[kind], times) for foot in ways]) < SLOW * leg
        low = everything[:, 2] < np.quantile(everything[:, 2], 0.02) + CANDIDATE * leg
        chosen = everything[slow & low] if (slow & low).any() else everything[everything[:, 2].argmin()][None]
        samples.append(chosen)
        kinds += [kind] * len(chosen)
    found = _plane(np.concatenate(samples), np.array(kinds), leg)
    if found.heights[1] <= found.heights[0]:
        return found
    lows = [float(np.quantile(np.concatenate([foot[kind][:, 2] for foot in ways]), 0.05)) for kind in (0, 1)]
    return Ground((lows[0], lows[1]), np.zeros(2))


def _plane(points: Floats, kind: np.ndarray, leg: float) -> Ground:
    """The plane through points of two kinds, without those that lie far from it; sloped only along ways that were walked."""
    keep, heights = np.ones(len(points), dtype=bool), np.zeros(2)
    slopes: Floats = np.zeros(2)
    centre = points[:, :2].mean(axis=0)
    away = points[:, :2] - centre
    axes = np.linalg.eigh(away.T @ away)[1].T[::-1]
    far = [axis for axis in axes if np.ptp(points[:, :2] @ axis) > WALKED * leg]
    along = np.array(far).reshape(-1, 2)
    A = np.column_stack([kind == 0, kind == 1, (points[:, :2] - centre) @ along.T]).astype(float)
    for _ in range(6):
        x = np.linalg.lstsq(A[keep], points[keep, 2], rcond=None)[0]
        slopes = np.asarray(x[2:] @ along, dtype=np.float64)
        heights = x[:2] - slopes @ centre
        off = np.abs(points[:, 2] - A @ x)
        near = off <= max(2.5 * float(np.median(off[keep])), 1e-3 * leg)
        if all(near[kind == k].any() for k in (0, 1)):
            keep = near
    return Ground((float(heights[0]), float(heights[1])), slopes)


def phases(points: Floats, heights: Floats, times: Floats, leg: float) -> list[Phase]:
    """When a point is planted."""
    v = speeds(points, times)
    begins = (v < SLOW * leg) & (heights < LOW * leg)
    stays = (v < FAST * leg) & (heights < HIGH * leg)
    on, planted = False, np.zeros(len(times), dtype=bool)
    for k in range(len(times)):
        on = bool(begins[k] or (on and stays[k]))
        planted[k] = on
    dt = (times[-1] - times[0]) / max(1, len(times) - 1)
    joined = runs(planted)
    for (_, a), (b, _) in pairwise(joined):
        if (b - a) * dt < GAP:
            planted[a:b] = True
    found = [_trimmed(phase, heights, RISE * leg) for phase in runs(planted)]
    return [(a, b) for a, b in found if (b - a) * dt >= SHORTEST or (a == 0 and b == len(times))]


def standing(way: Floats, times: Floats, leg: float) -> list[Phase]:
    """When a point surely stands, whether it was planted or not: slow, as low as it gets, and within a hair of one place."""
    if len(times) < 4:
        return []
    low = way[:, 2] < np.quantile(way[:, 2], 0.05) + RISE * leg
    out = []
    for first, last in runs((speeds(way, times) < STILL * leg) & low):
        a = first
        for k in range(first + 1, last + 1):  # what creeps stands anew
            if k == last or np.linalg.norm(way[k] - way[a]) > HAIR * leg:
                out += [(a, k)] if times[k - 1] - times[a] > SHORTEST else []
                a = k
    return out


def on_one_end(planted: list[list[Phase]], ways: tuple[Floats, Floats], tipped: np.ndarray) -> list[list[Phase]]:
    """The phases of ankle and ball, without those of the upper one while the foot is tipped."""
    upper = (ways[0][:, 2] > ways[1][:, 2]), (ways[0][:, 2] <= ways[1][:, 2])
    return [runs(covered(found, len(tipped)) & ~(tipped & up)) for found, up in zip(planted, upper, strict=True)]


def _trimmed(phase: Phase, heights: Floats, rise: float) -> Phase:
    """A phase without the frames at its ends in which the point is already, or still, lifted."""
    a, b = phase
    down = a + np.flatnonzero(heights[a:b] < np.quantile(heights[a:b], 0.25) + rise)
    return int(down[0]), int(down[-1]) + 1


def runs(mask: np.ndarray) -> list[Phase]:
    """Where a mask is set, as phases."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def either(a: list[Phase], b: list[Phase]) -> list[Phase]:
    """The phases that any of two lists covers, joined where they touch."""
    end = max((last for _, last in (*a, *b)), default=0)
    return runs(covered(a, end) | covered(b, end))


def covered(found: list[Phase], frames: int) -> np.ndarray:
    """Which frames the phases cover."""
    mask = np.zeros(frames, dtype=bool)
    for a, b in found:
        mask[a:b] = True
    return mask
