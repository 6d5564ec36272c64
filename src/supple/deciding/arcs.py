"""Compiled: the matrices L of the two arcs of a loop (see `chain` and `relaxation`).

``L h`` is the product of the arc's fixed parts and joints: with h multiplied out, its columns are the products with 1
or with ``g k`` (a slide: ``g ε k``) for each joint. The first joint's fixed part belongs to the arc before it.
"""

from __future__ import annotations

from typing import Any

from supple.compiled import entry, leaf


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


@entry
def loop_arcs(
    before: Any, ends: Any, middles: Any, order: Any, first: int, g: Any, slides: Any, parts: Any, spare: Any,
    A: Any, B: Any, L_a: Any, L_b: Any,
) -> None:  # fmt: skip
    """L_A and L_B of the loop: `before` and `middles` of each joint; `ends`: behind the last, and the target reversed."""
    n = middles.shape[0]
    for j in range(n):
        dual_multiply(before[j], middles[j], parts[j])
    dual_multiply(ends[0], ends[1], spare[0])
    dual_multiply(spare[0], parts[0], spare[1])
    for k in range(8):
        parts[0, k] = spare[1, k]
    for k in range(8):
        A[0, k] = 1.0 if k == 0 else 0.0
        B[0, k] = parts[order[first], k]
    arc(parts, order, 0, first, g, slides, A, spare[0])
    arc(parts, order, first, n, g, slides, B, spare[0])
    for c in range(A.shape[0]):
        for k in range(8):
            L_a[k, c] = A[c, k]
    for c in range(B.shape[0]):
        dual_multiply(B[c], parts[order[0]], spare[0])
        for k in range(8):
            L_b[k, c] = spare[0, k] if k % 4 == 0 else -spare[0, k]
