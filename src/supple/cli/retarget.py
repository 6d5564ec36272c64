"""``supple retarget``: a clip carried over to another figure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import typer
from rich.progress import Progress

import supple
from supple.basics.writing import check_place
from supple.cli import archives, inputs
from supple.cli.archives import Spread, is_archive as is_archive
from supple.errors import BadValue
from supple.figure.figure import Figure
from supple.files.door import WRITERS


class Read(NamedTuple):
    """How clips are read."""

    model: str | None
    unit: float | None
    up: str | None
    part: tuple[int, int | None, int]


def many(
    clips: list[Path],
    to: str,
    output: Path,
    read: Read,
    match: Path | None,
    plant: bool,
    rest: str | None,
    fixed: bool,
    spread: Spread,
    only: Mapping[str, Any],
) -> bool:
    """Retarget many clips into a folder; whether nothing seems wrong with any."""
    from supple import cluster

    reading: dict[str, Any] = {}
    for clip in clips:
        reading |= {} if read.model is not None else inputs.options_of(clip, read.unit, read.up)
    options: dict[str, Any] = {} if plant else {"plant": False}
    if match is not None:
        options["match"] = match.read_text(encoding="utf-8")
    if rest is not None:
        options["rest"] = _rest(rest)
    first, last, step = read.part
    job = cluster.Retarget(
        to,
        spread.ending or ".bvh",
        read.model,
        not fixed,
        first,
        last,
        step,
        reading=reading,
        options=options,
    )
    supple.load(to)
    return archives.do(job, clips, archives.folder_of([output], **only), spread, "retargeting")


def _rest(text: str) -> int | str:
    """A rest pose: the number of a frame, or a letter."""
    return int(text) if text.lstrip("-").isdigit() else text


def target_of(what: str, unit: float | None, up: str | None, fixed: bool) -> Figure:
    """The figure to move; one that stands fixed in the world floats instead, unless told otherwise."""
    figure = inputs.figure_of(what, unit, up)
    roots = [segment for segment in figure.segments if figure.parent_of(segment) is None]
    held = not any(figure.joints_of(root) for root in roots)
    return figure.based_at(free=True) if held and not fixed else figure


def clip_of(
    clip: Path, model: str | None, unit: float | None, up: str | None, part: tuple[int, int | None, int]
) -> supple.Motion:
    """The frames of a clip that are asked for; `model` is its figure where the file has none."""
    options = {"figure": inputs.figure_of(model)} if model is not None else inputs.options_of(clip, unit, up)
    whole = supple.read_motion(clip, **options)
    motion = whole.frames(*part)
    if not len(motion):
        raise BadValue(f"{clip} has frames 0 to {len(whole) - 1}: none is left of --first {part[0]} --last {part[1]}")
    return motion


def print_match(motion: supple.Motion, figure: Figure) -> None:
    """The match that would be used, as text to edit."""
    typer.echo(supple.motion.match_segments(motion.figure, figure).text(), nl=False)


class Wanted(NamedTuple):
    """How a clip is to be carried over, and what is to be written of it."""

    match: Path | None = None
    plant: bool = True
    rest: str | None = None
    picture: Path | None = None
    page: Path | None = None
    against: Path | None = None


def retargeted(motion: supple.Motion, figure: Figure, output: Path, name: str, wanted: Wanted) -> bool:
    """Retarget the clip of that name with a progress bar, write it, print the report; whether nothing seems wrong."""
    match, plant, rest, picture, page, _ = wanted
    if wanted.against is not None and page is None:
        raise BadValue("--against is shown in a report: say where with --report")
    against = None if wanted.against is None else inputs.run_of(wanted.against, figure)
    if output.suffix.lower() not in WRITERS["motions"]:
        raise BadValue(f"motions are written to {', '.join(WRITERS['motions'])} files, not to {str(output)!r}")
    for path in (output, page):
        if path is not None:
            check_place(path)
    if picture is not None:
        from supple.view.picture import check_picture

        check_picture(picture)
    pose = None if rest is None else _rest(rest)
    text = None if match is None else match.read_text(encoding="utf-8")
    with Progress(transient=True) as bar:
        task = bar.add_task("retargeting", total=len(motion))
        out = supple.retarget(
            motion, figure, text, plant=plant, rest=pose, progress=lambda k: bar.update(task, completed=k + 1)
        )
    supple.write(out, output)
    typer.echo(
        f"{output}: {len(out)} frames of {figure.name!r} from {motion.figure.name!r}, {len(out.match.pairs)} pairs"
    )
    typer.echo(out.report.text())
    if picture is not None:
        from supple.view import draw_frames

        draw_frames([motion, out], path=picture)
        typer.echo(f"{picture}: frames of both motions")
    if page is not None:
        from supple.view.retarget_report import write_retarget_report

        write_retarget_report(motion, out, page, f"{name} onto {figure.name}", against)
        typer.echo(f"{page}: the report, with both motions to play")
    return out.ok
