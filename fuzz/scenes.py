"""Pose random figures under random constraints: every answer must be legal, and every status true.

    python fuzz/scenes.py --count 10000 --seed 0 --workers 2

A scene is a figure of the catalogue, one to twelve constraints of all kinds, some hard, some with priorities or as
preferences, half of them taken from a legal posture and so reachable, obstacles now and then, rigidities, chains, and a
start that need not be legal. Scene number k of a seed is always the same. The judge shares nothing with the solvers: places
come from a product of matrices along the tree, written below, distances from another method than the kernels'. It asks

* whether the posture is finite and inside the limits, and what is locked or outside all chains has not moved;
* whether SOLVED is said exactly where every task that is no preference is within its tolerance;
* where IMPOSSIBLE is said, whether the certificate holds and a longer search finds nothing;
* where NEAREST is said and tasks have one rank, whether a step down the projected gradient leads nowhere;
* where nothing is hard and tasks have one rank, whether the objective is not above that of the projected start.

It prints a table and, for every complaint, the scene's number; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import supple
from supple.figure.effectors import Direction, Frame, Gap, MassCentre, Point
from supple.geometry.distances import distance_between
from supple.geometry.placements import inverse
from supple.problem import goals as g
from supple.problem.obstacles import Clear
from supple.problem.problem import Problem
from supple.problem.task import Task, met

FIGURES: dict[str, dict[str, Any]] = {
    "panda": {}, "ur5": {}, "iiwa14": {}, "sawyer": {}, "baxter": {}, "hand": {}, "stewart": {}, "human": {},
    "jack": {}, "jack grouped": {"spine": "grouped", "shoulders": "grouped"},
    "jack seated": {"spine": "grouped", "shoulders": "free", "root": "fixed", "legs": False, "fingers": False},
}  # fmt: skip
BALLS = {"panda": 0.05, "ur5": 0.05, "iiwa14": 0.05, "sawyer": 0.05, "baxter": 0.05, "hand": 0.006, "stewart": 0.02}
UPHILL = 1e-9  # what rounding may add to an objective
LEADS = 1e-7  # a share of the objective that a step from a stationary posture may still gain


@cache
def figure_of(name: str) -> supple.Figure:
    """A figure of the catalogue; robots get balls at their segments."""
    figure = supple.load(name.split()[0], **FIGURES[name])
    if name in BALLS:
        figure = figure.with_spheres({s: [(0.0, 0.0, 0.0, BALLS[name])] for s in figure.segments[2:]})
    return figure


# ── drawing scenes ───────────────────────────────────────────────────────────────────────────────────────────────────
def posture(figure: supple.Figure, rng: np.random.Generator, wide: float = 1.0) -> np.ndarray:
    """A random legal posture; unlimited coordinates stay near their rest."""
    low = np.where(np.isfinite(figure.lower), figure.lower, figure.rest - 1.0)
    high = np.where(np.isfinite(figure.upper), figure.upper, figure.rest + 1.0)
    return figure.limits.project(figure.rest + wide * (rng.uniform(low, high) - figure.rest))


def effector(figure: supple.Figure, rng: np.random.Generator) -> Any:
    """A point, direction or frame on a segment that can move."""
    movable = [s for s in figure.segments if figure.chain(None, s)]
    segment = str(rng.choice(movable))
    kind = rng.integers(3)
    if kind == 0:
        return Point(segment, tuple(rng.normal(0, 0.05, 3)))
    return Direction(segment, tuple(rng.normal(size=3))) if kind == 1 else Frame(segment)


def goal(rng: np.random.Generator, X: np.ndarray, end: Any, depth: int = 0) -> Any:
    """A goal that the frame X meets, for an effector of that kind."""
    p, R = X[:3, 3], X[:3, :3]
    n = rng.normal(size=3)
    aside = np.cross(n, rng.normal(size=3))
    choices: list[Any] = [
        lambda: g.At(p),
        lambda: g.OnPlane(p + np.cross(n, rng.normal(size=3)), n),
        lambda: g.OnLine(p + 0.3 * n, n),
        lambda: g.Beyond(p - abs(rng.normal()) * 0.1 * n + aside, n),
        lambda: g.Within(p + rng.uniform(-0.04, 0.04, 3), box=0.05),
    ]
    if isinstance(end, Direction | Frame):
        choices += [lambda: g.Facing(R[:, 0]), lambda: g.AimedAt(p + rng.uniform(0.2, 2.0) * R[:, 0])]
    if isinstance(end, Frame):
        choices += [lambda: g.Placed(X), lambda: g.Facing(matrix=R), lambda: g.Within(X, box=0.02, tilt=0.3)] * 2
    if depth < 2 and rng.random() < 0.15:
        far = X.copy()
        far[:3, 3] += rng.normal(0, 0.5, 3)
        several = [goal(rng, X, end, depth + 1), goal(rng, far, end, depth + 1)]
        return g.AnyOf([several[i] for i in rng.permutation(2)], weights=rng.uniform(0.5, 2.0, 2).tolist())
    return choices[int(rng.integers(len(choices)))]()


def task(figure: supple.Figure, rng: np.random.Generator, q: np.ndarray) -> Task:
    """A task that the posture q meets."""
    options: dict[str, Any] = {"weight": float(10 ** rng.uniform(-1, 1))}
    if rng.random() < 0.15:
        options["hard"] = True
    elif rng.random() < 0.1:
        options["preference"] = True
    elif rng.random() < 0.15:
        options["priority"] = int(rng.integers(3))
    massive = sum(body.mass for body in figure.bodies.values()) > 0.0
    if massive and rng.random() < 0.08:
        c = figure.mass_centre(q)
        around = (
            c[:2]
            + 0.05 * rng.normal(size=(6, 2))
            + 0.1 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1]])
        )
        return Task(MassCentre(), g.Balanced(around) if rng.random() < 0.7 else g.At(c), **options)
    end = effector(figure, rng)
    return Task(end, goal(rng, figure.seen(q, end), end), **options)


def scene(name: str, rng: np.random.Generator) -> tuple[Problem, np.ndarray]:
    """A problem and a start."""
    figure = figure_of(name)
    shared = posture(figure, rng)
    tasks = []
    for _ in range(int(rng.integers(1, 13))):
        reachable = rng.random() < 0.5
        q = shared if reachable else posture(figure, rng, 1.5)
        one = task(figure, rng, q)
        if isinstance(one.effector, Point | Direction | Frame) and rng.random() < 0.1:
            above = figure.parent_of(one.effector.segment)
            if above is not None and figure.chain(above, one.effector.segment):
                one = supple.Task(one.effector, one.goal, weight=one.weight, chain=one.effector.segment)
        tasks.append(one)
    if rng.random() < 0.15 and not any(t.priority or t.hard or t.preference for t in tasks):
        tasks.append(Task(None, g.Near(shared, 10 ** rng.uniform(-4, 0)), preference=bool(rng.random() < 0.5)))
    more: dict[str, Any] = {}
    if rng.random() < 0.25:
        more["rigidity"] = np.where(rng.random(figure.size) < 0.2, rng.choice([0.5, 0.9, 1.0], figure.size), 0.0)
    if rng.random() < 0.15 and any(figure.bars.values()):
        more["obstacles"] = {f"thing {k}": thing(rng) for k in range(int(rng.integers(1, 4)))}
    start = posture(figure, rng, 1.3) if rng.random() < 0.5 else figure.rest + rng.normal(0, 0.3, figure.size)
    return Problem(figure, tasks, **more), np.asarray(start)


def thing(rng: np.random.Generator) -> Any:
    """An obstacle about an arm's length away."""
    at = supple.place(rng.uniform((-1, -1, -0.3), (1, 1, 1.7))).copy()
    at[:3, :3] = Rotation.random(random_state=int(rng.integers(1 << 30))).as_matrix()
    size = rng.uniform(0.05, 0.3, 3)
    kind = rng.integers(4)
    if kind == 0:
        return supple.Ball(tuple(at[:3, 3]), size[0])
    if kind == 1:
        return supple.Capsule(size[0], 2 * size[1], at)
    if kind == 2:
        return supple.Box(tuple(-size), tuple(size), at)
    return supple.Polytope.half_space((0, 0, rng.uniform(-0.5, 0.1)), (0, 0, 1))


# ── judging answers ──────────────────────────────────────────────────────────────────────────────────────────────────
def places(figure: supple.Figure, q: np.ndarray) -> dict[str, np.ndarray]:
    """Where every segment is: a product of matrices along the tree."""
    values = dict(zip(figure.coordinates, q.tolist(), strict=True))
    frames: dict[str | None, np.ndarray] = {None: np.eye(4)}
    for joint in figure.joints.values():
        x = joint.drive.value(values) if joint.drive is not None else values.get(joint.name, 0.0)
        T = np.eye(4)
        if not joint.is_fixed:
            T[:3, :3] = Rotation.from_rotvec(x * np.array(joint.turn)).as_matrix()
            T[:3, 3] = x * np.array(joint.slide)
        frames[joint.key] = frames[joint.parent] @ joint.at @ T
    return {s: frames[s] for s in figure.segments}


def miss_of(problem: Problem, one: Task, frames: dict[str, np.ndarray]) -> g.Miss:
    """How far a task is from being met."""
    if isinstance(one.goal, Clear):
        return g.Miss(metres=max((lacking(pair, frames) for pair in one.goal.pairs), default=0.0))
    end = one.effector
    if end is None:
        return g.Miss()
    if isinstance(end, MassCentre):
        bodies = problem.figure.bodies
        total = sum(body.mass for body in bodies.values())
        X = np.eye(4)
        X[:3, 3] = sum(b.mass * (frames[s] @ [*b.centre, 1.0])[:3] for s, b in bodies.items()) / total
    elif isinstance(end, Gap):
        X = inverse(frames[end.a.segment] @ end.a.frame) @ frames[end.b.segment] @ end.b.frame
    else:
        X = frames[end.segment] @ end.frame
    misses = []
    for each, _ in one.alternatives:
        misses.append(each.miss(X if each.relative_to is None else inverse(frames[each.relative_to]) @ X))
    return min(misses, key=lambda m: max(m.metres / one.tolerance, m.radians / one.angle_tolerance))


def lacking(pair: Any, frames: dict[str, np.ndarray]) -> float:
    """How much room a pair lacks."""
    bar, other, keep = pair
    there = np.eye(4) if other.segment is None else frames[other.segment]
    middle = (frames[bar.segment] @ bar.core.at)[:3, 3] - (there @ [*other.centre, 1.0])[:3]
    if np.linalg.norm(middle) > bar.core.half + keep + other.reach + 1e-6:
        return 0.0
    return max(0.0, keep - bar.core.radius - distance_between(bar.shape, other.shape, frames[bar.segment], there))


def complaints(problem: Problem, start: np.ndarray, solution: supple.Solution) -> list[str]:
    """What is wrong with an answer."""
    limits, q, out = problem.limits, solution.q, []
    assert limits is not None
    begun = limits.project(start)
    if not (np.isfinite(q).all() and limits.contains(q)):
        return ["not legal"]
    still = problem.free == 0.0
    if limits.is_box and not np.array_equal(q[still], begun[still]):
        out.append("moved what is locked")
    frames = places(problem.figure, q)
    fine = all(met(t, miss_of(problem, t, frames)) for t in problem.all_tasks)
    if fine != (solution.status is supple.Status.SOLVED):
        out.append(f"{solution.status.name}, but {'all' if fine else 'not all'} tasks are met")
    if solution.status is supple.Status.IMPOSSIBLE:
        if not solution.certificate.verify():
            out.append("IMPOSSIBLE, but the certificate does not hold")
        if supple.solve(problem, start=start, solver=supple.Multistart(attempts=300), seed=1).ok:
            out.append("IMPOSSIBLE, but a longer search meets all tasks")
    one_rank = max(problem.ranks) == 0 and not problem.has_hard
    if one_rank and problem.value(q) > problem.value(begun) * (1 + UPHILL) + 1e-15:
        out.append(f"objective {problem.value(q):.6g} above the start's {problem.value(begun):.6g}")
    if one_rank and solution.status is supple.Status.NEAREST:
        here = problem.evaluate(q, hessian=False)
        value, gradient = here.value, here.gradient
        assert gradient is not None
        free = problem.free**2
        for step in (1e-2, 1e-4, 1e-6):
            there = limits.project(q - step * free * gradient)
            if limits.is_box or limits.contains(there):
                lower = problem.value(np.where(still, q, there))
                if lower < value * (1 - LEADS) - 1e-13:
                    out.append(f"NEAREST, but a step of {step:g} leads from {value:.9g} to {lower:.9g}")
                    break
    return out


def play(seed: int, index: int) -> dict[str, Any]:
    """Scene number `index` of a seed, solved and judged."""
    rng = np.random.default_rng([seed, index])
    name = list(FIGURES)[int(rng.integers(len(FIGURES)))]
    record: dict[str, Any] = {"index": index, "figure": name, "status": "ERROR", "wrong": [], "seconds": 0.0}
    try:
        problem, start = scene(name, rng)
        begun = time.perf_counter()
        solution = supple.solve(problem, start=start)
        record["seconds"] = time.perf_counter() - begun
        record["status"] = solution.status.name
        record["wrong"] = complaints(problem, start, solution)
    except supple.Refused as error:
        record["status"], record["why"] = "REFUSED", str(error)
    except Exception:
        record["wrong"] = [traceback.format_exc(limit=-4)]
    return record


def chunk(given: tuple[int, int, int]) -> list[dict[str, Any]]:
    """Scenes first … last − 1."""
    seed, first, last = given
    return [play(seed, k) for k in range(first, last)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    ranges = [
        (options.seed, k, min(k + 50, options.first + options.count))
        for k in range(options.first, options.first + options.count, 50)
    ]
    if options.workers == 1:
        records = [record for one in ranges for record in chunk(one)]
    else:
        with ProcessPoolExecutor(options.workers) as pool:
            records = [record for part in pool.map(chunk, ranges) for record in part]
    heads = ("scenes", "solved", "nearest", "proved", "stopped", "refused", "wrong")
    print(f"{'figure':14s} " + " ".join(f"{head:>7s}" for head in heads) + "  median ms")
    for name in FIGURES:
        mine = [r for r in records if r["figure"] == name]
        count = Counter(r["status"] for r in mine)
        wrong = sum(bool(r["wrong"]) for r in mine)
        middle = 1e3 * float(np.median([r["seconds"] for r in mine])) if mine else np.nan
        cells = [count[s] for s in ("SOLVED", "NEAREST", "IMPOSSIBLE", "STOPPED", "REFUSED")]
        print(f"{name:14s} {len(mine):7d} " + " ".join(f"{c:7d}" for c in cells) + f" {wrong:7d} {middle:10.2f}")
    bad = [r for r in records if r["wrong"]]
    for r in bad:
        print(f"scene {r['index']} of seed {options.seed} ({r['figure']}): " + "; ".join(r["wrong"]))
    print(f"{len(records)} scenes, {len(bad)} wrong")
    if options.json is not None:
        options.json.write_text(json.dumps(records, indent=1))
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
