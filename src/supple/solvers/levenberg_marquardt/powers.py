"""Misses in units of their tolerances, and the sum of their powers: what an attempt minimises to find the tolerance set.

Term k is met if ``r_k = |ρ_k|² / L_k ≤ 1``, with L_k the square of its tolerance in the unit of its residuals. The sum of
powers

    V_p(q) = Σ_k r_kᵖ = Σ_k |e_k|²,    e_k = c_k ρ_k,    c_k = r_k^((p − 1)/2) / L_k^½,

is a sum of squares like any other, so the same damped steps descend it. With ``u = ρ_k/|ρ_k|`` the derivative is

    de_k = c_k (1 + (p − 1) u uᵀ) dρ_k .

Why these sums, and how p is raised, is in `tolerance_set`. Powers are taken by logarithms, cut off where they would overflow.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.blocks_of_three import TINY, route_of
from supple.kernels.compiling import leaf
from supple.kernels.layouts import BLOCK, MET as LIMIT, RANK

SURE = 1.0 - 2e-4  # a term counts as met this far inside its tolerance, squared: rounding decides nothing
LARGEST_LOGARITHM = 600.0  # logarithm of a power, at most


@leaf
def raise_residuals(tasks: Any, high: int, power: float, rho: Any, chosen: Any) -> Any:
    """Make residuals those of the sum of powers of ranks up to `high`; later ones vanish.

    Returns the sum and the number of blocks not met.
    """
    value, unmet = 0.0, 0
    for b in range(chosen.shape[0]):
        k, square, scale = int(chosen[b]), 0.0, 0.0
        if k < 0:
            continue
        for r in range(BLOCK * b, BLOCK * b + BLOCK):
            square += rho[r] * rho[r]
        if tasks.term[k, RANK] <= high:
            limit = max(tasks.number[k, LIMIT], TINY)
            growth = math.log(max(square / limit, TINY))
            value += math.exp(min(power * growth, LARGEST_LOGARITHM))
            scale = math.exp(min(0.5 * (power - 1.0) * growth, LARGEST_LOGARITHM)) / math.sqrt(limit)
            if not square <= SURE * limit:
                unmet += 1
        for r in range(BLOCK * b, BLOCK * b + BLOCK):
            rho[r] *= scale
    return value, unmet


@leaf
def raise_columns(tasks: Any, routes: Any, power: float, rho: Any, chosen: Any, J: Any, widest: int) -> None:
    """Make the derivatives J of residuals those of the sum of powers; `rho` is what `raise_residuals` made of them."""
    for b in range(chosen.shape[0]):
        route = route_of(tasks, chosen, b)
        if route >= 0:
            e0, e1, e2 = rho[BLOCK * b], rho[BLOCK * b + 1], rho[BLOCK * b + 2]
            square, limit = e0 * e0 + e1 * e1 + e2 * e2, max(tasks.number[int(chosen[b]), LIMIT], TINY)
            growth = math.log(max(square, TINY)) / power
            scale = math.exp(0.5 * (power - 1.0) * growth) / math.sqrt(limit) if square > 0.0 else 0.0
            more = (power - 1.0) / max(square, TINY)
            at = b * widest
            for c in range(at, at + routes.begin[route + 1] - routes.begin[route]):
                x = more * (e0 * J[c, 0] + e1 * J[c, 1] + e2 * J[c, 2])
                J[c, 0] = scale * (J[c, 0] + x * e0)
                J[c, 1] = scale * (J[c, 1] + x * e1)
                J[c, 2] = scale * (J[c, 2] + x * e2)
