"""Second derivatives along joints, and from there along coordinates.

Most terms leave a 6 × 6 matrix B with their segment; summed over subtrees these give every pair of joints one above the
other (`add_tree_stiffness`). Two kinds of terms do not fit that pattern and go straight into the Hessian:

* a relative term: its joints are walked from the reference up to the common joint and down to the effector; along this
  *chain* the earlier joint carries the later, and B, in the axes of the reference, is felt by every pair of the chain;
* the mass centre, which joins joints on different branches: ``c_iᵀ M c_j`` with c the columns of C, for every pair.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import leaf, row
from supple.kernels.layouts import PATH_AT, PATH_LENGTH, RESIDUAL_AT, RESIDUALS_OF
from supple.kernels.observe import mass_columns, term_count, term_of
from supple.kernels.terms.dispatch import residual
from supple.kernels.tree import along, lean
from supple.kernels.wrench import curve


@leaf
def add_pair(tree: Any, scratch: Any, i: int, j: int, h: float, H: Any) -> None:
    """Add ``∂²G/∂θ_i∂θ_j = h`` to the Hessian in q, both halves."""
    a, b = tree.coordinate[i], tree.coordinate[j]
    if a >= 0 and b >= 0:
        H[a, b] += h
        if i != j:
            H[b, a] += h
        return
    for s in range(max(term_count(tree, i), 1)):
        a, x = term_of(tree, scratch, i, s)
        for t in range(max(term_count(tree, j), 1)):
            b, y = term_of(tree, scratch, j, t)
            H[a, b] += x * y * h
            if i != j:
                H[b, a] += x * y * h


@leaf
def add_mass_stiffness(tree: Any, scratch: Any, curvature: int, H: Any) -> None:
    """Second derivatives through the mass centre: curvature as forces on segments, the rest as columns ``c_iᵀ M c_j``."""
    n, f, M = tree.parent.shape[0], scratch.force, scratch.second
    for r in range(n + 1):
        m = scratch.sums[4 * r + 3]
        if m > 0.0 and curvature != 0:
            c, weighted = row(scratch.mixed, 0, 3), row(scratch.mixed, 3, 3)
            for i in range(3):
                c[i] = scratch.sums[4 * r + i] / m
                weighted[i] = m * f[i]
            curve(c, weighted, 0, 1, scratch.stiff[r])
    mass_columns(tree, scratch)
    base = 4 * (n + 1)
    for j in range(n):
        c0, c1, c2 = scratch.sums[base + 3 * j], scratch.sums[base + 3 * j + 1], scratch.sums[base + 3 * j + 2]
        y0 = M[0, 0] * c0 + M[0, 1] * c1 + M[0, 2] * c2
        y1 = M[1, 0] * c0 + M[1, 1] * c1 + M[1, 2] * c2
        y2 = M[2, 0] * c0 + M[2, 1] * c1 + M[2, 2] * c2
        for i in range(j + 1):
            h = (
                scratch.sums[base + 3 * i] * y0
                + scratch.sums[base + 3 * i + 1] * y1
                + scratch.sums[base + 3 * i + 2] * y2
            )
            add_pair(tree, scratch, i, j, h, H)


@leaf
def add_chain_stiffness(tree: Any, tasks: Any, k: int, scratch: Any, H: Any) -> None:
    """Second derivatives of a relative term: B on all pairs of its chain, the earlier joint carrying the later."""
    Y, B = row(scratch.seen, 12, 12), scratch.block
    start, count = tasks.term[k, PATH_AT], tasks.term[k, PATH_LENGTH]
    for b in range(count):
        link = tasks.path[start + b]
        j, sign = abs(link) - 1, 1.0 if link > 0 else -1.0
        w0, w1, w2 = scratch.world[j + 1, 12], scratch.world[j + 1, 13], scratch.world[j + 1, 14]
        v0 = scratch.world[j + 1, 15] + w1 * Y[2] - w2 * Y[1]
        v1 = scratch.world[j + 1, 16] + w2 * Y[0] - w0 * Y[2]
        v2 = scratch.world[j + 1, 17] + w0 * Y[1] - w1 * Y[0]
        for i in range(3):
            scratch.stack[i, b] = sign * (Y[3 + 3 * i] * w0 + Y[4 + 3 * i] * w1 + Y[5 + 3 * i] * w2)
            scratch.stack[3 + i, b] = sign * (Y[3 + 3 * i] * v0 + Y[4 + 3 * i] * v1 + Y[5 + 3 * i] * v2)
        for i in range(6):
            s = 0.0
            for m in range(6):
                s += B[6 * i + m] * scratch.stack[m, b]
            scratch.line[i] = s
        for a in range(b + 1):
            h = 0.0
            for i in range(6):
                h += scratch.stack[i, a] * scratch.line[i]
            add_pair(tree, scratch, abs(tasks.path[start + a]) - 1, j, h, H)


@leaf
def squares(tasks: Any, k: int, T: Any, scratch: Any) -> None:
    """Gauss–Newton's ``B = 2 Σ dρ dρᵀ`` of term k into the block; for the mass centre, the same of forces into `second`."""
    a = tasks.term[k, RESIDUAL_AT]
    residual(tasks, k, T, scratch, scratch.rho)
    for i in range(6):
        for j in range(6):
            s = 0.0
            for r in range(a, a + tasks.term[k, RESIDUALS_OF]):
                s += scratch.rows[r, i] * scratch.rows[r, j]
            scratch.block[6 * i + j] = 2.0 * s
            if i > 2 and j > 2:
                scratch.second[i - 3, j - 3] = 2.0 * s


@leaf
def add_tree_stiffness(tree: Any, scratch: Any, H: Any) -> None:
    """``∂²G/∂θ_i∂θ_j = ξ_i · (B_j ξ_j)`` for every joint j and every i above it or equal.

    Depth-first order keeps the twists on the way from the root to j in the first columns of one stack, and below them the
    coordinates that they belong to (the joints, where some are driven).
    """
    plain = tree.driven.shape[0] == 0
    for j in range(tree.parent.shape[0]):
        depth = tree.depth[j]
        for k in range(6):
            scratch.stack[k, depth] = scratch.world[j + 1, 12 + k]
        scratch.stack[6, depth] = tree.coordinate[j] if plain else j
        w = scratch.push[0]
        lean(scratch.world, j + 1, scratch.stiff, j + 1, w)
        along(scratch.stack, w, depth + 1, scratch.line)
        if plain:
            b = tree.coordinate[j]
            for d in range(depth):
                a = int(scratch.stack[6, d])
                H[a, b] += scratch.line[d]
                H[b, a] += scratch.line[d]
            H[b, b] += scratch.line[depth]
        else:
            for d in range(depth + 1):
                add_pair(tree, scratch, int(scratch.stack[6, d]), j, scratch.line[d], H)
