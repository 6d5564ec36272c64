"""What is said on stderr, so that the first call does not look like a hang: what is compiled, why, how long it took last time,
and where it is kept. Nothing, if ``SUPPLE_QUIET`` is set. How long each entry took is kept beside the cache.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import event

from supple.basics.writing import write_file
from supple.kernels.compiling.cache import home
from supple.kernels.compiling.guard import SLOW
from supple.kernels.compiling.recording import known_as

TIMES = "times.json"
_why: dict[str, str] = {}
_told: set[str] = set()


def announce(text: str) -> None:
    """A line on stderr."""
    if not os.environ.get("SUPPLE_QUIET"):
        print(f"supple: {text}", file=sys.stderr, flush=True)


def explain(entry: str, why: str) -> None:
    """Say, when an entry is compiled, that it is for this reason."""
    _why[entry] = why


def complain(entry: str, why: str) -> None:
    """Say that an entry could not be kept, if there is a reason; the same reason once."""
    if why and why not in _told:
        _told.add(why)
        announce(f"{title(entry)} could not be kept, and is compiled again by the next process: {why}")


def wait(entry: str) -> None:
    """Say that another process is compiling an entry."""
    announce(f"waiting for another process that is compiling {title(entry)}{_last(entry)} …")


def title(entry: str) -> str:
    """An entry in words: "the search" is supple.solvers.levenberg_marquardt.search.search_entry."""
    *_, module, function = entry.split("[")[0].split(".")
    words = function.removesuffix("_entry").strip("_").replace("_", " ")
    return f"{words} ({module}.py)"


# ── how long it took ─────────────────────────────────────────────────────────────────────────────────────────────────
@cache
def _times() -> dict[str, float]:
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
        folder = home().folder
        if folder is not None:
            times = json.loads((folder.parent / TIMES).read_bytes()).items()
            return {str(name): float(seconds) for name, seconds in times}
    return {}


def last_time(entry: str) -> float:
    """Seconds that it took to compile an entry last time; 0 if that is not known."""
    return _times().get(entry, 0.0)


def _last(entry: str) -> str:
    seconds = last_time(entry)
    return f", {seconds:.0f} s last time" if seconds >= 0.5 else ""


def _remember(entry: str, seconds: float) -> None:
    folder = home().folder
    if folder is None:
        return
    _times.cache_clear()  # others may have written since
    _times()[entry] = round(seconds, 2)
    with contextlib.suppress(Exception):
        write_file(folder.parent / TIMES, json.dumps(_times(), indent=1, sort_keys=True) + "\n", mode=0o600)


# ── what is compiled ─────────────────────────────────────────────────────────────────────────────────────────────────
class _Announcer(event.Listener):
    """Says which entries are being compiled."""

    def __init__(self) -> None:
        self._begun: dict[str, float] = {}

    def on_start(self, event: Any) -> None:
        """A function is about to be compiled."""
        entry = known_as(event.data["dispatcher"].py_func)
        if entry is not None and entry.startswith("supple."):
            self._begun[entry] = time.monotonic()
            announce(_sentence(entry))

    def on_end(self, event: Any) -> None:
        """A function has been compiled, or has failed to be."""
        dispatcher = event.data["dispatcher"]
        begun = self._begun.pop(known_as(dispatcher.py_func) or "", None)
        if begun is None:
            return
        if tuple(event.data["args"]) in dispatcher.overloads:
            _remember(known_as(dispatcher.py_func) or "", time.monotonic() - begun)
        elif hasattr(dispatcher._cache, "release"):
            dispatcher._cache.release()


def _sentence(entry: str) -> str:
    """What is compiled; and what has not been told yet: why, and where it is kept."""
    folder, why_not = home()
    kept = f"kept in {_short(folder)}" if folder else f"anew in every process{why_not and ', since ' + why_not}"
    rest = [each for each in (_why.get(entry, ""), SLOW, kept) if each and each not in _told]
    _told.update(rest)
    return "; ".join([f"compiling {title(entry)}{_last(entry)}", *rest]) + " …"


def _short(folder: Path) -> str:
    """A path as people write it."""
    with contextlib.suppress(RuntimeError, ValueError):
        return f"~/{folder.relative_to(Path.home()).as_posix()}"
    return str(folder)


def listen() -> None:
    """Say so from now on whenever entries are compiled."""
    event.register("numba:compile", _Announcer())
