"""A zoo of values that users give by mistake, and which of them each kind of argument may take.

Every entry makes its value anew, for a generator is spent once it was looked at. A kind is the set of the entries that are
right for an argument; all others must be refused.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import supple

ZOO: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "0": lambda: 0,
    "5": lambda: 5,
    "-1": lambda: -1,
    "half": lambda: 0.5,
    "0-d": lambda: np.array(2.0),
    "inf": lambda: 1e308 * 10,
    "-inf": lambda: -1e308 * 10,
    "nan": lambda: float("nan"),
    "10**400": lambda: 10**400,
    "-10**400": lambda: -(10**400),
    "10**5000": lambda: 10**5000,
    "three 10**400": lambda: [10**400] * 3,
    "1j": lambda: 1j,
    "three 1j": lambda: np.array([1j, 0, 0]),
    "two 1j": lambda: [1j, 0.0],
    "word": lambda: "x",
    "number in words": lambda: "1.5",
    "numbers in words": lambda: ["1", "2", "3"],
    "empty text": lambda: "",
    "not ASCII": lambda: "größe",
    "zero byte": lambda: "a\0b",
    "surrogate": lambda: "a\ud800b",
    "bytes": lambda: b"bytes",
    "path": lambda: Path("/no/such/folder/x"),
    "object": object,
    "class": lambda: supple.Decide,
    "figure": lambda: PAIR,
    "lambda": lambda: lambda *_: None,
    "generator": lambda: (i for i in "ab"),
    "set": lambda: {1.5},
    "[]": lambda: [],
    "{}": dict,
    "{…: …}": lambda: {...: ...},
    "{5: 5}": lambda: {5: 5},
    "{'x': 'x'}": lambda: {"x": "x"},
    "[…]": lambda: [...],
    "[None]": lambda: [None],
    "ragged": lambda: [[1.0], [1.0, 2.0]],
    "five": lambda: np.zeros(5),
    "huge": lambda: [0.0] * 50_000,
    "deep": lambda: [[[[0.0]]]],
    "objects": lambda: np.array([None, object(), 1]),
    "truths": lambda: np.array([True, False, True]),
    "two truths": lambda: np.array([True, False]),
    "texts": lambda: np.array(["a", "b", "c"]),
    "dates": lambda: np.array(["2020-01-01"] * 3, dtype="datetime64[D]"),
    "two dates": lambda: np.array(["2020-01-01"] * 2, dtype="datetime64[D]"),
    "a date": lambda: np.datetime64("2020-01-01"),
    "a record": lambda: np.zeros(3, dtype=[("x", float)]),
}

PAIR = supple.Figure(
    "pair", [*supple.hinge("a", None, limits=(-1, 1)), *supple.hinge("b", "a", at=(1, 0, 0), limits=(-2, 2))]
)

# ── kinds ────────────────────────────────────────────────────────────────────────────────────────────────────────────
Kind = frozenset[str]


def kind(*names: str) -> Kind:
    assert set(names) <= ZOO.keys()
    return frozenset(names)


NEVER = kind()  # shapes and names that no entry has
NONE = kind("None")
POSITIVE = kind("5", "half", "0-d")
NOT_NEGATIVE = POSITIVE | kind("0")
NUMBER = NOT_NEGATIVE | kind("-1")
ENDLESS = POSITIVE | kind("inf")
SHARE = kind("half", "0")  # from 0 to 1
WHOLE = kind("0", "5")
COUNT = kind("5")
FLAG = kind("True")
NAME = kind("word", "not ASCII", "number in words")
NAME_OR_NONE = NAME | NONE
TEXT = NAME | kind("empty text")
EMPTY = kind("[]")  # a sequence without anything in it
MAPPING = kind("{}")
FUNCTION = kind("lambda", "None")
