"""How scene files say what a figure is, what its limits are and how rigid it is: reading and writing side by side."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import BadValue, Error
from supple.figure.figure import Figure
from supple.figure.limits import Limits
from supple.figure.structure import Origin
from supple.files.scene.fields import Noted, Place, Wrong, fields, flag, kind, listed, number, text
from supple.files.scene.goals import by_coordinate, by_name, plain_coordinates, put
from supple.files.scene.shapes import Plain, plain_placement, read_placement
from supple.geometry.placements import HERE, Floats

NONE = "none"  # how the limit of a coordinate that has none is written
MOST = 20  # figures in one world
OWN = ("name", "file", "at", "free", "prefix")  # fields that are no options of `load`
Load = Callable[..., Figure]


# ── the figure ───────────────────────────────────────────────────────────────────────────────────────────────────────
def read_figure(load: Load, folder: Path, value: Any, place: Place) -> Figure:
    """One figure, or a list of several in one world, all but the first with a prefix."""
    if not isinstance(value, list):
        return _read_one(load, folder, value, place)[0]
    first, *others = listed(partial(_read_one, load, folder))(value, place) or [(None, "")]
    if first[0] is None or len(others) >= MOST:
        raise Wrong(f"must be a figure, or a list of one to {MOST} of them")
    if first[1]:
        raise Wrong("must begin with a figure without a prefix")
    figure: Figure = first[0]
    for other, prefix in others:
        assert other is not None
        figure = figure.attached(other, None, prefix=prefix)
    return figure


def _read_one(load: Load, folder: Path, value: Any, place: Place) -> tuple[Figure, str]:
    """A name of the catalogue, or a table of a name or a file, options, and where it stands; and the prefix of its names."""
    if isinstance(value, str):
        value = {"name": value}
    table = fields(value, place)
    options = {key: option for key, option in table.values.items() if key not in OWN}
    name, file = table.take("name", text, None), table.take("file", text, None)
    at, floats = table.take("at", read_placement, None), table.take("free", flag, False)
    prefix = table.take("prefix", text, "")
    if table.fine and (name is None) == (file is None):
        table.fail(Wrong("must be a name of the catalogue, or a table with a name or a file"))
    if not table.fine:
        raise Noted
    if name is not None and Path(name).suffix:
        raise BadValue(f"the catalogue has no figure called {name!r}; for a file write file = …")
    try:
        figure = load(name if file is None else folder / file, **options)
    except Error:
        raise
    except (ArithmeticError, AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise BadValue(f"these options do not make a figure: {error}") from error
    if at is not None or floats:
        figure = figure.based_at(HERE if at is None else at, free=floats)
    return figure, prefix


def plain_figure(figure: Figure, folder: Path) -> Any:
    """Where a figure was loaded from; one that was not loaded is refused."""
    origin = figure.origin
    if origin is None:
        raise BadValue(
            f"its figure {figure.name!r} was made or edited in Python, and a file can only name one: "
            "write it by supple.write, and make the scene from what supple.load reads"
        )
    if origin.beside:
        return [_plain_origin(each, folder, table=True) for each in (replace(origin, beside=()), *origin.beside)]
    return _plain_origin(origin, folder)


def _plain_origin(origin: Origin, folder: Path, table: bool = False) -> Any:
    rest = {name: _plain_option(name, value) for name, value in origin.options.items()}
    if origin.stands is not None:
        rest["at"] = plain_placement(np.array(origin.stands))
    rest |= {"free": True} if origin.floats else {}
    rest |= {"prefix": origin.prefix} if origin.prefix else {}
    if not origin.is_file:
        return {"name": origin.what, **rest} if rest or table else origin.what
    try:
        where = os.path.relpath(origin.what, folder.absolute())
    except ValueError:  # another drive
        where = origin.what
    return {"file": Path(where).as_posix(), **rest}


def _plain_option(name: str, value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain_option(name, one) for one in value]
    if not isinstance(value, str | bool | int | float):
        raise BadValue(f"the option {name!r} of its figure has no form in a file: {value!r}")
    return value


# ── its limits ───────────────────────────────────────────────────────────────────────────────────────────────────────
def read_limits(figure: Figure, value: Any, place: Place) -> Limits:
    """Ranges by coordinate in place of the figure's own, and linear rows in place of its own."""
    table, own = fields(value, place), figure.limits
    lower = table.take("lower", by_coordinate(figure, (NONE,)), {})
    upper = table.take("upper", by_coordinate(figure, (NONE,)), {})
    rows = table.take("rows", listed(partial(_read_row, figure)), None)
    table.done()
    low = put(figure, own.lower, {name: -np.inf if x == NONE else x for name, x in lower.items()})
    high = put(figure, own.upper, {name: np.inf if x == NONE else x for name, x in upper.items()})
    if rows is None:
        equalities, A, b = own.rows
        rows = [(row, side, r < equalities) for r, (row, side) in enumerate(zip(A, b, strict=True))]
    A_eq, b_eq = [row for row, _, equal in rows if equal], [side for _, side, equal in rows if equal]
    A, b = [row for row, _, equal in rows if not equal], [side for _, side, equal in rows if not equal]
    return Limits(low, high, A_eq or None, b_eq or None, A or None, b or None)


def _read_row(figure: Figure, value: Any, place: Place) -> tuple[Floats, float, bool]:
    """Coefficients by coordinate, the right-hand side, and whether it must be reached."""
    table = fields(value, place)
    coefficients = table.need("coefficients", by_coordinate(figure))
    upper, equal = table.take("upper", number, None), table.take("equal", number, None)
    if table.fine and (upper is None) == (equal is None):
        table.fail(Wrong("must have either 'upper' or 'equal'"))
    table.done()
    row = put(figure, np.zeros(figure.size), coefficients or {})
    return row, float(upper if equal is None else equal), equal is not None  # type: ignore[arg-type]


def plain_limits(figure: Figure, limits: Limits) -> Plain:
    """What differs from the figure's own limits."""
    out: Plain = {}
    for side in ("lower", "upper"):
        given = plain_coordinates(figure, getattr(limits, side), getattr(figure.limits, side))
        if given:
            out[side] = {name: value if np.isfinite(value) else NONE for name, value in given.items()}
    (equalities, A, b), (others, *own) = limits.rows, figure.limits.rows
    if equalities != others or not all(map(np.array_equal, (A, b), own)):
        out["rows"] = [
            {
                "coefficients": plain_coordinates(figure, row, np.zeros(figure.size)),
                "equal" if r < equalities else "upper": float(side),
            }
            for r, (row, side) in enumerate(zip(A, b, strict=True))
        ]
    return out


# ── its rigidity ─────────────────────────────────────────────────────────────────────────────────────────────────────
def read_rigidity(figure: Figure, value: Any, place: Place) -> Floats:
    """Numbers from 0 to 1 by coordinate, joint, segment or pattern."""
    return put(figure, np.zeros(figure.size), by_name(figure, lambda _: _share)(value, place))


def _share(value: Any, place: Place) -> float:
    if not 0.0 <= number(value, place) <= 1.0:
        raise Wrong(f"must lie between 0 (moves freely) and 1 (locked), not be {kind(value)}")
    return float(value)


def plain_rigidity(figure: Figure, values: Floats) -> Plain:
    """By joint where all its coordinates are as rigid, else by coordinate."""
    by_name = dict(zip(figure.coordinates, values.tolist(), strict=True))
    out: Plain = {}
    for name, value in by_name.items():
        if value > 0.0:
            joint = name.rpartition(".")[0]
            called = figure.coordinates_of(joint) if joint else ()
            together = name in called and all(by_name[other] == value for other in called)
            out[joint if together else name] = value
    return out
