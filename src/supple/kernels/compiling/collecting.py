"""Garbage is collected seldom while a kernel is compiled.

The compiler makes a million small objects and keeps most of them until it is done, and collections look at them again and
again: a seventh of a cold start. When the outermost kernel is done, collection goes on as before.
"""

from __future__ import annotations

import gc
from typing import Any

from numba.core import event

SELDOM = 100_000, 50, 100  # new objects, and collections of younger ones, before a collection


class _Seldom(event.Listener):
    """Makes collections seldom from the beginning of the outermost compilation to its end; Numba's lock lets one thread in."""

    depth, before = 0, gc.get_threshold()

    def on_start(self, event: Any) -> None:
        """A function is about to be compiled."""
        if self.depth == 0:
            self.before = gc.get_threshold()
            gc.set_threshold(*SELDOM)
        self.depth += 1

    def on_end(self, event: Any) -> None:
        """A function has been compiled, or has failed to."""
        self.depth -= 1
        if self.depth == 0:
            gc.set_threshold(*self.before)


def collect_seldom() -> None:
    """Do so from now on."""
    event.register("numba:compile", _Seldom())
