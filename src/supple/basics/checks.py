"""What comes in from outside, looked at once: numbers, whole numbers, names, flags, choices, paths, things of a kind.

Each check takes a value and what it is called, and gives it back as a plain value of its kind, or raises a `BadValue` that
says what it should be. Numbers are real: not complex, not text, not truth values, and none too large for a float.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from numbers import Real
from operator import index
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from supple.basics.values import FrozenDict
from supple.errors import BadValue, shown

EXACT = 2**53  # the largest whole number up to which a float holds them all
_FALSE = (bool, np.bool_)  # no numbers, though Python counts with them
Thing = TypeVar("Thing")


# ── arrays ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def numbers(value: Any, what: str) -> NDArray[np.float64]:
    """Real numbers of any shape, infinite or NaN ones too, as a float64 array; it may share the memory of `value`."""
    try:
        array = np.asarray(value)
    except Exception as error:  # ragged lists, and whatever an object raises when it is asked for its numbers
        raise BadValue(f"{what} must be numbers, not {shown(value)}") from error
    if array.dtype == np.float64:
        return array
    kind = array.dtype.kind
    if kind in "iu":
        return array.astype(np.float64)
    if kind == "f":
        with np.errstate(over="ignore"):
            return array.astype(np.float64)
    if kind == "O":
        return _one_by_one(array, value, what)
    raise BadValue(f"{what} must be real numbers, not {shown(value)}")


def _one_by_one(array: np.ndarray, value: Any, what: str) -> NDArray[np.float64]:
    """Numbers that NumPy has no kind for, such as integers beyond 64 bits."""
    things = array.ravel().tolist()
    if not all(isinstance(thing, Real) and not isinstance(thing, _FALSE) for thing in things):
        raise BadValue(f"{what} must be numbers, not {shown(value)}")
    try:
        return np.array([float(thing) for thing in things]).reshape(array.shape)
    except OverflowError as error:
        raise BadValue(f"{what} must be finite; {shown(value)} is too large for a float") from error


def finite(values: Any, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    """`values` as a float64 array of `shape`, refused by the name `what` if it is anything else."""
    array = numbers(values, what)
    if array.shape != shape:
        raise BadValue(f"{what} must have shape {shape}, not {array.shape}")
    if not np.isfinite(array).all():
        raise BadValue(f"{what} must be finite, not {shown(array.tolist())}")
    return array


def triple(values: Any, what: str) -> tuple[float, float, float]:
    """Three finite numbers."""
    x, y, z = finite(values, (3,), what).tolist()
    return (x, y, z)


def spread(value: Any, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    """One number for all, or an array of `shape`, as such an array; infinite ones too if it is one number for all."""
    array = numbers(value, what)
    return np.full(shape, array) if array.shape == () else finite(array, shape, what)


# ── single values ────────────────────────────────────────────────────────────────────────────────────────────────────
def number(
    value: Any,
    what: str,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
    endless: bool = False,
) -> float:
    """A number within the given bounds, finite unless it may be `endless` (inf where there is no limit)."""
    if type(value) is float:
        out = value
    elif isinstance(value, Real) and not isinstance(value, _FALSE):
        try:
            out = float(value)
        except OverflowError as error:
            raise BadValue(f"{what} must be finite; {shown(value)} is too large for a float") from error
    else:
        out = (
            float(value)
            if isinstance(value, np.ndarray) and value.shape == () and value.dtype.kind in "iuf"
            else np.nan
        )
    fits = (above is None or out > above) and (least is None or out >= least)
    fits = fits and (below is None or out < below) and (most is None or out <= most)
    if not fits or out != out or not (endless or abs(out) < np.inf):
        raise BadValue(f"{what} must be {_range(above, least, below, most, endless)}, not {shown(value)}")
    return out


def _range(above: float | None, least: float | None, below: float | None, most: float | None, endless: bool) -> str:
    """What a number must be, in words."""
    words = ["positive"] if above == 0.0 else []
    words += ["finite"] if not endless and below is None and most is None else []
    words += ["not negative"] if least == 0.0 else []
    words += [f"above {above:g}"] if above else []
    words += [f"at least {least:g}"] if least else []
    words += [f"below {below:g}"] if below is not None else []
    words += [f"at most {most:g}"] if most is not None else []
    return " and ".join(words) or "a number"


positive = partial(number, above=0.0)
not_negative = partial(number, least=0.0)
endless = partial(number, above=0.0, endless=True)


def whole(value: Any, what: str, least: int | None = 0, most: int = EXACT) -> int:
    """A whole number from `least` to `most`; None for `least` is as far below zero."""
    lowest = -most if least is None else least
    try:
        out = None if isinstance(value, _FALSE) else index(value)
    except TypeError:
        out = None
    if out is None or not lowest <= out <= most:
        bounds = "" if least is None else f", at least {least}"
        bounds += f", at most {most}" if most != EXACT or (out is not None and out > most) else ""
        raise BadValue(f"{what} must be a whole number{bounds}, not {shown(value)}")
    return out


counted = partial(whole, least=1)


def checked_speed(speed: float, what: str) -> float:
    """A greatest speed: positive, infinite where there is none, never NaN."""
    return endless(speed, f"the speed limit of {what}")


def checked_limits(limits: Any, what: str) -> tuple[float, float]:
    """A pair (lower, upper), possibly infinite, never inverted, never NaN."""
    pair = numbers(limits, f"the limits of {what}")
    if pair.shape != (2,):
        raise BadValue(f"the limits of {what} must be a pair (lower, upper), not {shown(limits)}")
    lower, upper = pair.tolist()
    if np.isnan(lower) or np.isnan(upper) or lower > upper or lower == np.inf or upper == -np.inf:
        raise BadValue(f"the limits of {what} must satisfy lower ≤ upper, not ({lower}, {upper})")
    return lower, upper


def seeded(value: Any, what: str = "the seed") -> int:
    """The seed of a sequence of random numbers."""
    return whole(value, what)


def part_of(first: Any, last: Any, step: Any) -> slice:
    """From one frame up to, not including, another (None: to the end), every so many; below 0 counts from the end."""
    end = None if last is None else whole(last, "the frame to stop at", None)
    return slice(whole(first, "the first frame", None), end, counted(step, "step, every how many frames,"))


def flag(value: Any, what: str) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, _FALSE):
        raise BadValue(f"{what} must be True or False, not {shown(value)}")
    return bool(value)


def named(value: Any, what: str) -> str:
    """A name: text that is not empty and that a file can hold."""
    if not isinstance(value, str) or not value:
        raise BadValue(f"{what} must be a name, text that is not empty, not {shown(value)}")
    if not _is_text(value):
        raise BadValue(
            f"{what} must be a name that a file can hold, without zero bytes and surrogates, not {shown(value)}"
        )
    return value


def named_or_none(value: Any, what: str) -> str | None:
    """A name, or None."""
    return None if value is None else named(value, f"{what}, if it is not None,")


def text(value: Any, what: str) -> str:
    """Text, which may be empty."""
    if not isinstance(value, str) or not _is_text(value):
        raise BadValue(f"{what} must be text, not {shown(value)}")
    return value


def _is_text(value: str) -> bool:
    return (value.isascii() and "\0" not in value) or not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in value)


def one_of(value: Any, choices: Iterable[str], what: str) -> str:
    """One of some words."""
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        raise BadValue(f"{what} is one of {', '.join(known)}, not {shown(value)}")
    return value


def path_of(value: Any, what: str = "the path of a file") -> Path:
    """A path, from text or from what Python's `os` takes for one."""
    try:
        given = os.fspath(value)
        os.fsencode(given)
    except (TypeError, UnicodeEncodeError):
        given = None
    if not isinstance(given, str) or not given or "\0" in given:
        raise BadValue(f"{what} must be text or a Path, not {shown(value)}")
    return Path(given)


# ── things ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def instance(value: Any, kind: type[Thing] | tuple[type[Any], ...], what: str) -> Any:
    """A thing of a kind, or of one of several kinds."""
    if isinstance(value, kind):
        return value
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if isinstance(value, type) and issubclass(value, kinds):
        raise BadValue(f"{what} must be an object, {value.__name__}(…), not the class {value.__name__} itself")
    names = [k.__name__ for k in kinds]
    wanted = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
    article = "an" if wanted[0] in "AEIOU" else "a"
    raise BadValue(f"{what} must be {article} {wanted}, not {shown(value)}")


def items(value: Any, what: str, kind: type[Any] | tuple[type[Any], ...] | None = None) -> tuple[Any, ...]:
    """The things in a sequence, or in what else can be gone through; text and mappings are none."""
    if isinstance(value, str | bytes | Mapping | type) or not np.iterable(value):
        raise BadValue(f"{what} must be a sequence, not {shown(value)}")
    out = tuple(value)
    if kind is not None:
        for thing in out:
            instance(thing, kind, f"each of {what}")
    return out


def names_in(value: Any, what: str) -> tuple[str, ...]:
    """The names in a sequence; one bare name is none."""
    out = items(value, what)
    for name in out:
        named(name, f"each of {what}")
    return out


def mapping(value: Any, what: str, kind: type[Any] | tuple[type[Any], ...] | None = None) -> dict[str, Any]:
    """A mapping from names as one of its own, which never changes."""
    if not isinstance(value, Mapping):
        raise BadValue(f"{what} must be a mapping from names, not {shown(value)}")
    out = FrozenDict(value)
    for name, thing in out.items():
        named(name, f"each name in {what}")
        if kind is not None:
            instance(thing, kind, f"{what}: {name!r}")
    return out


def function(value: Any, what: str) -> Any:
    """Something that can be called, or None."""
    if value is not None and (not callable(value) or isinstance(value, type)):
        raise BadValue(f"{what} must be a function, not {shown(value)}")
    return value


def check_fields(record: Any, owner: str = "", **kinds: Callable[[Any, str], Any]) -> None:
    """Check fields of a frozen record, each by its kind, and keep them as the plain values that the checks give back."""
    called = owner or type(record).__name__
    for field, kind in kinds.items():
        value = getattr(record, field)
        plain = kind(value, f"the {field} of {called}")
        if plain is not value:
            object.__setattr__(record, field, plain)
