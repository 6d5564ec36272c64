"""How much a proof must be better than nothing: the slack of `balls` in floating point, to know when it will hold."""

from __future__ import annotations

import numpy as np

from supple.deciding.balls import quarters
from supple.deciding.claims import Claim
from supple.deciding.proof import Leaf
from supple.deciding.relaxation import arcs_of, ranges
from supple.space import Floats

ROUNDING = 1e-10  # of the balls, about, for multipliers of the order of one


def likely(claim: Claim) -> float:
    """About the slack of most leaves of a claim."""
    return 1e-6 + 8.0 * (claim.tolerance / claim.chain.reach + (0.0 if claim.point else claim.angle_tolerance))


def slack_of(claim: Claim, leaf: Leaf, lower: Floats, upper: Floats) -> float:
    """The slack of a leaf, of which the traces of all ``G Gᵀ`` add up to one."""
    chain = claim.chain
    scale = 2.0 / chain.reach
    slid = np.where(chain.slides, 3.0 * np.maximum(np.abs(lower), np.abs(upper)), 0.0)
    fixed = np.linalg.norm(chain.before[:, :3, 3], axis=1)
    a, b = arcs_of(len(fixed), leaf.start)
    to_target = float(np.linalg.norm(claim.target[:3, 3]))
    if claim.point:
        epsilon, far = claim.tolerance * scale, scale * (to_target + fixed[list(a)].sum() + slid[list(a)].sum())
        first, square = float(np.linalg.norm(leaf.linear[:3])), abs(float(leaf.linear[3]))
        return float(first * epsilon + square * (2.0 * far + epsilon) * epsilon + ROUNDING * (1.0 + first + square))
    away = float(np.linalg.norm(claim.target[:3, 3] - chain.before[0, :3, 3]))
    ahead = away + fixed[1 : a[0] + 1].sum() + slid[: a[0] + 1].sum()
    way = min(ahead, float(np.linalg.norm(chain.behind[:3, 3])) + fixed[a[-1] + 1 :].sum() + slid[a[-1] :].sum())
    delta, tau = claim.angle_tolerance, 0.5 * scale * (claim.tolerance + claim.angle_tolerance * way)
    r = 0.5 * scale * (fixed[list(a[1:])].sum() + slid[list(a)].sum())
    p, q, d = (_spread(block) for block in quarters(leaf.symmetric))
    kappa = 0.5 * delta * (1.0 + r) + tau
    slack = delta * (p + 2.0 * q * r + d * r * r) + 2.0 * tau * (q + d * r) + (p + 2.0 * q + d) * kappa * kappa
    g, second = ranges(chain, lower, upper).g[list(b)], _spread(leaf.facial)
    wide = np.prod(np.where(chain.slides[list(b)], 2.0, 2.0 - g * g)) ** 0.5
    turned, slid_off = _spread(leaf.kernel[:, :4]), _spread(leaf.kernel[:, 4:])
    off = 0.5 * delta * turned + (tau + 0.5 * r * delta) * slid_off + ROUNDING
    return float(slack + off * second * wide + ROUNDING * (1.0 + p + q + d + second))


def _spread(M: Floats) -> float:
    """The bound of the spectral norm that the balls use."""
    square = M @ M.T
    return float(np.linalg.norm(square @ square)) ** 0.25
