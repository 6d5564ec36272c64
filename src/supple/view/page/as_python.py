"""A posture and its pins as lines of Python that make them again, and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import BadFile
from supple.figure.effectors import Direction, Frame, MassCentre, Point
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.problem.goals import AimedAt, At, Balanced, Beyond, Facing, OnLine, OnPlane, Placed
from supple.problem.problem import Task
from supple.scene.scene import Scene
from supple.view.page.pins import kind_of

LARGEST = 2**20  # characters of a file of postures


def python_lines(scene: Scene) -> str:
    """Lines that make the scene: the figure, the posture to the last bit, and its pins."""
    figure, used, body = scene.figure, {"Scene"}, []
    for name, task in scene.constraints.items():
        text = _pin(name, task, used)
        body.append(
            text if text is not None else f"# {name}: {type(task.goal).__name__} is left out; save the scene instead"
        )
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
    options = "".join(f", {name}={value!r}" for name, value in figure.origin.options.items())
    return f"supple.load({figure.origin.what!r}{options})"


def _numbers(values: Any) -> str:
    return (
        repr(tuple(np.asarray(values, dtype=float).tolist()))
        if np.ndim(values) == 1
        else repr(np.asarray(values).tolist())
    )


def _pin(name: str, task: Task, used: set[str]) -> str | None:
    if kind_of(task) is None:
        return None
    end, goal = task.effector, task.goal
    if isinstance(end, Point):
        effector = f"Point({end.segment!r}, {end.offset!r})"
    elif isinstance(end, Direction):
        effector = f"Direction({end.segment!r}, {end.axis!r}, {end.offset!r})"
    elif isinstance(end, Frame):
        effector = f"Frame({end.segment!r}, {_numbers(end.at)})"
    elif isinstance(end, MassCentre):
        effector = "MassCentre()"
    else:
        return None
    texts = {
        At: lambda: _numbers(goal.position),
        AimedAt: lambda: _numbers(goal.point),
        Placed: lambda: _numbers(goal.at),
        Facing: lambda: _numbers(goal.x),
        OnLine: lambda: f"{_numbers(goal.point)}, {_numbers(goal.normal)}",
        OnPlane: lambda: f"{_numbers(goal.point)}, {_numbers(goal.normal)}",
        Beyond: lambda: f"{_numbers(goal.point)}, {_numbers(goal.normal)}",
        Balanced: lambda: f"{_numbers(goal.polygon)}, {goal.margin!r}",
    }
    used |= {type(end).__name__, type(goal).__name__}
    plain = Task(end, goal)
    options = [
        f"{k}={getattr(task, k)!r}"
        for k in ("weight", "hard", "chain", "priority")
        if getattr(task, k) != getattr(plain, k)
    ]
    goal_text = f"{type(goal).__name__}({texts[type(goal)]()})"
    return f"scene.add({', '.join([repr(name), effector, goal_text, *options])})"


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
