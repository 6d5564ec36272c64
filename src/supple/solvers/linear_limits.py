"""What the solvers with limits share: the nearest legal posture, and the change of unit in which rigidity disappears."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from supple.kernels.algebra.nearest import project
from supple.kernels.compiling import leaf, stage
from supple.kernels.layouts import PROBLEM
from supple.kernels.opening import Scratch, of
from supple.kernels.tables import ROWS, open_limits

TOUCHING = 1e-10  # slack at which a row counts as active
SIDEWAYS = 1e-12  # a direction that runs into a limit by less than this part of its length runs along it
LOCKED = 2.0  # in the place of a coordinate's side, −1 at the lower limit, 1 at the upper, 0 between them


class ProjectionScratch(NamedTuple):
    """What `inside` writes."""

    ease: Any = of("COORDINATES")  # D = (1 − ρ)²; it stays as it is
    origin: Any = of("COORDINATES")
    rows: Any = of("LINEAR_LIMITS + ROWS", "LINEAR_LIMITS")


PROJECTION = Scratch(ProjectionScratch, PROBLEM, ROWS=ROWS)
open_projection = PROJECTION.open


@stage
def inside(I: Any, F: Any, q: Any, memory: Any) -> bool:
    """The nearest legal posture in the metric of rigidity, in place; False if it could not be found."""
    allowed, s = open_limits(I, F), open_projection(I, memory)
    for i in range(q.shape[0]):
        s.ease[i] = allowed.mobility[i] * allowed.mobility[i]
    return project(q, allowed, s.ease, s.rows, s.origin) <= TOUCHING


@leaf
def change_unit(I: Any, F: Any, q: Any, walk: Any) -> None:
    """The limits, and the change of unit ``q = unit φ``, in which the rows C have length 1 and leave `slack`.

    A coordinate of rigidity 1, or whose limits coincide, has unit 0.
    """
    allowed = open_limits(I, F)
    n, unit, C = q.shape[0], walk.unit, walk.C
    for i in range(n):
        walk.lower[i], walk.upper[i] = allowed.lower[i], allowed.upper[i]
        unit[i] = allowed.mobility[i] if allowed.lower[i] < allowed.upper[i] else 0.0
    for r in range(walk.slack.shape[0]):
        length, free_way = 0.0, allowed.b[r]
        for i in range(n):
            C[r, i] = allowed.A[r, i] * unit[i]
            length += C[r, i] * C[r, i]
            free_way -= allowed.A[r, i] * q[i]
        scale = 1.0 / math.sqrt(length) if length > 0.0 else 0.0
        walk.slack[r] = free_way * scale
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


@leaf
def oversteps(left: Any, equalities: int) -> bool:
    """Whether a step that leaves so much slack breaks a row, by rounding where rows almost depend on each other."""
    worst = 0.0
    for r in range(left.shape[0]):
        worst = max(worst, abs(left[r]) if r < equalities else -left[r])
    return worst > TOUCHING
