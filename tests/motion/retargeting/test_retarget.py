"""Retargeting: figures are matched, rest poses do not matter, sizes do not matter, and planted feet stay where they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.cli import app
from supple.errors import BadValue, UnknownName
from supple.figure.figure import Figure
from supple.motion.motion import Motion
from supple.motion.retargeting.anatomy import Anatomy
from supple.motion.retargeting.match import Match
from supple.motion.retargeting.names import named
from supple.motion.retargeting.planted import ground_under, phases

HUMAN = supple.load("human", fingers=False)


def marching(figure: Figure, frames: int = 60, rate: float = 30.0) -> Motion:
    """Knees are lifted in turn, arms swing, the trunk turns a little; the other foot stands."""
    t = np.arange(frames) / rate
    Q = np.tile(figure.rest, (frames, 1))
    wave = np.sin(2.0 * np.pi * t)

    def put(name: str, values: np.ndarray) -> None:
        Q[:, figure.coordinates.index(name)] = values

    for side, lift in (("l", np.maximum(0.0, wave) ** 2), ("r", np.maximum(0.0, -wave) ** 2)):
        put(f"thigh_{side}.flexion", 1.0 * lift)
        put(f"shank_{side}.flexion", 1.5 * lift)
        put(f"upper_arm_{side}.flexion", 0.4 * wave * (1 if side == "r" else -1))
        put(f"forearm_{side}.flexion", 0.6 + 0.3 * lift)
    put("lumbar.rotation", 0.1 * wave)
    return Motion(figure, Q, t)


def renamed(figure: Figure, called: dict[str, str]) -> Figure:
    """The same figure with other names for its segments."""
    parts = [
        replace(
            joint,
            segment=called.get(joint.segment, joint.segment) if joint.segment else None,
            parent=called.get(joint.parent, joint.parent) if joint.parent else None,
        )
        for joint in figure.joints.values()
    ]
    bodies = {called.get(segment, segment): body for segment, body in figure.bodies.items()}
    return replace(figure, joints=parts, bodies=bodies)


# ── names and matching ───────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("name", "side", "part"),
    [
        ("LeftUpLeg", "l", "thigh"),
        ("thigh_l", "l", "thigh"),
        ("mixamorig:RightUpLeg", "r", "thigh"),
        ("Bip01 R Calf", "r", "shank"),
        ("left_hip_pitch_link", "l", "thigh"),
        ("left_knee_link", "l", "shank"),
        ("LeftLeg", "l", "shank"),
        ("RHipJoint", "r", "thigh"),
        ("Hips", "", "pelvis"),
        ("lForeArm", "l", "forearm"),
        ("upperarm_r", "r", "upper_arm"),
        ("LeftArm", "l", "upper_arm"),
        ("LeftToeBase", "l", "toes"),
        ("right_ankle_roll_link", "r", "foot"),
        ("Spine1", "", "spine"),
        ("L5", "", "spine"),
        ("LeftHandIndex1", "l", "digit"),
        ("Neck1", "", "neck"),
        ("camera_mount", "", ""),
    ],
)
def test_names_are_understood(name: str, side: str, part: str):
    assert named(name)[:2] == (side, part)


MIXAMO = {"pelvis": "mixamorig:Hips", "lumbar": "mixamorig:Spine", "thorax_lower": "mixamorig:Spine1"}
MIXAMO |= {"thorax_upper": "mixamorig:Spine2", "neck": "mixamorig:Neck", "head": "mixamorig:Head"}
for _s, _side in (("l", "Left"), ("r", "Right")):
    MIXAMO |= {f"clavicle_{_s}": f"mixamorig:{_side}Shoulder", f"upper_arm_{_s}": f"mixamorig:{_side}Arm"}
    MIXAMO |= {f"forearm_{_s}": f"mixamorig:{_side}ForeArm", f"hand_{_s}": f"mixamorig:{_side}Hand"}
    MIXAMO |= {f"thigh_{_s}": f"mixamorig:{_side}UpLeg", f"shank_{_s}": f"mixamorig:{_side}Leg"}
    MIXAMO |= {f"foot_{_s}": f"mixamorig:{_side}Foot", f"toes_{_s}": f"mixamorig:{_side}ToeBase"}


def test_other_conventions_of_naming_are_matched_and_both_ways_agree():
    other = renamed(HUMAN, MIXAMO)
    assert dict(supple.motion.match_segments(other, HUMAN).pairs) == MIXAMO
    assert {s: t for t, s in supple.motion.match_segments(HUMAN, other).pairs} == MIXAMO


def test_without_names_geometry_decides_and_never_mixes_the_sides():
    called = {segment: f"bone{k:02d}" for k, segment in enumerate(HUMAN.segments)}
    pairs = supple.motion.match_segments(renamed(supple.load("human", fingers=False, stature=1.2), called), HUMAN).pairs
    right = [called[t] == s for t, s in pairs]
    assert len(pairs) >= 20
    assert all(right)


def test_a_match_is_text_that_can_be_edited():
    match = supple.motion.match_segments(HUMAN, supple.load("jack", fingers=False))
    assert Match.parse(match.text()) == match
    edited = Match.parse("# mine\nfoot_l = foot_l   # keep\n\n pelvis=pelvis\n")
    assert edited.pairs == (("foot_l", "foot_l"), ("pelvis", "pelvis"))


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("foot_l foot_l", BadValue, "line 1 of a match is 'target = source'"),
        ("pelvis = pelvis\nfoot_l =", BadValue, "line 2"),
        ("foot_l = foot_l\nfoot_l = foot_r", BadValue, "twice"),
        ("fot_l = foot_l", UnknownName, "did you mean foot_l"),
        ("foot_l = fot_l", UnknownName, "the source 'human' has no segment"),
        ("", BadValue, "nothing of 'human' matches"),
    ],
)
def test_bad_matches_are_refused_with_a_remedy(text: str, error: type, message: str):
    with pytest.raises(error, match=message):
        supple.retarget(marching(HUMAN, 2), HUMAN, text)


def test_what_is_no_motion_or_no_figure_is_refused():
    with pytest.raises(BadValue, match="must be a Motion"):
        supple.retarget(HUMAN, HUMAN)  # pyright: ignore[reportArgumentType]
    with pytest.raises(BadValue, match="must be a Figure"):
        supple.retarget(marching(HUMAN, 2), "human")  # pyright: ignore[reportArgumentType]
    with pytest.raises(BadValue, match="without frames"):
        supple.retarget(marching(HUMAN, 2).frames(2), HUMAN)


def test_body_axes_are_found_with_and_without_names():
    assert_allclose(Anatomy(HUMAN).axes, np.eye(3), atol=1e-9)
    bare = renamed(HUMAN, {segment: f"bone{k:02d}" for k, segment in enumerate(HUMAN.segments)})
    assert_allclose(Anatomy(bare).axes, np.eye(3), atol=1e-6)


# ── contacts ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_planted_phases_and_a_sloping_ground_are_found():
    times = np.arange(300) / 100.0
    stride = np.floor(times) + np.clip((times % 1.0 - 0.5) / 0.5, 0.0, 1.0)  # stands half of each second, then steps
    lift = 0.2 * np.sin(np.pi * np.clip((times % 1.0 - 0.5) / 0.5, 0.0, 1.0))
    ankle = np.column_stack([stride, 0.0 * times, 0.1 + 0.03 * stride + lift])
    ball = ankle - [-0.15, 0.0, 0.08 - 0.03 * 0.15]
    ground = ground_under([(ankle, ball)], times, 0.9)
    assert_allclose(ground.slopes, [0.03, 0.0], atol=2e-3)
    assert_allclose(ground.heights, [0.1, 0.02], atol=3e-3)
    found = phases(ankle, ankle[:, 2] - ground.under(ankle, 0), times, 0.9)
    assert len(found) in (3, 4)  # the last frames may stand again
    for k, (a, b) in enumerate(found[:3]):
        assert abs(a - 100 * k) <= 4
        assert abs(b - (100 * k + 50)) <= 4


# ── laws ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_onto_itself_a_motion_is_reproduced():
    motion = marching(HUMAN)
    out = supple.retarget(motion, HUMAN, plant=False)
    assert_allclose(out.q, motion.q, atol=0.01)
    assert out.errors is not None
    assert out.errors.max() < 0.01
    assert len(out.match.pairs) == len([s for s in HUMAN.segments if HUMAN.joints_of(s)])


def test_the_rest_poses_do_not_matter():
    motion = marching(HUMAN, 30)
    spread = {"upper_arm_l.abduction": np.pi / 2, "upper_arm_r.abduction": np.pi / 2}
    other = HUMAN.with_rest(spread | {"forearm_l.flexion": 1.2, "thigh_l.abduction": 0.3})
    out = supple.retarget(motion, other, plant=False)
    assert_allclose(out.q, motion.q, atol=0.03)


def test_twice_the_size_moves_twice_as_far_in_the_same_directions():
    motion = marching(HUMAN, 30)
    giant = supple.load("human", stature=3.5, fingers=False)
    out = supple.retarget(motion, giant, plant=False)
    assert out.report.scale == pytest.approx(2.0)
    assert_allclose(out.q[:, 6:], motion.q[:, 6:], atol=0.01)
    for segment in ("hand_l", "foot_r", "head"):
        mine, theirs = giant.placement(out.q, segment)[:, :3, 3], HUMAN.placement(motion.q, segment)[:, :3, 3]
        assert_allclose(mine - mine[0], 2.0 * (theirs - theirs[0]), atol=0.01)


def test_a_swapped_match_mirrors_the_legs():
    motion = marching(HUMAN, 30)
    swapped = {"pelvis": "pelvis"}
    for a, b in (("l", "r"), ("r", "l")):
        swapped |= {f"{part}_{a}": f"{part}_{b}" for part in ("thigh", "shank", "foot")}
    out = supple.retarget(motion, HUMAN, swapped, plant=False)
    left, right = (HUMAN.coordinates.index(f"shank_{side}.flexion") for side in "lr")
    assert_allclose(out.q[:, left], motion.q[:, right], atol=0.05)


def slide_of(motion: Motion, segment: str, planted: np.ndarray) -> float:
    """How far a segment's origin moves over the ground while planted."""
    way = motion.figure.placement(motion.q, segment)[planted, :2, 3]
    return float(np.linalg.norm(way - way.mean(axis=0), axis=1).max())


def test_planted_feet_stay_planted_inside_the_limits_and_above_the_ground():
    motion = marching(HUMAN)
    small = supple.load("human", stature=1.3, fingers=False)
    out = supple.retarget(motion, small)
    assert out.report.phases >= 4
    assert out.report.target.slide < 2e-3
    assert out.report.target.depth < 1e-3
    assert small.limits.contains(out.q[17])
    standing = np.sin(2.0 * np.pi * motion.times) < -0.3  # the left foot, away from the borders of its phases
    first = standing & (motion.times < 1.0)
    assert slide_of(out, "foot_l", first) < 2e-3
    assert np.abs(np.diff(out.q, axis=0))[:, 6:].max() < 0.5


def test_the_report_is_a_table_and_errors_are_by_pair():
    motion = marching(HUMAN, 12)
    out = supple.retarget(motion, supple.load("human", stature=1.6, fingers=False))
    text = out.report.text()
    assert "slide of planted feet [mm]" in text
    assert "source" in text.splitlines()[0]
    assert out.errors is not None
    assert out.errors.shape == (12, len(out.match.pairs))
    told: list[int] = []
    supple.retarget(motion.frames(0, 3), HUMAN, progress=told.append)
    assert told == [0, 1, 2]


def test_a_single_frame_is_a_motion_too():
    out = supple.retarget(marching(HUMAN, 12).frames(5, 6), supple.load("human", stature=1.5, fingers=False))
    assert len(out) == 1


def test_a_figure_fixed_in_the_world_follows_with_its_arms():
    upper = supple.load("human", legs=False, root="fixed", fingers=False)
    motion = marching(HUMAN, 12)
    out = supple.retarget(motion, upper)
    k, j = (f.coordinates.index("forearm_l.flexion") for f in (upper, HUMAN))
    assert_allclose(out.q[:, k], motion.q[:, j], atol=0.05)


# ── captured clips ───────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("clip", ["02_01", "49_06"])
@pytest.mark.parametrize("target", ["human", "g1"])
def test_captured_clips_do_not_slide(clip: str, target: str, shared: Path):
    motion = supple.read_motion(shared / f"data/mocap/bvh/{clip}.bvh", unit=0.056444).frames(1, None, 4)
    robot = shared / "data/robots/g1/g1_29dof.urdf"
    figure = HUMAN if target == "human" else supple.load(robot).based_at(free=True)
    out = supple.retarget(motion, figure)
    assert out.report.phases >= 8
    assert out.report.target.slide < 2e-3
    assert out.report.target.depth < 2e-3
    within = [figure.limits.contains(q) for q in out.q[::10]]
    assert all(within)
    assert np.abs(np.diff(out.q, axis=0))[:, 6:].max() < 1.0


# ── the command line ─────────────────────────────────────────────────────────────────────────────────────────────────
def test_the_command_prints_a_match_and_writes_a_motion(tmp_path: Path):
    from typer.testing import CliRunner

    run = CliRunner()
    clip, out, lines = tmp_path / "march.bvh", tmp_path / "out.bvh", tmp_path / "match.txt"
    supple.write(marching(HUMAN, 8), clip)
    shown = run.invoke(app, ["retarget", str(clip), "--to", "human", "--print-match"])
    assert shown.exit_code == 0
    assert "thigh_l" in shown.output
    lines.write_text(shown.output, encoding="utf-8")
    done = run.invoke(
        app, ["retarget", str(clip), "--to", "human", "--first", "2", "--match", str(lines), "-o", str(out)]
    )
    assert done.exit_code == 0, done.output
    assert "slide of planted feet" in done.output
    assert len(supple.read_motion(out)) == 6
    none = run.invoke(app, ["retarget", str(clip), "--to", "human", "--first", "9", "-o", str(out)])
    assert none.exit_code == 2
    assert "frames 0 to 7" in none.output + none.stderr
