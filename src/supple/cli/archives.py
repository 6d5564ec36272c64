"""What commands say and do where they are given many files: the options that they share, the bar, the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

if TYPE_CHECKING:
    from supple.cluster.archive import Archive
    from supple.cluster.manifest import Entry

Workers = Annotated[
    int | None,
    typer.Option(help="Of many files: so many processes of this machine.", show_default="one a processor", min=1),
]
Address = Annotated[
    str | None, typer.Option("--cluster", metavar="ADDRESS", help="Of many files: a Dask scheduler, tcp://HOST:8786.")
]
Retry = Annotated[bool, typer.Option("--retry-failed", help="Of many files: try those again that failed before.")]
Ending = Annotated[
    str | None, typer.Option("--format", help="Of many files: the ending of what is written, such as .mot.")
]
TOLD = 20  # files that are named in the end
EVERY = 10.0  # seconds between two lines where there is no terminal for a bar


class Spread(NamedTuple):
    """Who does many files, and how."""

    workers: int | None = None
    cluster: str | None = None
    retry_failed: bool = False
    ending: str | None = None


def is_archive(files: Sequence[Any], output: Path | None, spread: Spread) -> bool:
    """Whether files go into a folder, one each, rather than one into a file."""
    return len(files) > 1 or any(spread) or (output is not None and output.is_dir())


def folder_of(outputs: Sequence[Path], **not_taken: Any) -> Path:
    """The one folder that many files are done into; options that are for a single file are refused."""
    from supple.errors import BadValue

    for name, given in not_taken.items():
        if given:
            raise BadValue(f"--{name} is for a single file: leave it out, or do that file alone")
    if len(outputs) != 1 or outputs[0].is_file():
        raise BadValue("many files are done into one folder: name it by -o FOLDER")
    return outputs[0]


def do(job: Any, files: Sequence[str | Path], folder: Path, spread: Spread, what: str) -> bool:
    """Do a job for all files, say how far it is and how it went; whether all are good."""
    from supple import cluster

    with _bar(what, len(files)) as advance:
        archive = cluster.map(
            job,
            [str(file) for file in files],
            folder,
            workers=spread.workers,
            cluster=spread.cluster,
            retry_failed=spread.retry_failed,
            progress=advance,
        )
    for line in _lines(archive):
        typer.echo(line)
    return archive.ok


def _lines(archive: Archive) -> Iterator[str]:
    """The counts, and every file that is not good, up to so many."""
    from supple.cluster.manifest import NAME

    bad = [entry for entry in archive.entries if entry.status != "good"]
    for entry in bad[:TOLD]:
        yield f"{entry.status}: {entry.source}: {' '.join(entry.reason.split())}"
    if len(bad) > TOLD:
        yield f"… and {len(bad) - TOLD} more"
    counts = ", ".join(f"{count} {status}" for status, count in archive.counts.items())
    before = f" ({archive.skipped} of them before)" if archive.skipped else ""
    yield f"{archive.folder}: {counts}{before}; {archive.folder / NAME} says more"


@contextmanager
def _bar(what: str, total: int) -> Iterator[Any]:
    """A bar with rate and time left; where there is no terminal, a line now and then."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(what, total)
        return
    rate = TextColumn("{task.fields[rate]}")
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn("files"), rate, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        work = bar.add_task("", total=total, rate="")

        def advance(entry: Entry) -> None:
            if entry.status == "failed":
                bar.console.print(f"failed: {entry.source}", markup=False, highlight=False)
            speed = bar.tasks[work].speed
            bar.update(work, advance=1, rate="" if not speed else f"{speed:.2g} a second")

        yield advance


class _Lines:
    """How far it is, for logs."""

    def __init__(self, what: str, total: int) -> None:
        from time import monotonic

        self.what, self.total, self.done, self.clock = what, total, 0, monotonic
        self.begun = self.told = monotonic()

    def __call__(self, entry: Entry) -> None:
        self.done += 1
        now = self.clock()
        if now - self.told >= EVERY and self.done < self.total:
            self.told, rate = now, self.done / (now - self.begun)
            left = (self.total - self.done) / rate
            typer.echo(
                f"{self.what}: {self.done} of {self.total} files, {rate:.2g} a second, {left:.0f} s left", err=True
            )
