"""The loops round the leaves on a GPU: one that searches, in two ways that give the same answer, and one that finishes.

**What the answer to a target is.** Attempts 0, 1, 2, … begin where `begin` says; one ends when every goal is met,
when its value fell by less than a tenth twice in a row, or after so many trips (a trip is one look and one move). The
answer is that of the *first attempt in this order* that arrives. So it depends on nothing but its target: not on the
batch, its order or its size, nor on which of these ways found it:

*Refill.* A lane tries its attempts one after the other; when it is done it takes the next target, together with the others of
its warp, by one addition to a counter: nobody waits for the slowest. What takes more trips than `patience` goes to a list.

*Race.* A warp takes one target, each lane another attempt; one that fails takes the next attempt. As soon as an attempt has
arrived and none before it is still running the target is done. For the list, and for batches too small to fill the machine.

Both are one kernel, so that the same instructions evaluate: two kernels may be rounded differently.

**Finish.** The search is in float32 and with fastmath. What it found is moved into the limits in float64 and judged; what is
not met by then is improved by a few steps and judged again, all in float64 without fastmath: that verdict alone counts.
NaN is never met, since no comparison with it holds.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import cuda as numba_cuda

from supple.solvers.lean.finish import judge_kernel, mend_kernel
from supple.solvers.lean.lane import Steps, lane_loop
from supple.solvers.lean.lean_leaves import Leaves, leaves
from supple.solvers.lean.shape import Root, Shape
from supple.solvers.lean.sharing import OF_TREES, device_jit, sharing, sizes

cuda: Any = numba_cuda
MOST_TRIPS = {True: 40, False: 20}  # of an attempt, for steps joint by joint and others


class Loops(NamedTuple):
    """The kernels of a shape, and the arguments that they take."""

    search: Any  # (numbers, source, targets, work, how, patience, Q)
    judge: Any  # (numbers, source, places, targets, work, Q, P, verdict)
    mend: Any = None  # the same


@cache
def loops(shape: Shape, root: Root | None = None, steps: int = 1) -> Loops:
    """The kernels of a shape, not yet compiled: that happens at the first call for each kind of targets.

    `numbers` are those of `shape.packs`, one behind the other; `source` (G, 12) says where in a row of targets each
    number of a goal is. `work` counts the targets that were taken and those that are left, and has room for their
    list and for what became of each; `patience` is for the refill. `places` are the coordinate of each joint, and the
    resting posture.
    """
    return Loops(_search(shape), judge_kernel(shape, root), mend_kernel(shape, root, steps))


def _steps(shape: Shape, made: Leaves, jit: Any) -> Steps:
    """What a lane does: the leaves, given the tables that a block shares."""
    kind, G, begin_, look_, move_ = numba.float32, len(shape.carrier), made.begin, made.look, made.move
    ZERO = np.float32(0)

    @jit
    def begin(tables: Any, k: Any, q: Any, base: Any) -> None:
        begin_(tables[4], tables[3], k, q, base)

    @jit
    def look(tables: Any, q: Any, base: Any, T: Any, memory: Any) -> Any:
        return look_(tables[0], tables[1], tables[2], q, base, T, memory)

    @jit
    def move(tables: Any, q: Any, base: Any, T: Any, value: Any, first: Any, memory: Any) -> None:
        move_(tables[4], tables[3], q, base, T, value, first, memory)

    @jit
    def take(tables: Any, targets: Any, job: Any, T: Any) -> None:
        source = tables[5]
        for g in range(G):
            for k in range(12):
                at = source[g, k]
                T[g, k] = kind(targets[job, at]) if at >= 0 else ZERO

    most = MOST_TRIPS[shape.by_joints]
    return Steps(shape.joints, shape.free, most, kind, (G, 12), begin, look, move, take)


def _search(shape: Shape) -> Any:
    kind, jit = numba.float32, device_jit(True)
    made, (s_offset, s_tool, s_bounds, s_limits, s_starts) = leaves(shape, np.float32, jit), sizes(shape)
    run, share, s_source = lane_loop(_steps(shape, made, jit), jit), sharing(jit), (len(shape.carrier), 12)

    if shape.by_joints:
        m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12 = made.memory

        @cuda.jit(fastmath=True, max_registers=OF_TREES)
        def search(numbers, source, targets, work, how, patience, Q):
            offset, tool = cuda.shared.array(s_offset, kind), cuda.shared.array(s_tool, kind)
            bounds, limits = cuda.shared.array(s_bounds, kind), cuda.shared.array(s_limits, kind)
            starts, own = cuda.shared.array(s_starts, kind), cuda.shared.array(s_source, numba.int32)
            share(numbers, source, offset, tool, bounds, limits, starts, own)
            memory = (
                cuda.local.array(m0, kind), cuda.local.array(m1, kind), cuda.local.array(m2, kind),
                cuda.local.array(m3, kind), cuda.local.array(m4, kind), cuda.local.array(m5, kind),
                cuda.local.array(m6, kind), cuda.local.array(m7, kind), cuda.local.array(m8, kind),
                cuda.local.array(m9, kind), cuda.local.array(m10, kind), cuda.local.array(m11, kind),
                cuda.local.array(m12, kind),
            )  # fmt: skip
            run((offset, tool, bounds, limits, starts, own), targets, work, how, patience, Q, memory)
    else:
        m0, m1, m2, m3, m4, m5, m6, m7, m8 = made.memory

        @cuda.jit(fastmath=True)
        def search(numbers, source, targets, work, how, patience, Q):
            offset, tool = cuda.shared.array(s_offset, kind), cuda.shared.array(s_tool, kind)
            bounds, limits = cuda.shared.array(s_bounds, kind), cuda.shared.array(s_limits, kind)
            starts, own = cuda.shared.array(s_starts, kind), cuda.shared.array(s_source, numba.int32)
            share(numbers, source, offset, tool, bounds, limits, starts, own)
            memory = (
                cuda.local.array(m0, kind), cuda.local.array(m1, kind), cuda.local.array(m2, kind), cuda.local.array(m3, kind),
                cuda.local.array(m4, kind), cuda.local.array(m5, kind), cuda.local.array(m6, kind), cuda.local.array(m7, kind),
                cuda.local.array(m8, kind),
            )  # fmt: skip
            run((offset, tool, bounds, limits, starts, own), targets, work, how, patience, Q, memory)

    return search
