"""How the proof of a box comes from a refuted relaxation (its data are in `checker.proof`)."""

from __future__ import annotations

import numpy as np

from supple.geometry.placements import Floats
from supple.proofs.checker.proof import Leaf
from supple.proofs.relaxation.equations import RANK
from supple.proofs.relaxation.multipliers import multiply_out
from supple.proofs.relaxation.packing import ALL_ROWS, MEETING, NULL_ROWS, SECOND
from supple.proofs.relaxation.relaxation import Relaxation

_PAIRS = np.triu_indices(8)  # of rows, in the order of their equations


def leaf_of(relaxation: Relaxation, claim: int, start: int) -> Leaf:
    """The proof that the matrices X of a refuted relaxation stand for; it may still fail to hold.

    Afterwards the relaxation's bound is that of the leaf, but for tolerances: −∞ where rounding spoils it.
    """
    workspace = relaxation.workspace
    I, blocks = workspace.I, workspace.blocks
    if relaxation.contradicts:
        grams = tuple(np.zeros((o, o)) for o in blocks.order)
        return _leaf(relaxation, claim, start, grams, _contradiction(relaxation.equations, relaxation.split))
    multiply_out(I, workspace.memory)
    grams = [
        workspace.matrices.dS[at : at + o * o].reshape(o, o).copy()
        for o, at in zip(blocks.seen.tolist(), blocks.entry.tolist(), strict=True)
    ]
    second = I[SECOND]
    grams[second] = workspace.folding.V[:, : blocks.seen[second]] @ grams[second]
    return _leaf(relaxation, claim, start, tuple(grams), workspace.equations.multiplier[: I[ALL_ROWS]].copy())


def _leaf(relaxation: Relaxation, claim: int, start: int, grams: tuple[Floats, ...], x: Floats) -> Leaf:
    """The multipliers of the equations, sorted."""
    if len(x) < MEETING:
        width = 2 ** len(relaxation.b)
        return Leaf(claim, start, grams, np.empty((0, 8)), np.empty((0, 8)), np.empty((0, width)), x)
    Q, lower = relaxation.workspace.arcs.Q, int(relaxation.workspace.I[NULL_ROWS])
    some = 8 - lower
    pairs, facial = some * (some + 1) // 2, lower * 2 ** len(relaxation.b)
    i, j = _PAIRS
    both, turned = j < some, np.zeros((8, 8))
    turned[i[both], j[both]] = x[:pairs]
    turned[i[~both], j[~both]] = x[pairs + facial :]
    symmetric = Q.T @ (0.5 * (turned + turned.T)) @ Q
    return Leaf(
        claim,
        start,
        grams,
        symmetric,
        Q[some:].copy(),
        x[pairs : pairs + facial].reshape(lower, 2 ** len(relaxation.b)),
        x[:0],
    )


def _contradiction(E: Floats, split: int) -> Floats:
    """Multipliers with which the equations say ``−1 = 0``: what is orthogonal to the columns of all unknowns."""
    constant = E[:, 0] + E[:, split]
    unknowns = np.delete(E, [0, split], axis=1)
    left = constant - unknowns @ np.linalg.lstsq(unknowns, constant, rcond=RANK)[0]
    return -left / float(left @ left)
