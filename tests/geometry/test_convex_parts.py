"""Meshes that are taken apart: nothing of their surface is left out, wherever they were cut."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.errors import BadFile, UnknownName
from supple.files.urdf.reader import read_urdf
from supple.geometry import convex_parts as own
from supple.geometry.convex_parts import convex_parts
from supple.geometry.distances import distance_between
from supple.geometry.shapes import Ball

trimesh = pytest.importorskip("trimesh")

BOXES = {
    "floor": ((0, 0, 0), (0.3, 0.2, 0.02)),
    "left": ((0, 0, 0), (0.02, 0.2, 0.2)),
    "right": ((0.28, 0, 0), (0.3, 0.2, 0.2)),
}
INSIDE = (0.15, 0.1, 0.12)  # of the trough, where its hull is and nothing else


@pytest.fixture
def trough(tmp_path: Path) -> Path:
    """A trough, open above."""
    parts = [trimesh.creation.box(bounds=np.array(bounds)) for bounds in BOXES.values()]
    path = tmp_path / "trough.stl"
    trimesh.util.concatenate(parts).export(path)
    return path


def cut_badly(points: np.ndarray, faces: np.ndarray, concavity: float) -> list[np.ndarray]:
    """The three boxes, but smaller than they are, and shifted."""
    out = []
    for lower, upper in BOXES.values():
        middle, half = (np.add(lower, upper)) / 2, np.subtract(upper, lower) / 2
        corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        out.append(middle + 0.8 * half * corners + (0.003, -0.002, 0.001))
    return out


def surface(path: Path) -> np.ndarray:
    """Points of all triangles, corners and middles of sides among them."""
    mesh = trimesh.load_scene(str(path)).to_mesh()
    shares = np.vstack(
        [np.eye(3), (np.ones((3, 3)) - np.eye(3)) / 2, np.random.default_rng(0).dirichlet((1, 1, 1), 40)]
    )
    return np.einsum("sc,tcx->tsx", shares, np.asarray(mesh.triangles)).reshape(-1, 3)


def standing_out(points: np.ndarray, parts: tuple[supple.geometry.Mesh, ...]) -> float:
    """How far the farthest point is outside of all parts."""
    bodies = [body for part in parts for body in part.parts]
    return max(min(distance_between(Ball(tuple(p), 1e-9), body) for body in bodies) for p in points)


def test_no_point_of_the_surface_is_left_out_however_badly_it_was_cut(trough: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(own, "_cut", cut_badly)
    parts = convex_parts(trough, accuracy=0.001)
    assert len(parts) == 3
    assert standing_out(surface(trough), parts) <= 1e-8


def test_parts_leave_room_where_the_hull_has_none(trough: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(own, "_cut", cut_badly)
    pea = Ball(INSIDE, 0.01)
    (hull,) = supple.geometry.Mesh.read(trough).parts
    assert distance_between(pea, hull) < -0.05
    assert min(distance_between(pea, body) for part in convex_parts(trough) for body in part.parts) > 0.03


def test_scale_and_frame_move_parts(trough: Path, monkeypatch: pytest.MonkeyPatch):
    at = supple.place((1, 2, 3), rpy=(0.1, 0.2, 0.3))
    monkeypatch.setattr(own, "_cut", lambda points, *_: [2.0 * corners for corners in cut_badly(points, *_)])
    moved = convex_parts(trough, at, (2, 2, 2), accuracy=0.001)
    assert standing_out(2.0 * surface(trough) @ at[:3, :3].T + at[:3, 3], moved) <= 1e-7


def test_as_they_are_cut_in_fact(trough: Path):
    pytest.importorskip("coacd")
    parts = convex_parts(trough, accuracy=0.001)
    assert len(parts) > 1
    assert standing_out(surface(trough), parts) <= 1e-8
    assert min(distance_between(Ball(INSIDE, 0.01), body) for part in parts for body in part.parts) > 0.0


def test_what_has_no_triangles_is_refused(tmp_path: Path):
    path = tmp_path / "points.ply"
    trimesh.PointCloud(np.random.default_rng(0).normal(size=(9, 3))).export(path)
    with pytest.raises(BadFile):
        convex_parts(path)


def test_a_reader_takes_apart_what_it_is_told_to(trough: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(own, "_cut", cut_badly)
    mesh = '<collision><geometry><mesh filename="trough.stl"/></geometry></collision>'
    path = trough.parent / "two.urdf"
    path.write_text(
        f'<robot name="r"><link name="a">{mesh}</link><link name="b">{mesh}</link><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/><origin xyz="0 0 1"/></joint></robot>'
    )
    assert {s: len(bars) for s, bars in read_urdf(path).bars.items()} == {"a": 1, "b": 1}
    assert {s: len(bars) for s, bars in read_urdf(path, decompose=["b"]).bars.items()} == {"a": 1, "b": 3}
    assert {s: len(bars) for s, bars in supple.load(path, decompose=True).bars.items()} == {"a": 3, "b": 3}
    assert any("0.001 m" in note for note in supple.load(path, accuracy=0.001).notes)
    with pytest.raises(UnknownName):
        read_urdf(path, decompose=["c"])
    with pytest.raises(supple.Error):
        read_urdf(path, accuracy=0.0)
    with pytest.raises(supple.Error):
        read_urdf(path, decompose="a")  # pyright: ignore[reportArgumentType]
