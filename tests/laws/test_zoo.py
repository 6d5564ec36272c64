"""Only our errors, before any work: every public callable, each argument replaced by every value of a zoo in turn.

What comes out is a `supple.Error` with a sentence, or the value is one that the table lists as right for that argument. A
foreign exception, a warning, or nonsense that is taken for good fails; so does a public callable or an argument without a row.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import supple
from tests.tables.public import PUBLIC
from tests.tables.zoo import ZOO
from tests.tables.zoo_rows import LIBRARY, RESULTS, ROWS, Row


def callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public callable by name: functions, constructors, and the public methods of classes."""
    for name, thing in PUBLIC.items():
        if not callable(thing) or (inspect.isclass(thing) and issubclass(thing, BaseException | enum.Enum)):
            continue
        yield name, thing
        for method in dir(thing) if inspect.isclass(thing) else ():
            given = inspect.getattr_static(thing, method)
            if not method.startswith("_") and (
                inspect.isfunction(given) or isinstance(given, classmethod | staticmethod)
            ):
                yield f"{name}.{method}", getattr(thing, method)


CALLABLE = dict(callables())


def arguments(name: str) -> set[str]:
    """The arguments of a callable by name, without those that stand for any."""
    parameters = inspect.signature(CALLABLE[name]).parameters.values()
    return {p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)} - {"self"}


def exempt(name: str) -> bool:
    """Records that only the library makes, and methods that only the library calls."""
    owner, _, method = name.partition(".")
    return name in RESULTS or (bool(method) and (method in LIBRARY.get(owner, ()) or not arguments(name)))


@pytest.mark.parametrize("name", [name for name in CALLABLE if not exempt(name)])
def test_every_public_callable_has_a_row_and_every_argument_a_cell(name: str):
    assert name in ROWS, f"{name} has no row in zoo_rows.py"
    missing = arguments(name) - ROWS[name].cells.keys()
    assert not missing, f"the row of {name} says nothing of {', '.join(sorted(missing))}"


def test_no_row_is_of_something_that_is_not_public():
    assert {name.partition("(")[0] for name in ROWS} <= CALLABLE.keys()
    assert CALLABLE.keys() >= RESULTS
    assert {f"{owner}.{method}" for owner, methods in LIBRARY.items() for method in methods} <= CALLABLE.keys()


def given(row: Row) -> dict[str, Any]:
    """Arguments that are right."""
    return {
        name: value() if callable(value) and name not in row.bare else value for name, (value, _) in row.cells.items()
    }


def outcome(row: Row, arguments: dict[str, Any]) -> str:
    """What a call comes to, in a word or two; empty where it is a proper refusal."""
    try:
        row.call(**arguments)
    except supple.Error as error:
        return "" if len(str(error)) > 15 and "\n" not in str(error)[:15] else f"says only {str(error)!r}"
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"[:300]
    return "accepted"


@pytest.mark.parametrize("name", ROWS)
def test_nonsense_is_refused_in_our_words(name: str):
    row = ROWS[name]
    assert outcome(row, given(row)) == "accepted"
    wrong = []
    for argument, (_, right) in row.cells.items():
        for animal, make in ZOO.items():
            came = outcome(row, {**given(row), argument: make()})
            if came and not (came == "accepted" and animal in right):
                wrong.append(f"{argument}={animal}: {came}")
    assert not wrong, f"{len(wrong)} of {name}:\n" + "\n".join(wrong)
    assert outcome(row, given(row)) == "accepted"
