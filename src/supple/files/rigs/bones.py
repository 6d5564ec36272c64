"""What glTF, VRM, FBX and USD say of a skeleton, as a figure and its motion.

Readers hand over nodes: names, parents, and the placement of every node in the file's axes at rest and in each frame, as
matrices (with their scales). Here they become segments. A segment keeps where its node is and how it is turned; scales are
worked into places, so a node that grows moves what hangs on it. Every segment turns about x, y and z of its own axes, all 0 at
rest; a root, and whatever moves in its parent by more than `STILL`, slides along them first. Nodes that are no bones, carry
none, and do not move are left out. The file's up axis is turned to the world's under the roots.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from supple.errors import BadFile, BadValue
from supple.figure.figure import Figure, Source
from supple.figure.joints import AXES, NOT, Joint
from supple.files.bvh.reader import FILE_AXES
from supple.geometry.placements import Floats, compose
from supple.motion.motion import Motion

STILL = 1e-5  # [m], and of turns [rad]
MOST_NODES = 5_000
MOST_FRAMES = 200_000
MOST_NUMBERS = 200_000_000
SHEARED = 1e-6  # the least volume between axes of length 1
FLATTEST = 1e-9  # the least size of an axis that has a direction


@dataclass(eq=False)
class Rig:
    """The nodes of a file: parents come before children, matrices are in the file's axes and metres."""

    file: str | None
    format: str
    names: list[str]
    parents: list[int]  # −1: none
    rest: Floats  # (nodes, 4, 4)
    bones: set[int]  # nodes that a skin or a skeleton names; empty: the file has none
    unit: float = 1.0
    up: str = "y"
    times: Floats = field(default_factory=lambda: np.zeros(1))
    frames: Floats | None = None  # (frames, nodes, 4, 4); None: it does not move
    notes: list[str] = field(default_factory=list)
    roles: tuple[tuple[str, str], ...] = ()  # what a segment is to the program that wrote the file


@dataclass(frozen=True, eq=False, repr=False)
class RigSource(Source):
    """What a file of an animation program says beside skeleton and motion: which bones of a person its segments are (VRM)."""

    roles: tuple[tuple[str, str], ...] = ()


def motion_of(rig: Rig) -> Motion:
    """The figure and the motion of a rig; one frame at rest where nothing moves."""
    if not rig.names:
        raise BadFile("the file holds no nodes", file=rig.file)
    if len(rig.names) > MOST_NODES:
        raise BadFile(f"the file has {len(rig.names)} nodes, more than {MOST_NODES}", file=rig.file)
    rest, names = _rigid(rig, rig.rest[None])[0], _distinct(rig)
    frames = rest[None] if rig.frames is None else _rigid(rig, rig.frames)
    kept = _kept(rig, rest, frames)
    above = {k: _above(rig, k, kept) for k in kept}
    source = RigSource(rig.format, rig.unit, rig.up, rig.roles)
    parts: list[Joint] = []
    columns: dict[str, Floats] = {}
    for k in kept:
        up = above[k]
        local = _inverse(rest[up]) @ rest[k] if up >= 0 else compose(FILE_AXES[rig.up], (0.0, 0.0, 0.0)) @ rest[k]
        moving = _inverse(frames[:, up]) @ frames[:, k] if up >= 0 else _upright(rig.up) @ frames[:, k]
        change = _inverse(local) @ moving
        chain, values = _joints(names[k], names[up] if up >= 0 else None, local, change, root=up < 0)
        parts += chain
        columns |= values
    left = len(rig.names) - len(kept)
    remarks = [
        *rig.notes,
        *([f"{left} nodes that are no bones, carry none and do not move are left out."] if left else []),
    ]
    remarks.append("The format has no limits: every joint turns as far as it likes.")
    try:
        figure = Figure(_title(rig), parts, source=source, remarks=remarks)
        q = np.column_stack([columns[name] for name in figure.coordinates])
        return Motion(figure, q, rig.times, source=source)
    except BadValue as error:
        raise BadFile(str(error), file=rig.file) from error


def _title(rig: Rig) -> str:
    return (Path(rig.file).stem if rig.file else "") or rig.format


def _upright(up: str) -> Floats:
    return compose(FILE_AXES[up], (0.0, 0.0, 0.0))


def _inverse(T: Floats) -> Floats:
    """The inverse of placements (…, 4, 4)."""
    R = np.swapaxes(T[..., :3, :3], -1, -2)
    out = np.zeros_like(T)
    out[..., :3, :3], out[..., 3, 3] = R, 1.0
    out[..., :3, 3] = -np.einsum("...ij,...j->...i", R, T[..., :3, 3])
    return out


def _rigid(rig: Rig, M: Floats) -> Floats:
    """Placements nearest to matrices (frames, nodes, 4, 4): their scale and shear taken out of the axes."""
    if not np.isfinite(M).all() or np.abs(M).max(initial=0.0) > 1e9:
        raise BadFile("a placement of a node is no number of a sensible size", file=rig.file)
    A = M[..., :3, :3]
    length = np.linalg.norm(A, axis=-2)
    volume = np.abs(np.linalg.det(A / np.maximum(length, FLATTEST)[..., None, :]))
    flat = ((length < FLATTEST).any(axis=-1) | (volume < SHEARED)).any(axis=0)
    if flat.any():
        A = np.where(flat[None, :, None, None], np.eye(3), A)
        names = ", ".join([rig.names[k] for k in np.flatnonzero(flat)][:6])
        rig.notes.append(f"Nodes that are scaled to nothing keep their place and lose their turn: {names}.")
    u, _, v = np.linalg.svd(A)
    mirrored = np.linalg.det(u @ v) < 0.0
    u[..., :, 2] *= np.where(mirrored, -1.0, 1.0)[..., None]
    if mirrored.any():
        rig.notes.append("Nodes that are mirrored are turned as nearly as a turn can.")
    out = M.copy()
    out[..., :3, :3] = u @ v
    out[..., 3, :] = (0.0, 0.0, 0.0, 1.0)
    return out


def _distinct(rig: Rig) -> list[str]:
    """A name of its own for every node."""
    taken: set[str] = set()
    out = []
    for k, name in enumerate(rig.names):
        name = " ".join(name.split()) or f"node {k}"
        new, n = name, 2
        while new in taken:
            new, n = f"{name}_{n}", n + 1
        taken.add(new)
        out.append(new)
    return out


def _kept(rig: Rig, rest: Floats, frames: Floats) -> list[int]:
    """The nodes that become segments, parents first."""
    wanted = set(rig.bones)
    for k, up in enumerate(rig.parents):
        local = frames[:, k] if up < 0 else _inverse(frames[:, up]) @ frames[:, k]
        still = rest[k] if up < 0 else _inverse(rest[up]) @ rest[k]
        if np.abs(local - still).max() > STILL:
            wanted.add(k)
    if not wanted:
        return list(range(len(rig.names)))
    for k in sorted(wanted, reverse=True):  # parents come first, so that this meets every ancestor once
        up = rig.parents[k]
        while up >= 0 and up not in wanted and any(b in wanted for b in _path(rig, up)):
            wanted.add(up)
            up = rig.parents[up]
    return sorted(wanted)


def _path(rig: Rig, k: int) -> list[int]:
    out = []
    while k >= 0:
        out.append(k)
        k = rig.parents[k]
    return out


def _above(rig: Rig, k: int, kept: list[int]) -> int:
    """The nearest ancestor that is a segment."""
    known, up = set(kept), rig.parents[k]
    while up >= 0 and up not in known:
        up = rig.parents[up]
    return up


def _joints(
    name: str, parent: str | None, local: Floats, change: Floats, root: bool
) -> tuple[list[Joint], dict[str, Floats]]:
    """The scalar joints of one segment, and their values in every frame."""
    angles = _continuous(_angles(change))
    slides = root or bool(np.abs(change[:, :3, 3]).max() > STILL)
    joints: list[Joint] = []
    columns: dict[str, Floats] = {}
    for code in ("tx", "ty", "tz", "rx", "ry", "rz") if slides else ("rx", "ry", "rz"):
        axis, is_slide, k = AXES[code[-1]], code[0] == "t", "xyz".index(code[-1])
        key, at = (joints[-1].key, np.eye(4)) if joints else (parent, local)
        segment = name if code == "rz" else None
        joints.append(
            Joint(f"{name}.{code}", key, at, NOT if is_slide else axis, axis if is_slide else NOT, segment=segment)
        )
        columns[joints[-1].name] = change[:, k, 3] if is_slide else angles[:, k]
    return joints, columns


def _angles(T: Floats) -> Floats:
    """Angles (frames, 3) of turns about x, then y, then z of their own axes; the last is 0 where the first and last are one."""
    R = T[:, :3, :3]
    level = np.hypot(R[:, 0, 0], R[:, 0, 1])
    locked = level < 1e-9
    a = np.where(locked, np.arctan2(R[:, 2, 1], R[:, 1, 1]), np.arctan2(-R[:, 1, 2], R[:, 2, 2]))
    c = np.where(locked, 0.0, np.arctan2(-R[:, 0, 1], R[:, 0, 0]))
    return np.column_stack([a, np.arctan2(R[:, 0, 2], level), c])


def _continuous(angles: Floats) -> Floats:
    """Of the two ways to say each turn by angles (frames, 3) the one nearer to the frame before, without leaps of a turn."""
    out = angles.copy()
    for k in range(1, len(out)):
        a = out[k]
        other = np.array([a[0] + np.pi, np.pi - a[1], a[2] + np.pi])
        choices = [c + 2.0 * np.pi * np.round((out[k - 1] - c) / (2.0 * np.pi)) for c in (a, other)]
        out[k] = min(choices, key=lambda c: float(np.abs(c - out[k - 1]).sum()))
    return out
