"""Newton's steps on the arm's own geometry, and how far a posture is from the target."""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.triples import Three, cross, minus, plus, put_triple, times, triple, turned
from supple.kernels.compiling import leaf, stage
from supple.solvers.closed_forms.rows_of_arms import HOME, OWN_ALONG, OWN_THROUGH, SYSTEM

HERE = 11  # columns of a placement, over the scratch of the quartic
SINGULAR = 1e-13


@leaf
def joined(x: Three, y: Three, z: Three, a: Three) -> Three:
    """``x a₁ + y a₂ + z a₃``."""
    return plus(plus(times(a[0], x), times(a[1], y)), times(a[2], z))


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
    A = scratch[SYSTEM : SYSTEM + 6]
    x, y, z, t = (
        (1.0, 0.0, 0.0),
        (0.0, 1.0, 0.0),
        (0.0, 0.0, 1.0),
        (0.0, 0.0, 0.0),
    )  # what the hinges so far make of space
    for j in range(6):
        h, p, c, s = triple(arm, OWN_ALONG + j), triple(arm, OWN_THROUGH + j), math.cos(q[j]), math.sin(q[j])
        h, p = joined(x, y, z, h), plus(joined(x, y, z, p), t)
        x, y, z, t = turned(h, c, s, x), turned(h, c, s, y), turned(h, c, s, z), plus(p, turned(h, c, s, minus(t, p)))
        for i in range(3):
            A[i, j], A[3 + i, j] = h[i], p[i]
    at, turn = plus(joined(x, y, z, triple(arm, HOME + 3)), t), (0.0, 0.0, 0.0)
    for i in range(3):
        wanted = (target[0, i], target[1, i], target[2, i])
        turn = plus(turn, cross(joined(x, y, z, triple(arm, HOME + i)), wanted))
    for i in range(3):
        A[i, 6], A[3 + i, 6] = 0.5 * turn[i], target[i, 3] - at[i]
    for j in range(6):
        moves = cross((A[0, j], A[1, j], A[2, j]), minus(at, (A[3, j], A[4, j], A[5, j])))
        for i in range(3):
            A[3 + i, j] = moves[i]
    if not eliminated(A):
        return False
    for j in range(6):
        if not abs(A[j, 6]) < 1.0:
            return False
    for j in range(6):
        q[j] += A[j, 6]
    return True
