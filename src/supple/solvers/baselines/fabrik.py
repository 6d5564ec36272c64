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
round; the best posture on the way is the answer (`baseline`).

Locked joints are part of the links. Linear limits are kept by projection after every round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from supple.basics.checks import check_fields, not_negative, whole
from supple.figure.effectors import Direction, Frame, Point
from supple.geometry.placements import Floats
from supple.kernels.compiling import entry, row, stage, table
from supple.kernels.layouts import JOINTS, TARGET_AT
from supple.kernels.objective import gradient
from supple.kernels.scratch import open_evaluation
from supple.kernels.tables import open_tasks
from supple.kernels.tree import open_tree
from supple.problem.allowance import FREELY, ITERATIONS, STUCK, VALUE, Allowance, count
from supple.problem.goals import At
from supple.problem.problem import Problem
from supple.problem.solution import Solution
from supple.solvers.base import reasons_of_a_descent_method, run
from supple.solvers.baselines.common import (
    ALIKE,
    GOING,
    arrive,
    conclude,
    limits_of,
    read_room,
    room_of,
    room_size,
    settle,
)
from supple.solvers.baselines.fabrik_rounds import find_centres, reach, recover, see

PATIENCE = 50  # rounds without a better posture before giving up


@stage
def fabrik_loop(I: Any, F: Any, scratch: Any, T: Any, q: Any, settings: Any, info: Any, trace: Any) -> None:
    """The loop."""
    steps, tolerance, joints = settings[0], settings[1], I[JOINTS]
    room = room_of(I, scratch)
    r = read_room(I, room)
    tree = open_tree(I, F)
    tasks = open_tasks(I, F)
    t = tasks.term[0, TARGET_AT]
    chain, length = table(room, r.rest, 3, joints), row(room, r.rest + 3 * joints, joints)
    settle(I, F, room, q)
    f, unmet = gradient(I, F, scratch, T, q, r.g)
    count(info)
    work = open_evaluation(I, scratch)
    centres = find_centres(tree, limits_of(I, F).mobility, work.world, chain)
    points = table(room, r.rest + 4 * joints, centres + 1, 3)
    P = table(room, r.rest + 7 * joints + 3, centres + 1, 3)
    pairs = table(room, r.rest + 10 * joints + 6, centres + 1, 16)
    see(I, F, scratch, chain, points)
    for i in range(centres):
        x, y, z = points[i + 1, 0] - points[i, 0], points[i + 1, 1] - points[i, 1], points[i + 1, 2] - points[i, 2]
        length[i] = math.sqrt(x * x + y * y + z * z)
    reason, since = arrive(I, F, room, q, f, unmet, steps, tolerance, info, trace), 0
    while reason == GOING:
        for i in range(centres + 1):
            for c in range(3):
                P[i, c] = points[i, c]
        reach(P, length, T[t], T[t + 1], T[t + 2])
        recover(I, F, scratch, q, chain, points, P, pairs, row(room, r.rest + 26 * joints + 22, 28))
        settle(I, F, room, q)
        f, unmet = gradient(I, F, scratch, T, q, r.g)
        count(info)
        see(I, F, scratch, chain, points)
        info[ITERATIONS] += 1.0
        since = 0 if f < (1.0 - ALIKE) * info[VALUE] else since + 1
        reason = arrive(I, F, room, q, f, unmet, steps, tolerance, info, trace)
        if reason == GOING and since >= PATIENCE:
            reason = STUCK
    conclude(I, F, room, q, tolerance, reason, info)


@entry
def fabrik_entry(
    I: Any, F: Any, scratch: Any, T: Any, Q: Any, settings: Any, info: Any, trace: Any, first: int, last: int
) -> None:
    """Solve rows first … last − 1 of Q (k, size) in place for the targets T (k, …)."""
    for k in range(first, last):
        fabrik_loop(I, F, scratch, T[k], Q[k], settings, info[k], trace)


@dataclass(frozen=True)
class Fabrik:
    """Forward and backward reaching along one chain of balls and hinges. Few, natural-looking rounds; position goals only."""

    steps: int = 1000  # rounds of reaching out and back
    tolerance: float = 1e-7  # on the projected gradient step

    def __post_init__(self) -> None:
        check_fields(self, steps=whole, tolerance=not_negative)

    def refuse(self, problem: Problem) -> list[str]:
        """Anything but one `At` in the world on a point of a segment that hinges and balls carry."""
        reasons = reasons_of_a_descent_method(problem)
        if len(problem.tasks) != 1:
            return [*reasons, f"it has {len(problem.tasks)} tasks, not one"]
        task = problem.tasks[0]
        if not isinstance(task.goal, At) or task.goal.relative_to is not None:
            return [*reasons, f"{task.name!r} is not a position goal (At) in the world"]
        if not isinstance(task.effector, Point | Direction | Frame):
            return [*reasons, f"the effector of {task.name!r} is not at the end of one chain"]
        return reasons + _unsuitable_joints(problem, task.effector.segment)

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Allowance = FREELY) -> Solution:
        """Reach from `start` until the goal is met, nothing is left to gain, or the budget is spent."""
        room = room_size(problem, 26 * int(problem.packed[0][JOINTS]) + 50)
        return run(self, fabrik_entry, room, (self.steps, self.tolerance), problem, start, seed, allowance)


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
