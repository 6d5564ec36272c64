"""Marks put on paper by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from supple.view.camera import Camera
from supple.view.colours import INK
from supple.view.marks import Dot, Label, Mark, Patch, Stroke

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def add_marks(paper: Axes, marks: list[Mark], camera: Camera) -> None:
    """Lines, patches, dots and names, above the figure."""
    for mark in marks:
        if isinstance(mark, Stroke):
            _add_stroke(paper, mark, camera)
        elif isinstance(mark, Patch):
            x, y = camera.flat(mark.corners).T
            paper.fill(x, y, facecolor=mark.colour, alpha=mark.alpha, linewidth=0, zorder=4)
            paper.fill(x, y, fill=False, edgecolor=mark.colour, alpha=min(1.0, 4 * mark.alpha), linewidth=0.8, zorder=5)
        elif isinstance(mark, Dot):
            _add_dot(paper, mark, camera)
        else:
            assert isinstance(mark, Label)
            x, y = camera.flat(mark.place)
            paper.annotate(
                mark.text,
                (x, y),
                (7, 5),
                textcoords="offset points",
                fontsize=7.5,
                color=INK,
                zorder=9,
                path_effects=_halo(2.2),
            )


def _halo(width: float) -> list[Any]:
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=width, foreground="white", alpha=0.85)]


def _add_stroke(paper: Axes, mark: Stroke, camera: Camera) -> None:
    x, y = camera.flat(mark.points).T
    style = (0, (3.5, 2.5)) if mark.dashed else "solid"
    paper.plot(
        x, y, color=mark.colour, linewidth=mark.width, linestyle=style, alpha=mark.alpha, zorder=6,
        solid_capstyle="round", path_effects=_halo(mark.width + 1.6), scalex=False, scaley=False,
    )  # fmt: skip


def _add_dot(paper: Axes, mark: Dot, camera: Camera) -> None:
    x, y = camera.flat(mark.place)
    look = {
        "target": {"marker": "o", "s": 15, "facecolor": mark.colour, "edgecolor": "white", "linewidth": 0.7},
        "ring": {"marker": "o", "s": 34, "facecolor": "none", "edgecolor": mark.colour, "linewidth": 1.3},
        "mass": {"marker": "P", "s": 60, "facecolor": mark.colour, "edgecolor": "white", "linewidth": 0.8},
    }[mark.kind]
    paper.scatter([x], [y], zorder=7, alpha=mark.alpha, **look)
    paper.autoscale(False)
