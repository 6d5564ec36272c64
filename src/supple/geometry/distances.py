"""The distance between a bar and a shape in plain NumPy, computed another way than the kernels do: for audits and tests.

**Outside a polytope** ``A x ≤ b`` the distance of a point p is a least distance programme: ``min |z|`` with ``A z ≤ b − A
p``, solved by non-negative least squares (Lawson & Hanson 1974, chapter 23). Along the core ``p(t) = c + t u`` the
squared distance is convex with the slope ``2 u·(p − x(p))``, x(p) the nearest point, so the nearest t is where this
monotone function changes its sign.

**Where core and polytope meet** it is minus the shortest push that parts them: the least, over the faces' normals and the
directions ``±u × e`` of all edges e, of how far the polytope reaches that way beyond the core's lowest point. Directions
that part them nowhere near give longer pushes, so none has to be left out.

**Between two bodies with corners** it is the distance of the origin to the hull of all differences of their corners: outside
by the same least distance programme, inside to the nearest of its faces.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.errors import BadValue
from supple.geometry.placements import HERE, Floats, inverse, placement
from supple.geometry.polyhedra import Polyhedron, bounded, corners_of, polyhedron_of
from supple.geometry.shapes import Ball, Box, Capsule, Core, Cylinder, Hull, Polytope


def distance_between(
    bar: Ball | Capsule | Box | Cylinder | Hull,
    shape: Ball | Box | Capsule | Cylinder | Polytope | Hull,
    bar_at: Any = HERE,
    shape_at: Any = HERE,
    enough: float = np.inf,
) -> float:
    """The signed distance [m] between the surfaces of two shapes, each in its own placement.

    Below zero they overlap: by the shortest push that parts them, or, for two bars, by how much closer their cores are than
    the sum of their radii. Where two bodies with corners are surely farther apart than `enough`, a lower bound that is
    above it will do.
    """
    A, B = placement(bar_at, "the bar's placement"), placement(shape_at, "the shape's placement")
    return distance_where(bar, shape, A, B, enough)


def distance_where(
    bar: Ball | Capsule | Box | Cylinder | Hull,
    shape: Ball | Box | Capsule | Cylinder | Polytope | Hull,
    A: Floats,
    B: Floats,
    enough: float = np.inf,
) -> float:
    """The same for placements that need no look: those of a figure's segments."""
    if isinstance(bar, Box | Cylinder | Hull):
        if isinstance(shape, Ball | Capsule):
            return distance_where(shape, bar, B, A)
        return _between_corners(bar, shape, A, B, enough)
    if not isinstance(bar, Ball | Capsule):
        raise BadValue(f"the first of two shapes is a Ball, a Capsule, a Box, a Cylinder or a Hull, not {bar!r}")
    core = Core.of(bar)
    at = inverse(B) @ A @ core.at
    c, u = at[:3, 3], at[:3, 2]
    if isinstance(shape, Ball | Capsule):
        other = Core.of(shape)
        halves = np.array([core.half]), np.array([other.half])
        apart = between_cores((c - other.at[:3, 3])[None], u[None], halves[0], other.at[None, :3, 2], halves[1])
        return float(apart[0]) - core.radius - other.radius
    if not isinstance(shape, Box | Cylinder | Polytope | Hull):
        raise BadValue(
            f"distances are known to a Ball, a Box, a Capsule, a Cylinder, a Polytope and a Hull, not to {shape!r}"
        )
    body, radius = polyhedron_of(shape), core.radius + (shape.radius if isinstance(shape, Hull) else 0.0)
    if _meet(body, c, u, core.half):
        return -_push(body, c, u, core.half) - radius
    return _to_polytope(body.normals, body.offsets, c, u, core.half) - radius


def _between_corners(
    a: Box | Cylinder | Hull, b: Box | Cylinder | Polytope | Hull, A: Floats, B: Floats, enough: float
) -> float:
    from scipy.spatial import ConvexHull

    if not isinstance(b, Box | Cylinder | Polytope | Hull):
        raise BadValue(
            f"distances are known to a Ball, a Box, a Capsule, a Cylinder, a Polytope and a Hull, not to {b!r}"
        )
    b = bounded(b) if isinstance(b, Polytope) else b
    radii = sum(body.radius for body in (a, b) if isinstance(body, Hull))
    at = inverse(B) @ A
    ours, theirs = corners_of(a) @ at[:3, :3].T + at[:3, 3], corners_of(b)
    mine, other = polyhedron_of(a), polyhedron_of(b)
    normals = mine.normals @ at[:3, :3].T
    parted = max(
        float(((theirs @ normals.T).min(axis=0) - mine.offsets - normals @ at[:3, 3]).max()),
        float(((ours @ other.normals.T).min(axis=0) - other.offsets).max()),
    )
    if parted - radii > enough:
        return parted - radii
    faces = ConvexHull((ours[:, None] - theirs[None]).reshape(-1, 3)).equations
    if (faces[:, 3] <= 0.0).all():
        return float(faces[:, 3].max()) - radii
    return float(np.linalg.norm(shortest_way(faces[:, :3], -faces[:, 3]))) - radii


def between_cores(r: Floats, u: Floats, h: Floats, e: Floats, g: Floats) -> Floats:
    """The least ``|r + t u − τ e|`` with |t| ≤ h and |τ| ≤ g, for many cores at once (vectors in rows).

    The best of the free minimum, which counts only where it is inside, and of the minima on the four sides.
    """
    b, ru, re = (u * e).sum(axis=-1), (r * u).sum(axis=-1), (r * e).sum(axis=-1)
    across, aside = u - b[:, None] * e, r - re[:, None] * e
    with np.errstate(divide="ignore", invalid="ignore"):
        free = -(across * aside).sum(axis=-1) / (across * across).sum(axis=-1)
    inside = (np.abs(free) <= h) & (np.abs(b * free + re) <= g)
    free = np.where(inside, free, h)
    t = np.stack([free, np.clip(b * g - ru, -h, h), np.clip(-b * g - ru, -h, h), h, -h])
    tau = np.stack([b * free + re, g, -g, b * h + re, re - b * h])
    d = r + t[..., None] * u - np.clip(tau, -g, g)[..., None] * e
    return np.linalg.norm(d, axis=-1).min(axis=0)


def _meet(body: Polyhedron, c: Floats, u: Floats, h: float) -> bool:
    """Whether some point of the core meets every row."""
    low, high = -h, h
    for level, slope in zip(body.normals @ c - body.offsets, body.normals @ u, strict=True):
        if level > abs(slope) * h:
            return False
        if level > -abs(slope) * h:  # the row cuts the core, so the quotient is at most h
            if slope > 0.0:
                high = min(high, -level / slope)
            else:
                low = max(low, -level / slope)
    return low <= high


def _to_polytope(A: Floats, b: Floats, c: Floats, u: Floats, h: float) -> float:
    from scipy.optimize import brentq

    def slope(t: float) -> float:
        return -float(u @ shortest_way(A, b - A @ (c + t * u)))

    t = 0.0
    if h > 0.0:
        if slope(-h) >= 0.0:
            t = -h
        elif slope(h) <= 0.0:
            t = h
        else:
            t = float(brentq(slope, -h, h, xtol=1e-14, rtol=1e-14))  # pyright: ignore[reportArgumentType]
    return float(np.linalg.norm(shortest_way(A, b - A @ (c + t * u))))


def shortest_way(A: Floats, room: Floats) -> Floats:
    """The shortest z with ``A z ≤ room``."""
    from scipy.optimize import nnls

    rows = np.vstack([-A.T, -room])
    y = nnls(rows, np.array([0.0, 0.0, 0.0, 1.0]))[0]
    left = rows @ y - (0.0, 0.0, 0.0, 1.0)
    return -left[:3] / left[3]


def _push(body: Polyhedron, c: Floats, u: Floats, h: float) -> float:
    """The shortest way out for a core that meets the polyhedron."""
    depths = body.offsets - body.normals @ c + h * np.abs(body.normals @ u)
    across = np.cross(u, body.directions)
    length = np.linalg.norm(across, axis=1)
    across = across[length > 1e-10] / length[length > 1e-10, None]
    if h == 0.0 or len(across) == 0:
        return float(depths.min())
    across = np.vstack([across, -across])
    corners, rays = _generators(body)
    reach = (corners @ across.T).max(axis=0) - across @ c
    if len(rays):
        reach = np.where((rays @ across.T > 1e-9).any(axis=0), np.inf, reach)
    return float(min(depths.min(), reach.min()))


def _generators(body: Polyhedron) -> tuple[Floats, Floats]:
    """Points and directions whose sums, weighted by shares and by numbers ≥ 0, make up a polyhedron that has edges."""
    ends = np.isfinite(body.spans)
    corners = [body.points + np.where(ends[:, s], body.spans[:, s], 0.0)[:, None] * body.directions for s in (0, 1)]
    rays = [sign * body.directions[~ends[:, s]] for s, sign in ((0, -1.0), (1, 1.0))]
    once = np.bincount(body.faces.ravel(), minlength=len(body.normals))[body.faces] == 1
    for mine, other in ((0, 1), (1, 0)):  # faces that only one edge ends, a whole line
        n, m = (body.normals[body.faces[once[:, mine], k]] for k in (mine, other))
        rays.append((n * m).sum(axis=1)[:, None] * n - m)
    return np.vstack(corners), np.vstack(rays)
