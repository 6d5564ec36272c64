"""``supple edit``: the posing page, from a figure, a scene or a motion."""

from __future__ import annotations

import threading
import webbrowser
from pathlib import Path

import typer

import supple
from supple.cli.inputs import figure_of
from supple.view.page.server import is_loopback
from supple.view.page.session import FEET


def scene_of(what: str, unit: float | None, up: str | None) -> supple.Scene:
    """What is to be posed: a scene file as it is; a figure at rest; the first frame of a motion."""
    ending = Path(what).suffix.lower()
    if ending in (".toml", ".json"):
        return supple.read_scene(what)
    figure = figure_of(what, unit, up)
    if ending == ".bvh":
        options = {key: value for key, value in (("unit", unit), ("up", up)) if value is not None}
        motion = supple.read_motion(what, **options)
        return supple.Scene(motion.figure, motion.posture(0)) if len(motion) else supple.Scene(figure)
    return supple.Scene(figure)


def freed(figure: supple.Figure) -> supple.Figure | None:
    """A robot that has feet and yet is fixed in the world, free and standing on them; none for any other."""
    feet = [segment for segment in figure.segments if FEET.match(segment)]
    if not feet or figure.chain(None, figure.segments[0]) or any(not figure.chain(None, foot) for foot in feet):
        return None
    low = min(float(figure.placement(figure.rest, foot)[2, 3]) for foot in feet)
    return figure.based_at((0.0, 0.0, -low), free=True)


def serve(page: object, link: str, address: str, open_it: bool) -> None:
    """Say where the page is, and keep it until Ctrl-C."""
    if not is_loopback(address):
        typer.echo("Whoever has this link can pose, save and upload here; it travels without encryption.", err=True)
    typer.echo(f"{link}\nCtrl-C ends the page.")
    if open_it:
        threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        typer.echo("The page has ended.")
    finally:
        page.close()  # pyright: ignore[reportAttributeAccessIssue]


def edit(
    what: str, address: str, port: int, library: Path | None, browser: bool, unit: float | None, up: str | None
) -> None:
    """Open the page."""
    from supple.view.page.page import Page

    scene = scene_of(what, unit, up)
    free = None if scene.constraints else freed(scene.figure)
    page = Page(scene if free is None else supple.Scene(free), address, port, library, scene.figure)
    for note in page.notes:
        typer.echo(note, err=True)
    serve(page, page.link, address, browser)
