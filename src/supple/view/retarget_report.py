"""A retargeted clip as one page of HTML: the verdict first, numbers, segments, limits, and both motions to play."""

from __future__ import annotations

import html
from pathlib import Path

import numpy as np

from supple.basics.writing import check_place, write_file
from supple.motion.motion import Motion
from supple.motion.retargeting.retarget import Retargeted
from supple.view.page.clips import Clip
from supple.view.page.export import player_page
from supple.view.report import STYLE

MORE = ".good { color: #2d6a3e } .bad { color: #b3352c } .verdict { font-size: 1.1rem }"


def write_retarget_report(source: Motion, out: Retargeted, path: str | Path, title: str = "") -> None:
    """Write the page, titled by the clip."""
    check_place(path)
    name = title or f"{source.figure.name} onto {out.figure.name}"
    report = out.report
    verdict = "Nothing seems wrong." if report.ok else "Not to be relied on:"
    told = "".join(f"<li>{html.escape(problem)}</li>" for problem in report.problems)
    body = [
        f"<h1>{html.escape(name)}</h1>",
        f"<p class='verdict {'good' if report.ok else 'bad'}'>{verdict}</p><ul>{told}</ul>",
        f"<p>{len(out)} frames, {out.times[-1] - out.times[0]:.2f} s, of {html.escape(source.figure.name)} onto "
        f"{html.escape(out.figure.name)}, {report.scale:.3f} times its size; {report.phases} planted phases. "
        f"{html.escape(report.late)}</p>",
        "<h2>Source and target</h2>",
        _qualities(out),
        "<h2>The motion</h2>",
        _playing(source, out),
        "<h2>Segments</h2>",
        _segments(out),
        "<h2>Limits</h2>",
        _limits(out),
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


def _playing(source: Motion, out: Retargeted) -> str:
    """The player of both motions, inside the page."""
    page = player_page([Clip(source.figure.name, source), Clip(out.figure.name, out)])
    style = "width:100%;height:520px;border:1px solid #dfe3e8"
    return f"<iframe title='the motion' style='{style}' srcdoc='{html.escape(page, quote=True)}'></iframe>"
