"""The command line: ``supple COMMAND``. Each command imports what it needs when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from supple.cli import fitting, page_commands, proving
from supple.cli.app import Against, Unit, Up, What, app
from supple.cli.archives import Address, Ending, Retry, Spread, Workers


@app.command()
def figures() -> None:
    """List the figures that come with the library."""
    from supple.cli import listing

    listing.print_catalogue()


@app.command()
def info(what: What, unit: Unit = None, up: Up = None) -> None:
    """Describe a figure: its tree of joints, limits, extent, mass and closed loops."""
    from supple.cli import inputs, listing

    listing.print_figure(inputs.figure_of(what, unit, up))


@app.command()
def convert(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FROM… [TO]", help="Files (.urdf, .xml, .bvh) or a name of the catalogue; .urdf or .bvh."
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A folder for many motions, instead of TO.")
    ] = None,
    unit: Unit = None,
    up: Up = None,
    ending: Ending = None,
    workers: Workers = None,
    cluster: Address = None,
    retry_failed: Retry = False,
) -> None:
    """Write a figure or a motion in another format; or many motions into a folder.

    Unit and up axis are those of the BVH file that is read; if only the target is a BVH file, they are the target's.
    """
    from supple.cli import inputs

    spread = Spread(workers, cluster, retry_failed, ending)
    if output is not None:
        raise typer.Exit(0 if inputs.converted_many(files, output, unit, up, spread) else 1)
    typer.echo(inputs.converted(*inputs.two(files, spread), unit, up))


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
    trial: Annotated[list[Path], typer.Argument(metavar="TRIAL…", help="Markers: .c3d or .trc files.")],
    model: Annotated[
        str, typer.Option("--model", "-m", help="The figure that wears the markers: .osim, or whatever has some.")
    ],
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output", "-o", help="The motion: .mot, .sto, .bvh, .glb; may be repeated. Of many files: a folder."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="A page about the errors, the angles and the worst frames.")
    ] = None,
    against: Against = None,
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
    zeros: Annotated[
        str | None,
        typer.Option(help="What samples at exactly (0, 0, 0) are: missing or seen.", show_default="as marked"),
    ] = None,
    unlabelled: Annotated[bool, typer.Option("--unlabelled", help="Keep trajectories without a name.")] = False,
    relabel: Annotated[
        bool, typer.Option("--relabel", help="Put labels right that were permuted for a while.")
    ] = False,
    ending: Ending = None,
    workers: Workers = None,
    cluster: Address = None,
    retry_failed: Retry = False,
) -> None:
    """Find the motion behind markers. Status 0: every frame converged and nothing seems wrong; 1: the report says what."""
    from supple.cli import trials

    reading = (up, unit, zeros, unlabelled, relabel)
    wanted = trials.Wanted(weights, method, smoothness, cutoff, huber, limits, *reading, against)
    spread = Spread(workers, cluster, retry_failed, ending)
    raise typer.Exit(0 if trials.track(trial, model, output or [], report, wanted, spread) else 1)


for other in (
    fitting.fit,
    page_commands.edit,
    page_commands.play,
    proving.certify,
    proving.solutions,
    proving.verify,
    proving.reach,
):
    app.command()(other)

scene_commands = typer.Typer(no_args_is_help=True, help="Look scenes over.")
app.add_typer(scene_commands, name="scene")


@scene_commands.command()
def check(file: SceneFile) -> None:
    """Say what a scene holds: constraints, chains, obstacles, what touches; and what is odd or wrong about it."""
    from supple.cli import scenes

    scenes.check(file)


@app.command("retarget")
def _retarget(
    clip: Annotated[list[Path], typer.Argument(metavar="CLIP…", help="The motion: .bvh, .amc, .mot or .sto.")],
    to: Annotated[str, typer.Option(help="The figure to move: a name of the catalogue, or a file.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The motion of that figure: .bvh, .glb, .gltf, .mot. Of many: a folder."),
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
    rest: Annotated[
        str | None,
        typer.Option(help="What stands for the clip's rest pose: the number of a frame, T or A.", show_default="found"),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write the report as a page that plays both motions: .html.")
    ] = None,
    against: Against = None,
    unit: Unit = None,
    up: Up = None,
    to_unit: Annotated[float | None, typer.Option(help="Metres in one unit of a BVH file given as --to.")] = None,
    ending: Ending = None,
    workers: Workers = None,
    cluster: Address = None,
    retry_failed: Retry = False,
) -> None:
    """Carry a clip over to another figure: limbs point the same way, and planted feet stay planted.

    Status 0: nothing seems wrong; 1: the report says what does.
    """
    from supple.cli import retarget as command

    spread, part = Spread(workers, cluster, retry_failed, ending), (first, last, step)
    if command.is_archive(clip, output, spread):
        only = {"picture": picture, "report": report, "print-match": show_match, "to-unit": to_unit}
        read = command.Read(model, unit, up, part)
        raise typer.Exit(0 if command.many(clip, to, output, read, match, plant, rest, fixed, spread, only) else 1)
    motion = command.clip_of(clip[0], model, unit, up, part)
    figure = command.target_of(to, to_unit, None, fixed)
    if show_match:
        command.print_match(motion, figure)
    else:
        wanted = command.Wanted(match, plant, rest, picture, report, against)
        raise typer.Exit(0 if command.retargeted(motion, figure, output, clip.name, wanted) else 1)


@app.command("warm")
def _warm(
    workers: Annotated[
        int | None, typer.Option(help="Processes.", show_default="one for each processor", min=1)
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing.")] = False,
) -> None:
    """Compile whatever is missing now, so that nobody waits for it later: for containers, CI and clusters."""
    from supple.cli import warm as command

    command.command(workers, quiet)


def main() -> None:
    """The program ``supple``."""
    app(prog_name="supple")
