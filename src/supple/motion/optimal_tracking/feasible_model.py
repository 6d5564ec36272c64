"""Where markers are, what pulls on them, and how that changes with the joints: kernels of the fast path of optimal tracking.

The programme that they write, (a), is told in `tracking_fast`; its arrays in `tracking_tables`.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf, stage
from supple.kernels.curvature import add_tree_stiffness
from supple.kernels.observe import term_count, term_of
from supple.kernels.tree import open_tree, place, slopes, steer, sum_stiffness
from supple.kernels.wrench import curve


@leaf
def look(tree: Any, given: Any, q: Any, work: Any) -> None:
    """Where everything is at q."""
    steer(tree, q, work.theta, work.slope, work.bend)
    place(tree, work.theta, work.along, work.sine, work.cosine, work.world)
    for k in range(given.at.shape[0]):
        r = given.at[k]
        for i in range(3):
            s = given.local[k, 3] * work.world[r, 9 + i]
            for j in range(3):
                s += work.world[r, 3 * i + j] * given.local[k, j]
            work.spot[k, i] = s


@leaf
def gap_of(given: Any, asked: Any, frame: int, work: Any, k: int, i: int) -> float:
    """Component i of gap k; NaN if there is none in this frame."""
    a, b = given.gap[k, 0], given.gap[k, 1]
    if b >= 0:
        return work.spot[a, i] - work.spot[b, i]
    return work.spot[a, i] - asked.hold[frame, -1 - b, i]


@leaf
def measure(given: Any, asked: Any, frame: int, q: Any, work: Any) -> Any:
    """Cost, sum and square sum of all violations at the postures last looked at; the markers' forces go to work."""
    f, total, square = 0.0, 0.0, 0.0
    for k in range(asked.weight.shape[1]):
        w = asked.weight[frame, k]
        for i in range(3):
            e = work.spot[k, i] - asked.position[frame, k, i]
            work.force[k, i] = w * e
            f += 0.5 * w * e * e
    for i in range(q.shape[0]):
        e = q[i] - work.anchor[i]
        f += 0.5 * work.anchor[q.shape[0]] * e * e
    for k in range(given.gap.shape[0]):
        for i in range(3):
            c = abs(gap_of(given, asked, frame, work, k, i))
            if c == c:
                total += c
                square += c * c
    first = given.at.shape[0] - given.plane.shape[0]
    for k in range(given.plane.shape[0]):
        s = given.plane[k, 3]
        for i in range(3):
            s -= given.plane[k, i] * work.spot[first + k, i]
        total += max(s, 0.0)
        square += max(s, 0.0) ** 2
    for k in range(given.angle.shape[0]):
        e, w = q[given.angle[k]] - asked.value[frame, k], given.stiffness[k]
        if e == e and w < math.inf:
            f += 0.5 * w * e * e
        elif e == e:
            total += abs(e)
            square += e * e
    return f, total, square


@leaf
def add_motion(tree: Any, given: Any, work: Any, item: int, i: int, factor: float, line: Any) -> None:
    """Add how component i of an item moves with q, times a factor."""
    x, y, h = work.spot[item, (i + 1) % 3], work.spot[item, (i + 2) % 3], given.local[item, 3]
    r = given.at[item]
    while r > 0:
        j = r - 1
        s = work.world[r, 12 + (i + 1) % 3] * y - work.world[r, 12 + (i + 2) % 3] * x + h * work.world[r, 15 + i]
        for t in range(max(term_count(tree, j), 1)):
            k, slope = term_of(tree, work, j, t)
            line[k] += factor * slope * s
        r = tree.parent[j]


@leaf
def write_rows(tree: Any, given: Any, asked: Any, frame: int, q: Any, limited: int, work: Any, P: Any) -> Any:
    """The rows of (a): gaps and exact angles, then half-spaces and linear limits; their number, and that of the first."""
    n, row, gaps = q.shape[0], 0, given.gap.shape[0]
    for k in range(P.C.shape[0]):
        work.kind[k] = -1
        for i in range(n):
            P.C[k, i] = 0.0
    for k in range(gaps):
        for i in range(3):
            c = gap_of(given, asked, frame, work, k, i)
            if c == c:
                P.c[row], work.kind[row] = -c, 3 * k + i
                add_motion(tree, given, work, given.gap[k, 0], i, 1.0, P.C[row])
                if given.gap[k, 1] >= 0:
                    add_motion(tree, given, work, given.gap[k, 1], i, -1.0, P.C[row])
                row += 1
    for k in range(given.angle.shape[0]):
        e = asked.value[frame, k] - q[given.angle[k]]
        if e == e and given.stiffness[k] == math.inf:
            P.c[row], P.C[row, given.angle[k]] = e, 1.0
            row += 1
    equalities, first = row, given.at.shape[0] - given.plane.shape[0]
    for k in range(given.plane.shape[0]):
        P.c[row], work.kind[row] = given.plane[k, 3], 3 * gaps + k
        for i in range(3):
            P.c[row] -= given.plane[k, i] * work.spot[first + k, i]
            add_motion(tree, given, work, first + k, i, given.plane[k, i], P.C[row])
        row += 1
    for k in range(given.b.shape[0] if limited != 0 else 0):
        P.c[row] = -given.b[k]
        for i in range(n):
            P.C[row, i] = -given.A[k, i]
            P.c[row] += given.A[k, i] * q[i]
        row += 1
    for i in range(n):
        P.lower[i], P.upper[i] = given.lower[i] - q[i], given.upper[i] - q[i]
    return row, equalities


@leaf
def pull_back(given: Any, work: Any) -> None:
    """The prices of gaps and half-spaces as forces on their items."""
    markers = given.at.shape[0] - given.plane.shape[0]
    for k in range(given.gap.shape[0]):
        markers = min(markers, given.gap[k, 0])
    for k in range(markers, given.at.shape[0]):
        for i in range(3):
            work.force[k, i] = 0.0
    for k in range(given.gap.shape[0]):
        for i in range(3):
            work.force[given.gap[k, 0], i] -= work.pull[k, i]
            if given.gap[k, 1] >= 0:
                work.force[given.gap[k, 1], i] += work.pull[k, i]
    first = given.at.shape[0] - given.plane.shape[0]
    for k in range(given.plane.shape[0]):
        for i in range(3):
            work.force[first + k, i] -= work.lean[k] * given.plane[k, i]


@leaf
def marker_stiffness(w: float, r: Any, B: Any) -> None:
    """Add ``w GᵀG``, ``G = (−[r]×, I)``, to B."""
    x, y, z = r[0], r[1], r[2]
    square = x * x + y * y + z * z
    for i in range(3):
        for j in range(3):
            B[6 * i + j] -= w * r[i] * r[j]
        B[7 * i] += w * square
        B[21 + 7 * i] += w
    B[4] -= w * z
    B[5] += w * y
    B[9] += w * z
    B[11] -= w * x
    B[15] -= w * y
    B[16] += w * x
    B[19] += w * z
    B[20] -= w * y
    B[24] -= w * z
    B[26] += w * x
    B[30] += w * y
    B[31] -= w * x


@leaf
def turn_only(u: Any, f: Any, B: Any) -> None:
    """The curvature of a force on a direction: ``B_ωω += u fᵀ − (u·f) I``."""
    s = u[0] * f[0] + u[1] * f[1] + u[2] * f[2]
    for i in range(3):
        for j in range(3):
            B[6 * i + j] += u[i] * f[j]
        B[7 * i] -= s


@stage
def derive(I: Any, F: Any, given: Any, asked: Any, frame: int, q: Any, curved: int, work: Any, g: Any) -> float:
    """Gradient and matrix of the programme at the posture last looked at; its largest diagonal entry."""
    tree = open_tree(I, F)
    n, markers = q.shape[0], asked.weight.shape[1]
    for r in range(work.stiff.shape[0]):
        for k in range(6):
            work.wrench[r, k] = 0.0
        for k in range(36):
            work.stiff[r, k] = 0.0
    for k in range(markers):
        if asked.weight[frame, k] > 0.0:
            r, f, w = work.spot[k], work.force[k], work.wrench[given.at[k]]
            w[0] += r[1] * f[2] - r[2] * f[1]
            w[1] += r[2] * f[0] - r[0] * f[2]
            w[2] += r[0] * f[1] - r[1] * f[0]
            w[3] += f[0]
            w[4] += f[1]
            w[5] += f[2]
            marker_stiffness(asked.weight[frame, k], r, work.stiff[given.at[k]])
    if curved != 0:
        for k in range(given.at.shape[0]):
            if given.local[k, 3] != 0.0:
                curve(work.spot[k], work.force[k], 0, 1, work.stiff[given.at[k]])
            else:
                turn_only(work.spot[k], work.force[k], work.stiff[given.at[k]])
    slopes(tree, work.world, work.wrench, work.along)
    for i in range(n):
        g[i] = 0.0
        for j in range(n):
            work.H[i, j] = 0.0
    for j in range(tree.parent.shape[0]):
        for t in range(max(term_count(tree, j), 1)):
            k, slope = term_of(tree, work, j, t)
            g[k] += slope * work.along[j]
            if tree.coordinate[j] < 0 and curved != 0:
                work.H[k, k] += work.bend[tree.first[-1 - tree.coordinate[j]] + t] * work.along[j]
    sum_stiffness(tree, work.stiff)
    add_tree_stiffness(tree, work, work.H)
    for k in range(given.angle.shape[0]):
        i, w = given.angle[k], given.stiffness[k]
        e = q[i] - asked.value[frame, k]
        if e == e and w < math.inf:
            g[i] += w * e
            work.H[i, i] += w
    for i in range(n):
        g[i] += work.anchor[n] * (q[i] - work.anchor[i])
        work.H[i, i] += work.anchor[n]
    largest = 1e-6  # so that a frame without markers has a matrix too
    for i in range(n):
        largest = max(largest, abs(work.H[i, i]))
    return largest


@leaf
def keep_prices(given: Any, work: Any, P: Any, rows: int) -> float:
    """The prices of gaps and half-spaces, for the next curvature; returns the largest price of all rows."""
    gaps, largest = given.gap.shape[0], 0.0
    for k in range(gaps):
        for i in range(3):
            work.pull[k, i] = 0.0
    for r in range(rows):
        k = work.kind[r]
        largest = max(largest, abs(P.price[r]))
        if k >= 3 * gaps:
            work.lean[k - 3 * gaps] = P.price[r]
        elif k >= 0:
            work.pull[k // 3, k % 3] = P.price[r]
    return largest
