"""Poses at the very border of reach: out of reach by less than their tolerances, so that some legal posture meets them.

    python benchmarks/hairline.py [--count N] [--figures NAMES] [--door solve|query] [--json FILE]

A posture q at the border is found in one of two ways. *Limits*: some joints of a random posture are put on their limits, and a
random direction of the tasks is split into what the joints can follow and a rest that they cannot, by non-negative least
squares. *Nearest*: the posture that the search finds nearest to a pose out of reach; the rest is what is missing there. Every
part of the target is then moved along its part of the rest, by a share f of its tolerance (0.9 to 0.999). To first order no
posture meets it at less than f of the tolerances, and q meets it at f, which is checked with the figure alone.

Solved counts what is called SOLVED. Twins are the same targets not moved, which q meets exactly: what is not solved there is
not found by the search for other reasons. False counts what is called SOLVED and is not met by the figure's own placements, and
impossible what is said to be so: both must be 0. `panda` and `ur5` were looked at while the method was made.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls
from scipy.spatial.transform import Rotation

import supple
from supple import At, Facing, Figure, Frame, Placed, Point, Problem, Status, Task

SHARED = Path(os.environ.get("SUPPLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
SHARES = (0.9, 0.97, 0.99, 0.999)


@dataclass(frozen=True)
class Case:
    """A figure and what is asked of it: for each segment a kind of goal, with options of its task."""

    figure: Figure
    wanted: tuple[tuple[str, type, dict[str, Any]], ...]
    more: dict[str, Any]  # that the problem takes

    @property
    def limits(self) -> supple.Limits:
        """The problem's."""
        return self.more.get("limits", self.figure.limits)

    def tasks(self, frames: list[np.ndarray]) -> list[Task]:
        """The tasks with these placements as their targets."""
        return [_task(*each, T) for each, T in zip(self.wanted, frames, strict=True)]

    def frames(self, q: np.ndarray) -> list[np.ndarray]:
        """Where the segments are."""
        return [self.figure.placement(q, segment) for segment, _, _ in self.wanted]

    def problem(self, frames: list[np.ndarray]) -> Problem:
        """The problem with these placements as its targets."""
        return Problem(self.figure, self.tasks(frames), **self.more)


def _task(segment: str, kind: type, options: dict[str, Any], T: np.ndarray) -> Task:
    if kind is At:
        return Task(Point(segment), At(T[:3, 3]), **options)
    goal = Placed(T) if kind is Placed else Facing(matrix=T[:3, :3])
    return Task(Frame(segment), goal, **options)


def moved(case: Case, frames: list[np.ndarray], rest: np.ndarray, share: float) -> list[np.ndarray]:
    """The placements, moved and turned along their parts of `rest` by a share of each tolerance."""
    out, at = [], 0
    for task, T in zip(case.tasks(frames), frames, strict=True):
        T = T.copy()
        for term in task.goal.terms():
            part = rest[at : at + 3]
            at += 3
            length = np.linalg.norm(part)
            if length > 1e-12 * np.linalg.norm(rest):
                if term.needs == "position":
                    T[:3, 3] += share * task.tolerance * part / length
                else:
                    T[:3, :3] = (
                        Rotation.from_rotvec(share * task.angle_tolerance * part / length).as_matrix() @ T[:3, :3]
                    )
        out.append(T)
    return out


def anywhere(case: Case, rng: np.random.Generator) -> np.ndarray:
    """A posture within the limits."""
    figure, lower, upper = case.figure, case.limits.lower, case.limits.upper
    q = figure.rest + rng.normal(size=figure.size)
    both = np.isfinite(lower) & np.isfinite(upper)
    q[both] = lower[both] + rng.random(int(both.sum())) * (upper - lower)[both]
    return case.limits.project(q)


def at_limits(case: Case, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray] | None:
    """A posture with joints at their limits, and a direction of the residuals that no joint can follow."""
    q, lower, upper = anywhere(case, rng), case.limits.lower, case.limits.upper
    movers = np.flatnonzero(case.problem(case.frames(q)).moved & np.isfinite(lower) & np.isfinite(upper))
    if not movers.size or not case.limits.is_box or case.figure.loops:
        return None
    chosen = rng.permutation(movers)[: rng.integers(1, max(2, len(movers) // 2 + 1))]
    q[chosen] = np.where(rng.random(len(chosen)) < 0.5, lower[chosen], upper[chosen])
    problem = case.problem(case.frames(q))
    J = problem.jacobian(q)[1]
    ways = [J[:, i] for i in np.flatnonzero(problem.moved & (q < upper))]
    ways += [-J[:, i] for i in np.flatnonzero(problem.moved & (q > lower))]
    y = rng.normal(size=len(J))
    rest = y - np.stack(ways, axis=1) @ nnls(np.stack(ways, axis=1), y)[0]
    return (q, rest) if np.linalg.norm(rest) > 1e-3 else None


def nearest(case: Case, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray] | None:
    """The posture nearest to a pose out of reach, and what is missing."""
    figure, far = case.figure, []
    size = float(np.ptp([figure.placement(figure.rest, s)[:3, 3] for s in figure.segments], axis=0).max())
    for T in case.frames(anywhere(case, rng)):
        T = T.copy()
        T[:3, 3] += size * rng.choice([0.3, 1.0]) * rng.normal(size=3)
        T[:3, :3] = Rotation.from_rotvec(0.3 * rng.normal(size=3)).as_matrix() @ T[:3, :3]
        far.append(T)
    soft = [replace(task, hard=False, priority=0) for task in case.tasks(far)]
    problem = Problem(figure, soft, **case.more)
    answer = supple.prepare(problem)(None, anywhere(case, rng))
    if answer.status is not Status.NEAREST:
        return None
    rho = -problem.jacobian(answer.q)[0]
    held = rho[: sum(map(len, problem.rows_of_tasks[: len(soft)]))]
    kept = all(m.metres <= 1e-7 for m in problem.misses(answer.q)[len(soft) :])
    return (answer.q, held) if kept and np.linalg.norm(held) > 1e-3 else None


def targets(case: Case, count: int, seed: int) -> Iterator[tuple[str, float, np.ndarray, Problem]]:
    """Problems with the way they were found, the share f, and a posture that meets them at f of their tolerances."""
    rng, made = np.random.default_rng(seed), 0
    ways = {"limits": at_limits, "nearest": nearest}
    for _ in range(50 * count):
        way = ("limits", "nearest")[made % 2 if case.limits.is_box and not case.figure.loops else 1]
        found = ways[way](case, rng) or nearest(case, rng)
        if found is None:
            continue
        q, rest = found
        share = SHARES[made // 2 % len(SHARES)]
        problem = case.problem(moved(case, case.frames(q), rest, share))
        if worst(problem, q) <= share + 1e-6:
            made += 1
            yield way, share, q, problem
        if made == count:
            return


def worst(problem: Problem, q: np.ndarray) -> float:
    """The largest miss as a share of its tolerance, from the figure alone; infinite outside the limits."""
    assert problem.limits is not None
    if not (problem.limits.contains(q) and np.isfinite(q).all()):
        return np.inf
    pairs = zip(problem.all_tasks, problem.misses(q), strict=True)
    return max(max(m.metres / t.tolerance, m.radians / t.angle_tolerance) for t, m in pairs)


def robot(path: str) -> Figure:
    """A robot of the shared folder."""
    return supple.load(SHARED / "data" / "robots" / path)


def with_rows(figure: Figure, rng: np.random.Generator) -> supple.Limits:
    """The figure's ranges and two linear rows near their middle."""
    lower, upper = figure.limits.lower, figure.limits.upper
    a = rng.normal(size=(2, figure.size))
    return supple.Limits(lower, upper, A=a, b=a @ (0.5 * (lower + upper)) + 0.2)


def cases() -> dict[str, Case]:
    """Every case by its name."""
    load = supple.load

    def one(figure: Figure, segment: str, kind: type = Placed, **options: Any) -> Case:
        return Case(figure, ((segment, kind, options),), {})

    baxter, human, panda, iiwa, sawyer = map(load, ("baxter", "human", "panda", "iiwa14", "sawyer"))
    hands = ("left_hand", "right_hand")
    tips = [f"rh_{finger}tip" for finger in ("ff", "mf", "rf", "lf", "th")]
    g1, fast = robot("g1/g1_29dof.urdf"), {"tolerance": 1e-3, "angle_tolerance": 1e-2}
    loose = {"tolerance": 1e-4, "angle_tolerance": 1e-4}
    return {
        "panda": one(panda, "panda_hand_tcp"),
        "ur5": one(load("ur5"), load("ur5").segments[-1]),
        "iiwa14": one(iiwa, iiwa.segments[-1]),
        "sawyer": one(sawyer, "right_hand"),
        "baxter": one(baxter, hands[0]),
        "baxter, both hands": Case(baxter, tuple((s, Placed, {}) for s in hands), {}),
        "ur10": one(robot("ur10/ur10.urdf"), "tool0"),
        "scara": one(robot("scara/scara600.urdf"), "tool0"),
        "gantry": one(robot("gantry/gantry6.urdf"), "tool0"),
        "hand, five points": Case(load("hand"), tuple((s, At, {}) for s in tips), {}),
        "sawyer among obstacles": Case(
            sawyer.with_spheres({"right_l4": [(0, 0, 0.1, 0.05)], "right_hand": [(0, 0, 0.02, 0.04)]}),
            (("right_hand", Placed, {}),),
            {"obstacles": [supple.Ball((0.6, 0.0, 0.3), 0.15)]},
        ),
        "panda, a point": one(panda, "panda_hand_tcp", At),
        "panda, coarse": one(panda, "panda_hand_tcp", Placed, **fast),
        "panda, other tolerances": one(panda, "panda_hand_tcp", Placed, **loose),
        "panda, elbow and hand": Case(panda, (("panda_hand_tcp", Placed, {}), ("panda_link4", At, {})), {}),
        "sawyer, hard elbow": Case(sawyer, (("right_hand", Placed, {}), ("right_l3", At, {"hard": True})), {}),
        "g1, hands and feet": Case(
            g1,
            tuple((s, Placed, {}) for s in ("left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link")),
            {},
        ),
        "human, hands and head": Case(
            human, (("hand_l.palm", At, {}), ("hand_r.palm", At, {}), ("head.top", At, {})), {}
        ),
        "human, hand on a fixed pelvis": Case(
            human, (("hand_l.palm", Placed, {}), ("pelvis", Placed, {"hard": True})), {}
        ),
        "iiwa14, linear limits": Case(
            iiwa, ((iiwa.segments[-1], Placed, {}),), {"limits": with_rows(iiwa, np.random.default_rng(5))}
        ),
        "stewart": one(load("stewart"), load("stewart").segments[-1]),
    }


def measured(case: Case, count: int, seed: int, door: str) -> dict[str, Any]:
    """How many of the targets of a case are solved, and what that takes."""
    out: dict[str, Any] = dict.fromkeys(("asked", "solved", "twins", "false", "impossible"), 0)
    out |= {"by share": {}, "by way": {}}
    clock, evaluations = [], []
    for way, share, q, problem in targets(case, count, seed):
        start = anywhere(case, np.random.default_rng(out["asked"]))
        query = supple.prepare(problem)
        begun = time.process_time()
        answer = supple.solve(problem, start) if door == "solve" else query(None, start)
        clock.append(time.process_time() - begun)
        evaluations.append(answer.evaluations)
        solved = answer.status is Status.SOLVED
        out["asked"] += 1
        out["solved"] += solved
        out["twins"] += supple.prepare(case.problem(case.frames(q)))(None, start).status is Status.SOLVED
        out["false"] += solved and worst(problem, np.asarray(answer.q)) > 1.0
        out["impossible"] += answer.status is Status.IMPOSSIBLE
        for key, value in (("by share", share), ("by way", way)):
            row = out[key].setdefault(str(value), [0, 0])
            row[0], row[1] = row[0] + int(solved), row[1] + 1
    out["median ms"], out["evaluations"] = 1e3 * float(np.median(clock)), float(np.median(evaluations))
    return out


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=64)
    parser.add_argument("--figures", help="names, separated by semicolons")
    parser.add_argument("--door", choices=("solve", "query"), default="query")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    table = {}
    heads = ("asked", "solved", "%", "twins", "false", "imposs.", "ms", "evals")
    print(f"{'':30s}" + "".join(f"{head:>8s}" for head in heads) + "  by share, by way")
    for name, case in cases().items():
        if given.figures and name not in given.figures.split(";"):
            continue
        row = table[name] = measured(case, given.count, given.seed, given.door)
        percent = 100 * row["solved"] / max(row["asked"], 1)
        numbers = [row["asked"], row["solved"], percent, row["twins"], row["false"], row["impossible"]]
        cells = "".join(f"{x:8.1f}" if isinstance(x, float) else f"{x:8d}" for x in numbers)
        more = "  ".join(f"{k} {a}/{b}" for key in ("by share", "by way") for k, (a, b) in sorted(row[key].items()))
        print(f"{name:30s}{cells}{row['median ms']:8.2f}{row['evaluations']:8.0f}  {more}", flush=True)
    if given.json:
        given.json.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
