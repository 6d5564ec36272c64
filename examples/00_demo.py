"""A fencer's lunge: six goals for a person of 72 coordinates, solved, checked and drawn into demo.png."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

import supple
import supple.view

Task, Point, Direction, Frame = supple.Task, supple.Point, supple.Direction, supple.Frame


def turned(degrees: float) -> np.ndarray:
    """A rotation about the vertical."""
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def lunge(figure: supple.Figure) -> supple.Problem:
    """Weapon hand out, rear hand back, both soles flat, hips low, eyes on the opponent."""
    sole = 0.039 * 1.75  # height of the ankle above it
    opponent = (1.35, -0.14, 1.25)
    return supple.Problem(
        figure,
        [
            Task(Point("hand_r.palm"), supple.At((0.92, -0.16, 1.22)), name="weapon hand"),
            Task(Point("hand_l.palm"), supple.At((-0.58, 0.36, 1.18)), name="rear hand"),
            Task(Frame("foot_r"), supple.Placed((0.60, -0.08, sole), matrix=turned(0)), name="front foot"),
            Task(Frame("foot_l"), supple.Placed((-0.38, 0.12, sole), matrix=turned(85)), name="rear foot"),
            Task(Point("pelvis"), supple.At((0.12, 0.02, 0.74)), name="pelvis"),
            Task(Direction("eyes"), supple.AimedAt(opponent), name="eyes"),
        ],
    )


def table_of(solution: supple.Solution) -> Table:
    """Every goal with what is left of the way to it."""
    table = Table(title="a fencer's lunge")
    for name, justify in (("goal", "left"), ("kind", "left"), ("millimetres", "right"), ("degrees", "right")):
        table.add_column(name, justify=justify)
    for task, miss in zip(solution.problem.tasks, solution.errors, strict=True):
        table.add_row(
            task.name, type(task.goal).__name__, f"{1e3 * miss.metres:.4f}", f"{np.rad2deg(miss.radians):.4f}"
        )
    return table


def main() -> None:
    console = Console()
    figure = supple.load("human")
    problem = lunge(figure)
    started = perf_counter()
    supple.solve(problem)  # compiles on the very first run
    first = perf_counter() - started
    started = perf_counter()
    solution = supple.solve(problem)
    again = perf_counter() - started
    console.print(table_of(solution))
    console.print(f"[bold]{solution.status.name}[/bold]: {solution.reason}")
    console.print(f"{solution.iterations} iterations in {1e3 * again:.2f} ms (the first call took {first:.2f} s)")
    supple.view.draw(figure, solution.q, problem=problem, path="demo.png", view=(12, -68), names=True)
    console.print("picture: demo.png")


if __name__ == "__main__":
    main()
