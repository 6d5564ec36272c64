"""pink: differential inverse kinematics by quadratic programmes on Pinocchio, repeated until the frames are there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from pink import Configuration, solve_ik
from pink.limits import ConfigurationLimit
from pink.tasks import FrameTask

from peers.common import Job, Solver, main
from peers.judge import METRES, RADIANS


class Pink(Solver):
    """Frame tasks of equal cost; it has no restarts of its own, so it gets random starts."""

    def __init__(self, job: Job, backend: str, damping: float, steps: int) -> None:
        super().__init__(job)
        model = pin.buildModelFromUrdf(job.urdf, *([pin.JointModelFreeFlyer()] if job.floating else []))
        idle = [model.getJointId(n) for n in model.names[1:] if n not in job.joints and n != "root_joint"]
        self.model = pin.buildReducedModel(model, idle, pin.neutral(model))
        self.columns = np.array([self.model.joints[self.model.getJointId(name)].idx_q for name in job.joints])
        self.starts = [self._posture(q) for q in job.starts(30)]
        self.configuration = Configuration(self.model, self.model.createData(), self.starts[0])
        self.tasks = [
            FrameTask(name, position_cost=1.0, orientation_cost=1.0, lm_damping=damping) for name in job.frames
        ]
        self.limits = [ConfigurationLimit(self.model, config_limit_gain=1.0)]
        self.backend, self.steps = backend, steps
        self.note = f"solve_ik, {backend}, lm_damping {damping:g}, {steps} steps an attempt"

    def _posture(self, values: np.ndarray) -> np.ndarray:
        q = pin.neutral(self.model)
        q[self.columns] = values
        return q

    def target(self, T: np.ndarray) -> Any:
        return [pin.SE3(one) for one in T]

    def first(self) -> Any:
        return self.starts[0]

    def solve(self, target: Any, start: Any) -> Any:
        for task, T in zip(self.tasks, target, strict=True):
            task.set_target(T)
        for attempt, posture in enumerate(self.starts):
            self.configuration.update(posture if attempt else start)
            for _ in range(self.steps):
                if self._met():
                    return self.configuration.q, True
                try:
                    v = solve_ik(
                        self.configuration, self.tasks, 1.0, self.backend, limits=self.limits, safety_break=False
                    )
                except Exception:
                    break
                self.configuration.integrate_inplace(v, 1.0)
            if self._met():
                return self.configuration.q, True
        return self.configuration.q, False

    def _met(self) -> bool:
        for task in self.tasks:
            e = task.compute_error(self.configuration)
            if e[:3] @ e[:3] > METRES**2 or e[3:] @ e[3:] > RADIANS**2:
                return False
        return True

    def read(self, answer: Any) -> Any:
        q, ok = answer
        base = pin.XYZQUATToSE3(q[:7]).homogeneous if self.job.floating else None
        return q[self.columns], base, ok

    def again(self, answer: Any) -> Any:
        return answer[0]


def choices(job: Job) -> list[dict[str, Any]]:
    backends, dampings = ("daqp", "quadprog"), (0.0, 1e-3, 1e-1)
    return [{"backend": b, "damping": d, "steps": 20} for b in backends for d in dampings]


if __name__ == "__main__":
    main(Pink, choices)
