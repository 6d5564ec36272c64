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

from supple.kernels.compiling import leaf, row, stage, table
from supple.kernels.jacobian import locate
from supple.kernels.kinds import AT, TURN
from supple.kernels.layouts import FRAME, FRAME_ROW, KIND, NO_ROW, REFERENCE_ROW, SCALE, TARGET_AT, WEIGHT
from supple.kernels.tables import open_evaluation, open_tasks
from supple.kernels.tree import open_tree, see

NEARBY = 0.2  # goals this near, in units of their own spread, are near enough
SQUARINGS = 12  # the gap between eigenvalues grows to its 4096th power


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


@leaf
def counts(tasks: Any, k: int) -> bool:
    """Whether term k is a point or a frame in the world that the root carries."""
    kind = tasks.term[k, KIND]
    return tasks.term[k, FRAME_ROW] > 0 and tasks.term[k, REFERENCE_ROW] == NO_ROW and (kind == AT or kind == TURN)


@leaf
def correlate(tasks: Any, work: Any, T: Any, centre: Any, wanted: Any, H: Any) -> Any:
    """H, the centres x̄ and ȳ; returns the weight and number of points, how far they are off, and how far goals spread."""
    X = work.seen
    total, points = 0.0, 0
    far, spread = 0.0, 0.0
    for i in range(3):
        centre[i] = wanted[i] = 0.0
        for j in range(3):
            H[i, j] = 0.0
    for turn in range(2):  # the centres first, then what is about them
        for k in range(tasks.term.shape[0]):
            if not counts(tasks, k):
                continue
            t, is_point, w = tasks.term[k, TARGET_AT], tasks.term[k, KIND] == AT, tasks.number[k, WEIGHT]
            see(work.world, tasks.term[k, FRAME_ROW], tasks.number[k], FRAME, X)
            v = 0.5 * w * tasks.number[k, SCALE] * tasks.number[k, SCALE]
            total += w if is_point and turn == 0 else 0.0
            points += 1 if is_point and turn == 0 else 0
            for i in range(3):
                if is_point and turn == 0:
                    centre[i] += w * X[i]
                    wanted[i] += w * T[t + i]
                elif is_point:
                    y = T[t + i] - wanted[i]
                    spread += w * y * y
                    far += w * (X[i] - T[t + i]) * (X[i] - T[t + i])
                    for j in range(3):
                        H[i, j] += w * y * (X[j] - centre[j])
                elif turn == 1:
                    for j in range(3):
                        for c in range(3):
                            H[i, j] += v * T[t + 3 * i + c] * X[3 + 3 * c + j]
        for i in range(3):
            if turn == 0 and total > 0.0:
                centre[i] /= total
                wanted[i] /= total
    return total, points, far, spread


@leaf
def turn_offset(W: Any, R: Any, O: Any, p: Any) -> None:
    """``O ← Bᵀ R B O`` for the offset O of the root's chart, B the rotation of the frame that it hangs on."""
    for j in range(3):
        for i in range(3):
            p[i] = W[3, 3 * i] * O[j] + W[3, 3 * i + 1] * O[3 + j] + W[3, 3 * i + 2] * O[6 + j]
        a, b, c = p[0], p[1], p[2]
        for i in range(3):
            p[i] = R[3 * i] * a + R[3 * i + 1] * b + R[3 * i + 2] * c
        for i in range(3):
            O[3 * i + j] = W[3, i] * p[0] + W[3, 3 + i] * p[1] + W[3, 6 + i] * p[2]


@stage
def align(I: Any, F: Any, scratch: Any, T: Any, q: Any, timid: bool) -> bool:
    """Move the free root so that the goals fit best, joints as they are; whether it was moved.

    If `timid`, only where three points or more are further from their goals than `NEARBY` times the goals' own spread.

    The first three joints slide without limits along axes at right angles, and carry the first chart: its turn goes into the
    offset in F, which must be the caller's own.
    """
    locate(I, F, scratch, q)
    tree = open_tree(I, F)
    tasks = open_tasks(I, F)
    work = open_evaluation(I, scratch)
    W, mixed = work.world, work.mixed
    H, N, M = table(mixed, 0, 3, 3), table(mixed, 9, 4, 4), table(mixed, 25, 4, 4)
    R, p = row(mixed, 41, 9), row(mixed, 50, 3)
    centre, wanted = row(mixed, 53, 3), row(mixed, 56, 3)
    total, points, far, spread = correlate(tasks, work, T, centre, wanted, H)
    if timid and (points < 3 or far < NEARBY * NEARBY * spread):
        return False
    turned = best_turn(H, N, M, R)
    if turned:
        turn_offset(W, R, tree.offset[3], p)
    for i in range(9):
        if not turned:
            R[i] = 1.0 if i % 4 == 0 else 0.0
    if total > 0.0:
        d0, d1, d2 = W[3, 9] - centre[0], W[3, 10] - centre[1], W[3, 11] - centre[2]
        for i in range(3):
            p[i] = R[3 * i] * d0 + R[3 * i + 1] * d1 + R[3 * i + 2] * d2 + wanted[i] - W[3, 9 + i]
        for j in range(3):
            v0, v1, v2 = W[j + 1, 15], W[j + 1, 16], W[j + 1, 17]
            q[tree.coordinate[j]] += (v0 * p[0] + v1 * p[1] + v2 * p[2]) / (v0 * v0 + v1 * v1 + v2 * v2)
    return turned or total > 0.0
