"""Who compiles: of several processes that need an entry at once, one, while the others wait for what it keeps.

A claim is a lock of the operating system's on a file beside the kept one, so that of a process that dies nothing remains.
Where locks cannot be had (a folder that is read-only, a file system without them) everybody compiles for himself; and nobody
waits longer than his patience.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 180.0  # seconds that somebody waits for somebody else, at least
PAUSE = 0.1


class Claim:
    """The right to compile what goes into a file; given back by `end`, or when the process ends."""

    def __init__(self, handle: int, file: Path) -> None:
        self._handle: int | None = handle
        self._file = file

    def end(self) -> None:
        """Give the right back."""
        handle, self._handle = self._handle, None
        if handle is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._file)
            with contextlib.suppress(OSError):
                os.close(handle)


def claim(
    file: Path, is_done: Callable[[], bool], wait: Callable[[], None], patience: float = PATIENCE
) -> Claim | None:
    """The right to compile what goes into a file. None: somebody else did, locks cannot be had, or patience is at its end.

    `wait` is called once, before the first pause.
    """
    place, until, waited = file.with_name(f"{file.name}.lock"), time.monotonic() + patience, False
    try:
        handle = os.open(place, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError:
        return None
    while True:
        try:
            _lock(handle)
            return Claim(handle, place)
        except (BlockingIOError, PermissionError):  # somebody else has it
            if is_done() or time.monotonic() > until:
                break
        except OSError:  # this file system has no locks
            break
        if not waited:
            wait()
            waited = True
        time.sleep(PAUSE)
    os.close(handle)
    return None


def _lock(handle: int) -> None:
    """Lock an open file for this process, or raise at once."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
