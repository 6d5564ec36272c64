"""The figures of a company one by one: taking one away, or another one in its place. Pins are carried over by name.

The scene is made anew from what each figure was loaded from. The first figure's names have no prefix; if it goes, the next one
is the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from supple.errors import BadValue
from supple.figure.figure import Figure
from supple.figure.limits import Limits
from supple.figure.structure import Origin
from supple.files.door import load
from supple.geometry.placements import HERE
from supple.problem.goals import Near
from supple.problem.task import Task
from supple.scene.scene import Scene
from supple.view.page.company import free_prefix, matching, swapped

NAMES = ("segment", "relative_to")  # fields that hold a segment's name
PARTS = ("effector", "goal", "goals", "a", "b")  # fields that hold what has such fields


class Gone(Exception):
    """What a pin speaks of is not there any more."""


@dataclass(frozen=True)
class Member:
    """One figure of the new company: the prefix of its names, and before; none for one that was not there."""

    figure: Figure
    prefix: str
    before: str | None


def prefix_of(figure: Figure, segment: str | None) -> str:
    """The prefix of the figure that a segment belongs to; the first figure has none."""
    prefixes = [each.prefix for each in members(figure)[1:]]
    return next((p for p in prefixes if segment is not None and segment.startswith(p)), "")


def members(figure: Figure) -> tuple[Origin, ...]:
    """What the figures of a company were loaded from, the first one first."""
    origin = figure.origin
    return () if origin is None else (replace(origin, beside=()), *origin.beside)


def without(scene: Scene, prefix: str) -> Scene:
    """The scene without the figure of that prefix; pins that speak of it go with it."""
    left = [each for each in _company(scene) if each.before != prefix]
    if not left:
        raise BadValue("the last figure of a scene stays: swap it for another one")
    left[0] = replace(left[0], prefix="")
    return _made(scene, left, _called(scene.figure, left))


def exchanged(scene: Scene, prefix: str, to: Figure) -> Scene:
    """The scene with another figure in the place of the one of that prefix; it holds itself as that one did."""
    company = _company(scene)
    at = next(k for k, each in enumerate(company) if each.before == prefix)
    alone = [replace(company[at], prefix="")]
    one, match = swapped(_made(scene, alone, _called(scene.figure, alone)), to)
    new = free_prefix(scene.figure, to.name) if at else ""
    rest = [each for each in company if each.before != prefix]
    others = _called(scene.figure, rest)

    def called(name: str) -> str:
        if prefix_of(scene.figure, name) != prefix:
            return others(name)
        found = matching(match, to, name[len(prefix) :])
        if found is None:
            raise Gone
        return new + found

    own = {name: _renamed(task, lambda segment: new + segment) for name, task in one.constraints.items()}
    company[at] = Member(to, new, None)
    return _made(scene, company, called, own, dict(zip(to.coordinates, one.q.tolist(), strict=True)))


def _company(scene: Scene) -> list[Member]:
    known = members(scene.figure)
    if len(known) < 2:
        raise BadValue("there is one figure only, or it is not known what the figures were loaded from")
    return [Member(_again(each), each.prefix, each.prefix) for each in known]


def _again(origin: Origin) -> Figure:
    """The figure that was loaded, where it stands."""
    figure = load(origin.what, **origin.options)
    if origin.stands is None and not origin.floats:
        return figure
    return figure.based_at(HERE if origin.stands is None else np.array(origin.stands), free=origin.floats)


def _called(figure: Figure, left: list[Member]) -> Callable[[str], str]:
    """What a name of the company is called in one of those that are left."""
    now = {each.before: each.prefix for each in left}

    def called(name: str) -> str:
        prefix = prefix_of(figure, name)
        if prefix not in now:
            raise Gone
        return now[prefix] + name[len(prefix) :]

    return called


def _made(
    scene: Scene, company: list[Member], called: Callable[[str], str], pins: dict[str, Task] | None = None,
    posture: dict[str, float] | None = None,
) -> Scene:  # fmt: skip
    """A scene of these figures: what stays has its posture, limits, rigidities and pins; the new one its own."""
    old, figure = scene.figure, company[0].figure
    for each in company[1:]:
        figure = figure.attached(each.figure, None, HERE, each.prefix)
    index = {name: k for k, name in enumerate(old.coordinates)}
    pairs = [  # of a new coordinate and an old one
        (figure.coordinates.index(each.prefix + c), index[each.before + c])
        for each in company
        if each.before is not None
        for c in each.figure.coordinates
    ]
    here, there = (np.array(rows, dtype=int) for rows in zip(*pairs, strict=True)) if pairs else ([], [])
    q, rigidity = np.array(figure.rest), np.zeros(figure.size)
    q[here], rigidity[here] = scene.q[there], scene.now.setup.rigidity[there]
    for each in company:
        if each.before is None:
            for c, value in (posture or {}).items():
                q[figure.coordinates.index(each.prefix + c)] = value
    kept = [
        replace(task, name=name)
        for name, task in scene.constraints.items()
        for task in _kept(task, figure, called, (here, there))
    ]
    names = {task.name for task in kept}
    kept += [task for name, task in (pins or {}).items() if name not in names]
    names = {task.name for task in kept}
    return Scene(
        figure, q, limits=_limits(scene, figure, (here, there)), rigidity=rigidity, constraints=kept,
        disabled=scene.disabled & names, obstacles=scene.obstacles, clearance=_clearance(scene, figure, called),
    )  # fmt: skip


def _kept(task: Task, figure: Figure, called: Callable[[str], str], rows: Any) -> list[Task]:
    """The task in the words of the new company; nothing if it speaks of what has gone."""
    if isinstance(task.goal, Near):
        here, there = rows
        reference, weights = np.array(figure.rest), np.zeros(figure.size)
        reference[here], weights[here] = task.goal.reference[there], task.goal.weights[there]
        return [replace(task, goal=Near(reference, weights))] if weights.any() else []
    try:
        return [_renamed(task, called)]
    except Gone:
        return []


def _renamed(thing: Any, called: Callable[[str], str]) -> Any:
    """A task, an effector or a goal with other names of segments in it."""
    if isinstance(thing, tuple):
        return tuple(_renamed(one, called) for one in thing)
    if not is_dataclass(thing):
        return thing
    changes: dict[str, Any] = {}
    for field in fields(thing):
        value = getattr(thing, field.name)
        if value is None:
            continue
        if field.name in NAMES:
            changes[field.name] = called(value)
        elif field.name == "chain":
            changes[field.name] = called(value) if isinstance(value, str) else tuple(map(called, value))
        elif field.name in PARTS:
            changes[field.name] = _renamed(value, called)
    return replace(thing, **changes) if changes else thing  # pyright: ignore[reportArgumentType]


def _limits(scene: Scene, figure: Figure, rows: Any) -> Limits | None:
    old = scene.figure
    if scene.limits == old.limits:
        return None
    (_, A, b), (_, own, side) = scene.limits.rows, old.limits.rows
    if not (np.array_equal(A, own) and np.array_equal(b, side)):
        raise BadValue("the scene has linear limits of its own, which are not carried over to another company")
    here, there = rows
    lower, upper = np.array(figure.lower), np.array(figure.upper)
    lower[here], upper[here] = scene.limits.lower[there], scene.limits.upper[there]
    equal, A, b = figure.limits.rows
    return Limits(lower, upper, A[:equal], b[:equal], A[equal:], b[equal:])


def _clearance(scene: Scene, figure: Figure, called: Callable[[str], str]) -> Any:
    pairs = []
    for pair in scene.clearance.ignoring:
        try:
            pairs.append(tuple(name if name in scene.obstacles else called(name) for name in pair))
        except Gone:
            continue
    uncovered = "ignore" if figure.uncovered else scene.clearance.uncovered
    return replace(scene.clearance, ignoring=pairs, uncovered=uncovered)
