"""Proofs that a box of joint ranges is empty: their data, and how they come from a refuted relaxation (see `certificate`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from supple.deciding.eliminating import MEETING, RANK
from supple.deciding.relaxation import Relaxation
from supple.space import Floats


@dataclass(frozen=True, eq=False)
class Leaf:
    """No posture of the box meets one claim."""

    claim: int
    start: int
    grams: tuple[Floats, ...]
    symmetric: Floats  # Λ (8, 8), of poses
    kernel: Floats  # N (rows, 8)
    facial: Floats  # Ω (rows, 2^k)
    linear: Floats  # λ (4), of points


@dataclass(frozen=True, eq=False)
class Crash:
    """In every posture of the box two things that must keep apart do not."""

    pair: int
    point: Floats  # of the bar, in its own frame
    near: Floats | None  # a point of the other thing that it is too near to; None: it is inside


@dataclass(frozen=True, eq=False)
class Split:
    """A box cut at a value of one joint: what lies below, and what lies above."""

    joint: int
    at: float
    below: Proof
    above: Proof


Proof: TypeAlias = Leaf | Crash | Split


def leaf_of(relaxation: Relaxation, claim: int, start: int) -> Leaf:
    """The proof that the matrices X of a refuted relaxation stand for; it may still fail to hold."""
    duals, E = relaxation.duals, relaxation.room.E
    if relaxation.contradicts:
        return _leaf(relaxation, claim, start, [0.0 * X for X in duals], _contradiction(E, relaxation.split))
    total = sum(float(np.trace(x)) for x in duals)
    second = int(relaxation.layout.arcs[2])
    grams = [_root(X / total) if k != second else _root_on(X / total, relaxation.face) for k, X in enumerate(duals)]
    v = relaxation.contracted([G @ G.T for G in grams])
    solved = relaxation.room.pivot[relaxation.room.pivot >= 0]
    return _leaf(relaxation, claim, start, grams, _smallest(E[:, solved].T, -v[solved]))


def _leaf(relaxation: Relaxation, claim: int, start: int, grams: list[Floats], multipliers: Floats) -> Leaf:
    """The multipliers of the equations, sorted."""
    if len(multipliers) < MEETING:
        none = np.empty((0, 8)), np.empty((0, relaxation.facial.shape[1]))
        return Leaf(claim, start, tuple(grams), np.empty((0, 8)), *none, multipliers)
    symmetric = np.zeros((8, 8))
    symmetric[np.triu_indices(8)] = multipliers[:MEETING]
    symmetric = 0.5 * (symmetric + symmetric.T)
    facial = multipliers[MEETING:].reshape(relaxation.facial.shape)
    return Leaf(claim, start, tuple(grams), symmetric, relaxation.kernel, facial, np.empty(0))


def _contradiction(E: Floats, split: int) -> Floats:
    """Multipliers with which the equations say ``−1 = 0``: what is orthogonal to the columns of all unknowns."""
    constant = E[:, 0] + E[:, split]
    unknowns = np.delete(E, [0, split], axis=1)
    left = constant - unknowns @ np.linalg.lstsq(unknowns, constant, rcond=RANK)[0]
    return -left / float(left @ left)


def _smallest(A: Floats, b: Floats) -> Floats:
    """The smallest x with ``A x = b``, A of full row rank but for rounding."""
    M = A @ A.T
    try:
        x = A.T @ np.linalg.solve(M, b)
        return x + A.T @ np.linalg.solve(M, b - A @ x)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(A, b, rcond=RANK)[0], dtype=np.float64)


def _root(X: Floats) -> Floats:
    """G with ``G Gᵀ = X``, or nearly."""
    try:
        return np.asarray(np.linalg.cholesky(X), dtype=np.float64)
    except np.linalg.LinAlgError:
        w, u = np.linalg.eigh(0.5 * (X + X.T))
        return u * np.sqrt(np.maximum(w, 0.0))


def _root_on(X: Floats, face: Floats) -> Floats:
    return face @ _root(face.T @ X @ face)
