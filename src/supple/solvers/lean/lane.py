"""The loop of one lane of a GPU, for both ways of searching (`loops`)."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import cuda as numba_cuda

from supple.solvers.lean.lean_leaves import Leaves
from supple.solvers.lean.shape import Shape

cuda: Any = numba_cuda  # what it declares of its arrays is no types
WARP, EVERYBODY = 32, 0xFFFFFFFF
REFILL, RACE_LEFT, RACE_ALL = range(3)
BIG, SLOW = 1e30, 0.9
MOST_TRIPS = {True: 40, False: 20}  # of an attempt, for steps joint by joint and others
ATTEMPTS = 256  # of a target, in all
WAITING = 4  # lanes that are done before a warp takes new targets
NEVER = 0x7FFFFFFF


def lane_loop(shape: Shape, made: Leaves, jit: Any) -> Any:
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
    def run(tables: Any, targets: Any, work: Any, how: Any, patience: Any, Q: Any, memory: Any) -> None:
        offset, tool, bounds, limits, starts, source = tables
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
