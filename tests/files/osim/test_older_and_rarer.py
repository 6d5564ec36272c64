"""OSIM documents before OpenSim 3, and what few models have, against OpenSim itself and against formulas."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.errors import BadFile
from supple.figure.curves import PiecewisePolynomial, Spline
from supple.figure.figure import Figure
from supple.files.osim.reader import OsimSource, parse_osim
from supple.files.storage import format_storage, parse_storage
from supple.motion.motion import Motion
from tests.files.osim.test_osim import compare_with_opensim
from tests.tables.osim_documents import (
    UPRIGHT,
    P,
    body,
    coordinate,
    coupler,
    document,
    joint,
    knots,
    line,
    marker,
    numbers,
    offset_frame,
    path,
    polynomial,
    spatial,
)

X, Y, Z = np.eye(3).tolist()
ONE = joint("PinJoint", "j", "ground", "b0", "a")


def old(version: int, inside: str = "", name: str = ' name="j0"', reverse: str = "false") -> str:
    """A pin and a custom joint as documents before OpenSim 4 have them."""
    p, o = numbers(P[0]), numbers(P[1])
    places = f"""<location_in_parent>{p}</location_in_parent><orientation_in_parent>{o}</orientation_in_parent>
      <location>{o}</location><orientation>{p}</orientation>"""
    axes = f"""<SpatialTransform><TransformAxis name="rotation1"><function/><coordinates>b</coordinates>
      <axis>1 0 0</axis></TransformAxis><TransformAxis name="translation2"><function>
      {knots("natCubicSpline", (-1, 0.1, 2, 3), (0.1, 0.2, 0.1, 0))}</function><coordinates>b</coordinates>
      <axis>0 1 0</axis></TransformAxis></SpatialTransform>"""
    return f"""<?xml version="1.0" encoding="UTF-8"?><OpenSimDocument Version="{version}"><Model name="test">
      <BodySet name=""><objects><Body name="ground"><mass>0</mass><Joint/></Body>
      <Body name="b0"><mass>2</mass><Joint><PinJoint{name}><parent_body> ground </parent_body>{places}
        <CoordinateSet name=""><objects>{coordinate("a")}</objects><groups/></CoordinateSet>
        <reverse>{reverse}</reverse></PinJoint></Joint></Body>
      <Body name="b1"><mass>1</mass><Joint><CustomJoint{name.replace("0", "1")}><parent_body>b0</parent_body>{places}
        <CoordinateSet><objects>{coordinate("b")}</objects></CoordinateSet>{axes}</CustomJoint></Joint></Body>
      </objects><groups/></BodySet>
      <MarkerSet name=""><objects><Marker name="m"><body> b1 </body><location>1 2 3</location></Marker></objects></MarkerSet>
      {inside}</Model></OpenSimDocument>"""


@pytest.mark.parametrize("version", [10901, 10905, 20001, 20302, 30000])
@pytest.mark.parametrize("named", [True, False])
def test_documents_of_every_age_are_opensims(version: int, named: bool, tmp_path: Path):
    opensim = pytest.importorskip("opensim")
    text = old(version, name=' name="j0"' if named else "")
    (tmp_path / "old.osim").write_text(text)
    compare_with_opensim(
        opensim, parse_osim(text), tmp_path / "old.osim", 20, 1e-5
    )  # OpenSim keeps six digits of these


def test_what_has_no_name_is_called_by_its_kind():
    figure = parse_osim(old(30000, name=""))
    assert {j.name for j in figure.joints.values()} >= {"a", "b", "customjoint.translation2"}
    two = ONE.replace(' name="j"', "") + joint("PinJoint", "k", "b0", "b1", "b").replace(' name="k"', "")
    again = parse_osim(document(body("b0") + body("b1"), two))
    assert again.coordinates == ("a", "b")


def test_reversed_joints_are_opensims(tmp_path: Path):
    opensim = pytest.importorskip("opensim")
    text = old(30000, reverse="true")
    (tmp_path / "old.osim").write_text(text)
    compare_with_opensim(opensim, parse_osim(text), tmp_path / "old.osim", 5, 1e-5)


def test_connectors_are_sockets():
    """Documents of version 30500 to 30516 name frames in <connectors>."""
    new = document(body("b0"), ONE)
    between = new.replace('Version="40600"', 'Version="30515"')
    for name in ("parent_frame", "child_frame", "parent"):
        between = between.replace(
            f"<socket_{name}>",
            f'<connectors><Connector_PhysicalFrame_ name="{name}"><connectee_name>',
        ).replace(f"</socket_{name}>", "</connectee_name></Connector_PhysicalFrame_></connectors>")
    between = between.replace("</connectors>\n      <connectors>", "")
    a, b = parse_osim(new), parse_osim(between)
    assert_allclose(a.placement([0.4], "b0"), b.placement([0.4], "b0"), atol=1e-15)


def test_markers_of_one_name_are_numbered_as_opensim_does(tmp_path: Path):
    text = document(
        body("b0"), ONE, markers=2 * marker("m", "/bodyset/b0", (0, 0, 0)) + marker("m", "/ground", (1, 0, 0))
    )
    assert tuple(parse_osim(text).markers) == ("m", "m_0", "m_1")
    opensim = pytest.importorskip("opensim")
    (tmp_path / "m.osim").write_text(text)
    model = opensim.Model(str(tmp_path / "m.osim"))
    model.initSystem()
    assert [m.getName() for m in model.getMarkerSet()] == ["m", "m_0", "m_1"]


def test_arcs_are_opensims(tmp_path: Path):
    """Joints of constant curvature, bent up to 1.2 rad each way, to a hundredth of a millimetre and a hundred times better."""
    opensim = pytest.importorskip("opensim")
    inside = "<neutral_angle_x_z_y>0.1 -0.3 0.2</neutral_angle_x_z_y><length>0.4</length>"
    text = document(body("b0"), joint("ConstantCurvatureJoint", "j", "ground", "b0", "abc", inside))
    (tmp_path / "arc.osim").write_text(text)
    figure = parse_osim(text)
    model = opensim.Model(str(tmp_path / "arc.osim"))
    state = model.initSystem()
    for q in np.random.default_rng(2).uniform(-0.9, 0.9, (40, 3)):
        for c, value in zip(model.getCoordinateSet(), q, strict=True):
            c.setValue(state, float(value), False)
        model.realizePosition(state)
        there = model.getBodySet().get(0).getTransformInGround(state)
        place = figure.placement(q, "b0")
        assert_allclose(place[:3, 3], UPRIGHT[:3, :3] @ there.p().to_numpy(), atol=2e-6)
        R = np.array([[there.R().get(i, k) for k in range(3)] for i in range(3)])
        assert_allclose(place[:3, :3], UPRIGHT[:3, :3] @ R, atol=1e-12)


def pair(constraint: str) -> Figure:
    second = joint("PinJoint", "k", "ground", "b1", "b") + joint("SliderJoint", "l", "b1", "b2", "c")
    return parse_osim(document("".join(map(body, ("b0", "b1", "b2"))), ONE + second, constraint))


def ends(figure: Figure, q: np.ndarray, a: tuple[str, list[float]], b: tuple[str, list[float]]) -> list[np.ndarray]:
    return [(figure.placement(q, name) @ (*at, 1.0))[:3] for name, at in (a, b)]


def test_a_rod_keeps_its_length():
    rod = f"""<ConstantDistanceConstraint name="rod"><socket_body_1>{path("b0")}</socket_body_1>
      <socket_body_2>{path("b2")}</socket_body_2><location_body_1>0.1 0.2 0.3</location_body_1>
      <location_body_2>0.3 0 0.1</location_body_2><constant_distance>0.9</constant_distance></ConstantDistanceConstraint>"""
    figure = pair(rod)
    assert isinstance(figure.source, OsimSource)
    assert figure.source.helpers == ("rod.turn1", "rod.turn2")
    for target in (-0.2, 0.4):
        solution = supple.solve(figure, {"b0": supple.At(figure.placement([target, 0, 0, 0, 0], "b0")[:3, 3])}, seed=1)
        A, B = ends(figure, solution.q, ("b0", [0.1, 0.2, 0.3]), ("b2", [0.3, 0, 0.1]))
        assert abs(np.linalg.norm(A - B) - 0.9) < 1e-6


def test_a_point_stays_on_its_line():
    figure = pair("""<PointOnLineConstraint name="rail"><line_body>b0</line_body><line_direction_vec>1 1 0</line_direction_vec>
      <point_on_line>0.1 0 0</point_on_line><follower_body>b2</follower_body><point_on_follower>0.2 0 0</point_on_follower>
      </PointOnLineConstraint>""")
    assert isinstance(figure.source, OsimSource)
    assert figure.source.helpers == ("rail.along",)
    solution = supple.solve(figure, {"b1": supple.At(figure.placement(figure.rest, "b1")[:3, 3])}, seed=1)
    A, B = ends(figure, solution.q, ("b0", [0.1, 0, 0]), ("b2", [0.2, 0, 0]))
    along = figure.placement(solution.q, "b0")[:3, :3] @ (np.array([1, 1, 0]) / np.sqrt(2))
    assert np.linalg.norm(np.cross(B - A, along)) < 1e-6


def test_rods_and_rails_are_opensims(tmp_path: Path):
    """Postures that hold here hold in OpenSim: its own error of each constraint is nothing."""
    opensim = pytest.importorskip("opensim")
    rod = f"""<ConstantDistanceConstraint name="rod"><socket_body_1>{path("b0")}</socket_body_1>
      <socket_body_2>{path("b2")}</socket_body_2><location_body_1>0.1 0.2 0.3</location_body_1>
      <location_body_2>0.3 0 0.1</location_body_2><constant_distance>0.9</constant_distance></ConstantDistanceConstraint>"""
    second = joint("PinJoint", "k", "ground", "b1", "b") + joint("SliderJoint", "l", "b1", "b2", "c")
    text = document("".join(map(body, ("b0", "b1", "b2"))), ONE + second, rod)
    (tmp_path / "rod.osim").write_text(text)
    figure = parse_osim(text)
    q = supple.solve(figure, {"b1": supple.At(figure.placement(figure.rest, "b1")[:3, 3])}, seed=1).q
    opensim.Logger.setLevelString("Off")
    model = opensim.Model(str(tmp_path / "rod.osim"))
    state = model.initSystem()
    for name in "abc":
        value = q[figure.coordinates.index(name)]
        model.getCoordinateSet().get(name).setValue(state, float(value), False)
    model.realizePosition(state)
    spots = [
        model.getBodySet().get(name).findStationLocationInGround(state, opensim.Vec3(*at)).to_numpy()
        for name, at in (("b0", (0.1, 0.2, 0.3)), ("b2", (0.3, 0.0, 0.1)))
    ]
    assert abs(np.linalg.norm(spots[0] - spots[1]) - 0.9) < 1e-6


def test_frames_on_points_are_opensims(tmp_path: Path):
    opensim = pytest.importorskip("opensim")
    station = '<Station name="{}"><socket_parent_frame>{}</socket_parent_frame><location>{}</location></Station>'
    points = {"p": "0.1 0 0", "q": "0.1 0.2 0.05", "r": "0 0.1 0.3", "o": "0.3 0.3 0.1"}
    inside = offset_frame("f", "/bodyset/b0", P)
    inside += "".join(station.format(n, "/f" if n in "pq" else "/bodyset/b0", at) for n, at in points.items())
    sockets = "".join(f"<socket_{s}>/{n}</socket_{s}>" for s, n in zip(
        ("point_a", "point_b", "point_c", "origin_point"), points, strict=True))  # fmt: skip
    axes = "<ab_axis>-y</ab_axis><ab_x_ac_axis>+z</ab_x_ac_axis>"
    frame = f"""<StationDefinedFrame name="sdf">{sockets}{axes}</StationDefinedFrame>"""
    text = document(
        body("b0"), ONE, markers=marker("m", "/sdf", (1, 2, 3)), more=f"<components>{inside}{frame}</components>"
    )
    (tmp_path / "frame.osim").write_text(text)
    compare_with_opensim(opensim, parse_osim(text), tmp_path / "frame.osim", 3, 1e-9)
    flat = text.replace("0 0.1 0.3", "0.1 0 0").replace("/f</", "/bodyset/b0</")
    with pytest.raises(BadFile, match="three points that form a triangle"):
        parse_osim(flat)


@pytest.mark.parametrize(
    "inner", [polynomial(0.3, -0.2, 0.1), knots("SimmSpline", (-1, 0, 1, 2), (0.5, -0.4, 0.2, 1.9))]
)
def test_curves_of_curves_are_curves(inner: str, tmp_path: Path):
    curve = knots("SimmSpline", (-1.2, -0.3, 0.1, 0.8), (0.3, -0.1, 0.05, 0.4))
    outer = joint(
        "CustomJoint", "l", "b1", "b2", "c", spatial(("rotation1", X, "c", line(1, 0)), ("translation2", Y, "c", curve))
    )
    text = document(
        "".join(map(body, ("b0", "b1", "b2"))), ONE + joint("PinJoint", "k", "b0", "b1", "b") + outer,
        coupler("p", "c", "a", inner),
    )  # fmt: skip
    opensim = pytest.importorskip("opensim")
    (tmp_path / "c.osim").write_text(text)
    figure, model = parse_osim(text), opensim.Model(str(tmp_path / "c.osim"))
    state = model.initSystem()
    function = model.getConstraintSet().get(0)
    function = opensim.CoordinateCouplerConstraint.safeDownCast(function).getFunction()
    for a in np.linspace(-3, 3, 31):
        follower = function.calcValue(opensim.Vector(1, float(a)))
        for name, value in zip("abc", (a, 0.0, follower), strict=True):
            model.getCoordinateSet().get(name).setValue(state, float(value), False)
        model.realizePosition(state)
        there = model.getBodySet().get("b2").getTransformInGround(state).p().to_numpy()
        assert_allclose(figure.placement([a, 0.0], "b2")[:3, 3], UPRIGHT[:3, :3] @ there, atol=1e-9)


def test_curves_of_curves_by_numbers():
    f = Spline((-1.0, 0.0, 0.5, 2.0), (0.2, 1.0, -0.5, 0.1))
    outer = PiecewisePolynomial(tuple(map(tuple, f.pieces().tolist())))
    inner = PiecewisePolynomial(((-1.0, 0.3, 0.5, -0.7), (0.4, -0.2, 1.5, 0.3)))
    both = outer.of_curve(inner, 0.25)
    for x in np.linspace(-4, 4, 401):
        assert abs(both(float(x)) - outer(inner(float(x)) + 0.25)) < 1e-9
    assert all(a < b for (a, *_), (b, *_) in pairwise(both.rows[1:]))


def test_motions_are_written_with_every_coordinate_as_opensim_writes_them(tmp_path: Path):
    """Locked coordinates and followers have columns; what turns by half its value is not in degrees."""
    half = spatial(("rotation1", X, "d", line(0.5, 0)))
    joints = (
        joint("PinJoint", "j", "ground", "b0", [coordinate("a")])
        + joint(
            "PinJoint", "k", "b0", "b1", [coordinate("b", "<locked>true</locked><default_value>0.25</default_value>")]
        )
        + joint("PinJoint", "l", "b1", "b2", [coordinate("c")])
        + joint("CustomJoint", "n", "b2", "b3", [coordinate("d")], half)
    )
    text = document(
        "".join(map(body, ("b0", "b1", "b2", "b3"))), joints, coupler("p", "c", "a", polynomial(1.0, 0.5, 0.0))
    )
    figure = parse_osim(text)
    motion = Motion(figure, np.array([[0.1, 0.2], [0.3, 0.4]]), np.array([0.0, 0.5]))
    written = format_storage(motion).split("endheader\n")[1].splitlines()
    assert written[0].split("\t") == ["time", "a", "b", "c", "d"]
    expected = [0.5, np.rad2deg(0.3), np.rad2deg(0.25), np.rad2deg(0.09 + 0.15), 0.4]
    assert_allclose([float(x) for x in written[2].split("\t")], expected, rtol=1e-12)
    assert_allclose(parse_storage(format_storage(motion).encode(), figure).q, motion.q, atol=1e-15)
    opensim = pytest.importorskip("opensim")
    (tmp_path / "m.osim").write_text(text)
    supple.write(motion, tmp_path / "m.mot")
    model = opensim.Model(str(tmp_path / "m.osim"))
    model.initSystem()
    table = opensim.TimeSeriesTable(str(tmp_path / "m.mot"))
    model.getSimbodyEngine().convertDegreesToRadians(table)
    row = table.getRowAtIndex(1).to_numpy()
    assert_allclose(row, [0.3, 0.25, 0.24, 0.4], atol=1e-12)
