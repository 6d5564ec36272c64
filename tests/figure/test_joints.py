"""Kinds of joints: what each one does to its child, its names, and refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from supple.errors import BadValue
from supple.figure.drives import mimic
from supple.figure.effectors import Direction, Frame, Point
from supple.figure.figure import Figure
from supple.figure.joints import EULER_ORDERS, Joint, ball, fixed, free, hinge, planar, screw, slide, universal
from supple.geometry.placements import X, Y, Z, place, unit
from tests.tables.figures import FIGURES, ONE_JOINT, assert_close, placements_by_exponentials, posture, slope

AT = place((0.1, 0.2, 0.3), Rotation.from_rotvec((0.3, -0.4, 0.5)))
AXIS = np.array(unit((1, -2, 2)))
ANGLES = (0.3, -1.1, 2.5)


def turn_by(axis: Any, angle: float) -> np.ndarray:
    return place(turn=Rotation.from_rotvec(np.array(axis) * angle))


MOVES: dict[str, tuple[Any, tuple[float, ...], np.ndarray]] = {
    "hinge": (hinge("j", None, (2, -4, 4), AT), (0.7,), AT @ turn_by(AXIS, 0.7)),
    "slide": (slide("j", None, (2, -4, 4), AT), (0.7,), AT @ place(0.7 * AXIS)),
    "screw": (screw("j", None, (2, -4, 4), 0.2, AT), (0.7,), AT @ turn_by(AXIS, 0.7) @ place(0.14 * AXIS)),
    "planar": (planar("j", None, AT), (0.7, 0.2, 1.3), AT @ place((0.7, 0.2, 0)) @ turn_by(Z, 1.3)),
    "fixed": (fixed("j", None, AT), (), AT),
    "universal": (universal("j", None, "yz", AT), (0.4, 0.9), AT @ turn_by(Y, 0.4) @ turn_by(Z, 0.9)),
    "free": (
        free("j", None, "xzy", AT),
        (1, 2, 3, *ANGLES),
        AT @ place((1, 2, 3), Rotation.from_euler("XZY", ANGLES)),
    ),
}


@pytest.mark.parametrize("kind", MOVES)
@pytest.mark.interpreted
def test_what_a_joint_does(kind: str):
    joints, q, expected = MOVES[kind]
    assert_allclose(Figure(kind, joints).placement(q, "j"), expected, atol=1e-15)


@pytest.mark.parametrize("order", EULER_ORDERS)
@pytest.mark.interpreted
def test_every_euler_order_is_intrinsic(order: str):
    figure = Figure("ball", ball("b", None, order))
    expected = Rotation.from_euler(order.upper(), ANGLES).as_matrix()
    assert_allclose(figure.placement(ANGLES, "b")[:3, :3], expected, atol=1e-15)


def test_names_of_coordinates_and_segments():
    assert [j.name for j in ball("b", None, "zyz")] == ["b.z", "b.y", "b.z2"]
    assert [j.name for j in free("r")] == ["r.tx", "r.ty", "r.tz", "r.z", "r.y", "r.x"]
    assert [j.segment for j in universal("u", None, "xy", segment="link")] == [None, "link"]
    assert [j.parent for j in ball("b", "base", "xyz")] == ["base", "b.x'", "b.y'"]
    assert hinge("h", None, segment="link")[0].key == "link"


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.interpreted
def test_placements_are_products_of_exponentials(name: str):
    figure = FIGURES[name]
    for seed in range(2):
        q = posture(figure, seed, 1.5)
        expected = placements_by_exponentials(figure, q)
        for segment, T in figure.placements(q).items():
            assert_allclose(T, expected[segment], rtol=0, atol=1e-13, err_msg=segment)


@pytest.mark.parametrize("name", ONE_JOINT)
def test_jacobians_are_slopes(name: str):
    figure, frame = ONE_JOINT[name], np.array(AT)
    q = posture(figure, 4)
    J = figure.jacobian(q, Frame("tool", frame))
    D = figure.jacobian(q, Direction("tool", frame[:3, 0]))
    assert_close(figure.jacobian(q, Point("tool", frame[:3, 3])), J[:3], 1e-14)
    assert_close(J[:3], slope(lambda x: (figure.placement(x, "tool") @ frame)[:3, 3], q), 1e-9)
    assert_close(D, slope(lambda x: (figure.placement(x, "tool") @ frame)[:3, 0], q), 1e-9)
    R = figure.placement(q, "tool")[:3, :3]
    change = slope(lambda x: figure.placement(x, "tool")[:3, :3] @ R.T, q)
    spin = np.array([change[2, 1], change[0, 2], change[1, 0]])
    assert_close(J[3:], spin, 1e-9)


def test_limits_and_rest_of_several_coordinates():
    figure = Figure("b", ball("b", None, "xyz", limits=[(-1, 1), (0, 2), (0.5, 3)], rest=(0.5, 0.25, 1)))
    assert_allclose(figure.lower, (-1, 0, 0.5))
    assert_allclose(figure.upper, (1, 2, 3))
    assert_allclose(figure.rest, (0.5, 0.25, 1))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "no name": (lambda: hinge("", None), "what a joint is called must be a name"),
    "zero axis": (lambda: hinge("j", None, (0, 0, 0)), "the axis of joint 'j' must not have length zero"),
    "zero slide": (lambda: slide("j", None, (0, 0, 0)), "the axis of joint 'j' must not have length zero"),
    "NaN axis": (lambda: hinge("j", None, (math.nan, 0, 1)), "the axis of joint 'j' must be finite"),
    "flat axis": (lambda: hinge("j", None, (0, 1)), r"the axis of joint 'j' must have shape \(3,\)"),
    "NaN pitch": (lambda: screw("j", None, Z, math.nan), "the pitch of joint 'j' must be finite"),
    "NaN place": (lambda: hinge("j", None, at=(0, 0, math.nan)), "the placement of joint 'j' must be finite"),
    "reflection": (lambda: hinge("j", None, at=np.diag([1, 1, -1, 1.0])), "the placement of joint 'j' is a reflection"),
    "inverted limits": (
        lambda: hinge("j", None, limits=(1, -1)),
        r"limits of joint 'j' must satisfy lower ≤ upper, not \(1",
    ),
    "NaN limits": (lambda: hinge("j", None, limits=(math.nan, 1)), "limits of joint 'j' must satisfy"),
    "limits at infinity": (lambda: hinge("j", None, limits=(math.inf, math.inf)), "limits of joint 'j' must satisfy"),
    "one limit": (lambda: hinge("j", None, limits=(1,)), r"limits of joint 'j' must be a pair"),
    "no pair": (lambda: hinge("j", None, limits=1.5), "limits of joint 'j' must be a pair"),
    "NaN rest": (lambda: hinge("j", None, rest=math.nan), "the rest of joint 'j' must be finite"),
    "zero speed": (lambda: hinge("j", None, speed=0.0), "the speed limit of joint 'j' must be positive"),
    "NaN speed": (lambda: hinge("j", None, speed=math.nan), "the speed limit of joint 'j' must be positive"),
    "two axes": (lambda: Joint("j", None, turn=X, slide=Y), "not one axis"),
    "driven weld": (lambda: Joint("j", None, drive=mimic("k")), "joint 'j' is fixed and cannot be driven"),
    "universal order": (lambda: universal("j", None, "xx"), "two different axes such as 'xy', not 'xx'"),
    "ball order": (lambda: ball("j", None, "xxy"), "a ball's order is one of xyz, .* not 'xxy'"),
    "free order": (lambda: free("j", None, "abc"), "a free joint's order is one of"),
    "few limits": (lambda: ball("j", None, limits=[(0, 1)]), "joint 'j' has 3 coordinates but 1 limits"),
    "few rests": (lambda: ball("j", None, rest=[0]), "joint 'j' has 3 coordinates but 1 rest values"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str):
    make, message = REFUSED[case]
    with pytest.raises(BadValue, match=message):
        make()
