"""Branch and bound over joint ranges: every box of postures is refuted, or holds a posture that is found.

A box is refuted by the relaxation of any one claim, or by a pair of bodies that touch throughout it. One that is not is
tried for a posture, from the angles that the relaxations stand for, and then cut: the joint whose angle the relaxations
are least sure of is cut there. Claims whose chains share no joint, and that no bodies tie together, are decided one after
the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supple.deciding.claims import Claim
from supple.deciding.crashes import Crashes, Pairing
from supple.deciding.interior import WORTH
from supple.deciding.proof import Leaf, Proof, Split, leaf_of
from supple.deciding.relaxation import Relaxation, best_starts
from supple.deciding.slack import likely, slack_of
from supple.space import Floats

DEEPEST = 150  # cuts of one box
TOO_CLOSE = 24  # boxes that were refuted by less than their slack, after which more are of no use
MOST_STARTS = 3  # joints with which the first arc may begin
SAFELY = 1.1  # times the slack that a bound is to be above
NARROW = 1e-3  # [rad, m] a range that is not cut while others are wider
CERTAIN = 0.02  # spread of an angle that the relaxation is sure of: then the widest range is cut


class Outcome(NamedTuple):
    """A proof, or a posture of the joints, or neither; and how many boxes were looked at."""

    proof: Proof | None
    q: Floats | None
    boxes: int


class Guess(NamedTuple):
    """What the relaxations of a box stand for, joint by joint, and how sure they are of it: 0 is certain."""

    q: Floats
    spread: Floats


@dataclass
class Search:
    """Boxes of the named joints' ranges; `reach` tries to find a posture from a guess, `stop` says when to give up."""

    names: tuple[str, ...]
    claims: Sequence[Claim]
    pairings: list[Pairing]
    most: int
    reach: Callable[[Floats], Floats | None]
    stop: Callable[[], bool] = lambda: False

    def __post_init__(self) -> None:
        self.at = [np.array([self.names.index(name) for name in claim.chain.names]) for claim in self.claims]
        self.starts = [best_starts(claim)[:MOST_STARTS] for claim in self.claims]
        self.crashes = Crashes(self.pairings, self.claims, self.names)
        self.boxes, self.close, self.q = 0, 0, None

    def run(self, lower: Floats, upper: Floats) -> Outcome:
        """Refute the whole box, or find a posture in it."""
        proof = self.prove(lower, upper, {}, range(len(self.claims)))
        return Outcome(proof, self.q, self.boxes)

    def prove(
        self, lower: Floats, upper: Floats, before: dict[int, Guess], changed: Sequence[int], depth: int = 0
    ) -> Proof | None:
        """The proof that a box is empty; None if a posture was found or the boxes are used up.

        Only the relaxations of the claims that changed are looked at; `before` is what the others stand for.
        """
        if self.boxes >= self.most or depth > DEEPEST or self.close > TOO_CLOSE or self.stop():
            return None
        self.boxes += 1
        if (crash := self.crashes.first(lower, upper)) is not None:
            return crash
        guesses = dict(before)
        for number in changed:
            found = self.refuted(number, lower, upper)
            if isinstance(found, Leaf):
                return found
            guesses[number] = found
        guess = self.joined(guesses, lower, upper)
        self.q = self.reach(guess.q)
        return None if self.q is not None else self.cut(lower, upper, guess, guesses, depth + 1)

    def joined(self, guesses: dict[int, Guess], lower: Floats, upper: Floats) -> Guess:
        """What all claims stand for: in the middle between them, and the less sure the less they agree."""
        q, most, least, spread = 0.5 * (lower + upper), lower.copy(), upper.copy(), np.zeros(len(lower))
        for number, guess in guesses.items():
            at = self.at[number]
            own = np.clip(guess.q, lower[at], upper[at])
            most[at], least[at] = np.maximum(most[at], own), np.minimum(least[at], own)
            spread[at] = np.maximum(spread[at], guess.spread)
        known = most >= least
        q = np.where(known, 0.5 * (most + least), q)
        return Guess(q, spread + np.where(known, 1.0 - np.cos(np.minimum(most - least, np.pi)), 0.0))

    def refuted(self, number: int, lower: Floats, upper: Floats) -> Leaf | Guess:
        """A leaf that is likely to hold, or what the relaxation of a claim stands for.

        Where a relaxation is refuted by less than its slack, arcs that begin with another joint may do better.
        """
        guess, close = None, False
        for start in self.starts[number]:
            relaxation = Relaxation(self.claims[number], lower[self.at[number]], upper[self.at[number]], start)
            leaf = self.leaf(relaxation, number, start)
            if leaf is not None:
                return leaf
            guess = guess or Guess(*relaxation.angles())
            if not relaxation.bound > WORTH:
                break
            close = True
        assert guess is not None
        self.close += close
        return guess

    def leaf(self, relaxation: Relaxation, number: int, start: int) -> Leaf | None:
        """The proof of a relaxation, if it has one that is above its slack."""
        claim = self.claims[number]
        for margin in (likely(claim), np.inf):
            if not relaxation.refuted(margin):
                break
            leaf = leaf_of(relaxation, number, start)
            if relaxation.bound > SAFELY * slack_of(claim, leaf, relaxation.lower, relaxation.upper):
                return leaf
        return None

    def cut(self, lower: Floats, upper: Floats, guess: Guess, guesses: dict[int, Guess], depth: int) -> Split | None:
        """Both halves of a box."""
        width = upper - lower
        joint = int(np.argmax(np.where(width > NARROW, guess.spread, -1.0)))
        if guess.spread[joint] < CERTAIN:
            joint = int(np.argmax(width))
        inner = 0.25 * width[joint]
        at = float(np.clip(guess.q[joint], lower[joint] + inner, upper[joint] - inner))
        if not lower[joint] < at < upper[joint]:
            return None
        top, bottom = upper.copy(), lower.copy()
        top[joint] = bottom[joint] = at
        changed = [k for k, own in enumerate(self.at) if joint in own]
        below = self.prove(lower, top, guesses, changed, depth)
        if below is None:
            return None
        above = self.prove(bottom, upper, guesses, changed, depth)
        return None if above is None else Split(joint, at, below, above)


def box_of(claims: Sequence[Claim], pairings: Sequence[Pairing]) -> tuple[tuple[str, ...], Floats, Floats]:
    """The joints of all chains, and a box that holds every posture of them."""
    ranges: dict[str, tuple[float, float]] = {}
    for thing in (*claims, *pairings):
        for name, low, high in zip(thing.chain.names, *thing.chain.box, strict=True):
            ranges[name] = (float(low), float(high))
    lower, upper = (np.array([pair[side] for pair in ranges.values()]) for side in (0, 1))
    return tuple(ranges), lower, upper


def groups_of(claims: Sequence[Claim]) -> list[list[int]]:
    """Claims that share joints, directly or through others."""
    groups: list[tuple[set[str], list[int]]] = []
    for k, claim in enumerate(claims):
        names, members = set(claim.chain.names), [k]
        for group in [g for g in groups if g[0] & names]:
            groups.remove(group)
            names |= group[0]
            members = group[1] + members
        groups.append((names, members))
    return [members for _, members in groups]
