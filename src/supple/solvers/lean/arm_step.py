"""A step through the residuals, for arms: everything stays in registers.

With m rows and n joints, n·m small: ``(J Jᵀ + λ I) y = e`` by Cholesky, ``q ← clip(q + Jᵀ y)``. The columns of J are
``ω × (x − p)`` of a hinge and the axis of a slide, those of an angle L ω; on a line or plane, or facing somewhere,
what the goal does not ask for is taken out of them. A joint at a limit that e presses outwards gives way: its column
is zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from supple.kernels.kinds import AT, BEYOND, FACE, LINE
from supple.solvers.lean.goals_leaf import chained
from supple.solvers.lean.shape import NOTHING, Shape

LEAST_PIVOT = 1e-20


def arm_step(shape: Shape, t: Any, settings: tuple[Any, ...], jit: Callable[[Any], Any]) -> tuple[Any, tuple[Any, ...]]:
    """``move(starts, limits, q, base, T, value, first, memory)``, and the shapes of the arrays it needs besides."""
    real, radian, damping, least = settings
    n, m = shape.joints, int(t.first[-1])
    MOVES, GOAL = t.moves, t.goal
    ZERO, ONE, MU, EPS = real(0), real(1), real(damping), real(least)
    solve = cholesky(m, real, jit)

    each = [_columns(run, t, (real, radian), jit) for run in t.runs]

    @jit
    def none(T: Any, axes: Any, x: Any, e: Any, J: Any) -> None:
        pass

    def and_then(first: Any, then: Any) -> Any:
        @jit
        def both(T: Any, axes: Any, x: Any, e: Any, J: Any) -> None:
            first(T, axes, x, e, J)
            then(T, axes, x, e, J)

        return both

    columns = chained(each, none, and_then)

    @jit
    def pull(J: Any, i: Any, y: Any) -> Any:
        s = ZERO
        for a in range(m):
            if MOVES[GOAL[a], i] != 0:
                s += J[i, a] * y[a]
        return s

    @jit
    def move(starts: Any, limits: Any, q: Any, base: Any, T: Any, value: Any, first: Any, memory: Any) -> None:
        """One step; e is overwritten."""
        axes, x, e, J, A = memory[2], memory[3], memory[4], memory[7], memory[8]
        columns(T, axes, x, e, J)
        for i in range(n):
            s = pull(J, i, e)
            if (q[i] <= limits[0, i] and s < ZERO) or (q[i] >= limits[1, i] and s > ZERO):
                for a in range(m):
                    J[i, a] = ZERO
        for a in range(m):
            for b in range(a + 1):
                s = ZERO
                for i in range(n):
                    if MOVES[GOAL[a], i] != 0 and MOVES[GOAL[b], i] != 0:
                        s += J[i, a] * J[i, b]
                A[a, b] = s
        solve(A, e, MU * min(value, ONE) + EPS)
        for i in range(n):
            q[i] = min(max(q[i] + pull(J, i, e), limits[0, i]), limits[1, i])

    return move, ((n, m), (m, m))


def _columns(run: Any, t: Any, settings: tuple[Any, float], jit: Callable[[Any], Any]) -> Any:
    """The leaf that writes the columns of a run of goals that ask for the same."""
    real, radian = settings
    BEGIN, END, PLACE, ANGLE, ROW, ROWS = run
    n, SLIDE, MOVES, ZERO, L = len(t.slide), t.slide, t.moves, real(0), real(radian)
    PLACED, ON, ALONG, SIDED = PLACE != NOTHING, PLACE not in (AT, NOTHING), PLACE == LINE, PLACE == BEYOND
    ANGLED, FACES, AFTER, SLIDES = ANGLE != NOTHING, ANGLE == FACE, 3 * (PLACE != NOTHING), bool(t.slide.any())

    @jit
    def felt(T: Any, g: Any, e: Any, J: Any, i: Any, k: Any) -> None:
        """Leave of a column of a place what its goal feels."""
        n0, n1, n2 = T[g, 6], T[g, 7], T[g, 8]
        s = J[i, k] * n0 + J[i, k + 1] * n1 + J[i, k + 2] * n2
        if ALONG:
            J[i, k], J[i, k + 1], J[i, k + 2] = J[i, k] - s * n0, J[i, k + 1] - s * n1, J[i, k + 2] - s * n2
        else:
            if SIDED and e[k] * e[k] + e[k + 1] * e[k + 1] + e[k + 2] * e[k + 2] <= ZERO:
                s = ZERO
            J[i, k], J[i, k + 1], J[i, k + 2] = s * n0, s * n1, s * n2

    @jit
    def columns(T: Any, axes: Any, x: Any, e: Any, J: Any) -> None:
        for g in range(BEGIN, END):
            k = ROW + (g - BEGIN) * ROWS
            for i in range(n):
                if MOVES[g, i] != 0:
                    w0, w1, w2 = axes[i, 0], axes[i, 1], axes[i, 2]
                    if PLACED:
                        r0, r1, r2 = x[g, 0] - axes[i, 3], x[g, 1] - axes[i, 4], x[g, 2] - axes[i, 5]
                        J[i, k], J[i, k + 1], J[i, k + 2] = w1 * r2 - w2 * r1, w2 * r0 - w0 * r2, w0 * r1 - w1 * r0
                        if SLIDES and SLIDE[i] != 0:
                            J[i, k], J[i, k + 1], J[i, k + 2] = w0, w1, w2
                        if ON:
                            felt(T, g, e, J, i, k)
                    if ANGLED:
                        if FACES:
                            d = w0 * T[g, 0] + w1 * T[g, 1] + w2 * T[g, 2]
                            w0, w1, w2 = w0 - d * T[g, 0], w1 - d * T[g, 1], w2 - d * T[g, 2]
                        s = L
                        if SLIDES and SLIDE[i] != 0:
                            s = ZERO
                        J[i, k + AFTER], J[i, k + AFTER + 1], J[i, k + AFTER + 2] = s * w0, s * w1, s * w2

    return columns


def cholesky(m: int, real: Any, jit: Callable[[Any], Any]) -> Any:
    """A leaf ``solve(A, y, λ)``: y ← (A + λ I)⁻¹ y. The lower half of A is overwritten, its diagonal by inverse roots."""
    ZERO, ONE, TINY = real(0), real(1), real(LEAST_PIVOT)

    @jit
    def solve(A: Any, y: Any, damping: Any) -> None:
        for i in range(m):
            for j in range(i):
                s = A[i, j]
                for k in range(j):
                    s -= A[i, k] * A[j, k]
                A[i, j] = s * A[j, j]
            s = A[i, i] + damping
            for k in range(i):
                s -= A[i, k] * A[i, k]
            A[i, i] = ONE / math.sqrt(max(s, TINY))
        for i in range(m):
            s = y[i]
            for k in range(i):
                s -= A[i, k] * y[k]
            y[i] = s * A[i, i]
        for back in range(m):
            i = m - 1 - back
            s = y[i] + ZERO
            for k in range(i + 1, m):
                s -= A[k, i] * y[k]
            y[i] = s * A[i, i]

    return solve
