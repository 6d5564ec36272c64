"""What the JSON of a certificate may hold: objects with exactly their fields, numbers and names that are bounded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from supple.errors import BadValue
from supple.geometry.placements import Floats, frozen
from supple.proofs.checker.balls import LARGEST

LONGEST_NAME, LONGEST_NUMBER = 1000, 32
WIDEST = 32  # rows and columns of a matrix
MOST_FACES = 500


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, unless it names one field twice."""
    data = dict(pairs)
    if len(data) != len(pairs):
        raise BadValue("an object names one field twice")
    return data


def whole_in(text: str) -> int:
    """A whole number."""
    if len(text) > LONGEST_NUMBER:
        raise BadValue(f"a number has more than {LONGEST_NUMBER} characters")
    return int(text)


def number_in(text: str) -> float:
    """A number of bounded length and size."""
    value = float(text) if len(text) <= LONGEST_NUMBER else math.nan
    if not abs(value) <= LARGEST:
        raise BadValue(f"a number is larger than {LARGEST:g}, or has more than {LONGEST_NUMBER} characters")
    return value


def no_number(text: str) -> float:
    """Refuse NaN and infinity."""
    raise BadValue(f"{text} is no number")


def fields_of(data: Any, *names: str) -> list[Any]:
    """The fields of an object, which must be exactly these."""
    if type(data) is not dict or set(data) != set(names):
        raise BadValue(f"an object has other fields than {', '.join(names)}")
    return [data[name] for name in names]


def list_of(data: Any, most: int, what: str) -> list[Any]:
    """A list of bounded length."""
    if type(data) is not list or len(data) > most:
        raise BadValue(f"{what} must be a list of no more than {most}")
    return data


def text_of(data: Any) -> str:
    """A name."""
    if type(data) is not str or len(data) > LONGEST_NAME:
        raise BadValue(f"a name is a text of no more than {LONGEST_NAME} characters")
    return data


def maybe_text(data: Any) -> str | None:
    """A name, or none."""
    return None if data is None else text_of(data)


def float_of(data: Any) -> float:
    """A number."""
    if type(data) not in (int, float) or not abs(data) <= LARGEST:
        raise BadValue(f"{str(data)[:40]!r} is no number, or too large a one")
    return float(data)


def index_of(data: Any) -> int:
    """A whole number."""
    if type(data) is not int:
        raise BadValue(f"{str(data)[:40]!r} is no whole number")
    return data


def array_of(data: Any, *shape: int) -> Floats:
    """Numbers of a shape, of which −1 may be anything up to `WIDEST`."""
    rows = [data] if len(shape) == 1 else list_of(data, max(shape[0], WIDEST, MOST_FACES), "a matrix")
    if not all(type(row) is list and {type(x) for x in row} <= {int, float} for row in rows):
        raise BadValue("a matrix holds something that is no number")
    array = frozen(data) if len(data) else np.empty(tuple(max(n, 0) for n in shape))
    fits = array.ndim == len(shape) and all(
        m == n or (n < 0 and m <= WIDEST) for m, n in zip(array.shape, shape, strict=True)
    )
    if not fits or not bool((np.abs(array) <= LARGEST).all()):
        raise BadValue(f"numbers are not of the shape {shape}, or too large")
    return array
