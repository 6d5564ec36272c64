"""Terms by their kind: one line a kind, for what the files of this folder know of their formulas, and what needs none."""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import GENERAL, leaf
from supple.kernels.kinds import AIM, AT, BEYOND, BOX, CLEAR, CUSTOM, FACE, LINE, PLANE, TILT, TURN
from supple.kernels.layouts import ADDRESS, BLOCK, KIND, RESIDUAL_AT, SCALE, TARGET_AT, TARGET_LENGTH, WEIGHT
from supple.kernels.terms.aim import aim_potential, aim_residual, aim_stiffness
from supple.kernels.terms.at import at_potential, at_residual, at_stiffness
from supple.kernels.terms.box import box_potential, box_residual, box_stiffness
from supple.kernels.terms.clear import clear_residual
from supple.kernels.terms.custom import custom_potential
from supple.kernels.terms.face import face_potential, face_residual
from supple.kernels.terms.line import line_potential, line_residual, line_stiffness
from supple.kernels.terms.plane import plane_potential, plane_residual, plane_stiffness
from supple.kernels.terms.tilt import tilt_potential, tilt_residual, tilt_stiffness
from supple.kernels.terms.turn import turn_potential, turn_residual


@leaf
def potential(term: Any, X: Any, T: Any, A: Any, f: Any, M: Any, G: Any) -> float:
    """P of a term, with the forces ∂P/∂X in f for the parts it looks at. `term` and A are its integers and floats.

    M (12, 12) and G (`MIXED` numbers) are scratch.
    """
    kind, t = term[KIND], term[TARGET_AT]
    c2 = A[WEIGHT] * A[SCALE] * A[SCALE]
    if kind == TURN:
        return turn_potential(X, T, t, c2, f)
    if kind == FACE:
        return face_potential(X, T, t, c2, f)
    if kind == AIM:
        return aim_potential(X, T, t, c2, f)
    if kind == TILT:
        return tilt_potential(X, T, t, A, c2, G, f)
    if kind == CUSTOM:
        return custom_potential(X, T, t, term[TARGET_LENGTH], term[ADDRESS], A[WEIGHT], f, M)
    if kind == BOX:
        return box_potential(X, T, t, A, f)
    if kind == AT:
        return at_potential(X, T, t, A, f)
    if kind == LINE:
        return line_potential(X, T, t, A, f)
    return plane_potential(kind, X, T, t, A, f)


@leaf
def stiffness(term: Any, X: Any, T: Any, A: Any, f: Any, M: Any, G: Any) -> bool:
    """∂²P/∂X² in M for the parts that the kind looks at; False if it is zero and M was not written."""
    kind, t = term[KIND], term[TARGET_AT]
    c2 = A[WEIGHT] * A[SCALE] * A[SCALE]
    if kind == TURN or kind == FACE:
        return False
    if kind == AIM:
        aim_stiffness(X, T, t, c2, G, M)
    elif kind == TILT:
        tilt_stiffness(X, T, t, A, c2, G, M)
    elif kind == CUSTOM:
        custom_potential(X, T, t, term[TARGET_LENGTH], term[ADDRESS], A[WEIGHT], f, M)
    elif kind == BOX:
        box_stiffness(X, T, t, A, M)
    elif kind == AT:
        at_stiffness(A, M)
    elif kind == LINE:
        line_stiffness(T, t, A, M)
    else:
        plane_stiffness(kind, X, T, t, A, M)
    return True


@leaf
def residual(tasks: Any, k: int, T: Any, scratch: Any, rho: Any) -> None:
    """Write the residuals of term k, which sees the frame in the scratch, into its block of rho; their covectors beside it."""
    term, X, A, rows, M = tasks.term[k], scratch.seen, tasks.number[k], scratch.rows, scratch.mixed
    kind, t, a = term[KIND], term[TARGET_AT], term[RESIDUAL_AT]
    w = math.sqrt(A[WEIGHT])
    if kind == AT:
        at_residual(X, T, t, w, rho, rows, a)
    elif kind == TURN:
        turn_residual(X, T, t, w * A[SCALE], rho, rows, a)
    elif kind == FACE:
        face_residual(X, T, t, w * A[SCALE], rho, rows, a)
    elif not GENERAL:
        return  # a plain problem has no other kinds
    elif kind == BOX:
        box_residual(X, T, t, A, w, rho, rows, a)
    elif kind == LINE:
        line_residual(X, T, t, w, rho, rows, a)
    elif kind == AIM:
        aim_residual(X, T, t, w * A[SCALE], rho, rows, a)
    elif kind == TILT:
        tilt_residual(X, T, t, A, rho, rows, a, M)
    elif kind == CLEAR:
        clear_residual(X, tasks.solid, term, A, rho, rows, scratch.axes[a // BLOCK], M)
    elif kind == PLANE or kind == BEYOND:
        plane_residual(kind, X, T, t, A, rho, rows, a)


@leaf
def is_inequality(kind: int) -> bool:
    """Whether a kind asks for room rather than for a place: its residuals vanish wherever it holds."""
    return kind == BEYOND or kind == BOX or kind == TILT or kind == CLEAR


@leaf
def parts(kind: int) -> Any:
    """Which of the four parts of X (position, x, y, z axis) a kind looks at: the first, and one past the last."""
    if kind == FACE:
        return 1, 2
    if kind == TURN or kind == TILT:
        return 1, 4
    if kind == AIM:
        return 0, 2
    if kind == CUSTOM:
        return 0, 4
    return 0, 1
