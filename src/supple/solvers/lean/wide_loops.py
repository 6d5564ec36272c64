"""The kernels of the wide loop: the same lanes (`loops`) round other leaves, all in float64; and one that judges.

What a search found is looked at once more by the kernel that judges, with the same leaves: its verdict alone counts.
Tables of the pack lie in the device's memory, what a lane writes in its own.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
from numba import cuda as numba_cuda

from supple.kernels.kinds import TURN
from supple.kernels.layouts import KIND, TARGET_AT
from supple.solvers.lean.finish import UNSQUARE
from supple.solvers.lean.lane import BIG, Steps, lane_loop
from supple.solvers.lean.loops import Loops
from supple.solvers.lean.sharing import device_jit
from supple.solvers.lean.wide_leaves import Here, WideLeaves, wide_leaves
from supple.solvers.lean.wide_shape import WideShape

cuda: Any = numba_cuda
OF_WIDE = 255  # registers of a lane
MOST_TRIPS_WIDE, WHILE_DRAWN = 60, 40  # of an attempt; more where a posture is preferred


def written_in(function: Any) -> Any:
    """How what returns views is compiled for a device."""
    return cuda.jit(function, device=True, inline="always")


@cache
def wide_loops(shape: WideShape) -> Loops:
    """The kernels of a shape, not yet compiled: as `loops`, but that they take the tables of the pack."""
    made = wide_leaves(shape, device_jit(False), written_in)
    return Loops(_wide_search(shape, made), _judge(shape, made))


def _wide_search(shape: WideShape, made: WideLeaves) -> Any:
    kind, jit = numba.float64, device_jit(False)
    run = lane_loop(_wide_steps(shape, made, jit), jit)
    m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15 = made.memory

    @cuda.jit(max_registers=OF_WIDE)
    def wide_search_entry(tree, tasks, routes, coordinate, limits, starts, source, targets, work, how, patience, Q):
        memory = (
            Here(
                cuda.local.array(m0, kind), cuda.local.array(m1, kind), cuda.local.array(m2, kind), cuda.local.array(m3, kind),
                cuda.local.array(m4, kind), cuda.local.array(m5, kind), cuda.local.array(m6, kind), cuda.local.array(m7, kind),
                cuda.local.array(m8, kind), cuda.local.array(m9, kind), cuda.local.array(m10, kind),
                cuda.local.array(m11, kind),
            ),
            cuda.local.array(m12, kind), cuda.local.array(m13, kind), cuda.local.array(m14, kind),
            cuda.local.array(m15, kind), tree, tasks, routes, coordinate,
        )  # fmt: skip
        run((limits, starts, source), targets, work, how, patience, Q, memory)

    return wide_search_entry


def _wide_steps(shape: WideShape, made: WideLeaves, jit: Any) -> Steps:
    """What a lane does: the leaves, given limits, starts and where targets come from."""
    begin_, look_, move_, wide = made.begin, made.look, made.move, shape.targets

    @jit
    def begin(tables: Any, k: Any, q: Any, base: Any) -> None:
        begin_(tables[1], tables[0], k, q, base)

    @jit
    def look(tables: Any, q: Any, base: Any, T: Any, memory: Any) -> Any:
        return look_(q, base, T, memory)

    @jit
    def move(tables: Any, q: Any, base: Any, T: Any, value: Any, first: Any, memory: Any) -> None:
        move_(tables[0], q, base, T, value, memory)

    @jit
    def take(tables: Any, targets: Any, job: Any, T: Any) -> None:
        for k in range(wide):
            T[k] = numba.float64(targets[job, tables[2][k]])

    most = MOST_TRIPS_WIDE + WHILE_DRAWN * shape.prefers
    return Steps(shape.coordinates, False, most, numba.float64, shape.targets, begin, look, move, take)


def _judge(shape: WideShape, made: WideLeaves) -> Any:
    kind, look, c, wide = numba.float64, made.look, shape.coordinates, shape.targets
    m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15 = made.memory
    sound = _soundness(device_jit(False))

    @cuda.jit
    def wide_judge_entry(
        tree, tasks, routes, coordinate, limits, starts, source, targets, work, Q, P, verdict, resting
    ):
        job = cuda.grid(1)
        if job < targets.shape[0]:
            memory = (
                Here(
                    cuda.local.array(m0, kind), cuda.local.array(m1, kind), cuda.local.array(m2, kind),
                    cuda.local.array(m3, kind), cuda.local.array(m4, kind), cuda.local.array(m5, kind),
                    cuda.local.array(m6, kind), cuda.local.array(m7, kind), cuda.local.array(m8, kind),
                    cuda.local.array(m9, kind), cuda.local.array(m10, kind), cuda.local.array(m11, kind),
                ),
                cuda.local.array(m12, kind), cuda.local.array(m13, kind), cuda.local.array(m14, kind),
                cuda.local.array(m15, kind), tree, tasks, routes, coordinate,
            )  # fmt: skip
            q, base, T = cuda.local.array(c, kind), cuda.local.array(7, kind), cuda.local.array(wide, kind)
            for k in range(wide):
                T[k] = kind(targets[job, source[k]])
            for i in range(c):
                q[i] = min(max(Q[job, i], limits[0, i]), limits[1, i])
            base[0], base[1], base[2] = 0.0, 1.0, 0.0
            over, value = look(q, base, T, memory)
            for i in range(P.shape[1]):
                P[job, i] = resting[i]
            for i in range(c):
                P[job, coordinate[i]] = q[i]
            trips = work[2 + P.shape[0] + job]
            verdict[job] = trips if over < 1.0 and value < BIG and trips > 0 and sound(tasks, T) else -abs(trips)

    return wide_judge_entry


def _soundness(jit: Any) -> Any:
    @jit
    def sound(tasks: Any, T: Any) -> Any:
        """Whether every orientation that is asked for is a rotation, as far as float32 can tell."""
        worst = 0.0
        for k in range(tasks.term.shape[0]):
            if tasks.term[k, KIND] == TURN:
                t = tasks.term[k, TARGET_AT]
                for a in range(3):
                    for b in range(a + 1):
                        s = T[t + a] * T[t + b] + T[t + 3 + a] * T[t + 3 + b] + T[t + 6 + a] * T[t + 6 + b]
                        worst = max(worst, abs(s - (1.0 if a == b else 0.0)))
        return worst <= UNSQUARE

    return sound
