"""Kernels over a tree of joints: where everything is, and how forces at segments become slopes along coordinates.

**Rows.** The n moving joints stand in depth-first order, so a joint's subtree is the run of joints behind it. The world
table has a row for the world (row 0) and one for the frame behind each joint (row i + 1):

    world[row] = R (9, row-major) | p (3) | ω (3) | v (3)

``(ω, v)`` is the joint's twist in world axes about the world origin: a point r carried by the joint moves with
``ω × r + v``, a direction d with ``ω × d``. For a hinge through p about the axis a, ``ω = a`` and ``v = p × a``; for a slide
``ω = 0`` and ``v = a``; a screw has both. No kernel below asks which kind it has.

**Forces.** A potential that pushes a segment with forces f at points r has the wrench ``(N, F) = (Σ r × f, Σ f)`` there.
Summed over a joint's subtree it gives the slope along that joint, ``∂P/∂θ = ω·N + v·F``: one sweep from the leaves to
the root, whatever the number of goals.

**Stiffness.** A segment's 6 × 6 matrix B gives the second derivative ``ξ_iᵀ B ξ_j`` of its potential for joints i and j that
carry it, i the nearer to the root or equal. Summed over j's subtree, ``w = B ξ_j`` takes 36 multiply-adds and every
pair (i, j) six more.

**Drives.** Joint values θ come from coordinates q: most joints copy one coordinate, a driven joint adds up curves of
several. `steer` computes θ and the slopes and bends of the curves; the chain rule back to q is in `evaluate`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from supple.kernels.compiling import entry, leaf, shared
from supple.kernels.layouts import CURVE_AT, DRIVEN_BY, PIECES, TREE, WORLD
from supple.kernels.opening import opener, padded
from supple.kernels.tables import open_tree_scratch

shared(padded)


class Tree(NamedTuple):
    """A figure's arrays, as kernels see them."""

    parent: Any  # (n) row of the world table that the joint hangs on
    axis: Any  # (n) 0, 1, 2: turns about x, y, z;  3, 4, 5: slides;  6, 7, 8: both
    bent: Any  # (n) 0 if the offset has no rotation, 2 if it has no offset at all, else 1
    coordinate: Any  # (n) index into q, or −1 − d for the driven joint d
    depth: Any  # (n) number of joints above
    last: Any  # (n) the last joint of each joint's subtree
    offset: Any  # (n, 14) from the parent row to the joint: R, p; then turn (−1, 0, 1) and slide
    driven: Any  # (d) driven joints
    first: Any  # (d + 1) where the terms of each begin
    term: Any  # (t, 3) coordinate, number of pieces (0: a line), where the curve's numbers begin
    base: Any  # (d) the constant in a driven joint's value
    curve: Any  # the numbers of all curves: a slope, or the width of a row and then the rows (knot, c0, c1, …)


open_tree = opener(Tree, TREE, driven="DRIVEN_JOINT", first="DRIVE_FIRST", term="DRIVE_TERM")


@leaf
def steer(tree: Any, q: Any, theta: Any, slope: Any, bend: Any) -> None:
    """Joint values θ of the coordinates q; first and second derivative of every term of every driven joint."""
    for i in range(tree.parent.shape[0]):
        k = tree.coordinate[i]
        if k >= 0:
            theta[i] = q[k]
    for d in range(tree.driven.shape[0]):
        value = tree.base[d]
        for t in range(tree.first[d], tree.first[d + 1]):
            x, pieces, a = q[tree.term[t, DRIVEN_BY]], tree.term[t, PIECES], tree.term[t, CURVE_AT]
            if pieces == 0:
                slope[t] = tree.curve[a]
                bend[t] = 0.0
                value += tree.curve[a] * x
            else:
                width = int(tree.curve[a])
                a += 1
                low, high = 0, pieces - 1  # the last piece that begins at or before x; the first begins nowhere
                while low < high:
                    middle = (low + high + 1) // 2
                    if tree.curve[a + width * middle] <= x:
                        low = middle
                    else:
                        high = middle - 1
                a += width * low
                s = x - tree.curve[a]
                f, rate, half = 0.0, 0.0, 0.0  # the polynomial, its derivative, and half of the second one
                for k in range(width - 1, 0, -1):
                    half = half * s + rate
                    rate = rate * s + f
                    f = f * s + tree.curve[a + k]
                slope[t] = rate
                bend[t] = 2.0 * half
                value += f
        theta[tree.driven[d]] = value


@leaf
def sines(angle: Any, S: Any, C: Any) -> None:
    """sin and cos of many angles at once, without a branch and in blocks, so that they run in vector registers.

    ``x = k·π/2 + r`` with π/2 in three parts (exact products for |k| < 2²³); Taylor polynomials on |r| ≤ π/4 whose first
    dropped term is below half an ulp, summed in halves because the chain of additions is what takes the time. Angles
    beyond ±10⁷ rad, where the parts run out, take the library's functions.
    """
    n = angle.shape[0]
    for i in range(n):
        x = angle[i]
        k = math.floor(x * 0.6366197723675814 + 0.5)
        r = ((x - k * 1.570796325802803) - k * 9.920935791635221e-10) - k * 5.170182981794105e-19
        z = r * r
        z2 = z * z
        z4 = z2 * z2
        s = z4 * ((z / 6227020800.0 - 1.0 / 39916800.0) - z2 / 1307674368000.0)
        s += (z / 120.0 - 1.0 / 6.0) + z2 * (z / 362880.0 - 1.0 / 5040.0)
        s = r + r * z * s
        c = z4 * ((1.0 / 479001600.0 - z / 87178291200.0) + z2 / 20922789888000.0)
        c += (1.0 / 24.0 - z / 720.0) + z2 * (1.0 / 40320.0 - z / 3628800.0)
        c = 1.0 - z * (0.5 - z * c)
        half = math.floor(0.5 * k)
        odd = k - 2.0 * half > 0.5  # an odd number of quarter turns swaps the two
        sign = 1.0 - 2.0 * (half - 2.0 * math.floor(0.5 * half))
        S[i] = sign * (c if odd else s)
        C[i] = sign * (-s if odd else c)
    for i in range(n):
        if not abs(angle[i]) < 1e7:
            S[i] = math.sin(angle[i])
            C[i] = math.cos(angle[i])


@leaf
def place(tree: Any, theta: Any, angle: Any, S: Any, C: Any, world: Any) -> None:
    """Fill the world table: the world itself in row 0, then placement and twist of every joint."""
    n = tree.parent.shape[0]
    for k in range(WORLD):
        world[0, k] = 1.0 if k == 0 or k == 4 or k == 8 else 0.0
    for i in range(n):
        angle[i] = tree.offset[i, 12] * theta[i]
    for i in range(n, angle.shape[0]):
        angle[i] = 0.0
    sines(angle, S, C)
    for i in range(n):
        a = tree.parent[i]
        r00, r01, r02 = world[a, 0], world[a, 1], world[a, 2]
        r10, r11, r12 = world[a, 3], world[a, 4], world[a, 5]
        r20, r21, r22 = world[a, 6], world[a, 7], world[a, 8]
        p0, p1, p2 = world[a, 9], world[a, 10], world[a, 11]
        bent = tree.bent[i]
        if bent < 2:
            x, y, z = tree.offset[i, 9], tree.offset[i, 10], tree.offset[i, 11]
            p0 += r00 * x + r01 * y + r02 * z
            p1 += r10 * x + r11 * y + r12 * z
            p2 += r20 * x + r21 * y + r22 * z
            if bent == 1:
                o00, o01, o02 = tree.offset[i, 0], tree.offset[i, 1], tree.offset[i, 2]
                o10, o11, o12 = tree.offset[i, 3], tree.offset[i, 4], tree.offset[i, 5]
                o20, o21, o22 = tree.offset[i, 6], tree.offset[i, 7], tree.offset[i, 8]
                x, y = r00 * o00 + r01 * o10 + r02 * o20, r00 * o01 + r01 * o11 + r02 * o21
                r02 = r00 * o02 + r01 * o12 + r02 * o22
                r00, r01 = x, y
                x, y = r10 * o00 + r11 * o10 + r12 * o20, r10 * o01 + r11 * o11 + r12 * o21
                r12 = r10 * o02 + r11 * o12 + r12 * o22
                r10, r11 = x, y
                x, y = r20 * o00 + r21 * o10 + r22 * o20, r20 * o01 + r21 * o11 + r22 * o21
                r22 = r20 * o02 + r21 * o12 + r22 * o22
                r20, r21 = x, y
        axis = tree.axis[i]
        k = axis % 3
        s, c = S[i], C[i]
        if k == 0:
            u0, u1, u2 = r00, r10, r20
            if axis != 3:
                r01, r02 = c * r01 + s * r02, c * r02 - s * r01
                r11, r12 = c * r11 + s * r12, c * r12 - s * r11
                r21, r22 = c * r21 + s * r22, c * r22 - s * r21
        elif k == 1:
            u0, u1, u2 = r01, r11, r21
            if axis != 4:
                r02, r00 = c * r02 + s * r00, c * r00 - s * r02
                r12, r10 = c * r12 + s * r10, c * r10 - s * r12
                r22, r20 = c * r22 + s * r20, c * r20 - s * r22
        else:
            u0, u1, u2 = r02, r12, r22
            if axis != 5:
                r00, r01 = c * r00 + s * r01, c * r01 - s * r00
                r10, r11 = c * r10 + s * r11, c * r11 - s * r10
                r20, r21 = c * r20 + s * r21, c * r21 - s * r20
        turn, slide = tree.offset[i, 12], tree.offset[i, 13]
        w0, w1, w2 = turn * u0, turn * u1, turn * u2
        b = i + 1
        world[b, 12], world[b, 13], world[b, 14] = w0, w1, w2
        v0, v1, v2 = p1 * w2 - p2 * w1, p2 * w0 - p0 * w2, p0 * w1 - p1 * w0
        if axis > 2:
            v0, v1, v2 = v0 + slide * u0, v1 + slide * u1, v2 + slide * u2
            d = slide * theta[i]
            p0, p1, p2 = p0 + d * u0, p1 + d * u1, p2 + d * u2
        world[b, 15], world[b, 16], world[b, 17] = v0, v1, v2
        world[b, 0], world[b, 1], world[b, 2] = r00, r01, r02
        world[b, 3], world[b, 4], world[b, 5] = r10, r11, r12
        world[b, 6], world[b, 7], world[b, 8] = r20, r21, r22
        world[b, 9], world[b, 10], world[b, 11] = p0, p1, p2


@leaf
def see(world: Any, at: int, frame: Any, f: int, X: Any) -> None:
    """Write the frame ``world[at] · frame[f:f+12]`` into X: position, then the x, y and z axes."""
    for i in range(3):
        a, b, c = world[at, 3 * i], world[at, 3 * i + 1], world[at, 3 * i + 2]
        X[i] = world[at, 9 + i] + a * frame[f + 9] + b * frame[f + 10] + c * frame[f + 11]
        X[3 + i] = a * frame[f] + b * frame[f + 3] + c * frame[f + 6]
        X[6 + i] = a * frame[f + 1] + b * frame[f + 4] + c * frame[f + 7]
        X[9 + i] = a * frame[f + 2] + b * frame[f + 5] + c * frame[f + 8]


@leaf
def slopes(tree: Any, world: Any, wrench: Any, out: Any) -> None:
    """``out[i] = ω_i·N + v_i·F`` of the wrench summed over joint i's subtree; `wrench` (n + 1, 6) is summed in place."""
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        a, b = tree.parent[i], i + 1
        g = 0.0
        for k in range(6):
            f = wrench[b, k]
            g += world[b, 12 + k] * f
            wrench[a, k] += f
        out[i] = g


@leaf
def sum_stiffness(tree: Any, B: Any) -> None:
    """Sum the 6 × 6 matrices of all segments over every joint's subtree, in place."""
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        a, b = tree.parent[i], i + 1
        for k in range(36):
            B[a, k] += B[b, k]


@leaf
def lean(world: Any, b: int, B: Any, at: int, w: Any) -> None:
    """``w = B[at] ξ_b``: the wrench that answers a unit motion of the joint of row b."""
    for k in range(6):
        s = 0.0
        for m in range(6):
            s += B[at, 6 * k + m] * world[b, 12 + m]
        w[k] = s


@leaf
def along(stack: Any, w: Any, count: int, line: Any) -> None:
    """``line[d] = w · ξ_d`` for the first `count` twists of a stack (6, padded), in whole blocks."""
    w0, w1, w2, w3, w4, w5 = w[0], w[1], w[2], w[3], w[4], w[5]
    for d in range(padded(count)):
        s = stack[0, d] * w0 + stack[1, d] * w1 + stack[2, d] * w2
        line[d] = s + stack[3, d] * w3 + stack[4, d] * w4 + stack[5, d] * w5


@entry
def worlds_entry(I: Any, F: Any, memory: Any, Q: Any, slopes: Any, worlds: Any) -> None:
    """World tables (k, n + 1, WORLD) of the postures Q (k, size), and the slopes (k, t) of their drives."""
    tree, scratch = open_tree(I, F), open_tree_scratch(I, memory)
    for k in range(Q.shape[0]):
        steer(tree, Q[k], scratch.theta, slopes[k], scratch.bend)
        place(tree, scratch.theta, scratch.along, scratch.sine, scratch.cosine, worlds[k])
