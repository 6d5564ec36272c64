"""A page of HTML on a retargeted clip: the verdict first, numbers of source and target, both motions side by side."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from supple.basics.writing import check_place
from supple.motion.motion import Motion
from supple.motion.retargeting.retarget import Retargeted
from supple.view.other_run import differences
from supple.view.page.clips import Clip, side_by_side
from supple.view.picture import need_matplotlib
from supple.view.report_parts import (
    Curve,
    against_time,
    curves,
    limits_hit,
    picture,
    player,
    section,
    table,
    write_page,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet


def write_retarget_report(
    source: Motion, out: Retargeted, path: str | Path, title: str = "", against: Motion | None = None
) -> None:
    """Write the page, titled by the clip; `against` is another run of it, to compare with."""
    need_matplotlib()
    check_place(path)
    report = out.report
    told = (
        f"<p>{len(out)} frames, {out.times[-1] - out.times[0]:.2f} s, of {html.escape(source.figure.name)} onto "
        f"{html.escape(out.figure.name)}, {report.scale:.3f} times its size; "
        f"{report.phases} planted phases. {html.escape(report.late)}</p>"
    )
    played = [Clip(source.figure.name, source, scale=report.scale), Clip(out.figure.name, out)]
    if against is not None:
        played.append(Clip("the other run", against))
    parts = [
        told,
        section("Source and target", _qualities(out)),
        section("Limits", limits_hit(out)),
        section(
            "Before and after",
            f"<p>The first is drawn {report.scale:.3g} times its size.</p>",
            player(side_by_side(played)),
        ),
        section(
            "Direction errors",
            picture(_directions(out), "how far each segment points from where it should, against time"),
        ),
        section("Segments", _segments(out)),
        *([] if against is None else [section("Against the other run", differences(out, against))]),
        section("Coordinates", picture(curves(out, against), "all coordinates against time")),
    ]
    write_page(path, title or f"{source.figure.name} onto {out.figure.name}", report.problems, parts)


def _qualities(out: Retargeted) -> str:
    source, target, report = out.report.source, out.report.target, out.report
    mean = np.rad2deg(np.mean([mean for mean, _ in report.directions.values()]))
    return table(["", "source", "target"], [
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
    return table(["target", "source", "found by", "mean [°]", "worst [°]"], rows, words=(1, 2))


def _directions(after: Retargeted) -> Sheet:
    """Mean and largest direction error by frame."""
    assert after.errors is not None
    degrees = np.rad2deg(after.errors)
    return against_time(Curve(after.times, degrees.mean(axis=1), "mean"), degrees.max(axis=1), "°")
