"""What the runners share: the job from a file, the loop over the frames, the clock, and the answer file.

A runner is called as ``python run_peer.py job.npz answer.npz`` in the peer's own environment and needs NumPy alone besides. It
answers with postures ``q`` in the order of the job's coordinates, or with the ``places`` of the markers by its own model.
Only `solve` is timed, in processor time: handing over the markers of a frame, and searching from the frame before.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np


class Job:
    """A skeleton, limits, markers on it and where they were seen; what there is depends on the kind of model."""

    def __init__(self, path: str) -> None:
        with np.load(path) as file:
            self.fields = {key: file[key] for key in file.files}
        self.setting = str(self.fields["setting"])
        self.passes, self.limits = int(self.fields["passes"]), bool(self.fields["limits"])
        self.names = [str(n) for n in self.fields["names"]]
        self.joints = [str(n) for n in self.fields["joints"]]

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


def checked(job: Job, peer: Any, places: np.ndarray) -> None:
    """Whether the peer's model puts the markers where ours has them at the start."""
    off = np.abs(places - job.there).max()
    if not off < 1e-4:
        raise SystemExit(f"the model of {type(peer).__name__} is off by {off} m")


def follow(peer: Any, job: Job) -> tuple[list[Any], np.ndarray]:
    """What the peer found in each frame, and the seconds of each: the least of several passes."""
    answers, spans = [], []
    for _ in range(job.passes):
        state, answers = peer.first(), []
        for t in range(len(job.seen)):
            begin = time.process_time()
            state = peer.solve(t, state)
            spans.append(time.process_time() - begin)
            answers.append(peer.read(state))
    return answers, np.array(spans).reshape(job.passes, -1).min(axis=0)


def main(kind: Any) -> None:
    """Do the job, and write the answer."""
    job = Job(sys.argv[1])
    peer = kind(job)
    answers, seconds = follow(peer, job)
    np.savez(sys.argv[2], **{peer.answers: np.array(answers)}, seconds=seconds, note=peer.note)
