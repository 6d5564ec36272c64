"""Writing a person down: every place as it is in the upright stance, every length as a fraction of the stature.

In that stance, where every coordinate but the root's height is zero, every segment's axes are the world's: x forward, y
to the left, z up. A `Plan` collects joints, frames and bodies in these terms and turns them into joints relative to
each other, in metres and kilograms. The right side is written by the left side's numbers: points and axes are mirrored
in the plane y = 0, and an axis is turned round besides, so that equal values of a left and of a right joint mean
mirrored postures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from supple.basics.checks import positive
from supple.errors import BadValue, shown
from supple.figure.drives import Pair
from supple.figure.joints import NOT, Joint, fixed, free
from supple.geometry.placements import HERE, Floats, Triple, compose, place
from supple.geometry.shapes import Ball, Body, Capsule, Shape

FORWARD, LEFT, UP = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
BACKWARD, RIGHT, DOWN = (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0)
SIDES = (("_l", 1), ("_r", -1))


class Motion(NamedTuple):
    """One coordinate of a joint: its name, its axis on the left side, its range [degrees] and rest value [radians]."""

    name: str
    axis: Triple
    lowest: float
    highest: float
    rest: float = 0.0


class Bar(NamedTuple):
    """A rounded bar between two places."""

    start: Triple
    end: Triple
    radius: float


def pointing(start: Floats, end: Floats) -> Floats:
    """The frame at `start` whose z axis points to `end` and whose x axis is as near to the world's as it can be."""
    z = (end - start) / np.linalg.norm(end - start)
    aside = np.array(FORWARD) if abs(z[0]) < 0.9 else np.array(LEFT)
    x = aside - (aside @ z) * z
    x /= np.linalg.norm(x)
    return compose(np.column_stack([x, np.cross(z, x), z]), start)


class Plan:
    """Joints, frames and bodies of a person of a given stature [m] and mass [kg], collected one by one."""

    def __init__(self, stature: float, mass: float | None) -> None:
        self.stature = _positive(stature, "stature")
        self.mass = 70.0 * (self.stature / 1.75) ** 2 if mass is None else _positive(mass, "mass")
        self.parts: list[Joint] = []
        self.bodies: dict[str, Body] = {}
        self.origin: dict[str, Floats] = {}

    def root(self, segment: str, at: Triple, floating: bool) -> None:
        """The segment that carries all others: free in space, or fixed where it is in the upright stance."""
        where = self.stature * np.array(at)
        if floating:
            self.parts += free(segment, rest=[*where.tolist(), 0.0, 0.0, 0.0])
        else:
            self.parts += fixed(segment, None, where)
        self.origin[segment] = where

    def joint(
        self, segment: str, parent: str, at: Triple, motions: Sequence[Motion], side: int = 1, stem: str | None = None
    ) -> None:
        """A segment that turns about each motion's axis in order through one centre; joints are ``stem.motion``."""
        where = self.stature * np.array(_mirrored(at, side))
        above: str = parent
        for k, motion in enumerate(motions):
            name = f"{stem or segment}.{motion.name}"
            offset = place(where - self.origin[parent]) if k == 0 else HERE
            limits = radians(motion.lowest, motion.highest)
            axis = (side * motion.axis[0], motion.axis[1], side * motion.axis[2])
            last = segment if k == len(motions) - 1 else None
            self.parts.append(Joint(name, above, offset, axis, NOT, limits, last, motion.rest))
            above = self.parts[-1].key
        self.origin[segment] = where

    def frame(self, name: str, parent: str, at: Triple, side: int = 1, axes: Sequence[Triple] | None = None) -> None:
        """A named frame on a segment; `axes` are its x and z axes on the left side, the world's by default."""
        where = self.stature * np.array(_mirrored(at, side)) - self.origin[parent]
        R = np.eye(3)
        if axes is not None:
            x, z = (np.array(_mirrored(axis, side)) for axis in axes)
            R = np.column_stack([x, np.cross(z, x), z])
        self.parts += fixed(name, parent, compose(R, where))

    def body(self, segment: str, share: float, centre: Triple, bars: Sequence[Bar], side: int = 1) -> None:
        """What a segment is made of: its share of the mass, where that is centred, and what it looks like."""
        offset = self.origin[segment]
        middle = (self.stature * np.array(_mirrored(centre, side)) - offset).tolist()
        shapes = tuple(self._shape(bar, offset, side) for bar in bars)
        self.bodies[segment] = Body(share * self.mass, (middle[0], middle[1], middle[2]), shapes)

    def _shape(self, bar: Bar, offset: Floats, side: int) -> Shape:
        start, end = (self.stature * np.array(_mirrored(p, side)) - offset for p in (bar.start, bar.end))
        length = float(np.linalg.norm(end - start))
        if length < 1e-6 * self.stature:
            return Ball((float(start[0]), float(start[1]), float(start[2])), bar.radius * self.stature)
        return Capsule(bar.radius * self.stature, length, pointing(start, end) @ place((0, 0, length / 2)))


def radians(lowest: float, highest: float) -> Pair:
    """Limits given in degrees."""
    return float(np.deg2rad(lowest)), float(np.deg2rad(highest))


def _mirrored(point: Triple, side: int) -> Triple:
    return (point[0], side * point[1], point[2])


def _positive(value: float, what: str) -> float:
    number = positive(value, f"a person's {what}")
    if not 1e-6 <= number <= 1e6:
        raise BadValue(f"a person's {what} must be positive, and from 1e-6 to 1e6, not {shown(value)}")
    return number


def along(start: Triple, end: Triple, share: float) -> Triple:
    """The point a share of the way from `start` to `end`."""
    x, y, z = (a + share * (b - a) for a, b in zip(start, end, strict=True))
    return (x, y, z)
