"""All curves through the postures of slices, where one coordinate is held, and those that run between slices.

Those postures that a curve passes are its own: the next curve begins at one that no curve has passed, and one that passes
another's is that curve once more. In the end postures that all but meet the target, where an equation of a slice all but has a
solution, are brought onto curves that no slice meets.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import entry, stage
from supple.solvers.self_motions.on_curves import lies_on, owned
from supple.solvers.self_motions.rows_of_curves import DIRECTION, FULL, LENGTH, ONTO, OWNER, SEVEN, TANGENT
from supple.solvers.self_motions.staying import FINE, NEWTON, first_direction, newton_across, size_of
from supple.solvers.self_motions.tracing import whole_curve

ASIDE = 0.1  # [rad] by which a posture is moved that cannot be brought on from where it is


@stage
def brought_on(arm: Any, target: Any, row: Any, scratch: Any) -> bool:
    """A posture that all but meets the target, brought by shortest steps to where it does, with its direction; if it came."""
    if first_direction(arm, row, target, row[TANGENT:], scratch) == 0.0:
        return False
    for _ in range(NEWTON):
        for j in range(SEVEN):
            scratch[ONTO, j] = row[TANGENT + j]
        size = newton_across(arm, row, target, 0.0, scratch)
        if not size < 0.5:
            return False
        length = size_of(scratch[DIRECTION])
        for j in range(SEVEN):
            row[TANGENT + j] = scratch[DIRECTION, j] / length
        if size < FINE:
            return True
    return False


@stage
def another_curve(arm: Any, target: Any, seed: Any, vertices: Any, end: int, scratch: Any) -> bool:
    """Whether a posture that all but meets the target comes onto a curve that is not known, as vertex `end`."""
    row = vertices[end]
    for way in range(3):
        aside = ASIDE if way == 1 else (-ASIDE if way == 2 else 0.0)
        for j in range(SEVEN):
            row[j] = seed[j] + (aside if j % 2 == 0 else -aside)
        row[LENGTH] = 0.0
        if brought_on(arm, target, row, scratch):
            if not lies_on(arm, target, vertices, end, row, scratch):
                return True
            if way == 0:
                return False
    return False


@entry
def trace_curves(
    arm: Any, target: Any, held: int, seeds: Any, slices: Any, vertices: Any, told: Any, scratch: Any
) -> int:
    """All curves through some seeds, those of slice k in rows slices[k] to slices[k + 1], where `held` is k parts of a turn.

    The last two of `slices` are the rows of postures that all but are some: curves near them are looked for last. Curve c has
    the vertices told[c, 0] to told[c, 1] and told[c, 2] tells whether it is closed. Returns the number of curves.
    """
    end = count = 0
    some = slices[slices.shape[0] - 2]
    for k in range(some):
        seeds[k, OWNER] = -1.0
    for s in range(slices[slices.shape[0] - 1]):
        if s < some and seeds[s, OWNER] >= 0.0:
            continue
        if count + 1 >= told.shape[0] or end + 3 >= vertices.shape[0]:
            return count + FULL
        if s < some:
            seeds[s, OWNER] = count
            for j in range(SEVEN):
                vertices[end, j] = seeds[s, j]
            vertices[end, LENGTH] = 0.0
        elif not another_curve(arm, target, seeds[s], vertices, end, scratch):
            continue
        last, closed = whole_curve(arm, target, vertices, end, scratch)
        if last == 0:
            continue
        told[count, 0], told[count, 1], told[count, 2] = end, last, count
        if owned(arm, target, held, seeds, slices, vertices, told[count], scratch):
            for k in range(some):
                seeds[k, OWNER] = 0.0 if seeds[k, OWNER] == count else seeds[k, OWNER]  # of a curve that is known
            continue
        told[count, 2] = closed
        count, end = count + 1, last
    return count
