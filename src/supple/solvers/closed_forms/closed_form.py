"""All branches of an arm that has a formula: evaluated on its neighbour, polished on the arm itself, checked, inside limits.

Each branch is wound, hinge by hinge, to the value inside the limits that is nearest to the start; one that has none there is
left out. Branches that are nearly one are given once, and said to be a cluster: a stretched arm has two that meet. Where an
angle is free (a straight wrist, a hand over the first axis), the start's is taken, and the answer says that it is one of a
family.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from supple.geometry.placements import Floats
from supple.kernels.algebra.triples import by_columns, by_rows, put_triple, times, triple
from supple.kernels.compiling import entry, leaf, stage, untyped
from supple.solvers.closed_forms.axes import HINGES, Axes
from supple.solvers.closed_forms.planar import planar_branches
from supple.solvers.closed_forms.polish import missed_by, newton_step
from supple.solvers.closed_forms.recognition import PLANAR, Formula
from supple.solvers.closed_forms.rows_of_arms import (
    BACKWARDS,
    BEST,
    CLUSTER,
    FAMILY,
    HOME,
    LOWER,
    MOST,
    MOTION,
    SCRATCH_COLUMNS,
    SCRATCH_ROWS,
    TURNS,
    UPPER,
)
from supple.solvers.closed_forms.wristed import wristed_branches

TWO_PI = 2.0 * math.pi
EXACT = 1e-13  # [m] a miss that cannot be polished away
MET = 1e-9  # [m] the largest miss of what is given
STEPS = 12
ONE = 1e-6  # [rad] branches no farther apart count as one
DROPPED, TWICE, KEPT = 0, 1, 2  # what becomes of a branch
AT_LIMIT = 1e-12  # [rad] by which rounding may leave the limits


@leaf
def wanted_motion(arm: Any, target: Any, backwards: bool, scratch: Any) -> None:
    """``g = T M⁻¹``, or its inverse."""
    for i in range(3):
        for j in range(3):
            x = 0.0
            for k in range(3):
                x += target[j, k] * arm[HOME + k, i]
            scratch[MOTION + i, j] = x  # column i: T_R (row i of M_R)
    home = by_columns(scratch, MOTION, triple(arm, HOME + 3))
    for j in range(3):
        scratch[MOTION + 3, j] = target[j, 3] - home[j]
    if backwards:
        put_triple(scratch, MOTION + 3, times(-1.0, by_rows(scratch, MOTION, triple(scratch, MOTION + 3))))
        for i in range(3):
            for j in range(i):
                x = scratch[MOTION + i, j]
                scratch[MOTION + i, j] = scratch[MOTION + j, i]
                scratch[MOTION + j, i] = x


@leaf
def wound(x: float, low: float, high: float, near: float) -> float:
    """The value nearest to one, whole turns from x, within the limits; NaN if there is none."""
    x += TWO_PI * math.floor((near - x) / TWO_PI + 0.5)
    if x > high + AT_LIMIT:
        x -= TWO_PI * math.ceil((x - high - AT_LIMIT) / TWO_PI)
    if x < low - AT_LIMIT:
        x += TWO_PI * math.ceil((low - AT_LIMIT - x) / TWO_PI)
        if x > high + AT_LIMIT:
            return math.nan
    return min(max(x, low), high)


@stage
def polished(arm: Any, q: Any, target: Any, scratch: Any, best: Any) -> bool:
    """Newton's steps as long as they help; whether the target is met."""
    miss = missed_by(arm, q, target, scratch)
    for _ in range(STEPS):
        if not miss > EXACT:
            break
        for j in range(HINGES):
            best[j] = q[j]
        if not newton_step(arm, q, target, scratch):
            break
        now = missed_by(arm, q, target, scratch)
        if not now < miss:
            for j in range(HINGES):
                q[j] = best[j]
            break
        miss = now
    return miss <= MET


@leaf
def is_new(out: Any, n: int) -> bool:
    """Whether row n is another posture than the rows before it, whole turns not counted."""
    for i in range(n):
        most = 0.0
        for j in range(HINGES):
            off = (out[i, j] - out[n, j]) / TWO_PI
            most = max(most, abs(off - math.floor(off + 0.5)))
        if most * TWO_PI <= ONE:
            return False
    return True


@stage
def sifted(arm: Any, start: Any, target: Any, scratch: Any, out: Any, n: int) -> int:
    """Row n of out polished, and wound into the limits: whether it is kept, is none, or was there before."""
    if not polished(arm, out[n], target, scratch, scratch[BEST]):
        return DROPPED
    if not is_new(out, n):
        return TWICE
    for j in range(HINGES):
        lower, upper = arm[LOWER + j // 3, j % 3], arm[UPPER + j // 3, j % 3]
        out[n, j] = wound(out[n, j], lower, upper, start[j])
        if math.isnan(out[n, j]):
            return DROPPED
    return KEPT


@stage
def unpolished(kind: int, arm: Any, start: Any, target: Any, scratch: Any, branches: Any, out: Any) -> tuple[int, int]:
    """The angles that the formula gives into the rows of out; returns how many, and whether some angle is free."""
    turns = scratch[TURNS : TURNS + HINGES]
    for j in range(HINGES):
        turns[j, 0], turns[j, 1] = math.cos(start[j]), math.sin(start[j])
    backwards = kind >= BACKWARDS
    form = kind - BACKWARDS if backwards else kind
    wanted_motion(arm, target, backwards, scratch)
    if backwards:
        for j in range(3):
            for i in range(2):
                x = turns[j, i]
                turns[j, i] = turns[5 - j, i]
                turns[5 - j, i] = x
    if form == PLANAR:
        count, free = planar_branches(arm, turns, scratch, branches)
    else:
        count, free = wristed_branches(form, arm, turns, scratch, branches)
    for k in range(count):
        for j in range(HINGES):
            i = 5 - j if backwards else j
            out[k, j] = math.atan2(branches[k, i, 1], branches[k, i, 0])
    return count, free


@entry
def closed_form(kind: int, arm: Any, start: Any, target: Any, scratch: Any, branches: Any, out: Any) -> int:
    """All branches into the rows of out; returns their number, with `FAMILY` and `CLUSTER`."""
    count, free = unpolished(kind, arm, start, target, scratch, branches, out)
    said = FAMILY if free else 0
    n = 0
    for k in range(count):
        for j in range(HINGES):
            out[n, j] = out[k, j]
        kept = sifted(arm, start, target, scratch, out, n)
        said |= CLUSTER if kept == TWICE else 0
        n += kept == KEPT
    return n + said


@entry
def polished_rows(arm: Any, start: Any, target: Any, scratch: Any, rows: Any, out: Any) -> int:
    """The postures in rows that can be polished to the target, each once, into the rows of out; returns their number."""
    n = 0
    for k in range(rows.shape[0]):
        if n == out.shape[0]:
            break
        for j in range(HINGES):
            out[n, j] = rows[k, j]
        n += sifted(arm, start, target, scratch, out, n) == KEPT
    return n


class ClosedForm:
    """An arm with its formula, packed: asked for one target after the other."""

    def __init__(self, axes: Axes, formula: Formula) -> None:
        self.axes, self.formula = axes, formula
        self.kind = formula.kind + (BACKWARDS if formula.backwards else 0)
        self.arm = axes.packed(formula.along, formula.through)
        self.scratch, self.branches = np.zeros((SCRATCH_ROWS, SCRATCH_COLUMNS)), np.zeros((MOST, HINGES, 2))
        self._call: Any = None

    def __call__(self, target: Floats, start: Floats) -> tuple[Floats, bool, bool]:
        """All branches inside the limits, wound towards the start; if an angle is free, and if some are nearly one."""
        out = np.empty((MOST, HINGES))
        if self._call is None:
            closed_form(self.kind, self.arm, start, target, self.scratch, self.branches, out)
            self._call = untyped(closed_form)
        found = self._call(self.kind, self.arm, start, target, self.scratch, self.branches, out)
        return out[: found % FAMILY], bool(found & FAMILY), bool(found & CLUSTER)
