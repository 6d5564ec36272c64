"""A job for all files of an archive: what is done already is skipped, what fails is reported, and nothing that is done is lost.

Files go to the workers a few at a time, so that a hundred thousand of them need no more memory than ten. A worker writes its
result whole or not at all; when it has, the line goes into the manifest. So at any instant the manifest speaks only of files
that are there, and the same call after a crash, a lost scheduler or Ctrl-C goes on with the rest.
"""

from __future__ import annotations

import os
import tempfile
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import supple
from supple.basics.checks import flag, function, items, path_of, text, whole
from supple.basics.values import Value
from supple.cluster.client import MOST_WORKERS, check_cluster, connected, distributed
from supple.cluster.jobs import Job, settings_of
from supple.cluster.manifest import NAME, Entry, add, digest_of, read_manifest
from supple.errors import BadFile, BadValue, Error, Interrupted, needed, shown

KILLED = "every process that worked on it was killed; it may need more memory than a worker has"
AHEAD = 3  # files that wait at each worker, so that none is idle while the next is sent


@dataclass(frozen=True, eq=False, repr=False)
class Archive(Value):
    """What became of the files of an archive, in the order in which they were given."""

    folder: Path
    entries: tuple[Entry, ...]
    skipped: int = 0  # of them were done before

    @property
    def ok(self) -> bool:
        """Whether all are good."""
        return all(entry.status == "good" for entry in self.entries)

    @property
    def counts(self) -> dict[str, int]:
        """How many are good, doubtful and failed."""
        told = [entry.status for entry in self.entries]
        return {status: told.count(status) for status in ("good", "doubtful", "failed")}

    def __len__(self) -> int:
        return len(self.entries)


class Piece(NamedTuple):
    """A file that is to be done, and where its result goes."""

    source: str
    target: Path
    output: str  # the target within the folder


def map(
    job: Job,
    files: Iterable[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    *,
    workers: int | None = None,
    cluster: Any = None,
    retry_failed: bool = False,
    progress: Callable[[Entry], None] | None = None,
) -> Archive:
    """Do a job for many files, each into a file of its own in `folder`, on several processes.

    `cluster` is the address of a Dask scheduler or a ``distributed.Client``, whose machines must see the same files; without
    one there are `workers` processes on this machine. Files may be URLs such as ``s3://…`` that fsspec opens. A file that was
    done before, by the same job in the same version, and has not changed since is skipped; one that failed too, unless
    `retry_failed`. `progress` is called with each entry as it is made, those of skipped files
    first. Ctrl-C raises `Interrupted`.
    """
    if not isinstance(job, Job):
        raise BadValue(f"a job is called with two paths and has an ending, as cluster.Track() has; not {shown(job)}")
    function(progress, "progress")
    retry_failed = flag(retry_failed, "retry_failed, whether what failed is tried again,")
    if workers is not None:
        workers = whole(workers, "workers, how many processes,", 1, MOST_WORKERS)
    check_cluster(cluster, workers)
    place = path_of(folder, "the folder of the archive")
    pieces = planned(
        [
            os.fspath(path_of(file)) if not isinstance(file, str) else text(file, "the path of a file")
            for file in items(files, "the files of an archive")
        ],
        place,
        job.ending,
    )
    place.mkdir(parents=True, exist_ok=True)
    run = _Run(job, settings_of(job), place, read_manifest(place), progress or (lambda entry: None))
    todo = [piece for piece in pieces if not run.skips(piece, retry_failed)]
    skipped = len(pieces) - len(todo)
    if todo:
        with connected(cluster, workers) as client:
            run.do(client, todo)
    return Archive(place, tuple(run.known[piece.source] for piece in pieces), skipped)


def planned(files: list[str], folder: Path, ending: str) -> list[Piece]:
    """Where the result of each file goes: its name below the folder that all have in common, with another ending."""
    if not files:
        raise BadValue("there are no files to do")
    doubled = {file for file in files if files.count(file) > 1} if len(set(files)) < len(files) else set()
    if doubled:
        raise BadValue(f"{min(doubled)} is named twice; name each file once")
    for file in files:
        if "://" not in file and not Path(file).is_file():
            raise BadFile("there is no such file", file=file)
    parents = [os.path.dirname(file if "://" in file else os.path.abspath(file)) for file in files]
    common = os.path.commonpath(parents) if len({"://" in parent for parent in parents}) == 1 else ""
    pieces, taken = [], dict[str, str]()
    for file, parent in zip(files, parents, strict=True):
        below = os.path.relpath(parent, common) if common else "."
        output = (Path(below) / Path(file).name).with_suffix(ending).as_posix()
        if output in taken:
            raise BadValue(f"{taken[output]} and {file} would both be written to {output}; do them into two folders")
        taken[output] = file
        pieces.append(Piece(file, folder / output, output))
    return pieces


class _Run:
    """One call of `map`: the manifest, and what is added to it."""

    def __init__(
        self, job: Job, settings: str, folder: Path, known: dict[str, Entry], progress: Callable[[Entry], None]
    ) -> None:
        self.job, self.settings, self.known, self.progress = job, settings, known, progress
        self.manifest = folder / NAME
        self.count = self.total = 0

    def skips(self, piece: Piece, retry_failed: bool) -> bool:
        """Whether a file needs not be done: neither it, nor the job, nor the version, nor what was written has changed."""
        entry = self.known.get(piece.source)
        if entry is None or (entry.settings, entry.version) != (self.settings, supple.__version__):
            return False
        if entry.status == "failed" and retry_failed:
            return False
        if entry.status != "failed" and (entry.output != piece.output or not piece.target.is_file()):
            return False
        with local_copy(piece.source) as source:
            if digest_of(source) != entry.digest:
                return False
        if entry.status != "failed" and digest_of(piece.target) != entry.written:
            return False
        self.progress(entry)
        return True

    def do(self, client: Any, todo: list[Piece]) -> None:
        """Do what there is to do, a few files at a time; then those whose process was killed, one by one, to see who did."""
        dask, waiting, self.count, self.total = distributed(), iter(todo), 0, len(todo)
        of: dict[Any, Piece] = {}
        running, suspects = dask.as_completed(loop=client.loop), list[Piece]()

        def send(piece: Piece) -> Any:
            piece.target.parent.mkdir(parents=True, exist_ok=True)
            return self.reached(lambda: client.submit(done, self.job, piece, self.settings, pure=False))

        def add_next(most: int) -> None:
            for piece in _first(waiting, most):
                future = send(piece)
                of[future.key] = piece
                running.add(future)

        try:
            add_next(AHEAD * max(1, len(client.scheduler_info()["workers"])))
            for future in running:
                piece = of.pop(future.key)
                if self.is_killed(future, dask):
                    suspects.append(piece)
                else:
                    self.note(future, piece, dask)
                add_next(1)
            for piece in suspects:
                self.note(send(piece), piece, dask)
        except KeyboardInterrupt:
            far = f"interrupted after {self.count:,} of {self.total:,} files; the same again goes on from there"
            raise Interrupted(far, self.count, self.total) from None

    def is_killed(self, future: Any, dask: Any) -> bool:
        """Whether the processes that had a file were killed, by it or by another that waited there."""
        error = self.reached(
            future.exception
        )  # waits, where a worker was killed after it was done: another does it again
        if future.cancelled():
            raise self.lost()
        return isinstance(error, dask.scheduler.KilledWorker)

    def reached(self, ask: Callable[[], Any]) -> Any:
        """What the scheduler answers; an Error if it is there no more."""
        try:
            return ask()
        except (OSError, RuntimeError, CancelledError) as error:
            raise self.lost() from error

    def lost(self) -> Error:
        """That the scheduler is there no more."""
        far = f"{self.count:,} of {self.total:,} files"
        return Error(f"the scheduler was lost after {far}; begin it again: the same call goes on from there")

    def note(self, future: Any, piece: Piece, dask: Any) -> None:
        """Write down what became of a file."""
        entry = self.entry_of(future, piece, self.is_killed(future, dask))
        add(self.manifest, entry)
        self.known[entry.source] = entry
        self.count += 1
        self.progress(entry)

    def entry_of(self, future: Any, piece: Piece, killed: bool) -> Entry:
        """What a worker tells of a file, or what became of the worker."""
        error = self.reached(future.exception)
        if error is None:
            return self.reached(future.result)
        reason = KILLED if killed else f"{type(error).__name__}: {error}"
        with local_copy(piece.source) as source:
            digest = digest_of(source)
        failed = Entry(piece.source, "", "failed", reason, digest=digest, settings=self.settings)
        return replace(failed, version=supple.__version__)


def _first(pieces: Iterator[Piece], count: int) -> Iterator[Piece]:
    for _, piece in zip(range(count), pieces, strict=False):
        yield piece


def done(job: Job, piece: Piece, settings: str) -> Entry:
    """Do one file, in a worker; whatever goes wrong with it is told."""
    begun = time.process_time()
    entry = Entry(piece.source, "", "failed", settings=settings, version=supple.__version__, worker=_worker())
    try:
        with local_copy(piece.source) as source:
            entry = replace(entry, digest=digest_of(source))
            told = job(source, piece.target)
        status = "good" if told.ok else "doubtful"
        numbers = {name: float(value) for name, value in told.numbers.items()}
        entry = replace(entry, output=piece.output, status=status, reason=told.reason, told=numbers)
        entry = replace(entry, written=digest_of(piece.target))
    except Exception as error:  # a file may break anything; the others go on
        named = str(error) if isinstance(error, Error | OSError) else f"{type(error).__name__}: {error}"
        entry = replace(entry, output="", status="failed", reason=named)
    return replace(entry, seconds=time.process_time() - begun)


def _worker() -> str:
    try:
        return f"{distributed().get_worker().address}, process {os.getpid()}"
    except ValueError:  # outside a worker
        return f"process {os.getpid()}"


@contextmanager
def local_copy(file: str) -> Iterator[Path]:
    """The file itself, or what a URL holds, as a file of the same name that is removed again."""
    if "://" not in file:
        yield Path(file)
        return
    fsspec = needed("fsspec", "fsspec", "cluster", f"opening {file}")
    with tempfile.TemporaryDirectory(prefix="supple-") as folder:
        path = Path(folder) / os.path.basename(file)
        system, inside = fsspec.core.url_to_fs(file)
        system.get_file(inside, str(path))
        yield path
