"""Sawyer among boxes: the two problem sets, the three models of balls, and the judge.

The sets, ``problems/sawyer_random.npz`` and ``problems/sawyer_workcell.npz``, are in the folder ``shared`` beside the checkout,
or in the one that the environment variable ``SUPPLE_SHARED`` names. Every target was made by a posture that keeps the dense
``eval`` balls 10 mm clear, so every problem has an answer.

**The judge** reads the robot's URDF in plain NumPy (`peers.judge`) and knows nothing of any solver. A ball (c, ρ) is clear of
an axis-parallel box if ``|c − clip(c)| ≥ ρ``.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from peers.judge import LIMITS, METRES, RADIANS, Judge

SHARED = Path(os.environ.get("SUPPLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
ROBOT = SHARED / "data" / "robots" / "sawyer"
HAND, JOINTS = "right_hand", tuple(f"right_j{i}" for i in range(7))
LOOSE_METRES, LOOSE_RADIANS = 1e-3, 1e-3  # what the problem sets call reached
TOUCH = 1e-6  # overlap [m] that is forgiven


def balls(model: str) -> dict[str, list[tuple[float, float, float, float]]]:
    """The balls (x, y, z, radius) of a model by link: low, mid, high or eval."""
    out: dict[str, list[tuple[float, float, float, float]]] = {}
    for ball in json.loads((ROBOT / "collision_spheres.json").read_text())["models"][model]:
        out.setdefault(ball["link"], []).append((*ball["center"], ball["radius"]))
    return out


@dataclass(frozen=True)
class Scenes:
    """One of the two sets."""

    name: str
    places: np.ndarray  # (n, 4, 4) targets of the hand
    boxes: tuple[np.ndarray, ...]  # (k, 6) for each problem: lower and upper corner
    cuboids: np.ndarray | None  # (k, 2, 3) that cover the free space, where they are known
    witness: np.ndarray  # (n, 7)

    @classmethod
    def read(cls, name: str, count: int | None = None) -> Scenes:
        """The first problems of a set, "random" or "workcell"."""
        path = SHARED / "data" / "problems" / f"sawyer_{name}.npz"
        if not path.exists():
            raise FileNotFoundError(f"{path} is missing: set SUPPLE_SHARED to the folder that holds data/problems")
        with np.load(path) as file:
            n = min(len(file["position"]), count or len(file["position"]))
            places = np.tile(np.eye(4), (n, 1, 1))
            places[:, :3, 3] = file["position"][:n]
            places[:, :3, :3] = Rotation.from_quat(file["quaternion"][:n], scalar_first=True).as_matrix()
            if "offset" in file.files:
                at = file["offset"]
                boxes = tuple(file["boxes"][at[i] : at[i + 1]] for i in range(n))
            else:
                boxes = (file["boxes"],) * n
            cuboids = file["cuboids"] if "cuboids" in file.files else None
            return cls(name, places, boxes, cuboids, file["witness"][:n])

    def judged(self, q: np.ndarray, model: str = "eval") -> dict[str, np.ndarray]:
        """What is true of postures q (n, 7); clearance is that of a model of balls."""
        return Verdict(self, model).judged(q)


class Verdict:
    """Pose, limits and clearance of answers, from the URDF and a model of balls alone."""

    def __init__(self, scenes: Scenes, model: str) -> None:
        self.scenes, self.balls = scenes, balls(model)
        self.robot = Judge(str(ROBOT / "sawyer.urdf"), [HAND, *(link for link in self.balls if link != HAND)])

    def clearance(self, q: np.ndarray) -> np.ndarray:
        """The least distance (n) of a ball from a box at the postures q (n, 7); below 0 they overlap."""
        T = self.robot.placements(self._ordered(q), np.eye(4))
        links = list(self.robot.chains)
        centres, radii = [], []
        for link, rows in self.balls.items():
            table = np.array(rows)
            at = T[:, links.index(link)]
            centres.append(table[:, :3] @ np.swapaxes(at[:, :3, :3], 1, 2) + at[:, None, :3, 3])
            radii.append(table[:, 3])
        centre, radius = np.concatenate(centres, axis=1), np.concatenate(radii)
        return np.array([_least(c, radius, b) for c, b in zip(centre, self.scenes.boxes, strict=True)])

    def judged(self, q: np.ndarray) -> dict[str, np.ndarray]:
        """What is true of postures q (n, 7), NaN where there is none: errors, overruns, clearance, and who solved it."""
        metres, radians, over = self._errors(q)
        clear = self.clearance(np.nan_to_num(q))
        free = (clear >= -TOUCH) & (over <= LIMITS)
        return {
            "metres": metres,
            "radians": radians,
            "clearance": clear,
            "solved": free & (metres <= LOOSE_METRES) & (radians <= LOOSE_RADIANS),
            "exact": free & (metres <= METRES) & (radians <= RADIANS),
        }

    def _errors(self, q: np.ndarray) -> Any:
        hand = Judge(str(ROBOT / "sawyer.urdf"), [HAND])
        order = [JOINTS.index(name) for name in hand.joints]
        return hand.errors(q[:, order], np.eye(4), self.scenes.places[:, None])

    def _ordered(self, q: np.ndarray) -> np.ndarray:
        return q[:, [JOINTS.index(name) for name in self.robot.joints]]


def _least(centres: np.ndarray, radii: np.ndarray, boxes: np.ndarray) -> float:
    """The least distance of balls from boxes, 0 − radius if a centre is inside."""
    nearest = np.clip(centres[:, None], boxes[:, :3], boxes[:, 3:])
    return float((np.linalg.norm(centres[:, None] - nearest, axis=2) - radii[:, None]).min())
