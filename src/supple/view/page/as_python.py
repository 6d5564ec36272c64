"""A posture and its pins as lines of Python that make them again, and as JSON."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import BadFile
from supple.figure.effectors import Direction, Frame, Gap, MassCentre, Point
from supple.figure.figure import Figure
from supple.figure.structure import Origin
from supple.geometry.placements import Floats
from supple.geometry.shapes import Ball, Box, Capsule, Hull, Polytope
from supple.problem.goals import AimedAt, AnyOf, At, Balanced, Beyond, Facing, Near, OnLine, OnPlane, Placed
from supple.problem.task import Clearance, Task
from supple.scene.scene import Scene

OPTIONS = ("weight", "hard", "chain", "priority", "preference")
LARGEST = 2**20  # characters of a file of postures


def python_lines(scene: Scene) -> str:
    """Lines that make the scene: the figure, the posture to the last bit, and its pins."""
    figure, used, body = scene.figure, {"Scene"}, []
    for name, task in scene.constraints.items():
        text = _pin(name, task, used)
        body.append(
            text if text is not None else f"# {name}: {type(task.goal).__name__} is left out; save the scene instead"
        )
    for name, shape in scene.obstacles.items():
        text = _obstacle(shape, used)
        body.append(f"# {name}: left out; save the scene instead" if text is None else f"scene.place({name!r}, {text})")
    keep = {f.name: getattr(scene.clearance, f.name) for f in fields(Clearance)}
    given = [f"{name}={value!r}" for name, value in keep.items() if value != getattr(Clearance(), name)]
    body += [f"scene.keep_clear({', '.join(given)})"] if given else []
    body += [f"scene.disable({name!r})" for name in scene.constraints if name in scene.disabled]
    if scene.rigidity:
        body.append(f"scene.stiffen({dict(scene.rigidity)!r})")
    moved = {n: v for n, v, r in zip(figure.coordinates, scene.q.tolist(), figure.rest.tolist(), strict=True) if v != r}
    posture = "".join(f"    {name!r}: {value!r},\n" for name, value in moved.items())
    return "\n".join(
        [
            "import supple",
            f"from supple import {', '.join(sorted(used))}",
            "",
            f"figure = {_loading(figure)}",
            f"posture = {{\n{posture}}}" if moved else "posture = {}",
            "scene = Scene(figure, posture)",
            *body,
            "q = scene.q",
            "",
        ]
    )


def _loading(figure: Figure) -> str:
    if figure.origin is None:
        return f"...  # your own {figure.name!r}"
    first = _one(figure.origin)
    others = (f".attached(\n    {_one(each)}, None, prefix={each.prefix!r}\n)" for each in figure.origin.beside)
    return first + "".join(others)


def _one(origin: Origin) -> str:
    options = "".join(f", {name}={value!r}" for name, value in origin.options.items())
    text = f"supple.load({origin.what!r}{options})"
    if origin.stands is None and not origin.floats:
        return text
    where = [] if origin.stands is None else [repr([list(row) for row in origin.stands])]
    return f"{text}.based_at({', '.join(where + (['free=True'] if origin.floats else []))})"


def _numbers(values: Any) -> str:
    return (
        repr(tuple(np.asarray(values, dtype=float).tolist()))
        if np.ndim(values) == 1
        else repr(np.asarray(values).tolist())
    )


def _pin(name: str, task: Task, used: set[str]) -> str | None:
    """The line that adds a pin; none for a goal that has no lines."""
    goal = _goal(task.goal, used)
    effector = "" if task.effector is None else _effector(task.effector, used)
    if goal is None or effector is None:
        return None
    plain = Task(task.effector, task.goal)
    options = [f"{k}={getattr(task, k)!r}" for k in OPTIONS if getattr(task, k) != getattr(plain, k)]
    if task.effector is None:
        used.add("Task")
        return f"scene.add({name!r}, Task(None, {', '.join([goal, *options])}))"
    return f"scene.add({', '.join([repr(name), effector, goal, *options])})"


def _effector(end: Any, used: set[str]) -> str | None:
    used.add(type(end).__name__)
    if isinstance(end, Point):
        return f"Point({end.segment!r}, {end.offset!r})"
    if isinstance(end, Direction):
        return f"Direction({end.segment!r}, {end.axis!r}, {end.offset!r})"
    if isinstance(end, Frame):
        return f"Frame({end.segment!r}, {_numbers(end.at)})"
    if isinstance(end, Gap):
        return f"Gap({_effector(end.a, used)}, {_effector(end.b, used)})"
    return "MassCentre()" if isinstance(end, MassCentre) else None


def _goal(goal: Any, used: set[str]) -> str | None:
    if isinstance(goal, AnyOf):
        used.add("AnyOf")
        parts = [g if isinstance(g, tuple) else (None, g) for g in goal.goals]
        texts = [(end and _effector(end, used), _goal(g, used)) for end, g in parts]
        if any(text is None for _, text in texts):
            return None
        rows = ", ".join(str(text) if end is None else f"({end}, {text})" for end, text in texts)
        return f"AnyOf([{rows}], {list(goal.weights or ())!r})"
    texts = {
        At: lambda: _numbers(goal.position),
        AimedAt: lambda: _numbers(goal.point),
        Placed: lambda: _numbers(goal.at),
        Facing: lambda: None if goal.x is None else _numbers(goal.x),
        OnLine: lambda: f"{_numbers(goal.point)}, {_numbers(goal.normal)}",
        OnPlane: lambda: f"{_numbers(goal.point)}, {_numbers(goal.normal)}",
        Beyond: lambda: f"{_numbers(goal.point)}, {_numbers(goal.normal)}",
        Balanced: lambda: f"{_numbers(goal.polygon)}, {goal.margin!r}",
        Near: lambda: f"{_numbers(goal.reference)}, {_numbers(goal.weights)}",
    }
    text = texts.get(type(goal), lambda: None)()
    if text is None:
        return None
    used.add(type(goal).__name__)
    relative = "" if getattr(goal, "relative_to", None) is None else f", relative_to={goal.relative_to!r}"
    return f"{type(goal).__name__}({text}{relative})"


def _obstacle(shape: Any, used: set[str]) -> str | None:
    if not isinstance(shape, Box | Ball | Capsule | Polytope | Hull):
        return None
    if isinstance(shape, Hull):  # `supple` itself does not have the name
        return f"supple.geometry.Hull({_numbers(shape.points)}, {shape.radius!r})"
    used.add(type(shape).__name__)
    if isinstance(shape, Box):
        return f"Box({_numbers(shape.lower)}, {_numbers(shape.upper)}, {_numbers(shape.at)})"
    if isinstance(shape, Ball):
        return f"Ball({_numbers(shape.centre)}, {shape.radius!r})"
    if isinstance(shape, Capsule):
        return f"Capsule({shape.radius!r}, {shape.length!r}, {_numbers(shape.at)})"
    return f"Polytope({_numbers(shape.A)}, {_numbers(shape.b)})"


# ── postures ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def postures_text(figure: Figure, postures: dict[str, Floats]) -> str:
    """Named postures as JSON: numbers by coordinate."""
    plain = {name: figure.named(q) for name, q in postures.items()}
    return json.dumps({"version": 1, "figure": figure.name, "postures": plain}, indent=1, ensure_ascii=False)


def postures_of(figure: Figure, text: str, file: str = "postures") -> dict[str, Floats]:
    """The named postures of a file; coordinates that another figure has and this one has not are left out."""
    if len(text) > LARGEST:
        raise BadFile(f"a file of postures has at most {LARGEST} characters", file=file)
    try:
        plain = json.loads(text)
        rows = plain["postures"].items()
        out = {}
        for name, values in rows:
            known = {c: float(v) for c, v in values.items() if c in figure.coordinates}
            out[str(name)[:200]] = figure.limits.project(figure.posture(known))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadFile(f"no postures of {figure.name!r} can be read from it", file=file) from error
    return out


def read_postures(figure: Figure, path: Path) -> dict[str, Floats]:
    """The named postures in a file, none if there is no file."""
    return postures_of(figure, path.read_text(encoding="utf-8"), str(path)) if path.exists() else {}
