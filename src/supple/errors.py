"""Every error that supple raises on purpose: one base class, and Python's own kinds where users expect them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from reprlib import Repr
from typing import Any


class Error(Exception):
    """Base of all errors that supple raises on purpose; the message names the culprit and the remedy."""


class BadValue(Error, ValueError):
    """A value that cannot be used: not finite, of the wrong shape, out of its range, contradictory."""


class UnknownName(Error, KeyError):
    """A name that the figure, the catalogue or the file does not have."""

    __str__ = Exception.__str__  # KeyError would print the repr of the message


class BadFile(BadValue):
    """A file that is broken, hostile or not of the kind its name promises."""

    def __init__(self, message: str, *, file: str | None = None, line: int | None = None) -> None:
        place = ":".join(str(part) for part in (file, line) if part is not None)
        super().__init__(f"{place}: {message}" if place else message)
        self.file = file
        self.line = line


class Refused(Error, ValueError):
    """A problem that the chosen solver cannot take; the message lists the reasons by task."""


class MissingExtra(Error, ImportError):
    """An optional dependency that is not installed; the message says which extra brings it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f'{purpose} needs the package {package!r}: pip install "supple[{extra}]"')
        self._given = package, extra, purpose

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._given  # ImportError would hand the whole sentence over as the package


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a long job: how many of the `total` were `done`, and what there is of the answer in `partial`.

    It is a KeyboardInterrupt and no `Error`: what catches errors to go on with the next file does not catch it.
    """

    def __init__(self, message: str, done: int = 0, total: int = 0, answer: Callable[[], Any] | None = None) -> None:
        super().__init__(message)
        self.done, self.total, self._answer = done, total, answer

    @cached_property
    def partial(self) -> Any:
        """What a deadline at that moment would have given; None if there is nothing yet, or it was sent between processes."""
        return None if self._answer is None else self._answer()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.done, self.total)


_short = Repr()
_short.maxstring = _short.maxother = 70
_short.maxlong = 30


def shown(value: Any) -> str:
    """What a message says of a value: short, whatever it is."""
    try:
        return _short.repr(value).replace("\n", " ")
    except Exception:  # what cannot even say what it is
        return f"something of the kind {type(value).__name__}"


def needed(module: str, package: str, extra: str, purpose: str) -> Any:
    """A module of an optional dependency; MissingExtra if it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(package, extra, purpose) from error


def find(names: tuple[str, ...], name: str, kind: str, owner: str) -> int:
    """Index of `name` among `names`; an UnknownName that proposes the nearest spellings otherwise."""
    if isinstance(name, str) and name in names:
        return names.index(name)
    from difflib import get_close_matches

    close = get_close_matches(name[:200], names, n=3, cutoff=0.5) if isinstance(name, str) else []
    proposed = ", ".join(close or names[:12] or ("none",)) + (", …" if not close and len(names) > 12 else "")
    verb = "did you mean" if close else "it has"
    raise UnknownName(f"{owner} has no {kind} called {shown(name)}; {verb} {proposed}" + ("?" if close else ""))
