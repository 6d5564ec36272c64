"""Polytopes about points, with faces in any direction, grown together with the largest ellipsoid inside them.

An ellipsoid ``{L u + d: |u| ≤ 1}``, L lower triangular, begins as a small ball about the point. In turns:

* **Planes.** Of every obstacle O the point nearest to the ellipsoid, in its own measure, is ``x = d + L z`` with the shortest z
  such that ``A(d + L z) ≤ b``. The plane through x that touches the grown ellipsoid there has the normal ``n = L⁻ᵀ z``, and the
  obstacle is beyond it: ``n·y ≥ n·x`` for all y in O. Obstacles are taken in the order of their distance, and those that lie
  beyond a plane that is there already add none. With the walls of the bounds the planes make a free polytope ``C x ≤ e``.
* **Ellipsoid.** The largest in it: ``max (L₁₁ L₂₂ L₃₃)^⅓`` with ``|Lᵀ c_i| + c_i·d ≤ e_i``, a conic programme of ten unknowns.

It ends when the volume grows by less than a fiftieth, or before the polytope would lose its point.
"""

from __future__ import annotations

import numpy as np

from supple.errors import needed
from supple.geometry.distances import shortest_way
from supple.geometry.placements import Floats
from supple.problem.regions.cuboids import SAFE, Convex

ROUNDS, GROWTH = 12, 1.02
SEED = 1e-3  # radius [m] of the first ellipsoid
LOWER = np.tril_indices(3)


def inflated_polytope(bodies: list[Convex], walls: tuple[Floats, Floats], point: Floats) -> tuple[Floats, Floats]:
    """Rows ``C x ≤ e`` of unit length of a free polytope about a point that is free, inside the walls."""
    best, volume = _cut(bodies, walls, SEED * np.eye(3), point), 0.0
    for _ in range(ROUNDS):
        L, d = largest_ellipsoid(*best)
        size = float(np.prod(np.diag(L)))
        if not size > GROWTH * volume:
            break
        volume = size
        C, e = _cut(bodies, walls, L, d)
        if (C @ point > e).any():
            break
        best = (C, e)
    return best


def _cut(bodies: list[Convex], walls: tuple[Floats, Floats], L: Floats, d: Floats) -> tuple[Floats, Floats]:
    """The walls, and planes that part an ellipsoid from every body."""
    normals, levels = np.empty((0, 3)), np.empty(0)
    ways = [shortest_way(body.A @ L, body.b - body.A @ d) for body in bodies]
    for k in np.argsort([np.linalg.norm(way) for way in ways]):
        if (bodies[k].lowest(normals) >= levels + SAFE).any():
            continue
        n = np.linalg.solve(L.T, ways[k])
        n /= np.linalg.norm(n)
        normals = np.vstack([normals, n])
        levels = np.append(levels, bodies[k].lowest(n[None])[0] - SAFE)
    return np.vstack([walls[0], normals]), np.append(walls[1], levels)


def largest_ellipsoid(C: Floats, e: Floats) -> tuple[Floats, Floats]:
    """L and d of the ellipsoid of greatest volume in the bounded polytope ``C x ≤ e``; L is 0 if it is not found."""
    clarabel = needed("clarabel", "clarabel", "convex", "growing polytopes in free space")
    from scipy.sparse import csc_matrix

    m = len(e)
    rows, right = np.zeros((4 * m + 4, 10)), np.zeros(4 * m + 4)  # unknowns: L by rows, d, the mean of the diagonal
    for k, (i, j) in enumerate(zip(*LOWER, strict=True)):
        rows[1 + j : 4 * m : 4, k] = -C[:, i]
    rows[0 : 4 * m : 4, 6:9], right[0 : 4 * m : 4] = C, e
    rows[4 * m + np.arange(3), [0, 2, 5]] = rows[4 * m + 3, 9] = -1.0
    cones = [clarabel.SecondOrderConeT(4)] * m + [clarabel.GenPowerConeT([1 / 3, 1 / 3, 1 / 3], 1)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cost = np.append(np.zeros(9), -1.0)
    found = clarabel.DefaultSolver(csc_matrix((10, 10)), cost, csc_matrix(rows), right, cones, settings).solve()
    x, L = np.array(found.x), np.zeros((3, 3))
    if str(found.status) in ("Solved", "AlmostSolved"):
        L[LOWER] = x[:6]
    return L, x[6:9]
