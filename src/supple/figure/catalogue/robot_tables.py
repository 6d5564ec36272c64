"""Robots as tables: one row of published numbers per link."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from supple.figure.drives import FREE, Pair
from supple.figure.joints import Joint, fixed, hinge
from supple.geometry.placements import Triple, Z, place

QUARTER = np.pi / 2
NONE: Triple = (0.0, 0.0, 0.0)


class Row(NamedTuple):
    """A hinge: its name, the links on either side, and where and how it moves the second one seen from the first."""

    joint: str
    parent: str
    link: str
    xyz: Triple
    rpy: Triple = NONE
    limits: Pair = FREE
    speed: float = np.inf
    axis: Triple = Z


class Frame(NamedTuple):
    """A link welded to another one."""

    link: str
    parent: str
    xyz: Triple = NONE
    rpy: Triple = NONE


def joints_of(rows: Iterable[Row | Frame], rest: Mapping[str, float]) -> list[Joint]:
    """The joints that a table describes, with the rest values given by joint name (0 where none is given)."""
    parts: list[Joint] = []
    for row in rows:
        at = place(row.xyz, rpy=row.rpy)
        if isinstance(row, Frame):
            parts += fixed(row.link, row.parent, at)
        else:
            ready = rest.get(row.joint, 0.0)
            parts += hinge(row.joint, row.parent, row.axis, at, row.limits, row.link, rest=ready, speed=row.speed)
    return parts


def both(limit: float) -> Pair:
    """Limits as far one way as the other."""
    return (-limit, limit)
