"""Branch and bound over joint ranges: every box of postures is refuted, or holds a posture that is found.

A box is refuted by the relaxation of any one claim, or by a pair of bodies that touch throughout it. One that is not is
tried for a posture, from the angles that the relaxations stand for, and then cut where these are as far as can be outside
both halves. Claims whose chains share no joint, and that no bodies tie together, are decided one after
the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supple.geometry.placements import Floats
from supple.proofs.checker.proof import Leaf, Proof, Split
from supple.proofs.claims import Claim
from supple.proofs.collisions import Crashes, Pairing
from supple.proofs.proof import leaf_of
from supple.proofs.relaxation.relaxation import best_start, relaxed
from supple.proofs.tolerances import likely, will_hold

DEEPEST = 150  # cuts of one box
TOO_CLOSE = 10  # boxes that were refuted by less than tolerances need, after which more are of no use
WORTH = 0.05  # share of what most proofs have to be refuted by, below which none is worth looking at
NARROW = 1e-3  # [rad, m] a range that is not cut while others are wider
CUTS = np.linspace(0.1, 0.9, 17)  # shares of a range at which it may be cut
CERTAIN = 1e-3  # outside both halves: what is less is none
ON_AXIS = 1e-9  # [m] as good as on an axis
BESIDE = 0.15  # share of a range that a cut keeps from a posture


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
        self.slides = np.zeros(len(self.names), dtype=bool)
        for at, claim in zip(self.at, self.claims, strict=True):
            self.slides[at] = claim.chain.slides
        self.idle = np.full(len(self.names), not self.pairings)  # joints that need not be cut
        for at, claim in zip(self.at, self.claims, strict=True):
            self.idle[at] &= idle(claim)
        self.crashes = Crashes(self.pairings, self.names)
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
        self.q = self.reach(np.clip(guess.q, lower, upper))
        return None if self.q is not None else self.cut(lower, upper, guess, guesses, depth + 1)

    def joined(self, guesses: dict[int, Guess], lower: Floats, upper: Floats) -> Guess:
        """What all claims stand for: in the middle between them, and the less sure the less they agree."""
        most, least, spread = (np.full(len(lower), x) for x in (-np.inf, np.inf, 0.0))
        for number, guess in guesses.items():
            at = self.at[number]
            most[at], least[at] = np.maximum(most[at], guess.q), np.minimum(least[at], guess.q)
            spread[at] = np.maximum(spread[at], guess.spread)
        known = most >= least
        apart = np.where(known, most, 0.0) - np.where(known, least, 0.0)
        q = np.where(known, np.where(known, least, 0.0) + 0.5 * apart, 0.5 * (lower + upper))
        return Guess(q, spread + 1.0 - np.cos(np.minimum(apart, np.pi)))

    def refuted(self, number: int, lower: Floats, upper: Floats) -> Leaf | Guess:
        """A leaf that is likely to hold, or what the relaxation of a claim stands for."""
        claim, margin = self.claims[number], likely(self.claims[number])
        at, start, worth = self.at[number], best_start(claim), WORTH * margin
        with relaxed(claim, lower[at], upper[at], start) as relaxation:
            while relaxation.refuted(margin, worth):
                is_best = relaxation.bound <= margin
                leaf = leaf_of(relaxation, number, start)
                if will_hold(claim, leaf, relaxation):
                    return leaf
                if is_best:
                    self.close += 1
                    break
                margin = np.inf
            return Guess(*relaxation.angles())

    def cut(self, lower: Floats, upper: Floats, guess: Guess, guesses: dict[int, Guess], depth: int) -> Split | None:
        """Both halves of a box."""
        joint, at = place_of_cut(lower, np.where(self.idle, lower, upper), guess, self.slides)
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


def place_of_cut(lower: Floats, upper: Floats, guess: Guess, slides: np.ndarray) -> tuple[int, float]:
    """The joint and where to cut it so that what the relaxation stands for is as far as can be outside both halves.

    A hinge's moments stand for a point ``ρ (cos q, sin q)`` in the convex hull of its arc; that of an arc of width w about
    the angle m is where ``x·(cos m, sin m) ≥ cos(w/2)``. Where no cut leaves the point outside both halves the relaxation is
    sure of a posture: then the widest range is cut, beside it.
    """
    width = upper - lower
    at = lower[:, None] + width[:, None] * CUTS
    rho, q = np.sqrt(np.maximum(1.0 - guess.spread, 0.0))[:, None], guess.q[:, None]
    below = np.cos(0.5 * (at - lower[:, None])) - rho * np.cos(q - 0.5 * (at + lower[:, None]))
    above = np.cos(0.5 * (upper[:, None] - at)) - rho * np.cos(q - 0.5 * (at + upper[:, None]))
    outside = np.minimum(below, above)
    outside[slides] = (guess.spread[:, None] - np.abs(at - q))[slides]
    outside[width <= NARROW] = -np.inf
    joint, k = (int(x) for x in np.unravel_index(int(np.argmax(outside)), outside.shape))
    if outside[joint, k] > CERTAIN:
        return joint, float(at[joint, k])
    joint = int(np.argmax(width))
    share = (guess.q[joint] - lower[joint]) / max(width[joint], 1e-300)
    return joint, float(
        lower[joint] + width[joint] * (0.5 if abs(share - 0.5) > BESIDE else 0.7 if share < 0.5 else 0.3)
    )


def idle(claim: Claim) -> np.ndarray:
    """Which joints do not move a claim's point: hinges at the end of the chain whose axes it lies on."""
    chain, out = claim.chain, np.zeros(len(claim.chain.names), dtype=bool)
    at = chain.behind[:, 3]
    for j in reversed(range(len(out) if claim.point else 0)):
        if chain.slides[j] or float(np.hypot(at[0], at[1])) > ON_AXIS:
            break
        out[j] = True
        at = chain.before[j] @ at
    return out


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
