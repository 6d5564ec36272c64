"""Models of MuJoCo as objects, the keyframe home, and limited balls."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.errors import BadFile, BadValue
from supple.files.mjcf.reader import parse_mjcf
from supple.geometry.placements import angle_of
from tests.tables.mjcf_models import GEOM, assert_bodies_agree, model_of, mujoco, posture

MIXED = f"""<body name='a' pos='0 0 1'>{GEOM}<freejoint name='root'/>
  <body name='b' pos='1 0 0'>{GEOM}<joint name='h' axis='0 1 0' range='-1 1' limited='true'/>
    <body name='c' pos='1 0 0'>{GEOM}<joint name='s' type='ball'/></body></body></body>"""
HOME = "1 2 3 .5 .5 .5 .5 {} .6 0 .8 0"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo leaves its log where it runs."""
    monkeypatch.chdir(tmp_path)


def keyed(hinge: float = 0.5, name: str = "home") -> str:
    return model_of(
        MIXED,
        "angle='radian'",
        f"<keyframe><key qpos='{HOME.format(0)}'/><key name='{name}' qpos='{HOME.format(hinge)}'/></keyframe>",
    )


def test_texts_models_and_specs_are_the_same_figure():
    text = keyed()
    model, spec = mujoco.MjModel.from_xml_string(text), mujoco.MjSpec.from_string(text)
    written = spec.to_xml()
    figures = [supple.load("  \n" + text), supple.load(model), supple.load(spec)]
    for figure in figures:
        assert figure.origin is None
        assert figure == figures[0]
        assert_bodies_agree(figure, model)
    assert spec.to_xml() == written


def test_a_spec_that_is_no_model_is_refused():
    spec = mujoco.MjSpec()
    spec.worldbody.add_body().add_joint()
    with pytest.raises(BadFile, match="MuJoCo refuses"):
        supple.load(spec)
    with pytest.raises(supple.UnknownName, match="folders"):
        supple.load(mujoco.MjSpec(), folders=[])


def test_texts_are_told_apart_by_their_first_tag():
    assert supple.load("<robot name='r'><link name='a'/></robot>").segments == ("a",)
    assert supple.load("\ufeff<?xml version='1.0'?>\n<!-- - --><mujoco/>").size == 0
    with pytest.raises(BadFile, match="begins with <robot>, <mujoco>"):
        supple.load("<html/>")
    with pytest.raises(supple.UnknownName, match="unit"):
        supple.load("<mujoco/>", unit=1.0)


def test_home_is_the_rest_posture():
    figure, model = parse_mjcf(keyed()), mujoco.MjModel.from_xml_string(keyed())
    wanted = posture(figure, model, model.key_qpos[1])
    for segment in ("a", "b", "c"):
        np.testing.assert_allclose(
            figure.placement(figure.rest, segment), figure.placement(wanted, segment), atol=1e-12
        )
    other = parse_mjcf(keyed(name="elsewhere"))
    np.testing.assert_allclose(other.rest, posture(other, model, model.qpos0), atol=1e-12)


def test_a_home_outside_the_limits_is_moved_inside():
    assert parse_mjcf(keyed(4.0)).named(parse_mjcf(keyed(4.0)).rest)["h"] == 1.0


# ── limited balls ────────────────────────────────────────────────────────────────────────────────────────────────────
def limited(angle: float, more: str = "") -> str:
    body = f"<body name='b'>{GEOM}<joint name='k' type='ball' range='0 {angle}' limited='true'/></body>"
    return model_of(body, "angle='radian'", more)


def test_a_limited_ball_never_leaves_its_limit():
    figure = parse_mjcf(limited(0.8))
    random = np.random.default_rng(0)
    inside = [q for q in random.uniform(-0.8, 0.8, (2000, 3)) if figure.limits.contains(q)]
    assert len(inside) > 100
    turns = [angle_of(figure.placement(q, "b")[:3, :3]) for q in inside]
    assert max(turns) <= 0.8
    assert max(turns) > 0.6
    for k in range(3):  # about each of its axes the whole angle is there
        assert figure.limits.contains(0.8 * np.eye(3)[k])
        assert not figure.limits.contains(0.81 * np.eye(3)[k])
    assert any("'k'" in note and 'balls="free"' in note for note in figure.notes)


def test_the_limit_of_a_ball_is_taken_off_on_request_and_told():
    figure = parse_mjcf(limited(0.8), balls="free")
    assert figure.limits.is_box
    assert any("'k'" in note and "taken off" in note for note in figure.notes)
    assert supple.load(mujoco.MjModel.from_xml_string(limited(0.8)), balls="free") == figure
    assert parse_mjcf(limited(3.2)).limits.is_box
    with pytest.raises(BadValue, match="limits of balls"):
        parse_mjcf(limited(0.8), balls="loose")


def test_a_home_beyond_what_is_left_of_a_ball_is_moved_inside():
    half = np.sin(0.39) / np.sqrt(3)
    key = f"<keyframe><key name='home' qpos='{np.cos(0.39)} {half} {half} {half}'/></keyframe>"
    figure = parse_mjcf(limited(0.8, key))
    assert figure.limits.contains(figure.rest)
    assert np.abs(figure.rest).sum() == pytest.approx(0.8, abs=1e-6)
