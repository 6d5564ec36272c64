"""The manifest of an archive: one line of JSON for each file that was done, appended when it was.

A line says all that is needed to know whether the work would be the same again: the digests of the file, of the job's
settings and of what was written, and the version. Lines are never changed; of several about one file the last holds. A process
that is killed while it writes leaves a piece of a line; what is no whole entry is passed over, and its file done again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from supple.basics.checks import path_of
from supple.basics.values import Value
from supple.basics.writing import append_line

NAME = "manifest.jsonl"
Outcome = Literal["good", "doubtful", "failed"]
OUTCOMES = ("good", "doubtful", "failed")
BLOCK = 1 << 20  # bytes that are digested at a time


@dataclass(frozen=True, eq=False, repr=False)
class Entry(Value):
    """What became of one file."""

    source: str  # the file, as it was named
    output: str  # the file that was written, within the archive's folder; "" if none was
    status: Outcome  # good; doubtful: written, but its verdict says that something is wrong; failed: nothing written
    reason: str = ""  # of what is doubtful or failed: one sentence or several
    told: Mapping[str, Any] = field(default_factory=dict)  # what the job says of it: frames, errors
    digest: str = ""  # of the file's bytes
    settings: str = ""  # of the job's settings and of the files that they name
    written: str = ""  # of the bytes that were written
    version: str = ""  # of supple
    seconds: float = field(default=0.0, compare=False)  # of processor time
    worker: str = field(default="", compare=False)  # which process did it

    def line(self) -> str:
        """As a line of the manifest."""
        return json.dumps(asdict(self) | {"told": dict(self.told)}, ensure_ascii=False, allow_nan=False)


def read_manifest(path: str | Path) -> dict[str, Entry]:
    """The last entry for each file of a manifest, or of the archive in a folder; empty where there is none yet."""
    path = path_of(path)
    path = path / NAME if path.is_dir() else path
    if not path.exists():
        return {}
    entries = filter(None, map(_entry, path.read_bytes().split(b"\n")))
    return {entry.source: entry for entry in entries}


def _entry(line: bytes) -> Entry | None:
    """What a line says; None if it says nothing."""
    try:
        given = json.loads(line)
        known = {one.name for one in fields(Entry)}
        entry = Entry(**{name: value for name, value in given.items() if name in known})
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    words = (entry.source, entry.output, entry.digest, entry.settings, entry.written, entry.version)
    return entry if entry.status in OUTCOMES and all(isinstance(word, str) for word in words) else None


def add(path: Path, entry: Entry) -> None:
    """Append an entry; it is on the disk when this returns."""
    append_line(path, entry.line())


def digest_of(path: str | Path) -> str:
    """SHA-256 of a file's bytes."""
    sha = hashlib.sha256()
    with open(path, "rb") as stream:
        while block := stream.read(BLOCK):
            sha.update(block)
    return sha.hexdigest()
