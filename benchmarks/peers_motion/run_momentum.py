"""Momentum: a character of the same skeleton, position errors on the effectors, limits as a weighted error, Gauss–Newton."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymomentum.geometry as geometry
import pymomentum.solver2 as solver
from common import Job, checked, main

SCALE = 100.0  # Momentum's lengths are centimetres


class Momentum:
    """One solver and one solver function; the goals of a frame replace those of the last."""

    note = "solver2, position errors, limit errors (soft), single precision"

    def __init__(
        self,
        job: Job,
        method: str,
        limit: float,
        regularization: float,
        iterations: int,
        threshold: float,
        search: bool,
    ) -> None:
        character = self.character(job, limit)
        self.position = solver.PositionErrorFunction(character)
        self.limits = solver.LimitErrorFunction(character)
        self.function = solver.SkeletonSolverFunction(character, [self.position, self.limits])
        options: Any
        if method == "qr":
            options, kind = solver.GaussNewtonSolverQROptions(), solver.GaussNewtonSolverQR
        else:
            options, kind = solver.GaussNewtonSolverOptions(), solver.GaussNewtonSolver
        options.max_iterations, options.min_iterations = iterations, 1
        options.regularization, options.do_line_search = regularization, search
        options.threshold = threshold
        self.solver = kind(self.function, options)
        self.effectors = job.effectors.astype(np.int32)
        states = geometry.model_parameters_to_skeleton_state(character, self.state(job.q[0]))
        checked(job, self, np.asarray(states)[self.effectors, :3] / SCALE)

    def character(self, job: Job, limit: float) -> Any:
        """The skeleton; its model parameters are the coordinates q, slides in centimetres."""
        joints = []
        for s, above in enumerate(job.parent):
            turned = quaternion(job.base) if above < 0 else (0.0, 0.0, 0.0, 1.0)
            at = (job.base @ job.offset[s] if above < 0 else job.offset[s]) * SCALE
            joints.append(geometry.Joint(job.segments[s], int(above), np.float32(turned), np.float32(at)))
        skeleton = geometry.Skeleton(joints)
        size = len(job.lower)
        transform = np.zeros((7 * len(joints), size), dtype=np.float32)
        transform[:3, :3] = job.base  # a root's translation comes before its pre-rotation
        for s in range(len(joints)):
            for axis, k in zip((2, 1, 0), job.turns[s], strict=True):
                if k >= 0:
                    transform[7 * s + 3 + axis, k] = 1.0
        names = [f"q{k}" for k in range(size)]
        character = geometry.Character("human", skeleton, geometry.ParameterTransform(names, skeleton, transform))
        limits = [
            geometry.ParameterLimit.create_minmax(k, float(job.lower[k]), float(job.upper[k]), limit)
            for k in range(size)
            if np.isfinite(job.lower[k])
        ]
        return character.with_parameter_limits(limits)

    def state(self, q: np.ndarray) -> np.ndarray:
        x = q.astype(np.float32)
        x[:3] *= SCALE
        return x

    def solve(self, goals: np.ndarray, state: np.ndarray) -> np.ndarray:
        self.position.clear_constraints()
        self.position.add_constraints(self.effectors, target=(SCALE * goals).astype(np.float32))
        return self.solver.solve(state)

    def posture(self, state: np.ndarray, before: np.ndarray) -> np.ndarray:
        q = state.astype(np.float64)
        q[:3] /= SCALE
        return q


def quaternion(R: np.ndarray) -> tuple[float, ...]:
    """x, y, z, w of a rotation by less than half a turn."""
    w = 0.5 * np.sqrt(1.0 + np.trace(R))
    return ((R[2, 1] - R[1, 2]) / (4 * w), (R[0, 2] - R[2, 0]) / (4 * w), (R[1, 0] - R[0, 1]) / (4 * w), w)


# Of 90 settings, on all frames at 0.05 s and a quarter of those at 1.0 s: the one that meets most, and the quickest.
SETTINGS = {
    "sure": {
        "method": "cholesky", "limit": 100.0, "regularization": 1.0, "iterations": 50, "threshold": 1.0, "search": True,
    },
    "quick": {
        "method": "qr", "limit": 10.0, "regularization": 0.01, "iterations": 20, "threshold": 1e3, "search": True,
    },
}  # fmt: skip

if __name__ == "__main__":
    main(Momentum, SETTINGS)
