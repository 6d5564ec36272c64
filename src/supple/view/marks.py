"""Goals as lines, patches and dots in space. A met goal and an unmet one differ in colour."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.figure.effectors import Gap, MassCentre
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.problem.goals import AimedAt, Aligned, At, Balanced, Beyond, Facing, OnLine, OnPlane, Placed, Within
from supple.problem.problem import Problem
from supple.problem.task import Task, met

MET, UNMET = "#12805c", "#d1495b"
AXES = ("#c8553d", "#3f8f4f", "#3b6fb6")


class Stroke(NamedTuple):
    """A line through points."""

    points: Floats
    colour: str
    width: float = 1.4
    dashed: bool = False
    alpha: float = 1.0


class Patch(NamedTuple):
    """A flat translucent area with an edge."""

    corners: Floats
    colour: str
    alpha: float = 0.16


class Dot(NamedTuple):
    """A place: "ring" of an effector, "target" of a goal, "mass" for a centre of mass."""

    place: Floats
    colour: str
    kind: str = "target"
    alpha: float = 1.0


class Label(NamedTuple):
    """A task's name beside its target."""

    place: Floats
    text: str


Mark = Stroke | Patch | Dot | Label


def marks_of(problem: Problem, q: Floats, size: float, names: bool, ground: float = 0.0) -> list[Mark]:
    """The marks of every task that has an effector, closed loops included."""
    misses = problem.misses(q)
    out: list[Mark] = []
    for task, miss in zip(problem.all_tasks, misses, strict=True):
        if not task.of_figure:
            out += _of_task(problem.figure, q, task, met(task, miss), size, names, ground)
    return out


def _of_task(
    figure: Figure, q: Floats, task: Task, is_met: bool, size: float, names: bool, ground: float
) -> list[Mark]:
    colour = MET if is_met else UNMET
    rows = [(effector, goal, *_seen(figure, q, effector, goal)) for effector, goal, _ in task.choices]
    rows.sort(key=lambda row: sum(row[1].miss(np.linalg.inv(row[3]) @ row[2])))
    out: list[Mark] = []
    for effector in dict.fromkeys(row[0] for row in rows):
        X = next(row[2] for row in rows if row[0] == effector)
        out.append(Dot(X[:3, 3], colour, "mass" if isinstance(effector, MassCentre) else "ring"))
        if isinstance(effector, Gap):
            out.append(Dot(figure.seen(q, effector.a)[:3, 3], colour, "ring"))
    for k, (_, goal, X, anchor) in enumerate(rows):
        out += _Pen(X, colour, size, ground).drawn(goal, anchor, 1.0 if k == 0 else 0.35)
    _, goal, X, anchor = rows[0]
    near = nearest(goal, anchor, X)
    if near is not None and not is_met:
        out.append(Stroke(np.array([X[:3, 3], near]), UNMET, 1.0, dashed=True))
    if names:
        out.append(Label(X[:3, 3] if near is None else near, task.name))
    return out


def _seen(figure: Figure, q: Floats, effector: Any, goal: Any) -> tuple[Floats, Floats]:
    """Where what is placed is, and the frame that the goal is seen from, both in the world."""
    if isinstance(effector, Gap):
        return figure.seen(q, effector.b), figure.seen(q, effector.a)
    base = np.eye(4) if goal.relative_to is None else figure.placement(q, goal.relative_to)
    return figure.seen(q, effector), base


def nearest(goal: Any, anchor: Floats, X: Floats) -> Floats | None:
    """The place of a goal that is nearest to the frame X, in the world; none for goals that ask for no place."""
    p = (np.linalg.inv(anchor) @ X)[:3, 3]
    if isinstance(goal, At | Aligned):
        p = goal.position
    elif isinstance(goal, Placed):
        p = goal.at[:3, 3]
    elif isinstance(goal, OnLine):
        p = goal.point + ((p - goal.point) @ goal.normal) * goal.normal
    elif isinstance(goal, OnPlane | Beyond):
        s = float((p - goal.point) @ goal.normal)
        p = p - (s if isinstance(goal, OnPlane) else min(s, 0.0)) * goal.normal
    elif isinstance(goal, Within) and goal.box is not None:
        local = np.linalg.inv(goal.at) @ np.append(p, 1.0)
        p = (goal.at @ np.append(np.clip(local[:3], *goal.box), 1.0))[:3]
    else:
        return None
    return anchor[:3, :3] @ p + anchor[:3, 3]


class _Pen(NamedTuple):
    """Draws goals for one effector frame X."""

    X: Floats
    colour: str
    size: float
    ground: float

    def drawn(self, goal: Any, anchor: Floats, alpha: float) -> list[Mark]:
        R, p = anchor[:3, :3], anchor[:3, 3]
        if isinstance(goal, At):
            return self._cross(R @ goal.position + p, alpha)
        if isinstance(goal, Placed):
            T = anchor @ goal.at
            return [*self._triad(T[:3, :3], T[:3, 3], alpha), Dot(T[:3, 3], self.colour, alpha=alpha)]
        if isinstance(goal, Facing):
            return self._facing(goal, R, self.X[:3, 3], alpha)
        if isinstance(goal, Aligned):
            at = R @ goal.position + p
            return [*self._cross(at, alpha), *self._facing(goal.facing, R, at, alpha)]
        if isinstance(goal, AimedAt):
            target = R @ goal.point + p
            ray = Stroke(np.array([self.X[:3, 3], target]), self.colour, 0.9, dashed=True, alpha=alpha)
            return [ray, *self._cross(target, alpha)]
        if isinstance(goal, OnLine):
            foot = nearest(goal, anchor, self.X)
            reach = 0.3 * self.size * (R @ goal.normal)
            return [Stroke(np.array([foot - reach, foot + reach]), self.colour, 1.6, alpha=alpha)]
        if isinstance(goal, OnPlane | Beyond):
            return self._plane(goal, anchor, alpha)
        if isinstance(goal, Within):
            return self._box(goal, anchor, alpha)
        if isinstance(goal, Balanced):
            return self._polygon(goal, anchor, alpha)
        return []  # a goal of one's own: only its effector is shown

    def _cross(self, at: Floats, alpha: float) -> list[Mark]:
        h = 0.022 * self.size
        lines: list[Mark] = [Stroke(at + h * np.outer((-1, 1), e), self.colour, 1.5, alpha=alpha) for e in np.eye(3)]
        return [*lines, Dot(at, self.colour, alpha=alpha)]

    def _triad(self, R: Floats, at: Floats, alpha: float, dashed: bool = False) -> list[Mark]:
        h = 0.075 * self.size
        return [Stroke(np.array([at, at + h * R[:, i]]), AXES[i], 2.0, dashed, alpha) for i in range(3)]

    def _facing(self, goal: Facing, R: Floats, at: Floats, alpha: float) -> list[Mark]:
        h = 0.16 * self.size
        if goal.matrix is not None:
            return self._triad(R @ goal.matrix, at, alpha, dashed=True)
        ways = [R @ d for d in (goal.x, goal.y) if d is not None]
        return [mark for way in ways for mark in self._arrow(at, at + h * way, alpha)]

    def _arrow(self, start: Floats, end: Floats, alpha: float) -> list[Mark]:
        along = end - start
        aside = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
        aside = aside * (0.1 * float(np.linalg.norm(along)) / float(np.linalg.norm(aside)))
        neck = start + 0.8 * along
        head = np.asarray([neck + aside, end, neck - aside], dtype=np.float64)
        return [
            Stroke(np.array([start, end]), self.colour, 1.5, alpha=alpha),
            Stroke(head, self.colour, 1.5, alpha=alpha),
        ]

    def _plane(self, goal: OnPlane | Beyond, anchor: Floats, alpha: float) -> list[Mark]:
        R = anchor[:3, :3]
        normal, at = R @ goal.normal, anchor[:3, 3] + R @ goal.point
        foot = self.X[:3, 3] - ((self.X[:3, 3] - at) @ normal) * normal
        helper = np.array([0.0, 0.0, 1.0]) if abs(normal[2]) < 0.9 else np.array([1.0, 0.0, 0.0])
        u = np.cross(helper, normal)
        u /= np.linalg.norm(u)
        v, h = np.cross(normal, u), 0.13 * self.size
        corners = foot + h * np.array([u + v, u - v, -u - v, v - u])
        out: list[Mark] = [Patch(corners, self.colour, 0.2 * alpha)]
        return out + (self._arrow(foot, foot + 0.6 * h * normal, alpha) if isinstance(goal, Beyond) else [])

    def _polygon(self, goal: Balanced, anchor: Floats, alpha: float) -> list[Mark]:
        """The polygon on the ground, and the plumb line."""
        height = self.ground if goal.relative_to is None else 0.0
        corners = np.column_stack([goal.polygon, np.full(len(goal.polygon), height)])
        foot = np.linalg.inv(anchor) @ self.X[:, 3]
        foot[2] = height
        plumb = np.stack([self.X[:3, 3], (anchor @ foot)[:3]])
        return [
            Patch(corners @ anchor[:3, :3].T + anchor[:3, 3], self.colour, 0.2 * alpha),
            Stroke(plumb, self.colour, 0.9, dashed=True, alpha=alpha),
            Dot(plumb[1], self.colour, alpha=alpha),
        ]

    def _box(self, goal: Within, anchor: Floats, alpha: float) -> list[Mark]:
        T = anchor @ goal.at
        if goal.box is None:
            return self._triad(T[:3, :3], self.X[:3, 3], alpha, dashed=True)
        out: list[Mark] = []
        for axis in range(3):
            j, k = (axis + 1) % 3, (axis + 2) % 3
            for side in (0, 1):
                c = np.empty((4, 3))
                c[:, axis] = goal.box[side, axis]
                c[:, j], c[:, k] = goal.box[[0, 1, 1, 0], j], goal.box[[0, 0, 1, 1], k]
                out.append(Patch(c @ T[:3, :3].T + T[:3, 3], self.colour, 0.07 * alpha))
        return out + (self._triad(T[:3, :3], T[:3, 3], alpha) if goal.tilt is not None else [])
