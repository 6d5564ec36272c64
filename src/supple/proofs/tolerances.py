"""What the search makes of tolerances (`checker.slack`): how much must be refuted, and whether balls will agree."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from supple.geometry.placements import Floats
from supple.proofs.checker.balls import CONJUGATE
from supple.proofs.checker.moments import Ranges, arcs_of
from supple.proofs.checker.proof import Leaf
from supple.proofs.checker.slack import TIMES, Loose, surely_withstands, withstands
from supple.proofs.claims import Claim
from supple.proofs.relaxation.relaxation import Relaxation
from supple.proofs.serial_chain import Chain, dual_of

SAFELY = 1.02  # times what is needed, where the search is to believe that balls will agree
ROUNDING = 1e-10  # of the balls, about, for multipliers of the order of one


def likely(claim: Claim) -> float:
    """About as much as a relaxation has to be refuted by for most leaves of a claim to hold."""
    return 1e-6 + 0.4 * (claim.tolerance / claim.chain.reach + (0.0 if claim.point else claim.angle_tolerance))


def will_hold(claim: Claim, leaf: Leaf, relaxation: Relaxation) -> bool:
    """Whether balls are likely to find that a leaf holds, which comes from a relaxation."""
    chain, lower, upper, bound = claim.chain, relaxation.lower, relaxation.upper, relaxation.bound
    scale = 2.0 / chain.reach
    slid = np.where(chain.slides, 3.0 * np.maximum(np.abs(lower), np.abs(upper)), 0.0)
    fixed = np.linalg.norm(chain.before[:, :3, 3], axis=1)
    a, b = arcs_of(len(fixed), leaf.start)
    to_target, behind, beta = _norm(claim.target[:3, 3]), _norm(chain.behind[:3, 3]), bound / SAFELY - ROUNDING
    if claim.point:
        ways = [x + fixed[list(arc)].sum() + slid[list(arc)].sum() for x, arc in ((to_target, a), (behind, b))]
        epsilon, far = claim.tolerance * scale, scale * min(ways)
        first, square = _norm(leaf.linear[:3]), abs(float(leaf.linear[3]))
        return beta > first * epsilon + square * (2.0 * far + epsilon) * epsilon + ROUNDING * (first + square)
    box = relaxation.ranges
    r = 0.5 * scale * (to_target + fixed.sum() + behind + slid.sum())
    g = box.g[list(b)]
    wide = float(np.prod(np.where(chain.slides[list(b)], 2.0, 2.0 - g * g))) ** 0.5
    loose = Loose(claim.angle_tolerance, 0.5 * scale * claim.tolerance, r, ROUNDING, wide)
    beta -= ROUNDING * _norm(leaf.symmetric)
    if surely_withstands(leaf, loose, beta):
        return True
    return withstands(leaf, loose, halves(claim, box, leaf.start), chain.slides.tolist(), box, beta)


def halves(claim: Claim, box: Ranges, start: int) -> tuple[Floats, Floats]:
    """The columns of B₁ and of ``T⁻¹ B₂``, as rows."""
    chain = claim.chain
    n, scale = len(chain.names), 2.0 / chain.reach
    a, b = arcs_of(n, start)
    by = _by(chain)
    one, two = np.eye(8)[:1], np.array(CONJUGATE)[None] * dual_of(claim.target, scale)
    for j in b:
        if j > a[-1]:
            one = _moved(one @ by[j], chain, box, j)
        else:
            two = _moved(two @ by[j], chain, box, j)
    return one @ by[n], _middle(two @ by[a[0]], chain, box, a[0])


@lru_cache(maxsize=256)
def _by(chain: Chain) -> Floats:
    """What a row of eight is multiplied with from the right to be multiplied by each of a chain's fixed parts."""
    return np.einsum("ijk,nj->nik", TIMES, chain.duals)


def _middle(rows: Floats, chain: Chain, box: Ranges, j: int) -> Floats:
    half = 0.5 * chain.signs[j] * box.middle[j]
    c, s, k = (1.0, 2.0 / chain.reach * half, 7) if chain.slides[j] else (np.cos(half), np.sin(half), 3)
    return c * rows + s * (rows @ TIMES[:, k])


def _moved(rows: Floats, chain: Chain, box: Ranges, j: int) -> Floats:
    rows = _middle(rows, chain, box, j)
    other = chain.signs[j] * box.g[j] * (rows @ TIMES[:, 7 if chain.slides[j] else 3])
    return np.stack([rows, other], axis=1).reshape(-1, 8)


def _norm(M: Floats) -> float:
    return float(np.linalg.norm(M))
