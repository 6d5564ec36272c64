"""Pictures of several postures of one figure, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.problem.problem import Problem
from supple.view.picture import VIEW, check_picture, draw, need_matplotlib, save

ACROSS = 4
SIDE = 3.2  # inches
DPI = 110.0


def draw_postures(figure: Figure, rows: Floats, problem: Problem, path: Path, view: Sequence[float] = VIEW) -> None:
    """Draw every row of postures with the goals of a problem, numbered from 1, four in a line."""
    need_matplotlib()
    check_picture(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Paper

    across = min(ACROSS, max(len(rows), 1))
    down = -(-len(rows) // across) or 1
    paper = Paper(figsize=(SIDE * across, SIDE * down), layout="constrained")
    FigureCanvasAgg(paper)
    for k in range(across * down):
        ax = paper.add_subplot(down, across, k + 1)
        ax.set_axis_off()
        if k < len(rows):
            draw(figure, rows[k], problem=problem, ax=ax, view=view, chart=False, title=str(k + 1))
    save(paper, path, DPI)
