"""Looking down a tube with both hands on it: the task of Zhao and Badler (1994), section 12, and where the tube may be.

Six constraints: each palm on the tube, its normal along the tube's (two tasks a hand, a position and one direction; how the
fingers point is free); each elbow on a plane at the side; the point between the eyes on the tube's axis; the line of sight
towards the middle of the bottom.

A placement is made from a posture: trunk, neck and head are drawn at random within their limits, the tube is held before the
eyes along the line of sight, and the arms are solved for; what palms, elbows and eyes then have are the targets. So every
target is met exactly by a legal posture of the figure with the grouped spine, and that posture is also one of the figure
with free vertebrae.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import supple
from supple import AimedAt, At, Direction, Facing, Figure, OnLine, OnPlane, Point, Problem, Task
from supple.geometry.placements import turned

RADIUS, LENGTH, AHEAD = 0.06, 0.55, 0.20  # of the tube, and from the eyes to its mouth [m]
HOLD = (0.30, 0.55)  # how far from the eyes, along the axis, the hands are [m]
ROUND = 0.6  # how far round the tube from its sides they may be [rad]
RANGES = {  # of the postures that are drawn [degrees]
    "spine.flexion": (0, 50), "spine.bending": (-20, 20), "spine.rotation": (-25, 25),
    "neck.flexion": (0, 35), "neck.bending": (-20, 20), "neck.rotation": (-25, 25),
    "head.flexion": (-10, 15), "head.rotation": (-15, 15),
}  # fmt: skip
SIDES = ("l", "r")


@dataclass(frozen=True, eq=False)
class Placement:
    """Where the tube is: one target for each task of `problem`, and a posture of the grouped figure that meets them all."""

    targets: tuple[np.ndarray, ...]
    posture: np.ndarray


def person(spine: str) -> Figure:
    """The figure with its spine "grouped" (22 coordinates) or "free" (70)."""
    return supple.load("jack", spine=spine, shoulders="grouped", root="fixed", legs=False, fingers=False)


def problem(figure: Figure, tolerance: float = 1e-6) -> Problem:
    """The six constraints, each to `tolerance` [m, rad]; the targets are those of the rest posture."""
    exact: dict[str, Any] = {"tolerance": tolerance, "angle_tolerance": tolerance}
    at = dict(zip(NAMES, targets_in(figure, figure.rest), strict=True))
    tasks = [Task(Point(f"hand_{s}.palm"), At(at[f"hand {s}"]), name=f"hand {s}", **exact) for s in SIDES]
    tasks += [
        Task(Direction(f"hand_{s}.palm", (0, 0, 1)), Facing(at[f"palm {s}"]), name=f"palm {s}", **exact) for s in SIDES
    ]
    tasks += [Task(Point(f"forearm_{s}"), OnPlane(*at[f"elbow {s}"]), name=f"elbow {s}", **exact) for s in SIDES]
    tasks += [Task(Point("eyes"), OnLine(*at["eyes"]), name="eyes", **exact)]
    tasks += [Task(Direction("eyes"), AimedAt(at["sight"]), name="sight", **exact)]
    return Problem(figure, tasks)


NAMES = (*(f"{what} {s}" for what in ("hand", "palm", "elbow") for s in SIDES), "eyes", "sight")


def targets_in(figure: Figure, q: np.ndarray) -> tuple[np.ndarray, ...]:
    """The targets that a posture meets: its palms, its elbows' planes, its line of sight and a point down there."""
    frames = figure.placements(q)
    palms = [frames[f"hand_{s}.palm"] for s in SIDES]
    eye, sight, aside = (frames["eyes"][:3, i] for i in (3, 0, 1))
    elbows = [np.array([frames[f"forearm_{s}"][:3, 3], aside]) for s in SIDES]
    bottom = eye + (AHEAD + LENGTH) * sight
    return (*(T[:3, 3] for T in palms), *(T[:3, 2] for T in palms), *elbows, np.array([eye, sight]), bottom)


def drawn(figure: Figure, rng: np.random.Generator) -> Placement | None:
    """A placement from a random posture; None where the arms do not reach."""
    q, index = np.array(figure.rest), figure.coordinates.index
    for name, degrees in RANGES.items():
        q[index(name)] = np.deg2rad(rng.uniform(*degrees))
    eye, sight, aside = (figure.placement(q, "eyes")[:3, i] for i in (3, 0, 1))
    tasks: list[Task] = []
    for s, side in zip(SIDES, (1.0, -1.0), strict=True):
        outwards = turned(tuple(sight.tolist()), rng.uniform(-ROUND, ROUND)) @ (side * aside)
        hold = eye + rng.uniform(*HOLD) * sight + RADIUS * outwards
        tasks.append(Task(Point(f"hand_{s}.palm"), At(hold)))
        tasks.append(Task(Direction(f"hand_{s}.palm", (0, 0, 1)), Facing(-outwards)))
    still: dict[str, Any] = dict.fromkeys(("spine", "neck", "head"), 1.0)
    held = supple.solve(Problem(figure, tasks, rigidity=still), q)
    return Placement(targets_in(figure, held.q), held.q) if held.ok else None


def placements(count: int, seed: int = 0) -> list[Placement]:
    """As many placements as are asked for, always the same for the same seed."""
    figure, rng, out = person("grouped"), np.random.default_rng(seed), []
    while len(out) < count:
        found = drawn(figure, rng)
        out += [] if found is None else [found]
    return out
