"""What the wide loop takes: all that has residuals, as the library's own leaves evaluate it, in float64.

For what `shape` refuses: coupled joints and screws, goals of every kind but custom ones, alternatives, goals relative to a
segment, closed loops, ranks, preferences for a posture, obstacles and self-collision of balls and capsules. A GPU claims a row
only where every task is met, so ranks and weights are not weighed against each other: what is not met goes to the processor.

The shape says how large everything is; the tables are those of the pack, but that coordinates that nothing looks at are left
out, and that every term has the first block of residuals: one is looked at after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supple.kernels import kinds as kind
from supple.kernels.layouts import (
    ALTERNATIVES,
    DRIVE_TERMS,
    DRIVEN_BY,
    JOINTS,
    KIND,
    LINEAR_LIMITS,
    MASS_ROWS,
    OWN_SOLID,
    PROBLEM,
    RANK,
    RANKS_THAT_MUST,
    RESIDUAL_AT,
    TARGET_NUMBERS,
    TASKS,
    WIDEST_ROUTE,
    view,
)
from supple.kernels.tables import Routes, Tasks
from supple.kernels.tree import Tree
from supple.problem.problem import Problem
from supple.solvers.lean.ranges import ranges_of, strides
from supple.solvers.lean.shape import needs

MOST_COORDINATES, MOST_PLACED, MOST_TARGETS = 48, 96, 256
NAMES = {
    Tree: {"driven": "DRIVEN_JOINT", "first": "DRIVE_FIRST", "term": "DRIVE_TERM"},
    Tasks: {},
    Routes: {name: f"ROUTE_{name.upper()}" for name in Routes._fields},
}


class WideShape(NamedTuple):
    """What is fixed when a wide loop is compiled."""

    coordinates: int  # that move what is looked at
    rows: int  # joints that are placed
    curves: int  # terms of drives
    widest: int  # columns of a route
    targets: int  # numbers of a target
    massive: bool
    several: bool  # whether a task has alternatives
    prefers: bool  # whether a posture is preferred among those that meet the tasks

    @property
    def found(self) -> int:
        """Numbers that a search hands over for a row."""
        return self.coordinates


@dataclass(frozen=True, eq=False)
class WideNumbers:
    """What may change without compiling."""

    tree: tuple[np.ndarray, ...]
    tasks: tuple[np.ndarray, ...]
    routes: tuple[np.ndarray, ...]
    limits: np.ndarray  # (2, c) lower and upper
    starts: np.ndarray  # (4, c) first start; middle, span and stride of all others
    source: np.ndarray  # (targets) where in a row of targets each number is
    coordinate: np.ndarray  # (c) in the figure's posture
    resting: np.ndarray  # (size) the start


def widened(problem: Problem, start: np.ndarray) -> tuple[WideShape, WideNumbers]:
    """The shape and the numbers of a problem that begins at `start`; `Refused` says why it has none."""
    I, F, _ = problem.pack
    tree, tasks, routes = (
        of(*(np.array(view(PROBLEM, I, F, names.get(field, field.upper()))) for field in of._fields))
        for of, names in NAMES.items()
    )
    prefers = _checked(problem, tasks.term)
    own, used = _own_coordinates(tree, tasks)
    tree.coordinate[:] = np.where(tree.coordinate >= 0, own[tree.coordinate], tree.coordinate)
    if len(tree.term):
        tree.term[:, DRIVEN_BY] = own[tree.term[:, DRIVEN_BY]]
    routes.column[:] = own[routes.column]
    tasks.term[:, RESIDUAL_AT] = 0
    shape = WideShape(
        len(used), int(I[JOINTS]), int(I[DRIVE_TERMS]), int(I[WIDEST_ROUTE]), int(I[TARGET_NUMBERS]), bool(I[MASS_ROWS]),
        bool(I[TASKS] != I[ALTERNATIVES]), prefers,
    )  # fmt: skip
    needs(0 < shape.coordinates <= MOST_COORDINATES, "too many coordinates move what it looks at, or none")
    needs(shape.rows <= MOST_PLACED and shape.targets <= MOST_TARGETS, "it is too large")
    slides = np.zeros(len(own), dtype=bool)
    slides[used] = ~np.asarray(problem.figure.turning)[used]
    limits, (middle, span) = ranges_of(problem, start, used, slides[used])
    starts = np.stack([start[used], middle, span, strides(len(used))])
    one, two, three = (tuple(map(np.ascontiguousarray, table)) for table in (tree, tasks, routes))
    return shape, WideNumbers(one, two, three, limits, starts, np.arange(shape.targets), used, start)


def _checked(problem: Problem, terms: np.ndarray) -> bool:
    """Refuse what the loop does not take; whether it prefers a posture."""
    I, _, _ = problem.pack
    kinds, near = terms[:, KIND], terms[:, KIND] == kind.NEAR
    needs((~near).any(), "it has no task")
    needs(I[LINEAR_LIMITS] == 0, "its limits are not ranges alone")
    needs(problem.clearance.preferred <= problem.clearance.margin, "it prefers more room than it needs")
    needs((kinds != kind.CUSTOM).all(), "a goal is a function of its own")
    solid, pairs = (kinds == kind.CLEAR) & (terms[:, OWN_SOLID] > 0), [p for t in problem.clear for p in t.goal.pairs]
    needs(not solid.any(), "something that keeps clear is no ball or capsule")
    needs(all(pair.other.moves is None for pair in pairs), "an obstacle moves")
    needs(np.isin(problem.free, (0.0, 1.0)).all(), "it has rigidity between 0 and 1")
    needs((terms[~near, RANK] < I[RANKS_THAT_MUST]).all(), "a preference is none for a posture")
    last = int(terms[~near, RANK].max())
    needs((terms[near, RANK] > last).all(), "a posture pulls against the tasks: make it a preference")
    return bool(near.any())


def _own_coordinates(tree: Tree, tasks: Tasks) -> tuple[np.ndarray, np.ndarray]:
    """For each coordinate its place among those that are used, and these."""
    size = tasks.near.shape[1]
    used = np.zeros(size, dtype=bool)
    used[tree.coordinate[tree.coordinate >= 0]] = True
    used[tree.term[:, DRIVEN_BY]] = True
    for row in tasks.near:
        used |= row != 0.0
    return np.cumsum(used) - 1, np.flatnonzero(used)
