"""Certificates: data from which anybody can check that no posture does what was asked.

**Claim.** No q with ``lower ≤ q ≤ upper`` brings every frame within `tolerance` metres and `angle_tolerance` radians of
its target, and every point within `tolerance` metres.

**Proof.** The box of joint ranges is cut into smaller ones. For each there is one claim that none of its postures meets:
there are matrices G_k, a symmetric Λ and a matrix Ω such that, for every posture that meets the claim (the letters are
those of `relaxation`; x = L_A h_A, y = L_B h_B),

    ‖G₀ᵀh_A‖² + ‖G₁ᵀh_B‖² + Σ_j (1 − u_j) ‖G_jᵀ h‖²  ≥ 0,
    xᵀΛx − yᵀΛy = 0   and   (N y)ᵀ Ω h_B = 0   (for points: λ·(w_A − w_B) = 0),   each but for a slack.

Their sum is a linear form in moments, none of which is larger than one: if its constant plus the absolute values of
all other coefficients plus the slack is below zero, there is no such posture. That number is evaluated in ball
arithmetic (`balls`), from the figure's placements and the floating-point G, Λ, Ω as they are: nothing that the solver
computed is believed. Or there are two things that must keep apart and do not in any posture of the box (`crashes`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from supple.deciding.balls import holds
from supple.deciding.chain import Undecidable
from supple.deciding.claims import Claim
from supple.deciding.crash_balls import crash_holds
from supple.deciding.crashes import Pairing
from supple.deciding.proof import Crash, Leaf, Proof, Split
from supple.errors import Error
from supple.figure import Figure
from supple.space import Floats

SAME = 1e-12  # by how much the placements of two chains that are the same may differ


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is claimed, and its proof. The first names are those of the figure's joints, others of joints that were added."""

    names: tuple[str, ...]
    lower: Floats
    upper: Floats
    claims: tuple[Claim, ...]
    pairings: tuple[Pairing, ...]
    proof: Proof

    def leaves(self) -> Iterator[tuple[Leaf | Crash, Floats, Floats]]:
        """The boxes of the proof, and what proves each empty."""
        stack: list[tuple[Proof, Floats, Floats]] = [(self.proof, self.lower, self.upper)]
        while stack:
            node, lower, upper = stack.pop()
            if isinstance(node, Split):
                top, bottom = upper.copy(), lower.copy()
                top[node.joint] = bottom[node.joint] = node.at
                stack += [(node.above, bottom, upper), (node.below, lower, top)]
            else:
                yield node, lower, upper

    def compact(self) -> Certificate:
        """The same with only those claims and pairings that its proof needs."""
        leaves = [leaf for leaf, _, _ in self.leaves()]
        pairs = sorted({leaf.pair for leaf in leaves if isinstance(leaf, Crash)})
        claims = self._needed()

        def renumbered(node: Proof) -> Proof:
            if isinstance(node, Split):
                return replace(node, below=renumbered(node.below), above=renumbered(node.above))
            if isinstance(node, Leaf):
                return replace(node, claim=claims.index(node.claim))
            return replace(node, pair=pairs.index(node.pair))

        return replace(
            self,
            claims=tuple(self.claims[k] for k in claims),
            pairings=tuple(
                replace(p, given=claims.index(p.given) if p.given >= 0 else -1)
                for p in (self.pairings[k] for k in pairs)
            ),
            proof=renumbered(self.proof),
        )

    def verify(self, figure: Figure | None = None) -> bool:
        """Whether the proof holds, checked in ball arithmetic from the chains themselves.

        With a figure, also whether the chains are that figure's, and its limits no wider than those of the proof.
        """
        mine = figure is None or all(_is_of(figure, thing) for thing in (*self.claims, *self.pairings))
        return mine and self._covers() and all(self.stands(*leaf) for leaf in self.leaves())

    def stands(self, leaf: Leaf | Crash, lower: Floats, upper: Floats) -> bool:
        """Whether one leaf proves its box empty."""
        what = self.claims if isinstance(leaf, Leaf) else self.pairings
        number = leaf.claim if isinstance(leaf, Leaf) else leaf.pair
        if not 0 <= number < len(what):
            return False
        at = [self.names.index(name) for name in what[number].chain.names]
        if isinstance(leaf, Leaf):
            return holds(self.claims[number], leaf, lower[at], upper[at])
        given = self.pairings[number].given
        if not -1 <= given < len(self.claims):
            return False
        claim = self.claims[given] if given >= 0 else None
        return crash_holds(self.pairings[number], claim, leaf, lower[at], upper[at])

    def _covers(self) -> bool:
        """Whether the box holds every posture of every chain, its cuts are cuts, and free turns belong to one claim each."""
        added = [claim.way.turning for claim in self.claims if claim.way.turning]
        if any(sum(name in thing.chain.names for thing in (*self.claims, *self.pairings)) != 1 for name in added):
            return False
        for thing in (*self.claims, *self.pairings):
            for name, low, high in zip(thing.chain.names, *thing.chain.box, strict=True):
                if name not in self.names:
                    return False
                j = self.names.index(name)
                if not (self.lower[j] <= low and high <= self.upper[j]):
                    return False
        return all(0 <= s.joint < len(self.names) and np.isfinite(s.at) for s in self._splits())

    def _splits(self) -> Iterator[Split]:
        stack = [self.proof]
        while stack:
            node = stack.pop()
            if isinstance(node, Split):
                yield node
                stack += [node.below, node.above]

    @property
    def statement(self) -> str:
        """What cannot be, in words."""
        wishes = [self.claims[k].wish for k in self._needed()]
        if any(isinstance(leaf, Crash) for leaf, _, _ in self.leaves()):
            wishes.append("keeps clear")
        return f"No posture within the limits {' and '.join(wishes)}"

    def _needed(self) -> list[int]:
        """The claims that the proof refutes, or that what touches in it is given."""
        leaves = [leaf for leaf, _, _ in self.leaves()]
        refuted = {leaf.claim for leaf in leaves if isinstance(leaf, Leaf)}
        return sorted(refuted | {self.pairings[leaf.pair].given for leaf in leaves if isinstance(leaf, Crash)} - {-1})

    def explain(self) -> str:
        """A sentence in plain words: what cannot be, and which limits matter."""
        from supple.deciding.reasons import reason_of

        return f"{self.statement}{reason_of(self)}"

    def to_json(self) -> str:
        """The certificate as text; numbers come back to the bit."""
        from supple.deciding.certificate_text import written

        return written(self)

    @staticmethod
    def from_json(text: str) -> Certificate:
        """The certificate in a text; it proves nothing until `verify` says so."""
        from supple.deciding.certificate_text import read

        return read(text)


def _is_of(figure: Figure, thing: Claim | Pairing) -> bool:
    """Whether a chain is what a figure has on that way."""
    own = thing.chain
    try:
        chain = thing.way.chain(figure, figure.lower, figure.upper)
    except (Undecidable, Error):
        return False
    if chain.names != own.names or (chain.slides != own.slides).any() or (chain.signs != own.signs).any():
        return False
    same = all(np.allclose(x, y, 0.0, SAME) for x, y in ((chain.before, own.before), (chain.behind, own.behind)))
    return bool(same and (own.box[0] <= chain.box[0]).all() and (chain.box[1] <= own.box[1]).all())
