"""A run beside another one: where their segments are, frame by frame, at the times that both have."""

from __future__ import annotations

import numpy as np

from supple.errors import BadValue
from supple.geometry.placements import Floats
from supple.motion.motion import Motion
from supple.view.report_parts import table

NEAR = 0.51  # of the time between two frames: what still is the same time
MANY = 25  # segments that are listed


def together(a: Motion, b: Motion) -> tuple[np.ndarray, np.ndarray]:
    """The frames of a and b at times that both have, counted from where each begins."""
    if not (len(a) and len(b)):
        raise BadValue("a run without frames is compared with nothing")
    ours, theirs = a.times - a.times[0], b.times - b.times[0]
    step = min((float(np.diff(t).min()) for t in (ours, theirs) if len(t) > 1), default=1.0)
    right = np.clip(np.searchsorted(theirs, ours), 0, len(theirs) - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(np.abs(theirs[left] - ours) <= np.abs(theirs[right] - ours), left, right)
    at = np.flatnonzero(np.abs(theirs[nearest] - ours) <= NEAR * step)
    return at, nearest[at]


def apart(a: Motion, b: Motion) -> list[tuple[str, Floats, Floats]]:
    """Of each segment that both figures have: how far it is turned [rad] and moved [m] from a to b, at common times."""
    frames = together(a, b)
    shared = [s for s in a.figure.segments if s in set(b.figure.segments)]
    if not shared:
        raise BadValue(f"{a.figure.name!r} and {b.figure.name!r} share no segment: compare runs of one figure")
    S, T = (m.figure.placements(m.q[k], shared) for m, k in zip((a, b), frames, strict=True))
    out = []
    for name in shared:
        R = np.swapaxes(S[name][:, :3, :3], 1, 2) @ T[name][:, :3, :3]
        away = np.linalg.norm(S[name][:, :3, 3] - T[name][:, :3, 3], axis=1)
        turned = np.arctan2(0.5 * np.linalg.norm(_axial(R), axis=1), 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0))
        out.append((name, turned, away))
    return out


def _axial(R: Floats) -> Floats:
    return np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)


def differences(a: Motion, b: Motion) -> str:
    """A table of segments, those that are farthest apart first."""
    rows = sorted(apart(a, b), key=lambda row: -float(row[1].mean()))[:MANY]
    cells = [
        [
            name,
            *(f"{np.rad2deg(f(turned)):.2f}" for f in (np.mean, np.max)),
            *(f"{1e3 * f(away):.1f}" for f in (np.mean, np.max)),
        ]
        for name, turned, away in rows
    ]
    return table(["segment", "turned, mean [°]", "largest [°]", "moved, mean [mm]", "largest [mm]"], cells)
