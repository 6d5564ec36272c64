"""Geometry: placements, solid shapes and distances, in plain NumPy that has never heard of joints.

A *placement* is a rigid motion as a (4, 4) matrix; a *shape* is a convex solid in a frame of its own; a *body* is what a
segment carries: mass, its centre, and shapes.
"""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.geometry.body_fits import Cloud as Cloud, Mesh as Mesh, excess as excess, fitted as fitted
    from supple.geometry.placements import place as place
    from supple.geometry.shapes import (
        Ball as Ball,
        Body as Body,
        Box as Box,
        Capsule as Capsule,
        Cylinder as Cylinder,
        Hull as Hull,
        Polytope as Polytope,
    )

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "body_fits": ["Cloud", "Mesh", "excess", "fitted"],
        "placements": ["place"],
        "shapes": ["Ball", "Body", "Box", "Capsule", "Cylinder", "Hull", "Polytope"],
    },
)
