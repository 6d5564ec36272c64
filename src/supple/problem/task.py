"""Tasks: an effector, a goal, and how much it matters; when a task is met; and how a figure keeps clear of things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import (
    check_fields,
    flag,
    items,
    named_or_none,
    names_in,
    not_negative,
    one_of,
    positive,
    text,
    whole,
)
from supple.basics.values import Value
from supple.errors import BadValue, shown
from supple.figure.effectors import Direction, Effector, Frame, Gap, MassCentre, Point, as_effector
from supple.figure.figure import Figure
from supple.geometry.placements import HERE, inverse
from supple.kernels.terms import kinds as kind
from supple.problem.goals.base import Miss, OfFigure, alternatives_of, checked_goal
from supple.problem.goals.places import At, Placed

METRES, RADIANS = 1e-5, 1e-4  # when a task counts as met, unless told otherwise
UNCOVERED = ("refuse", "ignore")


@dataclass(frozen=True, eq=False, repr=False)
class Task(Value):
    """An effector, its goal, and how much it matters.

    A soft task is weighted against the others; a hard one must hold exactly. `chain` names the segment from which on the
    task may move the figure; or it is a set of coordinates, joints or segments, and only these help. A task of a lower
    `priority` number comes strictly first. A `preference` comes after all tasks that are none: it is improved as far as they
    allow, and never makes a solution fail. The task is met when its goal is
    within `tolerance` [m] and `angle_tolerance` [rad].
    """

    effector: Effector | str | None
    goal: Any
    weight: float = 1.0
    hard: bool = False
    chain: str | Sequence[str] | None = None
    priority: int = 0
    tolerance: float = METRES
    angle_tolerance: float = RADIANS
    name: str = ""
    preference: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.goal, OfFigure):
            object.__setattr__(self, "effector", as_effector(self.effector))
        elif self.effector is not None:
            raise BadValue("Near is a goal for the whole posture; its task has no effector")
        checked_goal(self.goal, "a task needs a goal such as At or Placed")
        check_fields(
            self, "a task", weight=positive, tolerance=positive, angle_tolerance=positive, hard=flag, preference=flag
        )
        check_fields(self, "a task", chain=_chain, name=text, priority=partial(whole, least=None))
        if self.hard and self.preference:
            raise BadValue("a task is hard, or a preference, or neither; not both")
        if not self.name:
            object.__setattr__(self, "name", _called(self.effector, self.goal))
        _check_parts(self)

    @property
    def alternatives(self) -> list[tuple[Any, float]]:
        """The goals of which one must be met, each with its weight."""
        return alternatives_of(self.goal)

    @property
    def has_residuals(self) -> bool:
        """Whether its potential is a sum of squares; those of custom functions and posture goals are not told as one."""
        return all(term.kind not in (kind.CUSTOM, kind.NEAR) for goal, _ in self.alternatives for term in goal.terms())

    @property
    def keeps_clear(self) -> bool:
        """Whether it keeps segments clear of something."""
        return isinstance(self.goal, OfFigure) and bool(self.goal.segments)


def _chain(value: Any, what: str) -> str | tuple[str, ...] | None:
    """The name of a segment, several names without order, or None."""
    if value is None or isinstance(value, str):
        return named_or_none(value, what)
    several = names_in(sorted(value) if isinstance(value, set | frozenset) else value, what)
    if not several:
        raise BadValue(f"{what} has no names: say None for every joint above the effector")
    return tuple(sorted(set(several)))


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
    X = figure.seen(q, task.effector)
    out = []
    for goal, _ in task.alternatives:
        seen = X if goal.relative_to is None else inverse(figure.placement(q, goal.relative_to)) @ X
        out.append(goal.miss(seen))
    return min(out, key=lambda m: max(m.metres / task.tolerance, m.radians / task.angle_tolerance))


def segments_of(task: Task) -> list[str]:
    """Every segment that a task looks at."""
    effector = task.effector
    ends = [effector.a, effector.b] if isinstance(effector, Gap) else [effector]
    names = [end.segment for end in ends if isinstance(end, Point | Direction | Frame)]
    if isinstance(task.goal, OfFigure):
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
    if isinstance(task.chain, tuple):
        names &= {name for given in task.chain for name in figure.coordinates_of(given)}
        if not names:
            raise BadValue(f"{task.name!r}: none of {', '.join(task.chain)} moves the effector")
    elif isinstance(task.chain, str):
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
