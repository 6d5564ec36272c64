"""Batches of targets on a GPU, from arrays on the host or on the device.

A batch goes through in chunks, three of them on the way at once: while one is solved, the next is copied to the
device and the last one back, each through pinned memory that is used again. So memory is bounded whatever the number
of targets.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from supple.basics.checks import instance
from supple.errors import BadValue
from supple.problem.goals import At, Placed
from supple.problem.problem import Problem
from supple.problem.targets import slots
from supple.solvers.lean import gpu
from supple.solvers.lean.arrays import lies_there, looked_at, stream_of
from supple.solvers.lean.chunk import Slot
from supple.solvers.lean.shape import Refused
from supple.solvers.lean.ways import way_of

CHUNK, CHUNK_THERE = 1 << 19, 1 << 22  # rows that are on the way to and from the device, and that lie there
ON_THE_WAY, THREADS = 3, 128  # chunks at once; threads of a block
REFILLING, RACING = 4, 8  # blocks on a multiprocessor
FEW = 8192  # rows up to which each has a warp of its own from the beginning
GRAPHS = 8  # sizes of small batches that are remembered
COPIERS = 16  # threads that copy to and from pinned memory
PLACED = (3, 7, 11, 0, 1, 2, 4, 5, 6, 8, 9, 10)  # of a placement (4, 4): the place, then the rotation


class Found(NamedTuple):
    """What became of a batch; arrays are where the targets were."""

    q: Any  # (n, size) postures, float64; of a row that is not met, one near the start
    trips: Any  # (n) evaluations, int32; negative where the row is not met


class Batch:
    """A problem whose targets come by the thousand, prepared for the GPU.

        batch = Batch(problem)
        q, trips = batch(targets)          # (n, size), and (n) > 0 where every task is met

    Targets are as for `solve_many`, of float32 or float64, and taken as they are: one array for each task of `At` and
    `Placed` goals, or else `rows` as kernels read them. They may lie on the device (whatever speaks
    ``__cuda_array_interface__`` or DLPack), those of several tasks side by side in one array (n, numbers); then so do the
    answers, new ones or those of `out`. With a `stream` (Numba's, CuPy's, PyTorch's, a number) they are ready when that is.
    A row whose target is not finite, or no rotation, is not met. `start` is where the first attempt begins. What the GPU
    does not take is refused, with the reason.
    """

    def __init__(self, problem: Problem, start: Any = None) -> None:
        instance(problem, Problem, "what a batch is about")
        self.problem = problem
        figure = problem.figure
        begin = problem.admitted(figure.rest if start is None else figure.posture(start))
        self.cuda = gpu.cuda()
        try:
            self.way = way_of(problem, begin)
        except Refused as why:
            raise BadValue(f"a GPU does not take this problem: {why}; leave device= out to solve here") from why
        self._ready: dict[Any, Any] = {}
        self._blocks = gpu.processors()
        self._slots: dict[Any, list[Slot]] = {}
        self._copiers = ThreadPoolExecutor(min(COPIERS, os.cpu_count() or 1), thread_name_prefix="supple-copy")
        self._collector = ThreadPoolExecutor(1, thread_name_prefix="supple-answers")

    # ── doors ────────────────────────────────────────────────────────────────────────────────────────────────────────
    def __call__(self, targets: Any, stream: Any = None, out: Found | None = None) -> Found:
        """Solve for all targets; where they are on the device, on a stream, and into arrays of an earlier batch."""
        if lies_there(targets):
            return self._on_device(looked_at(targets, stream), stream_of(stream), out)
        if stream is not None or out is not None:
            raise BadValue("stream= and out= are for targets that lie on the device")
        several = len(self.problem.tasks) != 1
        given = [np.asarray(t) for t in targets] if several else [np.asarray(targets)]
        shapes = [(4, 4) if isinstance(t.goal, Placed) else (3,) for t in self.problem.tasks]
        if not self._as_given:
            raise BadValue("arrays of targets are for At and Placed, without closed loops; else give Batch.rows(flat)")
        if len(given) != len(shapes) or any(a.shape[1:] != s for a, s in zip(given, shapes, strict=False)):
            raise BadValue(f"targets have the shapes {', '.join(str(('n', *s)) for s in shapes)}")
        if len({len(a) for a in given}) != 1:
            raise BadValue("targets must be arrays of one length")
        flat = [a.reshape(len(a), -1) for a in given]
        return self._from_host(flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1), self._given_source)

    def rows(self, T: np.ndarray) -> Found:
        """Solve for targets as the kernels read them, a row for each (`flat_targets`)."""
        return self._from_host(T, self.way.source)

    @property
    def _as_given(self) -> bool:
        return not self.problem.loops and all(isinstance(task.goal, At | Placed) for task in self.problem.tasks)

    @property
    def _given_source(self) -> np.ndarray:
        """Where the numbers of a goal are in arrays as users give them, one behind the other."""
        own, wide = [], 0
        for slot in slots(self.problem):
            placed = isinstance(slot.task.goal, Placed)
            first = slot.task.goal.terms()[0].target
            order = PLACED if len(first) == 3 else (*PLACED[3:], *PLACED[:3])
            own += [wide + k for k in (order if placed else range(3))]
            wide += 16 if placed else 3
        source = self.way.source
        return np.where(source >= 0, np.array(own)[np.maximum(source, 0)], -1)

    # ── the way through ──────────────────────────────────────────────────────────────────────────────────────────────
    def _kernels(self, kind: Any, layout: str) -> tuple[Any, ...]:
        """The kernels for targets of a kind: one that searches, then those that finish."""
        if (kind, layout) not in self._ready:
            self._ready[kind, layout] = self.way.kernels(kind, layout)
        return self._ready[kind, layout]

    def _launch(self, slot: Slot, targets: Any, source: Any, out: tuple[Any, Any]) -> None:
        """Solve a chunk whose targets are on the device, on the slot's stream."""
        from supple.solvers.lean.lane import RACE_ALL, RACE_LEFT, REFILL, WARP

        search, *finish = self._kernels(targets.dtype.type, "C" if targets.is_c_contiguous() else "A")
        count, (P, verdict) = targets.shape[0], out
        work, Q = slot.work[: 2 + 2 * count], slot.Q[:count]
        pair = 2 * WARP
        blocks, stream, first = self._blocks, slot.stream, self.way.searching(source)
        if count <= FEW:
            self._at(search, (count + 1) // 2, pair, stream)(*first, targets, work, RACE_ALL, 0, Q)
        else:
            patience = next(trips for most, trips in self.way.patience if count <= most)
            work[:2].copy_to_device(self._zeros, stream=stream)
            many = min(REFILLING * blocks, -(-count // THREADS))
            self._at(search, many, THREADS, stream)(*first, targets, work, REFILL, patience, Q)
            self._at(search, RACING * blocks, pair, stream)(*first, targets, work, RACE_LEFT, 0, Q)
        given = self.way.finishing(source, targets, work, Q, P, verdict)
        for kernel in finish:
            self._at(kernel, -(-count // THREADS), THREADS, stream)(*given)

    def _at(self, kernel: Any, blocks: int, threads: int, stream: Any) -> Any:
        """A kernel with the size of its grid; that a small batch does not fill the device is no news."""
        key = (id(kernel), blocks, threads, id(stream))
        if key not in self._ready:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._ready[key] = kernel[blocks, threads, stream]
        return self._ready[key]

    @property
    def _zeros(self) -> Any:
        if "zeros" not in self._ready:
            self._ready["zeros"] = self.cuda.to_device(np.zeros(2, np.int32))
        return self._ready["zeros"]

    def _source(self, source: np.ndarray) -> Any:
        key = source.astype(np.int32).tobytes()
        if key not in self._ready:
            self._ready[key] = self.cuda.to_device(np.ascontiguousarray(source.astype(np.int32)).ravel())
        return self._ready[key]

    def _slots_for(self, rows: int, wide: int, kind: Any, pinned: bool) -> list[Slot]:
        rows = min(CHUNK if pinned else CHUNK_THERE, 1 << max(rows - 1, 1).bit_length())
        key = (rows, wide, kind, pinned)
        if key not in self._slots:
            for old in [k for k in self._slots if k[3] == pinned]:
                del self._slots[old]
            widths, kinds = (wide, self.way.found, self.problem.figure.size), (kind, self.way.real)
            self._slots[key] = self._made(rows, widths, kinds, pinned)
        return self._slots[key]

    def _made(self, rows: int, widths: tuple[int, int, int], kinds: tuple[Any, Any], pinned: bool) -> list[Slot]:
        """Room for chunks; where the device has not as much, for smaller ones."""
        while True:
            try:
                return [Slot(rows, widths, kinds, pinned) for _ in range(ON_THE_WAY if pinned else 1)]
            except self.cuda.cudadrv.driver.CudaAPIError as error:
                if rows <= FEW:
                    raise BadValue(
                        f"the device has no memory left, not even for {rows} targets ({error}); free some, "
                        "or leave device= out to solve here"
                    ) from error
                rows //= 2

    def _from_host(self, T: np.ndarray, source: np.ndarray) -> Found:
        kind = np.float32 if T.dtype == np.float32 else np.float64
        T, own = np.ascontiguousarray(T, dtype=kind), self._source(source)
        count, size = len(T), self.problem.figure.size
        q, trips = np.empty((count, size)), np.empty(count, np.int32)
        if not count:
            return Found(q, trips)
        used = self._slots_for(count, T.shape[1], kind, True)
        if count <= FEW:
            return self._at_once(used[0], T, own)
        rows, busy = len(used[0].given), {}
        for number, first in enumerate(range(0, count, rows)):
            slot, last = used[number % len(used)], min(first + rows, count)
            if number >= len(used):
                busy.pop(number % len(used)).result()
            k = last - first
            self._copy(slot.given[:k], T[first:last])
            targets = slot.targets[:k]
            targets.copy_to_device(slot.given[:k], stream=slot.stream)
            self._launch(slot, targets, own, (slot.P[:k], slot.verdict[:k]))
            slot.P[:k].copy_to_host(slot.answer[:k], stream=slot.stream)
            slot.verdict[:k].copy_to_host(slot.told[:k], stream=slot.stream)
            slot.done.record(slot.stream)
            busy[number % len(used)] = self._collector.submit(self._collect, slot, q[first:last], trips[first:last])
        for one in busy.values():
            one.result()
        return Found(q, trips)

    def _at_once(self, slot: Slot, T: np.ndarray, source: Any) -> Found:
        """A small batch: the way there, the kernels and the way back are one recorded graph, launched at once."""
        count = len(T)
        if count not in slot.graphs:
            parts = slot.targets[:count], slot.given[:count], slot.P[:count], slot.verdict[:count]

            def work() -> None:
                targets, given, P, verdict = parts
                targets.copy_to_device(given, stream=slot.stream)
                self._launch(slot, targets, source, (P, verdict))
                P.copy_to_host(slot.answer[:count], stream=slot.stream)
                verdict.copy_to_host(slot.told[:count], stream=slot.stream)

            slot.given[:count] = T
            work()  # loads what a recording must not load
            slot.stream.synchronize()
            for old in [*slot.graphs][GRAPHS - 1 :]:
                del slot.graphs[old]
            slot.graphs[count] = source, gpu.recorded(work, slot.stream)
        slot.given[:count] = T
        known, launch = slot.graphs[count]
        assert known is source, "a slot serves one layout of targets"
        launch()
        slot.stream.synchronize()
        return Found(slot.answer[:count].copy(), slot.told[:count].copy())

    def _collect(self, slot: Slot, q: np.ndarray, trips: np.ndarray) -> None:
        """Wait for a chunk and take its answers."""
        slot.done.synchronize()
        self._copy(q, slot.answer[: len(q)])
        trips[...] = slot.told[: len(q)]

    def _copy(self, to: np.ndarray, what: np.ndarray) -> None:
        """Copy rows, large ones by several threads."""
        if what.nbytes < 1 << 20:
            to[...] = what
        else:
            list(self._copiers.map(lambda own: np.copyto(to[own], what[own]), _parts(len(what), COPIERS)))

    def _on_device(self, targets: Any, stream: Any, out: Found | None = None) -> Found:
        """Targets on the device: answers stay there, and are ready when the stream is."""
        if not self._as_given:
            raise BadValue("arrays on the device are for At and Placed, without closed loops")
        kind = targets.dtype.type
        if kind not in (np.float32, np.float64):
            raise BadValue(f"targets are float32 or float64, not {targets.dtype}")
        count = targets.shape[0]
        wide = int(np.prod(targets.shape[1:]))
        wanted = sum(16 if isinstance(task.goal, Placed) else 3 for task in self.problem.tasks)
        if wide != wanted:
            raise BadValue(f"a row of targets has {wanted} numbers, those of all tasks one after the other, not {wide}")
        if not targets.is_c_contiguous():
            raise BadValue("targets on the device must be contiguous")
        flat, own = targets.reshape(count, wide), self._source(self._given_source)
        made = self.cuda.device_array
        size = self.problem.figure.size
        P, verdict = map(looked_at, out) if out else (made((count, size)), made(count, np.int32))
        if P.shape != (count, size) or verdict.shape != (count,):
            raise BadValue(
                f"the arrays of out= are ({count}, {size}) and ({count},), not {P.shape} and {verdict.shape}"
            )
        if (P.dtype, verdict.dtype) != (np.float64, np.int32) or not (
            P.is_c_contiguous() and verdict.is_c_contiguous()
        ):
            raise BadValue("the arrays of out= are of float64 and int32, and contiguous")
        used = self._slots_for(count, 1, kind, False)[:1]
        slot, rows = used[0], used[0].Q.shape[0]
        own_stream = slot.stream
        if stream is not None:
            slot.stream = stream
        try:
            for first in range(0, count, rows):
                last = min(first + rows, count)
                self._launch(slot, flat[first:last], own, (P[first:last], verdict[first:last]))
            if stream is None:
                slot.stream.synchronize()
        finally:
            slot.stream = own_stream
        return Found(P, verdict)


def _parts(count: int, parts: int) -> Iterator[slice]:
    step = -(-count // parts)
    return (slice(at, min(at + step, count)) for at in range(0, count, step))
