"""FABRIK, forward and backward reaching (Aristidou & Lasenby 2011), on a chain of balls and hinges with one position goal.

Hinges whose axes meet in one point make up a *centre*: a ball, a universal joint, the shoulder of a robot. Between the
centres p_1 … p_n and the effector p_{n+1} lie rigid links of lengths d_i. Reaching forgets the joints and moves the points,
keeping the lengths:

    p_{n+1} = t;    p_i = p_{i+1} + d_i (p_i − p_{i+1})/|p_i − p_{i+1}|,    i = n … 1      (from the target to the root)
    p_1 = root;     p_{i+1} = p_i + d_i (p_{i+1} − p_i)/|p_{i+1} − p_i|,    i = 1 … n      (and back)

A target farther away than ``Σ d_i`` is approached on the straight line from the root. Then the joints are recovered from
the root on: each hinge is turned to the angle within its limits that best brings the next centre, and with less weight
those behind it, to where reaching has put them (`one_coordinate`). What hinges and limits keep from getting there, the next
reaching takes up from where the joints really are. That makes FABRIK with hinges and limits a heuristic: it may stop short
of a target that can be reached. Nothing makes the error fall at every round; the best posture on the way is the answer
(`baseline`).

Locked joints are part of the links. Linear limits are kept by projection after every round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from supple.carry import observe
from supple.compiled import entry, leaf, row, stage, table
from supple.effectors import Direction, Frame, Point
from supple.evaluate import gradient
from supple.goals import At
from supple.problem import Problem
from supple.solution import Solution
from supple.solvers.base import check_steps, reasons_of_a_descent_method, run
from supple.solvers.baseline import ALIKE, GOING, arrive, conclude, limits_of, read_room, room_of, room_size, settle
from supple.solvers.meter import FREELY, ITERATIONS, SPENT, STUCK, VALUE, Allowance, count, spent
from supple.solvers.one_coordinate import best_turn, harmonic, span
from supple.space import Floats
from supple.tree import read_tree
from supple.views import read_tasks, read_work

SAME = 1e-9  # axes nearer to each other than this [m] meet
BEHIND = 0.3  # weight of the centres behind the next
PATIENCE = 50  # rounds without a better posture before giving up


@leaf
def meeting(W: Any, a: int, b: int, s: float, alone: bool) -> float:
    """How far along the axis of row a the axis of row b meets it: anywhere if a is `alone`, else at s; NaN if it does not."""
    u0, u1, u2, w0, w1, w2 = W[a, 12], W[a, 13], W[a, 14], W[b, 12], W[b, 13], W[b, 14]
    x, y, z = W[b, 9] - W[a, 9], W[b, 10] - W[a, 10], W[b, 11] - W[a, 11]
    c = u0 * w0 + u1 * w1 + u2 * w2
    across = 1.0 - c * c
    if alone and across > 1e-6:
        s = (x * (u0 - c * w0) + y * (u1 - c * w1) + z * (u2 - c * w2)) / across
    x, y, z = x - s * u0, y - s * u1, z - s * u2
    along = x * w0 + y * w1 + z * w2
    x, y, z = x - along * w0, y - along * w1, z - along * w2
    return s if x * x + y * y + z * z < SAME * SAME else math.nan


@leaf
def find_centres(tree: Any, free: Any, W: Any, chain: Any) -> int:
    """Gather the hinges into centres, from the world table W of any posture; returns how many there are.

    Rows of `chain`: each joint's centre (−1: locked); each centre's first joint; how far along that joint's axis it lies.
    A lone hinge's centre is the point of its axis nearest to the centre before.
    """
    count, alone = 0, True
    for j in range(tree.parent.shape[0]):
        i, h = tree.coordinate[j], j + 1
        chain[0, j] = -1.0
        if i < 0 or not free[i] > 0.0:
            continue
        met = math.nan
        if count > 0:
            met = meeting(W, int(chain[1, count - 1]) + 1, h, chain[2, count - 1], alone)
        if met == met:
            chain[2, count - 1] = met
            alone = False
        else:
            chain[1, count], chain[2, count], alone = float(j), 0.0, True
            if count > 0:
                above = int(chain[1, count - 1]) + 1
                for k in range(3):
                    before = W[above, 9 + k] + chain[2, count - 1] * W[above, 12 + k]
                    chain[2, count] += (before - W[h, 9 + k]) * W[h, 12 + k]
            count += 1
        chain[0, j] = count - 1
    return count


@stage
def see(I: Any, F: Any, scratch: Any, chain: Any, points: Any) -> None:
    """From the world table of the last evaluation the centres and, last, the effector go to the rows of `points`."""
    tree, a, f = read_tree(I, F)
    tasks, _ = read_tasks(I, F, a, f)
    work, _ = read_work(I, scratch)
    last = points.shape[0] - 1
    for c in range(last):
        h = int(chain[1, c]) + 1
        for k in range(3):
            points[c, k] = work.world[h, 9 + k] + chain[2, c] * work.world[h, 12 + k]
    observe(tree, tasks, 0, work)
    for k in range(3):
        points[last, k] = work.seen[k]


@leaf
def pull(P: Any, fixed: int, moved: int, length: float) -> None:
    """Move a point along the line to a fixed one until they are `length` apart; along z if the two coincide."""
    x, y, z = P[moved, 0] - P[fixed, 0], P[moved, 1] - P[fixed, 1], P[moved, 2] - P[fixed, 2]
    distance = math.sqrt(x * x + y * y + z * z)
    if not distance > 0.0:
        x, y, z, distance = 0.0, 0.0, 1.0, 1.0
    s = length / distance
    P[moved, 0], P[moved, 1], P[moved, 2] = P[fixed, 0] + s * x, P[fixed, 1] + s * y, P[fixed, 2] + s * z


@leaf
def reach(P: Any, length: Any, t0: float, t1: float, t2: float) -> None:
    """One backward and one forward pass over the points P, or the straight line to a target that is too far away."""
    n = P.shape[0] - 1
    root0, root1, root2 = P[0, 0], P[0, 1], P[0, 2]
    whole = 0.0
    for i in range(n):
        whole += length[i]
    far = math.sqrt((t0 - root0) ** 2 + (t1 - root1) ** 2 + (t2 - root2) ** 2) >= whole
    if not far:
        P[n, 0], P[n, 1], P[n, 2] = t0, t1, t2
        for i in range(n - 1, -1, -1):
            below = i + 1
            pull(P, below, i, length[i])
        P[0, 0], P[0, 1], P[0, 2] = root0, root1, root2
    for i in range(n):
        above = i + 1
        if far:
            P[above, 0], P[above, 1], P[above, 2] = t0, t1, t2
        pull(P, i, above, length[i])


@stage
def turn_towards(I: Any, F: Any, scratch: Any, q: Any, j: int, at: int, points: Any, P: Any) -> None:
    """Turn the hinge j of centre `at` to bring the points behind it to where P wants them; the world table is up to date."""
    tree, _, _ = read_tree(I, F)
    allowed, (work, _) = limits_of(I, F), read_work(I, scratch)
    W, h, i = work.world, j + 1, tree.coordinate[j]
    p0, p1, p2 = W[h, 9], W[h, 10], W[h, 11]
    B, C, size, weight = 0.0, 0.0, 0.0, 1.0
    for k in range(at + 1, points.shape[0]):
        b, c, s = harmonic(
            W, h, points[k, 0] - p0, points[k, 1] - p1, points[k, 2] - p2, P[k, 0] - p0, P[k, 1] - p1, P[k, 2] - p2
        )
        B, C, size, weight = B + weight * b, C + weight * c, size + weight * s, BEHIND
    low, high = span(allowed, q, i)
    share = allowed.free[i]
    q[i] = min(max(q[i] + best_turn(B, C, size, low, high, share), allowed.lower[i]), allowed.upper[i])


@stage
def recover(I: Any, F: Any, scratch: Any, T: Any, room: Any, q: Any, chain: Any, points: Any, P: Any, info: Any) -> Any:
    """Turn the joints, from the root on, so that the points come to P: G there and the tasks not met.

    After each joint the points are looked at anew; where no more may be spent on that, the tasks not met are −1.
    """
    g, f, unmet = read_room(I, room).g, 0.0, 0
    last = -1
    for j in range(chain.shape[1]):
        last = j if chain[0, j] >= 0.0 else last
    for j in range(last + 1):
        if chain[0, j] >= 0.0 and unmet >= 0:
            turn_towards(I, F, scratch, q, j, int(chain[0, j]), points, P)
            if j == last:
                settle(I, F, room, q)
            unmet = -1
            if not spent(info):
                f, unmet = gradient(I, F, scratch, T, q, g)
                count(info)
                see(I, F, scratch, chain, points)
    return f, unmet if last >= 0 else -1


@stage
def fabrik_loop(I: Any, F: Any, scratch: Any, T: Any, q: Any, settings: Any, info: Any, trace: Any) -> None:
    """The loop."""
    steps, tolerance, joints = settings[0], settings[1], I[0]
    room = room_of(I, scratch)
    r = read_room(I, room)
    tree, a, at = read_tree(I, F)
    tasks, _ = read_tasks(I, F, a, at)
    t = tasks.term[0, 3]
    chain, length = table(room, r.rest, 3, joints), row(room, r.rest + 3 * joints, joints)
    settle(I, F, room, q)
    f, unmet = gradient(I, F, scratch, T, q, r.g)
    count(info)
    work, _ = read_work(I, scratch)
    centres = find_centres(tree, limits_of(I, F).free, work.world, chain)
    points = table(room, r.rest + 4 * joints, centres + 1, 3)
    P = table(room, r.rest + 7 * joints + 3, centres + 1, 3)
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
        f, unmet = recover(I, F, scratch, T, room, q, chain, points, P, info)
        if unmet < 0:
            reason = SPENT
            break
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
        check_steps(self.steps, self.tolerance)

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
        room = room_size(problem, 10 * int(problem.packed[0][0]) + 6)
        return run(self, fabrik_entry, room, (self.steps, self.tolerance), problem, start, seed, allowance)


def _unsuitable_joints(problem: Problem, segment: str) -> list[str]:
    """What the joints above a segment do that reaching knows nothing of, as reasons; locked ones may do anything."""
    figure, reasons = problem.figure, []
    free = dict(zip(figure.joints, problem.free, strict=True))
    at: str | None = segment
    while at is not None:
        joint = figure.part[at]
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
