"""What is said of compiled code without Numba: views into packs, and entries by name.

Packs and scratch are declared, and figures and problems packed, before there is a compiler: views are made here as Python makes
them, and those that the compiler must be told of are listed until it is there.

The source of an entry is up to fifty files, and to import them takes longer than to load its machine code. So Python does not
import an entry but names it, ``worlds_entry = entry_in("supple.kernels.tree.worlds_entry")``, and calls what it gets like the
entry itself. Numba is imported with the first call, and the code loaded that came with the package or lies in the cache
(`loading`). Only where there is none that fits, or kernels run interpreted, is the source imported, and does what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any


# ── views ────────────────────────────────────────────────────────────────────────────────────────────────────────────
def row(pack: Any, at: int, count: int) -> Any:
    """The `count` numbers of a flat array that begin at `at`."""
    return pack[at : at + count]


def table(pack: Any, at: int, rows: int, columns: int) -> Any:
    """The `rows` × `columns` numbers of a flat array that begin at `at`."""
    return pack[at : at + rows * columns].reshape(rows, columns)


def flat(array: Any) -> Any:
    """All numbers of a contiguous table in one row."""
    return array.reshape(-1)


_declared: list[tuple[Any, ...]] = []
_compilers: list[Callable[..., None]] = []


def define_views(function: Callable[..., Any], kind: Any, shapes: Sequence[tuple[int, int]], views: Any) -> None:
    """Let kernels call ``function(I, memory)`` for a named tuple of views.

    `shapes` says of every field which of the two arrays it lies in (−1: it is a number) and how many sides it has;
    ``views(builder, word, contents)`` writes down, with the data of I for contents, these arrays, where each view begins,
    and its sides.
    """
    _declared.append((function, kind, shapes, views))
    for tell in _compilers:
        tell(function, kind, shapes, views)


def tell_compiler(tell: Callable[..., None]) -> None:
    """Have `tell` called with all views that were defined, and with all that will be."""
    _compilers.append(tell)
    for views in _declared:
        tell(*views)


# ── entries ──────────────────────────────────────────────────────────────────────────────────────────────────────────
class NamedEntry:
    """An entry of which only the name is known until it is called."""

    def __init__(self, name: str) -> None:
        self.name, self.__name__ = name, name.rpartition(".")[2]
        self._ready: Any = None

    def __call__(self, *args: Any) -> Any:
        """Call the entry."""
        if self._ready is None:
            from supple.kernels.compiling.loading import ready

            self._ready = ready(self.name, len(args))
        return self._ready(*args)

    def twin(self, kind: str) -> NamedEntry:
        """Its twin of a kind, ``"plain"`` or ``"hull"`` (`twins`), which is made when it is first called."""
        module, _, function = self.name.rpartition(".")
        return entry_in(f"{module}.{kind}_{function}")

    @property
    def overloads(self) -> dict[Any, Any]:
        """What is compiled or loaded, by the types of arguments; nothing where kernels run interpreted."""
        return getattr(self._ready, "overloads", {})

    def __reduce__(self) -> tuple[Any, ...]:
        return entry_in, (self.name,)

    def __repr__(self) -> str:
        return f"entry_in({self.name!r})"


@cache
def entry_in(name: str) -> NamedEntry:
    """The entry of that name, ``module.function``; one that begins with ``plain_`` or ``hull_`` may be a twin."""
    return NamedEntry(name)


def untyped(entry: Any) -> Any:
    """An entry that has been called before, without the look at its arguments' types: they must be what they were then."""
    overloads = list(getattr(entry, "overloads", {}).values())
    return getattr(overloads[0], "entry_point", entry) if len(overloads) == 1 else entry
