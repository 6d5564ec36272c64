"""Which parts of a figure turn together: the bodies whose rotations are lifted, and the joints between them.

A fixed joint and a slide leave the rotation as it is, so the parts they join are one *body*: ``R_part = R_body C`` with a
constant C. A hinge begins a new body. Three hinges through one point without limits are one *ball*, a rotation with no
axis in common with the body before it; with limits they stay three hinges, so that their limits are exact. A joint whose
range has no width is a fixed one. A loop that ties two frames makes one body of two. Body 0 is the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from supple.errors import Refused
from supple.figure.effectors import Gap, along_x
from supple.figure.figure import Figure
from supple.figure.joints import Joint
from supple.geometry.placements import Floats, compose, moved
from supple.problem.goals import Placed
from supple.problem.task import Task

STILL = 1e-9  # a joint with a narrower range [rad or m] is fixed


def along_z(axis: Floats) -> Floats:
    """A rotation whose third axis is the unit vector `axis`."""
    x, y, z = axis.tolist()
    return np.roll(along_x((x, y, z)), -1, axis=1)


def parallel(a: Floats, b: Floats) -> float:
    """1 if two unit vectors agree, −1 if they are opposite, else 0."""
    return float(np.sign(a @ b)) if np.abs(np.cross(a, b)).max() < 1e-9 else 0.0


@dataclass(frozen=True, eq=False)
class Span:
    """A coordinate and its range."""

    index: int
    name: str
    lower: float
    upper: float

    @property
    def middle(self) -> float:
        """The middle of the range, 0 if it has an open end."""
        return 0.5 * (self.lower + self.upper) if np.isfinite(self.upper - self.lower) else 0.0


@dataclass(frozen=True, eq=False)
class Slide:
    """A coordinate that moves a part along `axis` [m per unit q], in the part's own axes."""

    span: Span
    axis: Floats


@dataclass(frozen=True, eq=False)
class Node:
    """A part: ``R = R_body · turn``, its origin `step` from that of its parent, in the parent's axes, before it slides."""

    body: int
    turn: Floats
    parent: str | None
    step: Floats
    slide: Slide | None = None


@dataclass(frozen=True, eq=False)
class Hinge:
    """``R_child = R_parent · rest · Rot(axis, q)``, the axis in the child's axes."""

    span: Span
    parent: str | None
    child: str
    rest: Floats
    axis: Floats

    @cached_property
    def sides(self) -> Floats:
        """Two unit vectors perpendicular to the axis and to each other, (2, 3): a right-handed frame with it."""
        return along_z(self.axis)[:, :2].T


@dataclass(frozen=True, eq=False)
class Socket:
    """A ball: ``R_child = R_parent · Π Rᵢ Rot(axisᵢ, qᵢ)`` over its three joints."""

    parent: str | None
    child: str
    joints: tuple[Joint, ...]
    indices: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Tree:
    """The parts that matter, by key (None is the world), and the joints between their bodies."""

    nodes: dict[str | None, Node]
    hinges: tuple[Hinge, ...]
    sockets: tuple[Socket, ...]
    bodies: int
    still: dict[int, float]  # coordinates without room, and where they stand


def tree_of(figure: Figure, segments: Sequence[str], lower: Floats, upper: Floats) -> Tree:
    """The tree of bodies that carries `segments`, with these limits."""
    needed = {key for segment in segments for key in figure.path_to_root(segment)}
    nodes: dict[str | None, Node] = {None: Node(0, np.eye(3), None, np.zeros(3))}
    hinges: list[Hinge] = []
    sockets: list[Socket] = []
    still: dict[int, float] = {}
    bodies = 1
    inner: set[str] = set()  # parts inside a ball
    for joint in figure.joints.values():
        if joint.key not in needed or joint.key in inner:
            continue
        _refuse(joint)
        at, last = _folded(joint, figure, lower, upper, still), joint
        above, span = nodes[joint.parent], _span(joint, figure, lower, upper)
        if span is None:
            node = Node(above.body, above.turn @ at[:3, :3], joint.parent, at[:3, 3])
        elif any(joint.slide):
            slide = Slide(span, np.array(joint.slide))
            node = Node(above.body, above.turn @ at[:3, :3], joint.parent, at[:3, 3], slide)
        else:
            three = _ball(figure, joint, lower, upper)
            if three is None:
                hinges.append(Hinge(span, joint.parent, joint.key, at[:3, :3], np.array(joint.turn)))
            else:
                last = three[-1]
                inner |= {j.key for j in three[1:]}
                indices = tuple(figure.coordinates.index(j.name) for j in three)
                sockets.append(Socket(joint.parent, last.key, three, indices))
            node = Node(bodies, np.eye(3), joint.parent, at[:3, 3])
            bodies += 1
        nodes[last.key] = node
    return Tree(nodes, tuple(hinges), tuple(sockets), bodies, still)


def _refuse(joint: Joint) -> None:
    if joint.drive is not None:
        raise Refused(f"joint {joint.name!r} follows others")
    if any(joint.turn) and any(joint.slide):
        raise Refused(f"joint {joint.name!r} is a screw")


def _span(joint: Joint, figure: Figure, lower: Floats, upper: Floats) -> Span | None:
    """The coordinate of a joint that can move."""
    if joint.is_fixed:
        return None
    i = figure.coordinates.index(joint.name)
    if upper[i] - lower[i] <= STILL:
        return None
    return Span(i, joint.name, float(lower[i]), float(upper[i]))


def _folded(joint: Joint, figure: Figure, lower: Floats, upper: Floats, still: dict[int, float]) -> Floats:
    """Where the part is in its parent at q = 0, or, without room to move, where it stands; noted in `still`."""
    if joint.is_fixed or _span(joint, figure, lower, upper) is not None:
        return joint.at
    i = figure.coordinates.index(joint.name)
    still[i] = float(0.5 * (lower[i] + upper[i]))
    return joint.at @ moved(joint.turn, joint.slide, still[i])


def _ball(figure: Figure, first: Joint, lower: Floats, upper: Floats) -> tuple[Joint, ...] | None:
    """The three joints of an unlimited ball that begins here."""
    three = [first]
    while len(three) < 3 and three[-1].segment is None:
        below = [j for j in figure.joints.values() if j.parent == three[-1].key]
        if len(below) != 1 or any(below[0].slide) or below[0].is_fixed or below[0].drive is not None:
            return None
        three.append(below[0])
    if len(three) < 3:
        return None
    at = [figure.coordinates.index(j.name) for j in three]
    axes = davenport(three)
    crossed = abs(axes[0] @ axes[1]) < 1e-9 and abs(axes[1] @ axes[2]) < 1e-9
    centred = all(not j.at[:3, 3].any() for j in three[1:])
    free = not np.isfinite(lower[at]).any() and not np.isfinite(upper[at]).any()
    return tuple(three) if crossed and centred and free else None


def davenport(three: Sequence[Joint]) -> list[Floats]:
    """The axes of a ball's joints at q = 0, seen from the frame before the first of them turns."""
    second = three[1].at[:3, :3]
    third = second @ three[2].at[:3, :3]
    return [np.array(three[0].turn), second @ np.array(three[1].turn), third @ np.array(three[2].turn)]


def welded(tree: Tree, loops: Sequence[Task]) -> Tree:
    """The tree in which bodies that a loop ties rigidly are one."""
    nodes = dict(tree.nodes)
    for loop in loops:
        gap = loop.effector
        if not (isinstance(gap, Gap) and isinstance(loop.goal, Placed)):
            continue  # points only
        one, two = nodes[gap.a.segment], nodes[gap.b.segment]
        seen = gap.a.frame[:3, :3] @ gap.b.frame[:3, :3].T
        if one.body == two.body:
            continue
        if two.body == 0:
            one, two, seen = two, one, seen.T
        between = one.turn @ seen @ two.turn.T  # R_two = R_one · between, of the bodies
        for key, node in nodes.items():
            if node.body == two.body:
                nodes[key] = replace(node, body=one.body, turn=between @ node.turn)
    return replace(tree, nodes=nodes)


def frames_of(figure: Figure, tree: Tree, q: Floats) -> dict[str | None, Floats]:
    """The placement of every part in a posture, by plain multiplication."""
    frames: dict[str | None, Floats] = {None: compose(np.eye(3), np.zeros(3))}
    for joint in figure.joints.values():
        if joint.parent not in frames:
            continue
        value = 0.0 if joint.is_fixed or joint.drive is not None else float(q[figure.coordinates.index(joint.name)])
        frames[joint.key] = frames[joint.parent] @ joint.at @ moved(joint.turn, joint.slide, value)
    return {key: frames[key] for key in tree.nodes}
