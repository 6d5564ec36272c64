"""A step joint by joint, for trees and free roots, in time proportional to the joints.

The system of `arm_step` seen from the joints, ``(JᵀJ + λ I) dq = Jᵀe``, is that of bodies that resist motion: each
goal is one, with the stiffness ``B = Σ rowᵀ row`` and the pull ``p = Σ rowᵀ e`` of its rows in twists (ω, v) about
the origin of the base. From the leaves inwards every joint with twist z gives way,

    U = B z,   D = zᵀU + λ,   u = zᵀp,   B ← B − U Uᵀ/D,   p ← p − U u/D,

and its parent carries what is left; then outwards ``dq = (u − Uᵀξ)/D`` with ξ the twist of what the joint hangs on, clipped to
its limits at once, so that what follows knows of it. A free base takes ξ from its own six equations.

"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from supple.kernels.kinds import AT, BEYOND, FACE, LINE, PLANE
from supple.solvers.lean.arm_step import cholesky
from supple.solvers.lean.root import fitting
from supple.solvers.lean.shape import NOTHING, Shape


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
    fit, shift = fitting(shape, real, jit), _shifting(real, jit)

    @jit
    def give_way(i: Any, limits: Any, q: Any, damping: Any, memory: Any) -> None:
        """Take joint i out of what hangs on it."""
        axes, way, B, p, U, z = memory[2], memory[8], memory[9], memory[10], memory[11], memory[12]
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
    def inwards(limits: Any, q: Any, T: Any, damping: Any, memory: Any) -> None:
        x, e, acc, B, p, U = memory[3], memory[4], memory[7], memory[9], memory[10], memory[11]
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
                give_way(i, limits, q, damping, memory)
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
        axes, x, M = memory[2], memory[3], memory[5]
        acc, way, B, p, z = memory[7], memory[8], memory[9], memory[10], memory[12]
        if FITTED and first:
            fit(T, x, base, M, memory[0])
        else:
            damping = MU * min(value, ONE) + EPS
            inwards(limits, q, T, damping, memory)
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
    def add_row(s: Any, x: Any, g: Any, T: Any, B: Any, U: Any) -> None:
        """s times the square of the row ``(x × ν, ν)``."""
        x0, x1, x2, c0, c1, c2 = x[g, 0], x[g, 1], x[g, 2], T[g, 6], T[g, 7], T[g, 8]
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
                    add_row(-ONE, x, g, T, B, U)
                if PLACE[g] == PLANE or PLACE[g] == BEYOND:
                    felt = PLACE[g] == PLANE or e0 * e0 + e1 * e1 + e2 * e2 > ZERO
                    add_row(ONE if felt else ZERO, x, g, T, B, U)
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
