"""Markers to look at: which are missed by more than the others, in what manner, and what to do about it.

A marker is suspicious whose error (root mean square) is over `FAR` times the median of all and more than `LEAST`. Where the
same vector in its segment's axes makes up most of the error, the marker sits elsewhere on the subject than on the
figure. Where a few frames make it up, they are spikes or another marker. Otherwise it moves on its segment.
"""

from __future__ import annotations

import numpy as np

from supple.motion.markers import Markers
from supple.motion.tracking.tracked import Tracked

FAR, LEAST = 2.0, 0.01  # times the median; [m]
CONSTANT = 0.7  # of the mean square: what one constant vector makes up
FEW, SPIKE = 0.1, 3.0  # share of frames; times the marker's median error
SELDOM = 0.5  # of the frames: what is seen less than that


def suspects(motion: Tracked, markers: Markers) -> list[tuple[str, str]]:
    """Suspicious markers, worst first: name, and what to do."""
    rms = {name: value for name, value in motion.rms_by_marker.items() if np.isfinite(value)}
    if not rms:
        return []
    most = max(FAR * float(np.median(list(rms.values()))), LEAST)
    found = [(name, _advice(motion, markers, name)) for name in sorted(rms, key=lambda n: -rms[n]) if rms[name] > most]
    errors = dict(zip(motion.markers, np.asarray(motion.errors).T, strict=True))
    for name, column in errors.items():
        share = float(np.isfinite(column).mean())
        if share < SELDOM and name not in dict(found):
            found.append((name, f"Seen in {100.0 * share:.0f} % of the frames only: see whether its label changes."))
    return found


def _advice(motion: Tracked, markers: Markers, name: str) -> str:
    """What is the matter with one marker."""
    point = motion.figure.markers[name]
    T = motion.figure.placement(motion.q, point.segment)
    there = T[:, :3, :3] @ np.array(point.offset) + T[:, :3, 3]
    off = np.einsum("kji,kj->ki", T[:, :3, :3], markers[name] - there)
    off = off[np.isfinite(off).all(axis=1)]
    size = np.linalg.norm(off, axis=1)
    mean = off.mean(axis=0)
    far = float(np.linalg.norm(mean))
    if far**2 > CONSTANT * float((size**2).mean()):
        x, y, z = (1e3 * mean).round().astype(int).tolist()
        return (
            f"Sits {1e3 * far:.0f} mm, ({x}, {y}, {z}) mm in the axes of {point.segment!r}, from where the figure has "
            "it: fit a subject to it, or move it on the figure."
        )
    spikes = size > max(SPIKE * float(np.median(size)), LEAST)
    if 0 < spikes.sum() <= FEW * len(size):
        seen = np.flatnonzero(np.isfinite(markers[name]).all(axis=1))
        return (
            f"Far off in {int(spikes.sum())} frames, by {1e3 * size.max():.0f} mm in frame {int(seen[int(size.argmax())])}: "
            "look at its trajectory there, or let outliers count less (--huber)."
        )
    how = f"Moves by {1e3 * float(size.std()):.0f} mm on {point.segment!r}"
    return f"{how}: give it a smaller weight, or see what the figure lacks."
