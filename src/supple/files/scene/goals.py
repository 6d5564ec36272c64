"""How scene files say effectors and goals: reading and writing side by side.

A goal is a table whose one field of a known kind says what is asked, and whose other fields are options:
``{ at = [0.4, 0.1, 1.2], relative_to = "pelvis" }``. An effector is a segment's name, which means its frame, or such a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from supple.errors import BadValue
from supple.figure.effectors import Direction, Effector, Frame, Gap, MassCentre, Point
from supple.figure.figure import Figure
from supple.figure.joints import angular
from supple.files.scene.fields import (
    Maybe,
    Place,
    Reader,
    Wrong,
    angle,
    array,
    chosen,
    fields,
    flag,
    gathered,
    items,
    number,
    record,
    text,
)
from supple.files.scene.shapes import (
    POINT,
    ROTATIONS,
    Plain,
    plain_frame,
    plain_obstacle,
    plain_placement,
    read_placement,
    read_solid,
)
from supple.geometry.placements import Floats
from supple.problem.goals import (
    AimedAt,
    Aligned,
    AnyOf,
    At,
    Balanced,
    Beyond,
    Facing,
    Near,
    OnLine,
    OnPlane,
    Outside,
    Placed,
    Within,
)
from supple.problem.goals.base import PER_RADIAN

DEEPEST = 20  # how far goals may be nested


class Kind(NamedTuple):
    """A kind of thing: how its own field is read, what is made of that, and how its options are read."""

    read: Reader
    make: Callable[..., Any]
    options: Mapping[str, Reader]


def _of_kind(kinds: Mapping[str, Kind], value: Any, place: Place, further: Mapping[str, Reader]) -> tuple[Any, Plain]:
    """What a table of one of these kinds means, and the `further` fields that it has."""
    name = chosen(tuple(kinds), value)
    table, (read, make, options) = fields(value, place), kinds[name]
    own = table.need(name, read)
    given = {key: table.take(key, reader, None) for key, reader in (*options.items(), *further.items())}
    table.done()
    present = {key: one for key, one in given.items() if key in table.values}
    more = {key: present.pop(key) for key in further if key in present}
    return make(own, **present), more


# ── coordinates ──────────────────────────────────────────────────────────────────────────────────────────────────────
def by_name(figure: Figure, reader_of: Callable[[str], Reader]) -> Reader:
    """Values by coordinate, from a table by coordinate, joint, segment or pattern; of several that mean one the last counts."""

    def one(name: str) -> Reader:
        def reader(value: Any, place: Place) -> dict[str, Any]:
            return {joint: reader_of(joint)(value, place) for joint in figure.coordinates_of(name)}

        return reader

    def reader(value: Any, place: Place) -> dict[str, Any]:
        table = fields(value, place).values
        out: dict[str, Any] = {}
        for values in gathered((place.at(name), one(name), x) for name, x in table.items()):
            out.update(values)
        return out

    return reader


def by_coordinate(figure: Figure, also: tuple[str, ...] = ()) -> Reader:
    """Metres, or radians or "30deg", by the names of coordinates; or one of the words that are allowed `also`."""
    turning = angular(figure.joints.values())

    def reader_of(joint: str) -> Reader:
        read = angle if turning[joint] else number
        return lambda value, place: value if value in also else read(value, place)

    return by_name(figure, reader_of)


def plain_coordinates(figure: Figure, values: Floats, usual: Floats) -> Plain:
    """The values that are not the usual ones, by coordinate."""
    rows = zip(figure.coordinates, values.tolist(), usual.tolist(), strict=True)
    return {name: value for name, value, other in rows if value != other}


def put(figure: Figure, usual: Floats, given: Mapping[str, float]) -> Floats:
    """The usual values with those that are given by coordinate put in."""
    return np.array([given.get(name, value) for name, value in zip(figure.coordinates, usual.tolist(), strict=True)])


# ── effectors ────────────────────────────────────────────────────────────────────────────────────────────────────────
def read_effector(value: Any, place: Place) -> Effector:
    """A segment's name, or a table."""
    if isinstance(value, str):
        return Frame(text(value, place))
    return _of_kind(EFFECTORS, value, place, {})[0]


def _two_ends(value: Any, place: Place) -> list[Any]:
    ends = items(value, place)
    if len(ends) != 2:
        raise Wrong(f"must be two effectors, not {len(ends)}")
    return gathered((place.at(i), read_effector, end) for i, end in enumerate(ends))


def _mass_centre(wanted: bool) -> MassCentre:
    if not wanted:
        raise BadValue("leave mass_centre out, or let it be true")
    return MassCentre()


EFFECTORS = {
    "point": Kind(text, Point, {"offset": POINT}),
    "direction": Kind(text, Direction, {"axis": POINT, "offset": POINT}),
    "frame": Kind(text, Frame, {"at": read_placement}),
    "mass_centre": Kind(flag, _mass_centre, {}),
    "gap": Kind(_two_ends, lambda ends: Gap(*ends), {}),
}


def plain_effector(effector: Effector) -> Any:
    """A bare name for the frame of a segment."""
    if isinstance(effector, Frame):
        at = plain_frame(effector.at)
        return {"frame": effector.segment, **at} if at else effector.segment
    if isinstance(effector, MassCentre):
        return {"mass_centre": True}
    if isinstance(effector, Gap):
        return {"gap": [plain_effector(effector.a), plain_effector(effector.b)]}
    offset = {"offset": list(effector.offset)} if any(effector.offset) else {}
    if isinstance(effector, Point):
        return {"point": effector.segment, **offset}
    return {"direction": effector.segment, "axis": list(effector.axis), **offset}


# ── goals ────────────────────────────────────────────────────────────────────────────────────────────────────────────
def read_goal(figure: Figure, value: Any, place: Place, depth: int = 0) -> Any:
    """The goal that a table asks for."""
    return _weighted(figure, value, place, depth, {})[0]


def _weighted(figure: Figure, value: Any, place: Place, depth: int, further: Mapping[str, Reader]) -> tuple[Any, Plain]:
    if depth > DEEPEST:
        raise Wrong(f"is nested more than {DEEPEST} deep")
    return _of_kind(_goals(figure, depth), value, place, further)


def _facing(value: Any, place: Place) -> Plain:
    if isinstance(value, list):
        return {"x": POINT(value, place)}
    return record(dict, x=Maybe(POINT), y=Maybe(POINT), **ROTATIONS)(value, place)


def _goals(figure: Figure, depth: int) -> dict[str, Kind]:
    """The kinds of goals."""
    line, plane = record(dict, point=POINT, along=POINT), record(dict, point=POINT, normal=POINT)
    box = Maybe(array((), (3,), (2, 3)))
    within = record(dict, at=Maybe(read_placement), box=box, tilt=Maybe(array((), (3,), (2, 3), read=angle)))
    aligned = record(dict, position=POINT, x=Maybe(POINT), y=Maybe(POINT))
    seen, pair = {"relative_to": text}, {"per_radian": array((), (2,))}
    weighed = {"per_radian": number, **seen}

    def any_of(value: Any, place: Place) -> list[tuple[Any, Plain]]:
        def one(goal: Any, at: Place) -> tuple[Any, Plain]:
            return _weighted(figure, goal, at, depth + 1, {"weight": number, "effector": read_effector})

        return gathered((place.at(i), one, goal) for i, goal in enumerate(items(value, place)))

    def weights(value: Any, place: Place) -> Any:
        if not isinstance(value, dict):
            return number(value, place)
        return put(figure, np.zeros(figure.size), by_name(figure, lambda _: number)(value, place))

    return {
        "at": Kind(POINT, At, seen),
        "on_line": Kind(line, lambda it, **o: OnLine(it["point"], it["along"], **o), seen),
        "on_plane": Kind(plane, lambda it, **o: OnPlane(**it, **o), seen),
        "beyond": Kind(plane, lambda it, **o: Beyond(**it, **o), seen),
        "over": Kind(array((-1, 2)), Balanced, {"margin": number, **seen}),
        "outside": Kind(read_solid, Outside, {"margin": number, **seen}),
        "facing": Kind(_facing, lambda it, **o: Facing(**it, **o), {**pair, **seen}),
        "placed": Kind(read_placement, Placed, weighed),
        "aligned": Kind(aligned, lambda it, **o: Aligned(**it, **o), {"weights": array((2,)), **pair, **seen}),
        "aimed_at": Kind(POINT, AimedAt, weighed),
        "within": Kind(within, lambda it, **o: Within(**it, **o), weighed),
        "any_of": Kind(
            any_of,
            lambda pairs: AnyOf(
                [(more["effector"], g) if "effector" in more else g for g, more in pairs],
                [more.get("weight", 1.0) for _, more in pairs],
            ),
            {},
        ),
        "near": Kind(
            by_coordinate(figure), lambda q, **o: Near(put(figure, figure.rest, q), **o), {"weights": weights}
        ),
    }


def plain_goal(figure: Figure, goal: Any) -> Plain:
    """The table of a goal; a BadValue for one that has none."""
    alone = type(goal) is AnyOf or goal.relative_to is None  # alternatives say themselves what they are seen from
    options: Plain = {} if alone else {"relative_to": goal.relative_to}
    if isinstance(goal, Aligned | Facing | Placed | AimedAt | Within):
        pair = np.unique(goal.per_radian)
        given = float(pair[0]) if len(pair) == 1 else list(goal.per_radian)  # type: ignore[arg-type]
        options = options if given == PER_RADIAN else {"per_radian": given, **options}
    return {**_plain_target(figure, goal), **options}


def _plain_target(figure: Figure, goal: Any) -> Plain:
    if isinstance(goal, At):
        return {"at": goal.position.tolist()}
    if isinstance(goal, Aligned):
        axes = {name: value.tolist() for name, value in (("x", goal.x), ("y", goal.y)) if value is not None}
        weights = {"weights": list(goal.weights)} if goal.weights != (1.0, 1.0) else {}
        return {"aligned": {"position": goal.position.tolist(), **axes}, **weights}
    if isinstance(goal, AimedAt):
        return {"aimed_at": goal.point.tolist()}
    if isinstance(goal, OnLine | OnPlane | Beyond):
        name = {OnLine: "on_line", OnPlane: "on_plane", Beyond: "beyond"}[type(goal)]
        way = "along" if isinstance(goal, OnLine) else "normal"
        return {name: {"point": goal.point.tolist(), way: goal.normal.tolist()}}
    if isinstance(goal, Balanced):
        return {"over": goal.polygon.tolist(), **({"margin": float(goal.margin)} if goal.margin else {})}
    if isinstance(goal, Facing):
        axes = {"x": goal.x, "y": goal.y, "matrix": goal.matrix}
        given = {name: value.tolist() for name, value in axes.items() if value is not None}
        return {"facing": given["x"] if set(given) == {"x"} else given}
    if isinstance(goal, Placed):
        return {"placed": plain_placement(goal.at)}
    if isinstance(goal, Within):
        corners = {"box": goal.box, "tilt": goal.tilt}
        sides = {name: _plain_corners(value) for name, value in corners.items() if value is not None}
        return {"within": {**plain_frame(goal.at), **sides}}
    if isinstance(goal, Outside):
        return {"outside": plain_obstacle(goal.solid), **({"margin": goal.margin} if goal.margin else {})}
    if isinstance(goal, AnyOf):
        pairs = zip(goal.goals, goal.weights or (), strict=True)
        return {"any_of": [_plain_choice(figure, g, w) for g, w in pairs]}
    if isinstance(goal, Near):
        usual = np.ones(figure.size) if (goal.weights == 1.0).all() else np.zeros(figure.size)
        weights = plain_coordinates(figure, goal.weights, usual)
        return {
            "near": plain_coordinates(figure, goal.reference, figure.rest),
            **({"weights": weights} if weights or not usual.any() else {}),
        }
    raise BadValue(f"a goal of the kind {type(goal).__name__} has no form in a file")


def _plain_choice(figure: Figure, given: Any, weight: float) -> Plain:
    """One alternative, with its weight and its effector if it has them."""
    end, goal = given if isinstance(given, tuple) else (None, given)
    own = {} if end is None else {"effector": plain_effector(end)}
    return {**plain_goal(figure, goal), **own, **({"weight": weight} if weight != 1.0 else {})}


def _plain_corners(corners: Floats) -> Any:
    """Half of the sides where the box is about its middle, else both corners."""
    return corners[1].tolist() if np.array_equal(-corners[0], corners[1]) else corners.tolist()
