"""BVH files out: channels as they came if the figure is built like a BVH skeleton, else Euler angles of its segments.

All frames of a BVH skeleton are parallel when every channel is zero, and channels turn about or slide along coordinate
axes. A figure that was read from a BVH file is like that, and is written back channel by channel. Any other tree is
written by what its segments do: with R_s(q) the world rotation of segment s, B the file's axes in the world, and the
figure's rest posture as the one without angles, the file holds the frames ``W_s = R_s(q) R_s(rest)ᵀ B``, each relative
to its parent's, as Zrotation, Yrotation, Xrotation. Roots get position channels too, and so does every segment whose
origin can move in its parent. Reading the file back gives ``R_s(q) = W_s Bᵀ R_s(rest)``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from supple.basics.writing import check_place, write_file
from supple.errors import BadValue
from supple.figure.figure import Figure
from supple.figure.joints import AXES, Joint
from supple.files.bvh.reader import FILE_AXES, BvhSource
from supple.files.bvh.text import MOST_DEPTH
from supple.files.lines import even_step
from supple.geometry.placements import Floats
from supple.motion.motion import Motion

CENTIMETRE = 0.01
GIMBAL = 1e-10  # cosine of the middle angle below which the first one is free: less than this is lost by choosing it
CODES = {axis: code for code, axis in AXES.items()}


@dataclass(frozen=True, eq=False)
class _Block:
    """One ROOT, JOINT or End Site as it will be written: file units, degrees."""

    name: str
    parent: str | None
    offset: Floats
    channels: tuple[str, ...]  # "tx" for Xposition, "x" for Xrotation
    values: Floats  # (frames, channels)
    is_end: bool = False


def write_bvh(motion: Motion, path: str | Path) -> None:
    """Write a motion and its figure: in unit and axes of the BVH file it came from, else in centimetres with y up."""
    check_place(path)
    write_file(path, format_bvh(motion))


def format_bvh(motion: Motion) -> str:
    """The text of the BVH file that holds a motion and its figure."""
    source = motion.source
    unit, up = (source.unit, source.up) if source is not None and source.format == "bvh" else (CENTIMETRE, "y")
    chains = {segment: _chain(motion.figure, segment) for segment in motion.figure.segments}
    if not chains:
        raise BadValue(f"figure {motion.figure.name!r} has no segment that BVH could hold")
    layout = _as_it_is if _fits(chains, FILE_AXES[up]) else _as_euler_angles
    blocks = _depth_first(layout(motion, chains, unit, FILE_AXES[up]))
    _check_names(blocks)
    table = np.hstack([block.values for block in blocks])
    row = " ".join(["%.15g"] * table.shape[1])
    known = motion.source.frame_time if isinstance(motion.source, BvhSource) else 0.0
    step = even_step(motion.times, "BVH", known)
    head = [*_hierarchy(blocks), "MOTION", f"Frames: {len(motion)}", f"Frame Time: {step:.15g}"]
    return "\n".join([*head, *(row % tuple(frame) for frame in table.tolist())]) + "\n"


def _check_names(blocks: list[_Block]) -> None:
    """Refuse names that a reader would take apart."""
    for name in (block.name for block in blocks):
        if name != " ".join(name.split()) or "{" in name or "}" in name or not name.isprintable():
            raise BadValue(f"BVH cannot hold the name {name!r}: rename the segment without braces and odd blanks")


def _chain(figure: Figure, segment: str) -> tuple[Joint, ...]:
    """The joints from the nearest named segment above (or the world) to `segment`."""
    chain = [figure.joint_of[segment]]
    while (above := chain[0].parent) is not None and figure.joint_of[above].segment is None:
        chain.insert(0, figure.joint_of[above])
    return tuple(chain)


def _code(joint: Joint) -> str | None:
    """The channel that does what this joint does, if there is one."""
    if joint.is_fixed or joint.drive is not None:
        return None
    if any(joint.turn):
        return None if any(joint.slide) else CODES.get(joint.turn)
    return "t" + CODES[joint.slide] if joint.slide in CODES else None


def _fits(chains: dict[str, tuple[Joint, ...]], axes: Floats) -> bool:
    """Whether every segment moves exactly as BVH channels do: parallel frames, one offset, slides before hinges."""
    for chain in chains.values():
        codes = [_code(joint) for joint in chain]
        if len(chain) == 1 and chain[0].is_fixed:
            codes = []
        order = [code is not None and not code.startswith("t") for code in codes]
        if None in codes or len(set(codes)) != len(codes) or order != sorted(order):
            return False
        base = axes if chain[0].parent is None else np.eye(3)
        if not np.array_equal(chain[0].at[:3, :3], base):
            return False
        if any(not np.array_equal(joint.at, np.eye(4)) for joint in chain[1:]):
            return False
    return True


def _as_it_is(motion: Motion, chains: dict[str, tuple[Joint, ...]], unit: float, axes: Floats) -> list[_Block]:
    """Every joint one channel, in the order of the file it came from."""
    figure, blocks = motion.figure, []
    orders = dict(motion.source.orders) if isinstance(motion.source, BvhSource) else {}
    column = {name: k for k, name in enumerate(figure.coordinates)}
    for segment, chain in chains.items():
        joints = {code: joint for joint in chain if (code := _code(joint)) is not None}
        channels = orders.get(segment, ())
        if set(channels) != set(joints):
            channels = tuple(joints)
        offset = chain[0].at[:3, 3] / unit
        values = motion.q[:, [column[joints[code].name] for code in channels]]
        scale = np.array([1.0 / unit if code.startswith("t") else 180.0 / np.pi for code in channels])
        parent = figure.parent_of(segment)
        if parent is None:
            offset = axes.T @ offset
        blocks.append(_Block(segment, parent, offset, channels, values * scale))
    return _with_ends(blocks)


def _with_ends(blocks: list[_Block]) -> list[_Block]:
    """The same blocks, with fixed leaves that are named like end sites turned into end sites."""
    parents = {block.parent for block in blocks}
    count = dict.fromkeys(parents, 0)
    done = []
    for block in blocks:
        number = count[block.parent] + 1
        if (
            not block.channels
            and block.name not in parents
            and block.parent is not None
            and block.name == f"{block.parent}.end{number if number > 1 else ''}"
        ):
            count[block.parent] = number
            block = replace(block, is_end=True)
        done.append(block)
    return done


def _as_euler_angles(motion: Motion, chains: dict[str, tuple[Joint, ...]], unit: float, axes: Floats) -> list[_Block]:
    """Every segment one block with parallel frames at rest; angles z, y, x that run on without jumps."""
    figure = motion.figure
    rest = figure.placements(figure.rest)
    spread = {s: figure.placement(motion.q, s) for s in chains}
    turned = {s: T[:, :3, :3] @ (rest[s][:3, :3].T @ axes) for s, T in spread.items()}  # W_s
    moving = [s for s, chain in chains.items() if not all(j.is_fixed for j in chain) or figure.parent_of(s) is None]
    relative = np.empty((len(motion), len(moving), 3, 3))
    for k, s in enumerate(moving):
        parent = figure.parent_of(s)
        relative[:, k] = (axes.T if parent is None else turned[parent].transpose(0, 2, 1)) @ turned[s]
    angles = dict(zip(moving, np.degrees(continuous_zyx(relative)).transpose(1, 0, 2), strict=True))
    blocks = []
    for s, chain in chains.items():
        parent = figure.parent_of(s)
        if parent is None:
            offset, moved = np.zeros(3), spread[s][:, :3, 3] @ axes
        else:
            offset = axes.T @ (rest[s][:3, 3] - rest[parent][:3, 3])
            step = spread[s][:, :3, 3] - spread[parent][:, :3, 3]
            moved = np.einsum("fba,fb->fa", turned[parent], step) - offset
        slides = parent is None or _origin_moves(chain)
        channels = (("tx", "ty", "tz") if slides else ()) + (("z", "y", "x") if s in angles else ())
        parts = ([moved / unit] if slides else []) + ([angles[s]] if s in angles else [])
        values = np.hstack(parts) if parts else np.empty((len(motion), 0))
        blocks.append(_Block(s, parent, offset / unit, channels, values))
    return _with_leaves_ended(_with_ends(blocks), len(motion))


def _with_leaves_ended(blocks: list[_Block], frames: int) -> list[_Block]:
    """The same blocks, with an end site in every leaf, which many programs expect."""
    inner, names = {block.parent for block in blocks}, {block.name for block in blocks}
    ends = [
        _Block(f"{b.name}.end", b.name, np.zeros(3), (), np.empty((frames, 0)), is_end=True)
        for b in blocks
        if not b.is_end and b.name not in inner and f"{b.name}.end" not in names
    ]
    return blocks + ends


def _origin_moves(chain: tuple[Joint, ...]) -> bool:
    """Whether the segment's origin can move in its parent: it slides, or turns about a point away from itself."""
    turning = False
    for joint in chain:
        if any(joint.slide) or (turning and joint.at[:3, 3].any()):
            return True
        turning = turning or any(joint.turn)
    return False


def continuous_zyx(R: Floats) -> Floats:
    """Angles (frames, n, 3) with ``R = Rz Ry Rx``, each frame's nearest to those of the frame before.

    Of the two triples that give the same rotation, and of all full turns, the nearest is taken. Where the middle angle
    is a right angle to within rounding, the first angle stays as it was and the third makes up for it.
    """
    out = np.empty((*R.shape[:2], 3))
    last = np.zeros((R.shape[1], 3))
    for frame, M in enumerate(R):
        across = np.hypot(M[:, 0, 0], M[:, 1, 0])
        a = np.where(across > GIMBAL, np.arctan2(M[:, 1, 0], M[:, 0, 0]), last[:, 0])
        best = _nearest(_rest_of_zyx(M, a), last)
        other = _nearest(_rest_of_zyx(M, a + np.pi), last)
        nearer = np.abs(best - last).sum(axis=1) <= np.abs(other - last).sum(axis=1)
        out[frame] = last = np.where(nearer[:, None], best, other)
    return out


def _rest_of_zyx(M: Floats, a: Floats) -> Floats:
    """The triple of angles whose first one is `a`: the others are read off ``Rz(−a) M = Ry(b) Rx(c)``."""
    s, c = np.sin(a), np.cos(a)
    b = np.arctan2(-M[:, 2, 0], c * M[:, 0, 0] + s * M[:, 1, 0])
    third = np.arctan2(s * M[:, 0, 2] - c * M[:, 1, 2], c * M[:, 1, 1] - s * M[:, 0, 1])
    return np.column_stack([a, b, third])


def _nearest(angles: Floats, last: Floats) -> Floats:
    """The same angles, whole turns added so that they are nearest to `last`."""
    return angles - 2.0 * np.pi * np.round((angles - last) / (2.0 * np.pi))


def _depth_first(blocks: list[_Block]) -> list[_Block]:
    """Parents first and every subtree in one piece, as nested braces need it; siblings keep their order."""
    children: dict[str | None, list[_Block]] = {}
    for block in blocks:
        children.setdefault(block.parent, []).append(block)
    order, stack = [], children.get(None, [])[::-1]
    while stack:
        order.append(stack.pop())
        if not order[-1].is_end:
            stack.extend(children.get(order[-1].name, [])[::-1])
    return order


def _hierarchy(blocks: list[_Block]) -> list[str]:
    """The lines above MOTION."""
    lines, open_names = ["HIERARCHY"], []
    for block in blocks:
        while open_names and open_names[-1] != block.parent:
            open_names.pop()
            lines.append("\t" * len(open_names) + "}")
        tab = "\t" * len(open_names)
        kind = "End Site" if block.is_end else f"{'JOINT' if open_names else 'ROOT'} {block.name}"
        lines += [tab + kind, tab + "{", tab + "\tOFFSET " + " ".join(f"{x:.15g}" for x in block.offset)]
        if not block.is_end:
            titles = [code[-1].upper() + ("position" if len(code) == 2 else "rotation") for code in block.channels]
            lines.append(tab + "\t" + " ".join(["CHANNELS", str(len(titles)), *titles]))
        open_names.append(block.name)
        if len(open_names) > MOST_DEPTH:
            raise BadValue(f"segment {block.name!r} hangs more than {MOST_DEPTH} segments deep: too deep for BVH")
    lines += ["\t" * depth + "}" for depth in range(len(open_names) - 1, -1, -1)]
    return lines
