"""Six-hinge arms by Denavit and Hartenberg's numbers (twist, length, offset), and postures found by brute force."""

from __future__ import annotations

from math import pi

import numpy as np

import supple
from supple.solvers.closed_forms.axes import Axes

ARMS = {
    "ur5-like": [(pi / 2, 0, 0.089), (0, -0.425, 0), (0, -0.392, 0), (pi / 2, 0, 0.109), (-pi / 2, 0, 0.095), (0, 0, 0.08)],
    "skew planar": [(1.1, 0.1, 0.2), (pi, 0.4, 0.1), (0, 0.3, 0), (1.2, 0.1, 0.1), (-0.9, 0, 0.1), (0, 0.05, 0.08)],
    "puma-like": [(pi / 2, 0, 0.1), (0, 0.43, 0), (-pi / 2, 0.02, 0.15), (pi / 2, 0, 0.43), (-pi / 2, 0, 0), (0, 0, 0.05)],
    "kuka-like": [(pi / 2, 0.35, 0.675), (0, 1.15, 0), (pi / 2, 0.041, 0), (-pi / 2, 0, 1.2), (pi / 2, 0, 0), (0, 0, 0.2)],
    "skew wrist": [(1.1, 0.2, 0.1), (-0.7, 0.3, 0.2), (1.9, 0.1, -0.2), (0.9, 0, 0.4), (-1.3, 0, 0), (0.8, 0.1, 0.1)],
    "skew shoulder": [(1.1, 0, 0.1), (-0.7, 0.3, 0.2), (1.9, 0.1, -0.2), (0.9, 0, 0.4), (-1.3, 0, 0), (0.8, 0.1, 0.1)],
    "parallel shoulder": [(0, 0.4, 0.1), (1.2, 0.3, 0.2), (1.9, 0.1, -0.2), (0.9, 0, 0.4), (-1.3, 0, 0), (0.8, 0.1, 0.1)],
    "elbow": [(1.1, 0.2, 0.1), (-0.7, 0, 0.2), (1.9, 0.2, 0), (0.9, 0, 0.4), (-1.3, 0, 0), (0.8, 0.1, 0.1)],
}  # fmt: skip
OFFSET = [(1.1, 0.2, 0.1), (-0.7, 0.3, 0.2), (1.9, 0.1, -0.2), (0.4, -0.3, 0.1), (-1.3, 0.2, 0.3), (0.8, 0.1, 0.1)]


def steps_of(rows: list[tuple[float, float, float]]) -> list[np.ndarray]:
    """What lies behind each hinge."""
    out = []
    for twist, length, offset in rows:
        c, s = np.cos(twist), np.sin(twist)
        out.append(np.array([[1, 0, 0, length], [0, c, -s, 0], [0, s, c, offset], [0, 0, 0, 1.0]]))
    return out


def axes_of(rows: list[tuple[float, float, float]], backwards: bool = False, wide: float = pi) -> Axes:
    """The axes of an arm, or of the arm from its hand."""
    T, h, p = np.eye(4), [], []
    for step in steps_of(rows):
        h.append(T[:3, 2])
        p.append(T[:3, 3])
        T = T @ step
    along, through = (-np.array(h)[::-1], np.array(p)[::-1]) if backwards else (np.array(h), np.array(p))
    return Axes(along, through, T, np.full(6, -wide), np.full(6, wide))


def figure_of(rows: list[tuple[float, float, float]], wide: float = pi) -> supple.Figure:
    """The arm as a figure with the segments ``1`` … ``6`` and ``hand``."""
    joints, at = [], np.eye(4)
    for j, step in enumerate(steps_of(rows)):
        joints += supple.hinge(f"{j + 1}", f"{j}" if j else None, (0, 0, 1), at=at, limits=(-wide, wide))
        at = step
    return supple.Figure("arm", [*joints, *supple.fixed("hand", "6", at=at)])


def turns(difference: np.ndarray) -> np.ndarray:
    """Differences of angles without whole turns."""
    return difference - 2.0 * pi * np.round(difference / (2.0 * pi))


def brute_force(axes: Axes, target: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Postures that Newton's steps from random starts end at: plain NumPy, all starts at once."""
    q = np.random.default_rng(seed).uniform(-pi, pi, (count, 6))
    for _ in range(40):
        R, t = np.tile(np.eye(3), (count, 1, 1)), np.zeros((count, 3))
        a, b = np.empty((6, count, 3)), np.empty((6, count, 3))
        for j in range(6):
            h, p = axes.along[j], axes.through[j]
            a[j], b[j] = R @ h, R @ p + t
            K = np.array([[0, -h[2], h[1]], [h[2], 0, -h[0]], [-h[1], h[0], 0]])
            s, c = np.sin(q[:, j])[:, None, None], np.cos(q[:, j])[:, None, None]
            turn = np.eye(3) + s * K + (1 - c) * (K @ K)
            t = t + (R @ (p - turn @ p)[:, :, None])[:, :, 0]
            R = R @ turn
        x, D = R @ axes.home[:3, 3] + t, target[:3, :3] @ (R @ axes.home[:3, :3]).transpose(0, 2, 1)
        vee = 0.5 * np.stack([D[:, 2, 1] - D[:, 1, 2], D[:, 0, 2] - D[:, 2, 0], D[:, 1, 0] - D[:, 0, 1]], 1)
        off = np.concatenate([vee, target[:3, 3] - x], 1)
        miss = np.abs(off).max(1) + np.abs(D.trace(axis1=1, axis2=2) - 3.0)
        J = np.concatenate([a, np.cross(a, x - b)], 2).transpose(1, 2, 0)
        step = np.linalg.solve(J.transpose(0, 2, 1) @ J + 1e-13 * np.eye(6), (J.transpose(0, 2, 1) @ off[:, :, None]))
        length = np.abs(step[:, :, 0]).max(1)
        q = q + step[:, :, 0] * np.minimum(1.0, 0.5 / np.maximum(length, 1e-12))[:, None]
    found: list[np.ndarray] = []
    for row in q[miss < 1e-10]:
        if all(np.abs(turns(row - other)).max() > 1e-5 for other in found):
            found.append(row)
    return np.array(found).reshape(-1, 6)
