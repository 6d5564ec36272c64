"""BVH files in: a skeleton of offsets and channels, and one row of numbers for each frame.

Every channel becomes one scalar joint. The joint ``Hips`` with the channels Xposition, Zrotation, Xrotation is the
slide ``Hips.tx``, then the hinges ``Hips.z`` and ``Hips.x``, the last of which moves the segment ``Hips``. Rotations
follow each other in the order of the channels, ``R = R_first R_second R_third``. Positions add to the offset, in the
parent's axes, wherever they stand among the channels. An end site is the fixed segment ``<joint>.end``. Some files
write the offset once more into the positions of joints below the root: where most of these lie nearer to their offset
than to 0, it is taken off, and a note of the figure says so.

The format names neither its unit nor its up axis, so the caller does: `unit` is the number of metres in one unit of the
file and `up` is the axis of the file that points up. Lengths are scaled; nothing else happens to the channels, for the
file's axes are turned into the world's (z up) once, under the roots:

====  =====================  ==================================
up    file axes x, y, z are  turn
====  =====================  ==================================
"z"   world  x, y, z         none
"y"   world  x, z, −y        +90° about x
"x"   world  z, y, −x        −90° about y
====  =====================  ==================================
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from supple.basics.checks import one_of, positive
from supple.errors import BadFile, BadValue
from supple.figure.figure import Figure, Source
from supple.figure.joints import AXES, NOT, Joint
from supple.files.bvh.text import MOST_BYTES, Cursor, Node, read_header, read_hierarchy, read_table
from supple.files.xml import read_bytes
from supple.geometry.placements import Floats, compose
from supple.motion.motion import Motion

FILE_AXES: dict[str, Floats] = {  # up axis of a file: its axes, as columns, in the world
    "x": np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
}

UNIT, UP = 0.01, "y"  # what is assumed where nobody says


@dataclass(frozen=True, eq=False, repr=False)
class BvhSource(Source):
    """What a BVH file says beyond figure and motion: its frame time [s], and channel orders that joints do not show."""

    frame_time: float = 0.0
    orders: tuple[tuple[str, tuple[str, ...]], ...] = ()  # of joints with a rotation before a position


def read_bvh(path: str | Path, *, unit: float | None = None, up: str | None = None) -> Motion:
    """The motion in a BVH file; its `figure` is the skeleton. A unit of the file is `unit` metres, axis `up` is up.

    By default a unit is a centimetre and y is up; a note of the figure says so.
    """
    data = read_bytes(path, MOST_BYTES)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadFile("this is not UTF-8 text: save it as such", file=str(path), line=line) from error
    return parse_bvh(text, str(path), unit=unit, up=up)


def read_skeleton(path: str | Path, *, unit: float | None = None, up: str | None = None) -> Figure:
    """The skeleton of a BVH file, without its motion."""
    return read_bvh(path, unit=unit, up=up).figure


def parse_bvh(text: str, file: str | None = None, *, unit: float | None = None, up: str | None = None) -> Motion:
    """The motion in the text of a BVH file; `file` is what messages call it."""
    remarks = _assumed(unit, up)
    unit = positive(UNIT if unit is None else unit, "the unit of a BVH file [m]")
    up = UP if up is None else up
    one_of(up, FILE_AXES, "the up axis of a BVH file")
    if len(text) > MOST_BYTES:
        raise BadFile(f"the text has more than {MOST_BYTES} characters", file=file)
    cursor = Cursor(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), file)
    nodes = read_hierarchy(cursor)
    columns = [(f"{node.name}.{code}", code) for node in nodes for code in node.channels]
    frames, frame_time = read_header(cursor)
    table = read_table(cursor, frames, len(columns))
    remarks += _without_offsets(nodes, table)
    orders = tuple((node.name, node.channels) for node in nodes if node.channels != node.slides_first)
    source = BvhSource("bvh", unit, up, frame_time, orders)
    parts = [joint for node in nodes for joint in _joints(node, unit, FILE_AXES[up])]
    try:
        figure = Figure(Path(file).stem if file else "bvh", parts, source=source, remarks=remarks)
    except BadValue as error:
        raise BadFile(str(error), file=file) from error
    table *= [unit if code.startswith("t") else np.pi / 180.0 for _, code in columns]
    column_of = {name: k for k, (name, _) in enumerate(columns)}
    order = [column_of[name] for name in figure.coordinates]
    return Motion(figure, table[:, order], frame_time * np.arange(frames, dtype=np.float64), source=source)


def _assumed(unit: float | None, up: str | None) -> list[str]:
    """What the format does not say, and the caller did not."""
    out = (
        []
        if unit is not None
        else [f"The file does not say its unit: {UNIT:g} m is assumed. Say unit= if that is wrong."]
    )
    out += (
        []
        if up is not None
        else [f"The file does not say which axis is up: {UP} is assumed. Say up= if that is wrong."]
    )
    return [*out, "The format has no limits: every joint turns as far as it likes."]


def _without_offsets(nodes: list[Node], table: Floats) -> list[str]:
    """Take offsets off the positions that repeat them, in place; a remark if there are any."""
    column, given, repeated = 0, [], 0
    for node in nodes:
        codes = list(node.channels)
        if node.parent is not None and {"tx", "ty", "tz"} <= set(codes) and len(table):
            columns = [column + codes.index(code) for code in ("tx", "ty", "tz")]
            offset, places = np.asarray(node.offset), table[:, columns]
            size = float(np.linalg.norm(offset))
            if size > 0.0:
                given.append((columns, offset))
                repeated += np.median(np.linalg.norm(places - offset, axis=1)) < 0.5 * size
        column += len(codes)
    if repeated < 2 or 2 * repeated <= len(given):
        return []
    for columns, offset in given:  # also of a joint that walks about: who writes places so writes all of them so
        table[:, columns] -= offset
    return [f"The positions of {len(given)} joints repeat their offsets: these were taken off."]


def _joints(node: Node, unit: float, axes: Floats) -> list[Joint]:
    """The scalar joints of one node, slides before hinges; the last one moves the segment."""
    turn = axes if node.parent is None else np.eye(3)
    at = compose(turn, turn @ (unit * np.asarray(node.offset)))
    if not node.channels:
        return [Joint(node.name, node.parent, at, segment=node.name)]
    joints: list[Joint] = []
    for code in node.slides_first:
        axis, is_slide = AXES[code[-1]], code.startswith("t")
        parent, place = (joints[-1].key, np.eye(4)) if joints else (node.parent, at)
        segment = node.name if len(joints) == len(node.channels) - 1 else None
        name = f"{node.name}.{code}"
        joints.append(Joint(name, parent, place, NOT if is_slide else axis, axis if is_slide else NOT, segment=segment))
    return joints
