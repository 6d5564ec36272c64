"""The curves of an arm of seven hinges: seeds in slices, curves through them, and their pieces inside limits.

**Seeds.** The first or the last hinge is held at `SLICES` values around the circle; the six others are an arm with all its
postures known, by its formula or by eliminations. **Curves** pass through all of them (`tracing`). What no slice meets is not
found: a small closed curve between two slices. **Pieces** are what limits leave of a curve, cut where a coordinate meets its
limit; where it may turn on by a whole turn less, a new piece begins at once, so that every piece is one motion.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from supple.geometry.placements import Floats, inverse
from supple.kernels.compiling import entry_in, untyped
from supple.solvers.any_arm.any_arm import AnyArm
from supple.solvers.closed_forms.at_doors import sliced_way
from supple.solvers.closed_forms.axes import Axes, turn_about
from supple.solvers.closed_forms.rows_of_arms import HELD_AT, LOWER, SCRATCH_COLUMNS, SCRATCH_ROWS, TOUCH, UPPER
from supple.solvers.self_motions.rows_of_curves import (
    ALONG,
    COLUMNS,
    CURVE_COLUMNS,
    CURVE_ROWS,
    FULL,
    HOME,
    LENGTH,
    REACH,
    SEED_COLUMNS,
    SEVEN,
    STILL_ROWS,
    TANGENT,
    THROUGH,
)

SLICES = 72
ALMOST = 1e6, 1e-3  # parts by which an equation, and a quartic, may fail to have a solution that is looked for nearby
MOST_SEEDS, MOST_VERTICES, MOST_CURVES, MOST_EVENTS = 16, 12_000, 256, 4_000  # the first in a slice
TURN = 2.0 * np.pi
LEGAL = 1e-9  # [rad] by which the middle of a piece may leave the limits
ON = 1e-6  # [rad] by which the ends of two pieces may differ that are one
_package = "supple.solvers.self_motions"
slice_seeds = entry_in(f"{_package}.slices.slice_seeds")
trace_curves = entry_in(f"{_package}.all_curves.trace_curves")
nearest_on_curve = entry_in(f"{_package}.nearest_on_curve.nearest_on_curve")
limit_events = entry_in(f"{_package}.nearest_on_curve.limit_events")
cut_at = entry_in(f"{_package}.staying.cut_at")


class Traced(NamedTuple):
    """Vertices (k, COLUMNS) along a curve, or a piece of one, and whether the last is the first again."""

    vertices: Floats
    closed: bool


class Curves(NamedTuple):
    """The curves that were found, how many are broken off at a singular posture, and whether all were kept and well seen."""

    curves: list[Traced]
    broken: int
    whole: bool


class SevenHinges:
    """An arm of seven hinges, packed."""

    def __init__(self, axes: Axes, slices: int = SLICES) -> None:
        self.axes = axes
        self.arm = np.zeros((STILL_ROWS, 3))
        self.arm[ALONG : ALONG + SEVEN], self.arm[THROUGH : THROUGH + SEVEN] = axes.along, axes.through
        self.arm[HOME : HOME + 4], self.arm[REACH, 0] = axes.home[:3].T, axes.reach
        round_ = replace(axes, lower=np.full(SEVEN, -np.pi), upper=np.full(SEVEN, np.pi))
        self.way = sliced_way(round_, list(range(SEVEN)))
        if self.way is not None:
            self.way.arm[LOWER : LOWER + 2], self.way.arm[UPPER : UPPER + 2] = -np.pi, np.pi
            self.way.arm[TOUCH, :2] = ALMOST
        self.held = int(self.way.numbers[HELD_AT]) if self.way is not None else SEVEN - 1
        self.slices = np.zeros(slices + 2, dtype=np.int64)
        self.seeds = np.empty((slices * MOST_SEEDS, SEED_COLUMNS))
        self.vertices = np.empty((MOST_VERTICES, COLUMNS))
        self.told = np.zeros((MOST_CURVES, 3), dtype=np.int64)
        self.branches = np.zeros((SCRATCH_ROWS, SCRATCH_COLUMNS))
        self.scratch = np.zeros((CURVE_ROWS, CURVE_COLUMNS))
        self.events = np.empty((MOST_EVENTS, 4))
        self._quick: dict[str, Any] = {}

    def _run(self, name: str, *arguments: Any) -> Any:
        call = self._quick.get(name)
        if call is None:
            told = globals()[name](*arguments)
            self._quick[name] = untyped(globals()[name])
            return told
        return call(*arguments)

    def curves(self, target: Floats) -> Curves:
        """All curves through the slices, whatever the limits."""
        target = np.ascontiguousarray(target, dtype=np.float64)
        if self.way is None:
            blind = self._eliminated(target)
        else:
            six = self.way.numbers, self.way.arm, target, self.branches
            blind = self._run("slice_seeds", *six, self.seeds, self.slices)
        found = self._run(
            "trace_curves", self.arm, target, self.held, self.seeds, self.slices, self.vertices,
            self.told, self.scratch,
        )  # fmt: skip
        rows = self.told[: found % FULL].tolist()
        curves = [Traced(self.vertices[a:b].copy(), closed == 1) for a, b, closed in rows]
        broken = sum(not curve.closed for curve in curves)
        return Curves(curves, broken, found < FULL and blind == 0)

    @property
    def _six(self) -> AnyArm:
        """The arm without its last hinge, which has no formula."""
        if "six" not in self._quick:
            a, wide = self.axes, np.full(SEVEN - 1, np.pi)
            self._quick["six"] = AnyArm(Axes(a.along[:-1], a.through[:-1], a.home, -wide, wide))
        return self._quick["six"]

    def _eliminated(self, target: Floats) -> int:
        """Seeds of an arm that has no formula even if a hinge is held."""
        count, total, blind = len(self.slices) - 2, 0, 0
        h, p, back = self.axes.along[-1], self.axes.through[-1], inverse(self.axes.home)
        for k in range(count):
            x = TURN * k / count
            found = self._six.quickly(target @ back @ turn_about(h, p, -x) @ self.axes.home)
            rows = found.postures[:MOST_SEEDS]
            self.slices[k] = total
            self.seeds[total : total + len(rows), : SEVEN - 1] = rows
            self.seeds[total : total + len(rows), SEVEN - 1] = x - TURN * (x > np.pi)
            total, blind = total + len(rows), blind + (found.agreed == 0)
        self.slices[count:] = total
        return blind

    def nearest(self, target: Floats, curves: list[Traced], ranges: Floats) -> tuple[Floats, float] | None:
        """The posture on some curves inside limits that is nearest to the start, and how far it is; None if there is none.

        `ranges` (4, 7) are the lower and upper limits, the start, and which coordinates count.
        """
        if not curves:
            return None
        target, q = np.ascontiguousarray(target, dtype=np.float64), np.empty(SEVEN)
        rows = np.concatenate([curve.vertices for curve in curves])
        far = self._run("nearest_on_curve", self.arm, target, rows, ranges, np.inf, q, self.scratch)
        return (q, far) if far < np.inf else None

    # ── pieces ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def pieces(self, target: Floats, curve: Traced, ranges: Floats) -> list[Traced]:
        """What limits leave of a curve, each piece wound towards the start."""
        V, (lower, upper, start), target = curve.vertices, ranges[:3], np.ascontiguousarray(target, dtype=np.float64)
        count = self._run("limit_events", V, ranges, self.events)
        events = self.events[: max(count, 0)]
        events = events[np.lexsort((events[:, 1], events[:, 0]))]
        cuts = [row for event in events if (row := self._cut(target, V, event)) is not None]
        places = [0.0, *(place for place, _ in cuts), len(V) - 1.0]
        rows = [V[0], *(row for _, row in cuts), V[-1]]
        found: list[tuple[list[Floats], Floats]] = []  # vertices, and the turns that are added to them
        open_, turns = False, np.zeros(SEVEN)
        for a, b, one, other in zip(places[:-1], places[1:], rows[:-1], rows[1:], strict=True):
            inner = V[int(np.floor(a)) + 1 : int(np.ceil(b))]
            middle = _middle(inner, one, other)
            if open_ and not _legal(middle + turns, lower, upper):
                open_ = False
            if not open_:
                turns = _turns(middle, lower, upper, start)
                open_ = turns is not None
                if not open_:
                    continue
                found.append(([one], turns))
            found[-1][0].extend([*inner, other])
        pieces = [_shifted(np.array(vertices), turns) for vertices, turns in found]
        return _joined(pieces, curve, lower, upper)

    def _cut(self, target: Floats, V: Floats, event: Floats) -> tuple[float, Floats] | None:
        """Where on a curve an event is, and the vertex there."""
        i, s, j, bound = int(event[0]), float(event[1]), int(event[2]), float(event[3])
        row = _hermite(V[i], V[i + 1], s)
        if not self._run("cut_at", self.arm, row, target, j, bound, self.scratch):
            return None
        return i + s, row


def _hermite(a: Floats, b: Floats, s: float) -> Floats:
    """The vertex at a part of the way between two."""
    u, length = 1.0 - s, a[LENGTH]
    row = u * a + s * b
    bent = u * a[TANGENT:LENGTH] - s * b[TANGENT:LENGTH]
    x, y = a[:SEVEN], b[:SEVEN]
    row[:SEVEN] = x * u * u * (1 + 2 * s) + y * s * s * (3 - 2 * s) + length * s * u * bent
    return row


def _middle(inner: Floats, one: Floats, other: Floats) -> Floats:
    """A posture between two cuts."""
    if len(inner):
        return inner[len(inner) // 2, :SEVEN]
    span = one.copy()
    span[LENGTH] = np.linalg.norm(other[:SEVEN] - one[:SEVEN])
    return _hermite(span, other, 0.5)[:SEVEN]


def _legal(q: Floats, lower: Floats, upper: Floats) -> bool:
    return bool((q >= lower - LEGAL).all() and (q <= upper + LEGAL).all())


def _turns(q: Floats, lower: Floats, upper: Floats, start: Floats) -> Any:
    """Whole turns that bring a posture inside the limits, as near to the start as they can; None if none do."""
    turns = np.round((start - q) / TURN)
    turns -= np.ceil(np.maximum(0.0, q + TURN * turns - upper - LEGAL) / TURN)
    turns += np.ceil(np.maximum(0.0, lower - LEGAL - q - TURN * turns) / TURN)
    return TURN * turns if _legal(q + TURN * turns, lower, upper) else None


def _shifted(vertices: Floats, turns: Floats) -> Floats:
    """Vertices with whole turns added, and the lengths between them."""
    rows = vertices.copy()
    rows[:, :SEVEN] += turns
    chords = np.linalg.norm(np.diff(rows[:, :SEVEN], axis=0), axis=1)
    aside = (np.diff(rows[:, TANGENT:LENGTH], axis=0) ** 2).sum(1)  # the square of the angle between directions
    rows[:-1, LENGTH], rows[-1, LENGTH] = chords * (1.0 + aside / 24.0), 0.0
    return rows


def _joined(pieces: list[Floats], curve: Traced, lower: Floats, upper: Floats) -> list[Traced]:
    """The pieces of a closed curve, the last and the first made one where they meet in its first vertex."""
    whole = [Traced(piece, False) for piece in pieces]
    if not (curve.closed and pieces):
        return whole
    first, last = pieces[0], pieces[-1]
    begins, ends = first[0, :SEVEN], last[-1, :SEVEN]
    turned = np.round((ends - begins) / TURN) * TURN
    off = curve.vertices[0, :SEVEN] - begins
    if max(np.abs(ends - begins - turned).max(), np.abs(off - np.round(off / TURN) * TURN).max()) > ON:
        return whole
    if len(pieces) == 1:
        return [Traced(first, True)]
    moved = first.copy()
    moved[:, :SEVEN] += turned
    if not all(_legal(row, lower, upper) for row in moved[:, :SEVEN]):
        return whole
    return [Traced(np.concatenate([last[:-1], moved]), False), *whole[1:-1]]
