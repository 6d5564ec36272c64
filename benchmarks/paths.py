"""Paths that have a continuous solution by construction: how many are followed without a flip, greedily and as a whole.

    python benchmarks/paths.py --xarm7 xarm7.urdf                 # the table, 100 paths for each robot
    python benchmarks/paths.py --paths 10 --robots ur5 --json paths.json

Each path is a random smooth way of all joints inside their limits; the placements of the last link along it are the targets,
so the way itself is a continuous solution. It is followed from the figure's rest, with and without a preference for it. A path
counts as followed if every target is met, no coordinate jumps (`Path.flips`), every posture is legal, and the placement
halfway between neighbouring postures is where the way was halfway, to within 3 cm and 0.1 rad: a change of branch between two
targets would leave the path there. That is judged here, not by what `follow` says of itself. Seeds begin at 5000; the
constants of the search were chosen on seeds 1000 to 1029. Times are processor seconds for a path.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import process_time

import numpy as np

import supple
from supple import Near, Placed, Problem, Task

FIRST_SEED, STEPS, WIDEST = 5000, 200, 3.0  # of a coordinate's way, radians
ROBOTS = {"panda": "panda_hand", "ur5": "", "iiwa14": "", "xarm7": "link7"}
HALFWAY = 0.03, 0.1  # metres, radians


def way(figure: supple.Figure, moved: np.ndarray, seed: int) -> np.ndarray:
    """A smooth way inside the limits (2 · STEPS − 1, size): every other row is a target, the others lie halfway."""
    rng, t = np.random.default_rng(seed), np.linspace(0.0, 1.0, 2 * STEPS - 1)[:, None]
    q = np.zeros((len(t), figure.size))
    for w in (1, 2, 3):
        q += (np.sin(np.pi * w * t) * rng.normal(size=figure.size)) / w
        q += (np.cos(np.pi * w * t) * rng.normal(size=figure.size)) / w
    q = (q - q.min(axis=0)) / np.ptp(q, axis=0)
    low, high = np.maximum(figure.lower, -2 * np.pi), np.minimum(figure.upper, 2 * np.pi)
    a, b = np.sort(rng.uniform(0.02, 0.98, (2, figure.size)), axis=0)
    q = low + (high - low) * (a + (np.minimum(b, a + WIDEST / (high - low)) - a) * q)
    return np.where(moved, q, figure.rest)


def followed(figure: supple.Figure, tip: str, path: supple.solving.Path, placements: np.ndarray) -> bool:
    """Whether a path is followed, by what its postures say."""
    q, wanted = path.q, placements[::2]
    E = figure.placement(q, tip)
    if np.linalg.norm((E - wanted)[:, :3, 3], axis=1).max() > 1e-5 or angles(E, wanted).max() > 1e-4:
        return False
    if (q < figure.lower).any() or (q > figure.upper).any() or np.abs(np.diff(q, axis=0)).max() > path.jump:
        return False
    H, half = figure.placement(0.5 * (q[1:] + q[:-1]), tip), placements[1::2]
    off = np.linalg.norm((H - half)[:, :3, 3], axis=1).max(), angles(H, half).max()
    return bool(off[0] <= HALFWAY[0] and off[1] <= HALFWAY[1])


def angles(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The angles between the rotations of placements (n, 4, 4)."""
    E = np.linalg.norm(A[:, :3, :3] - B[:, :3, :3], axis=(1, 2)) / np.sqrt(8.0)
    return 2.0 * np.arcsin(np.minimum(E, 1.0))


def row(figure: supple.Figure, tip: str, preferring: bool, count: int) -> dict[str, float]:
    """One row of the table."""
    own = Task(tip, Placed(np.eye(4)))
    near = [Task(None, Near(figure.rest), preference=True)] if preferring else []
    problem = Problem(figure, [own, *near])
    moved = Problem(figure, [own]).moved
    out = {"greedy": 0, "whole": 0, "falsely_told": 0}
    seconds: dict[str, list[float]] = {"greedy": [], "whole": []}
    steps, distance = [], {"greedy": [], "whole": []}
    for seed in range(FIRST_SEED, FIRST_SEED + count):
        placements = figure.placement(way(figure, moved, seed), tip)
        targets = [placements[::2], None] if preferring else placements[::2]
        for word in ("greedy", "whole"):
            begun = process_time()
            path = supple.follow(problem, targets, whole=word == "whole")
            seconds[word].append(process_time() - begun)
            good = followed(figure, tip, path, placements)
            out[word] += good
            if word == "whole":
                out["falsely_told"] += bool(path.ok.all() and not path.breaks) != good
                steps.append(float(np.abs(np.diff(path.q, axis=0)).max()))
            distance[word].append(float(np.abs(path.q - figure.rest)[:, moved].mean()))
    more = {f"{word}_seconds": float(np.median(seconds[word])) for word in seconds}
    more |= {f"{word}_from_rest": float(np.mean(distance[word])) for word in distance}
    return {**out, **more, "greatest_step": max(steps)}


def main() -> None:
    """Print the table; write it as JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paths", type=int, default=100)
    parser.add_argument("--robots", nargs="*", default=list(ROBOTS))
    parser.add_argument("--xarm7", type=Path, help="a URDF of the xArm 7; without it that robot is left out")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    table = {}
    print(
        "| robot | preference | greedy | whole | told falsely | s a path | greatest step | mean distance to rest (greedy) |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in given.robots:
        if name == "xarm7" and given.xarm7 is None:
            continue
        figure = supple.load(given.xarm7 if name == "xarm7" else name)
        for preferring in (False, True):
            r = row(figure, ROBOTS[name] or figure.segments[-1], preferring, given.paths)
            table[f"{name}, {'near rest' if preferring else 'none'}"] = r
            print(
                f"| {name} | {'near rest' if preferring else 'none'} | {r['greedy']} | {r['whole']} | {r['falsely_told']} | "
                f"{r['whole_seconds']:.2f} | {r['greatest_step']:.2f} | "
                f"{r['whole_from_rest']:.2f} ({r['greedy_from_rest']:.2f}) |",
                flush=True,
            )
    if given.json:
        given.json.write_text(json.dumps({"paths": given.paths, "rows": table}, indent=1) + "\n")


if __name__ == "__main__":
    main()
