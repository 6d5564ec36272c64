"""What Newton's method remembers from step to step, and simple things to do with it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from supple.kernels.compiling import leaf, row, shared, stage, table, written_in
from supple.kernels.layouts import COORDINATES, LINEAR_LIMITS
from supple.solvers.linear_limits import TOUCHING, enter, spare_size


class Sheet(NamedTuple):
    """What the loop remembers, in units of φ where not said otherwise."""

    unit: Any  # (n) 1 − ρ, and 0 where the limits coincide
    lower: Any  # (n) of q
    upper: Any
    at: Any  # (n) −1 at the lower limit, 1 at the upper, 0 between them, LOCKED
    g: Any  # (n)
    rest: Any  # (n) g + Σ price·C; the gradient at the trial
    x: Any  # (n) the step, as far as it is known
    d: Any  # (n) where it goes next
    h: Any  # (n) g + Mx + Σ price·C over the rows in hand
    v: Any  # (n)
    trial: Any  # (n) q + p
    order: Any  # (n) the free coordinates in the factor's order
    B: Any  # (n, n)
    M: Any  # (n, n)
    R: Any  # (n, n) RᵀR = M_FF
    C: Any  # (m, n) all rows, of unit length
    Y: Any  # (m, n) R⁻ᵀc_F for each row in hand
    slack: Any  # (m) b − C φ
    left: Any  # (m) the same after the step x
    price: Any  # (m) multipliers of the rows at q
    base: Any  # (m) those of the rows in hand that the step began with
    active: Any  # (m) rows in hand
    lam: Any  # (m) what their multipliers differ by from the prices
    taken: Any  # (m) 1 for a row in hand
    w: Any  # (m)
    K: Any  # (m, m) KᵀK = YᵀY
    spare: Any  # for projections
    tally: Any  # (5) free coordinates, rows in hand; ‖r‖_∞ and ‖r‖; rows in hand that are independent


@shared
def room_size(I: Any) -> int:
    """Numbers of scratch that `read_sheet` lays out."""
    n, m = I[COORDINATES], I[LINEAR_LIMITS]
    return 12 * n + 3 * n * n + 2 * m * n + 8 * m + m * m + 5 + spare_size(I)


@written_in
def read_sheet(I: Any, room: Any) -> Any:
    """Views of the scratch."""
    n, m = I[COORDINATES], I[LINEAR_LIMITS]
    b = 12 * n
    c = b + 3 * n * n
    r = c + 2 * m * n
    return Sheet(
        row(room, 0, n), row(room, n, n), row(room, 2 * n, n), row(room, 3 * n, n), row(room, 4 * n, n),
        row(room, 5 * n, n), row(room, 6 * n, n), row(room, 7 * n, n), row(room, 8 * n, n), row(room, 9 * n, n),
        row(room, 10 * n, n), row(room, 11 * n, n), table(room, b, n, n), table(room, b + n * n, n, n),
        table(room, b + 2 * n * n, n, n),
        table(room, c, m, n), table(room, c + m * n, m, n), row(room, r, m), row(room, r + m, m),
        row(room, r + 2 * m, m), row(room, r + 3 * m, m), row(room, r + 4 * m, m), row(room, r + 5 * m, m),
        row(room, r + 6 * m, m), row(room, r + 7 * m, m), table(room, r + 8 * m, m, m),
        row(room, r + 8 * m + m * m + 5, spare_size(I)), row(room, r + 8 * m + m * m, 5),
    )  # fmt: skip


@stage
def begin(I: Any, F: Any, room: Any, q: Any) -> None:
    """The change of unit, and rows without a price."""
    sheet = read_sheet(I, room)
    enter(I, F, q, sheet.unit, sheet.lower, sheet.upper, sheet.C, sheet.slack)
    for r in range(I[LINEAR_LIMITS]):
        sheet.price[r] = 0.0


@leaf
def step_to(sheet: Any, q: Any, t: float) -> None:
    """The trial ``q + t x``, exactly at the limits that are in hand."""
    for i in range(q.shape[0]):
        y = min(max(q[i] + t * sheet.unit[i] * sheet.x[i], sheet.lower[i]), sheet.upper[i])
        if sheet.at[i] == -1.0:
            y = sheet.lower[i]
        if sheet.at[i] == 1.0:
            y = sheet.upper[i]
        sheet.trial[i] = y


@leaf
def oversteps(sheet: Any, equalities: int) -> bool:
    """Whether the trial breaks a row, by rounding where rows almost depend on each other."""
    worst = 0.0
    for r in range(sheet.left.shape[0]):
        worst = max(worst, abs(sheet.left[r]) if r < equalities else -sheet.left[r])
    return worst > TOUCHING


@leaf
def norm(v: Any, count: int) -> float:
    """Length of the first numbers of v."""
    square = 0.0
    for l in range(count):
        square += v[l] * v[l]
    return math.sqrt(square)
