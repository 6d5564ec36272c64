"""Self-motions traced: from a posture along its curve, until it is back where it began, but for whole turns.

A step goes along the direction of the curve and bends as it bent before; Newton's steps across that direction bring it back
(`staying`), and its length is chosen so that the first of them stays small. It is halved where they do not contract, where the
direction turns too far, or where the sign of the determinant shows that it came onto another curve; what would be too short for
that ends a curve as broken: there it runs into a singular posture. Between two vertices the curve is read by Hermite's cubic.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf, stage
from supple.solvers.self_motions.rows_of_curves import (
    BROKEN,
    CLOSED,
    DIRECTION,
    LENGTH,
    ONTO,
    SEVEN,
    SIDE,
    STEP,
    TANGENT,
    TRIAL,
)
from supple.solvers.self_motions.staying import first_direction, newton_across, size_of

TWO_PI = 2.0 * math.pi
LONGEST, SHORTEST = 0.3, 1e-5  # steps [rad]
BENT = 4e-3  # [rad] the first correction that is wanted
STRAIGHT = 0.95  # the cosine between directions at both ends of a step
SETTLED = 1e-5  # [rad] a correction that leaves nothing to correct
SAME_POINT = 1e-5  # [rad] two postures that are one


@leaf
def short_turn(x: float) -> float:
    """An angle without whole turns."""
    return x - TWO_PI * math.floor(x / TWO_PI + 0.5)


@leaf
def between(a: Any, b: Any, s: float, j: int) -> float:
    """Coordinate j of the curve at a part s of the way from one vertex to the next."""
    length, x, y = a[LENGTH], a[j], b[j]
    u = 1.0 - s
    return (
        x * u * u * (1.0 + 2.0 * s)
        + y * s * s * (3.0 - 2.0 * s)
        + length * s * u * (u * a[TANGENT + j] - s * b[TANGENT + j])
    )


@leaf
def slope_between(a: Any, b: Any, s: float, j: int) -> float:
    """Its slope there, in parts of the way."""
    u = 1.0 - s
    steep = 6.0 * s * u * (b[j] - a[j])
    return steep + a[LENGTH] * (u * (1.0 - 3.0 * s) * a[TANGENT + j] - s * (2.0 - 3.0 * s) * b[TANGENT + j])


@stage
def stepped(arm: Any, target: Any, vertices: Any, at: int, first: int, h: float, side: float, scratch: Any) -> float:
    """Vertex at + 1, from those before it; the first correction, infinite if the step is too long."""
    a, b = vertices[at], vertices[at + 1]
    for j in range(SEVEN):
        bend = 0.0
        if at > first:
            before = vertices[at - 1]
            bend = (a[TANGENT + j] - before[TANGENT + j]) / before[LENGTH]
        b[j] = a[j] + h * (a[TANGENT + j] + 0.5 * h * bend)
        scratch[ONTO, j] = a[TANGENT + j]
    begun, last, size = 0.0, 0.3 * h, math.inf
    for i in range(6):
        size = newton_across(arm, b, target, 0.0, scratch)
        if not size < last:
            return math.inf
        begun = size if i == 0 else begun
        last = max(0.5 * size, SETTLED)
        if size < SETTLED:
            break
    if not size < SETTLED:
        return math.inf
    length = size_of(scratch[DIRECTION])  # of which 1 is along the direction before
    if not length * STRAIGHT < 1.0 or scratch[STEP, SIDE] != side:
        return math.inf
    chord = 0.0
    for j in range(SEVEN):
        b[TANGENT + j] = scratch[DIRECTION, j] / length
        chord += (b[j] - a[j]) * (b[j] - a[j])
    a[LENGTH], b[LENGTH] = math.sqrt(chord) * (1.0 + (1.0 - 1.0 / length) / 12.0), 0.0
    return begun


@stage
def is_back(arm: Any, target: Any, vertices: Any, at: int, first: int, scratch: Any) -> bool:
    """Whether the step from a vertex comes past the first; then that is the next vertex, turned as the curve has turned."""
    a, b, start, p = vertices[at], vertices[at + 1], vertices[first], scratch[TRIAL]
    along, far, ways = 0.0, 0.0, 0.0
    for j in range(SEVEN):
        x = short_turn(start[j] - a[j])
        along += x * a[TANGENT + j]
        far += x * x
        ways += start[TANGENT + j] * a[TANGENT + j]
    if ways < 0.5 or along < -SAME_POINT or along > a[LENGTH] or far > 2.0 * a[LENGTH] * a[LENGTH]:
        return False
    s, more = min(max(along / a[LENGTH], 0.0), 1.0), 0.0
    for j in range(SEVEN):
        p[j] = between(a, b, s, j)
        scratch[ONTO, j] = start[TANGENT + j]
    for _ in range(6):
        more = 0.0
        for j in range(SEVEN):
            more += start[TANGENT + j] * short_turn(start[j] - p[j])
        if newton_across(arm, p, target, more, scratch) < SETTLED:
            break
    chord = 0.0
    for j in range(SEVEN):
        if abs(short_turn(start[j] - p[j])) > SAME_POINT:
            return False
    for j in range(SEVEN):
        b[j] = p[j] + short_turn(start[j] - p[j])
        b[TANGENT + j] = start[TANGENT + j]
        chord += (b[j] - a[j]) * (b[j] - a[j])
    a[LENGTH] = math.sqrt(chord)
    return True


@stage
def traced(arm: Any, target: Any, vertices: Any, first: int, at: int, side: float, scratch: Any) -> tuple[int, int]:
    """The curve on from vertex `at`, the last so far; its end, and whether it is closed."""
    h = 0.1
    while at + 1 < vertices.shape[0]:
        begun = stepped(arm, target, vertices, at, first, h, side, scratch)
        if not begun < 3.0 * BENT:
            h *= 0.5
            if h < SHORTEST:
                return at + 1, BROKEN
            continue
        if at > first + 1 and is_back(arm, target, vertices, at, first, scratch):
            return at + 2, CLOSED
        at += 1
        h = min(LONGEST, h * min(2.0, max(0.5, (BENT / max(begun, 1e-9)) ** (1.0 / 3.0))))
    return at + 1, BROKEN


@leaf
def turned_round(vertices: Any, first: int, end: int) -> None:
    """The vertices of a curve in the other order."""
    for i in range((end - first) // 2):
        for j in range(TANGENT):
            vertices[first + i, j], vertices[end - 1 - i, j] = vertices[end - 1 - i, j], vertices[first + i, j]
            vertices[first + i, TANGENT + j], vertices[end - 1 - i, TANGENT + j] = (
                vertices[end - 1 - i, TANGENT + j],
                vertices[first + i, TANGENT + j],
            )
        vertices[first + i, LENGTH], vertices[end - 1 - i, LENGTH] = (
            vertices[end - 1 - i, LENGTH],
            vertices[first + i, LENGTH],
        )
    for i in range(first, end):
        for j in range(SEVEN):
            vertices[i, TANGENT + j] = -vertices[i, TANGENT + j]
        vertices[i, LENGTH] = vertices[i + 1, LENGTH] if i + 1 < end else 0.0


@stage
def whole_curve(arm: Any, target: Any, vertices: Any, first: int, scratch: Any) -> tuple[int, int]:
    """The curve through a vertex, both ways if it is broken; its end, 0 if it has no direction, and whether it is closed."""
    side = first_direction(arm, vertices[first], target, vertices[first, TANGENT:], scratch)
    if side == 0.0:
        return 0, BROKEN
    last, closed = traced(arm, target, vertices, first, first, side, scratch)
    if closed == BROKEN:
        turned_round(vertices, first, last)
        last, _ = traced(arm, target, vertices, first, last - 1, -side, scratch)
    vertices[last - 1, LENGTH] = 0.0  # a step that was tried in vain may have left one
    return last, closed
