"""Linear algebra on a Jacobian stored in blocks without its zeros (see `linear` and `routes`).

``J[b · widest + c]`` holds the derivatives of the three residuals of block b along column c of its term's route. Products
run over the columns that a block has, and products of two blocks over those that they share.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import leaf
from supple.kernels.layouts import BLOCK, ROUTE
from supple.kernels.opening import LANES

TINY = 1e-300  # the least pivot


@leaf
def route_of(tasks: Any, chosen: Any, b: int) -> int:
    """The route of the term in block b, or −1 if the block is empty."""
    k = int(chosen[b])
    return tasks.term[k, ROUTE] if k >= 0 else -1


@leaf
def pull_back(tasks: Any, routes: Any, chosen: Any, J: Any, widest: int, y: Any, out: Any) -> None:
    """``out = Jᵀ y``."""
    for i in range(out.shape[0]):
        out[i] = 0.0
    for b in range(chosen.shape[0]):
        route = route_of(tasks, chosen, b)
        if route >= 0:
            y0, y1, y2 = y[BLOCK * b], y[BLOCK * b + 1], y[BLOCK * b + 2]
            first, at = routes.begin[route], b * widest
            for c in range(routes.begin[route + 1] - first):
                x = J[at + c, 0] * y0 + J[at + c, 1] * y1 + J[at + c, 2] * y2
                out[routes.column[first + c]] += x


@leaf
def push_forward(tasks: Any, routes: Any, chosen: Any, J: Any, widest: int, dq: Any, out: Any) -> None:
    """``out += J dq``."""
    for b in range(chosen.shape[0]):
        route = route_of(tasks, chosen, b)
        if route >= 0:
            first, at = routes.begin[route], b * widest
            y0, y1, y2 = 0.0, 0.0, 0.0
            for c in range(routes.begin[route + 1] - first):
                x = dq[routes.column[first + c]]
                y0 += J[at + c, 0] * x
                y1 += J[at + c, 1] * x
                y2 += J[at + c, 2] * x
            out[BLOCK * b] += y0
            out[BLOCK * b + 1] += y1
            out[BLOCK * b + 2] += y2


@leaf
def size_of(tasks: Any, routes: Any, chosen: Any, J: Any, widest: int, D: Any) -> float:
    """The mean of the diagonal of ``J diag(D) Jᵀ``, by which damping is measured."""
    size = 0.0
    for b in range(chosen.shape[0]):
        route, at = route_of(tasks, chosen, b), b * widest
        if route >= 0:
            first = routes.begin[route]
            for c in range(routes.begin[route + 1] - first):
                x = J[at + c, 0] * J[at + c, 0] + J[at + c, 1] * J[at + c, 1] + J[at + c, 2] * J[at + c, 2]
                size += D[routes.column[first + c]] * x
    return size / max(BLOCK * chosen.shape[0], 1)


@leaf
def dual_matrix(tasks: Any, routes: Any, chosen: Any, J: Any, widest: int, D: Any, damping: float, A: Any) -> None:
    """The upper triangle of ``A = J diag(D) Jᵀ + λI``."""
    count = routes.prefix.shape[0]
    for b in range(chosen.shape[0]):
        mine, at = route_of(tasks, chosen, b), b * widest
        for a in range(b, chosen.shape[0]):
            other, to = route_of(tasks, chosen, a), a * widest
            m00, m01, m02 = 0.0, 0.0, 0.0
            m10, m11, m12 = 0.0, 0.0, 0.0
            m20, m21, m22 = 0.0, 0.0, 0.0
            if mine >= 0 and other >= 0:
                first, pair = routes.begin[mine], mine * count + other
                for c in range(routes.prefix[mine, other]):
                    d = D[routes.column[first + c]]
                    x, y, z = d * J[at + c, 0], d * J[at + c, 1], d * J[at + c, 2]
                    u, v, w = J[to + c, 0], J[to + c, 1], J[to + c, 2]
                    m00, m01, m02 = m00 + x * u, m01 + x * v, m02 + x * w
                    m10, m11, m12 = m10 + y * u, m11 + y * v, m12 + y * w
                    m20, m21, m22 = m20 + z * u, m21 + z * v, m22 + z * w
                for c in range(routes.second[pair], routes.second[pair + 1]):
                    s, t = routes.extra[c, 0], routes.extra[c, 1]
                    d = D[routes.column[first + s]]
                    x, y, z = d * J[at + s, 0], d * J[at + s, 1], d * J[at + s, 2]
                    u, v, w = J[to + t, 0], J[to + t, 1], J[to + t, 2]
                    m00, m01, m02 = m00 + x * u, m01 + x * v, m02 + x * w
                    m10, m11, m12 = m10 + y * u, m11 + y * v, m12 + y * w
                    m20, m21, m22 = m20 + z * u, m21 + z * v, m22 + z * w
            if a == b:
                m00, m11, m22 = m00 + damping, m11 + damping, m22 + damping
            i, j = BLOCK * b, BLOCK * a
            A[i, j], A[i, j + 1], A[i, j + 2] = m00, m01, m02
            A[i + 1, j], A[i + 1, j + 1], A[i + 1, j + 2] = m10, m11, m12
            A[i + 2, j], A[i + 2, j + 1], A[i + 2, j + 2] = m20, m21, m22


@leaf
def primal_matrix(tasks: Any, routes: Any, chosen: Any, J: Any, widest: int, root: Any, damping: float, A: Any) -> None:
    """The upper triangle of ``A = S JᵀJ S + λI`` with ``S = diag(root)``."""
    for i in range(A.shape[0]):
        for j in range(i, A.shape[0]):
            A[i, j] = 0.0
        A[i, i] = damping
    for b in range(chosen.shape[0]):
        route, at = route_of(tasks, chosen, b), b * widest
        if route >= 0:
            first = routes.begin[route]
            for c in range(routes.begin[route + 1] - first):
                i = routes.column[first + c]
                s = root[i]
                x, y, z = s * J[at + c, 0], s * J[at + c, 1], s * J[at + c, 2]
                for e in range(c, routes.begin[route + 1] - first):
                    j = routes.column[first + e]
                    v = root[j] * (x * J[at + e, 0] + y * J[at + e, 1] + z * J[at + e, 2])
                    A[min(i, j), max(i, j)] += v


@leaf
def fold_block(A: Any, i: int, order: int) -> None:
    """Eliminate rows i, i + 1, i + 2 from each other: ``D⁻¹`` and L of the diagonal block in place, rows to match."""
    a0, a1, a2 = A[i, i], A[i, i + 1], A[i, i + 2]
    b1, b2, c2 = A[i + 1, i + 1], A[i + 1, i + 2], A[i + 2, i + 2]
    d = 1.0 / max(a0, TINY)
    l1, l2 = a1 * d, a2 * d
    b1, b2, c2 = b1 - l1 * a1, b2 - l1 * a2, c2 - l2 * a2
    e = 1.0 / max(b1, TINY)
    m = b2 * e
    f = 1.0 / max(c2 - m * b2, TINY)
    for c in range(i + BLOCK, order):
        x = A[i + 1, c] - l1 * A[i, c]
        A[i + 1, c] = x
        A[i + 2, c] -= l2 * A[i, c] + m * x
    A[i, i], A[i + 1, i + 1], A[i + 2, i + 2] = d, e, f
    A[i, i + 1], A[i, i + 2], A[i + 1, i + 2] = l1, l2, m


@leaf
def factor_blocks(A: Any, m: int) -> None:
    """``A = LDLᵀ`` of order m in place, three rows at a time; A is positive definite, its upper triangle given."""
    for i in range(0, m, BLOCK):
        fold_block(A, i, m)
        d, e, f = A[i, i], A[i + 1, i + 1], A[i + 2, i + 2]
        for r in range(i + BLOCK, m):
            s, t, u = d * A[i, r], e * A[i + 1, r], f * A[i + 2, r]
            for c in range(r, m):
                A[r, c] -= s * A[i, c] + t * A[i + 1, c] + u * A[i + 2, c]


@leaf
def substitute_blocks(A: Any, y: Any, m: int) -> None:
    """``A y = y`` of order m, A as `factor_blocks` leaves it."""
    for i in range(0, m, BLOCK):
        s = y[i]
        t = y[i + 1] - A[i, i + 1] * s
        u = y[i + 2] - (A[i, i + 2] * s + A[i + 1, i + 2] * t)
        y[i + 1], y[i + 2] = t, u
        s, t, u = A[i, i] * s, A[i + 1, i + 1] * t, A[i + 2, i + 2] * u
        for r in range(i + BLOCK, m):
            y[r] -= s * A[i, r] + t * A[i + 1, r] + u * A[i + 2, r]
    for i in range(m - BLOCK, -1, -BLOCK):
        s, t, u = y[i], y[i + 1], y[i + 2]
        for k in range(i + BLOCK, m):
            x = y[k]
            s, t, u = s - A[i, k] * x, t - A[i + 1, k] * x, u - A[i + 2, k] * x
        u *= A[i + 2, i + 2]
        t = t * A[i + 1, i + 1] - A[i + 1, i + 2] * u
        y[i], y[i + 1], y[i + 2] = s * A[i, i] - A[i, i + 1] * t - A[i, i + 2] * u, t, u


@leaf
def solve_symmetric(A: Any, y: Any, m: int) -> bool:
    """As with blocks, for any order m, one row at a time; False, and y means nothing, if A is not positive definite.

    Rows of A are as long as whole blocks of `LANES` columns, and are updated in such blocks: what lies left of the diagonal or
    right of column m is never read.
    """
    for j in range(m):
        if not A[j, j] > 0.0:
            return False
        inverse = 1.0 / max(A[j, j], TINY)
        x = y[j]
        for i in range(j + 1, m):
            s = A[j, i] * inverse
            for k in range(i - i % LANES, A.shape[1], LANES):
                for c in range(k, k + LANES):
                    A[i, c] -= s * A[j, c]
            y[i] -= s * x
        A[j, j] = inverse
    for i in range(m - 1, -1, -1):
        s = y[i]
        for k in range(i + 1, m):
            s -= A[i, k] * y[k]
        y[i] = s * A[i, i]
    return True
