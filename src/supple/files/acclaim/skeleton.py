"""ASF files in: a skeleton of bones, each with a direction, a length, axes of its own and up to six degrees of freedom.

With no angle anywhere all frames are parallel to the file's axes. A bone whose axes are C in the file's axes turns by
``C R C⁻¹``, where R is the product of its rotations, the first one named applied first: ``R = Rz Ry Rx`` for the degrees of
freedom rx ry rz. That is a chain of hinges about the columns of C, the last one named outermost. C itself is given by three
angles that are applied in the same way. A bone begins where its parent ends, at ``length · direction``, and its degree
of freedom rx is the coordinate ``<bone>.rx``. Slides come before hinges. Where nothing hangs on a bone its end is the
fixed segment ``<bone>.end``. The root starts from its position and orientation and moves
along and about the file's axes.

A length of the file is one inch times ``:units length``, 0.45 unless the file says otherwise; `unit` overrules that.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from supple.basics.checks import one_of, positive
from supple.errors import BadFile, BadValue
from supple.figure.figure import Figure, Source
from supple.figure.joints import AXES, NOT, Joint
from supple.files.acclaim.text import Bone, Skeleton, read_skeleton
from supple.files.bvh.reader import FILE_AXES, UP
from supple.files.bvh.text import Cursor
from supple.files.lines import as_lines, read_lines
from supple.geometry.placements import Floats, Triple, compose, turned

INCH = 0.0254
USUAL = 0.45  # units of an ASF file in an inch


@dataclass(frozen=True, eq=False, repr=False)
class AsfSource(Source):
    """What an ASF file says beyond the figure: the coordinates of each bone in the file's order, and the unit of angles."""

    channels: tuple[tuple[str, tuple[str, ...]], ...] = ()
    in_degrees: bool = True


def read_asf(path: str | Path, *, unit: float | None = None, up: str | None = None) -> Figure:
    """The skeleton in an ASF file. A unit of the file is `unit` metres, axis `up` is up, y by default."""
    return _read(read_lines(path), unit, up)


def parse_asf(data: bytes, file: str | None = None, *, unit: float | None = None, up: str | None = None) -> Figure:
    """The skeleton in the bytes of an ASF file; `file` is what messages call it."""
    return _read(as_lines(data, file), unit, up)


def _read(cursor: Cursor, unit: float | None, wanted: str | None) -> Figure:
    up = UP if wanted is None else wanted
    if unit is not None:
        unit = positive(unit, "the unit of an ASF file [m]")
    one_of(up, FILE_AXES, "the up axis of an ASF file")
    skeleton = read_skeleton(cursor)
    metres = unit if unit is not None else INCH / (skeleton.length or USUAL)
    channels = tuple((b.name, tuple(f"{b.name}.{dof}" for dof in b.dofs)) for b in skeleton.bones.values() if b.dofs)
    source = AsfSource("asf", metres, up, channels, skeleton.in_degrees)
    try:
        parts = _parts(skeleton, metres, FILE_AXES[up])
        return Figure(
            Path(cursor.file).stem if cursor.file else "asf",
            parts,
            source=source,
            remarks=_assumed(skeleton, unit, wanted),
        )
    except BadFile:
        raise
    except BadValue as error:
        raise BadFile(str(error), file=cursor.file) from error


def _assumed(skeleton: Skeleton, unit: float | None, up: str | None) -> list[str]:
    """What neither the file nor the caller said, and what has no limits."""
    out = []
    if unit is None and not skeleton.length:
        out.append(f"The file does not say its unit: {USUAL:g} of an inch is assumed. Say unit= if that is wrong.")
    if up is None:
        out.append(f"The file does not say which axis is up: {UP} is assumed. Say up= if that is wrong.")
    loose = [bone.name for bone in skeleton.bones.values() if bone.dofs and not bone.limits and bone.parent is not None]
    return out + ([f"Without limits in the file, hence free: {', '.join(loose)}."] if loose else [])


def _parts(skeleton: Skeleton, unit: float, axes: Floats) -> list[Joint]:
    radians = np.pi / 180.0 if skeleton.in_degrees else 1.0
    ends = {name: _end(bone, unit) for name, bone in skeleton.bones.items()}
    parts: list[Joint] = []
    for bone in skeleton.bones.values():
        C = _turned(bone.order, radians * bone.axis)
        if bone.parent is None:
            parts += _joints(bone, compose(axes @ C, axes @ (unit * bone.position)), C.T, unit, radians)
        else:
            parts += _joints(bone, compose(np.eye(3), ends[bone.parent]), C, unit, radians)
    inner = {bone.parent for bone in skeleton.bones.values()}
    leaves = [name for name in skeleton.bones if name not in inner]
    parts += [Joint(f"{name}.end", name, compose(np.eye(3), ends[name]), segment=f"{name}.end") for name in leaves]
    return parts


def _end(bone: Bone, unit: float) -> Floats:
    """Where a bone ends, in its own frame; directions are made unit vectors."""
    size = float(np.linalg.norm(bone.direction))
    return unit * bone.length * bone.direction / (size if size > 1e-9 else 1.0)


def _turned(order: str, angles: Floats) -> Floats:
    """The rotation by angles about fixed x, y and z, the first letter of the order applied first."""
    R = np.eye(3)
    for letter in order:
        R = turned(AXES[letter], float(angles["xyz".index(letter)])) @ R
    return R


def _joints(bone: Bone, at: Floats, C: Floats, unit: float, radians: float) -> list[Joint]:
    """The scalar joints of a bone, slides before hinges, hinges from the last one named; the last moves the segment."""
    limits = dict(zip(bone.dofs, bone.limits, strict=True)) if bone.limits else {}
    slides = [dof for dof in bone.dofs if dof.startswith("t")]
    hinges = [dof for dof in bone.dofs if dof.startswith("r")][::-1]
    if not bone.dofs:
        return [Joint(bone.name, bone.parent, at, segment=bone.name)]
    joints: list[Joint] = []
    for dof in [*slides, *hinges]:
        axis = _column(C, dof[1])
        scale = unit if dof in slides else radians
        lower, upper = (scale * value for value in limits.get(dof, (-np.inf, np.inf)))
        joints.append(
            Joint(
                f"{bone.name}.{dof}",
                joints[-1].key if joints else bone.parent,
                np.eye(4) if joints else at,
                NOT if dof in slides else axis,
                axis if dof in slides else NOT,
                (lower, upper),
                bone.name if len(joints) == len(bone.dofs) - 1 else None,
            )
        )
    return joints


def _column(C: Floats, letter: str) -> Triple:
    x, y, z = C[:, "xyz".index(letter)].tolist()
    return (x, y, z)
