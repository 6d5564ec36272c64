"""Pulls that prove boxes empty, for trees and closed loops of any size (what they are: `checker.pull_bounds`).

**The programme.** Over forces λ, turns N, and for each joint a form Φ, a weight W of its limits and an Ω, the bound at the
root and all matrices that must be positive semidefinite are linear. The least bound of all pulls whose lengths add up to one
is a semidefinite programme, the dual of a relaxation: each joint has the mean of ``(q ⊗ h)(q ⊗ h)ᵀ`` of a mixture of
postures, joints agree in the means of what is between them, and the means meet the wishes. So what is inside the hull of
what can be reached is not refuted at once; boxes are cut where the mixture is widest. (Of one joint the means are exact: a
form of two by any number of unknowns that is nowhere negative is a sum of squares.)

**Rounding.** Forces and weights are taken as they are, but for forces on slides without limits, which are made to vanish
exactly. Then every Φ is raised, from the leaves to the root, by what its matrix lacks of being positive definite. A bound
that is still below zero, tolerances included, is a proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from supple.geometry.placements import Floats
from supple.proofs.checker.proof import Pull
from supple.proofs.checker.statement import Link, Wish
from supple.proofs.pull_programme import OWN, PAIRS, TURN, UPPER, Programme, Step, squared, step_of

SHARP = 1e-8  # by how much matrices are to be positive definite, the pull being one
GRID = 2.0**-40  # of forces: sums of multiples are exact
MARGIN = 1e-7  # below zero, the pull being one


class Answer(NamedTuple):
    """A pull with what it leaves below zero, or how wide the mixture of postures is at each joint that moves."""

    pull: Pull | None
    bound: float
    spread: Floats


class Tree:
    """The links of a statement and what is wished of their ends; `solved` looks at a box."""

    def __init__(self, links: Sequence[Link], wishes: Sequence[Wish]) -> None:
        self.links, self.wishes = list(links), list(wishes)
        self.keys = {link.key for link in links}
        self.moving = [link for link in links if not link.is_fixed and link.lower < link.upper]
        self.number = {link.key: k for k, link in enumerate(self.moving)}
        lengths = [np.linalg.norm(link.at[:3, 3]) for link in links]
        lengths += [max(abs(k.lower), abs(k.upper)) for k in self.moving if any(k.slide) and k.upper - k.lower < np.inf]
        self.unit = float(sum(lengths)) or 1.0
        self.first = 14 * len(self.wishes)  # of an entry: λ, N, and the lengths of both
        self.size = self.first + OWN * len(self.moving)

    def seat(self, key: str | None) -> tuple[bool, str | None]:
        """Whether a key is of a link, or else of a place at the root, and the key."""
        return key in self.keys, key

    def solved(self, lower: Floats, upper: Floats) -> Answer:
        """The strongest pull on a box."""
        steps = {link.key: step_of(link, *self.range(link, lower, upper)) for link in self.links}
        programme = Programme(self, steps)
        x, spread = programme.solved()
        if x is None or float(programme.cost @ x) > -MARGIN:
            return Answer(None, 0.0, spread)
        pull, bound = self.rounded(x, steps)
        return Answer(pull if bound < 0.0 else None, bound, spread)

    def range(self, link: Link, lower: Floats, upper: Floats) -> tuple[float, float]:
        """A joint's range in a box."""
        k = self.number.get(link.key)
        return (link.lower, link.lower) if k is None else (float(lower[k]), float(upper[k]))

    def rounded(self, x: Floats, steps: dict[str, Step]) -> tuple[Pull, float]:
        """The pull of a solution, rounded so that it holds, and what it leaves with tolerances."""
        own = x[: self.first].reshape(-1, 14)
        forces = GRID * np.round(own[:, :3] / self.unit / GRID)
        turns: Floats = own[:, 3:12].reshape(-1, 3, 3).copy()
        self._balance(forces)
        for k, wish in enumerate(self.wishes):
            turns[k] *= 1.0 if wish.kind == "pose" else np.array([0.0, 0.0, wish.kind == "axis"])
        forms = [np.zeros((4, 4)) for _ in self.moving]
        limits = [np.zeros((4, 1)) for _ in self.moving]
        skews = [np.zeros((4, 4)) for _ in self.moving]
        loads: dict[Any, list[Any]] = {}
        total = 1e-11
        for k, wish in enumerate(self.wishes):
            loose = np.linalg.norm(forces[k]) * wish.tolerance
            total += (
                loose + (2.0**0.5 if wish.kind == "pose" else 1.0) * np.linalg.norm(turns[k]) * wish.angle_tolerance
            )
            for key, T, s in ((wish.segment, wish.frame, 1.0), (wish.seen_from, wish.target, -1.0)):
                B = s * (forces[k][:, None] * T[:3, 3] + turns[k] @ T[:3, :3].T)
                load = loads.setdefault(self.seat(key), [np.zeros((4, 4)), np.zeros(3)])
                loads[self.seat(key)] = [load[0] + squared(B), load[1] + s * forces[k]]
        for link in reversed(self.links):
            if (load := loads.pop((True, link.key), None)) is None:
                continue
            step = steps[link.key]
            M = step.K.T @ load[0] @ step.K
            if step.moves:
                k = self.number[link.key]
                forms[k], limits[k], skews[k] = self._raised(x, k, M, load[1], step)
                M = forms[k]
            above = loads.setdefault(self.seat(link.parent), [np.zeros((4, 4)), np.zeros(3)])
            handed = squared(load[1][:, None] * step.t) + M
            loads[self.seat(link.parent)] = [above[0] + handed, above[1] + load[1]]
        total += sum(float(load[0][0, 0]) for load in loads.values())
        entries = tuple(range(len(self.wishes)))
        return Pull(entries, forces, turns, tuple(forms), tuple(limits), tuple(skews)), float(total)

    def _balance(self, forces: Floats) -> None:
        """Make forces on slides without limits vanish exactly: what is left of their sum is taken from the first of them."""
        for link in self.moving:
            if any(link.slide) and not link.upper - link.lower < np.inf:
                below = [self._signs(wish, link.key) for wish in self.wishes]
                on = [k for k, s in enumerate(below) if s]
                if on:
                    rest = sum((below[k] * forces[k] for k in on), start=np.zeros(3))
                    forces[on[0]] -= below[on[0]] * rest

    def _signs(self, wish: Wish, key: str) -> int:
        return int(self._is_above(key, wish.segment)) - int(self._is_above(key, wish.seen_from))

    def _is_above(self, key: str, segment: str | None) -> bool:
        parents = {link.key: link.parent for link in self.links}
        while segment is not None and segment != key:
            segment = parents.get(segment)
        return segment == key

    def _raised(self, x: Floats, k: int, M: Floats, force: Floats, step: Step) -> tuple[Floats, Floats, Floats]:
        """Φ, raised until it bounds M of its segment, G and Ω."""
        own = x[self.first + OWN * k :][:OWN]
        Phi, W, skew = _symmetric(own[:10]), _symmetric(own[10:20]), np.zeros((4, 4))
        if step.along is not None:
            ends = step.limits if force.any() else (0.0, 0.0)
            pushed = squared(force[:, None] * step.along)
            lacks = max(0.0, *(SHARP - float(np.linalg.eigvalsh(Phi - M - e * pushed)[0]) for e in ends))
            Phi = Phi + lacks * np.eye(4)
            return Phi, np.zeros((4, 1)), skew
        values, V = np.linalg.eigh(W)
        G = V * np.sqrt(np.maximum(values, 0.0)) if step.limits[1] > 0.0 else np.zeros((4, 1))
        s, c = step.limits
        skew[UPPER] = own[20:]
        skew -= skew.T
        S = np.kron(np.eye(2), Phi) + np.kron(TURN, skew) - M - np.kron(np.diag([s, -c]), G @ G.T)
        Phi = Phi + max(0.0, SHARP - float(np.linalg.eigvalsh(S)[0])) * np.eye(4)
        return Phi, G, skew


def _symmetric(numbers: Floats) -> Floats:
    M = np.zeros((4, 4))
    M[PAIRS] = numbers
    return M + M.T - np.diag(np.diagonal(M))
