"""The command line: ``supple COMMAND``. Each command imports what it needs when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from supple.cli.failing import Commands
from supple.cli.page_commands import Unit, Up, add_to

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Poses anything that bends: characters, robots, hands, closed mechanisms.",
)
add_to(app)  # edit, play

What = Annotated[
    str, typer.Argument(metavar="FIGURE", help="A name of the catalogue, or a file: .urdf, .xml (MJCF), .osim, .bvh.")
]


def _print_version(wanted: bool) -> None:
    if wanted:
        from supple import __version__

        typer.echo(f"supple {__version__}")
        raise typer.Exit


@app.callback()
def _start(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Options of all commands."""


@app.command()
def figures() -> None:
    """List the figures that come with the library."""
    from supple.cli import tables

    tables.print_catalogue()


@app.command()
def info(what: What, unit: Unit = None, up: Up = None) -> None:
    """Describe a figure: its tree of joints, limits, extent, mass and closed loops."""
    from supple.cli import inputs, tables

    tables.print_figure(inputs.figure_of(what, unit, up))


@app.command()
def convert(
    source: Annotated[
        str, typer.Argument(metavar="FROM", help="A file (.urdf, .xml, .bvh) or a name of the catalogue.")
    ],
    target: Annotated[Path, typer.Argument(metavar="TO", help="A .urdf or .bvh file.")],
    unit: Unit = None,
    up: Up = None,
) -> None:
    """Write a figure or a motion in another format.

    Unit and up axis are those of the BVH file that is read; if only the target is a BVH file, they are the target's.
    """
    from supple.cli import inputs

    typer.echo(inputs.converted(source, target, unit, up))


@app.command()
def show(
    what: What,
    output: Annotated[Path, typer.Option("--output", "-o", help="The picture: .png, .pdf or .svg.")] = Path("pose.png"),
    q: Annotated[
        str | None,
        typer.Option(
            "--q",
            help='All coordinates, "0.1, 20deg, …", or some of them, "elbow=90deg, knee=0.2". Radians and metres.',
        ),
    ] = None,
    goal: Annotated[
        list[str] | None,
        typer.Option(help='Solve for a place of a segment, "hand_r.palm=0.5,-0.2,1.2"; may be repeated.'),
    ] = None,
    frame: Annotated[int | None, typer.Option(help="Show this frame of a motion, counted from 0.")] = None,
    view: Annotated[str, typer.Option(help="Elevation and azimuth of the eye [degrees].")] = "16,-44",
    chart: Annotated[
        bool | None, typer.Option("--chart/--no-chart", help="Add a chart of all coordinates.", show_default="up to 32")
    ] = None,
    unit: Unit = None,
    up: Up = None,
) -> None:
    """Draw a figure: at rest, in a given posture, or reaching for goals."""
    from supple.cli import inputs

    typer.echo(inputs.shown(what, output, q, goal or [], frame, view, chart, unit, up))


SceneFile = Annotated[Path, typer.Argument(metavar="SCENE", help="A scene file: .toml or .json.")]


@app.command()
def solve(
    file: SceneFile,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            "--write",
            help="Write the posture as one frame (.bvh), or the scene in it (.toml, .json); may be repeated.",
        ),
    ] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the posture: .png, .pdf or .svg.")] = None,
    view: Annotated[str, typer.Option(help="Elevation and azimuth of the eye [degrees].")] = "16,-44",
    names: Annotated[
        bool, typer.Option("--names/--no-names", help="Write constraints' names into the picture.")
    ] = False,
    unit: Annotated[float, typer.Option(help="Metres in one unit of the BVH file.")] = 0.01,
    up: Annotated[str, typer.Option(help="The axis of the BVH file that points up: x, y or z.")] = "y",
    seed: Annotated[int, typer.Option(help="Of the search, where a single attempt is not enough.")] = 0,
) -> None:
    """Solve a scene and report. Status 0: every constraint is met; 1: not all are; 2: the scene cannot be solved at all."""
    from supple.cli import scenes

    solution = scenes.solve(file, output or [], picture, view, names, unit, up, seed)
    raise typer.Exit(0 if solution.ok else 1)


@app.command()
def track(
    trial: Annotated[Path, typer.Argument(metavar="TRIAL", help="Markers: a .c3d or .trc file.")],
    model: Annotated[
        str, typer.Option("--model", "-m", help="The figure that wears the markers: .osim, or whatever has some.")
    ],
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="Where the motion goes: .mot, .sto, .bvh, .glb; may be repeated."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="A page about the errors, the angles and the worst frames.")
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="How much each marker counts: a .json or .toml table; others count nothing.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="frames, whole (all of them at once) or natural (coordinates).")
    ] = "frames",
    smoothness: Annotated[float, typer.Option(help="Of whole clips [m s²].")] = 3e-5,
    cutoff: Annotated[
        float | None, typer.Option(help="Filter the markers first: Butterworth, this frequency [Hz].")
    ] = None,
    huber: Annotated[float | None, typer.Option(help="Markers further off than this count as outliers [m].")] = None,
    limits: Annotated[bool, typer.Option("--limits/--no-limits", help="Keep joints inside their limits.")] = True,
    up: Annotated[
        str | None, typer.Option(help="The axis of the trial that points up, if it does not say: x, y, z.")
    ] = None,
    unit: Annotated[float | None, typer.Option(help="Metres in one unit of the trial, if it does not say.")] = None,
) -> None:
    """Find the motion behind markers. Status 0: every frame converged and nothing seems wrong; 1: the report says what."""
    from supple.cli import trials

    arguments = (trial, model, output or [], report, weights, method, smoothness, cutoff, huber, limits, up, unit)
    raise typer.Exit(0 if trials.track(*arguments) else 1)


@app.command()
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


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="What certify has written.")],
    figure: Annotated[str | None, typer.Option(help="The figure that it is to speak of: a name or a file.")] = None,
) -> None:
    """Check a certificate in ball arithmetic. Status 0: the proof holds; 1: it does not (extra `convex`)."""
    from supple.cli import proofs

    raise typer.Exit(0 if proofs.verify(file, figure) else 1)


@app.command("reach")
def _reach(
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


scene_commands = typer.Typer(no_args_is_help=True, help="Look scenes over.")
app.add_typer(scene_commands, name="scene")


@scene_commands.command()
def check(file: SceneFile) -> None:
    """Say what a scene holds: constraints, chains, obstacles, what touches; and what is odd or wrong about it."""
    from supple.cli import scenes

    scenes.check(file)


@app.command("retarget")
def _retarget(
    clip: Annotated[Path, typer.Argument(metavar="CLIP", help="The motion: .bvh, .amc, .mot or .sto.")],
    to: Annotated[str, typer.Option(help="The figure to move: a name of the catalogue, or a file.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The motion of that figure: .bvh, .glb, .gltf, .mot.")
    ] = Path("retargeted.bvh"),
    model: Annotated[str | None, typer.Option(help="The clip's figure, where its file has none: .osim, .asf.")] = None,
    match: Annotated[
        Path | None, typer.Option(help="Which segments follow which, as --print-match prints it, edited.")
    ] = None,
    show_match: Annotated[bool, typer.Option("--print-match", help="Print the match, and do nothing else.")] = False,
    first: Annotated[
        int, typer.Option(help="The first frame; 1 leaves out the T-pose that some files begin with.")
    ] = 0,
    last: Annotated[int | None, typer.Option(help="The frame to stop before.", show_default="the end")] = None,
    step: Annotated[int, typer.Option(help="Take every so many frames.")] = 1,
    plant: Annotated[bool, typer.Option("--plant/--no-plant", help="Keep planted feet planted.")] = True,
    fixed: Annotated[
        bool, typer.Option("--fixed", help="Leave a figure that is fixed in the world where it is.")
    ] = False,
    picture: Annotated[Path | None, typer.Option(help="Draw frames of both motions: .png, .pdf or .svg.")] = None,
    unit: Unit = None,
    up: Up = None,
    to_unit: Annotated[float | None, typer.Option(help="Metres in one unit of a BVH file given as --to.")] = None,
) -> None:
    """Carry a clip over to another figure: limbs point the same way, and planted feet stay planted.

    Status 0: nothing seems wrong; 1: the report says what does.
    """
    from supple.cli import retarget as command

    motion = command.clip_of(clip, model, unit, up, (first, last, step))
    figure = command.target_of(to, to_unit, None, fixed)
    if show_match:
        command.print_match(motion, figure)
    else:
        raise typer.Exit(0 if command.retargeted(motion, figure, output, match, plant, picture) else 1)


def main() -> None:
    """The program ``supple``."""
    app(prog_name="supple")
