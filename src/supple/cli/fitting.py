"""The command ``fit``: from a static trial and a generic model to a subject, with the model in its sizes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from supple.cli.archives import Address, Retry, Spread, Workers

MODELS = (".osim",)


def fit(
    trial: Annotated[
        list[Path],
        typer.Argument(metavar="TRIAL…", help="Markers of a static trial or a range of motion: .c3d, .trc."),
    ],
    model: Annotated[Path, typer.Option("--model", "-m", help="The generic model with its markers: .osim.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The model in the subject's sizes: .osim, version 4. Of many: a folder."),
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
    workers: Workers = None,
    cluster: Address = None,
    retry_failed: Retry = False,
) -> None:
    """Make a model to measure. Status 0: the fit converged and nothing seems wrong; 1: the table says what."""
    from supple.cli import archives

    reading = {"up": up, "unit": unit, "zeros": zeros}
    options = {"scales": scales, "trust": trust, "spread": spread}
    several = Spread(workers, cluster, retry_failed)
    if archives.is_archive(trial, output, several):
        folder = archives.folder_of([] if output is None else [output], report=report)
        from supple.cluster import Fit

        read = {name: value for name, value in reading.items() if value is not None}
        job = Fit(str(_osim(model)), mass, reading=read, options=options)
        raise typer.Exit(0 if archives.do(job, trial, folder, several, "fitting") else 1)
    raise typer.Exit(0 if _fitted(trial[0], model, (output, report), mass, reading, options) else 1)


def _osim(path: Path) -> Path:
    from supple.errors import BadFile

    if path.suffix.lower() not in MODELS:
        raise BadFile(f"subjects are read from and written to {', '.join(MODELS)} files", file=str(path))
    return path


def _fitted(
    trial: Path,
    model: Path,
    places: tuple[Path | None, Path | None],
    mass: float | None,
    reading: Mapping[str, Any],
    options: Mapping[str, Any],
) -> bool:
    """Fit one subject, print the table, write the model and the report; whether it can be relied on."""
    import supple
    from supple.basics.checks import positive
    from supple.basics.writing import check_place
    from supple.files.osim.writer import write_subject

    output, report = places
    _osim(model)
    if output is not None:
        _osim(output)
    for path in (output, report):
        if path is not None:
            check_place(path)
    mass = None if mass is None else positive(mass, "the mass of the subject [kg]")
    markers = supple.read_markers(trial, **reading)
    subject = supple.fit_subject(supple.load(model), markers, **options)
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
    return subject.converged and subject.motion.ok
