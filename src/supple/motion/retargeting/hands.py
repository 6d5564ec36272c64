"""Hands that stand on the ground: when the source's do, and where the target's then are.

A hand is planted while its joint is slower than `planted.SLOW` and lower than `LOW` legs above the ground, a tenth of
a second at least. The target's is then locked with its outermost spot on the ground, where that has come to be on
average in the phase.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.geometry.placements import Floats
from supple.motion.retargeting.planted import SLOW, Phase, runs, speeds
from supple.motion.retargeting.soles import Spot
from supple.motion.retargeting.stars import FIRM, Mark
from supple.motion.retargeting.wishes import Wishes

LOW = 0.18  # [leg] a wrist above the ground on a hand that stands
SHORTEST = 0.1  # [s]


class Hand(NamedTuple):
    """A spot of the target's hand, and when it is planted."""

    spot: Spot
    phases: list[Phase]


def planted_hands(wishes: Wishes, spots: list[Spot]) -> list[Hand]:
    """The hands that are ever planted."""
    out = []
    for pair in wishes.alignment.pairs:
        own = [spot for spot in spots if spot.segment in wishes.alignment.target.anatomy.below[pair.target]]
        if pair.part != "hand" or not own:
            continue
        slow = speeds(wishes.way(pair), wishes.motion.times) < SLOW * wishes.leg
        found = runs(slow & (wishes.height(pair) < LOW * wishes.leg))
        phases = [(a, b) for a, b in found if wishes.motion.times[b - 1] - wishes.motion.times[a] >= SHORTEST]
        out += [Hand(own[0], phases)] if phases else []
    return out


def hand_marks(hands: list[Hand], ways: list[Floats], frames: int) -> list[Mark]:
    """Locks for the hands, whose spots have gone `ways` (frames, 3) so far."""
    out = []
    for k, (hand, way) in enumerate(zip(hands, ways, strict=True)):
        places, weights = np.zeros((frames, 3)), np.zeros(frames)
        for a, b in hand.phases:
            places[a:b] = [*way[a:b, :2].mean(axis=0), hand.spot.radius]
            weights[a:b] = FIRM
        out.append(Mark(f"hand {k} planted", hand.spot.point, places, weights))
    return out
