"""What FABRIK does in one round: move points along a chain, and turn the joints so that they follow (see `fabrik`)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from supple.kernels.compiling import leaf, stage
from supple.kernels.layouts import PROBLEM
from supple.kernels.observe import observe
from supple.kernels.opening import Scratch, of
from supple.kernels.tables import open_evaluation, open_limits, open_tasks
from supple.kernels.tree import open_tree
from supple.solvers.baselines.common import BASELINE
from supple.solvers.baselines.one_coordinate import best_angle, span_of, spun

SAME = 1e-9  # axes nearer to each other than this [m] meet
BEHIND = 0.3  # weight of the centres behind the next
CENTRES, STATE = range(2)  # how many centres there are


class FabrikScratch(NamedTuple):
    """What reaching remembers; points are the centres and, last, the effector."""

    baseline: Any = of(BASELINE)
    chain: Any = of(3, "JOINTS")  # see `find_centres`
    length: Any = of("JOINTS")  # of the links
    points: Any = of("JOINTS + 1", 3)  # where the joints have put them
    P: Any = of("JOINTS + 1", 3)  # where reaching has put them
    pairs: Any = of("JOINTS + 1", 16)  # see `add_pairs`
    motion: Any = of(3, 4)  # what the turns so far have done
    pivot: Any = of(4, 4)  # the axis at hand, and scratch
    state: Any = of(STATE)


FABRIK = Scratch(FabrikScratch, PROBLEM)
open_fabrik = FABRIK.open


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
def read_points(I: Any, F: Any, memory: Any) -> None:
    """From the world table of the last evaluation the centres and, last, the effector go to the points."""
    tree = open_tree(I, F)
    tasks = open_tasks(I, F)
    work, s = open_evaluation(I, memory), open_fabrik(I, memory)
    last = int(s.state[CENTRES])
    for c in range(last):
        h = int(s.chain[1, c]) + 1
        for k in range(3):
            s.points[c, k] = work.world[h, 9 + k] + s.chain[2, c] * work.world[h, 12 + k]
    observe(tree, tasks, 0, work)
    for k in range(3):
        s.points[last, k] = work.seen[k]


@leaf
def measure_links(s: Any) -> None:
    """The lengths between the points."""
    P = s.points
    for i in range(int(s.state[CENTRES])):
        x, y, z = P[i + 1, 0] - P[i, 0], P[i + 1, 1] - P[i, 1], P[i + 1, 2] - P[i, 2]
        s.length[i] = math.sqrt(x * x + y * y + z * z)


@leaf
def draw_near(P: Any, fixed: int, moved: int, length: float) -> None:
    """Move a point along the line to a fixed one until they are `length` apart; along z if the two coincide."""
    x, y, z = P[moved, 0] - P[fixed, 0], P[moved, 1] - P[fixed, 1], P[moved, 2] - P[fixed, 2]
    distance = math.sqrt(x * x + y * y + z * z)
    if not distance > 0.0:
        x, y, z, distance = 0.0, 0.0, 1.0, 1.0
    s = length / distance
    P[moved, 0], P[moved, 1], P[moved, 2] = P[fixed, 0] + s * x, P[fixed, 1] + s * y, P[fixed, 2] + s * z


@leaf
def reach_out(s: Any, t0: float, t1: float, t2: float) -> None:
    """One backward and one forward pass over the points P, or the straight line to a target that is too far away."""
    n, P, length = int(s.state[CENTRES]), s.P, s.length
    root0, root1, root2 = P[0, 0], P[0, 1], P[0, 2]
    whole = 0.0
    for i in range(n):
        whole += length[i]
    far = math.sqrt((t0 - root0) ** 2 + (t1 - root1) ** 2 + (t2 - root2) ** 2) >= whole
    if not far:
        P[n, 0], P[n, 1], P[n, 2] = t0, t1, t2
        for i in range(n - 1, -1, -1):
            below = i + 1
            draw_near(P, below, i, length[i])
        P[0, 0], P[0, 1], P[0, 2] = root0, root1, root2
    for i in range(n):
        above = i + 1
        if far:
            P[above, 0], P[above, 1], P[above, 2] = t0, t1, t2
        draw_near(P, i, above, length[i])


@leaf
def add_pairs(last: int, points: Any, P: Any, pairs: Any) -> None:
    """``pairs[c] = Σ_k w_k (x_k, 1)(P_k, 1)ᵀ`` over the points k behind centre c, in one sweep; measured from the root."""
    tail = pairs[last]
    for i in range(16):
        tail[i] = 0.0
    for c in range(last - 1, -1, -1):
        k = c + 1
        for a in range(4):
            x = points[k, a] - points[0, a] if a < 3 else 1.0
            for b in range(4):
                product = x * (P[k, b] - points[0, b] if b < 3 else 1.0)
                pairs[c, 4 * a + b] = tail[4 * a + b] + product
                tail[4 * a + b] += BEHIND * product


@leaf
def carry_along(motion: Any, u0: float, u1: float, u2: float, p0: float, p1: float, p2: float, t: float) -> None:
    """A turn by t about the axis u through p follows the motion (3, 4) that has been made so far."""
    s, c = math.sin(t), 2.0 * math.sin(0.5 * t) ** 2  # 1 − cos t
    motion[0, 3], motion[1, 3], motion[2, 3] = motion[0, 3] - p0, motion[1, 3] - p1, motion[2, 3] - p2
    for k in range(4):
        x, y, z = spun(u0, u1, u2, s, c, motion[0, k], motion[1, k], motion[2, k])
        motion[0, k], motion[1, k], motion[2, k] = x, y, z
    motion[0, 3], motion[1, 3], motion[2, 3] = motion[0, 3] + p0, motion[1, 3] + p1, motion[2, 3] + p2


@leaf
def wanted_turn(sums: Any, motion: Any, u0: float, u1: float, u2: float, p: Any, span: Any) -> float:
    """The turn about the axis u through p that brings points nearest to where they should be.

    Their `sums` (see `add_pairs`) are of before the motion; ``N = Σ w (x − p)(P − p)ᵀ`` holds the harmonic's coefficients.
    """
    N, size = p[1:4], 0.0
    for a in range(3):
        for b in range(4):
            x = 0.0
            for c in range(4):
                x += (motion[a, c] - (p[0, a] if c == 3 else 0.0)) * sums[4 * c + b]
            N[a, b] = x
        for b in range(3):
            size += abs(N[a, b]) + abs(p[0, b] * N[a, 3])
            N[a, b] -= p[0, b] * N[a, 3]
    B = -N[0, 0] - N[1, 1] - N[2, 2]
    B += u0 * (N[0, 0] * u0 + N[0, 1] * u1 + N[0, 2] * u2)
    B += u1 * (N[1, 0] * u0 + N[1, 1] * u1 + N[1, 2] * u2)
    B += u2 * (N[2, 0] * u0 + N[2, 1] * u1 + N[2, 2] * u2)
    C = u0 * (N[2, 1] - N[1, 2]) + u1 * (N[0, 2] - N[2, 0]) + u2 * (N[1, 0] - N[0, 1])
    return best_angle(B, C, size, span)


@stage
def recover_turns(I: Any, F: Any, memory: Any, q: Any) -> None:
    """Turn the joints, from the root on, so that the points come to P.

    What is turned carries everything behind it, so one motion says where the axes and the points still to come have gone
    since the last evaluation, whose world table this reads.
    """
    tree = open_tree(I, F)
    allowed, W, s = open_limits(I, F), open_evaluation(I, memory).world, open_fabrik(I, memory)
    motion, p = s.motion, s.pivot
    add_pairs(int(s.state[CENTRES]), s.points, s.P, s.pairs)
    for k in range(3):
        for l in range(4):
            motion[k, l] = 1.0 if k == l else 0.0
    for j in range(s.chain.shape[1]):
        if s.chain[0, j] < 0.0:
            continue
        i, h = tree.coordinate[j], j + 1
        for k in range(3):
            p[0, k] = motion[k, 3]
            for l in range(3):
                p[0, k] += motion[k, l] * (W[h, 9 + l] - s.points[0, l])
        u0 = motion[0, 0] * W[h, 12] + motion[0, 1] * W[h, 13] + motion[0, 2] * W[h, 14]
        u1 = motion[1, 0] * W[h, 12] + motion[1, 1] * W[h, 13] + motion[1, 2] * W[h, 14]
        u2 = motion[2, 0] * W[h, 12] + motion[2, 1] * W[h, 13] + motion[2, 2] * W[h, 14]
        t = wanted_turn(s.pairs[int(s.chain[0, j])], motion, u0, u1, u2, p, span_of(allowed, q, i))
        new = min(max(q[i] + t, allowed.lower[i]), allowed.upper[i])
        carry_along(motion, u0, u1, u2, p[0, 0], p[0, 1], p[0, 2], new - q[i])
        q[i] = new
