"""Pins: the kinds of constraint that the posing page makes, each from where the figure is, and their gizmos.

A *handle* is the placement of a pin's gizmo in the world: where it is, and for what has a direction, its x axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.errors import BadValue, find
from supple.figure.effectors import Direction, Frame, Gap, MassCentre, Point, along_x
from supple.figure.figure import Figure
from supple.geometry.placements import Floats, compose, inverse
from supple.geometry.shapes import Core
from supple.problem.goals import AimedAt, AnyOf, At, Balanced, Beyond, Facing, OnLine, OnPlane, Placed
from supple.problem.problem import Task

KINDS = ("point", "frame", "direction", "aim", "line", "plane", "half-space", "balance")
PAIRS = ("together", "meet", "either")  # of two segments: held to each other as they are; brought together; one of them
TURNING = ("frame", "direction", "line", "plane", "half-space")  # gizmos with rings
_GOALS = {
    At: "point",
    Placed: "frame",
    Facing: "direction",
    AimedAt: "aim",
    OnLine: "line",
    OnPlane: "plane",
    Beyond: "half-space",
    Balanced: "balance",
}
AHEAD = 0.6  # m: how far ahead a new aim is


def kind_of(task: Task) -> str | None:
    """The kind of a constraint; none if it is not one that the page makes, or relative to a segment."""
    if isinstance(task.effector, Gap):
        return None
    if isinstance(task.goal, AnyOf):
        goals = [goal for goal, _ in task.alternatives]
        same = all(type(g) is At and g == goals[0] and g.relative_to is None for g in goals)
        return "either" if same else None
    if task.goal.relative_to is not None if hasattr(task.goal, "relative_to") else True:
        return None
    if isinstance(task.goal, Facing) and task.goal.x is None:
        return None
    return _GOALS.get(type(task.goal))


def segment_of(task: Task) -> str | None:
    """The segment that a constraint speaks of, if it is one."""
    return getattr(task.effector, "segment", None)


def new_pin(figure: Figure, q: Floats, kind: str, segment: str, place: Floats | None, **options: Any) -> Task:
    """A pin that holds a segment as it is now; `place` is the point of it that was pressed, in the world."""
    find(KINDS, kind, "kind of pin", "the page")
    if kind == "balance":
        return Task(MassCentre(), Balanced(support(figure, q)), **options)
    T = figure.placement(q, segment)
    at = T[:3, 3] if place is None else np.asarray(place, dtype=float)
    local = tuple((T[:3, :3].T @ (at - T[:3, 3])).tolist())
    if kind == "frame":
        return Task(Frame(segment), Placed(T), **options)
    if kind == "direction":
        return Task(Direction(segment, offset=local), Facing(T[:3, 0]), **options)
    if kind == "aim":
        return Task(Direction(segment, offset=local), AimedAt(at + AHEAD * T[:3, 0]), **options)
    goals = {
        "point": lambda: At(at),
        "line": lambda: OnLine(at, (0.0, 0.0, 1.0)),
        "plane": lambda: OnPlane(at, (0.0, 0.0, 1.0)),
        "half-space": lambda: Beyond(at, (0.0, 0.0, 1.0)),
    }
    return Task(Point(segment, local), goals[kind](), **options)


def new_pair(figure: Figure, q: Floats, kind: str, segment: str, other: str, **options: Any) -> Task:
    """A pin between two segments, of one figure or of two: hands that shake, hands that carry a box."""
    find(PAIRS, kind, "kind of pin between two segments", "the page")
    if segment == other:
        raise BadValue("a pin between two segments needs two: click on one, then on the other")
    if kind == "either":
        there = At(figure.placement(q, segment)[:3, 3])
        return Task(AnyOf([(Point(segment), there), (Point(other), there)]), **options)
    if kind == "meet":
        return Task(Gap(Point(other), Point(segment)), At((0.0, 0.0, 0.0)), **options)
    rel = inverse(figure.placement(q, other)) @ figure.placement(q, segment)
    return Task(Frame(segment), Placed(rel, relative_to=other), **options)


def support(figure: Figure, q: Floats) -> Floats:
    """The outline of what stands: the bars that are lowest, seen from above, (k, 2)."""
    frames, points = figure.placements(q), []
    for segment, bars in figure.round_bars.items():
        for bar in bars:
            core, T = Core.of(bar), frames[segment]
            for side in (-1.0, 1.0):
                end = core.at[:3, 3] + side * core.half * core.at[:3, 2]
                points.append((*(T[:3, :3] @ end + T[:3, 3]), core.radius))
    if not points:
        raise BadValue(f"figure {figure.name!r} has no bodies to stand on")
    rows = np.array(points)
    bottom = rows[:, 2] - rows[:, 3]
    low = rows[bottom < bottom.min() + 0.02]
    ring = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    around = np.column_stack([np.cos(ring), np.sin(ring)])
    return np.concatenate([row[:2] + row[3] * around for row in low])


# ── gizmos ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def handle_of(figure: Figure, q: Floats, task: Task) -> Floats | None:
    """Where the gizmo of a pin is; none if it has none."""
    kind, goal = kind_of(task), task.goal
    if kind is None or kind == "balance":
        return None
    if kind == "frame":
        return np.array(goal.at)
    if kind == "either":
        return np.array(compose(np.eye(3), task.alternatives[0][0].position))
    if kind in ("point", "aim"):
        return np.array(compose(np.eye(3), goal.position if kind == "point" else goal.point))
    if kind == "direction":
        return np.array(compose(along_x(tuple(goal.x.tolist())), figure.seen(q, task.effector)[:3, 3]))
    return np.array(compose(along_x(tuple(goal.normal.tolist())), goal.point))


def target_of(task: Task, handle: Floats) -> Floats:
    """What `Scene.drag` takes when the gizmo of a pin is at `handle`."""
    kind = kind_of(task)
    if kind == "frame":
        return np.array(handle)
    if kind == "either":
        return np.stack([handle[:3, 3]] * len(task.alternatives))
    if kind in ("point", "aim"):
        return np.array(handle[:3, 3])
    if kind == "direction":
        return np.array(handle[:3, 0])
    return np.stack([handle[:3, 3], handle[:3, 0]])


def seen_by(figure: Figure, q: Floats, task: Task) -> tuple[Floats, Floats] | None:
    """The point of the figure that a pin speaks of, and the nearest place where the pin would have it."""
    kind = kind_of(task)
    goal: Any = task.goal
    if isinstance(task.effector, Gap) and isinstance(goal, At):
        a, b = (figure.placement(q, end.segment) @ end.frame for end in (task.effector.a, task.effector.b))
        return b[:3, 3], a[:3, 3]
    if kind is None and isinstance(task.goal, Placed) and isinstance(task.effector, Frame):
        return figure.seen(q, task.effector)[:3, 3], (figure.placement(q, goal.relative_to) @ goal.at)[:3, 3]
    if kind is None or kind == "direction":
        return None
    if kind == "either":
        ends = [(figure.seen(q, end)[:3, 3], np.array(goal.position)) for end, goal, _ in task.choices]
        return min(ends, key=lambda pair: float(np.linalg.norm(pair[0] - pair[1])))
    here = figure.seen(q, task.effector)[:3, 3]
    if kind == "balance":
        return here, here
    if kind == "frame":
        return here, np.array(goal.at[:3, 3])
    if kind in ("point", "aim"):
        return here, np.array(goal.position if kind == "point" else goal.point)
    d = here - goal.point
    along = float(d @ goal.normal)
    if kind == "line":
        return here, goal.point + along * goal.normal
    if kind == "half-space" and along >= 0.0:
        return here, here
    return here, here - along * goal.normal
