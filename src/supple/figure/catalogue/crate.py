"""A crate that can be carried: one segment that floats."""

from __future__ import annotations

from collections.abc import Sequence

from supple.basics.checks import finite, positive
from supple.errors import BadValue
from supple.figure.figure import Figure
from supple.figure.joints import free
from supple.geometry.shapes import Body, Box


def crate(sides: Sequence[float] = (0.3, 0.3, 0.3), mass: float = 1.0) -> Figure:
    """A crate with the given `sides` [m] about the origin of its one segment ``crate``, free in the world; `mass` [kg]."""
    a, b, c = finite(sides, (3,), "the sides of a crate").tolist()
    if min(a, b, c) <= 0.0:
        raise BadValue(f"the sides of a crate are longer than zero, not {(a, b, c)}")
    half = (a / 2, b / 2, c / 2)
    shape = Box((-half[0], -half[1], -half[2]), half)
    body = Body(positive(mass, "the mass of a crate"), (0.0, 0.0, 0.0), (shape,))
    return Figure("crate", free("crate"), bodies={"crate": body})
