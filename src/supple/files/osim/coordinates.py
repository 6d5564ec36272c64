"""The coordinates of OSIM files: their numbers, and the columns in which OpenSim writes motions of them.

OpenSim writes every coordinate, in the order of the file: those that are locked, and those that follow others. An angle, in
degrees in files, is what turns a joint about an axis one to one; a coordinate that turns by any other line or curve is coupled
to what it moves, and is written as it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from supple.figure.drives import Drive, Pair
from supple.files.osim.functions import Sum, function_in, read_function
from supple.files.osim.joints import NAMED, Axis
from supple.files.osim.objects import name_of, says
from supple.files.osim.text import Link
from supple.files.xml import LARGEST_NUMBER, Element


@dataclass(frozen=True)
class Column:
    """One column of a motion: a coordinate of the figure, what follows such, or a number."""

    name: str
    is_angle: bool
    value: Drive | float | None = None  # None: a coordinate of the figure


def columns_of(links: list[Link], axes: Mapping[str, Axis]) -> tuple[Column, ...]:
    """The columns of all coordinates."""
    out = []
    for link in links:
        for coordinate in link.coordinates:
            name = name_of(coordinate)
            value = axes[name].value
            out.append(Column(name, _is_angle(link, coordinate), None if value is None else _held(value)))
    return tuple(out)


def _held(value: Sum) -> Drive | float:
    return Drive(value.terms, value.offset) if value.terms else value.offset


def _is_angle(link: Link, coordinate: Element) -> bool:
    kind, transform = link.element.tag, link.element.first("SpatialTransform")
    if kind != "CustomJoint" or transform is None:
        codes = NAMED.get(kind, "")
        return codes[link.coordinates.index(coordinate) : link.coordinates.index(coordinate) + 1].islower()
    angle = False
    for axis in transform.all("TransformAxis"):
        listed, function = axis.first("coordinates"), function_in(axis)
        if listed is None or name_of(coordinate) not in listed.text.split():
            continue
        if function is not None and function.tag != "LinearFunction":
            continue
        said = function.first("coefficients") if function is not None else None
        if said is None or abs(said.listed()[0]) == 1.0:
            angle = axis.attributes.get("name", "").startswith("rotation")
    return angle


def number_in(element: Element, tag: str, default: float) -> float:
    """The number in a child, or what it is without one."""
    child = element.first(tag)
    return default if child is None else child.listed(1)[0]


def range_of(coordinate: Element) -> Pair | None:
    """The range of a coordinate, infinite where it has no end; None if it has none that makes sense and needs none."""
    child = coordinate.first("range")
    try:
        lower, upper = (float(word) for word in child.text.split()) if child is not None else (-10.0, 10.0)
    except ValueError:
        lower = upper = math.nan
    if lower <= upper and lower < LARGEST_NUMBER and upper > -LARGEST_NUMBER:
        return (lower if lower > -LARGEST_NUMBER else -math.inf, upper if upper < LARGEST_NUMBER else math.inf)
    if says(coordinate, "clamped", False):
        raise (child or coordinate).bad(f"the range of {coordinate.label} must be two numbers, the lower one first")
    return None


def fixed_at(coordinate: Element, rest: float) -> float | None:
    """The value that a coordinate cannot leave, if it is locked or prescribed."""
    if says(coordinate, "locked", False):
        return rest
    holder = coordinate.first("prescribed_function")
    if not says(coordinate, "prescribed", False) or holder is None or not holder.children:
        return None
    value = read_function(holder.children[0], ("time",))
    if value.terms:
        raise coordinate.bad(f"{coordinate.label} is prescribed over time: set its <prescribed> to false")
    return value.offset
