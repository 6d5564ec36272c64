"""What a term sees, and how its forces reach the joints.

**Relative terms.** Seen from a reference segment s, the effector is moved by the joints between s and itself: those on its
own side with their twists, those on the side of s with the opposite ones, shared ones not at all. So a term pushes its
segment with its wrench and s with the opposite wrench.

**The mass centre** ``C = Σ μ_k c_k`` is pushed by a force f when every segment is pushed by ``μ_k f`` at its own centre;
its columns are ``∂C/∂θ_j = ω_j × S_j + m_j v_j`` with S and m summed over j's subtree.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import GENERAL, leaf, row
from supple.kernels.layouts import DRIVEN_BY, FRAME, FRAME_ROW, NO_ROW, REFERENCE, REFERENCE_ROW, SAME_AS_LAST
from supple.kernels.tree import see


@leaf
def mass_sums(tree: Any, mass: Any, scratch: Any) -> None:
    """World moments ``Σ μ c`` (3) and masses (1) of each row into ``scratch.sums``."""
    W = scratch.world
    for r in range(tree.parent.shape[0] + 1):
        m, x = mass[r, 0], mass[r, 1]
        y, z = mass[r, 2], mass[r, 3]
        for i in range(3):
            scratch.sums[4 * r + i] = m * W[r, 9 + i] + W[r, 3 * i] * x + W[r, 3 * i + 1] * y + W[r, 3 * i + 2] * z
        scratch.sums[4 * r + 3] = m


@leaf
def mass_columns(tree: Any, scratch: Any) -> None:
    """Columns ``∂C/∂θ_j`` behind the row sums; the sums become sums over subtrees."""
    n = tree.parent.shape[0]
    for j in range(n - 1, -1, -1):
        a, b = 4 * tree.parent[j], 4 * (j + 1)
        x, y = scratch.sums[b], scratch.sums[b + 1]
        z, m = scratch.sums[b + 2], scratch.sums[b + 3]
        w0, w1, w2 = scratch.world[j + 1, 12], scratch.world[j + 1, 13], scratch.world[j + 1, 14]
        c = 4 * (n + 1) + 3 * j
        scratch.sums[c] = w1 * z - w2 * y + m * scratch.world[j + 1, 15]
        scratch.sums[c + 1] = w2 * x - w0 * z + m * scratch.world[j + 1, 16]
        scratch.sums[c + 2] = w0 * y - w1 * x + m * scratch.world[j + 1, 17]
        for k in range(4):
            scratch.sums[a + k] += scratch.sums[b + k]


@leaf
def observe(tree: Any, tasks: Any, k: int, scratch: Any) -> None:
    """What term k sees: a frame in the world, or in the frame of its reference segment."""
    X, at, reference = scratch.seen, tasks.term[k, FRAME_ROW], tasks.term[k, REFERENCE_ROW]
    if tasks.term[k, SAME_AS_LAST] != 0:
        return  # the same as the term before
    if GENERAL and at == NO_ROW:
        mass_sums(tree, tasks.mass, scratch)
        X[0] = X[1] = X[2] = 0.0
        for r in range(tree.parent.shape[0] + 1):
            for i in range(3):
                X[i] += scratch.sums[4 * r + i]
        return
    see(scratch.world, at, tasks.number[k], FRAME, X)
    if not GENERAL or reference == NO_ROW:
        return
    Y = row(X, 12, 12)
    see(scratch.world, reference, tasks.number[k], REFERENCE, Y)
    for i in range(3):
        X[i] -= Y[i]
    for part in range(0, 12, 3):
        x, y, z = X[part], X[part + 1], X[part + 2]
        for i in range(3):
            X[part + i] = Y[3 + 3 * i] * x + Y[4 + 3 * i] * y + Y[5 + 3 * i] * z


@leaf
def outward(Y: Any, w: Any, at: int) -> None:
    """Turn the covector ``w[at]`` from the axes and origin of the frame Y to those of the world, in place."""
    n0, n1, n2 = w[at, 0], w[at, 1], w[at, 2]
    f0, f1, f2 = w[at, 3], w[at, 4], w[at, 5]
    for i in range(3):
        w[at, i] = Y[3 + i] * n0 + Y[6 + i] * n1 + Y[9 + i] * n2
        w[at, 3 + i] = Y[3 + i] * f0 + Y[6 + i] * f1 + Y[9 + i] * f2
    f0, f1, f2 = w[at, 3], w[at, 4], w[at, 5]
    w[at, 0] += Y[1] * f2 - Y[2] * f1
    w[at, 1] += Y[2] * f0 - Y[0] * f2
    w[at, 2] += Y[0] * f1 - Y[1] * f0


@leaf
def apply_wrench(tree: Any, tasks: Any, k: int, scratch: Any) -> None:
    """Add the wrench of term k to the rows of the tree that feel it."""
    at, reference = tasks.term[k, FRAME_ROW], tasks.term[k, REFERENCE_ROW]
    f = scratch.push[0]
    if at == NO_ROW:
        for r in range(tree.parent.shape[0] + 1):
            x, y = scratch.sums[4 * r], scratch.sums[4 * r + 1]
            z, m = scratch.sums[4 * r + 2], scratch.sums[4 * r + 3]
            scratch.wrench[r, 0] += y * f[5] - z * f[4]
            scratch.wrench[r, 1] += z * f[3] - x * f[5]
            scratch.wrench[r, 2] += x * f[4] - y * f[3]
            for i in range(3):
                scratch.wrench[r, 3 + i] += m * f[3 + i]
        return
    if reference != NO_ROW:
        outward(row(scratch.seen, 12, 12), scratch.push, 0)
        for i in range(6):
            scratch.wrench[reference, i] -= f[i]
    for i in range(6):
        scratch.wrench[at, i] += f[i]


@leaf
def term_count(tree: Any, i: int) -> int:
    """Number of coordinates that drive joint i through curves; 0 if it has its own."""
    if tree.coordinate[i] >= 0:
        return 0
    d = -1 - tree.coordinate[i]
    return tree.first[d + 1] - tree.first[d]


@leaf
def term_of(tree: Any, scratch: Any, i: int, s: int) -> Any:
    """Coordinate and slope of the s-th term of joint i."""
    if tree.coordinate[i] >= 0:
        return tree.coordinate[i], 1.0
    t = tree.first[-1 - tree.coordinate[i]] + s
    return tree.term[t, DRIVEN_BY], scratch.slope[t]
