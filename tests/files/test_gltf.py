"""glTF files: evaluated from their own nodes and channels, they show what the figure does."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import supple
from supple.figure.figure import Figure
from supple.figure.joints import Joint, ball, fixed, free, hinge, slide
from supple.files.gltf import continuous_quaternions
from supple.geometry.placements import place
from supple.geometry.shapes import Ball, Body, Box, Capsule, Cylinder
from supple.motion.motion import Motion

TO_WORLD = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])  # from y up to z up
SIZES = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def parsed(path: Path) -> tuple[dict[str, Any], bytes]:
    raw = path.read_bytes()
    if path.suffix == ".gltf":
        document = json.loads(raw)
        return document, base64.b64decode(document["buffers"][0]["uri"].split(",", 1)[1])
    magic, version, total = struct.unpack_from("<4sII", raw)
    assert (magic, version, total) == (b"glTF", 2, len(raw))
    size, kind = struct.unpack_from("<I4s", raw, 12)
    assert kind == b"JSON"
    assert size % 4 == 0
    if len(raw) == 20 + size:
        return json.loads(raw[20:]), b""
    length, kind = struct.unpack_from("<I4s", raw, 20 + size)
    assert kind == b"BIN\0"
    assert length % 4 == 0
    assert len(raw) == 28 + size + length
    return json.loads(raw[20 : 20 + size]), raw[28 + size :]


def accessor(document: dict[str, Any], data: bytes, k: int) -> np.ndarray:
    one = document["accessors"][k]
    view = document["bufferViews"][one["bufferView"]]
    assert view["byteOffset"] % 4 == 0
    dtype = {5126: "<f4", 5125: "<u4", 5123: "<u2"}[one["componentType"]]
    count = one["count"] * SIZES[one["type"]]
    assert view["byteLength"] == np.dtype(dtype).itemsize * count
    assert view["byteOffset"] + view["byteLength"] <= document["buffers"][0]["byteLength"] <= len(data)
    values = np.frombuffer(data, dtype, count, view["byteOffset"]).reshape(one["count"], -1)
    if "min" in one:
        assert values.min(axis=0).tolist() == one["min"]
        assert values.max(axis=0).tolist() == one["max"]
    return values


def world(document: dict[str, Any], data: bytes, frame: int | None) -> dict[str, np.ndarray]:
    """Where each node is, in supple's axes; frame None: as the nodes themselves say."""
    nodes = [dict(node) for node in document["nodes"]]
    if frame is not None:
        for animation in document.get("animations", []):
            for channel in animation["channels"]:
                sampler = animation["samplers"][channel["sampler"]]
                values = accessor(document, data, sampler["output"])
                assert len(values) == len(accessor(document, data, sampler["input"]))
                nodes[channel["target"]["node"]][channel["target"]["path"]] = values[frame]
    out, stack = {}, [(k, np.eye(4)) for k in document["scenes"][document["scene"]]["nodes"]]
    while stack:
        k, T = stack.pop()
        local = place(nodes[k].get("translation", (0, 0, 0)), quat_xyzw=nodes[k].get("rotation", (0, 0, 0, 1)))
        out[nodes[k]["name"]] = TO_WORLD @ T @ local
        stack += [(child, T @ local) for child in nodes[k].get("children", [])]
    assert len(out) == len(nodes)
    return out


def kite() -> Figure:
    shapes = {
        "kite": Body(shapes=(Box((-0.1, -0.2, -0.3), (0.1, 0.2, 0.3)), Ball((0, 0, 1), 0.1))),
        "arm": Body(shapes=(Capsule(0.05, 0.3, place((0, 0, 0.2))), Cylinder(0.1, 0.2))),
    }
    parts = [
        *free("kite"),
        *ball("arm", "kite", at=(0.1, 0.2, 0.3)),
        *slide("tip", "arm", at=(0, 0, 0.5)),
        *fixed("end", "tip", at=(0, 0, 0.1)),
    ]
    return Figure("flyer", parts, bodies=shapes)


def turning(figure: Figure, frames: int = 30) -> Motion:
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(frames, figure.size)) * 0.4
    return Motion(figure, figure.rest + np.cumsum(steps, axis=0), 1.0 + np.arange(frames) / 30.0)


@pytest.mark.parametrize("ending", ["glb", "gltf"])
def test_the_nodes_go_where_the_segments_go(tmp_path, ending):
    motion = turning(kite())
    supple.write(motion, tmp_path / f"x.{ending}")
    document, data = parsed(tmp_path / f"x.{ending}")
    assert document["asset"]["version"] == "2.0"
    for frame in (None, 0, 7, 29):
        found = world(document, data, frame)
        q = motion.figure.rest if frame is None else motion.q[frame]
        for segment, T in motion.figure.placements(q).items():
            np.testing.assert_allclose(found[segment], T, atol=5e-6)
    times = accessor(document, data, document["animations"][0]["samplers"][0]["input"])
    np.testing.assert_allclose(times[:, 0], np.arange(30) / 30.0, atol=1e-6)


def test_only_what_moves_has_channels(tmp_path):
    motion = turning(kite())
    supple.write(motion, tmp_path / "x.glb")
    document, _ = parsed(tmp_path / "x.glb")
    names = [node["name"] for node in document["nodes"]]
    moving = {(names[c["target"]["node"]], c["target"]["path"]) for c in document["animations"][0]["channels"]}
    assert moving == {("kite", "translation"), ("kite", "rotation"), ("arm", "rotation"), ("tip", "translation")}
    supple.write(motion.figure, tmp_path / "still.glb")
    assert "animations" not in parsed(tmp_path / "still.glb")[0]


def test_quaternions_do_not_jump():
    angles = np.linspace(0.0, 6.0 * np.pi, 200)
    R = Rotation.from_euler("zx", np.column_stack([angles, 0.3 * angles])).as_matrix()
    q = continuous_quaternions(R)
    np.testing.assert_allclose(Rotation.from_quat(q).as_matrix(), R, atol=1e-12)
    assert np.linalg.norm(np.diff(q, axis=0), axis=1).max() < 0.1


@pytest.mark.parametrize(
    ("shape", "reach"),
    [
        (Box((-0.1, -0.2, -0.3), (0.1, 0.2, 0.3)), (0.1, 0.2, 0.3)),
        (Ball((0, 0, 0), 0.1), (0.1, 0.1, 0.1)),
        (Capsule(0.05, 0.3), (0.05, 0.05, 0.2)),
        (Cylinder(0.1, 0.4), (0.1, 0.1, 0.2)),
    ],
)
def test_meshes_are_closed_and_as_large_as_the_shape(tmp_path, shape, reach):
    figure = Figure("one", [*hinge("a", None)], bodies={"a": Body(shapes=(shape,))})
    supple.write(figure, tmp_path / "x.gltf")
    document, data = parsed(tmp_path / "x.gltf")
    primitive = document["meshes"][0]["primitives"][0]
    vertices = accessor(document, data, primitive["attributes"]["POSITION"]).astype(float)
    triangles = accessor(document, data, primitive["indices"]).reshape(-1, 3)
    np.testing.assert_allclose(np.abs(vertices).max(axis=0), reach, rtol=0.06)
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0
    assert 0.5 * np.prod(reach) * 4 < volume <= np.prod(reach) * 8 * 1.001  # outward, so counted positive
    np.testing.assert_allclose(np.cross(b - a, c - a).sum(axis=0), 0.0, atol=1e-8)


def test_a_recorded_walk(tmp_path, shared):
    file = shared / "data" / "mocap" / "bvh" / "02_01.bvh"
    if not file.exists():
        pytest.skip(f"{file} is missing")
    motion = supple.read_motion(file, unit=0.0254 / 0.45)
    supple.write(motion, tmp_path / "walk.glb")
    document, data = parsed(tmp_path / "walk.glb")
    found = world(document, data, 100)
    for segment, T in motion.figure.placements(motion.q[100]).items():
        np.testing.assert_allclose(found[segment], T, atol=1e-5)
    assert len(document["meshes"][0]["primitives"]) > 10


def test_a_figure_of_one_fixed_point(tmp_path):
    dot = Figure("dot", [Joint("dot", None, segment="dot")])
    supple.write(dot, tmp_path / "dot.glb")
    supple.write(dot, tmp_path / "dot.gltf")
    document, data = parsed(tmp_path / "dot.glb")
    assert document == json.loads((tmp_path / "dot.gltf").read_text())
    assert document["nodes"][1]["name"] == "dot"
    assert not data


def test_the_skin_follows_the_segments(tmp_path):
    """Each vertex, taken back from rest and on by its joint, is where its shape is; in every frame."""
    figure = kite()
    motion = turning(figure, 3)
    supple.write(motion, tmp_path / "x.glb")
    document, data = parsed(tmp_path / "x.glb")
    skin = document["skins"][0]
    assert skin["joints"] == list(range(1, len(figure.segments) + 1))
    back = accessor(document, data, skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
    for frame in range(3):
        for primitive in document["meshes"][0]["primitives"]:
            points = accessor(document, data, primitive["attributes"]["POSITION"])
            joints = accessor(document, data, primitive["attributes"]["JOINTS_0"])
            assert (accessor(document, data, primitive["attributes"]["WEIGHTS_0"]) == (1, 0, 0, 0)).all()
            segment = figure.segments[int(joints[0, 0])]
            T = world(document, data, frame)[segment] @ back[joints[0, 0]]
            there = points @ T[:3, :3].T + T[:3, 3]
            R, P = figure.placement(figure.rest, segment), figure.placement(motion.q[frame], segment)
            local = (points - R[:3, 3]) @ R[:3, :3]
            np.testing.assert_allclose(there, local @ P[:3, :3].T + P[:3, 3], atol=2e-6)
