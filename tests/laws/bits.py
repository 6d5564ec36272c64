"""The same answers, bit for bit: 20,000 fixed problems through every door and method, and a digest for each group.

A change that moves code, renames it or lays memory out anew must not change an answer. Write the digests before it, compare
them after it, on one machine (other processors round elsewhere):

    python tests/laws/bits.py --write before.json
    python tests/laws/bits.py --compare before.json

The second exits with 1 and names the groups that differ. A commit that means to change answers says which groups, and why.
Only public names are used, so that the script runs on either side of a change.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import supple
from supple.motion import WholeClip

ARMS = {
    "panda": "panda_hand_tcp",
    "ur5": "tool0",
    "iiwa14": "iiwa_link_ee",
    "sawyer": "right_hand",
    "baxter": "left_gripper",
}
HUMAN = ("hand_l.palm", "hand_r.palm", "foot_l", "foot_r", "pelvis", "head.top")
SOLVERS: dict[str, Any] = {
    "LevenbergMarquardt": supple.LevenbergMarquardt(),
    "ProjectedGradient": supple.ProjectedGradient(),
    "ActiveSet": supple.ActiveSet(),
    "Newton": supple.Newton(),
    "JacobianTranspose": supple.JacobianTranspose(),
    "PseudoInverse": supple.PseudoInverse(),
    "CyclicCoordinateDescent": supple.CyclicCoordinateDescent(),
    "Multistart of Newton": supple.Multistart(supple.Newton(), attempts=4),
}
Group = Callable[[], Iterator[Any]]


class Digest:
    """SHA-256 of all numbers and words of the answers of a group."""

    def __init__(self) -> None:
        self.sha, self.count = hashlib.sha256(), 0

    def take(self, answer: Any, count: int = 1) -> None:
        """An array, a word, or a tuple of them; `count` problems were answered."""
        for part in answer if isinstance(answer, tuple) else (answer,):
            plain = part if isinstance(part, str) else np.ascontiguousarray(part, dtype=np.float64).tobytes()
            self.sha.update(plain.encode() if isinstance(plain, str) else plain)
        self.count += count


def end_of(figure: supple.Figure, wanted: str) -> str:
    """The segment of that name, or the figure's last one."""
    return wanted if wanted in figure.segments else figure.segments[-1]


def postures(figure: supple.Figure, count: int, seed: int) -> np.ndarray:
    """Legal postures, drawn within the limits; unlimited coordinates within three of their rest."""
    rng = np.random.default_rng(seed)
    low, high = np.maximum(figure.lower, figure.rest - 3.0), np.minimum(figure.upper, figure.rest + 3.0)
    Q = rng.uniform(low, high, (count, figure.size))
    return Q if figure.limits.is_box else np.array([figure.limits.project(q) for q in Q])


def pose_problem(figure: supple.Figure, segment: str) -> supple.Problem:
    """A frame of a segment at a pose."""
    return supple.Problem(figure, [supple.Task(segment, supple.Placed(figure.placement(figure.rest, segment)))])


def outcome(solution: supple.Solution) -> tuple[Any, ...]:
    """What a single answer says; the sentence is left out."""
    return solution.q, solution.status.name, float(solution.iterations), float(solution.evaluations)


# ── groups ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def many(name: str, count: int, stretch: float) -> Group:
    """Poses of an arm, all at once; `stretch` scales targets, beyond 1 out of reach."""

    def run() -> Iterator[Any]:
        figure = supple.load(name)
        segment = end_of(figure, ARMS[name])
        T = figure.placement(postures(figure, count, 1), segment)
        T[:, :3, 3] *= stretch
        answer = supple.solve_many(pose_problem(figure, segment), T, threads=2)
        yield (answer.q, answer.ok, answer.iterations, answer.evaluations), count

    return run


def queries(name: str, count: int) -> Group:
    """Poses of an arm, one by one, from changing starts."""

    def run() -> Iterator[Any]:
        figure = supple.load(name)
        segment = end_of(figure, ARMS[name])
        ask, Q = supple.prepare(pose_problem(figure, segment)), postures(figure, 2 * count, 2)
        for q, start in zip(Q[:count], Q[count:], strict=True):
            yield outcome(ask(figure.placement(q, segment), start)), 1

    return run


def paths(name: str, count: int, dt: float | None) -> Group:
    """A smooth path of poses."""

    def run() -> Iterator[Any]:
        figure = supple.load(name)
        segment = end_of(figure, ARMS[name])
        a, b = postures(figure, 2, 3)
        s = 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, count))[:, None]
        speed = None if dt is None else 1.0
        path = supple.follow(
            pose_problem(figure, segment), figure.placement((1 - s) * a + s * b, segment), dt=dt, speed=speed
        )
        yield (path.q, path.ok, path.evaluations), count

    return run


def steps(name: str, count: int) -> Group:
    """A control loop."""

    def run() -> Iterator[Any]:
        figure = supple.load(name)
        segment = end_of(figure, ARMS[name])
        problem, q = pose_problem(figure, segment), figure.rest
        for target in figure.placement(postures(figure, count // 20, 4), segment):
            for _ in range(20):
                q = supple.step(problem, q, 0.02, targets=target)
                yield q, 1

    return run


def people(name: str, count: int) -> Group:
    """Six points of a person, reachable and not, with a soft pull to the rest posture in half of them."""

    def run() -> Iterator[Any]:
        figure = supple.load(name)
        ends = [s for s in HUMAN if s in figure.segments]
        for i, q in enumerate(postures(figure, count, 5)):
            near = figure.limits.project(figure.rest + 0.2 * (q - figure.rest))
            tasks = [supple.Task(s, supple.At(figure.placement(near, s)[:3, 3] * (1.0 + 0.2 * (i % 3)))) for s in ends]
            tasks += [supple.Task(None, supple.Near(figure.rest), weight=1e-3)] if i % 2 else []
            yield outcome(supple.solve(supple.Problem(figure, tasks))), 1

    return run


def mixed_goals(count: int) -> Group:
    """Directions, lines, planes, ranks and alternatives on an arm."""

    def run() -> Iterator[Any]:
        figure, hand = supple.load("panda"), "panda_hand_tcp"
        rng = np.random.default_rng(6)
        for i, q in enumerate(postures(figure, count, 6)):
            T, a = figure.placement(q, hand), rng.normal(size=(2, 3))
            p = T[:3, 3]
            goals = [
                supple.OnLine(p, a[0]), supple.OnPlane(p, a[1]), supple.Beyond(p, a[0]), supple.Facing(x=a[0]),
                supple.AimedAt(p + a[1]), supple.AnyOf([supple.At(p + 2.0), supple.At(p)]),
                supple.Within(p, box=(0.01, 0.02, 0.03)),
            ]  # fmt: skip
            first = supple.Task(hand, goals[i % len(goals)], hard=i % 2 == 0, priority=0)
            elbow = supple.Task("panda_link4", supple.At(figure.placement(q, "panda_link4")[:3, 3] + 0.05), priority=1)
            yield outcome(supple.solve(supple.Problem(figure, [first, elbow]))), 1

    return run


def methods(solver: str, count: int) -> Group:
    """One method on an arm and a person."""

    def run() -> Iterator[Any]:
        for name, ends in (("panda", ("panda_hand_tcp",)), ("human", HUMAN)):
            figure = supple.load(name)
            for q in postures(figure, count, 7):
                near = figure.limits.project(figure.rest + 0.3 * (q - figure.rest))
                tasks = [supple.Task(supple.Point(s), supple.At(figure.placement(near, s)[:3, 3])) for s in ends]
                yield outcome(supple.solve(supple.Problem(figure, tasks), solver=SOLVERS[solver], budget=400)), 1

    return run


def decided(name: str, count: int) -> Group:
    """Poses out of reach, proved so where it can be; the boxes that were looked at."""

    def run() -> Iterator[Any]:
        figure = supple.load(name)
        segment = end_of(figure, ARMS[name])
        T = figure.placement(postures(figure, count, 8), segment)
        T[:, :3, 3] *= 1.35
        for target in T:
            solution = supple.solve(supple.Problem(figure, [supple.Task(segment, supple.Placed(target))]))
            boxes = -1.0 if solution.decision is None else float(solution.decision.boxes)
            yield (*outcome(solution), boxes), 1

    return run


def tracked(method: Any, frames: int) -> Group:
    """Markers of a person who moves, with noise and gaps."""

    def run() -> Iterator[Any]:
        figure = supple.load("human").with_marker_set("cmu41")
        rng = np.random.default_rng(9)
        swing = 0.25 * rng.normal(size=figure.size) * np.sin(np.linspace(0.0, 3.0, frames))[:, None]
        Q = np.array([figure.limits.project(q) for q in figure.rest + swing])
        seen = figure.marker_places(Q)
        seen = seen + 0.003 * rng.normal(size=seen.shape)
        seen[rng.random(seen.shape[:2]) < 0.05] = np.nan
        markers = supple.Markers(tuple(figure.markers), seen, np.arange(frames) / 100.0)
        motion = supple.track(figure, markers, method)
        yield (motion.q, motion.errors), frames

    return run


GROUPS: dict[str, Group] = {
    **{f"solve_many {name}": many(name, 2000, 1.0) for name in ARMS},
    **{f"solve_many {name}, far": many(name, 300, 1.5) for name in ("panda", "ur5")},
    **{f"query {name}": queries(name, 1000) for name in ARMS},
    "follow panda": paths("panda", 1000, None),
    "follow ur5, paced": paths("ur5", 600, 0.01),
    **{f"step {name}": steps(name, 400) for name in ("panda", "iiwa14")},
    "solve human": people("human", 240),
    "solve jack": people("jack", 120),
    "mixed goals": mixed_goals(420),
    **{f"method {name}": methods(name, 60) for name in SOLVERS},
    **{f"decide {name}": decided(name, 60) for name in ("panda", "ur5", "sawyer")},
    "track by frame": tracked(None, 400),
    "track whole clip": tracked(WholeClip(), 60),
    "track optimally": tracked(supple.OptimalTracking(), 40),
}


def digests(wanted: str) -> dict[str, dict[str, Any]]:
    """The digest of every group whose name contains a word."""
    out: dict[str, dict[str, Any]] = {}
    for name, group in GROUPS.items():
        if wanted not in name:
            continue
        digest, begun = Digest(), time.process_time()
        for answer, count in group():
            digest.take(answer, count)
        out[name] = {"problems": digest.count, "digest": digest.sha.hexdigest()[:16]}
        print(f"{name:34s} {digest.count:6d} {out[name]['digest']}  {time.process_time() - begun:6.1f} s", flush=True)
    return out


def main() -> int:
    """Write the digests, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, help="keep the digests in this file")
    parser.add_argument("--compare", type=Path, help="compare with the digests in this file")
    parser.add_argument("--only", default="", help="groups whose names contain this")
    given = parser.parse_args()
    groups = digests(given.only)
    print(f"{sum(g['problems'] for g in groups.values())} problems in {len(groups)} groups")
    if given.write:
        given.write.write_text(json.dumps({"machine": platform.processor(), "groups": groups}, indent=1) + "\n")
    if not given.compare:
        return 0
    before = json.loads(given.compare.read_text())["groups"]
    changed = [name for name in groups if name in before and before[name] != groups[name]]
    print("changed: " + ", ".join(changed) if changed else "every digest is the same")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
