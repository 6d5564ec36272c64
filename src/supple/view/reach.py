"""Maps of reach on paper: one slice, or the levels of a volume side by side, with the figure in its rest posture over them.

A slice is seen along the axis it cuts, so that its other two axes are those of the paper. Of the poses that are proved
impossible only those near the others are shown; the legend counts all.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.geometry.placements import Floats
from supple.solving.reach import Reach
from supple.view.camera import Camera, photograph
from supple.view.colours import INK, TRACK
from supple.view.picture import check_picture, need_matplotlib, save
from supple.view.skeleton import Piece, Skeleton

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

VIEWS = ((0.0, 0.0), (0.0, -90.0), (90.0, -90.0))  # elevation and azimuth of an eye on the x, y and z axis
ACROSS, PANELS = 3, 9  # panels of a volume: in a row, and at most
RIM = 2  # steps of impossible poses shown around the others
COLOURS = {"reached": "#12805c", "impossible": "#b8455a", "undecided": "#e69f00"}
FILLS = {"reached": "#d3ebe1", "impossible": "#f7e6e8", "undecided": "#fdf0cf"}
MARKERS = {"reached": "o", "impossible": "x", "undecided": "D"}
WORDS = {"reached": "reached", "impossible": "proved impossible", "undecided": "undecided"}


def draw_reach(reach: Reach, *, path: str | Path | None = None, dpi: float = 160.0) -> Sheet:
    """Draw a map of reach: dots are reached, crosses proved impossible, diamonds undecided.

    With several rotations a dot's colour is the share of them that is reached, a cross stands where none can be, and a
    diamond where none is known to be reached but not all are refuted. The picture is written to `path` if one is given.
    """
    need_matplotlib()
    if path is not None:
        check_picture(path)
    drawing = _Drawing(reach, dpi)
    sheet = drawing.sheet()
    if path is not None:
        save(sheet, Path(path), dpi)
    return sheet


class _Drawing:
    """A map, laid out."""

    def __init__(self, reach: Reach, dpi: float) -> None:
        self.reach, self.dpi = reach, dpi
        self.sizes = [len(axis) for axis in reach.axes]
        flat = [a for a in (1, 0, 2) if self.sizes[a] == 1]
        self.normal = flat[0] if flat else 2
        self.across, self.up = (a for a in range(3) if a != self.normal)
        self.skeleton = Skeleton(reach.figure, reach.figure.rest)
        self.pieces: list[Piece] = self.skeleton.pieces()
        self.camera = Camera(VIEWS[self.normal])
        self.status = _by_position(reach)
        self.room = self._room()

    def _room(self) -> Floats:
        """What is shown: rows (lowest, highest) of the paper's axes."""
        shown = self.reach.positions[self.status != "impossible"]
        shown = (shown if len(shown) else self.reach.positions)[:, [self.across, self.up]]
        rim = (RIM + 0.5) * self.reach.spacing
        low, high = shown.min(axis=0) - rim, shown.max(axis=0) + rim
        everything = self.reach.positions[:, [self.across, self.up]]
        half = 0.5 * self.reach.spacing
        low, high = np.maximum(low, everything.min(axis=0) - half), np.minimum(high, everything.max(axis=0) + half)
        if self.pieces:
            skin = self.camera.flat(np.concatenate([piece.solid.skin()[0] for piece in self.pieces]))
            low, high = np.minimum(low, skin.min(axis=0)), np.maximum(high, skin.max(axis=0))
        return np.stack([low, high], axis=1)

    def layers(self) -> list[int]:
        """The steps along the cut axis that are shown: those with anything reached, spread evenly."""
        status = np.moveaxis(self.status.reshape(self.sizes), self.normal, 0)
        some = [k for k, layer in enumerate(status) if (layer != "impossible").any()] or [0]
        return [some[round(i)] for i in np.linspace(0, len(some) - 1, min(len(some), PANELS))]

    def sheet(self) -> Sheet:
        """The whole picture."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Sheet

        layers = self.layers()
        columns = min(len(layers), ACROSS)
        rows = -(-len(layers) // columns)
        wide, high = np.ptp(self.room, axis=1)
        width = 6.4 if columns == 1 else 3.1
        height = float(np.clip(width * high / wide, 0.4 * width, 1.3 * width))
        side, gap = 1.3 if self._several else 0.6, 0.1 if columns == 1 else 0.3
        size = (columns * width + side, rows * (height + gap) + 0.9)
        sheet = Sheet(figsize=size, facecolor="white", layout="constrained")
        FigureCanvasAgg(sheet)
        sheet.get_layout_engine().set(w_pad=0.07, h_pad=0.05)  # pyright: ignore[reportOptionalMemberAccess, reportCallIssue]
        papers = np.asarray(sheet.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)).ravel()
        cell = 72.0 * width * self.reach.spacing / max(wide, high * width / height)  # [points]
        image = self._image(wide / (width * self.dpi)) if self.pieces else None
        for paper, layer in zip(papers, layers, strict=False):
            self.panel(paper, layer, cell, image, alone=len(layers) == 1)
        for paper in papers[len(layers) :]:
            paper.set_axis_off()
        self.finish(sheet, papers[: len(layers)], columns)
        return sheet

    def _image(self, pixel: float) -> Any:
        return photograph(self.pieces, self.camera, self.room, pixel, self.skeleton.size)

    def panel(self, paper: Axes, layer: int, cell: float, image: Any, alone: bool) -> None:
        """One slice, and the figure over it."""
        at = np.moveaxis(np.arange(len(self.reach)).reshape(self.sizes), self.normal, 0)[layer].ravel()
        place, status = self.reach.positions[at][:, [self.across, self.up]], self.status[at]
        shares = self.reach.dexterity[at]
        self._fill(paper, layer)
        for name in ("impossible", "reached", "undecided"):
            size = float(np.clip((0.42 if name == "impossible" else 0.55) * cell, 1.0, 8.0))
            chosen = status == name
            dots = place[chosen]
            several = name == "reached" and self._several
            colour: Any = _ramp()(shares[chosen]) if several else COLOURS[name]
            edge = {"linewidths": 0.13 * size} if name == "impossible" else {"linewidths": 0.4, "edgecolors": "white"}
            paper.scatter(*dots.T, s=size**2, c=colour, marker=MARKERS[name], zorder=3, **edge)
        if image is not None:
            paper.imshow(image.pixels, extent=image.extent, origin="lower", zorder=5, alpha=0.92 if alone else 0.6)
        paper.set_xlim(*self.room[0])
        paper.set_ylim(*self.room[1])
        paper.set_aspect("equal", adjustable="box")
        paper.tick_params(labelsize=7, colors=INK, length=2.5)
        for spine in paper.spines.values():
            spine.set_color(TRACK)
        if not alone:
            name, value = "xyz"[self.normal], self.reach.axes[self.normal][layer]
            paper.set_title(f"{name} = {value + 0.0:.3g} m", fontsize=8, color=INK, pad=3)

    def _fill(self, paper: Axes, layer: int) -> None:
        """A soft colour behind every pose, so that the regions show from afar."""
        from matplotlib.colors import to_rgb

        grid = np.moveaxis(self.status.reshape(self.sizes), self.normal, 0)[layer]
        pixels = np.array([[to_rgb(FILLS[name]) for name in row] for row in grid.T])
        half = 0.5 * self.reach.spacing
        x, y = self.reach.axes[self.across], self.reach.axes[self.up]
        extent = (x[0] - half, x[-1] + half, y[0] - half, y[-1] + half)
        paper.imshow(pixels, extent=extent, origin="lower", interpolation="nearest", zorder=1)

    @property
    def _several(self) -> bool:
        return self.reach.rotations is not None and len(self.reach.rotations) > 1

    def finish(self, sheet: Sheet, papers: np.ndarray, columns: int) -> None:
        """Title, labels, legend, and the key to the shares."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.lines import Line2D

        for k, paper in enumerate(papers):
            if k + columns >= len(papers):
                paper.set_xlabel(f"{'xyz'[self.across]} [m]", fontsize=8, color=INK)
            if k % columns == 0:
                paper.set_ylabel(f"{'xyz'[self.up]} [m]", fontsize=8, color=INK)
        sheet.suptitle(self._title(), fontsize=10, color=INK)
        names, counts = np.unique(self.status, return_counts=True)
        count = dict(zip(names.tolist(), counts.tolist(), strict=True))
        handles = []
        words = {**WORDS, "reached": "reached in some rotation"} if self._several else WORDS
        for name in COLOURS:
            look: dict[str, Any] = {"marker": MARKERS[name], "color": COLOURS[name], "markersize": 6}
            handles.append(Line2D([], [], linestyle="none", **look, label=f"{words[name]} ({count.get(name, 0):,})"))
        sheet.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=8, labelcolor=INK)
        if self._several:
            bar = sheet.colorbar(ScalarMappable(cmap=_ramp()), ax=papers.tolist(), fraction=0.04, pad=0.02, aspect=30)
            bar.set_label("share of the rotations that is reached", fontsize=8, color=INK)
            bar.ax.tick_params(labelsize=7, colors=INK)
            bar.outline.set_edgecolor(TRACK)  # pyright: ignore[reportCallIssue]

    def _title(self) -> str:
        reach = self.reach
        k = 0 if reach.rotations is None else len(reach.rotations)
        turned = "any rotation" if not k else "one rotation" if k == 1 else f"{k} rotations"
        where = (
            f"{'xyz'[self.normal]} = {reach.axes[self.normal][0] + 0.0:.3g} m, " if self.sizes[self.normal] == 1 else ""
        )
        return f"{reach.segment} of {reach.figure.name}: {where}{turned}"


def _by_position(reach: Reach) -> np.ndarray:
    """A word for each position (n): reached in some rotation, impossible in all, or undecided."""
    words = np.where(reach.impossible.all(axis=1), "impossible", "undecided")
    return np.where(reach.reached.any(axis=1), "reached", words)


def _ramp() -> Any:
    """Colours from few rotations to all."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("dexterity", ["#c9e4b4", "#4fae8d", "#12607a", "#0b2b4f"])
