"""Where markers are, what pulls on them, and how that changes with the joints: kernels of the fast path of optimal tracking.

The programme that they write, (a), is told in `feasible_path`; its arrays in `feasible_tables`.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.vectors import clear
from supple.kernels.compiling import leaf, stage
from supple.kernels.curvature import add_tree_stiffness
from supple.kernels.observe import term_count, term_of
from supple.kernels.tree import open_tree, place, slopes, steer, sum_stiffness
from supple.kernels.wrench import curve
from supple.motion.optimal_tracking.feasible_tables import open_feasible, open_items
from supple.motion.tracking.frame_model import add_wrench, point_at


@leaf
def place_items(tree: Any, items: Any, scratch: Any, q: Any) -> None:
    """Where everything is at q."""
    steer(tree, q, scratch.theta, scratch.slope, scratch.bend)
    place(tree, scratch.theta, scratch.along, scratch.sine, scratch.cosine, scratch.world)
    at = items.item_at
    for k in range(at.shape[0]):
        x, y, z = point_at(scratch.world, items.row[k], at[k, 0], at[k, 1], at[k, 2], at[k, 3])
        scratch.place[k, 0], scratch.place[k, 1], scratch.place[k, 2] = x, y, z


@leaf
def gap_of(items: Any, seen: Any, scratch: Any, k: int, i: int) -> float:
    """Component i of gap k; NaN if there is none in this frame."""
    a, b = items.gap[k, 0], items.gap[k, 1]
    if b >= 0:
        return scratch.place[a, i] - scratch.place[b, i]
    return scratch.place[a, i] - seen.hold[-1 - b, i]


@leaf
def find_cost(items: Any, seen: Any, q: Any, scratch: Any) -> Any:
    """Cost, sum and square sum of all violations at the posture last placed; the markers' forces go to scratch."""
    f, total, square = 0.0, 0.0, 0.0
    for k in range(seen.weight.shape[0]):
        w = seen.weight[k]
        for i in range(3):
            e = scratch.place[k, i] - seen.position[k, i]
            scratch.force[k, i] = w * e
            f += 0.5 * w * e * e
    for i in range(q.shape[0]):
        e = q[i] - scratch.anchor[i]
        f += 0.5 * scratch.anchor_weight[0] * e * e
    for k in range(items.gap.shape[0]):
        for i in range(3):
            c = abs(gap_of(items, seen, scratch, k, i))
            if c == c:
                total += c
                square += c * c
    first = items.row.shape[0] - items.plane.shape[0]
    for k in range(items.plane.shape[0]):
        s = items.plane[k, 3]
        for i in range(3):
            s -= items.plane[k, i] * scratch.place[first + k, i]
        total += max(s, 0.0)
        square += max(s, 0.0) ** 2
    for k in range(items.angle.shape[0]):
        e, w = q[items.angle[k]] - seen.value[k], items.stiffness[k]
        if e == e and w < math.inf:
            f += 0.5 * w * e * e
        elif e == e:
            total += abs(e)
            square += e * e
    return f, total, square


@leaf
def add_motion(tree: Any, items: Any, scratch: Any, item: int, i: int, factor: float, line: Any) -> None:
    """Add how component i of an item moves with q, times a factor."""
    x, y, h = scratch.place[item, (i + 1) % 3], scratch.place[item, (i + 2) % 3], items.item_at[item, 3]
    r = items.row[item]
    while r > 0:
        j = r - 1
        s = (
            scratch.world[r, 12 + (i + 1) % 3] * y
            - scratch.world[r, 12 + (i + 2) % 3] * x
            + h * scratch.world[r, 15 + i]
        )
        for t in range(max(term_count(tree, j), 1)):
            k, slope = term_of(tree, scratch, j, t)
            line[k] += factor * slope * s
        r = tree.parent[j]


@leaf
def write_rows(tree: Any, items: Any, seen: Any, q: Any, limited: bool, scratch: Any, P: Any) -> Any:
    """The rows of (a): gaps and exact angles, then half-spaces and linear limits; their number, and that of the first."""
    n, row, gaps = q.shape[0], 0, items.gap.shape[0]
    for k in range(P.C.shape[0]):
        scratch.kind[k] = -1
        for i in range(n):
            P.C[k, i] = 0.0
    for k in range(gaps):
        for i in range(3):
            c = gap_of(items, seen, scratch, k, i)
            if c == c:
                P.c[row], scratch.kind[row] = -c, 3 * k + i
                add_motion(tree, items, scratch, items.gap[k, 0], i, 1.0, P.C[row])
                if items.gap[k, 1] >= 0:
                    add_motion(tree, items, scratch, items.gap[k, 1], i, -1.0, P.C[row])
                row += 1
    for k in range(items.angle.shape[0]):
        e = seen.value[k] - q[items.angle[k]]
        if e == e and items.stiffness[k] == math.inf:
            P.c[row], P.C[row, items.angle[k]] = e, 1.0
            row += 1
    equalities, first = row, items.row.shape[0] - items.plane.shape[0]
    for k in range(items.plane.shape[0]):
        P.c[row], scratch.kind[row] = items.plane[k, 3], 3 * gaps + k
        for i in range(3):
            P.c[row] -= items.plane[k, i] * scratch.place[first + k, i]
            add_motion(tree, items, scratch, first + k, i, items.plane[k, i], P.C[row])
        row += 1
    for k in range(items.b.shape[0] if limited else 0):
        P.c[row] = -items.b[k]
        for i in range(n):
            P.C[row, i] = -items.A[k, i]
            P.c[row] += items.A[k, i] * q[i]
        row += 1
    for i in range(n):
        P.lower[i], P.upper[i] = items.lower[i] - q[i], items.upper[i] - q[i]
    return row, equalities


@leaf
def load_prices(items: Any, scratch: Any) -> None:
    """The prices of gaps and half-spaces as forces on their items."""
    markers = items.row.shape[0] - items.plane.shape[0]
    for k in range(items.gap.shape[0]):
        markers = min(markers, items.gap[k, 0])
    for k in range(markers, items.row.shape[0]):
        for i in range(3):
            scratch.force[k, i] = 0.0
    for k in range(items.gap.shape[0]):
        for i in range(3):
            scratch.force[items.gap[k, 0], i] -= scratch.gap_price[k, i]
            if items.gap[k, 1] >= 0:
                scratch.force[items.gap[k, 1], i] += scratch.gap_price[k, i]
    first = items.row.shape[0] - items.plane.shape[0]
    for k in range(items.plane.shape[0]):
        for i in range(3):
            scratch.force[first + k, i] -= scratch.plane_price[k] * items.plane[k, i]


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
def curve_direction(u: Any, f: Any, B: Any) -> None:
    """The curvature of a force on a direction: ``B_ωω += u fᵀ − (u·f) I``."""
    s = u[0] * f[0] + u[1] * f[1] + u[2] * f[2]
    for i in range(3):
        for j in range(3):
            B[6 * i + j] += u[i] * f[j]
        B[7 * i] -= s


@stage
def derive(I: Any, F: Any, memory: Any, seen: Any, q: Any, curved: float, g: Any) -> float:
    """Gradient and matrix of the programme where all was last placed, no K if `curved` is 0; its largest diagonal entry."""
    tree, items, scratch = open_tree(I, F), open_items(I, F), open_feasible(I, memory)
    n = q.shape[0]
    clear(scratch.wrench)
    clear(scratch.stiff)
    for k in range(seen.weight.shape[0]):
        if seen.weight[k] > 0.0:
            add_wrench(scratch.wrench, items.row[k], scratch.place, scratch.force, k)
            marker_stiffness(seen.weight[k], scratch.place[k], scratch.stiff[items.row[k]])
    if curved != 0.0:
        for k in range(items.row.shape[0]):
            if items.item_at[k, 3] != 0.0:
                curve(scratch.place[k], scratch.force[k], 0, 1, scratch.stiff[items.row[k]])
            else:
                curve_direction(scratch.place[k], scratch.force[k], scratch.stiff[items.row[k]])
    slopes(tree, scratch.world, scratch.wrench, scratch.along)
    clear(g)
    clear(scratch.H)
    for j in range(tree.parent.shape[0]):
        for t in range(max(term_count(tree, j), 1)):
            k, slope = term_of(tree, scratch, j, t)
            g[k] += slope * scratch.along[j]
            if tree.coordinate[j] < 0 and curved != 0.0:
                scratch.H[k, k] += scratch.bend[tree.first[-1 - tree.coordinate[j]] + t] * scratch.along[j]
    sum_stiffness(tree, scratch.stiff)
    add_tree_stiffness(tree, scratch, scratch.H)
    for k in range(items.angle.shape[0]):
        i, w = items.angle[k], items.stiffness[k]
        e = q[i] - seen.value[k]
        if e == e and w < math.inf:
            g[i] += w * e
            scratch.H[i, i] += w
    for i in range(n):
        g[i] += scratch.anchor_weight[0] * (q[i] - scratch.anchor[i])
        scratch.H[i, i] += scratch.anchor_weight[0]
    largest = 1e-6  # so that a frame without markers has a matrix too
    for i in range(n):
        largest = max(largest, abs(scratch.H[i, i]))
    return largest


@leaf
def keep_prices(items: Any, scratch: Any, P: Any, rows: int) -> float:
    """The prices of gaps and half-spaces, for the next curvature; returns the largest price of all rows."""
    gaps, largest = items.gap.shape[0], 0.0
    for k in range(gaps):
        for i in range(3):
            scratch.gap_price[k, i] = 0.0
    for r in range(rows):
        k = int(scratch.kind[r])
        largest = max(largest, abs(P.price[r]))
        if k >= 3 * gaps:
            scratch.plane_price[k - 3 * gaps] = P.price[r]
        elif k >= 0:
            scratch.gap_price[k // 3, k % 3] = P.price[r]
    return largest
