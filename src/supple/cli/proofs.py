"""The commands about proofs: decide whether a frame can be brought to a pose, and check a certificate."""

from __future__ import annotations

from pathlib import Path

import typer

import supple
from supple.basics.writing import check_place, write_file
from supple.cli.inputs import figure_of, numbers
from supple.errors import BadFile
from supple.proofs.certificates import certificate_of
from supple.proofs.checker.text import MOST_BYTES


def certify(what: str, segment: str, position: str, quaternion: str | None, output: Path | None, boxes: int) -> int:
    """Solve or prove, say which, and keep the certificate; 0: solved, 1: proved impossible, 3: not decided."""
    if output is not None:
        check_place(output)
    figure = figure_of(what, None, None)
    place = numbers(position, 3, "--at")
    if quaternion is None:
        goal = supple.At(place)
    else:
        goal = supple.Placed(place, quat_wxyz=numbers(quaternion, 4, "--quat-wxyz"))
    problem = supple.Problem(figure, [supple.Task(supple.Frame(segment), goal)])
    solution = supple.solve(problem, solver=supple.Decide(boxes=boxes))
    proof = solution.certificate
    typer.echo(f"{solution.status.name}: {solution.reason if proof is None else proof.explain()}")
    if solution.ok:
        typer.echo(", ".join(f"{name}={x:.6g}" for name, x in zip(figure.coordinates, solution.q, strict=True)))
        return 0
    if solution.certificate is None:
        return 3
    if output is not None:
        write_file(output, solution.certificate.to_json())
        typer.echo(f"{output}: the certificate")
    return 1


def verify(file: Path, what: str | None = None) -> bool:
    """Check a certificate, and say what it claims, what was checked and what was not."""
    if file.stat().st_size > MOST_BYTES:
        raise BadFile(f"the file has more than {MOST_BYTES} bytes", file=str(file))
    try:
        certificate = certificate_of(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise BadFile("this is not UTF-8 text", file=str(file)) from error
    except BadFile as error:
        raise BadFile(str(error), file=str(file)) from error
    report = certificate.checked(None if what is None else figure_of(what, None, None))
    typer.echo(certificate.explain() if report.holds else f"It claims: {certificate.statement}.")
    of = "" if what is None else f" of {what}"
    typer.echo(f"the proof holds{of}" if report.holds else f"the proof does NOT hold{of}: {report.why}")
    for label, parts in (("checked", report.checked), ("NOT checked", report.unchecked)):
        for part in parts:
            typer.echo(f"{label}: {part}")
    return report.holds
