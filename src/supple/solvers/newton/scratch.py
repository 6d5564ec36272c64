"""What Newton's method remembers from step to step."""

from __future__ import annotations

from typing import Any, NamedTuple

from supple.kernels.layouts import PROBLEM
from supple.kernels.opening import Scratch, of
from supple.solvers.descent import WALK

FREE, IN_HAND, INDEPENDENT, LARGEST, LENGTH, NU, SIZE, AFRESH, STATE = range(9)  # see `NewtonScratch.state`


class NewtonScratch(NamedTuple):
    """What the loop remembers besides the walk, in units of φ."""

    walk: Any = of(WALK)
    rest: Any = of("COORDINATES")  # g + Σ price·C
    x: Any = of("COORDINATES")  # the step, as far as it is known
    d: Any = of("COORDINATES")  # where it goes next
    h: Any = of("COORDINATES")  # g + Mx + Σ price·C over the rows in hand
    v: Any = of("COORDINATES")
    order: Any = of("COORDINATES")  # the free coordinates in the factor's order
    B: Any = of("COORDINATES", "COORDINATES")
    M: Any = of("COORDINATES", "COORDINATES")
    R: Any = of("COORDINATES", "COORDINATES")  # RᵀR = M_FF
    Y: Any = of("LINEAR_LIMITS", "COORDINATES")  # R⁻ᵀc_F for each row in hand
    price: Any = of("LINEAR_LIMITS")  # multipliers of the rows at q
    base: Any = of("LINEAR_LIMITS")  # those of the rows in hand that the step began with
    active: Any = of("LINEAR_LIMITS")  # rows in hand
    lam: Any = of("LINEAR_LIMITS")  # what their multipliers differ by from the prices
    taken: Any = of("LINEAR_LIMITS")  # 1 for a row in hand
    w: Any = of("LINEAR_LIMITS")
    K: Any = of("LINEAR_LIMITS", "LINEAR_LIMITS")  # KᵀK = YᵀY
    state: Any = of(
        STATE
    )  # free coordinates, rows in hand, independent ones; ‖r‖_∞, ‖r‖, ν, size of B; 1: prices unknown


NEWTON = Scratch(NewtonScratch, PROBLEM)
open_newton = NEWTON.open
