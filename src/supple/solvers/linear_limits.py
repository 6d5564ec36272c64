"""What the solvers with active limits share: a legal start in the right units, and a way on where active sets get stuck."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from supple.kernels.algebra.nearest import project, row_room
from supple.kernels.compiling import leaf, row, shared, stage
from supple.kernels.layouts import COORDINATES, LINEAR_LIMITS
from supple.kernels.objective import gradient
from supple.kernels.tables import open_limits
from supple.problem.allowance import count, spent

TOUCHING = 1e-10  # slack at which a row counts as active
SIDEWAYS = 1e-12  # a direction that runs into a limit by less than this part of its length runs along it
LOCKED = 2.0  # in the place of a coordinate's side, −1 at the lower limit, 1 at the upper, 0 between them


@shared
def spare_size(I: Any) -> int:
    """Numbers of scratch that `inside` needs."""
    return 2 * I[COORDINATES] + row_room(I[LINEAR_LIMITS])


@stage
def inside(I: Any, F: Any, q: Any, spare: Any) -> bool:
    """The nearest legal posture in the metric of rigidity, in place; False if it could not be found."""
    allowed = open_limits(I, F)
    n = q.shape[0]
    ease, origin, rows = row(spare, 0, n), row(spare, n, n), row(spare, 2 * n, row_room(I[LINEAR_LIMITS]))
    for i in range(n):
        ease[i] = allowed.mobility[i] * allowed.mobility[i]
    over = project(q, allowed.lower, allowed.upper, allowed.equalities, allowed.A, allowed.b, ease, rows, origin)
    return over <= TOUCHING


@leaf
def enter(I: Any, F: Any, q: Any, unit: Any, lower: Any, upper: Any, C: Any, slack: Any) -> None:
    """The limits, and the change of unit ``q = unit φ``, in which the rows C have length 1 and leave `slack`.

    A coordinate of rigidity 1, or whose limits coincide, has unit 0.
    """
    allowed = open_limits(I, F)
    n = q.shape[0]
    for i in range(n):
        lower[i], upper[i] = allowed.lower[i], allowed.upper[i]
        unit[i] = allowed.mobility[i] if lower[i] < upper[i] else 0.0
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


@leaf
def rescaled(unit: Any, G: float, g: Any) -> float:
    """g from units of q to units of φ, in place; returns |G| + ‖g‖₁, which is finite if all of them are."""
    size = abs(G)
    for i in range(g.shape[0]):
        g[i] *= unit[i]
        size += abs(g[i])
    return size


@stage
def slide(
    I: Any,
    F: Any,
    scratch: Any,
    T: Any,
    q: Any,
    G: float,
    g: Any,
    unit: Any,
    trial: Any,
    g_new: Any,
    spare: Any,
    info: Any,
) -> Any:
    """A projected gradient step ``Π(q − τ D∇G)`` that lowers G: the trial's G and unmet tasks.

    G is infinite if no step does, NaN if that cannot be said because a projection failed or no more may be spent. For corners
    with more limits than coordinates, where active sets may turn on the spot, and for wherever else they give up.
    """
    tau, none = 1.0, np.inf
    while tau > 1e-12:
        slope = 0.0
        for i in range(q.shape[0]):
            trial[i] = q[i] - tau * unit[i] * g[i]
        legal = inside(I, F, trial, spare)
        none = none if legal else np.nan
        for i in range(q.shape[0]):
            slope += g[i] * (trial[i] - q[i]) / unit[i] if unit[i] > 0.0 else 0.0
        if not -slope > 1e-16 * G:
            break
        if spent(info):
            return np.nan, 0
        G_new, unmet = gradient(I, F, scratch, T, trial, g_new)
        count(info)
        if legal and rescaled(unit, G_new, g_new) < np.inf and G_new <= G + 1e-4 * slope:
            return G_new, unmet
        tau *= 0.25
    return none, 0
