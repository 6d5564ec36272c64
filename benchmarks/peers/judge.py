"""Who is right: forward kinematics read straight from a URDF, in plain NumPy, independent of every solver.

    T_child = T_parent · origin · motion(axis, q),    turns by Rodrigues: R = 1 + sin q [a] + (1 − cos q) [a]²

A posture is the values of named joints and, for a floating robot, the placement of its root link. Joints that are not named
stay at zero. Everything takes n postures at once.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np

METRES, RADIANS, LIMITS = 1e-5, 1e-4, 1e-9


class Judge:
    """The chains of a URDF from its root to some of its links."""

    def __init__(self, urdf: str, frames: list[str]) -> None:
        robot = ElementTree.parse(urdf).getroot()
        self.all_joints: list[Any] = robot.findall("joint")
        above = {joint.find("child").get("link"): joint for joint in self.all_joints}
        self.chains: dict[str, list[Any]] = {}
        for frame in frames:
            chain, link = [], frame
            while link in above:
                chain.append(above[link])
                link = above[link].find("parent").get("link")
            self.chains[frame] = chain[::-1]
        moving = [j for j in self.all_joints if j.get("type") != "fixed"]
        used = {joint.get("name") for chain in self.chains.values() for joint in chain}
        self.joints = [str(j.get("name")) for j in moving if j.get("name") in used]
        ranges = {j.get("name"): _range(j) for j in moving}
        self.lower = np.array([ranges[name][0] for name in self.joints])
        self.upper = np.array([ranges[name][1] for name in self.joints])

    def placements(self, q: np.ndarray, base: np.ndarray) -> np.ndarray:
        """Placements (n, frames, 4, 4) in the postures q (n, joints), with the root link at base (n, 4, 4)."""
        out = []
        for chain in self.chains.values():
            T = np.broadcast_to(base, (len(q), 4, 4))
            for joint in chain:
                T = T @ _origin(joint)
                if joint.get("name") in self.joints:
                    T = T @ _motion(joint, q[:, self.joints.index(joint.get("name"))])
            out.append(T)
        return np.stack(out, axis=1)

    def errors(self, q: np.ndarray, base: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Worst metres and radians over the frames, and by how much a limit is overrun, each (n)."""
        T = self.placements(q, base)
        metres = np.linalg.norm(T[..., :3, 3] - targets[..., :3, 3], axis=-1).max(axis=1)
        E = np.swapaxes(T[..., :3, :3], -1, -2) @ targets[..., :3, :3]
        axis = np.stack(
            [E[..., 2, 1] - E[..., 1, 2], E[..., 0, 2] - E[..., 2, 0], E[..., 1, 0] - E[..., 0, 1]], axis=-1
        )
        trace = np.trace(E, axis1=-2, axis2=-1)
        radians = np.arctan2(np.linalg.norm(axis, axis=-1), trace - 1.0).max(axis=1)
        over = np.maximum(self.lower - q, q - self.upper).max(axis=1)
        return metres, radians, over

    def solved(self, q: np.ndarray, base: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Which postures meet every target and every limit; a NaN never does."""
        metres, radians, over = self.errors(q, base, targets)
        return (metres <= METRES) & (radians <= RADIANS) & (over <= LIMITS)


def _numbers(element: Any, key: str, default: str) -> np.ndarray:
    return np.array([float(word) for word in (default if element is None else element.get(key, default)).split()])


def _range(joint: Any) -> tuple[float, float]:
    limit = joint.find("limit")
    if joint.get("type") == "continuous" or limit is None:
        return -np.inf, np.inf
    return float(limit.get("lower", "0")), float(limit.get("upper", "0"))


def _turn(axis: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Rotations (n, 3, 3) about a unit axis."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = np.asarray(angle)[..., None, None]
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def _origin(joint: Any) -> np.ndarray:
    origin = joint.find("origin")
    roll, pitch, yaw = _numbers(origin, "rpy", "0 0 0")
    x, y, z = np.eye(3)
    T = np.eye(4)
    T[:3, :3] = _turn(z, yaw) @ _turn(y, pitch) @ _turn(x, roll)
    T[:3, 3] = _numbers(origin, "xyz", "0 0 0")
    return T


def _motion(joint: Any, value: np.ndarray) -> np.ndarray:
    axis = _numbers(joint.find("axis"), "xyz", "1 0 0")
    axis = axis / np.linalg.norm(axis)
    T = np.tile(np.eye(4), (len(value), 1, 1))
    if joint.get("type") == "prismatic":
        T[:, :3, 3] = value[:, None] * axis
    else:
        T[:, :3, :3] = _turn(axis, value)
    return T


def turn_by(vector: np.ndarray) -> np.ndarray:
    """The rotation by a rotation vector."""
    angle = float(np.linalg.norm(vector))
    return np.eye(3) if angle == 0.0 else _turn(vector / angle, np.array(angle))
