"""The command ``solutions``: every posture that brings a frame to a pose."""

from __future__ import annotations

from pathlib import Path

import typer

import supple
from supple.basics.writing import check_place, write_file
from supple.cli.inputs import figure_of, numbers, posture
from supple.errors import BadValue

SHOWN = 64  # postures that a picture holds


def print_solutions(
    what: str,
    segment: str,
    pose: tuple[str, str],
    start: str | None,
    windings: bool,
    picture: Path | None,
    certificate: Path | None,
) -> bool:
    """Find, print, draw and keep; whether there is a posture."""
    for place in (picture, certificate):
        if place is not None:
            check_place(place)
    figure = figure_of(what)
    goal = supple.Placed(numbers(pose[0], 3, "--at"), quat_wxyz=numbers(pose[1], 4, "--quat-wxyz"))
    problem = supple.Problem(figure, [supple.Task(supple.Frame(segment), goal)])
    found = supple.solve_all(problem, posture(figure, start), windings=windings)
    said = {True: "all that there are", False: "perhaps not all"}.get(found.complete, found.complete)  # pyright: ignore[reportArgumentType, reportCallIssue]
    typer.echo(f"{len(found)} {'posture' if len(found) == 1 else 'postures'}, {said}. {found.why}")
    for k, q in enumerate(found.q, start=1):
        typer.echo(f"{k:3d}: " + ", ".join(f"{name}={x:.6f}" for name, x in figure.named(q).items()))
    for k, curve in enumerate(found.curves, start=1):
        typer.echo(f"curve {k}: {len(curve)} postures, {curve.length:.2f} rad, {'closed' if curve.closed else 'cut'}")
    if certificate is not None:
        if found.certificate is None:
            raise BadValue(f"there is no certificate to write to {certificate}: {found.why}")
        write_file(certificate, found.certificate.to_json())
        typer.echo(f"{certificate}: the certificate")
    if picture is not None and len(found):
        from supple.view.postures import draw_postures

        draw_postures(figure, found.q[:SHOWN], problem, picture)
        typer.echo(f"{picture}: {min(len(found), SHOWN)} postures")
    return len(found) > 0
