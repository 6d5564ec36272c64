"""The step near contact: rows for near pairs, the nearest step that keeps them, and halving it (see `clear_steps`)."""

from __future__ import annotations

from typing import Any

from supple.kernels.algebra.nearest import project
from supple.kernels.algebra.vectors import copy
from supple.kernels.compiling import entry, flat, leaf, row, stage, table
from supple.kernels.near_pairs import find_near, none_nearer, open_near
from supple.kernels.tables import SLACK, Allowed, row_room

INFLUENCE = 0.05  # [m] beyond the margin within which pairs slow a step down
PART = 0.5  # of the slack that one step may use up
HALVINGS = 8
TOLERATED = 1e-9  # [m] by which rounding may bring a pair nearer
STILL = 1e-24  # the squared slope [m] below which no coordinate moves a pair
Q, TO, LEAST, MOST, STRIDE, WILLING = range(
    6
)  # what a move is: posture, where tasks want it, limits, strides, mobility
MOVE = 6


@leaf
def find_step_box(move: Any, near: Any) -> None:
    """The wanted step x, and the box of limits and strides that it stays in, from outside the limits with the way back."""
    for i in range(move.shape[1]):
        q, stride = move[Q, i], move[STRIDE, i]
        near.x[i] = move[TO, i] - q
        near.lower[i] = min(max(move[LEAST, i] - q, -stride), stride)
        near.upper[i] = max(min(move[MOST, i] - q, stride), -stride)


@leaf
def keeps_rows(near: Any, count: int) -> bool:
    """Whether the wanted step uses up no more of any slack than it may."""
    for r in range(count):
        change = 0.0
        for i in range(near.x.shape[0]):
            change += near.slope[r, i] * near.x[i]
        if not change >= -PART * near.slack[r]:
            return False
    return True


@leaf
def write_rows(near: Any, count: int, takes_back: bool) -> int:
    """The rows ``A x ≤ b`` of unit length that a step in the box could overstep; how many."""
    rows = 0
    for r in range(count):
        square, worst = 0.0, 0.0
        for i in range(near.x.shape[0]):
            a = -near.slope[r, i]
            square += a * a
            worst += a * (near.upper[i] if a > 0.0 else near.lower[i])
        allowed = PART * (near.slack[r] if takes_back else max(near.slack[r], 0.0))
        if square > STILL and not worst <= allowed:
            length = square**0.5
            for i in range(near.x.shape[0]):
                near.A[rows, i] = -near.slope[r, i] / length
            near.b[rows] = allowed / length
            rows += 1
    return rows


@stage
def slow_down(near: Any, count: int, room: Any, willing: Any) -> int:
    """The step nearest to x that keeps the rows and the box, in x; how many numbers of room were lacking for that."""
    n = near.x.shape[0]
    for attempt in range(2):
        rows = write_rows(near, count, attempt == 0)
        if row_room(rows) > room.shape[0]:
            return row_room(rows)
        A, b = table(flat(near.A), 0, rows, n), row(near.b, 0, rows)
        copy(near.x, near.out)
        if project(near.out, Allowed(near.lower, near.upper, willing, 0, A, b), willing, room, near.origin) <= SLACK:
            copy(near.out, near.x)
            return 0
    for i in range(n):
        near.x[i] = min(max(0.0, near.lower[i]), near.upper[i])
    return 0


@leaf
def move_by(move: Any, x: Any, part: float) -> None:
    """Where a part of the step leads, never past a limit by rounding."""
    for i in range(x.shape[0]):
        q, to = move[Q, i], move[Q, i] + part * x[i]
        if move[LEAST, i] <= q <= move[MOST, i]:
            to = min(max(to, move[LEAST, i]), move[MOST, i])
        move[TO, i] = to


@entry
def clear_step_entry(I: Any, F: Any, memory: Any, room: Any, bodies: Any, pairs: Any, move: Any) -> int:
    """Shorten the step ``move[TO] − move[Q]`` to one that keeps clear; how many numbers of room are lacking, mostly 0."""
    near = open_near(I, memory)
    count = find_near(I, F, memory, move[Q], bodies, pairs, INFLUENCE)
    find_step_box(move, near)
    if not keeps_rows(near, count):
        lacking = slow_down(near, count, room, move[WILLING])
        if lacking > 0:
            return lacking
    part = 1.0
    for _ in range(HALVINGS):
        move_by(move, near.x, part)
        if none_nearer(I, F, memory, move[TO], bodies, pairs, TOLERATED):
            return 0
        part *= 0.5
    copy(move[Q], move[TO])
    return 0
