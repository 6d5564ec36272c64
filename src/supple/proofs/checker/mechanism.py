"""From a statement to chains of joints in balls: the one way in which a figure's placements enter a check.

Between two segments, or the world and a segment, lie n joints that move. Each turns about, or slides along, its own z axis:
other axes are brought there by rotations on either side (`balls.upright`). A joint whose range is one value is folded into
the placements around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.geometry.placements import Floats
from supple.proofs.checker.balls import (
    FARTHEST,
    Unproved,
    length,
    moved,
    need_flint,
    placed,
    still,
    turned_back,
    upright,
)
from supple.proofs.checker.moments import FEWEST, MOST
from supple.proofs.checker.statement import Follow, Link, Wish

ROUND = float(np.nextafter(np.pi, 4.0))  # no less than π
LONGEST = 64  # joints of a way between two things that touch


@dataclass(frozen=True, eq=False)
class Chain:
    """Joints about or along z with fixed placements before them, and one behind the last, in balls."""

    unknowns: tuple[int, ...]  # which range of the box is each joint's; −1: it was added and does not move
    before: tuple[Any, ...]
    behind: Any
    signs: tuple[int, ...]  # ±1: whether a coordinate moves its joint about or along +z or −z
    slides: tuple[bool, ...]
    far: tuple[float, ...]  # the largest coordinate of each slide, 0 of a hinge

    @property
    def reach(self) -> float:
        """About the sum of all lengths; 1 if there is none. The unit of length is half of it."""
        fixed = [[float(T[i, 3].mid()) for i in range(3)] for T in (*self.before, self.behind)]
        return float(np.linalg.norm(fixed, axis=1).sum() + sum(self.far)) or 1.0

    def box(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """The ranges of the chain's joints in a box."""
        at = np.array(self.unknowns, dtype=int)
        low, high = (np.append(side, 0.0)[at] for side in (lower, upper))
        return low, high


@dataclass(frozen=True, eq=False)
class Claim:
    """A chain brings its frame, or only the frame's origin (`point`), to a target, to within tolerances."""

    chain: Chain
    target: Any
    tolerance: Any
    angle_tolerance: Any
    point: bool


@dataclass(frozen=True, eq=False)
class Placed:
    """An entry of a statement: a frame of a segment, where it is to be, and what leads to it in balls."""

    kind: str
    segment: str
    seen_from: str | None
    frame: Any
    target: Any
    tolerance: Any
    angle_tolerance: Any
    turn: int = -1

    @property
    def settles(self) -> bool:
        """Whether it says where its segment is in the world."""
        return self.kind == "pose" and self.seen_from is None


class Mechanism:
    """The links of a statement, and the box of all its unknowns: of joints that move, in order, then of free turns."""

    def __init__(self, links: Sequence[Link], entries: Sequence[Wish | Follow]) -> None:
        self.links: dict[str, Link] = {}
        self.unknown: dict[str, int] = {}
        self.at: dict[str, Any] = {}
        self.lower, self.upper = box_of(links, entries)
        keys = {link.key for link in links}
        for link in links:
            if link.key in self.links or (link.parent in keys and link.parent not in self.links):
                raise Unproved(f"link {link.key!r} comes twice, or before its parent")
            self.links[link.key] = link
            self._check(link)
            if moves(link):
                self.unknown[link.name] = len(self.unknown)
        names = [link.name for link in links if not link.is_fixed]
        if len(set(names)) != len(names):
            raise Unproved("two joints have one name")
        self.entries: list[Placed] = []
        turn = len(self.unknown)
        for entry in entries:
            self.entries.append(self._wish(entry, turn) if isinstance(entry, Wish) else self._follow(entry))
            turn += self.entries[-1].kind == "axis"

    def _check(self, link: Link) -> None:
        if any(link.turn) and any(link.slide):
            raise Unproved(f"joint {link.name!r} turns and slides at once")
        long = float(np.linalg.norm(link.turn) + np.linalg.norm(link.slide))
        if not (link.is_fixed or abs(long - 1.0) < 1e-12):
            raise Unproved(f"the axis of joint {link.name!r} is not of length one")
        if not (link.lower <= link.upper and link.lower < np.inf and link.upper > -np.inf):
            raise Unproved(f"the range of joint {link.name!r} is none")
        if link.lower == link.upper and not abs(link.lower) < FARTHEST:
            raise Unproved(f"joint {link.name!r} is held too far away")

    def _wish(self, wish: Wish, turn: int) -> Placed:
        arb = need_flint().arb
        loose = arb(wish.tolerance), arb(wish.angle_tolerance)
        if not (0.0 <= wish.tolerance < FARTHEST and 0.0 <= wish.angle_tolerance < FARTHEST):
            raise Unproved(f"the tolerances of {wish.segment!r} are negative or not finite")
        own = turn if wish.kind == "axis" else -1
        return Placed(wish.kind, wish.segment, wish.seen_from, placed(wish.frame), placed(wish.target), *loose, own)

    def _follow(self, entry: Follow) -> Placed:
        """With segment a at ``T₁ F₁⁻¹`` and b's frame at T₂ as a sees it, that frame is at ``T₁ F₁⁻¹ T₂``, to within
        ``ε₁ + δ₁ |t₂ − f₁| + ε₂`` and ``δ₁ + δ₂``."""
        if not (0 <= entry.known < len(self.entries) and 0 <= entry.through < len(self.entries)):
            raise Unproved("what follows does not follow from earlier entries")
        one, two = self.entries[entry.known], self.entries[entry.through]
        if not (one.settles and two.kind != "axis" and two.seen_from == one.segment):
            raise Unproved("what follows does not follow: the first entry does not say where the second begins")
        inner = turned_back(one.frame) * two.target
        loose = one.tolerance + one.angle_tolerance * length(inner) + two.tolerance
        target, angle = one.target * inner, one.angle_tolerance + two.angle_tolerance
        return Placed(two.kind, two.segment, None, two.frame, target, loose, angle)

    def claim(self, number: int) -> Claim:
        """The chain and the target of an entry."""
        entry = self.entries[number]
        chain = self.chain(entry.segment, entry.frame, entry.seen_from, entry.turn, FEWEST)
        if len(chain.unknowns) > MOST:
            raise Unproved(f"more than {MOST} joints move {entry.segment!r}")
        return Claim(chain, entry.target, entry.tolerance, entry.angle_tolerance, entry.kind == "point")

    def chain(self, segment: str, frame: Any, seen_from: str | None, turn: int = -1, fewest: int = 0) -> Chain:
        """The chain that moves a frame of a segment, in the world or as another segment sees it."""
        (down, root), (up, other) = self.above(segment), ([], None) if seen_from is None else self.above(seen_from)
        if root != other:
            raise Unproved(f"there is no way to {segment!r}")
        shared = {link.key for link in up} & {link.key for link in down}
        path = _Path(self)
        for link in up:
            if link.key not in shared:
                path.pass_by(link, -1)
                path.here = path.here * turned_back(self.at_of(link))
        for link in down[::-1]:
            if link.key not in shared:
                path.here = path.here * self.at_of(link)
                path.pass_by(link, 1)
        for k in range(fewest - len(path.joints)):
            path.add(-1, path.here if k == 0 else still(), 1, False, 0.0)
            path.here = still()
        path.here = path.here * frame
        if turn >= 0:
            path.add(turn, path.here, 1, False, 0.0)
            path.here = still()
        return path.chain()

    def above(self, segment: str) -> tuple[list[Link], str | None]:
        """The links from a segment upwards, and what the last hangs on: the world, or a segment of which nothing is said."""
        found: list[Link] = []
        at: str | None = segment
        while at is not None and at in self.links:
            found.append(self.links[at])
            at = self.links[at].parent
        if found and found[0].segment is None:
            raise Unproved(f"there is no segment {segment!r}")
        return found, at

    def at_of(self, link: Link) -> Any:
        """A link's placement in balls."""
        if link.key not in self.at:
            self.at[link.key] = placed(link.at)
        return self.at[link.key]


class _Path:
    """A chain as it grows, joint by joint."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.here = mechanism, still()
        self.joints: list[tuple[int, Any, int, bool, float]] = []

    def add(self, unknown: int, before: Any, sign: int, slides: bool, far: float) -> None:
        """A joint."""
        self.joints.append((unknown, before, sign, slides, far))
        if len(self.joints) > LONGEST:
            raise Unproved(f"a way passes more than {LONGEST} joints")

    def pass_by(self, link: Link, direction: int) -> None:
        """A link, passed downwards (1) or upwards (−1)."""
        if link.is_fixed:
            return
        slides = any(link.slide)
        turn, sign = upright(link.slide if slides else link.turn)
        if link.lower == link.upper:
            x = need_flint().arb(link.lower) * (direction * sign)
            self.here = self.here * turn * moved(x, slides) * turn.transpose()
            return
        far = max(abs(link.lower), abs(link.upper)) if slides else 0.0
        if not far < FARTHEST:
            raise Unproved(f"joint {link.name!r} slides without limits")
        self.add(self.mechanism.unknown[link.name], self.here * turn, direction * sign, slides, far)
        self.here = turn.transpose()

    def chain(self) -> Chain:
        """The chain that ends here."""
        unknowns, before, signs, slides, far = zip(*self.joints, strict=True) if self.joints else ((),) * 5
        return Chain(unknowns, before, self.here, signs, slides, far)


def moves(link: Link) -> bool:
    """Whether a link's coordinate has more than one value."""
    return not link.is_fixed and link.lower < link.upper


def box_of(links: Sequence[Link], entries: Sequence[Wish | Follow]) -> tuple[Floats, Floats]:
    """The ranges of all unknowns: of joints that move, in order, then of the free turns of axes.

    They hold every posture, up to whole turns: a joint that can turn all the way round has from −π to π.
    """
    ranges = [
        (-ROUND, ROUND) if any(k.turn) and not k.upper - k.lower < 2.0 * np.pi else (k.lower, k.upper)
        for k in links
        if moves(k)
    ]
    ranges += [(-ROUND, ROUND) for entry in entries if isinstance(entry, Wish) and entry.kind == "axis"]
    return np.array([low for low, _ in ranges]), np.array([high for _, high in ranges])
