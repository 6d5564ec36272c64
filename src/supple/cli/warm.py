"""``supple warm`` and ``supple.warm()``: compile whatever is missing now, so that nobody waits for it later."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from supple.basics.checks import counted, function
from supple.errors import Error

WORKER = "supple.kernels.compiling.warming"


def warm(workers: int | None = None, progress: Callable[[str, int, int], None] | None = None) -> dict[str, float]:
    """Compile every kernel that did not come compiled and is not in the cache; seconds by its name.

    For containers, CI and clusters: where it has run, later processes of the same user load what they need. Each kernel is
    compiled in a process of its own, `workers` at a time, by default one for each processor. `progress` is called with the
    name of a kernel, how many have been compiled, and how many are to be. What needs an extra that is not installed is left
    out.
    """
    from supple.kernels.compiling.cache import INTERPRETED, home

    if workers is not None:
        workers = counted(workers, "workers, the number of processes,")
    function(progress, "progress")
    if INTERPRETED:
        return {}
    if home().folder is None:
        raise Error(f"nothing can be compiled for later processes: {home().why_not}")
    return compile_missing(calls(), workers, progress)


def calls() -> list[Any]:
    """All calls of entries that the jobs make."""
    return run("supple.cli.warm_jobs", environment={"NUMBA_DISABLE_JIT": "1", "SUPPLE_RECORD": "1"})


def compile_missing(
    wanted: Sequence[Any],
    workers: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    environment: Mapping[str, str] | None = None,
) -> dict[str, float]:
    """Compile those calls for which there is no code; seconds by entry."""
    from supple.kernels.compiling.messages import last_time

    environment = {**(environment or {}), "SUPPLE_QUIET": "1"}
    due = sorted(run(WORKER, "missing", given=wanted, environment=environment), key=lambda c: -last_time(c.entry))
    seconds: dict[str, float] = {}

    def compiled(call: Any) -> tuple[str, float]:
        return call.entry, run(WORKER, "compiled", given=[call], environment=environment)[0]

    with ThreadPoolExecutor(workers or len(_processors())) as pool:
        for done, answer in enumerate(as_completed([pool.submit(compiled, call) for call in due]), 1):
            entry, took = answer.result()
            seconds[entry] = seconds.get(entry, 0.0) + took
            if progress is not None:
                progress(entry, done, len(due))
    return seconds


def run(module: str, *arguments: str, given: Any = None, environment: Mapping[str, str] | None = None) -> Any:
    """What a module answers in a fresh process."""
    home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        input=pickle.dumps(given),
        env={**os.environ, "PYTHONPATH": path, **(environment or {})},
        capture_output=True,
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or [f"status {done.returncode}"]
        raise Error(f"kernels could not be compiled: {said[-1]}")
    return pickle.loads(done.stdout)


def _processors() -> Sequence[int]:
    """The processors that this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)


def command(workers: int | None, quiet: bool) -> None:
    """Warm, with a bar on stderr, and a line that tells what was done."""
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from supple.kernels.compiling.cache import home
    from supple.kernels.compiling.messages import title

    begun = time.monotonic()
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as bar:
        task = bar.add_task("looking for what is missing", total=None)

        def show(entry: str, done: int, total: int) -> None:
            bar.update(task, description=f"compiled {title(entry)}", completed=done, total=total)

        seconds = warm(workers, show)
    if not quiet:
        count = f"{len(seconds)} kernel{'s' if len(seconds) != 1 else ''}"
        told = f"compiled {count} in {time.monotonic() - begun:.0f} s, kept in {home().folder}"
        print(told if seconds else "nothing is missing: all kernels are compiled")
