"""Robots by other ways: templates, SDF, names of robot_descriptions, and meshes in packages."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.errors import BadFile, MissingExtra, UnknownName
from supple.geometry.placements import place

ROBOT = """<robot name="r"><link name="base"/><link name="arm"><collision><geometry>
  <mesh filename="package://parts/meshes/arm.stl" scale="1 2 3"/></geometry></collision>
  <visual><origin xyz="1 2 3"/><geometry><mesh filename="arm.dae"/></geometry></visual></link>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/><origin xyz="0 0 1"/></joint></robot>"""


# ── meshes in packages ───────────────────────────────────────────────────────────────────────────────────────────────
def test_meshes_are_found_in_packages(tmp_path: Path):
    (tmp_path / "ws" / "parts" / "meshes").mkdir(parents=True)
    mesh = tmp_path / "ws" / "parts" / "meshes" / "arm.stl"
    mesh.write_bytes(b"")
    (tmp_path / "r.urdf").write_text(ROBOT)
    figure = supple.load(tmp_path / "r.urdf", folders=[tmp_path / "ws"])
    (found,) = figure.source.meshes["arm"]
    assert (Path(found.path).resolve(), found.scale, found.is_visual) == (mesh.resolve(), (1.0, 2.0, 3.0), False)
    assert any("'arm.dae' (missing)" in note for note in figure.notes)
    (tmp_path / "arm.dae").write_bytes(b"")
    _, seen = supple.load(tmp_path / "r.urdf", folders=[tmp_path / "ws"]).source.meshes["arm"]
    assert seen.is_visual
    np.testing.assert_array_equal(seen.at, place((1, 2, 3)))
    (own,) = supple.load(tmp_path / "r.urdf").source.meshes["arm"]  # the one beside it
    assert own.is_visual


# ── templates ────────────────────────────────────────────────────────────────────────────────────────────────────────
NAMESPACE = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
TEMPLATE = f"""<robot name="r" {NAMESPACE}><xacro:arg name="many" default="1"/>
<xacro:include filename="near.xacro"/><xacro:include filename="$(find parts)/arm.xacro"/>
<link name="base"/><xacro:arm above="base" name="a"/>
<xacro:if value="${{$(arg many) > 1}}"><xacro:arm above="a" name="b"/></xacro:if></robot>"""
MACRO = f"""<robot {NAMESPACE}><xacro:macro name="arm" params="above name"><link name="${{name}}"/>
<joint name="j_${{name}}" type="continuous"><parent link="${{above}}"/><child link="${{name}}"/>
<origin xyz="0 0 ${{2 * reach}}"/></joint></xacro:macro></robot>"""


@pytest.fixture
def template(tmp_path: Path) -> Path:
    (tmp_path / "robot").mkdir()
    (tmp_path / "parts").mkdir()
    (tmp_path / "robot" / "near.xacro").write_text(
        f'<robot {NAMESPACE}><xacro:property name="reach" value="0.3"/></robot>'
    )
    (tmp_path / "parts" / "arm.xacro").write_text(MACRO)
    (tmp_path / "robot" / "r.urdf.xacro").write_text(TEMPLATE)
    return tmp_path / "robot" / "r.urdf.xacro"


def test_templates_are_expanded(template: Path):
    pytest.importorskip("xacrodoc")
    parts = template.parents[1] / "parts"
    figure = supple.load(template, folders=[parts])
    assert figure.coordinates == ("j_a",)
    np.testing.assert_allclose(figure.placement([0.0], "a")[:3, 3], (0, 0, 0.6))
    assert supple.load(template, folders=[parts.parent], arguments={"many": 2}).coordinates == ("j_a", "j_b")
    with pytest.raises(BadFile, match="xacro cannot expand this"):
        supple.load(template)
    (template.parent / "bad.xacro").write_text('<robot name="r"><link/></robot>')
    with pytest.raises(BadFile, match="name"):
        supple.load(template.parent / "bad.xacro")


def test_scenes_and_texts_lead_to_no_template(template: Path, tmp_path: Path):
    scene = tmp_path / "scene.toml"
    for figure in ('{ file = "robot/r.urdf.xacro" }', '{ name = "panda_description" }'):
        scene.write_text(f"version = 1\nfigure = {figure}\n")
        with pytest.raises(BadFile, match=r"a scene names no \.xacro"):
            supple.read_scene(scene)
    with pytest.raises(BadFile, match="expand the file with xacro"):
        supple.load(TEMPLATE)


def test_without_xacrodoc_and_rod_the_messages_name_the_extras(template: Path, monkeypatch: pytest.MonkeyPatch):
    for package in ("xacrodoc", "rod", "robot_descriptions"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"supple\[xacro\]"):
        supple.load(template)
    with pytest.raises(MissingExtra, match=r"supple\[sdf\]"):
        supple.load(SDF)
    with pytest.raises(MissingExtra, match=r"supple\[descriptions\]"):
        supple.load("panda_description")


# ── SDF ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
SDF = """<sdf version="1.7"><model name="m"><link name="base"/>
<link name="arm"><pose relative_to="j">0 0 0 0 0 0</pose><inertial><mass>2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz>
<ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial></link>
<joint name="j" type="revolute"><pose relative_to="base">1 0 0.5 0 0 0.3</pose><parent>base</parent><child>arm</child>
<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>2</upper></limit></axis></joint></model></sdf>"""


def test_sdf_is_read_through_rod(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    pytest.importorskip("rod")
    (tmp_path / "m.sdf").write_text(SDF)
    for figure in (supple.load(SDF), supple.load(tmp_path / "m.sdf")):
        assert (figure.coordinates, figure.segments) == (("j",), ("base", "arm"))
        np.testing.assert_allclose((figure.lower, figure.upper), [[-1], [2]])
        np.testing.assert_allclose(figure.placement([0.2], "arm"), place((1, 0, 0.5), rpy=(0, 0, 0.5)), atol=1e-12)
        assert figure.bodies["arm"].mass == 2.0
    assert "DEBUG" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<sdf version='1.7'><world name='w'><include><uri>model://x</uri></include></world></sdf>", "include"),
        (SDF.replace("revolute", "ball"), "of the type 'ball'"),
        ("<sdf version='1.7'/>", "rod cannot read this"),
    ],
)
def test_sdf_that_urdf_cannot_say_is_refused(text: str, message: str):
    if "rod" in message:
        pytest.importorskip("rod")
    with pytest.raises(BadFile, match=message):
        supple.load(text)


# ── robot_descriptions ───────────────────────────────────────────────────────────────────────────────────────────────
def test_names_of_robot_descriptions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "site" / "robot_descriptions"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (tmp_path / "ws" / "parts" / "meshes").mkdir(parents=True)
    (tmp_path / "ws" / "parts" / "meshes" / "arm.stl").write_bytes(b"")
    (tmp_path / "ws" / "r.urdf").write_text(ROBOT)
    where = f"REPOSITORY_PATH = PACKAGE_PATH = {str(tmp_path / 'ws')!r}\n"
    (package / "arm_description.py").write_text(f"{where}URDF_PATH = {str(tmp_path / 'ws' / 'r.urdf')!r}\n")
    (package / "none_description.py").write_text(where)
    (package / "far_description.py").write_text("raise OSError('no network\\nat all')\n")
    for name in [name for name in sys.modules if name.partition(".")[0] == "robot_descriptions"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path / "site")
    figure = supple.load("arm_description")
    assert (figure.coordinates, len(figure.source.meshes["arm"])) == (("j",), 1)
    assert figure.origin is not None
    assert (figure.origin.what, figure.origin.is_file) == ("arm_description", False)
    for name, message in (("far_description", "no network"), ("none_description", "names no file")):
        with pytest.raises(BadFile, match=message):
            supple.load(name)
    for name in ("nothing_description", "os.path_description", "../arm_description"):
        with pytest.raises(UnknownName, match="robot_descriptions has nothing called"):
            supple.load(name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "robot_descriptions"]:
        monkeypatch.delitem(sys.modules, name)
