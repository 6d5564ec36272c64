"""Values: what is equal when its contents are, never changes, and goes through pickle whole.

A class that inherits `Value` is a frozen dataclass, and its fields are all that it is:

* two values are equal when they are of one class and their fields are; arrays are compared by type of number, shape and
  numbers, where −0 equals 0 and NaN equals NaN; mappings by names, values and their order, which shows in what is made of them;
* equal values have equal hashes;
* what a value works out for itself and keeps, its cached properties, is no part of it: neither equality nor a pickle sees it;
* arrays that it holds cannot be written to, also not after a pickle or a copy, where NumPy forgets that; nor can mappings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from enum import Enum
from functools import cache
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np

SHOWN = 4  # things of a sequence or a mapping that a repr shows
SMALL = 16  # numbers of an array that a repr shows
LONGEST = 400  # letters of a repr


class FrozenDict(dict[Any, Any]):
    """A dictionary that never changes."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping belongs to a value that never changes: make a new one, {**mapping, name: …}")

    __setitem__ = __delitem__ = __ior__ = _refuse  # pyright: ignore[reportAssignmentType]
    pop = popitem = clear = update = setdefault = _refuse  # pyright: ignore[reportAssignmentType]

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


class Value:
    """Base of values (see the module); subclasses are dataclasses with ``frozen=True, eq=False, repr=False``."""

    def __post_init__(self) -> None:
        """Make arrays, lists and mappings among the fields unchanging ones of its own."""
        for name in _names(type(self)):
            given = getattr(self, name)
            mine = kept(given)
            if mine is not given:
                self.__dict__[name] = mine

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        return all(same(getattr(self, name), getattr(other, name)) for name in _compared(type(self)))

    def __hash__(self) -> int:
        known = self.__dict__.get("_hash")
        if known is None:
            known = hash((type(self).__name__, *(hash_of(getattr(self, name)) for name in _compared(type(self)))))
            self.__dict__["_hash"] = known
        return known

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _names(type(self))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            seal(value)
        self.__dict__.update(state)

    def __repr__(self) -> str:
        parts = (_part(field, getattr(self, field.name)) for field in fields(self) if field.repr)  # pyright: ignore
        text = f"{type(self).__name__}({', '.join(part for part in parts if part)})"
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 2]}…)"

    def _varied(self, known: tuple[str, ...] = (), kind: type | None = None, **changes: Any) -> Any:
        """The same with other fields, past the checks of construction: for changes that are known to be fine.

        Of what has been worked out so far only what is named in `known` is true of it, too. `kind` is a subclass that it
        becomes.
        """
        cls = kind or type(self)
        out, own = object.__new__(cls), self.__dict__
        kept_names = (*_names(type(self)), *known)
        out.__dict__.update({name: own[name] for name in kept_names if name in own}, **changes)
        return out


@cache
def _names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls))


@cache
def _compared(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls) if field.compare)


def kept(thing: Any) -> Any:
    """A thing as a value holds it: arrays as read-only ones that nobody else can write to, lists as tuples, mappings frozen."""
    if isinstance(thing, np.ndarray):
        return thing if _is_own(thing) else read_only(np.array(thing))
    if isinstance(thing, FrozenDict):
        return thing
    if isinstance(thing, Mapping):
        return FrozenDict({key: kept(value) for key, value in thing.items()})
    if type(thing) is list:
        return tuple(map(kept, thing))
    if isinstance(thing, tuple):
        mine = tuple(map(kept, thing))
        if all(a is b for a, b in zip(mine, thing, strict=True)):
            return thing
        return type(thing)(*mine) if hasattr(thing, "_fields") else mine
    return thing


def _is_own(array: np.ndarray) -> bool:
    base = array.base
    return not array.flags.writeable and not (isinstance(base, np.ndarray) and base.flags.writeable)


def read_only(array: np.ndarray) -> np.ndarray:
    """The array, which from now on cannot be written to."""
    array.setflags(write=False)
    return array


def seal(thing: Any) -> None:
    """Make all arrays in a thing that came out of a pickle read-only again."""
    if isinstance(thing, np.ndarray):
        thing.setflags(write=False)
    elif isinstance(thing, tuple | list):
        for one in thing:
            seal(one)
    elif isinstance(thing, Mapping):
        for one in thing.values():
            seal(one)


def same(a: Any, b: Any) -> bool:
    """Whether two things are equal as values."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype == b.dtype):
            return False
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return same(tuple(a.items()), tuple(b.items()))
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b)
    return bool(a == b)


def hash_of(thing: Any) -> int:
    """A hash that things which are the `same` share."""
    if isinstance(thing, np.ndarray):
        numbers = thing
        if thing.dtype.kind == "f":
            numbers = np.where(np.isnan(thing), np.nan, thing + 0.0)  # −0 is 0, and one NaN is as good as another
        return hash((thing.dtype.str, thing.shape, numbers.tobytes()))
    if isinstance(thing, Mapping):
        return hash_of(tuple(thing.items()))
    if isinstance(thing, tuple | list):
        return hash(tuple(map(hash_of, thing)))
    if isinstance(thing, float) and thing != thing:
        return hash("nan")
    try:
        return hash(thing)
    except TypeError:
        return hash(type(thing).__name__)


# ── how values are shown ─────────────────────────────────────────────────────────────────────────────────────────────
def _part(field: Field[Any], value: Any) -> str:
    """A field as a repr shows it; nothing where it is empty, or what it is unless told otherwise."""
    if value is None or (isinstance(value, np.ndarray) and value.size == 0):
        return ""
    if field.default is not MISSING and same(field.default, value):
        return ""
    if field.default_factory is not MISSING and same(field.default_factory(), value):
        return ""
    return f"{field.name}={shown(value)}"


def shown(thing: Any) -> str:
    """A thing in a few words: no long arrays, no addresses."""
    if isinstance(thing, np.ndarray):
        if thing.size > SMALL:
            return f"<{'×'.join(map(str, thing.shape))} {thing.dtype}>"
        return shown(thing.tolist()) if thing.ndim == 0 else f"[{', '.join(shown(x) for x in thing.tolist())}]"
    if isinstance(thing, Mapping):
        pairs = [f"{shown(key)}: {shown(value)}" for key, value in list(thing.items())[:SHOWN]]
        return f"{{{', '.join(pairs)}{_more(thing)}}}"
    if isinstance(thing, tuple) and hasattr(thing, "_fields"):
        return f"{type(thing).__name__}({', '.join(map(shown, thing))})"
    if isinstance(thing, tuple | list):
        marks = "()" if isinstance(thing, tuple) else "[]"
        one = "," if len(thing) == 1 and isinstance(thing, tuple) else ""
        return f"{marks[0]}{', '.join(map(shown, thing[:SMALL]))}{one}{_more(thing, SMALL)}{marks[1]}"
    if isinstance(thing, Enum):
        return str(thing)
    if isinstance(thing, Real) and not isinstance(thing, Integral):
        return f"{float(thing):.6g}"
    if callable(thing) and not isinstance(thing, type) and hasattr(thing, "__name__"):
        return str(thing.__name__)
    return repr(thing)


def _more(things: Any, most: int = SHOWN) -> str:
    return f", … {len(things) - most} more" if len(things) > most else ""
