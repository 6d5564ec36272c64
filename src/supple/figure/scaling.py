"""Figures of other sizes: every segment with a factor of its own, lengths alone changing.

Frames turn as before; what lies in the frame of a segment is that many times as far from its origin: joints that hang
on it, shapes, centres of mass, solids, markers, the ends of loops. What slides goes with the segment it slides on: a
slide's coordinate stays in metres, so its range scales; a driven joint follows by ``f · θ(q / f_q)``, f_q the factor
of its coordinate if that is a length, else 1. The masses stay. A fixed joint behind joints without a segment belongs
to the segment that it ends in: OSIM files put there where the joint lies in its child. So with one factor f for
everything, world included, all places are f times as far from the world's origin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from supple.basics.checks import positive
from supple.figure.drives import Drive
from supple.figure.effectors import Point
from supple.figure.joints import Joint, angular
from supple.geometry.placements import Floats
from supple.geometry.shapes import Ball, Body, Box, Hull, Shape

if TYPE_CHECKING:
    from supple.figure.figure import Figure

Solid = TypeVar("Solid", bound=Shape | Hull)


def welded_to(figure: Figure) -> dict[str, str]:
    """Of each segment the one whose size it shares: the nearest at or above it that joints move, or that hangs on the world."""
    out: dict[str, str] = {}
    for segment in figure.segments:
        above = figure.parent_of(segment)
        out[segment] = segment if above is None or figure.joints_of(segment) else out[above]
    return out


def holders(figure: Figure) -> list[tuple[str | None, str | None]]:
    """Of each joint, in the order of the parts, the segment that its place belongs to and the one that it slides on."""
    named: dict[str | None, str | None] = {None: None}
    out: list[tuple[str | None, str | None]] = []
    for joint in figure.joints.values():
        above = named[joint.parent]
        unnamed = joint.parent is not None and figure.joint_of[joint.parent].segment is None
        out.append((joint.segment if joint.is_fixed and unnamed else above, above))
        named[joint.key] = joint.segment or above
    return out


def scaled(figure: Figure, factors: float | Mapping[str, float]) -> Figure:
    """The figure with every length, or the lengths of the named segments, times a factor; see `Edits.scaled`."""
    factor = _by_segment(figure, factors)
    held = [(factor[a], factor[b]) for a, b in holders(figure)]
    lengths = length_factors(figure, [on for _, on in held])
    return replace(
        figure,
        joints=[_joint(joint, at, on, lengths) for joint, (at, on) in zip(figure.joints.values(), held, strict=True)],
        drivers=tuple(_ranged(c, lengths.get(c.name, 1.0)) for c in figure.drivers),
        bodies={name: _body(body, factor[name]) for name, body in figure.bodies.items()},
        loops=tuple(replace(p, at_a=_far(p.at_a, factor[p.a]), at_b=_far(p.at_b, factor[p.b])) for p in figure.loops),
        bounds=tuple(
            replace(b, coefficients=tuple((name, c / lengths.get(name, 1.0)) for name, c in b.coefficients))
            for b in figure.bounds
        ),
        solids={name: [_shape(s, factor[name]) for s in solids] for name, solids in figure.solids.items()},
        markers={name: Point(p.segment, _times(p.offset, factor[p.segment])) for name, p in figure.markers.items()},
    )


def length_factors(figure: Figure, on: list[float]) -> dict[str, float]:
    """The factor of each coordinate that is a length; `on` are those of what the joints slide on."""
    turns = angular(figure.joints.values())
    out: dict[str, float] = {}
    for joint, factor in zip(figure.joints.values(), on, strict=True):
        names = [joint.name] if joint.drive is None else [name for name, _ in joint.drive.terms]
        if any(joint.slide) and not any(joint.turn):
            out.update({name: factor for name in names if not turns[name] and name not in out})
    return out


def _by_segment(figure: Figure, factors: float | Mapping[str, float]) -> dict[str | None, float]:
    """The factor of each segment, and of the world as None."""
    if not isinstance(factors, Mapping):
        return dict.fromkeys([None, *figure.segments], _factor(factors, f"figure {figure.name!r}"))
    for name in factors:
        figure.check_segment(name)
    out: dict[str | None, float] = {None: 1.0}
    for segment, body in welded_to(figure).items():
        given = segment if segment in factors else body
        out[segment] = _factor(factors.get(given, 1.0), f"segment {segment!r}")
    return out


def _factor(value: Any, what: str) -> float:
    return positive(value, f"the scale of {what}")


def _joint(joint: Joint, at: float, on: float, lengths: Mapping[str, float]) -> Joint:
    """A joint whose place is `at` times as far and that slides `on` times as far."""
    out = replace(joint, at=_far(joint.at, at))
    if not any(joint.slide) and joint.drive is None:
        return out
    slides = any(joint.slide) and not any(joint.turn)
    if any(joint.slide) and any(joint.turn):
        out = replace(out, slide=_times(joint.slide, on))
    if joint.drive is not None:
        up = on if slides else 1.0
        terms = tuple((name, curve.stretched(lengths.get(name, 1.0), up)) for name, curve in joint.drive.terms)
        out = replace(out, drive=Drive(terms, up * joint.drive.offset))
    return _ranged(out, on) if slides else out


def _ranged(item: Any, factor: float) -> Any:
    """A joint or coordinate whose value is `factor` times as large."""
    lower, upper = item.limits
    return replace(item, limits=(factor * lower, factor * upper), rest=factor * item.rest, speed=factor * item.speed)


def _far(at: Floats, factor: float) -> Floats:
    out = np.array(at)
    out[:3, 3] *= factor
    return out


def _times(point: Any, factor: float) -> tuple[float, float, float]:
    x, y, z = point
    return factor * x, factor * y, factor * z


def _body(body: Body, factor: float) -> Body:
    shapes: tuple[Shape, ...] = tuple(_shape(shape, factor) for shape in body.shapes)
    return Body(body.mass, _times(body.centre, factor), shapes)


def _shape(shape: Solid, factor: float) -> Solid:
    if isinstance(shape, Ball):
        return replace(shape, centre=_times(shape.centre, factor), radius=factor * shape.radius)
    if isinstance(shape, Hull):
        return replace(shape, points=factor * shape.points, radius=factor * shape.radius)
    at = _far(shape.at, factor)
    if isinstance(shape, Box):
        return replace(shape, lower=_times(shape.lower, factor), upper=_times(shape.upper, factor), at=at)
    return replace(shape, radius=factor * shape.radius, length=factor * shape.length, at=at)
