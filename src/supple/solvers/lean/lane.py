"""The loop of one lane of a GPU, for both ways of searching (`loops`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numba import cuda as numba_cuda

cuda: Any = numba_cuda  # what it declares of its arrays is no types
WARP, EVERYBODY = 32, 0xFFFFFFFF
REFILL, RACE_LEFT, RACE_ALL = range(3)
BIG, SLOW = 1e30, 0.9
ATTEMPTS = 256  # of a target, in all
WAITING = 4  # lanes that are done before a warp takes new targets
NEVER = 0x7FFFFFFF


class Steps(NamedTuple):
    """What a lane does, and how large everything is."""

    size: int  # joints or coordinates
    free: bool  # whether there is a base besides, which the first move may put elsewhere
    most: int  # trips of an attempt
    real: Any  # the type of numbers
    targets: Any  # the shape of a target
    begin: Any  # (tables, k, q, base)
    look: Any  # (tables, q, base, T, memory) → over, value
    move: Any  # (tables, q, base, T, value, first, memory)
    take: Any  # (tables, targets, job, T)


def real_of(kind: Any) -> Any:
    """The type of NumPy's scalars for one of Numba's."""
    return np.float32 if kind is numba.float32 else np.float64


def lane_loop(steps: Steps, jit: Any) -> Any:
    """The loop of one lane: ``run(tables, targets, work, how, patience, Q, memory)``."""
    n, FREE, CAP = steps.size, steps.free, steps.most
    begin, look, move, take = steps.begin, steps.look, steps.move, steps.take
    kind, s_targets = steps.real, steps.targets
    ZERO, ONE, VAST, FELL = real_of(kind)(0), real_of(kind)(1), real_of(kind)(BIG), real_of(kind)(SLOW)

    if isinstance(s_targets, int):

        @jit
        def blank(T: Any) -> None:
            for k in range(s_targets):
                T[k] = ZERO
    else:
        G = s_targets[0]

        @jit
        def blank(T: Any) -> None:
            for g in range(G):
                for k in range(12):
                    T[g, k] = ZERO

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
        q, base, T = cuda.local.array(n, kind), cuda.local.array(7, kind), cuda.local.array(s_targets, kind)
        lane, below = cuda.laneid, (1 << cuda.laneid) - 1
        count, told = work[1] if how == RACE_LEFT else targets.shape[0], 2 + targets.shape[0]
        number, warps = cuda.grid(1) // WARP, cuda.gridsize(1) // WARP
        begin(tables, ZERO, q, base)
        blank(T)
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
                take(tables, targets, job, T)
                begin(tables, kind(attempt), q, base)
                trip, bad, last = 0, 0, VAST
            over, value = look(tables, q, base, T, memory)
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
                            begin(tables, ZERO, q, base)
                            tell(Q, work, job, q, base, -1)
                        asking = True
            if failed:
                begin(tables, kind(attempt), q, base)
                trip, bad, last = 0, 0, VAST
            elif running:
                move(tables, q, base, T, value, trip == 1, memory)

    return run
