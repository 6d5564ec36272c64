"""From tasks to the rows that kernels read (their meaning is in `layouts` and `terms`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple.figure.effectors import Gap, MassCentre
from supple.figure.figure import Figure
from supple.figure.packing import Packed, find_charts, with_charts
from supple.geometry.placements import HERE, Floats, compose
from supple.kernels import kinds as kind
from supple.kernels.layouts import (
    ALTERNATIVES,
    BLOCK,
    BY_JOINTS,
    CHARTS,
    DRIVEN_BY,
    FIELDS,
    FRAME_ROW,
    KIND,
    NO_ROW,
    OWN_SOLID,
    PLAIN,
    POSTURE_TERMS,
    PROBLEM,
    RANK,
    RANKS,
    RANKS_THAT_MUST,
    REFERENCE_ROW,
    TASKS,
    pack,
    view,
)
from supple.kernels.tables import EVALUATION
from supple.problem.goals.base import Term
from supple.problem.routes import Routes

if TYPE_CHECKING:
    from supple.kernels.compiling.without_numba import NamedEntry
    from supple.problem.bars import Bar, Other, Pair

PLAIN_KINDS = (kind.AT, kind.FACE, kind.TURN)
INSIDE = 1.0 - 1e-6  # kernels stop this far inside a tolerance, so that the independent audit agrees


def is_plain(I: np.ndarray, F: np.ndarray) -> bool:
    """Whether a pack is that of a plain problem, which twins of kernels serve that are sooner compiled (`twins`)."""
    ordinary = I[PLAIN] == 1 and I[BY_JOINTS] == 0 and I[CHARTS] == 0 and I[POSTURE_TERMS] == 0
    single = I[RANKS] == 1 and I[RANKS_THAT_MUST] == 1 and I[ALTERNATIVES] == I[TASKS]
    return bool(ordinary and single and np.isin(view(PROBLEM, I, F, "TERM")[:, KIND], PLAIN_KINDS).all())


def suited(entry: NamedEntry, I: np.ndarray, F: np.ndarray) -> NamedEntry:
    """An entry that evaluates a pack, or its twin where segments keep clear with more than bars (`twins`)."""
    terms = view(PROBLEM, I, F, "TERM")
    hulls = (terms[:, KIND] == kind.CLEAR) & (terms[:, OWN_SOLID] > 0)
    return entry.twin("hull") if hulls.any() else entry


class Tables:
    """Collects the rows of all tasks; `finished` makes the packs."""

    def __init__(self, figure: Figure, tree: Packed) -> None:
        self.figure, self.tree = figure, tree
        self.task, self.alternative = [0], [0]
        self.term: list[list[int]] = []
        self.number: list[np.ndarray] = []
        self.chain: list[int] = []
        self.near: list[np.ndarray] = []
        self.target: list[np.ndarray] = []
        self.last: tuple[int, int, bytes, bytes] | None = None
        self.solids: list[np.ndarray] = []
        self.solid_at: dict[int, int] = {}
        self.frames: dict[int, list[float]] = {}
        self.ways: dict[tuple[int, int], tuple[list[int], int]] = {}
        self.targets = self.residuals = self.longest = 0
        self.routes = Routes(tree.drives)

    def add(self, task: Any, rank: int) -> None:
        """Append a task: its alternatives and their terms, which share their blocks of residuals."""
        most = 0
        if task.keeps_clear:
            for pair in task.goal.pairs:
                self._add_pair(task, pair, rank)
            self.alternative.append(len(self.term))
            self.task.append(len(self.alternative) - 1)
            return
        for effector, goal, weight in task.choices:
            at = self.residuals
            for term in goal.terms():
                self._add_term(task, effector, goal, term, (weight, at, rank))
                at += BLOCK if kind.ROWS[term.kind] else 0
            most = max(most, at - self.residuals)
            self.alternative.append(len(self.term))
        self.residuals += most
        self.task.append(len(self.alternative) - 1)

    def _add_term(self, task: Any, effector: Any, goal: Any, term: Term, place: tuple[float, int, int]) -> None:
        weight, residual, rank = place
        row, frame = self._carried(effector, term)
        reference, seen_from = self._reference(effector, goal)
        chain = self._way(row, reference)[0] if reference != NO_ROW else []
        w = task.weight * weight * term.weight
        angular = term.kind in (kind.FACE, kind.TURN, kind.AIM, kind.TILT)
        limit = w * task.tolerance**2 * INSIDE
        if angular:
            angle = min(task.angle_tolerance, np.pi)
            chord = angle if term.kind == kind.TILT else 2.0 * np.sin(0.5 * angle)
            limit = w * (term.scale * chord) ** 2 * INSIDE
        if term.kind == kind.NEAR:
            row, limit = len(self.near), np.inf
            self.near.append(np.asarray(goal.weights))
        rows = kind.ROWS[term.kind]
        fields = [term.kind, row, reference, self.targets, residual, len(self.chain), len(chain), len(term.target)]
        here = (row, reference, _flat(frame).tobytes(), _flat(seen_from).tobytes())
        again = int(row != NO_ROW and here == self.last and len(self.term) > self.alternative[-1])
        self.last = here
        self.term.append([*fields, term.address, rows, rank, again, self._route(effector, row, reference)])
        assert len(self.term[-1]) == FIELDS
        parameters = [w, limit, term.scale, *term.lower, *term.upper]
        self.number.append(np.concatenate([_flat(frame), _flat(seen_from), parameters, np.zeros(3)]))
        self.chain += chain
        self.longest = max(self.longest, len(chain))
        self.target.append(np.asarray(term.target))
        self.targets += len(term.target)

    def _add_pair(self, task: Any, pair: Pair, rank: int) -> None:
        """Append the term of a bar that keeps away from a solid, or from the bar of another segment."""
        bar, other = pair.bar, pair.other
        row = 0 if bar.segment is None else self.tree.row[bar.segment]
        reference = NO_ROW if other.segment is None else self.tree.row[other.segment]
        if other.moves is not None:  # seen from the world, as if a segment carried it that never moves
            reference = 0
        half, own = (0.0, 1 + self._solid(bar.numbers)) if bar.core is None else (bar.core.half, 0)
        chain, route = self._way(row, reference)
        fields = [
            kind.CLEAR,
            row,
            reference,
            self._solid(other.numbers),
            self.residuals,
            len(self.chain),
            len(chain),
            0,
        ]
        self.term.append([*fields, own, kind.ROWS[kind.CLEAR], rank, 0, route])
        limit = task.weight * task.tolerance**2 * INSIDE
        reach = (half if bar.core is not None else bar.reach) + pair.keep + other.reach
        parameters = [task.weight, limit, 1.0, half, 0.0, 0.0, pair.keep, reach, 0.0, 0.0, 0.0, 0.0]
        self.number.append(np.array([*self._frame_of(bar), *self._frame_of(other), *parameters]))
        self.chain += chain
        self.longest = max(self.longest, len(chain))
        self.residuals += BLOCK
        self.last = None

    def _frame_of(self, thing: Bar | Other) -> list[float]:
        """The frame of a bar or of what it must not touch, in the row that carries it, as twelve numbers; found once."""
        if id(thing) not in self.frames:
            if thing.moves is not None:
                from supple.problem.bars import carried_along

                frame = carried_along(thing.world, thing.at[None])[0]
            elif thing.segment is None:
                frame = thing.at if thing.is_bar else compose(np.eye(3), thing.centre)
            else:
                frame = self.tree.frame[thing.segment] @ thing.at
            self.frames[id(thing)] = _flat(frame).tolist()
        return self.frames[id(thing)]

    def _solid(self, numbers: np.ndarray) -> int:
        """Where a solid's numbers are; the same array is stored once."""
        if id(numbers) not in self.solid_at:
            self.solid_at[id(numbers)] = sum(map(len, self.solids))
            self.solids.append(numbers)
        return self.solid_at[id(numbers)]

    def _carried(self, effector: Any, term: Term) -> tuple[int, Floats]:
        """The row that carries the effector, and the effector's frame in that row."""
        end = effector.b if isinstance(effector, Gap) else effector
        if end is None or isinstance(end, MassCentre):
            return NO_ROW, HERE
        frame = self.tree.frame[end.segment] @ end.frame
        if term.turn is not None:
            frame = frame @ compose(term.turn, (0.0, 0.0, 0.0))
        return self.tree.row[end.segment], frame

    def _reference(self, effector: Any, goal: Any) -> tuple[int, Floats]:
        """The row of the segment from which the effector is seen, and the frame in that row."""
        if isinstance(effector, Gap):
            end = effector.a
            return self.tree.row[end.segment], self.tree.frame[end.segment] @ end.frame
        if goal.relative_to is None:
            return NO_ROW, HERE
        return self.tree.row[goal.relative_to], self.tree.frame[goal.relative_to]

    def _chain(self, row: int, reference: int) -> list[int]:
        """From the reference up to the common joint (negative), then down to the effector, as 1 + joint."""
        down, up = self.tree.path(row), self.tree.path(reference)
        while down and up and down[0] == up[0]:
            down, up = down[1:], up[1:]
        return [-(1 + j) for j in up[::-1]] + [1 + j for j in down]

    def _way(self, row: int, reference: int) -> tuple[list[int], int]:
        """The chain of a segment that is seen from another, empty if it is seen from the world, and its route; found once."""
        if (row, reference) not in self.ways:
            chain = self._chain(row, reference) if reference != NO_ROW else []
            path = chain if reference != NO_ROW else [1 + j for j in self.tree.path(row)]
            self.ways[row, reference] = chain, self.routes.add(path)
        return self.ways[row, reference]

    def _route(self, effector: Any, row: int, reference: int) -> int:
        """The route of what a term sees."""
        if effector is None:
            return self.routes.add(())
        if row == NO_ROW:
            return self.routes.add([1 + j for j in range(self.tree.count)])
        return self._way(row, reference)[1]

    def _masses(self) -> np.ndarray:
        """Mass fraction and first moment of each row of the world table."""
        out = np.zeros((self.tree.count + 1, 4))
        for segment, body in self.figure.bodies.items():
            if body.mass > 0.0:
                r, frame = self.tree.row[segment], self.tree.frame[segment]
                out[r, 0] += body.mass
                out[r, 1:] += body.mass * (frame[:3, :3] @ body.centre + frame[:3, 3])
        return out / out[:, 0].sum()

    def _charts(self, mass: np.ndarray, limits: list[Any]) -> list[int]:
        """The first joints of the charts: balls on which no limit, row, rigidity, preference, drive or task has a hold."""
        lower, upper, free, A, _ = limits
        held = np.isfinite(lower) | np.isfinite(upper) | (free != 1.0)
        for rows in (A, np.reshape(self.near, (len(self.near), self.tree.size))):
            held |= (rows != 0.0).any(axis=0)
        held[self.tree.tables["DRIVE_TERM"][:, DRIVEN_BY]] = True
        places = [(t[FRAME_ROW], t[REFERENCE_ROW]) for t in self.term if t[KIND] != kind.NEAR]
        seen = {row for pair in places for row in pair} | set(np.flatnonzero(mass.any(axis=1)).tolist())
        return find_charts(self.tree.tables, seen, held)

    def _free_root(self, charts: list[int], limits: list[Any]) -> int:
        """Whether the first three joints slide freely, at right angles, and carry a chart: the figure can be moved anywhere.

        2 if besides every goal is a point or a frame in the world, so that the best place is known; else 1, or 0.
        """
        if charts[:1] != [3]:
            return 0
        lower, upper, free = limits[:3]
        names = ("PARENT", "AXIS", "BENT", "COORDINATE")
        parent, axis, bent, coordinate = (self.tree.tables[name][:4].tolist() for name in names)
        own = [int(c) for c in coordinate[:3]]
        loose = all(c >= 0 and np.isinf([lower[c], upper[c]]).all() and free[c] == 1.0 for c in own)
        centred = not self.tree.tables["OFFSET"][3, 9:12].any()
        plain = parent == [0, 1, 2, 3] and sorted(axis[:3]) == [3, 4, 5] and 1 not in bent[1:3]
        if not (loose and centred and plain):
            return 0
        goals = [t for t in self.term if t[KIND] != kind.CLEAR]
        seen = all(t[FRAME_ROW] > 0 and t[REFERENCE_ROW] == NO_ROW and t[RANK] == 0 for t in goals)
        known = seen and all(t[KIND] in (kind.AT, kind.TURN) for t in goals)
        return 2 if known and len(self.alternative) == len(self.task) else 1

    def _plain(self, massive: bool, linear: int) -> bool:
        """Whether every term looks from the world at a segment that undriven joints carry, and limits are ranges."""
        relative = any(t[REFERENCE_ROW] != NO_ROW for t in self.term if t[KIND] != kind.NEAR)
        return not (relative or massive or self.tree.counts["DRIVEN"] or linear)

    def finished(
        self, massive: bool, must: int, limits: tuple[list[int], list[Any]]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Integers, floats and targets; `must` is the number of ranks before the preferences."""
        mass = self._masses() if massive else np.empty((0, 4))
        (linear, equalities), own = limits
        charts = self._charts(mass, own)
        few = self.residuals <= self.tree.size and not self.near and not linear  # these need coordinates
        plain = self._plain(massive, linear)
        route_counts, routes = self.routes.tables(few)
        counts = {
            **self.tree.counts, "CHARTS": len(charts), "TASKS": len(self.task) - 1, "ALTERNATIVES": len(self.alternative) - 1,
            "TERMS": len(self.term), "PATH_JOINTS": len(self.chain), "RESIDUALS": self.residuals,
            "LONGEST_RELATIVE_PATH": self.longest, "MASS_ROWS": len(mass), "POSTURE_TERMS": len(self.near),
            "TARGET_NUMBERS": self.targets, "LINEAR_LIMITS": linear, "EQUALITIES": equalities, **route_counts,
            "WIDEST_ROUTE": self.routes.widest, "RANKS": max((term[RANK] for term in self.term), default=0) + 1,
            "FREE_ROOT": self._free_root(charts, own), "SOLID_NUMBERS": sum(map(len, self.solids)),
            "RANKS_THAT_MUST": must, "PLAIN": plain, "RESIDUALS_ARE_FEW": few,
            "BY_JOINTS": plain and self.residuals * self.residuals >= 8 * self.tree.counts["JOINTS"],
        }  # fmt: skip
        tables = {
            **with_charts(self.tree.tables, charts), "TASK": self.task, "ALTERNATIVE": self.alternative, "TERM": self.term,
            "PATH": self.chain, **routes, "NUMBER": self.number, "MASS": mass, "NEAR": self.near,
            "SOLID": np.concatenate([np.empty(0), *self.solids]),
            **dict(zip(("LOWER", "UPPER", "MOBILITY", "A", "B"), own, strict=True)),
        }  # fmt: skip
        counts["EVALUATION_NUMBERS"] = EVALUATION.size_for(counts)
        return *pack(PROBLEM, counts, tables), np.concatenate([np.empty(0), *self.target])


def _flat(frame: Floats) -> np.ndarray:
    return np.concatenate([frame[:3, :3].ravel(), frame[:3, 3]])
