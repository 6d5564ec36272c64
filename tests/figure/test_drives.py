"""Driven joints: curves against SciPy, followers that never leave their relation, groups, limits that propagate."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose

from supple.errors import BadValue, Error, UnknownName
from supple.figure.curves import PiecewisePolynomial, Spline
from supple.figure.drives import Coordinate, Drive, Group, Linear, LinearLimit, mimic
from supple.figure.effectors import Frame
from supple.figure.figure import Figure
from supple.figure.joints import fixed, hinge, slide
from supple.geometry.placements import X, Z
from tests.tables.figures import TREES, assert_close, curve_value, placements_by_exponentials, posture, slope

WAVE = Spline((-1.0, -0.2, 0.5, 0.7, 2.0), (0.3, -0.4, 0.8, 0.6, -1.0))
CLOSE = Spline(WAVE.x, WAVE.y, "cubic")
QUARTIC = PiecewisePolynomial(((0.3, 0.1, -0.4, 0.2, 0.5, -0.3),))
BROKEN = PiecewisePolynomial(
    ((-1.0, 0.2, 0.5, 0.0), (-0.4, 0.5, -1.0, 0.7), (0.6, 0.1, 0.0, -0.2), (1.1, 0.3, 0.4, 0.0))
)
CURVES = {"natural": WAVE, "cubic": CLOSE, "quartic": QUARTIC, "broken": BROKEN}


@pytest.mark.parametrize("name", CURVES)
@given(x=st.floats(-5, 5))
def test_a_curve_is_what_scipy_and_numpy_say(name: str, x: float):
    assert_allclose(CURVES[name](x), curve_value(CURVES[name], x), atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("ends", [(-2.0, 3.0), (-0.5, 0.4), (0.55, 0.65)])
def test_span_and_steepest_are_the_extremes(name: str, ends: tuple[float, float]):
    curve = CURVES[name]
    x = np.linspace(*ends, 801)
    values, slopes = [curve_value(curve, t) for t in x], [curve_value(curve, t, 1) for t in x]
    low, high = curve.span(*ends)
    assert low <= min(values) + 1e-12
    assert high >= max(values) - 1e-12
    if name != "broken":  # whose jumps fall between the samples
        assert_allclose((low, high), (min(values), max(values)), atol=1e-4)
    assert curve.steepest() >= np.abs(slopes).max() - 1e-9
    if ends[0] == -2.0 and name in ("natural", "cubic"):
        assert_allclose(curve.steepest(), np.abs(slopes).max(), rtol=1e-3)


@pytest.mark.parametrize("curve", [QUARTIC, BROKEN], ids=["quartic", "broken"])
@given(
    st.floats(-3, 3), st.floats(-2, 2).filter(lambda a: abs(a) > 0.1), st.floats(-1, 1), st.floats(-4, 4)
)  # fmt: skip
def test_multiples_and_lines_inside_a_curve(
    curve: PiecewisePolynomial, x: float, slope: float, shift: float, factor: float
):
    assert_allclose(curve.scaled(factor)(x), factor * curve(x), atol=1e-12)
    if all(abs(slope * x + shift - row[0]) > 1e-9 for row in curve.rows):  # at a jump rounding decides
        assert_allclose(curve.after(slope, shift)(x), curve(slope * x + shift), atol=1e-9)


def test_cubic_ends_follow_a_cubic_exactly():
    x = (-1.0, -0.2, 0.5, 0.7, 2.0)
    cubic = np.polynomial.Polynomial([0.3, -0.5, 0.2, 0.7])
    spline = Spline(x, tuple(cubic(np.array(x))), "cubic")
    for t in np.linspace(-1, 2, 31):
        assert_allclose(spline(t), cubic(t), atol=1e-13)


@given(st.floats(-5, 5))
def test_a_spline_is_scipys_natural_spline_and_straight_beyond_its_ends(x: float):
    assert_allclose(WAVE(x), curve_value(WAVE, x), atol=1e-13)


@pytest.mark.parametrize("knot", WAVE.x)
def test_a_spline_is_twice_smooth_at_its_knots(knot: float):
    assert_allclose(WAVE(knot), WAVE.y[WAVE.x.index(knot)], atol=1e-15)
    h = 1e-4
    for sign in (-1, 1):  # second differences from either side agree with the spline's own second derivative
        x = knot + sign * h
        second = (WAVE(x + h) - 2 * WAVE(x) + WAVE(x - h)) / h**2
        assert_allclose(second, curve_value(WAVE, knot, 2), atol=0.02)


def test_two_knots_make_a_line():
    assert_allclose([Spline((0, 2), (1, 5))(x) for x in (-1, 0, 1, 3)], [-1, 1, 3, 7])


def spring(drive: Drive, **more: Any) -> Figure:
    """A slide z, a hinge a and a joint b driven by them."""
    parts = [*slide("z", None), *hinge("a", "z", X), *hinge("b", "a", Z, at=(1, 0, 0), drive=drive, **more)]
    return Figure("spring", [*parts, *fixed("tip", "b", at=(1, 2, 3))])


DRIVES = {
    "line": mimic("a", -1.5, 0.2),
    "spline": Drive.by({"a": WAVE}),
    "both": Drive.by({"a": WAVE, "z": 2.0}, 0.3),
    "two splines": Drive.by({"a": WAVE, "z": Spline((-3, 0, 1), (1, 0, 2))}, -1.0),
    "cubic ends": Drive.by({"a": CLOSE}),
    "polynomial": Drive.by({"a": QUARTIC, "z": BROKEN}, 0.2),
    "the same coordinate twice": Drive((("a", WAVE), ("a", Linear(0.5))), 0.1),
}


@pytest.mark.parametrize("name", DRIVES)
@pytest.mark.interpreted
def test_a_driven_joint_is_where_its_drive_says(name: str):
    figure = spring(DRIVES[name])
    for x in (-4.0, -1.0, -0.2, 0.1, 0.5, 0.69, 1.9, 2.0, 6.0):
        q = np.array([0.4, x])
        theta = DRIVES[name].value({"z": 0.4, "a": x})
        free = Figure("free", [*slide("z", None), *hinge("a", "z", X), *hinge("b", "a", Z, at=(1, 0, 0))])
        assert_allclose(figure.placement(q, "b"), free.placement([*q, theta], "b"), atol=1e-13)


@pytest.mark.parametrize("name", DRIVES)
def test_jacobians_of_driven_joints_are_slopes(name: str):
    figure, q = spring(DRIVES[name]), np.array([0.4, 0.3])
    J = figure.jacobian(q, Frame("tip"))
    assert_close(J[:3], slope(lambda x: figure.placement(x, "tip")[:3, 3], q), 1e-8)


def test_a_follower_of_a_follower_follows_the_leader():
    parts = [
        *hinge("a", None, limits=(-2, 2)),
        *hinge("c", "b", drive=mimic("b", 2.0, 0.3)),
        *hinge("b", "a", drive=mimic("a", -0.5, 0.1)),
    ]
    figure = Figure("chain", parts)
    assert figure.coordinates == ("a",)
    assert figure.joint_of["c"].drive == Drive.by({"a": -1.0}, 0.5)
    q = np.array([0.7])
    assert_allclose(figure.placement(q, "c"), placements_by_exponentials(figure, q)["c"], atol=1e-15)


def test_a_follower_of_a_spline_by_ratio_one_follows_the_spline():
    parts = [
        *hinge("a", None),
        *hinge("b", "a", drive=Drive.by({"a": WAVE}, 0.1)),
        *hinge("c", "b", drive=mimic("b", 1, 1)),
    ]
    drive = Figure("chain", parts).joint_of["c"].drive
    assert drive == Drive.by({"a": WAVE}, 1.1)


def test_the_limits_of_a_follower_narrow_its_leader():
    figure = spring(mimic("a", -2.0, 0.5), limits=(-0.5, 3.0))
    assert_allclose((figure.lower[1], figure.upper[1]), (-1.25, 0.5))
    half = spring(mimic("a", -2.0, 0.5), limits=(-math.inf, 3.0))
    assert_allclose((half.lower[1], half.upper[1]), (-1.25, math.inf))


def test_the_limits_of_a_follower_of_two_are_rows():
    figure = spring(Drive.by({"a": 1.0, "z": 2.0}, 0.5), limits=(-1.0, 2.0))
    rng = np.random.default_rng(1)
    for q in rng.uniform(-3, 3, size=(200, 2)):
        theta = 0.5 + q[1] + 2 * q[0]
        assert figure.limits.contains(q) == (-1.0 <= theta <= 2.0)


def test_the_limits_of_a_follower_by_spline_must_hold_over_its_leaders_range():
    leader = hinge("a", None, limits=(-1, 2))
    inside = [*leader, *hinge("b", "a", drive=Drive.by({"a": WAVE}), limits=(-1.5, 1.5))]
    assert Figure("in", inside).limits.is_box
    with pytest.raises(BadValue, match="driven joint 'b' would reach"):
        Figure("out", [*leader, *hinge("b", "a", drive=Drive.by({"a": WAVE}), limits=(-0.5, 0.5))])


def test_a_narrow_bump_of_a_spline_is_not_overlooked():
    knots = (*np.linspace(0, 0.5, 11), 1, 2, 4, 8, 16, 32, 64, 100)
    bump = Spline(knots, tuple(5.0 * (k == 2) for k in range(len(knots))))
    with pytest.raises(BadValue, match="driven joint 'b' would reach"):
        Figure(
            "f", [*hinge("a", None, limits=(0, 100)), *hinge("b", "a", drive=Drive.by({"a": bump}), limits=(-1.5, 1.5))]
        )


def test_a_group_replaces_many_coordinates_by_few():
    spine = TREES["spine"]
    assert spine.coordinates == ("bow", "lean", "neck.x", "neck.z", "neck.y")
    assert spine.chain(None, "s1") == ("bow",)
    assert spine.chain(None, "s2") == ("bow", "lean")
    assert_allclose(spine.rest[:2], (0, 0.1))
    assert not spine.limits.contains([0.9, 0.9, 0, 0, 0])
    assert spine.limits.contains([0.9, 0.6, 0, 0, 0])
    q = posture(spine, 3)
    values = dict(zip(spine.coordinates, q, strict=True))
    assert_allclose(spine.joint_of["s4"].drive.value(values), 0.2 * q[0] - 0.3 * q[1], atol=1e-15)


def a_and_b(drive: Drive, **more: Any) -> Figure:
    return Figure("f", [*hinge("a", None), *hinge("b", "a", drive=drive, **more), *fixed("c", "b")])


REFUSED: dict[str, tuple[Callable[[], Any], type[Error], str]] = {
    "stranger": (
        lambda: a_and_b(mimic("z")),
        UnknownName,
        "joint 'b' follows 'z', which is no coordinate of figure 'f'",
    ),
    "a weld": (lambda: a_and_b(mimic("c")), UnknownName, "joint 'b' follows 'c', which is no coordinate"),
    "itself": (lambda: a_and_b(mimic("b")), BadValue, "joint 'b' follows 'b', which is driven itself"),
    "in a ring": (
        lambda: Figure("f", [*hinge("a", None, drive=mimic("b")), *hinge("b", "a", drive=mimic("a"))]),
        BadValue,
        "driven itself",
    ),
    "nobody": (lambda: Drive(()), BadValue, "at least one coordinate"),
    "NaN ratio": (lambda: mimic("a", math.nan), BadValue, "the slope of a line must be finite"),
    "NaN offset": (lambda: mimic("a", 1, math.inf), BadValue, "the offset of a driven joint must be finite"),
    "falling knots": (lambda: Spline((0, 2, 1), (0, 1, 2)), BadValue, "knots in rising order"),
    "one knot": (lambda: Spline((0,), (0,)), BadValue, "two or more knots"),
    "few values": (lambda: Spline((0, 1), (0,)), BadValue, "the values of a spline must have shape"),
    "odd ends": (lambda: Spline((0, 1), (0, 1), "soft"), BadValue, "natural, cubic, not 'soft'"),
    "knots too near": (lambda: Spline((0, 5e-324), (0, 1)), BadValue, "too near to each other"),
    "no pieces": (lambda: PiecewisePolynomial(()), BadValue, "needs rows"),
    "uneven pieces": (lambda: PiecewisePolynomial(((0, 1), (1, 2, 3))), BadValue, "all of one length"),
    "falling pieces": (lambda: PiecewisePolynomial(((1, 1), (0, 2))), BadValue, "in the order of their knots"),
    "NaN piece": (
        lambda: PiecewisePolynomial(((1, math.nan),)),
        BadValue,
        "the numbers of a curve in pieces must be finite",
    ),
    "NaN knot": (lambda: Spline((0, math.nan), (0, 1)), BadValue, "the knots of a spline must be finite"),
    "empty bound": (lambda: LinearLimit.of({"a": 0.0}, 1), BadValue, "a coefficient that is not zero"),
    "NaN bound": (lambda: LinearLimit.of({"a": 1.0}, math.nan), BadValue, "the upper of a bound must be finite"),
    "bound on a stranger": (
        lambda: Figure("f", hinge("a", None), bounds=[LinearLimit.of({"b": 1.0}, 1)]),
        UnknownName,
        "a bound of figure 'f': it has no coordinate called 'b'",
    ),
    "inverted coordinate": (lambda: Coordinate("c", (1, 0)), BadValue, "limits of coordinate 'c' must satisfy"),
    "idle coordinate": (
        lambda: Figure("f", hinge("a", None), drivers=[Coordinate("c")]),
        BadValue,
        "coordinate 'c' of figure 'f' drives no joint",
    ),
    "coordinate of a joint": (
        lambda: Figure("f", [*hinge("a", None)], drivers=[Coordinate("a")]),
        BadValue,
        "two coordinates called 'a'",
    ),
    "no room": (
        lambda: Figure("f", [*hinge("a", None, limits=(0, 1)), *hinge("b", "a", drive=mimic("a"), limits=(2, 3))]),
        BadValue,
        "the joints that follow 'a' leave it no room: 2 > 1",
    ),
    "spline without limits": (
        lambda: a_and_b(Drive.by({"a": WAVE}), limits=(-9, 9)),
        BadValue,
        "the limits of 'a', which drives 'b' through a spline must be finite",
    ),
    "spline of a spline": (
        lambda: Figure(
            "f",
            [
                *hinge("a", None),
                *hinge("b", "a", drive=Drive.by({"a": WAVE})),
                *hinge("c", "b", drive=mimic("b", 2.0)),
            ],
        ),
        BadValue,
        "through a spline",
    ),
    "group of a stranger": (
        lambda: Figure("f", hinge("a", None)).grouped(Group("g", (Coordinate("c"),), {"z": mimic("c")})),
        UnknownName,
        "figure 'f', grouped by 'g', has no coordinate called 'z'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str):
    make, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        make()
