"""Machine code that comes with a wheel: read where it is installed, and run only where it fits.

It is compiled when the wheel is built, once for each *level*: a processor that all later ones of its family include, such as
x86-64-v3, which has AVX2 and fused products. The highest level that the host covers is used, so that all machines of one level
run the same code. What it was compiled from and for stands in its key: the digest of the kernels' sources, Numba, LLVM, the
binary interface of Python, the kind of machine, settings that change code, and the entry with its signature. No path and no
date: it is the same wherever it is installed. Of Python, the interface is enough, since what is kept holds no Python code, and
calls nothing but functions of that interface: 3.11.2 loads what 3.11.9 wrote.

To load it is to run it. So its folder, and the package that it is in, must belong to us, to the administrator or to whoever
owns the package, whose Python code is run already; and nobody else may be able to write there.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Collection
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import numba

from supple.kernels.compiling.cache import PACKAGE, SHIPPED, settings, source_digest

ABOUT = "about.json"
_V2 = {"cx16", "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"}
_V3 = _V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
# The processors that code is compiled for, lowest first, and what a host must have to run it.
_X86 = {"x86-64-v2": _V2, "x86-64-v3": _V3, "x86-64-v4": _V4}
LEVELS: dict[str, dict[str, set[str]]] = {
    "x86_64": _X86,
    "amd64": _X86,
    "aarch64": {"generic": {"neon"}},
    "arm64": {"apple-m1": {"neon"}} if sys.platform == "darwin" else {"generic": {"neon"}},
}


class Fit(NamedTuple):
    """What code was compiled from and for, all but the entry and its signature."""

    sources: str
    numba: str
    llvmlite: str
    python: str
    machine: str
    settings: str

    def difference(self, other: dict[str, Any]) -> str:
        """Why code that was made for something else does not fit; "" if it does."""
        said = {
            "numba": "it came compiled for Numba {0}, and this is {1}",
            "llvmlite": "it came compiled for llvmlite {0}, and this is {1}",
            "python": "it came compiled for another Python: {0}, and this is {1}",
            "machine": "it came compiled for another kind of machine: {0}, and this is {1}",
            "settings": "it came compiled with other settings: {0}, and these are {1}",
            "sources": "sources of kernels were changed after it was compiled",
        }
        for name, text in said.items():
            if other.get(name) != getattr(self, name):
                return text.format(other.get(name), getattr(self, name))
        return ""


@cache
def fit() -> Fit:
    """What this process is."""
    return Fit(
        source_digest(PACKAGE), numba.__version__, llvmlite.__version__, EXTENSION_SUFFIXES[0], machine(), settings()
    )


def machine() -> str:
    """The kind of machine, with its system."""
    return f"{platform.machine().lower()} {sys.platform}"


def levels_here() -> dict[str, set[str]]:
    """The levels of this kind of machine, lowest first."""
    return LEVELS.get(platform.machine().lower(), {})


def level_of(processor: str, features: str, among: Collection[str]) -> str | None:
    """The highest level that a processor covers, by its name or by its features as LLVM writes them: "+avx,-sse4a"."""
    levels = levels_here()
    has = {name[1:] for name in features.split(",") if name.startswith("+")}
    if processor in levels:
        has |= levels[processor]
    if processor.startswith("apple-"):  # LLVM does not list what Apple's have; all of them have what the first had
        has |= {"neon"}
    return next((level for level in reversed(levels) if level in among and levels[level] <= has), None)


# ── where it lies ────────────────────────────────────────────────────────────────────────────────────────────────────
def place(folder: Path, level: str, entry: str, signature: Any) -> tuple[Path, str]:
    """The file of an entry, and the key that it must hold."""
    key = "\n".join((*fit(), level, entry, str(signature)))
    plain = "".join(c if c.isalnum() or c in "._" else "-" for c in entry)
    return folder / level / f"{plain}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.code", key


class Shelf(NamedTuple):
    """The folder of shipped code that fits this process, and its levels; or None, and why there is none."""

    folder: Path | None
    levels: tuple[str, ...]
    why_not: str


@cache
def shelf(folder: Path = SHIPPED) -> Shelf:
    """What came with the package."""
    try:
        about = json.loads((folder / ABOUT).read_bytes())
        if not isinstance(about, dict):
            raise ValueError
    except FileNotFoundError:
        is_checkout = PACKAGE.parent.name == "src" and (PACKAGE.parents[1] / "pyproject.toml").exists()
        return Shelf(None, (), f"no compiled code comes with {'a checkout' if is_checkout else 'this installation'}")
    except (OSError, ValueError):
        return Shelf(None, (), f"{folder / ABOUT} cannot be read")
    why_not = fit().difference(about)
    levels = tuple(map(str, about.get("levels", ())))
    for each in () if why_not else (PACKAGE, folder, *(folder / level for level in levels)):
        why_not = why_not or untrusted(each)
    return Shelf(None if why_not else folder, levels, why_not)


@cache
def owners() -> tuple[int, ...]:
    """Who may own code that we run: we, the administrator, and whoever owns this very file, which is run already."""
    return (os.geteuid(), 0, os.stat(__file__).st_uid) if hasattr(os, "geteuid") else ()


def untrusted(folder: Path) -> str:
    """Why a folder of the installation cannot be trusted with code that is run; "" if it can."""
    try:
        about = folder.stat()
    except OSError as error:
        return f"{folder} cannot be read: {error.strerror or error}"
    return "" if trusted(about) else f"{folder} belongs to somebody else, or is open to others"


def trusted(about: os.stat_result) -> bool:
    """Whether nobody can have written there who could not have written this file.

    A group of the owner's own, which many systems give to everybody, is nobody else.
    """
    if not hasattr(os, "geteuid"):
        return True
    is_open = about.st_mode & 0o002 or (about.st_mode & 0o020 and not _is_own_group(about.st_gid, about.st_uid))
    return about.st_uid in owners() and not is_open


@cache
def _is_own_group(group: int, user: int) -> bool:
    try:
        import grp
        import pwd

        about, person = grp.getgrgid(group), pwd.getpwuid(user)
    except (ImportError, KeyError):
        return False
    return about.gr_name == person.pw_name and not set(about.gr_mem) - {person.pw_name}


def found(entry: str, signature: Any, processor: str, features: str) -> tuple[tuple[Path, str] | None, str]:
    """The file and the key of the shipped code for a call, and ""; or None, and why there is none."""
    at = shelf()
    if at.folder is None:
        return None, at.why_not
    level = level_of(processor, features, at.levels)
    if level is None:
        return None, f"no code came for this processor ({processor}), but for {', '.join(at.levels) or 'none'}"
    where = place(at.folder, level, entry, signature)
    return (where, "") if where[0].exists() else (None, "no code came for these arguments")
