"""Misses in units of their tolerances, and the sum of their powers: what an attempt minimises to find the tolerance set.

Term k is met if ``r_k = |ρ_k|² / L_k ≤ 1``, L_k the square of its tolerance in the unit of its residuals. The sum of powers,

    V_p(q) = Σ_k r_kᵖ = Σ_k |e_k|²,    e_k = ρ_k r_k^((p − 1)/2) / L_k^½,

is a sum of squares like any other, so the same damped steps descend it. With ``u = ρ_k/|ρ_k|`` its derivative is

    de_k = r_k^((p − 1)/2) / L_k^½ · (1 + (p − 1) u uᵀ) dρ_k .

Why these sums, and how p is raised, is in `within`.
"""

from __future__ import annotations

import math
from typing import Any

from supple.compiled import leaf
from supple.potentials import MET as LIMIT
from supple.solvers.blocks import route_of
from supple.views import BLOCK, RANK

SURE = 1.0 - 2e-4  # a term counts as met this far inside its tolerance, squared: rounding decides nothing


@leaf
def raise_residuals(tasks: Any, high: int, power: float, rho: Any, chosen: Any) -> Any:
    """Make residuals those of the sum of powers of ranks up to `high`; later ones vanish.

    Returns the sum and the number of blocks not met.
    """
    value, unmet = 0.0, 0
    for b in range(chosen.shape[0]):
        k, square = int(chosen[b]), 0.0
        if k < 0:
            continue
        for r in range(BLOCK * b, BLOCK * b + BLOCK):
            square += rho[r] * rho[r]
        share = square / tasks.number[k, LIMIT]
        scale = math.sqrt(share ** (power - 1.0) / tasks.number[k, LIMIT])
        if tasks.term[k, RANK] > high:
            share, scale = 0.0, 0.0
        for r in range(BLOCK * b, BLOCK * b + BLOCK):
            rho[r] *= scale
        value += share**power
        if not share <= SURE:
            unmet += 1
    return value, unmet


@leaf
def raise_columns(tasks: Any, routes: Any, power: float, rho: Any, chosen: Any, J: Any, widest: int) -> None:
    """Make the derivatives J of residuals those of the sum of powers; `rho` is what `raise_residuals` made of them."""
    for b in range(chosen.shape[0]):
        route = route_of(tasks, chosen, b)
        if route >= 0:
            e0, e1, e2 = rho[BLOCK * b], rho[BLOCK * b + 1], rho[BLOCK * b + 2]
            square = e0 * e0 + e1 * e1 + e2 * e2
            scale = math.sqrt(square ** ((power - 1.0) / power) / tasks.number[int(chosen[b]), LIMIT])
            more = (power - 1.0) / square if square > 0.0 else 0.0
            at = b * widest
            for c in range(at, at + routes.begin[route + 1] - routes.begin[route]):
                x = more * (e0 * J[c, 0] + e1 * J[c, 1] + e2 * J[c, 2])
                J[c, 0] = scale * (J[c, 0] + x * e0)
                J[c, 1] = scale * (J[c, 1] + x * e1)
                J[c, 2] = scale * (J[c, 2] + x * e2)
