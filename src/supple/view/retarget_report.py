"""A page of HTML on a retargeted clip: the verdict first, numbers of source and target, both motions side by side."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from supple.basics.writing import check_place, write_file
from supple.motion.motion import Motion
from supple.motion.retargeting.retarget import Retargeted
from supple.view.page.clips import Clip, side_by_side
from supple.view.picture import need_matplotlib
from supple.view.report import STYLE, curves, picture, player, sheet_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet

MORE = ".good { color: #2d6a3e } .bad { color: #b3352c } .verdict { font-size: 1.1rem }"


def write_retarget_report(source: Motion, out: Retargeted, path: str | Path, title: str = "") -> None:
    """Write the page, titled by the clip."""
    need_matplotlib()
    check_place(path)
    name = title or f"{source.figure.name} onto {out.figure.name}"
    report = out.report
    verdict = "Nothing seems wrong." if report.ok else "Not to be relied on:"
    told = "".join(f"<li>{html.escape(problem)}</li>" for problem in report.problems)
    body = [
        f"<h1>{html.escape(name)}</h1>",
        f"<p class='verdict {'good' if report.ok else 'bad'}'>{verdict}</p><ul>{told}</ul>",
        f"<p>{len(out)} frames, {out.times[-1] - out.times[0]:.2f} s, of {html.escape(source.figure.name)} onto "
        f"{html.escape(out.figure.name)}, {report.scale:.3f} times its size; "
        f"{report.phases} planted phases. {html.escape(report.late)}</p>",
        "<h2>Source and target</h2>",
        _qualities(out),
        "<h2>Before and after</h2>",
        f"<p>The first is drawn {report.scale:.3g} times its size.</p>",
        player(side_by_side([Clip(source.figure.name, source, scale=report.scale), Clip(out.figure.name, out)])),
        "<h2>Direction errors</h2>",
        picture(_directions(out), "how far each segment points from where it should, against time"),
        "<h2>Segments</h2>",
        _segments(out),
        "<h2>Limits</h2>",
        _limits(out),
        "<h2>Coordinates</h2>",
        picture(curves(out), "all coordinates against time"),
    ]
    head = f"<meta charset='utf-8'><title>{html.escape(name)}</title><style>{STYLE}{MORE}</style>"
    write_file(path, f"<!doctype html><html lang='en'>{head}" + "\n".join(body) + "</html>\n")


def _table(head: list[str], rows: list[list[str]]) -> str:
    cells = ["<tr>" + "".join(f"<th>{html.escape(h)}</th>" for h in head) + "</tr>"]
    cells += ["<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows]
    return f"<table>{''.join(cells)}</table>"


def _qualities(out: Retargeted) -> str:
    source, target, report = out.report.source, out.report.target, out.report
    mean = np.rad2deg(np.mean([mean for mean, _ in report.directions.values()]))
    return _table(["", "source", "target"], [
        ["slide of planted feet [mm]", f"{1e3 * source.slide:.2f}", f"{1e3 * target.slide:.2f}"],
        ["depth below the ground [mm]", f"{1e3 * source.depth:.2f}", f"{1e3 * target.depth:.2f}"],
        ["depth in itself [mm]", "–", f"{1e3 * report.overlap:.1f}"],
        ["mean jerk [m/s³]", f"{source.jerk:.1f}", f"{target.jerk:.1f}"],
        ["frames that jump", "–", str(report.jumps)],
        ["frames at a limit [%]", "–", f"{100 * report.at_limits:.1f}"],
        ["direction error, mean [°]", "–", f"{mean:.2f}"],
    ])  # fmt: skip


def _segments(out: Retargeted) -> str:
    notes = out.match.notes or ("",) * len(out.match.pairs)
    rows = []
    for (target, source), note in zip(out.match.pairs, notes, strict=True):
        mean, worst = out.report.directions[target]
        rows.append([target, source, note, f"{np.rad2deg(mean):.1f}", f"{np.rad2deg(worst):.1f}"])
    return _table(["target", "source", "found by", "mean [°]", "worst [°]"], rows)


def _limits(out: Retargeted) -> str:
    hit = sorted(out.report.limits.items(), key=lambda item: -item[1])
    if not hit:
        return "<p>No coordinate was at a limit.</p>"
    return _table(["coordinate", "frames at a limit [%]"], [[name, f"{100 * share:.0f}"] for name, share in hit])


def _directions(after: Retargeted) -> Sheet:
    """Mean and largest direction error by frame."""
    assert after.errors is not None
    sheet, degrees = sheet_of(8.3, 2.3), np.rad2deg(after.errors)
    paper = sheet.subplots()
    paper.fill_between(after.times, degrees.max(axis=1), color="#dfe6ee", label="largest")
    paper.plot(after.times, degrees.mean(axis=1), color="#b3352c", linewidth=1.3, label="mean")
    paper.set_xlabel("time [s]")
    paper.set_ylabel("error [°]")
    paper.set_ylim(bottom=0.0)
    paper.margins(x=0.0)
    paper.legend(frameon=False, fontsize=8, loc="upper right", ncols=2)
    return sheet
