"""Pictures of a figure in a posture, with its goals, by matplotlib."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.writing import check_place, write_file
from supple.errors import BadValue, MissingExtra
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.problem.moving import all_standing
from supple.problem.obstacles import named_obstacles
from supple.problem.problem import Problem
from supple.view.camera import Camera, photograph
from supple.view.chart import WIDTH, add_chart, add_key
from supple.view.colours import INK
from supple.view.ground import grid, height_of_ground, nice, shadows
from supple.view.marks import Mark, Patch, Stroke, marks_of
from supple.view.pens import add_marks
from supple.view.skeleton import Piece, Skeleton
from supple.view.surroundings import Surroundings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VIEW = (16.0, -44.0)
CHART_AT_MOST = 32  # coordinates


def draw(
    figure: Figure,
    q: ArrayLike | None = None,
    *,
    problem: Problem | None = None,
    path: str | Path | None = None,
    ax: Axes | None = None,
    view: Sequence[float] = VIEW,
    chart: bool | None = None,
    names: bool = False,
    title: str = "",
    dpi: float = 160.0,
) -> Axes:
    """Draw `figure` in the posture `q` (the rest posture by default), and the goals and obstacles of `problem`.

    The picture is written to `path` if one is given (.png, .pdf, .svg), and drawn into the two-dimensional axes `ax` if
    there are any. `view` is the elevation and the azimuth of the eye [degrees]; lengths on paper are true, as the scale
    bar says. Joints are coloured by how much of their range they use. `chart` adds every coordinate within its limits;
    by default figures of up to 32 coordinates have it in a picture of their own. `names` writes each task beside its
    goal, and each obstacle beside itself.
    """
    need_matplotlib()
    if path is not None:
        check_picture(path)
    posture = _one_posture(figure, q, problem)
    camera = Camera(view)
    skeleton = Skeleton(figure, posture)
    pieces = skeleton.pieces()
    if not pieces:
        raise BadValue(f"figure {figure.name!r} has nothing to draw: its segments all lie in one point")
    size, ground = skeleton.size, height_of_ground(pieces, skeleton.size)
    marks: list[Mark] = []
    if problem is not None:
        around = Surroundings(all_standing(named_obstacles(problem.obstacles)), pieces, size, ground, camera)
        ground = around.ground
        marks = [*around.marks(names), *marks_of(problem, posture, size, names, ground)]
        pieces = [*pieces, *around.pieces()]
    shade = shadows(pieces, camera, ground, size)
    room = _room(pieces, marks, [outline for outline, _ in shade[-len(pieces) :]], camera)
    room[1, 1] += 0.06 * np.ptp(room[1]) if title else 0.0
    charted = chart if chart is not None else (ax is None and 0 < figure.size <= CHART_AT_MOST)
    paper = _paper(room, charted) if ax is None else ax
    _set_up(paper, room)
    _add_ground(paper, pieces, shade, camera, ground, size)
    _add_figure(paper, pieces, camera, room, size, dpi)
    add_marks(paper, marks, camera)
    _add_scale(paper, room)
    add_key(paper)
    if charted:
        add_chart(paper, figure, posture)
    if title:
        paper.text(0.5, 0.985, title, transform=paper.transAxes, ha="center", va="top", fontsize=10, color=INK)
    if path is not None:
        save(paper.figure, Path(path), dpi)
    return paper


def need_matplotlib() -> None:
    """Refuse to draw without matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtra("matplotlib", "view", "drawing a figure") from error


def _one_posture(figure: Figure, q: ArrayLike | None, problem: Problem | None) -> Floats:
    if not isinstance(figure, Figure):
        raise BadValue(f"draw takes a figure first, not {figure!r}")
    posture = figure.rest if q is None else figure.posture(q)
    if problem is not None:
        if not isinstance(problem, Problem):
            raise BadValue(f"draw takes a Problem as problem=, not {problem!r}")
        if (problem.figure.coordinates, problem.figure.segments) != (figure.coordinates, figure.segments):
            raise BadValue(f"the problem is about {problem.figure!r}, not about {figure!r}")
    return posture


# ── the paper ────────────────────────────────────────────────────────────────────────────────────────────────────────
def _room(pieces: list[Piece], marks: list[Mark], shade: list[Floats], camera: Camera) -> Floats:
    """The part of the paper that is needed: rows (lowest, highest) of x and y, with a margin."""
    points = [camera.flat(piece.solid.skin()[0]) for piece in pieces] + shade
    for mark in marks:
        place = mark.points if isinstance(mark, Stroke) else mark.corners if isinstance(mark, Patch) else mark.place
        points.append(camera.flat(place).reshape(-1, 2))
    everything = np.concatenate(points)
    low, high = everything.min(axis=0), everything.max(axis=0)
    spread = float((high - low).max())
    low, high = low - spread * np.array([0.06, 0.10]), high + spread * np.array([0.06, 0.05])
    short = max(0.0, 0.72 * (high - low)[1] - (high - low)[0])
    low[0], high[0] = low[0] - 0.5 * short, high[0] + 0.5 * short
    return np.stack([low, high], axis=1)


def _paper(room: Floats, charted: bool) -> Axes:
    """A figure of its own, as wide as what is drawn needs."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    wide, high = np.ptp(room, axis=1)
    height = float(np.clip(6.2 * high / max(wide, high) + 0.2, 3.4, 6.4))
    width = height * wide / high
    side = WIDTH if charted else 0.0
    sheet = Sheet(figsize=(width + side, height), facecolor="white")
    FigureCanvasAgg(sheet)
    return sheet.add_axes((0.0, 0.0, width / (width + side), 1.0))


def _set_up(paper: Axes, room: Floats) -> None:
    if hasattr(paper, "get_zlim"):
        raise BadValue("draw takes ordinary two-dimensional axes: it projects by itself")
    paper.set_axis_off()
    paper.set_aspect("equal", adjustable="box")
    paper.set_xlim(*room[0])
    paper.set_ylim(*room[1])


def _add_ground(
    paper: Axes, pieces: list[Piece], shade: list[tuple[Floats, Floats]], camera: Camera, ground: float, size: float
) -> None:
    from matplotlib.collections import LineCollection, PolyCollection

    skin = np.concatenate([piece.solid.skin()[0] for piece in pieces])
    low, high = skin.min(axis=0), skin.max(axis=0)
    middle = np.array([*(0.5 * (low + high))[:2], ground])
    reach = max(0.75 * float(np.linalg.norm((high - low)[:2])), 0.55 * size)
    fill = PolyCollection([o for o, _ in shade], facecolors=[c for _, c in shade], edgecolors="none", zorder=1)
    paper.add_collection(fill, autolim=False)
    lines, strength = grid(camera, middle, reach)
    colours = np.column_stack([np.tile((0.55, 0.60, 0.66), (len(lines), 1)), 0.55 * strength])
    paper.add_collection(LineCollection(list(lines), colors=colours, linewidths=0.6, zorder=2), autolim=False)


def _add_figure(paper: Axes, pieces: list[Piece], camera: Camera, room: Floats, size: float, dpi: float) -> None:
    sheet: Any = paper.figure
    wide, high = sheet.get_size_inches() * paper.get_position().size
    pixel = float(max(np.ptp(room[0]) / (wide * dpi), np.ptp(room[1]) / (high * dpi)))
    image = photograph(pieces, camera, room, pixel, size)
    paper.imshow(
        image.pixels, extent=image.extent, origin="lower", interpolation="antialiased", aspect="equal", zorder=3
    )
    paper.set_xlim(*room[0])
    paper.set_ylim(*room[1])
    paper.set_aspect("equal", adjustable="box")


def _add_scale(paper: Axes, room: Floats) -> None:
    """A bar of a round length at the lower left."""
    (left, right), (bottom, top) = room
    length = nice(0.22 * (right - left))
    x, y = left + 0.05 * (right - left), bottom + 0.04 * (top - bottom)
    paper.plot(
        [x, x + length], [y, y], color=INK, linewidth=1.6, solid_capstyle="butt", zorder=8, scalex=False, scaley=False
    )
    text = f"{length:g} m" if length >= 1.0 else f"{100 * length:g} cm" if length >= 0.01 else f"{1000 * length:g} mm"
    paper.annotate(
        text, (x + length / 2, y), (0, 4), textcoords="offset points", ha="center", fontsize=7.5, color=INK, zorder=8
    )


def check_picture(path: str | Path) -> None:
    """Refuse a file that a picture cannot be written to, before it is drawn."""
    need_matplotlib()
    _kind(Path(path))
    check_place(path)


def _kind(path: Path) -> str:
    """The format of a picture, by its file's ending."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    known = FigureCanvasAgg.get_supported_filetypes()
    kind = path.suffix.lower().lstrip(".")
    if kind not in known:
        raise BadValue(f"{path}: pictures are written as {', '.join(sorted(known))}, not {path.suffix!r}")
    return kind


def save(sheet: Any, path: Path, dpi: float) -> None:
    """Write a sheet of paper to a file."""
    data = io.BytesIO()
    sheet.savefig(data, format=_kind(path), dpi=dpi)
    write_file(path, data.getvalue())
