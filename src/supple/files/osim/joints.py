"""The joints of OSIM files as chains of scalar joints.

A joint between the frames P of its parent and C of its child is ``P · T₀ · e₁ · T₁ · e₂ ⋯ Tₙ · C⁻¹``: moves e (a turn about,
or a slide along, one axis) with constant placements between them. The value of every move is a sum of curves of
coordinates. A custom joint slides along three axes of P and then turns about three; the other kinds are special cases:

==============  ==========================  =====================================
kind            its coordinates             its moves
==============  ==========================  =====================================
PinJoint        angle                       turn z
SliderJoint     distance                    slide x
UniversalJoint  two angles                  turn x, turn y
BallJoint       three angles                turn x, turn y, turn z (GimbalJoint: the same)
PlanarJoint     angle, two distances        slide x, slide y, turn z
FreeJoint       three angles, three slides  slides x, y, z, then turns x, y, z
==============  ==========================  =====================================

**On an ellipsoid.** An ellipsoid joint turns as a ball by angles α, β, γ, and its origin moves over the ellipsoid of radii
a, b, c to ``(a n₁, b n₂, c n₃)``, where ``n = R e_z = (sin β, −sin α cos β, cos α cos β)``. That is a sum of points on circles,
because ``2 sin α cos β = sin(α + β) + sin(α − β)`` and an ellipse is two circles run through in opposite senses: with
``φ = α + β`` and then ``φ = α − β``

    p = ½ a (R_y(β) − R_y(−β)) e_z + Σ_φ (¼ (b + c) R_x(φ) + ¼ (c − b) R_x(−φ)) e_z

A point on a circle is a turn, a constant slide and a turn back. So the joint is a chain like any other, exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from supple.figure.drives import FREE, Drive, Linear, Pair
from supple.figure.joints import AXES, NOT, Joint
from supple.files.bvh.reader import FILE_AXES
from supple.files.osim.bending import arc
from supple.files.osim.functions import Sum, function_in, of, read_function
from supple.files.osim.objects import name_of, vector
from supple.files.osim.text import GROUND, SAVE_AGAIN, Link
from supple.files.xml import Element, blaming
from supple.geometry.placements import HERE, Floats, Triple, X, Y, Z, compose, inverse, moved, turned, unit

NAMED: dict[str, str] = {  # the moves of each kind in the order of its coordinates
    "WeldJoint": "",
    "PinJoint": "z",
    "SliderJoint": "X",
    "UniversalJoint": "xy",
    "BallJoint": "xyz",
    "GimbalJoint": "xyz",
    "PlanarJoint": "zXY",
    "FreeJoint": "xyzXYZ",
    "EllipsoidJoint": "xyz",
    "ScapulothoracicJoint": "xyzw",
    "ConstantCurvatureJoint": "xzy",
}
UPRIGHT = compose(FILE_AXES["y"], (0.0, 0.0, 0.0))  # the ground in the world


@dataclass(frozen=True, eq=False)
class Move:
    """A turn or a slide by a value, and the constant placement before it."""

    name: str
    turn: Triple
    slide: Triple
    value: Sum
    before: Floats


@dataclass(frozen=True, eq=False)
class Axis:
    """What a file says about one coordinate: its limits, its start value, and what else determines it."""

    limits: Pair
    rest: float
    value: Sum | None = None  # None: it is free


def _turn(name: str, axis: Triple, value: Sum, before: Floats = HERE) -> Move:
    return Move(name, axis, NOT, value, before)


def _slide(name: str, axis: Triple, value: Sum, before: Floats = HERE) -> Move:
    return Move(name, NOT, axis, value, before)


def _up(height: float) -> Floats:
    return compose(np.eye(3), (0.0, 0.0, height))


def moves_of(link: Link) -> tuple[list[Move], Floats]:
    """The moves of a joint and the constant placement behind them."""
    element, kind = link.element, link.element.tag
    if kind == "CustomJoint":
        return _custom(link), HERE
    codes = NAMED.get(kind)
    if codes is None:
        raise element.bad(f"joints of type {kind} are not read; CustomJoint, {', '.join(NAMED)} are")
    names = [name_of(c) for c in link.coordinates]
    if len(names) != len(codes):
        raise element.bad(f"{element.label} has {len(names)} coordinates, not {len(codes)}: {SAVE_AGAIN}")
    own = dict(zip(codes, map(of, names), strict=True))
    slides = [_slide(f"t{code.lower()}", AXES[code.lower()], own[code]) for code in codes if code.isupper()]
    turns = [_turn(code, AXES[code], own[code]) for code in codes if code in "xyz"]
    if kind == "EllipsoidJoint":
        return [*_over(own, vector(element, "radii_x_y_z")), *turns], HERE
    if kind == "ScapulothoracicJoint":
        return _scapula(element, own, turns)
    if kind == "ConstantCurvatureJoint":
        return _bent(element, names)
    return [*slides, *turns], HERE


def _custom(link: Link) -> list[Move]:
    transform, known = link.element.needed("SpatialTransform"), tuple(name_of(c) for c in link.coordinates)
    axes = {axis.attributes.get("name", ""): axis for axis in transform.all("TransformAxis")}
    moves: list[Move] = []
    for kind, make in (("translation", _slide), ("rotation", _turn)):
        for k in (1, 2, 3):
            axis = axes.get(f"{kind}{k}")
            if axis is None:  # nothing moves along it
                continue
            moves.append(make(f"{kind}{k}", *_axis(axis, known)))
    return moves


def _axis(axis: Element, known: tuple[str, ...]) -> tuple[Triple, Sum]:
    """The direction of an axis of a custom joint, and the value along it."""
    listed = axis.first("coordinates")
    names = tuple(listed.text.split()) if listed is not None else ()
    for name in names:
        if name not in known:
            raise axis.bad(f"{axis.label} follows {name!r}; its joint has {', '.join(known) or 'no coordinates'}")
    with blaming(axis):
        direction = unit(axis.needed("axis").listed(3), f"the axis of {axis.label}")
    function = function_in(axis)
    if function is None:  # as OpenSim reads it: the coordinate itself
        if len(names) > 1:
            raise axis.bad(f"{axis.label} has {len(names)} coordinates but no function: {SAVE_AGAIN}")
        return direction, of(names[0]) if names else Sum()
    return direction, read_function(function, names)


def _over(own: Mapping[str, Sum], radii: Triple) -> list[Move]:
    """The way over an ellipsoid, without the turns."""
    a, b, c = radii
    alpha, beta = own["x"], own["y"]
    plus, minus = alpha + beta, alpha + beta.scaled(-1.0)
    large, small = _up((b + c) / 4.0), _up((c - b) / 4.0)
    return [
        _turn("over1", Y, beta),
        _turn("over2", Y, beta.scaled(-2.0), _up(a / 2.0)),
        _turn("over3", Y, beta, _up(-a / 2.0)),
        _turn("over4", X, plus),
        _turn("over5", X, plus.scaled(-2.0), large),
        _turn("over6", X, alpha.scaled(2.0), small),
        _turn("over7", X, minus.scaled(-2.0), large),
        _turn("over8", X, minus, small),
    ]


def _scapula(element: Element, own: Mapping[str, Sum], turns: list[Move]) -> tuple[list[Move], Floats]:
    """On an ellipsoid turned by 90° about z, so that its radii along x and y change places; then winging about an axis."""
    a, b, c = vector(element, "thoracic_ellipsoid_radii_x_y_z")
    origin, direction = element.first("scapula_winging_axis_origin"), element.first("scapula_winging_axis_direction")
    u, v = (0.0, 0.0) if origin is None else origin.listed(2)
    angle = 0.0 if direction is None else direction.listed(1)[0]
    first, *others = _over(own, (b, a, c))
    axis = (-float(np.sin(angle)), float(np.cos(angle)), 0.0)
    across = compose(turned(Z, -np.pi / 2.0), (0.0, 0.0, 0.0)) @ compose(np.eye(3), (u, v, 0.0))
    quarter = compose(turned(Z, np.pi / 2.0), (0.0, 0.0, 0.0))
    moves = [replace(first, before=quarter), *others, *turns, _turn("w", axis, own["w"], across)]
    return moves, compose(np.eye(3), (-u, -v, 0.0))


def _bent(element: Element, names: list[str]) -> tuple[list[Move], Floats]:
    """The arc of `bending`: half of it before the turns about x and z, half of it behind them, then the turn about y."""
    child, neutral = element.first("length"), vector(element, "neutral_angle_x_z_y")
    value, products = arc(names[0], names[1], neutral[:2], 1.0 if child is None else child.listed(1)[0])
    halves = []
    for half in ("near", "far"):
        moves = [_slide(f"{half}.slide", Y, value)]
        for k, (a, b, weight) in enumerate(products):
            up = compose(np.eye(3), (0.0, weight / 4.0, 0.0))
            angles = (a + b, (a + b).scaled(-2.0), (a + b) + (a + b.scaled(-1.0)), (a + b.scaled(-1.0)).scaled(-2.0))
            steps = [*angles, a + b.scaled(-1.0)]
            moves += [_turn(f"{half}.arc{k}{j}", X, step, up if j else HERE) for j, step in enumerate(steps)]
        halves.append(moves)
    turns = [
        _turn(code, AXES[code], of(name) + Sum(angle)) for code, name, angle in zip("xzy", names, neutral, strict=True)
    ]
    return [*halves[0], *turns[:2], *halves[1], turns[2]], HERE


def chain(link: Link, axes: Mapping[str, Axis], backwards: bool) -> list[Joint]:
    """The scalar joints from the parent's segment to the child's, or backwards from the child's to the parent's.

    The ground is the world, turned so that its y axis points up.
    """
    moves, behind = moves_of(link)
    names = _names(link, moves)
    frames = [*(m.before for m in moves), behind @ inverse(link.child.at)]
    frames[0] = link.parent.at @ frames[0]
    start, segment = link.parent.body, link.child.body
    if backwards:
        moves = [replace(m, turn=_minus(m.turn), slide=_minus(m.slide)) for m in moves[::-1]]
        names, frames = names[::-1], [inverse(T) for T in frames[::-1]]
        start, segment = segment, start
    joints: list[Joint] = []
    key, at = (None, UPRIGHT @ frames[0]) if start == GROUND else (start, frames[0])
    for move, name, frame in zip(moves, names, frames[1:], strict=True):
        made = _joint(move, name, key, at, axes)
        if made.is_fixed:
            at = made.at @ frame
        else:
            joints.append(made)
            key, at = made.key, frame
    if joints and np.array_equal(at, HERE):
        return [*joints[:-1], replace(joints[-1], segment=segment)]
    return [*joints, Joint(f"{segment}.origin", key, at, segment=segment)]


def _minus(axis: Triple) -> Triple:
    return -axis[0], -axis[1], -axis[2]


def _names(link: Link, moves: list[Move]) -> list[str]:
    """A coordinate names the first move that it moves one to one, in either sense; other moves are called by their axis."""
    names: list[str] = []
    for move in moves:
        terms = move.value.terms
        plain = len(terms) == 1 and isinstance(terms[0][1], Linear) and abs(terms[0][1].slope) == 1.0
        named = terms[0][0] if plain and not move.name.startswith("over") else None
        names.append(named if named is not None and named not in names else f"{link.name}.{move.name}")
    return names


def _joint(move: Move, name: str, key: str | None, at: Floats, axes: Mapping[str, Axis]) -> Joint:
    """One move as a joint: with a coordinate of its own, driven, or fixed."""
    known = {n: axis.value for n, _ in move.value.terms if (axis := axes[n]).value is not None}
    value = move.value.put_in({n: v for n, v in known.items() if v is not None})
    turn, slide = move.turn, move.slide
    if not value.terms:
        return Joint(name, key, at @ moved(turn, slide, value.offset))
    (leader, curve), *more = value.terms
    if leader == name and not more and isinstance(curve, Linear):
        if curve.slope < 0.0:
            turn, slide = _minus(turn), _minus(slide)
        axis, at = axes[leader], at @ moved(move.turn, move.slide, value.offset)
        return Joint(name, key, at, turn, slide, axis.limits, rest=axis.rest)
    limits = axes[name].limits if name in axes and value.is_straight else FREE
    return Joint(name, key, at, turn, slide, limits, drive=Drive(value.terms, value.offset))
