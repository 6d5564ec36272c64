"""Compiled: the matrices L of the two arcs of a loop (see `serial_chain` and `relaxation`).

``L h`` is the product of the arc's fixed parts and joints: with h multiplied out, its columns are the products with 1
or with ``g k`` (a slide: ``g ε k``) for each joint. The first joint's fixed part belongs to the arc before it.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf, stage
from supple.proofs.relaxation.packing import open_joints
from supple.proofs.relaxation.scratch import open_loop


@leaf
def multiply_quaternions(a: Any, i: int, b: Any, j: int, out: Any, k: int, add: float) -> None:
    """``add · out + a b`` of quaternions that begin at i, j and k."""
    w, x, y, z = a[i], a[i + 1], a[i + 2], a[i + 3]
    W, X, Y, Z = b[j], b[j + 1], b[j + 2], b[j + 3]
    out[k] = add * out[k] + w * W - x * X - y * Y - z * Z
    out[k + 1] = add * out[k + 1] + w * X + x * W + y * Z - z * Y
    out[k + 2] = add * out[k + 2] + w * Y - x * Z + y * W + z * X
    out[k + 3] = add * out[k + 3] + w * Z + x * Y - y * X + z * W


@stage
def multiply_duals(a: Any, b: Any, out: Any) -> None:
    """``a b`` of dual quaternions."""
    multiply_quaternions(a, 0, b, 0, out, 0, 0.0)
    multiply_quaternions(a, 0, b, 4, out, 4, 0.0)
    multiply_quaternions(a, 4, b, 0, out, 4, 1.0)


@stage
def multiply_arc(I: Any, memory: Any, joints: Any, columns: Any) -> None:
    """The columns of L, one a row; the first of them holds what stands before the arc's first joint."""
    scratch = open_loop(I, memory)
    parts, g, spare, many = scratch.parts, scratch.g, scratch.spare[0], 1
    for i in range(joints.shape[0]):
        j = joints[i]
        slides = scratch.slides[j] != 0.0
        for c in range(many - 1, -1, -1):
            for k in range(8):
                spare[k] = columns[c, k]
            if i > 0:
                multiply_duals(columns[c], parts[j], spare)
            turned = 4 if slides else 0
            one, two = columns[2 * c], columns[2 * c + 1]
            for k in range(8):
                one[k] = spare[k]
                two[k] = 0.0
            for k in range(0, 4 if slides else 8, 4):
                two[turned + k] = -g[j] * spare[k + 3]
                two[turned + k + 1] = g[j] * spare[k + 2]
                two[turned + k + 2] = -g[j] * spare[k + 1]
                two[turned + k + 3] = g[j] * spare[k]
        many *= 2


@stage
def multiply_loop(I: Any, memory: Any) -> None:
    """The columns of L_A and L_B of a loop in A and B."""
    scratch = open_loop(I, memory)
    joints = open_joints(I, memory)
    parts, spare, A, B = scratch.parts, scratch.spare, scratch.A, scratch.B
    for j in range(parts.shape[0]):
        slides, half = scratch.slides[j] != 0.0, scratch.half[j]
        for k in range(8):
            spare[0, k] = 0.0
        spare[0, 0] = 1.0 if slides else math.cos(half)
        spare[0, 7 if slides else 3] = scratch.scale[0] * half if slides else math.sin(half)
        multiply_duals(scratch.fixed[j], spare[0], parts[j])
    for k in range(8):
        spare[1, k] = scratch.target[k] if k % 4 == 0 else -scratch.target[k]
    multiply_duals(scratch.fixed[parts.shape[0]], spare[1], spare[0])
    multiply_duals(spare[0], parts[0], spare[1])
    for k in range(8):
        parts[0, k] = spare[1, k]
    for k in range(8):
        A[0, k] = 1.0 if k == 0 else 0.0
        B[0, k] = parts[joints.b[0], k]
    multiply_arc(I, memory, joints.a, A)
    multiply_arc(I, memory, joints.b, B)
    for i in range(B.shape[0]):
        multiply_duals(B[i], parts[joints.a[0]], spare[0])
        for k in range(8):
            B[i, k] = spare[0, k] if k % 4 == 0 else -spare[0, k]
