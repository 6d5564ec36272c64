"""Shapes as `clearance` reads them."""

from __future__ import annotations

import numpy as np

from supple.errors import BadValue
from supple.geometry.placements import Floats
from supple.geometry.polyhedra import polyhedron_of
from supple.geometry.shapes import Ball, Box, Capsule, Core, Polytope


def solid_of(shape: Ball | Box | Capsule | Polytope) -> Floats:
    """A shape as kernels read it, in its own frame; a polytope without an inside is refused."""
    if isinstance(shape, Ball | Capsule):
        core = Core.of(shape)
        edge = [*core.at[:3, 3], *core.at[:3, 2], -core.half, core.half]
        return np.array([0.0, 1.0, core.radius, 0.0, *edge])
    if not isinstance(shape, Box | Polytope):
        raise BadValue(f"what stands in the way is a Ball, a Box, a Capsule or a Polytope, not {shape!r}")
    body = polyhedron_of(shape)
    head = [len(body.normals), len(body.points), 0.0, 0.0]
    faces = np.column_stack([body.normals, body.offsets])
    edges = np.hstack([body.points, body.directions, body.spans])
    return np.concatenate([head, faces.ravel(), edges.ravel(), body.faces.ravel().astype(float)])
