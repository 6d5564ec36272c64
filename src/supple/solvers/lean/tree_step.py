"""A step joint by joint, for trees and free roots, in time proportional to the joints.

The system of `arm_step` seen from the joints, ``(JᵀJ + λ I) dq = Jᵀe``, is that of bodies that resist motion: each
goal is one, with the stiffness ``B = Σ rowᵀ row`` and the pull ``p = Σ rowᵀ e`` of its rows in twists (ω, v) about
the origin of the base. From the leaves inwards every joint with twist z gives way,

    U = B z,   D = zᵀU + λ,   u = zᵀp,   B ← B − U Uᵀ/D,   p ← p − U u/D,

and its parent carries what is left; then outwards ``dq = (u − Uᵀξ)/D`` with ξ the twist of what the joint hangs on, clipped to
its limits at once, so that what follows knows of it. A free base takes ξ from its own six equations.

Before the first step of a free base it is put where the goals fit best with the joints as they are: Horn's quaternion, the
eigenvector of the largest eigenvalue of a symmetric 4 × 4 matrix, by power steps on that matrix, shifted to be positive.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from supple.kernels.kinds import AT, BEYOND, FACE, LINE, PLANE
from supple.solvers.lean.arm_step import LEAST_PIVOT, cholesky
from supple.solvers.lean.shape import NOTHING, Shape

POWER_STEPS = 24
LEAST_SHIFT = 1e-6  # where goals tell nothing of the turn, the base stays as it is


def tree_step(
    shape: Shape, t: Any, settings: tuple[Any, ...], jit: Callable[[Any], Any]
) -> tuple[Any, tuple[Any, ...]]:
    """``move(starts, limits, q, base, T, value, first, memory)``, and the shapes of the arrays it needs besides."""
    real, _, damping, least = settings
    n, FREE = shape.joints, shape.free
    FITTED = shape.free and AT in shape.place
    PARENT, SLOT, STRAIGHT, GOALS, SLOTS = t.parent, t.slot, t.straight, t.goals, t.slots
    ZERO, ONE, MU, EPS = real(0), real(1), real(damping), real(least)
    add_goal, twist = _adding(shape, t, settings, jit), _twist(t, real, jit)
    fit, shift = _fitting(shape, real, jit), _shifting(real, jit)

    @jit
    def give_way(
        i: Any, limits: Any, q: Any, axes: Any, damping: Any, way: Any, B: Any, p: Any, U: Any, z: Any
    ) -> None:
        """Take joint i out of what hangs on it."""
        twist(axes, i, z)
        u = ZERO
        for k in range(6):
            u += z[k] * p[k]
        if (q[i] <= limits[0, i] and u < ZERO) or (q[i] >= limits[1, i] and u > ZERO):
            for k in range(7):
                way[i, k] = ZERO
        else:
            D = damping
            for k in range(6):
                s = ZERO
                for l in range(6):
                    s += B[max(k, l), min(k, l)] * z[l]
                U[k] = s
                D += z[k] * s
            D = ONE / max(D, damping)
            for k in range(6):
                h = U[k] * D
                way[i, k] = h
                p[k] -= u * h
                for l in range(k + 1):
                    B[k, l] -= h * U[l]
            way[i, 6] = u * D

    @jit
    def inwards(
        limits: Any,
        q: Any,
        T: Any,
        damping: Any,
        axes: Any,
        x: Any,
        e: Any,
        acc: Any,
        way: Any,
        B: Any,
        p: Any,
        U: Any,
        z: Any,
    ) -> None:
        for s in range(SLOTS):
            for k in range(27):
                acc[s, k] = ZERO
        for back in range(n + 1):
            i = n - 1 - back
            if i < 0 or STRAIGHT[i] == 0:
                for k in range(6):
                    p[k] = ZERO
                    for l in range(k + 1):
                        B[k, l] = ZERO
            s = SLOT[i + 1]
            if s >= 0:
                for k in range(6):
                    p[k] += acc[s, 21 + k]
                    for l in range(k + 1):
                        B[k, l] += acc[s, k * (k + 1) // 2 + l]
            for g in range(GOALS[i + 1], GOALS[i + 2]):
                add_goal(T, x, e, g, B, p, U)
            if i >= 0:
                give_way(i, limits, q, axes, damping, way, B, p, U, z)
                if PARENT[i] != i or i == 0:
                    s = SLOT[PARENT[i]]
                    for k in range(6):
                        acc[s, 21 + k] += p[k]
                        for l in range(k + 1):
                            acc[s, k * (k + 1) // 2 + l] += B[k, l]

    @jit
    def outwards(limits: Any, q: Any, axes: Any, acc: Any, way: Any, p: Any, z: Any) -> None:
        for k in range(6):
            acc[0, k] = p[k]
        for i in range(n):
            if PARENT[i] != i:
                for k in range(6):
                    p[k] = acc[SLOT[PARENT[i]], k]
            dq = way[i, 6]
            for k in range(6):
                dq -= way[i, k] * p[k]
            old = q[i]
            q[i] = min(max(old + dq, limits[0, i]), limits[1, i])
            dq = q[i] - old
            twist(axes, i, z)
            for k in range(6):
                p[k] += dq * z[k]
            if SLOT[i + 1] >= 0:
                for k in range(6):
                    acc[SLOT[i + 1], k] = p[k]

    solve = cholesky(6, real, jit)

    @jit
    def move(starts: Any, limits: Any, q: Any, base: Any, T: Any, value: Any, first: Any, memory: Any) -> None:
        """One step, or the first one of a free base, which moves nothing else."""
        axes, x, e, M = memory[2], memory[3], memory[4], memory[5]
        acc, way, B, p, U, z = memory[7], memory[8], memory[9], memory[10], memory[11], memory[12]
        if FITTED and first:
            fit(T, x, base, M, memory[0])
        else:
            damping = MU * min(value, ONE) + EPS
            inwards(limits, q, T, damping, axes, x, e, acc, way, B, p, U, z)
            if FREE:
                solve(B, p, damping)
                shift(base, p)
            else:
                for k in range(6):
                    p[k] = ZERO
            outwards(limits, q, axes, acc, way, p, z)

    return move, ((t.slots, 27), (n, 7), (6, 6), (6,), (6,), (6,))


def _twist(t: Any, real: Any, jit: Callable[[Any], Any]) -> Any:
    SLIDE, ZERO = t.slide, real(0)

    @jit
    def twist(axes: Any, i: Any, z: Any) -> None:
        """The twist of joint i about the base's origin: turn, then shift."""
        w0, w1, w2, p0, p1, p2 = axes[i, 0], axes[i, 1], axes[i, 2], axes[i, 3], axes[i, 4], axes[i, 5]
        if SLIDE[i] == 0:
            z[0], z[1], z[2] = w0, w1, w2
            z[3], z[4], z[5] = p1 * w2 - p2 * w1, p2 * w0 - p0 * w2, p0 * w1 - p1 * w0
        else:
            z[0], z[1], z[2], z[3], z[4], z[5] = ZERO, ZERO, ZERO, w0, w1, w2

    return twist


def _adding(shape: Shape, t: Any, settings: tuple[Any, ...], jit: Callable[[Any], Any]) -> Any:
    """The leaf that adds a goal's stiffness (lower half) and pull."""
    real, radian = settings[:2]
    PLACE, ANGLE, FIRST = t.place, t.angle, t.first
    ZERO, ONE, L = real(0), real(1), real(radian)
    LL = real(radian * radian)

    @jit
    def add_place(x0: Any, x1: Any, x2: Any, e0: Any, e1: Any, e2: Any, B: Any, p: Any) -> None:
        """The rows ``(x × c, c)`` for all three axes c: a unit mass at x."""
        B[0, 0] += x1 * x1 + x2 * x2
        B[1, 1] += x0 * x0 + x2 * x2
        B[2, 2] += x0 * x0 + x1 * x1
        B[1, 0] -= x0 * x1
        B[2, 0] -= x0 * x2
        B[2, 1] -= x1 * x2
        B[3, 1] += x2
        B[3, 2] -= x1
        B[4, 0] -= x2
        B[4, 2] += x0
        B[5, 0] += x1
        B[5, 1] -= x0
        for k in range(3):
            B[3 + k, 3 + k] += ONE
        p[0] += x1 * e2 - x2 * e1
        p[1] += x2 * e0 - x0 * e2
        p[2] += x0 * e1 - x1 * e0
        p[3], p[4], p[5] = p[3] + e0, p[4] + e1, p[5] + e2

    @jit
    def add_row(s: Any, x0: Any, x1: Any, x2: Any, c0: Any, c1: Any, c2: Any, B: Any, U: Any) -> None:
        """s times the square of the row ``(x × c, c)``."""
        U[0], U[1], U[2], U[3], U[4], U[5] = x1 * c2 - x2 * c1, x2 * c0 - x0 * c2, x0 * c1 - x1 * c0, c0, c1, c2
        for k in range(6):
            for l in range(k + 1):
                B[k, l] += s * U[k] * U[l]

    @jit
    def add_goal(T: Any, x: Any, e: Any, g: Any, B: Any, p: Any, U: Any) -> None:
        k = FIRST[g]
        x0, x1, x2 = x[g, 0], x[g, 1], x[g, 2]
        if PLACE[g] != NOTHING:
            e0, e1, e2 = e[k], e[k + 1], e[k + 2]
            if PLACE[g] == AT:
                add_place(x0, x1, x2, e0, e1, e2, B, p)
            else:
                if PLACE[g] == LINE:  # a mass that may slide along it
                    add_place(x0, x1, x2, e0, e1, e2, B, p)
                    add_row(-ONE, x0, x1, x2, T[g, 6], T[g, 7], T[g, 8], B, U)
                if PLACE[g] == PLANE or PLACE[g] == BEYOND:
                    felt = PLACE[g] == PLANE or e0 * e0 + e1 * e1 + e2 * e2 > ZERO
                    add_row(ONE if felt else ZERO, x0, x1, x2, T[g, 6], T[g, 7], T[g, 8], B, U)
                    p[0] += x1 * e2 - x2 * e1
                    p[1] += x2 * e0 - x0 * e2
                    p[2] += x0 * e1 - x1 * e0
                    p[3], p[4], p[5] = p[3] + e0, p[4] + e1, p[5] + e2
            k += 3
        if ANGLE[g] != NOTHING:
            for r in range(3):
                B[r, r] += LL
                p[r] += L * e[k + r]
            if ANGLE[g] == FACE:
                for r in range(3):
                    for c in range(r + 1):
                        B[r, c] -= LL * T[g, r] * T[g, c]

    return add_goal


def _shifting(real: Any, jit: Callable[[Any], Any]) -> Any:
    ONE, HALF, QUARTER = real(1), real(0.5), real(0.25)

    @jit
    def shift(base: Any, p: Any) -> None:
        """Move the base by a twist about its own origin; its quaternion stays one."""
        a = ONE / math.sqrt(ONE + QUARTER * (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]))
        b, c, d = HALF * a * p[0], HALF * a * p[1], HALF * a * p[2]
        f, g, h, l = base[0], base[1], base[2], base[3]
        w, x = a * f - b * g - c * h - d * l, a * g + b * f + c * l - d * h
        y, z = a * h - b * l + c * f + d * g, a * l + b * h - c * g + d * f
        s = ONE / math.sqrt(w * w + x * x + y * y + z * z)
        base[0], base[1], base[2], base[3] = s * w, s * x, s * y, s * z
        for k in range(3):
            base[4 + k] += p[3 + k]

    return shift


def _fitting(shape: Shape, real: Any, jit: Callable[[Any], Any]) -> Any:
    """The leaf that puts a base, now at rest, where places and orientations fit best, in the sense of least squares."""
    G, FIXED = len(shape.carrier), np.array([p == AT for p in shape.place])
    count = max(int(FIXED.sum()), 1)
    ZERO, ONE, TWO, SHARE, SHIFT, TINY = real(0), real(1), real(2), real(1 / count), real(1.2), real(LEAST_PIVOT)
    LEAST = real(LEAST_SHIFT)
    B0, C0, D0 = real(0.1), real(0.05), real(-0.07)  # no eigenvector of what is symmetric

    @jit
    def gather(T: Any, x: Any, M: Any, X: Any) -> None:
        """Means of points and goals in X; M gets what they tell of the turn."""
        for r in range(3):
            X[r], X[3 + r] = ZERO, ZERO
            for g in range(G):
                if FIXED[g]:
                    X[r] += SHARE * x[g, r]
                    X[3 + r] += SHARE * T[g, 9 + r]
        for g in range(G):
            if FIXED[g]:
                for r in range(3):
                    for c in range(3):
                        M[3 * r + c] += (T[g, 9 + r] - X[3 + r]) * (x[g, c] - X[c])

    @jit
    def fit(T: Any, x: Any, base: Any, M: Any, X: Any) -> None:
        gather(T, x, M, X)
        s = ZERO
        for k in range(9):
            s += M[k] * M[k]
        s = SHIFT * math.sqrt(s) + LEAST
        k00, k11 = M[0] + M[4] + M[8] + s, M[0] - M[4] - M[8] + s
        k22, k33 = M[4] - M[0] - M[8] + s, M[8] - M[0] - M[4] + s
        k01, k02, k03 = M[7] - M[5], M[2] - M[6], M[3] - M[1]
        k12, k13, k23 = M[1] + M[3], M[2] + M[6], M[5] + M[7]
        a, b, c, d = ONE, B0, C0, D0
        for _ in range(POWER_STEPS):
            w, y = k00 * a + k01 * b + k02 * c + k03 * d, k01 * a + k11 * b + k12 * c + k13 * d
            u, v = k02 * a + k12 * b + k22 * c + k23 * d, k03 * a + k13 * b + k23 * c + k33 * d
            s = ONE / math.sqrt(w * w + y * y + u * u + v * v + TINY)
            a, b, c, d = s * w, s * y, s * u, s * v
        base[0], base[1], base[2], base[3] = a, b, c, d
        # the turn of the base, row by row, takes the points' mean to the goals'
        m0, m1, m2 = X[0], X[1], X[2]
        base[4] = X[3] - (ONE - TWO * (c * c + d * d)) * m0 - TWO * (b * c - a * d) * m1 - TWO * (b * d + a * c) * m2
        base[5] = X[4] - TWO * (b * c + a * d) * m0 - (ONE - TWO * (b * b + d * d)) * m1 - TWO * (c * d - a * b) * m2
        base[6] = X[5] - TWO * (b * d - a * c) * m0 - TWO * (c * d + a * b) * m1 - (ONE - TWO * (b * b + c * c)) * m2

    return fit
