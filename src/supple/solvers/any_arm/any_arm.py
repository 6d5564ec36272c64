"""All postures of an arm that has no formula: eliminations that leave different angles, until two have all.

They are made by kernels (`all_postures`); where those do not come to agree, the same eliminations are made once more with
eigenvalues in place of determinants (`elimination`), and tell.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from supple.geometry.placements import Floats, inverse
from supple.solvers.any_arm.all_postures import AGREEING, all_postures
from supple.solvers.any_arm.elimination import Elimination
from supple.solvers.any_arm.rows_of_elimination import COSINES, NODES, NUMBERS, QUARTERS, SAMPLES
from supple.solvers.closed_forms.axes import HINGES, Axes
from supple.solvers.closed_forms.closed_form import polished_rows
from supple.solvers.closed_forms.rows_of_arms import SCRATCH_COLUMNS, SCRATCH_ROWS

MOST = 64  # postures of one list, of which sixteen can be
WAYS_TRIED = 12  # eliminations by kernels
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
        self.wide, self.narrow = (one.packed(nowhere, nowhere) for one in (round_, axes))
        self.scratch = np.zeros((SCRATCH_ROWS, SCRATCH_COLUMNS))
        self.memory = np.zeros(NUMBERS)
        around = 2.0 * np.pi * np.arange(SAMPLES) / SAMPLES
        self.memory[COSINES : COSINES + 2 * SAMPLES] = np.concatenate([np.cos(around), np.sin(around)])
        self.memory[QUARTERS : QUARTERS + 4 * NODES] = np.cos(0.5 * np.pi * np.arange(4 * NODES) / NODES)

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

    @cached_property
    def compiled_ways(self) -> np.ndarray:
        """The eliminations that kernels make: those two first that leave different angles (k, 4)."""
        ways = [(*way[:2], left_by(way), way[2]) for way in self.ways][:WAYS_TRIED]
        other = next((k for k, way in enumerate(ways) if way[2] != ways[0][2]), 1)
        ways[1:1] = [ways.pop(other)] if len(ways) > 1 else []
        return np.array(ways, dtype=np.int64).reshape(-1, 4)

    def everywhere(self, target: Floats) -> Found:
        """All postures, whatever the limits."""
        out, aim = np.empty((MOST, HINGES)), np.ascontiguousarray(target, dtype=np.float64)
        told = all_postures(self.compiled_ways, self.wide, aim, self.scratch, self.memory, out, ENOUGH)
        count, agreed = told % AGREEING, told // AGREEING
        if agreed >= ENOUGH:
            return Found(out[:count], agreed, agreed)
        return self._by_eigenvalues(target, out[:count])

    def _by_eigenvalues(self, target: Floats, union: Floats) -> Found:
        """All postures, some of which are known."""
        zero = np.zeros(HINGES)
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
