"""A mesh that is not convex in convex parts, which together hold all of its surface.

The parts are those of CoACD (Wei et al. 2022), which cuts until every part is convex but for a share of its size, the
`concavity`. It may close holes and move surfaces a little, so its word is not taken for what is inside: the triangles of the
mesh, cut small, are given to the part that they stand out of least, and that part is the hull of its own corners and of
theirs. So no point of the surface is left out, wherever the cuts are. How far parts reach beyond the mesh has no bound as
`fitted` has it for a hull: that is what `concavity` is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from supple.basics.checks import number, path_of, positive, triple
from supple.errors import BadFile, BadValue, needed
from supple.geometry.body_fits import ACCURACY, Mesh, opened_mesh
from supple.geometry.placements import HERE, Floats, placement
from supple.geometry.polyhedra import polyhedron_of
from supple.geometry.shapes import Hull

CONCAVITY = 0.05  # of a part, as a share of its size
FINE = 16.0  # how many small triangles' edges the longest side of a mesh has


def convex_parts(
    path: Any, at: Any = HERE, scale: Any = (1.0, 1.0, 1.0), accuracy: float = ACCURACY, concavity: float = CONCAVITY
) -> tuple[Mesh, ...]:
    """The convex parts of a mesh file, each kept clear of to within `accuracy` [m] (extra `mesh`; CoACD takes a while)."""
    path, at = path_of(path, "a mesh file"), placement(at, "a mesh's frame")
    accuracy = positive(accuracy, "the accuracy of a mesh [m]")
    concavity = number(concavity, "the concavity of a part", above=0.0, most=1.0)
    points, faces = _triangles(path)
    points = points * triple(scale, "the scale of a mesh")
    found = _cut(points, faces, concavity)
    small = _small(points, faces)
    owner = _owners(found, small)
    return tuple(
        Mesh(np.vstack([part, small[owner == k].reshape(-1, 3)]), at, accuracy) for k, part in enumerate(found)
    )


def _triangles(path: Path) -> tuple[Floats, np.ndarray]:
    """Vertices and triangles of a file."""
    mesh = opened_mesh(path)
    points, faces = np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces)
    if len(faces) == 0 or not np.isfinite(points[faces]).all():
        raise BadFile("this mesh has no triangles that could be parted", file=str(path))
    return points, faces


def _cut(points: Floats, faces: np.ndarray, concavity: float) -> list[Floats]:
    """The corners of the parts that CoACD finds."""
    coacd = needed("coacd", "coacd", "mesh", "taking meshes apart")
    coacd.set_log_level("error")
    parts = coacd.run_coacd(coacd.Mesh(points, faces), threshold=concavity, seed=0)
    found = [np.asarray(corners, dtype=float) for corners, _ in parts if len(corners)]
    if not found:
        raise BadValue("a mesh could not be taken apart")
    return found


def _small(points: Floats, faces: np.ndarray) -> Floats:
    """The triangles (k, 3, 3), cut in halves until they are small."""
    most, triangles, done = np.ptp(points, axis=0).max() / FINE, points[faces], []
    while len(triangles):
        sides = np.linalg.norm(np.roll(triangles, -1, axis=1) - triangles, axis=2)
        long = sides.max(axis=1) > most
        done.append(triangles[~long])
        triangles, first = triangles[long], sides[long].argmax(axis=1)
        rows = np.arange(len(triangles))
        a, b, c = (triangles[rows, (first + k) % 3] for k in range(3))
        middle = (a + b) / 2
        triangles = np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])
    return np.concatenate(done)


def _owners(parts: Sequence[Floats], triangles: Floats) -> np.ndarray:
    """Which part each triangle stands out of least."""
    out = np.empty((len(parts), len(triangles)))
    for k, part in enumerate(parts):
        body = polyhedron_of(Hull(part))
        out[k] = (triangles @ body.normals.T - body.offsets).max(axis=(1, 2))
    return out.argmin(axis=0)
