"""Triangles: the solids of a figure's segments, of joints and of obstacles, as the page draws them."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from supple.figure.figure import Figure
from supple.geometry.placements import Floats, inverse
from supple.geometry.shapes import Ball, Box, Capsule, Hull, Polytope
from supple.view.skeleton import Skeleton
from supple.view.solids import Block, Bone, Drum, Solid, of_polytope, of_shape

ROUND = 16  # corners of a circle
ARCS = 4  # rings of half a ball


class Mesh(NamedTuple):
    """Corners (n, 3) and triangles (m, 3)."""

    vertices: Floats
    faces: np.ndarray

    def moved(self, T: Floats) -> Mesh:
        """The same after a placement."""
        return Mesh(self.vertices @ T[:3, :3].T + T[:3, 3], self.faces)


def joined(meshes: list[Mesh]) -> Mesh:
    """One mesh of several."""
    shift = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    faces = [mesh.faces + at for mesh, at in zip(meshes, shift, strict=False)]
    return Mesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(faces))


def thinned(mesh: Mesh, most: int) -> Mesh:
    """A mesh of at most so many triangles: corners that share a cell of a grid become one, in the middle of them."""
    size = float(np.ptp(mesh.vertices, axis=0).max(initial=0.0))
    cells = 256.0
    while len(mesh.faces) > most and cells >= 2.0 and size > 0.0:
        keys = np.floor(mesh.vertices / (size / cells)).astype(np.int64)
        _, first, same = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        same = same.reshape(-1)
        count = np.bincount(same, minlength=len(first))[:, None]
        middle = np.stack([np.bincount(same, mesh.vertices[:, k], len(first)) for k in range(3)], axis=1) / count
        faces = same[mesh.faces]
        whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
        faces = faces[whole]
        _, once = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
        if len(once) <= most or cells < 4.0:
            return Mesh(middle, faces[np.sort(once)])
        cells *= 0.7
    return mesh


def ball(radius: float = 1.0) -> Mesh:
    """A ball about the origin."""
    return of_solid(Bone(np.zeros(3), np.zeros(3), radius, radius))


def drum(radius: float = 1.0, length: float = 1.0) -> Mesh:
    """A cylinder about the z axis."""
    return of_solid(Drum(np.zeros(3), np.array([0.0, 0.0, 1.0]), radius, length))


def of_solid(solid: Solid) -> Mesh:
    """The surface of a solid."""
    if isinstance(solid, Bone):
        return _bone(solid)
    if isinstance(solid, Drum):
        h = 0.5 * solid.length
        rings = [(0.0, -h), (solid.radius, -h), (solid.radius, -h), (solid.radius, h), (solid.radius, h), (0.0, h)]
        return _turned(rings, _frame(solid.axis, solid.middle))
    return _block(solid)


def of_obstacle(shape: Ball | Box | Capsule | Polytope | Hull, room: Floats) -> Mesh | None:
    """The surface of an obstacle, as far as it lies in a box, rows (lower, upper)."""
    shape = Polytope.of(shape) if isinstance(shape, Hull) else shape
    solid = of_polytope(shape, room) if isinstance(shape, Polytope) else of_shape(shape)
    return None if solid is None else of_solid(solid)


def segments_of(figure: Figure) -> dict[str, Mesh]:
    """The body of each segment that has one, in its own axes: its shapes, or bones where the figure has none."""
    skeleton, out = Skeleton(figure, figure.rest), {}
    for segment in figure.segments:
        solids = skeleton.solids_of(segment)
        if solids:
            home = inverse(skeleton.frames[segment])
            out[segment] = joined([of_solid(solid).moved(home) for solid in solids])
    return out


# ── surfaces ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def _frame(axis: Floats, origin: Floats) -> Floats:
    """A placement whose z axis is `axis`."""
    T = np.eye(4)
    z = axis / max(float(np.linalg.norm(axis)), 1e-300) if np.any(axis) else np.array([0.0, 0.0, 1.0])
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    T[:3, :3], T[:3, 3] = np.column_stack([x, np.cross(z, x), z]), origin
    return T


def _bone(bone: Bone) -> Mesh:
    """The hull of two balls: their caps meet in circles at the angle whose sine is (r_a − r_b) / length."""
    way = bone.end - bone.start
    length = float(np.linalg.norm(way))
    lean = float(np.arcsin(np.clip((bone.r_start - bone.r_end) / length, -1.0, 1.0))) if length > 1e-9 else 0.0
    lower = np.linspace(-0.5 * np.pi, lean, ARCS + 1)
    upper = np.linspace(lean, 0.5 * np.pi, ARCS + 1)
    rings = [(bone.r_start * np.cos(t), bone.r_start * np.sin(t)) for t in lower]
    rings += [(bone.r_end * np.cos(t), length + bone.r_end * np.sin(t)) for t in upper[0 if length > 1e-9 else 1 :]]
    return _turned(rings, _frame(way, bone.start))


def _turned(rings: list[tuple[float, float]], at: Floats) -> Mesh:
    """A profile of (radius, height) turned about the z axis of a frame; sharp profiles name their corners twice."""
    angle = np.linspace(0.0, 2.0 * np.pi, ROUND, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    vertices = np.concatenate([np.column_stack([r * circle, np.full(ROUND, h)]) for r, h in rings])
    faces, i, j = [], np.arange(ROUND), np.roll(np.arange(ROUND), -1)
    for k, (low, high) in enumerate(pairwise(rings)):
        if low == high:
            continue
        a, b = k * ROUND, (k + 1) * ROUND
        if low[0] > 1e-12:
            faces.append(np.column_stack([a + i, a + j, b + j]))
        if high[0] > 1e-12:
            faces.append(np.column_stack([a + i, b + j, b + i]))
    return Mesh(vertices, np.concatenate(faces)).moved(at)


def _block(block: Block) -> Mesh:
    """A convex body by its corners; every side has corners of its own, so that edges look sharp."""
    vertices, faces, at = [], [], 0
    for normal, bound in zip(block.A, block.b, strict=True):
        near = np.abs(block.corners @ normal - bound) < 1e-7 * (1.0 + np.abs(block.corners).max())
        side = np.unique(np.round(block.corners[near], 9), axis=0)
        if len(side) < 3:
            continue
        T = _frame(normal, side.mean(axis=0))
        flat = (side - T[:3, 3]) @ T[:3, :2]
        side = side[np.argsort(np.arctan2(flat[:, 1], flat[:, 0]))]
        fan = np.arange(1, len(side) - 1)
        vertices.append(side)
        faces.append(at + np.column_stack([np.zeros_like(fan), fan, fan + 1]))
        at += len(side)
    return Mesh(np.concatenate(vertices), np.concatenate(faces))
