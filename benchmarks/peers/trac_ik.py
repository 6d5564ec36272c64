"""TRAC-IK: Newton's method with random restarts and sequential quadratic programming, side by side on two threads."""

from __future__ import annotations

from typing import Any

import numpy as np
from trac_ik import TracIK

from peers.common import Job, Solver, main

TIMEOUT = 0.25  # seconds


class Trac(Solver):
    """``TracIK.ik`` with the solver type "Speed", the first answer it finds."""

    def __init__(self, job: Job, epsilon: float) -> None:
        super().__init__(job)
        base = next(iter(job.judge.chains.values()))[0].find("parent").get("link")
        self.solver = TracIK(base, job.frames[0], job.urdf, TIMEOUT, epsilon, "Speed")
        self.note = f"Speed, epsilon {epsilon:g}, two threads"

    def target(self, T: np.ndarray) -> Any:
        return T[0, :3, 3], T[0, :3, :3]

    def solve(self, target: Any, start: Any) -> Any:
        return self.solver.ik(target[0], target[1], start)

    def read(self, answer: Any) -> Any:
        return (self.job.start, None, False) if answer is None else (np.asarray(answer), None, True)


if __name__ == "__main__":
    main(Trac, lambda job: [{"epsilon": 5e-6}])
