"""Bodies from meshes: they hold all of the mesh, and reach no farther beyond its hull than they may."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.errors import BadFile, BadValue
from supple.geometry import Cloud, Mesh, excess, fitted
from supple.geometry.body_fits import MOST_BALLS, vertices_of
from supple.geometry.distances import distance_between
from supple.geometry.polyhedra import ROUND as ROUND_OFF, prism
from supple.geometry.shapes import Ball, Capsule, Cylinder, Hull, Solid

RNG = np.random.default_rng(8)
ROUND = RNG.normal(size=(800, 3))
ROUND /= np.linalg.norm(ROUND, axis=1, keepdims=True)
POINTS = {
    "blob": RNG.normal(size=(900, 3)) * (0.1, 0.05, 0.03),
    "ball": 0.05 * ROUND,
    "capsule": 0.04 * ROUND + np.outer(np.where(ROUND[:, 0] > 0, 0.1, -0.1), (1, 0, 0)),
    "cube": np.array([(x, y, z) for x in (0, 0.1) for y in (0, 0.2) for z in (0, 0.3)]),
    "plate": np.column_stack([RNG.uniform(-0.1, 0.1, (200, 2)), np.zeros(200)]),
    "needle": np.outer(np.linspace(0, 1, 9), (0.1, 0.2, 0.3)),
    "speck": np.array([(0.1, 0.2, 0.3)]),
}


def reach(body: Solid, ways: np.ndarray) -> np.ndarray:
    """How far a body reaches along some directions."""
    if isinstance(body, Hull):
        return (body.points @ ways.T).max(axis=0) + body.radius
    assert isinstance(body, Ball | Capsule)
    middle = np.array(body.centre) if isinstance(body, Ball) else body.at[:3, 3]
    axis = np.zeros(3) if isinstance(body, Ball) else body.at[:3, 2] * body.length / 2
    return ways @ middle + np.abs(ways @ axis) + body.radius


@pytest.mark.parametrize("accuracy", [0.02, 0.005, 0.001])
@pytest.mark.parametrize("name", POINTS)
def test_a_body_holds_its_mesh_and_reaches_no_farther_than_it_may(name: str, accuracy: float):
    points = POINTS[name]
    body = fitted(points, accuracy)
    ways = np.random.default_rng(1).normal(size=(4000, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    beyond = reach(body, ways) - (points @ ways.T).max(axis=0)
    thick = 3e-4 if name in ("plate", "needle", "speck") else 0.0  # what flat ones are given
    assert beyond.min() > -1e-9
    assert beyond.max() <= min(accuracy, excess(body, points)) + thick + 1e-9
    assert excess(body, points) <= accuracy + thick
    assert max(distance_between(Ball(tuple(p), 1e-9), body) for p in points[:60]) <= 1e-8


@pytest.mark.parametrize(("radius", "sides"), [(0.004, 8), (0.02, 8), (0.05, 12), (0.2, 23)])
def test_the_prism_that_stands_for_a_cylinder_holds_it_and_reaches_no_farther_than_it_may(radius: float, sides: int):
    cylinder = Cylinder(radius, 0.1, supple.place((0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6)))
    corners = prism(cylinder)
    assert len(corners) == 2 * sides
    ways = np.random.default_rng(1).normal(size=(4000, 3))
    ways = np.vstack(
        [ways / np.linalg.norm(ways, axis=1, keepdims=True), cylinder.at[:3, :3].T, -cylinder.at[:3, :3].T]
    )
    along = np.abs(ways @ cylinder.at[:3, 2])
    own = ways @ cylinder.at[:3, 3] + 0.05 * along + radius * np.sqrt(np.maximum(1.0 - along**2, 0.0))
    beyond = (corners @ ways.T).max(axis=0) - own
    assert beyond.min() > -1e-12
    assert beyond.max() <= ROUND_OFF
    figure = supple.load("panda").with_solids({"panda_hand": (cylinder,)})
    assert figure.bars["panda_hand"] == (cylinder,)
    assert isinstance(figure.round_bars["panda_hand"][0], Capsule)


def test_what_is_round_stays_round():
    assert isinstance(fitted(POINTS["ball"]), Ball | Capsule)
    assert isinstance(fitted(POINTS["capsule"]), Capsule)
    assert isinstance(fitted(POINTS["cube"]), Hull)


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("ending", ["stl", "obj", "ply", "glb", "off"])
def test_meshes_are_read_from_files(tmp_path: Path, ending: str):
    trimesh = pytest.importorskip("trimesh")
    path = tmp_path / f"box.{ending}"
    trimesh.creation.box((0.2, 0.4, 0.6)).export(path)
    assert np.allclose(vertices_of(path).max(axis=0), (0.1, 0.2, 0.3))
    (part,) = Mesh.read(path, at=supple.place((1, 0, 0)), scale=(2, 1, 1)).parts
    assert isinstance(part, Hull)
    assert np.allclose(np.ptp(part.points, axis=0), (0.4, 0.4, 0.6))
    assert distance_between(Ball((0, 0, 0), 0.1), part) == pytest.approx(0.7, abs=1e-6)


def test_broken_meshes_are_refused(tmp_path: Path):
    pytest.importorskip("trimesh")
    (tmp_path / "a.stl").write_text("solid nothing")
    (tmp_path / "a.txt").write_text("nothing")
    for name in ("a.stl", "a.txt", "none.obj"):
        with pytest.raises(BadFile):
            vertices_of(tmp_path / name)
    with pytest.raises(BadValue, match="needs points"):
        Mesh(np.empty((0, 3)))


ROBOT = """<robot name="arm"><link name="base"/>
  <link name="forearm"><inertial><mass value="2"/></inertial>
    <collision><origin xyz="0 0 0.1"/><geometry><mesh filename="{}" scale="1 1 2"/></geometry></collision>
    <collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <joint name="elbow" type="continuous"><parent link="base"/><child link="forearm"/><axis xyz="0 1 0"/></joint></robot>"""


def test_collision_meshes_of_robots_keep_clear(tmp_path: Path):
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((0.2, 0.2, 0.2)).export(tmp_path / "forearm.stl")
    (tmp_path / "arm.urdf").write_text(ROBOT.format("forearm.stl"))
    figure = supple.load(tmp_path / "arm.urdf")
    _, hull = figure.bars["forearm"]
    assert isinstance(hull, Hull)
    assert np.allclose(hull.points.max(axis=0), (0.1, 0.1, 0.3), atol=1e-6)
    assert figure.uncovered == ()
    assert any("keep clear as hulls" in note for note in figure.notes)
    (tmp_path / "arm.urdf").write_text(ROBOT.format("lost.stl"))
    lost = supple.load(tmp_path / "arm.urdf")
    assert lost.uncovered == ("forearm",)
    (tmp_path / "lost.stl").write_text("solid nothing")
    broken = supple.load(tmp_path / "arm.urdf")
    assert broken.uncovered == ("forearm",)
    assert any("could not be read" in note for note in broken.notes)


def test_meshes_of_mjcf_keep_clear_as_hulls():
    mujoco = pytest.importorskip("mujoco")
    spec = mujoco.MjSpec()
    points = np.array([(0, 0, 0), (0.3, 0, 0), (0, 0.2, 0), (0, 0, 0.1), (0.05, 0.04, 0.02)])
    spec.add_mesh(name="wedge", uservert=points.ravel())
    body = spec.worldbody.add_body(name="arm", pos=(0, 0, 1))
    body.add_joint(name="turn", axis=(0, 1, 0))
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="wedge", pos=(0.5, 0, 0), quat=(0, 1, 0, 0))
    figure = supple.load(spec)
    (hull,) = figure.bars["arm"]
    assert isinstance(hull, Hull)
    wanted = points[:4] * (1, -1, -1) + (0.5, 0, 0)
    assert all(np.linalg.norm(hull.points - p, axis=1).min() < 1e-6 for p in wanted)


# ── obstacles ────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_meshes_and_clouds_are_obstacles():
    figure = supple.load("panda").with_spheres({"panda_hand": [(0, 0, 0.05, 0.05)]})
    figure = figure.with_solids({s: () for s in figure.segments if s != "panda_hand"})
    hand = figure.placement(figure.rest, "panda_hand")[:3, 3]
    cloud = Cloud(hand + 0.001 * np.random.default_rng(2).normal(size=(50, 3)), 0.01)
    problem = supple.Problem(figure, [], obstacles={"seen": cloud, "block": Mesh(POINTS["cube"] + hand)})
    assert "block" in problem.obstacles
    assert len(problem.obstacles) > 2
    assert max(miss.metres for miss in problem.misses(figure.rest)) > 0.0
    assert supple.solve(problem).ok


def test_the_balls_of_a_cloud_hold_its_points_and_are_little_larger():
    points = np.random.default_rng(3).uniform(0, 0.3, (700, 3))
    cloud = Cloud(points, 0.01, accuracy=0.02)
    assert len(cloud.parts) < len(points)
    balls = [part for part in cloud.parts if isinstance(part, Ball)]
    centres, radii = np.array([b.centre for b in balls]), np.array([b.radius for b in balls])
    assert radii.max() <= 0.03 + 1e-12
    away = np.linalg.norm(points[:, None] - centres, axis=2) + 0.01 - radii
    assert away.min(axis=1).max() <= 1e-12
    with pytest.raises(BadValue, match="too many"):
        Cloud(np.random.default_rng(3).uniform(0, 9, (MOST_BALLS + 9, 3)), 0.01, accuracy=1e-4)
