"""One level of a differential step, in the letters of `differential`.

**Held coordinates.** For a set of coordinates held at their bounds the rest is a problem of least norm: with
``y_i = √D_i (x_i − z_i)`` and s = b − A x,

    minimise |y|² + |s|²   subject to   [C E 0; A E I] (y, s) = (C (x′ − z), b − A z),    E = diag(D_i^−½),

solved by Householder reflections of the rows, which square no condition number; rows of C that depend on earlier ones are
left out. Its multipliers w give the slope ``D_i (x_i − z_i) − (C, A)_i · w`` of every held coordinate, whose sign says
whether it is held rightly.

**Which are held.** A primal active set: walk from a point inside to the minimum over the free coordinates until a bound is met
and hold that one, or, at the minimum, release the one that presses inwards most. The problem is strictly convex, so what ends
with all signs right is the one minimum; whenever the loop ends, the step is inside the box and disturbs no level before. If
the first level's first walk is stopped, some sweeps of coordinate descent guess at once which coordinates end at a bound.

**What is left to later levels.** At the minimum of a level with slopes g, every x in the box with C x = C x′ and A x = A x′ has
``Σ_held g_i (x_i − x′_i) = Σ_j D_j (x′_j − z_j)(x_j − x′_j)``, and no term on the left is negative. So a held coordinate i
moves by at most ``Σ_j D_j |x′_j − z_j| (upper_j − lower_j) / |g_i|``. Where that is next to nothing it is held for good.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from supple.kernels.algebra.least_norm import Equations, least_norm
from supple.kernels.compiling import leaf
from supple.kernels.layouts import PROBLEM
from supple.kernels.opening import Scratch, of
from supple.kernels.scratch import EVALUATION

SWEEPS = 10  # over the coordinates, to guess which are held
SLACK = 1e-10  # an aim that is past a bound by less than this does not stop there: rounding would turn in circles
NOISE = 1e-14  # a slope smaller than this part of the sum of its terms' sizes has no sign
LITTLE = 1e-7  # a coordinate that later levels could move by less than this part of its way is held for good
FREE, LOCKED = 0.0, 2.0  # in `held`; −1 and 1 are held at the lower and the upper bound


class StepScratch(NamedTuple):
    """What a step writes down on its way; rows are the residuals in the order of the plan."""

    evaluation: Any = of(EVALUATION)
    lower: Any = of("COORDINATES")  # of the step
    upper: Any = of("COORDINATES")
    x: Any = of("COORDINATES")  # the step
    aim: Any = of("COORDINATES")  # the minimum over the free coordinates
    held: Any = of("COORDINATES")
    D: Any = of("COORDINATES")
    z: Any = of("COORDINATES")
    c: Any = of("COORDINATES")  # weights of the level's posture goals
    rho: Any = of("RESIDUALS")
    wanted: Any = of("RESIDUALS")  # the right-hand side of each row: b, then what was reached
    J: Any = of("RESIDUALS", "COORDINATES")
    B: Any = of("RESIDUALS", "COORDINATES + RESIDUALS")  # and so on: `least_norm.Equations`
    w: Any = of("RESIDUALS")
    corner: Any = of("RESIDUALS")
    y: Any = of(1, "COORDINATES + RESIDUALS")
    front: Any = of("RESIDUALS")
    beta: Any = of("RESIDUALS")
    place: Any = of("RESIDUALS")


STEP = Scratch(StepScratch, PROBLEM)
open_step = STEP.open


@leaf
def fill(s: Any, order: Any, first: int, last: int) -> int:
    """The rows ``[C E 0; A E I]`` over the free coordinates, what they should give in w, and their whole lengths in `corner`.

    Returns the number of free coordinates.
    """
    free, n = 0, s.x.shape[0]
    for i in range(n):
        free += 1 if s.held[i] == FREE else 0
    for a in range(last):
        r, k, square = order[a], 0, 0.0
        s.w[a] = s.wanted[a]
        for i in range(n):
            v = s.J[r, i] / math.sqrt(s.D[i])
            square += v * v
            s.w[a] -= s.J[r, i] * (s.z[i] if s.held[i] == FREE else s.x[i])
            if s.held[i] == FREE:
                s.B[a, k] = v
                k += 1
        for b in range(first, last):
            s.B[a, free + b - first] = 1.0 if a == b else 0.0
        s.corner[a] = math.sqrt(square)
    return free


@leaf
def pressing(s: Any, order: Any, last: int, i: int, noise: float) -> float:
    """By how much a held coordinate presses inwards, away from its bound; 0 if it does not."""
    slope = s.D[i] * (s.x[i] - s.z[i])
    size = abs(slope)
    for a in range(last):
        slope -= s.J[order[a], i] * s.w[a]
        size += abs(s.J[order[a], i] * s.w[a])
    push = slope * s.held[i] / math.sqrt(s.D[i])
    return push if push > noise * size / math.sqrt(s.D[i]) else 0.0


@leaf
def stacked(s: Any, order: Any, a: int) -> float:
    """What row a gives for x."""
    total = 0.0
    for i in range(s.x.shape[0]):
        total += s.J[order[a], i] * s.x[i]
    return total


@leaf
def sweep_first_level(s: Any, order: Any, last: int) -> None:
    """One coordinate of the first level after the other is minimised, some times over; those that end at a bound are held."""
    x, held, r = s.x, s.held, s.front
    for a in range(last):
        r[a] = stacked(s, order, a) - s.wanted[a]
    for _ in range(SWEEPS):
        for i in range(x.shape[0]):
            if held[i] == LOCKED:
                continue
            slope, curve = s.D[i] * (x[i] - s.z[i]), s.D[i]
            for a in range(last):
                v = s.J[order[a], i]
                slope += v * r[a]
                curve += v * v
            to = min(max(x[i] - slope / curve, s.lower[i]), s.upper[i])
            for a in range(last):
                r[a] += s.J[order[a], i] * (to - x[i])
            x[i] = to
            held[i] = -1.0 if to == s.lower[i] else (1.0 if to == s.upper[i] else FREE)


@leaf
def solve_free(s: Any, order: Any, first: int, last: int) -> None:
    """The minimum over the free coordinates into `aim`, and the multipliers of the rows into w."""
    free = fill(s, order, first, last)
    least_norm(Equations(s.B, s.w, s.corner, s.y, s.front, s.beta, s.place), last, first, free + last - first)
    free = 0
    for i in range(s.x.shape[0]):
        if s.held[i] == FREE:
            s.aim[i] = s.z[i] + s.y[0, free] / math.sqrt(s.D[i])
            free += 1


@leaf
def walk_to_bound(lower: Any, upper: Any, x: Any, aim: Any, held: Any) -> int:
    """Go from x towards the aim as far as the box allows, and hold the coordinate that stopped the way; which, or −1."""
    part, stop = 1.0, -1
    for i in range(x.shape[0]):
        if held[i] == FREE and (aim[i] < lower[i] - SLACK or aim[i] > upper[i] + SLACK):
            way = ((lower[i] if aim[i] < lower[i] else upper[i]) - x[i]) / (aim[i] - x[i])
            if way < part:
                part, stop = way, i
    for i in range(x.shape[0]):
        if held[i] == FREE:
            x[i] = min(max(x[i] + part * (aim[i] - x[i]) if stop >= 0 else aim[i], lower[i]), upper[i])
    if stop >= 0:
        held[stop] = -1.0 if aim[stop] < lower[stop] else 1.0
        x[stop] = lower[stop] if aim[stop] < lower[stop] else upper[stop]
    return stop


@leaf
def pressing_most(s: Any, order: Any, last: int, cautious: bool) -> int:
    """The coordinate to release: the one that presses inwards most, or, against turning in circles, the first that surely does.

    Returns which one, or −1.
    """
    noise = 1e4 * NOISE if cautious else NOISE
    most, worst = 0.0, -1
    for i in range(s.x.shape[0]):
        if s.held[i] != FREE and s.held[i] != LOCKED and not (cautious and worst >= 0):
            push = pressing(s, order, last, i, noise)
            if push > most:
                most, worst = push, i
    return worst


@leaf
def lock(s: Any, order: Any, last: int) -> None:
    """Take from later levels what posture goals weigh, and what could move by next to nothing (see above)."""
    play, x, held = 0.0, s.x, s.held
    for i in range(x.shape[0]):
        if s.c[i] > 0.0:
            held[i] = LOCKED
        if held[i] != LOCKED and x[i] != s.z[i]:
            play += s.D[i] * abs(x[i] - s.z[i]) * (s.upper[i] - s.lower[i])
    for i in range(x.shape[0]):
        if held[i] != LOCKED and held[i] != FREE:
            slope = s.D[i] * (x[i] - s.z[i])
            for a in range(last):
                slope -= s.J[order[a], i] * s.w[a]
            if -slope * held[i] * LITTLE * (s.upper[i] - s.lower[i]) > play:
                held[i] = LOCKED


@leaf
def minimise_level(s: Any, order: Any, first: int, last: int, level: int) -> int:
    """The primal active set on rows first … last − 1 of a level, those before held; returns the factorisations."""
    n, turns, freed, side = s.x.shape[0], 0, -1, FREE
    going = True
    while going and turns < 4 * n + 8:
        turns += 1
        solve_free(s, order, first, last)
        stop = walk_to_bound(s.lower, s.upper, s.x, s.aim, s.held)
        if stop >= 0 and stop == freed and s.held[stop] == side:
            s.held[stop] = LOCKED  # it pressed inwards by rounding alone
        if stop >= 0 and level == 0 and turns == 1:
            sweep_first_level(s, order, last)
        freed = -1
        if stop < 0:
            freed = pressing_most(s, order, last, turns > 2 * n + 8)
            going = freed >= 0
        if freed >= 0:
            side, s.held[freed] = s.held[freed], FREE
    return turns
