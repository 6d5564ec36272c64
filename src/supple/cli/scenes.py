"""The commands about scenes: solve one, and look one over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import supple
from supple.basics.writing import check_place
from supple.cli.facts import place, value
from supple.cli.inputs import bvh_source, numbers
from supple.errors import BadFile
from supple.figure.effectors import Gap, MassCentre, Point
from supple.figure.figure import Figure, Source
from supple.files.scene.goals import plain_goal
from supple.files.scene.text import ENDINGS, inline
from supple.geometry.placements import Floats
from supple.geometry.shapes import Ball, Box, Capsule, Hull, Polytope
from supple.motion.motion import Motion
from supple.problem.solution import Solution
from supple.problem.task import Task, met, miss_of, segments_of
from supple.scene.scene import Scene

WRITTEN = (".bvh", *ENDINGS)
LONGEST = 60  # letters of a goal in a table


# ── solve ────────────────────────────────────────────────────────────────────────────────────────────────────────────
def solve(
    file: Path, outputs: list[Path], picture: Path | None, view: str, names: bool, unit: float, up: str, seed: int
) -> Solution:
    """Solve a scene, print the report, and write what is asked for."""
    for path in outputs:
        if path.suffix.lower() not in WRITTEN:
            raise BadFile(f"postures are written to {', '.join(WRITTEN)} files", file=str(path))
        check_place(path)
    if picture is not None:
        from supple.view.picture import check_picture

        check_picture(picture)
    source, eye = bvh_source(unit, up), numbers(view, 2, "--view")
    scene = supple.read_scene(file)
    solution = scene.solve(seed=seed)
    typer.echo(solution.report())
    if picture is not None:
        from supple.view import draw

        draw(scene.figure, scene.q, problem=scene.problem, path=picture, view=eye, names=names)
        typer.echo(f"{picture}: {scene.figure.name}")
    for path in outputs:
        _write(scene, path, source)
    return solution


def _write(scene: Scene, path: Path, source: Source) -> None:
    if path.suffix.lower() in ENDINGS:
        supple.write(scene, path)
        typer.echo(f"{path}: the scene in this posture")
    else:
        supple.write(Motion(replace(scene.figure, source=source), scene.q[None], np.zeros(1), source=source), path)
        typer.echo(f"{path}: the posture as one frame, unit {source.unit:g} m, {source.up} up")


# ── check ────────────────────────────────────────────────────────────────────────────────────────────────────────────
def check(file: Path) -> None:
    """Print what a scene holds, and what is odd about it."""
    scene, console = supple.read_scene(file), Console()
    console.print(_constraints(scene))
    if scene.chains:
        console.print(_chains(scene))
    if scene.rigidity:
        console.print(_rigidity(scene))
    if scene.obstacles:
        console.print(_obstacles(scene))
    if scene.touching:
        console.print(_touching(scene))
    odd = warnings(scene)
    for warning in odd:
        console.print(f"[yellow]warning:[/yellow] {escape(warning)}", soft_wrap=True)
    count = f"{len(odd)} warning{'' if len(odd) == 1 else 's'}" if odd else "no warnings"
    console.print(escape(f"{file}: a sound scene, {count}"), soft_wrap=True)


def warnings(scene: Scene) -> list[str]:
    """What is allowed but hardly meant."""
    out = [] if scene.chains else ["no constraint is enabled: solving changes nothing"]
    for name, chain in scene.chains.items():
        if not chain:
            out.append(f"{name!r} can move nothing: its effector is fixed to the world")
        elif all(scene.rigidity.get(joint, 0.0) >= 1.0 for joint in chain):
            out.append(f"{name!r} can move nothing: all its coordinates are locked by rigidity 1")
    for name, task in scene.constraints.items():
        segments = segments_of(task)
        if isinstance(task.chain, str) and segments and not any(_below(scene.figure, s, task.chain) for s in segments):
            out.append(f"{name!r}: its chain begins at {task.chain!r}, which is not above {' or '.join(segments)}")
    if scene.obstacles and not scene.figure.bars:
        out.append(f"nothing can touch the obstacles: figure {scene.figure.name!r} has no shapes")
    return out


def _below(figure: Figure, segment: str, above: str) -> bool:
    at: str | None = segment
    while at is not None and at != above:
        at = figure.parent_of(at)
    return at is not None


def _constraints(scene: Scene) -> Table:
    table = Table(
        "constraint", "effector", "goal", "counts as", "misses by", title=f"constraints on {scene.figure.name!r}"
    )
    for name, task in scene.constraints.items():
        miss = miss_of(scene.figure, task, scene.q)
        fine = met(task, miss)
        far = [value(miss.metres, False)] * bool(miss.metres) + [value(miss.radians, True)] * bool(miss.radians)
        state = "disabled" if name in scene.disabled else "" if fine else ", ".join(far)
        table.add_row(*map(escape, (name, effector_words(task), _goal(scene.figure, task), _counts(task), state)))
    return table


def effector_words(task: Task) -> str:
    """What is to be placed, in a few words."""
    return " or ".join(dict.fromkeys(_end_words(end) for end, _, _ in task.choices))


def _end_words(effector: Any) -> str:
    if effector is None:
        return "the posture"
    if isinstance(effector, MassCentre):
        return "centre of mass"
    if isinstance(effector, Gap):
        return f"{effector.b.segment} seen from {effector.a.segment}"
    assert not isinstance(effector, str)
    kind = type(effector).__name__.lower()
    at = effector.frame[:3, 3]
    offset = f" {place(at)}" if isinstance(effector, Point) and at.any() else ""
    return f"{kind} of {effector.segment}{offset}"


def _goal(figure: Figure, task: Task) -> str:
    """The goal as a file says it, shortened."""
    text = inline(_rounded(plain_goal(figure, task.goal))).removeprefix("{ ").removesuffix(" }")
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _rounded(plain: Any) -> Any:
    if isinstance(plain, dict):
        return {name: _rounded(one) for name, one in plain.items()}
    if isinstance(plain, list):
        return [_rounded(one) for one in plain]
    return round(plain, 4) + 0.0 if isinstance(plain, float) else plain


def _counts(task: Task) -> str:
    """How much a constraint matters."""
    if task.hard:
        return "hard"
    words = [f"weight {task.weight:g}"] if task.weight != 1.0 else []
    words += [f"priority {task.priority}"] if task.priority else []
    words += ["preference"] if task.preference else []
    return ", ".join(words) or "soft"


def _chains(scene: Scene) -> Table:
    table = Table("constraint", "from", "coordinates", "it may move", title="chains, reconciled")
    for name, chain in scene.chains.items():
        task = scene.constraints[name]
        chosen = "chosen joints" if isinstance(task.chain, tuple) else task.chain
        start = "–" if task.of_figure else chosen or "the root"
        table.add_row(*map(escape, (name, start, str(len(chain)), _joints(scene.figure, chain))))
    return table


def _joints(figure: Figure, names: tuple[str, ...]) -> str:
    """Coordinates by joint where all of a joint's are there."""
    shown: dict[str, None] = {}
    for name in names:
        joint = name.rpartition(".")[0]
        together = {n for n in figure.coordinates if n.rpartition(".")[0] == joint} if joint else {name}
        shown[joint if joint and together <= set(names) else name] = None
    return ", ".join(shown)


def _rigidity(scene: Scene) -> Table:
    table = Table("rigidity", "coordinates", title="what does not move freely")
    levels = sorted(set(scene.rigidity.values()))
    for level in levels:
        names = tuple(name for name, rigidity in scene.rigidity.items() if rigidity == level)
        table.add_row(f"{level:g}", escape(_joints(scene.figure, names)))
    return table


def _obstacles(scene: Scene) -> Table:
    table = Table("obstacle", "shape", "where", title="obstacles")
    for name, body in scene.obstacles.items():
        if isinstance(body, Ball):
            where = f"centre {place(np.array(body.centre))}, radius {value(body.radius, False)}"
        elif isinstance(body, Box):
            where = f"{place(np.array(body.lower))} to {place(np.array(body.upper))}"
        elif isinstance(body, Capsule):
            where = f"centre {place(body.at[:3, 3])}, radius {value(body.radius, False)}, {body.length:.3f} m long"
        elif isinstance(body, Hull):
            where = f"{len(body.points)} points about {place(body.points.mean(axis=0))}"
        elif len(body.b) == 1:
            where = f"below the plane through {place(_foot(body))} with the normal {place(body.A[0])}"
        else:
            where = f"{len(body.b)} sides"
        kind = "half-space" if isinstance(body, Polytope) and len(body.b) == 1 else type(body).__name__.lower()
        table.add_row(*map(escape, (name, kind, where)))
    return table


def _foot(half: Polytope) -> Floats:
    """The point of a half-space's surface that is nearest to the origin."""
    return half.A[0] * half.b[0] / (half.A[0] @ half.A[0])


def _touching(scene: Scene) -> Table:
    margin = value(scene.clearance.margin, False)
    table = Table("segment", "and", "distance", title=f"nearer than {margin} in this posture")
    for segment, other, distance in scene.touching:
        table.add_row(escape(segment), escape(other), value(distance, False))
    return table
