"""Commands that decide: certify, solutions, verify, reach. Each imports what it needs when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from supple.cli.app import What


def certify(
    what: What,
    segment: Annotated[str, typer.Argument(metavar="SEGMENT", help="The segment whose frame is to be placed.")],
    at: Annotated[str, typer.Option(help="Where: x,y,z [m].")],
    quat_wxyz: Annotated[str, typer.Option(help="How it is turned: a quaternion w,x,y,z.")] = "1,0,0,0",
    point: Annotated[bool, typer.Option("--point", help="Only the frame's origin; it may be turned anyhow.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where a certificate goes: .json.")] = None,
    boxes: Annotated[int, typer.Option(help="Boxes of joint ranges that are looked at, at most.")] = 400,
) -> None:
    """Place a frame, or prove that it cannot be. Status 0: solved; 1: proved impossible; 3: not decided (extra `convex`)."""
    from supple.cli import proofs

    raise typer.Exit(proofs.certify(what, segment, at, None if point else quat_wxyz, output, boxes))


def solutions(
    what: What,
    segment: Annotated[str, typer.Argument(metavar="SEGMENT", help="The segment whose frame is to be placed.")],
    at: Annotated[str, typer.Option(help="Where: x,y,z [m].")],
    quat_wxyz: Annotated[str, typer.Option(help="How it is turned: a quaternion w,x,y,z.")] = "1,0,0,0",
    q: Annotated[str | None, typer.Option("--q", help="The start: the nearest to it come first.")] = None,
    windings: Annotated[bool, typer.Option("--windings", help="Whole turns too, inside the limits.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The picture: .png, .pdf or .svg.")] = None,
    certificate: Annotated[Path | None, typer.Option(help="Where the proof that these are all goes: .json.")] = None,
) -> None:
    """All postures of a six-hinge arm for a pose, and whether they are proved to be all. Status 1: there is none."""
    from supple.cli import solutions as command

    done = command.print_solutions(what, segment, (at, quat_wxyz), q, windings, output, certificate)
    raise typer.Exit(0 if done else 1)


def verify(
    file: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="What certify has written.")],
    figure: Annotated[str | None, typer.Option(help="The figure that it is to speak of: a name or a file.")] = None,
) -> None:
    """Check a certificate in ball arithmetic. Status 0: the proof holds; 1: it does not (extra `convex`)."""
    from supple.cli import proofs

    raise typer.Exit(0 if proofs.verify(file, figure) else 1)


def reach(
    what: What,
    segment: Annotated[
        str | None,
        typer.Argument(
            metavar="[SEGMENT]", help="The segment whose origin is to be placed; by default the farthest out."
        ),
    ] = None,
    spacing: Annotated[
        float | None, typer.Option(help="Metres between positions.", show_default="a part of the reach")
    ] = None,
    plane: Annotated[
        str | None, typer.Option(help="A slice: x=0, y=0 or z=0.3 [m].", show_default="by the joints")
    ] = None,
    volume: Annotated[bool, typer.Option("--volume", help="All of the space that the chain could reach.")] = False,
    quat_wxyz: Annotated[
        str | None, typer.Option(help="How it is turned: a quaternion w,x,y,z.", show_default="any rotation")
    ] = None,
    rotations: Annotated[
        int | None, typer.Option(help="Try so many rotations at each position, spread evenly over all.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The picture: .png, .pdf or .svg.")] = None,
    json: Annotated[Path | None, typer.Option(help="Where the map goes, with a posture for each pose reached.")] = None,
    boxes: Annotated[int, typer.Option(help="Boxes of joint ranges that are looked at for a pose, at most.")] = 400,
    seed: Annotated[int, typer.Option(help="Of the search.")] = 0,
) -> None:
    """Map what a segment reaches: every pose of a grid is reached, proved impossible, or undecided (extra `convex`)."""
    from supple.cli import reach as command

    command.check_outputs(output, json)
    found = command.mapped(what, segment, spacing, plane, volume, quat_wxyz, rotations, boxes, seed)
    command.print_map(found)
    if json is not None:
        command.write_json(found, json)
        typer.echo(f"{json}: the map")
    if output is not None:
        from supple.view import draw_reach

        draw_reach(found, path=output)
        typer.echo(f"{output}: the picture")
