"""Ball arithmetic: whether a proof holds, every step in balls that contain the truth (the inequality is in `certificate`).

**Slack.** A posture that misses the target by an angle δ and a distance ε closes the loop but for a small motion, ``x
= ±M y``, which, seen from where the arcs meet, turns by δ and slides by no more than ``ε + δ ℓ``, ℓ the length of the
chain and of the way to the target together; hence ``‖M − I‖ ≤ κ = δ/2 + (ε + δℓ) s/2`` with s the scale of lengths.
With ``‖x‖² ≤ 1 + (s ℓ_A/2)²``, ℓ_A the lengths in arc A, and no entry of h larger than one,

    |xᵀΛx − yᵀΛy| ≤ ‖Λ‖ (2κ + κ²) ‖x‖²/(1 − κ)²,    |(N y)ᵀ Ω h_B| ≤ (‖N L_A‖ 2^(3/2) + ‖N‖ ‖x‖ κ/(1 − κ)) ‖Ω‖ 2^(k_B/2).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.deciding.chain import CONJUGATE, Chain, dual, quaternion
from supple.deciding.moments import Terms, terms
from supple.deciding.proof import Leaf
from supple.deciding.relaxation import FIRST_ARC, arc_matrix, fixed_parts, ranges
from supple.errors import MissingExtra
from supple.space import Floats

PRECISION = 80  # bits
ROUNDING = 1e-12  # by how much placements may be off being exact rotations, in every component


def need_flint() -> Any:
    """The module of ball arithmetic."""
    try:
        import flint
    except ImportError as error:
        raise MissingExtra("python-flint", "convex", "checking a certificate") from error
    return flint


def holds(chain: Chain, target: Floats, tolerance: float, angle_tolerance: float, leaf: Leaf) -> bool:
    """Whether a leaf proves its box empty."""
    flint, n = need_flint(), len(chain.names)
    fits = 0 <= leaf.start <= n - FIRST_ARC and len(leaf.lower) == len(leaf.upper) == n
    if not (fits and tolerance >= 0.0 and angle_tolerance >= 0.0 and _is_chain(chain, target)):
        return False
    with flint.ctx.workprec(PRECISION):
        total = _total(chain, target, tolerance, angle_tolerance, leaf, flint.arb, flint.arb_mat)
        return total is not None and bool(total < 0)


def _is_chain(chain: Chain, target: Floats) -> bool:
    """Whether all placements are placements, and all signs signs."""
    turns = np.array([T[:3, :3] for T in (*chain.before, chain.behind, target)])
    off = np.abs(turns @ turns.transpose(0, 2, 1) - np.eye(3)).max()
    return bool(off < 1e-9 and (np.linalg.det(turns) > 0.0).all() and (np.abs(chain.signs) == 1.0).all())


def _total(
    chain: Chain, target: Floats, tolerance: float, angle_tolerance: float, leaf: Leaf, arb: Any, matrix: Any
) -> Any:
    """The number that must be below zero; None if the leaf is not of the right shape."""
    n = len(chain.names)
    middle, width, limited = ranges(leaf.lower, leaf.upper)
    g = [arb(float(x)) for x in width]
    if not _wide_enough(leaf, middle, g, limited, arb):
        return None
    order = [(leaf.start + i) % n for i in range(n)]
    a, b = tuple(order[:FIRST_ARC]), tuple(order[FIRST_ARC:])
    shapes = _shapes(a, b, limited)
    if [G.shape[0] for G in leaf.grams] != [t.size for t in shapes] or not all(
        np.isfinite(G).all() for G in leaf.grams
    ):
        return None
    L_a, L_b = _arcs(chain, target, middle, g, a, b, arb, matrix)
    kappa, size = _looseness(chain, target, tolerance, angle_tolerance, a, arb)
    if not kappa < 1:
        return None
    squares = [G * G.transpose() for G in (_balls(matrix, arb, G) for G in leaf.grams)]
    Lam, second = _balls(matrix, arb, 0.5 * (leaf.symmetric + leaf.symmetric.T)), 1 + sum(bool(limited[j]) for j in a)
    squares[0] = squares[0] + L_a.transpose() * Lam * L_a
    squares[second] = squares[second] - L_b.transpose() * Lam * L_b
    total = _norm(Lam, arb) * (2 * kappa + kappa * kappa) * size / (1 - kappa) ** 2
    if len(leaf.kernel):
        N, Om = _balls(matrix, arb, leaf.kernel), _balls(matrix, arb, leaf.facial)
        Q = L_b.transpose() * N.transpose() * Om
        squares[second] = squares[second] + (Q + Q.transpose()) / 2
        off = _norm(N * L_a, arb) * arb(2) ** (arb(FIRST_ARC) / 2) + _norm(N, arb) * size.sqrt() * kappa / (1 - kappa)
        total += off * _norm(Om, arb) * arb(2) ** (arb(len(b)) / 2)
    for joints, blocks in ((a, range(second)), (b, range(second, len(shapes)))):
        form: dict[int, Any] = {}
        for k in blocks:
            _add_form(form, shapes[k], squares[k], [g[j] for j in joints], arb)
        total += form.pop(0) + sum(abs(value) for value in form.values())
    return total


def _wide_enough(leaf: Leaf, middle: Floats, g: list[Any], limited: np.ndarray, arb: Any) -> bool:
    """Whether ``g ≥ sin(α/2)`` for the half-width α of every range, and 1 for what turns all the way round."""
    for j, x in enumerate(g):
        centre = arb(float(middle[j]))
        if limited[j]:
            half = (arb(float(leaf.upper[j])) - centre).max(centre - arb(float(leaf.lower[j])))
            if not (half < arb.pi() and x >= (half / 2).sin()):
                return False
        elif x != 1:
            return False
    return True


def _arcs(
    chain: Chain,
    target: Floats,
    middle: Floats,
    g: list[Any],
    a: tuple[int, ...],
    b: tuple[int, ...],
    arb: Any,
    matrix: Any,
) -> tuple[Any, Any]:
    """L_A and L_B in balls."""
    scale = arb(2) / arb(chain.reach)

    def placed(T: Floats) -> Any:
        turn = [arb(float(x), ROUNDING) for x in quaternion(T[:3, :3])]
        return dual(turn, [scale * arb(float(x)) for x in T[:3, 3]])

    half_turns = [arb(float(x)) / 2 for x in chain.signs * middle]
    parts = fixed_parts(chain, target, [(x.cos(), x.sin()) for x in half_turns], placed)
    own = [[arb(1), *[arb(0)] * 7] if j == a[0] else part for j, part in enumerate(parts)]
    signs = [arb(float(s)) for s in chain.signs]
    columns = arc_matrix(parts, b, g, parts[a[0]], signs)
    L_b = matrix([[x * int(s) for x, s in zip(c, CONJUGATE, strict=True)] for c in columns]).transpose()
    return matrix(arc_matrix(own, a, g, None, signs)).transpose(), L_b


def _shapes(a: tuple[int, ...], b: tuple[int, ...], limited: np.ndarray) -> list[Terms]:
    """The terms of all blocks, in their order."""
    out = []
    for joints in (a, b):
        out.append(terms(len(joints)))
        out += [terms(len(joints), i) for i, j in enumerate(joints) if limited[j]]
    return out


def _add_form(form: dict[int, Any], t: Terms, W: Any, g: list[Any], arb: Any) -> None:
    """Add the coefficients of the moments in ``⟨W, M(y)⟩`` to a form."""
    known: dict[bytes, Any] = {}
    for row, column, moment, squares, sign in zip(t.row, t.column, t.moment, t.squares, t.sign, strict=True):
        key = squares.tobytes()
        if key not in known:
            value = arb(1)
            for x, squared in zip(g, squares, strict=True):
                value = -value * x * x if squared else value
            known[key] = value
        at = int(moment)
        form[at] = form.get(at, arb(0)) + W[int(row), int(column)] * known[key] * int(sign)


def _looseness(
    chain: Chain, target: Floats, tolerance: float, angle_tolerance: float, a: tuple[int, ...], arb: Any
) -> tuple[Any, Any]:
    """Upper bounds of κ and of ``‖x‖²``."""
    scale = arb(2) / arb(chain.reach)
    lengths = [_length([arb(float(x)) for x in T[:3, 3]], arb) for T in (*chain.before, chain.behind, target)]
    delta, epsilon = arb(angle_tolerance) + ROUNDING, arb(tolerance) + ROUNDING
    kappa = delta / 2 + (epsilon + delta * sum(lengths)) * scale / 2
    inner = sum(lengths[j] for j in a[1:]) * scale / 2
    return kappa, 1 + inner * inner


def _length(values: Any, arb: Any) -> Any:
    total = arb(0)
    for x in values:
        total += x * x
    return total.abs_upper().sqrt()


def _balls(matrix: Any, arb: Any, values: Floats) -> Any:
    return matrix([[arb(float(x)) for x in line] for line in values])


def _norm(M: Any, arb: Any) -> Any:
    """An upper bound of the Frobenius norm."""
    total = arb(0)
    for i in range(M.nrows()):
        for j in range(M.ncols()):
            total += M[i, j] * M[i, j]
    return total.abs_upper().sqrt()
