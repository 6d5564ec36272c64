"""Tables and trees on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from supple.cli import facts
from supple.figure import catalogue
from supple.figure.figure import Figure
from supple.figure.joints import angular


def print_catalogue() -> None:
    """One row for each figure of the catalogue."""
    table = Table("name", "coordinates", "segments", "what it is", title="figures that come with supple")
    table.columns[1].justify = table.columns[2].justify = "right"
    for name in catalogue.names():
        figure = catalogue.build(name)
        table.add_row(name, str(figure.size), str(len(figure.segments)), escape(catalogue.describe(name)))
    Console().print(table)


def print_figure(figure: Figure) -> None:
    """The tree, the coordinates, and a summary."""
    console = Console()
    console.print(_tree(figure))
    if figure.size:
        console.print(_coordinates(figure))
    summary = Table(title=f"figure {figure.name!r}", show_header=False)
    for name, text in facts.counts(figure):
        summary.add_row(name, escape(text))
    console.print(summary)
    for note in figure.notes:
        console.print(f"[yellow]note:[/yellow] {escape(note)}", soft_wrap=True, highlight=False)


def _tree(figure: Figure) -> Tree:
    """Segments under the segments that carry them, each with the joints that move it."""
    joints = facts.joint_named(figure)
    world = Tree("[dim]world[/dim]")
    branches = {}
    for segment in figure.segments:
        moving = [joints[name] for name in figure.joints_of(segment)]
        text = f"[bold]{escape(segment)}[/bold]  [cyan]{facts.kind_of(moving)}[/cyan]"
        for joint in moving:
            driven = f", follows {', '.join(name for name, _ in joint.drive.terms)}" if joint.drive is not None else ""
            text += f"\n  {escape(joint.name)}  [dim]{facts.limits_of(joint)}{escape(driven)}[/dim]"
        parent = figure.parent_of(segment)
        branches[segment] = (world if parent is None else branches[parent]).add(text)
    return world


def _coordinates(figure: Figure) -> Table:
    """Every coordinate with its limits, rest value and greatest speed."""
    table = Table("coordinate", "lower", "upper", "rest", "speed", title="coordinates")
    for column in table.columns[1:]:
        column.justify = "right"
    turning = angular(figure.joints.values())
    rows = zip(figure.coordinates, figure.lower, figure.upper, figure.rest, figure.speed, strict=True)
    for name, lower, upper, rest, speed in rows:
        shown = [facts.value(float(x), turning[name]) for x in (lower, upper, rest)]
        rate = "–" if speed == float("inf") else facts.value(float(speed), turning[name]) + "/s"
        table.add_row(escape(name), *shown, rate)
    return table
