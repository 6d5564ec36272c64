"""More that `RankOne` can be asked for, linear or a cone in its variables: continuity, contacts, and several at once.

**Continuity** (IKSPARK, section VIII): every body within a ball of its last rotation, ``‖R_i − R_i'‖_F ≤ δ`` (75), a
second-order cone, where the paper has planes around the ball. An angle θ between the two is ``2√2 sin(θ/2)`` in this norm.

**Contacts** (X-D): a point of a segment on a face, ``l ≤ Fᵀ(t + R o − f) ≤ h`` in the frame (F, f) of the face, with ``l = h``
across it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from supple.basics.checks import check_fields, finite, items, numbers, positive
from supple.basics.values import Value
from supple.errors import BadValue, shown
from supple.figure.effectors import Point
from supple.geometry.placements import Floats, frozen
from supple.problem.goals import Within
from supple.problem.problem import Problem, Task
from supple.solvers.rank_one.variables import Cone, Lifted


class Part(Protocol):
    """Rows that can be joined with others: they also say how many variables of their own they have."""

    @property
    def variables(self) -> int:
        """The number of variables behind those of the figure."""
        ...

    def keep(self, problem: Problem) -> Sequence[str]:
        """Segments whose places it needs."""
        ...

    def cones(self, lifted: Lifted) -> tuple[Sequence[Cone], int]:
        """Its cones, and the number of its variables."""
        ...

    def push(self, x: Floats) -> Floats:
        """A linear cost at a point of all variables."""
        ...


class Plain:
    """Rows without variables and without a cost."""

    @property
    def variables(self) -> int:
        """None."""
        return 0

    def push(self, x: Floats) -> Floats:
        """Nowhere."""
        return np.zeros(len(x))


def checked_rows(rows: Any, what: str) -> Any:
    """Rows for `RankOne`, which are an object with cones."""
    if isinstance(rows, type) or not callable(getattr(rows, "cones", None)):
        raise BadValue(f"{what} must be rows such as FreeRegions, Continuity or Contact, not {shown(rows)}")
    return rows


@dataclass(frozen=True, eq=False, repr=False)
class Continuity(Value, Plain):
    """Further rows for `RankOne`: every body within ``‖R − R'‖_F ≤ bound`` of its rotation in the posture `q` (75)."""

    q: Floats
    bound: float

    def __post_init__(self) -> None:
        check_fields(self, bound=positive)
        q = numbers(self.q, "the posture of Continuity")
        object.__setattr__(self, "q", frozen(finite(q, (q.size,), "the posture of Continuity")))
        super().__post_init__()

    def keep(self, problem: Problem) -> Sequence[str]:
        """No segment that is not there already."""
        return ()

    def cones(self, lifted: Lifted) -> tuple[Sequence[Cone], int]:
        """One ball for each body whose rotation is not known."""
        frames, out = lifted.figure.placements(self.q), {}
        for key, node in lifted.tree.nodes.items():
            if key in frames and node.body in lifted.bodies and node.body not in out:
                E = lifted.rotation(key).reshape(9, 1 + lifted.size, lifted.parameters)
                E = np.concatenate([np.zeros((1, *E.shape[1:])), E])
                E[0, 0, 0] = self.bound
                E[1:, 0, 0] -= frames[key][:3, :3].ravel()
                out[node.body] = Cone("second_order", E, key)
        return tuple(out.values()), 0


@dataclass(frozen=True, eq=False, repr=False)
class Contact(Value, Plain):
    """Further rows for `RankOne`: points of segments within boxes, flat ones for faces, as tasks of `Point` and `Within`."""

    tasks: Sequence[Task]

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", items(self.tasks, "the tasks of Contact", Task))
        for task in self.tasks:
            if not isinstance(task.effector, Point) or not isinstance(task.goal, Within):
                raise BadValue(f"Contact takes tasks of a Point and Within, not {task.name!r}")
            if task.goal.box is None or task.goal.tilt is not None or task.goal.relative_to is not None:
                raise BadValue(f"{task.name!r}: a contact has a box= in the world, and no tilt=")
        super().__post_init__()

    def keep(self, problem: Problem) -> Sequence[str]:
        """The segments that touch."""
        return tuple(dict.fromkeys(task.effector.segment for task in self.tasks))  # pyright: ignore

    def cones(self, lifted: Lifted) -> tuple[Sequence[Cone], int]:
        """Three rows for each contact, equations across faces."""
        out = []
        for task in self.tasks:
            point, goal = task.effector, task.goal
            assert isinstance(point, Point)
            E = lifted.point(point.segment, point.offset).copy()
            E[:, 0, 0] -= goal.at[:3, 3]
            E = np.einsum("ba,bjk->ajk", goal.at[:3, :3], E)
            low, high = goal.box
            for i in range(3):
                above, below = E[i : i + 1].copy(), -E[i : i + 1]
                above[0, 0, 0] -= low[i]
                below[0, 0, 0] += high[i]
                if low[i] == high[i]:
                    out.append(Cone("zero", above, task.name))
                else:
                    out.append(Cone("positive", np.concatenate([above, below]), task.name))
        return out, 0


@dataclass(frozen=True, eq=False, repr=False)
class AllOf(Value):
    """Further rows for `RankOne`: several, each with variables of its own."""

    parts: Sequence[Part]

    def __post_init__(self) -> None:
        parts = items(self.parts, "the parts of AllOf")
        object.__setattr__(self, "parts", tuple(checked_rows(part, "each part of AllOf") for part in parts))

    @property
    def variables(self) -> int:
        """Those of all parts."""
        return sum(part.variables for part in self.parts)

    def keep(self, problem: Problem) -> Sequence[str]:
        """The segments of all parts."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.keep(problem)))

    def cones(self, lifted: Lifted) -> tuple[Sequence[Cone], int]:
        """The cones of all parts, their variables one after the other."""
        out, at = [], 0
        for part in self.parts:
            cones, count = part.cones(lifted)
            out += [_moved(cone, 1 + lifted.size, at) for cone in cones]
            at += count
        return out, at

    def push(self, x: Floats) -> Floats:
        """The sum of all."""
        n, out = len(x) - self.variables, np.zeros(len(x))
        at = n
        for part in self.parts:
            own = np.concatenate([np.arange(n), np.arange(at, at + part.variables)])
            out[own] += part.push(x[own])
            at += part.variables
        return out


def _moved(cone: Cone, size: int, at: int) -> Cone:
    """A cone whose own variables begin `at` further on."""
    rows, n, p = cone.rows.shape
    if at == 0 or n == size:
        return cone
    E = np.zeros((rows, n + at, p))
    E[:, :size], E[:, size + at :] = cone.rows[:, :size], cone.rows[:, size:]
    return Cone(cone.kind, E, cone.name)
