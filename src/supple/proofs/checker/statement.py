"""What a certificate says: no posture of some joints within their ranges meets all wishes and keeps all pairs apart.

Nothing in it follows from anything else, but for `Follow`, which says from what: it is what a proof is checked against.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from supple.basics.values import Value
from supple.geometry.placements import Floats, Triple
from supple.geometry.shapes import Ball, Box, Capsule, Polytope

Solid: TypeAlias = Ball | Box | Capsule | Polytope
KINDS = ("pose", "point", "axis")


@dataclass(frozen=True, eq=False, repr=False)
class Link(Value):
    """A joint of the figure, and the range of its coordinate that the certificate assumes; a fixed one has neither axis."""

    name: str
    segment: str | None
    parent: str | None  # the key of the link above; None: the world
    at: Floats
    turn: Triple
    slide: Triple
    lower: float
    upper: float

    @property
    def key(self) -> str:
        """What the next link names as its parent."""
        return self.segment if self.segment is not None else f"{self.name}'"

    @property
    def is_fixed(self) -> bool:
        """Whether it has no coordinate."""
        return not any(self.turn) and not any(self.slide)


@dataclass(frozen=True, eq=False, repr=False)
class Wish(Value):
    """A frame of a segment at a target, in the world or as another segment sees it.

    Of kind pose: to within both tolerances. point: its origin, to within the first. axis: its origin to within the first, its z
    axis to within the second.
    """

    kind: str
    segment: str
    frame: Floats  # in the segment
    seen_from: str | None
    target: Floats
    tolerance: float
    angle_tolerance: float

    @property
    def words(self) -> str:
        """What is wanted, in a few words."""
        x, y, z = self.target[:3, 3]
        seen = "" if self.seen_from is None else f" of {self.seen_from}"
        how = {"pose": " in the wanted orientation", "axis": " in the wanted direction"}.get(self.kind, "")
        return f"brings {self.segment} to ({x:.4g}, {y:.4g}, {z:.4g}) m{seen}{how}"

    @property
    def exactly(self) -> str:
        """What is wanted, with every number."""
        own, there = (self._place(T) for T in (self.frame, self.target))
        seen = "in the world" if self.seen_from is None else f"as {self.seen_from} sees it"
        turn = "" if self.kind == "point" else f" and {self.angle_tolerance:g} rad"
        what = {"pose": "the frame", "point": "the point", "axis": "the z axis of the frame"}[self.kind]
        return f"{what} {own} of {self.segment} to {there} {seen} to within {self.tolerance:g} m{turn}"

    def _place(self, T: Floats) -> str:
        at = f"({', '.join(f'{x:.6g}' for x in T[:3, 3])})"
        if self.kind == "point":
            return at
        if self.kind == "axis":
            return f"{at} along ({', '.join(f'{x:.6g}' for x in T[:3, 2])})"
        rows = "; ".join(" ".join(f"{x:.6g}" for x in row) for row in T[:3, :3])
        return f"{at} [{rows}]" if not np.array_equal(T[:3, :3], np.eye(3)) else at


@dataclass(frozen=True)
class Follow:
    """What two earlier entries say together: one where a segment is in the world, the other where that sees another."""

    known: int
    through: int


@dataclass(frozen=True, eq=False, repr=False)
class Bar(Value):
    """One of the solids that a segment keeps clear of things with, by its number; or, of no segment, an obstacle by name."""

    segment: str | None
    number: int | str
    shape: Solid

    @property
    def words(self) -> str:
        """What it is, in words."""
        name = f"solid {self.number} of {self.segment}" if self.segment is not None else str(self.number)
        return f"{name} ({_words(self.shape)})"


def _words(shape: Solid) -> str:
    """A solid with its numbers."""

    def several(values: object) -> str:
        return f"({', '.join(f'{x:.6g}' for x in np.ravel(values))})"  # pyright: ignore[reportArgumentType, reportCallIssue]

    if isinstance(shape, Ball):
        return f"a ball of {shape.radius:g} m at {several(shape.centre)}"
    if isinstance(shape, Polytope):
        return f"A x ≤ b with A {several(shape.A)} and b {several(shape.b)}"
    placed = "" if np.array_equal(shape.at, np.eye(4)) else f" placed at {several(shape.at[:3])}"
    if isinstance(shape, Capsule):
        return f"a capsule of {shape.radius:g} m around {shape.length:g} m{placed}"
    return f"a box from {several(shape.lower)} to {several(shape.upper)}{placed}"


@dataclass(frozen=True, eq=False, repr=False)
class Pair(Value):
    """Two things that must keep apart; the first is a ball or a capsule of a segment."""

    bar: Bar
    other: Bar


@dataclass(frozen=True, eq=False, repr=False)
class Statement(Value):
    """Joints, what they are to do all at once, and by which margin [m], less a tolerance, some pairs are to keep apart."""

    figure: str
    links: tuple[Link, ...]
    entries: tuple[Wish | Follow, ...]
    pairs: tuple[Pair, ...] = ()
    margin: float = 0.0
    tolerance: float = 0.0

    @property
    def wishes(self) -> tuple[Wish, ...]:
        """What is wished, without what follows."""
        return tuple(entry for entry in self.entries if isinstance(entry, Wish))

    @property
    def obstacles(self) -> Mapping[str, Solid]:
        """What stands in the world, by name."""
        return {str(p.other.number): p.other.shape for p in self.pairs if p.other.segment is None}

    def in_short(self) -> str:
        """What cannot be, in a few words."""
        wanted = [wish.words for wish in self.wishes] + ["keeps clear"] * bool(self.pairs)
        return f"No posture within the limits {' and '.join(wanted)}"

    def in_full(self) -> str:
        """What cannot be, with everything that it depends on."""
        wanted = [f"brings {wish.exactly}" for wish in self.wishes]
        if self.pairs:
            apart = "; ".join(f"{p.bar.words} and {p.other.words}" for p in self.pairs)
            wanted.append(f"keeps apart, by {self.margin:g} m but for {self.tolerance:g} m: {apart}")
        moving = [link for link in self.links if not link.is_fixed]
        ranges = ", ".join(f"{link.name} in [{link.lower:.6g}, {link.upper:.6g}]" for link in moving)
        return f"no posture of {self.figure} with {ranges} {' and '.join(wanted)}"
