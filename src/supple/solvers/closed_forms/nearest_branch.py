"""The branch of an arm that is nearest to where it is, as the doors ask for it: row after row, into whole postures.

The branches are wound towards the start and ordered by their distance from it; the first that can be polished onto the target
inside the limits is the answer, and no other is polished. A row without one is left to whoever asked: out of reach or almost,
one of a family (a straight wrist), or a target that needs a closer look.

An arm of seven hinges whose first or last is *held* at x is one of six with another target: ``E_2 … E_7 M = E_1(−x) T``, or
``E_1 … E_6 M = T M⁻¹ E_7(−x) M``, a turn about the held axis as the frame sees it. Such *slices* are taken outwards from where
the held hinge is, until one has a branch inside the limits. Of a target that is near, within `NEAR` of where the frame is, no
slices are taken unless that is asked for: there a path should go on as it was.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.triples import minus, plus, triple, turned
from supple.kernels.compiling import entry, flat, leaf, row, stage
from supple.kernels.targets import PLACED, read_placements, read_points
from supple.problem.allowance import BUDGET, EVALUATIONS, ITERATIONS, MET as ALL_MET, REASON, ROWS, TRIES, VALUE
from supple.solvers.closed_forms.axes import HINGES
from supple.solvers.closed_forms.closed_form import polished, unpolished, wound
from supple.solvers.closed_forms.polish import HERE, place
from supple.solvers.closed_forms.rows_of_arms import (
    AIM,
    AT,
    BEST,
    BRANCHES,
    CHAINED,
    FAR,
    GIVEN,
    HELD,
    HELD_AT,
    HELD_LAST,
    KIND,
    MOST,
    NEAR_LOWER,
    NEAR_TOO,
    NEAR_UPPER,
    NUMBERS,
    OUT,
    OWN,
    SIZE,
)

LOOSE = 1e-3  # [rad] by which a branch may be outside before it is polished
SAME = 1e-6  # [rad²] by which polishing may change how far a branch is
SLICES = 24
NEAR = 0.2  # entries of rotations, and parts of the reach, that a near target is away at most
LOWER, UPPER, PACE = range(3)  # rows of the ranges


@leaf
def wound_near(x: float, scratch: Any, j: int, loose: float) -> float:
    """An angle of hinge j, wound towards the start within the ranges about it."""
    return wound(x, scratch[NEAR_LOWER, j] - loose, scratch[NEAR_UPPER, j] + loose, scratch[OWN, j])


@leaf
def rank_branches(scratch: Any, out: Any, count: int) -> None:
    """How far each branch is from the start, infinitely if it is outside."""
    for k in range(count):
        far = 0.0
        for j in range(HINGES):
            x = wound_near(out[k, j], scratch, j, LOOSE)
            far += (x - scratch[OWN, j]) * (x - scratch[OWN, j])
            out[k, j] = x
        scratch[FAR, k] = far if far < math.inf else math.inf  # NaN is outside


@leaf
def nearest_row(scratch: Any, count: int) -> int:
    """The branch that is nearest, the first of several."""
    best = 0
    for k in range(1, count):
        if scratch[FAR, k] < scratch[FAR, best]:
            best = k
    return best


@stage
def nearest_branch(kind: int, arm: Any, scratch: Any) -> int:
    """The row of the nearest branch; −1 if there is none inside the ranges, or some angle is free."""
    target, out = scratch[AIM : AIM + 4], scratch[OUT : OUT + MOST]
    branches = scratch[BRANCHES : BRANCHES + 2 * HINGES].reshape(MOST, HINGES, 2)
    count, free = unpolished(kind, arm, scratch[OWN], target, scratch, branches, out)
    if free:
        return -1
    rank_branches(scratch, out, count)
    for _ in range(2 * count):
        best = nearest_row(scratch, count)
        if not scratch[FAR, best] < math.inf:
            break
        scratch[FAR, best] = math.inf
        if polished(arm, out[best], target, scratch, scratch[BEST]):
            far = 0.0
            for j in range(HINGES):
                out[best, j] = wound_near(out[best, j], scratch, j, 0.0)
                far += (out[best, j] - scratch[OWN, j]) * (out[best, j] - scratch[OWN, j])
            if far <= scratch[FAR, nearest_row(scratch, count)] + SAME:
                return best
            if far < math.inf:
                scratch[FAR, best] = far  # a limit has turned it round: its turn comes later
    return -1


@leaf
def aim_at(T: Any, k: int, width: int, scratch: Any) -> bool:
    """Row k of the targets as four rows of four; whether it can be taken as it is."""
    given, numbers = row(flat(T), k * width, width), row(flat(scratch[NUMBERS : NUMBERS + 2]), 0, PLACED)
    fine = read_points(given, numbers) if width == PLACED else read_placements(given, numbers)
    for i in range(3):
        for j in range(3):
            scratch[AIM + i, j] = scratch[GIVEN + i, j] = numbers[3 + 3 * i + j]
        scratch[AIM + i, 3] = scratch[GIVEN + i, 3] = numbers[i]
    return fine


@leaf
def stand(way: Any, ranges: Any, q: Any, scratch: Any) -> bool:
    """The posture inside its ranges, and those of the arm about it; whether it is finite."""
    finite = True
    for i in range(q.shape[0]):
        finite = finite and math.isfinite(q[i])
        q[i] = min(max(q[i], ranges[LOWER, i]), ranges[UPPER, i])
    for j in range(HINGES):
        i = way[AT + j]
        scratch[OWN, j] = q[i]
        scratch[NEAR_LOWER, j] = max(ranges[LOWER, i], q[i] - ranges[PACE, i])
        scratch[NEAR_UPPER, j] = min(ranges[UPPER, i], q[i] + ranges[PACE, i])
    return finite


@leaf
def begin_row(way: Any, ranges: Any, scratch: Any, T: Any, Q: Any, report: Any, k: int) -> bool:
    """Where row k begins, and its target; whether they can be taken as they are, and something may be spent."""
    width = T.shape[0] * T.shape[1] // max(Q.shape[0], 1)
    if way[CHAINED] != 0 and k > 0:
        for i in range(Q.shape[1]):
            Q[k, i] = Q[k - 1, i]
    return report[k, BUDGET] > 0.0 and stand(way, ranges, Q[k], scratch) and aim_at(T, k, width, scratch)


@leaf
def end_row(way: Any, scratch: Any, best: int, spent: int, q: Any, report: Any) -> None:
    """The posture of a branch, and a row of the report; last, that it was tried."""
    for j in range(HINGES):
        q[way[AT + j]] = scratch[OUT + best, j]
    report[ITERATIONS], report[EVALUATIONS], report[VALUE], report[ROWS] = 0.0, spent, 0.0, 0.0
    report[REASON], report[TRIES] = ALL_MET, spent


@entry
def nearest_rows(
    way: Any, arm: Any, ranges: Any, scratch: Any, T: Any, Q: Any, report: Any, first: int, last: int
) -> int:
    """Rows first … last − 1 of Q (k, size) in place for the targets T; returns the first that is left to the caller.

    Chained rows each start where the one before ended.
    """
    for k in range(first, last):
        if not begin_row(way, ranges, scratch, T, Q, report, k):
            return k
        best = nearest_branch(way[KIND], arm, scratch)
        if best < 0:
            return k
        end_row(way, scratch, best, 1, Q[k], report[k])
    return last


@leaf
def hold(way: Any, arm: Any, x: float, scratch: Any) -> None:
    """The target of the six other hinges where the held one is at x."""
    h, p, c, s = triple(arm, HELD), triple(arm, HELD + 1), math.cos(x), -math.sin(x)
    if way[HELD_LAST] == 0:
        for j in range(3):
            a = turned(h, c, s, (scratch[GIVEN, j], scratch[GIVEN + 1, j], scratch[GIVEN + 2, j]))
            scratch[AIM, j], scratch[AIM + 1, j], scratch[AIM + 2, j] = a
        t = (scratch[GIVEN, 3], scratch[GIVEN + 1, 3], scratch[GIVEN + 2, 3])
        scratch[AIM, 3], scratch[AIM + 1, 3], scratch[AIM + 2, 3] = plus(p, turned(h, c, s, minus(t, p)))
        return
    for j in range(4):
        if j == 3:
            a = minus(p, turned(h, c, s, p))
        else:
            a = turned(h, c, s, (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0))
        for i in range(3):
            moved = scratch[GIVEN + i, 0] * a[0] + scratch[GIVEN + i, 1] * a[1] + scratch[GIVEN + i, 2] * a[2]
            scratch[AIM + i, j] = moved + (scratch[GIVEN + i, 3] if j == 3 else 0.0)


@leaf
def is_near(arm: Any, scratch: Any) -> bool:
    """Whether the six hinges have their frame near to the target, as they stand."""
    place(arm, scratch[OWN], scratch)
    most = 0.0
    for i in range(4):
        for j in range(3):
            off = abs(scratch[HERE + i, j] - scratch[AIM + j, i])
            most = max(most, off / arm[SIZE, 0] if i == 3 else off)
    return most < NEAR


@entry
def slice_rows(
    way: Any, arm: Any, ranges: Any, scratch: Any, T: Any, Q: Any, report: Any, first: int, last: int
) -> int:
    """As `nearest_rows`, for an arm of seven hinges: the first slice, outwards from the start, that has a branch."""
    at = way[HELD_AT]
    for k in range(first, last):
        if not begin_row(way, ranges, scratch, T, Q, report, k):
            report[k, EVALUATIONS] = 0.0
            return k
        here, report[k, EVALUATIONS] = Q[k, at], 0.0
        hold(way, arm, here, scratch)
        if way[NEAR_TOO] == 0 and is_near(arm, scratch):
            return k
        low, high = max(ranges[LOWER, at], here - ranges[PACE, at]), min(ranges[UPPER, at], here + ranges[PACE, at])
        low, high = max(low, here - math.pi), min(high, here + math.pi)
        best, spent, step = -1, 0, (high - low) / SLICES
        for i in range(2 * SLICES + 1):
            x = here + ((i + 1) // 2) * step * (1.0 if i % 2 == 1 else -1.0)
            if low <= x <= high and spent < report[k, BUDGET]:
                hold(way, arm, x, scratch)
                best = nearest_branch(way[KIND], arm, scratch)
                spent += 1
                if best >= 0:
                    Q[k, at] = x
                    break
        if best < 0:
            report[k, ITERATIONS], report[k, EVALUATIONS] = 0.0, spent
            return k
        end_row(way, scratch, best, spent, Q[k], report[k])
    return last
