"""Solved or proved impossible: poses of seven robots, and of a box in Baxter's two hands; and no reachable pose is refuted.

Run ``python benchmarks/convex_decide.py`` (parts: ``--parts arms,baxter,sound``; ``--count 100`` for a shorter run). One
thread. Targets that cannot be reached are of four kinds, a quarter each:

* far: a pose of the robot pushed out beyond the sum of its lengths;
* turned: a position that it reaches, in a random orientation;
* limits: a pose that it would reach if each joint turned by up to a third of its range more (the UR5 and UR10, whose joints
  turn all the way round, are given limits of ±2.5 rad);
* hairline: the pose of the nearest posture to one of these, moved towards it by 0.25 mm and 0.25 mrad.

Of the last three those that 200 starts of the local solver reach are drawn again, and those that `Decide` solves are
counted by themselves and drawn again, too. Times are those of ``query(target)`` of a prepared problem with `Decide`,
without the check of the certificate, which is timed separately. An undecided target is in the *shell* if its nearest
posture, of 3000 starts, misses it by no more than the tolerances and 0.1 mm and 0.1 mrad.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import supple
from convex_trial import holds
from supple.proofs.claims import Claim, claims_of
from supple.proofs.proof import leaf_of
from supple.proofs.relaxation.relaxation import Relaxation, best_start

ROOT = Path(__file__).parent.parent
SHARED = Path(os.environ.get("SUPPLE_SHARED", ROOT.parent / "shared"))
ROBOTS = {
    "panda": "panda_hand",
    "sawyer": "right_hand",
    "baxter": "left_gripper",
    "ur5": "tool0",
    "iiwa14": "",
    "ur10": "tool0",
    "gantry6": "",
}
FILES = {"ur10": "ur10/ur10.urdf", "gantry6": "gantry/gantry6.urdf"}
TURNS = {"ur5": 2.5, "ur10": 2.5}  # [rad] in place of limits of a whole turn, which are none
KINDS = ("far", "turned", "limits", "hairline")
SHELL = (1e-5 + 1e-4, 1e-4 + 1e-4)
HAIR = 2.5e-4


def robot(name: str) -> tuple[supple.Figure, str]:
    """A figure and the segment that is to be placed."""
    figure = supple.load(str(SHARED / "data" / "robots" / FILES[name]) if name in FILES else name)
    if name in TURNS:
        figure = figure.with_limits(dict.fromkeys(figure.coordinates, (-TURNS[name], TURNS[name])))
    segment = ROBOTS[name]
    return figure, segment if segment in figure.segments else figure.segments[-1]


def problem_of(figure: supple.Figure, segment: str, target: np.ndarray) -> supple.Problem:
    """The pose of a segment."""
    return supple.Problem(figure, [supple.Task(supple.Frame(segment), supple.Placed(target))])


class Targets:
    """Poses of a robot that can and that cannot be reached."""

    def __init__(self, figure: supple.Figure, segment: str, seed: int) -> None:
        self.figure, self.segment, self.rng = figure, segment, np.random.default_rng(seed)
        self.claim: Claim = claims_of(problem_of(figure, segment, figure.placement(figure.rest, segment)))[0]
        self.at = [figure.coordinates.index(name) for name in self.claim.chain.names if name in figure.coordinates]
        self.lower, self.upper = (side[: len(self.at)] for side in self.claim.chain.box)
        wide = 1.0 / 3.0 * (self.upper - self.lower)
        names = [figure.coordinates[i] for i in self.at]
        wider = {n: (lo - w, hi + w) for n, lo, hi, w in zip(names, self.lower, self.upper, wide, strict=True)}
        self.wider = figure.with_limits(wider)
        self.search = supple.prepare(problem_of(figure, segment, np.eye(4)), solver=supple.Multistart(attempts=200))

    def reachable(self) -> np.ndarray:
        """The pose of a random posture."""
        return self.pose(self.figure, self.rng.uniform(self.lower, self.upper))

    def pose(self, figure: supple.Figure, values: np.ndarray) -> np.ndarray:
        """Where the segment is with these values of the chain's joints."""
        q = np.array(self.figure.rest)
        q[self.at] = values
        return np.array(figure.placement(q, self.segment))

    def impossible(self, kind: str) -> np.ndarray:
        """A pose that is likely to be out of reach."""
        if kind == "far":
            T = self.reachable()
            base = self.claim.chain.before[0, :3, 3]
            away = T[:3, 3] - base
            T[:3, 3] = base + away / np.linalg.norm(away) * self.claim.chain.reach * self.rng.uniform(1.01, 1.5)
            return T
        while True:
            T = self.near(kind)
            if not self.search(T).ok:
                return T

    def near(self, kind: str) -> np.ndarray:
        """A pose of one of the other kinds."""
        if kind == "turned":
            T = self.reachable()
            T[:3, :3] = Rotation.from_quat(self.rng.normal(size=4)).as_matrix()
            return T
        wide = (self.upper - self.lower) / 3.0
        T = self.pose(self.wider, self.rng.uniform(self.lower - wide, self.upper + wide))
        if kind == "limits":
            return T
        found = self.search(T)
        here = np.array(self.figure.placement(found.q, self.segment))
        apart = T[:3, 3] - here[:3, 3]
        turn = Rotation.from_matrix(T[:3, :3] @ here[:3, :3].T).as_rotvec()
        T[:3, 3] = here[:3, 3] + HAIR * apart / max(float(np.linalg.norm(apart)), 1e-12)
        T[:3, :3] = (
            Rotation.from_rotvec(HAIR * turn / max(float(np.linalg.norm(turn)), 1e-12)).as_matrix() @ here[:3, :3]
        )
        return T


def decide(query: Any, deeper: Any, targets: list[np.ndarray]) -> list[dict[str, Any]]:
    """Ask for every target: how it ended, how long it took, and how long the check; `deeper` finds the nearest posture."""
    found = []
    for T in targets:
        begun = time.perf_counter()
        solution = query(T)
        spent = time.perf_counter() - begun
        checking = solution.decision.checking if solution.decision else 0.0
        name, boxes = solution.status.name, 0
        if solution.certificate is not None:
            assert solution.certificate.verify()
            boxes = sum(1 for _ in solution.certificate.leaves())
        if name in ("NEAREST", "STOPPED"):
            miss = deeper(T).errors[0]
            name = "SHELL" if miss.metres <= SHELL[0] and miss.radians <= SHELL[1] else "UNDECIDED"
        found.append({"end": name, "spent": 1e3 * (spent - checking), "checking": 1e3 * checking, "boxes": boxes})
    return found


def summed(name: str, kind: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    """One row of the table, printed."""
    times, proved = [f["spent"] for f in found], [f for f in found if f["boxes"]]
    row = {
        "robot": name,
        "targets": kind,
        "count": len(found),
        "ends": dict(Counter(f["end"] for f in found)),
        "median": float(np.median(times)),
        "p99": float(np.percentile(times, 99)),
        "check a box": float(np.median([f["checking"] / f["boxes"] for f in proved])) if proved else 0.0,
        "most boxes": max((f["boxes"] for f in proved), default=0),
    }
    ends = ", ".join(f"{n} {k}" for k, n in row["ends"].items())
    print(
        f"| {name} | {kind} | {len(found)} | {ends} | {row['median']:.3f} | {row['p99']:.2f} | "
        f"{row['check a box']:.1f} | {row['most boxes']} |",
        flush=True,
    )
    return row


def arms(count: int, names: list[str]) -> list[dict[str, Any]]:
    """Reachable and impossible targets of every robot."""
    rows = []
    for name in names:
        figure, segment = robot(name)
        targets = Targets(figure, segment, seed=sum(name.encode()))
        problem = problem_of(figure, segment, np.eye(4))
        query = supple.prepare(problem, solver=supple.Decide())
        deeper = supple.prepare(problem, solver=supple.Multistart(attempts=3000))
        decide(query, deeper, [targets.reachable(), targets.impossible("far")])
        rows.append(summed(name, "reachable", decide(query, deeper, [targets.reachable() for _ in range(count)])))
        solved, missed = [], []
        for kind in KINDS:
            found: list[dict[str, Any]] = []
            while len(found) < count // len(KINDS):
                asked = [targets.impossible(kind) for _ in range(count // len(KINDS) - len(found))]
                for end in decide(query, deeper, asked):
                    (solved if end["end"] == "SOLVED" else found).append(end)
            rows.append(summed(name, kind, found))
            missed += found
        rows.append(summed(name, "out of reach, all", missed))
        if solved:
            rows.append(summed(name, "reachable after all", solved))
    return rows


# ── a box in two hands ───────────────────────────────────────────────────────────────────────────────────────────────
def grip(y: float, z_axis: tuple[float, float, float]) -> np.ndarray:
    """A gripper on the box."""
    z = np.array(z_axis)
    x = np.array([1.0, 0.0, 0.0])
    T = np.eye(4)
    T[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    T[1, 3] = y
    return T


def baxter(count: int) -> list[dict[str, Any]]:
    """Targets of the middle between two grippers, where they are and a metre further off."""
    data = np.load(SHARED / "data" / "problems" / "baxter_dual.npz")
    figure = supple.load("baxter")
    tasks = [supple.Task(supple.Frame(f"{side}_gripper"), supple.Placed(np.eye(4))) for side in ("left", "right")]
    query = supple.prepare(supple.Problem(figure, tasks), solver=supple.Decide())
    grips = grip(0.15, (0, -1, 0)), grip(-0.15, (0, 1, 0))
    labels, rows = {1: "labelled feasible", -1: "labelled infeasible", 0: "not labelled"}, []
    turns = Rotation.from_quat(data["quaternion"], scalar_first=True).as_matrix()
    for what, places in (("set", data["position"]), ("set + 1 m in x", data["shifted_position"])):
        ends: dict[str, Counter[str]] = {}
        times, checks = [], []
        for k in range(min(count, len(places))):
            B = np.eye(4)
            B[:3, :3], B[:3, 3] = turns[k], places[k]
            begun = time.perf_counter()
            solution = query([B @ G for G in grips])
            checking = solution.decision.checking if solution.decision else 0.0
            times.append(time.perf_counter() - begun - checking)
            checks.append(checking)
            assert solution.certificate is None or solution.certificate.verify()
            label = labels[int(data["status"][k])] if what == "set" else "all"
            ends.setdefault(label, Counter())[solution.status.name] += 1
        for label, counted in ends.items():
            rows.append({"targets": what, "label": label, "ends": dict(counted)})
            print(f"| {what} | {label} | {', '.join(f'{n} {k}' for k, n in counted.items())} |", flush=True)
        median, p99 = 1e3 * np.percentile(times, [50, 99])
        rows.append({"targets": what, "median": median, "p99": p99})
        print(
            f"{what}: median {median:.2f} ms, p99 {p99:.2f} ms, without the check; slowest check {1e3 * max(checks):.0f} ms"
        )
    return rows


# ── nothing that can be reached is refuted ───────────────────────────────────────────────────────────────────────────
def trials(name: str, count: int, seed: int) -> Counter[str]:
    """Poses of postures, some at limits, some singular, some rounded, in boxes that hold the posture: refuted, and proved."""
    figure, segment = robot(name)
    targets = Targets(figure, segment, seed)
    rng, ends = np.random.default_rng(seed), Counter[str]()
    chain, start = targets.claim.chain, best_start(targets.claim)
    low, high = chain.box
    for k in range(count):
        q = rng.uniform(low, high)
        if k % 4 == 1:
            at = rng.random(len(q)) < 0.4
            q[at] = np.where(rng.random(len(q)) < 0.5, low, high)[at]
        elif k % 4 == 2:
            q[rng.random(len(q)) < 0.4] = 0.0
            q = np.clip(q, low, high)
        T = chain.placement(q)
        if k % 4 == 3:
            T = np.array(supple.Placed(supple.place(np.round(T[:3, 3], 6), matrix=_tidy(np.round(T[:3, :3], 6)))).at)
        claim = replace(targets.claim, target=T)
        share = rng.random(len(q)) ** 2 if k % 2 else np.ones(len(q))
        lower, upper = np.maximum(low, q - share * (q - low)), np.minimum(high, q + share * (high - q))
        relaxation = Relaxation(claim, lower, upper, start)
        if relaxation.refuted(1e-9):
            ends["refuted in floating point"] += 1
            ends["false certificates"] += holds(claim, leaf_of(relaxation, 0, start), lower, upper)
        ends["poses"] += 1
    return ends


def _tidy(R: np.ndarray) -> np.ndarray:
    """The rotation nearest to a matrix."""
    u, _, vt = np.linalg.svd(R)
    return u @ vt


def sound(count: int, names: list[str], workers: int, seed: int) -> dict[str, int]:
    """All trials, on several processes."""
    parts = 4
    jobs = [(name, count // (parts * len(names)), seed + i) for name in names for i in range(parts)]
    total: Counter[str] = Counter()
    with ProcessPoolExecutor(workers) as pool:
        for found in pool.map(trials, *zip(*jobs, strict=True)):
            total += found
    print(
        f"{total['poses']} reachable poses in boxes that hold their postures: {total['false certificates']} false certificates"
    )
    print(
        f"{total['refuted in floating point']} were refuted in floating point by more than 1e-9; none of these verified"
    )
    return dict(total)


def main(argv: list[str] | None = None) -> None:
    """Run the parts, print tables, and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="arms,baxter,sound")
    parser.add_argument("--count", type=int, default=1000, help="targets of each robot, reachable and not")
    parser.add_argument("--sound", type=int, default=100_000, help="reachable poses to refute")
    parser.add_argument("--seed", type=int, default=1000, help="of these poses")
    parser.add_argument("--robots", default=",".join(ROBOTS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args(argv)
    names, out = arguments.robots.split(","), {}
    if not (SHARED / "data").is_dir():
        sys.exit(f"the problem sets are not at {SHARED}")
    for part in arguments.parts.split(","):
        if part == "arms":
            print("| robot | targets | count | ended | median [ms] | p99 [ms] | check a box [ms] | most boxes |")
            print("| --- | --- | ---: | --- | ---: | ---: | ---: | ---: |")
            out["arms"] = arms(arguments.count, names)
        elif part == "baxter":
            out["baxter"] = baxter(arguments.count)
        else:
            out["sound"] = sound(arguments.sound, names, arguments.workers, arguments.seed)
    if arguments.json:
        arguments.json.write_text(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
