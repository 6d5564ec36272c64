"""What keeps clear in place of a mesh: a ball, a capsule or a hull of few corners, with a bound on how much it differs.

Of the corners of a convex hull some are chosen, one after the other: always the one that is farthest outside the hull of those
so far. What is taken is the hull of the chosen ones and all points within r of it, r the distance of the farthest that was
left out. All of the mesh is then inside, and nothing reaches farther than r beyond the convex hull of the mesh: r is at most
the `accuracy`. A capsule is taken instead where it holds everything and reaches no farther than that either.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from supple.basics.checks import finite, instance, numbers, path_of, positive, triple
from supple.basics.values import Value
from supple.errors import BadFile, BadValue, needed
from supple.geometry.distances import shortest_way
from supple.geometry.placements import HERE, Floats, frozen, here, placement
from supple.geometry.polyhedra import corners_of, polyhedron_of
from supple.geometry.shapes import Ball, Box, Capsule, Core, Cylinder, Hull, Solid

ACCURACY = 0.005  # [m] by which what keeps clear may reach beyond a mesh
MOST_BALLS = 2000  # of a cloud
THIN = 1e-4  # [m] half the thickness that flat meshes are given
ROUNDING = 1e-9  # [m] by which a point may be outside and count as inside
SMALL = 1e-6  # the part of its size by which a set of points is flat
ENDINGS = (".stl", ".obj", ".dae", ".ply", ".glb", ".gltf", ".off")


def fitted(points: Any, accuracy: float = ACCURACY) -> Solid:
    """A ball, capsule or hull that holds all the points (k, 3) and reaches at most `accuracy` [m] beyond their convex hull."""
    points, accuracy = _thickened(points), positive(accuracy, "the accuracy of a body [m]")
    corners = corners_of(Hull(points))
    round_one = _capsule(corners)
    if round_one is not None and excess(round_one, corners) <= accuracy:
        return round_one
    chosen = _first(corners)
    while True:
        body = polyhedron_of(Hull(corners[chosen]))
        outside = (corners @ body.normals.T - body.offsets).max(axis=1)
        if outside.max() <= accuracy:  # a face's distance is the least that it can be
            away = np.zeros(len(corners))
            for i in np.flatnonzero(outside > 0.0):
                away[i] = np.linalg.norm(shortest_way(body.normals, body.offsets - body.normals @ corners[i]))
            if away.max() <= accuracy:
                return Hull(corners[chosen], float(away.max()) * (1.0 + 1e-9) + 1e-12)
            outside = away
        chosen.append(int(outside.argmax()))


def excess(body: Solid, points: Any) -> float:
    """How far [m] a body reaches beyond the convex hull of some points, at most.

    A ball of radius r about a point e of the hull reaches farthest along the normal n of some face, ``n·e + r − b``: on the
    normals of a corner v the excess is ``r − (v − e)·u``, and the u that is farthest from v − e is that of a face.
    """
    instance(body, (Ball, Capsule, Box, Cylinder, Hull), "what excess() takes first")
    hull = polyhedron_of(Hull(_thickened(points)))
    if isinstance(body, Ball | Capsule):
        core = Core.of(body)
        ends = core.at[:3, 3] + np.outer((-core.half, core.half), core.at[:3, 2])
    else:
        ends = corners_of(body)
    radius = 0.0 if isinstance(body, Box | Cylinder) else body.radius
    over = (ends @ hull.normals.T - hull.offsets).max(axis=1)
    if over.max() <= ROUNDING:
        return float(over.max()) + radius
    away = [np.linalg.norm(shortest_way(hull.normals, hull.offsets - hull.normals @ end)) for end in ends[over > 0.0]]
    return float(max(away)) + radius


def _thickened(points: Any) -> Floats:
    """Points that do not lie in one plane: flat ones are given a little thickness."""
    array = numbers(points, "the points of a body")
    array = finite(array, (len(np.atleast_1d(array)), 3), "the points of a body")
    if len(array) == 0:
        raise BadValue("a body needs points, and there are none")
    middle = array.mean(axis=0)
    axes = np.linalg.svd(array - middle, full_matrices=True)[2] if len(array) < 2000 else _axes(array - middle)
    flat = axes[np.ptp((array - middle) @ axes.T, axis=0) < THIN]
    for way in flat:
        array = np.vstack([array + THIN * way, array - THIN * way])
    return array


def _axes(points: Floats) -> Floats:
    return np.linalg.eigh(points.T @ points)[1].T


def _capsule(corners: Floats) -> Ball | Capsule | None:
    """A ball or capsule around the corners, along their longest axis; none if it would be flat."""
    middle = (corners.min(axis=0) + corners.max(axis=0)) / 2
    axes = np.linalg.svd(corners - middle)[2]
    inside = (corners - middle) @ axes.T
    centre = (inside.min(axis=0) + inside.max(axis=0)) / 2
    aside = np.hypot(inside[:, 1] - centre[1], inside[:, 2] - centre[2])
    radius = float(aside.max()) * (1.0 + 1e-9)
    rest = np.sqrt(np.maximum(radius * radius - aside * aside, 0.0))
    upper, lower = float((inside[:, 0] - rest).max()), float((inside[:, 0] + rest).min())
    ends = [middle + np.array([x, centre[1], centre[2]]) @ axes for x in (lower, upper)]
    if upper - lower > 1e-6:
        return Capsule.between(ends[0], ends[1], radius)
    point = (ends[0] + ends[1]) / 2
    return Ball(tuple(point.tolist()), float(np.linalg.norm(corners - point, axis=1).max()) * (1.0 + 1e-9))


def _first(corners: Floats) -> list[int]:
    """Some corners that do not lie in one plane: the ends of all three axes, and what is farthest from these."""
    chosen = dict.fromkeys([*corners.argmin(axis=0).tolist(), *corners.argmax(axis=0).tolist()])
    while True:
        rows = corners[[*chosen]] - corners[next(iter(chosen))]
        _, sizes, axes = np.linalg.svd(rows)
        flat = axes[int((sizes > SMALL * np.ptp(corners, axis=0).max()).sum()) :]
        if not len(flat):
            return list(chosen)
        along = (corners - corners[next(iter(chosen))]) @ flat[0]
        chosen[int(np.abs(along).argmax())] = None


# ── obstacles of several parts ───────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False, repr=False)
class Mesh(Value):
    """The convex hull of some points (k, 3) in the frame `at`, kept clear of to within `accuracy` [m]; see `read`."""

    points: Floats
    at: Floats = field(default_factory=here)
    accuracy: float = ACCURACY

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", frozen(_thickened(self.points)))
        object.__setattr__(self, "at", placement(self.at, "a mesh's frame"))
        object.__setattr__(self, "accuracy", positive(self.accuracy, "the accuracy of a mesh [m]"))

    @classmethod
    def read(cls, path: Any, at: Any = HERE, scale: Any = (1.0, 1.0, 1.0), accuracy: float = ACCURACY) -> Mesh:
        """The hull of all vertices of a file: STL, OBJ, DAE, glTF, PLY or OFF (extra `mesh`)."""
        return cls(vertices_of(path) * triple(scale, "the scale of a mesh"), at, accuracy)

    @cached_property
    def parts(self) -> tuple[Solid, ...]:
        """What is kept clear of."""
        T = self.at
        return (fitted(self.points @ T[:3, :3].T + T[:3, 3], self.accuracy),)


@dataclass(frozen=True, eq=False, repr=False)
class Cloud(Value):
    """Points (k, 3), such as a depth camera sees, each with the ball of `radius` around it.

    Points that are near each other share a ball, which is larger by at most `accuracy` [m].
    """

    points: Floats
    radius: float
    accuracy: float = ACCURACY

    def __post_init__(self) -> None:
        points = numbers(self.points, "a cloud's points")
        points = finite(points, (len(np.atleast_1d(points)), 3), "a cloud's points")
        object.__setattr__(self, "points", frozen(points))
        object.__setattr__(self, "radius", positive(self.radius, "a cloud's radius"))
        object.__setattr__(self, "accuracy", positive(self.accuracy, "the accuracy of a cloud [m]"))
        if len(self.parts) > MOST_BALLS:
            raise BadValue(
                f"a cloud of {len(self.parts)} balls is too many: give it a coarser accuracy, or fewer points"
            )

    @cached_property
    def parts(self) -> tuple[Solid, ...]:
        """A ball for the points of each cell of a grid."""
        cells = np.floor(self.points / (2.0 * self.accuracy / np.sqrt(3.0))).astype(np.int64)
        _, which = np.unique(cells, axis=0, return_inverse=True)
        out: list[Solid] = []
        for k in range(which.max() + 1 if len(which) else 0):
            own = self.points[which == k]
            centre = (own.min(axis=0) + own.max(axis=0)) / 2
            grown = float(np.linalg.norm(own - centre, axis=1).max())
            out.append(Ball(tuple(centre.tolist()), self.radius + grown))
        return tuple(out)


def opened_mesh(path: Any) -> Any:
    """A mesh file, as trimesh has it."""
    path = path_of(path, "a mesh file")
    if path.suffix.lower() not in ENDINGS:
        raise BadFile(f"meshes are read from {', '.join(ENDINGS)}", file=str(path))
    trimesh = needed("trimesh", "trimesh", "mesh", "reading meshes")
    try:
        return trimesh.load_scene(str(path)).to_mesh()
    except Exception as error:  # whatever a reader of a dozen formats raises
        raise BadFile(f"this mesh cannot be read: {error}", file=str(path)) from error


def vertices_of(path: Any) -> Floats:
    """All vertices (k, 3) of a mesh file, each once."""
    points = np.asarray(opened_mesh(path).vertices, dtype=float)
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) == 0:
        raise BadFile("this mesh has no vertices", file=str(path))
    return np.unique(points, axis=0)
