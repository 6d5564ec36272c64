"""The blocks of both arcs one behind the other, for kernels (the moments and their terms are in `checking.moments`)."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from supple.proofs.checker.moments import Terms, terms


class Layout(NamedTuple):
    """The blocks of two arcs one behind the other, for kernels: of A, then of B; the whole, then each joint with limits."""

    arcs: Any  # (4) joints of A and of B, which block is B's whole, how many moments A has
    order: Any  # (blocks)
    begin: Any  # (blocks + 1) where the terms of each block start
    row: Any
    column: Any
    place: Any  # of the entry, row by row
    moment: Any  # those of B behind those of A
    product: Any  # which product of κ, those of B's behind those of A's
    sign: Any
    groups: Any  # (blocks + 1) where the groups of each block start: its terms without a sign, moment by moment
    group: Any  # where the terms of each group start, and where the last of a block ends
    half: Any  # where those of them end that are not below the diagonal
    step: Any  # (blocks) from a group's moment to that of the same terms with a sign; 0 for a whole arc


@lru_cache(maxsize=64)
def layout(a: int, b: int, limited: tuple[bool, ...]) -> Layout:
    """The layout of arcs of a and b joints, some of which have limits."""
    parts, second = [], 0
    for k, flags, moments, product in ((a, limited[:a], 0, 0), (b, limited[a:], 3**a, 2**a)):
        second = len(parts) if moments else second
        found = [(terms(k), 0), *((terms(k, i), 3 ** (k - 1 - i)) for i, has in enumerate(flags) if has)]
        parts += [(t, moments, product, step) for t, step in found]
    begin = np.cumsum([0] + [len(t.row) for t, _, _, _ in parts])
    grouped = [at + _groups(t) for (t, _, _, _), at in zip(parts, begin, strict=False)]
    halves = [at + _halves(t) for (t, _, _, _), at in zip(parts, begin, strict=False)]
    columns = (
        [t.row for t, _, _, _ in parts],
        [t.column for t, _, _, _ in parts],
        [t.row * t.size + t.column for t, _, _, _ in parts],
        [t.moment + at for t, at, _, _ in parts],
        [t.factors + at for t, _, at, _ in parts],
        grouped,
        halves,
    )
    row, column, place, moment, product, group, half = (np.concatenate(x).astype(np.int32) for x in columns)
    return Layout(
        np.array([a, b, second, 3**a], dtype=np.int32),
        np.array([t.size for t, _, _, _ in parts], dtype=np.int32),
        begin.astype(np.int32),
        row,
        column,
        place,
        moment,
        product,
        np.concatenate([t.sign for t, _, _, _ in parts]),
        np.cumsum([0] + [len(g) for g in grouped]).astype(np.int32),
        group,
        half,
        np.array([step for _, _, _, step in parts], dtype=np.int32),
    )


def _groups(t: Terms) -> np.ndarray:
    """Where the terms of each moment start, of those without a sign, and where the last end."""
    plain = t.moment[t.sign > 0.0]
    return np.append(np.unique(plain, return_index=True)[1], len(plain))


def _halves(t: Terms) -> np.ndarray:
    """Where those of each moment end that are not below the diagonal; nothing for the last place."""
    starts, plain = _groups(t), (t.row <= t.column)[t.sign > 0.0]
    counts = [int(plain[a:b].sum()) for a, b in pairwise(starts)]
    return np.append(starts[:-1] + counts, starts[-1])
