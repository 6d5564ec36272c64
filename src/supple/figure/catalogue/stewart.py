"""A Stewart–Gough platform: six legs of variable length between a base and a platform, closed by six loops.

The tree is the natural one for both questions that such a machine asks. The platform is a free root, so its pose is six
coordinates; each leg hangs on the base by a universal joint and ends in a slide whose coordinate is the leg's length. A
point loop ties the upper end of each leg to its point of the platform (a ball joint there needs no coordinates).
24 coordinates, 18 loop equations, six degrees of freedom.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.basics.checks import endless, numbers
from supple.errors import BadValue
from supple.figure.catalogue.standing import pointing
from supple.figure.drives import FREE, Pair
from supple.figure.figure import Figure, Loop
from supple.figure.joints import Joint, fixed, free, slide, universal
from supple.geometry.placements import Floats, finite, place, placement
from supple.geometry.shapes import Ball, Body, Capsule

BASE_RADIUS, BASE_GAP = 0.30, np.deg2rad(24.0)  # the base's joints lie in pairs on a circle, a pair this far apart
PLATFORM_RADIUS, PLATFORM_GAP = 0.20, np.deg2rad(30.0)
LENGTHS = (0.40, 0.60)
SWING = np.pi / 4
LEGS = tuple(f"leg{k}" for k in range(1, 7))


def stewart(geometry: Any = None, lengths: Any = None, rest: Any = None, swing: float | None = None) -> Figure:
    """A platform with the joints `geometry` = (base points (6, 3), platform points (6, 3)), metres.

    `lengths` is one pair (shortest, longest) for all legs or six of them. `rest` is the platform's placement in the
    rest posture, a position or a matrix; by default the platform's joints are centred above the base's, unturned, as
    high as makes the legs half extended on average. `swing` limits both hinges of each universal joint about the leg's
    rest direction: π/4 for the default geometry, none for any other. Segments: base, platform, and for each leg
    ``leg1.lower`` and ``leg1.upper``, whose origin is the leg's end; ``leg1.length`` is its length.
    """
    points = _default_points() if geometry is None else _given_points(geometry)
    ranges = _given_lengths(LENGTHS if lengths is None else lengths)
    pose = _default_rest(*points, ranges) if rest is None else placement(rest, "the platform's rest placement")
    if swing is None:
        turn = (-SWING, SWING) if geometry is None else FREE
    else:
        swing = endless(swing, "the legs' swing")
        turn = (-swing, swing)
    parts: list[Joint] = [*fixed("base"), *free("platform", rest=_coordinates(pose))]
    bodies: dict[str, Body] = {}
    loops: list[Loop] = []
    for leg, foot, head, (shortest, longest) in zip(LEGS, *points, ranges, strict=True):
        end = pose[:3, :3] @ head + pose[:3, 3]
        length = float(np.linalg.norm(end - foot))
        if not shortest <= length <= longest:
            raise BadValue(f"{leg} would be {length:.4g} m long at rest, not {shortest} to {longest}: give rest=")
        parts += universal(leg, "base", "xy", pointing(foot, end), (turn, turn), f"{leg}.lower")
        parts += slide(f"{leg}.length", f"{leg}.lower", limits=(shortest, longest), segment=f"{leg}.upper", rest=length)
        loops.append(Loop(leg, f"{leg}.upper", "platform", place(), place(head), point=True))
        bodies |= _leg_bodies(leg, length)
    bodies |= {"base": _plate(points[0]), "platform": _plate(points[1])}
    return Figure("stewart", parts, bodies=bodies, loops=tuple(loops))


def _default_points() -> tuple[Floats, Floats]:
    """Six joints in three pairs on a circle each; a base pair faces the gap between two platform pairs."""
    thirds = np.repeat(np.deg2rad([0.0, 120.0, 240.0]), 2)
    side = np.tile([-0.5, 0.5], 3)
    base = thirds + side * BASE_GAP
    platform = thirds + side * (np.deg2rad(120.0) - PLATFORM_GAP)

    def circle(radius: float, angles: Floats) -> Floats:
        return np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.zeros(6)])

    return circle(BASE_RADIUS, base), circle(PLATFORM_RADIUS, platform)


def _given_points(geometry: Any) -> tuple[Floats, Floats]:
    if not isinstance(geometry, list | tuple | np.ndarray) or not np.iterable(geometry) or len(geometry) != 2:
        raise BadValue("a platform's geometry is a pair of arrays (6, 3): base points and platform points")
    base, platform = geometry
    return finite(base, (6, 3), "the base points"), finite(platform, (6, 3), "the platform points")


def _given_lengths(lengths: Any) -> list[Pair]:
    array = numbers(lengths, "the leg lengths, one pair or six,")
    if array.shape == (2,):
        array = np.tile(array, (6, 1))
    pairs = finite(array, (6, 2), "the leg lengths, one pair or six,")
    for leg, (shortest, longest) in zip(LEGS, pairs.tolist(), strict=True):
        if not 0.0 < shortest < longest:
            raise BadValue(f"the lengths of {leg} must satisfy 0 < shortest < longest, not ({shortest}, {longest})")
    return [(shortest, longest) for shortest, longest in pairs.tolist()]


def _default_rest(base: Floats, platform: Floats, ranges: list[Pair]) -> Floats:
    """Centred above the base at the height where the legs' mean length is the middle of their ranges, by bisection."""
    wanted = float(np.mean(ranges))
    flat, up = base.mean(axis=0) - platform.mean(axis=0), np.array([0.0, 0.0, 1.0])

    def mean_length(height: float) -> float:
        return float(np.linalg.norm(platform + flat + height * up - base, axis=1).mean())

    low, high = 0.0, wanted + float(np.ptp(base[:, 2]) + np.ptp(platform[:, 2]))
    if mean_length(low) >= wanted:
        raise BadValue("the legs are too short to hold the platform above the middle of the base; give rest= yourself")
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if mean_length(middle) < wanted else (low, middle)
    return place(flat + low * up)


def _coordinates(pose: Floats) -> list[float]:
    """The six coordinates of a free joint (order zyx) that stand for this pose."""
    R = pose[:3, :3]
    z, x = np.arctan2(R[1, 0], R[0, 0]), np.arctan2(R[2, 1], R[2, 2])
    y = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    return [*pose[:3, 3].tolist(), float(z), float(y), float(x)]


def _leg_bodies(leg: str, length: float) -> dict[str, Body]:
    """A thick cylinder below, a thin rod above, each a little over half of the rest length."""
    half = 0.55 * length
    return {
        f"{leg}.lower": Body(shapes=(Capsule(0.035 * length, half, place((0, 0, half / 2))),)),
        f"{leg}.upper": Body(shapes=(Capsule(0.020 * length, half, place((0, 0, -half / 2))),)),
    }


def _plate(points: Floats) -> Body:
    """A ring of bars through the joints, and a ball at each of them."""
    size = float(np.linalg.norm(points - points.mean(axis=0), axis=1).max())
    balls = [Ball(tuple(p), 0.08 * size) for p in points.tolist()]
    around = points - points.mean(axis=0)
    ring = points[np.argsort(np.arctan2(around[:, 1], around[:, 0]))]
    bars = []
    for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        length = float(np.linalg.norm(b - a))
        if length > 1e-9:
            bars.append(Capsule(0.05 * size, length, pointing(a, b) @ place((0, 0, length / 2))))
    return Body(shapes=(*balls, *bars))
