"""The twelve by twelve matrix of one angle, as kernels make it (the derivation is in `elimination`).

Both sides of the fourteen equations stand in one table: the eight products of the first two angles, the twenty-seven of the
other three, and the constant. Householder's reflections of the eight leave six rows without them, and the upper eight for the
way back.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.triples import by_columns, by_rows, minus, plus, put_triple, times, triple
from supple.kernels.compiling import leaf, row, stage, table
from supple.solvers.any_arm.lifted_lines import lift, shift, split, three
from supple.solvers.any_arm.rows_of_elimination import (
    CHAIN,
    KNOWN,
    LINE,
    LINES,
    PARTS,
    PRODUCTS,
    SIDES,
    SIX,
    SIZE,
)
from supple.solvers.closed_forms.axes import HINGES
from supple.solvers.closed_forms.closed_form import wanted_motion
from supple.solvers.closed_forms.rows_of_arms import MOTION, OWN_ALONG, OWN_THROUGH, SIZE as REACH

EQUATIONS, EIGHT, WIDTH, CONSTANT = 14, 8, 36, 35


@stage
def cut_chain(arm: Any, target: Any, backwards: bool, cut: int, scratch: Any, memory: Any) -> None:
    """The closed chain, cut behind a hinge, and its motion (in the scratch): lengths in parts of the reach."""
    scale, chain = 1.0 / arm[REACH, 0], table(memory, CHAIN, HINGES, HINGES)
    wanted_motion(arm, target, backwards, scratch)
    for j in range(HINGES):
        k = (j + cut) % HINGES
        own = HINGES - 1 - k if backwards else k
        h, p = triple(arm, OWN_ALONG + own), triple(arm, OWN_THROUGH + own)
        h = times(-1.0, h) if backwards else h
        if j + cut >= HINGES:
            h, p = by_rows(scratch, MOTION, h), by_rows(scratch, MOTION, minus(p, triple(scratch, MOTION + 3)))
        chain[j, 0], chain[j, 1], chain[j, 2] = h
        chain[j, 3], chain[j, 4], chain[j, 5] = times(scale, p)
    put_triple(scratch, MOTION + 3, times(scale, triple(scratch, MOTION + 3)))


@leaf
def axis(chain: Any, j: int) -> tuple[float, float, float]:
    """The direction of a hinge."""
    return three(chain[j], 0)


@leaf
def place_of(chain: Any, j: int) -> tuple[float, float, float]:
    """The point of a hinge."""
    return three(chain[j], 3)


@stage
def both_sides(scratch: Any, memory: Any) -> None:
    """The table of the fourteen equations."""
    chain, lines, parts = (
        table(memory, CHAIN, 6, 6),
        table(memory, LINES, PRODUCTS, LINE),
        table(memory, PARTS, 4, LINE),
    )
    sides = table(memory, SIDES, EQUATIONS, WIDTH)
    p1, p2, p3, p4, p5 = (
        place_of(chain, 0),
        place_of(chain, 1),
        place_of(chain, 2),
        place_of(chain, 3),
        place_of(chain, 4),
    )
    lift(minus(place_of(chain, 5), p5), axis(chain, 5), parts[0])
    split(parts[0], axis(chain, 4), 1.0, parts[1], parts[2], parts[3])
    for i in range(3):
        shift(parts[1 + i], minus(p4, p5))
        split(parts[1 + i], axis(chain, 3), 1.0, lines[i], lines[3 + i], lines[6 + i])
    for i in range(KNOWN):
        shift(lines[i], minus(p3, p4))
        for j in range(LINE):
            parts[0, j] = lines[i, j]
        split(parts[0], axis(chain, 2), 1.0, lines[i], lines[KNOWN + i], lines[2 * KNOWN + i])
    for k in range(PRODUCTS):
        for i in range(EQUATIONS):
            sides[i, EIGHT + k] = lines[k, i + 1]
    there = plus(by_columns(scratch, MOTION, place_of(chain, 5)), triple(scratch, MOTION + 3))
    lift(minus(there, p1), by_columns(scratch, MOTION, axis(chain, 5)), parts[0])
    split(parts[0], axis(chain, 0), -1.0, parts[1], parts[2], parts[3])
    for i in range(3):
        shift(parts[1 + i], minus(p2, p1))
        split(parts[1 + i], axis(chain, 1), -1.0, lines[i], lines[3 + i], lines[6 + i])
    for k in range(KNOWN):
        shift(lines[k], minus(p3, p2))
        for i in range(EQUATIONS):
            sides[i, CONSTANT if k == 0 else k - 1] = lines[k, i + 1]


@stage
def reflected(memory: Any) -> None:
    """Householder's reflections of the first eight columns, of the whole table."""
    sides = table(memory, SIDES, EQUATIONS, WIDTH)
    for k in range(EIGHT):
        square = 0.0
        for i in range(k, EQUATIONS):
            square += sides[i, k] * sides[i, k]
        size = math.sqrt(square)
        if size == 0.0:
            continue
        new = -size if sides[k, k] > 0.0 else size
        first = sides[k, k] - new
        f = -1.0 / (new * first)
        for j in range(k + 1, WIDTH):
            d = first * sides[k, j]
            for i in range(k + 1, EQUATIONS):
                d += sides[i, k] * sides[i, j]
            d *= f
            sides[k, j] -= d * first
            for i in range(k + 1, EQUATIONS):
                sides[i, j] -= d * sides[i, k]
        sides[k, k] = new


@stage
def six_equations(memory: Any, swapped: bool) -> None:
    """The six rows that are left, by powers of the tangents of half of the fourth and fifth angle, or the other way round."""
    sides, six = table(memory, SIDES, EQUATIONS, WIDTH), table(memory, SIX, 3, 54)
    most = 1e-300
    for m in range(3):
        for i in range(6):
            e, b = row(sides[EIGHT + i], EIGHT + KNOWN * m, KNOWN), row(six[m], KNOWN * i, KNOWN)
            for r in range(3):
                one, c, s = e[r], e[3 + r], e[6 + r]
                if m == 0 and r == 0:
                    one -= sides[EIGHT + i, CONSTANT]
                b[r], b[3 + r], b[6 + r] = one + c, 2.0 * s, one - c
            for w in range(3):
                one, c, s = b[3 * w], b[3 * w + 1], b[3 * w + 2]
                b[3 * w], b[3 * w + 1], b[3 * w + 2] = one + c, 2.0 * s, one - c
            if swapped:
                for r in range(3):
                    for w in range(r):
                        b[3 * r + w], b[3 * w + r] = b[3 * w + r], b[3 * r + w]
            for j in range(KNOWN):
                most = max(most, abs(b[j]))
    for m in range(3):
        for j in range(54):
            six[m, j] /= most


@leaf
def fill(six: Any, c: float, s: float, M: Any) -> None:
    """The matrix at an angle."""
    for i in range(6):
        for j in range(KNOWN):
            x = six[0, KNOWN * i + j] + c * six[1, KNOWN * i + j] + s * six[2, KNOWN * i + j]
            M[i, j] = x
            M[6 + i, 3 + j] = x
        for j in range(3):
            M[i, KNOWN + j] = M[6 + i, j] = 0.0


@stage
def factored(M: Any, changed: Any) -> float:
    """Triangular factors in place, rows exchanged; returns the determinant."""
    det = 1.0
    for k in range(SIZE):
        best = k
        for i in range(k + 1, SIZE):
            if abs(M[i, k]) > abs(M[best, k]):
                best = i
        changed[k] = best
        if M[best, k] == 0.0:
            M[k, k], det = 1e-300, 0.0
            continue
        if best != k:
            for j in range(SIZE):
                M[k, j], M[best, j] = M[best, j], M[k, j]
            det = -det
        det *= M[k, k]
        inverse = 1.0 / M[k, k]
        for i in range(k + 1, SIZE):
            f = M[i, k] * inverse
            M[i, k] = f
            if f != 0.0:
                for j in range(k + 1, SIZE):
                    M[i, j] -= f * M[k, j]
    return det


@stage
def solve_factored(M: Any, changed: Any, b: Any) -> None:
    """Solve in place, and scale to a largest entry of one."""
    for k in range(SIZE):
        j = int(changed[k])
        b[k], b[j] = b[j], b[k]
        for i in range(k + 1, SIZE):
            b[i] -= M[i, k] * b[k]
    most = 1e-300
    for k in range(SIZE - 1, -1, -1):
        x = b[k]
        for j in range(k + 1, SIZE):
            x -= M[k, j] * b[j]
        b[k] = x / (M[k, k] if abs(M[k, k]) > 1e-150 else 1e-150)
        most = max(most, abs(b[k]))
    for k in range(SIZE):
        b[k] /= most
