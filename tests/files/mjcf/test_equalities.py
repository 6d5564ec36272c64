"""Equalities of MJCF: loops with MuJoCo's residual, and joints that follow others exactly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supple.figure.drives import Linear
from supple.files.mjcf.reader import parse_mjcf
from supple.geometry.placements import angle_of, inverse, rotation
from tests.tables.mjcf_models import GEOM, RADIAN, model_of, mujoco, posture, start


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo leaves its log where it runs."""
    monkeypatch.chdir(tmp_path)


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


# ── coupled joints ───────────────────────────────────────────────────────────────────────────────────────────────────
ROW = "".join(
    f"<body name='b{k}' pos='{k} 0 0'>{GEOM}<joint name='{name}' axis='0 1 0' ref='{ref}'/></body>"
    for k, (name, ref) in enumerate([("p", 0.2), ("r", 0.5), ("s", -0.1), ("t", 0.0)])
)
TENDONS = """<tendon>
  <fixed name='one'><joint joint='p' coef='2'/><joint joint='r' coef='-1'/></fixed>
  <fixed name='two'><joint joint='s' coef='.5'/></fixed>
  <fixed name='sum'><joint joint='s' coef='1'/><joint joint='t' coef='1'/></fixed></tendon>"""


def tied(*equalities: str, body: str = ROW) -> str:
    return model_of(body, RADIAN, f"{TENDONS}<equality>{''.join(equalities)}</equality>")


def assert_ties_hold(text: str, free: tuple[str, ...], within: float = 1.0) -> None:
    """MuJoCo's own residuals are zero and its bodies are where the figure's are, at random values of the free joints."""
    figure, model = parse_mjcf(text), mujoco.MjModel.from_xml_string(text)
    assert figure.coordinates == free
    random = np.random.default_rng(1)
    for _ in range(4):
        q = random.uniform(-within, within, figure.size)
        values = figure.named(q)
        data = mujoco.MjData(model)
        for j in range(model.njnt):
            joint = figure.joints[model.joint(j).name]
            data.qpos[j] = values[joint.name] if joint.drive is None else joint.drive.value(values)
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(data.efc_pos, 0.0, atol=1e-9)
        for b in range(1, model.nbody):
            np.testing.assert_allclose(figure.placement(q, model.body(b).name)[:3, :3].ravel(), data.xmat[b], atol=1e-9)


FOLLOW = "<joint joint1='{}' joint2='{}' polycoef='{}'/>"


@pytest.mark.parametrize(
    ("equalities", "free"),
    [
        ([FOLLOW.format("r", "p", ".1 2 -.5 .25 .125")], ("p", "s", "t")),
        ([FOLLOW.format("r", "p", ".1 2 0 0 0"), FOLLOW.format("s", "r", ".2 1 .5 0 0")], ("p", "t")),
        ([FOLLOW.format("s", "r", ".2 1 .5 0 0"), FOLLOW.format("r", "p", ".1 2 1 0 0")], ("p", "t")),
        ([FOLLOW.format("r", "p", ".1 2 0 0 0"), FOLLOW.format("r", "t", ".3 4 0 0 0")], ("s", "t")),
        ([FOLLOW.format("r", "p", "0 -1 0 0 0"), FOLLOW.format("p", "r", "0 -1 0 0 0")], ("p", "s", "t")),
        (["<tendon tendon1='one' tendon2='two' polycoef='.1 3 0 0 0'/>"], ("r", "s", "t")),
        (["<tendon tendon1='one' tendon2='two' polycoef='.1 3 1 .5 0'/>"], ("r", "s", "t")),
        (["<tendon tendon1='one' tendon2='sum' polycoef='.1 3 0 0 0'/>"], ("r", "s", "t")),
        (["<tendon tendon1='sum' polycoef='.4 0 0 0 0'/>", FOLLOW.format("r", "s", "0 1 2 0 0")], ("p", "t")),
    ],
)
def test_coupled_joints_follow_exactly(equalities: list[str], free: tuple[str, ...]):
    text = tied(*equalities)
    assert_ties_hold(text, free)


@pytest.mark.parametrize(
    ("equality", "why"),
    [
        ("<tendon name='e' tendon1='one' tendon2='sum' polycoef='0 1 1 0 0'/>", "sum of several joints"),
        ("<joint name='e' joint1='r' polycoef='.1 0 0 0 0'/><joint joint1='r' polycoef='.3 0 0 0 0'/>", "contradicts"),
    ],
)
def test_what_cannot_be_solved_is_left_out_and_told(equality: str, why: str):
    notes = [note for note in parse_mjcf(tied(equality)).notes if "left out" in note]
    assert len(notes) == 1
    assert why in notes[0]


def test_a_tie_to_a_mocap_body_is_left_out():
    mocap = "<body name='m' mocap='true' pos='0 0 1'/>"
    figure = parse_mjcf(tied("<weld name='grip' body1='m' body2='b0'/>", body=ROW + mocap))
    assert figure.loops == ()
    assert any("'grip'" in note and "mocap" in note for note in figure.notes)


LIMITED = "<body name='{0}'>" + GEOM + "<joint name='{0}' axis='0 1 0' range='{1}' limited='true'/></body>"


def test_a_range_of_a_follower_by_a_curve_narrows_its_leader():
    bodies = LIMITED.format("p", "-2 2") + LIMITED.format("r", "-1 .25")
    curve = "<equality><joint joint1='r' joint2='p' polycoef='0 0 1 0 0'/></equality>"
    figure = parse_mjcf(model_of(bodies, RADIAN, curve))
    np.testing.assert_allclose((figure.lower, figure.upper), [[-0.5], [0.5]], atol=1e-9)
    assert any("'r', which follows it by a curve" in note for note in figure.notes)


def test_a_range_that_leaves_nothing_is_left_out_and_told():
    bodies = LIMITED.format("p", "0 2") + LIMITED.format("r", "1 2")
    figure = parse_mjcf(
        model_of(bodies, RADIAN, "<equality><joint joint1='r' joint2='p' polycoef='0 -1 0 0 0'/></equality>")
    )
    np.testing.assert_allclose((figure.lower, figure.upper), [[0.0], [2.0]])
    assert any("The range of 'r' is left out" in note for note in figure.notes)


def test_the_start_is_moved_into_what_followers_allow():
    bodies = LIMITED.format("p", "-2 2") + LIMITED.format("r", "1 2")
    figure = parse_mjcf(model_of(bodies, RADIAN, "<equality><joint joint1='r' joint2='p'/></equality>"))
    assert figure.rest == pytest.approx([1.0])
