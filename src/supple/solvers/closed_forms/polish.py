"""Newton's steps on the arm's own geometry, and how far a posture is from the target."""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.triples import (
    cross,
    minus,
    plus,
    put_triple,
    triple,
    turned,
)
from supple.kernels.compiling import leaf, stage
from supple.solvers.closed_forms.rows_of_arms import HOME, OWN_ALONG, OWN_THROUGH, SYSTEM

HERE = 11  # columns of a placement, over the scratch of the quartic
SINGULAR = 1e-13


@leaf
def place(arm: Any, q: Any, scratch: Any) -> None:
    """The frame's columns and place, from the last hinge to the first; below, each axis where the hinges before it bring it."""
    for i in range(4):
        put_triple(scratch, HERE + i, triple(arm, HOME + i))
    for j in range(5, -1, -1):
        h, p, c, s = triple(arm, OWN_ALONG + j), triple(arm, OWN_THROUGH + j), math.cos(q[j]), math.sin(q[j])
        for i in range(3):
            put_triple(scratch, HERE + i, turned(h, c, s, triple(scratch, HERE + i)))
        put_triple(scratch, HERE + 3, plus(p, turned(h, c, s, minus(triple(scratch, HERE + 3), p))))


@stage
def missed_by(arm: Any, q: Any, target: Any, scratch: Any) -> float:
    """The largest entry by which the frame is not at the target."""
    place(arm, q, scratch)
    most = 0.0
    for i in range(4):
        for j in range(3):
            off = abs(scratch[HERE + i, j] - target[j, i])
            most = most if off <= most else off  # NaN comes through
    return most


@stage
def eliminated(A: Any) -> bool:
    """Solve six equations in place, the right side in column 6; False if they are singular."""
    for k in range(6):
        best = k
        for i in range(k + 1, 6):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        if not abs(A[best, k]) > SINGULAR:
            return False
        for j in range(k, 7):
            A[k, j], A[best, j] = A[best, j], A[k, j]
        for i in range(k + 1, 6):
            f = A[i, k] / A[k, k]
            for j in range(k + 1, 7):
                A[i, j] -= f * A[k, j]
    for k in range(5, -1, -1):
        for j in range(k + 1, 6):
            A[k, 6] -= A[k, j] * A[j, 6]
        A[k, 6] /= A[k, k]
    return True


@stage
def newton_step(arm: Any, q: Any, target: Any, scratch: Any) -> bool:
    """One step of Newton's in place; False, and none, if it would be singular or longer than one."""
    place(arm, q, scratch)
    A = scratch[SYSTEM : SYSTEM + 6]
    at = triple(scratch, HERE + 3)
    turn = (0.0, 0.0, 0.0)
    for i in range(3):
        wanted = (target[0, i], target[1, i], target[2, i])
        turn = plus(turn, cross(triple(scratch, HERE + i), wanted))
    for i in range(3):
        A[i, 6], A[3 + i, 6] = 0.5 * turn[i], target[i, 3] - at[i]
    for j in range(6):
        h, p = triple(arm, OWN_ALONG + j), triple(arm, OWN_THROUGH + j)
        for k in range(j - 1, -1, -1):
            before, on, c, s = triple(arm, OWN_ALONG + k), triple(arm, OWN_THROUGH + k), math.cos(q[k]), math.sin(q[k])
            h, p = turned(before, c, s, h), plus(on, turned(before, c, s, minus(p, on)))
        moves = cross(h, minus(at, p))
        for i in range(3):
            A[i, j], A[3 + i, j] = h[i], moves[i]
    if not eliminated(A):
        return False
    for j in range(6):
        if not abs(A[j, 6]) < 1.0:
            return False
    for j in range(6):
        q[j] += A[j, 6]
    return True
