"""What is said on stderr, so that the first call does not look like a hang: one line in the life of a process."""

from __future__ import annotations

import os
import sys
from typing import Any

from numba.core import event

from supple.kernels.compiling.cache import WHY_NOT
from supple.kernels.compiling.guard import SLOW

_ANNOUNCED = (
    "compiling its kernels for this machine, {once}, when it is first used: the search takes about 40 seconds, "
    "proofs, tracking, steps and other solvers up to 30 each …"
)
_said: list[str] = []


def announce(text: str) -> None:
    """One line on stderr in the life of a process."""
    if not _said and not os.environ.get("SUPPLE_QUIET"):
        _said.append(text)
        print(f"supple: {text}", file=sys.stderr, flush=True)


class _Announcer(event.Listener):
    """Says that kernels are being compiled."""

    def on_start(self, event: Any) -> None:
        """A function is about to be compiled."""
        module = getattr(event.data["dispatcher"].py_func, "__module__", "") or ""
        if module.startswith("supple."):
            once = f"each anew in every process, since {WHY_NOT}" if WHY_NOT else "each once"
            announce((SLOW and f"{SLOW}; ") + _ANNOUNCED.format(once=once))

    def on_end(self, event: Any) -> None:
        """A function has been compiled."""


def listen() -> None:
    """Say so from now on whenever kernels are compiled."""
    event.register("numba:compile", _Announcer())
