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

from supple.kernels.algebra.vectors import copy
from supple.kernels.compiling import entry, leaf, stage
from supple.kernels.kinds import NEAR
from supple.kernels.layouts import KIND, PROBLEM
from supple.kernels.objective import gradient
from supple.kernels.observe import observe
from supple.kernels.opening import Scratch, of
from supple.kernels.tables import open_evaluation, open_limits, open_tasks
from supple.kernels.tree import open_tree
from supple.problem.allowance import MET, SPENT, STATIONARY, STUCK
from supple.problem.meter import close, count, record, spent
from supple.problem.problem import Problem
from supple.solvers.base import PATIENT, STEPS, TOLERANCE, Descent, Loop
from supple.solvers.baselines.common import BASELINE, HERE, UNMET_HERE, headway, open_baseline
from supple.solvers.baselines.one_coordinate import (
    EXACT,
    SEARCHED,
    Carried,
    carry_frames,
    first_moved,
    hinge_change,
    order_by_row,
    slide_change,
    span_of,
    survey,
)
from supple.solvers.descent import GOING
from supple.solvers.linear_limits import inside

TRIALS = 24  # evaluations of one search
FLATTER = 0.1  # a search ends when the slope has fallen to this share


class CyclicScratch(NamedTuple):
    """What the sweeps remember."""

    baseline: Any = of(BASELINE)
    how: Any = of("COORDINATES")  # IDLE, EXACT or SEARCHED
    reach: Any = of("COORDINATES")  # how far each coordinate went the last time
    h: Any = of("COORDINATES")  # the gradient at a trial
    X: Any = of("TERMS", 12)  # the frames that the terms read
    order: Any = of("TERMS")  # by the rows that carry what they see


CYCLIC = Scratch(CyclicScratch, PROBLEM)
open_cyclic = CYCLIC.open


@stage
def exact_sweep(I: Any, F: Any, memory: Any, T: Any, q: Any) -> None:
    """Every coordinate with a closed form to its best value, from the last joint to the first.

    The last evaluation was at q: its world table is the one that the axes are read from.
    """
    tree = open_tree(I, F)
    tasks = open_tasks(I, F)
    allowed, work, s = open_limits(I, F), open_evaluation(I, memory), open_cyclic(I, memory)
    for k in range(tasks.term.shape[0]):
        if tasks.term[k, KIND] != NEAR:
            observe(tree, tasks, k, work)
            for i in range(12):
                s.X[k, i] = work.seen[i]
    first = s.order.shape[0]
    for j in range(tree.parent.shape[0] - 1, -1, -1):
        i, first = tree.coordinate[j], first_moved(tasks, s.order, first, j)
        if i < 0 or s.how[i] != EXACT:
            continue
        span, carried = span_of(allowed, q, i), Carried(s.X, s.order, first)
        if tree.axis[j] < 3:
            t = hinge_change(tree, tasks, T, work.world, carried, j, span)
        else:
            t = slide_change(tree, tasks, T, work.world, carried, j, span)
        new = min(max(q[i] + allowed.mobility[i] * t, allowed.lower[i]), allowed.upper[i])
        if new != q[i] and math.isfinite(new):
            carry_frames(tree, tasks, work.world, carried, j, new - q[i])
            q[i] = new


@leaf
def next_in_bracket(left: float, right: float, slope_left: float, slope_right: float) -> float:
    """The next trial in a bracket: the secant's zero of the slope, kept off the ends; the middle if slopes do not help."""
    width = right - left
    if not (slope_left < 0.0 < slope_right):
        return left + 0.5 * width
    t = left - slope_left * width / (slope_right - slope_left)
    return min(max(t, left + 0.05 * width), right - 0.05 * width)


@stage
def hold_back(I: Any, F: Any, memory: Any, T: Any, q: Any, i: int, part: float, most: float) -> None:
    """Take the reluctant coordinate i back to `part` of its way, if G stays below `most` there; else it stays."""
    b, h, whole = open_baseline(I, memory), open_cyclic(I, memory).h, q[i]
    q[i] = part
    value, unmet = gradient(I, F, memory, T, q, h)
    if value <= most:
        b.state[HERE], b.state[UNMET_HERE] = value, unmet
        copy(h, b.g)
    else:
        q[i] = whole


@stage
def search_coordinate(I: Any, F: Any, memory: Any, T: Any, q: Any, i: int, report: Any, trace: Any) -> None:
    """Lower G along coordinate i from q, whose value, unmet tasks and gradient are known and are kept up."""
    allowed, b, s = open_limits(I, F), open_baseline(I, memory), open_cyclic(I, memory)
    span, start, slope, lowest = span_of(allowed, q, i), q[i], b.g[i], b.state[HERE]
    way = -1.0 if slope > 0.0 else 1.0
    far = span.high if way > 0.0 else -span.low
    if slope == 0.0 or not far > 0.0 or not math.isfinite(slope):
        return
    f, left, slope_left, right, slope_right = lowest, 0.0, -abs(slope), -1.0, 0.0
    best, t, trials = 0.0, min(max(s.reach[i], 1e-9), far), 0
    while trials < TRIALS and not spent(report):
        q[i] = min(max(start + way * t, allowed.lower[i]), allowed.upper[i])
        value, unmet = gradient(I, F, memory, T, q, s.h)
        count(report)
        trials += 1
        steepness = way * s.h[i]
        if value < f:
            best, f = t, value
            b.state[HERE], b.state[UNMET_HERE] = value, unmet
            copy(s.h, b.g)
            if span.share == 1.0:
                record(report, trace, f)
            if abs(steepness) <= FLATTER * abs(slope):
                break
        if value <= f and steepness < 0.0:
            left, slope_left = t, steepness
            if right < 0.0:
                if t >= far:
                    break
                t = min(3.0 * t, far)
                continue
        else:
            right, slope_right = t, steepness if math.isfinite(value) else 0.0
        t = next_in_bracket(left, right, slope_left, slope_right)
        if not right - left > 1e-14 * (1.0 + abs(start)):
            break
    q[i] = min(max(start + way * best, allowed.lower[i]), allowed.upper[i])
    s.reach[i] = best if best > 0.0 else 0.1 * s.reach[i]
    if best > 0.0 and span.share < 1.0:
        if not spent(report):
            part = min(max(start + way * span.share * best, allowed.lower[i]), allowed.upper[i])
            hold_back(I, F, memory, T, q, i, part, lowest)
            count(report)
        record(report, trace, b.state[HERE])


@leaf
def are_equal(q: Any, p: Any) -> bool:
    """Whether two postures are equal."""
    equal = True
    for i in range(q.shape[0]):
        equal = equal and q[i] == p[i]
    return equal


@leaf
def uses(how: Any, what: int) -> bool:
    """Whether any coordinate is moved this way."""
    found = False
    for i in range(how.shape[0]):
        found = found or how[i] == what
    return found


@stage
def sweep_all(I: Any, F: Any, memory: Any, T: Any, q: Any, report: Any, trace: Any) -> None:
    """Every coordinate to its best value, first those with a closed form."""
    b, s = open_baseline(I, memory), open_cyclic(I, memory)
    copy(q, b.best)
    copy(b.g, b.slope)
    if uses(s.how, EXACT):
        exact_sweep(I, F, memory, T, q)
        f, unmet = gradient(I, F, memory, T, q, b.g)
        count(report)
        if f <= b.state[HERE]:
            b.state[HERE], b.state[UNMET_HERE] = f, unmet
            record(report, trace, f)
        else:  # rounding has the last word, or a goal is not a number
            copy(b.best, q)
            copy(b.slope, b.g)
    for i in range(q.shape[0] - 1, -1, -1):
        if s.how[i] == SEARCHED:
            search_coordinate(I, F, memory, T, q, i, report, trace)


@leaf
def begin_sweeps(I: Any, F: Any, memory: Any) -> None:
    """How each coordinate is moved, the order of the terms, and a first reach."""
    tasks, s = open_tasks(I, F), open_cyclic(I, memory)
    survey(open_tree(I, F), tasks, open_limits(I, F).mobility, s.how)
    order_by_row(tasks, s.order)
    for i in range(s.reach.shape[0]):
        s.reach[i] = 0.1


@stage
def cyclic_loop(I: Any, F: Any, memory: Any, T: Any, q: Any, settings: Any, report: Any, trace: Any) -> None:
    """The loop; its iterations are sweeps."""
    b, s = open_baseline(I, memory), open_cyclic(I, memory)
    begin_sweeps(I, F, memory)
    inside(I, F, q, b.projection)
    b.state[HERE], b.state[UNMET_HERE] = gradient(I, F, memory, T, q, b.g)
    count(report)
    record(report, trace, b.state[HERE])
    k, reason, both = 0, GOING, uses(s.how, EXACT) and uses(s.how, SEARCHED)
    while reason == GOING:
        if b.state[UNMET_HERE] == 0.0 and settings[PATIENT] == 0.0:
            reason = MET
        elif k > 0 and headway(I, F, memory, q) <= settings[TOLERANCE]:
            reason = STATIONARY
        elif k >= settings[STEPS] or spent(report):
            reason = SPENT
        elif k > 0 and are_equal(q, b.best):
            reason = STUCK
        else:
            if k > 0 and both:  # searches have moved on; closed forms read the world table of q
                gradient(I, F, memory, T, q, b.g)
                count(report)
            if k == 0 or not spent(report):
                k += 1
                sweep_all(I, F, memory, T, q, report, trace)
    if headway(I, F, memory, q) <= settings[TOLERANCE]:
        reason = STATIONARY
    close(report, k, b.state[HERE], reason)


@entry
def cyclic_coordinate_descent_entry(
    I: Any, F: Any, memory: Any, T: Any, Q: Any, settings: Any, report: Any, trace: Any, first: int, last: int
) -> None:
    """Solve rows first … last − 1 of Q (k, size) in place for the targets T (k, …)."""
    for k in range(first, last):
        cyclic_loop(I, F, memory, T[k], Q[k], settings, report[k], trace)


@dataclass(frozen=True)
class CyclicCoordinateDescent(Descent):
    """One coordinate at a time to its exact minimum, from the tips to the root. Cheap sweeps, always legal, never uphill."""

    steps: int = 2000  # sweeps over all coordinates
    tolerance: float = 1e-8  # on the projected gradient step

    loop = Loop(cyclic_coordinate_descent_entry, CYCLIC)

    def refuse(self, problem: Problem) -> list[str]:
        """Hard tasks, several priorities, obstacles, linear equalities between coordinates."""
        assert problem.limits is not None
        reasons = super().refuse(problem)
        if problem.limits.rows[0]:
            reasons.append("linear equalities tie its coordinates together, so that none can move alone")
        return reasons
