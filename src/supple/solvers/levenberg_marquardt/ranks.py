"""What lower ranks have reached is kept while later ones are improved: an augmented Lagrangian (see `search`)."""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf
from supple.kernels.kinds import NEAR, TILT
from supple.kernels.layouts import BLOCK, KIND, MET as LIMIT, RANK, RESIDUAL_AT, RESIDUALS_OF, SCALE, SHIFT, WEIGHT
from supple.kernels.terms.dispatch import is_inequality
from supple.solvers.levenberg_marquardt.scratch import HIGH_RANK, LOW_RANK, PENALTY


@leaf
def weigh_ranks(tasks: Any, must: int, there: Any, rows: Any, scratch: Any) -> Any:
    """Make residuals and their covectors `rows` those of the plan's ranks: later ones vanish, lower ones are weighed.

    Lower ones are shifted, too. Returns the value and the number of blocks not met, of ranks below `must`. An inequality
    of theirs is seen shifted: it counts as not met if what it has reached is not 0.
    """
    value, unmet, rho = 0.0, 0, there.rho
    low, high = int(scratch.plan[LOW_RANK]), int(scratch.plan[HIGH_RANK])
    for b in range(there.chosen.shape[0]):
        k = int(there.chosen[b])
        if k < 0:
            continue
        mine, square, kept = tasks.term[k, RANK], 0.0, 0.0
        s = scratch.plan[PENALTY] if mine < low else 1.0 if mine <= high else 0.0
        seen = mine < low and is_inequality(tasks.term[k, KIND])  # with its shift
        for r in range(BLOCK * b, BLOCK * b + BLOCK):
            square += rho[r] * rho[r]
            kept += abs(scratch.kept[r]) if seen else 0.0
            rho[r] = s * (rho[r] + (scratch.shift[r] if mine < low and not seen else 0.0))
            value += rho[r] * rho[r]
        if mine <= high and mine < must and not (tasks.number[k, LIMIT] >= square and kept == 0.0):
            unmet += 1
        if s != 1.0:
            for r in range(BLOCK * b, BLOCK * b + BLOCK):
                for i in range(6):
                    rows[r, i] *= s
    return value, unmet


@leaf
def move_multipliers(tasks: Any, scratch: Any, rank: int) -> float:
    """Move the multipliers of the ranks below `rank`; returns the worst breach, squared, in units of tolerance."""
    worst = 0.0
    for b in range(scratch.chosen_new.shape[0]):
        k = int(scratch.chosen_new[b])
        if k < 0:
            for r in range(BLOCK * b, BLOCK * b + BLOCK):
                scratch.shift[r] = -scratch.kept[r]
        elif tasks.term[k, RANK] < rank:
            breach, roomy = 0.0, is_inequality(tasks.term[k, KIND])
            for r in range(BLOCK * b, BLOCK * b + BLOCK):
                e = scratch.rho_new[r] - scratch.kept[r] - (scratch.shift[r] if roomy else 0.0)
                scratch.shift[r] += e
                breach += e * e
            worst = max(worst, breach / max(tasks.number[k, LIMIT], 1e-300))
    return worst


@leaf
def show_shifts(tasks: Any, rank: int, scratch: Any) -> None:
    """Let the inequalities below `rank` be seen with their shifts, all others as they are."""
    for k in range(tasks.term.shape[0]):
        kind, a = tasks.term[k, KIND], tasks.term[k, RESIDUAL_AT]
        if is_inequality(kind):
            w = math.sqrt(tasks.number[k, WEIGHT]) * (tasks.number[k, SCALE] if kind == TILT else 1.0)
            for i in range(tasks.term[k, RESIDUALS_OF]):
                tasks.number[k, SHIFT + i] = scratch.shift[a + i] / w if tasks.term[k, RANK] < rank else 0.0


@leaf
def hide_shifts(tasks: Any) -> None:
    """Let all inequalities be seen as they are."""
    for k in range(tasks.term.shape[0]):
        if is_inequality(tasks.term[k, KIND]):
            for i in range(tasks.term[k, RESIDUALS_OF]):
                tasks.number[k, SHIFT + i] = 0.0


@leaf
def weaken_multipliers(scratch: Any, share: float) -> None:
    """Multipliers in units of a larger penalty."""
    for r in range(scratch.shift.shape[0]):
        scratch.shift[r] = share * (scratch.shift[r] + scratch.kept[r]) - scratch.kept[r]


@leaf
def keep_ranks(tasks: Any, scratch: Any, low: int, high: int, tight: bool) -> None:
    """What the ranks `low` to `high` have reached is what later ranks must leave: zero where it is met, and not `tight`."""
    for b in range(scratch.chosen_new.shape[0]):
        k, square = int(scratch.chosen_new[b]), 0.0
        for r in range(BLOCK * b, BLOCK * b + BLOCK):
            square += scratch.rho_new[r] * scratch.rho_new[r]
        if k >= 0 and tasks.term[k, RANK] >= low and tasks.term[k, RANK] <= high:
            met = tasks.number[k, LIMIT] >= square and not tight
            for r in range(BLOCK * b, BLOCK * b + BLOCK):
                scratch.kept[r] = 0.0 if met else scratch.rho_new[r]
        for r in range(BLOCK * b, BLOCK * b + BLOCK):
            scratch.shift[r] = -scratch.kept[r]


@leaf
def weighs_posture(tasks: Any, must: int) -> bool:
    """Whether a posture goal is weighed against tasks."""
    found = False
    for k in range(tasks.term.shape[0]):
        found = found or (tasks.term[k, KIND] == NEAR and tasks.term[k, RANK] < must)
    return found
