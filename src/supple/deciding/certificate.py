"""Certificates: data from which anybody can check that no posture reaches a pose.

**Claim.** No q with ``lower ≤ q ≤ upper`` brings the frame within `tolerance` metres and `angle_tolerance` radians of
the target.

**Proof.** The box of joint ranges is cut into smaller ones. For each there are matrices G_k, a symmetric Λ and a
matrix Ω such that, for every posture that reaches the pose (the letters are those of `relaxation`; x = L_A h_A, y =
L_B h_B),

    ‖G₀ᵀh_A‖² + ‖G₁ᵀh_B‖² + Σ_j (1 − u_j) ‖G_jᵀ h‖²  ≥ 0,
    xᵀΛx − yᵀΛy = 0   and   (N y)ᵀ Ω h_B = 0,   each but for a slack.

Their sum is a linear form in moments, none of which is larger than one: if its constant plus the absolute values of
all other coefficients plus the slack is below zero, there is no such posture. That number is evaluated in ball
arithmetic (`balls`), from the figure's placements and the floating-point G, Λ, Ω as they are: nothing that the solver
computed is believed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from supple.deciding.balls import holds
from supple.deciding.chain import Chain
from supple.deciding.proof import Leaf, Split
from supple.deciding.relaxation import FIRST_ARC, ranges
from supple.errors import BadFile, BadValue
from supple.space import Floats, frozen

FORMAT = "supple certificate 1"


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
