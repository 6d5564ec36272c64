"""The tolerance set itself: a posture within every tolerance, where no posture hits every target.

Where targets are out of reach by less than their tolerances, the posture with the least ``G = Σ |ρ_k|²`` may spend more than
its tolerance on one term and leave that of another unused, while a posture a little further on meets both. Wanted is the
least of the largest share, ``max_k r_k`` with ``r_k = |ρ_k|²/L_k``. It is the limit for p → ∞ of the least ``V_p = Σ r_kᵖ``
(`powers`), and p = 2, 4, 8, … are taken one after the other, each from where the last one ended, until a posture meets
everything. Before that an attempt that was abandoned is followed to its end: what can be met without any miss, is.

Such misses are so small that ρ is as good as linear nearby, and G and V_p are as good as convex. Hence what is least also says
what is not there:

* A posture within every tolerance has ``G ≤ Σ L_k``. Where an attempt has ended well above, nothing is looked for, so that
  ordinary problems and targets far away pay nothing.
* It has ``V_p ≤ K`` for K terms. Where the least V_p is more, there is none nearby: the search goes on from where it was.

If a posture meets everything at the share f of its tolerances, the least V_p has ``r_k ≤ K^(1/p) f²``: two terms at f = 0.999
need p = 512. Whatever is found is judged by its residuals, not by V_p.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf
from supple.kernels.jacobian import appraise, locate
from supple.kernels.layouts import MET as LIMIT, RANK, RESIDUALS_OF
from supple.kernels.tables import open_terms
from supple.problem.allowance import EVALUATIONS, ITERATIONS, MET, STATIONARY, VALUE
from supple.problem.meter import record, spent
from supple.solvers.levenberg_marquardt.attempt import ABANDONED, attempt
from supple.solvers.levenberg_marquardt.phases import ENDLESS, NEVER
from supple.solvers.levenberg_marquardt.restarts import copy_posture
from supple.solvers.levenberg_marquardt.scratch import (
    ALIGNMENT,
    HIGH_RANK,
    MOST_STEPS,
    PATIENCE,
    POWER,
    open_starts_scratch,
)

NEARBY = 4.0  # an attempt that ends at more than this multiple of ``Σ L_k`` is far from the tolerance set
HIGHEST = 4096.0  # power
ROUND = 100.0  # steps, at most, for each power


@leaf
def weigh_tolerances(tasks: Any, high: int) -> Any:
    """``Σ L_k`` of the terms of ranks up to `high`, and their number."""
    total, terms = 0.0, 0.0
    for k in range(tasks.term.shape[0]):
        if tasks.term[k, RANK] <= high and tasks.term[k, RESIDUALS_OF] > 0:
            total += tasks.number[k, LIMIT]
            terms += 1.0
    return total, terms


@leaf
def meet_within(I: Any, F: Any, memory: Any, T: Any, q: Any, reason: int, report: Any, trace: Any) -> bool:
    """Look near q, where an attempt has ended for this `reason`, for a posture within the tolerances of its ranks.

    An attempt that was abandoned is followed to its end first. If a posture is found, q becomes it; else q stays as it is.
    """
    tasks, scratch = open_terms(I, F), open_starts_scratch(I, memory)
    plan = scratch.plan
    value, (total, terms) = report[VALUE], weigh_tolerances(tasks, int(plan[HIGH_RANK]))
    going, found = value <= NEARBY * total and not spent(report), False
    if going:
        copy_posture(q, scratch.before)
    plan[POWER] = 0.0 if reason == ABANDONED else 2.0
    plan[MOST_STEPS], plan[ALIGNMENT], plan[PATIENCE] = ROUND, NEVER, ENDLESS
    while going:
        made = report[ITERATIONS]
        ended = attempt(I, F, memory, T, q, report, trace)
        found = ended == MET
        least = ended == STATIONARY and report[ITERATIONS] < made + ROUND
        bound = total if plan[POWER] == 0.0 else terms
        plan[POWER] = max(2.0 * plan[POWER], 2.0)
        going = not (found or spent(report) or plan[POWER] > HIGHEST or (least and report[VALUE] > bound))
        going = going and report[VALUE] < math.inf
        report[VALUE] = value
        if not (going or found):
            copy_posture(scratch.before, q)
    plan[POWER] = 0.0
    if found and not spent(report):
        locate(I, F, scratch.evaluation, q)
        report[VALUE], _ = appraise(I, F, scratch.evaluation, T, scratch.rho_new, scratch.chosen_new)
        report[EVALUATIONS] += 1.0
        record(report, trace, report[VALUE])
    return found
