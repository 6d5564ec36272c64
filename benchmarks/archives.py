"""Archives of clips on processes of this machine: throughput, overhead against plain calls, memory, and what Ctrl-C takes.

Run ``python benchmarks/archives.py --model M.osim --trial T.trc [--clips FOLDER…] [--last FRAME] [--count N] [--workers 1,2]``.
Windows of a second
are cut from the trial, each a file of its own, so that what every file costs besides its own work shows at its worst; they are
tracked in one process by plain calls, and by ``supple.cluster.map``. BVH files of `--clips` are retargeted likewise, whole. The
clock counts from the first file to the last, after the processes have begun; *starting* is that. Memory is the largest of
any process, and *grown* what the processes hold together at the end against a quarter of the way. *Overhead* is the clock;
*spent* the processor time of all processes of the cluster, the scheduler's included, against plain calls, which says more where
others keep the machine busy. Chosen beforehand: nothing; every figure is of the run itself.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

import supple
from supple.cluster import Entry, Retarget, Track, map as do
from supple.cluster.client import connected


@dataclass
class Row:
    """One way to do an archive."""

    job: str
    workers: int  # 0: plain calls in this process
    files: int
    clock: float  # seconds
    processor: float  # seconds that the jobs themselves took
    starting: float  # seconds until the processes were there
    overhead: float  # the clock against plain calls on as many processes, less 1
    spent: float  # processor time of all processes against plain calls, less 1
    failed: int
    memory: float  # MB, the largest process
    grown: float  # MB of all workers together, from a quarter of the way to the end


def windows(trial: Path, count: int, into: Path) -> list[Path]:
    """So many windows of a second, spread over the trial."""
    markers = supple.read_markers(trial)
    frames = round(markers.rate)
    last = len(markers) - frames
    if last < 1:
        sys.exit(f"{trial} is shorter than a second")
    out = []
    for k in range(count):
        first = k * last // max(1, count - 1)
        out.append(into / f"{k:04}.trc")
        supple.write(markers.frames(first, first + frames), out[-1])
    return out


def plain(name: str, job: Any, files: list[Path], into: Path) -> Row:
    """Calls one after another in this process; the first file is done before, so that nothing is compiled meanwhile."""
    into.mkdir()
    job(files[0], into / f"first{job.ending}")
    begun, busy, failed = time.monotonic(), time.process_time(), 0
    for k, file in enumerate(files):
        try:
            job(file, into / f"{k}{job.ending}")
        except supple.Error:
            failed += 1
    clock, processor = time.monotonic() - begun, time.process_time() - busy
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Row(name, 0, len(files), clock, processor, 0.0, 0.0, 0.0, failed, memory, 0.0)


def spread(name: str, job: Any, files: list[Path], into: Path, workers: int, alone: Row) -> Row:
    """The same by processes; each does one file before the clock begins."""
    begun = time.monotonic()
    with connected(None, workers) as client:
        client.wait_for_workers(workers)
        client.run(job, files[0], into.parent / f"first-{workers}{job.ending}")
        starting = time.monotonic() - begun
        mine = psutil.Process()
        workers_of = [psutil.Process(pid) for pid in client.run(os.getpid).values()]
        entries: list[Entry] = []
        held: list[int] = []

        def note(entry: Entry) -> None:
            entries.append(entry)
            if len(entries) in (len(files) // 4, len(files)):
                held.append(sum(process.memory_info().rss for process in workers_of))

        begun, busy = time.monotonic(), sum(seconds(process) for process in [mine, *workers_of])
        do(job, files, into, cluster=client, progress=note)
        clock = time.monotonic() - begun
        spent = sum(seconds(process) for process in [mine, *workers_of]) - busy
        memory = max(client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024).values())
    processor = sum(entry.seconds for entry in entries)
    failed = sum(entry.status == "failed" for entry in entries)
    over, more = clock * workers / alone.clock - 1, spent / alone.processor - 1
    grown = (held[-1] - held[0]) / 2**20
    return Row(name, workers, len(files), clock, processor, starting, over, more, failed, memory, grown)


def seconds(process: psutil.Process) -> float:
    """Processor time of a process, all of its threads."""
    used = process.cpu_times()
    return used.user + used.system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--trial", type=Path, required=True)
    parser.add_argument("--clips", type=Path, nargs="*", default=[])
    parser.add_argument("--to", default="human")
    parser.add_argument("--last", type=int, help="frame of the clips to stop before")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "in").mkdir()
        jobs: dict[str, tuple[Any, list[Path]]] = {
            "track": (Track(str(given.model)), windows(given.trial, given.count, place / "in"))
        }
        clips = sorted(file for one in given.clips for file in one.rglob("*.bvh"))[: given.count]
        if clips:
            jobs["retarget"] = (Retarget(given.to, first=1, last=given.last, reading={"unit": 0.056444}), clips)
        for name, (job, files) in jobs.items():
            alone = plain(name, job, files, place / name)
            rows.append(alone)
            for workers in map(int, given.workers.split(",")):
                rows.append(spread(name, job, files, place / f"{name}-{workers}", workers, alone))
    print(
        f"{'job':10}{'workers':>8}{'files':>7}{'clock s':>9}{'proc. s':>9}{'start s':>9}{'overhead':>10}"
        f"{'spent':>8}{'failed':>8}{'MB':>7}{'grown':>7}"
    )
    for row in rows:
        over, spent = (f"{part:+.1%}" if row.workers else "" for part in (row.overhead, row.spent))
        print(
            f"{row.job:10}{row.workers or 'plain':>8}{row.files:>7}{row.clock:>9.2f}{row.processor:>9.2f}"
            f"{row.starting:>9.2f}{over:>10}{spent:>8}{row.failed:>8}{row.memory:>7.0f}{row.grown:>7.0f}"
        )
    if given.json:
        given.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))


if __name__ == "__main__":
    main()
