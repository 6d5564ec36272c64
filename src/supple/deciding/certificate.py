"""Certificates: data from which anybody can check that no posture reaches a pose.

**Claim.** No q with ``lower ≤ q ≤ upper`` brings the frame within `tolerance` metres and `angle_tolerance` radians of
the target.

**Proof.** The box of joint ranges is cut into smaller ones. For each there are matrices G_k, a symmetric Λ and a
matrix Ω such that, for every posture that reaches the pose (the letters are those of `relaxation`; x = L_A h_A, y =
L_B h_B),

    ‖G₀ᵀh_A‖² + ‖G₁ᵀh_B‖² + Σ_j (1 − u_j) ‖G_jᵀ h‖²  ≥ 0,
    xᵀΛx − yᵀΛy = 0   and   (N y)ᵀ Ω h_B = 0,   each but for a slack.

Their sum is a linear form in moments, none of which is larger than one: if its constant plus the absolute values of
all other coefficients plus the slack is below zero, there is no such posture. That number is evaluated here in ball
arithmetic, from the figure's placements and the floating-point G, Λ, Ω as they are: nothing that the solver computed
is believed.

**Slack.** A posture that misses the target by an angle δ and a distance ε closes the loop but for a small motion, ``x
= ±M y``, which, seen from where the arcs meet, turns by δ and slides by no more than ``ε + δ ℓ``, ℓ the length of the
chain and of the way to the target together; hence ``‖M − I‖ ≤ κ = δ/2 + (ε + δℓ) s/2`` with s the scale of lengths.
With ``‖x‖² ≤ 1 + (s ℓ_A/2)²``, ℓ_A the lengths in arc A, and no entry of h larger than one,

    |xᵀΛx − yᵀΛy| ≤ ‖Λ‖ (2κ + κ²) ‖x‖²/(1 − κ)²,    |(N y)ᵀ Ω h_B| ≤ (‖N L_A‖ 2^(3/2) + ‖N‖ ‖x‖ κ/(1 − κ)) ‖Ω‖ 2^(k_B/2).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from supple.deciding.chain import CONJUGATE, Chain, dual, quaternion
from supple.deciding.moments import Terms, terms
from supple.deciding.relaxation import FIRST_ARC, Relaxation, arc_matrix, fixed_parts, ranges
from supple.errors import BadFile, BadValue, MissingExtra
from supple.space import Floats, frozen

PRECISION = 80  # bits
ROUNDING = 1e-12  # by how much placements may be off being exact rotations, in every component
FORMAT = "supple certificate 1"


def need_flint() -> Any:
    """The module of ball arithmetic."""
    try:
        import flint
    except ImportError as error:
        raise MissingExtra("python-flint", "convex", "checking a certificate") from error
    flint.ctx.prec = PRECISION
    return flint


@dataclass(frozen=True, eq=False)
class Leaf:
    """The proof for one box of joint ranges."""

    lower: Floats
    upper: Floats
    start: int
    grams: tuple[Floats, ...]
    symmetric: Floats  # Λ (8, 8)
    kernel: Floats  # N (rows, 8)
    facial: Floats  # Ω (rows, 2^k)


@dataclass(frozen=True, eq=False)
class Split:
    """A box cut at a value of one joint: what lies below, and what lies above."""

    joint: int
    at: float
    below: Leaf | Split
    above: Leaf | Split


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is claimed, and its proof."""

    chain: Chain
    target: Floats
    tolerance: float
    angle_tolerance: float
    proof: Leaf | Split

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The boxes of the proof."""
        found: list[Leaf] = []
        stack: list[Leaf | Split] = [self.proof]
        while stack:
            node = stack.pop()
            if isinstance(node, Leaf):
                found.append(node)
            else:
                stack += [node.above, node.below]
        return tuple(found)

    def verify(self) -> bool:
        """Whether the proof holds, checked in ball arithmetic from the chain itself."""
        need_flint()
        return self._covers(self.proof, *self.chain.box) and all(
            holds(self.chain, self.target, self.tolerance, self.angle_tolerance, leaf) for leaf in self.leaves
        )

    def _covers(self, node: Leaf | Split, lower: Floats, upper: Floats) -> bool:
        """Whether the boxes below a node fill the box from lower to upper."""
        if isinstance(node, Leaf):
            return bool((node.lower <= lower).all() and (node.upper >= upper).all())
        if not (0 <= node.joint < len(lower) and np.isfinite(node.at)):
            return False
        top, bottom = upper.copy(), lower.copy()
        top[node.joint] = bottom[node.joint] = node.at
        return self._covers(node.below, lower, top) and self._covers(node.above, bottom, upper)

    def explain(self) -> str:
        """One sentence in plain words: what cannot be, and which limits matter most."""
        weight = np.zeros(len(self.chain.names))
        for leaf in self.leaves:
            _, _, limited = ranges(leaf.lower, leaf.upper)
            order = [(leaf.start + i) % len(weight) for i in range(len(weight))]
            k = 0
            for arc in (order[:FIRST_ARC], order[FIRST_ARC:]):
                k += 1
                for joint in arc:
                    if limited[joint]:
                        weight[joint] += float(np.sum(leaf.grams[k] ** 2))
                        k += 1
        x, y, z = self.target[:3, 3]
        said = (
            f"No posture within the limits brings the frame to ({x:.4g}, {y:.4g}, {z:.4g}) m in the wanted orientation"
        )
        if weight.sum() <= 1e-9 * len(self.leaves):
            return f"{said}: it is out of reach whatever the limits."
        share = weight / weight.sum()
        names = [self.chain.names[i] for i in np.argsort(-share) if share[i] > 0.15][:3]
        return f"{said}; the limits of {', '.join(names)} matter most. The proof has {len(self.leaves)} box(es)."

    # ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────
    def to_json(self) -> str:
        """The certificate as text; numbers come back to the bit."""
        c = self.chain
        data = {
            "format": FORMAT,
            "joints": list(c.names),
            "before": c.before.tolist(),
            "behind": c.behind.tolist(),
            "signs": c.signs.tolist(),
            "lower": _finite(c.lower),
            "upper": _finite(c.upper),
            "target": self.target.tolist(),
            "tolerance": self.tolerance,
            "angle_tolerance": self.angle_tolerance,
            "proof": _plain(self.proof),
        }
        return json.dumps(data)

    @staticmethod
    def from_json(text: str) -> Certificate:
        """The certificate in a text; it proves nothing until `verify` says so."""
        try:
            data = json.loads(text)
            if data["format"] != FORMAT:
                raise BadFile(f"this is no {FORMAT!r} but {data['format']!r}")
            n = len(data["joints"])
            chain = Chain(
                tuple(data["joints"]),
                _array(data["before"], (n, 4, 4)),
                _array(data["behind"], (4, 4)),
                _limits(data["lower"], n, -np.inf),
                _limits(data["upper"], n, np.inf),
                _array(data["signs"], (n,)),
            )
            proof = _node(data["proof"], n, 0)
            target = _array(data["target"], (4, 4))
            return Certificate(chain, target, float(data["tolerance"]), float(data["angle_tolerance"]), proof)
        except (KeyError, TypeError, ValueError, IndexError, RecursionError) as error:
            raise BadFile(f"this is no certificate: {error}") from error


def _finite(values: Floats) -> list[float | None]:
    return [float(x) if np.isfinite(x) else None for x in values]


def _limits(values: list[float | None], n: int, open_end: float) -> Floats:
    return _array([open_end if x is None else x for x in values], (n,), finite=False)


def _array(values: Any, shape: tuple[int, ...], finite: bool = True) -> Floats:
    array = frozen(values)
    if array.shape != shape or (finite and not np.isfinite(array).all()) or np.isnan(array).any():
        raise BadValue(f"an array of shape {shape} is not one, or not finite")
    return array


def _plain(node: Leaf | Split) -> dict[str, Any]:
    if isinstance(node, Split):
        return {"joint": node.joint, "at": node.at, "below": _plain(node.below), "above": _plain(node.above)}
    return {
        "lower": _finite(node.lower),
        "upper": _finite(node.upper),
        "start": node.start,
        "grams": [g.tolist() for g in node.grams],
        "symmetric": node.symmetric.tolist(),
        "kernel": node.kernel.tolist(),
        "facial": node.facial.tolist(),
    }


def _node(data: dict[str, Any], n: int, depth: int) -> Leaf | Split:
    if depth > 200:
        raise BadValue("its tree is too deep")
    if "joint" in data:
        below, above = (_node(data[side], n, depth + 1) for side in ("below", "above"))
        return Split(int(data["joint"]), float(data["at"]), below, above)
    kernel, facial = data["kernel"], data["facial"]
    width = 2 ** (n - FIRST_ARC)
    return Leaf(
        _limits(data["lower"], n, -np.inf),
        _limits(data["upper"], n, np.inf),
        int(data["start"]),
        tuple(frozen(g) for g in data["grams"]),
        _array(data["symmetric"], (8, 8)),
        _array(kernel, (len(kernel), 8)) if kernel else np.empty((0, 8)),
        _array(facial, (len(kernel), width)) if facial else np.empty((0, width)),
    )


# ── from a refuted relaxation to a leaf ──────────────────────────────────────────────────────────────────────────────
def leaf_of(relaxation: Relaxation, lower: Floats, upper: Floats, start: int, X: list[Floats]) -> Leaf:
    """The proof that the matrices X of a refuted relaxation stand for; it may still fail to hold."""
    total = sum(float(np.trace(x)) for x in X)
    grams = []
    for x in X:
        w, u = np.linalg.eigh(0.5 * (x + x.T) / total)
        grams.append(u * np.sqrt(np.maximum(w, 0.0)))
    at = 1 + len(relaxation.a.limited)
    grams[at] = relaxation.face @ grams[at]
    v = relaxation.contracted([G @ G.T for G in grams])
    keep = np.ones(len(v), dtype=bool)
    keep[[0, relaxation.split]] = False
    multipliers = np.linalg.lstsq(relaxation.equations[:, keep].T, -v[keep], rcond=1e-11)[0]
    symmetric = np.zeros((8, 8))
    symmetric[np.triu_indices(8)] = multipliers[:36]
    symmetric = 0.5 * (symmetric + symmetric.T)
    facial = np.array(multipliers[36:], dtype=np.float64).reshape(len(relaxation.kernel), relaxation.b.L.shape[1])
    return Leaf(lower, upper, start, tuple(grams), symmetric, relaxation.kernel, facial)


# ── ball arithmetic ──────────────────────────────────────────────────────────────────────────────────────────────────
def holds(chain: Chain, target: Floats, tolerance: float, angle_tolerance: float, leaf: Leaf) -> bool:
    """Whether a leaf proves its box empty: every step in balls that contain the truth."""
    flint = need_flint()
    arb, matrix, n = flint.arb, flint.arb_mat, len(chain.names)
    if not (0 <= leaf.start <= n - FIRST_ARC and len(leaf.lower) == len(leaf.upper) == n):
        return False
    middle, g_float, limited = ranges(leaf.lower, leaf.upper)
    g = [arb(float(x)) for x in g_float]
    for j in range(n):
        if limited[j]:
            half = _largest(
                arb(float(leaf.upper[j])) - arb(float(middle[j])), arb(float(middle[j])) - arb(float(leaf.lower[j]))
            )
            if not (half < arb.pi() and g[j] >= (half / 2).sin()):
                return False
        elif g_float[j] != 1.0:
            return False
    scale = arb(2) / arb(chain.reach)

    def placed(T: Floats) -> Any:
        turn = [arb(float(x), ROUNDING) for x in quaternion(T[:3, :3])]
        return dual(turn, [scale * arb(float(x)) for x in T[:3, 3]])

    half_turns = [arb(float(x)) / 2 for x in chain.signs * middle]
    parts = fixed_parts(chain, target, [(x.cos(), x.sin()) for x in half_turns], placed)
    order = [(leaf.start + i) % n for i in range(n)]
    a, b = tuple(order[:FIRST_ARC]), tuple(order[FIRST_ARC:])
    own = [[arb(1), *[arb(0)] * 7] if j == a[0] else part for j, part in enumerate(parts)]
    signs = [arb(float(s)) for s in chain.signs]
    L_a = matrix(arc_matrix(own, a, g, None, signs)).transpose()
    columns = arc_matrix(parts, b, g, parts[a[0]], signs)
    L_b = matrix([[x * int(s) for x, s in zip(c, CONJUGATE, strict=True)] for c in columns]).transpose()
    shapes = _shapes(a, b, limited)
    if [G.shape[0] for G in leaf.grams] != [t.size for t in shapes] or any(
        not np.isfinite(G).all() for G in leaf.grams
    ):
        return False
    grams = [_balls(matrix, arb, G) for G in leaf.grams]
    squares = [G * G.transpose() for G in grams]
    Lam = _balls(matrix, arb, 0.5 * (leaf.symmetric + leaf.symmetric.T))
    second = 1 + sum(bool(limited[j]) for j in a)
    squares[0] = squares[0] + L_a.transpose() * Lam * L_a
    squares[second] = squares[second] - L_b.transpose() * Lam * L_b
    kappa, size = _looseness(chain, target, tolerance, angle_tolerance, own, a, arb)
    if not kappa < 1:
        return False
    total = _norm(Lam, arb) * (2 * kappa + kappa * kappa) * size / (1 - kappa) ** 2
    if len(leaf.kernel):
        N, Om = _balls(matrix, arb, leaf.kernel), _balls(matrix, arb, leaf.facial)
        Q = L_b.transpose() * N.transpose() * Om
        squares[second] = squares[second] + (Q + Q.transpose()) / 2
        off = _norm(N * L_a, arb) * arb(2) ** (arb(FIRST_ARC) / 2) + _norm(N, arb) * size.sqrt() * kappa / (1 - kappa)
        total += off * _norm(Om, arb) * arb(2) ** (arb(len(b)) / 2)
    for joints, first in ((a, 0), (b, second)):
        gs = [g[j] for j in joints]
        form: dict[int, Any] = {}
        for k in range(first, second if joints is a else len(shapes)):
            _add_form(form, shapes[k], squares[k], gs, arb)
        for moment, value in form.items():
            total += value if moment == 0 else abs(value)
    return bool(total < 0)


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
    chain: Chain, target: Floats, tolerance: float, angle_tolerance: float, own: list[Any], a: tuple[int, ...], arb: Any
) -> tuple[Any, Any]:
    """Upper bounds of κ and of ``‖x‖²``."""
    scale, length = arb(2) / arb(chain.reach), arb(0)
    for T in (*chain.before, chain.behind, target):
        length += _length([arb(float(x)) for x in T[:3, 3]], arb)
    delta, epsilon = arb(angle_tolerance) + ROUNDING, arb(tolerance) + ROUNDING
    kappa = delta / 2 + (epsilon + delta * length) * scale / 2
    inner = arb(0)
    for j in a[1:]:
        inner += _length(own[j][4:], arb)  # half the scaled length of each fixed part, since its rotation is a unit
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


def _largest(x: Any, y: Any) -> Any:
    """The larger of two balls."""
    return x.max(y)
