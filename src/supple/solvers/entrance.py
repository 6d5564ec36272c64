"""How the solvers with active limits begin: a legal posture, and the change of unit that rigidity stands for."""

from __future__ import annotations

import math
from typing import Any

from supple.compiled import leaf
from supple.limits import project
from supple.tree import read_tree
from supple.views import read_limits, read_tasks

TOUCHING = 1e-10  # slack at which a row counts as active
LOCKED = 2.0  # in the place of a coordinate's side, −1 at the lower limit, 1 at the upper, 0 between them


@leaf
def enter(
    I: Any, F: Any, q: Any, unit: Any, lower: Any, upper: Any, C: Any, slack: Any, ease: Any, w: Any, back: Any
) -> None:
    """A legal q; the limits; and the change of unit ``q = unit φ``, in which the rows C have length 1 and leave `slack`.

    A coordinate of rigidity 1, or whose limits coincide, has unit 0. The last three arguments are scratch.
    """
    _, a, f_at = read_tree(I, F)
    _, f_at = read_tasks(I, F, a, f_at)
    allowed = read_limits(I, F, f_at)
    n = q.shape[0]
    for i in range(n):
        ease[i] = allowed.free[i] * allowed.free[i]
    project(q, allowed.lower, allowed.upper, allowed.equalities, allowed.A, allowed.b, ease, w, back)
    for i in range(n):
        lower[i], upper[i] = allowed.lower[i], allowed.upper[i]
        unit[i] = allowed.free[i] if lower[i] < upper[i] else 0.0
    for r in range(slack.shape[0]):
        length, free_way = 0.0, allowed.b[r]
        for i in range(n):
            C[r, i] = allowed.A[r, i] * unit[i]
            length += C[r, i] * C[r, i]
            free_way -= allowed.A[r, i] * q[i]
        scale = 1.0 / math.sqrt(length) if length > 0.0 else 0.0
        slack[r] = free_way * scale
        for i in range(n):
            C[r, i] *= scale
