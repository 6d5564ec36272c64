"""Why something is impossible: which limits it would take to lift.

A claim whose proof needs one box is looked at again, first with all limits of hinges lifted, then with those of one joint
at a time: limits without which the relaxation still refutes do not matter. Where more boxes were needed, or no single
limit matters, the weights of the limits in the proof itself tell, ``tr G_j G_jᵀ`` of each joint's localiser.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from supple.deciding.certificate import Certificate
from supple.deciding.claims import Claim
from supple.deciding.proof import Crash, Leaf, leaf_of
from supple.deciding.relaxation import Relaxation, arcs_of, best_start, ranges
from supple.deciding.slack import likely, will_hold
from supple.space import Floats

MATTERS = 0.15  # share of all weights from which on a limit is named
MOST_NAMES = 3


def reason_of(certificate: Certificate) -> str:
    """The rest of a sentence: why not."""
    leaves = list(certificate.leaves())
    boxes = f"The proof has {len(leaves)} {'box' if len(leaves) == 1 else 'boxes'}."
    if all(isinstance(leaf, Crash) for leaf, _, _ in leaves):
        pairs = dict.fromkeys(certificate.pairings[leaf.pair].about for leaf, _, _ in leaves if isinstance(leaf, Crash))
        return f": {', '.join(list(pairs)[:MOST_NAMES])} would touch. {boxes}"
    if len(leaves) == 1 and isinstance(leaves[0][0], Leaf):
        claim = certificate.claims[leaves[0][0].claim]
        if _refutes(claim, _lifted(claim, range(len(claim.chain.names)))):
            return f": it is out of reach whatever the limits. {boxes}"
        names = [name for j, name in enumerate(claim.chain.names) if not _refutes(claim, _lifted(claim, [j]))]
        if names:
            return f": it would take other limits of {' or '.join(names[:MOST_NAMES])}. {boxes}"
    names = _heaviest(certificate)
    return f"; the limits of {', '.join(names)} matter most. {boxes}" if names else f". {boxes}"


def _lifted(claim: Claim, joints: range | list[int]) -> tuple[Floats, Floats]:
    """The claim's box without the limits of some hinges."""
    lower, upper = (side.copy() for side in claim.chain.box)
    for j in joints:
        if not claim.chain.slides[j] and upper[j] > lower[j]:
            lower[j], upper[j] = -np.pi, np.pi
    return lower, upper


def _refutes(claim: Claim, box: tuple[Floats, Floats]) -> bool:
    """Whether the relaxation refutes a box, by more than its slack."""
    start = best_start(claim)
    relaxation = Relaxation(claim, *box, start)
    if not relaxation.refuted(likely(claim)):
        return False
    leaf = leaf_of(relaxation, 0, start)
    return will_hold(claim, leaf, relaxation)


def _heaviest(certificate: Certificate) -> list[str]:
    """The joints whose limits weigh most in all boxes."""
    weight = dict.fromkeys(certificate.names, 0.0)
    for leaf, lower, upper in certificate.leaves():
        if isinstance(leaf, Leaf):
            for name, share in _shares(certificate, leaf, lower, upper):
                weight[name] += share
    total = sum(weight.values())
    return sorted((n for n in weight if weight[n] > MATTERS * total), key=lambda n: -weight[n])[:MOST_NAMES]


def _shares(certificate: Certificate, leaf: Leaf, lower: Floats, upper: Floats) -> Iterator[tuple[str, float]]:
    """How much the limits of each joint weigh in one leaf."""
    chain = certificate.claims[leaf.claim].chain
    at = [certificate.names.index(name) for name in chain.names]
    limited, k = ranges(chain, lower[at], upper[at]).limited, 0
    for arc in arcs_of(len(at), leaf.start):
        k += 1
        for joint in arc:
            if limited[joint]:
                yield chain.names[joint], float(np.sum(leaf.grams[k] ** 2))
                k += 1
