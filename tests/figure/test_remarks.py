"""A figure says what its reader assumed, froze, narrowed and left out, one sentence each."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from typer.testing import CliRunner

import supple
from supple.cli import app
from supple.figure.figure import Figure
from supple.figure.joints import hinge
from supple.files.acclaim.skeleton import parse_asf
from supple.files.bvh.reader import parse_bvh
from supple.files.mjcf.reader import parse_mjcf
from supple.files.urdf.reader import parse_urdf

GRIPPER = """<robot name="gripper">
  <link name="palm"/><link name="left"/><link name="right"/><link name="tip"/>
  <joint name="leader" type="revolute"><parent link="palm"/><child link="left"/>
    <limit lower="0" upper="0.548" velocity="1" effort="1"/></joint>
  <joint name="follower" type="revolute"><parent link="palm"/><child link="right"/>
    <limit lower="{lower}" upper="{upper}" velocity="1" effort="1"/><mimic joint="leader" multiplier="{slope}"/></joint>
  <joint name="loose" type="revolute"><parent link="palm"/><child link="tip"/><limit {loose} velocity="1" effort="1"/>
  </joint></robot>"""


def gripper(
    lower: float = 0.0, upper: float = 0.548, slope: float = 1.0, loose: str = 'lower="-1" upper="1"'
) -> Figure:
    return parse_urdf(GRIPPER.format(lower=lower, upper=upper, slope=slope, loose=loose))


def test_nothing_to_say_is_nothing_said():
    assert gripper().notes == ()
    for name in ("panda", "human", "stewart"):
        assert supple.load(name).notes == ()


def test_followers_that_leave_no_room_are_named():
    figure = gripper(slope=-1.0)
    assert str(figure.upper[0]) == "0.0", "not −0"
    assert figure.notes == ("'leader' is held at 0 rad by the ranges of what follows it ('follower'): it cannot move.",)


def test_followers_that_narrow_are_named():
    (note,) = gripper(upper=0.2, slope=2.0).notes
    assert (
        note
        == "The range of 'leader', 0 … 0.548, is narrowed to 0 … 0.1 rad by the ranges of what follows it ('follower')."
    )


def test_a_joint_without_a_range_is_named():
    said, held = gripper(loose="").notes
    assert said == "The <limit> of joint 'loose' does not say lower nor upper: taken as 0, as the format says."
    assert held == "'loose' is held at 0 rad, both ends of its range: it cannot move."
    one, *_ = gripper(loose='lower="-1"').notes
    assert "does not say upper" in one


def test_what_an_edit_mends_is_no_longer_said():
    figure = gripper(loose="").with_limits({"loose": (-1, 1)})
    assert figure.notes == (
        "The <limit> of joint 'loose' does not say lower nor upper: taken as 0, as the format says.",
    )
    assert gripper(slope=-1.0).locked("leader").notes == ()
    hand_made = Figure("f", hinge("a", None, limits=(0.5, 0.5)))
    assert hand_made.notes == ("'a' is held at 0.5 rad, both ends of its range: it cannot move.",)


def test_notes_go_where_the_figure_goes():
    figure = gripper(slope=-1.0, loose="")
    assert pickle.loads(pickle.dumps(figure)).notes == figure.notes
    attached = supple.load("panda").attached(figure, "panda_hand")
    assert set(figure.remarks) <= set(attached.notes)
    assert any("'leader' is held" in note for note in attached.notes)
    for edited in (
        figure.renamed("x"),
        figure.based_at((0, 0, 1)),
        figure.with_rest({"loose": 0.0}),
        figure.scaled(2.0),
    ):
        assert edited.notes == figure.notes


def test_limits_that_mean_no_coordinate_are_named():
    text = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="planar"><parent link="a"/>
      <child link="b"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""
    assert any("joint 'j' are not read" in note for note in parse_urdf(text).notes)


BVH = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n"
BVH += "MOTION\nFrames: 1\nFrame Time: 0.01\n0 0 0\n"


def test_a_guessed_unit_and_axis_are_told_unless_given():
    guessed = " ".join(parse_bvh(BVH).figure.notes)
    assert "0.01 m is assumed" in guessed
    assert "y is assumed" in guessed
    told = " ".join(parse_bvh(BVH, unit=0.01, up="y").figure.notes)
    assert "assumed" not in told
    assert "no limits" in told


ASF = b""":version 1.10
:name x
:units
 mass 1.0
 {length}
 angle deg
:root
 order TX TY TZ RX RY RZ
 axis XYZ
 position 0 0 0
 orientation 0 0 0
:bonedata
 begin
 id 1
 name thigh
 direction 0 -1 0
 length 2
 axis 0 0 0 XYZ
 dof rx
 {limits}
 end
:hierarchy
 begin
 root thigh
 end
"""


def asf(length: str, limits: str, **options: str) -> str:
    text = ASF.replace(b"{length}", length.encode()).replace(b"{limits}", limits.encode())
    return " ".join(parse_asf(text, **options).notes)


def test_skeletons_say_what_they_miss():
    assert "y is assumed" in asf("length 0.45", "limits (-1 1)")
    assert "unit" not in asf("length 0.45", "limits (-1 1)")
    assert asf("length 0.45", "limits (-1 1)", up="y") == ""
    assert "0.45 of an inch is assumed" in asf("", "limits (-1 1)")
    assert "hence free: thigh" in asf("length 0.45", "")


def test_mjcf_says_what_it_left_out():
    pytest.importorskip("mujoco")
    text = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="a"><joint name="j"/>
      <geom type="ellipsoid" size=".1 .2 .3"/><body name="b"><joint name="k"/><geom size=".1"/></body></body></worldbody>
      <equality><joint name="tie" joint1="j" joint2="k" active="false"/></equality></mujoco>"""
    notes = " ".join(parse_mjcf(text).notes)
    for word in ("'tie' is not active", "boxes around them: a", "scenery"):
        assert word in notes


def test_osim_says_what_it_left_out_and_held(shared: Path):
    figure = supple.load(shared / "data" / "mocap" / "opensim" / "gait2354" / "subject01.osim")
    notes = " ".join(figure.notes)
    assert "y axis points up" in notes
    for name, _ in figure.source.locked:  # pyright: ignore
        assert f"The coordinate {name!r} is locked" in notes
    for thing in figure.source.left_out:  # pyright: ignore
        assert f"Left out: {thing}." in notes


def test_info_shows_them(tmp_path: Path):
    path = tmp_path / "gripper.urdf"
    path.write_text(GRIPPER.format(lower=0, upper=0.5, slope=-1, loose=""), encoding="utf-8")
    shown = CliRunner().invoke(app, ["info", str(path)])
    assert shown.exit_code == 0
    assert "note: 'leader' is held at 0 rad" in shown.output


@pytest.mark.parametrize("file", ["talos/talos_full_v2.urdf", "g1/g1_29dof.urdf", "ur5/ur5.urdf", "panda/panda.urdf"])
def test_published_robots_without_meshes_say_what_is_uncovered(file: str, shared: Path):
    figure = supple.load(shared / "data" / "robots" / file)
    heavy = {s for s, body in figure.bodies.items() if body.mass > 1e-3 and not body.shapes}
    assert heavy
    assert set(figure.uncovered) == heavy
    assert all(segment in figure.notes[-1] for segment in heavy)
