"""Who says SOLVED: the independent audit, at every door.

Compiled loops end when every task is met a little inside its tolerance, ``(1 − 10⁻⁶) tolerance²``; the audit
(`Problem.misses`) recomputes every miss in plain NumPy from the figure. What a loop ends with is audited, with one
exception: where it is *sure* that the audit agrees, for rounding is smaller than what the loop stays inside,

    10⁻⁶ / 2 · tolerance  ≥  u · L · (16 d + 8 r),

u the unit of rounding, d the joints one after the other that carry an effector, L the length of the way to it [m], r the
greatest angle: each joint costs the frame that it carries 4 u of its rotation and 4 u of its length, an angle of r radians is
rounded by u r, and there are two ways of computing, the loop's and the audit's. On a figure of a metre with tolerances of
10⁻⁵ m and 10⁻⁴ rad this leaves a factor of thirty; on one of a hundred metres it holds no more, and there every answer is
audited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from supple.figure.effectors import Direction, Frame, Gap, Point
from supple.figure.figure import Figure
from supple.kernels.tables import EXACT
from supple.problem.goals import At, Facing, Placed
from supple.problem.packing import INSIDE
from supple.problem.problem import Problem, Task, segments_of

if TYPE_CHECKING:
    from supple.problem.obstacles import Clear

UNIT = 2.0**-53
RANGES = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0)  # of numbers that nothing bounds


def sure_within(problem: Problem) -> float:
    """The size of numbers, of q and of targets, up to which a loop's word that all tasks are met is the audit's.

    inf where limits bound them all; −1 where the audit must be asked in any case.
    """
    limits = problem.limits
    assert limits is not None
    tasks = [task for task in problem.all_tasks if not task.preference]
    goals = [goal for task in tasks for goal, _ in task.alternatives]
    others = [goal for goal in goals if not isinstance(goal, At | Placed | Facing)]
    anywhere = [goal for goal in others if _is_anywhere(goal)]
    if not all(_is_anywhere(goal) or _is_bounded(goal) for goal in others):
        return -1.0
    if any(pair.bar.core is None for goal in others if _is_clear(goal) for pair in goal.pairs):
        return -1.0  # distances between hulls are found by a method that converges
    if not all(isinstance(e, Point | Direction | Frame | Gap | None) for task in tasks for e, _, _ in task.choices):
        return -1.0
    ends = np.maximum(np.abs(limits.lower), np.abs(limits.upper))
    loose = not np.isfinite(ends).all() or bool(anywhere)
    if not loose:
        return np.inf if all(_is_sure(problem, task, ends, 0.0) for task in tasks) else -1.0
    return next((size for size in RANGES if all(_is_sure(problem, task, ends, size) for task in tasks)), -1.0)


def _is_anywhere(goal: Any) -> bool:
    """Whether the target of a goal may lie anywhere: on a line, beyond a plane."""
    from supple.problem.goals import Beyond, OnLine, OnPlane, Within

    return isinstance(goal, OnLine | OnPlane | Beyond | Within)


def _is_bounded(goal: Any) -> bool:
    """Whether a goal is one of the rest that the audit's bound is known for: a posture, room around obstacles."""
    from supple.problem.goals import Near

    return isinstance(goal, Near) or _is_clear(goal)


def _is_clear(goal: Any) -> TypeGuard[Clear]:
    """Whether a goal keeps bodies apart."""
    if isinstance(goal, At | Placed | Facing):
        return False
    from supple.problem.obstacles import Clear

    return isinstance(goal, Clear)


def _is_sure(problem: Problem, task: Task, ends: np.ndarray, size: float) -> bool:
    """Whether rounding is smaller than what a loop stays inside, where numbers without bounds are no more than `size`."""
    if task.of_figure and not _is_clear(task.goal):
        return True
    figure, offset = problem.figure, 0.0
    effectors = dict.fromkeys(effector for effector, _, _ in task.choices)
    for end in (end for e in effectors for end in ((e.a, e.b) if isinstance(e, Gap) else (e,))):
        offset += float(np.linalg.norm(end.frame[:3, 3])) if isinstance(end, Point | Direction | Frame) else 0.0
    if _is_clear(task.goal):
        offset += _farthest(task.goal)
    bounds = (np.where(np.isfinite(ends), ends, most) for most in (size, 0.0))
    near, far = ([_way(figure, segment, bound) for segment in segments_of(task)] for bound in bounds)
    ways, inner = sorted(near, reverse=True)[:2], sum(way for way, _, _ in sorted(far, reverse=True)[:2]) + offset
    turned, joints = max((angle for _, _, angle in ways), default=0.0), 1 + sum(count for _, count, _ in ways)
    length = 2.0 * size + offset + sum(way for way, _, _ in ways)
    angle = UNIT * (16.0 * joints + 8.0 * turned)
    folded = EXACT * len(problem.charts)
    apart = folded * (inner if _carried_first(problem) else length)  # what folding a chart may move
    inside = 0.5 * (1.0 - INSIDE)
    return angle * length + apart <= inside * task.tolerance and angle + folded <= inside * task.angle_tolerance


def _carried_first(problem: Problem) -> bool:
    """Whether what slides without limits carries every chart, and is not carried by one."""
    figure, limits = problem.figure, problem.limits
    assert limits is not None
    loose = np.flatnonzero(~np.isfinite(limits.upper - limits.lower) & ~figure.turning)
    return all(i < min(chart) for i in loose for chart in problem.charts)


def _way(figure: Figure, segment: str, bound: np.ndarray) -> tuple[float, int, float]:
    """The length of the way to a segment, slides at their ends; the joints on it; and the greatest angle of one of them."""
    count, length, angle = 0, 0.0, 0.0
    for key in figure.path_to_root(segment):
        joint = figure.joint_of[key]
        count, length = count + 1, length + float(np.linalg.norm(joint.at[:3, 3]))
        if joint.is_fixed:
            continue
        if joint.drive is None:
            most = float(bound[figure.coordinates.index(joint.name)])
        elif any(joint.slide):
            most = max(map(abs, joint.limits))  # a curve may lead anywhere
        else:
            most = sum(
                curve.steepest() * float(bound[figure.coordinates.index(name)]) for name, curve in joint.drive.terms
            )
        length += float(np.linalg.norm(joint.slide)) * most if any(joint.slide) else 0.0
        angle = max(angle, most if any(joint.turn) else 0.0)
    return length, count, angle


def _farthest(goal: Clear) -> float:
    """How far from the origin what stands in the world reaches [m]."""
    still = [pair.other for pair in goal.pairs if pair.other.segment is None]
    return max((float(np.linalg.norm(other.centre)) + other.reach for other in still), default=0.0)
