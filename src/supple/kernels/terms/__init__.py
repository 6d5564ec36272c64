"""Terms: how far a frame is from its goal, and how that changes when the frame moves; one file a kind.

A *term* looks at one frame X, the position r and the axes x, y, z of an effector as seen from the world or from a reference
segment, and gives ``P ≥ 0``. It knows nothing of figures. Moving the frame by a twist ``(ω, v)`` changes r by ``ω × r + v`` and
an axis d by ``ω × d``, so all a figure needs of a term is

* the wrench ``(N, F)`` with ``dP = N·ω + F·v``: for a force f at the point r ``(r × f, f)``, for a force f on an axis d
  ``(d × f, 0)``;
* the 6 × 6 matrix B with ``d²P = ξ_iᵀ B ξ_j`` when joint i carries joint j. A force f at r contributes, because
  ``∂²r/∂θ_i∂θ_j = ω_i × (ω_j × r + v_j)``, the blocks ``B_ωω = r fᵀ − (r·f) I`` and ``B_ωv = −[f]×`` (an axis only the
  first), and the second derivative M of P with respect to positions and axes contributes ``Gᵀ M G`` with G the map from
  twists to their motion;
* for Gauss–Newton, residuals ρ with ``P = |ρ|²`` and their rows ``dρ = N·ω + F·v``. An inequality's residuals are seen as if
  it had moved by the `SHIFT` of its term: an augmented Lagrangian puts its multipliers there.

A kind's file has its formula on top (equations of Zhao & Badler, section 4) and up to three kernels: its potential with the
forces, its stiffness, its residuals. `dispatch` has one line a kind. NEAR, a posture goal, looks at coordinates and is
evaluated where they are (`objective`); CLEAR has residuals alone.
"""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.kernels.terms.dispatch import potential as potential, residual as residual, stiffness as stiffness

__getattr__, __dir__, __all__ = lazily(__name__, {"dispatch": ["potential", "residual", "stiffness"]})
