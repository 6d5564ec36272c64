"""Postures in Pinocchio and MuJoCo: placements of their own models of the same files are ours, there and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple import Figure
from supple.errors import BadValue, Refused, UnknownName
from supple.figure import ball, fixed, free, hinge
from supple.files.mjcf.reader import parse_mjcf
from supple.files.urdf.reader import parse_urdf, read_urdf

pin: Any = pytest.importorskip("pinocchio")
mujoco: Any = pytest.importorskip("mujoco")

URDFS = [
    "baxter/baxter", "g1/g1_29dof", "gantry/gantry6", "iiwa14/iiwa14_primitive_collision", "panda/panda", "sawyer/sawyer",
    "scara/scara600", "shadow_hand/shadow_hand_left", "talos/talos_full_v2", "talos/talos_reduced", "ur10/ur10", "ur5/ur5",
]  # fmt: skip
MJCFS = ["humanoid", "humanoid_CMU", "walker2d_v5"]
MANY = 7

INERTIA = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
LINK = f"<link name='{{0}}'>{INERTIA}</link>"
LIMIT = "<limit lower='-2' upper='2' effort='1' velocity='1'/>"
JOINT = "<joint name='{0}' type='{1}'><parent link='{2}'/><child link='{3}'/><origin xyz='.1 .2 .3' rpy='.3 -.2 0'/>{4}</joint>"
URDF = (
    "<robot name='strange'>"
    + "".join(LINK.format(name) for name in ("base", "a", "b", "c", "d", "e", "f"))
    + JOINT.format("zz", "revolute", "base", "a", "<axis xyz='0 1 0'/>" + LIMIT)
    + JOINT.format("wheel", "continuous", "base", "b", "<axis xyz='1 0 0'/>")
    + JOINT.format("aa", "prismatic", "b", "c", "<axis xyz='0 .6 .8'/>" + LIMIT)
    + JOINT.format(
        "follows", "revolute", "a", "d", "<axis xyz='0 0 1'/>" + LIMIT + "<mimic joint='zz' multiplier='-.5'/>"
    )
    + JOINT.format("floats", "floating", "c", "e", "")
    + JOINT.format("glides", "planar", "d", "f", "<axis xyz='0 0 1'/>")
    + "</robot>"
)
BODY = "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
MJCF = f"""<mujoco model='strange'><compiler angle='radian'/><worldbody>
<body name='pelvis' pos='0 0 1' euler='.1 .2 .3'><freejoint name='float'/>{BODY}
 <body name='left' pos='0 .1 0'><joint name='hip' type='ball' pos='0 .01 .02'/>{BODY}
  <body name='shin' pos='0 0 -.4'><joint name='knee' axis='0 1 0' range='0 2.5' ref='.3'/>{BODY}
   <body pos='0 0 -.4'><joint axis='1 0 0'/><joint axis='0 1 0' pos='0 0 .1'/>{BODY}</body></body></body>
 <body name='arm' pos='.2 0 .3'><joint name='up' type='slide' axis='0 0 1' range='-1 1'/>{BODY}
  <body name='finger' pos='.1 0 0'><joint name='curls' axis='0 1 0' range='-2 2'/>{BODY}</body></body></body></worldbody>
<equality><joint joint1='curls' joint2='up' polycoef='.1 .5 .2 0 0'/></equality></mujoco>"""


def in_pinocchio(model: Any, configuration: np.ndarray) -> dict[str, np.ndarray]:
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.array(configuration))
    bodies = [k for k, frame in enumerate(model.frames) if frame.type == pin.FrameType.BODY]
    return {model.frames[k].name: data.oMf[k].homogeneous for k in bodies}


def in_mujoco(model: Any, qpos: np.ndarray) -> dict[str, np.ndarray]:
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    out = {}
    for b in range(1, model.nbody):
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = data.xmat[b].reshape(3, 3), data.xpos[b]
        out[model.body(b).name or f"body{b}"] = T
    return out


def somewhere(figure: Figure, count: int = MANY) -> np.ndarray:
    """Random postures, legal where ranges are known, with balls that turn all the way round."""
    low, high = np.maximum(figure.lower, -3.1), np.minimum(figure.upper, 3.1)
    return np.array(
        [figure.limits.project(q) for q in np.random.default_rng(5).uniform(low, high, (count, figure.size))]
    )


def agree(figure: Figure, Q: np.ndarray, places: list[dict[str, np.ndarray]]) -> None:
    assert len(places) == len(Q) > 0
    for q, place in zip(Q, places, strict=True):
        shared = place.keys() & set(figure.segments)
        assert len(shared) >= min(len(place), 3)
        for name in shared:
            assert_allclose(place[name], figure.placement(q, name), atol=1e-9)


def check_pinocchio(figure: Figure, model: Any) -> None:
    Q = somewhere(figure)
    C = figure.to_pinocchio(Q, model)
    assert C.shape == (MANY, model.nq)
    assert C.flags.writeable
    assert_array_equal(figure.to_pinocchio(Q[3], model), C[3])
    agree(figure, Q, [in_pinocchio(model, c) for c in C])
    assert_allclose(figure.from_pinocchio(C, model, near=Q), Q, atol=1e-9)
    agree(figure, figure.from_pinocchio(C, model), [in_pinocchio(model, c) for c in C])


def check_mujoco(figure: Figure, model: Any) -> None:
    Q = somewhere(figure)
    C = figure.to_mujoco(Q, model)
    assert C.shape == (MANY, model.nq)
    assert C.flags.writeable
    agree(figure, Q, [in_mujoco(model, c) for c in C])
    assert_allclose(figure.from_mujoco(C, model, near=Q), Q, atol=1e-9)
    back = figure.from_mujoco(C, model)
    assert_array_equal(figure.from_mujoco(C[2], model), back[2])
    agree(figure, back, [in_mujoco(model, c) for c in C])


# ── Pinocchio ────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", URDFS)
def test_robots_stand_in_pinocchio_as_here(name: str, shared: Path):
    file = shared / "data" / "robots" / f"{name}.urdf"
    if not file.exists():
        pytest.skip(f"no {file}")
    check_pinocchio(read_urdf(file), pin.buildModelFromUrdf(str(file)))


@pytest.mark.parametrize("name", ["g1/g1_29dof", "panda/panda"])
def test_floating_robots_stand_in_pinocchio_as_here(name: str, shared: Path):
    file = shared / "data" / "robots" / f"{name}.urdf"
    figure = supple.load(file).based_at((0.1, 0.2, 0.3), free=True)
    model = pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer())
    check_pinocchio(figure, model)
    Q = somewhere(figure)
    assert_array_equal(figure.to_pinocchio(Q), figure.to_pinocchio(Q, model))  # the file says as much as the model


def test_every_kind_of_joint_stands_in_pinocchio_as_here(tmp_path: Path):
    figure, model = parse_urdf(URDF), pin.buildModelFromXML(URDF)
    assert list(model.names)[1:] != [
        name for name in figure.joints if name in list(model.names)
    ]  # it has another order
    check_pinocchio(figure, model)
    (tmp_path / "strange.urdf").write_text(URDF)
    loaded, Q = supple.load(tmp_path / "strange.urdf"), somewhere(figure)
    assert_array_equal(loaded.to_pinocchio(Q), figure.to_pinocchio(Q, model))
    assert_array_equal(
        loaded.from_pinocchio(loaded.to_pinocchio(Q)), figure.from_pinocchio(loaded.to_pinocchio(Q), model)
    )


def test_mimic_joints_of_pinocchio_have_no_numbers():
    figure, model = parse_urdf(URDF), pin.buildModelFromXML(URDF, mimic=True)
    assert model.nq == pin.buildModelFromXML(URDF).nq - 1
    check_pinocchio(figure, model)


@pytest.mark.parametrize("order", ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz"])
def test_balls_of_every_order_are_the_same_rotation(order: str):
    figure = Figure(
        "ball", [*fixed("root"), *ball("b", "root", order, at=(0, 0, 1)), *free("f", "b", order, at=(0, 1, 0))]
    )
    model = pin.Model()
    k = model.addJoint(0, pin.JointModelSpherical(), pin.SE3(np.eye(3), np.array([0.0, 0, 1])), "b")
    model.addFrame(pin.Frame("b", k, pin.SE3.Identity(), pin.FrameType.BODY))
    k = model.addJoint(k, pin.JointModelFreeFlyer(), pin.SE3(np.eye(3), np.array([0.0, 1, 0])), "f")
    model.addFrame(pin.Frame("f", k, pin.SE3.Identity(), pin.FrameType.BODY))
    Q = np.concatenate([somewhere(figure, 20), np.zeros((1, 9)), np.full((1, 9), np.pi / 2)])  # gimbal lock among them
    C = figure.to_pinocchio(Q, model)
    agree(figure, Q, [in_pinocchio(model, c) for c in C])
    near = figure.from_pinocchio(C, model, near=Q)
    assert_allclose(near[:20], Q[:20], atol=1e-9)
    agree(figure, near, [in_pinocchio(model, c) for c in C])
    C[:, [0, 1, 2, 3, 7, 8, 9, 10]] *= -1.0  # the same rotations
    assert_allclose(figure.from_pinocchio(C, model, near=Q), near, atol=1e-12)


# ── MuJoCo ───────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", MJCFS)
def test_characters_stand_in_mujoco_as_here(name: str, shared: Path):
    file = shared / "data" / "robots" / "mjcf_characters" / f"{name}.xml"
    figure, model = supple.load(file), mujoco.MjModel.from_xml_path(str(file))
    check_mujoco(figure, model)
    Q = somewhere(figure)
    assert_array_equal(figure.to_mujoco(Q), figure.to_mujoco(Q, model))


def test_every_kind_of_joint_stands_in_mujoco_as_here():
    check_mujoco(parse_mjcf(MJCF), mujoco.MjModel.from_xml_string(MJCF))


@pytest.mark.parametrize("name", ["panda/panda", "ur5/ur5"])
def test_a_robot_of_a_urdf_file_stands_in_mujoco_as_here(name: str, shared: Path):
    text = (shared / "data" / "robots" / f"{name}.urdf").read_text()
    bare = "\n".join(line for line in text.splitlines() if "mesh" not in line)
    try:
        model = mujoco.MjModel.from_xml_string(bare)
    except ValueError:
        pytest.skip("MuJoCo cannot read it without its meshes")
    figure, Q = parse_urdf(text), somewhere(parse_urdf(text))
    names = {model.joint(j).name for j in range(model.njnt)}
    assert names <= set(figure.joints)
    agree(figure, Q, [in_mujoco(model, c) for c in figure.to_mujoco(Q, model)])


def test_a_limit_chooses_among_the_angles_of_a_rotation():
    figure = parse_mjcf(MJCF).with_limits({"hip.z": (-0.4, 3.3), "hip.y": (-1.6, 1.6), "hip.x": (-3.2, 3.2)})
    model = mujoco.MjModel.from_xml_string(MJCF)
    Q = figure.from_mujoco(figure.to_mujoco(somewhere(figure, 50), model), model)
    columns = [figure.coordinates.index(name) for name in ("hip.z", "hip.y", "hip.x")]
    assert (Q[:, columns] >= figure.lower[columns]).all()
    assert (Q[:, columns] <= figure.upper[columns]).all()


# ── what one side does not have ──────────────────────────────────────────────────────────────────────────────────────
def test_what_one_side_does_not_have_is_asked_for():
    figure, model = parse_mjcf(MJCF), mujoco.MjModel.from_xml_string(MJCF)
    part = figure.locked("knee")
    qpos = figure.to_mujoco(somewhere(figure)[0], model)
    q = part.from_mujoco(qpos, model)
    with pytest.raises(BadValue, match=r"'knee'.*others="):
        part.to_mujoco(q, model)
    assert_allclose(np.abs(part.to_mujoco(q, model, others=qpos)), np.abs(qpos), atol=1e-12)
    tool = figure.attached(Figure("tool", [*hinge("twist", None)]), to="shin")
    with pytest.raises(BadValue, match=r"'twist'.*near="):
        tool.from_mujoco(qpos, model)
    assert tool.from_mujoco(qpos, model, near=tool.rest + 0.25)[tool.coordinates.index("twist")] == 0.25


def test_names_of_the_model_may_be_other_ones():
    figure, model = parse_mjcf(MJCF), mujoco.MjModel.from_xml_string(MJCF.replace("'knee'", "'patella'"))
    with pytest.raises(BadValue, match="patella"):
        figure.to_mujoco(figure.rest, model)
    check = figure.to_mujoco(figure.rest, model, names={"patella": "knee"})
    assert_array_equal(check, figure.to_mujoco(figure.rest, mujoco.MjModel.from_xml_string(MJCF)))


def test_a_follower_that_is_elsewhere_is_refused_unless_slack_takes_it():
    figure, model = parse_mjcf(MJCF), mujoco.MjModel.from_xml_string(MJCF)
    qpos = figure.to_mujoco(figure.rest, model)
    qpos[model.joint("curls").qposadr[0]] += 1e-3
    with pytest.raises(BadValue, match=r"'curls'.*0\.001 away.*slack="):
        figure.from_mujoco(qpos, model)
    assert_allclose(figure.from_mujoco(qpos, model, slack=2e-3), figure.rest, atol=1e-12)


def refusals() -> dict:
    figure, model = parse_mjcf(MJCF), mujoco.MjModel.from_xml_string(MJCF)
    zero = np.zeros(model.nq)
    robot = pin.Model()
    robot.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "slides")
    return {
        "no model": (lambda: figure.to_mujoco(figure.rest), BadValue, "model="),
        "no file": (lambda: supple.load("panda").to_pinocchio(supple.load("panda").rest), BadValue, "model="),
        "another model": (lambda: figure.to_pinocchio(figure.rest, model), BadValue, "pinocchio.Model"),
        "length": (lambda: figure.from_mujoco(zero[:-1], model), BadValue, "16 finite numbers"),
        "no rotation": (lambda: figure.from_mujoco(zero, model), BadValue, "float"),
        "NaN": (lambda: figure.from_mujoco(zero * np.nan, model), BadValue, "finite"),
        "unknown joint": (lambda: figure.to_mujoco(figure.rest, model, names={"elbow": "knee"}), UnknownName, "elbow"),
        "unknown name": (lambda: figure.to_mujoco(figure.rest, model, names={"knee": "elbow"}), UnknownName, "elbow"),
        "no counterpart": (lambda: figure.to_pinocchio(figure.rest, robot), Refused, "slides"),
        "slack": (lambda: figure.from_mujoco(zero, model, slack=-1.0), BadValue, "slack"),
    }


@pytest.mark.parametrize("case", refusals())
def test_what_cannot_be_carried_over_is_refused(case: str):
    make, error, words = refusals()[case]
    with pytest.raises(error, match=words):
        make()
