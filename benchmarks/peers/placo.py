"""placo: a quadratic programme for each step, joint limits as its constraints, repeated until the frames are there."""

from __future__ import annotations

from typing import Any

import numpy as np
import placo

from peers.common import Job, Solver, main
from peers.judge import METRES, RADIANS


class Placo(Solver):
    """Frame tasks with equal weights and a small damping; it has no restarts of its own, so it gets random starts."""

    def __init__(self, job: Job, steps: int, damping: float) -> None:
        super().__init__(job)
        self.robot = placo.RobotWrapper(job.urdf, placo.Flags.ignore_collisions)
        self.solver = placo.KinematicsSolver(self.robot)
        self.solver.enable_joint_limits(True)
        self.solver.mask_fbase(not job.floating)
        self.tasks = [self.solver.add_frame_task(name, np.eye(4)) for name in job.frames]
        for name, task in zip(job.frames, self.tasks, strict=True):
            task.configure(name, "soft", 1.0, 1.0)
        if damping:
            self.solver.add_regularization_task(damping)
        self.misses = [(task.position(), task.orientation()) for task in self.tasks]
        self.columns = np.array([self.robot.get_joint_offset(name) for name in job.joints])
        self.rest = self.robot.neutral_state().q
        self.starts = [self._posture(q) for q in job.starts(30)]
        self.steps = steps
        self.note = f"KinematicsSolver, damping {damping:g}, {steps} steps an attempt"

    def _posture(self, values: np.ndarray) -> np.ndarray:
        q = self.rest.copy()
        q[self.columns] = values
        return q

    def first(self) -> Any:
        return self.starts[0]

    def solve(self, target: Any, start: Any) -> Any:
        targets = target if len(self.tasks) > 1 else [target]
        for task, T in zip(self.tasks, targets, strict=True):
            task.T_world_frame = T
        for attempt, posture in enumerate(self.starts):
            self.robot.state.q = posture if attempt else start
            self.robot.update_kinematics()
            for _ in range(self.steps):
                try:
                    self.solver.solve(True)
                except RuntimeError:
                    break
                self.robot.update_kinematics()
                if self._met():
                    return self.robot.state.q.copy(), True
        return self.robot.state.q.copy(), False

    def _met(self) -> bool:
        for position, orientation in self.misses:
            position.update()
            if position.error_norm() > METRES:
                return False
            orientation.update()
            if orientation.error_norm() > RADIANS:
                return False
        return True

    def read(self, answer: Any) -> Any:
        q, ok = answer
        self.robot.state.q = q
        self.robot.update_kinematics()
        return q[self.columns], self.robot.get_T_world_fbase(), ok

    def again(self, answer: Any) -> Any:
        return answer[0]


def choices(job: Job) -> list[dict[str, Any]]:
    return [{"steps": steps, "damping": damping} for steps in (20, 50) for damping in (0.0, 1e-6, 1e-4)]


if __name__ == "__main__":
    main(Placo, choices)
