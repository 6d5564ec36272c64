"""glTF files out: a node for every segment, its motion as an animation, and simple meshes to look at.

glTF is in metres with y up, so one node turns the world (z up) by −90° about x and all roots hang on it. A segment's node holds
its placement in its parent, ``T = T_parent⁻¹ T_segment``: the rest posture in the node itself, the motion in a channel for
translation and one for rotation, each left out where nothing moves. Quaternions are x, y, z, w; of q and −q the one
nearer to the frame before is written. A segment's shapes become parts of one mesh; a figure without any shows a thin spindle
from each segment to those that hang on it. The mesh hangs on a skin whose joints are the segments, each part on its own with
all its weight, so that other programs see bones: it is given as it stands at rest, and ``T_rest⁻¹`` takes it to each segment.
Numbers are 32-bit. Glued segments, limits and couplings cannot be held: every node can do anything in other programs.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from supple.basics.writing import check_place, write_file
from supple.errors import BadValue
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.geometry.shapes import Ball, Box, Cylinder, Shape
from supple.motion.motion import Motion

FLOAT, UNSIGNED, SHORT = 5126, 5125, 5123
WORLD_TURN = (-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))  # x, y, z, w
STILL = 1e-9  # metres, or change of a quaternion, below which nothing moves
SIDES = 12  # of a round thing
THINNEST = 0.02  # m: segments that are nearer to each other get no spindle


@dataclass(eq=False)
class _File:
    """The parts of a glTF file while they are collected."""

    data: bytearray = field(default_factory=bytearray)
    views: list[dict[str, Any]] = field(default_factory=list)
    accessors: list[dict[str, Any]] = field(default_factory=list)
    meshes: list[dict[str, Any]] = field(default_factory=list)
    skins: list[dict[str, Any]] = field(default_factory=list)

    def add(self, values: np.ndarray, kind: str, component: int, bounds: bool = False) -> int:
        """The accessor of an array."""
        array = np.ascontiguousarray(values, {FLOAT: "<f4", UNSIGNED: "<u4", SHORT: "<u2"}[component])
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": array.nbytes})
        self.data += array.tobytes()
        accessor = {"bufferView": len(self.views) - 1, "componentType": component, "count": len(array), "type": kind}
        if bounds:
            rows = array.reshape(len(array), -1)
            accessor |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        self.accessors.append(accessor)
        return len(self.accessors) - 1


def write_gltf(motion: Motion, path: str | Path) -> None:
    """Write a motion and its figure: a .glb file, or a .gltf file that holds its data in itself."""
    check_place(path)
    document, data = format_gltf(motion)
    if Path(path).suffix.lower() == ".glb":
        write_file(path, _binary(document, data))
        return
    if data:
        document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    write_file(path, json.dumps(document))


def _binary(document: dict[str, Any], data: bytes) -> bytes:
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    if data:
        chunks += struct.pack("<I4s", len(data), b"BIN\0") + data
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


def format_gltf(motion: Motion) -> tuple[dict[str, Any], bytes]:
    """The document and the data of the glTF file that holds a motion."""
    figure = motion.figure
    if not figure.segments:
        raise BadValue(f"figure {figure.name!r} has no segment that glTF could hold")
    file = _File()
    nodes = _nodes(figure, file)
    channels, samplers = _channels(motion, nodes, file)
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "supple"},
        "scene": 0,
        "scenes": [{"nodes": [0, len(nodes) - 1] if file.skins else [0]}],
        "nodes": nodes,
        "buffers": [{"byteLength": len(file.data)}],
        "bufferViews": file.views,
        "accessors": file.accessors,
        "meshes": file.meshes,
        "skins": file.skins,
        "animations": [{"name": figure.name, "channels": channels, "samplers": samplers}] if channels else [],
    }
    for key in ("buffers", "bufferViews", "accessors", "meshes", "skins", "animations"):
        if not document[key] or (key == "buffers" and not file.data):
            del document[key]
    return document, bytes(file.data)


def _local(figure: Figure, q: Floats, segment: str) -> Floats:
    """Placements (frames, 4, 4) of a segment in its parent."""
    T, parent = figure.placement(q, segment), figure.parent_of(segment)
    if parent is None:
        return T
    P = figure.placement(q, parent)
    R = P[:, :3, :3].transpose(0, 2, 1)
    out = np.tile(np.eye(4), (len(q), 1, 1))
    out[:, :3, :3] = R @ T[:, :3, :3]
    out[:, :3, 3] = np.einsum("fij,fj->fi", R, T[:, :3, 3] - P[:, :3, 3])
    return out


def _nodes(figure: Figure, file: _File) -> list[dict[str, Any]]:
    """The world's node, then one for each segment in the figure's order."""
    nodes: list[dict[str, Any]] = [{"name": figure.name, "rotation": list(WORLD_TURN), "children": []}]
    number = {None: 0} | {segment: k + 1 for k, segment in enumerate(figure.segments)}
    for segment in figure.segments:
        T = _local(figure, figure.rest[None], segment)
        node: dict[str, Any] = {"name": segment, "translation": T[0, :3, 3].tolist()}
        node["rotation"] = continuous_quaternions(T[:, :3, :3])[0].tolist()
        nodes.append(node)
        nodes[number[figure.parent_of(segment)]].setdefault("children", []).append(number[segment])
    if _skinned(figure, file):
        nodes.append({"name": f"{figure.name} skin", "mesh": 0, "skin": 0})
    return nodes


def _channels(motion: Motion, nodes: list[dict[str, Any]], file: _File) -> tuple[list[Any], list[Any]]:
    """The channels of all that moves, or that stands elsewhere than at rest."""
    channels: list[dict[str, Any]] = []
    samplers: list[dict[str, Any]] = []
    times: int | None = None
    for k, segment in enumerate(motion.figure.segments, 1):
        T = _local(motion.figure, motion.q, segment)
        tracks = {"translation": ("VEC3", T[:, :3, 3]), "rotation": ("VEC4", continuous_quaternions(T[:, :3, :3]))}
        for path, (kind, values) in tracks.items():
            if not np.abs(values - nodes[k][path]).max(initial=0.0) > STILL:
                continue
            if times is None:
                times = file.add(motion.times - motion.times[0], "SCALAR", FLOAT, bounds=True)
            samplers.append({"input": times, "output": file.add(values, kind, FLOAT), "interpolation": "LINEAR"})
            channels.append({"sampler": len(samplers) - 1, "target": {"node": k, "path": path}})
    return channels, samplers


def continuous_quaternions(R: Floats) -> Floats:
    """Quaternions x, y, z, w (frames, 4) of rotations, each of the two signs nearer to the frame before."""
    quaternions = Rotation.from_matrix(R).as_quat()
    if quaternions[0, 3] < 0.0:
        quaternions[0] *= -1.0
    signs = np.sign(np.einsum("fi,fi->f", quaternions[1:], quaternions[:-1]))
    signs[signs == 0.0] = 1.0
    quaternions[1:] *= np.cumprod(signs)[:, None]
    return quaternions


# ── meshes ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def _skinned(figure: Figure, file: _File) -> bool:
    """Add the mesh of all segments and its skin; whether there is anything to see."""
    surfaces: dict[str, list[tuple[Floats, np.ndarray]]] = {}
    for segment, body in figure.bodies.items():
        if body.shapes:
            surfaces[segment] = [_surface(shape) for shape in body.shapes]
    surfaces = surfaces or _spindles(figure)
    places = {segment: figure.placement(figure.rest, segment) for segment in figure.segments}
    primitives = []
    for segment, pieces in surfaces.items():
        T, number = places[segment], figure.segments.index(segment)
        for vertices, triangles in pieces:
            weights, joints = (
                np.tile((1.0, 0.0, 0.0, 0.0), (len(vertices), 1)),
                np.tile((number, 0, 0, 0), (len(vertices), 1)),
            )
            attributes = {
                "POSITION": file.add(vertices @ T[:3, :3].T + T[:3, 3], "VEC3", FLOAT, bounds=True),
                "JOINTS_0": file.add(joints, "VEC4", SHORT),
                "WEIGHTS_0": file.add(weights, "VEC4", FLOAT),
            }
            indices = file.add(triangles.reshape(-1), "SCALAR", UNSIGNED)
            primitives.append({"attributes": attributes, "indices": indices})
    if not primitives:
        return False
    back = np.array([np.linalg.inv(places[segment]).T.ravel() for segment in figure.segments])  # columns first
    back = back.reshape(-1, 4, 4)
    back[:, :, 3] = (0.0, 0.0, 0.0, 1.0)  # exactly
    file.meshes.append({"name": figure.name, "primitives": primitives})
    joints = list(range(1, len(figure.segments) + 1))
    file.skins.append({"joints": joints, "inverseBindMatrices": file.add(back.reshape(-1, 16), "MAT4", FLOAT)})
    return True


def _surface(shape: Shape) -> tuple[Floats, np.ndarray]:
    """Vertices and triangles of a shape, in the segment's frame."""
    if isinstance(shape, Box):
        corners = np.array([[(shape.lower, shape.upper)[k >> axis & 1][axis] for axis in range(3)] for k in range(8)])
        faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
        triangles = np.array([t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))])
        return corners @ shape.at[:3, :3].T + shape.at[:3, 3], triangles
    if isinstance(shape, Cylinder):
        half = shape.length / 2
        return _turned_solid([(0.0, -half), (shape.radius, -half), (shape.radius, half), (0.0, half)], shape.at)
    half = 0.0 if isinstance(shape, Ball) else shape.length / 2
    rise = np.linspace(-np.pi / 2, np.pi / 2, SIDES // 2 + 2)
    profile = [(shape.radius * np.cos(a), shape.radius * np.sin(a) + (half if a > 0 else -half)) for a in rise]
    at = np.eye(4) if isinstance(shape, Ball) else shape.at
    vertices, triangles = _turned_solid(profile, at)
    return (vertices + shape.centre if isinstance(shape, Ball) else vertices), triangles


def _turned_solid(profile: Sequence[tuple[float, float]], at: Floats) -> tuple[Floats, np.ndarray]:
    """What a line of (radius, height) from bottom to top sweeps out about the z axis of a frame."""
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    rings = [np.column_stack([r * np.cos(angle), r * np.sin(angle), np.full(SIDES, z)]) for r, z in profile]
    vertices = np.vstack(rings) @ at[:3, :3].T + at[:3, 3]
    triangles = []
    for ring in range(len(profile) - 1):
        for k in range(SIDES):
            a, b = ring * SIDES + k, ring * SIDES + (k + 1) % SIDES
            triangles += [(a, b, b + SIDES), (a, b + SIDES, a + SIDES)]
    return vertices, np.array(triangles)


def _spindles(figure: Figure) -> dict[str, list[tuple[Floats, np.ndarray]]]:
    """Thin double cones from each segment to the origins of those that hang on it, at rest."""
    out: dict[str, list[tuple[Floats, np.ndarray]]] = {}
    for segment in figure.segments:
        parent = figure.parent_of(segment)
        if parent is None:
            continue
        end = _local(figure, figure.rest[None], segment)[0, :3, 3]
        length = float(np.linalg.norm(end))
        if length > THINNEST:
            x, z = np.linalg.svd(end[None] / length)[2][1], end / length
            at = np.eye(4)
            at[:3, :3] = np.column_stack([x, np.cross(z, x), z])
            profile = [(0.0, 0.0), (0.08 * length, 0.2 * length), (0.0, length)]
            out.setdefault(parent, []).append(_turned_solid(profile, at))
    return out
