"""Seven hinges and a frame that stays: ``J d = e`` and one more equation, solved together with the direction of the curve.

J has the six rows of the frame's velocity (lengths in parts of the reach), e is by how much the frame misses the target. With a
row v behind J, of rank seven, d from ``(J; v) d = (e; x)`` is Newton's step to where ``v·q`` has grown by x, and τ from
``(J; v) τ = (0; 1)`` is along the curve. So one elimination gives both.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.triples import cross, minus, plus, times, triple, turned
from supple.kernels.compiling import entry, leaf, stage
from supple.solvers.closed_forms.polish import joined
from supple.solvers.self_motions.rows_of_curves import (
    ALONG,
    DIRECTION,
    EQUATIONS,
    HOME,
    ONTO,
    REACH,
    SEVEN,
    SIDE,
    STEP,
    THROUGH,
)

SINGULAR = 1e-12
NEWTON = 16
MIXED, WELL = 0.8, 10.0  # the first part of a mixture; how large a direction may be that it gives
FINE = 1e-11  # [rad] a last step of Newton's


@stage
def linearised(arm: Any, q: Any, target: Any, A: Any) -> None:
    """Six rows of the frame's velocity and, behind them, by how much it misses the target."""
    x, y, z, t = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    for j in range(SEVEN):
        h, p, c, s = triple(arm, ALONG + j), triple(arm, THROUGH + j), math.cos(q[j]), math.sin(q[j])
        there, at = joined(x, y, z, h), plus(joined(x, y, z, p), t)
        x, y, z = turned(there, c, s, x), turned(there, c, s, y), turned(there, c, s, z)
        t = plus(at, turned(there, c, s, minus(t, at)))
        for i in range(3):
            A[i, j], A[3 + i, j] = there[i], at[i]
    at, turn, scale = plus(joined(x, y, z, triple(arm, HOME + 3)), t), (0.0, 0.0, 0.0), 1.0 / arm[REACH, 0]
    for i in range(3):
        wanted = (target[0, i], target[1, i], target[2, i])
        turn = plus(turn, cross(joined(x, y, z, triple(arm, HOME + i)), wanted))
    for i in range(3):
        A[i, SEVEN], A[3 + i, SEVEN] = 0.5 * turn[i], scale * (target[i, 3] - at[i])
        A[i, SEVEN + 1] = A[3 + i, SEVEN + 1] = 0.0
    for j in range(SEVEN):
        moves = times(scale, cross((A[0, j], A[1, j], A[2, j]), minus(at, (A[3, j], A[4, j], A[5, j]))))
        for i in range(3):
            A[3 + i, j] = moves[i]


@stage
def solved_twice(A: Any, scratch: Any) -> bool:
    """Both solutions of seven equations into the scratch, and the sign of their determinant; False if they are singular."""
    side = 1.0
    for k in range(SEVEN):
        best = k
        for i in range(k + 1, SEVEN):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        if not abs(A[best, k]) > SINGULAR:
            return False
        side = side if (best == k) == (A[best, k] > 0.0) else -side
        for j in range(k, SEVEN + 2):
            A[k, j], A[best, j] = A[best, j], A[k, j]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, SEVEN):
            f = A[i, k] * inverse
            for j in range(k + 1, SEVEN + 2):
                A[i, j] -= f * A[k, j]
    scratch[STEP, SIDE] = side
    for k in range(SEVEN - 1, -1, -1):
        a, b, inverse = A[k, SEVEN], A[k, SEVEN + 1], 1.0 / A[k, k]
        for j in range(k + 1, SEVEN):
            a -= A[k, j] * scratch[STEP, j]
            b -= A[k, j] * scratch[DIRECTION, j]
        scratch[STEP, k], scratch[DIRECTION, k] = a * inverse, b * inverse
    return True


@stage
def newton_across(arm: Any, q: Any, target: Any, more: float, scratch: Any) -> float:
    """One step in place, to where what `ONTO` measures has grown by `more`; its largest entry, infinite if there is none."""
    A = scratch[EQUATIONS : EQUATIONS + SEVEN]
    linearised(arm, q, target, A)
    for j in range(SEVEN):
        A[SEVEN - 1, j] = scratch[ONTO, j]
    A[SEVEN - 1, SEVEN], A[SEVEN - 1, SEVEN + 1] = more, 1.0
    if not solved_twice(A, scratch):
        return math.inf
    most = 0.0
    for j in range(SEVEN):
        most = max(most, abs(scratch[STEP, j]))
    if not most < 1.0:
        return math.inf
    for j in range(SEVEN):
        q[j] += scratch[STEP, j]
    return most


@leaf
def size_of(v: Any) -> float:
    """The length of a vector of seven."""
    x = 0.0
    for j in range(SEVEN):
        x += v[j] * v[j]
    return math.sqrt(x)


@stage
def first_direction(arm: Any, q: Any, target: Any, out: Any, scratch: Any) -> float:
    """The direction of the curve through a posture: from a mixture of all coordinates if that can be held well, else from the
    coordinate that can be held best.

    Returns the sign of the determinant with the direction as its last row, 0 if there is none.
    """
    best, side = math.inf, 0.0
    A = scratch[EQUATIONS : EQUATIONS + SEVEN]
    for k in range(-1, SEVEN):
        linearised(arm, q, target, A)
        for j in range(SEVEN):
            A[SEVEN - 1, j] = 1.0 if j == k else (MIXED - 0.1 * j if k < 0 else 0.0)
        A[SEVEN - 1, SEVEN], A[SEVEN - 1, SEVEN + 1] = 0.0, 1.0
        if solved_twice(A, scratch):
            size = size_of(scratch[DIRECTION])
            if size < best:
                best, side = size, scratch[STEP, SIDE]
                for j in range(SEVEN):
                    out[j] = scratch[DIRECTION, j] / size
        if k < 0 and best < WELL:
            break
    return side


@stage
def held_at(arm: Any, q: Any, target: Any, k: int, x: float, scratch: Any) -> bool:
    """The posture of the curve, in place, where coordinate k is x; whether Newton's steps come there."""
    for j in range(SEVEN):
        scratch[ONTO, j] = 1.0 if j == k else 0.0
    for _ in range(NEWTON):
        size = newton_across(arm, q, target, x - q[k], scratch)
        if size < FINE:
            q[k] = x
            return True
        if not size < 0.5:
            return False
    return False


@entry
def cut_at(arm: Any, row: Any, target: Any, k: int, x: float, scratch: Any) -> int:
    """A vertex where coordinate k is x, in place, with its direction; 1 if there is one."""
    if not held_at(arm, row, target, k, x, scratch):
        return 0
    size, side = size_of(scratch[DIRECTION]), 0.0
    for j in range(SEVEN):
        side += scratch[DIRECTION, j] * row[SEVEN + j]
    for j in range(SEVEN):
        row[SEVEN + j] = scratch[DIRECTION, j] / (size if side >= 0.0 else -size)
    return 1
