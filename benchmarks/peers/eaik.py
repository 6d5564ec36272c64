"""EAIK: all solutions of a six-axis arm in closed form, of which the first exact one within the limits is taken."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from eaik.IK_URDF import UrdfRobot

from peers.common import Job, Solver, main


class Analytic(Solver):
    """``robot.IK(pose)``; poses are of its own last frame, which differs from ours by a constant.

    Applying that constant and looking at the limits belongs to the answer; the note has the time of the bare call.
    """

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.robot = UrdfRobot(job.urdf)
        zero = np.zeros((1, len(job.joints)))
        theirs, ours = self.robot.fwdKin(zero[0]), job.judge.placements(zero, np.eye(4)[None])[0, 0]
        self.offset = np.linalg.inv(ours) @ theirs
        self.note = f"closed form, all branches; the bare call {self._bare():.1f} µs"

    def _bare(self) -> float:
        spans = []
        for T in self.job.targets[:, 0] @ self.offset:
            before = time.perf_counter()
            self.robot.IK(T)
            spans.append(time.perf_counter() - before)
        return float(np.median(spans)) * 1e6

    def solve(self, target: Any, start: Any) -> Any:
        found = self.robot.IK(target @ self.offset)
        lower, upper = self.job.lower, self.job.upper
        for q, approximate in zip(found.Q, found.is_LS, strict=True):
            if not approximate and (lower <= q).all() and (q <= upper).all():
                return q, True
        return start, False

    def read(self, answer: Any) -> Any:
        return answer[0], None, answer[1]


if __name__ == "__main__":
    main(Analytic)
