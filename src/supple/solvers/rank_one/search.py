"""Rank minimisation: from a point of the relaxed set to one whose matrices have rank one.

The largest eigenvalue of a matrix of fixed trace is convex, with slope ``u uᵀ`` (41), and equals the trace exactly if the
rank is one.

*Problem 3* (45), the targets being equations: maximise ``Σ u_iᵀ Y_i u_i`` over the relaxed set, again and again with the new
u_i. The sum of the largest eigenvalues never falls.

*Problem 4* (52), the targets being the cost f: minimise f subject to ``Σ u_iᵀ Y_i u_i ≥ Σ tr Y_i − c (tr Y_i − λ₁)``. What is
missing to rank one shrinks by c < 1 at least; where that is infeasible c moves half of its way towards 1 (53), and after
a success it falls again. The condition is on the sum over all matrices, or, as in the paper, on *each* of them: then the
walk ends wherever no step helps all of them at once. A matrix that has rank one has only to keep it.

*Restart* (Algorithm 2): from a point where nothing grows any more go along a feasible direction to the boundary of the relaxed
set, and go on from there. The direction leads to the relaxed point that is most like a random posture, ``max ⟨Y, Y_random⟩``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import monotonic

import numpy as np

from supple.geometry.placements import Floats
from supple.problem.allowance import Allowance
from supple.solvers.rank_one.cone_program import Answer, Posed
from supple.solvers.rank_one.matrices import square
from supple.solvers.rank_one.posture import Spectrum, spectrum, write
from supple.solvers.rank_one.variables import Lifted

SLOW = 0.02  # a step that makes up for less than this share of what is missing to rank one is slow
SLOW_STEPS = 2  # so many in a row are a stall
SOFTER = 10  # how often c may move towards 1
HALVINGS = 20  # of the step to the boundary
KEEPS = 0.1  # of the tolerance may be missing to rank one of a matrix that has it
INSIDE = -1e-9  # least eigenvalue that counts as inside


@dataclass
class Purse:
    """What may still be spent: cone programs and evaluations of the problem, and seconds."""

    allowance: Allowance
    solves: int = 0
    began: float = field(default_factory=monotonic)

    @property
    def empty(self) -> bool:
        """Whether no further program may be solved."""
        return self.solves >= self.allowance.evaluations or monotonic() - self.began >= self.allowance.seconds

    @property
    def left(self) -> Allowance | None:
        """What remains for others."""
        return self.allowance.left(self.solves, monotonic() - self.began)

    @property
    def ended(self) -> str:
        """What came first: the beginning of a sentence."""
        return self.allowance.ended(late=self.solves < self.allowance.evaluations)


@dataclass(frozen=True, eq=False)
class Attempt:
    """Where one descent in rank has ended."""

    x: Floats
    spectrum: Spectrum
    steps: int
    restart: int
    path: tuple[float, ...]  # what was missing to rank one, ``Σ tr Y − λ₁``, before each step and in the end


@dataclass(frozen=True, eq=False)
class Search:
    """A relaxed problem with numbers, and how its rank is brought down."""

    lifted: Lifted
    parameters: Floats
    posed: Posed
    purse: Purse
    steps: int
    tolerance: float
    push: Callable[[Floats], Floats] | None = None  # a further linear cost at a point, such as (72)

    def cost(self, shape: Spectrum) -> Floats:
        """The linear cost of Problem 3: the slope of ``−Σ λ₁``."""
        out = np.zeros(self.posed.A.shape[1])
        for own, slope in shape.slopes:
            out[own] = -slope
        return out

    def relaxed(self) -> Answer:
        """The relaxed problem's own answer, whatever remains."""
        self.purse.solves += 1
        return self.posed.solve()

    def solve(self, cost: Floats) -> Floats | None:
        """One cone program with a linear cost, if it may still be paid."""
        if self.purse.empty:
            return None
        self.purse.solves += 1
        return self.posed.solve(cost).x

    def descend(self, x: Floats, restart: int = 0) -> Attempt:
        """Problem 3 until the rank is one, or nothing grows."""
        shape, slow = spectrum(self.lifted, x), 0
        path = [shape.missing]
        for _ in range(self.steps):
            if shape.rank_gap <= self.tolerance or slow >= SLOW_STEPS:
                break
            cost = self.cost(shape)
            new = self.solve(cost if self.push is None else cost + self.push(x))
            if new is None:
                break
            x, shape = new, spectrum(self.lifted, new)
            slow = slow + 1 if path[-1] - shape.missing < SLOW * path[-1] else 0
            path.append(shape.missing)
        return Attempt(x, shape, len(path) - 1, restart, tuple(path))

    def attempts(self, x: Floats, restarts: int, seed: int) -> Iterator[Attempt]:
        """A descent from x, then others from where restarts lead, until one has reached rank one or nothing is left."""
        found = self.descend(x)
        yield found
        draw = np.random.default_rng(seed)
        for k in range(1, restarts + 1):
            if found.spectrum.rank_gap <= self.tolerance and self.push is None:
                return
            new = self.restarted(found.x, draw)
            if new is None:
                return
            found = self.descend(new, k)
            yield found

    def restarted(self, x: Floats, draw: np.random.Generator) -> Floats | None:
        """Algorithm 2: on along a feasible direction to the boundary of the relaxed set."""
        cost = np.zeros(len(x))
        cost[: self.lifted.size] = -write(self.lifted, self._random_posture(draw), self.parameters)
        other = self.solve(cost)
        if other is None:
            return None
        low, high = 1.0, 2.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if inside(self.posed, x + middle * (other - x)) else (low, middle)
        return x + low * (other - x)

    def _random_posture(self, draw: np.random.Generator) -> Floats:
        """A posture within the limits; where there are none, within half a turn or a metre of the rest posture."""
        lifted, q = self.lifted, np.array(self.lifted.figure.rest)
        spans = [hinge.span for hinge in lifted.tree.hinges]
        spans += [node.slide.span for node in lifted.tree.nodes.values() if node.slide is not None]
        for span in spans:
            around = q[span.index]
            low = span.lower if np.isfinite(span.lower) else min(around, span.upper) - np.pi
            high = span.upper if np.isfinite(span.upper) else max(around, span.lower) + np.pi
            q[span.index] = draw.uniform(low, high)
        for socket in lifted.tree.sockets:
            q[list(socket.indices)] = draw.uniform(-np.pi, np.pi, 3)
        return q

    # ── targets in the cost ──────────────────────────────────────────────────────────────────────────────────────────
    def adapt(self, x: Floats, factor: float, softer: int = SOFTER, each: bool = False) -> Attempt:
        """Problem 4 until the rank is one, or no factor below one is feasible; `softer` = 0 keeps the factor."""
        shape, c, times = spectrum(self.lifted, x), factor, 0
        path = [shape.missing]
        while len(path) <= self.steps and shape.rank_gap > self.tolerance:
            new = self._shrunk(shape, c, each)
            if new is None:
                times += 1
                if times > softer or self.purse.empty:
                    break
                c = 0.5 * (1.0 + c)
                continue
            c, times = max(factor, c * c), 0
            x, shape = new, spectrum(self.lifted, new)
            path.append(shape.missing)
        return Attempt(x, shape, len(path) - 1, 0, tuple(path))

    def _shrunk(self, shape: Spectrum, c: float, each: bool) -> Floats | None:
        """The cheapest point that is nearer to rank one by the factor c: in all, or each matrix by itself."""
        if self.purse.empty:
            return None
        self.purse.solves += 1
        missing = shape.trace - shape.first
        left = np.maximum(c * missing, KEEPS * self.tolerance) if each else c * missing
        discs = np.array([own.stop - own.start == 2 for own, _ in shape.slopes])  # of these λ₁ = (1 + u · (c, s)) / 2
        right = shape.trace - left - 0.5 * discs
        rows = np.zeros((len(right), 1 + self.posed.A.shape[1]))
        rows[:, 0] = -right
        for row, (own, slope) in zip(rows, shape.slopes, strict=True):
            row[1:][own] = slope
        if not each:
            rows = rows.sum(axis=0, keepdims=True)
        return self.posed.with_cone("positive", rows).solve().x


def inside(posed: Posed, x: Floats) -> bool:
    """Whether every inequality holds; equations hold along lines between points for which they hold."""
    for kind, s in posed.slack(x):
        if kind == "positive" and s.min() < INSIDE:
            return False
        if kind == "second_order" and s[0] - np.linalg.norm(s[1:]) < INSIDE:
            return False
        if kind == "semidefinite":
            n = round((np.sqrt(8 * len(s) + 1) - 1) / 2)
            if np.linalg.eigvalsh(square(s, n))[0] < INSIDE:
                return False
    return True
