"""mink: the skeleton as an MJCF of hinges under a free root, a frame task on a site for each marker, limits as bounds."""

from __future__ import annotations

from typing import Any

import mink
import mujoco
import numpy as np
from common import Job, angles, checked, main, turn

AXES = ("1 0 0", "0 1 0", "0 0 1")
SETTINGS = {  # chosen by hand after 12 settings on 200 frames of both clips
    "sure": {"steps": 30, "damping": 1e-2, "share": 1e-4},
    "quick": {"steps": 2, "damping": 1e-2, "share": 0.0},
}


class Mink:
    """Differential steps with the whole error as velocity, until the sum of squares hardly falls or the steps are spent."""

    answers = "q"

    def __init__(self, job: Job) -> None:
        self.job, self.options = job, SETTINGS[job.setting]
        self.note = f"solve_ik in a loop, dt = 1, quadprog; {self.options}"
        self.model: Any = mujoco.MjModel.from_xml_string(mjcf(job))  # type: ignore[attr-defined]
        self.configuration = mink.Configuration(self.model)
        self.limits = [mink.ConfigurationLimit(self.model)] if job.limits else []
        self.tasks = [
            mink.FrameTask(n, "site", float(np.sqrt(w)), 0.0) for n, w in zip(job.names, job.weights, strict=True)
        ]
        self.sites = [self.model.site(n).id for n in job.names]
        self.before = job.start
        self.configuration.update(self.state(job.start))
        checked(job, self, self.configuration.data.site_xpos[self.sites])

    def state(self, q: np.ndarray) -> np.ndarray:
        job = self.job
        R = job.base
        for axis, k in zip((2, 1, 0), job.turns[0], strict=True):
            R = R @ turn(axis, q[k])
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, R.reshape(-1))  # type: ignore[attr-defined]
        return np.concatenate([job.base @ (job.offset[0] + q[:3]), quat, q[6:]])

    def first(self) -> np.ndarray:
        self.before = self.job.start
        return self.state(self.job.start)

    def solve(self, t: int, state: np.ndarray) -> np.ndarray:
        configuration, seen = self.configuration, self.job.seen[t]
        configuration.update(state)
        there = np.flatnonzero(~np.isnan(seen[:, 0]))
        tasks, sites = [self.tasks[k] for k in there], [self.sites[k] for k in there]
        for task, k in zip(tasks, there, strict=True):
            task.set_target(mink.SE3.from_translation(seen[k]))
        last = np.inf
        for _ in range(self.options["steps"]):
            off = np.sum((configuration.data.site_xpos[sites] - seen[there]) ** 2)
            if off > (1.0 - self.options["share"]) * last:
                break
            last = off
            try:
                velocity = mink.solve_ik(
                    configuration, tasks, 1.0, "quadprog", damping=self.options["damping"], limits=self.limits
                )
            except mink.NoSolutionFound:
                break
            configuration.integrate_inplace(velocity, 1.0)
        return configuration.q.copy()

    def read(self, state: np.ndarray) -> np.ndarray:
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, state[3:7])  # type: ignore[attr-defined]
        turns = angles(self.job.base.T @ R.reshape(3, 3), self.before[3:6])
        self.before = np.concatenate([self.job.base.T @ state[:3] - self.job.offset[0], turns, state[7:]])
        return self.before


def mjcf(job: Job) -> str:
    """The skeleton, one hinge for each turn in the order z, y, x; a small mass everywhere, which MuJoCo asks for."""
    children: dict[int, list[int]] = {}
    for s, above in enumerate(job.parent):
        children.setdefault(int(above), []).append(s)

    def numbers(values: Any) -> str:
        return " ".join(repr(float(x)) for x in values)

    def body(s: int, free: bool) -> str:
        inside = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>' + ("<freejoint/>" if free else "")
        for axis, k in zip((2, 1, 0), job.turns[s], strict=True):
            if k >= 0 and not free:
                limits = f'limited="true" range="{numbers([job.lower[k], job.upper[k]])}"' if job.limits else ""
                inside += f'<joint name="q{k}" type="hinge" axis="{AXES[axis]}" {limits}/>'
        for k in np.flatnonzero(job.link == s):
            inside += f'<site name="{job.names[k]}" pos="{numbers(job.at[k])}"/>'
        inside += "".join(body(child, False) for child in children.get(s, []))
        return f'<body name="{job.fields["segments"][s]}" pos="{numbers(job.offset[s])}">{inside}</body>'

    roots = "".join(body(s, True) for s in children[-1])
    return f'<mujoco><compiler angle="radian" autolimits="false"/><worldbody>{roots}</worldbody></mujoco>'


if __name__ == "__main__":
    main(Mink)
