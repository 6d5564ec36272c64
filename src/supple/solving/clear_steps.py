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

Pairs are sifted before their distances are found (`near_pairs`), and a row that no step in the box could overstep is none.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from supple.geometry.placements import Floats
from supple.kernels.compiling import entry_in
from supple.kernels.kinds import CLEAR
from supple.kernels.layouts import FRAME, FRAME_ROW, KIND, PROBLEM, REFERENCE, REFERENCE_ROW, view
from supple.kernels.near_pairs import NEAR_SCRATCH
from supple.kernels.tables import row_room
from supple.problem.packing import suited
from supple.problem.problem import Problem
from supple.solvers.differential.nearing import LEAST, MOST, MOVE, STRIDE, TO, WILLING, Q
from supple.solving.prepare import movers_of

clear_step_entry = entry_in("supple.solvers.differential.nearing.clear_step_entry")
ROWS = 64  # for which there is room at first
CENTRE = 9  # where the position is in a frame as packs have it


@dataclass(frozen=True, eq=False)
class Keeper:
    """What keeps the steps of a problem clear, packed once."""

    I: np.ndarray
    F: np.ndarray
    bodies: np.ndarray  # as `near_pairs` reads them
    pairs: np.ndarray
    move: Floats  # of which limits and mobilities are known
    speed: np.ndarray
    entry: Any
    movers: Any  # what moves obstacles, if some move
    spare: list[list[np.ndarray]] = field(default_factory=list)  # memory and room, which one step at a time has

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
        I, F, _ = problem.pack
        assert problem.limits is not None
        move = np.zeros((MOVE, problem.figure.size))
        move[LEAST], move[MOST], move[WILLING] = problem.limits.lower, problem.limits.upper, np.square(problem.free)
        entry = suited(clear_step_entry, I, F)
        speed = np.array(problem.figure.speed)
        return cls(I, F.copy(), *_crowd(problem, I, F), move, speed, entry, movers_of(problem))

    def kept(self, q: np.ndarray, to: np.ndarray, dt: float) -> np.ndarray:
        """The posture that is taken from q, where tasks want to be at `to`."""
        move = self.move.copy()
        move[Q], move[TO], move[STRIDE] = q, to, self.speed * dt
        try:
            own = self.spare.pop()
        except IndexError:
            own = [NEAR_SCRATCH.fresh(self.I), np.empty(row_room(ROWS))]
        while lacking := self.entry(self.I, self.F, *own, self.bodies, self.pairs, move):
            own[1], move[TO] = np.empty(lacking), to
        self.spare.append(own)
        return move[TO]


def _crowd(problem: Problem, I: np.ndarray, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The bodies of all pairs, each once, and the pairs (see `near_pairs`)."""
    terms, numbers = view(PROBLEM, I, F, "TERM"), view(PROBLEM, I, F, "NUMBER")
    at = view(PROBLEM, I, np.arange(len(F)), "NUMBER")  # where numbers are in F
    known: dict[tuple[int, bytes, str | None], int] = {}
    bodies, pairs = [], []
    both = (pair[:2] for task in problem.clear for pair in task.goal.pairs)
    for k, things in zip(np.flatnonzero(terms[:, KIND] == CLEAR).tolist(), both, strict=True):
        own = [k]
        for thing, carried, frame in zip(things, (FRAME_ROW, REFERENCE_ROW), (FRAME, REFERENCE), strict=True):
            row = int(terms[k, carried])
            key = row, numbers[k, frame + CENTRE :][:3].tobytes(), thing.moves
            if key not in known:
                known[key] = len(bodies)
                bodies.append((row, at[k, frame + CENTRE]))
            own.append(known[key])
        pairs.append(own)
    return np.array(bodies, dtype=np.int64), np.array(pairs, dtype=np.int64)
