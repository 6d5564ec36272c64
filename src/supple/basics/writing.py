"""How files are written: whole or not at all. The only module that opens a file for writing.

The bytes go to a new file in the target's own folder, are flushed to the disk, and take the target's place in one step. A
process that is killed at any instant leaves the old file or the new one, never a part of either. A file that was there keeps
its permissions and, where that is allowed, its owner; a link stays a link, and what it points to is replaced. Devices and
pipes, such as ``/dev/stdout``, have nothing to replace: they are written to directly.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from io import RawIOBase
from pathlib import Path

from supple.errors import BadFile

DIRECT = ("/dev/", "/proc/")  # what lies here stands for something that is open already


def check_place(path: str | Path) -> None:
    """Refuse a file that could not be written, before anything is computed for it."""
    shown, target = os.fspath(path), _target(path)
    folder = target.parent
    if not folder.is_dir():
        raise BadFile(f"the file cannot be written: there is no folder {str(folder)!r}; make it first", file=shown)
    if target.is_dir():
        raise BadFile("the file cannot be written: this is a folder; name a file in it", file=shown)
    if _is_direct(target):
        return
    if target.exists() and not os.access(target, os.W_OK):
        raise BadFile("the file cannot be written: see its permissions", file=shown)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise BadFile(f"the file cannot be written: see the permissions of the folder {str(folder)!r}", file=shown)


def write_file(path: str | Path, content: str | bytes, mode: int = 0o666) -> None:
    """Write a whole file, or leave what was there; text as UTF-8. `mode` is what the umask leaves of it if the file is new."""
    check_place(path)
    target = _target(path)
    try:
        data = content.encode() if isinstance(content, str) else content
        if _is_direct(target):
            with open(target, "wb") as stream:
                stream.write(data)
        else:
            _replace(target, data, mode)
    except UnicodeEncodeError as error:
        raise BadFile(f"UTF-8 cannot hold {error.object[error.start : error.end]!r}", file=os.fspath(path)) from error
    except OSError as error:
        raise BadFile(f"the file cannot be written: {error.strerror or error}", file=os.fspath(path)) from error


def append_line(path: str | Path, line: str) -> None:
    """Add a line to a file of lines, in one piece and flushed to the disk; what a killed process left of one is ended first."""
    check_place(path)
    target = _target(path)
    try:
        handle = os.open(target, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        with open(handle, "r+b", buffering=0) as stream:
            end = stream.seek(0, os.SEEK_END)
            torn = end > 0 and _byte(stream, end - 1) != b"\n"
            stream.write(b"\n" * torn + line.encode() + b"\n")
            os.fsync(stream.fileno())
    except OSError as error:
        raise BadFile(f"the file cannot be written: {error.strerror or error}", file=os.fspath(path)) from error


def _byte(stream: RawIOBase, at: int) -> bytes | None:
    stream.seek(at)
    return stream.read(1)


def _target(path: str | Path) -> Path:
    """What is to be written: links followed, but for those to what is open already."""
    given = Path(os.path.abspath(path))
    return given if given.as_posix().startswith(DIRECT) else Path(os.path.realpath(given))


def _is_direct(target: Path) -> bool:
    return target.as_posix().startswith(DIRECT) or (target.exists() and not target.is_file())


def _replace(target: Path, data: bytes, mode: int) -> None:
    """Put a new file in the target's place."""
    new = target.with_name(f".supple-{secrets.token_hex(8)}.part")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    try:
        with open(handle, "wb") as stream:
            if target.exists():
                _keep_permissions(target, new)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(new, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(new)
        raise
    _flush_folder(target.parent)


def _keep_permissions(old: Path, new: Path) -> None:
    """Owner and group as far as we may give them, access lists where there are any, and the mode."""
    before = old.stat()
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            os.chown(new, -1, before.st_gid)
        with contextlib.suppress(OSError):
            os.chown(new, before.st_uid, -1)
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for name in os.listxattr(old):
                os.setxattr(new, name, os.getxattr(old, name))
    os.chmod(new, stat.S_IMODE(before.st_mode))


def _flush_folder(folder: Path) -> None:
    """Let the new name reach the disk as well, where folders can be flushed."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
