"""Tasks: an effector, a goal, and how much it matters; when a task is met; and how a figure keeps clear of things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import check_fields, flag, items, named_or_none, not_negative, one_of, positive, text, whole
from supple.basics.values import Value
from supple.errors import BadValue, shown
from supple.figure.effectors import Direction, Frame, Gap, MassCentre, Point, as_effector
from supple.figure.figure import Figure
from supple.geometry.placements import HERE, inverse
from supple.kernels import kinds as kind
from supple.problem.goals.base import Choice, Miss, OfFigure, checked_goal, choices_of
from supple.problem.goals.places import At, Placed

METRES, RADIANS = 1e-5, 1e-4  # when a task counts as met, unless told otherwise
UNCOVERED = ("refuse", "ignore")


@dataclass(frozen=True, eq=False, repr=False)
class Task(Value):
    """An effector, its goal, and how much it matters.

    A soft task is weighted against the others; a hard one must hold exactly. `chain` names the segment from which on the
    task may move the figure, or is the set of joints that it may move, ``("shoulder", "elbow")``, by the names of coordinates,
    joints and segments or patterns of them. Where every goal of an `AnyOf` names its own effector the task has none:
    ``Task(AnyOf([…]))``. A task of a lower `priority` number comes strictly first. A `preference` comes after all tasks
    that are none: it is improved as far as they allow, and never makes a solution fail. The task is met when its goal is
    within `tolerance` [m] and `angle_tolerance` [rad].
    """

    effector: Any  # an effector, or the name of a segment: its frame; none for goals that bring their own
    goal: Any = None
    weight: float = 1.0
    hard: bool = False
    chain: str | tuple[str, ...] | None = None
    priority: int = 0
    tolerance: float = METRES
    angle_tolerance: float = RADIANS
    name: str = ""
    preference: bool = False

    def __post_init__(self) -> None:
        if self.goal is None and callable(getattr(self.effector, "terms", None)):
            object.__setattr__(self, "goal", self.effector)
            object.__setattr__(self, "effector", None)
        checked_goal(self.goal, "a task needs a goal such as At or Placed")
        own = not isinstance(self.goal, OfFigure) and all(c.effector is not None for c in choices_of(self.goal))
        if not isinstance(self.goal, OfFigure) and not (own and self.effector is None):
            object.__setattr__(self, "effector", as_effector(self.effector))
        if own and self.effector is not None:
            raise BadValue("every goal of this AnyOf names its effector; leave out that of the task: Task(AnyOf([…]))")
        if isinstance(self.goal, OfFigure) and self.effector is not None:
            raise BadValue("Near is a goal for the whole posture; its task has no effector")
        check_fields(
            self, "a task", weight=positive, tolerance=positive, angle_tolerance=positive, hard=flag, preference=flag
        )
        check_fields(self, "a task", chain=_named_joints, name=text, priority=partial(whole, least=None))
        if self.hard and self.preference:
            raise BadValue("a task is hard, or a preference, or neither; not both")
        if not self.name:
            object.__setattr__(self, "name", _called(self))
        for choice in self.choices:
            _check_parts(self, choice)

    @property
    def choices(self) -> list[Choice]:
        """The alternatives of which one must be met: effector, goal and weight."""
        return [Choice(self.effector if end is None else end, goal, w) for end, goal, w in choices_of(self.goal)]

    @property
    def alternatives(self) -> list[tuple[Any, float]]:
        """The goals of which one must be met, each with its weight."""
        return [(goal, weight) for _, goal, weight in choices_of(self.goal)]

    @property
    def of_figure(self) -> bool:
        """Whether it is about the whole figure: its posture, or what it keeps clear of."""
        return isinstance(self.goal, OfFigure)

    @property
    def has_residuals(self) -> bool:
        """Whether its potential is a sum of squares; those of custom functions and posture goals are not told as one."""
        return all(term.kind not in (kind.CUSTOM, kind.NEAR) for goal, _ in self.alternatives for term in goal.terms())

    @property
    def keeps_clear(self) -> bool:
        """Whether it keeps segments clear of something."""
        return isinstance(self.goal, OfFigure) and bool(self.goal.segments)


def _named_joints(value: Any, what: str) -> Any:
    """None, the name of a segment, or the names of joints."""
    if value is None or isinstance(value, str):
        return named_or_none(value, what)
    names = tuple(named_or_none(name, f"a joint of {what}") for name in items(value, f"{what}, a segment or joints,"))
    if not names or None in names:
        raise BadValue(f"{what} is the name of a segment, or of one joint or more, not {shown(value)}")
    return names


def _called(task: Task) -> str:
    ends = dict.fromkeys(_place(end) for end, _, _ in task.choices)
    return f"{' or '.join(ends)} {type(task.goal).__name__}"


def _place(effector: Any) -> str:
    where = "posture"
    if isinstance(effector, Gap):
        where = f"{effector.a.segment}–{effector.b.segment}"
    elif isinstance(effector, MassCentre):
        where = "mass centre"
    elif effector is not None:
        where = effector.segment
    return where


def _check_parts(task: Task, choice: Choice) -> None:
    """Whether the effector has the parts that the goal looks at."""
    effector, goal, _ = choice
    end = effector.b if isinstance(effector, Gap) else effector
    has = {"position"} | ({"direction"} if isinstance(end, Direction | Frame) else set())
    has |= {"frame"} if isinstance(end, Frame) else set()
    if effector is None:
        has = {"posture"}
    for term in goal.terms():
        if term.needs not in has:
            raise BadValue(f"{task.name!r}: {type(goal).__name__} needs a {term.needs}, which {end!r} does not have")
    if isinstance(effector, MassCentre) and (goal.relative_to is not None or not task.has_residuals):
        raise BadValue(f"{task.name!r}: the mass centre takes goals in the world, not relative or custom ones")
    if isinstance(effector, Gap) and goal.relative_to is not None:
        raise BadValue(f"{task.name!r}: a gap is seen from its own first end; relative_to= has no meaning there")


@dataclass(frozen=True, eq=False, repr=False)
class Clearance(Value):
    """How a figure keeps clear: by which `margin` [m], whether also of `itself`, and which pairs are left alone.

    `ignoring` names pairs: a segment and an obstacle, or two segments. Up to `preferred` [m] is kept where `solve` finds a
    posture with as much; less is no failure as long as it is the margin. A figure with segments whose shapes nobody has read
    (`Figure.uncovered`) is refused, or, if `uncovered` is "ignore", these pass through everything, and the notes say so.
    """

    margin: float = 0.0
    itself: bool = False
    ignoring: Sequence[tuple[str, str]] = ()
    preferred: float = 0.0
    uncovered: str = "refuse"

    def __post_init__(self) -> None:
        check_fields(self, "a clearance", margin=not_negative, preferred=not_negative, itself=flag)
        one_of(self.uncovered, UNCOVERED, "uncovered")
        pairs = items(self.ignoring, "what a clearance ignores, pairs of names,")
        for pair in pairs:
            if not (isinstance(pair, list | tuple) and len(pair) == 2 and all(isinstance(name, str) for name in pair)):
                raise BadValue(f"a clearance ignores pairs of names such as ('hand_l', 'table'), not {shown(pair)}")
        object.__setattr__(self, "ignoring", tuple((a, b) for a, b in pairs))


def met(task: Task, miss: Miss) -> bool:
    """Whether a miss is within the task's tolerances; a preference is never missed."""
    return task.preference or bool(miss.metres <= task.tolerance and miss.radians <= task.angle_tolerance)


def miss_of(figure: Figure, task: Task, q: ArrayLike) -> Miss:
    """How far a task is from being met in a posture; the nearest of its alternatives counts."""
    if isinstance(task.goal, OfFigure):
        return task.goal.miss_of(figure, q)
    frames: dict[Any, Any] = {}
    out = []
    for effector, goal, _ in task.choices:
        if id(effector) not in frames:
            frames[id(effector)] = figure.seen(q, effector)
        X = frames[id(effector)]
        seen = X if goal.relative_to is None else inverse(figure.placement(q, goal.relative_to)) @ X
        out.append(goal.miss(seen))
    return min(out, key=lambda m: max(m.metres / task.tolerance, m.radians / task.angle_tolerance))


def segments_of(task: Task) -> list[str]:
    """Every segment that a task looks at."""
    if isinstance(task.goal, OfFigure):
        return list(task.goal.segments)
    names: list[str] = []
    for effector in dict.fromkeys(end for end, _, _ in task.choices):
        ends = [effector.a, effector.b] if isinstance(effector, Gap) else [effector]
        names += [end.segment for end in ends if isinstance(end, Point | Direction | Frame)]
    return names + [goal.relative_to for goal, _ in task.alternatives if goal.relative_to is not None]


def weighs(task: Task) -> bool:
    """Whether it looks at the centre of mass."""
    return any(isinstance(end, MassCentre) for end, _, _ in task.choices)


def chain_of(figure: Figure, task: Task) -> tuple[str, ...]:
    """The coordinates that a task may move."""
    names: set[str] = set()
    segments = segments_of(task)
    if weighs(task):
        segments += [s for s, body in figure.bodies.items() if body.mass > 0.0]
    for segment in segments:
        names |= set(figure.chain(None, segment))
    if isinstance(task.chain, tuple):
        chosen = {name: set(figure.coordinates_of(name)) & names for name in task.chain}
        idle = [name for name, own in chosen.items() if not own]
        if idle:
            raise BadValue(f"{task.name!r}: {idle[0]!r} of its chain moves nothing that it looks at")
        names = set().union(*chosen.values())
    elif task.chain is not None:
        first = set(figure.chain(figure.parent_of(task.chain), task.chain))
        above = set(figure.chain(None, task.chain)) - first
        names -= above
        if not names:
            raise BadValue(f"{task.name!r}: no joint between {task.chain!r} and the effector")
    return tuple(names)


def closing(loop: Any, tolerance: float | None) -> Task:
    """The hard task that closes a loop."""
    near: dict[str, Any] = {} if tolerance is None else {"tolerance": tolerance, "angle_tolerance": tolerance}
    if loop.point:
        gap = Gap(Point(loop.a, loop.at_a[:3, 3]), Point(loop.b, loop.at_b[:3, 3]))
        return Task(gap, At(np.zeros(3)), hard=True, name=loop.name, **near)
    gap = Gap(Frame(loop.a, loop.at_a), Frame(loop.b, loop.at_b))
    return Task(gap, Placed(HERE), hard=True, name=loop.name, **near)
