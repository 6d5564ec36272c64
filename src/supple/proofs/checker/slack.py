"""How much better than nothing a proof must be, since a target is met to within tolerances.

**Misses.** The target T lies inside arc B, whose product is ``B₁ T⁻¹ B₂``: B₁ holds the joints behind arc A and what is
behind them, B₂ the joints before it. A frame that is turned off its target by θ ≤ δ and moved off by no more than ε is
at ``T μ``, and then it is ``B₁ μ⁻¹ T⁻¹ B₂`` that closes the loop. With s the scale of lengths, ``c = cos(θ/2)`` and e_k
the units of dual quaternions,

    μ⁻¹ = c + Σ_k m_k e_k,   ‖m₁₂₃‖ ≤ δ/2,   ‖m₅₆₇‖ ≤ τ = ε s/2,   |m₄| ≤ τ δ/2;

so ``x = L_A h_A = ±(c y + z)`` with ``y = L_B h``, ``z = Σ_k m_k y_k`` and ``y_k = L_k h`` the conjugate of ``B₁ e_k T⁻¹ B₂``,
all linear in arc B's h. Since ``N x = ν`` is nothing but rounding, what the multipliers of a leaf say to be zero is

    xᵀΛx − yᵀΛy + (N y)ᵀΩh = Σ_k m_k hᵀC_k h + rest,   C_k the symmetric part of L_kᵀ(2ΛL_B − NᵀΩ),
    |rest| ≤ (1 − c²)|yᵀΛy| + (1 − c)|2yᵀΛz| + |zᵀΛz| + (1/c − 1)|(N z)ᵀΩh| + |νᵀΩh|/c.

**What is to be shown.** Without tolerances the sum of a leaf's squares and multipliers is below −β, whatever the moments.
One of the squares is ``hᵀXh``, ``X = G₁G₁ᵀ`` of arc B's whole block, and none is negative. So there is no posture if

    Σ_{k≠4} m_k hᵀC_k h − hᵀXh < β − |m₄ hᵀC₄h| − |rest|   for all h and m:

only postures near those that X nearly annihilates count. Furthermore ``‖K h‖ ≤ η``, ``K = N L_B``, because ``N y`` is as
small as z; and ``hᵀIh ≤ 1`` with I the Kronecker product of ``diag(1, g²)`` for hinges, for which it is equal to one, and
``diag(½, ½)`` for slides. The left side is linear in m, which lies in two balls: it is enough to look at the corners of
two icosahedra around these. Hence it suffices that, β' being the right side less η²,

    β' I + X + KᵀK − Σ_{k≠4} m_k C_k ≻ 0   for all 12 · 12 corners m.

**Rest.** Let r be half of s times all lengths in arc B and to the target: the halves of y and of every y_k are no
longer than 1 and r, hence ``‖y‖ ≤ Y = 1 + r`` and ``‖z‖ ≤ κ = Y δ/2 + τ (1 + δ/2)``. As δ < 1/4, ``1 − c² ≤ δ²/4``,
``1 − c ≤ δ²/8`` and ``1/c − 1 ≤ δ²/7``, and ``Y δ/2 ≤ κ``; with ``‖h‖² ≤ H = Π (2 − g²)`` (2 for a slide),

    |m₄ hᵀC₄h| + |rest| ≤ (3κ² + τδY) ‖Λ‖ + (κδ²/7 + τδ/2) ‖N‖‖Ω‖ √H + 2‖ν‖‖Ω‖ √H,    η = 2 (‖ν‖ + ‖N‖κ).

**Rounding.** The matrices are looked at in floating point. Let the components of B₁ and ``T⁻¹ B₂`` be off by no more than
w, so that all L_k are by no more than ``ω = 3w (√#₁ ‖B₂‖ + √#₂ ‖B₁‖)``, # counting components, and let ℓ be the largest
``‖L_k‖`` (Frobenius norms all). Then the C_k are off by no more than ``ω (4ℓ‖Λ‖ + ‖N‖‖Ω‖)``, and by less than 1e-9 of
``ℓ²‖Λ‖ + ℓ‖N‖‖Ω‖`` because each entry is a matter of fewer than a thousand roundings; η grows by ``ω‖N‖√H``, and X and KᵀK
are off by less than 1e-12 of their traces. What this makes of the left side, for h no longer than √H, is taken off β'. A
Cholesky factorisation that does not break down is that of a matrix which is off by ``|ΔM_ij| ≤ (n+1) u √(M_ii M_jj)``, that is
by less than 1e-12 of its diagonal for n ≤ 32; this is taken off beforehand. None is needed where norms suffice.

**Underflow.** Norms are square roots of sums of squares, which may vanish below 1e-154. A proof is looked at only if no
number in it is larger than 1e50 and β is more than `TINY`, 1e-50: what underflow takes from any sum here is less than
1e-90, far less than the share `NEAR` of β that is given away besides.

**Points.** A point that misses its target by ε changes w by no more than ``ε s`` and ``|w|²`` by no more than
``2 f ε s + (ε s)²``, f being no less than ``|w_A|`` or ``|w_B|``: s times the lengths of an arc, with those to the target or
to the point.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from supple.geometry.placements import Floats
from supple.proofs.checker.balls import CONJUGATE, product
from supple.proofs.checker.moments import Ranges, arcs_of
from supple.proofs.checker.proof import Leaf

WIDTH = 5e-10  # by how much the components of dual quaternions may be off
NEAR = 1e-9  # by which share what is computed from them may be off
EXACT = 1e-12  # the same of sums of squares and of factorisations
MOST_TURNED = 0.25  # [rad] δ for which all this holds
TINY = 1e-50  # what is no more than this proves nothing


def _times() -> Floats:
    """``e_i e_j = Σ_k times[i, j, k] e_k`` of dual quaternions."""
    out, one = np.zeros((8, 8, 8)), np.eye(4).tolist()
    for i in range(4):
        for j in range(4):
            out[i, j, :4] = out[i, j + 4, 4:] = out[i + 4, j, 4:] = product(one[i], one[j])
    return out


def _icosahedron() -> Floats:
    """The corners of an icosahedron around the unit ball, a little larger than it need be."""
    golden = 0.5 * (1.0 + 5.0**0.5)
    some = np.array([(0.0, a, b * golden) for a in (1.0, -1.0) for b in (1.0, -1.0)])
    inner = golden * golden / 3.0**0.5  # the radius of the ball that touches its faces
    return np.concatenate([some, some[:, [1, 2, 0]], some[:, [2, 0, 1]]]) * (1.0 + NEAR) / inner


TIMES, CORNERS = _times(), _icosahedron()


class Loose(NamedTuple):
    """δ, τ and r of a claim, and bounds of ‖ν‖ and √H of a leaf."""

    delta: float
    tau: float
    r: float
    nu: float
    wide: float

    @property
    def kappa(self) -> float:
        """κ."""
        return 0.5 * self.delta * (1.0 + self.r) + self.tau * (1.0 + 0.5 * self.delta)


def withstands(
    leaf: Leaf, loose: Loose, halves: tuple[Floats, Floats], slides: Sequence[bool], box: Ranges, beta: float
) -> bool:
    """Whether a leaf that is below −β holds for every miss; `halves`: the columns of B₁ and ``T⁻¹ B₂``, as rows."""
    one, two = halves
    arcs = arcs_of(len(slides), leaf.start)
    L = carried(one, two)
    norm, facial = _norm(leaf.symmetric), _norm(leaf.kernel) * _norm(leaf.facial)
    G = leaf.grams[1 + sum(box.limited[j] for j in arcs[0])]
    X, length = G @ G.T, float(np.sqrt((L * L).sum(axis=(1, 2)).max()))
    if len(leaf.kernel):
        K = leaf.kernel @ L[0]
        X += K.T @ K
    C = forms(leaf, L)
    apart = spread(one, two)
    off = apart * (4.0 * length * norm + facial) + NEAR * length * (length * norm + facial)
    off = (2.0 * loose.delta + 4.0 * loose.tau) * off + EXACT * float(np.trace(X))
    beta = (beta - _rest(leaf, loose, apart) - off * loose.wide * loose.wide) * (1.0 - NEAR)
    unit = _unit(slides, box, arcs[1])
    return beta > TINY and _all_definite(beta * unit, X, 0.5 * loose.delta * C[:3], loose.tau * C[3:])


def spread(one: Floats, two: Floats) -> float:
    """ω: by how much the matrices of y and of all y_k may be off."""
    return 3.0 * WIDTH * (one.size**0.5 * _norm(two) + two.size**0.5 * _norm(one))


def forms(leaf: Leaf, L: Floats) -> Floats:
    """C_k for k of 1, 2, 3, 5, 6, 7."""
    M = 2.0 * leaf.symmetric @ L[0]
    if len(leaf.kernel):
        M = M - leaf.kernel.T @ leaf.facial
    C = L[[1, 2, 3, 5, 6, 7]].transpose(0, 2, 1) @ M
    return 0.5 * (C + C.transpose(0, 2, 1))


def surely_withstands(leaf: Leaf, loose: Loose, beta: float) -> bool:
    """The same where norms suffice, ``|Σ_k m_k hᵀC_k h| = |zᵀ(2Λy − NᵀΩh)| ≤ κ (2‖Λ‖Y + ‖N‖‖Ω‖√H)``."""
    size = 2.0 * _norm(leaf.symmetric) * (1.0 + loose.r) + _norm(leaf.kernel) * _norm(leaf.facial) * loose.wide
    return beta > loose.kappa * size * (1.0 + NEAR) + _rest(leaf, loose, 0.0)


def carried(one: Floats, two: Floats) -> Floats:
    """The matrices of y and of all y_k, ``(8, 8, 2^k)``."""
    both = np.tensordot(one @ TIMES.transpose(1, 0, 2), TIMES.transpose(0, 2, 1), (2, 0)) @ two.T
    return np.array(CONJUGATE, dtype=float)[:, None] * both.transpose(0, 2, 1, 3).reshape(8, 8, -1)


def _rest(leaf: Leaf, loose: Loose, apart: float) -> float:
    """A bound of what m₄, the rest and η² are together."""
    delta, tau, r, nu, wide = loose
    kappa, kernel, facial = loose.kappa, _norm(leaf.kernel), _norm(leaf.facial)
    second = (3.0 * kappa * kappa + tau * delta * (1.0 + r)) * _norm(leaf.symmetric)
    second += ((kappa * delta * delta / 7.0 + 0.5 * tau * delta) * kernel + 2.0 * nu) * facial * wide
    eta = 2.0 * (nu + kernel * kappa) + apart * kernel * wide
    return (1.0 + NEAR) * (second + eta * eta)


def _unit(slides: Sequence[bool], box: Ranges, arc: tuple[int, ...]) -> Floats:
    """The diagonal of I."""
    out: Floats = np.ones(1)
    for j in arc:
        own = np.array([0.5, 0.5] if slides[j] else [1.0, box.g[j] * box.g[j]])
        out = (out[:, None] * own).ravel()
    return out


def _all_definite(unit: Floats, X: Floats, turned: Floats, slid: Floats) -> bool:
    """Whether ``diag(unit) + X − Σ m_k C_k`` is seen to be positive definite at all corners m."""
    root = np.sqrt(np.outer(unit, unit))
    if (_norm(turned / root) + _norm(slid / root)) * (1.0 + NEAR) < 1.0:
        return True
    one, two = np.tensordot(CORNERS, turned, 1), np.tensordot(CORNERS, slid, 1)
    M = ((np.diag(unit) + X) - one)[:, None] - two
    try:
        factors = np.linalg.cholesky(M - EXACT * np.eye(len(unit)) * np.abs(M))
    except np.linalg.LinAlgError:
        return False
    return bool(np.isfinite(factors).all())


def _norm(M: Floats) -> float:
    return float(np.linalg.norm(M))
