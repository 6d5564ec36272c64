"""The damped step without a Jacobian: joints are eliminated one by one, as articulated-body dynamics does.

A residual ρ_a of a term changes by ``c_aᵀv`` when the segment that the term sees moves by the twist v; c_a is its covector. All
residuals on one segment act on its twist through one 6 × 6 matrix and one wrench,

    A = Σ c_a c_aᵀ,    P = Σ c_a ρ_a,

and a step dq moves a segment by ``v = Σ ξ_i dq_i`` over the joints above it. So the model
``|ρ + J dq|² + Σ (λ/D_i + w_i) dq_i² + 2 Σ l_i dq_i``, with w and l the weights and half the slopes of posture goals, is that
of a tree of rigid bodies, and it is minimised from the leaves to the root and back:

    u = A ξ,   e = 1/(ξᵀu + λ/D + w),   r = ξᵀP + l;     A ← A − e u uᵀ,   P ← P − e r u,   both added to the body above;
    then from the root   dq = −e (r + uᵀv),   v ← v + ξ dq.

A joint that is held does not take part; one that is put on its limit by the step δ leaves ``P ← P + u δ``. A coordinate that
moves nothing with a goal stands alone, ``dq = −l/(λ/D + w)``. The cost grows with joints, not with the square of goals. Twists
and covectors are taken about a place of the figure, not the world's origin: far from it differences would drown.

It serves problems whose terms all look from the world at segments that undriven joints carry, without linear rows
(`layouts.BY_JOINTS`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from supple.kernels.algebra.blocks_of_three import TINY
from supple.kernels.compiling import leaf
from supple.kernels.kinds import FACE, TILT, TURN
from supple.kernels.layouts import BLOCK, FRAME_ROW, KIND, ROUTE, TREE
from supple.kernels.opening import opener
from supple.solvers.levenberg_marquardt.scratch import BODY, HELD, MOVES

LEAST = 1e-12  # of the size of ``J D Jᵀ``: the least damping, far above rounding


class Joints(NamedTuple):
    """Of a tree, what elimination looks at."""

    parent: Any
    coordinate: Any


open_joints = opener(Joints, TREE)


@leaf
def twists_and_covectors(tasks: Any, chosen: Any, evaluation: Any, rho: Any, scratch: Any) -> None:
    """Twists and covectors about the place of the first segment that counts, from what was seen last."""
    W, R, c = evaluation.world, evaluation.rows, 0
    for b in range(chosen.shape[0] - 1, -1, -1):
        c = tasks.term[int(chosen[b]), FRAME_ROW] if chosen[b] >= 0.0 else c
    x, y, z = W[c, 9], W[c, 10], W[c, 11]
    for i in range(scratch.twist.shape[0]):
        w0, w1, w2 = W[i + 1, 12], W[i + 1, 13], W[i + 1, 14]
        scratch.twist[i, 0], scratch.twist[i, 1], scratch.twist[i, 2] = w0, w1, w2
        scratch.twist[i, 3] = W[i + 1, 15] + w1 * z - w2 * y
        scratch.twist[i, 4] = W[i + 1, 16] + w2 * x - w0 * z
        scratch.twist[i, 5] = W[i + 1, 17] + w0 * y - w1 * x
    for r in range(scratch.covector.shape[0]):
        f0, f1, f2 = R[r, 3], R[r, 4], R[r, 5]
        scratch.covector[r, 0] = R[r, 0] - (y * f2 - z * f1)
        scratch.covector[r, 1] = R[r, 1] - (z * f0 - x * f2)
        scratch.covector[r, 2] = R[r, 2] - (x * f1 - y * f0)
        scratch.covector[r, 3], scratch.covector[r, 4], scratch.covector[r, 5] = f0, f1, f2
        scratch.covector[r, 6] = rho[r]


@leaf
def only_turns(kind: int) -> bool:
    """Whether the covectors of a term have no forces."""
    return kind == TURN or kind == FACE or kind == TILT


@leaf
def load_bodies(tasks: Any, chosen: Any, scratch: Any) -> None:
    """A and P of what each body carries itself."""
    for a in range(scratch.body.shape[0]):
        scratch.body[a, BODY - 1] = 0.0
    for b in range(chosen.shape[0]):
        k = int(chosen[b])
        if k < 0:
            continue
        turning, body = only_turns(tasks.term[k, KIND]), scratch.body[tasks.term[k, FRAME_ROW]]
        if body[BODY - 1] == 0.0:
            for i in range(BODY - 1):
                body[i] = 0.0
            body[BODY - 1] = 1.0
        for r in range(BLOCK * b, BLOCK * b + BLOCK):
            add_covector(scratch.covector[r], turning, body)


@leaf
def add_covector(c: Any, turning: bool, body: Any) -> None:
    """Add ``c cᵀ`` to A and ``c ρ`` to P; what only turns has no forces."""
    n0, n1, n2, rho = c[0], c[1], c[2], c[6]
    body[0], body[1], body[2] = body[0] + n0 * n0, body[1] + n0 * n1, body[2] + n0 * n2
    body[6], body[7], body[11] = body[6] + n1 * n1, body[7] + n1 * n2, body[11] + n2 * n2
    body[21], body[22], body[23] = body[21] + rho * n0, body[22] + rho * n1, body[23] + rho * n2
    if not turning:
        f0, f1, f2 = c[3], c[4], c[5]
        body[3], body[4], body[5] = body[3] + n0 * f0, body[4] + n0 * f1, body[5] + n0 * f2
        body[8], body[9], body[10] = body[8] + n1 * f0, body[9] + n1 * f1, body[10] + n1 * f2
        body[12], body[13], body[14] = body[12] + n2 * f0, body[13] + n2 * f1, body[14] + n2 * f2
        body[15], body[16], body[17] = body[15] + f0 * f0, body[16] + f0 * f1, body[17] + f0 * f2
        body[18], body[19], body[20] = body[18] + f1 * f1, body[19] + f1 * f2, body[20] + f2 * f2
        body[24], body[25], body[26] = body[24] + rho * f0, body[25] + rho * f1, body[26] + rho * f2


@leaf
def eliminate(tree: Any, damping: float, scratch: Any) -> None:
    """u, r and e of every joint, from the leaves to the root; ``scratch.g`` holds the steps of coordinates put on a limit.

    Joints stand in depth-first order: what is left of a joint is handed to the one before it, if that carries it, in registers.
    """
    n, lever, held = scratch.twist.shape[0], scratch.lever, scratch.held
    a00 = a01 = a02 = a03 = a04 = a05 = a11 = a12 = a13 = a14 = a15 = a22 = a23 = a24 = 0.0
    a25 = a33 = a34 = a35 = a44 = a45 = a55 = p0 = p1 = p2 = p3 = p4 = p5 = 0.0
    for i in range(n - 1, -1, -1):
        body = scratch.body[i + 1]
        if body[BODY - 1] != 0.0:
            a00, a01, a02 = a00 + body[0], a01 + body[1], a02 + body[2]
            a03, a04, a05 = a03 + body[3], a04 + body[4], a05 + body[5]
            a11, a12, a13 = a11 + body[6], a12 + body[7], a13 + body[8]
            a14, a15, a22 = a14 + body[9], a15 + body[10], a22 + body[11]
            a23, a24, a25 = a23 + body[12], a24 + body[13], a25 + body[14]
            a33, a34, a35 = a33 + body[15], a34 + body[16], a35 + body[17]
            a44, a45, a55 = a44 + body[18], a45 + body[19], a55 + body[20]
            p0, p1, p2 = p0 + body[21], p1 + body[22], p2 + body[23]
            p3, p4, p5 = p3 + body[24], p4 + body[25], p5 + body[26]
        a, k = tree.parent[i], tree.coordinate[i]
        t0, t1, t2 = scratch.twist[i, 0], scratch.twist[i, 1], scratch.twist[i, 2]
        t3, t4, t5 = scratch.twist[i, 3], scratch.twist[i, 4], scratch.twist[i, 5]
        u0 = (a00 * t0 + a01 * t1 + a02 * t2) + (a03 * t3 + a04 * t4 + a05 * t5)
        u1 = (a01 * t0 + a11 * t1 + a12 * t2) + (a13 * t3 + a14 * t4 + a15 * t5)
        u2 = (a02 * t0 + a12 * t1 + a22 * t2) + (a23 * t3 + a24 * t4 + a25 * t5)
        u3 = (a03 * t0 + a13 * t1 + a23 * t2) + (a33 * t3 + a34 * t4 + a35 * t5)
        u4 = (a04 * t0 + a14 * t1 + a24 * t2) + (a34 * t3 + a44 * t4 + a45 * t5)
        u5 = (a05 * t0 + a15 * t1 + a25 * t2) + (a35 * t3 + a45 * t4 + a55 * t5)
        w, e = (p0 * t0 + p1 * t1 + p2 * t2) + (p3 * t3 + p4 * t4 + p5 * t5) + scratch.near_slope[k], 0.0
        lever[i, 0], lever[i, 1], lever[i, 2], lever[i, 3] = u0, u1, u2, u3
        lever[i, 4], lever[i, 5], lever[i, 6] = u4, u5, w
        if held[k] == MOVES:
            d = (t0 * u0 + t1 * u1 + t2 * u2) + (t3 * u3 + t4 * u4 + t5 * u5)
            e = 1.0 / max(d + (damping / scratch.D[k] + scratch.near_weight[k]), TINY)
            s0, s1, s2, s3, s4, s5 = e * u0, e * u1, e * u2, e * u3, e * u4, e * u5
            w *= e
            a00, a01, a02 = a00 - s0 * u0, a01 - s0 * u1, a02 - s0 * u2
            a03, a04, a05 = a03 - s0 * u3, a04 - s0 * u4, a05 - s0 * u5
            a11, a12, a13 = a11 - s1 * u1, a12 - s1 * u2, a13 - s1 * u3
            a14, a15, a22 = a14 - s1 * u4, a15 - s1 * u5, a22 - s2 * u2
            a23, a24, a25 = a23 - s2 * u3, a24 - s2 * u4, a25 - s2 * u5
            a33, a34, a35 = a33 - s3 * u3, a34 - s3 * u4, a35 - s3 * u5
            a44, a45, a55 = a44 - s4 * u4, a45 - s4 * u5, a55 - s5 * u5
            p0, p1, p2 = p0 - w * u0, p1 - w * u1, p2 - w * u2
            p3, p4, p5 = p3 - w * u3, p4 - w * u4, p5 - w * u5
        elif held[k] == HELD:
            w = scratch.g[k]
            p0, p1, p2 = p0 + w * u0, p1 + w * u1, p2 + w * u2
            p3, p4, p5 = p3 + w * u3, p4 + w * u4, p5 + w * u5
        lever[i, 7] = e
        if a != i:
            above = scratch.body[a]
            if above[BODY - 1] == 0.0:
                for c in range(BODY - 1):
                    above[c] = 0.0
                above[BODY - 1] = 1.0
            above[0], above[1], above[2] = above[0] + a00, above[1] + a01, above[2] + a02
            above[3], above[4], above[5] = above[3] + a03, above[4] + a04, above[5] + a05
            above[6], above[7], above[8] = above[6] + a11, above[7] + a12, above[8] + a13
            above[9], above[10], above[11] = above[9] + a14, above[10] + a15, above[11] + a22
            above[12], above[13], above[14] = above[12] + a23, above[13] + a24, above[14] + a25
            above[15], above[16], above[17] = above[15] + a33, above[16] + a34, above[17] + a35
            above[18], above[19], above[20] = above[18] + a44, above[19] + a45, above[20] + a55
            above[21], above[22], above[23] = above[21] + p0, above[22] + p1, above[23] + p2
            above[24], above[25], above[26] = above[24] + p3, above[25] + p4, above[26] + p5
            a00 = a01 = a02 = a03 = a04 = a05 = a11 = a12 = a13 = a14 = a15 = a22 = a23 = a24 = 0.0
            a25 = a33 = a34 = a35 = a44 = a45 = a55 = p0 = p1 = p2 = p3 = p4 = p5 = 0.0


@leaf
def step_alone(damping: float, scratch: Any) -> None:
    """What posture goals alone would do, into ``scratch.g``, which is 0 there: the step of coordinates without a joint."""
    for i in range(scratch.g.shape[0]):
        if scratch.near_slope[i] != 0.0 and scratch.held[i] == MOVES:
            scratch.g[i] = -scratch.near_slope[i] / (damping / scratch.D[i] + scratch.near_weight[i])


@leaf
def substitute(tree: Any, scratch: Any, g: Any) -> None:
    """The step, from the root to the leaves, into g; what is held moves by what stands there."""
    V, t, u = scratch.move, scratch.twist, scratch.lever
    v0 = v1 = v2 = v3 = v4 = v5 = 0.0
    V[0, 0] = V[0, 1] = V[0, 2] = V[0, 3] = V[0, 4] = V[0, 5] = 0.0
    for i in range(t.shape[0]):
        a, k = tree.parent[i], tree.coordinate[i]
        if a != i:
            v0, v1, v2 = V[a, 0], V[a, 1], V[a, 2]
            v3, v4, v5 = V[a, 3], V[a, 4], V[a, 5]
        x = g[k]
        if scratch.held[k] == MOVES:
            s = (u[i, 0] * v0 + u[i, 1] * v1 + u[i, 2] * v2) + (u[i, 3] * v3 + u[i, 4] * v4 + u[i, 5] * v5)
            x = g[k] = -u[i, 7] * (u[i, 6] + s)
        v0, v1, v2 = v0 + x * t[i, 0], v1 + x * t[i, 1], v2 + x * t[i, 2]
        v3, v4, v5 = v3 + x * t[i, 3], v4 + x * t[i, 4], v5 + x * t[i, 5]
        V[i + 1, 0], V[i + 1, 1], V[i + 1, 2] = v0, v1, v2
        V[i + 1, 3], V[i + 1, 4], V[i + 1, 5] = v3, v4, v5


@leaf
def joint_slopes(tree: Any, tasks: Any, chosen: Any, scratch: Any) -> None:
    """Half of the gradient, ``Jᵀρ`` and that of the posture goals, into ``scratch.g``."""
    P = scratch.move
    for a in range(P.shape[0]):
        for i in range(6):
            P[a, i] = 0.0
    for b in range(chosen.shape[0]):
        if chosen[b] >= 0.0:
            a = tasks.term[int(chosen[b]), FRAME_ROW]
            for r in range(BLOCK * b, BLOCK * b + BLOCK):
                for i in range(6):
                    P[a, i] += scratch.covector[r, i] * scratch.covector[r, 6]
    for i in range(scratch.g.shape[0]):
        scratch.g[i] = scratch.near_slope[i]
    for i in range(scratch.twist.shape[0] - 1, -1, -1):
        a, s = tree.parent[i], 0.0
        for c in range(6):
            s += scratch.twist[i, c] * P[i + 1, c]
            P[a, c] += P[i + 1, c]
        scratch.g[tree.coordinate[i]] += s


@leaf
def size_by_joints(tree: Any, tasks: Any, routes: Any, chosen: Any, scratch: Any) -> float:
    """The mean of the diagonal of ``J D Jᵀ``, by which damping is measured."""
    size, t = 0.0, scratch.twist
    for b in range(chosen.shape[0]):
        if chosen[b] >= 0.0:
            route, C, a = tasks.term[int(chosen[b]), ROUTE], scratch.covector, BLOCK * b
            pushed = not only_turns(tasks.term[int(chosen[b]), KIND])
            for e in range(routes.first[route], routes.first[route + 1]):
                i = routes.link[e, 0] - 1
                w0, w1, w2 = t[i, 0], t[i, 1], t[i, 2]
                x, y = (
                    C[a, 0] * w0 + C[a, 1] * w1 + C[a, 2] * w2,
                    C[a + 1, 0] * w0 + C[a + 1, 1] * w1 + C[a + 1, 2] * w2,
                )
                z = C[a + 2, 0] * w0 + C[a + 2, 1] * w1 + C[a + 2, 2] * w2
                if pushed:
                    v0, v1, v2 = t[i, 3], t[i, 4], t[i, 5]
                    x += C[a, 3] * v0 + C[a, 4] * v1 + C[a, 5] * v2
                    y += C[a + 1, 3] * v0 + C[a + 1, 4] * v1 + C[a + 1, 5] * v2
                    z += C[a + 2, 3] * v0 + C[a + 2, 4] * v1 + C[a + 2, 5] * v2
                size += scratch.D[tree.coordinate[i]] * (x * x + y * y + z * z)
    return size / max(BLOCK * chosen.shape[0], 1)
