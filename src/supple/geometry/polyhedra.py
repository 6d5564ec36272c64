"""Faces and edges of a polytope ``A x ≤ b``, bounded or not, in plain NumPy.

Two faces meet in an edge where the line of their planes, ``n_i × n_j``, keeps to all other rows for more than a point. If
more than two planes share that line, the edge belongs to the outermost two: those between whose normals the others' lie.
A row that has no edge is redundant, unless no two rows cross: then the polytope is a half-space or a slab.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from supple.errors import BadValue
from supple.geometry.placements import Floats, frozen
from supple.geometry.shapes import Box, Cylinder, Hull, Polytope

SAME = 1e-9  # normals nearer than this are one, and so are points [m]
MOST = 500  # sides of a polytope; the time to find its edges grows with the cube of their number
TOGETHER = 1_000_000  # numbers of a table while they are looked for
FLAT = 1e-10  # one minus the cosine of the angle below which two triangles of a hull are one face
ROUND = 0.002  # [m] by which the prism that stands for a cylinder may reach beyond it
SIDES = 8, 64  # of such a prism, at least and at most
THIN = 1e-6  # a polytope that holds no ball of this radius [m] is refused


class Polyhedron(NamedTuple):
    """A polytope without redundant rows, and its edges ``points + t · directions``, ``t`` in `spans`."""

    normals: Floats  # (m, 3) of unit length
    offsets: Floats  # (m)
    points: Floats  # (k, 3) on the edges: the middle, or the end of a ray
    directions: Floats  # (k, 3) along ``n_i × n_j`` of the two faces
    spans: Floats  # (k, 2) infinite where the edge is
    faces: np.ndarray  # (k, 2) the two faces that meet


@lru_cache(maxsize=1024)
def polyhedron_of(body: Box | Cylinder | Polytope | Hull) -> Polyhedron:
    """Faces and edges, of a hull those of its points, of a cylinder those of the `prism` around it.

    One without an inside is refused, with the rows that contradict.
    """
    if isinstance(body, Hull):
        return _around(body.points)
    if isinstance(body, Cylinder):
        return _around(prism(body))
    if isinstance(body, Box) and min(np.subtract(body.upper, body.lower)) > 4.0 * THIN:
        return _stretched(body)
    return _found(Polytope.of(body) if isinstance(body, Box) else body)


def _stretched(box: Box) -> Polyhedron:
    """The faces and edges of a box: those of a cube, stretched and placed."""
    cube, R = _cube(), box.at[:3, :3]
    half = np.subtract(box.upper, box.lower) / 2
    centre = R @ (np.add(box.lower, box.upper) / 2) + box.at[:3, 3]
    normals = cube.normals @ R.T
    long = np.abs(cube.directions) @ half
    points = (cube.points * half) @ R.T + centre
    offsets = np.abs(cube.normals) @ half + normals @ centre
    return Polyhedron(normals, offsets, points, cube.directions @ R.T, cube.spans * long[:, None], cube.faces)


def prism(cylinder: Cylinder) -> Floats:
    """The corners (2 k, 3) of a prism around a cylinder: of as few sides as keep its edges within `ROUND` of it."""
    half = np.arccos(1.0 / (1.0 + ROUND / cylinder.radius))
    count = int(np.clip(np.ceil(np.pi / half), *SIDES))
    angle, out = 2.0 * np.pi * np.arange(count) / count, cylinder.radius / np.cos(np.pi / count)
    rim = np.column_stack([out * np.cos(angle), out * np.sin(angle), np.full(count, 0.5 * cylinder.length)])
    return np.vstack([rim, rim * (1.0, 1.0, -1.0)]) @ cylinder.at[:3, :3].T + cylinder.at[:3, 3]


@lru_cache(maxsize=1)
def _cube() -> Polyhedron:
    return _found(Polytope.of(Box((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))))


def _around(points: Floats) -> Polyhedron:
    """The faces and edges of the hull of some points: triangles, those in one plane joined."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import ConvexHull, QhullError

    try:
        found = ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise BadValue("the points of a hull lie in one plane: give it some thickness") from error
    n, near, count = found.equations[:, :3], found.neighbors, len(found.neighbors)
    i, j = np.repeat(np.arange(count), 3), near.ravel()
    flat = (n[i] * n[j]).sum(axis=1) > 1.0 - FLAT
    _, face = connected_components(coo_array((np.ones(flat.sum()), (i[flat], j[flat])), (count, count)), directed=False)
    corners = points[found.simplices]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    normals = np.zeros((face.max() + 1, 3))
    np.add.at(normals, face, n * np.maximum(area, SAME * SAME)[:, None])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    offsets = (points[found.vertices] @ normals.T).max(axis=0)
    once = (i < j) & (face[i] != face[j])
    i, j, opposite = i[once], j[once], np.tile(np.arange(3), count)[once]
    ends = np.array([np.delete(found.simplices[a], k) for a, k in zip(i, opposite, strict=True)])
    a, b = points[ends[:, 0]], points[ends[:, 1]]
    long = np.linalg.norm(b - a, axis=1)
    kept = long > SAME
    a, b, long, i, j = a[kept], b[kept], long[kept], i[kept], j[kept]
    along = (b - a) / long[:, None]
    sides = np.column_stack([face[i], face[j]])
    back = (np.cross(normals[sides[:, 0]], normals[sides[:, 1]]) * along).sum(axis=1) < 0.0
    sides[back] = sides[back, ::-1]
    return Polyhedron(normals, offsets, (a + b) / 2, along, np.outer(long / 2, (-1.0, 1.0)), sides)


@lru_cache(maxsize=1024)
def corners_of(body: Box | Cylinder | Polytope | Hull) -> Floats:
    """The corners (k, 3) of a bounded body, each once; those of a hull without its radius."""
    found = polyhedron_of(body)
    ends = [found.points + found.spans[:, [side]] * found.directions for side in (0, 1)]
    _, first = np.unique(np.concatenate(ends).round(9), axis=0, return_index=True)
    return frozen(np.concatenate(ends)[np.sort(first)])


FAR = 1e4  # [m] from its inside on, what has no end is cut off where a body with corners must keep clear of it


def bounded(body: Polytope) -> Polytope:
    """A polytope, or as much of it as lies in a large cube if it has no end."""
    found = polyhedron_of(body)
    if len(found.points) and np.isfinite(found.spans).all():
        return body
    centre = _inner_point(found.normals, found.offsets)
    sides = np.vstack([np.eye(3), -np.eye(3)])
    A, b = np.vstack([found.normals, sides]), np.concatenate([found.offsets, sides @ centre + FAR])
    return Polytope(A, b)


def _found(polytope: Polytope) -> Polyhedron:
    """Faces and edges from the rows alone."""
    lengths = np.hypot.reduce(polytope.A, axis=1)
    if len(lengths) > MOST:
        raise BadValue(f"a polytope has at most {MOST} sides, not {len(lengths)}: leave out those that hardly matter")
    normals, offsets = _distinct(polytope.A / lengths[:, None], polytope.b / lengths)
    centre = _inner_point(normals, offsets)
    offsets = offsets - normals @ centre
    points, directions, spans, faces = _edges(normals, offsets)
    kept = np.unique(faces) if len(faces) else np.arange(len(normals))
    faces = np.searchsorted(kept, faces)
    normals, offsets = normals[kept], offsets[kept]
    return Polyhedron(normals, offsets + normals @ centre, points + centre, directions, spans, faces)


def _distinct(normals: Floats, offsets: Floats) -> tuple[Floats, Floats]:
    """Of rows with one normal the tightest."""
    order = np.argsort(offsets, kind="stable")
    kept: list[int] = []
    for i in order:
        if not kept or np.abs(normals[kept] - normals[i]).max(axis=1).min() > SAME:
            kept.append(int(i))
    kept.sort()
    return normals[kept], offsets[kept]


def _inner_point(normals: Floats, offsets: Floats) -> Floats:
    """The centre of the largest ball inside, or of one of radius 1: ``max ρ, n_i·x + ρ ≤ b_i``."""
    from scipy.optimize import linprog

    rows = np.column_stack([normals, np.ones(len(normals))])
    found = linprog([0, 0, 0, -1], A_ub=rows, b_ub=offsets, bounds=[(None, None)] * 3 + [(None, 1.0)])
    if found.status != 0:
        raise BadValue(f"nothing can be said about the polytope A x ≤ b with b = {offsets.tolist()}: {found.message}")
    if found.x[3] < THIN:
        close = np.flatnonzero(found.ineqlin.marginals < -1e-9)
        shown = "; ".join(f"{np.round(normals[i], 4).tolist()}·x ≤ {offsets[i]:.6g}" for i in close)
        raise BadValue(f"a polytope has no inside: no point meets all of {shown} with a micrometre to spare")
    return found.x[:3]


def _edges(normals: Floats, offsets: Floats) -> tuple[Floats, Floats, Floats, np.ndarray]:
    """All edges, looked for among some pairs of faces at a time: memory should not grow with the cube of their number."""
    pairs = np.column_stack(np.triu_indices(len(normals), 1))
    some = max(TOGETHER // len(normals), 1)
    parts = [_edges_among(pairs[k : k + some], normals, offsets) for k in range(0, max(len(pairs), 1), some)]
    points, directions, spans, faces = (np.concatenate(part) for part in zip(*parts, strict=True))
    return points, directions, spans, faces


def _edges_among(pairs: np.ndarray, normals: Floats, offsets: Floats) -> tuple[Floats, Floats, Floats, np.ndarray]:
    i, j = pairs.T
    lines = np.cross(normals[i], normals[j])
    crossing = np.linalg.norm(lines, axis=1) > SAME
    i, j, lines = i[crossing], j[crossing], lines[crossing]
    square = (lines * lines).sum(axis=1)[:, None]
    points = np.cross(offsets[i, None] * normals[j] - offsets[j, None] * normals[i], lines) / square
    directions = lines / np.sqrt(square)
    spans, touching = _clipped(points, directions, normals, offsets, np.column_stack([i, j]))
    long = spans[:, 1] - spans[:, 0] > SAME
    i, j, points, directions, spans, touching = (x[long] for x in (i, j, points, directions, spans, touching))
    # the normals of planes through one edge, as angles in the half-turn that begins at n_i: n_j must come last
    inside = np.cross(normals[i], directions) @ normals.T <= SAME
    inside &= np.cross(directions, normals[j]) @ normals.T <= SAME
    real = (inside | ~touching).all(axis=1)
    points, directions, spans = points[real], directions[real], spans[real]
    ends = np.where(np.isfinite(spans), spans, 0.0)
    middle = ends.sum(axis=1) / np.maximum(np.isfinite(spans).sum(axis=1), 1)
    return points + middle[:, None] * directions, directions, spans - middle[:, None], np.column_stack([i, j])[real]


def _clipped(
    points: Floats, directions: Floats, normals: Floats, offsets: Floats, own: np.ndarray
) -> tuple[Floats, np.ndarray]:
    """The stretch of each line inside all rows (upside down if there is none), and which rows contain the line."""
    slack, rate = offsets - points @ normals.T, directions @ normals.T
    along = np.abs(rate) < SAME
    np.put_along_axis(along, own, True, axis=1)
    np.put_along_axis(slack, own, 0.0, axis=1)
    cut = np.divide(slack, rate, out=np.zeros_like(slack), where=~along)
    upper = np.where(along | (rate < 0.0), np.inf, cut).min(axis=1)
    lower = np.where(along | (rate > 0.0), -np.inf, cut).max(axis=1)
    lost = (along & (slack < -SAME)).any(axis=1)
    return np.column_stack([np.where(lost, np.inf, lower), np.where(lost, -np.inf, upper)]), along & (slack < SAME)
