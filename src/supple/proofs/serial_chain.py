"""A chain of joints that is to bring a frame to a pose, as a closed loop of dual quaternions.

**Loop.** Between the world and the frame lie n joints, hinges or slides. With the frame held at its target the chain
closes:

    D_0 r_0 D_1 r_1 … D_{n−1} r_{n−1} = ±1,

D_j the fixed unit dual quaternion before joint j, moved by the middle of the joint's range, and D_0 holding what lies
between the last joint and the frame, the inverse of the target, and the base. With x the coordinate less the middle of
its range, a hinge is ``r = cos(x/2) + k sin(x/2)`` and a slide ``r = 1 + ε k x/2``. A dual quaternion is an 8-vector
(rotation, half of translation times rotation); lengths are measured in half of the chain's reach, so that all numbers
are of the order of one.

Every joint turns about, or slides along, its own z axis: another axis is turned there by the fixed rotations on either
side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from supple.figure.figure import Figure
from supple.figure.packing import aligned
from supple.geometry.placements import Floats, compose, inverse
from supple.proofs.checker.balls import dual
from supple.proofs.checker.moments import FEWEST

Z_TURN = {
    0: compose([[0, 0, 1], [1, 0, 0], [0, 1, 0]], (0, 0, 0)),
    1: compose([[1, 0, 0], [0, 0, 1], [0, -1, 0]], (0, 0, 0)),
}


def moved(x: float, slides: bool) -> Floats:
    """What a joint about or along z does."""
    c, s, d = (1.0, 0.0, x) if slides else (np.cos(x), np.sin(x), 0.0)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, d], [0, 0, 0, 1.0]])


@dataclass(frozen=True, eq=False)
class Chain:
    """Joints about or along z with fixed placements before them, and one behind the last; limits of their coordinates."""

    names: tuple[str, ...]
    before: Floats  # (n, 4, 4)
    behind: Floats  # (4, 4)
    lower: Floats
    upper: Floats
    signs: Floats  # ±1: whether a coordinate moves its joint about or along +z or −z
    slides: np.ndarray  # whether each joint slides

    @cached_property
    def reach(self) -> float:
        """The sum of all lengths; 1 if there is none."""
        fixed = np.linalg.norm(self.before[:, :3, 3], axis=1).sum() + np.linalg.norm(self.behind[:3, 3])
        return float(fixed + np.maximum(np.abs(self.lower), np.abs(self.upper))[self.slides].sum()) or 1.0

    @cached_property
    def box(self) -> tuple[Floats, Floats]:
        """Ranges that hold every posture, up to whole turns: a joint that can turn all the way round has from −π to π."""
        round_ = ~(self.upper - self.lower < 2.0 * np.pi) & ~self.slides
        return np.where(round_, -np.pi, self.lower), np.where(round_, np.pi, self.upper)

    @cached_property
    def duals(self) -> Floats:
        """The placements before the joints and behind the last as dual quaternions (n + 1, 8), in units of half the reach."""
        return np.array([dual_of(T, 2.0 / self.reach) for T in (*self.before, self.behind)])

    def placement(self, q: Floats) -> Floats:
        """Where the frame is."""
        T = np.eye(4)
        for B, x, slides in zip(self.before, self.signs * q, self.slides, strict=True):
            T = T @ B @ moved(x, slides)
        return T @ self.behind

    def trimmed(self, joints: tuple[str, ...]) -> Chain:
        """The same without joints that were added, which do not move."""
        n = sum(name in joints for name in self.names)
        behind = self.behind if n == len(self.names) else self.before[n] @ self.behind
        cut = (self.lower[:n], self.upper[:n], self.signs[:n], self.slides[:n])
        return Chain(self.names[:n], self.before[:n], behind, *cut)

    def led_by(self, placement: Floats) -> Chain:
        """The same behind a fixed placement."""
        before = self.before.copy()
        before[:1] = placement @ before[:1]
        return replace(self, before=before, behind=self.behind if len(before) else placement @ self.behind)

    def turning(self, name: str) -> Chain:
        """The same with a hinge about the frame's z axis at its end, which turns freely."""
        return Chain(
            (*self.names, name),
            np.concatenate([self.before, self.behind[None]]),
            np.eye(4),
            np.append(self.lower, -np.inf),
            np.append(self.upper, np.inf),
            np.append(self.signs, 1.0),
            np.append(self.slides, False),
        )


class Undecidable(Exception):
    """A problem is not of a kind that can be decided; the text says why."""


def upright_of(axis: Floats) -> tuple[Floats, float]:
    """A placement that brings ±z onto an axis, and the sign."""
    k, sign, A = aligned(axis)
    return compose(A, (0.0, 0.0, 0.0)) @ (Z_TURN[k] if k < 2 else np.eye(4)), sign


class _Path:
    """A chain as it grows, joint by joint."""

    def __init__(self, figure: Figure, end: str, lower: Floats, upper: Floats) -> None:
        self.figure, self.end, self.lower, self.upper = figure, end, lower, upper
        self.names: list[str] = []
        self.before: list[Floats] = []
        self.signs: list[float] = []
        self.slides: list[bool] = []
        self.here = np.eye(4)

    def add(self, joint: Any, direction: float) -> None:
        """A joint that moves, passed downwards (1) or upwards (−1)."""
        if joint.drive is not None:
            raise Undecidable(f"joint {joint.name!r} follows others")
        slides = any(joint.slide)
        if slides and any(joint.turn):
            raise Undecidable(f"joint {joint.name!r} turns and slides at once")
        if slides and abs(np.linalg.norm(joint.slide) - 1.0) > 1e-15:
            raise Undecidable(f"joint {joint.name!r} slides by another length than its coordinate")
        at = self.figure.coordinates.index(joint.name)
        turn, sign = upright_of(np.array(joint.slide if slides else joint.turn))
        if self.lower[at] == self.upper[at]:
            self.here = self.here @ turn @ moved(direction * sign * self.lower[at], slides) @ turn.T
            return
        if slides and not np.isfinite([self.lower[at], self.upper[at]]).all():
            raise Undecidable(f"joint {joint.name!r} slides without limits")
        if joint.name in self.names:
            raise Undecidable(f"joint {joint.name!r} lies twice on the way")
        self.names.append(joint.name)
        self.before.append(self.here @ turn)
        self.signs.append(direction * sign)
        self.slides.append(slides)
        self.here = turn.T

    def chain(self, behind: Floats) -> Chain:
        """The chain that ends in a placement."""
        at = [self.figure.coordinates.index(name) for name in self.names]
        missing = max(0, FEWEST - len(at))
        still = np.zeros(missing)
        return Chain(
            (*self.names, *(f"({self.end} {i})" for i in range(missing))),
            np.array([*self.before, *([self.here] + [np.eye(4)] * 3)[:missing]]).reshape(-1, 4, 4),
            behind if missing else self.here @ behind,
            np.concatenate([self.lower[at], still]),
            np.concatenate([self.upper[at], still]),
            np.array([*self.signs, *(still + 1.0)]),
            np.array([*self.slides, *(still > 0.0)], dtype=bool),
        )


@dataclass(frozen=True, eq=False)
class Way:
    """How a chain comes from a figure: to a frame of a segment, in the world or as another segment sees it.

    `turning` names a hinge about the frame's z axis at its end, which turns freely.
    """

    segment: str
    frame: Floats  # in the segment
    seen_from: str | None = None
    turning: str = ""

    def chain(self, figure: Figure, lower: Floats, upper: Floats) -> Chain:
        """The chain of a figure whose coordinates have these limits."""
        chain = chain_of(figure, self.segment, self.frame, lower, upper, self.seen_from)
        return chain.turning(self.turning) if self.turning else chain


_known: WeakKeyDictionary[Figure, dict[Any, Chain]] = WeakKeyDictionary()
_REMEMBERED = 64  # chains of one figure


def chain_of(
    figure: Figure, segment: str, offset: Floats, lower: Floats, upper: Floats, seen_from: str | None = None
) -> Chain:
    """The chain that moves a frame of a segment, in the world or as another segment sees it; a figure keeps its chains."""
    known = _known.setdefault(figure, {})
    key = (segment, offset.tobytes(), lower.tobytes(), upper.tobytes(), seen_from)
    if key not in known:
        if len(known) >= _REMEMBERED:
            known.clear()
        known[key] = _followed(figure, segment, lower, upper, seen_from).chain(offset)
    return known[key]


def _followed(figure: Figure, segment: str, lower: Floats, upper: Floats, seen_from: str | None) -> _Path:
    down = figure.path_to_root(segment)[::-1]
    up: Sequence[Any] = () if seen_from is None else figure.path_to_root(seen_from)
    shared = set(up) & set(down)
    path = _Path(figure, segment, lower, upper)
    for joint in (figure.joint_of[key] for key in up if key not in shared):
        if not joint.is_fixed:
            path.add(joint, -1.0)
        path.here = path.here @ inverse(joint.at)
    for joint in (figure.joint_of[key] for key in down if key not in shared):
        path.here = path.here @ joint.at
        if not joint.is_fixed:
            path.add(joint, 1.0)
    return path


# ── dual quaternions ─────────────────────────────────────────────────────────────────────────────────────────────────
def quaternion(R: Any) -> Floats:
    """The unit quaternion (w, x, y, z) of a rotation whose largest component is positive."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = np.asarray(R, dtype=np.float64).tolist()
    squares = [1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz]
    a, b, c, d, e, f = zy - yz, xz - zx, yx - xy, yx + xy, xz + zx, zy + yz
    rows = ((squares[0], a, b, c), (a, squares[1], d, e), (b, d, squares[2], f), (c, e, f, squares[3]))
    row = rows[squares.index(max(squares))]
    return np.array(row) / math.sqrt(sum(x * x for x in row))


def dual_of(T: Floats, scale: float) -> Floats:
    """A placement as a dual quaternion, lengths times a scale."""
    return np.array(dual(quaternion(T[:3, :3]).tolist(), (scale * T[:3, 3]).tolist()))
