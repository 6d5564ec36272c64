"""Problems: a figure, what its parts should do, and which postures are allowed, checked and packed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import check_fields, flag, instance, items, named_or_none, positive, spread, text, whole
from supple.basics.values import Value, kept, read_only
from supple.errors import BadValue, find
from supple.figure.effectors import Direction, Effector, Frame, Gap, MassCentre, Point, as_effector
from supple.figure.figure import Figure
from supple.figure.limits import Limits
from supple.figure.packing import pack_tree
from supple.geometry.placements import HERE, Floats, inverse
from supple.kernels.jacobian import jacobian_entry
from supple.kernels.layouts import BLOCK, RESIDUALS, TREE, view
from supple.kernels.objective import gradient_entry, hessian_entry
from supple.kernels.scratch import EVALUATION
from supple.kernels.terms.kinds import ROWS
from supple.problem.goals import AnyOf, At, Custom, Miss, Near, Placed
from supple.problem.goals.base import checked_goal
from supple.problem.obstacles import (
    Clear,
    Clearance,
    Obstacles,
    check_clearance,
    clear_goals,
    clearance_notes,
    named_obstacles,
)
from supple.problem.packing import Tables

METRES, RADIANS = 1e-5, 1e-4  # when a task counts as met, unless told otherwise
WITHOUT_TARGETS = (  # what a problem works out from all but its targets
    *("loops", "clear", "moved", "free", "ranks", "must", "kinds", "residual_count", "charts", "rows_of_tasks"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Task(Value):
    """An effector, its goal, and how much it matters.

    A soft task is weighted against the others; a hard one must hold exactly. `chain` names the segment from which on the
    task may move the figure; a task of a lower `priority` number comes strictly first. A `preference` comes after all tasks
    that are none: it is improved as far as they allow, and never makes a solution fail. The task is met when its goal is
    within `tolerance` [m] and `angle_tolerance` [rad].
    """

    effector: Effector | str | None
    goal: Any
    weight: float = 1.0
    hard: bool = False
    chain: str | None = None
    priority: int = 0
    tolerance: float = METRES
    angle_tolerance: float = RADIANS
    name: str = ""
    preference: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.goal, Near | Clear):
            object.__setattr__(self, "effector", as_effector(self.effector))
        elif self.effector is not None:
            raise BadValue("Near is a goal for the whole posture; its task has no effector")
        checked_goal(self.goal, "a task needs a goal such as At or Placed")
        check_fields(
            self, "a task", weight=positive, tolerance=positive, angle_tolerance=positive, hard=flag, preference=flag
        )
        check_fields(self, "a task", chain=named_or_none, name=text, priority=partial(whole, least=None))
        if self.hard and self.preference:
            raise BadValue("a task is hard, or a preference, or neither; not both")
        if not self.name:
            object.__setattr__(self, "name", _called(self.effector, self.goal))
        _check_parts(self)

    @property
    def alternatives(self) -> list[tuple[Any, float]]:
        """The goals of which one must be met, each with its weight."""
        return self.goal.alternatives() if isinstance(self.goal, AnyOf) else [(self.goal, 1.0)]


def _called(effector: Any, goal: Any) -> str:
    where = "posture"
    if isinstance(effector, Gap):
        where = f"{effector.a.segment}–{effector.b.segment}"
    elif isinstance(effector, MassCentre):
        where = "mass centre"
    elif effector is not None:
        where = effector.segment
    return f"{where} {type(goal).__name__}"


def _check_parts(task: Task) -> None:
    """Whether the effector has the parts that the goal looks at."""
    effector = task.effector
    end = effector.b if isinstance(effector, Gap) else effector
    has = {"position"} | ({"direction"} if isinstance(end, Direction | Frame) else set())
    has |= {"frame"} if isinstance(end, Frame) else set()
    if effector is None:
        has = {"posture"}
    for goal, _ in task.alternatives:
        for term in goal.terms():
            if term.needs not in has:
                raise BadValue(
                    f"{task.name!r}: {type(goal).__name__} needs a {term.needs}, which {end!r} does not have"
                )
        if isinstance(effector, MassCentre) and (goal.relative_to is not None or isinstance(goal, Custom)):
            raise BadValue(f"{task.name!r}: the mass centre takes goals in the world, not relative or custom ones")
        if isinstance(effector, Gap) and goal.relative_to is not None:
            raise BadValue(f"{task.name!r}: a gap is seen from its own first end; relative_to= has no meaning there")


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Value):
    """The objective at a posture."""

    value: float  # G(q) = Σ w P
    gradient: Floats | None = None  # (size)
    hessian: Floats | None = None  # (size, size)


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
    obstacles: Obstacles = ()
    clearance: Clearance = field(default_factory=Clearance)
    loop_tolerance: float | None = None

    def __post_init__(self) -> None:
        instance(self.figure, Figure, "what a problem is about")
        given = items(self.tasks, "a problem's tasks")
        tasks = tuple(Task(None, t) if isinstance(t, Near) else t for t in given)
        for task in tasks:
            instance(task, Task, "each of a problem's tasks")
        object.__setattr__(self, "tasks", tasks)
        obstacles = named_obstacles(self.obstacles)
        check_clearance(self.figure, obstacles, self.clearance)
        object.__setattr__(self, "obstacles", kept(obstacles))
        limits = self.figure.limits if self.limits is None else instance(self.limits, Limits, "a problem's limits")
        if limits.size != self.figure.size:
            raise BadValue(f"limits on {limits.size} coordinates do not fit {self.figure!r}")
        object.__setattr__(self, "limits", limits)
        object.__setattr__(self, "rigidity", self._rigidity(self.rigidity))
        if self.loop_tolerance is not None:
            check_fields(self, "a problem", loop_tolerance=positive)
        for task in (*tasks, *self.loops):
            self._check_names(task)

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
            find(figure.segments, segment, "segment", owner)
        if task.chain is not None:
            find(figure.segments, task.chain, "segment", owner)
        if isinstance(task.effector, MassCentre) and not sum(b.mass for b in figure.bodies.values()) > 0.0:
            raise BadValue(f"{owner} has no mass, hence no centre of mass")
        if isinstance(task.goal, Near) and task.goal.reference.shape != (figure.size,):
            raise BadValue(f"Near needs {figure.size} numbers for {owner}, not {task.goal.reference.size}")

    def __repr__(self) -> str:
        names = ", ".join(repr(task.name) for task in self.tasks[:4]) + (", …" if len(self.tasks) > 4 else "")
        further = f", {len(self.obstacles)} obstacles" if self.obstacles else ""
        return f"Problem({self.figure.name!r}, tasks: {names or 'none'}{further})"

    @cached_property
    def loops(self) -> tuple[Task, ...]:
        """Hard tasks: to close each loop of the figure."""
        return tuple(_closing(loop, self.loop_tolerance) for loop in self.figure.loops)

    @property
    def all_tasks(self) -> tuple[Task, ...]:
        """The tasks and, as hard tasks, the figure's closed loops and what it keeps clear of."""
        return (*self.tasks, *self.loops, *self.clear)

    @cached_property
    def clear(self) -> tuple[Task, ...]:
        """Hard tasks: to keep clear of each obstacle, and of oneself."""
        goals = clear_goals(self.figure, named_obstacles(self.obstacles), self.clearance)
        return tuple(Task(None, goal, hard=True, name=goal.name) for goal in goals)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not kept clear though one might think so, one sentence each: pairs that touch at rest, unknown shapes."""
        return clearance_notes(self.figure, named_obstacles(self.obstacles), self.clearance)

    @cached_property
    def moved(self) -> np.ndarray:
        """Whether each coordinate moves the effector of some task that may move it.

        A task without a chain may move every joint above its effector. When chains overlap, a joint of one task's chain
        that moves another task's effector belongs to that chain as well: so what may move is the union of all chains.
        """
        chains = [chain_of(self.figure, task) for task in self.all_tasks if task.effector is not None]
        union = set().union(*chains)
        return read_only(np.array([name in union for name in self.figure.coordinates], dtype=bool))

    @cached_property
    def free(self) -> Floats:
        """How willingly each coordinate moves: ``1 − rigidity``, and 0 for what moves no effector.

        A posture goal, or room to keep, wants every coordinate, but does not undo the chains of other tasks.
        """
        wanted = any(task.effector is None for task in self.all_tasks) and all(
            task.chain is None for task in self.tasks
        )
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
        massive = any(isinstance(task.effector, MassCentre) for task in self.tasks)
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

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """Which tasks come strictly before which: hard ones first, then by their priority, then preferences; without gaps."""
        keys = [(task.preference, not task.hard, 0 if task.hard else task.priority) for task in self.all_tasks]
        order = sorted(set(keys))
        return tuple(order.index(key) for key in keys)

    @cached_property
    def must(self) -> int:
        """The number of ranks before the preferences."""
        pairs = zip(self.all_tasks, self.ranks, strict=True)
        return max((rank + 1 for task, rank in pairs if not task.preference), default=0)

    @cached_property
    def kinds(self) -> tuple[int, ...]:
        """The kinds of all terms."""
        return tuple(t.kind for task in self.all_tasks for goal, _ in task.alternatives for t in goal.terms())

    @cached_property
    def residual_count(self) -> int:
        """Number of residuals."""
        return sum(map(len, self.rows_of_tasks))

    @cached_property
    def charts(self) -> tuple[tuple[int, int, int], ...]:
        """The coordinates of every unlimited ball or free root that solvers re-centre, three indices into q each."""
        I, F, _ = self.pack
        coordinate, first = view(TREE, I, F, "COORDINATE"), view(TREE, I, F, "CHART")
        return tuple((int(a), int(b), int(c)) for a, b, c in (coordinate[i : i + 3] for i in first))

    def scratch(self) -> np.ndarray:
        """Memory for one evaluation at a time."""
        return np.zeros(EVALUATION.size(self.pack[0]))

    # ── evaluation ───────────────────────────────────────────────────────────────────────────────────────────────────
    def evaluate(self, q: ArrayLike, hessian: bool = True, curvature: bool = True) -> Evaluation:
        """Value, gradient and Hessian of the objective at q; without `curvature` the Gauss–Newton matrix."""
        hessian, curvature = flag(hessian, "hessian"), flag(curvature, "curvature")
        size = self.figure.size
        g, value = np.zeros((1, size)), np.zeros((1, 2))
        I, F, T = self.pack
        Q = self.figure.posture(q).reshape(1, size)
        if not hessian:
            gradient_entry(I, F, self.scratch(), T[None], Q, value, g)
            return Evaluation(float(value[0, 0]), g[0])
        if not curvature:
            self._need_residuals()
        H = np.zeros((1, size, size))
        hessian_entry(I, F, self.scratch(), T[None], Q, int(curvature), value, g, H)
        return Evaluation(float(value[0, 0]), g[0], H[0])

    def value(self, q: ArrayLike) -> float:
        """The objective at q."""
        return self.evaluate(q, hessian=False).value

    def jacobian(self, q: ArrayLike) -> tuple[Floats, Floats]:
        """Residuals ρ with ``G = |ρ|²`` and their derivatives (m, size)."""
        self._need_residuals()
        m, size = int(self.pack[0][RESIDUALS]), self.figure.size
        rho, J, value = np.zeros((1, m)), np.zeros((1, m, size)), np.zeros((1, 2))
        I, F, T = self.pack
        Q = self.figure.posture(q).reshape(1, size)
        jacobian_entry(I, F, self.scratch(), T[None], Q, value, rho, J)
        rows = [row for rows in self.rows_of_tasks for row in rows]
        return rho[0, rows], J[0, rows]

    @cached_property
    def rows_of_tasks(self) -> tuple[tuple[int, ...], ...]:
        """The residual rows of each task (closed loops last), without padding; alternatives share theirs."""
        out, at = [], 0
        for task in self.all_tasks:
            counts = [[ROWS[term.kind] for term in goal.terms()] for goal, _ in task.alternatives]
            used = {at + BLOCK * i + r for rows in counts for i, count in enumerate(rows) for r in range(count)}
            out.append(tuple(sorted(used)))
            at += BLOCK * max(sum(count > 0 for count in rows) for rows in counts)
        return tuple(out)

    def _need_residuals(self) -> None:
        without = [t.name for t in self.tasks if any(isinstance(g, Custom | Near) for g, _ in t.alternatives)]
        if without:
            raise BadValue(f"no residual form: {', '.join(without)}")

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


def met(task: Task, miss: Miss) -> bool:
    """Whether a miss is within the task's tolerances; a preference is never missed."""
    return task.preference or bool(miss.metres <= task.tolerance and miss.radians <= task.angle_tolerance)


def miss_of(figure: Figure, task: Task, q: ArrayLike) -> Miss:
    """How far a task is from being met in a posture; the nearest of its alternatives counts."""
    if isinstance(task.goal, Clear):
        return task.goal.miss_of(figure, q)
    if task.effector is None:
        return Miss()
    X = figure.seen(q, task.effector)
    out = []
    for goal, _ in task.alternatives:
        seen = X if goal.relative_to is None else inverse(figure.placement(q, goal.relative_to)) @ X
        out.append(goal.miss(seen))
    return min(out, key=lambda m: max(m.metres / task.tolerance, m.radians / task.angle_tolerance))


def _closing(loop: Any, tolerance: float | None) -> Task:
    """The hard task that closes a loop."""
    near: dict[str, Any] = {} if tolerance is None else {"tolerance": tolerance, "angle_tolerance": tolerance}
    if loop.point:
        gap = Gap(Point(loop.a, loop.at_a[:3, 3]), Point(loop.b, loop.at_b[:3, 3]))
        return Task(gap, At(np.zeros(3)), hard=True, name=loop.name, **near)
    gap = Gap(Frame(loop.a, loop.at_a), Frame(loop.b, loop.at_b))
    return Task(gap, Placed(HERE), hard=True, name=loop.name, **near)


def segments_of(task: Task) -> list[str]:
    """Every segment that a task looks at."""
    effector = task.effector
    ends = [effector.a, effector.b] if isinstance(effector, Gap) else [effector]
    names = [end.segment for end in ends if isinstance(end, Point | Direction | Frame)]
    if isinstance(task.goal, Clear):
        return list(task.goal.segments)
    return names + [goal.relative_to for goal, _ in task.alternatives if goal.relative_to is not None]


def chain_of(figure: Figure, task: Task) -> tuple[str, ...]:
    """The coordinates that a task may move."""
    names: set[str] = set()
    segments = segments_of(task)
    if isinstance(task.effector, MassCentre):
        segments = [s for s, body in figure.bodies.items() if body.mass > 0.0]
    for segment in segments:
        names |= set(figure.chain(None, segment))
    if task.chain is not None:
        first = set(figure.chain(figure.parent_of(task.chain), task.chain))
        above = set(figure.chain(None, task.chain)) - first
        names -= above
        if not names:
            raise BadValue(f"{task.name!r}: no joint between {task.chain!r} and the effector")
    return tuple(names)
