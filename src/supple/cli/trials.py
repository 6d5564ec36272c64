"""The command ``track``: from a file of markers to joint angles, with a report."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import supple
from supple.basics.writing import check_place
from supple.cli import archives, inputs
from supple.cli.archives import Spread
from supple.errors import BadFile, BadValue
from supple.figure.figure import Figure
from supple.motion.markers import Markers

METHODS = ("frames", "whole", "natural")
MOTIONS = (".mot", ".sto", ".bvh", ".glb", ".gltf")


class Wanted(NamedTuple):
    """How a trial is to be read and followed."""

    weights: Path | None = None
    method: str = "frames"
    smoothness: float = 3e-5
    cutoff: float | None = None
    huber: float | None = None
    limits: bool = True
    up: str | None = None
    unit: float | None = None
    zeros: str | None = None
    unlabelled: bool = False
    relabel: bool = False
    against: Path | None = None  # another run, to compare with in the report


def track(
    trials: list[Path], model: str, outputs: list[Path], report: Path | None, wanted: Wanted, spread: Spread
) -> bool:
    """Track, say how it went, and write what is asked for; whether nothing seems wrong."""
    if archives.is_archive(trials, outputs[0] if outputs else None, spread):
        return _many(trials, model, archives.folder_of(outputs, report=report), wanted, spread)
    (trial,) = trials
    for path in outputs:
        if path.suffix.lower() not in MOTIONS:
            raise BadFile(f"motions are written to {', '.join(MOTIONS)} files", file=str(path))
    for path in [*outputs, *([] if report is None else [report])]:
        check_place(path)
    if wanted.against is not None and report is None:
        raise BadValue("--against is shown in a report: say where with --report")
    chosen = _method(wanted.method, wanted.smoothness, float("inf") if wanted.huber is None else wanted.huber)
    figure = supple.load(model)
    against = None if wanted.against is None else inputs.run_of(wanted.against, figure)
    markers = supple.read_markers(
        trial, up=wanted.up, unit=wanted.unit, zeros=wanted.zeros, unlabelled=wanted.unlabelled
    )
    markers = supple.motion.relabelled(figure, markers) if wanted.relabel else markers
    if wanted.cutoff is not None:
        markers = markers.filtered(wanted.cutoff)
    table = None if wanted.weights is None else read_weights(wanted.weights, figure, markers)
    motion = _with_progress(figure, markers, chosen, table, wanted.limits)
    typer.echo(motion.table())
    for path in outputs:
        supple.write(motion, path)
        typer.echo(f"{path}: {len(motion)} frames of {figure.name!r}")
    if report is not None:
        from supple.view.report import write_report

        write_report(motion, markers, report, f"{trial.name} on {figure.name}", against)
        typer.echo(f"{report}: the report")
    return motion.ok


def _many(trials: list[Path], model: str, folder: Path, wanted: Wanted, spread: Spread) -> bool:
    """Track many trials into a folder; whether nothing seems wrong with any."""
    from supple import cluster

    reading = {"up": wanted.up, "unit": wanted.unit, "zeros": wanted.zeros, "unlabelled": wanted.unlabelled}
    job = cluster.Track(
        model,
        spread.ending or ".mot",
        _method(wanted.method, wanted.smoothness, float("inf") if wanted.huber is None else wanted.huber),
        wanted.cutoff,
        weights=None if wanted.weights is None else read_table(wanted.weights),
        relabel=wanted.relabel,
        reading={name: value for name, value in reading.items() if value not in (None, False)},
        options={} if wanted.limits else {"limits": False},
    )
    supple.load(model)  # what cannot be read is refused before any process begins
    return archives.do(job, trials, folder, spread, "tracking")


def _method(name: str, smoothness: float, huber: float) -> Any:
    if name == "frames":
        return (
            supple.motion.FrameByFrame(huber=huber) if huber < float("inf") else None
        )  # the default, whatever the figure
    if name == "whole":
        return supple.motion.WholeClip(smoothness, huber=huber)
    if name == "natural":
        if huber < float("inf"):
            raise BadValue("--huber is for the methods frames and whole; natural has no loss for outliers")
        return supple.OptimalTracking()
    raise BadValue(f"--method is one of {', '.join(METHODS)}, not {name!r}")


def _with_progress(figure: Figure, markers: Markers, method: Any, weights: Any, limits: bool) -> supple.motion.Tracked:
    columns = (TextColumn("tracking"), BarColumn(), MofNCompleteColumn(), TextColumn("frames"), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        job = bar.add_task("", total=len(markers))

        def advance(frames: int) -> None:
            bar.advance(job, frames)

        return supple.track(figure, markers, method, weights=weights, limits=limits, progress=advance)


def read_table(path: Path) -> dict[str, float]:
    """Weights by marker from a .json or .toml file, perhaps in a table ``markers``."""
    try:
        text = path.read_text(encoding="utf-8")
        given = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except (UnicodeDecodeError, json.JSONDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadFile(f"this is no table of weights: {error}", file=str(path)) from error
    table = given.get("markers", given) if isinstance(given, dict) else None
    if not isinstance(table, dict) or not all(isinstance(w, int | float) and w >= 0.0 for w in table.values()):
        raise BadFile("weights are a table of marker = number, 0 or more", file=str(path))
    return {name: float(weight) for name, weight in table.items()}


def read_weights(path: Path, figure: Figure, markers: Markers) -> dict[str, float]:
    """The weights in a file of all markers that figure and trial share; what it leaves out counts 0."""
    table = read_table(path)
    shared = [name for name in markers.names if name in figure.markers]
    if shared and not any(table.get(name) for name in shared):
        raise BadFile(f"no marker of figure and trial ({', '.join(shared[:5])}, …) has a weight here", file=str(path))
    return {name: table.get(name, 0.0) for name in shared}
