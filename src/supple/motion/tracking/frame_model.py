"""What a frame asks for at a posture: where its markers are, f, and the forces, wrenches and matrices of its links.

The formulas are those of `frame_step`. Lengths in metres, places in world axes.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.vectors import clear
from supple.kernels.compiling import leaf
from supple.kernels.tree import place, steer
from supple.motion.tracking.rig import TWIST_DRIVE, TWIST_ROW


@leaf
def point_at(world: Any, r: int, x: float, y: float, z: float, h: float) -> Any:
    """Where a point (h = 1) of row r is, or how a direction (h = 0) of it lies."""
    return (
        h * world[r, 9] + world[r, 0] * x + world[r, 1] * y + world[r, 2] * z,
        h * world[r, 10] + world[r, 3] * x + world[r, 4] * y + world[r, 5] * z,
        h * world[r, 11] + world[r, 6] * x + world[r, 7] * y + world[r, 8] * z,
    )


@leaf
def add_wrench(P: Any, l: int, place: Any, force: Any, k: int) -> None:
    """Add the wrench ``(p × f, f)`` of marker k to row l of P."""
    x, y, z = place[k, 0], place[k, 1], place[k, 2]
    f0, f1, f2 = force[k, 0], force[k, 1], force[k, 2]
    P[l, 0] += y * f2 - z * f1
    P[l, 1] += z * f0 - x * f2
    P[l, 2] += x * f1 - y * f0
    P[l, 3] += f0
    P[l, 4] += f1
    P[l, 5] += f2


@leaf
def observe_markers(tree: Any, rig: Any, scratch: Any, q: Any, seen: Any, huber: float) -> float:
    """Where everything is at q: places and forces of markers; returns f."""
    steer(tree, q, scratch.theta, scratch.slope, scratch.bend)
    place(tree, scratch.theta, scratch.along, scratch.sine, scratch.cosine, scratch.world)
    f = 0.0
    for k in range(rig.carrier.shape[0]):
        w, r = seen.weight[k], rig.row[rig.carrier[k]]
        x, y, z = point_at(scratch.world, r, rig.marker_at[k, 0], rig.marker_at[k, 1], rig.marker_at[k, 2], 1.0)
        scratch.place[k, 0], scratch.place[k, 1], scratch.place[k, 2] = x, y, z
        if w > 0.0:
            x, y, z = x - seen.place[k, 0], y - seen.place[k, 1], z - seen.place[k, 2]
            square = x * x + y * y + z * z
            if square > huber * huber:
                off = math.sqrt(square)
                f += w * huber * (off - 0.5 * huber)
                w *= huber / off
            else:
                f += 0.5 * w * square
        elif w < 0.0 and z < seen.place[k, 2]:  # below its floor
            x, y, z = 0.0, 0.0, seen.place[k, 2] - z
            f -= 0.5 * w * z * z
        else:
            x, y, z, w = 0.0, 0.0, 0.0, 0.0
        scratch.weight[k] = w
        scratch.force[k, 0], scratch.force[k, 1], scratch.force[k, 2] = w * x, w * y, w * z
    for i in range(q.shape[0]):
        e = q[i] - seen.near[1, i]
        f += 0.5 * seen.near[0, i] * e * e
    return f


@leaf
def find_wrenches(rig: Any, scratch: Any) -> None:
    """The wrench P of the markers of each link, and the twist ξ of each axis."""
    clear(scratch.own)
    for k in range(rig.carrier.shape[0]):
        add_wrench(scratch.own, rig.carrier[k], scratch.place, scratch.force, k)
    for a in range(rig.axis.shape[0]):
        for i in range(6):
            scratch.twist[a, i] = 0.0
        for t in range(rig.begin[a], rig.begin[a + 1]):
            r, d = rig.term[t, TWIST_ROW], rig.term[t, TWIST_DRIVE]
            s = scratch.slope[d] if d >= 0 else 1.0
            for i in range(6):
                scratch.twist[a, i] += s * scratch.world[r, 12 + i]


@leaf
def find_gradient(rig: Any, scratch: Any, q: Any, seen: Any) -> None:
    """The gradient of f, by coordinate."""
    for l in range(rig.up.shape[0]):
        for i in range(6):
            scratch.P[l, i] = scratch.own[l, i]
    for l in range(rig.up.shape[0] - 1, 0, -1):
        for a in range(rig.first[l], rig.first[l + 1]):
            s = 0.0
            for i in range(6):
                s += scratch.twist[a, i] * scratch.P[l, i]
            k = rig.axis[a]
            scratch.gradient[k] = s + seen.near[0, k] * (q[k] - seen.near[1, k])
        for i in range(6):
            scratch.P[rig.up[l], i] += scratch.P[l, i]


@leaf
def find_matrices(rig: Any, scratch: Any) -> None:
    """A of each link's own markers."""
    A = scratch.A
    clear(A)
    for k in range(rig.carrier.shape[0]):
        w, l = scratch.weight[k], rig.carrier[k]
        if w > 0.0:
            x, y, z = scratch.place[k, 0], scratch.place[k, 1], scratch.place[k, 2]
            a, b, c = w * x, w * y, w * z
            A[l, 0] += b * y + c * z
            A[l, 1] -= a * y
            A[l, 2] -= a * z
            A[l, 4] -= c
            A[l, 5] += b
            A[l, 6] += a * x + c * z
            A[l, 7] -= b * z
            A[l, 8] += c
            A[l, 10] -= a
            A[l, 11] += a * x + b * y
            A[l, 12] -= b
            A[l, 13] += a
            A[l, 15] += w
            A[l, 18] += w
            A[l, 20] += w
        elif w < 0.0:
            x, y = scratch.place[k, 0], scratch.place[k, 1]
            A[l, 0] -= w * y * y
            A[l, 1] += w * x * y
            A[l, 5] -= w * y
            A[l, 6] -= w * x * x
            A[l, 10] += w * x
            A[l, 20] -= w
