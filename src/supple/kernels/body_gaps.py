"""Distances between many solids in many postures: what is always in touch, what never is, and how near things are now.

A solid here has a frame of its own. What is round (a ball or a capsule) has a half-length that is not negative, and its
frame is that of its core; any other has −1, and its numbers, with corners, are written in its frame.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.clearance import gap
from supple.kernels.compiling import entry, leaf
from supple.kernels.hulls import hull_gap


@leaf
def seen_from(P: Any, Q: Any, X: Any) -> None:
    """The frame P (4, 4) as it is seen from Q: position, then three axes."""
    for i in range(3):
        X[i] = 0.0
        for k in range(3):
            X[i] += Q[k, i] * (P[k, 3] - Q[k, 3])
        for j in range(3):
            x = 0.0
            for k in range(3):
                x += Q[k, i] * P[k, j]
            X[3 + 3 * j + i] = x


@leaf
def solid_gap(S: Any, at: Any, half: Any, frames: Any, pair: Any, enough: float, X: Any, M: Any) -> float:
    """The signed distance of two solids; direction and witness in M, seen from the second unless that alone is round."""
    i, j = pair[0], pair[1]
    if half[i] >= 0.0:
        seen_from(frames[i], frames[j], X)
        radius = S[at[i] + 2]
        return gap(S, at[j], X, half[i], enough + radius, M) - radius
    if half[j] >= 0.0:
        seen_from(frames[j], frames[i], X)
        radius = S[at[j] + 2]
        return gap(S, at[i], X, half[j], enough + radius, M) - radius
    seen_from(frames[i], frames[j], X)
    return hull_gap(S, at[i], at[j], X, enough, M)


@entry
def gaps_entry(S: Any, at: Any, half: Any, frames: Any, pairs: Any, enough: float, memory: Any, out: Any) -> None:
    """out (n, p): the distances of p pairs of solids (i, j, column) in n postures, frames (n, k, 4, 4), the least a column.

    Where it is above `enough`, a lower bound of it that is above as well.
    """
    X, M = memory[0], memory[1]
    for n in range(frames.shape[0]):
        for p in range(out.shape[1]):
            out[n, p] = math.inf
        for p in range(pairs.shape[0]):
            column = pairs[p, 2]
            d = solid_gap(S, at, half, frames[n], pairs[p], enough, X, M)
            if not d >= out[n, column]:
                out[n, column] = d


@entry
def witness_entry(S: Any, at: Any, half: Any, frames: Any, pairs: Any, memory: Any, out: Any) -> None:
    """out (p, 7): distance, direction and witness of each pair (i, j, …), as `solid_gap` has them."""
    X, M = memory[0], memory[1]
    for p in range(pairs.shape[0]):
        out[p, 0] = solid_gap(S, at, half, frames, pairs[p], math.inf, X, M)
        for i in range(6):
            out[p, 1 + i] = M[i]
