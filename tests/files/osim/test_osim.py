"""OSIM models: joints and functions against formulas written down here, rules, refusals; all models against OpenSim itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose
from scipy.interpolate import make_interp_spline

import supple
from supple.errors import BadFile, Error
from supple.figure.effectors import Frame
from supple.figure.figure import Figure
from supple.files.osim.reader import OsimSource, parse_osim
from tests.tables.osim_documents import (
    UPRIGHT,
    C,
    P,
    body,
    coordinate,
    coupler,
    document,
    frame,
    joint,
    knots,
    line,
    marker,
    offset_frame,
    path,
    polynomial,
    scaled,
    shift,
    spatial,
    turn,
)  # fmt: skip

X, Y, Z = np.eye(3).tolist()
RADII = (0.3, 0.5, 0.2)
KNOTS_X, KNOTS_Y = (-1.2, -0.3, 0.1, 0.8, 1.5), (0.3, -0.1, 0.05, 0.4, 0.1)


def ball(q: Mapping[str, float]) -> np.ndarray:
    return turn(X, q["a"]) @ turn(Y, q["b"]) @ turn(Z, q["c"])


def over(q: Mapping[str, float], radii: tuple[float, ...]) -> np.ndarray:
    return shift(*(np.array(radii) * ball(q)[:3, 2])) @ ball(q)


def winging(q: Mapping[str, float]) -> np.ndarray:
    """As on an ellipsoid with y for x, and then about an axis of the plane through (u, v)."""
    u, v, angle = 0.08, -0.04, 0.3
    axis = (-math.sin(angle), math.cos(angle), 0.0)
    a, b, c = RADII
    quarter = turn(Z, math.pi / 2)
    return quarter @ over(q, (b, a, c)) @ quarter.T @ shift(u, v, 0) @ turn(axis, q["d"]) @ shift(-u, -v, 0)


KINDS: dict[str, tuple[str, str, Callable[[Mapping[str, float]], np.ndarray]]] = {  # coordinates, more, the motion
    "WeldJoint": ("", "", lambda q: np.eye(4)),
    "PinJoint": ("a", "", lambda q: turn(Z, q["a"])),
    "SliderJoint": ("a", "", lambda q: shift(q["a"], 0, 0)),
    "UniversalJoint": ("ab", "", lambda q: turn(X, q["a"]) @ turn(Y, q["b"])),
    "BallJoint": ("abc", "", ball),
    "GimbalJoint": ("abc", "", ball),
    "PlanarJoint": ("abc", "", lambda q: shift(q["b"], q["c"], 0) @ turn(Z, q["a"])),
    "FreeJoint": ("abcdef", "", lambda q: shift(q["d"], q["e"], q["f"]) @ ball(q)),
    "EllipsoidJoint": ("abc", f"<radii_x_y_z>{' '.join(map(str, RADII))}</radii_x_y_z>", lambda q: over(q, RADII)),
    "ScapulothoracicJoint": (
        "abcd",
        f"""<thoracic_ellipsoid_radii_x_y_z>{" ".join(map(str, RADII))}</thoracic_ellipsoid_radii_x_y_z>
        <scapula_winging_axis_origin>0.08 -0.04</scapula_winging_axis_origin>
        <scapula_winging_axis_direction>0.3</scapula_winging_axis_direction>""",
        winging,
    ),
}


def assert_moves(figure: Figure, motion: Callable[[Mapping[str, float]], np.ndarray], segment: str = "bone") -> None:
    """The segment is where ``P · motion · C⁻¹`` says, in 20 postures."""
    for q in np.random.default_rng(7).uniform(-2, 2, size=(20, figure.size)):
        X_pc = frame(*P) @ motion(dict(zip(figure.coordinates, q, strict=True))) @ np.linalg.inv(frame(*C))
        assert_allclose(figure.placement(q, segment), UPRIGHT @ X_pc, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint_moves_as_its_formula_says(kind: str):
    names, inside, motion = KINDS[kind]
    figure = parse_osim(document(body("bone"), joint(kind, "j", "ground", "bone", names, inside)))
    assert set(figure.coordinates) == set(names)
    assert_moves(figure, motion)


@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_that_points_to_the_ground_is_walked_backwards(kind: str):
    names, inside, motion = KINDS[kind]
    figure = parse_osim(document(body("bone"), joint(kind, "j", "bone", "ground", names, inside)))
    for q in np.random.default_rng(7).uniform(-2, 2, size=(5, figure.size)):
        there = frame(*P) @ motion(dict(zip(figure.coordinates, q, strict=True))) @ np.linalg.inv(frame(*C))
        assert_allclose(figure.placement(q, "bone"), UPRIGHT @ np.linalg.inv(there), atol=1e-13)


def simm(x: float, X: tuple[float, ...] = KNOTS_X, Y: tuple[float, ...] = KNOTS_Y) -> float:
    """SciPy's spline whose third derivatives at the ends are those of the cubics through four points; straight beyond."""
    third = [6.0 * np.polyfit(X[part], Y[part], 3)[0] for part in (slice(0, 4), slice(-4, None))]
    spline = make_interp_spline(X, Y, 3, bc_type=([(3, third[0])], [(3, third[1])]))
    inside = float(np.clip(x, X[0], X[-1]))
    return float(spline(inside) + (x - inside) * spline(inside, 1))


FUNCTIONS: dict[str, tuple[str, Callable[[float], float]]] = {
    "line": (line(1.0, 0.0), lambda a: a),
    "line with an offset": (line(1.0, 0.4), lambda a: a + 0.4),
    "falling line": (line(-1.0, 0.2), lambda a: 0.2 - a),
    "steep line": (line(2.5, 0.2), lambda a: 2.5 * a + 0.2),
    "constant": ("<Constant><value>0.7</value></Constant>", lambda a: 0.7),
    "quartic": (polynomial(0.1, -0.2, 0.3, 0.4, 0.5), lambda a: 0.1 * a**4 - 0.2 * a**3 + 0.3 * a**2 + 0.4 * a + 0.5),
    "polynomial of degree one": (polynomial(0.5, 0.1), lambda a: 0.5 * a + 0.1),
    "number": (polynomial(0.5), lambda a: 0.5),
    "spline": (knots("SimmSpline", KNOTS_X, KNOTS_Y), simm),
    "spline by an older name": (knots("NaturalCubicSpline", KNOTS_X, KNOTS_Y), simm),
    "piecewise linear": (
        knots("PiecewiseLinearFunction", KNOTS_X, KNOTS_Y),
        lambda a: float(make_interp_spline(KNOTS_X, KNOTS_Y, 1)(a)),
    ),
    "multiple of a multiple": (
        scaled(scaled(knots("SimmSpline", KNOTS_X, KNOTS_Y), 2.0), -0.75),
        lambda a: -1.5 * simm(a),
    ),
    "multiple of a polynomial": (scaled(polynomial(0.1, 0.2, 0.3), 3.0), lambda a: 0.3 * a**2 + 0.6 * a + 0.9),
    "wrapped in an element": (f"<function>{line(1.5, 0.0)}</function>", lambda a: 1.5 * a),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_turns_and_slides_exactly(name: str):
    """One coordinate on an own axis, and the function of it along a slide and about a turn, with axes of odd lengths."""
    text, f = FUNCTIONS[name]
    transform = spatial(
        ("rotation1", (0, 0, 2.0), "a", line(1.0, 0.0)),
        ("rotation3", (0.5, 0.5, 0), "a" if "constant" not in name else "", text),
        ("translation2", (0, 3.0, 4.0), "a" if "constant" not in name else "", text),
    )
    figure = parse_osim(document(body("bone"), joint("CustomJoint", "j", "ground", "bone", "a", transform)))
    assert figure.coordinates == ("a",)

    def motion(q: Mapping[str, float]) -> np.ndarray:
        value = f(q["a"])
        return shift(0, 0.6 * value, 0.8 * value) @ turn(Z, q["a"]) @ turn((1, 1, 0), value)

    assert_moves(figure, motion)


def test_three_points_make_a_parabola_and_two_a_line():
    transform = spatial(
        ("translation1", X, "a", knots("SimmSpline", (0, 1, 3), (0, 1, 9))),
        ("translation2", Y, "a", knots("SimmSpline", (0, 2), (1, 5))),
    )
    figure = parse_osim(document(body("bone"), joint("CustomJoint", "j", "ground", "bone", "a", transform)))

    def motion(q: Mapping[str, float]) -> np.ndarray:
        inside = np.clip(q["a"], 0, 3)
        return shift(inside**2 + 2 * inside * (q["a"] - inside), 1 + 2 * q["a"], 0)

    assert_moves(figure, motion)


def test_a_function_of_two_coordinates_adds_them_up():
    transform = spatial(
        ("rotation1", Z, "a", line(1.0, 0.0)),
        ("rotation2", Y, "b", line(1.0, 0.0)),
        ("translation1", X, "a b", line(0.5, -2.0, 0.1)),
    )
    figure = parse_osim(document(body("bone"), joint("CustomJoint", "j", "ground", "bone", "ab", transform)))
    motion: Any = lambda q: shift(0.5 * q["a"] - 2 * q["b"] + 0.1, 0, 0) @ turn(Z, q["a"]) @ turn(Y, q["b"])  # noqa: E731
    assert_moves(figure, motion)


@pytest.mark.interpreted
def test_jacobians_know_splines_and_polynomials():
    transform = spatial(
        ("rotation1", Z, "a", line(1.0, 0.0)),
        ("translation1", X, "a", knots("SimmSpline", KNOTS_X, KNOTS_Y)),
        ("translation2", Y, "a", polynomial(0.1, -0.2, 0.3, 0.4, 0.5)),
    )
    figure = parse_osim(document(body("bone"), joint("CustomJoint", "j", "ground", "bone", "a", transform)))
    h = 1e-5
    for a in (-1.4, -0.8, 0.0, 0.5, 1.3, 1.9):
        there = [figure.placement([a + s * h], "bone")[:3, 3] for s in (1, -1)]
        J = figure.jacobian([a], Frame("bone"))
        assert_allclose(J[:3, 0], (there[0] - there[1]) / (2 * h), atol=1e-8)


# ── coordinates ──────────────────────────────────────────────────────────────────────────────────────────────────────
def pins(*coordinates: str, constraints: str = "", **more: Any) -> Figure:
    """Bones b0, b1, … in a row, each on a pin."""
    bones = [f"b{k}" for k in range(len(coordinates))]
    joints = (
        joint("PinJoint", f"j{k}", "ground" if k == 0 else bones[k - 1], bones[k], [c])
        for k, c in enumerate(coordinates)
    )
    return parse_osim(document("".join(map(body, bones)), "".join(joints), constraints, **more))


def test_only_clamped_coordinates_have_limits_and_ranges_are_kept():
    figure = pins(
        coordinate("a", "<range>-1 2</range><clamped>true</clamped><default_value>0.5</default_value>"),
        coordinate("b", "<range>-1 2</range><clamped>false</clamped><default_value>7</default_value>"),
        coordinate("c"),
    )
    assert_allclose(figure.lower, (-1, -math.inf, -math.inf))
    assert_allclose(figure.upper, (2, math.inf, math.inf))
    assert_allclose(figure.rest, (0.5, 7, 0))
    assert isinstance(figure.source, OsimSource)
    assert dict(figure.source.ranges) == {"a": (-1, 2), "b": (-1, 2), "c": (-10, 10)}
    assert (figure.source.format, figure.source.unit, figure.source.up) == ("osim", 1.0, "y")


def test_locked_and_constantly_prescribed_coordinates_stay_where_they_are():
    constant = "<prescribed_function><Constant><value>-0.4</value></Constant></prescribed_function>"
    figure = pins(
        coordinate("a", "<locked>true</locked><default_value>0.5</default_value>"),
        coordinate("b"),
        coordinate("c", f"{constant}<prescribed>true</prescribed>"),
        coordinate("d", f"{constant}<prescribed>false</prescribed>"),
    )
    assert figure.coordinates == ("b", "d")
    free = pins("a", "b", "c", "d")
    assert_allclose(figure.placement([0.3, 0.1], "b3"), free.placement([0.5, 0.3, -0.4, 0.1], "b3"), atol=1e-14)
    assert isinstance(figure.source, OsimSource)
    assert dict(figure.source.locked) == {"a": 0.5, "c": -0.4}


@settings(max_examples=20)
@given(st.floats(-3, 3), st.floats(-2, 2).filter(lambda s: abs(s) > 0.01), st.floats(-1, 1))
def test_followers_follow_through_lines_and_curves(a: float, slope: float, offset: float):
    """b follows a by a line, c follows b by a spline, d follows c by a line: all exactly."""
    constraints = (
        coupler("first", "d", "c", line(-2.0, 0.1))
        + coupler("second", "b", "a", line(slope, offset), "<scale_factor>1.5</scale_factor>")
        + coupler("third", "c", "b", knots("SimmSpline", KNOTS_X, KNOTS_Y))
    )
    figure, free = pins("a", "b", "c", "d", constraints=constraints), pins("a", "b", "c", "d")
    assert figure.coordinates == ("a",)
    b = 1.5 * (slope * a + offset)
    c = simm(b)
    assert_allclose(figure.placement([a], "b3"), free.placement([a, b, c, 0.1 - 2 * c], "b3"), atol=1e-10)


def test_a_follower_of_a_locked_leader_is_fixed():
    figure = pins(
        coordinate("a", "<locked>true</locked><default_value>0.5</default_value>"),
        "b",
        "c",
        constraints=coupler("k", "c", "a", polynomial(2.0, 0.0, 0.1)),
    )
    assert figure.coordinates == ("b",)
    assert_allclose(figure.placement([0.2], "b2"), pins("a", "b", "c").placement([0.5, 0.2, 0.6], "b2"), atol=1e-14)


def test_the_range_of_a_follower_narrows_its_leader():
    clamped = "<range>-1 2</range><clamped>true</clamped>"
    figure = pins("a", coordinate("b", clamped), constraints=coupler("k", "b", "a", line(-2.0, 0.5)))
    assert_allclose((figure.lower[0], figure.upper[0]), (-0.75, 0.75))
    curved = pins("a", coordinate("b", clamped), constraints=coupler("k", "b", "a", polynomial(1.0, 0.0, 0.0)))
    assert not np.isfinite(curved.lower).any()
    assert isinstance(curved.source, OsimSource)
    assert "the range of 'b', which follows others by a curve" in curved.source.left_out


# ── frames, markers, loops ───────────────────────────────────────────────────────────────────────────────────────────
OFFSETS = offset_frame("near", "..", P) + offset_frame("far", "../near", C)


@pytest.mark.parametrize("where", ["/bodyset/bone/far", "../../bodyset/bone/far", "far"])
def test_markers_and_joints_hang_on_frames_of_frames(where: str):
    """The frame far on near on bone, named by an absolute path, by a relative one, and by its name alone."""
    bone = body("bone", f"<mass>1</mass><components>{OFFSETS}</components>")
    joints = joint("PinJoint", "j", "ground", "bone", "a")
    joints += f"""<PinJoint name="k"><socket_parent_frame>{where}</socket_parent_frame>
      <socket_child_frame>/bodyset/tip</socket_child_frame><coordinates>{coordinate("b")}</coordinates></PinJoint>"""
    spots = marker("M.1", where, (0.1, 0.2, 0.3)) + marker("on ground", "/ground", (1, 2, 3))
    figure = parse_osim(document(bone + body("tip"), joints, markers=spots))
    far = frame(*P) @ frame(*C)
    q = np.array([0.3, -0.8])
    assert_allclose(figure.placement(q, "tip"), figure.placement(q, "bone") @ far @ turn(Z, -0.8), atol=1e-14)
    assert figure.markers["M.1"].segment == "bone"
    assert_allclose(figure.markers["M.1"].offset, (far @ (0.1, 0.2, 0.3, 1))[:3], atol=1e-15)
    assert figure.parent_of("bone") is None
    assert_allclose(figure.seen(q, figure.markers["on ground"])[:3, 3], (1, -3, 2), atol=1e-15)
    assert figure.bodies["tip"].mass == 2.0
    assert figure.bodies["tip"].centre == (0.1, 0.2, 0.3)


LOOPS = f"""
<PointConstraint name="point"><socket_body_1>/bodyset/b0</socket_body_1><socket_body_2>/ground</socket_body_2>
<location_body_1>1 2 3</location_body_1><location_body_2>4 5 6</location_body_2></PointConstraint>
<WeldConstraint name="weld"><socket_frame1>one</socket_frame1><socket_frame2>two</socket_frame2>
<frames>{offset_frame("one", "/bodyset/b0", P)}{offset_frame("two", "/bodyset/b1", C)}</frames></WeldConstraint>
<PointConstraint name="idle"><isEnforced>false</isEnforced></PointConstraint>"""


def test_point_and_weld_constraints_are_loops():
    figure = pins("a", "b", constraints=LOOPS)
    point, weld = figure.loops
    assert (point.name, point.a, point.b, point.point) == ("point", "b0", "ground", True)
    assert_allclose(point.at_a[:3, 3], (1, 2, 3))
    assert_allclose(point.at_b[:3, 3], (4, 5, 6))
    assert (weld.name, weld.a, weld.b, weld.point) == ("weld", "b0", "b1", False)
    assert_allclose(weld.at_a, frame(*P), atol=1e-15)
    assert_allclose(weld.at_b, frame(*C), atol=1e-15)
    assert isinstance(figure.source, OsimSource)
    assert "PointConstraint 'idle', which is not enforced" in figure.source.left_out


@pytest.mark.parametrize(("kind", "names"), [("WeldJoint", ""), ("PinJoint", "z"), ("BallJoint", "xyz")])
def test_a_joint_too_many_closes_a_loop(kind: str, names: str):
    joints = joint("PinJoint", "j", "ground", "b0", "a") + joint("PinJoint", "k", "b0", "b1", "b")
    figure = parse_osim(document(body("b0") + body("b1"), joints + joint(kind, "last", "b0", "b1", names)))
    (loop,) = figure.loops
    q = np.random.default_rng(1).uniform(-1, 1, figure.size)
    value = dict(zip(figure.coordinates, q, strict=True))
    ends = [figure.placement(q, s) @ at for s, at in ((loop.a, loop.at_a), (loop.b, loop.at_b))]
    gap = np.linalg.inv(ends[0]) @ ends[1]
    inner, outer = figure.placement(q, "b0") @ frame(*P), figure.placement(q, "b1") @ frame(*C)
    closed = inner @ {"WeldJoint": np.eye(4), "PinJoint": turn(Z, value.get("z", 0))}.get(
        kind, turn(X, value.get("x", 0)) @ turn(Y, value.get("y", 0)) @ turn(Z, value.get("z", 0))
    )
    here = frame(*C) if kind != "WeldJoint" else np.eye(4)  # both ends seen from the joint's own frame
    assert_allclose(np.linalg.inv(here) @ gap @ here, np.linalg.inv(closed) @ outer, atol=1e-13)


def test_what_moves_nothing_is_counted():
    more = """<ForceSet><objects><Thelen2003Muscle name="m"/><Thelen2003Muscle name="n"/></objects></ForceSet>
      <ControllerSet><objects><HuntCrossleyForce::Odd/></objects></ControllerSet>"""
    wrapped = body("b0", "<mass>1</mass><WrapObjectSet><objects><WrapSphere name='w'/></objects></WrapObjectSet>")
    figure = parse_osim(document(wrapped, joint("PinJoint", "j", "ground", "b0", "a"), more=more))
    assert isinstance(figure.source, OsimSource)
    assert figure.source.left_out == ("2 Thelen2003Muscle", "1 HuntCrossleyForce::Odd", "1 WrapSphere")


def test_documents_of_opensim_3_say_the_same():
    """Joints inside bodies, places as numbers, functions in <function>, markers on bodies."""
    place = " ".join
    p, o, c, d = (place(map(repr, v)) for v in (*P, *C))
    old = f"""<?xml version="1.0" encoding="UTF-8"?><OpenSimDocument Version="30000"><Model name="test"><BodySet><objects>
      <Body name="ground"><mass>0</mass><Joint/></Body>
      <Body name="b0"><mass>2</mass><mass_center>0.1 0.2 0.3</mass_center><Joint><PinJoint name="j0">
        <parent_body>ground</parent_body><location_in_parent>{p}</location_in_parent>
        <orientation_in_parent>{o}</orientation_in_parent><location>{c}</location><orientation>{d}</orientation>
        <CoordinateSet><objects>{coordinate("a")}</objects></CoordinateSet><reverse>false</reverse></PinJoint></Joint></Body>
      </objects></BodySet>
      <ConstraintSet><objects><PointConstraint name="x"><isDisabled>false</isDisabled><body_1>b0</body_1>
        <body_2>ground</body_2><location_body_1>1 2 3</location_body_1><location_body_2>4 5 6</location_body_2>
      </PointConstraint></objects></ConstraintSet>
      <MarkerSet><objects><Marker name="m"><body>b0</body><location>1 2 3</location></Marker></objects></MarkerSet>
      <credits>pp. 829\x96840</credits></Model></OpenSimDocument>"""
    figure, new = parse_osim(old.encode("latin-1")), pins("a")
    assert_allclose(figure.placement([0.7], "b0"), new.placement([0.7], "b0"), atol=1e-15)
    assert (figure.bodies, figure.coordinates) == (new.bodies, new.coordinates)
    assert (figure.segments, new.segments) == (("ground", "b0"), ("b0",))
    assert_allclose(figure.markers["m"].offset, (1, 2, 3))
    assert_allclose(figure.loops[0].at_b[:3, 3], (4, 5, 6))
    assert isinstance(figure.source, OsimSource)
    assert figure.source.left_out == ("the text is not UTF-8, as it says, and was read as Windows-1252",)


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────────
ONE = joint("PinJoint", "j", "ground", "b0", "a")
CURVE = polynomial(1.0, 0.0, 0.0)


def custom(*axes: tuple[str, Any, str, str]) -> str:
    return document(body("b0"), joint("CustomJoint", "j", "ground", "b0", "a", spatial(*axes)))


def tied(constraint: str) -> str:
    second = joint("PinJoint", "k", "b0", "b1", "b") + joint("PinJoint", "l", "b1", "b2", "c")
    return document("".join(map(body, ("b0", "b1", "b2"))), ONE + second, constraint)


REFUSED: dict[str, tuple[str, str]] = {
    "another format": ("<robot/>", "begins with <OpenSimDocument>, not with <robot>"),
    "too old": (document(body("b0"), ONE, version=10900), "version 10900 are not read: open the model in OpenSim 4"),
    "from the future": (document(body("b0"), ONE, version=50000), "version 50000 are not read"),
    "no model": ('<OpenSimDocument Version="40600"/>', "has no <Model>"),
    "unknown joint": (
        document(body("b0"), joint("ScrewJoint", "j", "ground", "b0", "a")),
        "test.osim:5: joints of type ScrewJoint are not read; CustomJoint, WeldJoint",
    ),
    "unknown constraint": (
        tied('<RollingOnSurfaceConstraint name="d"/>'),
        "constraints of type RollingOnSurfaceConstraint are not read: set its isEnforced to false",
    ),
    "unknown function": (custom(("rotation1", X, "a", "<GCVSpline/>")), "functions of type GCVSpline are not read"),
    "steep polynomial": (custom(("rotation1", X, "a", polynomial(*range(1, 20)))), "has degree 18; at most 15 is read"),
    "spline of two": (custom(("rotation1", X, "a a", CURVE)), "takes one coordinate, not 2"),
    "line of none": (custom(("rotation1", X, "", line(1, 0))), "has 1 slopes for 0 coordinates"),
    "no function": (custom(("rotation1", X, "a a", "")), "rotation1' has 2 coordinates but no function"),
    "axis of length zero": (custom(("rotation1", (0, 0, 0), "a", CURVE)), "the axis of TransformAxis 'rotation1'"),
    "a stranger's coordinate": (custom(("rotation1", X, "z", CURVE)), "follows 'z'; its joint has a"),
    "falling knots": (custom(("rotation1", X, "a", knots("SimmSpline", (1, 0), (0, 1)))), "knots in rising order"),
    "few values": (custom(("rotation1", X, "a", knots("SimmSpline", (1, 2), (0,)))), "has 2 x and 1 y"),
    "knots too near": (
        custom(("rotation1", X, "a", knots("SimmSpline", (0, 5e-324), (0, 1)))),
        "the knots of a spline are too near to each other",
    ),
    "five numbers for three": (custom(("rotation1", (1, 0, 0, 0, 0), "a", CURVE)), "must be 3 numbers"),
    "coordinates missing": (document(body("b0"), joint("BallJoint", "j", "ground", "b0", "ab")), "2 coordinates, not 3"),
    "two of one name": (document(body("b0") + body("b0"), ONE), "Body 'b0' was already described on line 4"),
    "two coordinates of one name": (
        document(body("b0") + body("b1"), ONE + joint("PinJoint", "k", "b0", "b1", "a")),
        "Coordinate 'a' was already described",
    ),
    "two joints of one name": (
        document(body("b0") + body("b1"), ONE + joint("PinJoint", "j", "b0", "b1", "b")),
        "PinJoint 'j' was already described",
    ),
    "joint of a body to itself": (
        document(body("b0"), ONE + joint("PinJoint", "k", "b0", "b0", "b")),
        "PinJoint 'k' joins 'b0' to itself",
    ),
    "floating body": (document(body("b0") + body("b1"), ONE), "Body 'b1' is not joined to the ground"),
    "unknown frame": (
        document(body("b0"), ONE, markers=marker("m", "/bodyset/b7", (0, 0, 0))),
        "<socket_parent_frame> names '/bodyset/b7', but no frame of the model is called so",
    ),
    "frame that hangs on itself": (
        document(
            body("b0", f"<components>{offset_frame('f', '.', P)}</components>"), ONE, markers=marker("m", "f", (0, 0, 0))
        ),
        "the frame 'f' hangs on itself",
    ),
    "curve of a sum": (
        document(
            "".join(map(body, ("b0", "b1", "b2"))),
            ONE + joint("PinJoint", "l", "b0", "b2", "c")
            + joint("CustomJoint", "k", "b0", "b1", "b", spatial(("rotation1", X, "b", CURVE))),
            coupler("p", "b", "a c", line(1, 1, 0)),
        ),
        "coordinate 'b' follows several others and moves an axis by a curve",
    ),
    "ring of followers": (
        tied(coupler("p", "b", "a", line(1, 0)) + coupler("q", "a", "b", line(1, 0))),
        "follows itself",
    ),
    "two masters": (tied(2 * coupler("p", "b", "a", line(1, 0))), "'b' follows two couplers; keep one"),
    "coupler to a stranger": (tied(coupler("p", "z", "a", line(1, 0))), "names 'z', which is no coordinate"),
    "locked follower": (
        document(
            body("b0") + body("b1"),
            ONE + joint("PinJoint", "k", "b0", "b1", [coordinate("b", "<locked>true</locked>")]),
            coupler("p", "b", "a", line(1, 0)),
        ),
        "determines 'b', which is locked or prescribed: choose one",
    ),
    "prescribed over time": (
        document(
            body("b0"),
            joint("PinJoint", "j", "ground", "b0",
                  [coordinate("a", f"<prescribed>true</prescribed><prescribed_function>{CURVE}</prescribed_function>")]),
        ),
        "Coordinate 'a' is prescribed over time",
    ),
    "default outside the range": (
        document(
            body("b0"),
            joint("PinJoint", "j", "ground", "b0",
                  [coordinate("a", "<range>0 1</range><clamped>true</clamped><default_value>2</default_value>")]),
        ),
        "the default value 2 of Coordinate 'a' is outside its range",
    ),
    "neither true nor false": (
        document(body("b0"), joint("PinJoint", "j", "ground", "b0", [coordinate("a", "<clamped>maybe</clamped>")])),
        "<clamped> of Coordinate 'a' must be true or false, not 'maybe'",
    ),
    "defaults that would matter": (
        document(body("b0"), ONE, more='<defaults><Coordinate name="default"/></defaults>'),
        "<defaults> for Coordinate are not read",
    ),
    "negative mass": (document(body("b0", "<mass>-1</mass>"), ONE), "a body's mass must be finite and not negative"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str):
    text, message = REFUSED[case]
    with pytest.raises(BadFile) as caught:
        parse_osim(text, "test.osim")
    assert message in str(caught.value)
    assert caught.value.line is not None


def test_cutting_a_document_anywhere_raises_only_our_errors():
    text = tied(coupler("p", "b", "a", knots("SimmSpline", KNOTS_X, KNOTS_Y)))
    for end in range(0, len(text), 97):
        with pytest.raises(Error):
            parse_osim(text[:end])


# ── real models ──────────────────────────────────────────────────────────────────────────────────────────────────────
MODELS = {  # coordinates that are free, and markers
    "opensim/gait2354/subject01": (23, 39),
    "opensim/gait2392_walk/subject01": (23, 39),
    "opensim/rajagopal_walk/subject": (31, 65),
    "gaps/run_subject": (29, 64),
    "closed_loop/shoulder/subject1_abdbonepin": (15, 11),
    "closed_loop/pushup/pushup": (18, 4),
    "closed_loop/bicycle/bicycleModel": (10, 0),
}


@pytest.mark.parametrize("name", MODELS)
def test_real_models_are_read(name: str, shared: Path):
    figure = supple.load(shared / "data/mocap" / f"{name}.osim")
    assert (figure.size, len(figure.markers)) == MODELS[name]
    assert figure.limits.contains(figure.rest)
    assert figure.origin is not None


def values_in_opensim(figure: Figure, model: Any, q: np.ndarray) -> dict[str, float]:
    """The value of every coordinate of OpenSim's model, locked ones and followers included."""
    assert isinstance(figure.source, OsimSource)
    values = dict(zip(figure.coordinates, map(float, q), strict=True)) | dict(figure.source.locked)
    for constraint in model.getConstraintSet():
        if constraint.getConcreteClassName() == "CoordinateCouplerConstraint":
            follower = constraint.getPropertyByName("dependent_coordinate_name").toString()
            leader = constraint.getPropertyByName("independent_coordinate_names").toString().strip("()")
            values[follower] = values[leader]  # in all these models a line of slope one
    return values


def compare_with_opensim(opensim: Any, figure: Figure, file: Path, count: int, atol: float) -> None:
    """Every body and every marker, in `count` random postures far beyond all ranges."""
    opensim.Logger.setLevelString("Off")
    model = opensim.Model(str(file))
    state = model.initSystem()
    coordinates = {c.getName(): c for c in model.getCoordinateSet()}
    postures = np.random.default_rng(5).uniform(-3, 3, size=(count, figure.size))
    if (
        "leftChainstay_rx" in figure.coordinates
    ):  # what OpenSim says of the two halves of a body that is in a closed loop
        postures[:, figure.coordinates.index("leftChainstay_rx")] = postures[
            :, figure.coordinates.index("rightChainstay_rx")
        ]
    for q in postures:
        values = values_in_opensim(figure, model, q)
        assert values.keys() == coordinates.keys()
        for name, c in coordinates.items():
            c.setLocked(state, False)
            c.setValue(state, values[name], False)
        model.realizePosition(state)
        ours = figure.placements(q)
        for bone in model.getBodySet():
            there = bone.getTransformInGround(state)
            T = np.eye(4)
            T[:3, :3] = [[there.R().get(i, k) for k in range(3)] for i in range(3)]
            T[:3, 3] = there.p().to_numpy()
            assert_allclose(ours[bone.getName()], UPRIGHT @ T, atol=atol, err_msg=bone.getName())
        for spot in model.getMarkerSet():
            there = np.append(spot.getLocationInGround(state).to_numpy(), 1.0)
            point = figure.markers[spot.getName()]
            here = ours[point.segment] @ (*point.offset, 1.0)
            assert_allclose(here, UPRIGHT @ there, atol=atol, err_msg=spot.getName())


@pytest.mark.parametrize("name", MODELS)
def test_bodies_and_markers_are_where_opensim_puts_them(name: str, shared: Path, tmp_path: Path):
    """OpenSim keeps six digits of the numbers of documents older than version 4, so those are compared as it saves them."""
    opensim = pytest.importorskip("opensim")
    file = shared / "data/mocap" / f"{name}.osim"
    if "shoulder" in name:
        compare_with_opensim(opensim, supple.load(file), file, 20, 1e-5)
        opensim.Model(str(file)).printToXML(str(tmp_path / "saved.osim"))
        file = tmp_path / "saved.osim"
    compare_with_opensim(opensim, supple.load(file), file, 200, 1e-10)


@pytest.mark.parametrize("kind", [*KINDS, "CustomJoint"])
@pytest.mark.parametrize("ends", [("ground", "bone"), ("bone", "ground")], ids=["forwards", "backwards"])
def test_every_kind_of_joint_is_opensims(kind: str, ends: tuple[str, str], tmp_path: Path):
    opensim = pytest.importorskip("opensim")
    if kind == "ScapulothoracicJoint" and ends[0] == "bone":
        pytest.skip("OpenSim 4.6 crashes on this joint backwards")
    functions = [text for text, _ in FUNCTIONS.values() if "SimmSpline" in text or "Polynomial" in text]
    transform = spatial(
        ("rotation1", (0, 0, 2.0), "a", line(1.0, 0.3)),
        ("rotation2", (0, 1.0, 1.0), "b", line(-1.0, 0.0)),
        ("rotation3", (1.0, 0.5, 0), "b", functions[0]),
        ("translation1", (2.0, 0, 0), "a", functions[1]),
        ("translation2", (0, 1.0, 1.0), "b", knots("PiecewiseLinearFunction", KNOTS_X, KNOTS_Y)),
        ("translation3", (0, 0, 1.0), "a", knots("SimmSpline", KNOTS_X, KNOTS_Y)),
    )
    names, inside, _ = KINDS.get(kind, ("ab", transform, None))
    text = document(body("bone"), joint(kind, "j", *ends, names, inside), markers=marker("m", path("bone"), (1, 2, 3)))
    (tmp_path / "one.osim").write_text(text)
    compare_with_opensim(opensim, parse_osim(text), tmp_path / "one.osim", 20, 1e-12)
