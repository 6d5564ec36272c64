"""All postures of an arm that has no formula: eliminations that leave different angles, until two have all."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from supple.geometry.placements import Floats, inverse
from supple.solvers.any_arm.elimination import Elimination
from supple.solvers.closed_forms.axes import HINGES, Axes
from supple.solvers.closed_forms.closed_form import polished_rows
from supple.solvers.closed_forms.packed_arms import packed_arm
from supple.solvers.closed_forms.rows_of_arms import SCRATCH_COLUMNS, SCRATCH_ROWS

MOST = 64  # postures of one list, of which sixteen can be
ENOUGH = 2  # angles whose eliminations agree
WAYS = [(backwards, cut, swapped) for cut in range(HINGES) for backwards in (False, True) for swapped in (False, True)]
ALWAYS_SINGULAR = 1e-9  # in parts of its largest singular value: the smallest of a matrix that says nothing
TRIED = np.array([[0.3, -0.8, 0.7, 0.2, 0.9, 0.4], [-2.1, 1.3, -1.2, 2.4, -0.5, 1.7]])  # postures that show which


class Found(NamedTuple):
    """Postures between −π and π (k, 6), for how many angles left an elimination has all, and how many were made."""

    postures: Floats
    agreed: int
    tried: int


def left_by(way: tuple[bool, int, bool]) -> int:
    """The hinge whose angle an elimination leaves."""
    backwards, cut, _ = way
    return HINGES - 1 - (cut + 2) % HINGES if backwards else (cut + 2) % HINGES


class AnyArm:
    """An arm of six hinges, packed."""

    def __init__(self, axes: Axes) -> None:
        self.axes = axes
        round_ = replace(axes, lower=np.full(HINGES, -np.pi), upper=np.full(HINGES, np.pi))
        nowhere = np.zeros((HINGES, 3))
        self.wide, self.narrow = (packed_arm(one, nowhere, nowhere) for one in (round_, axes))
        self.scratch = np.zeros((SCRATCH_ROWS, SCRATCH_COLUMNS))

    @cached_property
    def ways(self) -> list[tuple[bool, int, bool]]:
        """The eliminations that say something of this arm, the farthest from singular first."""
        poses = [self.axes.placement(q) for q in TRIED]
        worth = {way: min(self._eliminated(pose, way).conditioning() for pose in poses) for way in WAYS}
        return sorted((way for way in WAYS if worth[way] > ALWAYS_SINGULAR), key=lambda way: -worth[way])

    def _eliminated(self, target: Floats, way: tuple[bool, int, bool]) -> Elimination:
        backwards, cut, swapped = way
        g = target @ inverse(self.axes.home)
        if backwards:
            return Elimination(self.axes.reversed, inverse(g), cut, swapped)
        return Elimination(self.axes, g, cut, swapped)

    def everywhere(self, target: Floats) -> Found:
        """All postures, whatever the limits."""
        union, zero = np.empty((0, HINGES)), np.zeros(HINGES)
        counts: list[tuple[int, int]] = []  # the angle that was left, and how many postures that gave
        agreed: set[int] = set()
        for way in self.ways:
            try:
                rows = self._eliminated(target, way).postures()
            except np.linalg.LinAlgError:
                continue
            own = self._polished(self.wide, zero, target, rows[:, ::-1] if way[0] else rows)
            union = self._polished(self.wide, zero, target, np.concatenate([union, own]))
            counts.append((left_by(way), len(own)))
            agreed = {angle for angle, count in counts if count == len(union)}
            if len(agreed) >= ENOUGH:
                break
        return Found(union, len(agreed), len(counts))

    def inside(self, target: Floats, start: Floats, postures: Floats) -> Floats:
        """Those of some postures that the limits allow, wound towards the start."""
        return self._polished(self.narrow, start, target, postures)

    def _polished(self, arm: Floats, start: Floats, target: Floats, rows: Floats) -> Floats:
        out = np.empty((MOST, HINGES))
        return out[: polished_rows(arm, start, target, self.scratch, np.ascontiguousarray(rows), out)]
