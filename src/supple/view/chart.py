"""Beside the figure: every coordinate within its limits, and the key to the joints' colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.view.colours import INK, TRACK, ramp
from supple.view.skeleton import used_range

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 2.5  # of the chart [inches]
LEFT, RIGHT = 0.46, 0.78  # of the tracks


def add_key(paper: Axes) -> None:
    """A slim bar of the joints' colours at the lower right, where there is room for its words."""
    if _width(paper) < 2.8:
        return
    inset = paper.inset_axes((0.70, 0.038, 0.25, 0.010), zorder=9)
    shares = np.linspace(0.0, 1.0, 160)
    inset.imshow(np.array([[ramp(s) for s in shares]]), aspect="auto", extent=(0.0, 1.0, 0.0, 1.0))
    inset.set_axis_off()
    for x, align, text in ((0.0, "left", "mid-range"), (1.0, "right", "at a limit")):
        inset.annotate(text, (x, 1.0), (0, 3), textcoords="offset points", ha=align, fontsize=6.5, color=INK)


def add_chart(paper: Axes, figure: Figure, q: Floats) -> None:
    """One row for each coordinate: its name, where it stands between its limits, and its value."""
    used = used_range(figure, q)
    turning = {joint.name: any(joint.turn) for joint in figure.joints.values()}
    inset = paper.inset_axes((1.0, 0.03, WIDTH / _width(paper), 0.94), zorder=9)
    inset.set_axis_off()
    inset.set_xlim(0.0, 1.0)
    count = max(figure.size, 24)
    inset.set_ylim(0.5 * (figure.size + count) - 0.5, 0.5 * (figure.size - count) - 0.5)
    font = float(np.clip(170.0 / count, 4.5, 7.0))
    style: dict[str, Any] = {"va": "center", "fontsize": font, "color": INK}
    for k, name in enumerate(figure.coordinates):
        lower, upper = float(figure.lower[k]), float(figure.upper[k])
        known = used[name] is not None and upper > lower
        share = float(np.clip((q[k] - lower) / (upper - lower), 0.0, 1.0)) if known else 0.5
        x = LEFT + (RIGHT - LEFT) * share
        middle, colour = 0.5 * (LEFT + RIGHT), ramp(used[name])
        inset.plot([LEFT, RIGHT], [k, k], color=TRACK, linewidth=0.5 * font, solid_capstyle="round")
        inset.plot([middle, x], [k, k], color=colour, linewidth=0.28 * font, alpha=0.6)
        inset.plot(
            [x], [k], marker="o", markersize=0.62 * font, color=colour, markeredgecolor="white", markeredgewidth=0.5
        )
        amount = np.rad2deg(q[k]) if turning.get(name, True) else 1000.0 * q[k]
        value = f"{np.round(amount) + 0.0:.0f}" + ("°" if turning.get(name, True) else " mm")
        inset.text(LEFT - 0.035, k, _short(name), ha="right", **style)
        inset.text(RIGHT + 0.04, k, value, ha="left", **style)


def _width(paper: Axes) -> float:
    """The width of the axes [inches]."""
    sheet: Any = paper.figure
    return float(paper.get_position().width * sheet.get_size_inches()[0])


def _short(name: str) -> str:
    return name if len(name) <= 22 else name[:10] + "…" + name[-11:]
