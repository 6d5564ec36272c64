"""A clip through any solver of single problems: every marker a task, every frame a solve from the one before.

This is how the solvers are compared with each other on captured motion, and how figures are tracked that `FrameByFrame` cannot
take. Loops and markers of infinite weight are hard tasks; a frame's problem holds the markers that were seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from supple.figure.effectors import Point
from supple.figure.limits import Limits
from supple.geometry.placements import Floats
from supple.motion.tracking.clip import ARM, Clip
from supple.motion.tracking.frame_runs import NOT_YET, Fits, joined
from supple.motion.tracking.rig import CONVERGED, ENDED, ITERATIONS, OPEN, REPORT, SPENT
from supple.problem.goals import At, Near
from supple.problem.problem import Problem
from supple.problem.solution import Solution, Status
from supple.problem.task import Task, met
from supple.solvers.base import Solver
from supple.solvers.multistart import Multistart
from supple.solving.prepare import Query, prepare


@dataclass(frozen=True, eq=False)
class BySolver:
    """Track with a solver of single problems, such as `LevenbergMarquardt` or `Newton`."""

    solver: Solver
    queries: dict[bytes, Query] = field(default_factory=dict, repr=False, init=False)

    def fit(self, clip: Clip, start: Floats) -> Fits:
        """All frames of a clip."""
        self.queries.clear()
        first = clip.first
        solution = prepare(self._problem(clip, first), solver=Multistart())(self._targets(clip, first), start=start)
        onward = self._run(clip, range(first, len(clip.positions)), solution.q)
        return joined(onward, self._run(clip, range(first, -1, -1), solution.q))

    def _run(self, clip: Clip, frames: range, q: Floats) -> Fits:
        Q, reports = np.empty((len(frames), clip.figure.size)), np.zeros((len(frames), REPORT))
        for row, t in enumerate(frames):
            reports[row], Q[row] = NOT_YET, q
            if clip.stop.asked:
                continue
            with clip.stop:
                if (clip.weights[t] > 0.0).any():
                    q, reports[row] = self._answer(clip, t, q)
                else:
                    reports[row] = 0.0
                Q[row] = q
                clip.progress(1)
        return Fits(Q, reports)

    def _answer(self, clip: Clip, t: int, q: Floats) -> tuple[Floats, np.ndarray]:
        """The posture of a frame, and its report."""
        report = np.zeros(REPORT)
        solution = self._query(clip, t)(self._targets(clip, t), start=q)
        report[ITERATIONS] = solution.iterations
        report[OPEN], closed = _exactness(solution)
        report[ENDED] = CONVERGED if closed and solution.status is not Status.STOPPED else SPENT
        return solution.q, report

    def _query(self, clip: Clip, frame: int) -> Query:
        key = clip.weights[frame].tobytes()
        if key not in self.queries:
            self.queries[key] = prepare(self._problem(clip, frame), solver=self.solver)
        return self.queries[key]

    def _problem(self, clip: Clip, frame: int) -> Problem:
        figure, tasks = clip.figure, []
        for k in np.flatnonzero(clip.weights[frame] > 0.0).tolist():
            point: Point = figure.markers[clip.names[k]]
            weight = float(clip.weights[frame, k])
            tasks.append(Task(point, At(clip.positions[frame, k]), weight, hard=k in clip.exact, name=clip.names[k]))
        if clip.near[0].any():
            tasks.append(Task(None, Near(clip.near[1], clip.near[0])))
        free = np.full(figure.size, np.inf)
        return Problem(figure, tasks, limits=None if clip.limits else Limits(-free, free))

    def _targets(self, clip: Clip, frame: int) -> list[Floats] | Floats:
        """One array for each task; the bare array if there is one task only."""
        targets = [clip.positions[frame, k] for k in np.flatnonzero(clip.weights[frame] > 0.0)]
        if clip.near[0].any():
            targets.append(clip.near[1])
        return targets[0] if len(targets) == 1 else targets


def _exactness(solution: Solution) -> tuple[float, bool]:
    """How far loops and exact markers are open, all together [m], and whether each is closed to its tolerance."""
    pairs = zip(solution.problem.all_tasks, solution.errors, strict=True)
    hard = [(task, miss) for task, miss in pairs if task.hard]
    return sum(miss.metres + ARM * miss.radians for _, miss in hard), all(met(task, miss) for task, miss in hard)
