"""Captured motion: a human of 72 coordinates follows hands, feet, pelvis and head; supple beside other people's solvers.

Run ``python benchmarks/motion.py [--motions 02_01,49_06] [--peers momentum,mink] [--json FILE] [--slots FOLDER]``. One thread,
one frame at a time from Python, each frame from the answer to the frame before; `motion_data` says what the problem is. A peer
runs in an environment of its own and with its limits on. All runs are made five times with the same answers, and the least
disturbed time of a frame counts. Errors and limits are judged for all alike, by the figure's own placements. With ``--slots``
every solver of supple gets 15 ms a frame instead, and the pictures of docs/measured/motion.md are drawn.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import supple
from motion_data import BETWEEN, MOTIONS, SPACINGS, Capture, capture
from motion_peers import PEERS, NotInstalled, answers
from motion_slots import draw, jitter, shown, slots, weighed

NEAR = 1e-3  # metres within which every goal must be
PASSES = 5


def follow(motion: Capture, spacing: float, tolerance: float | None = None) -> dict[str, Any]:
    """What supple's default makes of a motion: q, seconds (the least of several passes) and evaluations."""
    problem = motion.problem
    if tolerance is not None:
        tasks = [supple.Task(t.effector, t.goal, tolerance=tolerance) for t in problem.tasks]
        problem = supple.Problem(motion.figure, tasks, problem.limits)
    query = supple.prepare(problem)
    query(list(motion.goals[0]), motion.q[0])  # compiled now
    Q, counts, seconds = [], [], []
    for _ in range(PASSES):
        Q, counts = [], []
        for run in motion.runs(spacing):
            q = motion.q[run.frames[0]]
            for frame in run.frames[1:]:
                goals = motion.goals[frame]
                start = time.perf_counter()
                solution = query(goals, start=q)
                q = solution.q
                seconds.append(time.perf_counter() - start)
                Q.append(q)
                counts.append(solution.evaluations)
    times = np.array(seconds).reshape(PASSES, -1).min(axis=0)
    return {"q": np.array(Q), "seconds": times, "evaluations": np.array(counts)}


def judged(motion: Capture, spacing: float, found: dict[str, Any]) -> dict[str, Any]:
    """Times, share of frames within 1 mm, limits, jitter, and how far elbows and knees are from the capture."""
    frames = [f for run in motion.runs(spacing) for f in run.frames[1:]]
    Q = found["q"]
    broken = ~np.isfinite(Q).all(axis=1)
    Q = np.where(broken[:, None], motion.q[frames], Q)
    miss = np.linalg.norm(motion.seen(Q) - motion.goals[frames], axis=2).max(axis=1)
    miss[broken] = np.inf
    apart = np.linalg.norm(motion.seen(Q, BETWEEN) - motion.seen(motion.q[frames], BETWEEN), axis=2)
    ms = 1e3 * found["seconds"]
    missed = [(int(f), float(m)) for f, m in zip(frames, miss, strict=True) if not m <= NEAR]
    return {
        "frames": len(frames),
        "mean": float(ms.mean()),
        "median": float(np.median(ms)),
        "p99": float(np.percentile(ms, 99)),
        "share": float(np.mean(miss <= NEAR)),
        "worst": float(miss.max()),
        "overrun": float(np.degrees(motion.overrun(Q))),
        "jitter": jitter(motion, spacing, Q),
        "apart": float(np.median(apart)),
        "evaluations": float(found["evaluations"].mean()) if "evaluations" in found else None,
        "missed": missed,
        "times": ms.tolist(),
    }


def measure(motions: list[Capture], peers: list[str], folder: Path) -> list[dict[str, Any]]:
    """All rows: every motion, spacing and solver; then the same over all motions."""
    rows: list[dict[str, Any]] = []
    absent: dict[str, str] = {}
    for spacing in SPACINGS:
        for motion in motions:
            if not motion.runs(spacing):
                continue
            found = {"supple": follow(motion, spacing), "supple, to 1 mm": follow(motion, spacing, NEAR)}
            for name in peers:
                for setting in PEERS[name].settings if name not in absent else ():
                    try:
                        answer = answers(PEERS[name], motion, spacing, setting, PASSES, folder)
                    except (NotInstalled, RuntimeError) as error:
                        kind = "not installed" if isinstance(error, NotInstalled) else "failed"
                        absent[name] = f"{kind}: {error}"
                        break
                    several = len(PEERS[name].settings) > 1
                    found[f"{name}, {setting}" if several else name] = answer
            for who, answer in found.items():
                row = {"who": who, "motion": motion.name, "spacing": spacing, "note": str(answer.get("note", ""))}
                rows.append(row | judged(motion, spacing, answer))
                show(rows[-1])
        names = dict.fromkeys(row["who"] for row in rows if row["spacing"] == spacing)
        rows += [pooled([r for r in rows if r["who"] == who and r["spacing"] == spacing]) for who in names]
        for row in rows[-len(names) :]:
            show(row)
    return rows + [{"who": name, "absent": reason} for name, reason in absent.items()]


def pooled(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One row over all frames of several motions."""
    times = np.concatenate([row["times"] for row in rows])
    counts = [row["frames"] for row in rows]
    return {
        "who": rows[0]["who"],
        "motion": "all",
        "spacing": rows[0]["spacing"],
        "note": rows[0]["note"],
        "frames": sum(counts),
        "mean": float(times.mean()),
        "median": float(np.median(times)),
        "p99": float(np.percentile(times, 99)),
        "worst": max(row["worst"] for row in rows),
        "overrun": max(row["overrun"] for row in rows),
        **{key: weighed([row[key] for row in rows], counts) for key in ("share", "jitter", "apart", "evaluations")},
        "missed": [],
        "times": [],
    }


def head() -> None:
    print(
        f"{'motion':10s} {'spacing':>7s} {'who':17s} {'frames':>6s} {'mean ms':>9s} {'median':>8s} {'p99':>8s} {'< 1 mm':>7s}"
        f" {'over [°]':>8s} {'evals':>6s} {'jitter':>6s} {'apart':>6s}"
    )


def show(row: dict[str, Any]) -> None:
    name = MOTIONS.get(row["motion"], row["motion"])
    print(
        f"{name:10s} {row['spacing']:7.2f} {row['who']:17s} {row['frames']:6d} {row['mean']:9.4f} {row['median']:8.4f}"
        f" {row['p99']:8.3f} {100 * row['share']:6.1f}% {row['overrun']:8.2g} {shown(row['evaluations'])}"
        f" {shown(row['jitter'])} {100 * row['apart']:6.2f}",
        flush=True,
    )


def ratios(rows: list[dict[str, Any]]) -> list[str]:
    """How many times faster supple is than each peer, over all motions."""
    lines = []
    every = [row for row in rows if row.get("motion") == "all"]
    for spacing in SPACINGS:
        at = {row["who"]: row for row in every if row["spacing"] == spacing}
        ours = at["supple"]
        for who, row in at.items():
            if not who.startswith("supple"):
                times = ", ".join(f"{key} {row[key] / ours[key]:.1f}×" for key in ("mean", "median", "p99"))
                lines.append(f"goals {spacing:g} s apart: {who} takes {times} as long as supple")
    return lines


def main() -> None:
    """Print the table; write JSON or pictures if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--motions", default=",".join(MOTIONS), help="numbers of CMU motions")
    parser.add_argument("--peers", default=",".join(PEERS), help="of momentum, mink; empty for none")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--slots", type=Path, metavar="FOLDER", help="15 ms a frame for every solver; pictures go here")
    arguments = parser.parse_args()
    motions = [capture(name) for name in arguments.motions.split(",")]
    if arguments.slots:
        rows = slots(motions)
        for row in rows:
            if "refused" in row:
                print(f"{row['solver']:30s} refuses: {row['refused']}")
        for path in draw(rows, arguments.slots):
            print(f"picture: {path}")
    else:
        head()
        with tempfile.TemporaryDirectory() as folder:
            rows = measure(motions, [name for name in arguments.peers.split(",") if name], Path(folder))
        for row in rows:
            if "absent" in row:
                print(f"{row['who']}: {row['absent']}")
        print("over: worst limit violation; apart: median distance of elbows and knees from the capture [cm]")
        print("\n".join(ratios(rows)))
        rows = [{k: v for k, v in row.items() if k != "times"} for row in rows]
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
