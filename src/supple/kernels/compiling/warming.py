"""Compiling before anybody waits: what is missing, one entry at a time, in a process for each.

``python -m supple.kernels.compiling.warming`` is such a process. It reads calls (`recording.Call`) from its standard input, and
writes what it was asked for to its standard output; both are pickles of the process that started it.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from supple.kernels.compiling import cache, shipped
from supple.kernels.compiling.recording import Call, entry_named


def missing(calls: Sequence[Call]) -> list[Call]:
    """The calls whose code did not come with the package, and is not in the cache either, or not whole."""
    found = [(call, entry_named(call.entry)) for call in calls]
    return [call for call, entry in found if not entry._cache.has(call.types, entry.targetctx)]


def compiled(calls: Sequence[Call]) -> list[float]:
    """Compile what is called, or load it; seconds for each."""
    seconds = []
    for call in calls:
        entry, begun = entry_named(call.entry), time.perf_counter()
        entry.compile(call.types)
        seconds.append(time.perf_counter() - begun)
    return seconds


def ship(calls: Sequence[Call], folder: Path) -> str:
    """Copy code from the cache of a build into a folder that goes into a wheel; the level for which it was compiled.

    The process must have been told to compile for that level, and for nothing that this machine has besides: by Numba's
    variables ``NUMBA_CPU_NAME=x86-64-v3`` and ``NUMBA_CPU_FEATURES=``.
    """
    _, processor, features = entry_named(calls[0].entry).targetctx.codegen().magic_tuple()
    if processor not in shipped.levels_here() or features:
        raise ValueError(f"{processor} with {features or 'nothing besides'} is no level")
    for call in calls:
        entry = entry_named(call.entry)
        payload = entry._cache.payload(call.types, entry.targetctx)
        if payload is None:
            raise ValueError(f"{call.entry} was not compiled")
        why_not = cache.keep(*shipped.place(folder, processor, *call), payload, mode=0o644)
        if why_not:
            raise OSError(why_not)
    return processor


def main(what: str, *arguments: str) -> None:
    """What such a process does."""
    calls = pickle.load(sys.stdin.buffer)
    tasks: dict[str, Any] = {"missing": missing, "compiled": compiled, "ship": ship}
    answer = tasks[what](calls, *map(Path, arguments))
    sys.stdout.buffer.write(pickle.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
