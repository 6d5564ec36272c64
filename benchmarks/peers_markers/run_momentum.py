"""Momentum: a character of the same skeleton, a position error for each marker, limits as a weighted error, Gauss–Newton."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymomentum.geometry as geometry
import pymomentum.solver2 as solver
from common import Job, checked, main

SCALE = 100.0  # Momentum's lengths are centimetres
SETTINGS = {  # steps and damping chosen by hand after 64 settings on the walk, 48 on part of the punch; "limit" not tuned
    "sure": {"limit": 100.0, "regularization": 5.0, "iterations": 100, "threshold": 1.0},
    "tuned": {"limit": 10.0, "regularization": 2.0, "iterations": 5, "threshold": 1e3},
    "quick": {"limit": 10.0, "regularization": 2.0, "iterations": 3, "threshold": 1e3},
}


class Momentum:
    """One solver and one solver function; the markers of a frame replace those of the last."""

    answers = "q"

    def __init__(self, job: Job) -> None:
        self.job, self.options = job, SETTINGS[job.setting]
        self.note = f"solver2, position errors, single precision; {self.options}"
        character = self.character(job)
        self.position = solver.PositionErrorFunction(character)
        terms = [self.position, *([solver.LimitErrorFunction(character)] if job.limits else [])]
        self.function = solver.SkeletonSolverFunction(character, terms)
        options = solver.GaussNewtonSolverOptions()
        options.max_iterations, options.min_iterations = self.options["iterations"], 1
        options.regularization, options.do_line_search = self.options["regularization"], True
        options.threshold = self.options["threshold"]
        self.solver = solver.GaussNewtonSolver(self.function, options)
        self.link, self.at = job.link.astype(np.int32), (SCALE * job.at).astype(np.float32)
        self.weight, self.targets = job.weights.astype(np.float32), (SCALE * job.seen).astype(np.float32)
        self.there = [np.flatnonzero(~np.isnan(seen[:, 0])) for seen in job.seen]
        state = np.asarray(geometry.model_parameters_to_skeleton_state(character, self.first()))
        checked(job, self, np.array([placed(state[s], a) for s, a in zip(self.link, self.at, strict=True)]) / SCALE)

    def character(self, job: Job) -> Any:
        """The skeleton; its model parameters are the coordinates q, slides in centimetres."""
        joints = []
        for s, above in enumerate(job.parent):
            turned = quaternion(job.base) if above < 0 else (0.0, 0.0, 0.0, 1.0)
            at = (job.base @ job.offset[s] if above < 0 else job.offset[s]) * SCALE
            joints.append(geometry.Joint(str(job.segments[s]), int(above), np.float32(turned), np.float32(at)))
        skeleton = geometry.Skeleton(joints)
        size = len(job.joints)
        transform = np.zeros((7 * len(joints), size), dtype=np.float32)
        transform[:3, :3] = job.base  # a root's translation comes before its pre-rotation
        for s in range(len(joints)):
            for axis, k in zip((2, 1, 0), job.turns[s], strict=True):
                if k >= 0:
                    transform[7 * s + 3 + axis, k] = 1.0
        names = [f"q{k}" for k in range(size)]
        character = geometry.Character("human", skeleton, geometry.ParameterTransform(names, skeleton, transform))
        bound = np.flatnonzero(np.isfinite(job.lower)) if job.limits else []
        limit = self.options["limit"]
        return character.with_parameter_limits(
            [
                geometry.ParameterLimit.create_minmax(int(k), float(job.lower[k]), float(job.upper[k]), limit)
                for k in bound
            ]
        )

    def first(self) -> np.ndarray:
        x = self.job.start.astype(np.float32)
        x[:3] *= SCALE
        return x

    def solve(self, t: int, state: np.ndarray) -> np.ndarray:
        self.position.clear_constraints()
        k = self.there[t]
        self.position.add_constraints(self.link[k], offset=self.at[k], target=self.targets[t, k], weight=self.weight[k])
        return self.solver.solve(state)

    def read(self, state: np.ndarray) -> np.ndarray:
        q = state.astype(np.float64)
        q[:3] /= SCALE
        return q


def quaternion(R: np.ndarray) -> tuple[float, ...]:
    """x, y, z, w of a rotation by less than half a turn."""
    w = 0.5 * np.sqrt(1.0 + np.trace(R))
    return ((R[2, 1] - R[1, 2]) / (4 * w), (R[0, 2] - R[2, 0]) / (4 * w), (R[1, 0] - R[0, 1]) / (4 * w), w)


def placed(state: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Where a point of a joint is: its state is a translation, a quaternion (x, y, z, w) and a scale."""
    v, w = state[3:6].astype(np.float64), float(state[6])
    return state[:3] + at + 2.0 * np.cross(v, np.cross(v, at) + w * at)


if __name__ == "__main__":
    main(Momentum)
