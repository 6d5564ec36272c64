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

**Finish.** The search is in float32 and with fastmath. What it found is moved into the limits in float64, improved by
a few steps and judged, all in float64 without fastmath: that verdict alone counts. NaN is never met, since no
comparison with it holds.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import cuda as numba_cuda

from supple.kernels.kinds import TURN
from supple.solvers.lean.leaves import Leaves, leaves
from supple.solvers.lean.root import unfold
from supple.solvers.lean.shape import Root, Shape

cuda: Any = numba_cuda  # what it declares of its arrays is no types
WARP, EVERYBODY = 32, 0xFFFFFFFF
THREADS = 128
REFILL, RACE_LEFT, RACE_ALL = range(3)
BIG, SLOW = 1e30, 0.9
MOST_TRIPS = {True: 40, False: 20}  # of an attempt, for steps joint by joint and others
ATTEMPTS = 256  # of a target, in all
OF_TREES = 128  # registers of a lane: what does not fit in them does not fit in twice as many
WAITING = 4  # lanes that are done before a warp takes new targets
NEVER = 0x7FFFFFFF
UNSQUARE = 1e-5  # what the products of a rotation's columns may be off: rotations in float32 are off by 10⁻⁷


class Loops(NamedTuple):
    """The kernels of a shape, and the arguments that they take."""

    search: Any  # (numbers, source, targets, work, how, patience, Q)
    finish: Any  # (numbers, source, places, targets, work, Q, P, verdict)


@cache
def loops(shape: Shape, root: Root | None = None, steps: int = 1) -> Loops:
    """The kernels of a shape, not yet compiled: that happens at the first call for each kind of targets.

    `numbers` are those of `shape.packs`, one behind the other; `source` (G, 12) says where in a row of targets each
    number of a goal is. `work` counts the targets that were taken and those that are left, and has room for their
    list and for what became of each; `patience` is for the refill. `places` are the coordinate of each joint, and the
    resting posture.
    """
    return Loops(_search(shape), _finish(shape, root, steps))


def _device(fast: bool) -> Any:
    def jit(function: Any) -> Any:
        return cuda.jit(function, device=True, forceinline=True, fastmath=fast)

    return jit


def _sizes(shape: Shape) -> tuple[tuple[int, int], ...]:
    """Shapes of offsets, tools, bounds, limits and starts."""
    n, G = shape.joints, len(shape.carrier)
    return (n, 12), (G, 12), (G, 2), (2, n), (4, n)


def _sharing(jit: Any) -> Any:
    """A leaf that copies all numbers into memory that a block shares."""

    @jit
    def copy(given: Any, at: Any, here: Any) -> Any:
        """Copy numbers that begin at a place; where the next ones begin."""
        wide = here.shape[1]
        for k in range(cuda.threadIdx.x, here.size, cuda.blockDim.x):
            here[k // wide, k % wide] = given[at + k]
        return at + here.size

    @jit
    def share(
        numbers: Any, source: Any, offset: Any, tool: Any, bounds: Any, limits: Any, starts: Any, own: Any
    ) -> None:
        at = copy(numbers, 0, offset)
        at = copy(numbers, at, tool)
        at = copy(numbers, at, bounds)
        at = copy(numbers, at, limits)
        copy(numbers, at, starts)
        copy(source, 0, own)
        cuda.syncthreads()

    return share


def _search(shape: Shape) -> Any:
    kind, jit = numba.float32, _device(True)
    made, (s_offset, s_tool, s_bounds, s_limits, s_starts) = leaves(shape, np.float32, jit), _sizes(shape)
    run, share, s_source = _running(shape, made, jit), _sharing(jit), (len(shape.carrier), 12)

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
            run(offset, tool, bounds, limits, starts, own, targets, work, how, patience, Q, memory)
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
            run(offset, tool, bounds, limits, starts, own, targets, work, how, patience, Q, memory)

    return search


def _running(shape: Shape, made: Leaves, jit: Any) -> Any:
    """The loop of one lane."""
    n, G, FREE, BY_JOINTS = shape.joints, len(shape.carrier), shape.free, shape.by_joints
    begin, look, move = made.begin, made.look, made.move
    kind, s_targets = numba.float32, (len(shape.carrier), 12)
    ZERO, ONE, VAST, FELL = np.float32(0), np.float32(1), np.float32(BIG), np.float32(SLOW)
    CAP = MOST_TRIPS[BY_JOINTS]

    @jit
    def take(source: Any, targets: Any, job: Any, T: Any) -> None:
        for g in range(G):
            for k in range(12):
                at = source[g, k]
                T[g, k] = kind(targets[job, at]) if at >= 0 else ZERO

    @jit
    def tell(Q: Any, work: Any, job: Any, q: Any, base: Any, trips: Any) -> None:
        for i in range(n):
            Q[job, i] = q[i]
        if FREE:
            for i in range(7):
                Q[job, n + i] = base[i]
        work[2 + Q.shape[0] + job] = trips

    @jit
    def run(
        offset: Any, tool: Any, bounds: Any, limits: Any, starts: Any, source: Any, targets: Any, work: Any, how: Any,
        patience: Any, Q: Any, memory: Any,
    ) -> None:  # fmt: skip
        q, base, T = cuda.local.array(n, kind), cuda.local.array(7, kind), cuda.local.array(s_targets, kind)
        lane, below = cuda.laneid, (1 << cuda.laneid) - 1
        count, told = work[1] if how == RACE_LEFT else targets.shape[0], 2 + targets.shape[0]
        number, warps = cuda.grid(1) // WARP, cuda.gridsize(1) // WARP
        begin(starts, limits, ZERO, q, base)
        for g in range(G):
            for k in range(12):
                T[g, k] = ZERO
        job, attempt, upcoming, trip, trips, bad, last = 0, 0, 0, 0, 0, 0, VAST
        need, idle, running, arrived, asking = True, False, False, False, True
        while True:
            fresh = False
            if how == REFILL:
                want = cuda.ballot_sync(EVERYBODY, need)
                waiting, resting = cuda.popc(want), cuda.popc(cuda.ballot_sync(EVERYBODY, idle))
                if waiting >= WAITING or (waiting > 0 and resting > 0):  # the second: nothing is left to wait for
                    leader, first = cuda.ffs(want) - 1, 0
                    if lane == leader:
                        first = cuda.atomic.add(work, 0, waiting)
                    first = cuda.shfl_sync(EVERYBODY, first, leader)
                    if need:
                        job, need = first + cuda.popc(want & below), False
                        idle = job >= count
                        running = not idle
                        fresh, attempt, trips = running, 0, 0
                if cuda.all_sync(EVERYBODY, idle):
                    break
            elif asking:
                if number >= count:
                    break
                job = work[2 + number] if how == RACE_LEFT else number
                number += warps
                attempt = -1 - work[told + job] if how == RACE_LEFT else 0
                upcoming, attempt = attempt + WARP, attempt + lane
                fresh, asking, running, arrived, trips = True, False, True, False, 0
            if fresh:
                take(source, targets, job, T)
                begin(starts, limits, kind(attempt), q, base)
                trip, bad, last = 0, 0, VAST
            over, value = look(offset, tool, bounds, q, base, T, memory)
            trip, trips = trip + 1, trips + 1
            met = (
                running and over < ONE and value < VAST
            )  # max() drops a NaN, the sum does not; fastmath may invert a "not"
            bad = bad + 1 if value > FELL * last else 0
            last = VAST if FREE and trip == 1 else value
            failed = running and not met and (bad >= 2 or trip >= CAP)
            if how == REFILL:
                if met or (running and trips >= patience):
                    if met:
                        tell(Q, work, job, q, base, trips)
                    else:
                        work[told + job] = -1 - attempt
                        work[2 + cuda.atomic.add(work, 1, 1)] = job
                    need, running, failed = True, False, False
                if failed:
                    attempt += 1
            else:
                if met:
                    arrived, running = True, False
                won, lost = cuda.ballot_sync(EVERYBODY, arrived), cuda.ballot_sync(EVERYBODY, failed)
                if won != 0:
                    best = attempt if arrived else NEVER
                    for s in (16, 8, 4, 2, 1):
                        best = min(best, cuda.shfl_xor_sync(EVERYBODY, best, s))
                    running = running and attempt < best and not failed
                    failed = False
                    if cuda.ballot_sync(EVERYBODY, running) == 0:
                        if arrived and attempt == best:
                            tell(Q, work, job, q, base, trips)
                        asking = True
                elif lost != 0:
                    if failed:
                        attempt = upcoming + cuda.popc(lost & below)
                        running = attempt < ATTEMPTS
                        failed = running
                    upcoming += cuda.popc(lost)
                    if cuda.ballot_sync(EVERYBODY, running) == 0:
                        if lane == 0:
                            begin(starts, limits, ZERO, q, base)
                            tell(Q, work, job, q, base, -1)
                        asking = True
            if failed:
                begin(starts, limits, kind(attempt), q, base)
                trip, bad, last = 0, 0, VAST
            elif running:
                move(starts, limits, q, base, T, value, trip == 1, memory)

    return run


def _finish(shape: Shape, root: Any, steps: int) -> Any:
    kind, half, jit = numba.float64, numba.float32, _device(False)
    made, (s_offset, s_tool, s_bounds, s_limits, s_starts) = leaves(shape, np.float64, jit), _sizes(shape)
    work_on, share, s_source = _polishing(shape, made, (root, steps), jit), _sharing(jit), (len(shape.carrier), 12)

    if shape.by_joints:
        m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12 = made.memory

        @cuda.jit(max_registers=OF_TREES)
        def finish(numbers, source, places, targets, work, Q, P, verdict):
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
                short = (
                    cuda.local.array(12, half), cuda.local.array(1, half), cuda.local.array(m2, half),
                    cuda.local.array(m3, half), cuda.local.array(m4, half), cuda.local.array(9, half),
                    cuda.local.array(1, half), cuda.local.array(m7, half), cuda.local.array(m8, half),
                    cuda.local.array(m9, half), cuda.local.array(m10, half), cuda.local.array(m11, half),
                    cuda.local.array(m12, half),
                )  # fmt: skip
                work_on(offset, tool, bounds, limits, own, places, targets, work, Q, P, verdict, job, memory, short)
    else:
        m0, m1, m2, m3, m4, m5, m6, m7, m8 = made.memory

        @cuda.jit
        def finish(numbers, source, places, targets, work, Q, P, verdict):
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
                short = (
                    cuda.local.array(12, half), cuda.local.array(1, half), cuda.local.array(m2, half),
                    cuda.local.array(m3, half), cuda.local.array(m4, half), cuda.local.array(9, half),
                    cuda.local.array(1, half), cuda.local.array(m7, half), cuda.local.array(m8, half),
                )  # fmt: skip
                work_on(offset, tool, bounds, limits, own, places, targets, work, Q, P, verdict, job, memory, short)

    return finish


def _polishing(shape: Shape, made: Leaves, settings: tuple[Any, int], jit: Any) -> Any:
    """The finish of one target."""
    look, kind, half = made.look, numba.float64, numba.float32
    n, G, FREE, s_targets = shape.joints, len(shape.carrier), shape.free, (len(shape.carrier), 12)
    m, move, s_limits = sum(shape.rows), leaves(shape, np.float32, jit).move, (2, len(shape.parent))
    (root, STEPS), ZERO, ONE = settings, np.float32(0), np.float32(1)
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
    def improve(
        limits: Any,
        q: Any,
        base: Any,
        T: Any,
        value: Any,
        memory: Any,
        short: Any,
        bent: Any,
        room: Any,
        own: Any,
        aim: Any,
    ) -> None:
        """One step, reckoned in float32 from errors in float64: it is short, so half of the digits do for it.

        It begins at 0 between what is left of the ranges, so that what comes out is the step itself.
        """
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
    def put(q: Any, base: Any, places: Any, P: Any, job: Any) -> None:
        """Write the posture in the figure's coordinates."""
        for i in range(n):
            P[job, int(places[i])] = q[i]
        if FREE:
            out(base, P, job)

    @jit
    def work_on(
        offset: Any, tool: Any, bounds: Any, limits: Any, source: Any, places: Any, targets: Any, work: Any, Q: Any, P: Any,
        verdict: Any, job: Any, memory: Any, short: Any,
    ) -> None:  # fmt: skip
        bent, own, aim = cuda.local.array(n, half), cuda.local.array(7, half), cuda.local.array(s_targets, half)
        room = cuda.local.array(s_limits, half)
        q, base, T = cuda.local.array(n, kind), cuda.local.array(7, kind), cuda.local.array(s_targets, kind)
        kept, stood = cuda.local.array(n, kind), cuda.local.array(7, kind)
        bring(source, targets, Q, job, limits, T, q, base)
        keep(q, base, kept, stood)
        over, value = look(offset, tool, bounds, q, base, T, memory)
        good = over < 1.0 and value < BIG
        for _ in range(STEPS):
            improve(limits, q, base, T, value, memory, short, bent, room, own, aim)
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
