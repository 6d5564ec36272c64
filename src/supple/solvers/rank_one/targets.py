"""What tasks say about lifted variables: every target is a few *parameters*, and every equation linear in variables.

An expression is an array E (rows, 1 + n, 1 + p). At variables x and parameters π it is ``Σ E[·, j, k] (1, x)_j (1, π)_k``:
affine in the variables, with coefficients affine in the targets. So a moved target changes numbers, never the structure.
Seen from a base frame (the world, the segment of `relative_to`, or the first end of a gap)

    At:      t + R f = t₀ + R₀ (f₀ + F₀ p),
    Facing:  R F e = R₀ F₀ d,
    Placed:  both, with all axes e.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.figure.effectors import Direction, Frame, Gap, Point, along_x
from supple.geometry.placements import HERE, Floats
from supple.problem.goals import At, Facing, Placed
from supple.problem.problem import Problem, Task


@dataclass(frozen=True, eq=False)
class Turn:
    """Axes of the effector that are to lie along columns of a frame of nine parameters, row by row, from `first` on."""

    first: int
    axes: tuple[int, ...]  # of the effector's frame, each along the column of the same place in the list


@dataclass(frozen=True, eq=False)
class Aim:
    """A task: a frame of a segment, seen from a base, and where its parameters are; parameter 0 is the number one."""

    name: str
    segment: str
    frame: Floats  # (4, 4) in the segment
    base: str | None
    base_frame: Floats
    position: int | None  # the first of three parameters
    turns: tuple[Turn, ...]
    weight: float


def reasons(task: Task) -> list[str]:
    """Why a task cannot be lifted."""
    if task.preference:
        return [f"{task.name!r} is a preference"]
    if not isinstance(task.goal, At | Facing | Placed):
        return [f"{task.name!r}: {type(task.goal).__name__} is not linear in rotations; At, Facing and Placed are"]
    if not isinstance(task.effector, Point | Direction | Frame | Gap):
        return [f"{task.name!r}: {type(task.effector).__name__} is no point, direction or frame of a segment"]
    return []


def aims_of(tasks: Sequence[Task]) -> tuple[tuple[Aim, ...], int]:
    """The tasks as aims, and the number of parameters, the first included."""
    at, out = 1, []
    for task in tasks:
        goal, effector = task.goal, task.effector
        base, base_frame = goal.relative_to, HERE
        if isinstance(effector, Gap):
            base, base_frame, effector = effector.a.segment, effector.a.frame, effector.b
        assert isinstance(effector, Point | Direction | Frame)
        turns = []
        for axes in _axes(goal):
            turns.append(Turn(at, axes))
            at += 9
        position = at if isinstance(goal, At | Placed) else None
        at += 3 if position is not None else 0
        out.append(
            Aim(task.name, effector.segment, effector.frame, base, base_frame, position, tuple(turns), task.weight)
        )
    return tuple(out), at


def _axes(goal: Any) -> list[tuple[int, ...]]:
    if isinstance(goal, Placed) or (isinstance(goal, Facing) and goal.matrix is not None):
        return [(0, 1, 2)]
    if isinstance(goal, Facing):
        return [(k,) for k, d in enumerate((goal.x, goal.y)) if d is not None]
    return []


def targets_of(problem: Problem) -> Floats:
    """The parameters of a problem's targets, the number one first."""
    out = [np.ones(1)]
    for task in problem.tasks:
        goal = task.goal
        if isinstance(goal, Placed):
            out += [goal.at[:3, :3].ravel(), goal.at[:3, 3]]
        elif isinstance(goal, At):
            out.append(np.asarray(goal.position))
        elif goal.matrix is not None:
            out.append(goal.matrix.ravel())
        else:
            out += [along_x(tuple(d.tolist())).ravel() for d in (goal.x, goal.y) if d is not None]
    return np.concatenate(out)


def frame_of(first: int, count: int) -> Floats:
    """(3, 3, 1 + p): the frame of nine parameters."""
    out = np.zeros((3, 3, count))
    for a in range(3):
        for b in range(3):
            out[a, b, first + 3 * a + b] = 1.0
    return out
