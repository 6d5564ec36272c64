"""The damped step of a tree of links without a matrix: one axis after the other is eliminated (formulas in `frame_step`).

The 21 numbers of a link's A stay in registers while its axes are taken off.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import leaf
from supple.motion.tracking.frame_model import find_matrices


@leaf
def eliminate(rig: Any, scratch: Any, seen: Any, damping: float) -> None:
    """U and 1/D of every axis that moves, from the leaves to the root."""
    find_matrices(rig, scratch)
    A = scratch.A
    for l in range(rig.up.shape[0] - 1, 0, -1):
        a00, a01, a02, a03, a04, a05 = A[l, 0], A[l, 1], A[l, 2], A[l, 3], A[l, 4], A[l, 5]
        a11, a12, a13, a14, a15 = A[l, 6], A[l, 7], A[l, 8], A[l, 9], A[l, 10]
        a22, a23, a24, a25 = A[l, 11], A[l, 12], A[l, 13], A[l, 14]
        a33, a34, a35, a44, a45, a55 = A[l, 15], A[l, 16], A[l, 17], A[l, 18], A[l, 19], A[l, 20]
        for back in range(rig.first[l + 1] - rig.first[l]):
            a = rig.first[l + 1] - 1 - back
            t0, t1, t2 = scratch.twist[a, 0], scratch.twist[a, 1], scratch.twist[a, 2]
            t3, t4, t5 = scratch.twist[a, 3], scratch.twist[a, 4], scratch.twist[a, 5]
            u0 = a00 * t0 + a01 * t1 + a02 * t2 + a03 * t3 + a04 * t4 + a05 * t5
            u1 = a01 * t0 + a11 * t1 + a12 * t2 + a13 * t3 + a14 * t4 + a15 * t5
            u2 = a02 * t0 + a12 * t1 + a22 * t2 + a23 * t3 + a24 * t4 + a25 * t5
            u3 = a03 * t0 + a13 * t1 + a23 * t2 + a33 * t3 + a34 * t4 + a35 * t5
            u4 = a04 * t0 + a14 * t1 + a24 * t2 + a34 * t3 + a44 * t4 + a45 * t5
            u5 = a05 * t0 + a15 * t1 + a25 * t2 + a35 * t3 + a45 * t4 + a55 * t5
            scratch.U[a, 0], scratch.U[a, 1], scratch.U[a, 2] = u0, u1, u2
            scratch.U[a, 3], scratch.U[a, 4], scratch.U[a, 5] = u3, u4, u5
            if scratch.held[rig.axis[a]] != 0.0:
                continue
            D = t0 * u0 + t1 * u1 + t2 * u2 + t3 * u3 + t4 * u4 + t5 * u5 + damping + seen.near[0, rig.axis[a]]
            e = 1.0 / D
            scratch.inverse[a] = e
            s0, s1, s2, s3, s4, s5 = e * u0, e * u1, e * u2, e * u3, e * u4, e * u5
            a00, a01, a02 = a00 - s0 * u0, a01 - s0 * u1, a02 - s0 * u2
            a03, a04, a05 = a03 - s0 * u3, a04 - s0 * u4, a05 - s0 * u5
            a11, a12, a13 = a11 - s1 * u1, a12 - s1 * u2, a13 - s1 * u3
            a14, a15, a22 = a14 - s1 * u4, a15 - s1 * u5, a22 - s2 * u2
            a23, a24, a25 = a23 - s2 * u3, a24 - s2 * u4, a25 - s2 * u5
            a33, a34, a35 = a33 - s3 * u3, a34 - s3 * u4, a35 - s3 * u5
            a44, a45, a55 = a44 - s4 * u4, a45 - s4 * u5, a55 - s5 * u5
        b = rig.up[l]
        A[b, 0], A[b, 1], A[b, 2] = A[b, 0] + a00, A[b, 1] + a01, A[b, 2] + a02
        A[b, 3], A[b, 4], A[b, 5] = A[b, 3] + a03, A[b, 4] + a04, A[b, 5] + a05
        A[b, 6], A[b, 7], A[b, 8] = A[b, 6] + a11, A[b, 7] + a12, A[b, 8] + a13
        A[b, 9], A[b, 10], A[b, 11] = A[b, 9] + a14, A[b, 10] + a15, A[b, 11] + a22
        A[b, 12], A[b, 13], A[b, 14] = A[b, 12] + a23, A[b, 13] + a24, A[b, 14] + a25
        A[b, 15], A[b, 16], A[b, 17] = A[b, 15] + a33, A[b, 16] + a34, A[b, 17] + a35
        A[b, 18], A[b, 19], A[b, 20] = A[b, 18] + a44, A[b, 19] + a45, A[b, 20] + a55


@leaf
def back_substitute(rig: Any, scratch: Any, r: Any, x: Any, moved: float) -> float:
    """Solve for x (n) with the slopes −r and the wrenches ``scratch.P``; what is held moves by `moved` · x.

    Returns how much lower the model is at the answer.
    """
    P, v, gain = scratch.P, scratch.v, 0.0
    for l in range(rig.up.shape[0] - 1, 0, -1):
        p0, p1, p2, p3, p4, p5 = P[l, 0], P[l, 1], P[l, 2], P[l, 3], P[l, 4], P[l, 5]
        for back in range(rig.first[l + 1] - rig.first[l]):
            a = rig.first[l + 1] - 1 - back
            k, U, t = rig.axis[a], scratch.U, scratch.twist
            if scratch.held[k] != 0.0:
                e = moved * x[k]
            else:
                u = r[k] - (t[a, 0] * p0 + t[a, 1] * p1 + t[a, 2] * p2 + t[a, 3] * p3 + t[a, 4] * p4 + t[a, 5] * p5)
                scratch.u[a] = u
                e = scratch.inverse[a] * u
                gain += e * u
            p0, p1, p2 = p0 + e * U[a, 0], p1 + e * U[a, 1], p2 + e * U[a, 2]
            p3, p4, p5 = p3 + e * U[a, 3], p4 + e * U[a, 4], p5 + e * U[a, 5]
        b = rig.up[l]
        P[b, 0], P[b, 1], P[b, 2] = P[b, 0] + p0, P[b, 1] + p1, P[b, 2] + p2
        P[b, 3], P[b, 4], P[b, 5] = P[b, 3] + p3, P[b, 4] + p4, P[b, 5] + p5
    for i in range(6):
        v[0, i] = 0.0
    for l in range(1, rig.up.shape[0]):
        b = rig.up[l]
        v0, v1, v2, v3, v4, v5 = v[b, 0], v[b, 1], v[b, 2], v[b, 3], v[b, 4], v[b, 5]
        for a in range(rig.first[l], rig.first[l + 1]):
            k, U, t = rig.axis[a], scratch.U, scratch.twist
            if scratch.held[k] != 0.0:
                e = moved * x[k]
            else:
                s = U[a, 0] * v0 + U[a, 1] * v1 + U[a, 2] * v2 + U[a, 3] * v3 + U[a, 4] * v4 + U[a, 5] * v5
                e = scratch.inverse[a] * (scratch.u[a] - s)
            x[k] = e
            v0, v1, v2 = v0 + e * t[a, 0], v1 + e * t[a, 1], v2 + e * t[a, 2]
            v3, v4, v5 = v3 + e * t[a, 3], v4 + e * t[a, 4], v5 + e * t[a, 5]
        v[l, 0], v[l, 1], v[l, 2] = v0, v1, v2
        v[l, 3], v[l, 4], v[l, 5] = v3, v4, v5
    return 0.5 * gain
