"""Cyclic coordinate descent: one coordinate after the other, from the tips to the root, each to its best value.

The method that Engell-Nørregård & Erleben 2009 name in section 2, in its usual exact form (Wang & Chen 1991).

Along a hinge, position and direction goals are a first harmonic of the angle, ``B cos t + C sin t``; along a slide, position
goals are a parabola. Both have their minimum in closed form, within limits too (`one_coordinate`).

Where neither form holds (other goals, relative ones, alternatives, the mass centre, screws, coordinates that drive
several joints or have a preferred value) a safeguarded search goes along the coordinate: a bracket by growing steps, then
secants of the slope ∂G/∂q_i held inside it; only a posture with a lower G is accepted.

Depth-first order makes a sweep from the last joint to the first cheap: what has been turned already lies behind, so the
axes of the joints still to come are where they were, and only the goals' frames are carried along.

The first sweep is made even where the gradient vanishes: a closed form sees beyond a maximum, or round the far side.
Limits hold exactly at every step and G never rises. A coordinate of rigidity ρ goes the share ``1 − ρ`` of its way (which is
downhill all along); a locked one stays. Linear inequalities narrow a coordinate's range; linear equalities, which tie
coordinates together, are refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from supple.basics.checks import check_fields, not_negative, whole
from supple.geometry.placements import Floats
from supple.kernels.compiling import entry, leaf, row, stage, table, written_in
from supple.kernels.layouts import COORDINATES, DRIVEN_BY, FRAME_ROW, KIND, NO_ROW, REFERENCE_ROW, TERMS
from supple.kernels.objective import gradient
from supple.kernels.observe import observe
from supple.kernels.scratch import open_evaluation
from supple.kernels.tables import open_tasks
from supple.kernels.terms.kinds import AT, FACE, LINE, NEAR, PLANE, TURN
from supple.kernels.tree import open_tree
from supple.problem.allowance import FREELY, MET, SPENT, STATIONARY, STUCK, Allowance, close, count, record, spent
from supple.problem.problem import Problem
from supple.problem.solution import Solution
from supple.solvers.base import is_patient, reasons_of_a_descent_method, run
from supple.solvers.baselines.common import GOING, headway, limits_of, read_room, room_of, room_size, settle
from supple.solvers.baselines.one_coordinate import (
    by_row,
    carries,
    carry_frames,
    first_moved,
    hinge_change,
    slide_change,
    span,
)

IDLE, EXACT, SEARCHED = range(3)
TRIALS = 24  # evaluations of one search
FLATTER = 0.1  # a search ends when the slope has fallen to this share


class Plan(NamedTuple):
    """Scratch of the sweeps, in the rest of the room."""

    how: Any  # (n) IDLE, EXACT or SEARCHED
    reach: Any  # (n) how far each coordinate went the last time
    h: Any  # (n) the gradient at a trial
    X: Any  # (terms, 12) the frames that the terms read
    order: Any  # (terms) by the rows that carry what they see


@written_in
def read_plan(I: Any, room: Any) -> Any:
    """Views of the plan."""
    n, at = I[COORDINATES], read_room(I, room).rest
    X, order = table(room, at + 3 * n, I[TERMS], 12), row(room, at + 3 * n + 12 * I[TERMS], I[TERMS])
    return Plan(row(room, at, n), row(room, at + n, n), row(room, at + 2 * n, n), X, order)


@leaf
def survey(tree: Any, tasks: Any, free: Any, plan: Any) -> None:
    """How each coordinate is moved: not at all, by its closed form, or by a search."""
    for i in range(free.shape[0]):
        plan[i] = IDLE
    for j in range(tree.parent.shape[0]):
        if tree.coordinate[j] >= 0:
            plan[tree.coordinate[j]] = EXACT if tree.axis[j] < 6 else SEARCHED
    for s in range(tree.term.shape[0]):
        plan[tree.term[s, DRIVEN_BY]] = SEARCHED
    for t in range(tasks.task.shape[0] - 1):
        single = tasks.task[t + 1] - tasks.task[t] == 1
        for k in range(tasks.alternative[tasks.task[t]], tasks.alternative[tasks.task[t + 1]]):
            kind, at, reference = tasks.term[k, KIND], tasks.term[k, FRAME_ROW], tasks.term[k, REFERENCE_ROW]
            if kind == NEAR:
                for i in range(free.shape[0]):
                    if tasks.near[at, i] > 0.0:
                        plan[i] = SEARCHED
                continue
            plain = single and at != NO_ROW and reference == NO_ROW
            harmonic = plain and (kind == AT or kind == FACE or kind == TURN)
            parabola = harmonic or (plain and (kind == LINE or kind == PLANE))
            for j in range(tree.parent.shape[0]):
                felt = at == NO_ROW or carries(tree, j, at) or carries(tree, j, reference)
                if felt and tree.coordinate[j] >= 0 and not (harmonic if tree.axis[j] < 3 else parabola):
                    plan[tree.coordinate[j]] = SEARCHED
    for i in range(free.shape[0]):
        if not free[i] > 0.0:
            plan[i] = IDLE


@stage
def exact_sweep(I: Any, F: Any, scratch: Any, T: Any, q: Any, how: Any, X: Any, order: Any) -> None:
    """Every coordinate with a closed form to its best value, from the last joint to the first.

    The last evaluation was at q: its world table is the one that the axes are read from.
    """
    tree = open_tree(I, F)
    tasks = open_tasks(I, F)
    allowed, work = limits_of(I, F), open_evaluation(I, scratch)
    for k in range(tasks.term.shape[0]):
        if tasks.term[k, KIND] != NEAR:
            observe(tree, tasks, k, work)
            for i in range(12):
                X[k, i] = work.seen[i]
    first = order.shape[0]
    for j in range(tree.parent.shape[0] - 1, -1, -1):
        i, first = tree.coordinate[j], first_moved(tasks, order, first, j)
        if i < 0 or how[i] != EXACT:
            continue
        low, high = span(allowed, q, i)
        if tree.axis[j] < 3:
            t = hinge_change(tree, tasks, T, work.world, X, order, first, j, low, high, allowed.mobility[i])
        else:
            t = slide_change(tree, tasks, T, work.world, X, order, first, j, low, high)
        new = min(max(q[i] + allowed.mobility[i] * t, allowed.lower[i]), allowed.upper[i])
        if new != q[i] and math.isfinite(new):
            carry_frames(tree, tasks, work.world, X, order, first, j, new - q[i])
            q[i] = new


@leaf
def inside(left: float, right: float, slope_left: float, slope_right: float) -> float:
    """The next trial in a bracket: the secant's zero of the slope, kept off the ends; the middle if slopes do not help."""
    width = right - left
    if not (slope_left < 0.0 < slope_right):
        return left + 0.5 * width
    t = left - slope_left * width / (slope_right - slope_left)
    return min(max(t, left + 0.05 * width), right - 0.05 * width)


@stage
def hold_back(
    I: Any, F: Any, scratch: Any, T: Any, room: Any, q: Any, i: int, part: float, f: float, most: float
) -> Any:
    """Take the reluctant coordinate i back to `part` of its way, if G stays below `most` there: G and the unmet tasks.

    The gradient is kept up; where the coordinate stays, the unmet tasks are −1.
    """
    g, h, whole = read_room(I, room).g, read_plan(I, room).h, q[i]
    q[i] = part
    value, unmet = gradient(I, F, scratch, T, q, h)
    if not value <= most:
        q[i] = whole
        return f, -1
    for k in range(q.shape[0]):
        g[k] = h[k]
    return value, unmet


@stage
def search(I: Any, F: Any, scratch: Any, T: Any, room: Any, q: Any, i: int, f: float, info: Any, trace: Any) -> Any:
    """Lower G along coordinate i from q, whose value f and gradient are known and are kept up: G and the unmet tasks.

    Where the coordinate stays, the unmet tasks are −1.
    """
    allowed, g, plan = limits_of(I, F), read_room(I, room).g, read_plan(I, room)
    h, reach = plan.h, plan.reach
    low, high = span(allowed, q, i)
    start, f_start, slope = q[i], f, g[i]
    way = -1.0 if slope > 0.0 else 1.0
    far = high if way > 0.0 else -low
    if slope == 0.0 or not far > 0.0 or not math.isfinite(slope):
        return f, -1
    left, slope_left, right, slope_right = 0.0, -abs(slope), -1.0, 0.0
    best, t, trials, unmet = 0.0, min(max(reach[i], 1e-9), far), 0, -1
    while trials < TRIALS and not spent(info):
        q[i] = min(max(start + way * t, allowed.lower[i]), allowed.upper[i])
        value, missed = gradient(I, F, scratch, T, q, h)
        count(info)
        trials += 1
        s = way * h[i]
        if value < f:
            best, f, unmet = t, value, missed
            for k in range(q.shape[0]):
                g[k] = h[k]
            if allowed.mobility[i] == 1.0:
                record(info, trace, f)
            if abs(s) <= FLATTER * abs(slope):
                break
        if value <= f and s < 0.0:
            left, slope_left = t, s
            if right < 0.0:
                if t >= far:
                    break
                t = min(3.0 * t, far)
                continue
        else:
            right, slope_right = t, s if math.isfinite(value) else 0.0
        t = inside(left, right, slope_left, slope_right)
        if not right - left > 1e-14 * (1.0 + abs(start)):
            break
    q[i] = min(max(start + way * best, allowed.lower[i]), allowed.upper[i])
    reach[i] = best if best > 0.0 else 0.1 * reach[i]
    if best > 0.0 and allowed.mobility[i] < 1.0:
        if not spent(info):
            part = min(max(start + way * allowed.mobility[i] * best, allowed.lower[i]), allowed.upper[i])
            f, missed = hold_back(I, F, scratch, T, room, q, i, part, f, f_start)
            count(info)
            unmet = missed if missed >= 0 else unmet
        record(info, trace, f)
    return f, unmet


@leaf
def same(q: Any, p: Any) -> bool:
    """Whether two postures are equal."""
    equal = True
    for i in range(q.shape[0]):
        equal = equal and q[i] == p[i]
    return equal


@stage
def sweep(I: Any, F: Any, scratch: Any, T: Any, room: Any, q: Any, f: float, unmet: int, info: Any, trace: Any) -> Any:
    """Every coordinate to its best value, first those with a closed form: G and the number of tasks not met."""
    r, plan = read_room(I, room), read_plan(I, room)
    for i in range(q.shape[0]):
        r.best[i], r.slope[i] = q[i], r.g[i]
    if uses(plan.how, EXACT):
        exact_sweep(I, F, scratch, T, q, plan.how, plan.X, plan.order)
        f_new, missed = gradient(I, F, scratch, T, q, r.g)
        count(info)
        if f_new <= f:
            f, unmet = f_new, missed
            record(info, trace, f)
        else:  # rounding has the last word, or a goal is not a number
            for i in range(q.shape[0]):
                q[i], r.g[i] = r.best[i], r.slope[i]
    for i in range(q.shape[0] - 1, -1, -1):
        if plan.how[i] == SEARCHED:
            f, missed = search(I, F, scratch, T, room, q, i, f, info, trace)
            unmet = missed if missed >= 0 else unmet
    return f, unmet


@leaf
def uses(how: Any, what: int) -> bool:
    """Whether any coordinate is moved this way."""
    found = False
    for i in range(how.shape[0]):
        found = found or how[i] == what
    return found


@stage
def cyclic_loop(I: Any, F: Any, scratch: Any, T: Any, q: Any, settings: Any, info: Any, trace: Any) -> None:
    """The loop; its iterations are sweeps."""
    steps, tolerance, patient = settings[0], settings[1], settings[2]
    room = room_of(I, scratch)
    r, plan = read_room(I, room), read_plan(I, room)
    tree = open_tree(I, F)
    tasks = open_tasks(I, F)
    survey(tree, tasks, limits_of(I, F).mobility, plan.how)
    by_row(tasks, plan.order)
    for i in range(q.shape[0]):
        plan.reach[i] = 0.1
    settle(I, F, room, q)
    f, unmet = gradient(I, F, scratch, T, q, r.g)
    count(info)
    record(info, trace, f)
    k, reason, both = 0, GOING, uses(plan.how, EXACT) and uses(plan.how, SEARCHED)
    while reason == GOING:
        if unmet == 0 and patient == 0.0:
            reason = MET
        elif k > 0 and headway(I, F, room, q) <= tolerance:
            reason = STATIONARY
        elif k >= steps or spent(info):
            reason = SPENT
        elif k > 0 and same(q, r.best):
            reason = STUCK
        else:
            if k > 0 and both:  # searches have moved on; closed forms read the world table of q
                gradient(I, F, scratch, T, q, r.g)
                count(info)
            if k == 0 or not spent(info):
                k += 1
                f, unmet = sweep(I, F, scratch, T, room, q, f, unmet, info, trace)
    if headway(I, F, room, q) <= tolerance:
        reason = STATIONARY
    close(info, k, f, reason)


@entry
def cyclic_coordinate_descent_entry(
    I: Any, F: Any, scratch: Any, T: Any, Q: Any, settings: Any, info: Any, trace: Any, first: int, last: int
) -> None:
    """Solve rows first … last − 1 of Q (k, size) in place for the targets T (k, …)."""
    for k in range(first, last):
        cyclic_loop(I, F, scratch, T[k], Q[k], settings, info[k], trace)


@dataclass(frozen=True)
class CyclicCoordinateDescent:
    """One coordinate at a time to its exact minimum, from the tips to the root. Cheap sweeps, always legal, never uphill."""

    steps: int = 2000  # sweeps over all coordinates
    tolerance: float = 1e-8  # on the projected gradient step

    def __post_init__(self) -> None:
        check_fields(self, steps=whole, tolerance=not_negative)

    def refuse(self, problem: Problem) -> list[str]:
        """Hard tasks, several priorities, obstacles, linear equalities between coordinates."""
        assert problem.limits is not None
        reasons = reasons_of_a_descent_method(problem)
        if problem.limits.rows[0]:
            reasons.append("linear equalities tie its coordinates together, so that none can move alone")
        return reasons

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Allowance = FREELY) -> Solution:
        """Sweep from `start` until every task is met, nothing is left to gain, or the budget is spent."""
        settings = (self.steps, self.tolerance, is_patient(problem))
        room = room_size(problem, 3 * problem.figure.size + 13 * int(problem.packed[0][TERMS]))
        return run(self, cyclic_coordinate_descent_entry, room, settings, problem, start, seed, allowance)
