"""FABRIK, forward and backward reaching (Aristidou & Lasenby 2011), on a chain of balls and hinges with one position goal.

Hinges whose axes meet in one point make up a *centre*: a ball, a universal joint, the shoulder of a robot. Between the
centres p_1 … p_n and the effector p_{n+1} lie rigid links of lengths d_i. Reaching forgets the joints and moves the points,
keeping the lengths:

    p_{n+1} = t;    p_i = p_{i+1} + d_i (p_i − p_{i+1})/|p_i − p_{i+1}|,    i = n … 1      (from the target to the root)
    p_1 = root;     p_{i+1} = p_i + d_i (p_{i+1} − p_i)/|p_{i+1} − p_i|,    i = 1 … n      (and back)

A target farther away than ``Σ d_i`` is approached on the straight line from the root. Then the joints are recovered from
the root on: each hinge is turned to the angle within its limits that best brings the next centre, and with less weight
those behind it, to where reaching has put them. That is a first harmonic of the angle (`one_coordinate`), and its
coefficients come from sums over the points behind: a round takes time in proportion to the joints, and one evaluation. What
hinges and limits keep from getting there, the next reaching takes up from where the joints really are. That makes FABRIK
with hinges and limits a heuristic: it may stop short of a target that can be reached. Nothing makes the error fall at every
round; the best posture on the way is the answer (`common`).

Locked joints are part of the links. Linear limits are kept by projection after every round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from supple.figure.effectors import Direction, Frame, Point
from supple.kernels.compiling import entry, stage
from supple.kernels.layouts import TARGET_AT
from supple.kernels.objective import gradient
from supple.kernels.tables import open_evaluation, open_limits, open_tasks
from supple.kernels.tree import open_tree
from supple.problem.allowance import ITERATIONS
from supple.problem.goals import At
from supple.problem.meter import count
from supple.problem.problem import Problem
from supple.solvers.base import Descent, Loop
from supple.solvers.baselines.common import baseline, open_baseline
from supple.solvers.baselines.fabrik_rounds import (
    CENTRES,
    FABRIK,
    find_centres,
    measure_links,
    open_fabrik,
    reach_out,
    read_points,
    recover_turns,
)

PATIENCE = 50  # rounds without a better posture before giving up


@stage
def look_at_points(I: Any, F: Any, memory: Any, T: Any, q: Any, settings: Any, report: Any) -> Any:
    """G at q and the number of tasks not met; ∇G and the points into the scratch, at first the centres and links as well."""
    s = open_fabrik(I, memory)
    f, unmet = gradient(I, F, memory, T, q, open_baseline(I, memory).g)
    count(report)
    if report[ITERATIONS] == 0.0:
        W = open_evaluation(I, memory).world
        s.state[CENTRES] = find_centres(open_tree(I, F), open_limits(I, F).mobility, W, s.chain)
    read_points(I, F, memory)
    if report[ITERATIONS] == 0.0:
        measure_links(s)
    return f, unmet


@stage
def fabrik_round(I: Any, F: Any, memory: Any, T: Any, q: Any, settings: Any) -> bool:
    """Reach out and back, and turn the joints after the points."""
    t, s = open_tasks(I, F).term[0, TARGET_AT], open_fabrik(I, memory)
    for i in range(int(s.state[CENTRES]) + 1):
        for c in range(3):
            s.P[i, c] = s.points[i, c]
    reach_out(s, T[t], T[t + 1], T[t + 2])
    recover_turns(I, F, memory, q)
    return True


fabrik_loop = baseline(look_at_points, fabrik_round, patience=PATIENCE)


@entry
def fabrik_entry(
    I: Any, F: Any, memory: Any, T: Any, Q: Any, settings: Any, report: Any, trace: Any, first: int, last: int
) -> None:
    """Solve rows first … last − 1 of Q (k, size) in place for the targets T (k, …)."""
    for k in range(first, last):
        fabrik_loop(I, F, memory, T[k], Q[k], settings, report[k], trace)


@dataclass(frozen=True)
class Fabrik(Descent):
    """Forward and backward reaching along one chain of balls and hinges. Few, natural-looking rounds; position goals only."""

    steps: int = 1000  # rounds of reaching out and back
    tolerance: float = 1e-7  # on the projected gradient step

    loop = Loop(fabrik_entry, FABRIK)

    def refuse(self, problem: Problem) -> list[str]:
        """Anything but one `At` in the world on a point of a segment that hinges and balls carry."""
        reasons = super().refuse(problem)
        if len(problem.tasks) != 1:
            return [*reasons, f"it has {len(problem.tasks)} tasks, not one"]
        task = problem.tasks[0]
        if not isinstance(task.goal, At) or task.goal.relative_to is not None:
            return [*reasons, f"{task.name!r} is not a position goal (At) in the world"]
        if not isinstance(task.effector, Point | Direction | Frame):
            return [*reasons, f"the effector of {task.name!r} is not at the end of one chain"]
        return reasons + _unsuitable_joints(problem, task.effector.segment)


def _unsuitable_joints(problem: Problem, segment: str) -> list[str]:
    """What the joints above a segment do that reaching knows nothing of, as reasons; locked ones may do anything."""
    figure, reasons = problem.figure, []
    free = dict(zip(figure.coordinates, problem.free, strict=True))
    at: str | None = segment
    while at is not None:
        joint = figure.joint_of[at]
        at = joint.parent
        names = [joint.name] if joint.drive is None else [name for name, _ in joint.drive.terms]
        share = 0.0 if joint.is_fixed else max(free[name] for name in names)
        if share == 0.0:
            continue
        if joint.drive is not None:
            reasons.append(f"joint {joint.name!r} follows {', '.join(names)}")
        elif any(joint.slide):
            reasons.append(f"joint {joint.name!r} slides")
        elif share < 1.0:
            reasons.append(f"joint {joint.name!r} has rigidity {1.0 - share:.3g}, which is neither free nor locked")
    return reasons
