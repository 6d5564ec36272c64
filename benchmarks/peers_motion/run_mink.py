"""mink: the same skeleton as an MJCF of hinges under a free root, frame tasks on positions, limits as bounds of the QP."""

from __future__ import annotations

from typing import Any

import mink
import mujoco
import numpy as np
from common import NEAR, Job, angles, checked, main, turn

AXES = ("1 0 0", "0 1 0", "0 0 1")


class Mink:
    """Differential steps with the whole error as velocity, until every goal is met or the steps are spent."""

    note = "solve_ik in a loop with dt = 1, ends at 1 mm"

    def __init__(self, job: Job, solver: str, steps: int, damping: float) -> None:
        self.job, self.solver, self.steps, self.damping = job, solver, steps, damping
        self.model: Any = mujoco.MjModel.from_xml_string(mjcf(job))  # type: ignore[attr-defined]
        self.configuration = mink.Configuration(self.model)
        self.limits = [mink.ConfigurationLimit(self.model)]
        names = [job.segments[k] for k in job.effectors]
        self.tasks = [mink.FrameTask(n, "body", 1.0, 0.0) for n in names]
        self.bodies = [self.model.body(n).id for n in names]
        self.configuration.update(self.state(job.q[0]))
        checked(job, self, self.configuration.data.xpos[self.bodies])

    def state(self, q: np.ndarray) -> np.ndarray:
        job = self.job
        R = job.base
        for axis, k in zip((2, 1, 0), job.turns[0], strict=True):
            R = R @ turn(axis, q[k])
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, R.reshape(-1))  # type: ignore[attr-defined]
        return np.concatenate([job.base @ (job.offset[0] + q[:3]), quat, q[6:]])

    def solve(self, goals: np.ndarray, state: np.ndarray) -> np.ndarray:
        configuration = self.configuration
        configuration.update(state)
        for task, goal in zip(self.tasks, goals, strict=True):
            task.set_target(mink.SE3.from_translation(goal))
        for _ in range(self.steps):
            if np.abs(configuration.data.xpos[self.bodies] - goals).max() < 0.5 * NEAR:
                break
            try:
                velocity = mink.solve_ik(
                    configuration, self.tasks, 1.0, self.solver, damping=self.damping, limits=self.limits
                )
            except mink.NoSolutionFound:
                break
            configuration.integrate_inplace(velocity, 1.0)
        return configuration.q.copy()

    def posture(self, state: np.ndarray, before: np.ndarray) -> np.ndarray:
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, state[3:7])  # type: ignore[attr-defined]
        turns = angles(self.job.base.T @ R.reshape(3, 3), before[3:6])
        return np.concatenate([self.job.base.T @ state[:3] - self.job.offset[0], turns, state[7:]])


def mjcf(job: Job) -> str:
    """The skeleton, one hinge for each turn in the order z, y, x; a small mass everywhere, which MuJoCo asks for."""
    children: dict[int, list[int]] = {}
    for s, above in enumerate(job.parent):
        children.setdefault(int(above), []).append(s)

    def body(s: int, free: bool) -> str:
        at = " ".join(repr(float(x)) for x in job.offset[s])
        inside = '<freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        if not free:
            inside = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
            for axis, k in zip((2, 1, 0), job.turns[s], strict=True):
                if k >= 0:
                    span = f"{float(job.lower[k])!r} {float(job.upper[k])!r}"
                    inside += f'<joint name="q{k}" type="hinge" axis="{AXES[axis]}" limited="true" range="{span}"/>'
        inside += "".join(body(child, False) for child in children.get(s, []))
        return f'<body name="{job.segments[s]}" pos="{at}">{inside}</body>'

    return (
        '<mujoco><compiler angle="radian" autolimits="false"/><worldbody>'
        + "".join(body(s, True) for s in children[-1])
        + "</worldbody></mujoco>"
    )


# Of 34 settings tried on part or all of these frames, the quickest of those that meet most.
SETTINGS = {"sure": {"solver": "quadprog", "steps": 100, "damping": 1e-7}}

if __name__ == "__main__":
    main(Mink, SETTINGS)
