"""Commands on many files: the same job for each on several processes, with a bar, a manifest and a summary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from supple.cluster import Archive, Entry, map as do
from supple.errors import BadValue

SHOWN = 10  # files that went wrong which are named; the manifest has all


def is_archive(files: list[Path], workers: int | None, cluster: str | None) -> bool:
    """Whether a command is meant for an archive: several files, or somebody who is to do them."""
    return len(files) > 1 or workers is not None or cluster is not None


def folder_of(outputs: list[Path], ending: str | None) -> Path:
    """The one folder that results go to."""
    if len(outputs) != 1 or outputs[0].is_file() or (outputs[0].suffix and not outputs[0].is_dir()):
        raise BadValue("several files go to one folder: -o FOLDER" + ("" if ending else ", and --ending says their kind"))
    return outputs[0]


def done(
    job: Any, files: list[Path], folder: Path, workers: int | None, cluster: str | None, retry_failed: bool
) -> bool:
    """Do a job for all files, say how it went; whether all are good."""
    console = Console(stderr=True)
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files, {task.fields[rate]} a second, {task.fields[wrong]} wrong"),
        TimeRemainingColumn(),
    )
    wrong = 0
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=len(files), rate="…", wrong=0)

        def advance(entry: Entry) -> None:
            nonlocal wrong
            wrong += entry.status != "good"
            speed = bar.tasks[task].speed
            bar.update(task, advance=1, rate="…" if speed is None else f"{speed:.1f}", wrong=wrong)

        archive = do(
            job, files, folder, workers=workers, cluster=cluster, retry_failed=retry_failed, progress=advance
        )
    typer.echo(summary(archive))
    return archive.ok


def summary(archive: Archive) -> str:
    """How the files of an archive went, in a few lines."""
    counts = archive.counts
    lines = [f"{archive.folder}: " + ", ".join(f"{count} {status}" for status, count in counts.items())]
    lines[0] += f"; {archive.skipped} of them done before" if archive.skipped else ""
    wrong = [entry for entry in archive.entries if entry.status != "good"]
    lines += [f"  {entry.status}: {entry.source}: {entry.reason.splitlines()[0]}" for entry in wrong[:SHOWN]]
    if len(wrong) > SHOWN:
        lines.append(f"  and {len(wrong) - SHOWN} more: see {archive.folder / 'manifest.jsonl'}")
    if counts["failed"]:
        lines.append("--retry-failed tries those that failed again")
    return "\n".join(lines)
