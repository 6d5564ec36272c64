"""The program to which commands belong, its own options, and arguments that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from supple.cli.failing import Commands

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Poses anything that bends: characters, robots, hands, closed mechanisms.",
)

What = Annotated[
    str, typer.Argument(metavar="FIGURE", help="A name of the catalogue, or a file: .urdf, .xml (MJCF), .osim, .bvh.")
]
Unit = Annotated[float | None, typer.Option(help="Metres in one unit of a BVH file.", show_default="0.01, centimetres")]
Up = Annotated[str | None, typer.Option(help="The axis of a BVH file that points up: x, y or z.", show_default="y")]


def _print_version(wanted: bool) -> None:
    if wanted:
        from supple import __version__

        typer.echo(f"supple {__version__}")
        raise typer.Exit


Against = Annotated[
    Path | None, typer.Option(help="Another run of the same, to compare with in the report: .mot, .sto, .bvh.")
]


@app.callback()
def _start(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Options of all commands."""
