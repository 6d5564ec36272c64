"""The second-order part of a damped step: how the residuals bend along it, and what removes that.

Along the step dq that `articulated` finds, every body moves by the twist V = (ω, v), and, dq being constant, its twist changes
by ``V̇ = Σ [V_i, ξ_i] dq_i`` over the joints above it, ``[(ω, v), (ω', v')] = (ω × ω', ω × v' + v × ω')``. Hence, with c the
covectors and ``y_a = c_aᵀV``,

    ρ̈ = cᵀV̇ + ω × y  for a point,      ρ̈ = cᵀV̇ − ¼|ω|² ρ  for the turn of a frame,

the latter because ρ/2 is part of a unit quaternion. The second-order part solves the system of the step for ``½ ρ̈`` in place of
ρ: one more sweep to the root and back, with the u and e that are there (Transtrum and Sethna's geodesic acceleration). What is
left of the residuals is then of third order in the step. Terms of other kinds get no such part, nor do ranks: a preference
changes what comes after the tasks are met, not the way there, which an arm alone takes without it.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import leaf
from supple.kernels.kinds import AT, TURN
from supple.kernels.layouts import BLOCK, FRAME_ROW, KIND
from supple.solvers.levenberg_marquardt.joint_by_joint import substitute


@leaf
def can_bend(tasks: Any, chosen: Any) -> bool:
    """Whether every term that counts is a point or the turn of a frame."""
    for b in range(chosen.shape[0]):
        kind = tasks.term[int(chosen[b]), KIND] if chosen[b] >= 0.0 else AT
        if kind != AT and kind != TURN:
            return False
    return True


@leaf
def accelerate(tree: Any, scratch: Any) -> None:
    """The twists of all bodies along the step ``scratch.g`` into ``move``; how they change, into ``body[:, :6]``."""
    V, t, B = scratch.move, scratch.twist, scratch.body
    o0 = o1 = o2 = s0 = s1 = s2 = b0 = b1 = b2 = b3 = b4 = b5 = 0.0
    for c in range(6):
        V[0, c] = B[0, c] = 0.0
    for i in range(t.shape[0]):
        a, x = tree.parent[i], scratch.g[tree.coordinate[i]]
        if a != i:
            o0, o1, o2, s0, s1, s2 = V[a, 0], V[a, 1], V[a, 2], V[a, 3], V[a, 4], V[a, 5]
            b0, b1, b2, b3, b4, b5 = B[a, 0], B[a, 1], B[a, 2], B[a, 3], B[a, 4], B[a, 5]
        w0, w1, w2 = x * t[i, 0], x * t[i, 1], x * t[i, 2]
        v0, v1, v2 = x * t[i, 3], x * t[i, 4], x * t[i, 5]
        b0, b1, b2 = b0 + (o1 * w2 - o2 * w1), b1 + (o2 * w0 - o0 * w2), b2 + (o0 * w1 - o1 * w0)
        b3 += (o1 * v2 - o2 * v1) + (s1 * w2 - s2 * w1)
        b4 += (o2 * v0 - o0 * v2) + (s2 * w0 - s0 * w2)
        b5 += (o0 * v1 - o1 * v0) + (s0 * w1 - s1 * w0)
        o0, o1, o2, s0, s1, s2 = o0 + w0, o1 + w1, o2 + w2, s0 + v0, s1 + v1, s2 + v2
        V[i + 1, 0], V[i + 1, 1], V[i + 1, 2], V[i + 1, 3], V[i + 1, 4], V[i + 1, 5] = o0, o1, o2, s0, s1, s2
        B[i + 1, 0], B[i + 1, 1], B[i + 1, 2], B[i + 1, 3], B[i + 1, 4], B[i + 1, 5] = b0, b1, b2, b3, b4, b5


@leaf
def covector_on(c: Any, B: Any) -> float:
    """A covector on a twist."""
    return (c[0] * B[0] + c[1] * B[1] + c[2] * B[2]) + (c[3] * B[3] + c[4] * B[4] + c[5] * B[5])


@leaf
def bend_residuals(tree: Any, tasks: Any, chosen: Any, scratch: Any) -> None:
    """``½ ρ̈`` along the step ``scratch.g`` into ``scratch.y``."""
    accelerate(tree, scratch)
    C = scratch.covector
    for b in range(chosen.shape[0]):
        k, a = int(chosen[b]), BLOCK * b
        x = y = z = 0.0
        if k >= 0:
            body, v = scratch.body[tasks.term[k, FRAME_ROW]], scratch.move[tasks.term[k, FRAME_ROW]]
            x, y, z = covector_on(C[a], body), covector_on(C[a + 1], body), covector_on(C[a + 2], body)
            if tasks.term[k, KIND] == AT:
                p0, p1, p2 = covector_on(C[a], v), covector_on(C[a + 1], v), covector_on(C[a + 2], v)
                x, y, z = x + v[1] * p2 - v[2] * p1, y + v[2] * p0 - v[0] * p2, z + v[0] * p1 - v[1] * p0
            else:
                s = 0.25 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
                x, y, z = x - s * C[a, 6], y - s * C[a + 1, 6], z - s * C[a + 2, 6]
        scratch.y[a], scratch.y[a + 1], scratch.y[a + 2] = 0.5 * x, 0.5 * y, 0.5 * z


@leaf
def load_wrenches(tasks: Any, chosen: Any, scratch: Any) -> None:
    """The wrenches of the residuals ``scratch.y`` into ``scratch.body[:, 6:12]``."""
    for a in range(scratch.body.shape[0]):
        for c in range(6, 12):
            scratch.body[a, c] = 0.0
    for b in range(chosen.shape[0]):
        if chosen[b] >= 0.0:
            body = scratch.body[tasks.term[int(chosen[b]), FRAME_ROW]]
            for r in range(BLOCK * b, BLOCK * b + BLOCK):
                for c in range(6):
                    body[6 + c] += scratch.y[r] * scratch.covector[r, c]


@leaf
def bend_joints(tree: Any, tasks: Any, chosen: Any, scratch: Any, g: Any) -> None:
    """The second-order part of the step into g, joint by joint."""
    bend_residuals(tree, tasks, chosen, scratch)
    load_wrenches(tasks, chosen, scratch)
    t, u = scratch.twist, scratch.lever
    P = scratch.body[t.shape[0]]
    p0, p1, p2, p3, p4, p5 = P[6], P[7], P[8], P[9], P[10], P[11]
    for i in range(t.shape[0] - 1, -1, -1):
        r = (t[i, 0] * p0 + t[i, 1] * p1 + t[i, 2] * p2) + (t[i, 3] * p3 + t[i, 4] * p4 + t[i, 5] * p5)
        u[i, 6] = r
        r *= u[i, 7]
        p0, p1, p2 = p0 - r * u[i, 0], p1 - r * u[i, 1], p2 - r * u[i, 2]
        p3, p4, p5 = p3 - r * u[i, 3], p4 - r * u[i, 4], p5 - r * u[i, 5]
        if tree.parent[i] != i:
            P = scratch.body[tree.parent[i]]
            P[6], P[7], P[8] = P[6] + p0, P[7] + p1, P[8] + p2
            P[9], P[10], P[11] = P[9] + p3, P[10] + p4, P[11] + p5
            p0 = p1 = p2 = p3 = p4 = p5 = 0.0
        P = scratch.body[i]
        p0, p1, p2 = p0 + P[6], p1 + P[7], p2 + P[8]
        p3, p4, p5 = p3 + P[9], p4 + P[10], p5 + P[11]
    for i in range(g.shape[0]):
        g[i] = 0.0
    substitute(tree, scratch, g)
