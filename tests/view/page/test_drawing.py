"""What the pages draw: meshes of solids, of a file's visuals; doors from Python and from the command line."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from typer.testing import CliRunner

import supple
from supple import Ball, Box, Capsule, Polytope, Scene
from supple.cli import app
from supple.cli.edit import freed, scene_of
from supple.errors import BadValue
from supple.figure import catalogue
from supple.view.page.beside import Beside, Helper
from supple.view.page.body import Body
from supple.view.page.cloud import held_still
from supple.view.page.keys import Keys
from supple.view.page.meshes import Mesh, ball, joined, of_obstacle, of_solid, segments_of, thinned
from supple.view.page.session import Session
from supple.view.page.visuals import visual_meshes
from supple.view.solids import Bone, Drum, of_shape


def volume(mesh: Mesh) -> float:
    """By the divergence theorem: right only if the surface is closed and all triangles face outwards."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


@pytest.mark.parametrize(
    ("solid", "expected"),
    [
        (Bone(np.ones(3), np.ones(3), 0.5, 0.5), 4 / 3 * np.pi * 0.125),
        (Bone(np.zeros(3), np.array([0.0, 1.0, 1.0]), 0.2, 0.2), np.pi * 0.04 * np.sqrt(2) + 4 / 3 * np.pi * 0.008),
        (Drum(np.ones(3), np.array([1.0, 0.0, 0.0]), 0.3, 0.7), np.pi * 0.09 * 0.7),
        (of_shape(Box((-1, -1, -1), (1, 2, 3))), 24.0),
    ],
)
def test_meshes_are_closed_and_face_outwards(solid: Any, expected: float):
    found = volume(of_solid(solid))
    assert 0.85 * expected < found <= expected * (1.0 + 1e-9)


def test_a_tapered_bone_has_the_width_of_its_ends():
    mesh = of_solid(Bone(np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.3, 0.1))
    assert mesh.vertices[:, 2].min() == pytest.approx(-0.3)
    assert mesh.vertices[:, 2].max() == pytest.approx(1.1)


SOLIDS = [Ball((0, 0, 1), 0.2), Box((0, 0, 0), (1, 1, 1)), Capsule(0.1, 0.4), Polytope.half_space((0, 0, 0), (0, 0, 1))]


@pytest.mark.parametrize("shape", SOLIDS)
def test_obstacles_have_meshes(shape: Any):
    mesh = of_obstacle(shape, np.array([[-2.0, -2.0, -1.0], [2.0, 2.0, 2.0]]))
    assert mesh is not None
    assert volume(mesh) > 0.0


@pytest.mark.parametrize("name", catalogue.names())
def test_every_figure_has_something_to_take_hold_of(name: str):
    figure = supple.load(name)
    meshes = segments_of(figure)
    assert len(meshes) > (len(figure.segments) > 1)
    for segment, mesh in meshes.items():
        assert segment in figure.segments
        assert np.isfinite(mesh.vertices).all()
        assert mesh.faces.max() < len(mesh.vertices)


class Node:
    """A node of a page that remembers what was set."""

    def __init__(self, name: str, **given: Any) -> None:
        self.__dict__.update(name=name, position=np.zeros(3), wxyz=np.array([1.0, 0.0, 0.0, 0.0]), said=[])

    def __setattr__(self, name: str, value: Any) -> None:
        self.said.append(name)
        self.__dict__[name] = np.array(value) if name in ("position", "wxyz") else value


class Nodes:
    """What a page's scene is to a body."""

    def add_mesh_simple(self, name: str, *_: Any, **given: Any) -> Node:
        return Node(name, **given)


@pytest.mark.parametrize("name", ["human", "jack"])
def test_every_segment_is_drawn_where_it_is_and_only_what_a_joint_moves_is_sent(name: str):
    figure = supple.load(name)
    body = Body(Nodes(), "/figure", figure)
    by_name = {node.name: node for node in body.nodes.values()}

    def world(node: Node) -> np.ndarray:
        own = np.eye(4)
        own[:3, :3], own[:3, 3] = Rotation.from_quat(np.roll(node.wxyz, -1)).as_matrix(), node.position
        above = by_name.get(node.name.rpartition("/")[0])
        return own if above is None else world(above) @ own

    q = figure.limits.project(figure.rest + 0.3 * np.random.default_rng(1).standard_normal(figure.size))
    for posture in (figure.rest, q):
        body.show(posture)
        for segment, node in body.nodes.items():
            assert_allclose(world(node), figure.placement(posture, segment), atol=1e-4)
    for node in body.nodes.values():
        node.said.clear()
    body.coloured = False
    body.show(q)
    bent = np.array(q)
    bent[figure.coordinates.index("forearm_l.flexion")] = 1.0
    for node in body.nodes.values():
        node.said.clear()
    body.show(bent)
    assert {segment: node.said for segment, node in body.nodes.items() if node.said} == {"forearm_l": ["wxyz"]}


URDF = """<robot name="r"><link name="base"><visual><geometry><box size="1 1 1"/></geometry></visual></link>
<link name="arm"><visual><origin xyz="0 0 1"/>
<geometry><mesh filename="package://r/meshes/{name}" scale="2 2 2"/></geometry></visual></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


def test_the_visual_meshes_of_a_urdf_are_drawn_and_a_missing_one_is_a_note(tmp_path: Path):
    pytest.importorskip("trimesh")
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "tri.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
    )
    file = tmp_path / "r.urdf"
    file.write_text(URDF.format(name="tri.obj"))
    meshes, notes = visual_meshes(supple.load(file))
    assert notes == []
    assert volume(meshes["arm"]) == pytest.approx(8 / 6)
    assert_allclose(meshes["arm"].vertices.min(axis=0), (0.0, 0.0, 1.0))
    assert volume(meshes["base"]) == pytest.approx(1.0)
    for name in ("none.obj", "../../../etc/passwd", "tri.txt"):
        file.write_text(URDF.format(name=name))
        meshes, notes = visual_meshes(supple.load(file))
        assert "not found" in notes[0]
    assert visual_meshes(supple.load("panda"))[1] == []


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_motions_between_keys_keep_limits_and_planted_feet():
    figure = supple.load("human", fingers=False)
    scene = Scene(figure)
    for foot in ("foot_l", "foot_r"):
        scene.add(foot, foot, supple.Placed(figure.placement(scene.q, foot)), hard=True)
    keys = Keys()
    keys.put(0.0, scene.q)
    scene.add("hips", supple.Point("pelvis"), supple.At(figure.placement(scene.q, "pelvis")[:3, 3] - [0.0, 0.05, 0.12]))
    scene.solve()
    keys.put(1.0, scene.q)
    scene.remove("hips")
    motion = keys.motion(scene, rate=10.0)
    assert len(motion) == 11
    assert_allclose(motion.q[-1], scene.q, atol=1e-6)
    for q in motion.q:
        assert scene.limits.contains(q)
        for foot in ("foot_l", "foot_r"):
            assert_allclose(figure.placement(q, foot), figure.placement(figure.rest, foot), atol=1e-4)
    keys.put(1.0004, figure.rest)
    assert keys.times == (0.0, 1.0004)
    assert keys.around(0.5)[0] is not None
    with pytest.raises(BadValue):
        keys.put(-1.0, figure.rest)
    with pytest.raises(BadValue, match="no keys"):
        Keys().motion(scene)


# ── doors ────────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_edit_takes_scenes_figures_and_names_and_shows_inline():
    pytest.importorskip("viser")
    pages = [supple.view.edit("panda", port=0), supple.view.edit(Scene(supple.load("ur5")), port=0)]
    try:
        assert [page.session.figure.name for page in pages] == ["panda", "ur5"]
        assert pages[0].link in pages[0]._repr_html_()
        assert pages[0].link != pages[1].link
    finally:
        for page in pages:
            page.close()
    with pytest.raises(supple.Error):
        supple.view.edit(3)
    with pytest.raises(supple.Error):
        supple.view.play()


def test_what_edit_opens(tmp_path: Path, shared: Path):
    assert scene_of("panda", None, None).figure.name == "panda"
    supple.write(Scene(supple.load("ur5")), tmp_path / "s.toml")
    assert scene_of(str(tmp_path / "s.toml"), None, None).figure.name == "ur5"
    figure = supple.load(shared / "data" / "robots" / "g1" / "g1_29dof.urdf")
    free = freed(figure)
    assert free is not None
    assert free.size == figure.size + 6
    assert freed(supple.load("human")) is None
    assert freed(supple.load("panda")) is None


def test_play_writes_a_page_and_refuses_in_one_line(tmp_path: Path):
    figure = supple.load("human")
    supple.write(supple.Motion(figure, np.tile(figure.rest, (3, 1)), np.arange(3) / 30), tmp_path / "still.bvh")
    done = CliRunner().invoke(app, ["play", str(tmp_path / "still.bvh"), "--html", str(tmp_path / "still.html")])
    assert done.exit_code == 0, done.output
    assert "plays offline" in done.output
    assert (tmp_path / "still.html").read_text().startswith("<!doctype html>")
    assert (
        CliRunner().invoke(app, ["play", str(tmp_path / "none.bvh"), "--html", str(tmp_path / "x.html")]).exit_code == 2
    )
    assert CliRunner().invoke(app, ["edit", "nobody"]).exit_code == 2


# ── beside ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_limb_moves_alone_when_its_reach_is_mapped():
    figure = supple.load("human", fingers=False)
    alone, base, length = held_still(figure, figure.rest, "hand_l")
    assert "forearm_l.flexion" in alone.coordinates
    assert "lumbar.flexion" not in alone.coordinates
    assert alone.size == 6  # clavicle, shoulder, elbow; the wrist turns about the hand's origin
    assert 0.4 < length < 1.0
    assert np.linalg.norm(base - figure.placement(figure.rest, "hand_l")[:3, 3]) < length + 1e-9


def test_a_helper_answers_from_a_process_of_its_own_and_ends():
    panda = supple.load("panda")
    helper = Helper()
    try:
        there, _ = helper.ask(pickle.dumps(("layer", panda, "panda_hand", 0.5, 0.4, 30.0)))
        assert len(there) > 3
        assert_allclose(there[:, 2], 0.5)
        assert helper.ask(pickle.dumps(("layer", panda, "nothing", 0.5, 0.4, 30.0))) is None
    finally:
        helper.close()
    assert helper.ask(b"") is None


def test_out_of_reach_is_proved_beside_a_pull():
    pytest.importorskip("clarabel")
    pytest.importorskip("flint")
    session, told = Session(Scene(supple.load("panda"))), threading.Event()
    beside = Beside(told.set)
    try:
        tip = "panda_hand"
        session.press(0, tip, session.figure.placement(session.q, tip)[:3, 3])
        session.pull(0, (3.0, 0.0, 0.5))
        for _ in range(600):
            session.tick()
            beside.look(session)
            if told.wait(0.1):
                break
        session.tick()
        beside.look(session)
        assert session.said.proved
        session.pull(0, (3.0, 0.1, 0.5))
        session.tick()
        beside.look(session)
        assert not session.said.proved
    finally:
        beside.close()


def test_a_thinned_mesh_is_where_it_was_with_fewer_triangles():
    fine = joined([ball(0.2).moved(supple.place((0.1 * k, 0.0, 0.0))) for k in range(12)])
    for most in (len(fine.faces), 1500, 900):
        coarse = thinned(fine, most)
        assert 0 < len(coarse.faces) <= most
        assert coarse.faces.max() < len(coarse.vertices)
        assert_allclose(coarse.vertices.min(axis=0), fine.vertices.min(axis=0), atol=0.1)
        assert_allclose(coarse.vertices.max(axis=0), fine.vertices.max(axis=0), atol=0.1)
    assert thinned(fine, 10**6) is fine
