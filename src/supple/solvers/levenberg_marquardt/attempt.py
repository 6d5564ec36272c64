"""One attempt of Levenberg–Marquardt inside limits: the loop that `search` runs from many starts.

Minimise ``G(q) = |ρ(q)|²`` over ``l ≤ q ≤ h``. At q, with J the derivative of the residuals and D = diag((1 − ρᵢ)²) the
change of unit that rigidity stands for, the step solves one of

    (J_F D J_Fᵀ + λ I) y = ρ,  dq = −D J_Fᵀ y        (dual, m × m, where residuals are few),
    (S J_Fᵀ J_F S + λ I) u = −S J_Fᵀ ρ,  dq = S u     (primal, n × n, S = D^½, where they are many),

which are the same step, as is that of `joint_by_joint`, where goals are many for the number of joints. To the last
`second_order` adds a second-order part if there is one rank. A posture goal ``|w^½ (q − r)|²`` adds its weights to the
diagonal of the primal form. F are the coordinates that may move: not locked, and not at a limit that the gradient presses
against. Coordinates that the step would carry past a limit are put on it and the others solved for once more, so the model's
minimum along the face is found; every trial is clipped, hence legal.

Linear limits ``aᵀq ≤ b`` join the same active set as stiff springs: one that the step would cross is held to its face, one
that it is pulled off is let go, and the trial is projected onto the polytope, which the springs leave by next to nothing.

The damping follows the value,
``λ = μ min(G, 10t) s + λ₀ t``, ``t = tr(J D Jᵀ)/m`` at the start, which makes steps quadratic near a solution; s grows
eightfold when a trial does not lower G and shrinks fourfold when one does. G never rises. An angle that is pressed against a
limit, but may go on a whole turn back, does.

An attempt that is slow, and not abandoned for it, goes on in coordinates and adds to ``JᵀJ`` what Gauss–Newton leaves out,
learnt on the way (`secant`): goals out of reach would make it crawl otherwise. If that is not positive definite, the damping is
raised.

**Charts.** Unlimited balls and free roots are re-centred on the way (`charts`), so F must be the caller's own; q is given and
left in the stated order of angles.

**Ranks.** With several ranks of tasks, an attempt looks at those from `low` to `high`, whose residuals count as they are;
those of lower ranks are held to the values they have reached by the terms ``w |ρ + shift|²`` of an augmented Lagrangian
(inequalities by ``w |dead(y + shift)|²``), later ones not at all. Where a posture is preferred, an attempt does not end as
soon as all tasks are met.

**Powers.** With the setting `POWER` p an attempt minimises the sum of p-th powers of shares of tolerances instead (`powers`),
and ends as soon as every share is surely below one.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.charts import recentre, report as restate
from supple.kernels.compiling import GENERAL, stage
from supple.kernels.layouts import CHARTS, RANKS_THAT_MUST, WIDEST_ROUTE
from supple.kernels.tables import EXACT, STEEP, open_limits, open_routes, open_terms
from supple.problem.allowance import ITERATIONS, MET, SPENT, STATIONARY, VALUE
from supple.problem.meter import record, spent
from supple.solvers.levenberg_marquardt.damped_step import LEARNT, Blocks, Linearisation
from supple.solvers.levenberg_marquardt.joint_by_joint import open_joints
from supple.solvers.levenberg_marquardt.phases import (
    accept,
    begin_attempt,
    evaluate_afresh,
    is_slow,
    is_stationary,
    judge_trial,
    may_abandon,
    next_trial,
    prepare_steps,
    raise_damping,
    turn_back,
)
from supple.solvers.levenberg_marquardt.scratch import (
    FORM,
    FRESH,
    HERE,
    LARGEST,
    LOW_RANK,
    MADE,
    PERIOD,
    POWER,
    PREFERRING,
    THERE,
    TOLERANCE,
    UNMET_HERE,
    open_plain_scratch,
    open_search_scratch,
)
from supple.solvers.levenberg_marquardt.secant import forget

ABANDONED = 4  # a reason why an attempt ends, besides those of `allowance`


@stage
def attempt(I: Any, F: Any, memory: Any, T: Any, q: Any, report: Any, trace: Any) -> int:
    """Descend from q in place, by the plan in the scratch; the reason why it ended.

    In the report iterations and evaluations are added, and the value is written. With no more steps than settings give one
    attempt, an attempt that is slow is abandoned.
    """
    joints, limits = open_joints(I, F), open_limits(I, F)
    blocks = Blocks(open_terms(I, F), open_routes(I, F), I[WIDEST_ROUTE])
    if GENERAL:
        scratch = open_search_scratch(I, memory)
    else:
        scratch = open_plain_scratch(I, memory)
    here = Linearisation(scratch.rho, scratch.J, scratch.chosen)
    there = Linearisation(scratch.rho_new, scratch.J_new, scratch.chosen_new)
    plan, progress, reason = scratch.plan, scratch.progress, SPENT
    begin_attempt(I, F, T, q, blocks.tasks, limits, scratch)
    while progress[FRESH] != 0.0 or not spent(report):
        judge_trial(I, F, T, blocks.tasks, there, scratch, report)
        if progress[FRESH] != 0.0 or progress[THERE] < progress[HERE]:
            accept(I, F, blocks, here, there, q, scratch)
            here, there = there, here
            if plan[POWER] == 0.0:
                record(report, trace, progress[HERE])
            if progress[UNMET_HERE] == 0.0 and progress[PREFERRING] == 0.0:
                reason = MET
                break
            if not progress[HERE] < math.inf:
                break
            if GENERAL and I[CHARTS] > 0 and recentre(I, F, q, STEEP) > 0:
                evaluate_afresh(q, scratch.trial, progress, report)
                if progress[FORM] == LEARNT:
                    forget(scratch.S)
                continue
            if is_slow(plan, progress) and may_abandon(scratch.settings, plan):
                reason = ABANDONED
                break
            prepare_steps(I, F, joints, blocks, here, q, limits, scratch)
        else:
            raise_damping(progress)
        next_trial(joints, blocks, here, q, limits, scratch)
        if not progress[LARGEST] > scratch.settings[TOLERANCE]:  # or the model has no minimum
            if turn_back(limits, q, scratch.box[PERIOD], scratch.D, scratch.held, progress):
                evaluate_afresh(q, scratch.trial, progress, report)
                continue
            reason = STATIONARY if is_stationary(joints, blocks, here, q, limits, scratch) else SPENT
            break
    if GENERAL and I[CHARTS] > 0:
        restate(I, F, q, scratch.start, EXACT)
    report[ITERATIONS] += progress[MADE]
    report[VALUE] = progress[HERE]
    if progress[PREFERRING] != 0.0 and progress[UNMET_HERE] == 0.0 and plan[LOW_RANK] < I[RANKS_THAT_MUST]:
        reason = MET
    return reason
