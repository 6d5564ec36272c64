"""The errors of the goals, run by run: for each run of goals that ask for the same a leaf that knows what."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from supple.kernels.kinds import AT, BEYOND, FACE, LINE, TURN
from supple.solvers.lean.shape import NOTHING, Shape

LEAST_TRACE, WORST = 4e-4, 4.0  # 4 cos²(φ/2) from which on a turn is near half a one; the square of the longest chord


def goals_leaf(shape: Shape, t: Any, settings: tuple[Any, float], jit: Callable[[Any], Any]) -> Any:
    """``judge(tool, bounds, base, T, memory) → over, value`` of all goals; it fills the points and the errors."""
    real, _ = settings
    ZERO = real(0)
    each = [_of_run(run, shape.free, settings, jit) for run in t.runs]

    @jit
    def none(tool: Any, bounds: Any, base: Any, T: Any, memory: Any) -> Any:
        return ZERO, ZERO

    def and_then(first: Any, then: Any) -> Any:
        @jit
        def both(tool: Any, bounds: Any, base: Any, T: Any, memory: Any) -> Any:
            over, value = first(tool, bounds, base, T, memory)
            far, square = then(tool, bounds, base, T, memory)
            return max(over, far), value + square

        return both

    return chained(each, none, and_then)


def chained(each: Sequence[Any], none: Any, and_then: Callable[[Any, Any], Any]) -> Any:
    """One leaf that calls several, one after the other."""
    out = each[0] if each else none
    for one in each[1:]:
        out = and_then(out, one)
    return out


def _of_run(run: Any, free: bool, settings: tuple[Any, float], jit: Callable[[Any], Any]) -> Any:
    real, radian = settings
    BEGIN, END, PLACE, ANGLE, ROW, ROWS = run
    ZERO, ONE, L, LL = real(0), real(1), real(radian), real(radian * radian)
    NEAR_HALF, FARTHEST = real(LEAST_TRACE), real(WORST)
    PLACED, ON = PLACE != NOTHING, PLACE not in (AT, NOTHING)
    TURNS, FACES, AFTER = ANGLE == TURN, ANGLE == FACE, 3 * (PLACE != NOTHING)
    ALONG, SIDED, FREE = PLACE == LINE, PLACE == BEYOND, free

    @jit
    def add_turn(g0: Any, g1: Any, g2: Any, x0: Any, x1: Any, x2: Any, M: Any) -> None:
        """M += g xᵀ: for the turn of the base that brings axes x to goals g."""
        M[0], M[1], M[2] = M[0] + g0 * x0, M[1] + g0 * x1, M[2] + g0 * x2
        M[3], M[4], M[5] = M[3] + g1 * x0, M[4] + g1 * x1, M[5] + g1 * x2
        M[6], M[7], M[8] = M[6] + g2 * x0, M[7] + g2 * x1, M[8] + g2 * x2

    @jit
    def turned(X: Any, tool: Any, T: Any, g: Any, e: Any, k: Any, M: Any) -> Any:
        """Write the chord of the turn from ``X tool`` to its goal, times L; the square of the chord."""
        v0, v1, v2, trace = ZERO, ZERO, ZERO, ONE
        for c in range(3):
            x0 = X[g, 0] * tool[g, c] + X[g, 1] * tool[g, 3 + c] + X[g, 2] * tool[g, 6 + c]
            x1 = X[g, 3] * tool[g, c] + X[g, 4] * tool[g, 3 + c] + X[g, 5] * tool[g, 6 + c]
            x2 = X[g, 6] * tool[g, c] + X[g, 7] * tool[g, 3 + c] + X[g, 8] * tool[g, 6 + c]
            g0, g1, g2 = T[g, c], T[g, 3 + c], T[g, 6 + c]
            v0 += x1 * g2 - x2 * g1
            v1 += x2 * g0 - x0 * g2
            v2 += x0 * g1 - x1 * g0
            trace += x0 * g0 + x1 * g1 + x2 * g2
            if FREE:
                add_turn(LL * g0, LL * g1, LL * g2, x0, x1, x2, M)
        w = ONE / math.sqrt(max(trace, NEAR_HALF))
        v0, v1, v2 = v0 * w, v1 * w, v2 * w
        e[k], e[k + 1], e[k + 2] = L * v0, L * v1, L * v2
        return v0 * v0 + v1 * v1 + v2 * v2 if trace > ONE else FARTHEST

    @jit
    def faced(X: Any, tool: Any, T: Any, g: Any, e: Any, k: Any) -> Any:
        """Write the turn ``x × g`` that brings the x axis of ``X tool`` to its goal, times L; the square of the chord."""
        x0 = X[g, 0] * tool[g, 0] + X[g, 1] * tool[g, 3] + X[g, 2] * tool[g, 6]
        x1 = X[g, 3] * tool[g, 0] + X[g, 4] * tool[g, 3] + X[g, 5] * tool[g, 6]
        x2 = X[g, 6] * tool[g, 0] + X[g, 7] * tool[g, 3] + X[g, 8] * tool[g, 6]
        g0, g1, g2 = T[g, 0], T[g, 1], T[g, 2]
        e[k], e[k + 1], e[k + 2] = L * (x1 * g2 - x2 * g1), L * (x2 * g0 - x0 * g2), L * (x0 * g1 - x1 * g0)
        g0, g1, g2 = g0 - x0, g1 - x1, g2 - x2
        return g0 * g0 + g1 * g1 + g2 * g2

    @jit
    def placed(x: Any, T: Any, g: Any, base: Any, e: Any, k: Any) -> Any:
        """Write the way from the point x to where it should be; its square. Places are about the base's own origin."""
        d0, d1, d2 = T[g, 9] - base[4] - x[g, 0], T[g, 10] - base[5] - x[g, 1], T[g, 11] - base[6] - x[g, 2]
        if ON:
            n0, n1, n2 = T[g, 6], T[g, 7], T[g, 8]
            s = d0 * n0 + d1 * n1 + d2 * n2
            if SIDED:
                s = max(s, ZERO)
            if ALONG:
                d0, d1, d2 = d0 - s * n0, d1 - s * n1, d2 - s * n2
            else:
                d0, d1, d2 = s * n0, s * n1, s * n2
        e[k], e[k + 1], e[k + 2] = d0, d1, d2
        return d0 * d0 + d1 * d1 + d2 * d2

    @jit
    def judge(tool: Any, bounds: Any, base: Any, T: Any, memory: Any) -> Any:
        """The largest square of a miss in units of its tolerance, and the value."""
        x, e, M, X = memory[3], memory[4], memory[5], memory[6]
        over, value = ZERO, ZERO
        if FREE and BEGIN == 0:
            for k in range(9):
                M[k] = ZERO
        for g in range(BEGIN, END):
            k = ROW + (g - BEGIN) * ROWS
            for r in range(3):
                a, b, c = X[g, 3 * r], X[g, 3 * r + 1], X[g, 3 * r + 2]
                x[g, r] = X[g, 9 + r] + a * tool[g, 9] + b * tool[g, 10] + c * tool[g, 11]
            if PLACED:
                square = placed(x, T, g, base, e, k)
                over, value = max(over, square * bounds[g, 0]), value + square
            if TURNS:
                chord = turned(X, tool, T, g, e, k + AFTER, M)
                over, value = max(over, chord * bounds[g, 1]), value + LL * chord
            if FACES:
                away = faced(X, tool, T, g, e, k + AFTER)
                over, value = max(over, away * bounds[g, 1]), value + LL * away
        return over, value

    return judge
