"""How much a proof must be better than nothing, since a target is met to within tolerances.

**Misses.** The target T lies inside arc B, whose product is ``B₁ T⁻¹ B₂``: B₁ holds the joints behind arc A and what is
behind them, B₂ the joints before it. A frame that is turned off its target by θ ≤ δ and moved off by no more than ε is
at ``T μ``, and then it is ``B₁ μ⁻¹ T⁻¹ B₂`` that closes the loop. With s the scale of lengths, ``c = cos(θ/2)`` and e_k
the units of dual quaternions,

    μ⁻¹ = c + Σ_k m_k e_k,   ‖m₁₂₃‖ ≤ δ/2,   ‖m₅₆₇‖ ≤ τ = ε s/2,   |m₄| ≤ τ δ/2;

so ``x = L_A h_A = ±(c y + z)`` with ``y = L_B h_B``, ``z = Σ_k m_k y_k`` and y_k the conjugate of ``B₁ e_k T⁻¹ B₂``:
all linear in h_B. Since ``N x = ν`` is nothing but rounding, what the multipliers of a leaf say to be zero is

    xᵀΛx − yᵀΛy + (N y)ᵀΩh_B = Σ_k m_k v_k + rest,   v_k = y_kᵀ (2Λy − NᵀΩh_B),
    |rest| ≤ (1 − c²)|yᵀΛy| + (1 − c)|2yᵀΛz| + |zᵀΛz| + (1/c − 1)|(N z)ᵀΩh_B| + |νᵀΩh_B|/c.

**First order.** Every v_k is linear in the matrix ``h_B h_Bᵀ``, whose factors ``[[1 + κu, v], [v, u]]``, one for each
joint, lie on curves: arcs of conics. An arc between two points lies in the triangle of these and the point where its
tangents there meet, so that a curve cut into pieces lies in the polygon of these meeting points and its two ends:

    u = sin(a/2) sin(b/2)/(g² cos((b−a)/2)),   v = sin((a+b)/2)/(2g cos((b−a)/2))   for a piece from a to b,

and ``u = a b``, ``v = (a + b)/2`` for a slide, in units of g. A convex function of something that is linear in each of
several points is nowhere larger in their polygons than at the corners. Therefore

    |Σ_{k≠4} m_k v_k| ≤ max over all corners of  (δ/2) ‖v₁₂₃‖ + τ ‖v₅₆₇‖.

**Rest.** Let r be half of s times all lengths in arc B and to the target: the halves of y and of every y_k are no
longer than 1 and r, hence ``‖y‖ ≤ Y = 1 + r`` and ``‖z‖ ≤ κ = Y δ/2 + τ (1 + δ/2)``. As δ < 1/4, ``1 − c² ≤ δ²/4``,
``1 − c ≤ δ²/8`` and ``1/c − 1 ≤ δ²/7``, and ``Y δ/2 ≤ κ``; with ``‖h_B‖² ≤ H = Π (2 − g²)`` (2 for a slide),

    |m₄ v₄ + rest| ≤ 3 ‖Λ‖ κ² + τ Y δ ‖Λ‖ + (κ δ²/7 + τ δ/2) ‖NᵀΩ‖ √H + 2 ‖ν‖ ‖Ω‖ √H.

**Rounding.** The corners are looked at in floating point. Let the components of B₁ and ``T⁻¹ B₂`` be off by no more than
w, so that the matrices L_k of all y_k are by no more than ``ω = 3w (√#₁ ‖B₂‖ + √#₂ ‖B₁‖)``, # counting components, and
let ℓ be the largest ``‖L_k‖`` (Frobenius norms all). Then the matrices of v_k are off by no more than ``ω (4ℓ‖Λ‖ +
‖NᵀΩ‖)``, and by less than 1e-9 of ``ℓ²‖Λ‖ + ℓ‖NᵀΩ‖`` because each is a matter of fewer than a thousand roundings; the v_k
by H times as much. All of it is added.

**Points.** A point that misses its target by ε changes w by no more than ``ε s`` and ``|w|²`` by no more than
``2 s (|p| + ℓ_A) ε s + (ε s)²``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from supple.deciding.chain import CONJUGATE, Chain, dual_of, product
from supple.deciding.claims import Claim
from supple.deciding.eliminating import RANK
from supple.deciding.proof import Leaf
from supple.deciding.relaxation import FIRST_ARC, Ranges, arcs_of, matrices, ranges
from supple.space import Floats

ROUNDING = 1e-10  # of the balls, about, for multipliers of the order of one
PIECE = 0.6  # [rad] half of a piece of a joint's range, of slides in units of half their range
COARSE, FINE = 1, 2  # pieces of a piece
WIDTH = 5e-10  # by how much the components of dual quaternions may be off
NEAR = 1e-9  # by which share what is computed from them may be off


def _times() -> Floats:
    """``e_i e_j = Σ_k times[i, j, k] e_k`` of dual quaternions."""
    out, one = np.zeros((8, 8, 8)), np.eye(4).tolist()
    for i in range(4):
        for j in range(4):
            out[i, j, :4] = out[i, j + 4, 4:] = out[i + 4, j, 4:] = product(one[i], one[j])
    return out


TIMES = _times()


class Tolerances(NamedTuple):
    """δ, τ and r of a claim."""

    delta: float
    tau: float
    r: float


# ── the rigorous part ────────────────────────────────────────────────────────────────────────────────────────────────
def first_order(
    leaf: Leaf, tolerances: Tolerances, one: Floats, two: Floats, chain: Chain, box: Ranges, pieces: int
) -> float:
    """An upper bound of the first order in m, rounding included; `one` and `two`: the columns of B₁ and ``T⁻¹ B₂``, as rows."""
    arc = arcs_of(len(chain.names), leaf.start)[1]
    L = carried(one, two)
    M = 2.0 * leaf.symmetric @ L[0]
    if len(leaf.kernel):
        M -= leaf.kernel.T @ leaf.facial
    forms = L[[1, 2, 3, 5, 6, 7]].transpose(0, 2, 1) @ M
    v = at_corners(0.5 * (forms + forms.transpose(0, 2, 1)), [corners(chain, box, j, pieces) for j in arc])
    turned, slid = (np.sqrt(np.einsum("ki,ki->i", part, part)) for part in (v[:3], v[3:]))
    most = float((0.5 * tolerances.delta * turned + tolerances.tau * slid).max())
    norm, facial, length = (float(np.linalg.norm(leaf.symmetric)), _facial(leaf), float(np.sqrt((L * L).sum(axis=(1, 2)).max())))
    apart = 3.0 * WIDTH * float(one.size**0.5 * np.linalg.norm(two) + two.size**0.5 * np.linalg.norm(one))
    off = apart * (4.0 * length * norm + facial) + NEAR * length * (length * norm + facial)
    return most * (1.0 + NEAR) + (tolerances.delta + 2.0 * tolerances.tau) * off * 2.0 ** len(arc)


def carried(one: Floats, two: Floats) -> Floats:
    """The matrices of y and of all y_k, ``(8, 8, 2^k)``."""
    both = np.tensordot(one @ TIMES.transpose(1, 0, 2), TIMES.transpose(0, 2, 1), (2, 0)) @ two.T
    return CONJUGATE[:, None] * both.transpose(0, 2, 1, 3).reshape(8, 8, -1)


def corners(chain: Chain, box: Ranges, j: int, pieces: int) -> Floats:
    """``1 + κu, v, v, u`` at the corners of a polygon around the curve of a joint."""
    g, whole = box.g[j], not box.limited[j]
    half = 1.0 if chain.slides[j] else np.pi if whole else 2.0 * np.arcsin(min(g, 1.0))
    ends = np.linspace(-half, half, 1 + pieces * int(np.ceil(half / PIECE)))
    a, b = (ends[:-1], ends[1:]) if whole else (np.append(ends[0], ends), np.append(ends, ends[-1]))
    if chain.slides[j]:
        u, v = a * b, 0.5 * (a + b)
    else:
        wide = np.cos(0.5 * (b - a))
        u, v = np.sin(0.5 * a) * np.sin(0.5 * b) / (g * g * wide), np.sin(0.5 * (a + b)) / (2.0 * g * wide)
    return np.stack([1.0 + box.kappa[j] * u, v, v, u], axis=1)


def at_corners(forms: Floats, polygons: list[Floats]) -> Floats:
    """Quadratic forms in h ``(f, 2^k, 2^k)`` at all combinations of corners, ``(f, corners)``."""
    count, k = len(forms), len(polygons)
    axes = [0, *(x for i in range(k) for x in (1 + i, 1 + k + i))]
    out = forms.reshape((count, *(2,) * (2 * k))).transpose(axes).reshape((count, *(4,) * k))
    for polygon in polygons:
        out = np.tensordot(out, polygon, (1, 1))
    return out.reshape(count, -1)


def rest(leaf: Leaf, tolerances: Tolerances, wide: float) -> float:
    """A bound of the rest but for ν; `wide` bounds √H."""
    delta, tau, r = tolerances
    kappa, size = 0.5 * delta * (1.0 + r) + tau * (1.0 + 0.5 * delta), float(np.linalg.norm(leaf.symmetric))
    second = (3.0 * kappa * kappa + tau * (1.0 + r) * delta) * size
    return (1.0 + NEAR) * (second + (kappa * delta * delta / 7.0 + 0.5 * tau * delta) * wide * _facial(leaf))


def _facial(leaf: Leaf) -> float:
    return float(np.linalg.norm(leaf.kernel) * np.linalg.norm(leaf.facial)) if len(leaf.kernel) else 0.0


# ── what the search makes of it ──────────────────────────────────────────────────────────────────────────────────────
def likely(claim: Claim) -> float:
    """About the slack of most leaves of a claim."""
    return 1e-6 + 8.0 * (claim.tolerance / claim.chain.reach + (0.0 if claim.point else claim.angle_tolerance))


def best_starts(claim: Claim) -> tuple[int, ...]:
    """With which joint the first arc may begin, the best first."""
    return (0,) if claim.point else _most_special(claim.chain)


@lru_cache(maxsize=256)
def _most_special(chain: Chain) -> tuple[int, ...]:
    """First the arcs whose three axes are the most special, all through one point or parallel; of these that nearest to the base.

    The slack is that of arc B, and the smaller the more of its joints come before the target.
    """
    whole, n, ranks = ranges(chain, *chain.box), len(chain.names), []
    for start in range(n - FIRST_ARC + 1):
        order = np.array([j for arc in arcs_of(n, start) for j in arc])
        s = np.linalg.svd(matrices(chain, np.eye(4), whole, order)[0], compute_uv=False)
        ranks.append(int(np.count_nonzero(s > RANK * s[0])))
    return tuple(sorted(range(len(ranks)), key=lambda k: (ranks[k], k)))


def slack_of(claim: Claim, leaf: Leaf, lower: Floats, upper: Floats, enough: float = 0.0) -> float:
    """The slack of a leaf, of which the traces of all ``G Gᵀ`` add up to one; no finer than to see that it is below `enough`."""
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
    box = ranges(chain, lower, upper)
    r = 0.5 * scale * (to_target + fixed.sum() + float(np.linalg.norm(chain.behind[:3, 3])) + slid.sum())
    tolerances = Tolerances(claim.angle_tolerance, 0.5 * scale * claim.tolerance, r)
    g = box.g[list(b)]
    wide = float(np.prod(np.where(chain.slides[list(b)], 2.0, 2.0 - g * g))) ** 0.5
    size = float(np.linalg.norm(leaf.symmetric)) + _facial(leaf)
    more = rest(leaf, tolerances, wide) + ROUNDING * (1.0 + size * wide)
    one, two = halves(claim, box, leaf.start)
    first = first_order(leaf, tolerances, one, two, chain, box, COARSE)
    if first + more > enough:
        first = first_order(leaf, tolerances, one, two, chain, box, FINE)
    return first + more


def halves(claim: Claim, box: Ranges, start: int) -> tuple[Floats, Floats]:
    """The columns of B₁ and of ``T⁻¹ B₂``, as rows."""
    chain = claim.chain
    n, scale = len(chain.names), 2.0 / chain.reach
    a, b = arcs_of(n, start)
    one, two = np.eye(8)[:1], CONJUGATE[None] * dual_of(claim.target, scale)
    for j in b:
        if j > a[-1]:
            one = _moved(one @ _by(chain.duals[j]), chain, box, j)
        else:
            two = _moved(two @ _by(chain.duals[j]), chain, box, j)
    return one @ _by(chain.duals[n]), _middle(two @ _by(chain.duals[a[0]]), chain, box, a[0])


def _by(unit: Floats) -> Floats:
    """What a row of eight is multiplied with from the right to be multiplied by a dual quaternion."""
    return np.tensordot(TIMES, unit, (1, 0))


def _middle(rows: Floats, chain: Chain, box: Ranges, j: int) -> Floats:
    half = 0.5 * chain.signs[j] * box.middle[j]
    c, s, k = (1.0, 2.0 / chain.reach * half, 7) if chain.slides[j] else (np.cos(half), np.sin(half), 3)
    return c * rows + s * (rows @ TIMES[:, k])


def _moved(rows: Floats, chain: Chain, box: Ranges, j: int) -> Floats:
    rows = _middle(rows, chain, box, j)
    other = chain.signs[j] * box.g[j] * (rows @ TIMES[:, 7 if chain.slides[j] else 3])
    return np.stack([rows, other], axis=1).reshape(-1, 8)
