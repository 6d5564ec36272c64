"""What report pages are made of: the page with its verdict first, tables, drawings, errors against time, the player."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.basics.writing import write_file
from supple.figure.joints import angular
from supple.geometry.placements import Floats
from supple.motion.motion import Motion
from supple.motion.tracking.tracked import Tracked
from supple.view.page.clips import Clip
from supple.view.page.export import player_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet

ACROSS = 4  # angle curves side by side
EDGE = 1e-3  # of its range: how near to a limit a coordinate is at it
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #22262b; max-width: 1080px; margin: 2.5rem auto; padding: 0 1.5rem }
h1 { font-size: 1.6rem; margin-bottom: .2rem } h2 { font-size: 1.15rem; margin-top: 2.2rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
td, th { padding: .15rem .9rem .15rem 0; text-align: right }
td:first-child, th:first-child, td.text, th.text { text-align: left }
th { border-bottom: 1px solid #c9ced6; font-weight: 600 }
img { max-width: 100% } .row { display: flex; gap: 1rem } .row figure { margin: 0; flex: 1 } figcaption { color: #5b6470 }
ul { color: #5b6470; padding-left: 1.1rem }
.good { color: #2d6a3e } .bad { color: #b3352c } .verdict { font-size: 1.1rem; margin-bottom: .3rem }
.verdict + ul { color: #22262b }
pre { font: 13px/1.5 ui-monospace, monospace; background: #f6f7f9; padding: .8rem 1rem; overflow: auto }
"""


def write_page(path: str | Path, title: str, problems: Sequence[str], parts: Sequence[str]) -> None:
    """Write a page: its title, what is wrong or that nothing seems to be, and its parts."""
    verdict = "Not to be relied on:" if problems else "Nothing seems wrong."
    head = [
        f"<h1>{html.escape(title)}</h1>",
        f"<p class='verdict {'bad' if problems else 'good'}'>{verdict}</p>",
        listed(problems),
    ]
    page = f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{html.escape(title)}</title>"
    write_file(path, page + f"<style>{STYLE}</style>" + "\n".join([*head, *parts]) + "</html>\n")


def section(title: str, *parts: str) -> str:
    """A part under its heading."""
    return "\n".join([f"<h2>{html.escape(title)}</h2>", *parts])


def listed(lines: Sequence[str]) -> str:
    """Sentences, one below the other."""
    return "<ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in lines) + "</ul>" if lines else ""


def table(head: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int] = ()) -> str:
    """A table of text; the first column, and those of `words`, are set to the left."""
    kind = [" class='text'" if k in words else "" for k in range(len(head))]
    lines = ["<tr>" + "".join(f"<th{c}>{html.escape(h)}</th>" for h, c in zip(head, kind, strict=True)) + "</tr>"]
    for row in rows:
        lines.append(
            "<tr>" + "".join(f"<td{c}>{html.escape(x)}</td>" for x, c in zip(row, kind, strict=True)) + "</tr>"
        )
    return f"<table>{''.join(lines)}</table>"


def player(clips: list[Clip]) -> str:
    """The player of clips, inside a page."""
    style = "width:100%;height:520px;border:1px solid #dfe3e8"
    return (
        f"<iframe title='the motion' style='{style}' srcdoc='{html.escape(player_page(clips), quote=True)}'></iframe>"
    )


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


class Curve(NamedTuple):
    """A number for each time, and what it is called."""

    times: Floats
    values: Floats
    name: str


def against_time(
    typical: Curve, largest: Floats, unit: str, missing: Floats | None = None, other: Curve | None = None
) -> Sheet:
    """Errors against time: the typical one as a line, the largest as an area, the share that is missing [%], another run."""
    sheet = sheet_of(8.3, 2.3)
    paper = sheet.subplots()
    paper.fill_between(typical.times, largest, color="#dfe6ee", label="largest")
    if other is not None:
        paper.plot(other.times, other.values, color="#7a8592", linewidth=1.0, label=other.name)
    paper.plot(typical.times, typical.values, color="#b3352c", linewidth=1.3, label=typical.name)
    if missing is not None and missing.any():
        share = paper.twinx()
        share.plot(typical.times, missing, color="#b08a2e", linewidth=0.8)
        share.set_ylabel("missing [%]", color="#b08a2e")
        share.set_ylim(bottom=0.0)
    paper.set_xlabel("time [s]")
    paper.set_ylabel(f"error [{unit}]")
    paper.set_ylim(bottom=0.0)
    paper.margins(x=0.0)
    paper.legend(frameon=False, fontsize=8, loc="upper right", ncols=3)
    return sheet


def limits_hit(motion: Motion) -> str:
    """Which coordinates are at a limit, at which, and how often, the most often first."""
    figure, rows = motion.figure, []
    turns = angular(figure.joints.values())
    for k, name in enumerate(figure.coordinates):
        low, high, q = float(figure.lower[k]), float(figure.upper[k]), motion.q[:, k]
        edge = EDGE * min(high - low, 1.0)
        if high - low <= 0.0 or np.ptp(q) <= 1e-6:
            continue
        scale, unit = (180.0 / np.pi, "°") if turns.get(name, True) else (1e3, "mm")
        for which, limit, share in (
            ("lower", low, (q - low <= edge).mean()),
            ("upper", high, (high - q <= edge).mean()),
        ):
            if share > 0.0:
                rows.append((share, [name, which, f"{scale * limit:.1f} {unit}", f"{100.0 * share:.1f}"]))
    if not rows:
        return "<p>No coordinate was at a limit.</p>"
    rows.sort(key=lambda row: -row[0])
    return table(["coordinate", "limit", "at", "frames [%]"], [row for _, row in rows], words=(1,))


def curves(motion: Motion, other: Motion | None = None) -> Sheet:
    """Every coordinate that moves, with its limits where they are near; grey where it was bridged, and another run behind."""
    figure, turns = motion.figure, angular(motion.figure.joints.values())
    moving = [k for k in range(figure.size) if np.ptp(motion.q[:, k]) > 1e-9]
    rows = max(-(-len(moving) // ACROSS), 1)
    sheet = sheet_of(8.3, 1.15 * rows + 0.4)
    papers = np.atleast_1d(sheet.subplots(rows, ACROSS, sharex=True, squeeze=False)).ravel()
    for paper, k in zip(papers, moving, strict=False):
        name = figure.coordinates[k]
        scale = 180.0 / np.pi if turns.get(name, True) else 1e3
        y = scale * motion.q[:, k]
        if other is not None and name in other.figure.coordinates:
            theirs = scale * other.q[:, other.figure.coordinates.index(name)]
            paper.plot(other.times, theirs, color="#b9c0c8", linewidth=1.6)
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
