"""The commands that open pages, as typed: ``edit`` and ``play``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from supple.cli.app import Unit, Up

Files = Annotated[
    list[Path], typer.Argument(metavar="FILE…", help="Motions (.bvh, .mot, .sto, .amc) and markers (.c3d, .trc).")
]
Address = Annotated[
    str, typer.Option(help="Serve other computers too, at this address; the link then holds a token, in plain HTTP.")
]
Port = Annotated[int, typer.Option(help="The port; the next one that is free, if it is taken.")]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in a browser.")]


def edit(
    what: Annotated[
        str, typer.Argument(metavar="[FIGURE|SCENE|FILE]", help="A name, a figure's file, a scene.")
    ] = "human",
    address: Address = "127.0.0.1",
    port: Port = 8080,
    library: Annotated[Path | None, typer.Option(help="A .json file that keeps named postures.")] = None,
    browser: Browser = True,
    unit: Unit = None,
    up: Up = None,
) -> None:
    """Pose a figure by hand in a browser (extra `view`)."""
    from supple.cli import edit as command

    command.edit(what, address, port, library, browser, unit, up)


def play(
    files: Files,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="The figure of a file that has none: .osim, .asf.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write one page that plays offline instead.")] = None,
    video: Annotated[Path | None, typer.Option(help="Write a film instead: .gif, or .mp4 with ffmpeg.")] = None,
    address: Address = "127.0.0.1",
    port: Port = 8080,
    browser: Browser = True,
    unit: Unit = None,
    up: Up = None,
) -> None:
    """Play motions and markers in a browser, side by side (extra `view`)."""
    from supple.cli import play as command

    command.play(files, model, html, video, address, port, browser, unit, up)
