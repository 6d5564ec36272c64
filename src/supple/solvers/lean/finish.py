"""The finish of a search on a GPU: what was found, judged in float64 and, where it does not do, improved (`loops`).

Judging is one look, which stays in registers. Few rows need more, so improving is a kernel of its own, which leaves all
others alone.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numba import cuda as numba_cuda

from supple.kernels.kinds import TURN
from supple.solvers.lean.lane import BIG
from supple.solvers.lean.lean_leaves import Leaves, leaves
from supple.solvers.lean.root import unfold
from supple.solvers.lean.shape import Shape
from supple.solvers.lean.sharing import OF_TREES, device_jit, sharing, sizes

cuda: Any = numba_cuda
UNSQUARE = 1e-5  # what the products of a rotation's columns may be off: rotations in float32 are off by 10⁻⁷


def judge_kernel(shape: Shape, root: Any) -> Any:
    """``judge(numbers, source, places, targets, work, Q, P, verdict)`` for a shape."""
    kind, jit = numba.float64, device_jit(False)
    made, (s_offset, s_tool, s_bounds, s_limits, s_starts) = leaves(shape, np.float64, jit), sizes(shape)
    judge_one, share, s_source = _judging(shape, made, root, jit), sharing(jit), (len(shape.carrier), 12)
    m0, m1, m2, m3, m4, m5, m6 = made.memory[:7]

    @cuda.jit
    def judge(numbers, source, places, targets, work, Q, P, verdict):
        offset, tool = cuda.shared.array(s_offset, kind), cuda.shared.array(s_tool, kind)
        bounds, limits = cuda.shared.array(s_bounds, kind), cuda.shared.array(s_limits, kind)
        starts, own = cuda.shared.array(s_starts, kind), cuda.shared.array(s_source, numba.int32)
        share(numbers, source, offset, tool, bounds, limits, starts, own)
        job = cuda.grid(1)
        if job < targets.shape[0]:
            memory = (
                cuda.local.array(m0, kind), cuda.local.array(m1, kind), cuda.local.array(m2, kind),
                cuda.local.array(m3, kind), cuda.local.array(m4, kind), cuda.local.array(m5, kind),
                cuda.local.array(m6, kind),
            )  # fmt: skip
            judge_one((offset, tool, bounds, limits, own), places, targets, (work, Q, P, verdict), job, memory)

    return judge


def mend_kernel(shape: Shape, root: Any, steps: int) -> Any:
    """``mend(numbers, source, places, targets, work, Q, P, verdict)`` for a shape: it improves what is not met yet."""
    kind, half, jit = numba.float64, numba.float32, device_jit(False)
    made, (s_offset, s_tool, s_bounds, s_limits, s_starts) = leaves(shape, np.float64, jit), sizes(shape)
    work_on, share, s_source = _polishing(shape, made, (root, steps), jit), sharing(jit), (len(shape.carrier), 12)

    if shape.by_joints:
        m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12 = made.memory

        @cuda.jit(max_registers=OF_TREES)
        def mend(numbers, source, places, targets, work, Q, P, verdict):
            offset, tool = cuda.shared.array(s_offset, kind), cuda.shared.array(s_tool, kind)
            bounds, limits = cuda.shared.array(s_bounds, kind), cuda.shared.array(s_limits, kind)
            starts, own = cuda.shared.array(s_starts, kind), cuda.shared.array(s_source, numba.int32)
            share(numbers, source, offset, tool, bounds, limits, starts, own)
            job = cuda.grid(1)
            if job < targets.shape[0] and verdict[job] <= 0 and work[2 + P.shape[0] + job] > 0:
                memory = (
                    cuda.local.array(m0, kind), cuda.local.array(m1, kind), cuda.local.array(m2, kind),
                    cuda.local.array(m3, kind), cuda.local.array(m4, kind), cuda.local.array(m5, kind),
                    cuda.local.array(m6, kind),
                )  # fmt: skip
                short = (
                    cuda.local.array(12, half), cuda.local.array(1, half), cuda.local.array(m2, half),
                    cuda.local.array(m3, half), cuda.local.array(m4, half), cuda.local.array(9, half),
                    cuda.local.array(1, half), cuda.local.array(m7, half), cuda.local.array(m8, half),
                    cuda.local.array(m9, half), cuda.local.array(m10, half), cuda.local.array(m11, half),
                    cuda.local.array(m12, half),
                )  # fmt: skip
                work_on((offset, tool, bounds, limits, own), places, targets, (work, Q, P, verdict), job, memory, short)
    else:
        m0, m1, m2, m3, m4, m5, m6, m7, m8 = made.memory

        @cuda.jit
        def mend(numbers, source, places, targets, work, Q, P, verdict):
            offset, tool = cuda.shared.array(s_offset, kind), cuda.shared.array(s_tool, kind)
            bounds, limits = cuda.shared.array(s_bounds, kind), cuda.shared.array(s_limits, kind)
            starts, own = cuda.shared.array(s_starts, kind), cuda.shared.array(s_source, numba.int32)
            share(numbers, source, offset, tool, bounds, limits, starts, own)
            job = cuda.grid(1)
            if job < targets.shape[0] and verdict[job] <= 0 and work[2 + P.shape[0] + job] > 0:
                memory = (
                    cuda.local.array(m0, kind), cuda.local.array(m1, kind), cuda.local.array(m2, kind),
                    cuda.local.array(m3, kind), cuda.local.array(m4, kind), cuda.local.array(m5, kind),
                    cuda.local.array(m6, kind),
                )  # fmt: skip
                short = (
                    cuda.local.array(12, half), cuda.local.array(1, half), cuda.local.array(m2, half),
                    cuda.local.array(m3, half), cuda.local.array(m4, half), cuda.local.array(9, half),
                    cuda.local.array(1, half), cuda.local.array(m7, half), cuda.local.array(m8, half),
                )  # fmt: skip
                work_on((offset, tool, bounds, limits, own), places, targets, (work, Q, P, verdict), job, memory, short)

    return mend


def _polishing(shape: Shape, made: Leaves, settings: tuple[Any, int], jit: Any) -> Any:
    """The finish of one target."""
    look, kind, half = made.look, numba.float64, numba.float32
    n, G, FREE, s_targets = shape.joints, len(shape.carrier), shape.free, (len(shape.carrier), 12)
    m, move, s_limits = sum(shape.rows), leaves(shape, np.float32, jit).move, (2, len(shape.parent))
    (root, STEPS), ZERO, ONE = settings, np.float32(0), np.float32(1)
    sound, bring, put = _hands(shape, root, jit)

    @jit
    def improve(limits: Any, q: Any, base: Any, T: Any, value: Any, memory: Any, spare: Any) -> None:
        """One step, reckoned in float32 from errors in float64: it is short, so half of the digits do for it.

        It begins at 0 between what is left of the ranges, so that what comes out is the step itself.
        """
        short, bent, room, own, aim = spare
        for i in range(n):
            bent[i] = ZERO
            room[0, i], room[1, i] = half(limits[0, i] - q[i]), half(limits[1, i] - q[i])
            for k in range(6):
                short[2][i, k] = half(memory[2][i, k])
        for g in range(G):
            for k in range(3):
                short[3][g, k] = half(memory[3][g, k])
            for k in range(12):
                aim[g, k] = half(T[g, k])
        for k in range(m):
            short[4][k] = half(memory[4][k])
        for k in range(7):
            own[k] = ONE if k == 0 else ZERO
        move(room, room, bent, own, aim, half(value), False, short)
        for i in range(n):
            q[i] = min(max(q[i] + kind(bent[i]), limits[0, i]), limits[1, i])
        if FREE:
            a, b, c, d = kind(own[0]), kind(own[1]), kind(own[2]), kind(own[3])
            f, g, h, l = base[0], base[1], base[2], base[3]
            w, x = a * f - b * g - c * h - d * l, a * g + b * f + c * l - d * h
            y, z = a * h - b * l + c * f + d * g, a * l + b * h - c * g + d * f
            s = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
            base[0], base[1], base[2], base[3] = s * w, s * x, s * y, s * z
            for k in range(3):
                base[4 + k] += kind(own[4 + k])

    @jit
    def keep(q: Any, base: Any, kept: Any, stood: Any) -> None:
        for i in range(n):
            kept[i] = q[i]
        if FREE:
            for i in range(7):
                stood[i] = base[i]

    @jit
    def work_on(tables: Any, places: Any, targets: Any, told: Any, job: Any, memory: Any, short: Any) -> None:
        offset, tool, bounds, limits, source = tables
        work, Q, P, verdict = told
        bent, own, aim = cuda.local.array(n, half), cuda.local.array(7, half), cuda.local.array(s_targets, half)
        room = cuda.local.array(s_limits, half)
        spare = (short, bent, room, own, aim)
        q, base, T = cuda.local.array(n, kind), cuda.local.array(7, kind), cuda.local.array(s_targets, kind)
        kept, stood = cuda.local.array(n, kind), cuda.local.array(7, kind)
        bring(source, targets, Q, job, limits, T, q, base)
        keep(q, base, kept, stood)
        over, value = look(offset, tool, bounds, q, base, T, memory)
        good = over < 1.0 and value < BIG
        for _ in range(STEPS):
            improve(limits, q, base, T, value, memory, spare)
            now, new = look(offset, tool, bounds, q, base, T, memory)
            better = now < 1.0 and new < BIG
            if new < value and (better or not good):
                good, value = better, new
                keep(q, base, kept, stood)
        for i in range(P.shape[1]):
            P[job, i] = places[n + i]
        put(kept, stood, places, P, job)
        trips = abs(work[2 + P.shape[0] + job])
        verdict[job] = trips if good and sound(T) else -trips

    return work_on


def _hands(shape: Shape, root: Any, jit: Any) -> tuple[Any, Any, Any]:
    """The leaves that look at a target, bring what was found, and put it where answers are."""
    n, G, FREE, kind = shape.joints, len(shape.carrier), shape.free, numba.float64
    TURNED = np.array([a == TURN for a in shape.angle])
    out: Any = unfold(root, jit) if FREE else None

    @jit
    def sound(T: Any) -> Any:
        """Whether every orientation that is asked for is a rotation, as far as float32 can tell."""
        worst = 0.0
        for g in range(G):
            if TURNED[g]:
                for a in range(3):
                    for b in range(a + 1):
                        s = (
                            T[g, a] * T[g, b]
                            + T[g, 3 + a] * T[g, 3 + b]
                            + T[g, 6 + a] * T[g, 6 + b]
                            - (1.0 if a == b else 0.0)
                        )
                        worst = max(worst, abs(s))
        return worst <= UNSQUARE

    @jit
    def bring(source: Any, targets: Any, Q: Any, job: Any, limits: Any, T: Any, q: Any, base: Any) -> None:
        """The target and the posture that was found, in float64, inside the limits."""
        for g in range(G):
            for k in range(12):
                at = source[g, k]
                T[g, k] = kind(targets[job, at]) if at >= 0 else 0.0
        for i in range(n):
            q[i] = min(max(kind(Q[job, i]), limits[0, i]), limits[1, i])
        for i in range(7):
            base[i] = 0.0
        base[0] = 1.0
        if FREE:
            s = 0.0
            for i in range(7):
                base[i] = kind(Q[job, n + i])
                s += base[i] * base[i] if i < 4 else 0.0
            s = 1.0 / math.sqrt(s)
            for i in range(4):
                base[i] *= s

    @jit
    def put(q: Any, base: Any, places: Any, P: Any, job: Any) -> None:
        """Write the posture in the figure's coordinates."""
        for i in range(n):
            P[job, int(places[i])] = q[i]
        if FREE:
            out(base, P, job)

    return sound, bring, put


def _judging(shape: Shape, made: Leaves, root: Any, jit: Any) -> Any:
    """One look at what was found for a target."""
    look, kind, n, s_targets = made.look, numba.float64, shape.joints, (len(shape.carrier), 12)
    sound, bring, put = _hands(shape, root, jit)

    @jit
    def judge_one(tables: Any, places: Any, targets: Any, told: Any, job: Any, memory: Any) -> None:
        offset, tool, bounds, limits, source = tables
        work, Q, P, verdict = told
        q, base, T = cuda.local.array(n, kind), cuda.local.array(7, kind), cuda.local.array(s_targets, kind)
        bring(source, targets, Q, job, limits, T, q, base)
        over, value = look(offset, tool, bounds, q, base, T, memory)
        for i in range(P.shape[1]):
            P[job, i] = places[n + i]
        put(q, base, places, P, job)
        trips = work[2 + P.shape[0] + job]
        verdict[job] = trips if trips > 0 and over < 1.0 and value < BIG and sound(T) else -abs(trips)

    return judge_one
