"""The damped step: the minimum of a quadratic model inside the limits (its equations are in `attempt`)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

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
from supple.kernels.compiling import GENERAL, leaf
from supple.solvers.levenberg_marquardt.joint_by_joint import (
    LEAST,
    eliminate,
    joint_slopes,
    load_bodies,
    step_alone,
    substitute,
)
from supple.solvers.levenberg_marquardt.scratch import AT_LIMIT, BENDS, FORM, HELD, MOVES, SIZE
from supple.solvers.levenberg_marquardt.second_order import bend_joints

DUAL, PRIMAL, LEARNT, JOINTS = range(4)  # forms: in residuals, in coordinates, these with curvature, joint by joint
TURNS, ROW_TURNS = 2, 10  # times that a step is solved for, each time with the limits that the last one met
SPRING = 1e5  # stiffness of a linear limit that holds, as a multiple of the size of ``J D Jᵀ``
BENT = 0.5  # how long the second-order part of a step may be, in lengths of the step in this metric
STRAIGHT, LONG = 0.003, 1.0  # shorter or longer steps get no second-order part: it is nothing, or means nothing
ON_ROW = 1e-9  # a step that goes this far past a linear limit crosses it


class Blocks(NamedTuple):
    """How residuals and coordinates belong together: the terms, their routes, and how many columns a block has at most."""

    tasks: Any
    routes: Any
    widest: Any


class Linearisation(NamedTuple):
    """Residuals, their derivatives, and the term of each block, at one posture."""

    rho: Any
    J: Any
    chosen: Any


@leaf
def project_into(limits: Any, q: Any, scratch: Any) -> None:
    """The nearest allowed posture, in the metric of the step."""
    project(q, limits, scratch.D, scratch.nearest, scratch.origin)


@leaf
def enter_limits(limits: Any, q: Any, scratch: Any) -> None:
    """Bring a start inside the limits, and hold the linear ones that it stands on."""
    project_into(limits, q, scratch)
    for r in range(scratch.on.shape[0]):
        scratch.on[r] = 1.0 if r < limits.equalities or overstep(limits.A, limits.b, r, q) > -ON_ROW else 0.0


@leaf
def touches_limits(q: Any, limits: Any) -> bool:
    """Whether any coordinate is at a limit."""
    found = False
    for i in range(q.shape[0]):
        found = found or q[i] <= limits.lower[i] or q[i] >= limits.upper[i]
    return found


@leaf
def find_held(q: Any, limits: Any, g: Any, D: Any, held: Any) -> None:
    """Which coordinates may not move: locked ones, and those at a limit against which the gradient presses."""
    for i in range(q.shape[0]):
        pressed = (q[i] <= limits.lower[i] and g[i] > 0.0) or (q[i] >= limits.upper[i] and g[i] < 0.0)
        held[i] = AT_LIMIT if pressed or D[i] == 0.0 else MOVES


@leaf
def slope_at(joints: Any, blocks: Any, here: Any, scratch: Any) -> None:
    """Half of the gradient, ``Jᵀρ`` and that of the posture goals, into ``scratch.g``."""
    tasks, routes, widest = blocks
    if GENERAL and scratch.progress[FORM] == JOINTS:
        joint_slopes(joints, tasks, here.chosen, scratch)
        return
    pull_back(tasks, routes, here.chosen, here.J, widest, here.rho, scratch.g)
    for i in range(scratch.g.shape[0]):
        scratch.g[i] += scratch.near_slope[i]


@leaf
def add_springs(limits: Any, q: Any, stiffness: float, scratch: Any) -> None:
    """Linear limits that hold, as springs in the primal system; ``scratch.origin`` is the step that is already made."""
    n = q.shape[0]
    for r in range(scratch.on.shape[0]):
        if scratch.on[r] != 0.0:
            over = overstep(limits.A, limits.b, r, q)
            for i in range(n):
                over += limits.A[r, i] * scratch.origin[i]
            for i in range(n):
                x = stiffness * scratch.root[i] * limits.A[r, i]
                if x != 0.0:
                    scratch.y[i] -= x * over
                    for j in range(i, n):
                        scratch.A[i, j] += x * scratch.root[j] * limits.A[r, j]


@leaf
def add_learnt(S: Any, root: Any, origin: Any, A: Any, y: Any) -> None:
    """What has been learnt of the curvature, as it acts on a step that begins with `origin`."""
    n = root.shape[0]
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += S[i, j] * origin[j]
        y[i] -= root[i] * s
        for j in range(i, n):
            A[i, j] += root[i] * root[j] * S[i, j]


@leaf
def primal_step(blocks: Any, here: Any, q: Any, damping: float, limits: Any, scratch: Any) -> bool:
    """The step in coordinates into ``scratch.g``; False if the model has no minimum."""
    n, y, g, root = q.shape[0], scratch.y, scratch.g, scratch.root
    tasks, routes, widest = blocks
    for i in range(n):
        scratch.origin[i] = g[i]
    pull_back(tasks, routes, here.chosen, here.J, widest, y, g)
    for i in range(n):
        root[i] = math.sqrt(scratch.D_free[i])
        y[i] = -root[i] * (g[i] + scratch.near_slope[i])
    primal_matrix(tasks, routes, here.chosen, here.J, widest, root, damping, scratch.A)
    if scratch.progress[FORM] == LEARNT:
        add_learnt(scratch.S, root, scratch.origin, scratch.A, y)
    for i in range(n):
        scratch.A[i, i] += scratch.D_free[i] * scratch.near_weight[i]
    if GENERAL:
        add_springs(limits, q, SPRING * scratch.progress[SIZE], scratch)
    definite = solve_symmetric(scratch.A, y, n)
    for i in range(n):
        g[i] = root[i] * y[i]
    return definite


@leaf
def model_step(joints: Any, blocks: Any, here: Any, q: Any, damping: float, limits: Any, scratch: Any) -> bool:
    """The damped step of the coordinates that move, into ``scratch.g``, which holds the step that is already made.

    `scratch.y` holds the residuals to be removed. False if the model has no minimum.
    """
    m, y, g, form = here.rho.shape[0], scratch.y, scratch.g, scratch.progress[FORM]
    tasks, routes, widest = blocks
    definite = True
    if GENERAL and form == JOINTS:
        damping = max(damping, LEAST * scratch.progress[SIZE])
        load_bodies(tasks, here.chosen, scratch)
        eliminate(joints, damping, scratch)
        step_alone(damping, scratch)
        substitute(joints, scratch, scratch.g)
    elif form == DUAL:
        dual_matrix(tasks, routes, here.chosen, here.J, widest, scratch.D_free, damping, scratch.B)
        factor_blocks(scratch.B, m)
        substitute_blocks(scratch.B, y, m)
        pull_back(tasks, routes, here.chosen, here.J, widest, y, g)
        for i in range(q.shape[0]):
            g[i] *= -scratch.D_free[i]
    else:
        definite = primal_step(blocks, here, q, damping, limits, scratch)
    return definite


@leaf
def switch_rows(limits: Any, scratch: Any) -> int:
    """Hold the linear limits that the trial crosses, let go those that it is pulled off; how many changed."""
    changed = 0
    for r in range(limits.equalities, scratch.on.shape[0]):
        over = overstep(limits.A, limits.b, r, scratch.trial)
        if scratch.on[r] == 0.0 and over > ON_ROW:
            scratch.on[r], changed = 1.0, changed + 1
        elif scratch.on[r] != 0.0 and over < 0.0:
            scratch.on[r], changed = 0.0, changed + 1
    return changed


@leaf
def is_middling(q: Any, scratch: Any) -> bool:
    """Whether the trial is so far away that the second-order part of its step matters, and so near that it means something."""
    largest = 0.0
    for i in range(q.shape[0]):
        step = scratch.trial[i] - q[i]
        largest = max(largest, step * step / max(scratch.D[i], TINY))
    return STRAIGHT * STRAIGHT < largest < LONG * LONG


@leaf
def bend_trial(joints: Any, tasks: Any, chosen: Any, q: Any, limits: Any, scratch: Any) -> None:
    """Add the second-order part of a step to the trial, where it is small beside the step itself."""
    bend_joints(joints, tasks, chosen, scratch, scratch.origin)
    first, second = 0.0, 0.0
    for i in range(q.shape[0]):
        first += scratch.g[i] * scratch.g[i] / max(scratch.D[i], TINY)
        second += scratch.origin[i] * scratch.origin[i] / max(scratch.D[i], TINY)
    if second <= BENT * BENT * first:
        for i in range(q.shape[0]):
            if scratch.held[i] == MOVES:
                x = q[i] + scratch.g[i] + scratch.origin[i]
                scratch.trial[i] = min(max(x, limits.lower[i]), limits.upper[i])


@leaf
def begin_step(blocks: Any, here: Any, q: Any, turn: int, scratch: Any) -> None:
    """The residuals that a step is to remove, and the step of the coordinates that it has put on their limits."""
    tasks, routes, widest = blocks
    for a in range(here.rho.shape[0]):
        scratch.y[a] = here.rho[a]
    for i in range(q.shape[0]):
        scratch.g[i] = scratch.trial[i] - q[i] if scratch.held[i] == HELD else 0.0
        scratch.D_free[i] = scratch.D[i] if scratch.held[i] == MOVES else 0.0
    if turn > 0 and not (GENERAL and scratch.progress[FORM] == JOINTS):
        push_forward(tasks, routes, here.chosen, here.J, widest, scratch.g, scratch.y)


@leaf
def clip_trial(q: Any, limits: Any, is_last: bool, g: Any, held: Any, trial: Any) -> int:
    """The trial, clipped; what would cross a limit is held there, if it is not the `last` turn; how many are new."""
    hits = 0
    for i in range(q.shape[0]):
        if held[i] != HELD:
            x = q[i] + g[i]
            trial[i] = min(max(x, limits.lower[i]), limits.upper[i])
            if trial[i] != x and not is_last:
                held[i] = HELD
                hits += 1
    return hits


@leaf
def trial_step(joints: Any, blocks: Any, here: Any, q: Any, damping: float, limits: Any, scratch: Any) -> float:
    """The damped step inside the limits: what would cross one is put on it, and the rest solved for once more.

    If it bends, it gets its second-order part. Returns the largest change of a coordinate; −1 if the model has no minimum.
    """
    trial, definite, hits, turns = scratch.trial, True, 1, TURNS
    if GENERAL and scratch.on.shape[0] > 0:
        turns = ROW_TURNS
    for turn in range(turns):
        if hits > 0:
            begin_step(blocks, here, q, turn, scratch)
            definite = definite and model_step(joints, blocks, here, q, damping, limits, scratch)
            hits = clip_trial(q, limits, turn == turns - 1, scratch.g, scratch.held, trial) if definite else 0
            if GENERAL:
                hits += switch_rows(limits, scratch) if definite else 0
    if GENERAL and scratch.on.shape[0] > 0:
        project_into(limits, trial, scratch)
    if GENERAL and scratch.progress[BENDS] != 0.0 and is_middling(q, scratch):
        bend_trial(joints, blocks.tasks, here.chosen, q, limits, scratch)
    largest = 0.0
    for i in range(q.shape[0]):
        largest = max(largest, abs(trial[i] - q[i]))
        if scratch.held[i] == HELD:
            scratch.held[i] = MOVES  # a shorter step may leave it free again
    return largest if definite else -1.0


@leaf
def is_flat(q: Any, limits: Any, level: float, scratch: Any) -> bool:
    """Whether the slope ``scratch.g`` that is left along the moves that are allowed is next to nothing.

    With linear limits, it is that of the way to the projection of a step down the slope.
    """
    slope, D, size = 0.0, scratch.D, scratch.progress[SIZE]
    if GENERAL and scratch.on.shape[0] > 0:
        for i in range(q.shape[0]):
            scratch.trial[i] = q[i] - D[i] * scratch.g[i] / max(size, 1e-300)
        project_into(limits, scratch.trial, scratch)
        for i in range(q.shape[0]):
            d = (scratch.trial[i] - q[i]) * size
            slope += d * d / D[i] if D[i] > 0.0 else 0.0
        return slope <= level
    for i in range(q.shape[0]):
        slope += D[i] * scratch.g[i] * scratch.g[i] if scratch.held[i] == MOVES else 0.0
    return slope <= level
