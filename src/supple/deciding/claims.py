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
from typing import Any

import numpy as np

from supple.deciding.chain import MOST, Chain, Undecidable, Way
from supple.effectors import Direction, Frame, Gap, Point, along_x
from supple.goals import At, Facing, Placed
from supple.problem import Problem, Task
from supple.space import Floats, compose, inverse

FARTHEST = 1e6  # [m] a target that can be computed with
WIDEST = 0.1  # tolerance [m, rad] up to which a task can be decided
X_TO_Z = compose([[0, 0, 1], [0, 1, 0], [-1, 0, 0]], (0, 0, 0))  # a frame whose z axis is the old x


@dataclass(frozen=True, eq=False)
class Claim:
    """A chain brings its frame, or only the frame's origin (`point`), to a target, to within tolerances."""

    chain: Chain
    target: Floats  # (4, 4)
    tolerance: float
    angle_tolerance: float
    point: bool
    way: Way

    @property
    def places(self) -> bool:
        """Whether it says where its segment is in the world."""
        return not (self.point or self.way.turning or self.way.seen_from is not None)

    @property
    def segment_at(self) -> Floats:
        """Where the segment is in the world, but for tolerances, if it says so."""
        return self.target @ inverse(self.way.frame)

    @property
    def wish(self) -> str:
        """What is wanted, in words."""
        x, y, z = self.target[:3, 3]
        return f"brings {self.way.segment} to ({x:.4g}, {y:.4g}, {z:.4g}) m{'' if self.point else ' in the wanted orientation'}"


@dataclass(frozen=True, eq=False)
class _Known:
    """A frame of a segment that a task has placed in the world."""

    frame: Floats
    at: Floats
    tolerance: float
    angle_tolerance: float

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

    def chain(self, way: Way) -> Chain:
        """A chain all of whose joints may move."""
        chain = way.chain(self.figure, self.lower, self.upper)
        if len(chain.names) > MOST:
            free = bool(way.turning)
            raise Undecidable(
                f"{len(chain.names) - free} joints move {way.segment!r}; up to {MOST - free} can be decided"
            )
        for name in chain.names:
            if name in self.figure.joints and self.problem.free[self.figure.joints.index(name)] == 0.0:
                raise Undecidable(f"joint {name!r} is locked: lock it in the figure instead, with locked()")
        return chain

    def add(self, task: Task, segment: str, frame: Floats, target: Floats, **more: Any) -> None:
        """A claim on a frame of a segment, or the reason why there is none."""
        seen_from, point = more.get("seen_from"), more.get("point", False)
        turning = f"(turn {len(self.found)} of {segment})" if more.get("turning") else ""
        tolerance, angle = more.get("loose", (task.tolerance, task.angle_tolerance))
        if max(tolerance, 0.0 if point else angle) >= WIDEST:
            self.reasons.append(f"the tolerances of {task.name!r} are too wide")
            return
        if np.abs(target).max() > FARTHEST:
            self.reasons.append(f"the target of {task.name!r} is too far away to compute with")
            return
        way = Way(segment, frame, seen_from, turning=turning)
        try:
            chain = self.chain(way)
        except Undecidable as reason:
            self.reasons.append(str(reason))
            return
        self.found.append(Claim(chain, target, tolerance, angle, point, way))

    def take(self, task: Task, others: list[Task]) -> None:
        """The claim of one task."""
        goal, end = task.goal, task.effector
        if isinstance(goal, Placed) and isinstance(end, Frame):
            self.add(task, end.segment, end.frame, goal.at, seen_from=goal.relative_to)
            if goal.relative_to is None:
                self.known[end.segment] = _Known(end.frame, goal.at, task.tolerance, task.angle_tolerance)
        elif isinstance(goal, At) and isinstance(end, Point | Direction | Frame):
            facing = next((t for t in others if _shares(task, t)), None)
            if facing is None:
                self.add(task, end.segment, end.frame, _at(goal.position), seen_from=goal.relative_to, point=True)
            else:
                self.take_axis(task, facing)
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
        loose = (task.tolerance, facing.angle_tolerance)
        self.add(task, end.segment, frame, target, seen_from=goal.relative_to, turning=True, loose=loose)

    def take_gap(self, task: Task, gap: Gap, goal: Any) -> None:
        """One end seen from the other, and, where the other is known, in the world."""
        a, b, point = gap.a, gap.b, isinstance(goal, At)
        if point and goal.position.any():
            self.reasons.append(f"{task.name!r} keeps a distance")
            return
        target = a.frame @ (np.eye(4) if point else goal.at)
        self.add(task, b.segment, b.frame, target, seen_from=a.segment, point=point)
        if a.segment in self.known and b.segment not in self.known:
            there = self.known[a.segment].carried(target)
            loose = (there.tolerance + task.tolerance, there.angle_tolerance + task.angle_tolerance)
            self.add(task, b.segment, b.frame, there.at, point=point, loose=loose)
            if not point:
                self.known[b.segment] = _Known(b.frame, there.at, *loose)


def _at(position: Floats) -> Floats:
    return compose(np.eye(3), position)


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
    wanted = [task for task in problem.tasks if not task.preference and task.effector is not None]
    claims = _Claims(problem)
    for task in wanted:
        claims.take(task, wanted)
    count = len(claims.found)
    for _ in problem.loops:  # each may make known what the next begins with
        before = len(claims.known)
        del claims.found[count:]
        for loop in problem.loops:
            claims.take(loop, [])
        if len(claims.known) == before:
            break
    if not claims.found:
        raise Undecidable(claims.reasons[0] if claims.reasons else "it has no task on a chain of joints")
    return tuple(claims.found)
