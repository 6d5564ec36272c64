"""Tables of a parsed file, read field by field: every problem is noted with its place, and reading goes on.

A reader is a function ``(value, place) -> what it means``. It raises `Wrong` with the end of a sentence that begins with the
place ("must be 3 numbers, not 4"), any other `Error` with a sentence of its own, or `Noted` if it has noted everything
itself. `Fields.take` turns all of them into notes. Nothing that a file says is repeated in a message at full length.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from supple.errors import BadValue, Error, UnknownName, find
from supple.files.xml import LARGEST_NUMBER, LONGEST_NAME, shown
from supple.geometry.placements import Floats

T = TypeVar("T")
MOST = 10_000  # entries of a table or list


class Wrong(BadValue):
    """A problem that reads on from the place where it is: "must be a number, not true"."""


class Noted(Exception):
    """The problems have been noted already."""


@dataclass(frozen=True)
class Place:
    """Where a value stands in a file, and where problems are noted."""

    notes: list[str]
    owner: str = ""  # constraints[2] 'left hand'
    path: str = ""  # goal.at

    def at(self, key: str | int) -> Place:
        """A place inside this one."""
        if isinstance(key, int):
            return replace(self, path=f"{self.path}[{key}]")
        word = key if key.replace("_", "").isalnum() else shown(key)
        return replace(self, path=f"{self.path}.{word}" if self.path else word)

    def note(self, error: Error) -> None:
        """Keep a problem."""
        where = ": ".join(part for part in (self.owner, self.path) if part)
        if isinstance(error, Wrong):
            self.notes.append(f"{where or 'the file'} {error}")
        else:
            self.notes.append(f"{where}: {error}" if where else str(error))

    def attempt(self, read: Callable[[Any, Place], T], value: Any) -> T:
        """What a reader makes of a value here; `Noted` if it cannot."""
        try:
            return read(value, self)
        except Error as error:
            self.note(error)
        raise Noted


Reader = Callable[[Any, Place], Any]


@dataclass(eq=False)
class Fields:
    """A table whose fields are taken one by one; `done` complains about those that nobody wanted."""

    values: dict[str, Any]
    place: Place
    known: dict[str, None] = field(default_factory=dict)
    fine: bool = True

    def take(self, key: str, read: Callable[[Any, Place], T], default: T) -> T:
        """What a field means, or the default if it is not there or cannot be read."""
        self.known[key] = None
        if key in self.values:
            try:
                return self.place.at(key).attempt(read, self.values[key])
            except Noted:
                self.fine = False
        return default

    def need(self, key: str, read: Callable[[Any, Place], T]) -> T | None:
        """What a field means that must be there; None if it cannot be read."""
        if key not in self.values:
            self.known[key] = None
            self.fail(Wrong(f"lacks {key!r}"))
            return None
        return self.take(key, read, None)

    def ask(self, key: str, read: Reader | Maybe) -> Any:
        """What a field means; it must be there unless it is a `Maybe`."""
        return self.take(key, read.read, None) if isinstance(read, Maybe) else self.need(key, read)

    def fail(self, error: Error) -> None:
        """Note a problem with the table as a whole."""
        self.place.note(error)
        self.fine = False

    def done(self) -> None:
        """Complain about strange fields; `Noted` if anything was wrong with this table."""
        for key in self.values:
            if key not in self.known:
                try:
                    _find(tuple(self.known), key, "field")
                except Wrong as error:
                    self.fail(error)
        if not self.fine:
            raise Noted


def kind(value: Any) -> str:
    """What a value is, in a few words."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, int | float):
        return "a huge number" if isinstance(value, int) and abs(value) > 1e300 else f"{float(value):g}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "a table" if isinstance(value, dict) else f"a {type(value).__name__}"


# ── readers ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def fields(value: Any, place: Place) -> Fields:
    """A table."""
    if not isinstance(value, dict):
        raise Wrong(f"must be a table, not {kind(value)}")
    if len(value) > MOST:
        raise Wrong(f"has more than {MOST} fields")
    if any(len(key) > LONGEST_NAME for key in value):
        raise Wrong(f"has a field whose name is longer than {LONGEST_NAME} characters")
    return Fields(value, place)


def number(value: Any, place: Place) -> float:
    """A finite number of a sensible size."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Wrong(f"must be a number, not {kind(value)}")
    if not abs(value) <= LARGEST_NUMBER:
        what = (
            "finite" if isinstance(value, float) and not math.isfinite(value) else f"at most {LARGEST_NUMBER:g} in size"
        )
        raise Wrong(f"must be {what}, not {kind(value)}")
    return float(value)


def angle(value: Any, place: Place) -> float:
    """Radians, or degrees as text: "30deg"."""
    if isinstance(value, str) and value.strip().endswith("deg"):
        text = value.strip().removesuffix("deg").strip()
        try:
            degrees = float(text) if text.isascii() and "_" not in text else math.nan
        except ValueError:
            degrees = math.nan
        return math.radians(number(degrees, place)) if math.isfinite(degrees) else _no_angle(value)
    return number(value, place) if not isinstance(value, str) else _no_angle(value)


def _no_angle(value: str) -> float:
    raise Wrong(f'must be an angle such as 0.5 or "30deg", not {shown(value)}')


def flag(value: Any, place: Place) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Wrong(f"must be true or false, not {kind(value)}")
    return value


def whole(value: Any, place: Place) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST_NUMBER:
        raise Wrong(f"must be a whole number, not {kind(value)}")
    return value


def text(value: Any, place: Place) -> str:
    """A line of text."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > LONGEST_NAME:
        raise Wrong(f"must be a line of text, not {kind(value)}")
    return value


def items(value: Any, place: Place) -> list[Any]:
    """A list."""
    if not isinstance(value, list) or len(value) > MOST:
        raise Wrong(
            f"must be a list, not {kind(value)}" if not isinstance(value, list) else f"has more than {MOST} items"
        )
    return value


def listed(read: Callable[[Any, Place], T]) -> Callable[[Any, Place], list[T]]:
    """A list of what `read` reads; all problems in it are noted."""

    def reader(value: Any, place: Place) -> list[T]:
        return gathered((place.at(i), read, one) for i, one in enumerate(items(value, place)))

    return reader


def gathered(attempts: Iterable[tuple[Place, Callable[[Any, Place], T], Any]]) -> list[T]:
    """What all readers make of their values; `Noted` after the last if any of them could not."""
    out, fine = [], True
    for place, read, value in attempts:
        try:
            out.append(place.attempt(read, value))
        except Noted:
            fine = False
    if not fine:
        raise Noted
    return out


class Maybe(NamedTuple):
    """A field that may be left out."""

    read: Reader


def record(make: Callable[..., T], **wanted: Reader | Maybe) -> Callable[[Any, Place], T]:
    """A table whose fields are the arguments of `make`."""

    def reader(value: Any, place: Place) -> T:
        table = fields(value, place)
        given = {name: table.ask(name, read) for name, read in wanted.items()}
        table.done()
        return make(**{name: value for name, value in given.items() if name in table.values})

    return reader


def one_of(kinds: Mapping[str, Callable[[Any, Place], T]]) -> Callable[[Any, Place], T]:
    """A table with one field, which says of what kind its value is."""

    def reader(value: Any, place: Place) -> T:
        name = chosen(tuple(kinds), value)
        table = fields(value, place)
        out = table.need(name, kinds[name])
        table.done()
        assert out is not None
        return out

    return reader


def chosen(kinds: tuple[str, ...], value: Any) -> str:
    """The one of several fields that a table has."""
    if not isinstance(value, dict) or not value:
        given = "an empty table" if value == {} else kind(value)
        raise Wrong(f"must be a table with one of {', '.join(kinds)}, not {given}")
    found = [name for name in kinds if name in value]
    if len(found) > 1:
        raise Wrong(f"must have one of {' and '.join(found)}, not {len(found)}")
    return found[0] if found else kinds[_find(kinds, next(iter(value)), "kind")]


def _find(names: tuple[str, ...], name: str, what: str) -> int:
    """The index of a name; a complaint with a proposal if there is no such name."""
    try:
        return find(names, name, what, "it")
    except UnknownName as error:
        raise Wrong(str(error).removeprefix("it ").replace(repr(name), shown(name))) from error


def array(*shapes: tuple[int, ...], read: Callable[[Any, Place], float] = number) -> Callable[[Any, Place], Floats]:
    """Numbers of one of the shapes; a length of −1 is any but 0, the shape () one bare number."""

    def values(value: Any, place: Place) -> Any:
        if not isinstance(value, list):
            return read(value, place)
        return gathered((place.at(i), values, one) for i, one in enumerate(value))

    def reader(value: Any, place: Place) -> Floats:
        if not any(_fits(value, shape) for shape in shapes):
            raise Wrong(f"must be {' or '.join(map(_described, shapes))}, not {kind(value)}")
        return np.array(values(value, place), dtype=np.float64)

    return reader


def _fits(value: Any, shape: tuple[int, ...]) -> bool:
    if not shape or not isinstance(value, list):
        return not shape and not isinstance(value, list | dict)
    right = 0 < len(value) <= MOST if shape[0] < 0 else len(value) == shape[0]
    return right and all(_fits(one, shape[1:]) for one in value)


def _described(shape: tuple[int, ...]) -> str:
    if not shape:
        return "a number"
    *rows, last = shape
    numbers = "numbers" if last < 0 else f"{last} numbers"
    return numbers if not rows else f"rows of {numbers}" if rows[0] < 0 else f"{rows[0]} rows of {numbers}"
