"""How far everything that keeps clear is from what it keeps clear of, and where: recomputed in plain NumPy, without kernels.

Every shape is all points within a radius of the hull of some corners: one for a ball, two for a capsule. Of two hulls that are
apart, the nearest points are found as shares of their corners by non-negative least squares, made exact on the corners that
have a share, and checked: no corner of either lies beyond its plane. Of two that meet, the nearest face of all differences of
corners gives the shortest push that parts them, and the two points are those that it presses together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.errors import BadValue
from supple.geometry.distances import shortest_way
from supple.geometry.placements import Floats, frozen
from supple.geometry.polyhedra import bounded, corners_of
from supple.geometry.shapes import Ball, Capsule, Core, Hull, Polytope
from supple.problem.problem import Problem

SAME = 1e-9  # [m] nearer than this hulls are looked at as if they met, and points count as in a plane


class Separation(NamedTuple):
    """A segment, what it keeps clear of, their distance [m], below zero where they overlap, and the nearest point on each."""

    segment: str
    other: str
    distance: float
    point: Floats
    other_point: Floats


class Placed(NamedTuple):
    """A shape in the world: corners and a radius, and a ball around it."""

    corners: Floats
    radius: float
    centre: Floats
    reach: float


def clearances_of(problem: Problem, q: Floats) -> tuple[Separation, ...]:
    """For every segment and what it keeps clear of, the nearest of their bodies; the least distance first."""
    frames = problem.figure.placements(q)
    placed: dict[int, Placed] = {}
    best: dict[tuple[str, str], Separation] = {}

    def at(thing: Any) -> Placed:
        if id(thing) not in placed:
            frame = thing.world if thing.segment is None else frames[thing.segment]
            placed[id(thing)] = _placed(thing.shape, frame)
        return placed[id(thing)]

    for task in problem.clear:
        for bar, other, _ in task.goal.pairs:
            mine, its = (bar, other) if bar.segment is not None else (other, bar)
            names = mine.segment, its.segment or task.goal.name.removeprefix("clear of ")
            a, b = at(mine), at(its)
            known = best.get(names)
            if known is None or np.linalg.norm(a.centre - b.centre) - a.reach - b.reach < known.distance:
                found = between(a.corners, a.radius, b.corners, b.radius)
                if known is None or found[0] < known.distance:
                    best[names] = Separation(*names, found[0], frozen(found[1]), frozen(found[2]))
    return tuple(sorted(best.values(), key=lambda row: row.distance))


def _placed(shape: Any, frame: Floats) -> Placed:
    if isinstance(shape, Ball | Capsule):
        core = Core.of(shape)
        ends = core.at[:3, 3] + np.outer((-core.half, core.half), core.at[:3, 2])
        corners, radius = ends if core.half > 0.0 else ends[:1], core.radius
    else:
        corners = corners_of(bounded(shape) if isinstance(shape, Polytope) else shape)
        radius = shape.radius if isinstance(shape, Hull) else 0.0
    corners = corners @ frame[:3, :3].T + frame[:3, 3]
    centre = corners.mean(axis=0)
    return Placed(corners, radius, centre, float(np.linalg.norm(corners - centre, axis=1).max()) + radius)


def between(P: Floats, p: float, Q: Floats, q: float) -> tuple[float, Floats, Floats]:
    """The signed distance of two hulls with radii, and the nearest point on each."""
    a, b = _nearest(P, Q)
    way = a - b
    length = float(np.linalg.norm(way))
    if length > SAME:
        n = way / length
        return length - p - q, a - p * n, b + q * n
    depth, n, a, b = _meeting(P, Q, a, b)
    return -depth - p - q, a + p * n, b - q * n


def _nearest(P: Floats, Q: Floats) -> tuple[Floats, Floats]:
    """The nearest points of two hulls."""
    from scipy.optimize import nnls

    middle = (P.mean(axis=0) + Q.mean(axis=0)) / 2
    P, Q = P - middle, Q - middle
    size = 100.0 * max(float(np.abs(P).max()), float(np.abs(Q).max()), 1e-3)
    rows = np.zeros((5, len(P) + len(Q)))
    rows[:3, : len(P)], rows[:3, len(P) :] = P.T, -Q.T
    rows[3, : len(P)] = rows[4, len(P) :] = size
    shares = nnls(rows, np.array([0.0, 0.0, 0.0, size, size]))[0]
    i, j = np.flatnonzero(shares[: len(P)] > 1e-12), np.flatnonzero(shares[len(P) :] > 1e-12)
    if len(i) and len(j):
        a, b = _exact(P[i], Q[j])
        v = a - b
        if np.linalg.norm(v) <= SAME or float((P @ v).min() - (Q @ v).max()) >= float(v @ v) - SAME * np.linalg.norm(v):
            return a + middle, b + middle
    a, b = _by_faces(P, Q)
    return a + middle, b + middle


def _exact(P: Floats, Q: Floats) -> tuple[Floats, Floats]:
    """The nearest points of what two sets of points span."""
    ways = np.vstack([P[1:] - P[0], Q[0] - Q[1:]]).T
    t = np.linalg.lstsq(ways, Q[0] - P[0], rcond=1e-12)[0] if ways.size else np.empty(0)
    s, r = t[: len(P) - 1], t[len(P) - 1 :]
    return P[0] + s @ (P[1:] - P[0]), Q[0] + r @ (Q[1:] - Q[0])


def _by_faces(P: Floats, Q: Floats) -> tuple[Floats, Floats]:
    """The same from all faces of the differences."""
    from scipy.spatial import ConvexHull

    faces = ConvexHull((P[:, None] - Q[None]).reshape(-1, 3)).equations
    if (faces[:, 3] <= 0.0).all():
        return _pressed(P, Q, np.zeros(3))
    return _pressed(P, Q, shortest_way(faces[:, :3], -faces[:, 3]))


def _meeting(P: Floats, Q: Floats, a: Floats, b: Floats) -> tuple[float, Floats, Floats, Floats]:
    """How deep two hulls are in each other, the direction in which the first is, and the points that are pressed together."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        faces = ConvexHull((P[:, None] - Q[None]).reshape(-1, 3)).equations
    except (QhullError, ValueError):  # two cores that cross: any way across both will do
        return 0.0, np.linalg.svd(np.vstack([P - P[0], Q - Q[0]]), full_matrices=True)[2][-1], a, b
    k = int(faces[:, 3].argmax())
    n, depth = faces[k, :3], max(0.0, -float(faces[k, 3]))
    far, near = (P @ n).max() - P @ n < SAME, Q @ n - (Q @ n).min() < SAME
    return depth, n, *_pressed(P[far], Q[near], depth * n)


def _pressed(P: Floats, Q: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Points of two hulls that differ by x, which some do."""
    from scipy.optimize import nnls

    rows = np.vstack([np.hstack([P.T, -Q.T]), np.zeros((2, len(P) + len(Q)))])
    rows[3, : len(P)] = rows[4, len(P) :] = 1.0
    shares, left = nnls(rows, np.append(x, (1.0, 1.0)))
    if left > 1e-6:
        raise BadValue("nearest points could not be found: the corners of two bodies are too far from each other")
    return shares[: len(P)] @ P, shares[len(P) :] @ Q
