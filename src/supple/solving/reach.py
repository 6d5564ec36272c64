"""Maps of what a figure can reach: a grid of poses, each of them reached, proved impossible, or undecided.

Every pose is asked of one prepared problem with `Decide`. A pose is *reached* where a posture inside the limits meets it to
the task's tolerance; the posture is kept as a witness. It is *impossible* only where a certificate says so that was verified
in ball arithmetic. What neither a posture nor a proof settles within `boxes` is *undecided*, and never counted as either.

Each search starts from the witness of a neighbour: the same rotation one step back along z or y, or else the rotation before
at the same position. No search looks along the first axis that has several steps: the layers across it are apart, so that the
workers of a cluster may take one each and the map is the same, bit for bit. The grid is that of `reach_grid`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from time import monotonic
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from supple.basics.checks import counted, flag, function, instance, seeded
from supple.basics.stopping import Stop
from supple.basics.values import Value
from supple.errors import BadValue, find
from supple.figure.effectors import Frame, Point
from supple.figure.figure import Figure
from supple.geometry.placements import Floats, compose
from supple.problem.goals import At, Placed
from supple.problem.problem import Problem, Task
from supple.problem.solution import Solution, Status
from supple.proofs.certificate import Certificate
from supple.proofs.checker.balls import need_flint
from supple.solvers.base import insist
from supple.solvers.decide import Decide
from supple.solvers.deciding import decided
from supple.solving.prepare import Query, prepare
from supple.solving.reach_grid import Span, grid_of, rotations_of

Axes: TypeAlias = tuple[Floats, Floats, Floats]


@dataclass(frozen=True, eq=False, repr=False)
class Reach(Value):
    """Which poses of a grid a segment reaches: n positions, each with k rotations (one, if only the position counts)."""

    figure: Figure
    segment: str
    axes: tuple[Floats, Floats, Floats]  # the x, y and z of the grid
    spacing: float
    rotations: Floats | None  # (k, 3, 3); None: any rotation will do
    reached: np.ndarray  # (n, k) bool
    impossible: np.ndarray  # (n, k) bool: proved, and the proof verified
    q: Floats  # (n, k, size): a posture for each pose that is reached, NaN elsewhere
    seconds: float = field(compare=False)  # in all; what a clock says does not make two maps different
    proving: float = field(compare=False)  # seconds of them spent in proofs and their checks
    certificates: Mapping[tuple[int, int], Certificate] = field(
        default_factory=dict
    )  # by position and rotation, if kept
    late: int = 0  # poses of which nothing is known, for they were not asked before the deadline

    def __len__(self) -> int:
        return len(self.reached)

    @cached_property
    def positions(self) -> Floats:
        """The positions (n, 3); z runs fastest."""
        positions = np.stack(np.meshgrid(*self.axes, indexing="ij"), axis=-1).reshape(-1, 3)
        positions.setflags(write=False)
        return positions

    @property
    def undecided(self) -> np.ndarray:
        """The poses (n, k) of which neither a posture nor a proof was found."""
        return ~(self.reached | self.impossible)

    @cached_property
    def status(self) -> np.ndarray:
        """A word for each pose (n, k): reached, impossible or undecided."""
        return np.where(self.reached, "reached", np.where(self.impossible, "impossible", "undecided"))

    @property
    def counts(self) -> dict[str, int]:
        """How many poses have each status."""
        return {name: int(getattr(self, name).sum()) for name in ("reached", "impossible", "undecided")}

    @property
    def share(self) -> float:
        """The share of all poses that is reached."""
        return float(self.reached.mean())

    @property
    def dexterity(self) -> Floats:
        """The share of the rotations that is reached at each position (n)."""
        return self.reached.mean(axis=1)


def reach(
    figure: Figure,
    segment: str,
    *,
    x: Span = None,
    y: Span = None,
    z: Span = None,
    volume: bool = False,
    spacing: float | None = None,
    rotation: Any = None,
    seed: int = 0,
    boxes: int = 400,
    keep: bool = False,
    progress: Callable[[int], None] | None = None,
    deadline: float | None = None,
    cluster: Any = None,
    **description: Any,
) -> Reach:
    """Decide a grid of positions, or poses, of a segment's origin: reached, proved impossible, or undecided.

    Each of `x`, `y`, `z` is a range (from, to), a number, which makes a slice, or None: as far as the chain could reach.
    Without any of them the map is a slice through the first joint, or with `volume` all of the box. `rotation` is a SciPy
    ``Rotation`` of one or several, or described as in `Placed` (``quat_wxyz=``, ``matrix=`` …; an array with one axis more is
    several), or a whole number: so many, spread evenly over all. None asks for the position alone. With `keep` the
    certificates are kept. `progress` is called with the number of poses that are done. Poses that
    are not decided when the `deadline` [s] passes stay undecided, and `late` counts those that were not asked.
    Ctrl-C raises `Interrupted`. `cluster` is a ``distributed.Client``: its workers make the same map, and know no deadline.
    """
    stop = Stop(deadline)
    instance(figure, Figure, "what reach() takes first")
    volume, keep = flag(volume, "volume, whether all of the box is asked,"), flag(keep, "keep, of certificates,")
    seed, boxes = seeded(seed), counted(boxes, "the boxes of a proof")
    function(progress, "progress")
    find(figure.segments, segment, "segment", f"figure {figure.name!r}")
    rotations = rotations_of(rotation, description)
    need_flint()
    begun = monotonic()
    asking = Asking(figure, segment, rotations, seed, boxes, keep)
    query = asking.query()
    turns = 1 if rotations is None else len(rotations)
    axes, step = grid_of(query.problem, segment, (x, y, z), volume, spacing, turns)
    survey = _Survey(asking, axes, across(axes), stop)
    survey.decide(query, progress or (lambda done: None), cluster, deadline)
    seconds, count = monotonic() - begun, len(survey.reached) * turns
    for array in (*axes, survey.reached, survey.impossible, survey.q):
        array.setflags(write=False)
    proofs = dict(sorted(survey.certificates.items()))
    found = (survey.reached, survey.impossible, survey.q, seconds, survey.proving, proofs)
    answer = partial(Reach, figure, segment, axes, step, rotations, *found, late=count - survey.asked)
    return stop.conclude(survey.asked, count, "poses", answer)


class Asking(NamedTuple):
    """What is asked of every pose."""

    figure: Figure
    segment: str
    rotations: Floats | None
    seed: int
    boxes: int
    keep: bool

    def query(self) -> Query:
        """The problem whose target moves over the grid, refused if it cannot be decided."""
        here = self.figure.placement(self.figure.rest, self.segment)
        position_only = self.rotations is None
        task = Task(Point(self.segment), At(here[:3, 3])) if position_only else Task(Frame(self.segment), Placed(here))
        problem, decide = Problem(self.figure, [task]), Decide(boxes=self.boxes)
        insist(decide, problem)
        return prepare(problem, solver=decide.solver, seed=self.seed)


def across(axes: Axes) -> int:
    """The first axis that has several steps."""
    return next((a for a, axis in enumerate(axes) if len(axis) > 1), 2)


def layer(asking: Asking, axes: Axes, first: int) -> _Survey:
    """One layer of a map, across the axis `first`, as a worker decides it."""
    survey = _Survey(asking, axes, first, Stop(None))
    survey.run(lambda done: None, asking.query())
    return survey


# ── the survey ───────────────────────────────────────────────────────────────────────────────────────────────────────
class _Survey:
    """The poses of a grid, decided one after the other; none looks along the axis `first`, or one before it."""

    def __init__(self, asking: Asking, axes: Axes, first: int, stop: Stop) -> None:
        self.asking, self.axes, self.first, self.rotations = asking, axes, first, asking.rotations
        self.stop, self.asked = stop, 0
        n, k = int(np.prod([len(axis) for axis in axes])), 1 if self.rotations is None else len(self.rotations)
        self.reached, self.impossible = np.zeros((n, k), dtype=bool), np.zeros((n, k), dtype=bool)
        self.q = np.full((n, k, asking.figure.size), np.nan)
        self.proving = 0.0
        self.certificates: dict[tuple[int, int], Certificate] = {}

    def decide(self, query: Query, progress: Callable[[int], None], cluster: Any, deadline: float | None) -> None:
        """Decide all poses, here or on the workers of a cluster."""
        if cluster is None:
            self.run(progress, query)
            return
        if deadline is not None:
            raise BadValue("deadline= is for this machine: leave it out where cluster= is given")
        from supple.solving.spread import spread_layers

        self.asked = spread_layers(cluster, self, layer, progress)

    def run(self, progress: Callable[[int], None], query: Query) -> None:
        """Decide them all, or as many as there is time for."""
        sizes = [len(axis) for axis in self.axes]
        turns = self.reached.shape[1]
        strides = (sizes[1] * sizes[2], sizes[2], 1)
        for i, cell in enumerate(np.ndindex(*sizes)):
            position = np.array([axis[c] for axis, c in zip(self.axes, cell, strict=True)])
            near = [i - strides[a] for a in (2, 1) if a > self.first and cell[a]]
            for r in range(turns):
                if self.stop.asked:
                    return
                target = position if self.rotations is None else compose(self.rotations[r], position)
                with self.stop:
                    found = query(target, self.start(near, i, r))
                    self.note(i, r, found if found.ok else decided(found, self.asking.boxes, self.stop.until))
                    self.asked += 1
            with self.stop:
                progress((i + 1) * turns)

    def start(self, near: list[int], i: int, r: int) -> Floats | None:
        """The witness of a neighbour, if one was reached."""
        for at, turn in [*((j, r) for j in near), *(((i, r - 1),) if r else ())]:
            if self.reached[at, turn]:
                return self.q[at, turn].copy()
        return None

    def note(self, i: int, r: int, solution: Solution) -> None:
        """What was found of one pose."""
        if solution.decision is not None:
            self.proving += solution.decision.seconds + solution.decision.checking
        if solution.ok:
            self.reached[i, r], self.q[i, r] = True, solution.q
        elif solution.status is Status.IMPOSSIBLE and solution.certificate is not None:
            self.impossible[i, r] = True
            if self.asking.keep:
                self.certificates[i, r] = solution.certificate

    def layers(self) -> list[Axes]:
        """The axes of every layer across the first axis; their poses follow one another."""
        return [
            (*self.axes[: self.first], self.axes[self.first][k : k + 1], *self.axes[self.first + 1 :])  # pyright: ignore
            for k in range(len(self.axes[self.first]))
        ]

    def join(self, at: int, other: _Survey) -> None:
        """Take over a layer, whose first position is number `at` here."""
        end = at + len(other.reached)
        self.reached[at:end], self.impossible[at:end], self.q[at:end] = other.reached, other.impossible, other.q
        self.proving += other.proving
        self.certificates |= {(at + i, r): proof for (i, r), proof in other.certificates.items()}
