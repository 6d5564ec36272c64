"""A chain of hinges that is to bring a frame to a pose, as a closed loop of dual quaternions.

**Loop.** Between the world and the frame lie n hinges. With the frame held at its target the chain closes:

    D_0 r_0 D_1 r_1 … D_{n−1} r_{n−1} = ±1,    r_j = cos(φ_j/2) + k sin(φ_j/2),    φ_j = q_j − mid_j,

D_j the fixed unit dual quaternion before joint j, turned by the middle of the joint's range, and D_0 holding what
lies between the last joint and the frame, the inverse of the target, and the base. A dual quaternion is an 8-vector
(rotation, half of translation times rotation); lengths are measured in half of the chain's reach, so that all numbers
are of the order of one.

Every joint turns about its own z axis: another axis is turned there by the fixed rotations on either side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.effectors import Frame
from supple.figure import Figure
from supple.goals import Placed
from supple.packing import aligned
from supple.problem import Problem, Task
from supple.space import Floats, compose

FEWEST, MOST = 4, 8  # hinges of a chain that can be decided
Z_TURN = {
    0: compose([[0, 0, 1], [1, 0, 0], [0, 1, 0]], (0, 0, 0)),
    1: compose([[1, 0, 0], [0, 0, 1], [0, -1, 0]], (0, 0, 0)),
}


@dataclass(frozen=True, eq=False)
class Chain:
    """Hinges about z with fixed placements before them, and one behind the last; limits of their coordinates."""

    names: tuple[str, ...]
    before: Floats  # (n, 4, 4)
    behind: Floats  # (4, 4)
    lower: Floats
    upper: Floats
    signs: Floats  # ±1: whether a coordinate turns its joint about +z or −z

    @property
    def reach(self) -> float:
        """The sum of all lengths."""
        return float(np.linalg.norm(self.before[:, :3, 3], axis=1).sum() + np.linalg.norm(self.behind[:3, 3]))

    @property
    def box(self) -> tuple[Floats, Floats]:
        """Ranges that hold every posture, up to whole turns: a joint that can turn all the way round has from −π to π."""
        round_ = ~(self.upper - self.lower < 2.0 * np.pi)
        return np.where(round_, -np.pi, self.lower), np.where(round_, np.pi, self.upper)

    def placement(self, q: Floats) -> Floats:
        """Where the frame is."""
        T = np.eye(4)
        for B, angle in zip(self.before, self.signs * q, strict=True):
            c, s = np.cos(angle), np.sin(angle)
            T = T @ B @ np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
        return T @ self.behind


def chain_of(figure: Figure, segment: str, offset: Floats, lower: Floats, upper: Floats) -> Chain | str:
    """The chain that moves a frame of a segment, or the reason why it cannot be decided."""
    keys = figure._keys_above(segment)[::-1]
    names, before, signs = [], [], []
    here = np.eye(4)
    for joint in (figure.part[key] for key in keys):
        here = here @ joint.at
        if joint.is_fixed:
            continue
        if joint.drive is not None:
            return f"joint {joint.name!r} follows others"
        if any(joint.slide):
            return f"joint {joint.name!r} slides"
        axis, sign, A = aligned(np.array(joint.turn))
        turn = compose(A, (0.0, 0.0, 0.0)) @ (Z_TURN[axis] if axis < 2 else np.eye(4))  # brings z onto the axis
        names.append(joint.name)
        before.append(here @ turn)
        signs.append(sign)
        here = turn.T
    if not FEWEST <= len(names) <= MOST:
        return f"{len(names)} joints move {segment!r}; {FEWEST} to {MOST} can be decided"
    at = [figure.joints.index(name) for name in names]
    return Chain(tuple(names), np.array(before), here @ offset, lower[at], upper[at], np.array(signs))


def query_of(problem: Problem) -> tuple[Chain, Task] | str:
    """The chain and the task of a problem that can be decided, or the reason why it cannot."""
    limits = problem.limits
    assert limits is not None
    wanted = [task for task in problem.tasks if not task.preference]
    if len(wanted) != 1 or problem.loops or problem.clear:
        return "it is not one task alone"
    task = wanted[0]
    if not (isinstance(task.goal, Placed) and isinstance(task.effector, Frame) and task.goal.relative_to is None):
        return "its task is not the placement of a frame in the world"
    if not limits.is_box:
        return "its limits are more than a range for each coordinate"
    if task.angle_tolerance >= 0.1 or task.tolerance >= 0.1:
        return "its tolerances are too wide"
    chain = chain_of(problem.figure, task.effector.segment, task.effector.frame, limits.lower, limits.upper)
    if isinstance(chain, str):
        return chain
    locked = np.asarray(problem.rigidity) == 1.0
    for name in chain.names:
        if locked[problem.figure.joints.index(name)]:
            return f"joint {name!r} is locked: lock it in the figure instead, with locked()"
    return chain, task


# ── dual quaternions ─────────────────────────────────────────────────────────────────────────────────────────────────
CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0, 1.0, -1.0, -1.0, -1.0])


def quaternion(R: Any) -> Floats:
    """The unit quaternion (w, x, y, z) of a rotation whose largest component is positive."""
    m = np.asarray(R, dtype=np.float64)
    squares = np.array([1 + m[0, 0] + m[1, 1] + m[2, 2], 1 + m[0, 0] - m[1, 1] - m[2, 2],
                        1 - m[0, 0] + m[1, 1] - m[2, 2], 1 - m[0, 0] - m[1, 1] + m[2, 2]])  # fmt: skip
    k = int(np.argmax(squares))
    a, b, c = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    d, e, f = m[1, 0] + m[0, 1], m[0, 2] + m[2, 0], m[2, 1] + m[1, 2]
    row = [(squares[0], a, b, c), (a, squares[1], d, e), (b, d, squares[2], f), (c, e, f, squares[3])][k]
    q = np.array(row)
    return q / np.linalg.norm(q)


def product(a: Any, b: Any) -> Any:
    """The product of two quaternions, of numbers of any kind."""
    w, x, y, z = a
    W, X, Y, Z = b
    return [w * W - x * X - y * Y - z * Z, w * X + x * W + y * Z - z * Y,
            w * Y - x * Z + y * W + z * X, w * Z + x * Y - y * X + z * W]  # fmt: skip


def dual_product(a: Any, b: Any) -> Any:
    """The product of two dual quaternions, of numbers of any kind."""
    left, right = product(a[:4], b[4:]), product(a[4:], b[:4])
    return [*product(a[:4], b[:4]), *(x + y for x, y in zip(left, right, strict=True))]


def dual(turn: Any, position: Any) -> Any:
    """A placement as a dual quaternion, of numbers of any kind."""
    half = product([0 * turn[0], *position], turn)
    return [*turn, *(x / 2 for x in half)]
