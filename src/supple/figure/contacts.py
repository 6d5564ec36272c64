"""Which segments of a figure can touch each other, and which do.

Segments keep clear of things with *bars*: balls, capsules, boxes and hulls. Some pairs of segments are never tested against
each other. Where the figure was told them (`with_pairs`, an SRDF file), these and no others, besides parts of one rigid body.
Else:

* *joined* pairs: parts of one rigid body, a segment and the one that it hangs on, the two ends of a loop. Bars overlap
  where segments are joined. What hangs on a segment without bars is not joined to what that hangs on: they are two joints
  apart, and may meet. What floats above another segment, free to slide in all three directions, is not joined to it;
* pairs that touch *always*: in 95 of 100 postures out of the whole range, drawn at random but the same every time. Bars that
  overlap wherever they go say nothing about contact;
* pairs that *touch* in a rest posture that somebody chose, such as a thigh and the waist: there it says that this does not
  matter. The zero of a file is no such posture. In it an arm may lie folded into its own hand.

Pairs that touched in none of these postures are told too, but kept apart all the same: a sample is no proof, and a look at two
centres is cheap. `Problem.notes` and `figure.notes` name what is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import number
from supple.basics.values import FrozenDict
from supple.geometry.shapes import Ball, Capsule, Core, Solid, enclosing
from supple.kernels.compiling import entry_in

if TYPE_CHECKING:
    from supple.figure.figure import Figure

gaps_entry = entry_in("supple.kernels.body_gaps.gaps_entry")
SegmentPair: TypeAlias = tuple[str, str]
SAMPLES = 1000  # postures out of the whole range
ALWAYS = 0.95  # the part of them in which two segments touch that always do
FAR = 0.5  # [m] beyond which a sample need not tell how far


class Bars(NamedTuple):
    """All bars of a figure as kernels read them (`body_gaps`)."""

    numbers: np.ndarray
    at: np.ndarray  # where those of each begin
    half: np.ndarray  # of the core of what is round; −1 for anything else
    owner: np.ndarray  # the segment of each, by its place in `bars`
    frame: np.ndarray  # (k, 4, 4) in that segment


class Contacts:
    """What a `Figure`, which is the only class that has this, knows of its contacts with itself (`self` is that figure)."""

    @cached_property
    def bars(self: Any) -> Mapping[str, tuple[Solid, ...]]:
        """What each segment keeps clear of things with: its `solids`, or else the shapes of its body.

        Cylinders keep clear as the prisms around them (`prism`).
        """
        made: dict[str, tuple[Solid, ...]] = {s: body.shapes for s, body in self.bodies.items()}
        made.update(self.solids)
        return FrozenDict({segment: made[segment] for segment in self.segments if made.get(segment)})

    @cached_property
    def round_bars(self: Any) -> Mapping[str, tuple[Ball | Capsule, ...]]:
        """The `bars`, with a capsule around whatever is not round, for methods that know balls and capsules alone."""
        return FrozenDict({s: tuple(enclosing(bar) for bar in several) for s, several in self.bars.items()})

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

    def left_out(self: Any, margin: float = 0.0) -> Mapping[str, tuple[SegmentPair, ...]]:
        """The pairs that are never kept apart, by the reason: `joined`, `told`, `always` in touch, or touching `at rest`."""
        margin, joined = number(margin, "the margin within which segments touch"), self.joined_pairs()
        if self.ignored is not None:
            row, told = self.packed.row, {frozenset(pair) for pair in self.ignored}
            rigid = [pair for pair in joined if row[pair[0]] == row[pair[1]]]
            given = [pair for pair in combinations(self.bars, 2) if frozenset(pair) in told and pair not in rigid]
            return FrozenDict({"joined": tuple(rigid), "told": tuple(given), "always": (), "at rest": ()})
        usual = {pair: apart for pair, (_, apart) in self._sampled.items() if pair not in joined}
        always = tuple(pair for pair, apart in usual.items() if apart < margin)
        rest = [pair for pair in self.touching(margin=margin) if pair not in always] if self._rest_was_chosen else []
        return FrozenDict({"joined": joined, "told": (), "always": always, "at rest": tuple(rest)})

    def never_touching(self: Any) -> tuple[SegmentPair, ...]:
        """The pairs of segments, joined ones left out, that touched in no posture of a sample. They are kept apart as well."""
        joined = self.joined_pairs()
        return tuple(pair for pair, (least, _) in self._sampled.items() if least >= 0.0 and pair not in joined)

    def colliding_pairs(self: Any, margin: float = 0.0) -> tuple[SegmentPair, ...]:
        """The pairs of segments to keep apart: all with bars but those that are `left_out`."""
        never = {pair for pairs in self.left_out(margin).values() for pair in pairs}
        return tuple(pair for pair in combinations(self.bars, 2) if pair not in never)

    def with_pairs(self: Any, ignored: Iterable[SegmentPair] | None) -> Figure:
        """The same figure, which keeps apart all pairs of segments but these, whatever its postures say.

        None: its postures say it again. ``load(…, srdf=…)`` reads the pairs from an SRDF file.
        """
        return replace(self, ignored=ignored)

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

    @property
    def _rest_was_chosen(self: Any) -> bool:
        """Whether the rest posture is more than the zero of a file: one that was built, or given."""
        return self.source is None or bool((self.rest != np.clip(0.0, self.lower, self.upper)).any())

    @cached_property
    def _packed_bars(self: Any) -> Bars:
        from supple.kernels.solids import solid_of

        solids, half, owner, frame = [], [], [], []
        for k, several in enumerate(self.bars.values()):
            for bar in several:
                core = Core.of(bar) if isinstance(bar, Ball | Capsule) else None
                own: Any = bar
                if core is not None:
                    flat = core.half == 0.0
                    own = Ball((0.0, 0.0, 0.0), core.radius) if flat else Capsule(core.radius, 2.0 * core.half)
                solids.append(solid_of(own, corners=core is None))
                half.append(-1.0 if core is None else core.half)
                owner.append(k)
                frame.append(np.eye(4) if core is None else core.at)
        at = np.cumsum([0, *map(len, solids)])[:-1]
        return Bars(np.concatenate([np.empty(0), *solids]), at, np.array(half), np.array(owner), np.array(frame))

    def _distances(self: Any, Q: np.ndarray, enough: float) -> np.ndarray:
        """The distances (n, pairs) of all pairs of segments with bars in the postures Q; above `enough` a lower bound."""
        bars, count = self._packed_bars, len(self.bars)
        world, _ = self._world(Q)
        frames = np.array([self._frames(world, segment) for segment in self.bars])[bars.owner]
        frames = np.ascontiguousarray((frames @ bars.frame[:, None]).transpose(1, 0, 2, 3))
        i, j = np.triu_indices(len(bars.owner), 1)
        a, b = bars.owner[i], bars.owner[j]
        column = a * count - a * (a + 1) // 2 + b - a - 1
        pairs = np.column_stack([i, j, column])[a != b].astype(np.int64)
        out = np.empty((len(Q), count * (count - 1) // 2))
        gaps_entry(bars.numbers, bars.at, bars.half, frames, pairs, enough, np.zeros((2, 120)), out)
        return out

    @cached_property
    def _sampled(self: Any) -> dict[SegmentPair, tuple[float, float]]:
        """Of every two segments the least distance in a sample of postures, and the one that it exceeds seldom."""
        if len(self.bars) < 2:
            return {}
        loose = np.where(self.turning, np.pi, 0.0)
        lower = np.where(np.isfinite(self.lower), self.lower, self.rest - loose)
        upper = np.where(np.isfinite(self.upper), self.upper, self.rest + loose)
        Q = np.random.default_rng(0).uniform(np.minimum(lower, upper), upper, (SAMPLES, self.size))
        if not self.limits.is_box:
            Q = np.array([self.limits.project(q) for q in Q])
        apart = self._distances(Q, FAR)
        usual = np.quantile(apart, ALWAYS, axis=0)
        numbers = zip(apart.min(axis=0).tolist(), usual.tolist(), strict=True)
        return dict(zip(combinations(self.bars, 2), numbers, strict=True))

    def _apart(self: Any, q: ArrayLike) -> dict[SegmentPair, float]:
        """How far the bars of every two segments are from each other."""
        posture = self.posture(q)
        if len(self.bars) < 2:
            return {}
        apart = self._distances(posture[None], np.inf)[0]
        return dict(zip(combinations(self.bars, 2), apart.tolist(), strict=True))
