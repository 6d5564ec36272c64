"""Why something is impossible: which limits it would take to lift.

A claim whose proof needs one box is looked at again, first with all limits of hinges lifted, then with those of one joint
at a time: limits without which the relaxation still refutes do not matter. Where more boxes were needed, or no single
limit matters, the weights of the limits in the proof itself tell, ``tr G_j G_jᵀ`` of each joint's localiser.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from supple.errors import Error
from supple.figure.figure import Figure
from supple.figure.joints import Joint
from supple.geometry.placements import Floats, inverse
from supple.proofs.certificate import Certificate
from supple.proofs.checker.check import Boxed
from supple.proofs.checker.mechanism import moves
from supple.proofs.checker.moments import arcs_of, ranges
from supple.proofs.checker.proof import Crash, Leaf, Pull
from supple.proofs.checker.statement import Follow, Wish
from supple.proofs.claims import Claim
from supple.proofs.proof import leaf_of
from supple.proofs.relaxation.relaxation import best_start, relaxed
from supple.proofs.serial_chain import Undecidable, Way
from supple.proofs.tolerances import likely, will_hold

MATTERS = 0.15  # share of all weights from which on a limit is named
MOST_NAMES = 3


def reason_of(certificate: Certificate) -> str:
    """The rest of a sentence: why not."""
    leaves = list(certificate.leaves())
    boxes = f"The proof has {len(leaves)} {'box' if len(leaves) == 1 else 'boxes'}."
    try:
        return f"{_reason(certificate, leaves)} {boxes}"
    except (Undecidable, Error, IndexError):  # it is no proof at all
        return f". {boxes}"


def _reason(certificate: Certificate, leaves: list[Boxed]) -> str:
    pairs = certificate.said.pairs
    if all(isinstance(leaf, Crash) for leaf, _, _ in leaves):
        touching = [pairs[leaf.pair] for leaf, _, _ in leaves if isinstance(leaf, Crash)]
        names = dict.fromkeys(f"{p.bar.segment} and {p.other.segment or p.other.number}" for p in touching)
        return f": {', '.join(list(names)[:MOST_NAMES])} would touch."
    if all(isinstance(leaf, Pull) for leaf, _, _ in leaves):
        return ": all of it together is out of reach." if len(certificate.wishes) > 1 else ": it is out of reach."
    claims = _Claims(certificate)
    if len(leaves) == 1 and isinstance(leaves[0][0], Leaf):
        claim = claims[leaves[0][0].claim]
        if _refutes(claim, _lifted(claim, range(len(claim.chain.names)))):
            return ": it is out of reach whatever the limits."
        names = [name for j, name in enumerate(claim.chain.names) if not _refutes(claim, _lifted(claim, [j]))]
        if names:
            return f": it would take other limits of {' or '.join(names[:MOST_NAMES])}."
    names = _heaviest(claims, leaves)
    return f"; the limits of {', '.join(names)} matter most." if names else "."


class _Claims(dict[int, Claim]):
    """The entries of a certificate as the search has them, of a figure with its joints alone."""

    def __init__(self, certificate: Certificate) -> None:
        super().__init__()
        said = certificate.said
        known = {link.key for link in said.links}
        self.entries = said.entries
        joints = [
            Joint(link.name, link.parent if link.parent in known else None, link.at, link.turn, link.slide,
                  (link.lower, link.upper), link.segment) for link in said.links
        ]  # fmt: skip
        self.figure = Figure(said.figure or "figure", joints)
        self.names = [link.name for link in said.links if moves(link)]
        self.names += [_turn(k) for k, e in enumerate(said.entries) if isinstance(e, Wish) and e.kind == "axis"]

    def __missing__(self, number: int) -> Claim:
        wish = self.wish(number)
        way = Way(wish.segment, wish.frame, wish.seen_from, _turn(number) if wish.kind == "axis" else "")
        chain = way.chain(self.figure, self.figure.lower, self.figure.upper)
        self[number] = Claim(chain, wish.target, wish.tolerance, wish.angle_tolerance, wish.kind == "point", way)
        return self[number]

    def wish(self, number: int) -> Wish:
        """An entry as a wish, also if it follows from others."""
        entry = self.entries[number]
        if isinstance(entry, Wish):
            return entry
        assert isinstance(entry, Follow)
        one, two = self.wish(entry.known), self.wish(entry.through)
        inner = inverse(one.frame) @ two.target
        loose = one.tolerance + one.angle_tolerance * float(np.linalg.norm(inner[:3, 3])) + two.tolerance
        angle = one.angle_tolerance + two.angle_tolerance
        return replace(two, seen_from=None, target=one.target @ inner, tolerance=loose, angle_tolerance=angle)


def _turn(number: int) -> str:
    return f"(turn {number})"


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
    with relaxed(claim, *box, start) as relaxation:
        if not relaxation.refuted(likely(claim)):
            return False
        return will_hold(claim, leaf_of(relaxation, 0, start), relaxation)


def _heaviest(claims: _Claims, leaves: list[Boxed]) -> list[str]:
    """The joints whose limits weigh most in all boxes."""
    weight = dict.fromkeys(claims.names, 0.0)
    for leaf, lower, upper in leaves:
        if isinstance(leaf, Leaf):
            for name, share in _shares(claims, leaf, lower, upper):
                weight[name] += share
    total = sum(weight.values())
    return sorted((n for n in weight if weight[n] > MATTERS * total), key=lambda n: -weight[n])[:MOST_NAMES]


def _shares(claims: _Claims, leaf: Leaf, lower: Floats, upper: Floats) -> Iterator[tuple[str, float]]:
    """How much the limits of each joint weigh in one leaf."""
    chain = claims[leaf.claim].chain
    at = [claims.names.index(name) if name in claims.names else -1 for name in chain.names]
    low, high = (np.append(side, 0.0)[at] for side in (lower, upper))
    limited, k = ranges(chain, low, high).limited, 0
    for arc in arcs_of(len(at), leaf.start):
        k += 1
        for joint in arc:
            if limited[joint]:
                if at[joint] >= 0:
                    yield chain.names[joint], float(np.sum(leaf.grams[k] ** 2))
                k += 1
