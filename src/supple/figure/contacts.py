"""Which segments of a figure can touch each other, and which do.

Segments keep clear of things with *bars*: balls and capsules. Some pairs of segments are never tested against each other:

* *joined* pairs: parts of one rigid body, a segment and the one that it hangs on, the two ends of a loop. Bars overlap
  where segments are joined. What hangs on a segment without bars is not joined to what that hangs on: they are two joints
  apart, and may meet. What floats above another segment, free to slide in all three directions, is not joined to it;
* pairs that *touch* in the rest posture, such as a thigh and the waist. If they are in each other's way there, the rest
  posture says that it does not matter. `Problem.notes` names them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import number
from supple.basics.values import FrozenDict
from supple.geometry.shapes import Ball, Capsule, Core, enclosing

SegmentPair: TypeAlias = tuple[str, str]


class Contacts:
    """What a `Figure`, which is the only class that has this, knows of its contacts with itself (`self` is that figure)."""

    @cached_property
    def bars(self: Any) -> Mapping[str, tuple[Ball | Capsule, ...]]:
        """What each segment keeps clear of things with: its `solids`, or else the shapes of its body.

        Around a cylinder or a box of a body there is one capsule, along its axis or its longest side.
        """
        made = {s: tuple(enclosing(shape) for shape in body.shapes) for s, body in self.bodies.items()}
        made.update(self.solids)
        return FrozenDict({segment: made[segment] for segment in self.segments if made.get(segment)})

    def joined_pairs(self: Any) -> tuple[SegmentPair, ...]:
        """The pairs of segments with bars that are one rigid body or hang on one another: they are never tested."""
        row, above = self.packed.row, self._hung_on
        loops = {frozenset((row[loop.a], row[loop.b])) for loop in self.loops}

        def joined(a: int, b: int) -> bool:
            return a == b or above.get(a) == b or above.get(b) == a or frozenset((a, b)) in loops

        return tuple(pair for pair in combinations(self.bars, 2) if joined(*(row[s] for s in pair)))

    def touching(self: Any, q: ArrayLike | None = None, margin: float = 0.0) -> tuple[SegmentPair, ...]:
        """The pairs of segments, joined ones left out, whose bars overlap or are within `margin` [m], at rest or at `q`."""
        margin = number(margin, "the margin within which segments touch")
        left = set(combinations(self.bars, 2)) - set(self.joined_pairs())
        apart = self._apart_at_rest if q is None else self._apart(q)
        return tuple(pair for pair, distance in apart.items() if pair in left and distance < margin)

    def colliding_pairs(self: Any, margin: float = 0.0) -> tuple[SegmentPair, ...]:
        """The pairs of segments to keep apart: all with bars but the joined ones and those that touch at rest."""
        never = {*self.joined_pairs(), *self.touching(margin=margin)}
        return tuple(pair for pair in combinations(self.bars, 2) if pair not in never)

    # ── helpers ──────────────────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def _hung_on(self: Any) -> dict[int, int]:
        """For each rigid body with bars (by its row) the one that it hangs on, which has a segment; 0 is the world's."""
        named = {self.packed.row[s] for s in self.segments}
        slides = [False, *(not any(j.turn) for j in self.joints.values() if not j.is_fixed)]
        out = {}
        for row in {self.packed.row[s] for s in self.bars} - {0}:
            at, free = self.packed.parent[row], int(slides[row])
            while at and at not in named:
                at, free = self.packed.parent[at], free + slides[at]
            if free < 3:
                out[row] = at
        return out

    @cached_property
    def _apart_at_rest(self: Any) -> dict[SegmentPair, float]:
        return self._apart(self.rest)

    def _apart(self: Any, q: ArrayLike) -> dict[SegmentPair, float]:
        """How far the bars of every two segments are from each other."""
        from supple.geometry.distances import between_cores

        frames = self.placements(q)
        cores = [(k, frames[s], Core.of(bar)) for k, (s, bars) in enumerate(self.bars.items()) for bar in bars]
        if not cores:
            return {}
        owner, at = np.array([k for k, _, _ in cores]), np.array([frame @ core.at for _, frame, core in cores])
        half, radius = np.array([(core.half, core.radius) for _, _, core in cores]).T
        i, j = np.triu_indices(len(cores), 1)
        several = owner[i] != owner[j]
        i, j = i[several], j[several]
        apart = between_cores(at[i, :3, 3] - at[j, :3, 3], at[i, :3, 2], half[i], at[j, :3, 2], half[j])
        least = np.full((len(self.bars), len(self.bars)), np.inf)
        np.minimum.at(least, (owner[i], owner[j]), apart - radius[i] - radius[j])
        return {(a, b): float(least[k, m]) for (k, a), (m, b) in combinations(enumerate(self.bars), 2)}
