"""The room between obstacles as a union of bounded convex polytopes, each grown from a seed.

Two ways to grow: cuboids (`free_space_cuboids`) and polytopes with faces in any direction (`free_space_ellipsoids`). Both are
inside free space: none meets an obstacle, and each holds its seed. **They do not cover all of it.** What does not fit into
any of them may still fit between the obstacles, so that nothing was found in a decomposition proves nothing.

Balls and capsules are seen as polytopes around them, with a side towards each seed; these are larger by up to 5 % of
the radius.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supple.basics.checks import finite, flag, instance, numbers, positive, seeded, whole
from supple.errors import BadValue
from supple.figure.figure import Figure
from supple.geometry.placements import Floats, inverse
from supple.geometry.polyhedra import corners_of, polyhedron_of
from supple.geometry.shapes import Ball, Box, Capsule, Core, Hull, Polytope
from supple.problem.bars import Obstacle, Obstacles
from supple.problem.moving import all_standing
from supple.problem.obstacles import named_obstacles
from supple.problem.regions.cuboids import Convex, inflated_cuboid
from supple.problem.regions.ellipsoids import inflated_polytope

BEYOND = 0.1  # unbounded obstacles are cut off this far [m] outside the bounds
OFF = 1e-5  # a seed is free if it keeps this far [m] off
MOST = 100_000  # seeds
TRIES = 200  # random points for each seed that is asked for
_GRID = np.array(
    [(x, y, z) for x in range(-2, 3) for y in range(-2, 3) for z in range(-2, 3) if x or y or z], dtype=float
)
_AROUND = np.unique((_GRID / np.linalg.norm(_GRID, axis=1, keepdims=True)).round(12), axis=0)


def free_space(
    obstacles: Obstacles, bounds: Box, seeds: Any = 20, *, cuboids: bool = True, seed: int = 0
) -> tuple[Polytope, ...]:
    """Bounded convex polytopes between the obstacles, inside the bounds, each grown from a seed; none is inside another.

    `seeds` are points (n, 3), or a number: so many are drawn at random, reproducibly by `seed`. A seed that is not free is left
    out. With ``cuboids=False`` faces may have any direction. **Infeasibility over a decomposition of free space is no
    certificate**: the polytopes are inside free space and do not cover all of it.
    """
    instance(bounds, Box, "what bounds free space")
    seed, cuboids = seeded(seed), flag(cuboids, "cuboids, whether faces keep to the axes,")
    room = np.array([bounds.lower, bounds.upper])
    bodies = [_body(shape, bounds) for shape in all_standing(named_obstacles(obstacles)).values()]
    near = [
        body for body in bodies if body is not None and (body.box[0] < room[1]).all() and (body.box[1] > room[0]).all()
    ]
    points = _seeds(near, bounds, seeds, seed)
    walls = np.vstack([np.eye(3), -np.eye(3)]), np.concatenate([room[1], -room[0]])
    grown = []
    for point in points:
        seen = [_seen_from(body, point) for body in near]
        if cuboids:
            low, high = inflated_cuboid(seen, room, point)
            grown.append((walls[0], np.concatenate([high, -low])))
        else:
            grown.append(inflated_polytope(seen, walls, point))
    R, p = bounds.at[:3, :3], bounds.at[:3, 3]
    return _outermost([Polytope(C @ R.T, e + C @ R.T @ p) for C, e in grown])


def seeds_about(figure: Figure, q: Any, count: int = 0, radius: float = 0.1, seed: int = 0) -> Floats:
    """The centres of a figure's balls in a posture, then `count` random points within a radius of them: seeds (n, 3)."""
    instance(figure, Figure, "what seeds_about() takes first")
    count, radius, seed = (
        whole(count, "the count of seeds", 0, MOST),
        positive(radius, "the radius of seeds [m]"),
        seeded(seed),
    )
    frames = figure.placements(q)
    cores = [(frames[name], Core.of(bar)) for name, bars in figure.round_bars.items() for bar in bars]
    if not cores:
        raise BadValue(f"figure {figure.name!r} has no solids: give it some by with_spheres or with_capsules")
    rng, centres = np.random.default_rng(seed), np.array([(T @ core.at)[:3, 3] for T, core in cores])
    way = rng.normal(size=(count, 3))
    way *= radius * rng.uniform(size=(count, 1)) ** (1 / 3) / np.linalg.norm(way, axis=1, keepdims=True)
    return np.vstack([centres, centres[rng.integers(len(centres), size=count)] + way])


# ── in the axes of the bounds ────────────────────────────────────────────────────────────────────────────────────────
def _seeds(bodies: Sequence[Convex], bounds: Box, given: Any, seed: int) -> Floats:
    """The given points that are free, or so many random ones, fewer if these are hard to find."""
    if not isinstance(given, int | np.integer) or isinstance(given, bool):
        points = np.atleast_2d(numbers(given, "the seeds, points (n, 3) or how many,"))
        points = (finite(points, (len(points), 3), "the seeds") - bounds.at[:3, 3]) @ bounds.at[:3, :3]
        inside = (points > np.array(bounds.lower) + OFF).all(axis=1) & (points < np.array(bounds.upper) - OFF).all(
            axis=1
        )
        return np.array([x for x in points[inside] if _is_free(bodies, x)]).reshape(-1, 3)
    given = whole(given, "the number of seeds of free space", 1, MOST)
    rng, found = np.random.default_rng(seed), []
    for _ in range(TRIES * int(given)):
        point = rng.uniform(np.add(bounds.lower, OFF), np.subtract(bounds.upper, OFF))
        found += [point] if _is_free(bodies, point) else []
        if len(found) == given:
            break
    return np.array(found).reshape(-1, 3)


def _is_free(bodies: Sequence[Convex], point: Floats) -> bool:
    return all(_apart(body, point) > OFF for body in bodies)


def _apart(body: Convex, point: Floats) -> float:
    """At most the distance of a point from a body, and above 0 exactly if it is outside."""
    if body.radius > 0.0:
        return float(np.linalg.norm(point - _nearest(body, point))) - body.radius
    return float((body.A @ point - body.b).max())


def _nearest(body: Convex, point: Floats) -> Floats:
    """The point of a round body's core, the line between its corners, that is nearest."""
    a, way = body.corners[0], body.corners[-1] - body.corners[0]
    square = float(way @ way)
    return a + (np.clip(way @ (point - a) / square, 0.0, 1.0) * way if square > 0.0 else 0.0)


def _seen_from(body: Convex, point: Floats) -> Convex:
    """A round body with one more side, towards a point outside it."""
    if body.radius == 0.0:
        return body
    near = _nearest(body, point)
    n = (point - near) / np.linalg.norm(point - near)
    return body._replace(A=np.vstack([body.A, n]), b=np.append(body.b, n @ near + body.radius))


def _body(shape: Obstacle, bounds: Box) -> Convex | None:
    """An obstacle in the axes of the bounds; None for a polytope that stays outside them."""
    shape = Polytope.of(shape) if isinstance(shape, Hull) else shape
    at = inverse(bounds.at)
    R, p = at[:3, :3], at[:3, 3]
    if isinstance(shape, Ball | Capsule):
        core = Core.of(shape)
        ends = core.at[:3, 3] + np.outer((-core.half, core.half), core.at[:3, 2])
        corners = (ends if core.half > 0.0 else ends[:1]) @ R.T + p
        return Convex(_AROUND, (corners @ _AROUND.T).max(axis=0) + core.radius, corners, core.radius, False)
    if isinstance(shape, Box):
        turned = Box(shape.lower, shape.upper, at @ shape.at)
        aligned = bool(np.isclose(np.abs(turned.at[:3, :3]).max(axis=0), 1.0, rtol=0.0, atol=1e-12).all())
        return _cut_off(Polytope.of(turned), aligned)
    around = Polytope.of(Box(np.subtract(bounds.lower, BEYOND), np.add(bounds.upper, BEYOND)))  # pyright: ignore[reportArgumentType]
    A, b = shape.A @ R.T, shape.b + shape.A @ R.T @ p
    try:
        return _cut_off(Polytope(np.vstack([A, around.A]), np.concatenate([b, around.b])), False)
    except BadValue:
        return None


def _cut_off(rows: Polytope, aligned: bool) -> Convex:
    """The body of a bounded polytope."""
    found = polyhedron_of(rows)
    return Convex(found.normals, found.offsets, corners_of(rows), 0.0, aligned)


def _outermost(bodies: Sequence[Polytope]) -> tuple[Polytope, ...]:
    """Those that are not inside another, the first of equal ones."""
    corners = [corners_of(body) for body in bodies]
    inside = [[bool((body.b[:, None] + 1e-9 >= body.A @ c.T).all()) for body in bodies] for c in corners]
    return tuple(
        body
        for i, body in enumerate(bodies)
        if not any(inside[i][j] and (not inside[j][i] or j < i) for j in range(len(bodies)) if j != i)
    )
