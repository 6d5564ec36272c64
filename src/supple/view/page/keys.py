"""Key postures on a time line, and the motion between them.

Between keys every coordinate follows a monotone cubic (Fritsch and Carlson): it never leaves the range between two neighbouring
keys, so a box of limits is kept. What is pinned hard stays where it is: each frame is brought back to it from where it is.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import PchipInterpolator

from supple.errors import BadValue
from supple.geometry.placements import Floats
from supple.motion.motion import Motion
from supple.problem.problem import Problem
from supple.scene.scene import Scene
from supple.scene.settle import nearby
from supple.solving.prepare import prepare

TOGETHER = 1e-3  # s: keys nearer than this are one


class Keys:
    """Postures by time [s]."""

    def __init__(self) -> None:
        self._keys: dict[float, Floats] = {}

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def times(self) -> tuple[float, ...]:
        """When the keys are, in order."""
        return tuple(sorted(self._keys))

    @property
    def end(self) -> float:
        """When the last one is."""
        return max(self._keys, default=0.0)

    def put(self, time: float, q: Floats) -> None:
        """A key, in the place of one at the same time."""
        if not np.isfinite(time) or time < 0.0:
            raise BadValue("a key is at a time of 0 s or later")
        self.remove(time)
        self._keys[float(time)] = np.array(q)

    def remove(self, time: float) -> None:
        """Take the key at a time away, if there is one."""
        for other in [t for t in self._keys if abs(t - time) < TOGETHER]:
            del self._keys[other]

    def clear(self) -> None:
        """Take all of them away."""
        self._keys.clear()

    def around(self, time: float) -> tuple[Floats | None, Floats | None]:
        """The key before a time and the one after it."""
        before = [t for t in self.times if t < time - TOGETHER]
        after = [t for t in self.times if t > time + TOGETHER]
        return (self._keys[before[-1]] if before else None, self._keys[after[0]] if after else None)

    def posture(self, time: float) -> Floats:
        """The posture at a time; before the first key that one, after the last one that."""
        times = self.times
        if not times:
            raise BadValue("there are no keys yet")
        rows = np.stack([self._keys[t] for t in times])
        if len(times) == 1:
            return rows[0]
        return PchipInterpolator(np.array(times), rows)(np.clip(time, times[0], times[-1]))

    def motion(self, scene: Scene, rate: float = 30.0) -> Motion:
        """Every frame from the first key to the last, with what is pinned hard held."""
        times = self.times
        if not times:
            raise BadValue("there are no keys yet")
        count = max(1, round((times[-1] - times[0]) * rate) + 1)
        at = times[0] + np.arange(count) / rate
        Q = np.stack([scene.limits.project(self.posture(t)) for t in at])
        hard = [task for name, task in scene.constraints.items() if task.hard and name not in scene.disabled]
        if hard:
            problem = Problem(scene.figure, hard, scene.limits, scene.now.setup.rigidity)
            query = prepare(problem, solver=nearby(problem))
            Q = np.stack([found.q if (found := query(start=q)).ok else q for q in Q])
        return Motion(scene.figure, Q, at - at[0])
