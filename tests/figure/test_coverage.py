"""Safety that is not there is not claimed: shapes that nobody read, pairs that nobody keeps apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import supple
from supple.cli import app
from supple.errors import BadValue
from supple.figure.figure import Figure
from supple.figure.joints import fixed, hinge
from supple.files.mjcf.reader import parse_mjcf
from supple.files.urdf.reader import parse_urdf
from supple.files.urdf.writer import format_urdf
from supple.geometry.placements import Y
from supple.geometry.shapes import Ball, Body, Box
from supple.solvers.clearance_first import PreferredClearance

BALL = '<geometry><sphere radius="0.05"/></geometry>'
MESH = '<geometry><mesh filename="package://arm/forearm.stl"/></geometry>'
MASS = '<inertial><mass value="1"/></inertial>'


def robot(forearm: str, base: str = "") -> str:
    """An arm along z, its hand with a ball, its forearm with what is given."""
    return f"""<robot name="arm">
      <link name="base">{base}</link>
      <link name="upper">{MASS}<collision>{BALL}</collision></link>
      <link name="forearm">{forearm}</link>
      <link name="hand">{MASS}<collision>{BALL}</collision></link>
      <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
        <limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
      <joint name="elbow" type="revolute"><parent link="upper"/><child link="forearm"/><origin xyz="0 0 .5"/>
        <axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
      <joint name="wrist" type="fixed"><parent link="forearm"/><child link="hand"/><origin xyz="0 0 .5"/></joint>
    </robot>"""


UNCOVERED = {
    "a mesh": f"<collision>{MESH}</collision>",
    "a mesh beside a ball": f"<collision>{BALL}</collision><collision>{MESH}</collision>",
    "looks alone": f"<visual>{MESH}</visual>",
    "simple looks alone": f"<visual>{BALL}</visual>",
    "mass alone": MASS,
}
COVERED = {
    "a ball": f"{MASS}<visual>{MESH}</visual><collision>{BALL}</collision>",
    "a frame": "",
    "a frame with a token mass": '<inertial><mass value="0.0001"/></inertial>',
}
WALL = {"wall": Box((0.1, -1, 0), (0.3, 1, 1.2))}


# ── which segments are uncovered ─────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("case", UNCOVERED)
def test_a_link_whose_shape_was_not_read_is_uncovered_and_refused(case: str):
    figure = parse_urdf(robot(UNCOVERED[case]))
    assert figure.uncovered == ("forearm",)
    assert any("forearm" in note for note in figure.notes)
    with pytest.raises(BadValue, match=r'forearm.*with_spheres.*uncovered="ignore"'):
        supple.Problem(figure, [], obstacles=WALL)


@pytest.mark.parametrize("case", COVERED)
def test_what_is_covered_or_only_a_frame_is_not(case: str):
    figure = parse_urdf(robot(COVERED[case]))
    assert figure.uncovered == ()
    supple.Problem(figure, [], obstacles=WALL)


def test_what_does_not_move_matters_to_the_figure_itself_alone():
    figure = parse_urdf(robot(COVERED["a ball"], base=MASS))
    assert figure.uncovered == ("base",)
    supple.Problem(figure, [], obstacles=WALL)
    with pytest.raises(BadValue, match="base"):
        supple.Problem(figure, [], clearance=supple.Clearance(itself=True))


def test_solids_cover_and_none_on_purpose_do_too():
    figure = parse_urdf(robot(UNCOVERED["a mesh"]))
    assert figure.with_spheres({"forearm": [(0, 0, 0.2, 0.1)]}).uncovered == ()
    assert figure.with_solids({"forearm": []}).uncovered == ()
    assert figure.with_spheres({"hand": [(0, 0, 0, 0.1)]}).uncovered == ("forearm",)
    ignoring = supple.Clearance(ignoring=[("forearm", "wall")])
    assert supple.Problem(figure, [], obstacles=WALL, clearance=ignoring).notes == ()


EDITS = {
    "locked": lambda f: f.locked("shoulder"),
    "limits": lambda f: f.with_limits({"elbow": (-1, 1)}),
    "rest": lambda f: f.with_rest({"elbow": 0.3}),
    "based": lambda f: f.based_at((0, 0, 1)),
    "free": lambda f: f.based_at(free=True),
    "rerooted": lambda f: f.rerooted("hand"),
    "scaled": lambda f: f.scaled(2.0),
    "markers": lambda f: f.with_markers({"m": ("hand", (0, 0, 0))}),
    "renamed": lambda f: f.renamed("other"),
    "tool": lambda f: f.attached("tool", "hand"),
    "attached": lambda f: supple.load("panda").attached(f, "panda_hand"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_edits_do_not_cover(edit: str):
    figure = EDITS[edit](parse_urdf(robot(UNCOVERED["a mesh"])))
    assert figure.uncovered == ("forearm",)
    assert any("<mesh>" in note for note in figure.notes)


def test_prefixes_go_with_them():
    figure = parse_urdf(robot(UNCOVERED["a mesh"]))
    assert figure.prefixed("left_").uncovered == ("left_forearm",)
    two = figure.attached(figure, "hand", prefix="second_")
    assert two.uncovered == ("forearm", "second_forearm")


def test_what_is_written_and_read_again_is_not_covered_by_that():
    figure = parse_urdf(robot(MASS + UNCOVERED["a mesh"]))
    assert parse_urdf(format_urdf(figure)).uncovered == ("forearm",)


def test_mjcf_bodies_that_touch_nothing_are_uncovered():
    pytest.importorskip("mujoco")
    geom = '<geom type="sphere" size=".1" {}/>'
    text = f"""<mujoco><worldbody><body name="a"><joint/>{geom.format("")}
      <body name="seen" pos="0 0 1"><joint/>{geom.format('contype="0" conaffinity="0"')}
      <body name="both" pos="0 0 1"><joint/>{geom.format("")}{geom.format('contype="0" conaffinity="0"')}
      </body></body></body></worldbody></mujoco>"""
    figure = parse_mjcf(text)
    assert figure.uncovered == ("seen",)
    with pytest.raises(BadValue, match="seen"):
        supple.Problem(figure, [], obstacles=WALL)


def test_bodies_of_osim_models_are_uncovered(shared: Path):
    figure = supple.load(shared / "data" / "mocap" / "opensim" / "gait2354" / "subject01.osim")
    assert set(figure.uncovered) == set(figure.bodies)
    some = figure.with_spheres({"pelvis": [(0, 0, 0, 0.1)]})
    with pytest.raises(BadValue, match="femur_r"):
        supple.Problem(some, [], obstacles=WALL)


def test_a_box_around_the_forearm_of_a_published_robot_is_not_solved(shared: Path):
    figure = supple.load(shared / "data" / "robots" / "ur5" / "ur5.urdf")
    figure = figure.with_spheres({"ee_link": [(0, 0, 0, 0.03)]})
    middle = figure.placement(figure.rest, "forearm_link")[:3, 3]
    crate = Box(tuple(middle - 0.1), tuple(middle + 0.1))
    task = supple.Task("ee_link", supple.Placed(figure.placement(figure.rest, "ee_link")))
    with pytest.raises(BadValue, match="forearm_link"):
        supple.Problem(figure, [task], obstacles={"crate": crate})
    told = supple.Problem(figure, [task], obstacles={"crate": crate}, clearance=supple.Clearance(uncovered="ignore"))
    solution = supple.solve(told)
    assert "forearm_link" in solution.notes[0]
    assert solution.notes[0] in solution.report()


# ── scenes and commands ──────────────────────────────────────────────────────────────────────────────────────────────
def test_scene_files_say_it_too(tmp_path: Path):
    (tmp_path / "arm.urdf").write_text(robot(UNCOVERED["a mesh"]), encoding="utf-8")
    scene = tmp_path / "scene.toml"
    text = 'version = 1\nfigure = { file = "arm.urdf" }\n[obstacles]\nball = { ball = { centre = [9, 9, 9], radius = 1 } }\n'
    scene.write_text(text, encoding="utf-8")
    refused = CliRunner().invoke(app, ["solve", str(scene)])
    assert refused.exit_code == 2
    assert "forearm" in refused.output + refused.stderr
    scene.write_text(text + '[clearance]\nuncovered = "ignore"\n', encoding="utf-8")
    done = CliRunner().invoke(app, ["solve", str(scene)])
    assert done.exit_code == 0, done.output + done.stderr
    assert "forearm" in done.output
    again = tmp_path / "again.toml"
    supple.write(supple.read_scene(scene), again)
    assert supple.read_scene(again).clearance.uncovered == "ignore"
    scene.write_text(text + '[clearance]\nuncovered = "maybe"\n', encoding="utf-8")
    with pytest.raises(supple.Error, match="one of refuse, ignore"):
        supple.read_scene(scene)


# ── pairs that are not kept apart ────────────────────────────────────────────────────────────────────────────────────
PEA = (Ball((0, 0, 0), 0.1),)


def chain(*names: str, step: float = 1.0) -> Figure:
    above = [None, *names[:-1]]
    parts = [
        j for name, up in zip(names, above, strict=True) for j in hinge(name, up, Y, at=(step, 0, 0), limits=(-3, 3))
    ]
    return Figure("chain", parts).with_solids(dict.fromkeys(names, PEA))


def test_pairs_that_touch_at_rest_are_named():
    figure = chain("a", "b", "c", "d", step=0.09)
    problem = supple.Problem(figure, [], clearance=supple.Clearance(itself=True))
    assert problem.notes == ("Not kept apart, because they touch wherever they go: a and c; b and d.",)
    solution = supple.solve(problem)
    assert solution.notes == problem.notes
    assert problem.notes[0] in solution.report()
    known = supple.Clearance(itself=True, ignoring=[("c", "a")])
    assert supple.Problem(figure, [], clearance=known).notes == (
        "Not kept apart, because they touch wherever they go: b and d.",
    )
    assert supple.Problem(chain("a", "b", "c"), [], clearance=supple.Clearance(itself=True)).notes == ()


def test_margins_leave_more_pairs_out_and_say_so():
    figure = chain("a", "b", "c", "d", step=0.15)
    assert supple.Problem(figure, [], clearance=supple.Clearance(itself=True)).notes == ()
    (note,) = supple.Problem(figure, [], clearance=supple.Clearance(0.11, itself=True)).notes
    assert note == "Not kept apart, because they are within 0.11 m of each other wherever they go: a and c; b and d."


@pytest.mark.parametrize(
    ("figure", "clearance"),
    [
        (chain("a", "b"), supple.Clearance(itself=True)),
        (chain("a", "b", "c", step=0.05), supple.Clearance(itself=True)),
        (chain("a", "b", "c"), supple.Clearance(itself=True, ignoring=[("a", "c")])),
        (chain("a", "b", "c").with_solids({"a": ()}), supple.Clearance(itself=True)),
    ],
    ids=["joined", "touching", "ignored", "one left"],
)
def test_itself_without_a_pair_is_refused(figure: Figure, clearance: supple.Clearance):
    with pytest.raises(BadValue, match="keeps nothing apart"):
        supple.Problem(figure, [], clearance=clearance)


def test_a_link_without_a_body_joins_nothing():
    figure = chain("a", "b", "c").with_solids({"b": ()})
    assert figure.joined_pairs() == ()
    assert figure.colliding_pairs() == (("a", "c"),)
    folded = figure.with_rest({"c": 0.0})
    task = supple.Task("c", supple.At(figure.placement([0, np.pi, 0], "c")[:3, 3]), weight=1.0)
    wide = folded.with_limits({"*": (-4, 4)})
    solution = supple.solve(supple.Problem(wide, [task], clearance=supple.Clearance(itself=True)))
    gap = np.linalg.norm(np.subtract(*(wide.placement(solution.q, s)[:3, 3] for s in ("a", "c"))))
    assert gap >= 0.2 - 1e-5, "the peas of a and c do not overlap"


def test_more_room_than_must_be_kept_never_hides_a_pair():
    figure = chain("a", "b", "c", "d", step=0.12)
    goal = supple.At(figure.placement([0, 0.0, 2.9, 0.0], "c")[:3, 3])
    clearance = supple.Clearance(0.0, itself=True, preferred=0.2)  # at rest every pair is nearer than that
    problem = supple.Problem(
        figure, [supple.Task("c", goal), supple.Task("d", supple.At((0.12, 0, 0)))], clearance=clearance
    )
    solution = PreferredClearance(rungs=2).solve(problem, figure.rest)
    assert (solution.status is supple.Status.SOLVED) == solution.ok


def test_a_body_given_by_hand_is_what_it_is():
    parts = [*fixed("a"), *hinge("b", "a"), *hinge("c", "b", at=(1, 0, 0))]
    figure = Figure("f", parts, bodies={"b": Body(1.0), "c": Body(1.0, shapes=PEA)})
    assert figure.uncovered == ()
    with pytest.raises(supple.Error, match="nobody"):
        Figure("f", parts, uncovered=["nobody"])
