"""Files as people have them: read or refused, and what was read judged by other programs.

Run ``python benchmarks/files.py FOLDER… [--formats osim,c3d,…] [--most N] [--json FILE]``. Folders hold whatever collections
are at hand; nothing of them is part of the repository. Each file with other contents counts once, under the folder it lies in.
Every file has a process of its own, so what another program breaks breaks only that file. The judges:

- ``osim``: OpenSim. Bodies and markers at rest and in three random postures; followers as OpenSim's functions say.
- ``c3d``: ezc3d. Every coordinate of every marker that both have, and analog samples.
- ``trc``: the cells under each name, split at tabs and nothing else.
- ``bvh``: where the reader and the forward kinematics of `retargeting_judge` put joints.
- ``mot``, ``sto``: OpenSim's table, for a figure that is made of the columns.
- ``gltf``, ``glb``, ``vrm``: where trimesh places nodes at rest.
- ``fbx``, ``usd``…: only whether they are read: the readers are those of the other programs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import sys
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import supple
from files_judges import JUDGES

LONGEST = 120.0  # s for one file
LARGEST = 60_000_000  # bytes


def serve(pipe: Connection, kind: str, path: str) -> None:
    """Say what becomes of one file."""
    try:
        pipe.send(JUDGES[kind](path))
    except BaseException as error:  # whatever another program does
        pipe.send(("error", f"{type(error).__name__}: {error}"[:200], None))


def ask(kind: str, path: str) -> tuple[str, str, float | None]:
    """What became of a file: read or refused or error, why, and how far the judge is off."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, kind, path))
    process.start()
    theirs.close()
    try:
        answer = ours.recv() if ours.poll(LONGEST) else ("error", f"still at it after {LONGEST:g} s", None)
    except EOFError:
        answer = ("error", "the process died", None)
    process.kill()
    process.join()
    return answer


def gathered(folders: list[Path], kinds: list[str], most: int) -> list[tuple[str, str, Path]]:
    """Kind, collection and path of every file with contents of its own."""
    out, seen, counts = [], set[str](), Counter[str]()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            kind = path.suffix.lower().lstrip(".")
            if (
                kind not in kinds
                or not path.is_file()
                or not 0 < path.stat().st_size <= LARGEST
                or counts[kind] >= most
            ):
                continue
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            if digest not in seen:
                seen.add(digest)
                counts[kind] += 1
                inside = path.relative_to(folder).parts
                out.append((kind, inside[0] if len(inside) > 1 else folder.name, path))
    return out


def table(rows: list[dict[str, Any]], key: str) -> None:
    """Counts by format or by collection."""
    print(f"\n{key:44} {'files':>6} {'read':>6} {'refused':>8} {'error':>6} {'judged':>7} {'apart':>6} {'worst':>9}")
    for name in sorted({row[key] for row in rows}):
        part = [row for row in rows if row[key] == name]
        judged = [row["off"] for row in part if row["off"] is not None]
        counts = Counter(row["what"] for row in part)
        apart = sum(off > 1.0 for off in judged)
        print(
            f"{name[:44]:44} {len(part):6} {counts['read']:6} {counts['refused']:8} {counts['error']:6} {len(judged):7} "
            f"{apart:6} {max(judged, default=0.0):9.2g}"
        )


def main() -> int:
    """Judge the files of some folders."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--formats", default=",".join(JUDGES))
    parser.add_argument("--most", type=int, default=100_000, help="files of one format")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    arm = supple.load("panda")
    arm.placements(arm.rest)  # what every process needs is there before the first begins
    rows: list[dict[str, Any]] = []
    for kind, source, path in gathered(options.folders, options.formats.split(","), options.most):
        what, why, off = ask(kind, str(path))
        rows.append({"format": kind, "source": source, "file": path.name, "what": what, "why": why, "off": off})
        if what == "error" or (off is not None and off > 1.0):
            print(f"{what:8} {path}: {why} {off}", file=sys.stderr)
    table(rows, "format")
    table(rows, "source")
    print("\nrefused, and why:")
    for (kind, why), count in Counter((r["format"], r["why"]) for r in rows if r["what"] == "refused").most_common(40):
        print(f"{count:5} {kind:5} {why}")
    print(
        "\n*apart* counts files in which judge and reader differ by more than its tolerance; *worst* is in tolerances."
    )
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
