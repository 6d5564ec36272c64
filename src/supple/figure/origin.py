"""What a figure was loaded from, so that scene files and lines of Python can name it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from supple.basics.values import Value
from supple.geometry.placements import HERE, Floats


@dataclass(frozen=True, eq=False, repr=False)
class Origin(Value):
    """What a figure was loaded from: a name of the catalogue or a file, and the options that were given.

    Besides: the four rows of the placement at which it `stands` in the world (`based_at`), whether it floats there, and, of
    several figures in one world (`attached`), those `beside` it, each with the `prefix` of its names.
    """

    what: str
    is_file: bool
    options: Mapping[str, Any] = field(default_factory=dict)
    stands: tuple[tuple[float, ...], ...] | None = None
    floats: bool = False
    prefix: str = ""
    beside: tuple[Origin, ...] = ()

    def standing(self, at: Floats, floats: bool = False) -> Origin | None:
        """What is left of it when the figure is based elsewhere; nothing where that would be hard to tell."""
        if self.stands is not None or self.floats or self.beside:
            return self if not floats and np.array_equal(at, HERE) else None
        return replace(self, stands=_rows(at), floats=floats)

    def with_company(self, other: Origin | None, at: Floats, prefix: str) -> Origin | None:
        """What is told of it and another figure that was put beside it."""
        placed = None if other is None or other.beside or other.prefix else other
        if placed is not None and not np.array_equal(at, HERE):
            placed = placed.standing(at)
        if placed is None:
            return None
        return replace(self, beside=(*self.beside, replace(placed, prefix=prefix)))


def _rows(T: Floats) -> tuple[tuple[float, ...], ...] | None:
    return None if np.array_equal(T, HERE) else tuple(tuple(row) for row in np.asarray(T, dtype=float).tolist())
