"""The scratch of a search: laid out here and nowhere else."""

from __future__ import annotations

from typing import Any, NamedTuple

from supple.kernels.algebra.nearest import row_room
from supple.kernels.compiling import row, shared, table, written_in
from supple.kernels.layouts import (
    BLOCK,
    BY_JOINTS,
    COORDINATES,
    JOINTS,
    LINEAR_LIMITS,
    RESIDUALS,
    RESIDUALS_ARE_FEW,
    WIDEST_ROUTE,
)
from supple.kernels.opening import padded
from supple.solvers.levenberg_marquardt.joint_by_joint import BODY, LEAN

LEARNING = 256  # coordinates beyond which nothing is learnt: it would take more time than it saves
REACH, OFFSET, STRIDE, PERIOD, PACE, LOWER, UPPER, BOX = range(8)  # rows of the search's box (see `desk`)
STEPS, ATTEMPTS, TOLERANCE, FACTOR, FLOOR, SLOW, CHAINED, POWER, SETTINGS = range(9)  # settings (see `desk`)


class Room(NamedTuple):
    """Scratch of a search."""

    D: Any  # (n) and so on: (1 − ρ)²
    ease: Any  # D of the coordinates that may move now, else 0
    root: Any  # its square root
    held: Any  # 0: moves; 1: may not; 2: put on its limit by this step
    trial: Any
    g: Any
    best: Any
    start: Any
    before: Any  # where the tolerance set was looked for (see `within`), or all tasks were met
    pull: Any  # weights of the posture goals that count now
    lean: Any  # half of their gradient
    rho: Any  # (m)
    rho_new: Any
    y: Any
    shift: Any  # of lower ranks
    kept: Any  # residuals that lower ranks have reached
    chosen: Any  # (blocks)
    chosen_new: Any
    J: Any  # (blocks · widest, 3)
    J_new: Any
    A: Any  # (n, n) and its factor, rows padded
    B: Any  # (m, m) in the same place, where residuals are few
    S: Any  # (n, n) what Gauss–Newton leaves out, or nothing
    learnt: Any  # (4, n)
    on: Any  # (rows of limits) 1 where a row holds
    spare: Any  # for projections
    origin: Any  # (n)
    twist: Any  # (joints, 6) and so on, where steps are solved for joint by joint (see `articulated`)
    lever: Any  # (joints, LEAN)
    move: Any  # (joints + 1, 6)
    body: Any  # (joints + 1, BODY)
    covector: Any  # (m, 7) with its residual


@shared
def learns(I: Any) -> int:
    """The order of what is learnt: the number of coordinates, or 0."""
    return I[COORDINATES] if I[COORDINATES] <= LEARNING else 0


@shared
def few(I: Any) -> int:
    """The number of residuals if steps are solved for in these, else 0."""
    return I[RESIDUALS] if I[RESIDUALS_ARE_FEW] == 1 else 0


@shared
def many(I: Any) -> int:
    """The number of coordinates if steps are solved for in these, ever, else 0."""
    return 0 if I[RESIDUALS_ARE_FEW] == 1 and learns(I) == 0 else I[COORDINATES]


@shared
def jointed(I: Any) -> int:
    """The number of joints if steps are solved for joint by joint, else 0."""
    return I[JOINTS] if I[BY_JOINTS] == 1 else 0


@shared
def bodies_size(I: Any) -> int:
    """Numbers of what is known of joints and bodies."""
    joints = jointed(I)
    return joints * (6 + LEAN) + (joints + 1) * (6 + BODY) + 7 * I[RESIDUALS]


@shared
def matrix_size(I: Any) -> int:
    """Numbers of the largest linear system."""
    return max(many(I) * padded(many(I)), few(I) * padded(few(I)))


@shared
def room_size(I: Any) -> int:
    """Numbers of scratch that a search needs besides the evaluation's."""
    n, m = I[COORDINATES], I[RESIDUALS]
    learnt = learns(I) * learns(I) + 4 * n
    rows = I[LINEAR_LIMITS] + row_room(I[LINEAR_LIMITS])
    return 12 * n + 6 * m + 2 * I[WIDEST_ROUTE] * m + matrix_size(I) + learnt + max(n, m) + rows + bodies_size(I)


@written_in
def read_room(I: Any, memory: Any) -> Any:
    """Views of the scratch."""
    n, m, blocks = I[COORDINATES], I[RESIDUALS], I[RESIDUALS] // BLOCK
    D, ease, root = row(memory, 0, n), row(memory, n, n), row(memory, 2 * n, n)
    held, trial, g = row(memory, 3 * n, n), row(memory, 4 * n, n), row(memory, 5 * n, n)
    best, start = row(memory, 6 * n, n), row(memory, 7 * n, n)
    pull, lean, origin = row(memory, 8 * n, n), row(memory, 9 * n, n), row(memory, 10 * n, n)
    before, at = row(memory, 11 * n, n), 12 * n
    rho, rho_new, y = row(memory, at, m), row(memory, at + m, m), row(memory, at + 2 * m, max(n, m))
    at += 2 * m + max(n, m)
    shift, kept = row(memory, at, m), row(memory, at + m, m)
    chosen, chosen_new = row(memory, at + 2 * m, blocks), row(memory, at + 2 * m + blocks, blocks)
    at += 3 * m
    rows = blocks * I[WIDEST_ROUTE]
    J, J_new = table(memory, at, rows, BLOCK), table(memory, at + BLOCK * rows, rows, BLOCK)
    at += 2 * BLOCK * rows
    A, B = table(memory, at, many(I), padded(many(I))), table(memory, at, few(I), padded(few(I)))
    at += matrix_size(I)
    S, learnt = table(memory, at, learns(I), learns(I)), table(memory, at + learns(I) * learns(I), 4, n)
    at += learns(I) * learns(I) + 4 * n
    on, spare = row(memory, at, I[LINEAR_LIMITS]), row(memory, at + I[LINEAR_LIMITS], row_room(I[LINEAR_LIMITS]))
    at += I[LINEAR_LIMITS] + row_room(I[LINEAR_LIMITS])
    joints = jointed(I)
    twist, lever = table(memory, at, joints, 6), table(memory, at + 6 * joints, joints, LEAN)
    at += joints * (6 + LEAN)
    move, body = table(memory, at, joints + 1, 6), table(memory, at + 6 * joints + 6, joints + 1, BODY)
    covector = table(memory, at + (joints + 1) * (6 + BODY), m, 7)
    return Room(
        D, ease, root, held, trial, g, best, start, before, pull, lean, rho, rho_new, y, shift, kept, chosen, chosen_new, J,
        J_new, A, B, S, learnt, on, spare, origin, twist, lever, move, body, covector,
    )  # fmt: skip
