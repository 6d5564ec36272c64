"""What has to be refuted: poses and points that chains of a figure's joints are to reach.

Every task that can be decided is a *claim* on one chain: a frame at a pose, in the world or as another segment sees
it, or only the frame's origin at a point. A point and a direction of one segment are a pose with a hinge about the
direction at the end of the chain, which turns freely. A closed loop is the pose of one of its ends seen from the
other; and where a segment's pose is known, because a task says so, the loop's other end has a pose in the world: a box
that two arms hold is two claims, one for each arm.

Of a problem with several tasks each claim is a necessary condition: one that cannot be met, or several that cannot be
met together, make the problem impossible.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from supple.figure.effectors import Direction, Frame, Gap, Point, along_x
from supple.geometry.placements import Floats, compose, inverse
from supple.problem.goals import Aligned, At, Facing, Placed
from supple.problem.problem import Problem, Task
from supple.proofs.checker.moments import MOST
from supple.proofs.checker.statement import Wish
from supple.proofs.serial_chain import Chain, Undecidable, Way

FARTHEST = 1e6  # [m] a target that can be computed with
WIDEST = 0.1  # tolerance [m, rad] up to which a task can be decided
X_TO_Z = compose([[0, 0, 1], [0, 1, 0], [-1, 0, 0]], (0, 0, 0))  # a frame whose z axis is the old x


@dataclass(frozen=True, eq=False)
class Carried:
    """What a wish says of the world where another origin says where the segment is that sees it."""

    known: Origin
    through: Wish


Origin: TypeAlias = Wish | Carried


@dataclass(frozen=True, eq=False)
class Claim:
    """A chain brings its frame, or only the frame's origin (`point`), to a target, to within tolerances."""

    chain: Chain
    target: Floats  # (4, 4)
    tolerance: float
    angle_tolerance: float
    point: bool
    way: Way
    origin: Origin | None = None  # what it is of a statement

    @property
    def places(self) -> bool:
        """Whether it says where its segment is in the world."""
        return not (self.point or self.way.turning or self.way.seen_from is not None)

    @property
    def segment_at(self) -> Floats:
        """Where the segment is in the world, but for tolerances, if it says so."""
        return self.target @ inverse(self.way.frame)


@dataclass(frozen=True, eq=False)
class _Known:
    """A frame of a segment that a task has placed in the world."""

    frame: Floats
    at: Floats
    tolerance: float
    angle_tolerance: float
    origin: Origin

    def carried(self, frame: Floats) -> _Known:
        """What this says of another frame of the segment."""
        lever = float(np.linalg.norm(frame[:3, 3] - self.frame[:3, 3]))
        loose = self.tolerance + self.angle_tolerance * lever
        return replace(self, frame=frame, at=self.at @ inverse(self.frame) @ frame, tolerance=loose)


class _Claims:
    """The claims of a problem, as they are found."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.figure = problem, problem.figure
        assert problem.limits is not None
        self.lower, self.upper = problem.limits.lower, problem.limits.upper
        self.found: list[Claim] = []
        self.reasons: list[str] = []
        self.known: dict[str, _Known] = {}
        self.gaps: list[tuple[Task, Wish]] = []
        self.wishes: list[Wish] = []

    def chain(self, way: Way) -> Chain:
        """A chain all of whose joints may move."""
        chain = way.chain(self.figure, self.lower, self.upper)
        if len(chain.names) > MOST:
            free = bool(way.turning)
            raise Undecidable(
                f"{len(chain.names) - free} joints move {way.segment!r}; up to {MOST - free} can be decided"
            )
        for name in chain.names:
            if name in self.figure.coordinates and self.problem.free[self.figure.coordinates.index(name)] == 0.0:
                raise Undecidable(f"joint {name!r} is locked: lock it in the figure instead, with locked()")
        return chain

    def add(self, task: Task, wish: Wish, origin: Origin | None = None) -> None:
        """The claim of a wish, or the reason why there is none; `origin` if it is not what is wished itself."""
        turning = f"(turn {len(self.found)} of {wish.segment})" if wish.kind == "axis" else ""
        if origin is None and np.abs(wish.target).max() <= FARTHEST:
            self.wishes.append(wish)
        if max(wish.tolerance, 0.0 if wish.kind == "point" else wish.angle_tolerance) >= WIDEST:
            self.reasons.append(f"the tolerances of {task.name!r} are too wide")
            return
        if np.abs(wish.target).max() > FARTHEST:
            self.reasons.append(f"the target of {task.name!r} is too far away to compute with")
            return
        way = Way(wish.segment, wish.frame, wish.seen_from, turning=turning)
        try:
            chain = self.chain(way)
        except Undecidable as reason:
            self.reasons.append(str(reason))
            return
        loose = wish.tolerance, wish.angle_tolerance
        self.found.append(Claim(chain, wish.target, *loose, wish.kind == "point", way, origin or wish))

    def take(self, task: Task, others: list[Task]) -> None:
        """The claim of one task."""
        goal, end = task.goal, task.effector
        if isinstance(goal, Placed) and isinstance(end, Frame):
            wish = _wish("pose", task, (end.segment, end.frame), goal.at, goal.relative_to)
            self.add(task, wish)
            if goal.relative_to is None:
                self.known[end.segment] = _Known(end.frame, goal.at, task.tolerance, task.angle_tolerance, wish)
        elif isinstance(goal, At) and isinstance(end, Point | Direction | Frame):
            facing = next((t for t in others if _shares(task, t)), None)
            if facing is None:
                there = compose(np.eye(3), goal.position)
                self.add(task, _wish("point", task, (end.segment, end.frame), there, goal.relative_to))
            else:
                self.take_axis(task, facing)
        elif isinstance(goal, Aligned) and isinstance(end, Direction | Frame):
            self.add(task, _along(task, end, goal))
        elif isinstance(end, Gap) and isinstance(goal, Placed | At):
            self.take_gap(task, end, goal)
        elif not isinstance(goal, Facing):
            self.reasons.append(f"{task.name!r} is neither a pose nor a point of one segment")

    def take_axis(self, task: Task, facing: Task) -> None:
        """A point and a direction of one segment: one direction of the pose is free."""
        goal, end, axis, wanted = task.goal, task.effector, facing.effector, facing.goal
        assert isinstance(end, Point | Direction | Frame)
        assert isinstance(axis, Direction | Frame)
        frame = compose(axis.frame[:3, :3], end.frame[:3, 3]) @ X_TO_Z
        target = compose(along_x(tuple(wanted.x.tolist())), goal.position) @ X_TO_Z
        wish = _wish("axis", task, (end.segment, frame), target, goal.relative_to)
        self.add(task, replace(wish, angle_tolerance=float(facing.angle_tolerance)))

    def take_gap(self, task: Task, gap: Gap, goal: Any) -> None:
        """One end seen from the other, and, where the other is known, in the world."""
        a, b, point = gap.a, gap.b, isinstance(goal, At)
        if point and goal.position.any():
            self.reasons.append(f"{task.name!r} keeps a distance")
            return
        target = a.frame @ (np.eye(4) if point else goal.at)
        wish = _wish("point" if point else "pose", task, (b.segment, b.frame), target, a.segment)
        self.gaps.append((task, wish))
        self.add(task, wish)

    def carry(self) -> None:
        """Where one end of a gap is known, the other has a place in the world, which may be where the next begins."""
        left, before = list(self.gaps), set[str]()
        while before != set(self.known):
            before = set(self.known)
            ready = [gap for gap in left if gap[1].seen_from in before]
            left = [gap for gap in left if gap[1].seen_from not in before]
            for task, wish in ready:
                if wish.segment in self.known:
                    continue
                there = self.known[str(wish.seen_from)].carried(wish.target)
                loose = (there.tolerance + wish.tolerance, there.angle_tolerance + wish.angle_tolerance)
                origin = Carried(there.origin, wish)
                own = replace(wish, seen_from=None, target=there.at, tolerance=loose[0], angle_tolerance=loose[1])
                self.add(task, own, origin)
                if wish.kind == "pose":
                    self.known[wish.segment] = _Known(wish.frame, there.at, *loose, origin)


def _wish(kind: str, task: Task, what: tuple[str, Floats], target: Floats, seen_from: str | None) -> Wish:
    """What a task wishes of a frame of a segment."""
    return Wish(kind, *what, seen_from, target, float(task.tolerance), float(task.angle_tolerance))


def _along(task: Task, end: Direction | Frame, goal: Aligned) -> Wish:
    """A position and one of the axes: of two axes the other is left out, so that less is wished than asked for."""
    k, way = (0, goal.x) if goal.x is not None else (1, goal.y)
    assert way is not None
    turned = compose(along_x(tuple(end.frame[:3, k].tolist())), end.frame[:3, 3])
    target = compose(along_x(tuple(way.tolist())), goal.position)
    return _wish("axis", task, (end.segment, turned @ X_TO_Z), target @ X_TO_Z, goal.relative_to)


def _shares(task: Task, other: Task) -> bool:
    """Whether the other turns a direction of the segment whose point the task places, as seen from the same segment."""
    goal, end = other.goal, other.effector
    if not (isinstance(goal, Facing) and isinstance(end, Direction | Frame)):
        return False
    same = end.segment == getattr(task.effector, "segment", "")
    return bool(same and goal.x is not None and goal.y is None and goal.relative_to == task.goal.relative_to)


def claims_of(problem: Problem) -> tuple[Claim, ...]:
    """The claims that a problem makes on chains; `Undecidable` if there is none."""
    assert problem.limits is not None
    if not problem.limits.is_box:
        raise Undecidable("its limits are more than a range for each coordinate")
    claims = _taken(problem)
    claims.carry()
    if not claims.found:
        raise Undecidable(claims.reasons[0] if claims.reasons else "it has no task on a chain of joints")
    return tuple(claims.found)


def wishes_of(problem: Problem) -> tuple[Wish, ...]:
    """What a problem wishes of frames and points, whatever moves them."""
    return tuple(_taken(problem).wishes)


def _taken(problem: Problem) -> _Claims:
    wanted = [task for task in problem.tasks if not task.preference and not task.of_figure]
    claims = _Claims(problem)
    for task in wanted:
        claims.take(task, wanted)
    for loop in problem.loops:
        claims.take(loop, [])
    return claims
