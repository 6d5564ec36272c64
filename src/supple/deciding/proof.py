"""Proofs that a box of joint ranges is empty: their data, and how they come from a refuted relaxation (see `certificate`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.deciding.relaxation import Relaxation
from supple.space import Floats


@dataclass(frozen=True, eq=False)
class Leaf:
    """The proof for one box of joint ranges."""

    lower: Floats
    upper: Floats
    start: int
    grams: tuple[Floats, ...]
    symmetric: Floats  # Λ (8, 8)
    kernel: Floats  # N (rows, 8)
    facial: Floats  # Ω (rows, 2^k)


@dataclass(frozen=True, eq=False)
class Split:
    """A box cut at a value of one joint: what lies below, and what lies above."""

    joint: int
    at: float
    below: Leaf | Split
    above: Leaf | Split


def leaf_of(relaxation: Relaxation, lower: Floats, upper: Floats, start: int, X: list[Floats]) -> Leaf:
    """The proof that the matrices X of a refuted relaxation stand for; it may still fail to hold."""
    total = sum(float(np.trace(x)) for x in X)
    grams = []
    for x in X:
        w, u = np.linalg.eigh(0.5 * (x + x.T) / total)
        grams.append(u * np.sqrt(np.maximum(w, 0.0)))
    at = 1 + len(relaxation.a.limited)
    grams[at] = relaxation.face @ grams[at]
    v = relaxation.contracted([G @ G.T for G in grams])
    keep = np.ones(len(v), dtype=bool)
    keep[[0, relaxation.split]] = False
    multipliers = np.linalg.lstsq(relaxation.equations[:, keep].T, -v[keep], rcond=1e-11)[0]
    symmetric = np.zeros((8, 8))
    symmetric[np.triu_indices(8)] = multipliers[:36]
    symmetric = 0.5 * (symmetric + symmetric.T)
    facial = np.array(multipliers[36:], dtype=np.float64).reshape(len(relaxation.kernel), relaxation.b.L.shape[1])
    return Leaf(lower, upper, start, tuple(grams), symmetric, relaxation.kernel, facial)
