"""Every trial on its model, beside OpenSim: the same samples, the same limits, weights of 1.

Run ``OMP_NUM_THREADS=1 python benchmarks/tracking_oracle.py FOLDER… [--frames 300] [--json FILE]``. Folders hold TRC files with
OSIM models beside them, or up to four folders above; nothing of them is part of the repository. A trial goes to the model that
shares most of its markers, and of several such to the one on which ten of its frames fit best. Trials with the same contents
count once, and trials that share fewer than 8 markers with every model not at all. The first `--frames` frames count.

Samples that supple sets aside as outliers are taken from OpenSim as well: *apart* is how much more supple misses the others by,
in mm RMS, by the figure's own placements in the angles of either. *All* is the same over all samples, for which OpenSim is run
once more with them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import supple
from markers_data import Trial, places, rms
from markers_peers import PEERS, NotInstalled, answers

ROOT = Path(__file__).resolve().parents[1]
FEWEST, ABOVE, TRIED = (
    8,
    4,
    10,
)  # markers that count as a trial; folders above one that a model is looked for in; frames
WORSE = 0.1  # [mm]
KEYS = {"frames": 7, "markers": 8, "aside": 8, "ours": 9, "theirs": 9, "apart": 8, "all": 8, "times": 8}


def models_near(trc: Path, folder: Path) -> list[Path]:
    """OSIM files around a trial, the nearest folders first."""
    found, here = list[Path](), trc.parent
    for _ in range(ABOVE):
        found += [path for path in sorted(here.rglob("*.osim")) if path not in found]
        if here == folder or len(found) > 12:
            break
        here = here.parent
    return found[:16]


def loaded(path: Path, known: dict[Path, Any]) -> Any:
    """A model, read once; None if it is refused or has no markers."""
    if path not in known:
        try:
            known[path] = supple.load(path)
        except supple.Error:
            known[path] = None
    return known[path]


def trial_of(trc: Path, folder: Path, known: dict[Path, Any], most: int) -> Trial | None:
    """A trial on the model that it fits best."""
    try:
        markers = supple.read_markers(trc)
    except supple.Error:
        return None
    markers = markers.frames(0, min(most, len(markers)))
    seen = {n for k, n in enumerate(markers.names) if np.isfinite(markers.positions[:, k]).any()}
    shared = dict[Path, int]()
    for path in models_near(trc, folder):
        figure = loaded(path, known)
        shared[path] = len(seen & set(figure.markers)) if figure is not None else 0
    most_shared = max(shared.values(), default=0)
    if most_shared < FEWEST:
        return None
    best, off = None, np.inf
    for path in (p for p, count in shared.items() if count == most_shared):
        figure = known[path]
        job = Trial(trc.stem, trc.stem, figure, markers, figure.rest, {}, True, path)
        shown = np.flatnonzero(np.isfinite(job.seen[:, :, 0]).sum(axis=1) >= FEWEST)
        if len(shown) < TRIED:
            continue
        miss = float(job.frames(int(shown[0]), int(shown[0]) + TRIED).track().rms)
        if miss < 0.98 * off:
            best, off = job, miss
    return best


def compared(job: Trial, environments: Path) -> dict[str, Any]:
    """One line of the table."""
    motion = job.track()  # compiles
    begin = time.process_time()
    motion = job.track()
    ours = 1e3 * (time.process_time() - begin) / len(motion)
    seen = np.isfinite(job.seen[:, :, 0])
    errors = motion.errors[:, [motion.markers.index(n) for n in job.names]]  # type: ignore[index]
    aside = seen & ~np.isfinite(errors)
    whole = job.markers.only(job.names)
    kept = replace(job, markers=replace(whole, positions=np.where(aside[:, :, None], np.nan, whole.positions)))
    theirs = asked(kept, environments)
    others = asked(job, environments) if aside.any() else theirs
    at, (lower, upper) = places(job.figure, motion.q, job.names), (job.figure.lower, job.figure.upper)
    row: dict[str, Any] = {
        "frames": len(motion),
        "markers": len(job.names),
        "aside": int(aside.sum()),
        "ours": rms(at, kept.seen),
        "theirs": rms(theirs["places"], kept.seen),
        "ours_all": rms(at, job.seen),
        "theirs_all": rms(others["places"], job.seen),
        "over": float(np.degrees(np.maximum(lower - theirs["q"], theirs["q"] - upper).max())),
        "ms": ours,
        "their_ms": 1e3 * float(theirs["seconds"].mean()),
        "ok": motion.ok,
        "told": list(motion.problems),
    }
    row["apart"], row["all"] = row["ours"] - row["theirs"], row["ours_all"] - row["theirs_all"]
    row["times"] = row["their_ms"] / row["ms"]
    return row


def asked(job: Trial, environments: Path) -> dict[str, Any]:
    """What OpenSim makes of it."""
    with tempfile.TemporaryDirectory() as folder:
        return answers(PEERS["opensim"], job, "sure", 1, Path(folder), environments)


def line(row: dict[str, Any]) -> str:
    """One row as text."""
    text = str(row["name"])[:54].ljust(55)
    for key, width in KEYS.items():
        text += f"{row[key]:>{width}.3f}" if isinstance(row[key], float) else f"{row[key]:>{width}}"
    return text + ("" if row["ok"] else "  " + row["told"][0][:90])


def rows_of(
    folder: Path, options: argparse.Namespace, known: dict[Path, Any], done: set[str]
) -> Iterator[dict[str, Any]]:
    """The lines of all trials of a folder."""
    for trc in sorted(folder.rglob("*.trc")):
        digest = hashlib.sha256(trc.read_bytes()).hexdigest()
        job = None if digest in done else trial_of(trc, folder, known, options.frames)
        done.add(digest)
        if job is None:
            continue
        name = f"{folder.name}: {trc.relative_to(folder)}"
        try:
            row: dict[str, Any] = {"name": name, "model": job.model.name if job.model else ""}
            row |= compared(job, options.environments.resolve())
        except NotInstalled as reason:
            sys.exit(str(reason))
        except (RuntimeError, supple.Error) as reason:
            print(f"{name}: {str(reason)[:200]}", flush=True)
            continue
        print(line(row), flush=True)
        yield row


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--environments", type=Path, default=ROOT / "build" / "peers_markers")
    options = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != "1":
        sys.exit("set OMP_NUM_THREADS=1: everything here runs on one thread")
    rows, known, done = list[dict[str, Any]](), dict[Path, Any](), set[str]()
    print(" " * 55 + "".join(key.rjust(width) for key, width in KEYS.items()))
    for folder in options.folders:
        for row in rows_of(folder.resolve(), options, known, done):
            rows.append(row)
            if options.json is not None:
                options.json.write_text(json.dumps(rows, indent=1))
    worse = [row for row in rows if row["apart"] > WORSE]
    print(
        f"{len(rows)} trials; worse by more than {WORSE} mm on the same samples: {len(worse)}; "
        f"better by more: {sum(row['apart'] < -WORSE for row in rows)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
