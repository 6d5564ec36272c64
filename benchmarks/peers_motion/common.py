"""What the runners share: the job from a file, the loop over runs and frames, the clock, and the answer file.

A runner is called as ``python run_peer.py job.npz answer.npz`` in the peer's own environment and needs NumPy alone besides.
Only `solve` is timed: setting the goals of a frame and searching from the answer to the frame before.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

NEAR = 1e-3  # metres within which every goal must be


class Job:
    """A skeleton, limits, captured postures and goals, and runs of frames."""

    def __init__(self, path: str) -> None:
        with np.load(path) as file:
            self.fields = {key: file[key] for key in file.files}
        self.segments = [str(s) for s in self.fields["segments"]]
        self.runs = [run[run >= 0] for run in self.fields["runs"]]  # padded with −1

    def __getattr__(self, name: str) -> Any:
        return self.fields[name]


def turn(axis: int, angle: float) -> np.ndarray:
    """The rotation about a coordinate axis."""
    c, s, (i, j) = np.cos(angle), np.sin(angle), ((axis + 1) % 3, (axis + 2) % 3)
    R = np.eye(3)
    R[i, i], R[j, j], R[i, j], R[j, i] = c, c, -s, s
    return R


def angles(R: np.ndarray, near: np.ndarray) -> np.ndarray:
    """The angles z, y, x with ``Rz Ry Rx = R``, of all such the nearest to `near`."""
    z, y, x = np.arctan2(R[1, 0], R[0, 0]), np.arcsin(np.clip(-R[2, 0], -1.0, 1.0)), np.arctan2(R[2, 1], R[2, 2])
    both = np.array([[z, y, x], [z + np.pi, np.pi - y, x + np.pi]])
    both += 2 * np.pi * np.round((near - both) / (2 * np.pi))
    return both[np.abs(both - near).sum(axis=1).argmin()]


def follow(peer: Any, job: Job, passes: int) -> tuple[np.ndarray, np.ndarray]:
    """Postures (n, 72) and seconds (n) of all frames of the runs but each one's first, which is the start.

    The runs are made several times, and the least time of a frame counts, so that a busy machine does not.
    """
    Q, seconds = [], []
    for _ in range(passes):
        Q = []
        for run in job.runs:
            before = job.q[run[0]]
            state = peer.state(before)
            for frame in run[1:]:
                goals = job.goals[frame]
                start = time.perf_counter()
                state = peer.solve(goals, state)
                seconds.append(time.perf_counter() - start)
                before = peer.posture(state, before)
                Q.append(before)
    return np.array(Q), np.array(seconds).reshape(passes, -1).min(axis=0)


def checked(job: Job, peer: Any, places: np.ndarray) -> None:
    """Whether the peer's model puts the effectors where the capture has them."""
    off = np.abs(places - job.goals[0]).max()
    if not off < 1e-4:
        raise SystemExit(f"the model of {type(peer).__name__} is off by {off} m")


def main(kind: Any, settings: dict[str, dict[str, Any]]) -> None:
    """Do the job with the setting it names, and write the answer."""
    job = Job(sys.argv[1])
    peer = kind(job, **settings[str(job.setting)])
    Q, seconds = follow(peer, job, int(job.passes))
    np.savez(sys.argv[2], q=Q, seconds=seconds, note=f"{kind.note}; {settings[str(job.setting)]}")
