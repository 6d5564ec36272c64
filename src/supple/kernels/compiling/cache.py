"""Where compiled kernels are kept between processes, and how what is found there is trusted.

What is kept is machine code inside a pickle: to load it is to run it. So a folder is used only if nobody else can have written
there: it is ours, no link, and closed to others; the one in the temporary folder is closed to their eyes as well. And a file
is loaded only if it is ours and holds what was once written: it begins with the SHA-256 of the rest, and the rest with that of
the key it was kept under. What is cut short, changed or from elsewhere is as good as absent.

The folder is named after a digest of every kernel's source text and of what else decides about the code, so an upgrade or an
edit can never run old machine code: Numba alone would not notice a change in a callee that lives in another file.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numba
from numba.core import config

from supple.kernels.compiling.guard import COMPILES_QUICKLY, UNKEPT

PACKAGE = Path(__file__).parents[2]
SHIPPED = PACKAGE / "kernels" / "shipped"  # code that came with the package (`shipped`), where some did
INTERPRETED = bool(getattr(config, "DISABLE_JIT", False))
KEPT = 4  # folders of other versions
# These know nothing of kernels, but some go by their constants.
NAMED = (
    "geometry/placements.py",
    "problem/allowance.py",
    "solvers/any_arm/rows_of_elimination.py",
    "solvers/closed_forms/axes.py",
    "solvers/closed_forms/recognition.py",
    "solvers/closed_forms/rows_of_arms.py",
    "solvers/self_motions/rows_of_curves.py",
)
MAGIC = b"supple kernel 3\n"
DIGEST = hashlib.sha256().digest_size
# Files of this folder that keep code but do not make it: how they write it is told by the first line of what they write.
_BESIDES = (
    "cache.py",
    "keeping.py",
    "loading.py",
    "locks.py",
    "messages.py",
    "recording.py",
    "shipped.py",
    "warming.py",
)
# Settings of Numba's that change the code.
_SETTINGS = (
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
    "LLVM_REFPRUNE_PASS",
    "USING_SVML",
)


class Damaged(Exception):
    """A kept file that does not hold what was written."""


# ── digests ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def kernel_sources(package: Path) -> list[Path]:
    """Every file of the package that defines kernels, or the numbers that they go by, in a fixed order."""
    files, mark = sorted(package.rglob("*.py")), re.compile(rb"supple\.kernels\.(compiling|opening) import")
    named = {package / name for name in NAMED}
    besides = {package / "kernels" / "compiling" / name for name in _BESIDES}
    kernels = [f for f in files if package / "kernels" in f.parents or f in named or mark.search(f.read_bytes())]
    return [file for file in kernels if file not in besides]


def kernel_digest(package: Path) -> str:
    """A digest of the kernels' source text, of Numba's version, and of settings that change the code."""
    digest = hashlib.sha256(source_digest(package).encode())
    digest.update(f"{numba.__version__} {settings()}".encode())
    return digest.hexdigest()[:16]


def source_digest(package: Path) -> str:
    """A digest of the kernels' source text, whatever ends its lines."""
    digest = hashlib.sha256()
    for file in kernel_sources(package):
        text = file.read_bytes().replace(b"\r\n", b"\n")
        digest.update(file.relative_to(package).as_posix().encode() + b"\0" + text + b"\0")
    return digest.hexdigest()


def settings() -> str:
    """What changes the code besides the sources: whether shortcuts are taken, checks of packs, settings of Numba's."""
    checked = os.environ.get("SUPPLE_CHECKED", "") not in ("", "0")
    numbas = " ".join(f"{name}={getattr(config, name, None)}" for name in _SETTINGS)
    return f"shortcuts={COMPILES_QUICKLY} checked={checked} {numbas}"


# ── folders ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def cache_folder(name: str) -> tuple[Path | None, str]:
    """The folder for compiled code, made ready, and ""; or None, and why nothing is kept."""
    why = ""
    for root, private in _roots():
        folder, is_new = root / name, False
        try:
            is_new = not folder.exists()
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            reason = objection(root, private)
            if not reason:
                folder.mkdir(mode=0o700, exist_ok=True)
                reason = objection(folder, private)
        except OSError as error:
            reason = f"{root} cannot be used: {error.strerror or error}"
        if not reason:
            if is_new:
                _forget_old(root, folder)
            return folder, ""
        why = why or reason
    return None, why or "there is neither a home nor a temporary folder"


def _roots() -> list[tuple[Path, bool]]:
    """Where the folder may be, and whether nobody else may look into it."""
    chosen = os.environ.get("SUPPLE_CACHE")
    if chosen:
        return [(Path(chosen), False)]
    user, out = os.getuid() if hasattr(os, "getuid") else "user", []
    with contextlib.suppress(RuntimeError):  # there is no home
        out.append((Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "supple", False))
    with contextlib.suppress(OSError):  # there is no temporary folder, or its disk is full
        out.append((Path(tempfile.gettempdir()) / f"supple-{user}", True))
    return out


def objection(folder: Path, private: bool) -> str:
    """Why a folder cannot be trusted with code that is run; "" if it can."""
    is_link = folder.is_symlink()
    about = folder.lstat()
    if is_link or not stat.S_ISDIR(about.st_mode):
        return f"{folder} is {'a link' if is_link else 'no folder'}"
    if hasattr(os, "geteuid"):
        if about.st_uid != os.geteuid():
            return f"{folder} belongs to somebody else"
        if about.st_mode & (0o077 if private else 0o022):
            return f"{folder} is open to others: chmod 700 it, after a look into it, or remove it"
    return "" if os.access(folder, os.W_OK | os.X_OK) else f"{folder} cannot be written to"


def _forget_old(root: Path, current: Path) -> None:
    with contextlib.suppress(OSError):
        others = [f for f in root.iterdir() if f.is_dir() and f != current and re.fullmatch("[0-9a-f]{16}", f.name)]
        for folder in sorted(others, key=lambda f: f.stat().st_mtime, reverse=True)[KEPT - 1 :]:
            shutil.rmtree(folder, ignore_errors=True)


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────
def ours(about: os.stat_result) -> bool:
    """Whether nobody but us can have written a file."""
    return not hasattr(os, "geteuid") or (about.st_uid == os.geteuid() and not about.st_mode & 0o022)


def kept(file: Path, key: str, trusted: Callable[[os.stat_result], bool] = ours) -> bytes | None:
    """What was kept in a file under a key; None if there is no file. Damaged if it is not what was written."""
    try:
        with open(file, "rb", opener=_opened) as stream:
            about = os.fstat(stream.fileno())
            data = stream.read() if stat.S_ISREG(about.st_mode) else b""
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Damaged(f"{file.name} cannot be read: {error.strerror or error}") from error
    if not trusted(about):
        raise Damaged(f"{file.name} is not ours alone")
    head = len(MAGIC) + DIGEST
    if data[:head] != MAGIC + hashlib.sha256(data[head:]).digest():
        raise Damaged(f"{file.name} is damaged")
    if data[head : head + DIGEST] != _digest(key):
        raise Damaged(f"{file.name} is of another kernel")
    return data[head + DIGEST :]


def keep(file: Path, key: str, payload: bytes, mode: int = 0o600) -> str:
    """Keep a payload, whole or not at all; why it could not be kept, and "" if it was."""
    from supple.basics.writing import write_file
    from supple.errors import BadFile

    rest = _digest(key) + payload
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(file, MAGIC + hashlib.sha256(rest).digest() + rest, mode=mode)
    except (BadFile, OSError) as error:
        return str(error)
    return ""


def _opened(path: str, flags: int) -> int:
    return os.open(
        path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


class Home(NamedTuple):
    """Where these kernels are kept; or None, and why nothing is."""

    folder: Path | None
    why_not: str = ""


@cache
def home() -> Home:
    """The folder of these kernels, made ready when something is looked for that did not come with the package."""
    if INTERPRETED:
        return Home(None)
    return Home(None, UNKEPT) if UNKEPT else Home(*cache_folder(own_digest()))


@cache
def own_digest() -> str:
    """The digest of this package."""
    return kernel_digest(PACKAGE)
