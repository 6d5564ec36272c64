"""How far two convex polyhedra are from each other, and how that changes when one of them moves.

Both are solids as `clearance` stores them, with their corners behind the edges (their number is the fourth of the head). The
first, A, stands in a frame X (position, then three axes) that is seen from the frame of the second, B. What is found is the
distance of the sharp polyhedra less both radii, the unit direction n from B to A, and a witness w: a twist (ω, v) of X
changes the distance by ``n·(ω × w + v)``.

**Apart.** The distance is that of the origin to ``A − B``, found by the method of Gilbert, Johnson and Keerthi (1988): of a
few differences of corners the point v nearest to the origin is kept, and the corner of ``A − B`` that lies farthest against
v is taken in, until none lies farther. ``v·w/|v|`` of that corner w is a lower bound of the distance all along, so a pair
that is far enough apart is left at once.

**Meeting.** The distance is minus the length of the shortest push that parts them. The faces of ``A − B`` are those of A,
those of B, and one for every edge of A and edge of B whose arcs of normals cross on the sphere; the push is along the normal
of the nearest of them. Every candidate is looked at, so there is nothing to converge, and no face to be kept in memory.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.clearance import EDGE, FACE, HEAD, PARALLEL, tables
from supple.kernels.compiling import leaf, stage
from supple.kernels.supports import farthest, turn_in, turn_out

POINTS, POINT = 6, 6  # where differences of corners begin in the scratch, and the numbers of one: a − b, then a
WEIGHTS = POINTS + 4 * POINT
MEETING = 1e-9  # polyhedra nearer than this [m] are looked at as if they met
EXACT = 1e-11  # how far above its lower bound a distance may be [m]
ROUNDS = 100


@leaf
def add_corner(S: Any, a: int, b: int, X: Any, v: Any, M: Any, n: int) -> float:
    """Write the corner of A − B that lies farthest against v as number n; how far it lies along v."""
    v0, v1, v2 = v
    l0, l1, l2 = turn_in(X, -v0, -v1, -v2)
    p0, p1, p2 = turn_out(X, S, farthest(S, a, l0, l1, l2))
    k, at = farthest(S, b, v0, v1, v2), POINTS + POINT * n
    M[at + 3], M[at + 4], M[at + 5] = X[0] + p0, X[1] + p1, X[2] + p2
    for i in range(3):
        M[at + i] = M[at + 3 + i] - S[k + i]
    return M[at] * v0 + M[at + 1] * v1 + M[at + 2] * v2


@leaf
def step_along(M: Any, i: int, j: int, k: int) -> float:
    """``(p_i − p_j)·p_k`` of three differences."""
    a, b, c = POINTS + POINT * i, POINTS + POINT * j, POINTS + POINT * k
    return (M[a] - M[b]) * M[c] + (M[a + 1] - M[b + 1]) * M[c + 1] + (M[a + 2] - M[b + 2]) * M[c + 2]


@leaf
def line_shares(M: Any, i: int, j: int) -> Any:
    """The shares of two differences in the point of their line that is nearest to the origin."""
    along = step_along(M, i, j, i)
    whole = along - step_along(M, i, j, j)
    t = min(max(along / whole, 0.0), 1.0) if whole > 0.0 else 0.0
    return 1.0 - t, t


@leaf
def triangle_shares(M: Any, i: int, j: int, k: int) -> Any:
    """The shares of three differences in the point of their triangle that is nearest to the origin."""
    d1, d2 = step_along(M, i, j, i), step_along(M, i, k, i)
    d3, d4 = step_along(M, i, j, j), step_along(M, i, k, j)
    d5, d6 = step_along(M, i, j, k), step_along(M, i, k, k)
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0
    vc, vb, va = d1 * d4 - d3 * d2, d5 * d2 - d1 * d6, d3 * d6 - d5 * d4
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return 1.0 - d1 / (d1 - d3), d1 / (d1 - d3), 0.0
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return 1.0 - d2 / (d2 - d6), 0.0, d2 / (d2 - d6)
    if va <= 0.0 and d4 >= d3 and d5 >= d6:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 0.0, 1.0 - t, t
    whole = va + vb + vc
    return va / whole, vb / whole, vc / whole


@leaf
def square_of(M: Any, i: int, j: int, k: int, shares: Any) -> float:
    """The squared length of a sum of three differences."""
    square, (x, y, z) = 0.0, shares
    for c in range(POINTS, POINTS + 3):
        p = x * M[c + POINT * i] + y * M[c + POINT * j] + z * M[c + POINT * k]
        square += p * p
    return square


@leaf
def behind(M: Any, i: int, j: int, k: int, m: int) -> bool:
    """Whether the origin lies surely on the side of the plane of three differences on which the fourth is."""
    a, b, c, d = POINTS + POINT * i, POINTS + POINT * j, POINTS + POINT * k, POINTS + POINT * m
    u0, u1, u2 = M[b] - M[a], M[b + 1] - M[a + 1], M[b + 2] - M[a + 2]
    w0, w1, w2 = M[c] - M[a], M[c + 1] - M[a + 1], M[c + 2] - M[a + 2]
    n0, n1, n2 = u1 * w2 - u2 * w1, u2 * w0 - u0 * w2, u0 * w1 - u1 * w0
    here = -(n0 * M[a] + n1 * M[a + 1] + n2 * M[a + 2])
    there = n0 * (M[d] - M[a]) + n1 * (M[d + 1] - M[a + 1]) + n2 * (M[d + 2] - M[a + 2])
    return here * there > 0.0


@leaf
def tetrahedron_shares(M: Any) -> bool:
    """The shares of four differences, written down; True if the origin is inside all of them."""
    least, whose, best = math.inf, 0, (1.0, 0.0, 0.0)
    inside = True
    for m in range(4):
        i, j, k = (m + 1) % 4, (m + 2) % 4, (m + 3) % 4
        if not behind(M, i, j, k, m):
            inside = False
            shares = triangle_shares(M, i, j, k)
            square = square_of(M, i, j, k, shares)
            if square < least:
                least, whose, best = square, m, shares
    M[WEIGHTS + whose] = 0.0
    M[WEIGHTS + (whose + 1) % 4], M[WEIGHTS + (whose + 2) % 4], M[WEIGHTS + (whose + 3) % 4] = best
    return inside


@leaf
def nearest_of(M: Any, n: int) -> int:
    """Weigh n differences by the point nearest to the origin and keep those that count, first; how many, 0 if it is inside."""
    if n == 1:
        M[WEIGHTS] = 1.0
    elif n == 2:
        M[WEIGHTS], M[WEIGHTS + 1] = line_shares(M, 0, 1)
    elif n == 3:
        M[WEIGHTS], M[WEIGHTS + 1], M[WEIGHTS + 2] = triangle_shares(M, 0, 1, 2)
    elif tetrahedron_shares(M):
        return 0
    kept = 0
    for i in range(n):
        if M[WEIGHTS + i] > 0.0:
            M[WEIGHTS + kept] = M[WEIGHTS + i]
            for c in range(POINT):
                M[POINTS + POINT * kept + c] = M[POINTS + POINT * i + c]
            kept += 1
    return kept


@leaf
def weighed(M: Any, n: int, part: int) -> Any:
    """The weighed sum of n differences, or with `part` 3 of their corners of A."""
    x = y = z = 0.0
    for i in range(n):
        w, at = M[WEIGHTS + i], POINTS + POINT * i + part
        x, y, z = x + w * M[at], y + w * M[at + 1], z + w * M[at + 2]
    return x, y, z


@leaf
def push_by_faces(S: Any, a: int, b: int, X: Any, M: Any) -> float:
    """The greatest distance by which a face of A or of B parts the two (below 0: not at all); direction and witness."""
    most = -math.inf
    for i in range(int(S[a])):
        at = a + HEAD + FACE * i
        n0, n1, n2 = turn_out(X, S, at)
        k = farthest(S, b, -n0, -n1, -n2)
        d = n0 * (S[k] - X[0]) + n1 * (S[k + 1] - X[1]) + n2 * (S[k + 2] - X[2]) - S[at + 3]
        if d > most:
            most = d
            M[0], M[1], M[2], M[3], M[4], M[5] = -n0, -n1, -n2, S[k], S[k + 1], S[k + 2]
    for i in range(int(S[b])):
        at = b + HEAD + FACE * i
        l0, l1, l2 = turn_in(X, -S[at], -S[at + 1], -S[at + 2])
        p0, p1, p2 = turn_out(X, S, farthest(S, a, l0, l1, l2))
        p0, p1, p2 = X[0] + p0, X[1] + p1, X[2] + p2
        d = S[at] * p0 + S[at + 1] * p1 + S[at + 2] * p2 - S[at + 3]
        if d > most:
            most = d
            M[0], M[1], M[2], M[3], M[4], M[5] = S[at], S[at + 1], S[at + 2], p0, p1, p2
    return most


@leaf
def write_edges(n: Any, p: Any, e: Any, S: Any, at: int, M: Any) -> None:
    """Direction and witness of two edges that cross: the point of the line p + t e of A next to the edge of B at `at`."""
    (n0, n1, n2), (e0, e1, e2) = n, e
    r0, r1, r2 = S[at] - p[0], S[at + 1] - p[1], S[at + 2] - p[2]
    f0, f1, f2 = S[at + 3], S[at + 4], S[at + 5]
    c = e0 * f0 + e1 * f1 + e2 * f2
    t = ((r0 * e0 + r1 * e1 + r2 * e2) - c * (r0 * f0 + r1 * f1 + r2 * f2)) / (1.0 - c * c)
    M[0], M[1], M[2] = -n0, -n1, -n2
    M[3], M[4], M[5] = p[0] + t * e0, p[1] + t * e1, p[2] + t * e2


@leaf
def push_by_edges(S: Any, a: int, b: int, X: Any, most: float, M: Any) -> float:
    """The same over all edges of A and B whose arcs of normals cross, where that is more than `most`."""
    faces, edges, pairs = tables(S, a)
    faces_b, edges_b, pairs_b = tables(S, b)
    for i in range(int(S[a + 1])):
        e0, e1, e2 = turn_out(X, S, edges + EDGE * i + 3)
        f0, f1, f2 = turn_out(X, S, faces + FACE * int(S[pairs + 2 * i]))
        g0, g1, g2 = turn_out(X, S, faces + FACE * int(S[pairs + 2 * i + 1]))
        p0, p1, p2 = turn_out(X, S, edges + EDGE * i)
        p0, p1, p2 = X[0] + p0, X[1] + p1, X[2] + p2
        for j in range(int(S[b + 1])):
            at = edges_b + EDGE * j
            h0, h1, h2 = S[at + 3], S[at + 4], S[at + 5]
            ours, theirs = f0 * h0 + f1 * h1 + f2 * h2, g0 * h0 + g1 * h1 + g2 * h2
            if ours * theirs >= 0.0:
                continue
            c, d = faces_b + FACE * int(S[pairs_b + 2 * j]), faces_b + FACE * int(S[pairs_b + 2 * j + 1])
            first = S[c] * e0 + S[c + 1] * e1 + S[c + 2] * e2
            if first * (S[d] * e0 + S[d + 1] * e1 + S[d + 2] * e2) >= 0.0 or first * theirs >= 0.0:
                continue
            n0, n1, n2 = e1 * h2 - e2 * h1, e2 * h0 - e0 * h2, e0 * h1 - e1 * h0
            square = n0 * n0 + n1 * n1 + n2 * n2
            if square > PARALLEL:
                out = n0 * (f0 + g0) + n1 * (f1 + g1) + n2 * (f2 + g2)
                scale = (1.0 if out > 0.0 else -1.0) / math.sqrt(square)
                n0, n1, n2 = scale * n0, scale * n1, scale * n2
                d0, d1, d2 = S[at] - p0, S[at + 1] - p1, S[at + 2] - p2
                depth = n0 * d0 + n1 * d1 + n2 * d2
                if depth > most:
                    most = depth
                    write_edges((n0, n1, n2), (p0, p1, p2), (e0, e1, e2), S, at, M)
    return most


@stage
def hull_gap(S: Any, a: int, b: int, X: Any, enough: float, M: Any) -> float:
    """The signed distance [m] of the solids at S[a], which stands in X, and S[b]; NaN if X is.

    Writes the direction (M[0:3]) and the witness (M[3:6]). As soon as the distance is known to be above `enough`, a lower
    bound that is above it is returned, with the direction in which it was found, and no witness.
    """
    sound = 0.0
    for i in range(12):
        sound += X[i]
    if not abs(sound) < math.inf:
        return math.nan
    radii = S[a + 2] + S[b + 2]
    v0, v1, v2 = X[0], X[1], X[2]
    add_corner(S, a, b, X, (v0, v1, v2), M, 0)
    n, last, length = 1, math.inf, 0.0
    M[WEIGHTS] = 1.0
    for _ in range(ROUNDS):
        v0, v1, v2 = weighed(M, n, 0)
        square = v0 * v0 + v1 * v1 + v2 * v2
        length = math.sqrt(square)
        if length <= MEETING:
            n = 0
            break
        bound = add_corner(S, a, b, X, (v0, v1, v2), M, n)
        if bound > (enough + radii) * length and bound > 0.0:
            M[0], M[1], M[2] = v0 / length, v1 / length, v2 / length
            return bound / length - radii
        if square - bound <= EXACT * length or square >= last:
            break
        last = square
        n = nearest_of(M, n + 1)
        if n == 0:
            break
    if n == 0:
        return push_by_edges(S, a, b, X, push_by_faces(S, a, b, X, M), M) - radii
    x, y, z = weighed(M, n, 3)
    M[0], M[1], M[2], M[3], M[4], M[5] = v0 / length, v1 / length, v2 / length, x, y, z
    return length - radii
