"""A page of HTML on a figure made to measure: the verdict, scales and how sure they are, markers that were moved, the trial."""

from __future__ import annotations

from pathlib import Path

from supple.basics.writing import check_place
from supple.motion.markers import Markers
from supple.motion.subject.subject import Subject
from supple.view.picture import need_matplotlib
from supple.view.report import tracked_parts
from supple.view.report_parts import listed, section, table, write_page


def write_fit_report(subject: Subject, markers: Markers, path: str | Path, title: str = "") -> None:
    """Write the page, titled by the trial."""
    need_matplotlib()
    check_place(path)
    motion = subject.motion
    wrong = [*motion.problems, *([] if subject.converged else [f"The fit did not converge in {subject.steps} steps."])]
    told = [
        f"{subject.figure.name}: {len(subject.frames)} frames fitted together in {subject.steps} steps",
        f"root mean square error {1e3 * motion.rms:.2f} mm over {len(motion)} frames and {len(motion.markers)} markers",
        *([f"Not told by this trial, hence as the whole: {', '.join(subject.untold)}"] if subject.untold else []),
        *motion.notes,
    ]
    scales = [
        [name, f"{scale:.4f}", f"{subject.doubt[name]:.4f}", "no" if name in subject.untold else "yes"]
        for name, scale in subject.scales.items()
    ]
    rms = motion.rms_by_marker
    moved = sorted(subject.moved.items(), key=lambda item: -item[1])
    parts = [
        listed(told),
        section("Scales", table(["scale", "factor", "±", "told by the trial"], scales)),
        section(
            "Markers that were moved",
            table(
                ["marker", "moved [mm]", "rms [mm]"],
                [[n, f"{1e3 * far:.1f}", f"{1e3 * rms[n]:.2f}"] for n, far in moved],
            ),
        ),
        *tracked_parts(motion, markers),
    ]
    write_page(path, title or subject.figure.name, wrong, parts)
