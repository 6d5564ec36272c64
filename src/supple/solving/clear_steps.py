"""Steps that keep clear: the step that tasks want, changed as little as is needed near contact.

For every pair that is nearer than the margin and an influence δ the slack is ``s = gap − margin`` with the slope J. A step x
may use up a part κ of it, and takes back as much of what is lacking,

    J x ≥ −κ s,

so that approaching slows down and ends at the margin: the velocity bound of Kanehiro et al. (2008), in the form that
differential solvers know as a collision limit. Of all steps in the box of limits and speeds that keep these rows, the one
nearest to what the tasks want is taken. Where the rows contradict each other, nothing is taken back; standing still is allowed
then.

The rows are linear and the world is not. So the distances are found again where the step ends, and the step is halved until no
pair is nearer than it was or than the margin, whichever is less. **From outside, no step ends inside.**
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supple.figure.limits import project_entry
from supple.geometry.placements import Floats
from supple.kernels.compiling import entry_in
from supple.kernels.kinds import CLEAR
from supple.kernels.layouts import KIND, PROBLEM, RESIDUAL_AT, RESIDUALS, SHIFT, WEIGHT, view
from supple.kernels.tables import EVALUATION, SLACK, row_room
from supple.problem.packing import suited
from supple.problem.problem import Problem
from supple.solving.prepare import movers_of

jacobian_entry = entry_in("supple.kernels.jacobian.jacobian_entry")

INFLUENCE = 0.05  # [m] beyond the margin within which pairs slow a step down
PART = 0.5  # of the slack that one step may use up
HALVINGS = 8
TOLERATED = 1e-9  # [m] by which rounding may bring a pair nearer


@dataclass(frozen=True, eq=False)
class Keeper:
    """What keeps the steps of a problem clear, packed once."""

    I: np.ndarray
    F: np.ndarray  # in which every pair keeps the influence besides its margin
    T: np.ndarray
    at: np.ndarray  # the residual of each pair
    weight: np.ndarray
    lower: Floats
    upper: Floats
    ease: np.ndarray
    speed: np.ndarray
    entry: Any
    movers: Any  # what moves obstacles, if some move

    def placed(self, problem: Problem, obstacles: Any) -> Keeper:
        """The same with obstacles elsewhere."""
        from supple.problem.moving import placements_of

        F, where = self.F.copy(), placements_of(problem, obstacles)
        if self.movers is not None:
            self.movers.write(F, where)
        return replace(self, F=F)

    @classmethod
    def of(cls, problem: Problem) -> Keeper | None:
        """The keeper of a problem; None if it keeps clear of nothing."""
        if not problem.clear:
            return None
        I, F, T = problem.pack
        F = F.copy()
        terms, numbers = view(PROBLEM, I, F, "TERM"), view(PROBLEM, I, F, "NUMBER")
        clear = terms[:, KIND] == CLEAR
        numbers[clear, SHIFT] = INFLUENCE
        assert problem.limits is not None
        free = np.array(problem.free)
        return cls(
            I, F, T[None].copy(), terms[clear, RESIDUAL_AT].copy(), np.sqrt(numbers[clear, WEIGHT]),
            problem.limits.lower, problem.limits.upper, free * free, np.array(problem.figure.speed),
            suited(jacobian_entry, I, F), movers_of(problem),
        )  # fmt: skip

    def slacks(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The pairs within the influence, their slacks [m] and the slopes of these."""
        m, size = int(self.I[RESIDUALS]), len(q)
        rho, J, value = np.zeros((1, m)), np.zeros((1, m, size)), np.zeros((1, 2))
        self.entry(self.I, self.F, EVALUATION.fresh(self.I), self.T, q[None], value, rho, J)
        near = np.flatnonzero(rho[0, self.at] > 0.0)
        rows, weight = self.at[near], self.weight[near]
        return near, INFLUENCE - rho[0, rows] / weight, -J[0, rows] / weight[:, None]

    def kept(self, q: np.ndarray, to: np.ndarray, dt: float) -> np.ndarray:
        """The posture that is taken from q, where tasks want to be at `to`."""
        near, slack, slope = self.slacks(q)
        x = to - q
        if len(near):
            x = self._nearest(q, x, slack, slope, dt)
        least = np.full(len(self.at), 0.0)
        least[near] = np.minimum(slack, 0.0)
        for _ in range(HALVINGS):
            pairs, after, _ = self.slacks(q + x)
            if (after >= least[pairs] - TOLERATED).all():
                return q + x
            x = 0.5 * x
        return q.copy()

    def _nearest(self, q: np.ndarray, x: np.ndarray, slack: np.ndarray, slope: np.ndarray, dt: float) -> np.ndarray:
        """The step nearest to x that keeps the rows and the box."""
        if (slope @ x >= -PART * slack).all():
            return x
        reach = self.speed * dt
        lower = np.minimum(np.maximum(self.lower - q, -reach), reach)
        upper = np.maximum(np.minimum(self.upper - q, reach), -reach)
        length = np.linalg.norm(slope, axis=1)
        moves = length > 1e-12
        A = np.ascontiguousarray(-slope[moves] / length[moves, None])
        room, origin = np.empty(row_room(len(A))), np.empty(len(x))
        for allowed in (slack, np.maximum(slack, 0.0)):
            out, b = x.copy(), PART * allowed[moves] / length[moves]
            over = project_entry(out, lower, upper, 0, A, b, self.ease.copy(), room, origin)
            if over <= SLACK:
                return np.clip(out, lower, upper)
        return np.clip(np.zeros(len(x)), lower, upper)
