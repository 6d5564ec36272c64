"""Retargeting by the field's metrics: every clip of some folders onto some targets, judged by somebody else.

    python benchmarks/retargeting.py FOLDER… --target human --target g1=g1.urdf [--clips 50] [--seconds 10]
        [--json out.json] [--draw worst.png]

Each folder is a source of BVH clips. Clips are read at 30 frames a second or near to it, their first frame, which
often is a T-pose, left out. For each source and target: clips, crashes (errors are told in words), share of verdicts
"good", how many of these the judge (`retargeting_judge`) calls wrong, and medians, with the worst tenth, of its
numbers; frames a second of processor time, reading not counted, and the share of clips that the judge calls wrong
whatever the verdict.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import supple
from retargeting_judge import LINES, TARGETS, WRONG, judged, source_points, target_points

COLUMNS = ("direction", "body", "slide", "depth", "sunk", "jerk", "jump")
RATE = 30.0


def target_of(told: str) -> tuple[str, Any]:
    """A target from ``kind=file`` or ``kind`` of the catalogue; of a clip its skeleton, at rest as in ``file@frame``."""
    kind, _, file = told.partition("=")
    if kind not in TARGETS:
        raise SystemExit(f"the judge knows {', '.join(TARGETS)}, not {kind!r}")
    if not file:
        return kind, supple.load(kind, fingers=False)
    file, _, frame = file.partition("@")
    if file.endswith(".bvh"):
        motion = supple.read_motion(file)
        return kind, motion.figure.with_rest(motion.q[int(frame)]) if frame else motion.figure
    figure = supple.load(file)
    root = next(segment for segment in figure.segments if figure.parent_of(segment) is None)
    return kind, figure if figure.joints_of(root) else figure.based_at(free=True)


def clip_of(file: Path, seconds: float) -> tuple[Any, dict[str, np.ndarray], float]:
    """The motion, the judge's points of the same frames, seconds between them."""
    whole = supple.read_motion(file)
    dt = float(whole.times[1] - whole.times[0]) if len(whole) > 1 else 1.0 / RATE
    step = max(1, round(1.0 / RATE / dt))
    part = (min(1, len(whole) - 1), min(len(whole), 1 + round(seconds / dt)), step)
    points, dt = source_points(file, *part)
    return whole.frames(*part), points, dt


def run(file: Path, kind: str, figure: Any, clip: Any) -> dict[str, Any]:
    """One clip onto one target: numbers, or the error."""
    motion, points, dt = clip
    row: dict[str, Any] = {"source": file.parent.name, "clip": file.name, "target": kind, "frames": len(motion)}
    begin = time.process_time()
    try:
        out = supple.retarget(motion, figure)
    except Exception as error:
        return row | {"crash": f"{type(error).__name__}: {error}"}
    row["seconds"] = time.process_time() - begin
    return (
        row
        | judged(points, dt, figure, out.q, kind)
        | {"good": out.ok, "overlap": out.report.overlap, "problems": list(out.report.problems)}
    )


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown: a line for each source and target."""
    head = ["source", "target", "clips", "crashes", "good [%]", "good but wrong", "wrong [%]", *COLUMNS, "frames/s"]
    lines = ["| " + " | ".join(head) + " |", "| --- | --- |" + " ---: |" * (len(head) - 2)]
    groups = list(dict.fromkeys((r["source"], r["target"]) for r in rows))
    for source, target in [*groups, ("all", "all")]:
        own = [r for r in rows if source == "all" or (r["source"], r["target"]) == (source, target)]
        done = [r for r in own if "crash" not in r]
        if not done:
            continue
        cells = [source, target, str(len(own)), str(len(own) - len(done))]
        cells += [
            f"{100 * np.mean([r['good'] for r in done]):.1f}",
            str(sum(bool(r["good"] and r["wrong"]) for r in done)),
        ]
        cells.append(f"{100 * np.mean([r['wrong'] for r in done]):.1f}")
        for column in COLUMNS:
            values = [r[column] for r in done]
            digits = 3 if column in ("sunk",) else 2 if column in ("jerk", "jump") else 1
            cells.append(f"{np.median(values):.{digits}f}/{np.quantile(values, 0.9):.{digits}f}")
        cells.append(f"{sum(r['frames'] for r in done) / sum(r['seconds'] for r in done):,.0f}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(
    rows: list[dict[str, Any]], files: dict[str, Path], targets: dict[str, Any], seconds: float, path: str
) -> None:
    """The worst clips, source above target, eight frames each."""
    from matplotlib.figure import Figure as Sheet

    def badness(row: dict[str, Any]) -> float:
        return max(row[key] / most for key, most in WRONG.items())

    worst = sorted((r for r in rows if "crash" not in r), key=badness, reverse=True)[:4]
    sheet = Sheet(figsize=(16, 5.2 * len(worst)), layout="constrained")
    papers = sheet.subplots(2 * len(worst), 8, squeeze=False)
    for k, row in enumerate(worst):
        motion, source, _ = clip_of(files[row["clip"]], seconds)
        figure = targets[row["target"]]
        target = target_points(figure, supple.retarget(motion, figure).q, row["target"])
        feet = [(f"heel_{s}", f"ball_{s}") for s in "lr"]
        for j, frame in enumerate(np.linspace(0, len(motion) - 1, 8).astype(int)):
            for points, lines, paper in (
                (source, LINES, papers[2 * k, j]),
                (target, [*LINES, *feet], papers[2 * k + 1, j]),
            ):
                size = np.ptp([p[frame, 2] for p in points.values()]) or 1.0
                for a, b in lines:
                    ends = np.array([points[a][frame], points[b][frame]]) - points["hips"][frame] * [1.0, 1.0, 0.0]
                    colour = {"l": "#b3352c", "r": "#2b5d8c"}.get(a[-1] if a[-2] == "_" else "", "black")
                    paper.plot(ends[:, :2] @ [0.8, 0.6], ends[:, 2], color=colour)
                paper.set_xlim(-0.7 * size, 0.7 * size)
                paper.set_aspect("equal")
                paper.tick_params(labelsize=5)
        papers[2 * k, 0].set_title(
            f"{row['clip']} on {row['target']}: " + ", ".join(f"{c} {row[c]:.1f}" for c in WRONG),
            fontsize=8,
            loc="left",
        )
    sheet.savefig(path, dpi=60)


def main() -> None:
    """Read the command line, run, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--target", action="append", required=True, help="kind of the catalogue, or kind=file")
    parser.add_argument("--clips", type=int, default=10**6, help="of each folder, spread evenly")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--draw")
    told = parser.parse_args()
    targets = dict(target_of(each) for each in told.target)
    rows: list[dict[str, Any]] = []
    files: dict[str, Path] = {}
    for folder in told.folders:
        found = sorted(folder.glob("*.bvh"))
        chosen = [found[k] for k in np.unique(np.linspace(0, len(found) - 1, min(told.clips, len(found))).astype(int))]
        for file in chosen:
            files[file.name] = file
            clip = clip_of(file, told.seconds)
            rows += [run(file, kind, figure, clip) for kind, figure in targets.items()]
    print(table(rows))
    for row in rows:
        if "crash" in row:
            print(f"crash: {row['clip']} onto {row['target']}: {row['crash']}")
        elif row["wrong"] or not row["good"]:
            seen = ", ".join(f"{c} {row[c]:.1f}" for c in WRONG)
            which = "good but wrong" if row["good"] else "not good"
            print(f"{which}: {row['clip']} onto {row['target']} ({seen}): {' '.join(row['problems'])[:160]}")
    if told.json:
        told.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    if told.draw:
        draw(rows, files, targets, told.seconds, told.draw)


if __name__ == "__main__":
    main()
