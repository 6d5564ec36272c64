"""Branch and bound over joint ranges: every box of postures is refuted, or holds a posture that is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from supple.deciding.balls import holds
from supple.deciding.chain import Chain
from supple.deciding.interior import phase_one
from supple.deciding.proof import Leaf, Split, leaf_of
from supple.deciding.relaxation import best_start, eliminated, relaxation_of
from supple.space import Floats

FIRMER = 2.0  # times a bound that its check did not believe, to try for next
NARROW = 1e-3  # [rad] a range that is not cut while others are wider
CERTAIN = 1e-6  # spread of an angle that the relaxation is sure of


class Outcome(NamedTuple):
    """A proof, or a posture of the chain, or neither; and how many boxes were looked at."""

    proof: Leaf | Split | None
    q: Floats | None
    boxes: int


class _Search:
    def __init__(
        self,
        chain: Chain,
        target: Floats,
        tolerances: tuple[float, float],
        most: int,
        reach: Callable[[Floats], Floats | None],
    ) -> None:
        self.chain, self.target, self.tolerances, self.most, self.reach = chain, target, tolerances, most, reach
        self.margin = 1e-6 + 4.0 * (tolerances[0] / chain.reach + tolerances[1])
        self.start = best_start(chain)
        self.boxes, self.q = 0, None

    def prove(self, lower: Floats, upper: Floats) -> Leaf | Split | None:
        """The proof that a box is empty; None if a posture was found or the boxes are used up."""
        if self.boxes >= self.most:
            return None
        self.boxes += 1
        relaxation = relaxation_of(self.chain, self.target, lower, upper, self.start)
        free = eliminated(relaxation)
        blocks, margin = (relaxation.blocks(free.base), relaxation.blocks(free.directions)), self.margin
        verdict = phase_one(*blocks, margin)
        while verdict.refuted:
            leaf = leaf_of(relaxation, lower, upper, self.start, verdict.X)
            if holds(self.chain, self.target, *self.tolerances, leaf):
                return leaf
            margin = FIRMER * verdict.bound
            verdict = phase_one(*blocks, margin)
        guess, spread = relaxation.angles(free.base + verdict.z @ free.directions)
        self.q = self.reach(np.clip(guess, lower, upper))
        return None if self.q is not None else self._cut(lower, upper, guess, spread)

    def _cut(self, lower: Floats, upper: Floats, guess: Floats, spread: Floats) -> Split | None:
        width = upper - lower
        joint = int(np.argmax(np.where(width > NARROW, spread, -1.0)))
        if spread[joint] < CERTAIN:
            joint = int(np.argmax(width))
        inner = 0.25 * width[joint]
        at = float(np.clip(guess[joint], lower[joint] + inner, upper[joint] - inner))
        top, bottom = upper.copy(), lower.copy()
        top[joint] = bottom[joint] = at
        below = self.prove(lower, top)
        if below is None:
            return None
        above = self.prove(bottom, upper)
        return None if above is None else Split(joint, at, below, above)


def searched(
    chain: Chain,
    target: Floats,
    tolerances: tuple[float, float],
    most: int,
    reach: Callable[[Floats], Floats | None],
) -> Outcome:
    """Refute the chain's whole range, box by box, `most` of them; `reach` tries to find a posture from a guess."""
    search = _Search(chain, target, tolerances, most, reach)
    proof = search.prove(*chain.box)
    return Outcome(proof, search.q, search.boxes)
