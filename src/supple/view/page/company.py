"""Another figure in the same world, or another one in the place of this: new scenes from old, with posture and pins kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from supple.errors import BadValue
from supple.figure.effectors import MassCentre
from supple.figure.figure import Figure
from supple.figure.limits import Limits
from supple.geometry.placements import Floats, compose, place
from supple.motion.motion import Motion
from supple.motion.retargeting.match import Match
from supple.motion.retargeting.retarget import retarget
from supple.problem.goals import Near
from supple.problem.problem import Task
from supple.scene.scene import Scene
from supple.view.page.pins import kind_of, new_pin, segment_of
from supple.view.skeleton import Skeleton


def joined(scene: Scene, other: Figure, prefix: str, at: Floats, pins: tuple[Task, ...] = ()) -> Scene:
    """The scene with another figure in it, at rest at a place in the world; its names get the prefix."""
    old = scene.figure
    if any(isinstance(task.effector, MassCentre) for task in scene.constraints.values()):
        raise BadValue("remove the balance pin first: the mass centre would be that of both figures")
    figure = old.attached(other, None, at, prefix)
    if figure.coordinates[: old.size] != old.coordinates:
        raise BadValue(f"{other.name!r} would change the order of the coordinates of {old.name!r}")
    more = figure.rest[old.size :]
    tasks = [_widened(task, more) for task in scene.constraints.values()]
    return Scene(
        figure, np.concatenate([scene.q, more]), limits=_limits(scene, figure),
        rigidity=np.concatenate([scene.now.setup.rigidity, np.zeros(len(more))]), constraints=(*tasks, *pins),
        disabled=scene.disabled, obstacles=scene.obstacles, clearance=scene.clearance,
    )  # fmt: skip


def _widened(task: Task, more: Floats) -> Task:
    """A task of a figure that has got more coordinates."""
    if not isinstance(task.goal, Near):
        return task
    goal = Near(np.concatenate([task.goal.reference, more]), np.concatenate([task.goal.weights, np.zeros(len(more))]))
    return replace(task, goal=goal)


def _limits(scene: Scene, figure: Figure) -> Limits | None:
    old = scene.figure
    if scene.limits == old.limits:
        return None
    (equal, A, b), (_, own, side) = scene.limits.rows, old.limits.rows
    if not (np.array_equal(A, own) and np.array_equal(b, side)):
        raise BadValue("the scene has linear limits of its own, which are not carried over to two figures")
    equal, A, b = figure.limits.rows
    lower, upper = (np.array(x) for x in (figure.lower, figure.upper))
    lower[: old.size], upper[: old.size] = scene.limits.lower, scene.limits.upper
    return Limits(lower, upper, A[:equal], b[:equal], A[equal:], b[equal:])


def free_prefix(figure: Figure, name: str) -> str:
    """A prefix that no segment of a figure has yet."""
    k, prefix = 1, f"{name}/"
    while any(s.startswith(prefix) for s in figure.segments):
        k += 1
        prefix = f"{name} {k}/"
    return prefix


def opposite(scene: Scene, other: Figure) -> Floats:
    """Where another figure stands at first: in front of the first one and facing it; what floats alone is before its chest."""
    figure = scene.figure
    root = figure.placement(scene.q, figure.segments[0])[:3, 3]
    size = Skeleton(figure, scene.q).size
    if len(other.segments) == 1:
        return compose(np.eye(3), root + np.array([0.24, 0.0, 0.06]) * size)
    there = 0.5 * max(size, Skeleton(other, other.rest).size)
    return place((float(root[0]) + there, float(root[1]), 0.0), rpy=(0.0, 0.0, np.pi))


def swapped(scene: Scene, to: Figure) -> tuple[Scene, Match]:
    """The scene with another figure that holds itself as this one does, and which segments match.

    Pins go to the segments that match, where they are.
    """
    still = Motion(scene.figure, np.stack([scene.q, scene.q]), np.array([0.0, 1.0]))
    found = retarget(still, to, plant=False)
    q = found.q[0]
    pins = [new for task in scene.constraints.values() if (new := _carried(task, to, q, found.match)) is not None]
    off = [name for name in scene.disabled if any(pin.name == name for pin in pins)]
    other = Scene(to, q, constraints=pins, disabled=off, obstacles=scene.obstacles, clearance=_clearance(scene, to))
    return other, found.match


def _carried(task: Task, to: Figure, q: Floats, match: Match) -> Task | None:
    """The pin on the segment that matches, as the figure is now."""
    kind, segment = kind_of(task), segment_of(task)
    there = matching(match, to, segment)
    if kind is None or (there is None and kind != "balance"):
        return None
    options: Mapping[str, Any] = {
        "hard": task.hard,
        "weight": task.weight,
        "name": task.name,
        "priority": task.priority,
    }
    try:
        return new_pin(to, q, kind, there or "", None, **options)
    except BadValue:  # a figure that has no body to balance
        return None


def matching(match: Match, to: Figure, segment: str | None) -> str | None:
    """The segment of a figure that matches one of the figure before; none if there is none."""
    if segment is None:
        return None
    found = [target for target, source in dict(match.pairs).items() if source == segment]
    return found[-1] if found else segment if segment in to.segments else None


def _clearance(scene: Scene, to: Figure) -> Any:
    names = {*to.segments, *scene.obstacles}
    kept = [pair for pair in scene.clearance.ignoring if set(pair) <= names]
    return replace(scene.clearance, ignoring=kept, uncovered="ignore" if to.uncovered else scene.clearance.uncovered)
