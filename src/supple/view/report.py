"""A page of HTML on a tracked trial: the verdict, what to look at, errors by marker, segment and frame, the motion itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from supple.basics.writing import check_place
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.motion.markers import Markers
from supple.motion.motion import Motion
from supple.motion.tracking.tracked import Tracked
from supple.problem.goals import At
from supple.problem.problem import Problem
from supple.problem.task import Task
from supple.view.colours import INK
from supple.view.other_run import differences, together
from supple.view.page.clips import Clip
from supple.view.picture import draw, need_matplotlib
from supple.view.report_parts import (
    Curve,
    against_time,
    curves,
    limits_hit,
    listed,
    picture,
    player,
    section,
    sheet_of,
    table,
    write_page,
)
from supple.view.suspects import suspects

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet

WORST = 3  # frames that are drawn


def write_report(
    motion: Tracked, markers: Markers, path: str | Path, title: str = "", against: Motion | None = None
) -> None:
    """Write the page, titled by the trial; `against` is another run of it, to compare with."""
    need_matplotlib()
    check_place(path)
    lost = int((~motion.converged).sum())
    wrong = [*motion.problems, *([f"{lost} of {len(motion)} frames did not converge."] if lost else [])]
    parts = [
        listed(_told(motion)),
        *tracked_parts(motion, markers, against),
        *([] if against is None else [section("Against the other run", _against(motion, markers, against))]),
        section("Worst frames", _worst(motion, markers)),
        section("Coordinates", picture(curves(motion, against), "all coordinates against time")),
    ]
    write_page(path, title or motion.figure.name, wrong, parts)


def tracked_parts(motion: Tracked, markers: Markers, against: Motion | None = None) -> list[str]:
    """What any page about tracked markers says: what to look at, limits, errors by frame, segment and marker, the motion."""
    by_marker = picture(_by_marker(motion), "how far each marker was missed, as a box plot")
    return [
        section("Markers to look at", _suspects(motion, markers)),
        section("Limits", limits_hit(motion)),
        section("Error by frame", picture(_by_frame(motion, markers, against), "error against time")),
        section("Error by segment", _segments(motion)),
        section("Error by marker", by_marker, _markers(motion)),
        section("The motion", player([Clip(motion.figure.name, motion), Clip("markers", markers)])),
    ]


def _told(motion: Tracked) -> list[str]:
    return [
        f"{motion.figure.name}, {motion.figure.size} coordinates: {len(motion)} frames, "
        f"{motion.times[-1] - motion.times[0]:.2f} s, {len(motion.markers)} markers",
        f"root mean square error {1e3 * motion.rms:.2f} mm; worst frame {1e3 * np.nanmax(motion.rms_by_frame):.2f} mm",
        f"{int(motion.converged.sum())} frames converged, {int(motion.bridged.any(axis=1).sum())} bridged in part",
        *motion.notes,
    ]


def _suspects(motion: Tracked, markers: Markers) -> str:
    found = suspects(motion, markers)
    if not found:
        return "<p>None stands out.</p>"
    rms = motion.rms_by_marker
    return table(
        ["marker", "rms [mm]", "what to do"], [[n, f"{1e3 * rms[n]:.1f}", advice] for n, advice in found], words=(2,)
    )


def errors_of(run: Motion, markers: Markers, names: tuple[str, ...]) -> Floats | None:
    """How far a run misses the markers (frames, m) [m], if its figure has them all and its frames are those of the trial."""
    if any(name not in run.figure.markers for name in names) or len(run) != len(markers):
        return None
    seen = np.stack([markers[name] for name in names], axis=1)
    return np.linalg.norm(run.figure.marker_places(run.q, names) - seen, axis=2)


def _against(motion: Tracked, markers: Markers, other: Motion) -> str:
    """Errors of both runs by marker, and how far their segments are apart."""
    both, theirs = len(together(motion, other)[0]), errors_of(other, markers, motion.markers)
    said = f"<p>{both} of {len(motion)} frames are at times that both runs have.</p>"
    if theirs is None:
        return said + differences(motion, other)
    ours = motion.rms_by_marker
    rows = [["all", f"{1e3 * motion.rms:.2f}", f"{1e3 * _rms(theirs):.2f}"]]
    rows += [[n, f"{1e3 * ours[n]:.2f}", f"{1e3 * _rms(c):.2f}"] for n, c in zip(motion.markers, theirs.T, strict=True)]
    return said + table(["marker", "this run, rms [mm]", "the other [mm]"], rows) + differences(motion, other)


def _rms(values: Floats) -> float:
    seen = values[np.isfinite(values)]
    return float(np.sqrt(np.mean(seen**2))) if len(seen) else float("nan")


def _segments(motion: Tracked) -> str:
    """Errors of the markers of each segment together."""
    assert motion.errors is not None
    by: dict[str, list[int]] = {}
    for k, name in enumerate(motion.markers):
        by.setdefault(motion.figure.markers[name].segment, []).append(k)
    rows = []
    for segment, own in by.items():
        columns = motion.errors[:, own]
        seen = columns[np.isfinite(columns)]
        cells = [f"{1e3 * x:.2f}" for x in (_rms(columns), seen.max())] if len(seen) else ["–", "–"]
        rows.append([segment, str(len(own)), *cells])
    return table(
        ["segment", "markers", "rms [mm]", "largest [mm]"], sorted(rows, key=lambda r: -float(r[2].replace("–", "0")))
    )


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


def _by_frame(motion: Tracked, markers: Markers, other: Motion | None) -> Sheet:
    assert motion.errors is not None
    seen = np.isfinite(motion.errors)
    largest = np.where(seen, motion.errors, -1.0).max(axis=1)
    theirs = None if other is None else errors_of(other, markers, motion.markers)
    curve = None
    if theirs is not None:
        curve = Curve(motion.times, 1e3 * np.array([_rms(row) for row in theirs]), "the other run")
    return against_time(
        Curve(motion.times, 1e3 * motion.rms_by_frame, "root mean square"),
        1e3 * np.where(largest >= 0.0, largest, np.nan),
        "mm",
        100.0 * (1.0 - seen.mean(axis=1)),
        curve,
    )


def _markers(motion: Tracked) -> str:
    assert motion.errors is not None
    rows = []
    for name, column in zip(motion.markers, 1e3 * motion.errors.T, strict=True):
        seen = column[np.isfinite(column)]
        told = [f"{x:.2f}" for x in (_rms(seen), np.median(seen), seen.max())] if len(seen) else ["–"] * 3
        rows.append([name, f"{100.0 * len(seen) / max(len(column), 1):.1f} %", *told])
    whole = table(["marker", "seen", "rms [mm]", "median [mm]", "largest [mm]"], rows)
    return f"<details><summary>As a table</summary>{whole}</details>"


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
