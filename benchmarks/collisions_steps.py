"""Steps of a G1 with meshes that keeps clear of obstacles and of itself: their times, and whether one ends inside.

Both hands are led through points drawn at random about the chest, between a ball and a box, with itself=True; 5 ms a step.
Every tenth posture is judged by coal on the meshes. Processor time, on one core.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

import supple
from collisions_oracle import Links
from supple.problem import Moving

STEPS, EACH = 400, 50


def steps(home: Path) -> list[dict[str, Any]]:
    """A row for supple."""
    path = home / "robots" / "g1_description" / "urdf" / "g1_29dof_rev_1_0.urdf"
    folders = [home.parent, home / "robots"]
    figure, random = supple.load(path, folders=folders), np.random.default_rng(3)
    links = Links(path, folders)
    hands = [next(s for s in figure.segments if s == f"{side}_rubber_hand") for side in ("left", "right")]
    at = [figure.placement(figure.rest, hand)[:3, 3] for hand in hands]
    chest = figure.placement(figure.rest, "torso_link")[:3, 3]
    tasks = [supple.Task(hand, supple.At(p)) for hand, p in zip(hands, at, strict=True)]
    obstacles = {
        "ball": supple.Ball((0.35, 0.0, 0.25), 0.08),
        "shelf": supple.Box((0.25, -0.5, -0.15), (0.6, 0.5, -0.1)),
    }
    obstacles = {name: Moving(shape, supple.place(chest)) for name, shape in obstacles.items()}
    clear = supple.Clearance(0.005, itself=True, uncovered="ignore")
    problem = supple.Problem(figure, tasks, obstacles=obstacles, clearance=clear)
    pairs = [pair for pair in figure.colliding_pairs() if {*pair} <= links.links.keys()]
    found = supple.solve(problem, figure.rest)  # a start that is clear
    q, aims = np.array(found.q), list(at)
    supple.step(problem, q, 0.005, targets=aims)
    taken, inside, worst = [], 0, 0.0
    for k in range(STEPS):
        if k % EACH == 0:
            aims = [chest + random.uniform((0.1, -0.35, -0.2), (0.45, 0.35, 0.4)) for _ in at]
        began = time.process_time()
        q = supple.step(problem, q, 0.005, targets=aims)
        taken.append(1e6 * (time.process_time() - began))
        if k % 10 == 0:
            count = len(problem.clear)
            worst = max(worst, *(miss.metres for miss in problem.misses(q)[-count:]))
            X = figure.placements(q)
            inside += any(links.distance(p, X, hulls=True) < 0.0 and links.distance(p, X) < 0.0 for p in pairs)
    return [
        {
            "who": "supple", "start is clear": found.ok, "pairs": sum(len(task.goal.pairs) for task in problem.clear),
            "steps": STEPS, "median µs": float(np.median(taken)), "99 % µs": float(np.quantile(taken, 0.99)),
            "inside": inside, "lacking at worst [m]": worst,
        }
    ]  # fmt: skip
