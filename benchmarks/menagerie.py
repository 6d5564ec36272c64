"""Every robot in a folder: what loads, and whether its bodies are where MuJoCo or Pinocchio put them.

Run ``python benchmarks/menagerie.py FOLDER … [--postures N] [--json FILE]``, or name the folders in the environment variable
``SUPPLE_MENAGERIE``, with ``:`` between them: a copy of MuJoCo Menagerie, example-robot-data, pybullet_data. Every MJCF (.xml)
is compared with MuJoCo's kinematics and every URDF with Pinocchio's, at random postures: positions in metres and entries of
rotation matrices, the equalities that tie joints, and configurations that the figure's bridges carry there and back. Files
whose root is neither <mujoco> nor <robot> are no models. What the other program refuses is listed apart: such a file may be a
part of a model, or lack its meshes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import supple
from menagerie_oracles import MuJoCo, Pinocchio, Refused, random_posture
from supple.files.xml import read_xml

SAME = 1e-9
WIDTHS = {"same": 7, "wrong": 7, "refused": 9, "alone": 7, "both refuse": 13}
KINDS = {"mujoco": (MuJoCo, ".xml", ".mjcf"), "robot": (Pinocchio, ".urdf")}


@dataclass
class Row:
    """What became of one file: same, wrong, refused (by supple), or alone (the other program refuses it)."""

    file: str
    format: str
    outcome: str
    reason: str = ""
    size: int = 0
    bodies: int = 0
    error: float = 0.0
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


def files_in(folder: Path) -> list[tuple[Path, str]]:
    """Every model in a folder, with the tag of its root."""
    out = []
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in (".xml", ".mjcf", ".urdf") and path.is_file():
            try:
                tag = read_xml(path).tag
            except supple.BadFile:
                continue
            if tag in KINDS and path.suffix.lower() in KINDS[tag][1:]:
                out.append((path, tag))
    return out


def judged(path: Path, tag: str, folder: Path, postures: int) -> Row:
    """Load one file, and compare it."""
    began = time.perf_counter()
    row = Row(str(path.relative_to(folder)), tag, "same")
    options = {"folders": [folder]} if tag == "mujoco" else {}
    try:
        other = KINDS[tag][0](path)
    except Refused as error:
        other, row.outcome, row.reason = None, "alone", str(error)
    try:
        figure = supple.load(path, **options)
    except supple.Error as error:
        row.outcome = "refused" if other is not None else "both refuse"
        row.reason = str(error).replace(str(folder), "")
        return row
    row.size, row.bodies, row.notes = figure.size, len(figure.segments), figure.remarks
    row.seconds = time.perf_counter() - began
    random = np.random.default_rng(0)
    for _ in range(postures if other is not None else 0):
        q = random_posture(figure, random)
        row.error = max(row.error, other.error(figure, q), 0.0 if left_out(figure) else other.residual(figure, q))
    if other is not None and not left_out(figure):
        Q = np.array([random_posture(figure, random) for _ in range(postures)])
        row.error = max(row.error, other.bridged(figure, Q))
    if row.error > SAME:
        row.outcome = "wrong"
    return row


def left_out(figure: supple.Figure) -> bool:
    """Whether some equality is not part of the figure, by its own account."""
    return any("left out, so that more moves" in remark for remark in figure.remarks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--postures", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    folders = given.folders or [Path(f) for f in os.environ.get("SUPPLE_MENAGERIE", "").split(os.pathsep) if f]
    if not folders:
        sys.exit("name a folder of robots, or set SUPPLE_MENAGERIE")
    report = {}
    folders = [folder.resolve() for folder in folders]
    os.chdir(tempfile.mkdtemp())  # MuJoCo leaves its log where it runs
    for folder in folders:
        rows = [judged(path, tag, folder, given.postures) for path, tag in files_in(folder)]
        report[folder.name] = [asdict(row) for row in rows]
        tell(folder.name, rows)
    if given.json:
        given.json.write_text(json.dumps(report, indent=1))


def tell(name: str, rows: list[Row]) -> None:
    """A line of counts for each format, and every file that is not as it should be."""
    heads = "".join(f"{outcome:>{width}}" for outcome, width in WIDTHS.items())
    print(f"\n{name}\n{'':9}{'files':>7}{heads}  greatest error")
    for tag in KINDS:
        of = [row for row in rows if row.format == tag]
        counts = Counter(row.outcome for row in of)
        worst = max((row.error for row in of if row.outcome == "same"), default=0.0)
        if of:
            cells = "".join(f"{counts[outcome]:>{width}}" for outcome, width in WIDTHS.items())
            print(f"{tag:9}{len(of):>7}{cells}  {worst:.1e}")
    for row in rows:
        if row.outcome != "same":
            print(f"  {row.outcome}: {row.file}: {row.reason or f'{row.error:.2e}'}"[:300])


if __name__ == "__main__":
    main()
