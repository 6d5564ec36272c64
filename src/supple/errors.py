"""Every error that supple raises on purpose: one base class, and Python's own kinds where users expect them."""

from __future__ import annotations

from importlib import import_module
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


def needed(module: str, package: str, extra: str, purpose: str) -> Any:
    """A module of an optional dependency; MissingExtra if it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(package, extra, purpose) from error


def find(names: tuple[str, ...], name: str, kind: str, owner: str) -> int:
    """Index of `name` among `names`; an UnknownName that proposes the nearest spellings otherwise."""
    if name in names:
        return names.index(name)
    from difflib import get_close_matches

    close = get_close_matches(str(name), names, n=3, cutoff=0.5)
    shown = ", ".join(close or names[:12] or ("none",)) + (", …" if not close and len(names) > 12 else "")
    verb = "did you mean" if close else "it has"
    raise UnknownName(f"{owner} has no {kind} called {name!r}; {verb} {shown}" + ("?" if close else ""))
