"""MJCF in: every body where MuJoCo's own kinematics put it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supple.files.mjcf.reader import parse_mjcf, read_mjcf
from supple.geometry.shapes import Ball, Box, Capsule, Cylinder
from tests.tables.mjcf_models import GEOM, assert_bodies_agree, model_of, mujoco, posture


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo leaves its log where it runs."""
    monkeypatch.chdir(tmp_path)


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
