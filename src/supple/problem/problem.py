"""Problems: a figure, what its parts should do, and which postures are allowed, checked and packed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import check_fields, flag, instance, items, positive, spread
from supple.basics.values import FrozenDict, Value, kept, read_only
from supple.errors import BadValue
from supple.figure.figure import Figure
from supple.figure.limits import Limits
from supple.figure.packing import pack_tree
from supple.geometry.placements import Floats
from supple.kernels.kinds import ROWS
from supple.kernels.layouts import BLOCK, TREE, view
from supple.problem.goals.base import Miss, OfFigure
from supple.problem.packing import Tables
from supple.problem.task import Clearance, Task, chain_of, closing, miss_of, segments_of, weighs

if TYPE_CHECKING:
    from supple.problem.evaluation import Evaluation

PLAIN = Clearance()


class structural(cached_property[Any]):
    """What a problem works out from all but its targets: it is the same for other ones, and `aimed` passes it on."""


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Value):
    """A figure, tasks, and limits (the figure's own by default). A moved target is a new problem; see `aimed`.

    `rigidity` in [0, 1], by name or as an array, makes coordinates reluctant; 1 locks them. Names are those of coordinates,
    joints and segments, or patterns as in `Figure.locked`; of several that mean one coordinate the last counts. The figure's
    bodies keep clear of `obstacles`, a sequence or a mapping from names, as `clearance` says; this is a hard task. The figure's
    closed loops close to within `loop_tolerance` [m, rad], by default to those of a task.
    """

    figure: Figure
    tasks: Sequence[Task]
    limits: Limits | None = None
    rigidity: Mapping[str, float] | ArrayLike | None = None
    obstacles: Sequence[Any] | Mapping[str, Any] = ()
    clearance: Clearance = PLAIN
    loop_tolerance: float | None = None

    def __post_init__(self) -> None:
        instance(self.figure, Figure, "what a problem is about")
        given = items(self.tasks, "a problem's tasks")
        tasks = tuple(Task(None, t) if isinstance(t, OfFigure) else t for t in given)
        for task in tasks:
            instance(task, Task, "each of a problem's tasks")
        object.__setattr__(self, "tasks", tasks)
        object.__setattr__(self, "obstacles", self._obstacles(self.obstacles))
        limits = self.figure.limits if self.limits is None else instance(self.limits, Limits, "a problem's limits")
        if limits.size != self.figure.size:
            raise BadValue(f"limits on {limits.size} coordinates do not fit {self.figure!r}")
        object.__setattr__(self, "limits", limits)
        object.__setattr__(self, "rigidity", self._rigidity(self.rigidity))
        if self.loop_tolerance is not None:
            check_fields(self, "a problem", loop_tolerance=positive)
        for task in (*tasks, *self.loops):
            self._check_names(task)

    def _obstacles(self, given: Any) -> Mapping[str, Any]:
        if isinstance(given, tuple | dict) and not given and self.clearance is PLAIN:
            return FrozenDict()
        from supple.problem.obstacles import check_clearance, named_obstacles

        obstacles = named_obstacles(given)
        check_clearance(self.figure, obstacles, self.clearance)
        return kept(obstacles)

    def _rigidity(self, given: Any) -> Floats:
        names = self.figure.coordinates
        values = np.zeros(len(names))
        if isinstance(given, Mapping):
            known = self.figure.by_coordinate(given, "rigidities")
            values[[names.index(name) for name in known]] = [*known.values()]
        elif given is not None:
            values = spread(given, (len(names),), "the rigidity, by name or one for each coordinate,").copy()
        wrong = np.flatnonzero(~((values >= 0.0) & (values <= 1.0)))
        if wrong.size:
            name, value = names[wrong[0]], values[wrong[0]]
            raise BadValue(f"rigidity lies between 0 (moves freely) and 1 (locked), not {value:.6g} as for {name!r}")
        values.setflags(write=False)
        return values

    def _check_names(self, task: Task) -> None:
        figure, owner = self.figure, f"figure {self.figure.name!r}"
        for segment in segments_of(task):
            figure.check_segment(segment)
        if task.chain is not None:
            if isinstance(task.chain, str):
                figure.check_segment(task.chain)
            else:
                chain_of(figure, task)
        if weighs(task) and not sum(b.mass for b in figure.bodies.values()) > 0.0:
            raise BadValue(f"{owner} has no mass, hence no centre of mass")
        if isinstance(task.goal, OfFigure):
            task.goal.check_figure(figure.size, owner)

    def __repr__(self) -> str:
        names = ", ".join(repr(task.name) for task in self.tasks[:4]) + (", …" if len(self.tasks) > 4 else "")
        further = f", {len(self.obstacles)} obstacles" if self.obstacles else ""
        return f"Problem({self.figure.name!r}, tasks: {names or 'none'}{further})"

    @structural
    def loops(self) -> tuple[Task, ...]:
        """Hard tasks: to close each loop of the figure."""
        return tuple(closing(loop, self.loop_tolerance) for loop in self.figure.loops)

    @property
    def all_tasks(self) -> tuple[Task, ...]:
        """The tasks and, as hard tasks, the figure's closed loops and what it keeps clear of."""
        return (*self.tasks, *self.loops, *self.clear)

    @structural
    def clear(self) -> tuple[Task, ...]:
        """Hard tasks: to keep clear of each obstacle, and of oneself."""
        if not self.obstacles and not self.clearance.itself:
            return ()
        from supple.problem.obstacles import clear_goals, named_obstacles

        goals = clear_goals(self.figure, named_obstacles(self.obstacles), self.clearance)
        return tuple(Task(None, goal, hard=True, name=goal.name) for goal in goals)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not kept clear though one might think so, one sentence each: pairs that touch at rest, unknown shapes."""
        from supple.problem.obstacles import clearance_notes, named_obstacles

        return clearance_notes(self.figure, named_obstacles(self.obstacles), self.clearance)

    @structural
    def moved(self) -> np.ndarray:
        """Whether each coordinate moves the effector of some task that may move it.

        A task without a chain may move every joint above its effector. When chains overlap, a joint of one task's chain
        that moves another task's effector belongs to that chain as well: so what may move is the union of all chains.
        """
        chains = [chain_of(self.figure, task) for task in self.all_tasks if not task.of_figure]
        union = set().union(*chains)
        return read_only(np.array([name in union for name in self.figure.coordinates], dtype=bool))

    @structural
    def free(self) -> Floats:
        """How willingly each coordinate moves: ``1 − rigidity``, and 0 for what moves no effector.

        A posture goal, or room to keep, wants every coordinate, but does not undo the chains of other tasks.
        """
        wanted = any(task.of_figure for task in self.all_tasks) and all(task.chain is None for task in self.tasks)
        return read_only((1.0 - np.asarray(self.rigidity)) * (1.0 if wanted else self.moved))

    def admitted(self, q: ArrayLike) -> Floats:
        """The legal posture nearest to q in the metric of rigidity: what is locked stays, if any legal posture lets it."""
        assert self.limits is not None
        return self.limits.project(q, self.free * self.free)

    # ── packing ──────────────────────────────────────────────────────────────────────────────────────────────────────
    @property
    def packed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Integers, floats and targets as the kernels read them, for everybody else: they cannot be written to."""
        I, F, T = self.pack
        return read_only(I[:]), read_only(F[:]), read_only(T[:])

    @cached_property
    def pack(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`packed` for the kernels, which are compiled for arrays that can be written to; who writes takes a copy."""
        figure = self.figure
        massive = any(map(weighs, self.tasks))
        keep = {s for task in self.all_tasks for s in segments_of(task)}
        if massive:
            keep |= {s for s, body in figure.bodies.items() if body.mass > 0.0}
        tree = pack_tree(figure.joints.values(), figure.coordinates, keep)
        tables = Tables(figure, tree)
        for task, rank in zip(self.all_tasks, self.ranks, strict=True):
            tables.add(task, rank)
        return tables.finished(massive, self.must, self._limit_tables())

    def _limit_tables(self) -> tuple[list[int], list[Any]]:
        """Integers for the header and tables of the limits and of the freedom to move."""
        assert self.limits is not None
        equalities, A, b = self.limits.rows
        return [len(b), equalities], [self.limits.lower, self.limits.upper, self.free, A, b]

    @property
    def has_hard(self) -> bool:
        """Whether any task, or a closed loop, must hold exactly."""
        return any(task.hard for task in self.all_tasks)

    @structural
    def ranks(self) -> tuple[int, ...]:
        """Which tasks come strictly before which: hard ones first, then by their priority, then preferences; without gaps."""
        keys = [(task.preference, not task.hard, 0 if task.hard else task.priority) for task in self.all_tasks]
        order = sorted(set(keys))
        return tuple(order.index(key) for key in keys)

    @structural
    def must(self) -> int:
        """The number of ranks before the preferences."""
        pairs = zip(self.all_tasks, self.ranks, strict=True)
        return max((rank + 1 for task, rank in pairs if not task.preference), default=0)

    @structural
    def kinds(self) -> tuple[int, ...]:
        """The kinds of all terms."""
        return tuple(t.kind for task in self.all_tasks for goal, _ in task.alternatives for t in goal.terms())

    @structural
    def residual_count(self) -> int:
        """Number of residuals."""
        return sum(map(len, self.rows_of_tasks))

    @structural
    def charts(self) -> tuple[tuple[int, int, int], ...]:
        """The coordinates of every unlimited ball or free root that solvers re-centre, three indices into q each."""
        I, F, _ = self.pack
        coordinate, first = view(TREE, I, F, "COORDINATE"), view(TREE, I, F, "CHART")
        return tuple((int(a), int(b), int(c)) for a, b, c in (coordinate[i : i + 3] for i in first))

    def scratch(self) -> np.ndarray:
        """Memory for one evaluation at a time."""
        from supple.kernels.tables import EVALUATION

        return EVALUATION.fresh(self.pack[0])

    # ── evaluation ───────────────────────────────────────────────────────────────────────────────────────────────────
    def evaluate(self, q: ArrayLike, hessian: bool = True, curvature: bool = True) -> Evaluation:
        """Value, gradient and Hessian of the objective at q; without `curvature` the Gauss–Newton matrix."""
        from supple.problem.evaluation import evaluate

        return evaluate(self, q, flag(hessian, "hessian"), flag(curvature, "curvature"))

    def value(self, q: ArrayLike) -> float:
        """The objective at q."""
        return self.evaluate(q, hessian=False).value

    def jacobian(self, q: ArrayLike) -> tuple[Floats, Floats]:
        """Residuals ρ with ``G = |ρ|²`` and their derivatives (m, size)."""
        from supple.problem.evaluation import jacobian

        return jacobian(self, q)

    @structural
    def rows_of_tasks(self) -> tuple[tuple[int, ...], ...]:
        """The residual rows of each task (closed loops last), without padding; alternatives share theirs."""
        out, at = [], 0
        for task in self.all_tasks:
            counts = [[ROWS[term.kind] for term in goal.terms()] for goal, _ in task.alternatives]
            used = {at + BLOCK * i + r for rows in counts for i, count in enumerate(rows) for r in range(count)}
            out.append(tuple(sorted(used)))
            at += BLOCK * max(sum(count > 0 for count in rows) for rows in counts)
        return tuple(out)

    def misses(self, q: ArrayLike) -> tuple[Miss, ...]:
        """How far each task (closed loops last) is from being met at q, recomputed from the figure in plain NumPy."""
        figure, q = self.figure, self.figure.posture(q)
        stated = tuple(miss_of(figure, task, q) for task in (*self.tasks, *self.loops))
        if not self.clear:
            return stated
        frames = figure.placements(q)
        return (*stated, *(task.goal.miss_at(frames) for task in self.clear))

    def aimed(self, *targets: Any) -> Problem:
        """The same problem with other targets, one array for each task; None keeps a task's own."""
        if len(targets) != len(self.tasks):
            raise BadValue(f"the problem has {len(self.tasks)} tasks but {len(targets)} targets")
        pairs = zip(self.tasks, targets, strict=True)
        tasks = tuple(t if x is None else replace(t, goal=t.goal.aimed(x)) for t, x in pairs)
        out = self._varied(WITHOUT_TARGETS, tasks=tasks)
        if "pack" in self.__dict__:
            I, F, _ = self.pack
            terms = (t for task in out.all_tasks for goal, _ in task.alternatives for t in goal.terms())
            out.__dict__["pack"] = I, F, np.concatenate([np.empty(0), *(term.target for term in terms)])
        return out


WITHOUT_TARGETS = tuple(name for name, own in vars(Problem).items() if isinstance(own, structural))
