"""The damped step: the minimum of a quadratic model inside the limits (its equations are in `damping`)."""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.active_rows import overstep
from supple.kernels.algebra.blocks_of_three import (
    TINY,
    dual_matrix,
    factor_blocks,
    primal_matrix,
    pull_back,
    push_forward,
    solve_symmetric,
    substitute_blocks,
)
from supple.kernels.algebra.nearest import project
from supple.kernels.compiling import leaf
from supple.solvers.levenberg_marquardt.joint_by_joint import LEAST, eliminate, load, step_alone, substitute
from supple.solvers.levenberg_marquardt.second_order import bend_joints

DUAL, PRIMAL, LEARNT, JOINTS = range(
    4
)  # a step is solved for in residuals, coordinates, these with curvature; by joint
TURNS, ROW_TURNS = 2, 10  # times that a step is solved for, each time with the limits that the last one met
SPRING = 1e5  # stiffness of a row that holds, as a multiple of the size of ``J D Jᵀ``
BENT = 0.5  # how long the second-order part of a step may be, in lengths of the step in this metric
STRAIGHT, LONG = (
    0.003,
    1.0,
)  # steps that are shorter or longer get no second-order part: it is nothing, or means nothing
ON_ROW = 1e-9  # a step that goes this far past a row crosses it


@leaf
def project_into(allowed: Any, q: Any, room: Any) -> None:
    """The nearest allowed posture, in the metric of the step."""
    project(q, allowed, room.D, room.spare, room.origin)


@leaf
def enter(allowed: Any, q: Any, room: Any) -> None:
    """Bring a start inside the limits, and hold the rows it stands on."""
    project_into(allowed, q, room)
    for r in range(room.on.shape[0]):
        room.on[r] = 1.0 if r < allowed.equalities or overstep(allowed.A, allowed.b, r, q) > -ON_ROW else 0.0


@leaf
def touches(q: Any, allowed: Any) -> bool:
    """Whether any coordinate is at a limit."""
    found = False
    for i in range(q.shape[0]):
        found = found or q[i] <= allowed.lower[i] or q[i] >= allowed.upper[i]
    return found


@leaf
def hold(q: Any, g: Any, D: Any, allowed: Any, held: Any) -> None:
    """Which coordinates may not move: locked ones, and those at a limit against which the gradient presses."""
    for i in range(q.shape[0]):
        pressed = (q[i] <= allowed.lower[i] and g[i] > 0.0) or (q[i] >= allowed.upper[i] and g[i] < 0.0)
        held[i] = 1.0 if pressed or D[i] == 0.0 else 0.0


@leaf
def add_springs(allowed: Any, q: Any, stiffness: float, room: Any) -> None:
    """Rows that hold, as springs in the primal system; ``room.origin`` is the step that is already made."""
    n = q.shape[0]
    for r in range(room.on.shape[0]):
        if room.on[r] != 0.0:
            over = overstep(allowed.A, allowed.b, r, q)
            for i in range(n):
                over += allowed.A[r, i] * room.origin[i]
            for i in range(n):
                x = stiffness * room.root[i] * allowed.A[r, i]
                if x != 0.0:
                    room.y[i] -= x * over
                    for j in range(i, n):
                        room.A[i, j] += x * room.root[j] * allowed.A[r, j]


@leaf
def add_learnt(room: Any) -> None:
    """What has been learnt of the curvature, as it acts on a step that begins with ``room.origin``."""
    n = room.root.shape[0]
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += room.S[i, j] * room.origin[j]
        room.y[i] -= room.root[i] * s
        for j in range(i, n):
            room.A[i, j] += room.root[i] * room.root[j] * room.S[i, j]


@leaf
def model_step(
    form: int, tree: Any, tasks: Any, routes: Any, chosen: Any, J: Any, widest: int, q: Any, damping: float, size: float,
    allowed: Any, room: Any,
) -> bool:  # fmt: skip
    """The damped step of the coordinates with ease, into ``room.g``, which holds the step that is already made.

    `room.y` holds the residuals to be removed. False if the model has no minimum.
    """
    n, m, y, g = room.g.shape[0], room.rho.shape[0], room.y, room.g
    definite = True
    if form == JOINTS:
        damping = max(damping, LEAST * size)
        load(tasks, chosen, room)
        eliminate(tree, damping, room)
        step_alone(damping, room)
        substitute(tree, room, room.g)
    elif form == DUAL:
        dual_matrix(tasks, routes, chosen, J, widest, room.ease, damping, room.B)
        factor_blocks(room.B, m)
        substitute_blocks(room.B, y, m)
        pull_back(tasks, routes, chosen, J, widest, y, g)
        for i in range(n):
            g[i] *= -room.ease[i]
    else:
        for i in range(n):
            room.origin[i] = g[i]
        pull_back(tasks, routes, chosen, J, widest, y, g)
        for i in range(n):
            room.root[i] = math.sqrt(room.ease[i])
            y[i] = -room.root[i] * (g[i] + room.lean[i])
        primal_matrix(tasks, routes, chosen, J, widest, room.root, damping, room.A)
        if form == LEARNT:
            add_learnt(room)
        for i in range(n):
            room.A[i, i] += room.ease[i] * room.pull[i]
        add_springs(allowed, q, SPRING * size, room)
        definite = solve_symmetric(room.A, y, n)
        for i in range(n):
            g[i] = room.root[i] * y[i]
    return definite


@leaf
def switch_rows(allowed: Any, room: Any) -> int:
    """Hold the rows that the trial crosses, let go those that it is pulled off; how many changed."""
    changed = 0
    for r in range(allowed.equalities, room.on.shape[0]):
        over = overstep(allowed.A, allowed.b, r, room.trial)
        if room.on[r] == 0.0 and over > ON_ROW:
            room.on[r], changed = 1.0, changed + 1
        elif room.on[r] != 0.0 and over < 0.0:
            room.on[r], changed = 0.0, changed + 1
    return changed


@leaf
def is_middling(q: Any, room: Any) -> bool:
    """Whether the trial is so far away that the second-order part of its step matters, and so near that it means something."""
    largest = 0.0
    for i in range(q.shape[0]):
        step = room.trial[i] - q[i]
        largest = max(largest, step * step / max(room.D[i], TINY))
    return STRAIGHT * STRAIGHT < largest < LONG * LONG


@leaf
def bend_trial(tree: Any, tasks: Any, chosen: Any, q: Any, allowed: Any, room: Any) -> None:
    """Add the second-order part of a step to the trial, where it is small beside the step itself."""
    bend_joints(tree, tasks, chosen, room, room.origin)
    first, second = 0.0, 0.0
    for i in range(q.shape[0]):
        first += room.g[i] * room.g[i] / max(room.D[i], TINY)
        second += room.origin[i] * room.origin[i] / max(room.D[i], TINY)
    if second <= BENT * BENT * first:
        for i in range(q.shape[0]):
            if room.held[i] == 0.0:
                room.trial[i] = min(max(q[i] + room.g[i] + room.origin[i], allowed.lower[i]), allowed.upper[i])


@leaf
def trial_step(
    form: int, bends: bool, tree: Any, tasks: Any, routes: Any, chosen: Any, J: Any, widest: int, rho: Any, q: Any,
    damping: float, size: float, allowed: Any, room: Any,
) -> float:  # fmt: skip
    """The damped step inside the limits: what would cross one is put on it, and the rest solved for once more.

    If it `bends`, it gets its second-order part. Returns the largest change of a coordinate; −1 if the model has no minimum.
    """
    n, m, held, trial = q.shape[0], rho.shape[0], room.held, room.trial
    definite = True
    hits, largest, turns = 1, 0.0, ROW_TURNS if room.on.shape[0] > 0 else TURNS
    for turn in range(turns):
        if hits > 0:
            for a in range(m):
                room.y[a] = rho[a]
            for i in range(n):
                room.g[i] = trial[i] - q[i] if held[i] == 2.0 else 0.0
                room.ease[i] = room.D[i] if held[i] == 0.0 else 0.0
            if turn > 0 and form != JOINTS:
                push_forward(tasks, routes, chosen, J, widest, room.g, room.y)
            definite = definite and model_step(
                form, tree, tasks, routes, chosen, J, widest, q, damping, size, allowed, room
            )
            hits = 0
            for i in range(n):
                if definite and held[i] != 2.0:
                    x = q[i] + room.g[i]
                    trial[i] = min(max(x, allowed.lower[i]), allowed.upper[i])
                    if trial[i] != x and turn < turns - 1:
                        held[i] = 2.0
                        hits += 1
            hits += switch_rows(allowed, room) if definite else 0
    if room.on.shape[0] > 0:
        project_into(allowed, trial, room)
    if bends and is_middling(q, room):
        bend_trial(tree, tasks, chosen, q, allowed, room)
    for i in range(n):
        largest = max(largest, abs(trial[i] - q[i]))
        if held[i] == 2.0:
            held[i] = 0.0  # a shorter step may leave it free again
    return largest if definite else -1.0


@leaf
def is_flat(q: Any, size: float, allowed: Any, level: float, room: Any) -> bool:
    """Whether the slope ``room.g`` that is left along the moves that are allowed is next to nothing.

    With rows, it is that of the way to the projection of a step down the slope.
    """
    slope, D = 0.0, room.D
    if room.on.shape[0] > 0:
        for i in range(q.shape[0]):
            room.trial[i] = q[i] - D[i] * room.g[i] / max(size, 1e-300)
        project_into(allowed, room.trial, room)
        for i in range(q.shape[0]):
            d = (room.trial[i] - q[i]) * size
            slope += d * d / D[i] if D[i] > 0.0 else 0.0
        return slope <= level
    for i in range(q.shape[0]):
        slope += D[i] * room.g[i] * room.g[i] if room.held[i] == 0.0 else 0.0
    return slope <= level
