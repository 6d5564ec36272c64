"""The phases of one attempt: begin, judge a trial, accept it, prepare the steps from there, make the next trial.

The loop that calls them, and the equations, are in `attempt`. What crosses from one phase to the next is the row `progress` of
the scratch.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.blocks_of_three import size_of
from supple.kernels.charts import recentre
from supple.kernels.compiling import GENERAL, leaf
from supple.kernels.jacobian import appraise, differentiate, locate
from supple.kernels.layouts import (
    BY_JOINTS,
    CHARTS,
    LINEAR_LIMITS,
    POSTURE_TERMS,
    RANKS,
    RANKS_THAT_MUST,
    RESIDUALS_ARE_FEW,
)
from supple.kernels.tables import STEEP, open_evaluation
from supple.problem.allowance import EVALUATIONS
from supple.problem.meter import spent
from supple.solvers.levenberg_marquardt.damped_step import (
    DUAL,
    JOINTS,
    LEARNT,
    PRIMAL,
    enter_limits,
    find_held,
    is_flat,
    slope_at,
    touches_limits,
    trial_step,
)
from supple.solvers.levenberg_marquardt.joint_by_joint import size_by_joints, twists_and_covectors
from supple.solvers.levenberg_marquardt.posture_goals import mean_near_weight, near_value, weigh_near
from supple.solvers.levenberg_marquardt.powers import raise_columns, raise_residuals
from supple.solvers.levenberg_marquardt.ranks import weigh_ranks
from supple.solvers.levenberg_marquardt.restarts import copy_posture
from supple.solvers.levenberg_marquardt.root_placement import align
from supple.solvers.levenberg_marquardt.scratch import (
    ALIGNMENT,
    AT_LIMIT,
    ATTEMPTS,
    BENDS,
    FACTOR,
    FLOOR,
    FORM,
    FRESH,
    HERE,
    HIGH_RANK,
    LARGEST,
    LOW_RANK,
    MADE,
    MOST_STEPS,
    PATIENCE,
    PLACED,
    POWER,
    PREFERRING,
    SCALE,
    SIZE,
    SLOW,
    SLOWLY,
    STEPS,
    THERE,
    TURNED,
    UNMET_HERE,
    UNMET_THERE,
)
from supple.solvers.levenberg_marquardt.secant import forget, learn
from supple.solvers.levenberg_marquardt.second_order import can_bend

USUAL, LITTLE, ENDLESS = 0.0, 1.0, 2.0  # patience with an attempt that is slow
HASTE = 0.8  # with little, it is abandoned after two steps in a row that leave more of G than this
MOST = 10.0  # damping follows G up to this multiple of the size of ``J D Jᵀ``
LEVEL = 1e-8  # of ``|J|²|ρ|²``: the square of a slope that counts as none
NOTHING = 1e-14  # a value below which slopes are looked at as if it were this: a rank that is met has none
TURN_BACKS = 4  # whole turns that an attempt takes back, at most
NEVER, TIMIDLY, ALWAYS = 0.0, 1.0, 2.0  # whether a free root is moved to where the goals fit best before an attempt


@leaf
def begin_attempt(I: Any, F: Any, T: Any, q: Any, tasks: Any, limits: Any, scratch: Any) -> None:
    """Charts re-centred, a free root aligned, the start inside the limits; the form of the steps; no progress yet."""
    plan, progress = scratch.plan, scratch.progress
    low, high, power = int(plan[LOW_RANK]), int(plan[HIGH_RANK]), plan[POWER]
    progress[FORM] = DUAL if I[RESIDUALS_ARE_FEW] == 1 else PRIMAL
    progress[PREFERRING] = progress[PLACED] = 0.0  # placed: all is where q has it
    if GENERAL and I[BY_JOINTS] == 1 and power == 0.0:
        progress[FORM] = JOINTS
    if weigh_near(tasks, low, high, scratch.near_weight) or low >= I[RANKS_THAT_MUST]:
        progress[PREFERRING] = 1.0
    if GENERAL and I[CHARTS] > 0:
        recentre(I, F, q, STEEP)
    if GENERAL and plan[ALIGNMENT] != NEVER:
        moved = align(I, F, scratch.evaluation, T, q, plan[ALIGNMENT] == TIMIDLY)
        progress[PLACED] = 0.0 if moved else 1.0
    if GENERAL and I[LINEAR_LIMITS] > 0:
        enter_limits(limits, q, scratch)
        progress[PLACED] = 0.0
    copy_posture(q, scratch.trial)
    progress[MADE] = progress[SLOWLY] = progress[TURNED] = progress[SIZE] = progress[BENDS] = 0.0
    progress[SCALE], progress[HERE] = 1.0, math.inf
    progress[FRESH] = progress[UNMET_HERE] = 1.0  # fresh: the posture is evaluated for its own sake, not as a trial


@leaf
def judge_trial(I: Any, F: Any, T: Any, tasks: Any, there: Any, scratch: Any, report: Any) -> None:
    """Evaluate the trial: its residuals, the value of the ranks that count, and how many tasks are not met."""
    plan, progress = scratch.plan, scratch.progress
    low, high, power = int(plan[LOW_RANK]), int(plan[HIGH_RANK]), plan[POWER]
    if progress[PLACED] == 0.0:
        locate(I, F, scratch.evaluation, scratch.trial)
    progress[PLACED] = 0.0
    value, unmet = appraise(I, F, scratch.evaluation, T, there.rho, there.chosen)
    report[EVALUATIONS] += 1.0
    if power > 0.0:
        value, unmet = raise_residuals(tasks, high, power, there.rho, there.chosen)
    elif GENERAL and (low > 0 or high + 1 < I[RANKS]):
        rows = open_evaluation(I, scratch.evaluation).rows
        value, unmet = weigh_ranks(tasks, I[RANKS_THAT_MUST], there, rows, scratch)
    if GENERAL and I[POSTURE_TERMS] > 0:
        value += near_value(tasks, low, high, T, scratch.trial, scratch.root)
    progress[THERE], progress[UNMET_THERE] = value, unmet


@leaf
def accept(I: Any, F: Any, blocks: Any, here: Any, there: Any, q: Any, scratch: Any) -> None:
    """Take the trial: derivatives there, what it teaches of damping, patience and curvature; q becomes it."""
    plan, progress, power = scratch.plan, scratch.progress, scratch.plan[POWER]
    tasks, routes, widest = blocks
    if not (GENERAL and progress[FORM] == JOINTS):
        differentiate(I, F, scratch.evaluation, there.chosen, there.J)
    if power > 0.0:
        raise_columns(tasks, routes, power, there.rho, there.chosen, there.J, widest)
    if progress[FRESH] == 0.0:
        haste = HASTE if plan[PATIENCE] == LITTLE else scratch.settings[SLOW]
        progress[SLOWLY] = progress[SLOWLY] + 1.0 if progress[THERE] > haste * progress[HERE] else 0.0
        progress[SCALE] *= 0.25
        if progress[FORM] == LEARNT:
            learn(blocks, here, there, q, scratch.trial, scratch.S, scratch.learnt)
    progress[HERE], progress[UNMET_HERE], progress[FRESH] = progress[THERE], progress[UNMET_THERE], 0.0
    for i in range(q.shape[0]):
        q[i] = scratch.trial[i]
        scratch.near_slope[i] = scratch.root[i] if GENERAL and I[POSTURE_TERMS] > 0 else 0.0


@leaf
def evaluate_afresh(q: Any, trial: Any, progress: Any, report: Any) -> None:
    """q has been written otherwise: it is evaluated for its own sake, if that is still allowed."""
    copy_posture(q, trial)
    progress[FRESH] = 0.0 if spent(report) else 1.0


@leaf
def is_slow(plan: Any, progress: Any) -> bool:
    """Whether so many steps in a row were slow that it will not do to go on like this."""
    return progress[SLOWLY] >= (2.0 if plan[PATIENCE] == LITTLE else 3.0)


@leaf
def may_abandon(settings: Any, plan: Any) -> bool:
    """Whether there are other starts to try, and patience is not endless."""
    return plan[PATIENCE] != ENDLESS and settings[ATTEMPTS] > 1.0 and plan[MOST_STEPS] <= settings[STEPS]


@leaf
def prepare_steps(I: Any, F: Any, joints: Any, blocks: Any, here: Any, q: Any, limits: Any, scratch: Any) -> None:
    """What the steps from q have in common: their form, the slope, the coordinates that may move, the size of ``J D Jᵀ``."""
    progress = scratch.progress
    tasks, routes, widest = blocks
    if is_slow(scratch.plan, progress) and progress[FORM] != LEARNT and scratch.S.shape[0] > 0:
        if GENERAL and progress[FORM] == JOINTS:
            differentiate(I, F, scratch.evaluation, here.chosen, here.J)
        progress[FORM] = LEARNT
        forget(scratch.S)
    progress[BENDS] = 0.0
    if GENERAL and progress[FORM] == JOINTS:
        progress[BENDS] = 1.0 if I[RANKS] == 1 and can_bend(tasks, here.chosen) else 0.0
        twists_and_covectors(tasks, here.chosen, open_evaluation(I, scratch.evaluation), here.rho, scratch)
    if touches_limits(q, limits):  # else slopes press against nothing
        slope_at(joints, blocks, here, scratch)
    find_held(q, limits, scratch.g, scratch.D, scratch.held)
    if progress[SIZE] == 0.0:
        if GENERAL and progress[FORM] == JOINTS:
            progress[SIZE] = size_by_joints(joints, tasks, routes, here.chosen, scratch) + mean_near_weight(
                scratch.near_weight, scratch.D
            )
        else:
            size = size_of(tasks, routes, here.chosen, here.J, widest, scratch.D)
            progress[SIZE] = size + mean_near_weight(scratch.near_weight, scratch.D)


@leaf
def raise_damping(progress: Any) -> None:
    """s grows eightfold."""
    progress[SCALE] = 8.0 * progress[SCALE] + 1e-3


@leaf
def next_trial(joints: Any, blocks: Any, here: Any, q: Any, limits: Any, scratch: Any) -> None:
    """The damped step from q, with damping raised until its model has a minimum."""
    settings, progress, most = scratch.settings, scratch.progress, scratch.plan[MOST_STEPS]
    value, size, made, largest = progress[HERE], progress[SIZE], progress[MADE], -1.0
    while largest < 0.0 and made < most:
        made += 1.0
        damping = settings[FACTOR] * min(value, MOST * size) * progress[SCALE] + settings[FLOOR] * size
        largest = trial_step(joints, blocks, here, q, damping, limits, scratch)
        if largest < 0.0:
            raise_damping(progress)
    progress[MADE], progress[LARGEST] = made, largest


@leaf
def turn_back(limits: Any, q: Any, period: Any, D: Any, held: Any, progress: Any) -> bool:
    """Take a whole turn off coordinates that are pressed against a limit, where limits leave room: the posture is the same."""
    moved = False
    if not (progress[LARGEST] >= 0.0 and progress[TURNED] < TURN_BACKS):
        return False
    for i in range(q.shape[0]):
        whole = period[i]
        if held[i] == AT_LIMIT and D[i] > 0.0 and whole > 0.0 and limits.upper[i] - limits.lower[i] >= whole:
            if q[i] >= limits.upper[i]:
                q[i], moved = max(q[i] - whole, limits.lower[i]), True
            elif q[i] <= limits.lower[i]:
                q[i], moved = min(q[i] + whole, limits.upper[i]), True
    progress[TURNED] += 1.0 if moved else 0.0
    return moved


@leaf
def is_stationary(joints: Any, blocks: Any, here: Any, q: Any, limits: Any, scratch: Any) -> bool:
    """Whether no allowed move leads down from q."""
    progress = scratch.progress
    slope_at(joints, blocks, here, scratch)
    level = LEVEL * progress[SIZE] * here.rho.shape[0] * max(progress[HERE], NOTHING)
    return is_flat(q, limits, level, scratch)
