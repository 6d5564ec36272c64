"""Frame by frame: the posture of the target that does best what the wishes of a frame say, inside its limits.

Soft: each matched segment points and faces as is wished, hips and feet are where they should be, and the posture
stays near the one that is expected after the last, drawn a little to the rest posture, which decides what nothing
else does. Firm, that is with a weight that leaves micrometres: planted heels and balls on their locks, no spot of
feet, hands and head below the ground. Which of these count changes only when a point is planted or lifted: there is
one prepared problem for each such state, and every search begins at the posture of the frame before. Where a
coordinate would jump, because a shoulder has reached the end of its range and the way on leads round the other side,
the frame is solved again with more weight on the expected posture, so that the change takes as many frames as it
needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from supple.basics.stopping import Stop
from supple.figure.effectors import Frame, Point
from supple.figure.figure import Figure
from supple.geometry.placements import Floats, compose
from supple.motion.retargeting.footing import Footing
from supple.motion.retargeting.rest_alignment import STRAIGHT, Pair
from supple.motion.retargeting.soles import Spot, spots_of
from supple.motion.retargeting.wishes import Wishes
from supple.problem.goals import At, Beyond, Facing, Near
from supple.problem.problem import Problem, Task
from supple.solvers.levenberg_marquardt.settings import LevenbergMarquardt
from supple.solving.prepare import Query, prepare

FIRM = 1e6  # weight of what must hold [1/m²]: a thousandth of a millimetre weighs as much as a milliradian
HIPS, FEET = 10.0, 100.0  # weights of places [1/m²] against a radian
TWISTS = {"foot": 1.0, "toes": 1.0, "hand": 0.6, "": 1.0}  # of facing against pointing; orientations count in full
TWIST = 0.15
WEIGHTS = {"spine": 0.5, "clavicle": 0.2, "foot": 3.0, "toes": 0.3, "": 0.1}
NEAR_GROUND = 0.7  # hands and head keep off the ground where they are lower than this share of the leg
STAY, SLOWLY = 3e-3, 0.3  # weights of the expected posture: as a rule, and where a coordinate would jump
FASTEST = (
    20.0  # what no coordinate exceeds without being slowed down, or its own speed limit if that is lower [rad/s, m/s]
)
SWING, DRIFT = 0.05, 1.0  # seconds for which the last speeds are expected to last; in which the rest posture draws near
FIRST = 12  # searches for the first frame, each from where the last one ended


def _frame(pair: Pair, rest: Floats, axes: Floats) -> Frame:
    """The frame of a segment whose x and y axes are the given directions of the world at rest."""
    R = rest[:3, :3].T @ np.column_stack([*axes, np.cross(*axes)])
    return Frame(pair.target, compose(R, np.zeros(3)))


class Follower:
    """The target's postures, one frame after the other."""

    def __init__(self, figure: Figure, wishes: Wishes) -> None:
        self.figure, self.wishes = figure, wishes
        self.anatomy = wishes.alignment.target.anatomy
        self.footings = wishes.footings
        self.soft, self.targets = self._soft()
        self.spots, self.low = self._spots()
        root = wishes.alignment.of("pelvis") or wishes.alignment.pairs[0]
        self.of_root = np.isin(figure.coordinates, figure.chain(None, root.target))
        self._queries: dict[tuple[bool, tuple[bool, ...]], Query] = {}

    # ── what never changes ───────────────────────────────────────────────────────────────────────────────────────────
    def _soft(self) -> tuple[list[Task], list[Floats]]:
        """The soft tasks, and their targets in all frames."""
        tasks, targets = [], []
        feet = {footing.sole.foot: footing for footing in self.footings}
        for pair in self.wishes.alignment.pairs:
            axes, rest = self.wishes.axes(pair), self.anatomy.rest[pair.target]
            twist = 1.0 if pair.part in STRAIGHT else TWISTS.get(pair.part, TWIST)
            goal = Facing(x=axes[0], y=axes[1], per_radian=(1.0, twist))
            tasks.append(Task(_frame(pair, rest, axes), goal, weight=WEIGHTS.get(pair.part, 1.0), name=pair.target))
            turned = self.wishes.turned(pair)
            if pair.target in feet:
                turned = feet[pair.target].placements[:, :3, :3] @ rest[:3, :3].T
            targets.append(turned[:, None] @ axes[None, :, :, None])
        targets = [target[..., 0] for target in targets]
        if self.wishes.hips is not None:
            pair = self.wishes.alignment.of("pelvis") or self.wishes.alignment.pairs[0]
            at, way = self.wishes.hips
            rest = self.anatomy.rest[pair.target]
            tasks.append(Task(_point(pair.target, rest, at), At(at), weight=HIPS, name="hips"))
            targets.append(way)
        for footing in self.footings:
            tasks.append(
                Task(Point(footing.sole.foot), At(np.zeros(3)), weight=FEET, name=f"{footing.sole.foot} place")
            )
            targets.append(footing.placements[:, :3, 3])
        return tasks, targets

    def _spots(self) -> tuple[list[list[Spot]], list[np.ndarray]]:
        """What may touch the ground, in groups: soles, what lies farthest out on each hand, the head; and when each may."""
        if not self.wishes.plant:
            return [], []
        groups = [[spot for footing in self.footings for spot in footing.sole.spots]]
        low = [np.ones(len(self.wishes.motion), dtype=bool)]
        for pair in self.wishes.alignment.pairs:
            if pair.part in ("head", "hand"):
                start = self.wishes.alignment.target.start(pair.target)
                below = [s for s in self.anatomy.below[pair.target] if s == pair.target or s in self.anatomy.moving]
                found = [farthest(spots_of(self.anatomy, s), self.anatomy.rest[s], start) for s in below]
                groups.append([spot for spots in found for spot in spots])
                low.append(self.wishes.height(pair) < NEAR_GROUND * self.wishes.leg)
        return groups, low

    def _near(self, weight: float) -> Task:
        """To stay near the expected posture; the root is drawn nowhere."""
        weights = np.full(self.figure.size, weight)
        weights[self.of_root] = 0.0
        return Task(None, Near(self.figure.rest, weights), name="stay")

    # ── frames ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def _query(self, state: tuple[bool, ...], slowly: bool) -> Query:
        """The prepared problem in which groups of spots are near the ground or not, heels and balls planted or not."""
        key = slowly, state
        if key not in self._queries:
            tasks = [*self.soft, self._near(SLOWLY if slowly else STAY)]
            for spot in self._near_ground(state):
                floor = Beyond((0.0, 0.0, spot.radius), (0.0, 0.0, 1.0))
                tasks.append(
                    Task(spot.point, floor, weight=FIRM, tolerance=1e-3, name=f"{spot.segment} above the ground")
                )
            for on, (footing, kind) in zip(state[len(self.spots) :], self._points(), strict=True):
                if on:
                    sole = footing.sole
                    point = _point(sole.foot, sole.rest, (sole.heel, sole.ball)[kind])
                    tasks.append(Task(point, At(np.zeros(3)), weight=FIRM, tolerance=1e-3, name=f"{sole.foot} planted"))
            self._queries[key] = prepare(Problem(self.figure, tasks), solver=LevenbergMarquardt())
        return self._queries[key]

    def _near_ground(self, state: tuple[bool, ...]) -> list[Spot]:
        return [spot for on, group in zip(state, self.spots, strict=False) if on for spot in group]

    def _points(self) -> list[tuple[Footing, int]]:
        return [(footing, kind) for footing in self.footings for kind in (0, 1)]

    def _answer(self, k: int, q: Floats, last: Floats) -> Floats:
        """The posture of frame k, after the postures q and, before it, `last`."""
        times = self.wishes.motion.times
        dt = times[k] - times[k - 1] if k else np.inf
        expected = self._expected(q, last, dt)
        query, targets = self._asked(k, expected, slowly=False)
        new = query(targets, start=q).q
        fastest = np.where(self.of_root, np.inf, np.minimum(self.figure.speed, FASTEST))
        if (np.abs(new - q) > fastest * dt).any():
            query, targets = self._asked(k, expected, slowly=True)
            new = query(targets, start=q).q
        return np.array(new)

    def _asked(self, k: int, expected: Floats, slowly: bool) -> tuple[Query, list[Any]]:
        """The query of a frame and its targets."""
        points = self._points()
        on = [bool(footing.planted[kind][k]) for footing, kind in points]
        locks = [footing.locks[kind][k] for planted, (footing, kind) in zip(on, points, strict=True) if planted]
        state = (*(bool(low[k]) for low in self.low), *on)
        free = [None] * len(self._near_ground(state))
        return self._query(state, slowly), [*(target[k] for target in self.targets), expected, *free, *locks]

    def _expected(self, q: Floats, last: Floats, dt: float) -> Floats:
        """The posture after q if speeds die out in a while, drawn to the rest posture."""
        share = float(np.exp(-dt / DRIFT))
        return share * (q + np.exp(-dt / SWING) * (q - last)) + (1.0 - share) * self.figure.rest

    def solved(self, told: Callable[[int], None] | None, stop: Stop) -> tuple[Floats, int]:
        """The postures (frames, size), and how many were done before it was time to stop: the others stand still.

        `told` hears the number of each frame that is done.
        """
        Q = np.empty((len(self.wishes.motion), self.figure.size))
        q = last = np.array(self.figure.rest)
        done = 0
        for _ in range(FIRST):
            with stop:
                q = q if stop.asked else self._answer(0, q, q)
        for k in range(len(Q)):
            if stop.asked:
                break
            with stop:
                last, q = q, self._answer(k, q, last) if k else q
                Q[k], done = q, k + 1
                if told is not None:
                    told(k)
        Q[done:] = q
        return Q, done


def _point(segment: str, rest: Floats, at: Floats) -> Point:
    """A point of the world at rest, fixed in a segment."""
    x, y, z = (rest[:3, :3].T @ (at - rest[:3, 3])).tolist()
    return Point(segment, (x, y, z))


def farthest(spots: list[Spot], rest: Floats, start: Floats) -> list[Spot]:
    """Of the spots of a segment the one farthest from a point."""
    away = [float(np.linalg.norm(rest[:3, :3] @ spot.centre + rest[:3, 3] - start)) for spot in spots]
    return [spots[int(np.argmax(away))]] if spots else []
