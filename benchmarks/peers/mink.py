"""mink: differential inverse kinematics by quadratic programmes on MuJoCo, repeated until the frames are there."""

from __future__ import annotations

from typing import Any

import mink
import mujoco
import numpy as np

from peers.common import Job, Solver, main
from peers.judge import METRES, RADIANS

COMPILER = '<mujoco><compiler fusestatic="false" balanceinertia="true" boundmass="1e-3" boundinertia="1e-5"/></mujoco>'


class Mink(Solver):
    """Frame tasks of equal cost; it has no restarts of its own, so it gets random starts."""

    def __init__(self, job: Job, backend: str, damping: float, steps: int) -> None:
        super().__init__(job)
        self.model = model(job)
        self.columns = np.array([self.model.joint(name).qposadr[0] for name in job.joints])
        self.configuration = mink.Configuration(self.model)
        self.rest = self.configuration.q.copy()
        self.starts = [self._posture(q) for q in job.starts(30)]
        self.tasks = [mink.FrameTask(name, "body", 1.0, 1.0, lm_damping=damping) for name in job.frames]
        self.limits = [mink.ConfigurationLimit(self.model, gain=1.0)]
        self.backend, self.steps = backend, steps
        self.note = f"solve_ik, {backend}, lm_damping {damping:g}, {steps} steps an attempt"

    def _posture(self, values: np.ndarray) -> np.ndarray:
        q = self.rest.copy()
        q[self.columns] = values
        return q

    def target(self, T: np.ndarray) -> Any:
        return [mink.SE3.from_matrix(one) for one in T]

    def first(self) -> Any:
        return self.starts[0]

    def solve(self, target: Any, start: Any) -> Any:
        for task, T in zip(self.tasks, target, strict=True):
            task.set_target(T)
        for attempt, posture in enumerate(self.starts):
            self.configuration.update(posture if attempt else start)
            for _ in range(self.steps):
                if self._met():
                    return self.configuration.q.copy(), True
                try:
                    v = mink.solve_ik(self.configuration, self.tasks, 1.0, self.backend, limits=self.limits)
                except Exception:
                    break
                self.configuration.integrate_inplace(v, 1.0)
            if self._met():
                return self.configuration.q.copy(), True
        return self.configuration.q.copy(), False

    def _met(self) -> bool:
        for task in self.tasks:
            e = task.compute_error(self.configuration)
            if e[:3] @ e[:3] > METRES**2 or e[3:] @ e[3:] > RADIANS**2:
                return False
        return True

    def read(self, answer: Any) -> Any:
        q, ok = answer
        base = None
        if self.job.floating:
            base = np.eye(4)
            base[:3, :3] = mink.SO3(q[3:7] / np.linalg.norm(q[3:7])).as_matrix()
            base[:3, 3] = q[:3]
        return q[self.columns], base, ok

    def again(self, answer: Any) -> Any:
        return answer[0]


def model(job: Job) -> Any:
    """The URDF in MuJoCo: nothing fused, joints that matter only, and a free root if it floats."""
    with open(job.urdf) as file:
        text = file.read()
    spec = mujoco.MjSpec.from_string(text.replace("</robot>", COMPILER + "</robot>"))
    if job.floating:
        spec.worldbody.first_body().add_freejoint()
    for equality in list(spec.equalities):
        spec.delete(equality)
    for joint in list(spec.joints):
        if joint.name not in job.joints and joint.type != mujoco.mjtJoint.mjJNT_FREE:
            spec.delete(joint)
    return spec.compile()


def choices(job: Job) -> list[dict[str, Any]]:
    backends, dampings = ("daqp", "quadprog"), (0.0, 1e-3, 1e-1)
    return [{"backend": b, "damping": d, "steps": 20} for b in backends for d in dampings]


if __name__ == "__main__":
    main(Mink, choices)
