"""Sparse symmetric matrices ``P = Σ_r w_r b_r b_rᵀ + ε I`` over rows b_r, factored as ``L D Lᵀ`` in a structure found once.

The rows keep their pattern from step to step, only numbers change. So the order of elimination (minimum degree, from SuperLU),
the pattern of L and the places of all products are worked out once, and every further matrix costs two compiled loops. P is
positive definite but for rounding: a pivot is no less than `LEAST` of the largest entry.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import splu

from supple.geometry.placements import Floats
from supple.kernels.compiling import entry

LEAST = 1e-15  # of the largest entry of the diagonal: a pivot


@entry
def _factor_entry(
    indptr: Any, data: Any, weight: Any, place: Any, raised: float, pointer: Any, row: Any, begin: Any, used: Any,
    L: Any, pivot: Any, line: Any,
) -> None:  # fmt: skip
    """Sum the products of entries of rows into L, `place` says where, and factor it column by column.

    Column j of L has the rows ``row[pointer[j] : pointer[j + 1]]``, its own first; the columns c before it that change it, and
    where in these its row stands, are ``used[begin[j] : begin[j + 1]]``.
    """
    n, at, most = pivot.shape[0], 0, 0.0
    for k in range(L.shape[0]):
        L[k] = 0.0
    for r in range(weight.shape[0]):
        for a in range(indptr[r], indptr[r + 1]):
            s = weight[r] * data[a]
            for b in range(indptr[r], a + 1):
                L[place[at]] += s * data[b]
                at += 1
    for j in range(n):
        L[pointer[j]] += raised
        most = max(most, L[pointer[j]])
    for j in range(n):
        first, end = pointer[j], pointer[j + 1]
        for k in range(first, end):
            line[row[k]] = L[k]
        for u in range(begin[j], begin[j + 1]):
            c, here = used[u, 0], used[u, 1]
            s = L[here] * pivot[c]
            for k in range(here, pointer[c + 1]):
                line[row[k]] -= s * L[k]
        pivot[j] = max(line[j], LEAST * most)
        for k in range(first + 1, end):
            L[k] = line[row[k]] / pivot[j]


@entry
def _solve_entry(pointer: Any, row: Any, L: Any, pivot: Any, x: Any) -> None:
    """Solve ``L D Lᵀ y = x``; y takes the place of x."""
    n = pivot.shape[0]
    for j in range(n):
        for k in range(pointer[j] + 1, pointer[j + 1]):
            x[row[k]] -= L[k] * x[j]
    for i in range(n):
        j = n - 1 - i
        s = x[j] / pivot[j]
        for k in range(pointer[j] + 1, pointer[j + 1]):
            s -= L[k] * x[row[k]]
        x[j] = s


class NormalMatrix:
    """P of rows with one pattern: `factor` takes their numbers and weights, `solve` a right side."""

    def __init__(self, rows: csr_array) -> None:
        n = rows.shape[-1]  # pyright: ignore[reportOptionalSubscript]
        self.indptr = rows.indptr.astype(np.int64)
        filled = csr_array((np.ones(len(rows.indices)), rows.indices, rows.indptr), shape=rows.shape)
        P = (filled.T @ filled + 1e3 * len(rows.indices) * eye_array(n)).tocsc()
        order = splu(P, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}).perm_c
        columns, self.order = _columns(rows, order), order
        self.pointer = np.concatenate([[0], np.cumsum([len(c) for c in columns])]).astype(np.int64)
        self.row = np.concatenate(columns).astype(np.int64)
        at = {(i, j): self.pointer[j] + k for j, c in enumerate(columns) for k, i in enumerate(c.tolist())}
        self.place = np.array(_pairs(rows, order, at), dtype=np.int64)
        uses: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        for (i, j), k in at.items():
            if i > j:
                uses[i].append((j, int(k)))
        self.begin = np.concatenate([[0], np.cumsum([len(u) for u in uses])]).astype(np.int64)
        self.used = np.array([pair for u in uses for pair in u], dtype=np.int64).reshape(-1, 2)
        self.L, self.pivot, self.line = np.zeros(len(self.row)), np.zeros(n), np.zeros(n)

    def factor(self, data: Floats, weight: Floats, raised: float) -> None:
        """Factor ``Σ_r weight_r b_r b_rᵀ + raised I``, `data` being the entries of all b_r in the order of the pattern."""
        structure = self.place, raised, self.pointer, self.row, self.begin, self.used
        _factor_entry(self.indptr, data, weight, *structure, self.L, self.pivot, self.line)

    def solve(self, b: Floats) -> Floats:
        """``P⁻¹ b``."""
        x = np.empty(len(b))
        x[self.order] = b
        _solve_entry(self.pointer, self.row, self.L, self.pivot, x)
        return x[self.order]


def _columns(rows: csr_array, order: np.ndarray) -> list[np.ndarray]:
    """The rows of each column of L, its own first: those of P below it and what eliminations before it leave."""
    below: list[set[int]] = [set() for _ in order]
    for r in range(len(rows.indptr) - 1):
        own = sorted(order[rows.indices[rows.indptr[r] : rows.indptr[r + 1]]].tolist())
        for k, j in enumerate(own):
            below[j].update(own[k + 1 :])
    for own in below:
        if own:
            parent = min(own)
            below[parent] |= own - {parent}
    return [np.array([j, *sorted(own)]) for j, own in enumerate(below)]


def _pairs(rows: csr_array, order: np.ndarray, at: dict[tuple[int, int], int]) -> list[int]:
    """Where the product of every two entries of a row goes, in the order in which they are summed."""
    out = []
    for r in range(len(rows.indptr) - 1):
        own = order[rows.indices[rows.indptr[r] : rows.indptr[r + 1]]].tolist()
        out += [at[max(i, j), min(i, j)] for a, i in enumerate(own) for j in own[: a + 1]]
    return out
