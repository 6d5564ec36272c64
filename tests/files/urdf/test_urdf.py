"""URDF in and out: placements against pinocchio and stored samples, round trips, and refusals by line."""

from __future__ import annotations

import importlib.util
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from supple.errors import BadFile, BadValue, Error
from supple.figure.curves import Spline
from supple.figure.drives import Coordinate, Drive, LinearLimit, mimic
from supple.figure.figure import Figure, Loop
from supple.figure.joints import Joint, ball, fixed, free, hinge, planar, screw, slide, universal
from supple.files.urdf.reader import parse_urdf, read_urdf
from supple.files.urdf.writer import format_urdf, roll_pitch_yaw, write_urdf
from supple.geometry.placements import X, Y, Z, place, turned
from supple.geometry.shapes import Ball, Body, Box, Capsule, Cylinder

ROBOTS = [
    "baxter/baxter", "g1/g1_29dof", "g1/g1_29dof_with_hand", "gantry/gantry6", "iiwa14/iiwa14_primitive_collision",
    "iiwa14/iiwa14_spheres_collision", "panda/panda", "panda/panda_collision", "sawyer/sawyer", "scara/scara600",
    "shadow_hand/shadow_hand_left", "shadow_hand/shadow_hand_right", "talos/talos_full_v2", "talos/talos_reduced",
    "ur10/ur10", "ur5/ur5",
]  # fmt: skip


def robot(*elements: str) -> str:
    """A file with links a to e and the given joints, one line each from line 3 on."""
    links = "".join(f'<link name="{name}"/>' for name in "abcde"[: len(elements) + 1])
    return f'<robot name="r">\n{links}\n' + "\n".join(elements) + "\n</robot>\n"


def joint(name: str, kind: str, ends: str = "ab", inside: str = "") -> str:
    """A joint from the first to the second link of `ends`."""
    return f'<joint name="{name}" type="{kind}"><parent link="{ends[0]}"/><child link="{ends[1]}"/>{inside}</joint>'


def random_posture(figure: Figure, rng: np.random.Generator) -> np.ndarray:
    """A posture inside the limits, within ±3 where there are none."""
    return rng.uniform(np.maximum(figure.lower, -3.0), np.minimum(figure.upper, 3.0))


# ── against pinocchio ────────────────────────────────────────────────────────────────────────────────────────────────
def joint_values(figure: Figure, q: np.ndarray) -> dict[str, float]:
    """The value of every moving joint by name, followers included."""
    values = dict(zip(figure.coordinates, q.tolist(), strict=True))
    for part in figure.joints.values():
        if part.drive is not None:
            values[part.name] = part.drive.value(values)
    return values


def pinocchio_frames(pin: Any, model: Any, values: dict[str, float]) -> dict[str, np.ndarray]:
    """The placement of every link when the joints have these values; several coordinates by our names."""
    q = pin.neutral(model)
    for k, name in enumerate(model.names):
        kind, at = model.joints[k].shortname(), model.joints[k].idx_q
        if name == "universe":
            continue
        if "FreeFlyer" in kind:
            turn = Rotation.from_euler("ZYX", [values[f"{name}.{axis}"] for axis in "zyx"])
            q[at : at + 7] = [*(values[f"{name}.t{axis}"] for axis in "xyz"), *turn.as_quat()]
        elif "Planar" in kind:
            angle = values[f"{name}.z"]
            q[at : at + 4] = values[f"{name}.tx"], values[f"{name}.ty"], np.cos(angle), np.sin(angle)
        elif model.joints[k].nq == 2:
            q[at : at + 2] = np.cos(values[name]), np.sin(values[name])
        else:
            q[at] = values[name]
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return {f.name: data.oMf[i].homogeneous for i, f in enumerate(model.frames) if f.type == pin.FrameType.BODY}


def check_against_pinocchio(pin: Any, model: Any, figure: Figure) -> None:
    rng = np.random.default_rng(7)
    for _ in range(5):
        q = random_posture(figure, rng)
        theirs = pinocchio_frames(pin, model, joint_values(figure, q))
        ours = figure.placements(q)
        assert set(ours) == set(theirs) - {"universe"}
        for segment, T in ours.items():
            assert_allclose(T, theirs[segment], rtol=0, atol=1e-10, err_msg=segment)


@pytest.mark.parametrize("name", ROBOTS)
def test_every_link_of_every_robot_is_where_pinocchio_puts_it(name: str, shared: Path):
    pin = pytest.importorskip("pinocchio")
    path = shared / "data" / "robots" / f"{name}.urdf"
    check_against_pinocchio(pin, pin.buildModelFromUrdf(str(path)), read_urdf(path))


ORIGIN = '<origin xyz="0.1 -0.2 0.3" rpy="0.4 -0.5 2.6"/>'
LIMIT = '<limit lower="-1.25" upper="1.75" effort="9" velocity="2.5"/>'
KINDS = {
    "revolute": robot(joint("j", "revolute", inside=ORIGIN + LIMIT + '<axis xyz="0 0 1"/>')),
    "oblique axis": robot(joint("j", "revolute", inside=ORIGIN + LIMIT + '<axis xyz="1 -2 3"/>')),
    "default axis": robot(joint("j", "revolute", inside=LIMIT)),
    "minus axis": robot(joint("j", "revolute", inside=LIMIT + '<axis xyz="0 -1 0"/>')),
    "continuous": robot(joint("j", "continuous", inside=ORIGIN + '<axis xyz="0 1 0"/>')),
    "oblique continuous": robot(joint("j", "continuous", inside='<axis xyz="0 2 1"/>')),
    "prismatic": robot(joint("j", "prismatic", inside=ORIGIN + LIMIT + '<axis xyz="1 1 0"/>')),
    "fixed": robot(joint("j", "fixed", inside=ORIGIN), joint("k", "continuous", "bc")),
    "floating": robot(joint("j", "floating", inside=ORIGIN), joint("k", "revolute", "bc", ORIGIN + LIMIT)),
    "planar": robot(joint("j", "planar", inside=ORIGIN + '<axis xyz="0 0 1"/>'), joint("k", "fixed", "bc", ORIGIN)),
    "gimbal": robot(joint("j", "revolute", inside='<origin rpy="0.3 1.5707963267948966 -0.7"/>' + LIMIT)),
    "mimic": robot(
        joint("j", "revolute", "ab", LIMIT),
        joint("k", "revolute", "bc", LIMIT + '<mimic joint="j" multiplier="-0.5" offset="0.1"/>'),
        joint("l", "prismatic", "cd", LIMIT + '<axis xyz="0 1 0"/><mimic joint="k" multiplier="2"/>'),
        joint("m", "continuous", "ae", '<mimic joint="l" offset="0.25"/>'),
    ),
    "branches": robot(
        joint("z", "revolute", "ab", LIMIT),
        joint("y", "revolute", "ac", LIMIT + ORIGIN),
        joint("x", "prismatic", "bd", LIMIT),
        joint("w", "revolute", "ce", LIMIT),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_joint_moves_as_in_pinocchio(kind: str):
    pin = pytest.importorskip("pinocchio")
    check_against_pinocchio(pin, pin.buildModelFromXML(KINDS[kind]), parse_urdf(KINDS[kind]))


def test_stored_samples_of_forward_kinematics(shared: Path):
    """Followers count as free in these samples, so only links that no follower moves are compared."""
    folder = shared / "data" / "robots"
    stored = json.loads((folder / "fk_reference.json").read_text())["robots"]
    compared = 0
    for name, record in stored.items():
        figure = read_urdf(folder / name)
        driven = {part.name for part in figure.joints.values() if part.drive is not None}
        for sample in record["samples"]:
            values = dict(zip(record["joints"], sample["q"], strict=True))
            q = np.array([values[joint] for joint in figure.coordinates])
            for segment, (x, y, z, *quaternion) in sample["pose"].items():
                if driven & set(moving_above(figure, segment)):
                    continue
                expected = place((x, y, z), quat_wxyz=quaternion)
                assert_allclose(figure.placement(q, segment), expected, atol=1e-9, err_msg=f"{name} {segment}")
                compared += 1
    assert compared >= 6 * len(stored)


def moving_above(figure: Figure, segment: str | None) -> list[str]:
    """The joints between the world and a segment, followers included."""
    names: list[str] = []
    while segment is not None:
        names += figure.joints_of(segment)
        segment = figure.parent_of(segment)
    return names


# ── what a reader makes of a file ────────────────────────────────────────────────────────────────────────────────────
def test_names_order_and_limits():
    figure = parse_urdf(KINDS["branches"])
    assert figure.coordinates == ("z", "x", "y", "w")
    assert figure.segments == ("a", "b", "d", "c", "e")
    assert_allclose(figure.lower, -1.25)
    assert_allclose(figure.upper, 1.75)
    assert_allclose(figure.speed, 2.5)
    assert figure.source is not None
    assert figure.source.format == "urdf"


def test_joints_of_several_coordinates_are_named_by_axis():
    assert parse_urdf(KINDS["floating"]).coordinates == ("j.tx", "j.ty", "j.tz", "j.z", "j.y", "j.x", "k")
    assert parse_urdf(KINDS["planar"]).coordinates == ("j.tx", "j.ty", "j.z")


def test_a_joint_and_a_link_may_share_a_name():
    figure = parse_urdf(robot(joint("a", "continuous"), joint("b", "continuous", "bc")))
    assert figure.coordinates == ("a", "b")
    assert figure.segments == ("a", "b", "c")


@pytest.mark.parametrize(
    ("kind", "limit", "lower", "upper", "speed"),
    [
        ("revolute", '<limit lower="-1" upper="2" velocity="3"/>', -1, 2, 3),
        ("revolute", "<limit/>", 0, 0, np.inf),
        ("prismatic", '<limit upper="0.5" velocity="0"/>', 0, 0.5, np.inf),
        ("prismatic", '<limit lower="-1e16" upper="1e308"/>', -np.inf, np.inf, np.inf),
        ("revolute", '<limit lower="0.5" upper="1"/>', 0.5, 1, np.inf),
        ("continuous", '<limit lower="-1" upper="2" velocity="3"/>', -np.inf, np.inf, 3),
        ("continuous", "", -np.inf, np.inf, np.inf),
    ],
)
def test_limits_and_speeds(kind: str, limit: str, lower: float, upper: float, speed: float):
    figure = parse_urdf(robot(joint("j", kind, inside=limit)))
    assert (figure.lower[0], figure.upper[0], figure.speed[0]) == (lower, upper, speed)
    assert figure.rest[0] == np.clip(0.0, lower, upper)


def test_a_follower_narrows_its_leader_only_by_limits_that_it_has():
    follower = joint("k", "revolute", "bc", '{}<mimic joint="j" multiplier="2"/>')
    for limit, upper in [("", 1.75), ('<limit effort="1"/>', 1.75), ('<limit lower="-9" upper="1"/>', 0.5)]:
        figure = parse_urdf(robot(joint("j", "revolute", inside=LIMIT), follower.format(limit)))
        assert figure.coordinates == ("j",)
        assert figure.upper[0] == upper


def test_masses_and_shapes_are_kept_and_meshes_left_alone():
    text = """<robot name="r"><link name="a">
    <inertial><origin xyz="1 2 3" rpy="1 1 1"/><mass value="4.5"/></inertial>
    <collision><origin xyz="0 0 1"/><geometry><sphere radius="0.5"/></geometry></collision>
    <collision><origin xyz="0 1 0" rpy="0 0 1"/><geometry><box size="1 2 3"/></geometry></collision>
    <collision><geometry><cylinder radius="0.1" length="0.7"/></geometry></collision>
    <collision><geometry><capsule radius="0.1" length="0.7"/></geometry></collision>
    <collision><geometry><mesh filename="package://nowhere/a.stl"/></geometry></collision>
    <visual><geometry><sphere radius="-1"/></geometry></visual></link></robot>"""
    figure = parse_urdf(text)
    body = figure.bodies["a"]
    assert (body.mass, body.centre, figure.size) == (4.5, (1.0, 2.0, 3.0), 0)
    sphere, box, cylinder, capsule = body.shapes
    assert sphere == Ball((0, 0, 1), 0.5)
    assert isinstance(box, Box)
    assert (box.lower, box.upper) == ((-0.5, -1, -1.5), (0.5, 1, 1.5))
    assert_allclose(box.at, place((0, 1, 0), rpy=(0, 0, 1)))
    assert isinstance(cylinder, Cylinder)
    assert (cylinder.radius, cylinder.length) == (0.1, 0.7)
    assert isinstance(capsule, Capsule)
    assert (capsule.radius, capsule.length) == (0.1, 0.7)


@pytest.mark.parametrize("axis", [X, Y, Z, (0, 0, -1), (1, 2, -3), (1e-7, 0, 1)])
def test_a_planar_joint_stays_in_the_plane_normal_to_its_axis(axis: tuple[float, float, float]):
    inside = f'{ORIGIN}<axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>'
    figure = parse_urdf(robot(joint("j", "planar", inside=inside)))
    normal = np.array(axis) / np.linalg.norm(axis)
    at = place((0.1, -0.2, 0.3), rpy=(0.4, -0.5, 2.6))
    assert_allclose(figure.placement(np.zeros(3), "b"), at, atol=1e-15)
    T = np.linalg.inv(at) @ figure.placement([0.3, -0.4, 0.7], "b")
    assert_allclose(T[:3, :3], turned(normal.tolist(), 0.7), atol=1e-14)
    assert abs(T[:3, 3] @ normal) < 1e-14
    assert_allclose(np.linalg.norm(T[:3, 3]), 0.5)


def test_further_elements_are_left_alone():
    extra = '<gazebo><link name="a"/></gazebo><transmission><joint name="zz"/></transmission><material name="m"/>'
    text = KINDS["revolute"].replace("</robot>", extra + "</robot>")
    assert parse_urdf(text).segments == ("a", "b")


# ── round trips ──────────────────────────────────────────────────────────────────────────────────────────────────────
def assert_same_figure(a: Figure, b: Figure, intermediate_links: bool = False) -> None:
    """Same coordinates, limits, segments (or more of them), bodies, and the same places at random postures."""
    assert a.coordinates == b.coordinates
    assert a.name == b.name
    assert set(a.segments) <= set(b.segments) if intermediate_links else a.segments == b.segments
    for field in ("lower", "upper", "speed"):
        assert_allclose(getattr(a, field), getattr(b, field), rtol=0, atol=0)
    rng = np.random.default_rng(3)
    for _ in range(4):
        q = random_posture(a, rng)
        ours, theirs = a.placements(q), b.placements(q)
        for segment in a.segments:
            assert_allclose(theirs[segment], ours[segment], rtol=0, atol=1e-12, err_msg=segment)
    masses = {name: (body.mass, body.centre) for name, body in a.bodies.items() if body.mass}
    assert masses == {name: (body.mass, body.centre) for name, body in b.bodies.items() if body.mass}


@pytest.mark.parametrize("name", ROBOTS)
def test_every_robot_survives_writing_and_reading(name: str, shared: Path, tmp_path: Path):
    figure = read_urdf(shared / "data" / "robots" / f"{name}.urdf")
    write_urdf(figure, tmp_path / "copy.urdf")
    again = read_urdf(tmp_path / "copy.urdf")
    assert_same_figure(figure, again)
    assert [part.name for part in figure.joints.values()] == [part.name for part in again.joints.values()]
    shapes = {segment: [type(shape) for shape in body.shapes] for segment, body in figure.bodies.items()}
    assert shapes == {segment: [type(shape) for shape in again.bodies[segment].shapes] for segment in shapes}


def read_again(figure: Figure) -> Figure:
    return parse_urdf(format_urdf(figure))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_joint_survives_writing_and_reading(kind: str):
    figure = parse_urdf(KINDS[kind])
    assert_same_figure(figure, read_again(figure))


BASE = fixed("base")
TILTED = place((0.1, 0.2, -0.3), rpy=(1.0, np.pi / 2, -2.0))
HAND_MADE = {
    "one segment": ([*BASE], False),
    "hinge": ([*BASE, *hinge("j", "base", (1, 2, 3), TILTED, (-0.1, 1 / 3), speed=0.7)], False),
    "one-sided": ([*BASE, *slide("j", "base", Y, TILTED, (-np.inf, 2.0))], False),
    "endless slide": ([*BASE, *slide("j", "base", Y)], False),
    "awkward names": ([*fixed('<a> & "b"'), *hinge("j'\n\té 🦾", '<a> & "b"', X, segment="]]>")], False),
    "follower": ([*BASE, *hinge("j", "base"), *slide("k", "j", X, drive=mimic("j", -1 / 3, 0.1))], False),
    "planar": ([*BASE, *planar("j", "base", TILTED), *hinge("k", "j", X)], False),
    "free": ([*BASE, *free("j", "base", "zyx", TILTED), *hinge("k", "j", X)], False),
    "free in another order": ([*BASE, *free("j", "base", "xyz", TILTED)], True),
    "limited planar": ([*BASE, *planar("j", "base", TILTED, [(-1, 1), (-2, 2), (-3, 3)])], True),
    "ball": ([*BASE, *ball("j", "base", "zxz", TILTED, [(-1, 1)] * 3), *universal("k", "j", "yz", TILTED)], True),
    "free root": ([*free("root"), *hinge("j", "root", X)], True),
    "tilted root": ([*fixed("base", None, TILTED), *hinge("j", "base", X)], True),
    "two roots": ([*fixed("world"), *hinge("j", None, X)], True),
    "follows a free root": ([*BASE, *free("j", "base"), *hinge("k", "j", X, drive=mimic("j.z"))], True),
    "hangs between": ([*BASE, *free("j", "base"), *hinge("k", "j.ty'", X)], True),
}


@pytest.mark.parametrize("name", HAND_MADE)
def test_hand_made_figures_survive_writing_and_reading(name: str):
    parts, intermediate_links = HAND_MADE[name]
    figure = Figure("a < b", parts)
    assert_same_figure(figure, read_again(figure), intermediate_links)


@pytest.mark.parametrize("name", [name for name in HAND_MADE if name != "awkward names"])
def test_what_is_written_is_what_pinocchio_reads(name: str):
    pin = pytest.importorskip("pinocchio")
    parts, _ = HAND_MADE[name]
    figure = Figure("f", parts, bodies={parts[-1].key: Body(2.0, (0.1, 0.2, 0.3))})
    text = format_urdf(figure)
    again = parse_urdf(text)
    if again.size:
        check_against_pinocchio(pin, pin.buildModelFromXML(text), again)


def test_bodies_are_written_and_a_capsule_keeps_its_room():
    at = place((1, 2, 3), rpy=(0.1, 0.2, 0.3))
    shapes = (Ball((1, 2, 3), 0.1), Box((0, 0, 0), (1, 2, 3), at), Cylinder(0.2, 0.3, at), Capsule(0.2, 0.4, at))
    figure = Figure("f", [*BASE], bodies={"base": Body(1 / 3, (0.1, 0.2, 0.3), shapes)})
    body = read_again(figure).bodies["base"]
    assert (body.mass, body.centre) == (1 / 3, (0.1, 0.2, 0.3))
    sphere, box, cylinder, middle, *ends = body.shapes
    assert sphere == shapes[0]
    assert isinstance(box, Box)
    assert (box.lower, box.upper) == ((-0.5, -1, -1.5), (0.5, 1, 1.5))
    assert_allclose(box.at, at @ place((0.5, 1, 1.5)), atol=1e-14)
    for shape, length in ((cylinder, 0.3), (middle, 0.4)):
        assert isinstance(shape, Cylinder)
        assert (shape.radius, shape.length) == (0.2, length)
        assert_allclose(shape.at, at, atol=1e-14)
    for end, z in zip(ends, (-0.2, 0.2), strict=True):
        assert isinstance(end, Ball)
        assert end.radius == 0.2
        assert_allclose(end.centre, (at @ [0, 0, z, 1])[:3])


SPLINE = Spline((0, 1, 2), (0, 1, 4))
UNWRITABLE = [
    (Figure("f", [*screw("s", None, Z, 0.1)]), "joint 's' is a screw"),
    (Figure("f", [Joint("s", None, slide=(0, 0, 2), segment="s")]), "joint 's' slides 2 m per unit"),
    (
        Figure("f", [*hinge("j", None, limits=(0, 2)), *hinge("k", "j", drive=Drive.by({"j": SPLINE}))]),
        "joint 'k' follows a curve",
    ),
    (
        Figure("f", [*hinge("i", None), *hinge("j", "i"), *hinge("k", "j", drive=Drive.by({"i": 1, "j": 2}))]),
        "joint 'k' follows 2 coordinates",
    ),
    (
        Figure("f", [*hinge("j", None, drive=mimic("g"))], drivers=(Coordinate("g"),)),
        "coordinate 'g' is the parameter of a group",
    ),
    (Figure("f", [*hinge("j", None)], bounds=(LinearLimit.of({"j": 1.0}, 1.0),)), "linear limits among coordinates"),
    (Figure("f", [*hinge("j", None), *fixed("k")], loops=(Loop("l", "j", "k"),)), "loop 'l' is closed"),
    (Figure("f", [*hinge("j\1", None)]), "XML cannot hold"),
]


@pytest.mark.parametrize(("figure", "message"), UNWRITABLE, ids=[message for _, message in UNWRITABLE])
def test_what_the_format_cannot_hold_is_refused_by_name(figure: Figure, message: str):
    with pytest.raises(BadValue, match=message):
        format_urdf(figure)


def test_all_reasons_are_listed_at_once():
    figure = Figure("f", [*screw("s", None, Z, 0.1), *screw("t", "s", Z, 0.1)])
    with pytest.raises(BadValue, match="figure 'f' cannot be written as URDF: joint 's' is a screw; joint 't' is"):
        format_urdf(figure)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path):
    with pytest.raises(BadFile, match="cannot be written"):
        write_urdf(Figure("f", [*BASE]), tmp_path / "no such folder" / "f.urdf")


@pytest.mark.parametrize("pitch", [0.0, 0.3, np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, np.pi / 2 - 1e-15, 3.0])
def test_roll_pitch_yaw_gives_the_rotation_back(pitch: float):
    for roll, yaw in [(0.0, 0.0), (0.3, -2.0), (np.pi, 1.0), (-np.pi / 2, np.pi / 2)]:
        R = place(rpy=(roll, pitch, yaw))[:3, :3]
        assert_allclose(place(rpy=roll_pitch_yaw(R))[:3, :3], R, rtol=0, atol=1e-15)


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────────
TURN = joint("j", "continuous")
SHAPE = '<robot name="r"><link name="a"><collision><geometry>\n{}</geometry></collision></link></robot>'
BAD: list[tuple[str, int, str]] = [
    ('<sdf name="r"/>', 1, "begins with <robot>"),
    ("<robot/>", 1, "no attribute 'name'"),
    ('<robot name="r"/>', 1, "has 0 links"),
    ('<robot name="r">\n<link/></robot>', 2, "no attribute 'name'"),
    ('<robot name="r">\n<link name=" "/></robot>', 2, "'name' of link ' ' is empty"),
    ('<robot name="r">\n<link name="a"/>\n<link name="a"/></robot>', 3, "link 'a' was already described on line 2"),
    ('<robot name="r">\n<link name="a"/>\n<link name="b"/></robot>', 3, "has 2 roots, links 'a' and 'b'"),
    (f'<robot name="r">\n<link name="{"a" * 1001}"/></robot>', 2, "longer than 1000"),
    (robot(TURN, TURN), 4, "joint 'j' was already described on line 3"),
    (robot(joint("j", "continuous", "ax")), 3, "has the child 'x', but the file describes no such link"),
    (robot(joint("j", "continuous", "xb")), 3, "has the parent 'x', but the file describes no such link"),
    (robot(joint("j", "continuous", "aa")), 3, "joins link 'a' to itself"),
    (robot(TURN, joint("k", "fixed", "cb")), 4, "link 'b' has two parents: joint 'k' and joint 'j', line 3"),
    (robot(TURN, joint("k", "fixed", "ba")).replace('<link name="c"/>', ""), 1, "has no root"),
    (robot(joint("j", "fixed", "bc"), joint("k", "fixed", "cb")), 2, "link 'b' belongs to a cycle"),
    (robot('<joint name="j" type="fixed"><child link="b"/></joint>'), 3, "joint 'j' has no <parent>"),
    (robot('<joint name="j" type="fixed"><parent link="a"/></joint>'), 3, "joint 'j' has no <child>"),
    (robot('<joint name="j"><parent link="a"/><child link="b"/></joint>'), 3, "joint 'j' has no attribute 'type'"),
    (robot(joint("j", "ball")), 3, "joint 'j' has the unknown type 'ball'; known are revolute"),
    (robot(joint("j", "revolute")), 3, "joint 'j' is revolute and needs a <limit"),
    (robot(joint("j", "prismatic")), 3, "joint 'j' is prismatic and needs a <limit"),
    (robot(joint("j", "revolute", inside='\n<limit lower="1" upper="0"/>')), 4, "are inverted"),
    (robot(joint("j", "revolute", inside='\n<limit lower="1e17" upper="1e18"/>')), 4, "leave no room"),
    (robot(joint("j", "revolute", inside='\n<limit lower="nan" upper="0"/>')), 4, "must be finite, not 'nan'"),
    (robot(joint("j", "revolute", inside='\n<limit lower="-inf"/>')), 4, "must be finite, not '-inf'"),
    (robot(joint("j", "continuous", inside='\n<limit velocity="-1"/>')), 4, "must not be negative"),
    (robot(joint("j", "continuous", inside='\n<axis xyz="0 0 0"/>')), 4, "axis of joint 'j' must not have length zero"),
    (robot(joint("j", "continuous", inside='\n<axis xyz="0 1"/>')), 4, "must be 3 numbers, not '0 1'"),
    (robot(joint("j", "continuous", inside='\n<axis xyz="0 0 1e300"/>')), 4, "must not exceed"),
    (robot(joint("j", "fixed", inside='\n<origin xyz="0 inf 0"/>')), 4, "must be finite, not 'inf'"),
    (robot(joint("j", "fixed", inside='\n<origin rpy="0 x 0"/>')), 4, "must be a number, not 'x'"),
    (robot(joint("j", "floating", inside='\n<mimic joint="j"/>')), 4, "joint 'j' is floating: only joints of one"),
    (robot(joint("j", "continuous", inside='\n<mimic joint="x"/>')), 4, "mimics joint 'x', but the file describes no"),
    (robot(joint("j", "continuous", inside='\n<mimic joint="j"/>')), 4, "joint 'j' follows itself"),
    (robot(joint("j", "fixed"), joint("k", "continuous", "bc", '<mimic joint="j"/>')), 4, "which is fixed"),
    (robot(joint("j", "planar"), joint("k", "continuous", "bc", '<mimic joint="j"/>')), 4, "which is planar"),
    (robot(TURN, joint("k", "continuous", "bc", '<mimic joint="j" multiplier="nan"/>')), 4, "must be finite"),
    (
        robot(
            joint("j", "continuous", "ab", '<mimic joint="k"/>'), joint("k", "continuous", "bc", '<mimic joint="j"/>')
        ),
        3,
        "joint 'j' follows itself by way of 1 other",
    ),
    (
        robot(
            TURN,
            joint("k", "continuous", "bc", '<mimic joint="j" multiplier="1e6"/>'),
            joint("l", "continuous", "cd", '<mimic joint="k" multiplier="1e6"/>'),
        ),
        5,
        "exceed all measure",
    ),
    ('<robot name="r"><link name="a">\n<inertial>\n<mass value="-1"/></inertial></link></robot>', 2, "mass must be"),
    ('<robot name="r"><link name="a"><inertial>\n<mass/></inertial></link></robot>', 2, "no attribute 'value'"),
    (
        SHAPE.format('<sphere radius="0"/>'),
        2,
        "radius must be positive",
    ),
    (
        SHAPE.format('<box size="1 0 1"/>'),
        2,
        "size of a box must be positive",
    ),
    ('<robot name="r">\n<xacro:property name="x" value="1"/></robot>', 2, "expand the file with xacro"),
    ('<robot name="r">\n<link name="${prefix}a"/></robot>', 2, "expand the file with xacro"),
    ('<!DOCTYPE robot><robot name="r"/>', 1, "delete the <!DOCTYPE"),
    ('<robot name="r">\n<link name="a">', 2, "still open"),
    (robot(joint("j", "floating"), joint("j.z", "continuous", "bc")), 1, "j.z"),
]


@pytest.mark.parametrize(("text", "line", "message"), BAD, ids=[f"{k}: {row[2]}" for k, row in enumerate(BAD)])
def test_bad_files_are_refused_with_file_line_and_reason(text: str, line: int, message: str):
    with pytest.raises(BadFile) as caught:
        parse_urdf(text, "robot.urdf")
    assert message in str(caught.value)
    assert (caught.value.file, caught.value.line) == ("robot.urdf", line)


def test_long_chains_of_followers_need_no_recursion():
    count = 3000
    links = "".join(f'<link name="l{k}"/>' for k in range(count + 1))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/>'
        + (f'<mimic joint="j{k + 1}" multiplier="-1"/>' if k < count - 1 else "")
        + "</joint>"
        for k in range(count)
    )
    figure = parse_urdf(f'<robot name="r">{links}{joints}</robot>')
    assert figure.coordinates == (f"j{count - 1}",)
    assert len(figure.segments) == count + 1


def test_mutated_files_are_read_or_refused(repository: Path):
    """A short run of the fuzzer in this process: nothing but supple's own errors may come out."""
    modules = {}
    for name in ("mutate", "seeds"):
        spec = importlib.util.spec_from_file_location(f"fuzz_{name}", repository / "fuzz" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(modules[name])
    rng, outcomes = random.Random(1), {"read": 0, "refused": 0}
    for _ in range(300):
        data = modules["mutate"].mutate(modules["seeds"].ROBOT, rng)
        try:
            figure = parse_urdf(data, "mutated.urdf")
            assert all(np.isfinite(T).all() for T in figure.placements(figure.rest).values())
            outcomes["read"] += 1
        except Error:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 20
