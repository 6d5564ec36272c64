"""How scene files say placements and obstacles: reading and writing side by side.

Everything is written so that reading gives the same bits: rotations as matrices, half-spaces as such where that is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.files.scene.fields import Maybe, Place, Wrong, angle, array, fields, number, one_of, record
from supple.geometry.placements import Floats, place, rotation
from supple.geometry.shapes import Ball, Box, Capsule, Cylinder, Hull, Polytope, Solid
from supple.problem.bars import Obstacle

Plain = dict[str, Any]  # a table of what TOML and JSON can say

POINT = array((3,))
ROTATIONS = {
    "quat_wxyz": Maybe(array((4,))),
    "quat_xyzw": Maybe(array((4,))),
    "matrix": Maybe(array((3, 3))),
    "rpy": Maybe(array((3,), read=angle)),
}


def read_placement(value: Any, at: Place) -> Floats:
    """A position, a matrix of 4 rows, or a table of a position and one rotation."""
    if isinstance(value, list):
        numbers = array((3,), (4, 4))(value, at)
        return place(numbers) if numbers.shape == (3,) else numbers
    return record(place, position=Maybe(POINT), **ROTATIONS)(value, at)


def plain_placement(T: Floats) -> Any:
    """A bare position where there is no rotation."""
    position = T[:3, 3].tolist()
    return position if np.array_equal(T[:3, :3], np.eye(3)) else {"position": position, "matrix": T[:3, :3].tolist()}


def read_rotation(value: Any, at: Place) -> Floats:
    """A table of one rotation."""
    if len(fields(value, at).values) != 1:
        raise Wrong(f"must be a table with one of {', '.join(ROTATIONS)}")
    return record(rotation, **ROTATIONS)(value, at)


def _read_capsule(value: Any, at: Place) -> Capsule:
    """A capsule about a frame, or from a start to an end."""
    if isinstance(value, dict) and not {"start", "end"}.isdisjoint(value):
        return record(Capsule.between, start=POINT, end=POINT, radius=number)(value, at)
    return record(Capsule, radius=number, length=number, at=Maybe(read_placement))(value, at)


BARS = {
    "ball": record(Ball, centre=POINT, radius=number),
    "capsule": _read_capsule,
}
BOX = {"box": record(Box, lower=POINT, upper=POINT, at=Maybe(read_placement))}
CYLINDER = {"cylinder": record(Cylinder, radius=number, length=number, at=Maybe(read_placement))}
HULL = {"hull": record(Hull, points=array((-1, 3)), radius=Maybe(number))}
SOLIDS = {
    **BOX,
    "polytope": record(Polytope, A=array((-1, 3)), b=array((-1,))),
    "half_space": record(Polytope.half_space, point=POINT, normal=POINT),
}
read_bar, read_solid = one_of({**BARS, **BOX, **CYLINDER, **HULL}), one_of(SOLIDS)
read_obstacle = one_of({**BARS, **SOLIDS, **CYLINDER, **HULL})


def plain_obstacle(shape: Obstacle | Solid) -> Plain:
    """The table of a shape."""
    if isinstance(shape, Ball):
        return {"ball": {"centre": list(shape.centre), "radius": float(shape.radius)}}
    if isinstance(shape, Box):
        return {"box": {"lower": list(shape.lower), "upper": list(shape.upper), **plain_frame(shape.at)}}
    if isinstance(shape, Capsule | Cylinder):
        kind = "capsule" if isinstance(shape, Capsule) else "cylinder"
        return {kind: {"radius": float(shape.radius), "length": float(shape.length), **plain_frame(shape.at)}}
    if isinstance(shape, Hull):
        return {"hull": {"points": shape.points.tolist(), "radius": float(shape.radius)}}
    A, b = shape.A, shape.b
    if len(b) == 1:
        half = Polytope.half_space(b[0] * A[0], A[0])
        if np.array_equal(half.A, A) and np.array_equal(half.b, b):
            return {"half_space": {"point": (b[0] * A[0]).tolist(), "normal": A[0].tolist()}}
    return {"polytope": {"A": A.tolist(), "b": b.tolist()}}


def plain_frame(at: Floats) -> Plain:
    """The field of a frame that is not the segment's or the world's own."""
    return {} if np.array_equal(at, np.eye(4)) else {"at": plain_placement(at)}
