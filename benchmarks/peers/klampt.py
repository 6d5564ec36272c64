"""Klampt: Newton–Raphson in C++ with joint limits, restarted from random postures."""

from __future__ import annotations

from typing import Any

import numpy as np
from klampt import IKObjective, IKSolver, WorldModel

from peers.common import Job, Solver, main


class Klampt(Solver):
    """One ``IKSolver`` with a fixed objective for each frame; a floating root is six joints of its own."""

    def __init__(self, job: Job, steps: int, tolerance: float) -> None:
        super().__init__(job)
        self.world = WorldModel()
        self.robot = self.world.loadRobot(job.urdf)
        names = [self.robot.link(i).getName() for i in range(self.robot.numLinks())]
        moved = {joint.find("child").get("link"): joint.get("name") for joint in job.judge.all_joints}
        links = {moved[name]: i for i, name in enumerate(names) if name in moved}
        self.columns = [links[name] for name in job.joints]
        self.root = self.robot.link(5)
        self.rest = self.robot.getConfig()
        self.starts = [self._posture(q) for q in job.starts(100)]
        self.frames = [names.index(name) for name in job.frames]
        self.goals = [IKObjective() for _ in self.frames]
        self.solver = IKSolver(self.robot)
        self.solver.setMaxIters(steps)
        self.solver.setTolerance(tolerance)
        self.solver.setActiveDofs([*(range(6) if job.floating else ()), *self.columns])
        self.note = f"IKSolver, {steps} steps an attempt, tolerance {tolerance:g}"

    def _posture(self, values: np.ndarray) -> list[float]:
        q = list(self.rest)
        for column, value in zip(self.columns, values.tolist(), strict=True):
            q[column] = value
        return q

    def target(self, T: np.ndarray) -> Any:
        return [(one[:3, :3].T.ravel().tolist(), one[:3, 3].tolist()) for one in T]

    def first(self) -> Any:
        return self.starts[0]

    def solve(self, target: Any, start: Any) -> Any:
        solver, robot = self.solver, self.robot
        solver.clear()
        for goal, link, (R, t) in zip(self.goals, self.frames, target, strict=True):
            goal.setFixedTransform(link, R, t)
            solver.add(goal)
        for attempt, posture in enumerate(self.starts):
            robot.setConfig(posture if attempt else start)
            if solver.solve():
                return robot.getConfig(), True
        return robot.getConfig(), False

    def read(self, answer: Any) -> Any:
        q, ok = answer
        base = None
        if self.job.floating:
            self.robot.setConfig(q)
            R, t = self.root.getTransform()
            base = np.eye(4)
            base[:3, :3], base[:3, 3] = np.reshape(R, (3, 3)).T, t
        return np.array(q)[self.columns], base, ok

    def again(self, answer: Any) -> Any:
        return answer[0]


def choices(job: Job) -> list[dict[str, Any]]:
    return [{"steps": steps, "tolerance": tolerance} for steps in (15, 30, 60) for tolerance in (1e-6, 5e-6)]


if __name__ == "__main__":
    main(Klampt, choices)
