"""What a name means in a figure: a coordinate, a joint, a segment, or a pattern of these; and what a figure was loaded from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from supple.basics.checks import items, mapping, numbers
from supple.basics.values import Value
from supple.errors import BadValue, find, shown
from supple.geometry.placements import HERE, Floats


class Names:
    """What a `Figure`, which is the only class that has this, makes of names (`self` is that figure)."""

    def coordinates_of(self: Any, name: str) -> tuple[str, ...]:
        """The coordinates that a name means: one of its own, all those of a joint or segment, or of all that match it."""
        if not isinstance(name, str) or not name:
            find(self.coordinates, name, "coordinate", f"figure {self.name!r}")
        if name in self._spans:
            return (name,)
        several = tuple(n for n in self.coordinates if n.rpartition(".")[0] == name)
        if not several and name in self.segments:
            several = tuple(n for n in self.joints_of(name) if n in self.coordinates)
        if not several and any(sign in name for sign in "*?["):
            carried = {n for s in self.segments if fnmatchcase(s, name) for n in self.joints_of(s)}
            stems = ((n, n.rpartition(".")[0]) for n in self.coordinates)
            several = tuple(n for n, stem in stems if n in carried or fnmatchcase(n, name) or fnmatchcase(stem, name))
        if not several:
            find(self.coordinates, name, "coordinate", f"figure {self.name!r}")
        return several

    def by_coordinate(
        self: Any, values: Mapping[str, Any], what: str = "values", shape: tuple[int, ...] = ()
    ) -> dict[str, Any]:
        """Numbers by coordinate, or pairs if `shape` is (2,), from those by whatever `coordinates_of` takes.

        A joint or segment gets one for all of its coordinates or one for each; the last of several counts.
        """
        one, many = ("a pair", "pairs") if shape else ("a number", "numbers")
        out: dict[str, Any] = {}
        for name, given in mapping(values, f"the {what} of figure {self.name!r}").items():
            names = self.coordinates_of(name)
            array = numbers(given, f"the {what} of {name!r}, {one}, or {len(names)} {many},")
            if array.shape not in (shape, (len(names), *shape)):
                raise BadValue(f"the {what} of {name!r} are {one}, or {len(names)} {many}, not {shown(given)}")
            out.update(zip(names, np.broadcast_to(array, (len(names), *shape)).tolist(), strict=True))
        return out


def pairs_in(figure: Any, given: Any) -> tuple[tuple[str, str], ...]:
    """Pairs of two different segments of a figure, each once."""
    what, out = f"the ignored pairs of figure {figure.name!r}", {}
    for pair in items(given, what):
        two = items(pair, f"each of {what}")
        for segment in two:
            figure.check_segment(segment, f"{what}: one")
        if len(set(two)) != 2 or len(two) != 2:
            raise BadValue(f"{what} are pairs of two segments, not {shown(pair)}")
        out.setdefault(frozenset(two), (two[0], two[1]))
    return tuple(out.values())


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
