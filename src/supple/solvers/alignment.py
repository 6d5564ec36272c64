"""A figure with a free root, moved as a rigid body to where its goals fit best: a better start than a random place.

With the joints as they are, points x_k that should be at y_k (weights w_k) and frames R_j that should be turned like G_j
(weights v_j) are fitted by the rigid motion ``x → R x + t`` that minimises

    Σ w_k |R x_k + t − y_k|² + Σ v_j |R R_j − G_j|².

R is the rotation with the largest ``tr(Rᵀ H)``, ``H = Σ w_k (y_k − ȳ)(x_k − x̄)ᵀ + Σ v_j G_j R_jᵀ``; its quaternion belongs to
the largest eigenvalue of a symmetric 4 × 4 matrix (Horn 1987). The eigenvector is found by squaring the shifted matrix, which
takes no branch and no luck. Then ``t = ȳ − R x̄``. With ``v_j = ½ w_j c²`` the sum is G itself where all goals are of these two
kinds.
"""

from __future__ import annotations

import math
from typing import Any

from supple.compiled import leaf, row, stage, table
from supple.linear import locate
from supple.potentials import AT, FRAME, SCALE, TURN, WEIGHT
from supple.tree import read_tree, see
from supple.views import NO_ROW, read_tasks, read_work

SQUARINGS = 12  # the gap between eigenvalues grows to its 4096th power


@leaf
def add_pair(H: Any, i: int, y: float, w: float, x0: float, x1: float, x2: float) -> None:
    """``H[i] += w y x``."""
    H[i, 0] += w * y * x0
    H[i, 1] += w * y * x1
    H[i, 2] += w * y * x2


@leaf
def best_turn(H: Any, N: Any, M: Any, R: Any) -> bool:
    """The rotation with the largest ``tr(Rᵀ H)`` into R (9); False if H does not tell."""
    a, b, c = H[0, 0], H[1, 1], H[2, 2]
    N[0, 0], N[1, 1], N[2, 2] = a + b + c, a - b - c, b - a - c
    N[3, 3] = c - a - b
    N[0, 1], N[0, 2], N[0, 3] = H[2, 1] - H[1, 2], H[0, 2] - H[2, 0], H[1, 0] - H[0, 1]
    N[1, 2], N[1, 3], N[2, 3] = H[0, 1] + H[1, 0], H[0, 2] + H[2, 0], H[1, 2] + H[2, 1]
    shift = 0.0
    for i in range(4):
        for j in range(i):
            N[i, j] = N[j, i]
        for j in range(4):
            shift += abs(N[i, j])
    if not (shift > 1e-12 and shift < math.inf):
        return False
    for i in range(4):
        N[i, i] += shift
    for _ in range(SQUARINGS):
        trace = N[0, 0] + N[1, 1] + N[2, 2] + N[3, 3]
        for i in range(4):
            for j in range(4):
                s = 0.0
                for k in range(4):
                    s += N[i, k] * N[k, j]
                M[i, j] = s / (trace * trace)
        for i in range(4):
            for j in range(4):
                N[i, j] = M[i, j]
    k = 0
    for i in range(1, 4):
        k = i if N[i, i] > N[k, k] else k
    w, x = N[0, k], N[1, k]
    y, z = N[2, k], N[3, k]
    s = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    w, x = s * w, s * x
    y, z = s * y, s * z
    R[0], R[1], R[2] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
    R[3], R[4], R[5] = 2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)
    R[6], R[7], R[8] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
    return True


@stage
def align(I: Any, F: Any, scratch: Any, T: Any, q: Any, timid: bool) -> bool:
    """Move the free root so that the goals fit best, joints as they are; whether it was moved.

    If `timid`, only where three points or more are further from their goals than a tenth of the goals' own spread.

    The first three joints slide without limits along axes at right angles, and carry the first chart: its turn goes into the
    offset in F, which must be the caller's own.
    """
    locate(I, F, scratch, q)
    tree, a, f = read_tree(I, F)
    tasks, _ = read_tasks(I, F, a, f)
    work, _ = read_work(I, scratch)
    mixed, X = work.mixed, work.seen
    H, N, M = table(mixed, 0, 3, 3), table(mixed, 9, 4, 4), table(mixed, 25, 4, 4)
    R, p = row(mixed, 41, 9), row(mixed, 50, 3)
    W, O = work.world, tree.offset[3]
    far, spread, points = 0.0, 0.0, 0
    total, x0, x1 = 0.0, 0.0, 0.0
    x2, y0, y1 = 0.0, 0.0, 0.0
    y2 = 0.0
    for i in range(9):
        mixed[i] = 0.0
    for turn in range(2):  # the centres first, then what is about them
        for k in range(tasks.term.shape[0]):
            t, kind = tasks.term[k, 3], tasks.term[k, 0]
            if tasks.term[k, 1] <= 0 or tasks.term[k, 2] != NO_ROW or (kind != AT and kind != TURN):
                continue
            see(work.world, tasks.term[k, 1], tasks.number[k], FRAME, X)
            w = tasks.number[k, WEIGHT]
            if kind == AT and turn == 0:
                total, points = total + w, points + 1
                x0, x1, x2 = x0 + w * X[0], x1 + w * X[1], x2 + w * X[2]
                y0, y1, y2 = y0 + w * T[t], y1 + w * T[t + 1], y2 + w * T[t + 2]
            elif kind == AT:
                for i in range(3):
                    y = T[t + i] - (y0 if i == 0 else y1 if i == 1 else y2)
                    spread += w * y * y
                    far += w * (X[i] - T[t + i]) * (X[i] - T[t + i])
                    add_pair(H, i, y, w, X[0] - x0, X[1] - x1, X[2] - x2)
            elif turn == 1:
                w *= 0.5 * tasks.number[k, SCALE] * tasks.number[k, SCALE]
                for j in range(3):
                    for i in range(3):
                        add_pair(H, i, T[t + 3 * i + j], w, X[3 + 3 * j], X[4 + 3 * j], X[5 + 3 * j])
        if turn == 0 and total > 0.0:
            x0, x1, x2 = x0 / total, x1 / total, x2 / total
            y0, y1, y2 = y0 / total, y1 / total, y2 / total
    if timid and (points < 3 or far < 0.01 * spread):
        return False
    turned = best_turn(H, N, M, R)
    if turned:
        for j in range(
            3
        ):  # O ← Bᵀ R B O for the offset O of the root's chart, B the rotation of the frame that it hangs on
            for i in range(3):
                p[i] = W[3, 3 * i] * O[j] + W[3, 3 * i + 1] * O[3 + j] + W[3, 3 * i + 2] * O[6 + j]
            a0, a1, a2 = p[0], p[1], p[2]
            for i in range(3):
                p[i] = R[3 * i] * a0 + R[3 * i + 1] * a1 + R[3 * i + 2] * a2
            for i in range(3):
                O[3 * i + j] = W[3, i] * p[0] + W[3, 3 + i] * p[1] + W[3, 6 + i] * p[2]
    else:
        for i in range(9):
            R[i] = 1.0 if i == 0 or i == 4 or i == 8 else 0.0
    if total > 0.0:
        d0, d1, d2 = W[3, 9] - x0, W[3, 10] - x1, W[3, 11] - x2
        for i in range(3):
            p[i] = (
                R[3 * i] * d0
                + R[3 * i + 1] * d1
                + R[3 * i + 2] * d2
                + (y0 if i == 0 else y1 if i == 1 else y2)
                - W[3, 9 + i]
            )
        for j in range(3):
            v0, v1, v2 = W[j + 1, 15], W[j + 1, 16], W[j + 1, 17]
            q[tree.coordinate[j]] += (v0 * p[0] + v1 * p[1] + v2 * p[2]) / (v0 * v0 + v1 * v1 + v2 * v2)
    return turned or total > 0.0
