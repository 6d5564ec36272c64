"""Views into packed arrays, as Python makes them, and the list of those that the compiler is told of once it is there.

Nothing here needs Numba: packs and scratch are declared, and figures and problems packed, without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


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
