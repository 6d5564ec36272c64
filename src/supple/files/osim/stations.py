"""Frames of OSIM files that points define: ab along one axis, ab × ac along another, the third as a right hand has it."""

from __future__ import annotations

import numpy as np

from supple.files.xml import Element
from supple.geometry.placements import Floats

TINY = 1e-12


def on_points(frame: Element, a: Floats, b: Floats, c: Floats) -> Floats:
    """The rotation of a frame on three points."""
    columns = np.zeros((3, 3))
    along, across = np.cross(b - a, c - a), b - a
    values = {"ab_axis": across, "ab_x_ac_axis": along}
    used: list[int] = []
    for tag, value in values.items():
        word = (said.text if (said := frame.first(tag)) is not None else {"ab_axis": "+x"}.get(tag, "+y")).lower()
        axis, length = "xyz".find(word[-1:]), float(np.linalg.norm(value))
        if word.lstrip("+-") not in ("x", "y", "z") or axis in used or length < TINY:
            raise frame.bad(f"{frame.label} needs three points that form a triangle, and two different axes")
        columns[:, axis] = value / length * (-1.0 if word.startswith("-") else 1.0)
        used.append(axis)
    i, j = used
    k = 3 - i - j
    columns[:, k] = np.cross(columns[:, (k + 1) % 3], columns[:, (k + 2) % 3])
    return columns
