"""A judge of answers who shares nothing with the library: own kinematics, own misses, own limits, in plain NumPy.

It reads what was *declared* (joints with placement, axis, parent, range and drive; coordinates, bounds, loops; effectors,
goals and obstacles: plain attributes, told apart by the names of their classes), imports nothing of supple and calls none
of its methods. Everything is computed for many postures at once: Q is (n, size), and a miss is a pair of arrays (n).

Where the library has a formula, the judge has another: turns by Rodrigues' formula, angles between directions by
``2 atan2(‖u − v‖, ‖u + v‖)`` and of rotations by ``2 atan2(‖R − 1‖/√8, √(1 + tr R)/2)``, splines by the slopes at their knots.

Rounding. A placement is a product of a matrix for each joint, so positions are uncertain by about ε·(joints)·(lengths), angles
by ε·(joints + largest angle). What two right computations may differ by is `CARE` times that, and comes with each miss.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from judge_goals import TOLD, alternatives, curve, kind, outside, seen_from, turned

EPSILON = float(np.finfo(float).eps)
CARE = 32.0  # times ε·joints·lengths; about 1e-13 of an arm's length
SLACK = 1e-9  # linear limits hold to this, with rows of unit length: the library's stated tolerance
HALF_TURN = 1e-6  # so near to half a turn the axis has no sign, and the angle half of the digits


class Misses(NamedTuple):
    """How far each of n postures is from meeting a task, and what rounding may have added."""

    metres: np.ndarray
    radians: np.ndarray
    metres_off: np.ndarray
    radians_off: np.ndarray


# ── the judge ────────────────────────────────────────────────────────────────────────────────────────────────────────
class Judge:
    """Places, limits and misses of one problem, for many postures."""

    def __init__(self, problem: Any, limits: Any = None) -> None:
        """`limits` are those that were stated with the problem, None if they are the figure's own."""
        self.problem, self.figure, self.stated = problem, problem.figure, limits
        self.index = {name: i for i, name in enumerate(self.figure.coordinates)}
        self.parts = {(j.segment if j.segment is not None else f"{j.name}'"): j for j in self.figure.joints.values()}
        self.named = {j.name: j for j in self.figure.joints.values()}

    # ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def value(self, name: str, Q: np.ndarray) -> np.ndarray:
        """A coordinate, or the value of a driven joint, in every posture."""
        if name in self.index:
            return Q[:, self.index[name]]
        drive = self.named[name].drive
        return drive.offset + sum(curve(f, self.value(leader, Q)) for leader, f in drive.terms)

    def places(self, Q: np.ndarray) -> _Places:
        """Where segments are, each computed when it is asked for."""
        return _Places(self, Q)

    # ── limits ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def illegal(self, Q: np.ndarray) -> np.ndarray:
        """By how much each posture is outside the limits: 0 where it is legal, inf where it is not finite."""
        Q = np.asarray(Q, float)
        out = np.zeros(len(Q))
        if self.stated is not None:
            low, high, rows = self._stated()
        else:
            low, high, rows = self._own()
            for joint in self.figure.joints.values():
                if joint.drive is not None:
                    x = self.value(joint.name, Q)
                    room = 2.0 * SLACK * max(1.0, self._steepness(joint.drive))
                    over = np.maximum(joint.limits[0] - x, x - joint.limits[1])
                    out = np.maximum(out, np.where(over > room, over, 0.0))
        out = np.maximum(out, np.maximum(low - Q, Q - high).max(axis=1, initial=0.0))
        for a, b, equal in rows:
            over = (Q @ a - b) / np.linalg.norm(a)
            over = np.abs(over) if equal else over
            room = SLACK + 4.0 * EPSILON * len(a) * np.abs(Q).max(axis=1, initial=1.0)
            out = np.maximum(out, np.where(over > room, over, 0.0))
        return np.where(np.isfinite(Q).all(axis=1), out, np.inf)

    def _stated(self) -> tuple[np.ndarray, np.ndarray, list[tuple[np.ndarray, float, bool]]]:
        given = self.stated
        rows = [(np.array(a), float(b), True) for a, b in zip(given.A_eq, given.b_eq, strict=True)]
        rows += [(np.array(a), float(b), False) for a, b in zip(given.A, given.b, strict=True)]
        return np.array(given.lower), np.array(given.upper), rows

    def _own(self) -> tuple[np.ndarray, np.ndarray, list[tuple[np.ndarray, float, bool]]]:
        """Ranges of coordinates and bounds, as the figure's joints declare them."""
        ranges = {j.name: j.limits for j in self.figure.joints.values() if j.drive is None}
        ranges |= {c.name: c.limits for c in self.figure.drivers}
        low, high = np.array([ranges[name] for name in self.index]).reshape(-1, 2).T
        rows = []
        for bound in self.figure.bounds:
            a = np.zeros(len(self.index))
            for name, c in bound.coefficients:
                a[self.index[name]] += c
            rows.append((a, float(bound.upper), False))
        return low, high, rows

    def _steepness(self, drive: Any) -> float:
        return float(np.sqrt(sum(f.slope**2 for _, f in drive.terms if kind(f) == "Linear")))

    # ── misses ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def misses(self, Q: np.ndarray, targets: Any = None) -> list[Misses]:
        """Of every task, then of closed loops, then of obstacles; `targets` has an array (n, …), or None, for each task."""
        places, tasks = self.places(np.asarray(Q, float)), self.problem.tasks
        given = [None] * len(tasks) if targets is None else list(targets)
        out = [self.miss(places, task, target) for task, target in zip(tasks, given, strict=True)]
        return out + [self._loop(places, loop) for loop in self.figure.loops] + self._clear(places)

    def miss(self, places: _Places, task: Any, target: Any = None) -> Misses:
        """Of one task; of its alternatives the one that is nearest to being met, in units of its tolerances."""
        if kind(task.goal) == "Near":
            return self._told(places, 0.0, 0.0, 0.0)
        X, size = self.effector(places, task.effector)
        choices = [self._goal(places, goal, X, size, t) for goal, t in alternatives(task.goal, target)]
        best = choices[0]
        for other in choices[1:]:
            less = _score(task, other) < _score(task, best)
            best = Misses(*(np.where(less, a, b) for a, b in zip(other, best, strict=True)))
        return best

    def effector(self, places: _Places, end: Any) -> tuple[np.ndarray, np.ndarray]:
        """Its frames (n, 4, 4), and lengths by which they may be off, in units of ε."""
        if kind(end) == "MassCentre":
            bodies = [(s, b.mass, b.centre) for s, b in self.figure.bodies.items() if b.mass > 0.0]
            X = np.tile(np.eye(4), (places.count, 1, 1))
            X[:, :3, 3] = sum(m * (places[s] @ np.append(c, 1.0))[:, :3] for s, m, c in bodies)
            X[:, :3, 3] /= sum(m for _, m, _ in bodies)
            return X, np.max([places.size(s) for s, _, _ in bodies], axis=0)
        if kind(end) == "Gap":
            A, a = self.effector(places, end.a)
            B, b = self.effector(places, end.b)
            return seen_from(A, B), a + b
        local = np.eye(4)
        if kind(end) == "Frame":
            local = np.array(end.at)
        else:
            local[:3, 3] = end.offset
        if kind(end) == "Direction":  # only its x axis means anything
            local[:3, 0] = np.array(end.axis) / np.linalg.norm(end.axis)
            local[:3, 1] = local[:3, 2] = np.nan
        return places[end.segment] @ local, places.size(end.segment) + np.abs(local[:3, 3]).sum()

    def _goal(self, places: _Places, goal: Any, X: np.ndarray, size: np.ndarray, target: Any) -> Misses:
        if goal.relative_to is not None:
            X, size = seen_from(places[goal.relative_to], X), size + places.size(goal.relative_to)
        told = TOLD[kind(goal)](goal, X, target)
        metres, radians, far = (np.broadcast_to(np.asarray(x, float), places.count) for x in told)
        return self._told(places, metres, radians, far, size)

    def _told(self, places: _Places, metres: Any, radians: Any, far: Any, size: Any = 0.0) -> Misses:
        """With what rounding may do: to positions by their lengths, to angles by how far away what they look at is."""
        one = np.ones(places.count)
        length = CARE * EPSILON * (len(self.parts) + 4.0) * (np.asarray(size) + 1e-3 + np.asarray(metres))
        angle = CARE * EPSILON * (len(self.parts) + 4.0) * (1.0 + places.turning)
        angle = angle + length / np.maximum(np.where(np.asarray(far) > 0.0, far, np.inf), 1e-300)
        angle = np.where(np.pi - np.asarray(radians) < HALF_TURN, 1e-6, angle)
        return Misses(metres * one, radians * one, length * one * (1.0 + places.turning), angle * one)

    def _loop(self, places: _Places, loop: Any) -> Misses:
        A, B = places[loop.a] @ np.array(loop.at_a), places[loop.b] @ np.array(loop.at_b)
        E, size = seen_from(A, B), places.size(loop.a) + places.size(loop.b)
        metres = np.linalg.norm(E[:, :3, 3], axis=1)
        return self._told(places, metres, 0.0 if loop.point else turned(E[:, :3, :3]), 0.0, size)

    # ── obstacles ────────────────────────────────────────────────────────────────────────────────────────────────────
    def _clear(self, places: _Places) -> list[Misses]:
        """By how much the balls of the figure lack their margin, for each obstacle; only what moves is looked at."""
        things = self.problem.obstacles
        shapes = list(things.values()) if hasattr(things, "values") else list(things)
        margin, out = float(self.problem.clearance.margin), []
        balls = [(s, b) for s, solids in self.figure.solids.items() for b in solids if self._moves(s)]
        for shape in shapes if balls else ():
            worst, size = np.zeros(places.count), np.zeros(places.count)
            for segment, ball in balls:
                centre = (places[segment] @ np.append(ball.centre, 1.0))[:, :3]
                worst = np.maximum(worst, margin + ball.radius - outside(shape, centre))
                size = np.maximum(size, places.size(segment) + np.abs(ball.centre).sum())
            out.append(self._told(places, worst, 0.0, 0.0, size))
        return out

    def _moves(self, key: str | None) -> bool:
        while key is not None:
            joint = self.parts[key]
            if any(joint.turn) or any(joint.slide):
                return True
            key = joint.parent
        return False


class _Places:
    """The frames of segments in n postures, each computed once, with the lengths that went into them."""

    def __init__(self, judge: Judge, Q: np.ndarray) -> None:
        self.judge, self.Q, self.count = judge, Q, len(Q)
        self.turning = np.zeros(self.count)  # the largest angle that went into any of them
        self._known: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def __getitem__(self, key: str) -> np.ndarray:
        return self._at(key)[0]

    def size(self, key: str) -> np.ndarray:
        """The sum of the lengths from the world to a segment."""
        return self._at(key)[1]

    def _at(self, key: str) -> tuple[np.ndarray, np.ndarray]:
        if key not in self._known:
            joint = self.judge.parts[key]
            if joint.parent is None:
                above, size = np.broadcast_to(np.eye(4), (self.count, 4, 4)), np.zeros(self.count)
            else:
                above, size = self._at(joint.parent)
            X, size = above @ np.array(joint.at), size + np.abs(joint.at[:3, 3]).sum()
            if any(joint.turn) or any(joint.slide):
                x = self.judge.value(joint.name, self.Q)
                X, size = X @ _motion(joint, x), size + np.abs(x) * np.abs(joint.slide).sum()
                if any(joint.turn):
                    self.turning = np.maximum(self.turning, np.abs(x))
            self._known[key] = X, size
        return self._known[key]


def _motion(joint: Any, x: np.ndarray) -> np.ndarray:
    """``1 + sin x K + (1 − cos x) K²``, and a slide."""
    a, b, c = joint.turn
    K = np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])
    T = np.zeros((len(x), 4, 4))
    T[:, :3, :3] = np.eye(3) + np.sin(x)[:, None, None] * K + (2.0 * np.sin(0.5 * x) ** 2)[:, None, None] * (K @ K)
    T[:, :3, 3], T[:, 3, 3] = x[:, None] * np.array(joint.slide), 1.0
    return T


def _score(task: Any, miss: Misses) -> np.ndarray:
    return np.maximum(miss.metres / task.tolerance, miss.radians / task.angle_tolerance)
