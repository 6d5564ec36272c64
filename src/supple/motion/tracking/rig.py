"""A figure with markers, packed for the compiled tracker; and how kernels see it.

**Links.** Joints that follow each other with nothing seen between them act on what hangs below as one: a ball, a free
root, a knee whose spline slides as it turns. Such a run of joints is a *link*; its *axes* are the coordinates that
move it, each with one twist, ``ξ = Σ_j θ_j'(q) ξ_j`` over the joints of the link that it turns. A figure is a tree of
links, and the tracker asks that every coordinate move one link only; a grouped spine, whose three coordinates bend
seventeen vertebrae with markers in between, does not.

**Pins** are points that must coincide exactly: the two ends of a closed loop, or a marker and where it was seen. A
loop whose frames coincide is pinned at three points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from supple.figure.effectors import Point
from supple.figure.figure import Figure
from supple.figure.packing import Packed, find_charts, pack_tree, with_charts
from supple.kernels.compiling import row, table, written_in
from supple.kernels.layouts import COORDINATES, DRIVE_TERMS, JOINTS, TREE, WORLD, Layout, Table, pack
from supple.kernels.opening import padded

WORLD_PIN, LOOP = -1, -2  # a pin's second end is a place in the world; a pin belongs to a loop, not to a marker
PIN = 3  # integers of a pin: the link of its first end, that of its second, the marker whose place it takes
ARM = 0.1  # [m] how far from its origin the frames of a loop are pinned
SYMMETRIC = 21  # numbers of a symmetric 6 × 6 matrix, its upper triangle row by row


RIG = Layout(
    "a rig",
    "MARKERS PINS LINKS TWIST_TERMS",
    base=TREE,
    ints=[
        Table("CARRIER", ("MARKERS",)),
        Table("PIN", ("PINS", PIN)),
        Table("LINK_ROW", ("LINKS",), 1),
        Table("LINK_UP", ("LINKS",), 1),
        Table("LINK_FIRST", ("LINKS",), 2),
        Table("LINK_AXIS", ("COORDINATES",)),
        Table("TWIST_BEGIN", ("COORDINATES",), 1),
        Table("TWIST_TERM", ("TWIST_TERMS", 2)),
    ],
    floats=[
        Table("MARKER_AT", ("MARKERS", 3)),
        Table("PIN_AT", ("PINS", 6)),
        Table("RIG_LOWER", ("COORDINATES",)),
        Table("RIG_UPPER", ("COORDINATES",)),
    ],
)
MARKERS, PINS, LINKS, TWIST_TERMS = range(21, 25)
(AT_CARRIER, AT_PIN, AT_LINK_ROW, AT_LINK_UP, AT_LINK_FIRST, AT_LINK_AXIS, AT_TWIST_BEGIN, AT_TWIST_TERM, AT_MARKER_AT,
 AT_PIN_AT, AT_RIG_LOWER, AT_RIG_UPPER) = range(25, 37)  # fmt: skip


class Rig(NamedTuple):
    """Markers, pins, links and limits."""

    link: Any  # (m) what carries each marker
    at: Any  # (m, 3) where, in the row behind that link
    pin: Any  # (p, PIN)
    pin_at: Any  # (p, 6) both ends in their rows
    row: Any  # (links + 1) the row of the world table behind each link; link 0 is the world
    up: Any  # (links + 1) the link above
    first: Any  # (links + 2) where the axes of each begin
    axis: Any  # (n) the coordinate of each axis
    begin: Any  # (n + 1) where the terms of its twist begin
    term: Any  # (terms, 2) the row of a joint, and the term of its drive or −1
    lower: Any  # (n)
    upper: Any  # (n)


@written_in
def open_rig(I: Any, F: Any) -> Any:
    """Views of the markers, pins, links and limits in a pack."""
    n, m, p, links = I[COORDINATES], I[MARKERS], I[PINS], I[LINKS] + 1
    return Rig(
        row(I, I[AT_CARRIER], m), table(F, I[AT_MARKER_AT], m, 3), table(I, I[AT_PIN], p, PIN), table(F, I[AT_PIN_AT], p, 6),
        row(I, I[AT_LINK_ROW], links), row(I, I[AT_LINK_UP], links), row(I, I[AT_LINK_FIRST], links + 1),
        row(I, I[AT_LINK_AXIS], n), row(I, I[AT_TWIST_BEGIN], n + 1), table(I, I[AT_TWIST_TERM], I[TWIST_TERMS], 2),
        row(F, I[AT_RIG_LOWER], n), row(F, I[AT_RIG_UPPER], n),
    )  # fmt: skip


class Bench(NamedTuple):
    """Scratch of the tracker."""

    theta: Any
    slope: Any
    bend: Any
    along: Any
    sine: Any
    cosine: Any
    world: Any
    place: Any  # (m, 3) where each marker is
    force: Any  # (m, 3) its weight times how far it is off
    weight: Any  # (m) as it counts, outliers less
    twist: Any  # (n, 6) of each axis
    lean: Any  # (n, 6) U
    ease: Any  # (n) 1/D
    left: Any  # (n) u
    inertia: Any  # (links + 1, SYMMETRIC)
    push: Any  # (links + 1, 6)
    pull: Any  # (links + 1, 6) wrenches of the markers
    move: Any  # (links + 1, 6)
    g: Any  # (n) and so on, by coordinate
    step: Any
    trial: Any
    held: Any
    rest: Any  # slopes of what is no marker, negative
    start: Any
    gap: Any  # (3p) how far pins are open
    price: Any  # (3p) their multipliers
    y: Any  # (3p)
    end: Any  # (p, 6) where both ends are
    C: Any  # (3p, n) ∂gap/∂q
    Y: Any  # (3p, n) ``H⁻¹Cᵀ``
    M: Any  # (3p, 3p)
    state: Any  # (1) κ


def bench_size(I: Any) -> int:
    """Numbers of scratch that `read_bench` lays out."""
    nj, n, t, m, p, links = (int(I[k]) for k in (JOINTS, COORDINATES, DRIVE_TERMS, MARKERS, PINS, LINKS))
    by_joint = nj + 3 * padded(nj) + (nj + 1) * WORLD + 2 * t
    return by_joint + 7 * m + 20 * n + (links + 1) * (SYMMETRIC + 18) + p * (15 + 6 * n + 9 * p) + 1


@written_in
def read_bench(I: Any, memory: Any) -> Any:
    """Views of the scratch."""
    nj, n, t = I[JOINTS], I[COORDINATES], I[DRIVE_TERMS]
    m, p, links = I[MARKERS], I[PINS], I[LINKS] + 1
    room = padded(nj)
    along, sine, cosine = row(memory, 0, room), row(memory, room, room), row(memory, 2 * room, room)
    a = 3 * room
    theta, slope, bend = row(memory, a, nj), row(memory, a + nj, t), row(memory, a + nj + t, t)
    a += nj + 2 * t
    world = table(memory, a, nj + 1, WORLD)
    a += (nj + 1) * WORLD
    place, force, weight = table(memory, a, m, 3), table(memory, a + 3 * m, m, 3), row(memory, a + 6 * m, m)
    a += 7 * m
    twist, lean = table(memory, a, n, 6), table(memory, a + 6 * n, n, 6)
    ease, left, g = row(memory, a + 12 * n, n), row(memory, a + 13 * n, n), row(memory, a + 14 * n, n)
    step, trial = row(memory, a + 15 * n, n), row(memory, a + 16 * n, n)
    held, rest, start = row(memory, a + 17 * n, n), row(memory, a + 18 * n, n), row(memory, a + 19 * n, n)
    a += 20 * n
    inertia = table(memory, a, links, SYMMETRIC)
    a += SYMMETRIC * links
    push, pull, move = (
        table(memory, a, links, 6),
        table(memory, a + 6 * links, links, 6),
        table(memory, a + 12 * links, links, 6),
    )
    a += 18 * links
    gap, price, y = row(memory, a, 3 * p), row(memory, a + 3 * p, 3 * p), row(memory, a + 6 * p, 3 * p)
    end = table(memory, a + 9 * p, p, 6)
    a += 15 * p
    C, Y = table(memory, a, 3 * p, n), table(memory, a + 3 * p * n, 3 * p, n)
    M = table(memory, a + 6 * p * n, 3 * p, 3 * p)
    state = row(memory, a + 6 * p * n + 9 * p * p, 1)
    return Bench(
        theta, slope, bend, along, sine, cosine, world, place, force, weight, twist, lean, ease, left, inertia, push, pull,
        move, g, step, trial, held, rest, start, gap, price, y, end, C, Y, M, state,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Packing:
    """A figure and some of its markers, packed; `points` are these, in order, and `exact` those that must be met."""

    figure: Figure
    points: Sequence[Point]
    exact: Sequence[int] = ()
    limits: bool = True

    @cached_property
    def _ends(self) -> set[str]:
        loops = {segment for loop in self.figure.loops for segment in (loop.a, loop.b)}
        return {point.segment for point in self.points} | loops

    @cached_property
    def chosen(self) -> np.ndarray:
        """The figure's coordinates that move a marker or a loop."""
        used = {name for segment in self._ends for name in self.figure.chain(None, segment)}
        return np.array([i for i, name in enumerate(self.figure.coordinates) if name in used], dtype=np.int64)

    @cached_property
    def tree(self) -> Packed:
        """The joints above markers and loops, over the chosen coordinates."""
        return pack_tree(self.figure.joints.values(), [self.figure.coordinates[i] for i in self.chosen], self._ends)

    @cached_property
    def links(self) -> Links:
        """The tree of links."""
        return find_links(self.tree, {self.tree.row[segment] for segment in self._ends})

    @property
    def is_tree(self) -> bool:
        """Whether every coordinate moves one link only."""
        return sorted(self.links.axis) == list(range(self.tree.size))

    @cached_property
    def packed(self) -> tuple[np.ndarray, np.ndarray]:
        """All tables: integers and floats."""
        tree, figure, links = self.tree, self.figure, self.links
        places = [self._in_row(p.segment, np.array(p.offset)) for p in self.points]
        pins, pin_at = self._pins()
        lower, upper = figure.lower[self.chosen], figure.upper[self.chosen]
        if not self.limits:
            lower, upper = np.full_like(lower, -np.inf), np.full_like(upper, np.inf)
        held = np.isfinite(lower) | np.isfinite(upper)
        charts = find_charts(tree.tables, set(links.row), held)
        link_of = {r: k for k, r in enumerate(links.row)}
        counts = {
            **tree.counts, "CHARTS": len(charts), "MARKERS": len(places), "PINS": len(pins), "LINKS": len(links.row) - 1,
            "TWIST_TERMS": len(links.term),
        }  # fmt: skip
        tables = {
            **with_charts(tree.tables, charts), "CARRIER": [link_of[r] for r, _ in places],
            "PIN": [[link_of[a], link_of.get(b, b), k] for a, b, k in pins], "LINK_ROW": links.row, "LINK_UP": links.up,
            "LINK_FIRST": links.first, "LINK_AXIS": links.axis, "TWIST_BEGIN": links.begin, "TWIST_TERM": links.term,
            "MARKER_AT": [x for _, x in places], "PIN_AT": pin_at, "RIG_LOWER": lower, "RIG_UPPER": upper,
        }  # fmt: skip
        return pack(RIG, counts, tables)

    def _in_row(self, segment: str, offset: np.ndarray) -> tuple[int, np.ndarray]:
        T = self.tree.frame[segment]
        return self.tree.row[segment], T[:3, :3] @ offset + T[:3, 3]

    def _pins(self) -> tuple[list[list[int]], list[np.ndarray]]:
        """Loops first, then the markers that must be met."""
        pins, at = [], []
        for loop in self.figure.loops:
            for arm in [np.zeros(3)] if loop.point else [np.zeros(3), *(ARM * np.eye(3)[:2])]:
                a, x = self._in_row(loop.a, loop.at_a[:3, :3] @ arm + loop.at_a[:3, 3])
                b, y = self._in_row(loop.b, loop.at_b[:3, :3] @ arm + loop.at_b[:3, 3])
                pins.append([a, b, LOOP])
                at.append(np.concatenate([x, y]))
        for k in self.exact:
            a, x = self._in_row(self.points[k].segment, np.array(self.points[k].offset))
            pins.append([a, WORLD_PIN, k])
            at.append(np.concatenate([x, np.zeros(3)]))
        return pins, at


class Links(NamedTuple):
    """The tables of `Rig` that tell of links."""

    row: list[int]
    up: list[int]
    first: list[int]
    axis: list[int]
    begin: list[int]
    term: list[tuple[int, int]]


def find_links(tree: Packed, seen: set[int]) -> Links:
    """Runs of joints that nothing is seen between, parents first; `seen` are rows of the world table."""
    children = np.bincount(np.array(tree.parent[1:], dtype=int), minlength=tree.count + 1)
    drives, link_of, out = tree.drives, {0: 0}, Links([0], [0], [0, 0], [], [0], [])
    run: list[int] = []
    for joint in range(tree.count):
        run.append(joint)
        if joint + 1 not in seen and children[joint + 1] == 1:
            continue  # the next joint hangs on this one alone
        terms: dict[int, list[tuple[int, int]]] = {}
        for j in run:
            for coordinate, term in drives[j]:
                terms.setdefault(coordinate, []).append((j + 1, term))
        link_of[joint + 1] = len(out.row)
        out.row.append(joint + 1)
        out.up.append(link_of[tree.parent[run[0] + 1]])
        for coordinate, rows in terms.items():
            out.axis.append(coordinate)
            out.term.extend(rows)
            out.begin.append(len(out.term))
        out.first.append(len(out.axis))
        run = []
    return out
