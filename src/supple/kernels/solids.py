"""Shapes as `clearance` reads them."""

from __future__ import annotations

import numpy as np

from supple.errors import BadValue
from supple.geometry.placements import Floats
from supple.geometry.polyhedra import corners_of, polyhedron_of
from supple.geometry.shapes import Ball, Box, Capsule, Core, Cylinder, Hull, Polytope


def solid_of(shape: Ball | Box | Capsule | Cylinder | Polytope | Hull, corners: bool = False) -> Floats:
    """A shape as kernels read it, in its own frame; a polytope without an inside is refused.

    With `corners` it has them too, as `hulls` needs it; a polytope must be bounded then.
    """
    if isinstance(shape, Ball | Capsule):
        core = Core.of(shape)
        edge = [*core.at[:3, 3], *core.at[:3, 2], -core.half, core.half]
        return np.array([0.0, 1.0, core.radius, 0.0, *edge])
    if not isinstance(shape, Box | Cylinder | Polytope | Hull):
        raise BadValue(
            f"what stands in the way is a Ball, a Box, a Capsule, a Cylinder, a Polytope or a Hull, not {shape!r}"
        )
    body = polyhedron_of(shape)
    points = corners_of(shape) if corners else np.empty((0, 3))
    head = [len(body.normals), len(body.points), shape.radius if isinstance(shape, Hull) else 0.0, len(points)]
    faces = np.column_stack([body.normals, body.offsets])
    edges = np.hstack([body.points, body.directions, body.spans])
    return np.concatenate([head, faces.ravel(), edges.ravel(), body.faces.ravel().astype(float), points.ravel()])
