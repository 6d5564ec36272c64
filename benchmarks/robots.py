"""Robots: supple beside other people's solvers, in the same run and on the same targets.

Run ``python benchmarks/robots.py [--jobs panda,ur5,talos,g1,path,many] [--peers NAMES] [--count N] [--json FILE]``. One thread,
one call at a time from Python. A peer runs in an environment of its own, between two runs of supple; ratios are its times over
those of these two. Success is judged for all alike, from the URDF: 1e-5 m, 1e-4 rad, inside the limits. "False" counts
answers that were called a success and are none. Times of single calls are by the clock; "processor" is the mean processor time
of a call, and where it is far below the mean the machine was busy with other things. The robots are read from a folder
``shared`` beside the checkout, or from the one that the environment variable ``SUPPLE_SHARED`` names.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import supple
from peers.common import Job, Solver, measure
from peers.environments import PEERS, NotInstalled, Peer, answers, environment
from peers.judge import Judge, turn_by

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("SUPPLE_SHARED", ROOT.parent / "shared"))
ROBOTS = {
    "panda": ("panda/panda.urdf", ["panda_hand"]),
    "ur5": ("ur5/ur5.urdf", ["ee_link"]),
    "talos": (
        "talos/talos_reduced.urdf",
        ["gripper_left_base_link", "gripper_right_base_link", "left_sole_link", "right_sole_link"],
    ),
    "g1": (
        "g1/g1_29dof.urdf",
        ["left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link", "right_ankle_roll_link"],
    ),
}
JOBS = {
    "panda": ["panda"],
    "ur5": ["ur5"],
    "talos": ["talos-easy", "talos-hard"],
    "g1": ["g1-easy", "g1-hard"],
    "path": ["path"],
    "many": ["many"],
}
COLUMNS = ("median", "mean", "p99", "processor")


class Supple(Solver):
    """``query = supple.prepare(problem)``, then ``query(target)``."""

    clipped = False
    note = "query(target)"

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        figure = supple.load(job.urdf)
        self.root = figure.segments[0]
        if job.floating:
            figure = figure.based_at(np.eye(4), free=True)
        self.figure = figure.with_rest(dict(zip(job.joints, job.start.tolist(), strict=True)))
        tasks = [supple.Task(supple.Frame(name), supple.Placed(np.eye(4))) for name in job.frames]
        self.problem = supple.Problem(self.figure, tasks)
        self.query = supple.prepare(self.problem)
        self.columns = [self.figure.coordinates.index(name) for name in job.joints]

    def target(self, T: np.ndarray) -> Any:
        return T[0] if len(T) == 1 else T

    def first(self) -> Any:
        return None

    def solve(self, target: Any, start: Any) -> Any:
        return self.query(target, start)

    def again(self, answer: Any) -> Any:
        return answer.q

    def read(self, answer: Any) -> tuple[np.ndarray, np.ndarray | None, bool]:
        return self.read_posture(answer.q, answer.ok)

    def read_posture(self, q: np.ndarray, ok: bool) -> tuple[np.ndarray, np.ndarray | None, bool]:
        base = self.figure.placement(q, self.root) if self.job.floating else None
        return q[self.columns], base, ok


class ShortForm(Supple):
    """The short form, which builds a problem at each call."""

    note = "solve(figure, {segment: Placed(target)})"

    def solve(self, target: Any, start: Any) -> Any:
        targets = target if target.ndim == 3 else [target]
        goals = {name: supple.Placed(T) for name, T in zip(self.job.frames, targets, strict=True)}
        return supple.solve(self.figure, goals, start=start)


def job_of(name: str, count: int | None, seconds: float) -> Job:
    """The targets of a job by its name: all of them are reached by legal postures."""
    robot, _, kind = name.partition("-")
    file, frames = ROBOTS["panda" if robot in ("path", "many") else robot]
    urdf = SHARED / "data" / "robots" / file
    if not urdf.exists():
        raise FileNotFoundError(f"{urdf} is missing: set SUPPLE_SHARED to the folder that holds data/robots")
    judge = Judge(str(urdf), frames)
    lower, upper, rng = judge.lower, judge.upper, np.random.default_rng(0)
    middle = (lower + upper) / 2
    n = count or {"": 1000, "easy": 300, "hard": 300}[kind]
    base = np.tile(np.eye(4), (n, 1, 1))
    if robot == "path":
        Q = smooth(lower, upper, n)
    elif kind == "easy":
        Q = np.clip(middle + rng.uniform(-0.2, 0.2, (n, len(middle))), lower, upper)
    else:
        Q = rng.uniform(lower, upper, (n, len(middle)))
    if kind:
        far, angle = {"easy": (0.1, 0.2), "hard": (0.5, 1.0)}[kind]
        for T in base:
            T[:3, :3], T[:3, 3] = turn_by(rng.uniform(-angle, angle, 3)), rng.uniform(-far, far, 3)
    return Job(
        urdf=str(urdf),
        frames=frames,
        targets=judge.placements(Q, base),
        start=Q[0] if robot == "path" else middle,
        base=np.eye(4),
        floating=bool(kind),
        warm=robot == "path",
        passes=5,
        seconds=seconds,
    )


def smooth(lower: np.ndarray, upper: np.ndarray, n: int) -> np.ndarray:
    """A smooth closed path in the middle of the limits: each joint swings one to three times with a phase of its own."""
    t, k = np.linspace(0.0, 1.0, n, endpoint=False)[:, None], np.arange(len(lower))
    return (lower + upper) / 2 + 0.2 * (upper - lower) * np.sin(2 * np.pi * ((1 + k % 3) * t + 0.37 * k))


def summary(job: Job, found: dict[str, Any]) -> dict[str, Any]:
    """One row: share solved, false successes and times in microseconds."""
    n = len(found["q"])
    right = job.judge.solved(found["q"], found["base"], job.targets[:n])
    spans = np.median(found["seconds"], axis=0)
    times = {"median": np.median(spans), "mean": np.mean(spans), "p99": np.percentile(spans, 99)}
    return {
        "count": n,
        "solved": 100.0 * float(right.mean()),
        "false": int((found["ok"] & ~right).sum()),
        **{key: float(value) * 1e6 for key, value in times.items()},
        "processor": 1e6 * float(found["work"]),
        "note": str(found["note"]),
    }


def together(runs: list[dict[str, Any]], n: int) -> dict[str, Any]:
    """Several runs of the same solver as one, the first n targets only: a slow peer may not have come to the others."""
    rows = {key: runs[0][key][:n] for key in ("q", "base", "ok")}
    seconds = np.concatenate([run["seconds"][:, :n] for run in runs])
    return {**runs[0], **rows, "seconds": seconds, "work": min(run["work"] for run in runs)}


def compare(name: str, job: Job, peers: list[Peer], folder: Path, environments: Path) -> list[dict[str, Any]]:
    """All rows of one job: supple first, then the peers between runs of supple."""
    ours = Supple(job)
    measure(ours, job.first(20))
    runs = [measure(ours, job)]
    rows: list[dict[str, Any]] = []
    for peer in peers:
        row: dict[str, Any] = {"job": name, "who": peer.name}
        rows.append(row)
        try:
            found = answers(peer, environment(peer, environments), job, folder)
        except NotInstalled as reason:
            row["note"] = f"not installed: {reason}"
            continue
        except RuntimeError as reason:
            row["note"] = f"failed: {reason}"
            continue
        runs.append(measure(ours, job))
        row.update(summary(job, found))
        row["version"] = str(found["version"])
        near = summary(job, together(runs[-2:], row["count"]))
        row["ratio"] = {key: row[key] / near[key] for key in COLUMNS}
    whole = together(runs, min(len(run["q"]) for run in runs))
    first = [{"job": name, "who": "supple", **summary(job, whole)}]
    if name in ("panda", "ur5"):
        first.append({"job": name, "who": "supple, short", **summary(job, measure(ShortForm(job), job))})
    if job.warm:
        first.append({"job": name, "who": "supple, follow", **summary(job, followed(ours, job))})
    return first + rows


def followed(ours: Supple, job: Job) -> dict[str, Any]:
    """The whole path in one call, its time shared evenly among the steps."""
    targets = np.ascontiguousarray(job.targets[:, 0])
    spans, works, path = [], [], supple.follow(ours.problem, targets)
    for _ in range(20):
        before, worked = time.perf_counter(), time.process_time()
        path = supple.follow(ours.problem, targets)
        spans.append(np.full(len(targets), (time.perf_counter() - before) / len(targets)))
        works.append((time.process_time() - worked) / len(targets))
    q = np.asarray(path.q)[:, ours.columns]
    ok = np.broadcast_to(np.asarray(path.ok), (len(q),))
    base = np.tile(np.eye(4), (len(q), 1, 1))
    note = "follow(problem, targets)"
    return {"q": q, "base": base, "ok": ok, "seconds": np.array(spans), "work": min(works), "note": note}


def many(job: Job) -> list[dict[str, Any]]:
    """Throughput of solve_many on one and two threads, and whether all ways give the same bits."""
    ours = Supple(job)
    targets = np.ascontiguousarray(job.targets[:, 0])
    supple.solve_many(ours.problem, targets[:64], threads=1)
    rows: list[dict[str, Any]] = []
    found: dict[int, Any] = {}
    best, busy = {1: np.inf, 2: np.inf}, {1: np.inf, 2: np.inf}
    for threads in (1, 2) * 5:
        before, worked = time.perf_counter(), time.process_time()
        found[threads] = supple.solve_many(ours.problem, targets, threads=threads)
        best[threads] = min(best[threads], time.perf_counter() - before)
        busy[threads] = min(busy[threads], time.process_time() - worked)
    base = np.tile(np.eye(4), (len(targets), 1, 1))
    for threads, answer in found.items():
        right = job.judge.solved(answer.q[:, ours.columns], base, job.targets)
        row = {"job": "many", "who": f"supple, {threads} thread{'s' if threads > 1 else ''}", "count": len(targets)}
        row |= {"solved": 100.0 * float(right.mean()), "missed": int((~right).sum())}
        row |= {"false": int((answer.ok & ~right).sum()), "per_second": len(targets) / best[threads]}
        row |= {"per_cpu_second": len(targets) / busy[threads]}
        rates = f"{row['per_second']:,.0f} targets a second, {row['per_cpu_second']:,.0f} a second of processor time"
        row |= {"note": f"{rates}, {row['missed']} missed"}
        rows.append(row)
    alone = np.array([ours.query(T).q for T in targets[:1000]])
    short = supple.solve_many(ours.problem, targets[:1000], threads=1)
    same = {
        "1 and 2 threads": np.array_equal(found[1].q, found[2].q),
        "a batch of 1000 and the whole": np.array_equal(short.q, found[1].q[:1000]),
        "alone and in the batch": np.array_equal(alone, short.q),
    }
    note = "; ".join(f"{key}: {'the same bits' if value else 'DIFFERENT'}" for key, value in same.items())
    note += f"; two threads {best[1] / best[2]:.2f}x one"
    return [*rows, {"job": "many", "who": "determinism", "same": same, "speedup": best[1] / best[2], "note": note}]


def show(rows: list[dict[str, Any]]) -> None:
    """The table of one job."""
    print(f"\n{rows[0]['job']:12s}{'':20s}{'n':>7s}{'solved %':>10s}{'false':>7s}", end="")
    print("".join(f"{key + ' µs':>13s}" for key in COLUMNS) + f"{'peer / supple':>32s}  with")
    for row in rows:
        cells = f"{'':12s}{row['who']:20s}"
        cells += f"{row['count']:7d}{row['solved']:10.2f}{row['false']:7d}" if "count" in row else " " * 24
        cells += "".join(f"{row[key]:13.1f}" if key in row else " " * 13 for key in COLUMNS)
        cells += "".join(f"{value:8.1f}" for value in row["ratio"].values()) if "ratio" in row else " " * 32
        print(f"{cells}  {row.get('version', '')} {row.get('note', '')}".rstrip(), flush=True)


def main() -> None:
    """Print the tables; write JSON if asked."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument(
        "--jobs", default=",".join(JOBS), help="some of " + ", ".join(JOBS) + ", or one kind as talos-easy"
    )
    parser.add_argument("--peers", default=",".join(PEERS), help="some of " + ", ".join(PEERS) + ", or none")
    parser.add_argument("--count", type=int, help="targets of each job")
    parser.add_argument("--seconds", type=float, default=20.0, help="the most that a solver may take for a pass")
    parser.add_argument("--environments", type=Path, default=ROOT / "build" / "peers")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    names = [kind for word in arguments.jobs.split(",") for kind in JOBS.get(word, [word])]
    wanted = [word for word in arguments.peers.split(",") if word not in ("", "none")]
    if unknown := [w for w in wanted if w not in PEERS]:
        sys.exit(f"no peer called {', '.join(unknown)}; there are {', '.join(PEERS)}")
    if unknown := [n for n in names if all(n not in kinds for kinds in JOBS.values())]:
        sys.exit(f"no job called {', '.join(unknown)}; there are {', '.join(JOBS)}")
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if name == "many":
                rows += (part := many(job_of("many", arguments.count or 20000, arguments.seconds)))
            else:
                job = job_of(name, arguments.count, arguments.seconds)
                peers = [PEERS[w] for w in wanted if name in PEERS[w].jobs]
                rows += (part := compare(name, job, peers, Path(folder), arguments.environments.resolve()))
            show(part)
            if arguments.json:
                arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
