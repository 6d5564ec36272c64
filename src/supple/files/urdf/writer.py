"""Figures written as URDF, every number in full, so that reading the text again gives the same figure.

Hinges, slides, fixed joints and mimic relations are written as they are; a floating or planar joint without limits as
one joint of that type; any other ball, universal, planar or free joint as a chain of joints with massless links
between, each named after the joint that moves it. A figure with several roots, or with a root that moves or stands
elsewhere than at the world's origin, hangs on an empty link ``world``. A capsule is written as a cylinder with a sphere
at each end.

The format has no room for the rest posture, which is left out, and demands tensors of inertia, which a `Body` does not
have: they are written as zero. A speed or an effort without limit is written as 0, an endless slide as ±1e16.
What the format cannot say at all (screws, curved or many-term drives, groups, loops, further linear limits) is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from supple.basics.writing import check_place, write_file
from supple.errors import BadValue
from supple.figure.drives import Linear
from supple.figure.figure import Figure
from supple.figure.joints import Joint, free
from supple.files.urdf.in_planes import planar_about
from supple.files.urdf.reader import UNLIMITED
from supple.geometry.placements import HERE, Floats, Z, place, turned
from supple.geometry.shapes import Ball, Body, Box, Capsule, Hull, Shape


def write_urdf(figure: Figure, path: str | Path) -> None:
    """Write a figure to a URDF file."""
    check_place(path)
    write_file(path, format_urdf(figure))


def format_urdf(figure: Figure) -> str:
    """The URDF text of a figure; a BadValue lists everything that the format cannot hold."""
    reasons = _reasons(figure)
    if reasons:
        raise BadValue(f"figure {figure.name!r} cannot be written as URDF: " + "; ".join(reasons))
    parts = tuple(figure.joints.values())
    names = _link_names(parts)
    joints: list[str] = []
    links: list[str] = [_link(names[None], Body(), ())] if None in names else []
    pending, driving = list(parts), _driving(parts)
    while pending:
        run = _run(pending, parts, driving)
        del pending[: len(run)]
        child = run[-1].key
        body = figure.bodies.get(child, Body())
        links.append(_link(names[child], body, figure.solids.get(child, body.shapes)))
        if run[0].parent in names:
            joints.append(_joint(run, names[run[0].parent], names[child]))
    body = "\n".join([*links, *joints])
    return f'<?xml version="1.0" encoding="utf-8"?>\n<robot name={_quoted(figure.name)}>\n{body}\n</robot>\n'


def _reasons(figure: Figure) -> list[str]:
    """Everything about a figure that URDF cannot express, each reason with the name of its culprit."""
    reasons = [f"loop {loop.name!r} is closed, and URDF holds trees only" for loop in figure.loops]
    reasons += [f"coordinate {c.name!r} is the parameter of a group" for c in figure.drivers]
    hulls = [name for name, solids in figure.solids.items() if any(isinstance(solid, Hull) for solid in solids)]
    reasons += [f"{name!r} keeps clear with a hull, which would be a mesh" for name in hulls]
    if figure.bounds:
        reasons.append("it has linear limits among coordinates")
    for joint in figure.joints.values():
        if any(joint.turn) and any(joint.slide):
            reasons.append(f"joint {joint.name!r} is a screw")
        elif any(joint.slide) and abs(np.linalg.norm(joint.slide) - 1.0) > 1e-12:
            reasons.append(f"joint {joint.name!r} slides {np.linalg.norm(joint.slide):g} m per unit of its coordinate")
        if joint.drive is not None and len(joint.drive.terms) != 1:
            reasons.append(f"joint {joint.name!r} follows {len(joint.drive.terms)} coordinates, and a mimic joint one")
        elif joint.drive is not None and not isinstance(joint.drive.terms[0][1], Linear):
            reasons.append(f"joint {joint.name!r} follows a curve, and a mimic joint a straight line")
    for name in [figure.name, *(j.name for j in figure.joints.values()), *(j.key for j in figure.joints.values())]:
        if not _writable(name):
            reasons.append(f"the name {name!r} has characters that XML cannot hold")
    return list(dict.fromkeys(reasons))


def _writable(name: str) -> bool:
    """Whether XML can hold every character: no control characters, no halves of surrogate pairs, not blank."""
    return bool(name.strip()) and not any(
        (c < " " and c not in "\t\n\r") or "\ud800" <= c <= "\udfff" or c in "\ufffe\uffff" for c in name
    )


def _link_names(parts: tuple[Joint, ...]) -> dict[str | None, str]:
    """The link for each segment and for each joint without one, by key; for the world (None) only if it needs one."""
    names: dict[str | None, str] = {joint.segment: joint.segment for joint in parts if joint.segment is not None}
    for joint in parts:
        if joint.segment is None:
            names[joint.key] = _fresh(joint.name, names)
    roots = [joint for joint in parts if joint.parent is None]
    if len(roots) != 1 or not roots[0].is_fixed or not np.array_equal(roots[0].at, HERE):
        names[None] = _fresh("world", names)
    return names


def _fresh(name: str, names: Mapping[str | None, str]) -> str:
    taken = set(names.values())
    while name in taken:
        name += "_"
    return name


def _driving(parts: tuple[Joint, ...]) -> set[str]:
    return {name for joint in parts if joint.drive is not None for name, _ in joint.drive.terms}


def _run(pending: list[Joint], parts: tuple[Joint, ...], driving: set[str]) -> list[Joint]:
    """The next joints that become one joint of the file: a floating or planar joint at once, else a single one."""
    head = pending[0]
    stem, _, suffix = head.name.rpartition(".")
    if not stem or suffix != "tx" or head.segment is not None:
        return [head]
    for count in (6, 3):
        run = pending[:count]
        if len(run) == count and _is_one_joint(run, stem, driving) and _hangs_alone(run, parts):
            return run
    return [head]


def _is_one_joint(run: list[Joint], stem: str, driving: set[str]) -> bool:
    """Whether these joints are what the reader makes of one floating (6) or planar (3) joint called `stem`."""
    head, last = run[0], run[-1]
    if last.segment is None or {joint.name for joint in run} & driving:
        return False
    if len(run) == 6:
        model = free(stem, head.parent, "zyx", head.at, segment=last.segment)
    elif any(last.turn):
        model = planar_about(last.turn, stem, head.parent, head.at, last.segment)
    else:
        return False
    return all(_same(a, b) for a, b in zip(run, model, strict=True))


def _same(a: Joint, b: Joint) -> bool:
    return (
        (a.name, a.parent, a.segment, a.limits, a.speed, a.rest, a.drive)
        == (b.name, b.parent, b.segment, b.limits, b.speed, b.rest, b.drive)
        and np.array_equal(a.at, b.at)
        and np.allclose([a.turn, a.slide], [b.turn, b.slide], rtol=0.0, atol=1e-15)
    )


def _hangs_alone(run: list[Joint], parts: tuple[Joint, ...]) -> bool:
    inner = {joint.key for joint in run[:-1]}
    return sum(joint.parent in inner for joint in parts) == len(inner)


def _joint(run: list[Joint], parent: str, child: str) -> str:
    head, last = run[0], run[-1]
    kind = _kind(run)
    name = head.name if len(run) == 1 else head.name.rpartition(".")[0]
    lines = [
        f'  <joint name={_quoted(name)} type="{kind}">',
        f"    {_origin(head.at)}",
        f"    <parent link={_quoted(parent)}/>",
        f"    <child link={_quoted(child)}/>",
    ]
    if kind not in ("fixed", "floating"):
        lines.append(f'    <axis xyz="{_numbers(last.turn if any(last.turn) else last.slide)}"/>')
    if kind in ("revolute", "prismatic", "continuous"):
        lines.append(f"    {_limit(head, kind)}")
    if head.drive is not None:
        (leader, curve), offset = head.drive.terms[0], head.drive.offset
        slope = curve.slope if isinstance(curve, Linear) else np.nan
        values = f'multiplier="{_number(slope)}" offset="{_number(offset)}"'
        lines.append(f"    <mimic joint={_quoted(leader)} {values}/>")
    return "\n".join([*lines, "  </joint>"])


def _kind(run: list[Joint]) -> str:
    joint = run[0]
    if len(run) > 1:
        return "floating" if len(run) == 6 else "planar"
    if joint.is_fixed:
        return "fixed"
    if any(joint.slide):
        return "prismatic"
    return "continuous" if np.isinf(joint.limits).all() else "revolute"


def _limit(joint: Joint, kind: str) -> str:
    speed = "0" if np.isinf(joint.speed) else _number(joint.speed)
    if kind == "continuous":
        return f'<limit effort="0" velocity="{speed}"/>'
    lower, upper = np.clip(joint.limits, -UNLIMITED, UNLIMITED).tolist()
    return f'<limit lower="{_number(lower)}" upper="{_number(upper)}" effort="0" velocity="{speed}"/>'


def _link(name: str, body: Body, shapes: Sequence[Shape | Hull]) -> str:
    lines: list[str] = []
    if body.mass:
        zero = " ".join(f'{entry}="0"' for entry in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
        lines += [
            "    <inertial>",
            f"      {_origin(place(body.centre))}",
            f'      <mass value="{_number(body.mass)}"/>',
            f"      <inertia {zero}/>",
            "    </inertial>",
        ]
    for shape in shapes:
        assert not isinstance(shape, Hull)  # these were refused
        lines += [f"    <collision>{_origin(at)}<geometry>{g}</geometry></collision>" for at, g in _geometry(shape)]
    if not lines:
        return f"  <link name={_quoted(name)}/>"
    return "\n".join([f"  <link name={_quoted(name)}>", *lines, "  </link>"])


def _geometry(shape: Shape) -> list[tuple[Floats, str]]:
    """The elements that occupy the room of a shape, each with its place."""
    if isinstance(shape, Ball):
        return [(place(shape.centre), f'<sphere radius="{_number(shape.radius)}"/>')]
    if isinstance(shape, Box):
        lower, upper = np.array(shape.lower), np.array(shape.upper)
        return [(shape.at @ place((lower + upper) / 2), f'<box size="{_numbers(upper - lower)}"/>')]
    radius, length = _number(shape.radius), _number(shape.length)
    parts = [(shape.at, f'<cylinder radius="{radius}" length="{length}"/>')]
    if isinstance(shape, Capsule):
        ends = (place((0.0, 0.0, sign * shape.length / 2)) for sign in (-1.0, 1.0))
        parts += [(shape.at @ end, f'<sphere radius="{radius}"/>') for end in ends]
    return parts


def _origin(at: Floats) -> str:
    return f'<origin xyz="{_numbers(at[:3, 3])}" rpy="{_numbers(roll_pitch_yaw(at[:3, :3]))}"/>'


def roll_pitch_yaw(R: Floats) -> tuple[float, float, float]:
    """The angles with ``R = Rz(yaw) Ry(pitch) Rx(roll)``, exact to rounding at a pitch of ±90° too.

    There yaw alone is not determined by R; whatever it comes out as is divided off before roll is read, so the product
    is right in any case.
    """
    yaw = float(np.arctan2(R[1, 0], R[0, 0]))
    M = turned(Z, -yaw) @ R
    return float(np.arctan2(-M[1, 2], M[1, 1])), float(np.arctan2(-M[2, 0], M[0, 0])), yaw


def _number(value: float) -> str:
    text = repr(float(value) + 0.0)  # no −0.0
    return text.removesuffix(".0")


def _numbers(values: np.ndarray | tuple[float, ...]) -> str:
    return " ".join(_number(value) for value in values)


ESCAPES: Mapping[int, str] = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)


def _quoted(name: str) -> str:
    return f'"{name.translate(ESCAPES)}"'
