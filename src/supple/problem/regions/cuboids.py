"""The largest cuboids about points: all six faces move out at one pace, and each stops where something is in its way.

With ``l − t α ≤ x ≤ h + t β``, the cuboid after a time t, α and β being 1 for faces that still move, 0 for those that stand:

* A box with the corners p, q is met when the cuboid overlaps it along all three axes, ``t = max_i (p_i − h_i)/β_i`` and so
  on: the axis that closes last says which face stops.
* Any other convex obstacle ``A x ≤ b`` is met at the least t with a point x in both, a linear programme of four unknowns; the
  face with the greatest multiplier stops. It is asked only if the box around the obstacle is met before all else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.geometry.placements import Floats

SAFE = 1e-6  # how far [m] free polytopes stay off obstacles: ten times what a linear programme may be wrong by


class Convex(NamedTuple):
    """A convex obstacle: all points within `radius` of the hull of its corners.

    The rows ``A x ≤ b`` of unit length hold for all of it, and if the radius is 0 for nothing else.
    """

    A: Floats
    b: Floats
    corners: Floats  # (k, 3)
    radius: float
    aligned: bool  # a box with sides along the axes

    def lowest(self, normals: Floats) -> Floats:
        """The least ``n·x`` over the body for each normal of unit length, in rows."""
        return (self.corners @ normals.T).min(axis=0) - self.radius

    @property
    def box(self) -> Floats:
        """The corners (2, 3) of the box around it."""
        return np.stack([self.corners.min(axis=0) - self.radius, self.corners.max(axis=0) + self.radius])


def inflated_cuboid(bodies: list[Convex], bounds: Floats, point: Floats) -> Floats:
    """The corners (2, 3) of a free cuboid about a point that is free; `bounds` (2, 3) hold it."""
    sides = np.stack([point, point])
    moving = np.ones((2, 3))
    boxes = np.array([body.box for body in bodies]).reshape(-1, 2, 3)
    while moving.any():
        rooms = np.where(moving > 0.0, np.abs(bounds - sides), np.inf)
        time, stopped = float(rooms.min()), np.unravel_index(int(rooms.argmin()), (2, 3))
        times, faces = _meetings(boxes, sides, moving)
        for k in np.argsort(times):
            if times[k] >= time:
                break
            met = (float(times[k]), faces[k]) if bodies[k].aligned else _meeting(bodies[k], sides, moving, time)
            if met[0] < time:
                time, stopped = met[0], np.unravel_index(int(met[1]), (2, 3))
        sides = sides + max(time - SAFE, 0.0) * moving * np.array([[-1.0], [1.0]])
        moving[stopped] = 0.0
    return sides


def _meetings(boxes: Floats, sides: Floats, moving: Floats) -> tuple[Floats, np.ndarray]:
    """When the cuboid meets each box, and through which of its six faces."""
    gaps = np.stack([sides[0] - boxes[:, 1], boxes[:, 0] - sides[1]], axis=1)  # (k, 2, 3): below and above the cuboid
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(gaps > 0.0, gaps / moving, 0.0)
    by_axis = times.max(axis=1)
    axis = by_axis.argmax(axis=1)
    rows = np.arange(len(boxes))
    side = times[rows, :, axis].argmax(axis=1)
    return by_axis[rows, axis], 3 * side + axis


def _meeting(body: Convex, sides: Floats, moving: Floats, before: float) -> tuple[float, int]:
    """When the cuboid meets a convex body, and through which face; not at all `before` that time if it is infinite."""
    from scipy.optimize import linprog

    walls = np.vstack([-np.eye(3), np.eye(3)])
    levels = np.concatenate([-sides[0], sides[1]])
    rows = np.vstack([np.column_stack([walls, -moving.ravel()]), np.column_stack([body.A, np.zeros(len(body.b))])])
    found = linprog(
        [0, 0, 0, 1], A_ub=rows, b_ub=np.append(levels, body.b), bounds=[(None, None)] * 3 + [(0.0, before)]
    )
    if found.status != 0:
        return np.inf, 0
    press = np.where(moving.ravel() > 0.0, -found.ineqlin.marginals[:6], -np.inf)
    return float(found.x[3]), int(press.argmax())
