"""What the variable metric method remembers from step to step."""

from __future__ import annotations

from typing import Any, NamedTuple

from supple.kernels.layouts import PROBLEM
from supple.kernels.opening import Scratch, of
from supple.solvers.descent import WALK

ACTIVE, GAMMA, LAMBDA, FIRST, LENGTH, SLOPE, TURNS, FRESH, STATE = range(9)  # see `FaceScratch.state`
SHORT, SHORT_G, SHORT_SLOPE, LONG, LONG_G, LONG_SLOPE, SPAN = range(7)  # see `FaceScratch.span`


class FaceScratch(NamedTuple):
    """What the loop remembers besides the walk, in units of φ."""

    walk: Any = of(WALK)
    s: Any = of("COORDINATES")
    v: Any = of("COORDINATES")  # Hy, P a, or H a
    H: Any = of("COORDINATES", "COORDINATES")
    active: Any = of("LINEAR_LIMITS")  # the active rows in the order of the factor, equalities first
    alpha: Any = of("LINEAR_LIMITS")  # their multipliers
    w: Any = of("LINEAR_LIMITS")
    at_row: Any = of("LINEAR_LIMITS")  # 1 where a row is active
    R: Any = of("LINEAR_LIMITS", "LINEAR_LIMITS")  # RᵀR = C_F C_Fᵀ
    state: Any = of(STATE)  # active rows; γ of the last trial, λ and the limit met there; ‖s‖, gᵀs; turns; 1: H is P
    span: Any = of(
        SPAN
    )  # what a line search knows: a step that is too short with its G and slope, and one that is too long


FACE = Scratch(FaceScratch, PROBLEM)
open_face = FACE.open
