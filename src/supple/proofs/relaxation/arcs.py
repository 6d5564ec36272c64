"""Compiled: the matrices L of the two arcs of a loop (see `chain` and `relaxation`).

``L h`` is the product of the arc's fixed parts and joints: with h multiplied out, its columns are the products with 1
or with ``g k`` (a slide: ``g ε k``) for each joint. The first joint's fixed part belongs to the arc before it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from supple.kernels.compiling import entry, leaf


class Loop(NamedTuple):
    """A chain's fixed parts and where its joints are, with its target; and room for products."""

    fixed: Any  # (n + 1, 8) before each joint, and behind the last
    target: Any  # (8)
    half: Any  # (n) half of the coordinate in the middle of each range, with the joint's sign
    g: Any  # (n) with the joint's sign
    slides: Any  # (n)
    scale: float  # of lengths
    order: Any  # (n) the joints of both arcs
    first: int  # joints of arc A
    parts: Any  # (n, 8)
    spare: Any  # (2, 8)
    A: Any  # (2^a, 8)
    B: Any  # (2^b, 8)


@leaf
def quaternion_product(a: Any, i: int, b: Any, j: int, out: Any, k: int, add: float) -> None:
    """``add · out + a b`` of quaternions that begin at i, j and k."""
    w, x, y, z = a[i], a[i + 1], a[i + 2], a[i + 3]
    W, X, Y, Z = b[j], b[j + 1], b[j + 2], b[j + 3]
    out[k] = add * out[k] + w * W - x * X - y * Y - z * Z
    out[k + 1] = add * out[k + 1] + w * X + x * W + y * Z - z * Y
    out[k + 2] = add * out[k + 2] + w * Y - x * Z + y * W + z * X
    out[k + 3] = add * out[k + 3] + w * Z + x * Y - y * X + z * W


@leaf
def dual_multiply(a: Any, b: Any, out: Any) -> None:
    """``a b`` of dual quaternions."""
    quaternion_product(a, 0, b, 0, out, 0, 0.0)
    quaternion_product(a, 0, b, 4, out, 4, 0.0)
    quaternion_product(a, 4, b, 0, out, 4, 1.0)


@leaf
def arc(parts: Any, order: Any, begin: int, end: int, g: Any, slides: Any, columns: Any, spare: Any) -> None:
    """The columns of L, one a row; the first of them holds what stands before the arc's first joint."""
    count = 1
    for i in range(begin, end):
        j = order[i]
        for c in range(count - 1, -1, -1):
            for k in range(8):
                spare[k] = columns[c, k]
            if i > begin:
                dual_multiply(columns[c], parts[j], spare)
            turned = 4 if slides[j] else 0
            one, two = columns[2 * c], columns[2 * c + 1]
            for k in range(8):
                one[k] = spare[k]
                two[k] = 0.0
            for k in range(0, 4 if slides[j] else 8, 4):
                two[turned + k] = -g[j] * spare[k + 3]
                two[turned + k + 1] = g[j] * spare[k + 2]
                two[turned + k + 2] = -g[j] * spare[k + 1]
                two[turned + k + 3] = g[j] * spare[k]
        count *= 2


@leaf
def loop_arcs(c: Any, L_a: Any, L_b: Any) -> None:
    """L_A and L_B of a loop."""
    n, first, parts, spare, A, B = c.order.shape[0], c.first, c.parts, c.spare, c.A, c.B
    for j in range(n):
        slides = c.slides[j]
        for k in range(8):
            spare[0, k] = 0.0
        spare[0, 0] = 1.0 if slides else math.cos(c.half[j])
        spare[0, 7 if slides else 3] = c.scale * c.half[j] if slides else math.sin(c.half[j])
        dual_multiply(c.fixed[j], spare[0], parts[j])
    for k in range(8):
        spare[1, k] = c.target[k] if k % 4 == 0 else -c.target[k]
    dual_multiply(c.fixed[n], spare[1], spare[0])
    dual_multiply(spare[0], parts[0], spare[1])
    for k in range(8):
        parts[0, k] = spare[1, k]
    for k in range(8):
        A[0, k] = 1.0 if k == 0 else 0.0
        B[0, k] = parts[c.order[first], k]
    arc(parts, c.order, 0, first, c.g, c.slides, A, spare[0])
    arc(parts, c.order, first, n, c.g, c.slides, B, spare[0])
    for i in range(A.shape[0]):
        for k in range(8):
            L_a[k, i] = A[i, k]
    for i in range(B.shape[0]):
        dual_multiply(B[i], parts[c.order[0]], spare[0])
        for k in range(8):
            L_b[k, i] = spare[0, k] if k % 4 == 0 else -spare[0, k]


@entry
def arc_matrices(c: Any, L_a: Any, L_b: Any) -> None:
    """L_A and L_B of a loop."""
    loop_arcs(c, L_a, L_b)
