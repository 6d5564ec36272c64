"""Which files a model may bring along: those in its own folder and in folders that the user names, and no others.

A model refers to others by relative paths, or as ``package://name/…`` and ``model://name/…``. A reference is looked for where
it may lie, links are followed to their end, and what ends outside every folder is not opened, whatever way led there:
dots, an absolute path, a link. A package is a folder of that name in one of the folders, or one of the folders itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import NamedTuple

from supple.basics.checks import path_of
from supple.errors import BadFile
from supple.files.xml import LONGEST_NAME, shown

PACKAGES = ("package://", "model://")


class Found(NamedTuple):
    """The file that a reference means; or None, and why there is none."""

    path: Path | None
    reason: str = ""


class Folders:
    """The folder of a model (None for a text, which has none), and those that the user names."""

    def __init__(self, home: str | Path | None, more: Iterable[str | Path] = ()) -> None:
        if isinstance(more, str | os.PathLike):
            more = (more,)
        named = tuple(path_of(folder, "each of the folders").absolute() for folder in more)
        for folder in named:
            if not folder.is_dir():
                raise BadFile("this is not a folder", file=str(folder))
        self.home = None if home is None else Path(home).absolute()
        self.roots = named if self.home is None else (self.home, *named)
        self._real = tuple(os.path.realpath(root) for root in self.roots)

    def find(self, reference: str, bases: Iterable[Path] = ()) -> Found:
        """The first file that `reference` means, seen from `bases` and then from every folder."""
        if not reference or len(reference) > LONGEST_NAME or "\0" in reference:
            return Found(None, "no path")
        outside = False
        for path in self._candidates(reference.replace("\\", "/"), [*bases, *self.roots]):
            real = os.path.realpath(path)
            if not self.holds(real):
                outside = True
            elif os.path.isfile(real):
                return Found(Path(real))
        return Found(None, "outside the model's folder and those in folders=" if outside else "missing")

    def holds(self, real: str) -> bool:
        """Whether a path without links lies in one of the folders."""
        return any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in self._real)

    def _candidates(self, reference: str, bases: list[Path]) -> Iterator[Path]:
        scheme = next((start for start in PACKAGES if reference.startswith(start)), None)
        if scheme is not None:
            package, _, rest = reference[len(scheme) :].partition("/")
            for root in self.roots:
                if package not in ("", ".", ".."):
                    yield root / package / rest
                if root.name == package:
                    yield root / rest
        elif "://" in reference or PurePosixPath(reference).is_absolute() or PureWindowsPath(reference).drive:
            yield Path(os.sep)  # outside by what it says, wherever it leads
        else:
            yield from (base / reference for base in bases)


def told(lost: Iterable[tuple[str, str]], most: int = 8) -> str:
    """References that were not found, with the reasons: at most so many by name."""
    pairs = list(dict.fromkeys(lost))
    names = [f"{shown(reference)} ({reason})" for reference, reason in pairs[:most]]
    return ", ".join(names) + (f" and {len(pairs) - most} more" if len(pairs) > most else "")
