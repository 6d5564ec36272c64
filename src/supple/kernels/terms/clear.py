"""CLEAR, the core of a bar at least m from a solid: ``P = w max(0, m − gap)²`` [m], the gap as `clearance` finds it.

An inequality, which asks nothing where the bar is clear. It has residuals alone; its potential is their square.

| looks at | target | residual ρ [√w m] |
|---|---|---|
| position and axes of the bar | the solid | √w max(0, m − gap) |
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.clearance import ROUNDING, gap
from supple.kernels.compiling import HULLS, leaf, row
from supple.kernels.hulls import hull_gap
from supple.kernels.layouts import LOWER, OWN_SOLID, RESIDUAL_AT, SHIFT, TARGET_AT, UPPER, WEIGHT
from supple.kernels.supports import parted_along
from supple.kernels.terms.covectors import point_row

HALF, KEEP, REACH = LOWER, UPPER, UPPER + 1  # half of the core, how far it keeps, beyond what nothing is near


@leaf
def pair_gap(X: Any, S: Any, term: Any, A: Any, enough: float, axis: Any, M: Any) -> float:
    """The gap of a pair, direction and witness in M; where it is above `enough`, a lower bound that is above it too.

    What is no bar but a solid itself begins at S[own − 1]; for a bar `own` is 0. `axis` (3) is the direction in which two
    solids were nearest when they were last looked at, or anything else: often it shows at once that they are far apart.
    """
    s, own = term[TARGET_AT], term[OWN_SOLID]
    if HULLS and own > 0:
        bound = parted_along(S, own - 1, s, X, axis)
        if bound > enough + ROUNDING:
            return bound
        d = hull_gap(S, own - 1, s, X, enough, M)
        axis[0], axis[1], axis[2] = M[0], M[1], M[2]
        return d
    return gap(S, s, X, A[HALF], enough, M)


@leaf
def clear_residual(X: Any, S: Any, term: Any, A: Any, rho: Any, rows: Any, axis: Any, M: Any) -> None:
    """CLEAR: how much nearer the core of a bar is to a solid than it may be; pushed at the nearest point of the core."""
    a, w, least = term[RESIDUAL_AT], math.sqrt(A[WEIGHT]), A[KEEP] + A[SHIFT]
    e = least - pair_gap(X, S, term, A, least, axis, M)
    u = -w if e > 0.0 else 0.0
    rho[a] = w * max(e, 0.0)
    point_row(row(M, 3, 3), u * M[0], u * M[1], u * M[2], rows, a)
