"""Figures of many joints asked for what may or may not be: how many questions are solved, proved impossible, or left open.

Run it with ``python benchmarks/pulls.py [--count N] [--robots FOLDER]``. A question takes the targets of its tasks from
postures of their own and spreads them, so that some can be met and some not. Every certificate is written, read and verified
again.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import supple
from supple import At, Placed, Point, Problem, Status, Task

ROBOTS = {
    "G1, hand and foot": ("g1/g1_29dof.urdf", ["left_wrist_yaw_link", "right_ankle_roll_link"]),
    "Talos, both hands": ("talos/talos_reduced.urdf", ["gripper_left_base_link", "gripper_right_base_link"]),
}
SPREAD = (0.8, 1.4)  # of targets from their mean, or from the base


def snake(count: int) -> supple.Figure:
    """Hinges about z, y and x in turn, 20 cm apart, within one radian."""
    joints: list[supple.Joint] = []
    for k in range(count):
        axis = ((0, 0, 1), (0, 1, 0), (1, 0, 0))[k % 3]
        at = (0.2 if k else 0.0, 0.0, 0.0)
        joints += supple.hinge(f"s{k}", f"s{k - 1}" if k else None, axis, at=at, limits=(-1.0, 1.0))
    return supple.Figure(f"snake of {count}", joints)


def figures(robots: Path | None) -> dict[str, tuple[supple.Figure, list[str]]]:
    """Figures, and the segments that are asked for."""
    out = {f"snake of {n}": (snake(n), [f"s{n - 1}"]) for n in (9, 15, 30)}
    human = supple.load("human", fingers=False)
    out["human, hand and foot"] = human, ["hand_r", "foot_l"]
    out["human, hands, head and feet"] = human, ["hand_r", "hand_l", "head", "foot_r", "foot_l"]
    for label, (path, ends) in ROBOTS.items():
        if robots is not None and (robots / path).exists():
            out[label] = supple.load(robots / path), ends
    return out


def question(figure: supple.Figure, ends: list[str], rng: np.random.Generator, pose: bool) -> Problem:
    """Targets from postures of their own, spread."""
    lower, upper = np.maximum(figure.limits.lower, -1.5), np.minimum(figure.limits.upper, 1.5)
    T = [np.array(figure.placement(rng.uniform(lower, upper), end)) for end in ends]
    middle = np.mean([t[:3, 3] for t in T], axis=0) if len(T) > 1 else np.zeros(3)
    stretch = rng.uniform(*SPREAD)
    tasks = []
    for end, t in zip(ends, T, strict=True):
        t[:3, 3] = middle + stretch * (t[:3, 3] - middle)
        tasks.append(Task(end, Placed(t)) if pose else Task(Point(end), At(t[:3, 3])))
    return Problem(figure, tasks)


def main() -> None:
    """Ask and count."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--count", type=int, default=40, help="questions of each kind")
    parser.add_argument("--robots", type=Path, help="a folder with URDF files")
    options = parser.parse_args()
    head = ("joints", "asked", "solved", "proved", "open", "ms a proof", "ms to check", "ms left open")
    print(f"{'figure':30}" + "".join(f"{word:>13}" for word in head))
    for label, (figure, ends) in figures(options.robots).items():
        for pose in (False, True):
            rng, counts, proofs, checks, left = np.random.default_rng(1), [0, 0, 0], [], [], []
            for _ in range(options.count):
                problem = question(figure, ends, rng, pose)
                begun = time.process_time()
                solution = supple.solve(problem)
                spent = 1e3 * (time.process_time() - begun)
                if solution.ok:
                    counts[0] += 1
                elif solution.status is Status.IMPOSSIBLE:
                    counts[1] += 1
                    proofs.append(spent)
                    begun = time.process_time()
                    assert supple.Certificate.from_json(solution.certificate.to_json()).verify(figure)
                    checks.append(1e3 * (time.process_time() - begun))
                else:
                    counts[2] += 1
                    left.append(spent)
            median = [float(np.median(x)) if x else np.nan for x in (proofs, checks, left)]
            row = (str(figure.size), "poses" if pose else "points", *map(str, counts), *(f"{x:.0f}" for x in median))
            print(f"{label:30}" + "".join(f"{word:>13}" for word in row), flush=True)


if __name__ == "__main__":
    main()
