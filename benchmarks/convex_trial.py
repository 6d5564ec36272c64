"""One leaf and one claim of the search put to the check, without a figure or a certificate: for tests and measurements."""

from __future__ import annotations

from supple.geometry.placements import Floats
from supple.proofs.checker.balls import PRECISION, Unproved, need_flint, placed
from supple.proofs.checker.leaves import Loop
from supple.proofs.checker.mechanism import Chain as Balls, Claim as InBalls
from supple.proofs.checker.proof import Leaf
from supple.proofs.claims import Claim


def loop_of(claim: Claim) -> Loop:
    """A claim in balls, about placements that are floats."""
    chain, arb = claim.chain, need_flint().arb
    far = [max(abs(a), abs(b)) if s else 0.0 for a, b, s in zip(chain.lower, chain.upper, chain.slides, strict=True)]
    before, unknowns = tuple(placed(T) for T in chain.before), tuple(range(len(far)))
    signs, slides = tuple(int(s) for s in chain.signs), tuple(bool(s) for s in chain.slides)
    own = Balls(unknowns, before, placed(chain.behind), signs, slides, tuple(float(x) for x in far))
    loose = arb(float(claim.tolerance)), arb(float(claim.angle_tolerance))
    return Loop(InBalls(own, placed(claim.target), *loose, claim.point))


def holds(claim: Claim, leaf: Leaf, lower: Floats, upper: Floats) -> bool:
    """Whether a leaf proves that no posture of the box meets the claim."""
    with need_flint().ctx.workprec(PRECISION):
        try:
            return loop_of(claim).refuted(leaf, lower, upper)
        except Unproved:
            return False
