"""A page of HTML on a tracked trial: errors by marker and frame, all angles, the worst frames, and the motion itself."""

from __future__ import annotations

import base64
import html
import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from supple.basics.writing import check_place, write_file
from supple.figure.figure import Figure
from supple.figure.joints import angular
from supple.motion.markers import Markers
from supple.motion.motion import Motion
from supple.motion.tracking.tracked import Tracked
from supple.problem.goals import At
from supple.problem.problem import Problem
from supple.problem.task import Task
from supple.view.colours import INK
from supple.view.page.clips import Clip
from supple.view.page.export import player_page
from supple.view.picture import draw, need_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet

WORST = 3  # frames that are drawn
ACROSS = 4  # angle curves side by side
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #22262b; max-width: 1080px; margin: 2.5rem auto; padding: 0 1.5rem }
h1 { font-size: 1.6rem; margin-bottom: .2rem } h2 { font-size: 1.15rem; margin-top: 2.2rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
td, th { padding: .15rem .9rem .15rem 0; text-align: right }
td:first-child, th:first-child { text-align: left } th { border-bottom: 1px solid #c9ced6; font-weight: 600 }
img { max-width: 100% } .row { display: flex; gap: 1rem } .row figure { margin: 0; flex: 1 } figcaption { color: #5b6470 }
ul { color: #5b6470; padding-left: 1.1rem }
pre { font: 13px/1.5 ui-monospace, monospace; background: #f6f7f9; padding: .8rem 1rem; overflow: auto }
"""


def write_report(motion: Tracked, markers: Markers, path: str | Path) -> None:
    """Write the page."""
    need_matplotlib()
    check_place(path)
    name = html.escape(motion.figure.name)
    told = [
        f"{len(motion)} frames, {motion.times[-1] - motion.times[0]:.2f} s, {len(motion.markers)} markers, "
        f"{motion.figure.size} coordinates",
        f"root mean square error {1e3 * motion.rms:.2f} mm; worst frame {1e3 * np.nanmax(motion.rms_by_frame):.2f} mm",
        f"{int(motion.converged.sum())} frames converged, {int(motion.bridged.any(axis=1).sum())} bridged in part",
        *motion.notes,
    ]
    body = [
        f"<h1>{name}</h1>",
        "<ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in told) + "</ul>",
        "<h2>Error by marker</h2>",
        picture(_by_marker(motion), "how far each marker was missed, as a box plot"),
        _table(motion),
        "<h2>Error by frame</h2>",
        picture(_by_frame(motion), "error against time"),
        "<h2>The motion</h2>",
        _playing(motion, markers),
        "<h2>Worst frames</h2>",
        _worst(motion, markers),
        "<h2>Coordinates</h2>",
        picture(curves(motion), "all coordinates against time"),
    ]
    page = f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{name}</title><style>{STYLE}</style>"
    write_file(path, page + "\n".join(body) + "</html>\n")


def _playing(motion: Tracked, markers: Markers) -> str:
    """The player of figure and markers, inside the page."""
    return player([Clip(motion.figure.name, motion), Clip("markers", markers)])


def player(clips: list[Clip]) -> str:
    """The player of clips, inside a page."""
    page = player_page(clips)
    style = "width:100%;height:520px;border:1px solid #dfe3e8"
    return f"<iframe title='the motion' style='{style}' srcdoc='{html.escape(page, quote=True)}'></iframe>"


def picture(sheet: Sheet, what: str) -> str:
    """A drawing inside a page, and what it shows in words."""
    data = io.BytesIO()
    sheet.savefig(data, format="png", dpi=130)
    return f"<img alt='{what}' src='data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}'>"


def sheet_of(width: float, height: float) -> Sheet:
    """An empty sheet of so many inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    sheet = Sheet(figsize=(width, height), facecolor="white", layout="constrained")
    FigureCanvasAgg(sheet)
    return sheet


def _by_marker(motion: Tracked) -> Sheet:
    """Errors of each marker: median, quartiles, and whiskers to the 2nd and 98th of a hundred."""
    assert motion.errors is not None
    columns = [1e3 * c[np.isfinite(c)] for c in motion.errors.T]
    sheet = sheet_of(8.3, 0.6 + 0.19 * len(columns))
    paper = sheet.subplots()
    pen = {"color": INK, "linewidth": 0.9}
    paper.boxplot(
        columns, orientation="horizontal", whis=(2, 98), showfliers=False, widths=0.6, patch_artist=True,
        boxprops={"facecolor": "#c8d8ea", "edgecolor": INK, "linewidth": 0.9},
        medianprops={"color": "#b3352c", "linewidth": 1.6}, whiskerprops=pen, capprops=pen,
    )  # fmt: skip
    paper.set_yticks(range(1, len(columns) + 1), motion.markers, fontsize=7)
    paper.invert_yaxis()
    paper.set_xlim(left=0.0)
    paper.set_xlabel("distance between marker seen and marker of the figure [mm]")
    paper.grid(axis="x", alpha=0.3)
    return sheet


def _by_frame(motion: Tracked) -> Sheet:
    assert motion.errors is not None
    sheet = sheet_of(8.3, 2.3)
    paper = sheet.subplots()
    seen = np.isfinite(motion.errors)
    largest = np.where(seen, motion.errors, -1.0).max(axis=1)
    paper.fill_between(motion.times, 1e3 * np.where(largest >= 0.0, largest, np.nan), color="#dfe6ee", label="largest")
    paper.plot(motion.times, 1e3 * motion.rms_by_frame, color="#b3352c", linewidth=1.3, label="root mean square")
    if not seen.all():
        share = paper.twinx()
        share.plot(motion.times, 100.0 * (1.0 - seen.mean(axis=1)), color="#7a8592", linewidth=0.8)
        share.set_ylabel("missing [%]", color="#7a8592")
        share.set_ylim(bottom=0.0)
    paper.set_xlabel("time [s]")
    paper.set_ylabel("error [mm]")
    paper.set_ylim(bottom=0.0)
    paper.margins(x=0.0)
    paper.legend(frameon=False, fontsize=8, loc="upper right", ncols=2)
    return sheet


def curves(motion: Motion) -> Sheet:
    """Every coordinate that moves, with its limits where they are near, and grey where it was bridged."""
    figure, turns = motion.figure, angular(motion.figure.joints.values())
    moving = [k for k in range(figure.size) if np.ptp(motion.q[:, k]) > 1e-9]
    rows = max(-(-len(moving) // ACROSS), 1)
    sheet = sheet_of(8.3, 1.15 * rows + 0.4)
    papers = np.atleast_1d(sheet.subplots(rows, ACROSS, sharex=True, squeeze=False)).ravel()
    for paper, k in zip(papers, moving, strict=False):
        name = figure.coordinates[k]
        scale = 180.0 / np.pi if turns.get(name, True) else 1e3
        y = scale * motion.q[:, k]
        paper.plot(motion.times, y, color="#2b5d8c", linewidth=1.0)
        low, high = paper.get_ylim()
        for limit in (figure.lower[k], figure.upper[k]):
            if low <= scale * limit <= high:
                paper.axhline(scale * limit, color="#b3352c", linewidth=0.7, linestyle="--")
        bridged = motion.bridged if isinstance(motion, Tracked) else np.zeros((0, 0))
        if bridged.size and bridged[:, k].any():
            paper.plot(motion.times, np.where(bridged[:, k], y, np.nan), color="#9aa4af", linewidth=1.6)
        paper.set_title(f"{name} [{'°' if turns.get(name, True) else 'mm'}]", fontsize=7, pad=2)
        paper.tick_params(labelsize=6)
        paper.margins(x=0.0)
    for paper in papers[len(moving) :]:
        paper.set_axis_off()
    sheet.supxlabel("time [s]", fontsize=8)
    return sheet


def _table(motion: Tracked) -> str:
    assert motion.errors is not None
    rows = ["<tr><th>marker</th><th>seen</th><th>rms</th><th>median</th><th>largest [mm]</th></tr>"]
    for name, column in zip(motion.markers, 1e3 * motion.errors.T, strict=True):
        seen = column[np.isfinite(column)]
        cells = [f"{100.0 * len(seen) / max(len(column), 1):.1f} %"]
        if len(seen):
            cells += [f"{x:.2f}" for x in (np.sqrt(np.mean(seen**2)), np.median(seen), seen.max())]
        rows.append(f"<tr><td>{html.escape(name)}</td>" + "".join(f"<td>{c}</td>" for c in cells) + "</tr>")
    return f"<details><summary>As a table</summary><table>{''.join(rows)}</table></details>"


def _worst(motion: Tracked, markers: Markers) -> str:
    """The worst frames, each marker that was seen as a goal beside the figure."""
    cells, figure = [], _with_ends(motion.figure)
    for t in motion.worst(WORST):
        seen = [n for n in motion.markers if np.isfinite(markers[n][t]).all()]
        tasks = [Task(figure.markers[n], At(markers[n][t]), name=n) for n in seen]
        paper = draw(figure, motion.q[t], problem=Problem(figure, tasks), chart=False)
        caption = f"frame {t}, {motion.times[t]:.3f} s: {1e3 * motion.rms_by_frame[t]:.1f} mm"
        drawn = picture(paper.figure, caption)  # pyright: ignore[reportArgumentType]
        cells.append(f"<figure>{drawn}<figcaption>{caption}</figcaption></figure>")
    return f"<div class='row'>{''.join(cells)}</div>"


def _with_ends(figure: Figure) -> Figure:
    """The figure with a bone to the middle of the markers of each segment that would have nothing to show."""
    above = {figure.parent_of(segment) for segment in figure.segments}
    for segment in figure.segments:
        on_it = [p.offset for p in figure.markers.values() if p.segment == segment]
        if on_it and segment not in above and not (segment in figure.bodies and figure.bodies[segment].shapes):
            figure = figure.attached(f"{segment}'s end", segment, np.mean(on_it, axis=0))
    return figure
