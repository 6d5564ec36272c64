"""A box that can be carried: one segment that floats."""

from __future__ import annotations

from collections.abc import Sequence

from supple.basics.checks import finite, positive
from supple.errors import BadValue
from supple.figure.figure import Figure
from supple.figure.joints import free
from supple.geometry.shapes import Body, Box


def box(sides: Sequence[float] = (0.3, 0.3, 0.3), mass: float = 1.0) -> Figure:
    """A box with the given `sides` [m] about the origin of its one segment ``box``, free in the world; `mass` [kg]."""
    a, b, c = finite(sides, (3,), "the sides of a box").tolist()
    if min(a, b, c) <= 0.0:
        raise BadValue(f"the sides of a box are longer than zero, not {(a, b, c)}")
    half = (a / 2, b / 2, c / 2)
    shape = Box((-half[0], -half[1], -half[2]), half)
    body = Body(positive(mass, "the mass of a box"), (0.0, 0.0, 0.0), (shape,))
    return Figure("box", free("box"), bodies={"box": body})
