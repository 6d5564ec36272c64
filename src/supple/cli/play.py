"""``supple play``: motions and markers on a page, in one HTML file, or in a film."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from supple.basics.writing import check_place
from supple.cli.edit import serve
from supple.view.page.clips import Clip, read_clip, side_by_side


def clips_of(paths: list[Path], model: str | None, unit: float | None, up: str | None) -> list[Clip]:
    """The clips of files, side by side."""
    given: dict[str, Any] = {key: value for key, value in (("unit", unit), ("up", up)) if value is not None}
    return side_by_side([read_clip(p, model, **(given if p.suffix.lower() == ".bvh" else {})) for p in paths])


def play(
    paths: list[Path],
    model: str | None,
    page: Path | None,
    video: Path | None,
    address: str,
    port: int,
    browser: bool,
    unit: float | None,
    up: str | None,
) -> None:
    """Write what is asked for; without that, open the page."""
    for path in (page, video):
        if path is not None:
            check_place(path)
    clips = clips_of(paths, model, unit, up)
    if page is not None:
        from supple.view.page.export import write_player

        write_player(clips, page)
        typer.echo(f"{page}: a page that plays offline, {page.stat().st_size / 1e6:.1f} MB")
    if video is not None:
        _film(clips, video)
        typer.echo(f"{video}: the film")
    if page is None and video is None:
        from supple.view.page.player import Player

        player = Player(clips, address, port)
        serve(player, player.link, address, browser)


def _film(clips: list[Clip], path: Path) -> None:
    from supple.view.page.video import write_video

    columns = (TextColumn("drawing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        job = bar.add_task("")
        write_video(clips, path, progress=lambda done, total: bar.update(job, completed=done, total=total))
