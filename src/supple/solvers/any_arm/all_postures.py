"""All postures of an arm of six hinges, by as many eliminations as it takes until those of two angles agree.

An elimination gives the values that one angle may have. Each is compared with the postures that are known; those that none of
them explains are unfolded, from the kernel of the matrix, and polished on the arm. An elimination has all if its zeros are
single and sure, each belongs to a posture, and each posture to one of its zeros. Two with all, of different angles, agree.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.triples import by_columns, cross, dot, perpendicular, turned
from supple.kernels.compiling import entry, leaf, row, stage, table
from supple.solvers.any_arm.circle import find_series, zeros_on_circle
from supple.solvers.any_arm.pencil import (
    CONSTANT,
    EIGHT,
    EQUATIONS,
    WIDTH,
    axis,
    both_sides,
    cut_chain,
    factored,
    fill,
    reflected,
    six_equations,
    solve_factored,
)
from supple.solvers.any_arm.rows_of_elimination import (
    CHAIN,
    COSINES,
    COUNT,
    KERNEL,
    KNOWN,
    LEFT,
    MATRIX,
    MOST,
    POSTURE,
    ROWS_CHANGED,
    SAMPLES,
    SIDES,
    SIX,
    SIZE,
    SOLVED,
    SURE,
    TOLD,
    VALUES,
    WAYS,
    ZEROS,
)
from supple.solvers.closed_forms.axes import HINGES
from supple.solvers.closed_forms.closed_form import is_new, polished
from supple.solvers.closed_forms.rows_of_arms import BEST, MOTION

TWO_PI = 2.0 * math.pi
SAME = 1e-5  # [rad] by which a zero may be off the angle of its posture
REVERSED, CUT, HINGE, SWAPPED = range(4)  # of a way
AGREEING = 1000  # in the answer: times how many agree


@leaf
def off_by(x: float, y: float) -> float:
    """The difference of two angles without whole turns."""
    off = (x - y) / TWO_PI
    return abs(off - math.floor(off + 0.5)) * TWO_PI


@leaf
def half_angle(low: float, both: float, high: float) -> float:
    """The angle whose half has the tangent that one part of a kernel is of another."""
    return 2.0 * (math.atan2(both, low) if low >= high else math.atan2(high, both))


@stage
def unfold(scratch: Any, memory: Any, swapped: bool, t: float, v: Any, q: Any) -> None:
    """All angles of the cut chain, from the third and a kernel."""
    chain, sides = table(memory, CHAIN, HINGES, HINGES), table(memory, SIDES, EQUATIONS, WIDTH)
    y = row(memory, SOLVED, SIZE)
    low = both = high = 0.0
    for j in range(KNOWN):
        low, both, high = low + v[j] * v[j], both + v[j] * v[3 + j], high + v[3 + j] * v[3 + j]
    q4 = half_angle(low, both, high)
    low = both = high = 0.0
    for w in range(4):
        a0, a1, a2 = v[3 * w], v[3 * w + 1], v[3 * w + 2]
        low, both, high = low + a0 * a0 + a1 * a1, both + a0 * a1 + a1 * a2, high + a1 * a1 + a2 * a2
    q5 = half_angle(low, both, high)
    q4, q5 = (q5, q4) if swapped else (q4, q5)
    c3, s3, c4, s4, c5, s5 = math.cos(t), math.sin(t), math.cos(q4), math.sin(q4), math.cos(q5), math.sin(q5)
    for i in range(EIGHT):
        x = -sides[i, CONSTANT]
        for m in range(3):
            e, f = row(sides[i], EIGHT + KNOWN * m, KNOWN), 1.0 if m == 0 else (c3 if m == 1 else s3)
            one, c, s = e[0] + c5 * e[1] + s5 * e[2], e[3] + c5 * e[4] + s5 * e[5], e[6] + c5 * e[7] + s5 * e[8]
            x += f * (one + c4 * c + s4 * s)
        y[i] = x
    for k in range(EIGHT - 1, -1, -1):
        x = y[k]
        for j in range(k + 1, EIGHT):
            x -= sides[k, j] * y[j]
        y[k] = x / sides[k, k] if abs(sides[k, k]) > 1e-14 else 0.0
    q[0], q[1], q[2], q[3], q[4] = math.atan2(y[1], y[0]), math.atan2(y[5], y[2]), t, q4, q5
    h = axis(chain, 5)
    e = perpendicular(h)
    a = by_columns(scratch, MOTION, e)
    for j in range(HINGES - 1):
        a = turned(axis(chain, j), math.cos(q[j]), -math.sin(q[j]), a)
    q[5] = math.atan2(dot(a, cross(h, e)), dot(a, e))


@leaf
def other_direction(M: Any, changed: Any, v: Any, u: Any) -> None:
    """Of what is nearly in the kernel, the direction across v, into u."""
    for j in range(SIZE):
        u[j] = 1.0 if j % 2 == 0 else -0.7
    for _ in range(3):
        solve_factored(M, changed, u)
        p = d = 0.0
        for j in range(SIZE):
            p += u[j] * v[j]
            d += v[j] * v[j]
        for j in range(SIZE):
            u[j] -= p / d * v[j]


@stage
def posture_at(way: Any, arm: Any, target: Any, scratch: Any, memory: Any, t: float, out: Any, n: int) -> bool:
    """A posture that is not yet among the first n rows of out, at a zero, into row n; whether there is one."""
    M, changed, six = table(memory, MATRIX, SIZE, SIZE), row(memory, ROWS_CHANGED, SIZE), table(memory, SIX, 3, 54)
    v, u, q = row(memory, KERNEL, SIZE), row(memory, KERNEL + SIZE, SIZE), row(memory, POSTURE, SIZE)
    fill(six, math.cos(t), math.sin(t), M)
    factored(M, changed)
    for j in range(SIZE):
        v[j] = 1.0 - 0.1 * j
    solve_factored(M, changed, v)
    solve_factored(M, changed, v)
    for look in range(2):
        if look == 1:
            other_direction(M, changed, v, u)
        unfold(scratch, memory, way[SWAPPED] != 0, t, v if look == 0 else u, q)
        for j in range(HINGES):
            k = (j + way[CUT]) % HINGES
            out[n, HINGES - 1 - k if way[REVERSED] != 0 else k] = q[j]
        if polished(arm, out[n], target, scratch, scratch[BEST]) and is_new(out, n):
            for j in range(HINGES):
                x = out[n, j] / TWO_PI
                out[n, j] = TWO_PI * (x - math.floor(x + 0.5))
            return True
    return False


@stage
def zeros_of_way(way: Any, arm: Any, target: Any, scratch: Any, memory: Any, zeros: Any) -> tuple[int, bool]:
    """The zeros of one elimination, and whether they are sure."""
    M, changed, six = table(memory, MATRIX, SIZE, SIZE), row(memory, ROWS_CHANGED, SIZE), table(memory, SIX, 3, 54)
    cut_chain(arm, target, way[REVERSED] != 0, way[CUT], scratch, memory)
    both_sides(scratch, memory)
    reflected(memory)
    six_equations(memory, way[SWAPPED] != 0)
    for i in range(SAMPLES):
        fill(six, memory[COSINES + i], memory[COSINES + SAMPLES + i], M)
        memory[VALUES + i] = factored(M, changed)
    find_series(memory)
    return zeros_on_circle(memory, zeros)


@leaf
def explained(t: float, left: int, out: Any, n: int) -> bool:
    """Whether a posture has this value of an angle."""
    found = False
    for i in range(n):
        found = found or off_by(out[i, left], t) < SAME
    return found


@leaf
def has_all(told: Any, zeros: Any, out: Any, n: int) -> bool:
    """Whether each posture belongs to a zero of an elimination, each with one of its own."""
    if told[SURE] == 0.0 or int(told[COUNT]) != n:
        return False
    for i in range(n):
        own = False
        for k in range(int(told[COUNT])):
            own = own or off_by(out[i, int(told[LEFT])], zeros[k]) < SAME
        if not own:
            return False
    return True


@entry
def all_postures(ways: Any, arm: Any, target: Any, scratch: Any, memory: Any, out: Any, enough: int) -> int:
    """All postures into the rows of out; their number, and `AGREEING` times the number of angles that agree.

    `ways` (k, 4): whether the arm is taken reversed, the cut, the hinge whose angle is left, and if it is `swapped`.
    """
    told, zeros = table(memory, TOLD, WAYS, 3), table(memory, ZEROS, WAYS, MOST)
    n = agreed = 0
    for w in range(ways.shape[0]):
        count, sure = zeros_of_way(ways[w], arm, target, scratch, memory, zeros[w])
        left = ways[w, HINGE]
        for k in range(count):
            if not explained(zeros[w, k], left, out, n):
                room = n + 1 < out.shape[0]
                if room and posture_at(ways[w], arm, target, scratch, memory, zeros[w, k], out, n):
                    n += 1
                else:
                    sure = False
        told[w, COUNT], told[w, SURE], told[w, LEFT] = count, 1.0 if sure else 0.0, left
        agreed = 0
        seen = 0
        for i in range(w + 1):
            bit = 1 << int(told[i, LEFT])
            if seen & bit == 0 and has_all(told[i], zeros[i], out, n):
                agreed += 1
                seen |= bit
        if agreed >= enough:
            break
    return n + AGREEING * agreed
