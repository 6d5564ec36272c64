"""The command line: what each command says, and that what cannot work ends in one line and status 2."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from typer.testing import CliRunner

import supple
from supple.cli import app, facts, inputs
from supple.figure import catalogue
from tests import ROOT

runner = CliRunner()
WIDE = {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}


def run(*arguments: object):
    return runner.invoke(app, [str(a) for a in arguments], env=WIDE)


def said(*arguments: object) -> str:
    """What a command that succeeds prints."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def refusal(*arguments: object) -> str:
    """The one line of a command that fails as it should."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    return result.stderr


# ── commands ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_figures_lists_the_whole_catalogue():
    text = said("figures")
    for name in catalogue.names():
        figure = catalogue.build(name)
        assert any({name, str(figure.size)} <= set(line.replace("│", " ").split()) for line in text.splitlines()), name


@pytest.mark.parametrize("name", catalogue.names())
def test_info_names_every_segment_and_coordinate(name: str):
    text, figure = said("info", name), supple.load(name)
    for word in (*figure.segments, *figure.coordinates, *(loop.name for loop in figure.loops)):
        assert word in text, word


def test_info_tells_kinds_limits_mass_and_extent():
    text = said("info", "human")
    assert "70.000 kg" in text
    assert "1.750 m" in text
    assert "thigh_l  ball" in text
    assert "forearm_l  hinge" in text
    assert "pelvis  free" in text
    assert "unlimited" in text
    assert "panda_finger_joint2  0 mm … 40 mm, follows panda_finger_joint1" in said("info", "panda")


def test_info_of_a_file(tmp_path: Path):
    file = tmp_path / "arm.urdf"
    supple.write(supple.load("ur5"), file)
    assert "shoulder_pan_joint" in said("info", file)


def test_show_draws_a_posture(tmp_path: Path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "pose.png"
    text = said("show", "ur5", "--q", "elbow_joint=90deg, wrist_1_joint=0.2", "-o", path)
    assert path.read_bytes()[:4] == b"\x89PNG"
    assert "pose.png" in text


def test_show_solves_for_goals_and_says_how_it_went(tmp_path: Path):
    pytest.importorskip("matplotlib")
    text = said("show", "ur5", "--goal", "tool0=0.4,0.1,0.5", "--view", "20,-60", "-o", tmp_path / "near.png")
    assert "SOLVED" in text
    text = said("show", "ur5", "--goal", "tool0=4,0,0", "-o", tmp_path / "far.png")
    assert "IMPOSSIBLE" in text


def test_show_says_when_a_posture_is_outside_the_limits(tmp_path: Path):
    pytest.importorskip("matplotlib")
    text = said("show", "panda", "--q", "panda_joint1=200deg", "-o", tmp_path / "over.png")
    assert "outside the limits" in text


def test_version_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]  # it is written down once, in supple/__init__.py
    assert supple.__version__ == metadata.version("supple")
    assert said("--version") == f"supple {supple.__version__}\n"


# ── conversion ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_convert_writes_the_same_figure(tmp_path: Path):
    file = tmp_path / "ur5.urdf"
    text = said("convert", "ur5", file)
    assert "6 coordinates" in text
    one, other = supple.load("ur5"), supple.load(file)
    q = one.rest + 0.1
    assert_allclose(other.placement(q, "tool0"), one.placement(q, "tool0"), atol=1e-12)


@pytest.mark.parametrize(("unit", "up"), [(1.0, "z"), (0.01, "y"), (0.0254, "x")])
def test_convert_to_bvh_in_any_unit_and_axes(unit: float, up: str, tmp_path: Path):
    file = tmp_path / "person.bvh"
    said("convert", "human", file, "--unit", unit, "--up", up)
    motion, person = supple.read_motion(file, unit=unit, up=up), supple.load("human")
    for segment in ("head", "hand_l", "foot_r"):
        there = motion.figure.placement(motion.posture(0), segment)[:3, 3]
        assert_allclose(there, person.placement(person.rest, segment)[:3, 3], atol=1e-9)


def test_convert_keeps_a_motion(tmp_path: Path):
    figure = supple.load("human", root="fixed", legs=False, fingers=False)
    q = figure.rest + 0.01 * np.arange(5)[:, None] * (figure.rest == 0.0)
    supple.write(supple.Motion(figure, q, np.arange(5) / 25.0), tmp_path / "a.bvh")
    assert "5 frames" in said("convert", tmp_path / "a.bvh", tmp_path / "b.bvh")
    one, other = supple.read_motion(tmp_path / "a.bvh"), supple.read_motion(tmp_path / "b.bvh")
    assert_allclose(other.q, one.q, atol=1e-9)
    assert "no place" in said("convert", tmp_path / "a.bvh", tmp_path / "c.urdf")
    assert supple.load(tmp_path / "c.urdf").size == one.figure.size


# ── scenes ───────────────────────────────────────────────────────────────────────────────────────────────────────────
REACH = """version = 1
figure = "ur5"
[[constraints]]
name = "reach"
effector = "tool0"
goal = { at = [0.4, 0.1, 0.5] }
chain = "upper_arm_link"
[[constraints]]
name = "height"
effector = { point = "tool0" }
goal = { on_plane = { point = [0, 0, 0.5], normal = [0, 0, 1] } }
weight = 0.5
[[constraints]]
name = "off"
effector = { point = "tool0", offset = [0, 0, 0.1] }
goal = { any_of = [{ at = [0.4, 0.1, 0.5] }, { at = [4, 1, 0.5] }] }
enabled = false
"""


def scene_file(folder: Path, text: str = REACH) -> Path:
    path = folder / "reach.toml"
    path.write_text(text)
    return path


def test_solve_reports_writes_and_draws(tmp_path: Path):
    pytest.importorskip("matplotlib")
    pose, after, picture = tmp_path / "pose.bvh", tmp_path / "after.json", tmp_path / "pose.png"
    text = said("solve", scene_file(tmp_path), "-o", pose, "--write", after, "--picture", picture, "--names")
    assert "SOLVED" in text
    assert "reach" in text
    assert "off" not in text.split("iterations")[0].split()
    assert picture.read_bytes()[:4] == b"\x89PNG"
    scene = supple.read_scene(after)
    assert scene.problem.misses(scene.q)[0].metres < 1e-5
    motion = supple.read_motion(pose)
    assert len(motion) == 1
    there = scene.figure.placement(scene.q, "tool0")[:3, 3]
    assert_allclose(motion.figure.placement(motion.posture(0), "tool0")[:3, 3], there, atol=1e-9)


def test_solve_ends_with_status_1_if_a_constraint_is_not_met(tmp_path: Path):
    far = scene_file(tmp_path, REACH.replace("[0.4, 0.1, 0.5] }\nchain", "[4, 1, 0.5] }\nchain"))
    done = run("solve", far, "-o", tmp_path / "near.toml")
    assert done.exit_code == 1
    assert "NEAREST" in done.stdout
    assert "not met" in done.stdout
    assert supple.read_scene(tmp_path / "near.toml").q[1] != supple.load("ur5").rest[1]


def test_check_says_what_a_scene_holds(tmp_path: Path):
    text = said("scene", "check", scene_file(tmp_path, REACH + "[rigidity]\nelbow_joint = 0.5\n"))
    words = (
        "at = [0.4, 0.1, 0.5]",
        "weight 0.5",
        "disabled",
        "elbow_joint",
        "point of tool0 (0.000, 0.000, 0.100)",
        "no warn",
    )
    for one in words:
        assert one in text, one
    assert any({"reach", "upper_arm_link", "6"} <= set(line.replace("│", " ").split()) for line in text.splitlines())


def test_check_lists_what_touches(tmp_path: Path):
    person = (
        'version = 1\nfigure = "human"\n[obstacles]\ntable = { box = { lower = [0, -1, 0.6], upper = [1, 1, 0.8] } }\n'
        "floor = { half_space = { point = [0, 0, -0.2], normal = [0, 0, 1] } }\n"
        "rock = { hull = { points = [[3, 3, 0], [4, 3, 0], [3, 4, 0], [3, 3, 1]] } }\n"
    )
    text = said("scene", "check", scene_file(tmp_path, person))
    assert "4 points about" in text
    assert any({"thigh_l", "table"} <= set(line.replace("│", " ").split()) for line in text.splitlines())
    assert "half-space" in text
    ignoring = person + '[clearance]\nignoring = [["thigh_l", "table"]]\n'
    text = said("scene", "check", scene_file(tmp_path, ignoring))
    assert not any({"thigh_l", "table"} <= set(line.replace("│", " ").split()) for line in text.splitlines())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('[rigidity]\n"*" = 1\n', "'reach' can move nothing: all its coordinates are locked"),
        ('[[constraints]]\nname = "stuck"\neffector = "base_link"\ngoal = { at = [0, 0, 1] }\n', "'stuck' can move nothing"),
    ],
)  # fmt: skip
def test_check_warns_of_what_is_hardly_meant(more: str, words: str, tmp_path: Path):
    assert words in said("scene", "check", scene_file(tmp_path, REACH + more))


def test_check_warns_of_a_chain_that_leads_elsewhere(tmp_path: Path):
    text = 'version = 1\nfigure = "human"\n[[constraints]]\nname = "hand"\neffector = "hand_l"\ngoal = { at = [0, 0, 1] }\n'
    found = said("scene", "check", scene_file(tmp_path, text + 'chain = "clavicle_r"\n'))
    assert "'hand': its chain begins at 'clavicle_r', which is not above hand_l" in found
    assert "1 warning" in found


def test_check_warns_of_an_empty_scene(tmp_path: Path):
    assert "solving changes nothing" in said("scene", "check", scene_file(tmp_path, 'version = 1\nfigure = "ur5"\n'))


def test_check_tells_all_problems_line_by_line(tmp_path: Path):
    broken = scene_file(tmp_path, REACH.replace("weight", "wieght").replace("tool0", "tool1"))
    done = run("scene", "check", broken)
    assert done.exit_code == 2
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert lines[0].endswith("there are 3 problems:")
    assert [line[:16] for line in lines[1:]] == [f"  constraints[{i}]" for i in range(3)]


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("info", "pando"), "did you mean panda"),
        (("info", "missing.urdf"), "missing.urdf"),
        (("info", "panda", "--unit", "0.01"), "BVH"),
        (("convert", "stewart", "out.urdf"), "loop"),
        (("convert", "panda", "out.docx"), "out.docx"),
        (("convert", "human", "out.bvh", "--up", "w"), "--up"),
        (("convert", "human", "out.bvh", "--unit", "0"), "--unit"),
        (("convert", "human", "no/such/folder/out.bvh"), "no/such/folder"),
        (("show", "ur5", "--q", "elbo_joint=1"), "did you mean elbow_joint"),
        (("show", "ur5", "--q", "1,2,3"), "6 numbers"),
        (("show", "ur5", "--q", "elbow_joint=1, 2"), "name=value"),
        (("show", "ur5", "--q", "elbow_joint=ninety"), "ninety"),
        (("show", "ur5", "--q", "elbow_joint=nan"), "finite"),
        (("show", "ur5", "--goal", "tool0"), "segment=x,y,z"),
        (("show", "ur5", "--goal", "tool9=1,2,3"), "tool9"),
        (("show", "ur5", "--view", "north"), "north"),
        (("show", "ur5", "-o", "pose.docx"), "pose.docx"),
        (("show", "ur5", "--frame", "3"), "motions are read from"),
        (("solve", "missing.toml"), "missing.toml"),
        (("solve", "missing.toml", "-o", "pose.docx"), "pose.docx"),
        (("solve", "missing.toml", "--view", "north"), "north"),
        (("solve", "missing.toml", "--up", "w"), "--up"),
        (("solve", "missing.docx"), "missing.docx"),
        (("scene", "check", "missing.toml"), "missing.toml"),
    ],
)
def test_what_cannot_work_is_refused_in_one_line(arguments, words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    assert words in refusal(*arguments)
    assert not list(tmp_path.iterdir())


def test_as_a_program_a_refusal_has_no_traceback(tmp_path: Path):
    command = [sys.executable, "-m", "supple.cli", "info", "nobody"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: the catalogue has no figure called 'nobody'")


def test_names_that_a_terminal_cannot_show_are_no_error(tmp_path: Path):
    ends = '<parent link="fuß"/><child link="z"/><limit lower="-1" upper="1" velocity="1" effort="1"/>'
    robot = (
        f'<robot name="größe"><link name="fuß"/><link name="z"/><joint name="ü" type="revolute">{ends}</joint></robot>'
    )
    (tmp_path / "größe.urdf").write_text(robot, encoding="utf-8")
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    for file, status in (("größe.urdf", 0), ("länge.urdf", 2)):
        command = [sys.executable, "-m", "supple.cli", "info", file]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=300, env=plain)
        assert done.returncode == status, done.stderr
        assert b"Traceback" not in done.stderr
        assert b"?" in (done.stderr if status else done.stdout)


def test_help_imports_neither_the_solver_commands_nor_drawing():
    code = (
        "import sys; from typer.testing import CliRunner; from supple.cli import app;"
        "result = CliRunner().invoke(app, ['--help']); assert 'convert' in result.output, result.output;"
        "heavy = {'matplotlib', 'mujoco', 'supple.view', 'supple.cli.inputs', 'supple.cli.listing', 'supple.cli.scenes'};"
        "heavy &= set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


# ── reading what is typed ────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("text", "value"),
    [("1.5", 1.5), (" -2e-1 ", -0.2), ("90deg", np.pi / 2), ("-45 deg", -np.pi / 4), ("180DEG", np.pi)],
)
def test_numbers_are_radians_unless_they_say_degrees(text: str, value: float):
    assert inputs.number(text) == pytest.approx(value, rel=1e-15)


def test_a_posture_by_names_leaves_the_rest_at_rest():
    figure = supple.load("ur5")
    q = inputs.posture(figure, "elbow_joint=30deg,wrist_2_joint=-1")
    expected = np.array(figure.rest)
    expected[2], expected[4] = np.deg2rad(30.0), -1.0
    assert_allclose(q, expected, rtol=1e-15)
    assert_allclose(inputs.posture(figure, "0 1, 2 3 4 5deg"), [0, 1, 2, 3, 4, np.deg2rad(5.0)])
    assert_allclose(inputs.posture(figure, None), figure.rest)


@pytest.mark.parametrize("name", ["panda", "ur5", "hand", "human", "stewart"])
def test_no_posture_takes_a_segment_beyond_the_reach(name: str):
    figure = supple.load(name)
    far = facts.reach(figure)
    assert far is not None
    rng = np.random.default_rng(5)
    lower, upper = np.clip(figure.lower, -3.0, 3.0), np.clip(figure.upper, -3.0, 3.0)
    for q in rng.uniform(lower, upper, (40, figure.size)):
        frames = figure.placements(figure.limits.project(q))
        assert np.linalg.norm(frames[far[0]][:3, 3] - frames[far[2]][:3, 3]) <= far[1] + 1e-9


@pytest.mark.parametrize("name", catalogue.names())
def test_frames_at_rest_are_what_kernels_find(name: str):
    figure = supple.load(name)
    found, placed = facts.frames_at_rest(figure), figure.placements(figure.rest)
    assert found.keys() == placed.keys()
    for segment, T in placed.items():
        assert_allclose(found[segment], T, rtol=0.0, atol=1e-12)


def test_facts_are_told_without_a_compiler():
    script = "import sys; from supple.cli import app\ntry: app(['info', 'human'])\nexcept SystemExit: pass\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "coordinates" in done.stdout
    assert not {"numba", "scipy", "llvmlite"} & set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("name", catalogue.names())
def test_the_box_at_rest_holds_every_segment(name: str):
    figure = supple.load(name)
    low, high = facts.box_at_rest(figure)
    for T in figure.placements(figure.rest).values():
        assert (T[:3, 3] >= low - 1e-12).all()
        assert (T[:3, 3] <= high + 1e-12).all()


@pytest.mark.parametrize(
    ("joints", "kind"),
    [
        (supple.fixed("a"), "fixed"),
        (supple.hinge("a", None), "hinge"),
        (supple.slide("a", None), "slide"),
        (supple.screw("a", None, pitch=0.1), "screw"),
        (supple.universal("a", None), "universal"),
        (supple.ball("a", None), "ball"),
        (supple.figure.planar("a", None), "planar"),
        (supple.free("a"), "free"),
    ],
)
def test_kinds_of_joints_have_their_names(joints, kind: str):
    assert facts.kind_of([joint for joint in joints if not joint.is_fixed]) == kind
