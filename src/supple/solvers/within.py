"""The tolerance set itself: a posture within every tolerance, where none has no miss at all.

Where a target is out of reach by less than its tolerances, the least ``G = Σ |ρ_k|²`` may spend more than its tolerance on one
term and leave another unused: a posture that meets all may be a little further on. It is found where the largest share
``max_k r_k``, ``r_k = |ρ_k|²/L_k``, is least. That is the limit, for p → ∞, of the least ``V_p = Σ r_kᵖ`` (`powers`), and powers 2, 4, 8, …
are taken one after the other, each from where the last one ended, until a posture meets everything.

Near such a posture misses are tiny, so ρ is as good as linear, and both G and V_p are convex. So what is least says what is
not there, too:

* a posture within every tolerance has ``G ≤ Σ L_k``: where an attempt has ended far above, nothing is looked for;
* it has ``V_p ≤ K``, K the number of terms: where the least V_p is more, nothing is found, and the search goes on as it would have.

If some posture meets everything with shares f² of its tolerances (squared), the least V_p has ``r_k ≤ K^(1/p) f²``: two terms at f = 0.999
need p = 512.
"""

from __future__ import annotations

import math
from typing import Any

from supple.compiled import leaf
from supple.linear import appraise, locate
from supple.potentials import MET as LIMIT
from supple.solvers.damping import ENDLESS, NEVER, attempt
from supple.solvers.meter import EVALUATIONS, MET, STATIONARY, VALUE, record, spent
from supple.solvers.room import POWER
from supple.solvers.starts import copy_posture
from supple.views import RANK

NEARBY = 4.0  # an attempt that ends at more than this multiple of ``Σ L_k`` has ended far from the tolerance set
HIGHEST = 4096.0  # power
ROUND = 30.0  # steps for each power
LOOKS = 1000  # times that a search looks for the tolerance set


@leaf
def is_near(tasks: Any, high: int, value: float) -> bool:
    """Whether the value G of ranks up to `high` is so small that all tolerances might be met nearby."""
    total = 0.0
    for k in range(tasks.term.shape[0]):
        if tasks.term[k, RANK] <= high and tasks.term[k, 9] > 0:
            total += tasks.number[k, LIMIT]
    return value <= NEARBY * total


@leaf
def meet_within(
    I: Any, F: Any, scratch: Any, T: Any, q: Any, settings: Any, box: Any, memory: Any, tasks: Any, room: Any, low: int, high: int,
    info: Any, trace: Any,
) -> bool:  # fmt: skip
    """Look near q for a posture within the tolerances of ranks up to `high`; q becomes it, or stays as it is."""
    copy_posture(q, room.before)
    value, terms = info[VALUE], 0.0
    for k in range(tasks.term.shape[0]):
        terms += 1.0 if tasks.term[k, RANK] <= high and tasks.term[k, 9] > 0 else 0.0
    found, going = False, True
    settings[POWER] = 2.0
    while going:
        ended = attempt(
            I, F, scratch, T, q, settings, box, memory, ROUND, low, high, 1.0, NEVER, ENDLESS, info, trace
        )
        found = ended == MET
        settings[POWER] *= 2.0
        ruled_out = ended == STATIONARY and info[VALUE] > terms
        going = not (found or ruled_out or spent(info) or settings[POWER] > HIGHEST) and info[VALUE] < math.inf
    settings[POWER] = 0.0
    info[VALUE] = value
    if found and not spent(info):
        locate(I, F, scratch, q)
        info[VALUE], _ = appraise(I, F, scratch, T, room.rho_new, room.chosen_new)
        info[EVALUATIONS] += 1.0
        record(info, trace, info[VALUE])
    copy_posture(room.before if not found else q, q)
    copy_posture(q, room.before)
    return found
