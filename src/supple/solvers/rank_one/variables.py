"""Lifted coordinates: rotations of bodies as matrices of fixed trace, in which positions and joints are linear.

Variables are the vectors of `lifted_blocks`, one for each body whose rotation is not known and one for each slide. With
R_i the rotation of a body, linear in its matrix, the place of a part is linear too, (2) and (11):

    t_j = t_i + R_i t_ij,    and for a slide    t_j = t_i + R_i t_ij + τ_l r + (τ_u − τ_l) τr.

Expressions are arrays (rows, 1 + n, 1 + p), affine in n variables and p parameters (see `lifted_aims`). Everything that
asks for more (obstacles, contacts, continuity) takes `Lifted.point` or `Lifted.rotation`, makes rows of them, and
hands them on as a `Cone`; it may use variables of its own behind the n of the figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from supple.errors import BadValue, Refused, find
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.problem.problem import Problem, Task, segments_of
from supple.solvers.rank_one.bodies import Node, Slide, Tree, parallel, tree_of, welded
from supple.solvers.rank_one.known import Knowledge, knowledge_of
from supple.solvers.rank_one.matrices import ALONG, AXIS, LIFTS, TURN
from supple.solvers.rank_one.targets import Aim, aims_of

Kind = Literal["zero", "positive", "second_order", "semidefinite"]


@dataclass(frozen=True, eq=False)
class Cone:
    """An expression (rows, 1 + n, 1 + p) whose value lies in a cone.

    zero: every row is 0; positive: none is below 0; second_order: row 0 is at least the length of the others;
    semidefinite: the rows are the vector of a positive semidefinite matrix.
    """

    kind: Kind
    rows: Floats
    name: str = ""


@dataclass(frozen=True)
class Cell:
    """Variables first … first + size − 1 (counted from 1: variable 0 is the number one) and what they are."""

    lift: str  # quaternion, rotation, slide, disc or length
    first: int
    size: int

    @property
    def columns(self) -> slice:
        """Its columns in an expression."""
        return slice(self.first, self.first + self.size)

    @property
    def own(self) -> slice:
        """Its place in the vector of variables."""
        return slice(self.first - 1, self.first - 1 + self.size)


@dataclass(frozen=True, eq=False)
class Lifted:
    """A figure and the tasks on it, in lifted variables; structure only, no numbers of targets.

    With `given` the targets are equations, else they are left to a cost.
    """

    figure: Figure
    tree: Tree
    aims: tuple[Aim, ...]
    loops: tuple[Task, ...]
    known: Knowledge
    lift: str
    given: bool
    bodies: dict[int, Cell]
    slides: dict[int, Cell]  # by the index of their coordinate
    size: int  # n
    parameters: int  # 1 + p
    _turns: dict[int, Floats] = field(default_factory=dict, repr=False)
    _places: dict[str | None, Floats] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        problem: Problem,
        lift: str = "quaternion",
        given: bool = True,
        keep: Sequence[str] = (),
        bounds: tuple[Floats, Floats] | None = None,
    ) -> Lifted:
        """The lifted coordinates of a problem; `keep` names segments that nothing in the problem looks at.

        `bounds` are ranges in place of the problem's own. A joint that cannot be lifted is refused by name.
        """
        if lift not in TURN:
            raise BadValue(f"lift is 'quaternion' or 'rotation', not {lift!r}")
        figure, limits = problem.figure, problem.limits
        assert limits is not None
        lower, upper = (limits.lower, limits.upper) if bounds is None else bounds
        for segment in keep:
            find(figure.segments, segment, "segment", f"figure {figure.name!r}")
        segments = {s for task in (*problem.tasks, *problem.loops) for s in segments_of(task)} | set(keep)
        tree = welded(tree_of(figure, sorted(segments), lower, upper), problem.loops)
        aims, parameters = aims_of(problem.tasks)
        known = knowledge_of(tree, aims, parameters, given)
        bodies, slides, at = {}, {}, 1
        for body in sorted({node.body for node in tree.nodes.values()} - set(known.turns)):
            kind, size = ("disc", 2) if body in known.faces else (lift, LIFTS[lift].size)
            bodies[body] = Cell(kind, at, size)
            at += size
        for node in tree.nodes.values():
            if node.slide is not None:
                plain = _known_axis(known, node, node.slide)
                if not plain and not np.isfinite(node.slide.span.upper - node.slide.span.lower):
                    raise Refused(f"slide {node.slide.span.name!r} has no limits, and its axis turns: give it some")
                kind, size = ("length", 1) if plain else ("slide", LIFTS["slide"].size)
                slides[node.slide.span.index] = Cell(kind, at, size)
                at += size
        return cls(figure, tree, aims, problem.loops, known, lift, given, bodies, slides, at - 1, parameters)

    @cached_property
    def groups(self) -> dict[str, list[Cell]]:
        """The cells that are matrices, by their kind."""
        out: dict[str, list[Cell]] = {}
        for cell in (*self.bodies.values(), *self.slides.values()):
            if cell.lift != "length":
                out.setdefault(cell.lift, []).append(cell)
        return out

    # ── expressions ──────────────────────────────────────────────────────────────────────────────────────────────────
    def body_turn(self, body: int) -> Floats:
        """The rotation of a body: (3, 3, 1 + n, 1 + p)."""
        if body not in self._turns:
            E = np.zeros((3, 3, 1 + self.size, self.parameters))
            if body in self.known.turns:
                E[:, :, 0] = self.known.turns[body]
            elif body in self.known.faces:
                face, first = self.known.faces[body], self.bodies[body].first
                for at, turn in ((0, np.diag([0, 0, 1.0])), (first, np.diag([1.0, 1, 0])), (first + 1, _QUARTER)):
                    E[:, :, at] = np.einsum("abk,bc->ack", face.outer, turn @ face.inner.T)
            else:
                E[:, :, self.bodies[body].columns, 0] = TURN[self.lift]
            self._turns[body] = E
        return self._turns[body]

    def rotation(self, key: str | None) -> Floats:
        """The rotation of a segment (None: the world): (3, 3, 1 + n, 1 + p)."""
        node = self._node(key)
        return np.einsum("abjk,bc->acjk", self.body_turn(node.body), node.turn)

    def axis(self, key: str | None, own: Floats) -> Floats:
        """A vector fixed in a segment, seen from the world: (3, 1 + n, 1 + p)."""
        node = self._node(key)
        return np.einsum("abjk,b->ajk", self.body_turn(node.body), node.turn @ own)

    def point(self, key: str | None, offset: Floats | Sequence[float] = (0.0, 0.0, 0.0)) -> Floats:
        """A point fixed in a segment, `offset` from its origin: (3, 1 + n, 1 + p)."""
        own = np.asarray(offset, dtype=np.float64)
        return self._origin(key) + self.axis(key, own) if own.any() else self._origin(key)

    def _node(self, key: str | None) -> Node:
        if key not in self.tree.nodes:
            raise BadValue(f"segment {key!r} is not lifted: no task looks at it, and it is not in keep=")
        return self.tree.nodes[key]

    def _origin(self, key: str | None) -> Floats:
        if key not in self._places:
            node = self._node(key)
            if key is None:
                place = np.zeros((3, 1 + self.size, self.parameters))
            else:
                place = self.point(node.parent, node.step)
                if node.slide is not None:
                    place = place + self._slid(key, node.slide)
            self._places[key] = place
        return self._places[key]

    def _slid(self, key: str, slide: Slide) -> Floats:
        """By how much a part has slid, (11)."""
        cell, span = self.slides[slide.span.index], slide.span
        if cell.lift == "length":
            E = np.zeros((3, 1 + self.size, self.parameters))
            E[:, cell.first] = self.axis(key, slide.axis)[:, 0]
            return E
        E = np.zeros((3, 1 + self.size, self.parameters))
        length = float(np.linalg.norm(slide.axis))
        E[:, cell.columns, 0] = length * (span.lower * AXIS + (span.upper - span.lower) * ALONG)
        return E


_QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])


def _known_axis(known: Knowledge, node: Node, slide: Slide) -> bool:
    """Whether the direction of a slide is known, whatever the posture."""
    if node.body in known.turns:
        return True
    face = known.faces.get(node.body)
    axis = node.turn @ slide.axis
    return face is not None and parallel(face.inner[:, 2], axis / np.linalg.norm(axis)) != 0.0


def value(E: Floats, x: Floats, parameters: Floats) -> Floats:
    """What an expression is at variables and parameters."""
    full = np.concatenate([[1.0], x])
    return (E @ parameters) @ full[: E.shape[-2]]
