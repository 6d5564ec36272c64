"""The command about maps: decide a grid of poses, print what came of it, draw it and write it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

import supple
from supple.basics.writing import check_place, write_file
from supple.cli.facts import place, reach as farthest
from supple.cli.inputs import figure_of, number, numbers
from supple.errors import BadValue
from supple.figure.figure import Figure
from supple.solving.reach import Reach


def mapped(
    what: str,
    segment: str | None,
    spacing: float | None,
    plane: str | None,
    volume: bool,
    quaternion: str | None,
    rotations: int | None,
    boxes: int,
    seed: int,
) -> Reach:
    """The map that is asked for."""
    figure = figure_of(what)
    if plane is not None and volume:
        raise BadValue("--plane and --volume exclude each other: give one of them")
    if quaternion is not None and rotations is not None:
        raise BadValue("--quat-wxyz and --rotations both name rotations: give one of them")
    cut: dict[str, Any] = {} if plane is None else _cut(plane)
    turn = None if quaternion is None else numbers(quaternion, 4, "--quat-wxyz")
    options = {
        "spacing": spacing,
        "volume": volume,
        "rotation": rotations,
        "quat_wxyz": turn,
        "boxes": boxes,
        "seed": seed,
    }
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        work = bar.add_task("deciding poses", total=None)
        return supple.reach(
            figure, segment or _farthest(figure), **cut, **options,
            progress=lambda done: bar.update(work, description=f"{done} poses decided"),
        )  # fmt: skip


def check_outputs(picture: Path | None, file: Path | None) -> None:
    """Refuse files that could not be written, before anything is decided."""
    if picture is not None:
        from supple.view.picture import check_picture

        check_picture(picture)
    if file is not None:
        check_place(file)


def _farthest(figure: Figure) -> str:
    """The segment that is farthest out."""
    far = farthest(figure)
    if far is None:
        raise BadValue(f"{figure.name} has no farthest segment: name one of {', '.join(figure.segments[:12])}")
    return far[0]


def _cut(text: str) -> dict[str, float]:
    """A slice from ``y=0``."""
    axis, equals, value = text.partition("=")
    name = axis.strip().lower()
    if not equals or name not in ("x", "y", "z"):
        raise BadValue(f"a plane is written x=0, y=0 or z=0.3, not {text!r}")
    return {name: number(value)}


def print_map(reach: Reach) -> None:
    """What was decided, in a table."""
    poses = reach.reached.size
    table = Table("poses", "", "share", title=escape(f"{reach.segment} of {reach.figure.name}"))
    table.columns[1].justify = table.columns[2].justify = "right"
    words = {"reached": "reached", "impossible": "proved impossible", "undecided": "undecided"}
    for name, count in reach.counts.items():
        table.add_row(words[name], str(count), f"{100.0 * count / poses:.1f} %")
    console = Console()
    console.print(table)
    turns = "any rotation" if reach.rotations is None else f"{len(reach.rotations)} rotation(s) each"
    lines = [
        f"{len(reach)} positions, every {reach.spacing:g} m, from {place(reach.positions[0])} to "
        f"{place(reach.positions[-1])}; {turns}",
        f"{reach.seconds:.1f} s, {reach.proving:.1f} s of them for proofs and their checks",
    ]
    if reach.rotations is not None and len(reach.rotations) > 1:
        lines.insert(1, f"all rotations are reached at {int((reach.dexterity == 1.0).sum())} positions")
    for line in lines:
        console.print(escape(line), soft_wrap=True, highlight=False)


def write_json(reach: Reach, file: Path) -> None:
    """The whole map as JSON: a status and a witness, or null, for each rotation of each position."""
    witness = [[q.tolist() if np.isfinite(q).all() else None for q in row] for row in reach.q]
    record = {
        "figure": reach.figure.name, "segment": reach.segment, "joints": reach.figure.coordinates, "spacing": reach.spacing,
        "rotations": None if reach.rotations is None else reach.rotations.tolist(), "counts": reach.counts,
        "seconds": reach.seconds, "proving": reach.proving,
        "positions": reach.positions.tolist(), "status": reach.status.tolist(), "q": witness,
    }  # fmt: skip
    write_file(file, json.dumps(record))
