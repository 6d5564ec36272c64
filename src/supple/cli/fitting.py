"""The command ``fit``: from a static trial and a generic model to a subject, with the model in its sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

MODELS = (".osim",)


def fit(
    trial: Annotated[
        Path, typer.Argument(metavar="TRIAL", help="Markers of a static trial or a range of motion: .c3d, .trc.")
    ],
    model: Annotated[Path, typer.Option("--model", "-m", help="The generic model with its markers: .osim.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The model in the subject's sizes: .osim, version 4.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="A page about scales, markers that were moved, errors and the trial: .html.")
    ] = None,
    scales: Annotated[str, typer.Option(help="segments, symmetric (left as right) or whole.")] = "symmetric",
    mass: Annotated[float | None, typer.Option(help="Of the subject [kg].", show_default="the model's")] = None,
    trust: Annotated[float, typer.Option(help="How far markers may be from their places [m].")] = 0.02,
    spread: Annotated[float, typer.Option(help="How far segments' factors may be from the whole's.")] = 0.1,
    up: Annotated[
        str | None, typer.Option(help="The axis of the trial that points up, if it does not say: x, y, z.")
    ] = None,
    unit: Annotated[float | None, typer.Option(help="Metres in one unit of the trial, if it does not say.")] = None,
    zeros: Annotated[
        str | None,
        typer.Option(help="What samples at exactly (0, 0, 0) are: missing or seen.", show_default="as marked"),
    ] = None,
) -> None:
    """Make a model to measure. Status 0: the fit converged and nothing seems wrong; 1: the table says what."""
    import supple
    from supple.basics.checks import positive
    from supple.basics.writing import check_place
    from supple.errors import BadFile
    from supple.files.osim.writer import write_subject

    for path in [model, *([] if output is None else [output])]:
        if path.suffix.lower() not in MODELS:
            raise BadFile(f"subjects are read from and written to {', '.join(MODELS)} files", file=str(path))
    for path in (output, report):
        if path is not None:
            check_place(path)
    mass = None if mass is None else positive(mass, "the mass of the subject [kg]")
    markers = supple.read_markers(trial, up=up, unit=unit, zeros=zeros)
    subject = supple.fit_subject(supple.load(model), markers, scales=scales, trust=trust, spread=spread)
    verdict = subject.motion.verdict
    typer.echo("\n".join([f"{trial.name} on {model.name}: {verdict}", subject.table()]))
    if output is not None:
        for note in write_subject(subject.figure, model, output, subject.factors, mass):
            typer.echo(note)
        typer.echo(f"{output}: {subject.figure.name!r} in the subject's sizes")
    if report is not None:
        from supple.view.fit_report import write_fit_report

        write_fit_report(subject, markers, report, f"{trial.name} on {model.name}")
        typer.echo(f"{report}: the report")
    raise typer.Exit(0 if subject.converged and subject.motion.ok else 1)
