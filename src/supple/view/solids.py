"""The convex bodies a picture is made of, and where a line of sight meets them.

Places are in the axes of the paper: x to the right, y upwards, z towards the eye. `top` answers, for the pixels (x, y), how
near to the eye the body's surface is (NaN beside the body) and the outward normal there.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from supple.geometry.placements import Floats
from supple.geometry.shapes import Ball, Box, Capsule, Cylinder, Polytope, Shape

_GOLDEN = np.pi * (3.0 - np.sqrt(5.0))


def _directions(count: int) -> Floats:
    """Unit vectors spread evenly over all directions."""
    z = np.linspace(1.0, -1.0, count)
    turn = _GOLDEN * np.arange(count)
    r = np.sqrt(1.0 - z * z)
    return np.column_stack([r * np.cos(turn), r * np.sin(turn), z])


class Bone(NamedTuple):
    """The hull of two balls: a ball, a capsule, or a tapered bone."""

    start: Floats
    end: Floats
    r_start: float
    r_end: float

    def moved(self, T: Floats) -> Bone:
        """The same body after the placement T."""
        return self._replace(start=T[:3, :3] @ self.start + T[:3, 3], end=T[:3, :3] @ self.end + T[:3, 3])

    def skin(self) -> tuple[Floats, Floats]:
        """Places on the surface, and the normals there."""
        n = _directions(60)
        return np.concatenate([self.start + self.r_start * n, self.end + self.r_end * n]), np.concatenate([n, n])

    def top(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """The body is the union of balls ``c(t) = a + t d``, ``r(t) = r_a + t e`` for t from 0 to 1.

        A line of sight leaves ball t at ``z = c_z(t) + √(A t² + B t + C)``, whose greatest value lies at
        ``t = −B/2A − sign(A) d_z √(D / (A (A − d_z²)))`` with ``D = C − B²/4A``, clipped to the two ends.
        """
        d, e = self.end - self.start, self.r_end - self.r_start
        wx, wy = x - self.start[0], y - self.start[1]
        A = e * e - d[0] * d[0] - d[1] * d[1]
        A = A if abs(A) > 1e-12 else -1e-12
        B = 2.0 * (self.r_start * e + wx * d[0] + wy * d[1])
        C = self.r_start**2 - wx * wx - wy * wy
        D = C - B * B / (4.0 * A)
        with np.errstate(invalid="ignore"):
            best = -B / (2.0 * A) - np.sign(A) * d[2] * np.sqrt(np.maximum(D / (A * (A - d[2] * d[2])), 0.0))
            t = np.clip(best, 0.0, 1.0)
            z = self._leave(t, A, B, C)
            for end in (0.0, 1.0) if A > 0.0 else ():
                other = self._leave(np.full_like(z, end), A, B, C)
                take = (other > z) | np.isnan(z)
                z, t = np.where(take, other, z), np.where(take, end, t)
        r = self.r_start + t * e
        normal = np.stack([wx - t * d[0], wy - t * d[1], z - self.start[2] - t * d[2]], axis=-1) / r[..., None]
        return z, normal

    def _leave(self, t: Floats, A: float, B: Floats, C: Floats) -> Floats:
        return self.start[2] + t * (self.end[2] - self.start[2]) + np.sqrt(A * t * t + B * t + C)


class Drum(NamedTuple):
    """A cylinder about `axis` (a unit vector), `length` long."""

    middle: Floats
    axis: Floats
    radius: float
    length: float

    def moved(self, T: Floats) -> Drum:
        """The same body after the placement T."""
        return self._replace(middle=T[:3, :3] @ self.middle + T[:3, 3], axis=T[:3, :3] @ self.axis)

    def skin(self) -> tuple[Floats, Floats]:
        """Places on both rims, and the normals there."""
        angle = np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False)
        u = np.cross(self.axis, np.eye(3)[int(np.argmin(np.abs(self.axis)))])
        u /= np.linalg.norm(u)
        n = np.outer(np.cos(angle), u) + np.outer(np.sin(angle), np.cross(self.axis, u))
        ends = [self.middle + self.radius * n + 0.5 * s * self.length * self.axis for s in (-1, 1)]
        return np.concatenate(ends), np.concatenate([n, n])

    def top(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Where the line of sight leaves the endless cylinder or the slab between its ends, whichever comes first."""
        u, h = self.axis, 0.5 * self.length
        w = np.stack([x - self.middle[0], y - self.middle[1], np.full_like(x, -self.middle[2])], axis=-1)
        along = w @ u
        across = w - along[..., None] * u
        d = np.array([0.0, 0.0, 1.0]) - u[2] * u
        a = max(float(d @ d), 1e-12)
        b, c = across @ d, (across * across).sum(axis=-1) - self.radius**2
        with np.errstate(invalid="ignore"):
            root = np.sqrt(b * b - a * c)
        low, high = (-b - root) / a, (-b + root) / a
        slope = u[2] if abs(u[2]) > 1e-9 else 1e-9
        ends = np.sort(np.stack([(-h - along) / slope, (h - along) / slope]), axis=0)
        z = np.minimum(high, ends[1])
        z = np.where(z >= np.maximum(low, ends[0]), z, np.nan)
        flat = (ends[1] < high)[..., None]
        side = (across + z[..., None] * d) / self.radius
        return z, np.where(flat, np.sign(slope) * u, side)


class Block(NamedTuple):
    """The points with ``A x ≤ b``, whose corners are known."""

    A: Floats  # rows of unit length
    b: Floats
    corners: Floats

    def moved(self, T: Floats) -> Block:
        """The same body after the placement T."""
        A = self.A @ T[:3, :3].T
        return Block(A, self.b + A @ T[:3, 3], self.corners @ T[:3, :3].T + T[:3, 3])

    def skin(self) -> tuple[Floats, Floats]:
        """The corners, and the ways from the middle to them."""
        out = self.corners - self.corners.mean(axis=0)
        return self.corners, out / np.linalg.norm(out, axis=1)[:, None]

    def top(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Where the line of sight leaves the first side, if it has entered all the others by then."""
        z, enter = np.full_like(x, np.inf), np.full_like(x, -np.inf)
        normal = np.zeros((*x.shape, 3))
        outside = np.zeros(x.shape, dtype=bool)
        for row, bound in zip(self.A, self.b, strict=True):
            room = bound - row[0] * x - row[1] * y
            if abs(row[2]) < 1e-9:
                outside |= room < 0.0
            elif row[2] > 0.0:
                nearer = room / row[2] < z
                z = np.where(nearer, room / row[2], z)
                normal[nearer] = row
            else:
                enter = np.maximum(enter, room / row[2])
        return np.where(outside | (z < enter), np.nan, z), normal


Solid: TypeAlias = Bone | Drum | Block


def of_ball(centre: Floats, radius: float) -> Bone:
    """A ball."""
    return Bone(np.asarray(centre, float), np.asarray(centre, float), radius, radius)


def of_shape(shape: Shape) -> Solid:
    """A body's shape, in its segment's axes."""
    if isinstance(shape, Ball):
        return of_ball(np.array(shape.centre), shape.radius)
    if isinstance(shape, Box):
        lower, upper = np.array(shape.lower), np.array(shape.upper)
        corners = np.stack(np.meshgrid(*zip(lower, upper, strict=True)), axis=-1).reshape(-1, 3)
        return Block(np.vstack([np.eye(3), -np.eye(3)]), np.concatenate([upper, -lower]), corners).moved(shape.at)
    if isinstance(shape, Capsule):
        half = np.array([0.0, 0.0, 0.5 * shape.length])
        return Bone(-half, half, shape.radius, shape.radius).moved(shape.at)
    assert isinstance(shape, Cylinder)
    return Drum(np.zeros(3), np.array([0.0, 0.0, 1.0]), shape.radius, shape.length).moved(shape.at)


def of_polytope(body: Polytope, box: Floats) -> Block | None:
    """A polytope as far as it lies in a box, rows (lower, upper); none if nothing does."""
    from scipy.optimize import linprog
    from scipy.spatial import HalfspaceIntersection

    A = np.vstack([body.A, np.eye(3), -np.eye(3)])
    b = np.concatenate([body.b, box[1], -box[0]])
    length = np.linalg.norm(A, axis=1)
    A, b = A / length[:, None], b / length
    inside = linprog([0, 0, 0, -1], np.column_stack([A, np.ones(len(b))]), b, bounds=[(None, None)] * 3 + [(0, None)])
    if not inside.success or inside.x[3] < 1e-9 * float(np.ptp(box)):
        return None
    return Block(A, b, HalfspaceIntersection(np.column_stack([A, -b]), inside.x[:3]).intersections)
