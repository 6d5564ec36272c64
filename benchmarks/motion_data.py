"""Captured motion as a problem: the skeleton of a BVH file, its limits, and where hands, feet, pelvis and head were.

The CMU skeleton has 96 channels. The hip joints never move, and fingers and thumbs carry no captured motion; without these
24 it has 72 coordinates, six of them the free root. Angles are unwrapped along the motion, and each joint may move over its
captured range widened by 10° at either end, so every frame is reachable; the root has no limits. A motion is sampled at a
spacing, once from each of its first frames 0.05 s apart: with 1.0 s that makes twenty runs, which see as many frames as one
run at 0.05 s. A run begins at the captured posture of its first frame, with the goals of its second.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import supple

SHARED = Path(os.environ.get("SUPPLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
UNIT, RATE = 0.0254 / 0.45, 120  # metres in a unit of the files; frames in a second
MOTIONS = {"02_01": "walk", "09_01": "run", "49_06": "cartwheel", "02_05": "punch", "05_06": "dance"}
SPACINGS = (0.05, 0.7, 1.0)  # seconds
STILL = ("LHipJoint", "RHipJoint", "LThumb", "RThumb")
FINGERS = ("LeftFingerBase", "LeftHandIndex1", "RightFingerBase", "RightHandIndex1")
GOALS = ("LeftHand", "RightHand", "LeftFoot", "RightFoot", "Hips", "Head")
BETWEEN = ("LeftForeArm", "RightForeArm", "LeftLeg", "RightLeg")  # elbows and knees, which no goal sees
MARGIN = np.radians(10.0)
ROOT = 6  # coordinates of the root, which come first


@dataclass(frozen=True)
class Run:
    """A sequence of captured frames: the first gives the start, the others the goals."""

    frames: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Capture:
    """One motion: its figure, the captured postures (frames, 72), and the problem whose goals are those of any frame."""

    name: str
    figure: supple.Figure
    q: np.ndarray
    problem: supple.Problem

    @property
    def lower(self) -> np.ndarray:
        assert self.problem.limits is not None
        return self.problem.limits.lower

    @property
    def upper(self) -> np.ndarray:
        assert self.problem.limits is not None
        return self.problem.limits.upper

    @cached_property
    def goals(self) -> np.ndarray:
        """Where the effectors were: (frames, 6, 3) [m]."""
        return self.seen(self.q)

    def seen(self, q: np.ndarray, segments: tuple[str, ...] = GOALS) -> np.ndarray:
        """Where segments are in postures (n, 72): (n, segments, 3) [m]."""
        return np.stack([self.figure.placement(q, segment)[:, :3, 3] for segment in segments], axis=1)

    def runs(self, spacing: float) -> list[Run]:
        """Every run at a spacing [s] that has at least one goal."""
        step, shift = round(spacing * RATE), round(SPACINGS[0] * RATE)
        frames = [tuple(range(first, len(self.q), step)) for first in range(0, step, shift)]
        return [Run(f) for f in frames if len(f) > 1]

    def overrun(self, q: np.ndarray) -> float:
        """How far postures (n, 72) are outside the limits at worst [rad]; 0 if none is."""
        return float(np.maximum(np.maximum(self.lower - q, q - self.upper).max(), 0.0))

    def described(self) -> dict[str, Any]:
        """The skeleton, limits, postures and goals in plain arrays, for programs that know nothing of supple.

        All frames are parallel to `base` when every coordinate is zero; segment s is `offset[s]` from its parent in these
        axes and turns by ``Rz Ry Rx`` of the coordinates ``turns[s]`` (−1: none). The root slides by the first three.
        """
        figure = self.figure
        zero = figure.placements(np.zeros(figure.size))
        base, index = zero["Hips"][:3, :3], {s: i for i, s in enumerate(figure.segments)}
        parents = [figure.parent_of(s) for s in figure.segments]
        places = np.array([zero[s][:3, 3] for s in figure.segments])
        parent = np.array([-1 if p is None else index[p] for p in parents])
        offset = (places - np.where(parent[:, None] >= 0, places[parent], 0.0)) @ base
        joints = list(figure.coordinates)
        names = [[f"{s}.{axis}" for axis in "zyx"] for s in figure.segments]
        turns = np.array([[joints.index(n) if n in joints else -1 for n in row] for row in names])
        return {
            "segments": np.array(figure.segments),
            "parent": parent,
            "offset": offset,
            "turns": turns,
            "base": base,
            "lower": self.lower,
            "upper": self.upper,
            "q": self.q,
            "effectors": np.array([index[s] for s in GOALS]),
            "goals": self.goals,
        }


def capture(name: str) -> Capture:
    """A motion of the CMU database by its number, such as "02_01"."""
    path = SHARED / "data" / "mocap" / "bvh" / f"{name}.bvh"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: set SUPPLE_SHARED to the folder that holds data/mocap")
    motion = supple.read_motion(path, unit=UNIT, up="y")
    whole = motion.figure
    idle = [c for segment in (*STILL, *FINGERS) for c in whole.joints_of(segment)]
    kept = [i for i, c in enumerate(whole.coordinates) if c not in idle]
    q = motion.q[1:, kept].copy()  # the first frame of these files is an invented posture
    q[:, 3:] = np.unwrap(q[:, 3:], axis=0)
    lower, upper = q.min(axis=0) - MARGIN, q.max(axis=0) + MARGIN
    lower[:ROOT], upper[:ROOT] = -np.inf, np.inf
    figure = whole.locked(*idle)
    places = [figure.placement(q[0], segment)[:3, 3] for segment in GOALS]
    tasks = [supple.Task(supple.Point(s), supple.At(p)) for s, p in zip(GOALS, places, strict=True)]
    return Capture(name, figure, q, supple.Problem(figure, tasks, supple.Limits(lower, upper)))
