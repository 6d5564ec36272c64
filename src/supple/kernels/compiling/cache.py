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
from importlib import metadata
from pathlib import Path

import numba
from numba.core import config

from supple.basics.writing import write_file
from supple.errors import BadFile
from supple.kernels.compiling.guard import COMPILES_QUICKLY, UNKEPT

INTERPRETED = bool(getattr(config, "DISABLE_JIT", False))
KEPT = 4  # folders of other versions
NAMED = ("geometry/placements.py",)  # knows nothing of kernels, but some go by its constants
MAGIC = b"supple kernel 1\n"
DIGEST = hashlib.sha256().digest_size


class Damaged(Exception):
    """A kept file that does not hold what was written."""


# ── digests ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def kernel_sources(package: Path) -> list[Path]:
    """Every file of the package that defines kernels, or the numbers that they go by, in a fixed order."""
    files, mark = sorted(package.rglob("*.py")), re.compile(rb"supple\.kernels\.(compiling|opening) import")
    named = [package / name for name in NAMED]
    return [f for f in files if package / "kernels" in f.parents or f in named or mark.search(f.read_bytes())]


def kernel_digest(package: Path) -> str:
    """A digest of the kernels' source text, of the versions of supple and Numba, and of settings that change the code."""
    digest = hashlib.sha256()
    for file in kernel_sources(package):
        digest.update(str(file.relative_to(package)).encode() + b"\0" + file.read_bytes() + b"\0")
    try:
        version = metadata.version("supple")
    except metadata.PackageNotFoundError:
        version = "source"
    checked = os.environ.get("SUPPLE_CHECKED", "") not in ("", "0")
    digest.update(f"{version} {numba.__version__} {COMPILES_QUICKLY} {checked}".encode())
    return digest.hexdigest()[:16]


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
    return None, why


def _roots() -> list[tuple[Path, bool]]:
    """Where the folder may be, and whether nobody else may look into it."""
    chosen = os.environ.get("SUPPLE_CACHE")
    if chosen:
        return [(Path(chosen), False)]
    user = os.getuid() if hasattr(os, "getuid") else "user"
    temporary = Path(tempfile.gettempdir()) / f"supple-{user}"
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # there is none
        return [(temporary, True)]
    return [(home / "supple", False), (temporary, True)]


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
def kept(file: Path, key: str) -> bytes | None:
    """What was kept in a file under a key; None if there is no file. Damaged if it is not what was written."""
    try:
        with open(file, "rb", opener=_opened) as stream:
            about = os.fstat(stream.fileno())
            data = stream.read() if stat.S_ISREG(about.st_mode) else b""
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Damaged(f"{file.name} cannot be read: {error.strerror or error}") from error
    if hasattr(os, "geteuid") and (about.st_uid != os.geteuid() or about.st_mode & 0o022):
        raise Damaged(f"{file.name} is not ours alone")
    head = len(MAGIC) + DIGEST
    if data[:head] != MAGIC + hashlib.sha256(data[head:]).digest():
        raise Damaged(f"{file.name} is damaged")
    if data[head : head + DIGEST] != _digest(key):
        raise Damaged(f"{file.name} is of another kernel")
    return data[head + DIGEST :]


def keep(file: Path, key: str, payload: bytes) -> None:
    """Keep a payload, whole or not at all; where it cannot be kept, it is not."""
    rest = _digest(key) + payload
    with contextlib.suppress(BadFile, OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(file, MAGIC + hashlib.sha256(rest).digest() + rest, mode=0o600)


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def _own_folder() -> tuple[Path | None, str]:
    """The folder of these kernels and ""; or None, and why nothing is kept."""
    if INTERPRETED:
        return None, ""
    if UNKEPT:
        return None, UNKEPT
    return cache_folder(kernel_digest(Path(__file__).parents[2]))


FOLDER, WHY_NOT = _own_folder()
