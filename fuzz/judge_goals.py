"""What the judge knows of curves, angles, goals and solids, in plain NumPy and for many postures at once. See `judge`."""

from __future__ import annotations

from typing import Any

import numpy as np


def kind(thing: Any) -> str:
    """The name of a thing's class."""
    return type(thing).__name__


# ── curves of driven joints ──────────────────────────────────────────────────────────────────────────────────────────
def curve(f: Any, x: np.ndarray) -> np.ndarray:
    """A line, a natural spline or polynomials end to end, at every x."""
    if kind(f) == "Linear":
        return f.slope * x
    if kind(f) == "PiecewisePolynomial":
        rows = np.array(f.rows)
        begun = np.clip((x[:, None] >= rows[None, :, 0]).sum(axis=1) - 1, 0, len(rows) - 1)
        t, out = x - rows[begun, 0], np.zeros_like(x)
        for k in range(rows.shape[1] - 1, 0, -1):
            out = out * t + rows[begun, k]
        return out
    if kind(f) != "Spline" or f.ends != "natural":
        raise NotImplementedError(f"the judge does not know the curve {f!r}")
    return _natural(np.array(f.x), np.array(f.y), x)


def _natural(X: np.ndarray, Y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A natural cubic spline by the slopes at its knots (Hermite's form), straight beyond its ends."""
    h = np.diff(X)
    s, n = np.diff(Y) / h, len(X)
    M, right = np.zeros((n, n)), np.zeros(n)
    M[0, :2], right[0] = (2.0, 1.0), 3.0 * s[0]
    M[-1, -2:], right[-1] = (1.0, 2.0), 3.0 * s[-1]
    for i in range(1, n - 1):
        M[i, i - 1 : i + 2] = 1.0 / h[i - 1], 2.0 / h[i - 1] + 2.0 / h[i], 1.0 / h[i]
        right[i] = 3.0 * (s[i - 1] / h[i - 1] + s[i] / h[i])
    slope = np.linalg.solve(M, right)
    i = np.clip(np.searchsorted(X, x, side="right") - 1, 0, n - 2)
    u = (x - X[i]) / h[i]
    inside = (
        Y[i] * (1 + 2 * u) * (1 - u) ** 2
        + Y[i + 1] * u**2 * (3 - 2 * u)
        + h[i] * (slope[i] * u * (1 - u) ** 2 - slope[i + 1] * u**2 * (1 - u))
    )
    below, above = Y[0] + slope[0] * (x - X[0]), Y[-1] + slope[-1] * (x - X[-1])
    return np.where(x < X[0], below, np.where(x > X[-1], above, inside))


# ── angles ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def between(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Angles between unit vectors."""
    return 2.0 * np.arctan2(np.linalg.norm(u - v, axis=-1), np.linalg.norm(u + v, axis=-1))


def turned(R: np.ndarray) -> np.ndarray:
    """Angles of rotation matrices."""
    sine = np.linalg.norm(R - np.eye(3), axis=(-2, -1)) / np.sqrt(8.0)
    return 2.0 * np.arctan2(sine, 0.5 * np.sqrt(np.maximum(0.0, 1.0 + np.trace(R, axis1=-2, axis2=-1))))


def logarithm(R: np.ndarray) -> np.ndarray:
    """Rotation vectors (n, 3), by the quaternion with the largest of its four numbers first (Shepperd)."""
    d = np.stack([np.trace(R, axis1=1, axis2=2), R[:, 0, 0], R[:, 1, 1], R[:, 2, 2]], axis=1)
    q = np.empty((len(R), 4))
    for n, first in enumerate(np.argmax(d, axis=1)):
        q[n] = _quaternion(R[n], int(first))
    q *= np.where(q[:, :1] < 0.0, -1.0, 1.0)
    sine = np.linalg.norm(q[:, 1:], axis=1)
    angle = 2.0 * np.arctan2(sine, q[:, 0])
    return q[:, 1:] * np.where(sine > 0.0, angle / np.where(sine > 0.0, sine, 1.0), 2.0)[:, None]


def _quaternion(R: np.ndarray, first: int) -> np.ndarray:
    """(w, x, y, z) of one matrix, from the number that is largest."""
    q = np.empty(4)
    if first == 0:
        q[0] = 1.0 + R[0, 0] + R[1, 1] + R[2, 2]
        q[1:] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    else:
        i = first - 1
        j, k = (i + 1) % 3, (i + 2) % 3
        q[0], q[1 + i] = R[k, j] - R[j, k], 1.0 + R[i, i] - R[j, j] - R[k, k]
        q[1 + j], q[1 + k] = R[j, i] + R[i, j], R[k, i] + R[i, k]
    return q / np.linalg.norm(q)


def seen_from(A: np.ndarray, X: np.ndarray) -> np.ndarray:
    """The frames X in the axes of the frames A."""
    out = np.zeros(np.broadcast_shapes(A.shape, X.shape))
    Rt = np.swapaxes(A[..., :3, :3], -1, -2)
    out[..., :3, :3], out[..., 3, 3] = Rt @ X[..., :3, :3], 1.0
    out[..., :3, 3] = (Rt @ (X[..., :3, 3] - A[..., :3, 3])[..., None])[..., 0]
    return out


# ── goals: metres, radians, and how far away what is looked at is ────────────────────────────────────────────────────
def alternatives(goal: Any, target: Any) -> list[tuple[Any, Any]]:
    """The simple goals of which one must be met, each with its own targets (n, …) or None."""
    if kind(goal) != "AnyOf":
        return [(goal, target)]
    each = [None] * len(goal.goals) if target is None else [target[:, k] for k in range(len(goal.goals))]
    return [pair for g, t in zip(goal.goals, each, strict=True) for pair in alternatives(g, t)]


def _at(goal: Any, X: np.ndarray, target: Any) -> tuple[Any, Any, Any]:
    return np.linalg.norm(X[:, :3, 3] - (goal.position if target is None else target), axis=1), 0.0, 0.0


def _placed(goal: Any, X: np.ndarray, target: Any) -> tuple[Any, Any, Any]:
    E = seen_from(np.array(goal.at) if target is None else target, X)
    return np.linalg.norm(E[:, :3, 3], axis=1), turned(E[:, :3, :3]), 0.0


def _facing(goal: Any, X: np.ndarray, target: Any) -> tuple[Any, Any, Any]:
    if goal.matrix is not None:
        R = np.array(goal.matrix) if target is None else target
        return 0.0, turned(np.swapaxes(np.broadcast_to(R, (len(X), 3, 3)), 1, 2) @ X[:, :3, :3]), 0.0
    if goal.y is not None:
        raise NotImplementedError("the judge is not asked for two directions at once")
    x = np.broadcast_to(goal.x if target is None else target, (len(X), 3))
    return 0.0, between(X[:, :3, 0], x / np.linalg.norm(x, axis=1)[:, None]), 0.0


def _aimed_at(goal: Any, X: np.ndarray, target: Any) -> tuple[Any, Any, Any]:
    d = (goal.point if target is None else target) - X[:, :3, 3]
    far = np.linalg.norm(d, axis=1)
    near = far <= 1e-9  # nothing to look at
    return 0.0, np.where(near, np.pi, between(d / np.where(near, 1.0, far)[:, None], X[:, :3, 0])), far


def _flat(goal: Any, X: np.ndarray, target: Any) -> tuple[np.ndarray, np.ndarray]:
    """Heights above the plane through the goal's point, and the rest of the way to it."""
    p, n = (goal.point, goal.normal) if target is None else (target[:, 0], target[:, 1])
    n = np.broadcast_to(n, (len(X), 3))
    n = n / np.linalg.norm(n, axis=1)[:, None]
    d = X[:, :3, 3] - p
    return (d * n).sum(axis=1), np.linalg.norm(np.cross(d, n), axis=1)


def _within(goal: Any, X: np.ndarray, target: Any) -> tuple[Any, Any, Any]:
    E = seen_from(np.broadcast_to(np.array(goal.at) if target is None else target, (len(X), 4, 4)), X)
    metres, radians = 0.0, 0.0
    if goal.box is not None:
        low, high = np.array(goal.box)
        metres = np.linalg.norm(np.maximum(0.0, np.maximum(low - E[:, :3, 3], E[:, :3, 3] - high)), axis=1)
    if goal.tilt is not None:
        low, high = np.array(goal.tilt)
        v = logarithm(E[:, :3, :3])
        radians = np.linalg.norm(np.maximum(0.0, np.maximum(low - v, v - high)), axis=1)
    return metres, radians, 0.0


TOLD = {
    "At": _at,
    "Placed": _placed,
    "Facing": _facing,
    "AimedAt": _aimed_at,
    "OnLine": lambda goal, X, target: (_flat(goal, X, target)[1], 0.0, 0.0),
    "OnPlane": lambda goal, X, target: (np.abs(_flat(goal, X, target)[0]), 0.0, 0.0),
    "Beyond": lambda goal, X, target: (np.maximum(0.0, -_flat(goal, X, target)[0]), 0.0, 0.0),
    "Within": _within,
}


def outside(shape: Any, p: np.ndarray) -> np.ndarray:
    """Distances of points (n, 3) from a solid, negative inside."""
    if kind(shape) == "Ball":
        return np.linalg.norm(p - shape.centre, axis=1) - shape.radius
    if kind(shape) == "Polytope" and len(shape.A) == 1:
        return (p @ np.array(shape.A[0]) - shape.b[0]) / np.linalg.norm(shape.A[0])
    R, o = np.array(shape.at)[:3, :3], np.array(shape.at)[:3, 3]
    x = (p - o) @ R
    if kind(shape) == "Capsule":
        along = np.clip(x[:, 2], -0.5 * shape.length, 0.5 * shape.length)
        return np.linalg.norm(x - along[:, None] * np.array([0.0, 0.0, 1.0]), axis=1) - shape.radius
    if kind(shape) != "Box":
        raise NotImplementedError(f"the judge does not know the solid {shape!r}")
    over = np.maximum(np.array(shape.lower) - x, x - np.array(shape.upper))
    return np.linalg.norm(np.maximum(over, 0.0), axis=1) + np.minimum(over.max(axis=1), 0.0)
