"""glTF and VRM files in: nodes, skins and animations; meshes and materials play no part.

A file is JSON with its data beside it or behind it (see `khronos_data`). Units are metres, y is up. The first animation is
read, or the one that is named; it is sampled at its own key times, all channels together. Between keys turns go along the great
circle (`LINEAR`), places along a line; `STEP` stays; `CUBICSPLINE` is the polynomial of the keys and their tangents. VRM files
also say which nodes are which bones of a person: kept as `roles`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from supple.figure.figure import Figure
from supple.files.rigs.bones import MOST_FRAMES, MOST_NODES, MOST_NUMBERS, Rig, motion_of
from supple.files.rigs.khronos_data import MOST_BYTES, Document
from supple.files.xml import read_bytes, shown
from supple.geometry.placements import Floats
from supple.motion.motion import Motion

PATHS = {"translation": 3, "rotation": 4, "scale": 3}


def read_gltf_figure(path: str | Path) -> Figure:
    """The skeleton in a glTF or VRM file."""
    return read_gltf(path).figure


def read_gltf(path: str | Path, *, animation: str | None = None) -> Motion:
    """The motion in a glTF or VRM file: of its first animation, or the one of that name; one frame where there is none."""
    return parse_gltf(read_bytes(path, MOST_BYTES), str(path), animation=animation)


def parse_gltf(data: bytes, file: str | None = None, *, animation: str | None = None) -> Motion:
    """The motion in the bytes of a glTF or VRM file; `file` is what messages call it."""
    return motion_of(_Nodes(data, file).rig(animation))


class _Nodes(Document):
    """A document and the nodes in it."""

    # ── nodes ────────────────────────────────────────────────────────────────────────────────────────────────────────
    def rig(self, animation: str | None) -> Rig:
        """The nodes with their placements."""
        nodes = self.items("nodes")
        if len(nodes) > MOST_NODES:
            self.refuse(f"the file has {len(nodes)} nodes, more than {MOST_NODES}")
        order, parents = self._tree(nodes)
        place = {k: n for n, k in enumerate(order)}
        local: list[Any] = [self._local(nodes[k]) for k in order]
        ups = [place[parents[k]] if parents[k] >= 0 else -1 for k in order]
        bones = {place[j] for skin in self.items("skins") for j in self._indices(skin, "joints", len(nodes))}
        names = [str(nodes[k].get("name") or "") for k in order]
        roles = tuple((names[place[k]] or f"node {place[k]}", role) for role, k in self._roles() if k in place)
        notes: list[str] = []
        times, values = self._animation(animation, notes)
        rest = _worlds(ups, [_matrix(*each) if isinstance(each, tuple) else each[None] for each in local], 1)[0]
        frames = None
        if len(times):
            if len(times) * len(nodes) * 16 > MOST_NUMBERS:
                self.refuse(f"{len(times)} frames of {len(nodes)} nodes are more than can be read")
            moving = []
            for n, k in enumerate(order):
                own = local[n]
                if k not in values or not isinstance(own, tuple):
                    moving.append(_matrix(*own) if isinstance(own, tuple) else own[None])
                    continue
                given: dict[str, Any] = values[k]
                moving.append(_matrix(*(given.get(p, part) for p, part in zip(PATHS, own, strict=True))))
            frames = _worlds(ups, moving, len(times))
        return Rig(
            self.file, "gltf", names, ups, rest, bones, times=times if len(times) else np.zeros(1), frames=frames,
            notes=notes, roles=roles,
        )  # fmt: skip

    def _indices(self, holder: dict[str, Any], key: str, count: int) -> list[int]:
        found = self.part(holder, key, list, [])
        if not all(isinstance(k, int) and not isinstance(k, bool) and 0 <= k < count for k in found):
            self.refuse(f"{shown(key)} must be numbers of nodes")
        return found

    def _tree(self, nodes: list[dict[str, Any]]) -> tuple[list[int], list[int]]:
        """The nodes with parents before children, and their parents."""
        parents = [-1] * len(nodes)
        for k, node in enumerate(nodes):
            for child in self._indices(node, "children", len(nodes)):
                if parents[child] != -1 or child == k:
                    self.refuse(f"node {child} hangs on several nodes, or on itself")
                parents[child] = k
        order = [k for k in range(len(nodes)) if parents[k] < 0]
        for k in order:
            order += self._indices(nodes[k], "children", len(nodes))
        if len(order) != len(nodes):
            self.refuse("nodes hang on themselves")
        return order, parents

    def _local(self, node: dict[str, Any]) -> Any:
        """Translation, rotation and scale of a node (1, …), or its matrix."""
        if "matrix" in node:
            return self.numbers(node, "matrix", tuple(np.eye(4).ravel())).reshape(4, 4).T
        defaults = {"translation": (0.0, 0.0, 0.0), "rotation": (0.0, 0.0, 0.0, 1.0), "scale": (1.0, 1.0, 1.0)}
        return tuple(self.numbers(node, key, default)[None] for key, default in defaults.items())

    def _roles(self) -> list[tuple[str, int]]:
        """The bones of a person that VRM 0 and 1 name."""
        extensions = self.part(self.json, "extensions", dict, {})
        one = self.part(self.part(extensions, "VRMC_vrm", dict, {}), "humanoid", dict, {})
        bones = self.part(one, "humanBones", dict, {})
        out = [(role, each.get("node")) for role, each in bones.items() if isinstance(each, dict)]
        zero = self.part(self.part(extensions, "VRM", dict, {}), "humanoid", dict, {})
        listed = self.part(zero, "humanBones", list, [])
        out += [(str(each.get("bone")), each.get("node")) for each in listed if isinstance(each, dict)]
        return [(role, node) for role, node in out if isinstance(node, int)]

    # ── animations ───────────────────────────────────────────────────────────────────────────────────────────────────
    def _animation(self, wanted: str | None, notes: list[str]) -> tuple[Floats, dict[int, dict[str, Floats]]]:
        """The key times of an animation and the values of nodes there."""
        animations = self.items("animations")
        names = [str(a.get("name", f"animation {k}")) for k, a in enumerate(animations)]
        if wanted is not None and wanted not in names:
            self.refuse(
                f"there is no animation {shown(wanted)}; there are {', '.join(map(shown, names[:10])) or 'none'}"
            )
        if not animations:
            return np.empty(0), {}
        chosen = names.index(wanted) if wanted is not None else 0
        if len(animations) > 1:
            notes.append(f"Of {len(animations)} animations {shown(names[chosen])} is read. Say animation= for another.")
        animation = animations[chosen]
        samplers, channels = self.part(animation, "samplers", list, []), self.part(animation, "channels", list, [])
        tracks, other = [], 0
        for channel in channels:
            target = self.part(channel, "target", dict, {})
            node, path = target.get("node"), target.get("path")
            if path not in PATHS or not isinstance(node, int):
                other += 1
                continue
            if "matrix" in self.at("nodes", node):
                self.refuse(f"node {node} has a matrix and is animated")
            number = self.part(channel, "sampler", int, -1)
            if not 0 <= number < len(samplers) or not isinstance(samplers[number], dict):
                self.refuse(f"there is no sampler {number}")
            tracks.append((node, path, *self._track(samplers[number], path)))
        if other:
            notes.append(f"{other} channels move no node: left out.")
        times = np.unique(np.concatenate([keys for _, _, keys, _, _ in tracks])) if tracks else np.empty(0)
        if len(times) > MOST_FRAMES:
            self.refuse(f"the animation has {len(times)} times, more than {MOST_FRAMES}")
        out: dict[int, dict[str, Floats]] = {}
        for node, path, keys, values, how in tracks:
            out.setdefault(node, {})[path] = _sampled(times, keys, values, how, path == "rotation")
        return times, out

    def _track(self, sampler: dict[str, Any], path: str) -> tuple[Floats, Floats, str]:
        keys = self.accessor(sampler.get("input"), "SCALAR").ravel()
        values = self.accessor(sampler.get("output"), f"VEC{PATHS[path]}")
        how = self.part(sampler, "interpolation", str, "LINEAR")
        per = 3 if how == "CUBICSPLINE" else 1
        if how not in ("LINEAR", "STEP", "CUBICSPLINE") or not len(keys) or len(values) != per * len(keys):
            self.refuse(f"a sampler of {path} has {len(keys)} times and {len(values)} values, {shown(how)}")
        if (np.diff(keys) < 0.0).any():
            self.refuse(f"the times of a sampler of {path} do not rise")
        last = np.append(np.diff(keys) > 0.0, True)  # of values at one time the last stays
        return keys[last], values.reshape(len(keys), per, -1)[last].reshape(-1, values.shape[1]), how


def _matrix(translation: Floats, rotation: Floats, scale: Floats) -> Floats:
    """Matrices (frames, 4, 4) of parts that have one row or as many as the longest."""
    count = max(len(translation), len(rotation), len(scale))
    length = np.linalg.norm(rotation, axis=1, keepdims=True)
    rotation = np.where(length > 1e-9, rotation / np.maximum(length, 1e-9), (0.0, 0.0, 0.0, 1.0))
    out = np.tile(np.eye(4), (count, 1, 1))
    out[:, :3, :3] = Rotation.from_quat(rotation).as_matrix() * scale[:, None, :]
    out[:, :3, 3] = translation
    return out


def _worlds(parents: list[int], local: list[Floats], frames: int) -> Floats:
    out = np.empty((frames, len(parents), 4, 4))
    for k, up in enumerate(parents):
        out[:, k] = out[:, up] @ local[k] if up >= 0 else local[k]
    return out


def _sampled(times: Floats, keys: Floats, values: Floats, how: str, turns: bool) -> Floats:
    """A track at some times; before and after its keys it stays."""
    t = np.clip(times, keys[0], keys[-1])
    k = np.clip(np.searchsorted(keys, t, side="right") - 1, 0, max(len(keys) - 2, 0))
    if len(keys) == 1:
        return np.tile(values[1 if how == "CUBICSPLINE" else 0], (len(times), 1))
    width = keys[k + 1] - keys[k]
    s = ((t - keys[k]) / width)[:, None]
    if how == "STEP":
        return values[np.where(t >= keys[k + 1], k + 1, k)]
    if how == "CUBICSPLINE":
        a, p, b = values[0::3], values[1::3], values[2::3]
        h = width[:, None]
        return (
            (2 * s**3 - 3 * s**2 + 1) * p[k] + h * (s**3 - 2 * s**2 + s) * b[k]
            + (3 * s**2 - 2 * s**3) * p[k + 1] + h * (s**3 - s**2) * a[k + 1]
        )  # fmt: skip
    if not turns:
        return (1 - s) * values[k] + s * values[k + 1]
    p, q = (v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-12) for v in (values[k], values[k + 1]))
    dot = np.einsum("ij,ij->i", p, q)[:, None]
    q, dot = np.where(dot < 0, -q, q), np.abs(dot)
    angle = np.arccos(np.clip(dot, 0.0, 1.0))
    sine = np.maximum(np.sin(angle), 1e-12)
    near = angle < 1e-6
    return np.where(near, (1 - s) * p + s * q, np.sin((1 - s) * angle) / sine * p + np.sin(s * angle) / sine * q)
