"""All postures in slices: one of seven hinges held, at equal parts of a turn, and the formula of the six others."""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import entry
from supple.solvers.closed_forms.axes import HINGES
from supple.solvers.closed_forms.closed_form import DROPPED, KEPT, TWO_PI, sifted, unpolished
from supple.solvers.closed_forms.nearest_branch import hold
from supple.solvers.closed_forms.polish import missed_by
from supple.solvers.closed_forms.rows_of_arms import (
    AIM,
    AT,
    BACKWARDS,
    BRANCHES,
    GIVEN,
    HELD_AT,
    KIND,
    MOST,
    OUT,
    OWN,
    SIZE,
)

# entries of placements (of lengths parts of the reach) by which a branch may miss: to be polished, and to be looked at at all
NEARLY, FAR_OFF = 1e-3, 0.05


@entry
def slice_seeds(way: Any, arm: Any, target: Any, scratch: Any, seeds: Any, slices: Any) -> int:
    """All postures in every slice into rows of `seeds`, those of slice k from row slices[k] on.

    Behind them, to row `slices[-1]`, come postures that all but are some: there an equation all but has a solution. Returns
    how many slices are not seen well: an angle is free there.
    """
    out, start, count = scratch[OUT : OUT + MOST], scratch[OWN], slices.shape[0] - 2
    branches = scratch[BRANCHES : BRANCHES + 2 * HINGES].reshape(MOST, HINGES, 2)
    for i in range(3):
        for j in range(4):
            scratch[GIVEN + i, j] = target[i, j]
    for j in range(HINGES):
        start[j] = 0.0
    total = blind = 0
    almost, scale = seeds.shape[0], max(1.0, arm[SIZE, 0])
    for k in range(count):
        slices[k] = total
        x = TWO_PI * k / count
        hold(way, arm, x, scratch)
        aim = scratch[AIM : AIM + 4]
        found, free = unpolished(way[KIND], arm, start, aim, scratch, branches, out)
        blind += free
        n = 0
        for i in range(found):
            for j in range(HINGES):
                out[n, j] = out[i, j]
            miss = missed_by(arm, out[n], aim, scratch)
            if not miss < FAR_OFF * scale:
                continue
            became = sifted(arm, start, aim, scratch, out, n) if miss < NEARLY * scale else DROPPED
            n += became == KEPT
            if became == DROPPED and almost > total + MOST:
                almost -= 1
                for j in range(HINGES):
                    own = HINGES - 1 - j if way[KIND] >= BACKWARDS else j
                    seeds[almost, way[AT + j]] = math.atan2(branches[i, own, 1], branches[i, own, 0])
                seeds[almost, way[HELD_AT]] = x
        for i in range(n):
            if total == almost:
                break
            for j in range(HINGES):
                seeds[total, way[AT + j]] = out[i, j]
            seeds[total, way[HELD_AT]] = x if x <= 0.5 * TWO_PI else x - TWO_PI
            total += 1
    slices[count] = slices[count + 1] = total
    while almost < seeds.shape[0]:
        for j in range(HINGES + 1):
            seeds[slices[count + 1], j] = seeds[almost, j]
        slices[count + 1] += 1
        almost += 1
    return blind
