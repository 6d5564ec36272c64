"""What lower ranks have reached is kept while later ones are improved: an augmented Lagrangian (see `search`)."""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf
from supple.kernels.layouts import BLOCK, KIND, MET as LIMIT, RANK, RESIDUAL_AT, RESIDUALS_OF, SCALE, SHIFT, WEIGHT
from supple.kernels.terms.kinds import NEAR, TILT, is_inequality


@leaf
def close(tasks: Any, room: Any, rank: int) -> float:
    """Move the multipliers of the ranks below `rank`; returns the worst breach, squared, in units of tolerance."""
    worst = 0.0
    for b in range(room.chosen_new.shape[0]):
        k = int(room.chosen_new[b])
        if k < 0:
            for r in range(BLOCK * b, BLOCK * b + BLOCK):
                room.shift[r] = -room.kept[r]
        elif tasks.term[k, RANK] < rank:
            breach, room_left = 0.0, is_inequality(tasks.term[k, KIND])
            for r in range(BLOCK * b, BLOCK * b + BLOCK):
                e = room.rho_new[r] - room.kept[r] - (room.shift[r] if room_left else 0.0)
                room.shift[r] += e
                breach += e * e
            worst = max(worst, breach / max(tasks.number[k, LIMIT], 1e-300))
    return worst


@leaf
def hand_over(tasks: Any, rank: int, room: Any) -> None:
    """Let the inequalities below `rank` be seen with their shifts, all others as they are."""
    for k in range(tasks.term.shape[0]):
        kind, a = tasks.term[k, KIND], tasks.term[k, RESIDUAL_AT]
        if is_inequality(kind):
            w = math.sqrt(tasks.number[k, WEIGHT]) * (tasks.number[k, SCALE] if kind == TILT else 1.0)
            for i in range(tasks.term[k, RESIDUALS_OF]):
                tasks.number[k, SHIFT + i] = room.shift[a + i] / w if tasks.term[k, RANK] < rank else 0.0


@leaf
def weaken(room: Any, share: float) -> None:
    """Multipliers in units of a larger penalty."""
    for r in range(room.shift.shape[0]):
        room.shift[r] = share * (room.shift[r] + room.kept[r]) - room.kept[r]


@leaf
def keep_ranks(tasks: Any, room: Any, low: int, high: int, tight: bool) -> None:
    """What the ranks `low` to `high` have reached is what later ranks must leave: zero where it is met, and not `tight`."""
    for b in range(room.chosen_new.shape[0]):
        k, square = int(room.chosen_new[b]), 0.0
        for r in range(BLOCK * b, BLOCK * b + BLOCK):
            square += room.rho_new[r] * room.rho_new[r]
        if k >= 0 and tasks.term[k, RANK] >= low and tasks.term[k, RANK] <= high:
            met = tasks.number[k, LIMIT] >= square and not tight
            for r in range(BLOCK * b, BLOCK * b + BLOCK):
                room.kept[r] = 0.0 if met else room.rho_new[r]
        for r in range(BLOCK * b, BLOCK * b + BLOCK):
            room.shift[r] = -room.kept[r]


@leaf
def weighs_posture(tasks: Any, must: int) -> bool:
    """Whether a posture goal is weighed against tasks."""
    found = False
    for k in range(tasks.term.shape[0]):
        found = found or (tasks.term[k, KIND] == NEAR and tasks.term[k, RANK] < must)
    return found
