"""Scenes as nested tables, the same for TOML and JSON: reading and writing side by side. The form is in `files.scene`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from supple.errors import BadValue, Error, find
from supple.figure.figure import Figure
from supple.figure.limits import Limits
from supple.files.scene.fields import (
    Fields,
    Maybe,
    Noted,
    Place,
    Reader,
    Wrong,
    angle,
    fields,
    flag,
    gathered,
    items,
    kind,
    listed,
    number,
    record,
    text,
    whole,
)
from supple.files.scene.figure import (
    Load,
    plain_figure,
    plain_limits,
    plain_rigidity,
    read_figure,
    read_limits,
    read_rigidity,
)
from supple.files.scene.goals import (
    by_coordinate,
    plain_coordinates,
    plain_effector,
    plain_goal,
    put,
    read_effector,
    read_goal,
)
from supple.files.scene.shapes import Plain, plain_obstacle, read_bar, read_obstacle
from supple.files.xml import LARGEST_NUMBER
from supple.geometry.placements import Floats
from supple.geometry.shapes import Solid
from supple.problem.bars import Obstacle
from supple.problem.goals import Near
from supple.problem.goals.base import choices_of
from supple.problem.task import Clearance, Task
from supple.scene.scene import Scene
from supple.scene.state import checked

VERSION = 1
MOST_CONSTRAINTS = 1_000
OPTIONS: dict[str, Reader] = {
    "weight": number,
    "hard": flag,
    "chain": lambda value, place: text(value, place) if isinstance(value, str) else listed(text)(value, place),
    "priority": whole,
    "tolerance": number,
    "angle_tolerance": angle,
    "preference": flag,
}


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def read_tables(raw: Any, load: Load, folder: Path, notes: list[str]) -> Scene:
    """The scene that the tables of a file describe; `Noted` if there is anything to complain about."""
    top = Place(notes).attempt(fields, raw)
    if top.need("version", _version) is None:
        raise Noted
    figure = top.need("figure", partial(read_figure, load, folder))
    if figure is None:
        raise Noted
    solids = top.take("solids", partial(_read_solids, figure), {})
    figure = figure.with_solids(solids) if solids else figure
    limits = top.take("limits", partial(read_limits, figure), None)
    q = top.take("posture", by_coordinate(figure), {})
    rigidity = top.take("rigidity", partial(read_rigidity, figure), None)
    constraints = top.take("constraints", partial(_read_constraints, figure), [])
    obstacles = top.take("obstacles", _read_obstacles, {})
    clearance = top.take("clearance", _read_clearance, Clearance())
    scene = None
    if top.fine:
        scene = _built(top, figure, put(figure, figure.rest, q), limits, rigidity, constraints, obstacles, clearance)
    top.done()
    assert scene is not None
    return scene


def _built(
    top: Fields,
    figure: Figure,
    q: Floats,
    limits: Limits | None,
    rigidity: Floats | None,
    constraints: list[tuple[Task, bool]],
    obstacles: Mapping[str, Obstacle],
    clearance: Clearance,
) -> Scene | None:
    """The scene, if its parts fit together."""
    try:
        return Scene(
            figure,
            q,
            limits=limits,
            rigidity=rigidity,
            constraints=[task for task, _ in constraints],
            disabled=[task.name for task, enabled in constraints if not enabled],
            obstacles=obstacles,
            clearance=clearance,
        )
    except Error as error:
        top.fail(error)
        return None


def _version(value: Any, place: Place) -> int:
    if whole(value, place) != VERSION:
        raise Wrong(f"must be {VERSION}, not {kind(value)}: this is a file for another supple")
    return VERSION


def _read_constraints(figure: Figure, value: Any, place: Place) -> list[tuple[Task, bool]]:
    listed = items(value, place)
    if len(listed) > MOST_CONSTRAINTS:
        raise Wrong(f"are more than {MOST_CONSTRAINTS}")
    out = gathered((place.at(i), partial(_read_constraint, figure), one) for i, one in enumerate(listed))
    names = [task.name for task, _ in out]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise BadValue(f"two are called {name!r}")
    return out


def _read_constraint(figure: Figure, value: Any, place: Place) -> tuple[Task, bool]:
    """A task, and whether it is enabled."""
    table = fields(value, place)
    name = table.need("name", text)
    if name is not None:
        table.place = Place(place.notes, f"{place.path} {name!r}")
    goal = table.need("goal", partial(read_goal, figure))
    own = "goal" not in table.values or (goal is not None and all(c.effector is not None for c in choices_of(goal)))
    posture = isinstance(goal, Near) or own
    effector = table.take("effector", read_effector, None) if posture else table.need("effector", read_effector)
    given = {key: table.take(key, read, None) for key, read in OPTIONS.items()}
    enabled = table.take("enabled", flag, True)
    table.done()
    try:
        options = {key: one for key, one in given.items() if key in table.values}
        return checked(figure, Task(effector, goal, name=name or "", **options)), enabled
    except Error as error:
        table.fail(error)
        raise Noted from error


def _read_obstacles(value: Any, place: Place) -> dict[str, Any]:
    table = fields(value, place).values
    for name in table:
        text(name, place)
    return dict(zip(table, gathered((place.at(name), read_obstacle, x) for name, x in table.items()), strict=True))


def _read_solids(figure: Figure, value: Any, place: Place) -> Mapping[str, Sequence[Solid]]:
    """What segments keep clear with."""
    table = fields(value, place).values
    for segment in table:
        find(figure.segments, segment, "segment", f"figure {figure.name!r}")
    bars = gathered((place.at(name), listed(read_bar), x) for name, x in table.items())
    return dict(zip(table, bars, strict=True))


def _read_clearance(value: Any, place: Place) -> Clearance:
    pairs, length = Maybe(listed(listed(text))), Maybe(number)
    more = {"preferred": length, "uncovered": Maybe(text)}
    return record(Clearance, margin=length, itself=Maybe(flag), ignoring=pairs, **more)(value, place)


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def plain_scene(scene: Scene, folder: Path) -> Plain:
    """The tables of a scene for a file in `folder`; a BadValue lists everything that has no form there."""
    figure, reasons = scene.figure, []
    constraints = []
    for name, task in scene.constraints.items():
        try:
            constraints.append(_plain_constraint(figure, task, name not in scene.disabled))
        except BadValue as error:
            reasons.append(f"{name!r}: {error}")
    try:
        reference = plain_figure(figure, folder)
    except BadValue as error:
        reference = None
        reasons.append(str(error))
    tables = {
        "version": VERSION,
        "figure": reference,
        "solids": {name: [plain_obstacle(bar) for bar in bars] for name, bars in figure.solids.items()},
        "posture": plain_coordinates(figure, scene.q, figure.rest),
        "rigidity": plain_rigidity(figure, scene.now.setup.rigidity),
        "limits": {} if scene.limits is figure.limits else plain_limits(figure, scene.limits),
        "constraints": constraints,
        "obstacles": {name: plain_obstacle(shape) for name, shape in scene.obstacles.items()},
        "clearance": _plain_clearance(scene.clearance),
    }
    if _largest(tables) > LARGEST_NUMBER:
        reasons.append(f"it has numbers above {LARGEST_NUMBER:g}")
    if reasons:
        raise BadValue("the scene cannot be written: " + "; ".join(reasons))
    return {name: value for name, value in tables.items() if value not in ({}, [])}


def _largest(plain: Any) -> float:
    """The size of the largest number."""
    inner = plain.values() if isinstance(plain, dict) else plain if isinstance(plain, list) else ()
    own = abs(plain) if isinstance(plain, int | float) else 0.0
    return max((own, *map(_largest, inner)))


def _plain_constraint(figure: Figure, task: Task, enabled: bool) -> Plain:
    """The fields of a task that are not the usual ones."""
    out: Plain = {"name": task.name}
    if task.effector is not None:
        out["effector"] = plain_effector(task.effector)  # type: ignore[arg-type]
    out["goal"] = plain_goal(figure, task.goal)
    usual = replace(task, name="", **{name: Task.__dataclass_fields__[name].default for name in OPTIONS})
    for name in OPTIONS:
        value = getattr(task, name)
        if value != getattr(usual, name):
            measured = OPTIONS[name] in (number, angle)
            out[name] = float(value) if measured else list(value) if isinstance(value, tuple) else value
    return out if enabled else {**out, "enabled": False}


def _plain_clearance(clearance: Clearance) -> Plain:
    pairs = [list(pair) for pair in clearance.ignoring]
    given = {"margin": float(clearance.margin), "itself": clearance.itself, "ignoring": pairs}
    given["preferred"] = float(clearance.preferred)
    given["uncovered"] = "" if clearance.uncovered == Clearance().uncovered else clearance.uncovered
    return {name: value for name, value in given.items() if value}
