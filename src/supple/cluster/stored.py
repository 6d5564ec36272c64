"""Targets from a store, answers into a store, a chunk at a time: as many as anybody has, in the memory of a few chunks.

Stores are Parquet files (``.parquet``) and Zarr arrays and groups (``.zarr``), as paths or as URLs that fsspec opens.
*Targets* of a problem with one task are one Zarr array (n, …); of several tasks a Zarr group, or the columns of a Parquet file,
called after the tasks: what is not there keeps its own target. A Parquet column holds each target as one list of numbers,
row after row of a matrix.

*Answers* are a folder with one Parquet file for each chunk: a column for each coordinate, `status`, and the `metres` and
`radians` by which each task is missed. A file is written whole or not at all and bears a digest of what was asked: problem,
settings, version and the chunk's own targets. So the same call again does only what is not there, or is another question now.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from asyncio import CancelledError
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import supple
from supple.basics.checks import check_fields, flag, function, instance, mapping, named, seeded, whole
from supple.basics.values import FrozenDict, Value
from supple.cluster.client import MOST_WORKERS, check_cluster, connected, distributed
from supple.cluster.jobs import words_of
from supple.errors import BadFile, BadValue, Error, Interrupted, needed
from supple.problem.problem import Problem
from supple.problem.targets import by_task
from supple.solvers.base import Proving

CHUNK = 16_384  # targets
AHEAD = 2  # chunks that wait at each worker
DIGEST = b"supple"  # the key of a file's digest


@dataclass(frozen=True, eq=False, repr=False)
class Stored(Value):
    """What became of the targets of a store."""

    answers: str  # the folder, or its URL
    counts: Mapping[str, int]  # targets by status
    skipped: int = 0  # of them were answered before

    def __post_init__(self) -> None:
        counts = mapping(self.counts, "targets by status")
        object.__setattr__(
            self, "counts", FrozenDict({name: whole(n, f"{name} targets") for name, n in counts.items()})
        )
        check_fields(self, "what became of a store", answers=named, skipped=whole)

    def __len__(self) -> int:
        return sum(self.counts.values())


def _place(given: Any, what: str) -> str:
    """A path or a URL."""
    return named(os.fspath(given) if isinstance(given, os.PathLike) else given, what)


@dataclass(frozen=True)
class Question:
    """What is asked of every chunk; it goes to the workers."""

    problem: Problem
    solver: Any
    seed: int
    prove: bool


def solve_stored(
    problem: Problem,
    targets: str | os.PathLike[str],
    answers: str | os.PathLike[str],
    *,
    chunk: int = CHUNK,
    solver: Any = None,
    seed: int = 0,
    prove: bool = False,
    workers: int | None = None,
    cluster: Any = None,
    progress: Callable[[int], None] | None = None,
) -> Stored:
    """Solve a problem for all targets of a store, as `solve_many` does, and write the answers into another.

    `chunk` is how many targets are in memory at a time, for each worker; `workers` processes of this machine do them, or
    `cluster`, the address of a Dask scheduler or a ``distributed.Client``, whose machines must see the same stores. `progress`
    is called with the number of targets that are done. The same call again goes on where the last one ended.
    """
    instance(problem, Problem, "what solve_stored() takes first")
    chunk, seed, prove = whole(chunk, "the targets of a chunk", 1), seeded(seed), flag(prove, "prove")
    function(progress, "progress")
    if workers is not None:
        workers = whole(workers, "workers, how many processes,", 1, MOST_WORKERS)
    check_cluster(cluster, workers)
    place = _place(answers, "the folder of the answers").rstrip("/")
    source = _Source(problem, _place(targets, "the store of the targets"))
    Proving.by(solver, prove, problem)  # refused here, not in a worker
    question = Question(problem, solver, seed, prove)
    asked = hashlib.sha256(f"{_asked(question)} {supple.__version__}".encode()).hexdigest()
    with connected(cluster, workers) as client:
        return _run(client, question, asked, source, place, chunk, progress or (lambda done: None))


def _asked(question: Question) -> str:
    """A digest of problem and settings."""
    told = [words_of(question.problem), words_of(question.solver), question.seed, question.prove]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _run(
    client: Any,
    question: Question,
    asked: str,
    source: _Source,
    place: str,
    chunk: int,
    progress: Callable[[int], None],
) -> Stored:
    """Send the chunks out, a few at a time."""
    dask, counts, done, skipped = distributed(), dict[str, int](), 0, 0
    stated = client.scatter(question, broadcast=True, hash=False)
    waiting = iter(range(0, source.count, chunk))
    running = dask.as_completed(loop=client.loop)

    def send() -> None:
        for first in waiting:
            size = min(chunk, source.count - first)
            name = f"{place}/part-{first:012}.parquet"
            running.add(client.submit(answered, stated, asked, source.store, first, size, name, pure=False))
            return

    try:
        for _ in range(AHEAD * max(1, sum(client.nthreads().values()))):
            send()
        for future in running:
            told, before = future.result()
            for status, count in told.items():
                counts[status] = counts.get(status, 0) + count
            done, skipped = done + sum(told.values()), skipped + (sum(told.values()) if before else 0)
            progress(done)
            send()
    except KeyboardInterrupt:
        far = f"interrupted after {done:,} of {source.count:,} targets; the same again goes on from there"
        raise Interrupted(far, done, source.count) from None
    except CancelledError as error:
        far = f"after {done:,} of {source.count:,} targets; begin it again: the same call goes on from there"
        raise Error(f"the scheduler was lost {far}") from error
    return Stored(place, counts, skipped)


def answered(
    question: Question, asked: str, store: str, first: int, size: int, name: str
) -> tuple[dict[str, int], bool]:
    """Answer one chunk, in a worker: how many have each status, and whether they were there before."""
    parquet, arrow = _parquet(), needed("pyarrow", "pyarrow", "store", "writing Parquet")
    targets = _Source(question.problem, store).chunk(first, size)
    sha = hashlib.sha256(asked.encode())
    for one in targets:
        sha.update(b"-" if one is None else np.ascontiguousarray(one).tobytes())
    digest = sha.hexdigest().encode()
    system, path = _filesystem(name)
    if system.exists(path):
        with system.open(path) as stream:
            file = parquet.ParquetFile(stream)
            if (file.schema_arrow.metadata or {}).get(DIGEST) == digest:
                return _counted(file.read(columns=["status"]).column("status").to_pylist()), True
    given = targets if len(targets) > 1 else targets[0]
    many = supple.solve_many(
        question.problem, given, solver=question.solver, threads=1, seed=question.seed, prove=question.prove
    )
    statuses = [status.name for status in many.status]
    columns = {name: many.q[:, k] for k, name in enumerate(question.problem.figure.coordinates)}
    if clash := columns.keys() & {"status", "metres", "radians"}:
        raise BadValue(f"a coordinate called {min(clash)!r} cannot be a column of answers")
    misses = {word: arrow.array(list(many.errors[:, :, k])) for k, word in enumerate(("metres", "radians"))}
    table = arrow.table(columns | {"status": statuses} | misses).replace_schema_metadata({DIGEST: digest})
    _write(system, path, table, parquet)
    return _counted(statuses), False


def _write(system: Any, path: str, table: Any, parquet: Any) -> None:
    """Whole or not at all: beside it first, then in its place."""
    system.makedirs(path.rpartition("/")[0], exist_ok=True)
    beside = f"{path.rpartition('/')[0]}/.{path.rpartition('/')[2]}-{os.getpid()}"
    try:
        with system.open(beside, "wb") as stream:
            parquet.write_table(table, stream)
        system.mv(beside, path)
    except BaseException:
        if system.exists(beside):
            system.rm(beside)
        raise


def _counted(statuses: list[str]) -> dict[str, int]:
    return {status: statuses.count(status) for status in set(statuses)}


def _parquet() -> Any:
    return needed("pyarrow.parquet", "pyarrow", "store", "reading and writing Parquet")


def _filesystem(url: str) -> tuple[Any, str]:
    fsspec = needed("fsspec", "fsspec", "cluster", f"opening {url}")
    return fsspec.core.url_to_fs(url)


class _Source:
    """The targets of a store, in the order of a problem's tasks."""

    def __init__(self, problem: Problem, store: str) -> None:
        self.problem, self.store = problem, store
        self.names = [task.name for task in problem.tasks]
        ending = re.search(r"\.(\w+)/?$", store)
        kind = ending.group(1) if ending else ""
        if kind not in ("zarr", "parquet"):
            raise BadValue(f"targets are read from .zarr and .parquet stores, not from {store!r}")
        if "://" not in store and not os.path.exists(store):
            raise BadFile("there is no such store", file=store)
        self.read = self._zarr if kind == "zarr" else self._table
        self.count = self._count(kind)

    def _count(self, kind: str) -> int:
        if kind == "parquet":
            with self._opened() as stream:
                return int(_parquet().ParquetFile(stream).metadata.num_rows)
        lengths = {int(array.shape[0]) for array in self._arrays().values()}
        if len(lengths) != 1:
            raise BadFile(
                f"the arrays of {self.names} have {sorted(lengths)} targets, or there are none", file=self.store
            )
        return lengths.pop()

    def chunk(self, first: int, size: int) -> list[Any]:
        """So many targets from the first on, an array for each task or None; refused where they are of another shape."""
        given = self.read(first, size)
        if all(one is None for one in given):
            raise BadFile(
                f"none of its columns or arrays is called as a task is: {', '.join(self.names)}", file=self.store
            )
        return list(by_task(self.problem, given if len(given) > 1 else given[0]))

    def _zarr(self, first: int, size: int) -> list[Any]:
        arrays = self._arrays()
        return [np.asarray(arrays[name][first : first + size]) if name in arrays else None for name in self.names]

    def _arrays(self) -> dict[str, Any]:
        zarr = needed("zarr", "zarr", "store", "reading Zarr")
        opened = zarr.open(self.store, mode="r")
        if not isinstance(opened, zarr.Group):
            return {self.names[0]: opened} if len(self.names) == 1 else {}
        return {name: opened[name] for name in self.names if name in opened}

    def _table(self, first: int, size: int) -> list[Any]:
        with self._opened() as stream:
            file, at, parts = _parquet().ParquetFile(stream), 0, []
            known = [name for name in self.names if name in file.schema_arrow.names]
            for group in range(file.metadata.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                if at < first + size and at + rows > first:
                    begin, end = max(0, first - at), min(rows, first + size - at)
                    parts.append(file.read_row_group(group, columns=known).slice(begin, end - begin))
                at += rows
        return [
            np.concatenate([self._shaped(part.column(name).to_numpy(), name) for part in parts])
            if name in known
            else None
            for name in self.names
        ]

    def _shaped(self, lists: Any, name: str) -> np.ndarray:
        """Lists of numbers as targets: positions, placements, or rows of three numbers."""
        wide = {len(one) for one in lists}
        if len(wide) != 1 or not (wide == {16} or next(iter(wide)) % 3 == 0):
            raise BadFile(f"the targets of {name!r} are lists of 3, 6 or 16 numbers each", file=self.store)
        numbers = np.array([*lists], dtype=float)
        shape = {3: (3,), 16: (4, 4)}.get(numbers.shape[1], (-1, 3))
        return numbers.reshape(len(lists), *shape)

    def _opened(self) -> Any:
        system, path = _filesystem(self.store)
        return system.open(path)
