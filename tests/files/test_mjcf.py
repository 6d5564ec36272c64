"""MJCF in: every body where MuJoCo's own kinematics put it, and nothing read from anywhere else."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.errors import BadFile, MissingExtra
from supple.figure.drives import Linear
from supple.figure.figure import Figure
from supple.files.mjcf.reader import parse_mjcf, read_mjcf
from supple.geometry.placements import angle_of, inverse, rotation
from supple.geometry.shapes import Ball, Box, Capsule, Cylinder

mujoco: Any = pytest.importorskip("mujoco")
Rotation = pytest.importorskip("scipy.spatial.transform").Rotation


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo leaves its log where it runs."""
    monkeypatch.chdir(tmp_path)


DEGREE, RADIAN = "angle='degree'", "angle='radian'"


def model_of(inside: str, compiler: str = DEGREE, more: str = "") -> str:
    return f"<mujoco model='small'><compiler {compiler}/><worldbody>{inside}</worldbody>{more}</mujoco>"


GEOM = "<geom size='.1' mass='1'/>"
SMALL = {
    "anchors off the origin": f"""
        <body name='a' pos='.1 .2 .3' euler='10 20 30'>{GEOM}
          <joint name='j1' axis='1 2 3' pos='.3 -.1 .2' range='-90 45'/>
          <body name='b' pos='0 0 1' quat='1 2 3 4'>{GEOM}<joint name='j2' axis='0 0 -1' pos='0 .5 0'/></body>
        </body>""",
    "several joints in a body": f"""
        <body name='a' pos='1 0 0' axisangle='1 1 0 40'>{GEOM}
          <joint name='a' axis='0 0 1' pos='.1 0 0'/><joint name='s' type='slide' axis='1 1 0' pos='.2 .3 .4'/>
          <joint name='x' axis='1 0 0' pos='0 .2 0'/><joint name='y' axis='0 1 0'/>
        </body>""",
    "ball with an anchor": f"""
        <body name='a'>{GEOM}<joint name='spin' type='ball' pos='.1 .2 .3'/>
          <body name='b' pos='0 1 0'>{GEOM}<joint type='slide'/><joint type='ball'/></body></body>""",
    "free with a start": f"""
        <body name='a' pos='1 2 3' euler='10 -80 30'>{GEOM}<freejoint/>
          <body pos='.1 0 0'>{GEOM}
            <joint axis='0 1 0' ref='30'/><joint type='slide' ref='.2' axis='0 1 1'/></body></body>
        <body name='c' pos='5 0 0'>{GEOM}<freejoint name='f'/></body>""",
    "welded bodies and sites": f"""
        <site name='mark' pos='1 1 1'/>
        <body name='a' pos='0 0 1' euler='0 90 0'>{GEOM}
          <site name='tip' pos='.1 .2 .3' euler='45 0 0'/><site pos='9 9 9'/>
          <body name='b' pos='1 0 0' euler='5 6 7'>{GEOM}
            <joint name='tip' axis='0 1 0'/><site name='b' pos='0 0 1'/></body>
        </body>""",
}


def start(model: Any, random: np.random.Generator) -> Any:
    """MuJoCo's data at a random posture."""
    data = mujoco.MjData(model)
    for j in range(model.njnt):
        k, kind = model.jnt_qposadr[j], int(model.jnt_type[j])
        data.qpos[k] = random.uniform(-2, 2)
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            data.qpos[k : k + 3] = random.uniform(-2, 2, 3)
        if kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
            quaternion = random.normal(size=4)
            first = k + (3 if kind == mujoco.mjtJoint.mjJNT_FREE else 0)
            data.qpos[first : first + 4] = quaternion / np.linalg.norm(quaternion)
    return data


def posture(figure: Figure, model: Any, qpos: np.ndarray) -> np.ndarray:
    """The same posture in the figure's coordinates, joint after joint as MuJoCo stores them."""
    values: list[float] = []
    for j in range(model.njnt):
        k, kind = model.jnt_qposadr[j], int(model.jnt_type[j])
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            values += [*qpos[k : k + 3]]
            k += 3
        if kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
            values += [*Rotation.from_quat(np.roll(qpos[k : k + 4], -1)).as_euler("ZYX")]
        else:
            values.append(qpos[k])
    assert len(values) == figure.size
    return np.array(values)


def assert_bodies_agree(figure: Figure, model: Any, seed: int = 0) -> None:
    random = np.random.default_rng(seed)
    bodies = [s for s in figure.segments if not s.endswith(".site") and s not in ("tip", "mark")]
    assert len(bodies) >= model.nbody - 1
    for _ in range(5):
        data = start(model, random)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        placements = figure.placements(q := posture(figure, model, data.qpos))
        names = [model.body(b).name or f"body{b}" for b in range(model.nbody)]
        for b in range(1, model.nbody):
            np.testing.assert_allclose(placements[names[b]][:3, 3], data.xpos[b], atol=1e-9, err_msg=names[b])
            np.testing.assert_allclose(placements[names[b]][:3, :3].ravel(), data.xmat[b], atol=1e-9)
        for k in range(model.nsite):
            if name := model.site(k).name:
                segment = f"{name}.site" if name in names else name
                np.testing.assert_allclose(placements[segment][:3, 3], data.site_xpos[k], atol=1e-9)
                np.testing.assert_allclose(placements[segment][:3, :3].ravel(), data.site_xmat[k], atol=1e-9)
        np.testing.assert_allclose(figure.mass_centre(q), data.subtree_com[0], atol=1e-9)


@pytest.mark.parametrize("name", ["humanoid", "humanoid_CMU", "walker2d_v5"])
def test_characters_move_as_in_mujoco(shared: Path, name: str):
    path = shared / "data" / "robots" / "mjcf_characters" / f"{name}.xml"
    figure, model = read_mjcf(path), mujoco.MjModel.from_xml_path(str(path))
    assert figure.size == model.nv
    assert_bodies_agree(figure, model)
    for j in range(model.njnt):
        if model.jnt_limited[j]:
            k = figure.coordinates.index(model.joint(j).name)
            assert (figure.lower[k], figure.upper[k]) == tuple(model.jnt_range[j])
    assert figure.limits.contains(figure.rest)
    touching = sum(1 for g in range(model.ngeom) if model.geom_bodyid[g])
    assert sum(len(body.shapes) for body in figure.bodies.values()) == touching


@pytest.mark.parametrize("name", SMALL)
def test_small_models_move_as_in_mujoco(name: str):
    text = model_of(SMALL[name])
    assert_bodies_agree(parse_mjcf(text), mujoco.MjModel.from_xml_string(text), seed=3)


def test_names_limits_and_rest():
    figure = parse_mjcf(model_of(SMALL["anchors off the origin"]))
    assert figure.name == "small"
    assert figure.coordinates == ("j1", "j2")
    assert figure.segments == ("a", "b")
    np.testing.assert_allclose(figure.lower, [-np.pi / 2, -np.inf])
    np.testing.assert_allclose(figure.upper, [np.pi / 4, np.inf])
    free = parse_mjcf(model_of(SMALL["free with a start"]))
    assert free.coordinates[:6] == ("a.tx", "a.ty", "a.tz", "a.z", "a.y", "a.x")
    assert free.coordinates[6:8] == ("body2.1", "body2.2")
    assert free.coordinates[8] == "f.tx"
    model = mujoco.MjModel.from_xml_string(model_of(SMALL["free with a start"]))
    np.testing.assert_allclose(free.rest, posture(free, model, model.qpos0), atol=1e-12)


def test_a_site_called_like_a_body_gets_another_name():
    figure = parse_mjcf(model_of(SMALL["welded bodies and sites"]))
    assert set(figure.segments) == {"a", "b", "mark", "tip", "b.site"}
    assert figure.coordinates == ("tip",)


def test_geoms_become_shapes_in_the_bodys_frame():
    figure = parse_mjcf(
        model_of(
            """<geom type='plane' size='1 1 1'/><geom size='3'/>
            <body name='a'><joint/>
              <geom type='sphere' pos='1 2 3' size='.5'/>
              <geom type='capsule' fromto='0 0 0 0 3 4' size='.1'/>
              <geom type='box' size='1 2 3' euler='0 0 90'/>
              <geom type='cylinder' size='.2 .3' pos='0 0 1'/>
              <geom type='ellipsoid' size='1 2 3' pos='0 1 0'/>
              <geom type='sphere' size='9' contype='0' conaffinity='0' mass='0'/>
            </body>"""
        )
    )
    assert set(figure.bodies) == {"a"}
    ball, capsule, box, cylinder, around = figure.bodies["a"].shapes
    assert isinstance(ball, Ball)
    assert (ball.centre, ball.radius) == ((1, 2, 3), 0.5)
    assert isinstance(capsule, Capsule)
    assert (capsule.radius, capsule.length) == pytest.approx((0.1, 5.0))
    ends = capsule.at @ np.array([[0, 0], [0, 0], [-2.5, 2.5], [1, 1]])
    np.testing.assert_allclose(sorted(ends[:3].T.tolist()), [[0, 0, 0], [0, 3, 4]], atol=1e-12)
    assert isinstance(box, Box)
    assert (box.lower, box.upper) == ((-1, -2, -3), (1, 2, 3))
    np.testing.assert_allclose(box.at[:3, :3] @ (1, 0, 0), (0, 1, 0), atol=1e-12)
    assert isinstance(cylinder, Cylinder)
    assert (cylinder.radius, cylinder.length, cylinder.at[2, 3]) == pytest.approx((0.2, 0.6, 1.0))
    assert isinstance(around, Box)
    assert (around.lower, around.upper, around.at[1, 3]) == ((-1, -2, -3), (1, 2, 3), 1.0)


# ── equalities ───────────────────────────────────────────────────────────────────────────────────────────────────────
PAIR = f"""
    <body name='a' pos='1 0 0' euler='20 0 10'>{GEOM}<joint name='p' axis='0 1 0' ref='.2'/>
      <site name='sa' pos='.1 .2 .3' euler='1 2 3'/></body>
    <body name='b' pos='0 1 0'>{GEOM}<joint name='r' axis='1 0 0' ref='.5'/><joint name='t' type='slide' axis='0 0 1'/>
      <site name='sb' pos='-.1 .2 .5' euler='4 5 6'/></body>"""


@pytest.mark.parametrize(
    ("equality", "point"),
    [
        ("<connect name='e' body1='a' body2='b' anchor='.1 .2 .3'/>", True),
        ("<connect name='e' body1='a' anchor='.1 .2 .3'/>", True),
        ("<connect name='e' site1='sa' site2='sb'/>", True),
        ("<weld name='e' body1='a' body2='b'/>", False),
        ("<weld name='e' body1='a' body2='b' anchor='.1 .2 .3' relpose='.3 .2 .1 1 2 3 4'/>", False),
        ("<weld name='e' body1='a'/>", False),
        ("<weld name='e' site1='sa' site2='sb'/>", False),
    ],
)
def test_connects_and_welds_become_loops_with_mujocos_residual(equality: str, point: bool):
    text = model_of(PAIR, RADIAN, f"<equality>{equality}</equality>")
    figure, model = parse_mjcf(text), mujoco.MjModel.from_xml_string(text)
    (loop,) = figure.loops
    assert (loop.name, loop.point) == ("e", point)
    random = np.random.default_rng(5)
    for _ in range(3):
        data = start(model, random)
        mujoco.mj_forward(model, data)
        q = posture(figure, model, data.qpos)
        a, b = figure.placement(q, loop.a) @ loop.at_a, figure.placement(q, loop.b) @ loop.at_b
        residual = data.efc_pos[: 3 if point else 6]
        assert np.linalg.norm(a[:3, 3] - b[:3, 3]) == pytest.approx(np.linalg.norm(residual[:3]), abs=1e-9)
        if not point:
            half = 0.5 * angle_of((inverse(a) @ b)[:3, :3])
            assert abs(np.sin(half)) == pytest.approx(np.linalg.norm(residual[3:]), abs=1e-9)


def test_an_equality_of_joints_is_a_drive():
    text = model_of(PAIR, RADIAN, "<equality><joint joint1='r' joint2='p' polycoef='.1 2 0 0 0'/></equality>")
    figure, model = parse_mjcf(text), mujoco.MjModel.from_xml_string(text)
    assert figure.coordinates == ("p", "t")
    data = mujoco.MjData(model)
    data.qpos[:] = [0.7, 0.5 + 0.1 + 2 * (0.7 - 0.2), 0.3]
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.efc_pos, 0.0, atol=1e-12)
    np.testing.assert_allclose(figure.placement([0.7, 0.3], "b")[:3, :3].ravel(), data.xmat[2], atol=1e-12)
    (driven,) = (part for part in figure.joints.values() if part.drive is not None)
    assert driven.drive is not None
    assert driven.drive.terms == (("p", Linear(2.0)),)


@pytest.mark.parametrize("ends", ["joint1='r' polycoef='.1 1 0 0 0'", "joint1='r' joint2='p' polycoef='.1 0 0 0 0'"])
def test_a_joint_held_by_an_equality_is_fixed_there(ends: str):
    figure = parse_mjcf(model_of(PAIR, RADIAN, f"<equality><joint {ends}/></equality>"))
    assert figure.coordinates == ("p", "t")
    np.testing.assert_allclose(
        figure.placement([0.7, 0.0], "b")[:3, :3], rotation(rpy=(0.1, 0, 0)), atol=1e-12
    )  # 0.1 beyond the start, where the body has its written frame


def test_inactive_equalities_are_left_out():
    text = model_of(PAIR, RADIAN, "<equality><weld body1='a' body2='b' active='false'/></equality>")
    assert parse_mjcf(text).loops == ()


# ── bad and hostile files ────────────────────────────────────────────────────────────────────────────────────────────
def tied(equality: str) -> str:
    tendon = "<tendon><fixed name='x'><joint joint='p' coef='1'/></fixed></tendon>"
    return model_of(PAIR, RADIAN, f"{tendon}<equality>{equality}</equality>")


BODY = f"<body name='b'>{GEOM}<joint name='j'/></body>"
BAD = [
    ("", 1, "empty"),
    ("no xml", 1, "XML"),
    ("<robot name='r'/>", 1, "begins with <mujoco>"),
    ("<!DOCTYPE a [<!ENTITY b SYSTEM 'secret.xml'>]>\n<mujoco>&b;</mujoco>", 1, "document types"),
    ("<mujoco>\n<include file='secret.xml'/></mujoco>", 2, "include.* is not allowed"),
    ("<mujoco><asset>\n\n<mesh name='m' file='/secret.stl'/></asset></mujoco>", 3, "mesh 'm' refers to the file"),
    ("<mujoco><asset>\n<texture name='t' type='cube' fileright='x.png'/></asset></mujoco>", 2, "refers to the file"),
    ("<mujoco><asset>\n<model name='m' file='other.xml'/></asset></mujoco>", 2, "refers to the file"),
    ("<mujoco><extension>\n<plugin plugin='p'/></extension></mujoco>", 1, "is not allowed"),
    (model_of("\n<composite type='cable' count='9 1 1'/>"), 2, "rigid bodies"),
    (model_of(f"<replicate count='200'>\n<replicate count='200'>{BODY}</replicate></replicate>"), 2, "40000 copies"),
    (model_of(f"\n<replicate count='nan'>{BODY}</replicate>"), 2, "finite"),
    ("<mujoco><asset>\n<texture builtin='flat' width='999999' height='9'/></asset></mujoco>", 2, "at most 4096"),
    ("<mujoco>\n<size nuser_body='99999999'/></mujoco>", 2, "at most 4096"),
    (model_of(f"\n<body pos='0 nan 0'>{GEOM}</body>"), 2, "pos of <body> must be finite"),
    (model_of("\n<body pos='0 0'/><bone/>"), 2, "MuJoCo refuses the model"),
    (model_of("\n<body><joint/></body>"), 2, "MuJoCo refuses the model: .*mass"),
    (model_of(f"\n<body>{GEOM}<joint name='k' type='ball' range='0 1' limited='true'/></body>"), 2, "to a cone"),
    (tied("\n<joint name='e' joint1='r' joint2='p' polycoef='0 1 1 0 0'/>"), 6, "higher"),
    (tied("<joint joint1='r' joint2='p'/><joint joint1='r' joint2='t'/>"), 1, "joint 'r' follows two"),
    (tied("<joint joint1='r' joint2='p'/><joint joint1='p' joint2='r'/>"), 1, "driven itself"),
    (tied("\n<tendon name='e' tendon1='x'/>"), 6, "neither bodies nor joints"),
]


@pytest.mark.parametrize(("text", "line", "message"), BAD)
def test_bad_files_are_refused_with_file_and_line(text: str, line: int, message: str):
    Path("secret.xml").write_text("<mujocoinclude><worldbody/></mujocoinclude>")
    with pytest.raises(BadFile, match=message) as caught:
        parse_mjcf(text, "bad.xml")
    assert (caught.value.file, caught.value.line) == ("bad.xml", line)


def test_text_that_is_not_utf8_and_files_that_are_not_there_are_refused(tmp_path: Path):
    with pytest.raises(BadFile, match="UTF-8"):
        parse_mjcf("<?xml version='1.0' encoding='latin-1'?><mujoco model='ä'/>".encode("latin-1"))
    with pytest.raises(BadFile, match="cannot be read"):
        read_mjcf(tmp_path / "missing.xml")


def test_without_mujoco_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtra, match=r"supple\[mjcf\]"):
        parse_mjcf(model_of(BODY))


COAXIAL = "<body name='a'><joint name='j'/><joint name='k'/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body>"


def test_warnings_reach_neither_the_folder_nor_stderr(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    mujoco.MjModel.from_xml_string(model_of(COAXIAL))  # MuJoCo by itself
    log = tmp_path / "MUJOCO_LOG.TXT"
    assert log.exists()
    assert "singular" in "".join(capfd.readouterr())
    log.unlink()
    before = mujoco.get_mju_user_warning()
    assert parse_mjcf(model_of(COAXIAL)).coordinates == ("j", "k")
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")
    assert mujoco.get_mju_user_warning() is before


def test_what_mujoco_warns_of_before_it_refuses_is_part_of_the_error(monkeypatch: pytest.MonkeyPatch):
    def refuse(text: str) -> None:
        mujoco.get_mju_user_warning()("the first\n warning")
        raise ValueError("no")

    monkeypatch.setattr(mujoco, "MjModel", type("Refusing", (), {"from_xml_string": staticmethod(refuse)}))
    with pytest.raises(BadFile, match="MuJoCo refuses the model: no; the first warning"):
        parse_mjcf(model_of(BODY))
