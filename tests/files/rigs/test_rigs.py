"""glTF, VRM, FBX and USD: what is written reads back, formulas for keys, placements by independent readers, refusals."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation, Slerp

import supple
from supple.errors import BadFile
from supple.files.rigs.bones import RigSource
from supple.files.rigs.khronos import parse_gltf
from supple.motion.motion import Motion

UPRIGHT = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])


def document(
    nodes: list[dict[str, Any]], tracks: list[tuple[int, str, list[float], Any, str]] = (), **more: Any
) -> bytes:  # type: ignore[assignment]
    """A glTF file of nodes and tracks (node, path, times, values, interpolation)."""
    data, views, accessors, channels, samplers = b"", [], [], [], []

    def add(values: Any, kind: str) -> int:
        nonlocal data
        array = np.asarray(values, "<f4")
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": array.nbytes})
        accessors.append({"bufferView": len(views) - 1, "componentType": 5126, "count": len(array), "type": kind})
        data += array.tobytes()
        return len(accessors) - 1

    for node, path, times, values, how in tracks:
        kind = "VEC4" if path == "rotation" else "VEC3"
        samplers.append({"input": add(times, "SCALAR"), "output": add(values, kind), "interpolation": how})
        channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})
    uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    out = {
        "asset": {"version": "2.0"}, "nodes": nodes, "accessors": accessors, "bufferViews": views,
        "buffers": [{"byteLength": len(data), "uri": uri}],
        "animations": [{"channels": channels, "samplers": samplers}] if channels else [], **more,
    }  # fmt: skip
    return json.dumps(out).encode()


ARM = [{"name": "a", "children": [1], "translation": [0, 1, 0]}, {"name": "b", "translation": [0.5, 0, 0]}]


def place(translation: Any = (0, 0, 0), rotation: Any = (0, 0, 0, 1), scale: Any = (1, 1, 1)) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat(rotation).as_matrix() * np.array(scale)
    T[:3, 3] = translation
    return T


@pytest.mark.parametrize("ending", [".glb", ".gltf"])
def test_what_is_written_reads_back(tmp_path: Path, ending: str):
    figure = supple.load("human", fingers=False)
    rng = np.random.default_rng(0)
    q = np.clip(figure.rest + rng.normal(size=(5, figure.size)) * 0.3, figure.lower, figure.upper)
    motion = Motion(figure, q, np.arange(5) / 30.0)
    supple.write(motion, tmp_path / f"h{ending}")
    again = supple.read_motion(tmp_path / f"h{ending}")
    assert set(figure.segments) <= set(again.figure.segments)
    assert_allclose(again.times, motion.times, atol=1e-6)
    for k in range(5):
        for segment in figure.segments:
            assert_allclose(again.figure.placement(again.q[k], segment), figure.placement(q[k], segment), atol=2e-5)
    assert supple.load(tmp_path / f"h{ending}").segments == again.figure.segments


def test_keys_between_which_turns_and_places_go():
    """Spherical and straight lines, steps, and the polynomial of the specification, at the times of all keys."""
    turn = Rotation.from_rotvec([[0, 0, 0], [0, 0.8, 0.3]])
    cubic = np.random.default_rng(1).normal(size=(2, 3, 3))
    tracks = [
        (0, "rotation", [0.0, 1.0], turn.as_quat(), "LINEAR"),
        (0, "translation", [0.0, 0.25, 1.0], [(0, 1, 0), (0, 2, 0), (3, 2, 0)], "STEP"),
        (1, "translation", [0.0, 1.0], cubic.reshape(6, 3), "CUBICSPLINE"),
    ]
    motion = parse_gltf(document(ARM, tracks))
    assert motion.times.tolist() == [0.0, 0.25, 1.0]
    at = motion.times[1]
    R = Slerp([0, 1], turn)(at).as_quat()
    (_, p, b), (a, q, _) = cubic
    along = (
        (2 * at**3 - 3 * at**2 + 1) * p
        + (at**3 - 2 * at**2 + at) * b
        + (3 * at**2 - 2 * at**3) * q
        + (at**3 - at**2) * a
    )
    A = place((0, 2, 0), R)
    assert_allclose(motion.figure.placement(motion.q[1], "a"), UPRIGHT @ A, atol=1e-6)
    assert_allclose(motion.figure.placement(motion.q[1], "b"), UPRIGHT @ A @ place(along), atol=1e-6)


def test_scales_are_worked_into_places():
    nodes = [{"name": "a", "children": [1], "scale": [2, 2, 2]}, {"name": "b", "translation": [0.5, 0, 0]}]
    motion = parse_gltf(document(nodes, [(0, "scale", [0.0, 1.0], [(2, 2, 2), (4, 4, 4)], "LINEAR")]))
    assert_allclose(motion.figure.placement(motion.q[0], "b")[:3, 3], (1, 0, 0), atol=1e-9)
    assert_allclose(motion.figure.placement(motion.q[1], "b")[:3, 3], (2, 0, 0), atol=1e-6)
    assert_allclose(motion.figure.placement(motion.q[1], "b")[:3, :3], UPRIGHT[:3, :3], atol=1e-9)


def test_bones_are_kept_and_what_they_hang_on():
    nodes = [
        {"name": "scene", "children": [1, 3]},
        {"name": "hip", "children": [2]},
        {"name": "knee"},
        {"name": "lamp"},
    ]
    motion = parse_gltf(document(nodes, skins=[{"joints": [1, 2]}]))
    assert motion.figure.segments == ("hip", "knee")
    assert "2 nodes that are no bones" in " ".join(motion.figure.remarks)
    assert parse_gltf(document(nodes)).figure.segments == ("scene", "hip", "knee", "lamp")


def test_roles_of_vrm():
    one = {"VRMC_vrm": {"humanoid": {"humanBones": {"hips": {"node": 0}, "spine": {"node": 1}}}}}
    zero = {"VRM": {"humanoid": {"humanBones": [{"bone": "hips", "node": 0}, {"bone": "spine", "node": 1}]}}}
    for extensions in (one, zero):
        source = parse_gltf(document(ARM, extensions=extensions)).source
        assert isinstance(source, RigSource)
        assert dict(source.roles) == {"a": "hips", "b": "spine"}


def test_the_same_pose_through_the_poles_of_angles():
    """Turns through the place where three angles are two stay continuous."""
    turns = Rotation.from_euler("XYZ", [[0.3, y, 0.2] for y in np.linspace(1.2, 1.9, 15)])
    motion = parse_gltf(document(ARM, [(0, "rotation", np.arange(15.0).tolist(), turns.as_quat(), "LINEAR")]))
    for k in range(15):
        assert_allclose(
            motion.figure.placement(motion.q[k], "a")[:3, :3], UPRIGHT[:3, :3] @ turns[k].as_matrix(), atol=1e-6
        )
    assert np.abs(np.diff(motion.q, axis=0)).max() < 0.3


REFUSED = {
    "no JSON": (b"{", "the JSON is broken"),
    "another JSON": (b"[]", "has no asset"),
    "glTF 1": (b'{"asset": {"version": "1.0"}}', "only glTF 2"),
    "glTF 1 in one file": (struct.pack("<4sII", b"glTF", 1, 12), "only glTF 2"),
    "nothing": (b'{"asset": {"version": "2.0"}}', "holds no nodes"),
    "ring": (document([{"children": [1]}, {"children": [0]}]), "hang on themselves"),
    "two parents": (document([{"children": [2]}, {"children": [2]}, {}]), "hangs on several nodes"),
    "no such child": (document([{"children": [7]}]), "must be numbers of nodes"),
    "two numbers": (document([{"translation": [0, 1]}]), "'translation' must be 3 numbers"),
    "no such skin": (document(ARM, skins=[{"joints": [9]}]), "must be numbers of nodes"),
    "another folder": (
        document(ARM, [(0, "scale", [0.0], [(1, 1, 1)], "STEP")], buffers=[{"uri": "../x.bin", "byteLength": 4}]),
        "not in the folder of the file",
    ),
    "short data": (
        document(ARM, [(0, "scale", [0.0], [(1, 1, 1)], "STEP")], buffers=[{"uri": "data:;base64,", "byteLength": 4}]),
        "reaches beyond its data",
    ),
    "falling times": (document(ARM, [(0, "scale", [1.0, 0.0], [(1, 1, 1)] * 2, "STEP")]), "do not rise"),
    "few values": (document(ARM, [(0, "scale", [0.0, 1.0], [(1, 1, 1)], "STEP")]), "2 times and 1 values"),
    "packed": (
        document(ARM, [(0, "scale", [0.0], [(1, 1, 1)], "STEP")], extensionsRequired=["EXT_meshopt_compression"]),
        "packed by EXT_meshopt_compression",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str):
    data, message = REFUSED[case]
    with pytest.raises(BadFile, match=message):
        parse_gltf(data, "test.gltf")


def test_animations_by_name():
    two = json.loads(document(ARM, [(0, "translation", [0.0], [(1, 1, 1)], "STEP")]))
    two["animations"] = [two["animations"][0] | {"name": "walk"}, two["animations"][0] | {"name": "run"}]
    data = json.dumps(two).encode()
    assert "Of 2 animations 'walk' is read" in " ".join(parse_gltf(data).figure.remarks)
    assert len(parse_gltf(data, animation="run")) == 1
    with pytest.raises(BadFile, match=r"no animation 'jump'; there are 'walk', 'run'"):
        parse_gltf(data, animation="jump")


SKELETON = """#usda 1.0
( metersPerUnit = 0.01
  upAxis = "Z"
  timeCodesPerSecond = 25 )
def SkelRoot "Root" {
  def Skeleton "Bones" ( prepend apiSchemas = ["SkelBindingAPI"] ) {
    uniform token[] joints = ["hip", "hip/knee"]
    uniform matrix4d[] bindTransforms = [( (1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,90,1) ),
      ( (1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,50,1) )]
    uniform matrix4d[] restTransforms = [( (1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,90,1) ),
      ( (1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,-40,1) )]
    rel skel:animationSource = </Root/Walk>
  }
  def SkelAnimation "Walk" {
    uniform token[] joints = ["hip", "hip/knee"]
    float3[] translations.timeSamples = { 0: [(0,0,90), (0,0,-40)], 25: [(100,0,90), (0,0,-40)] }
    quatf[] rotations.timeSamples = { 0: [(1,0,0,0), (1,0,0,0)], 25: [(1,0,0,0), (0.8,0.6,0,0)] }
    half3[] scales = [(1,1,1), (1,1,1)]
  }
}
"""


def test_usd_skeletons(tmp_path: Path):
    pytest.importorskip("pxr")
    (tmp_path / "walk.usda").write_text(SKELETON)
    motion = supple.read_motion(tmp_path / "walk.usda")
    assert motion.figure.segments == ("hip", "knee")
    assert motion.times.tolist() == [0.0, 1.0]
    assert_allclose(motion.figure.placement(motion.q[1], "hip")[:3, 3], (1, 0, 0.9), atol=1e-6)
    expected = place((1, 0, 0.5), (0.6, 0, 0, 0.8))
    assert_allclose(
        motion.figure.placement(motion.q[1], "knee"),
        expected,
        atol=1e-6,
    )
    assert_allclose(motion.figure.placement(motion.figure.rest, "knee")[:3, 3], (0, 0, 0.5), atol=1e-6)


def test_usd_refusals(tmp_path: Path):
    pytest.importorskip("pxr")
    (tmp_path / "none.usda").write_text("#usda 1.0\n")
    (tmp_path / "broken.usda").write_text("#usda 1.0\ndef {")
    (tmp_path / "far.usda").write_text("#usda 1.0\n( subLayers = [@../other.usda@] )\n")
    for name, message in (("none", "no skeleton"), ("broken", "USD cannot read this"), ("far", "not in its folder")):
        with pytest.raises(BadFile, match=message):
            supple.load(tmp_path / f"{name}.usda")


FBX = """; FBX 7.3.0 project file
FBXHeaderExtension:  { FBXHeaderVersion: 1003 FBXVersion: 7300 }
GlobalSettings:  { Version: 1000
 Properties70:  {
  P: "UpAxis", "int", "Integer", "",2
  P: "UpAxisSign", "int", "Integer", "",1
  P: "FrontAxis", "int", "Integer", "",1
  P: "FrontAxisSign", "int", "Integer", "",-1
  P: "CoordAxis", "int", "Integer", "",0
  P: "CoordAxisSign", "int", "Integer", "",1
  P: "UnitScaleFactor", "double", "Number", "",1
 } }
Objects:  {
 NodeAttribute: 10, "NodeAttribute::", "LimbNode" { TypeFlags: "Skeleton" }
 NodeAttribute: 11, "NodeAttribute::", "LimbNode" { TypeFlags: "Skeleton" }
 Model: 1, "Model::hip", "LimbNode" { Version: 232
  Properties70:  { P: "Lcl Translation", "Lcl Translation", "", "A",0,0,90 } }
 Model: 2, "Model::knee", "LimbNode" { Version: 232
  Properties70:  { P: "Lcl Translation", "Lcl Translation", "", "A",0,0,-40
   P: "Lcl Rotation", "Lcl Rotation", "", "A",30,0,0 } }
}
Connections:  {
 C: "OO",1,0
 C: "OO",2,1
 C: "OO",10,1
 C: "OO",11,2
}
"""


def test_fbx(tmp_path: Path):
    pytest.importorskip("ufbx")
    (tmp_path / "legs.fbx").write_text(FBX)
    figure = supple.load(tmp_path / "legs.fbx")
    assert figure.segments == ("hip", "knee")
    assert_allclose(figure.placement(figure.rest, "hip")[:3, 3], (0, 0, 0.9), atol=1e-9)
    knee = figure.placement(figure.rest, "knee")
    assert_allclose(knee[:3, 3], (0, 0, 0.5), atol=1e-9)
    (tmp_path / "broken.fbx").write_text("Kaydara?")
    with pytest.raises(BadFile, match="ufbx"):
        supple.load(tmp_path / "broken.fbx")
