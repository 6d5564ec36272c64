"""Velocities of effectors, in place of targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from supple.basics.checks import finite
from supple.basics.values import Value
from supple.figure.figure import Figure
from supple.geometry.placements import Floats, frozen, inverse
from supple.problem.goals import Placed
from supple.problem.task import Task


@dataclass(frozen=True, eq=False, repr=False)
class Twist(Value):
    """A velocity of an effector: of its point [m/s] and of its turning [rad/s], in the axes in which its goal is stated."""

    linear: ArrayLike = (0.0, 0.0, 0.0)
    angular: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        for name in ("linear", "angular"):
            object.__setattr__(self, name, frozen(finite(getattr(self, name), (3,), f"the {name} part of a twist")))

    def moved(self, figure: Figure, task: Task, q: Floats, dt: float) -> Floats:
        """Where it brings the effector of a task within dt [s] from posture q: a target for that task."""
        X = figure.seen(q, task.effector)
        if task.goal.relative_to is not None:
            X = inverse(figure.placement(q, task.goal.relative_to)) @ X
        to = X[:3, 3] + dt * np.asarray(self.linear)
        if not isinstance(task.goal, Placed):
            return to
        out = np.eye(4)
        out[:3, :3], out[:3, 3] = Rotation.from_rotvec(dt * np.asarray(self.angular)).as_matrix() @ X[:3, :3], to
        return out
