"""How bodies hang on each other: runs of joints that make one hinge, universal joint, ball and so on, and their angles.

A *body* is a moving segment with all that is welded to it. Between two bodies runs a *link* of one to six joints,

    T_child = T_parent · O₁ exp(q₁ ξ₁) · O₂ exp(q₂ ξ₂) · …,

with constant frames O. Where the joints of a link have one centre, points and vectors say it at once: a ball needs no more than
the shared point. A run that is none of the known kinds becomes a chain of bodies with one joint each, which always works.

**Angles back.** With n the axis of the first turn and w what the last axis has become, ``n · O₂ exp(θ₂ ξ₂) O₃ ξ₃ = n · w``
gives the middle angle, twice; the others follow. Of the two triples, whole turns added, the nearer to a reference is taken;
where the first and last axis fall together, the first angle is taken from the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from supple.figure.figure import Figure
from supple.figure.joints import Joint
from supple.geometry.placements import HERE, Floats, moved, turned

SAME = 1e-9  # offsets and axes that differ by less are one


@dataclass(frozen=True, eq=False)
class Link:
    """What joins the body `child` to the body `parent` (None: the world)."""

    kind: str  # hinge, slide, screw, universal, ball, planar, free
    parent: str | None
    child: str
    joints: tuple[Joint, ...]
    before: tuple[Floats, ...]  # O of each joint

    @property
    def axis(self) -> Floats:
        """The last joint's axis, in the child's axes."""
        joint = self.joints[-1]
        axis = np.array(joint.turn if any(joint.turn) else joint.slide)
        return axis / np.linalg.norm(axis)

    def angles(self, T: Floats, near: Floats) -> Floats:
        """The coordinates that give the child's frame T in the parent, nearest to `near`."""
        slides = [k for k, joint in enumerate(self.joints) if not any(joint.turn)]
        q, count = np.array(near, dtype=float), len(slides)
        if count:
            R, columns = self.before[0][:3, :3], []
            for k in range(count):
                R = R @ self.before[k][:3, :3] if k else R
                columns.append(R @ self.joints[k].slide)
            q[:count] = np.linalg.lstsq(np.array(columns).T, T[:3, 3] - self.before[0][:3, 3], rcond=None)[0]
        if count < len(self.joints):
            offsets = [O[:3, :3] for O in self.before[count:]]
            for O in reversed(self.before[:count]):
                offsets[0] = O[:3, :3] @ offsets[0]
            axes = [np.array(joint.turn) for joint in self.joints[count:]]
            q[count:] = _turns(T[:3, :3], offsets, axes, q[count:])
        return q


def _about(axis: Floats, start: Floats, end: Floats) -> float:
    """The turn about `axis` that takes one vector nearest to another."""
    return float(np.arctan2(axis @ np.cross(start, end), start @ end - (axis @ start) * (axis @ end)))


def _nearest(angle: Floats, near: Floats) -> Floats:
    """The same angles, whole turns added."""
    return angle + 2.0 * np.pi * np.round((near - angle) / (2.0 * np.pi))


def _turns(R: Floats, offsets: list[Floats], axes: list[Floats], near: Floats) -> Floats:
    """One, two or three angles of ``R = O₁ exp(θ₁ a₁) O₂ exp(θ₂ a₂) …``."""
    R, a = offsets[0].T @ R, axes[0]
    if len(axes) == 1:
        n = np.eye(3)[int(np.argmin(np.abs(a)))]
        return _nearest(np.array([_about(a, n, R @ n)]), near)
    best, distance = near, np.inf
    for middle in [None] if len(axes) == 2 else _middle(R, offsets, axes):
        rest = offsets[1] if middle is None else offsets[1] @ turned(tuple(axes[1]), middle) @ offsets[2]
        v, w = rest @ axes[-1], R @ axes[-1]
        first = near[0] if np.linalg.norm(np.cross(a, v)) < SAME else _about(a, v, w)
        last = _turns((turned(tuple(a), first) @ rest).T @ R, [np.eye(3)], axes[-1:], near[-1:])[0]
        angles = _nearest(np.array([first, last] if middle is None else [first, middle, last]), near)
        if np.abs(angles - near).max() < distance:
            best, distance = angles, float(np.abs(angles - near).max())
    return best


def _middle(R: Floats, offsets: list[Floats], axes: list[Floats]) -> list[float]:
    """Both middle angles: ``A cos θ + B sin θ = D − C``, the root written so that right angles between axes lose no digit."""
    (a, b, c), w = axes, R @ axes[2]
    n, v = offsets[1].T @ a, offsets[2] @ c
    C, D = float((n @ b) * (b @ v)), float(a @ w)
    A, B = float(n @ v) - C, float(n @ np.cross(b, v))
    cross = np.cross(a, w)
    root = np.sqrt(max(float(cross @ cross) + (A * A + B * B - 1.0) + 2.0 * C * D - C * C, 0.0))
    half, start = np.arctan2(root, D - C), np.arctan2(B, A)
    return [float(start + half), float(start - half)]


def _kind(joints: Sequence[Joint], before: Sequence[Floats]) -> str | None:
    """What a run of joints is; None if it has no name of its own."""
    letters = "".join(("T" if any(j.turn) else "") + ("S" if any(j.slide) else "") for j in joints)
    if len(joints) == 1:
        return {"T": "hinge", "S": "slide", "TS": "screw"}[letters]
    if any(np.abs(O[:3, 3]).max() > SAME for O in before[1:]):
        return None
    kind = {"TT": "universal", "TTT": "ball", "SST": "planar", "SSSTTT": "free"}.get(letters)
    axes, R = [], np.eye(3)
    for joint, O in zip(joints, before, strict=True):
        R = R @ O[:3, :3]
        axes.append(R @ (joint.turn if any(joint.turn) else joint.slide))
    turns = axes[letters.count("S") :]
    if any(np.linalg.norm(np.cross(u, v)) < 1e-3 for u, v in pairwise(turns)):
        return None
    if kind == "free" and abs(np.linalg.det(axes[:3])) < 1e-3:
        return None
    if kind == "planar" and np.linalg.norm(np.cross(np.cross(axes[0], axes[1]), axes[2])) > SAME:
        return None
    return kind


def links_of(figure: Figure, single: set[str]) -> tuple[list[Link], dict[str, tuple[str | None, Floats]]]:
    """All links, parents first, and the body and frame of every segment; joints named in `single` get a link of their own."""
    part = figure.joint_of
    children: dict[str | None, int] = {}
    for joint in figure.joints.values():
        children[joint.parent] = children.get(joint.parent, 0) + 1
    inner = {
        joint.parent
        for joint in figure.joints.values()
        if joint.parent is not None
        and not joint.is_fixed
        and not part[joint.parent].is_fixed
        and part[joint.parent].segment is None
        and children[joint.parent] == 1
    }
    seat: dict[str, tuple[str | None, Floats]] = {}
    links: list[Link] = []
    for joint in figure.joints.values():
        if joint.is_fixed:
            body, frame = seat[joint.parent] if joint.parent is not None else (None, HERE)
            seat[joint.key] = (body, frame @ joint.at)
        elif joint.key not in inner:
            run = [joint]
            while run[0].parent in inner:
                run.insert(0, part[str(run[0].parent)])
            links += _linked(run, seat, single)
    return links, seat


def _linked(run: list[Joint], seat: dict[str, tuple[str | None, Floats]], single: set[str]) -> list[Link]:
    """The link of a run, or one link for each joint of it; writes where the run's bodies sit."""
    body, frame = seat[run[0].parent] if run[0].parent is not None else (None, HERE)
    before = (frame @ run[0].at, *(joint.at for joint in run[1:]))
    kind = None if len(run) > 1 and any(j.name in single for j in run) else _kind(run, before)
    if kind is not None:
        seat[run[-1].key] = (run[-1].key, HERE)
        return [Link(kind, body, run[-1].key, tuple(run), before)]
    links = []
    for joint, O in zip(run, before, strict=True):
        seat[joint.key] = (joint.key, HERE)
        links.append(Link(str(_kind([joint], [O])), body, joint.key, (joint,), (O,)))
        body = joint.key
    return links


def along(link: Link, values: dict[str, float]) -> Floats:
    """The child's frame in the parent for the given joint values."""
    T = HERE
    for joint, O in zip(link.joints, link.before, strict=True):
        T = T @ O @ moved(joint.turn, joint.slide, values[joint.name])
    return T
