"""CLEAR, the core of a bar at least m from a solid: ``P = w max(0, m − gap)²`` [m], the gap as `clearance` finds it.

An inequality, which asks nothing where the bar is clear. It has residuals alone; its potential is their square.

| looks at | target | residual ρ [√w m] |
|---|---|---|
| position and axes of the bar | the solid | √w max(0, m − gap) |
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.clearance import gap
from supple.kernels.compiling import HULLS, leaf, row
from supple.kernels.hulls import hull_gap
from supple.kernels.layouts import LOWER, OWN_SOLID, SHIFT, TARGET_AT, UPPER, WEIGHT
from supple.kernels.terms.covectors import point_row

HALF, KEEP, REACH = LOWER, UPPER, UPPER + 1  # half of the core, how far it keeps, beyond what nothing is near


@leaf
def clear_residual(X: Any, S: Any, term: Any, A: Any, rho: Any, rows: Any, a: int, M: Any) -> None:
    """CLEAR: how much nearer the core of a bar is to a solid than it may be; pushed at the nearest point of the core.

    What is no bar but a solid itself begins at S[own − 1]; for a bar `own` is 0.
    """
    s, own = term[TARGET_AT], term[OWN_SOLID]
    w, least = math.sqrt(A[WEIGHT]), A[KEEP] + A[SHIFT]
    if HULLS and own > 0:
        e = least - hull_gap(S, own - 1, s, X, least, M)
    else:
        e = least - gap(S, s, X, A[HALF], least, M)
    u = -w if e > 0.0 else 0.0
    rho[a] = w * max(e, 0.0)
    point_row(row(M, 3, 3), u * M[0], u * M[1], u * M[2], rows, a)
