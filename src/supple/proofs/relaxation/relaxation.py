"""The two-arc relaxation: whether moments of two arcs can agree where the arcs meet.

The closed loop of a chain (`serial_chain`) is cut into an arc A of three joints and an arc B of the others, the target among
these: ``A B = ±1``, hence ``L_A h_A = ± L_B h_B`` with 8-row matrices L (B's conjugated). Squared, the sign is gone:

    L_A E[h_A h_Aᵀ] L_Aᵀ = L_B E[h_B h_Bᵀ] L_Bᵀ                                               (36 equations)
    N L_B E[h_B h_Bᵀ] = 0    for N L_A = 0                               (facial rows, where L_A has not full rank)
    E[h_A h_Aᵀ] ⪰ 0,  E[h_B h_Bᵀ] ⪰ 0,  E[(1 − u_j) h hᵀ] ⪰ 0 for each joint with limits

are linear in the moments y of both arcs (`checker.moments`). If nothing satisfies them, no posture reaches the pose. The
equations (`equations`) are eliminated (`elimination`), and the rest is a feasibility problem for `interior_point`. Where only
a point has a target, the equations are those of `points`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import numpy as np

from supple.geometry.placements import Floats
from supple.proofs.checker.moments import FIRST_ARC, arcs_of, ranges
from supple.proofs.claims import Claim
from supple.proofs.relaxation.elimination import refute
from supple.proofs.relaxation.equations import RANK, meet_poses
from supple.proofs.relaxation.interior_point import REFUTED
from supple.proofs.relaxation.packing import (
    ALL_ROWS,
    BOUND,
    LEFT,
    NULL_ROWS,
    ROWS,
    SECOND,
    STEPS,
    open_blocks,
    open_joints,
    open_terms,
    packed_arcs,
)
from supple.proofs.relaxation.points import point_rows
from supple.proofs.relaxation.scratch import (
    open_arcs,
    open_equations,
    open_folding,
    open_loop,
    open_matrices,
    open_unknowns,
)
from supple.proofs.serial_chain import Chain, Way, dual_of

CONTRADICTION = 1e-6  # what is left of an equation without unknowns
WORTH = 1e-6  # a bound that is worth looking at


class Workspace:
    """A pack and its scratch, for one relaxation after the other of the same arcs; and views of them."""

    def __init__(self, I: np.ndarray, memory: np.ndarray) -> None:
        self.I, self.memory = I.copy(), memory.copy()
        both = self.I, self.memory
        self.blocks, self.terms, self.joints = open_blocks(*both), open_terms(*both), open_joints(*both)
        self.unknowns, self.matrices, self.folding = open_unknowns(*both), open_matrices(*both), open_folding(*both)
        self.equations, self.arcs, self.loop = open_equations(*both), open_arcs(*both), open_loop(*both)


class Relaxation:
    """The problem for one claim and one box of joint ranges; its first arc begins with joint `start`.

    It lies in a workspace of its own, or in one that is lent to it: then only until the workspace is lent again (`relaxed`).
    """

    def __init__(
        self, claim: Claim, lower: Floats, upper: Floats, start: int, workspace: Workspace | None = None
    ) -> None:
        self.claim, self.chain = claim, claim.chain
        self.lower, self.upper = lower, upper
        self.ranges = ranges(self.chain, lower, upper)
        self.a, self.b = arcs_of(len(self.chain.names), start)
        self.workspace = workspace or Workspace(*packed_arcs(*_arcs(claim, lower, upper, start)))
        self.workspace.joints.a[:], self.workspace.joints.b[:] = self.a, self.b
        self.weigh_terms()
        if claim.point:
            self.meet_points()
        else:
            self.meet_poses()

    def weigh_terms(self) -> None:
        """The coefficients of all terms, from κ of the joints."""
        terms, products = self.workspace.terms, []
        for arc in (self.a, self.b):
            product = np.ones(1)
            for j in arc:
                product = np.concatenate([product, product * self.ranges.kappa[j]])
            products.append(product)
        self.workspace.folding.coefficient[:] = terms.sign * np.concatenate(products)[terms.product]

    def meet_poses(self) -> None:
        """The equations of a pose, from its loop."""
        chain, loop, scale = self.chain, self.workspace.loop, 2.0 / self.chain.reach
        loop.fixed[:], loop.target[:] = chain.duals, dual_of(self.claim.target, scale)
        loop.half[:], loop.g[:] = 0.5 * chain.signs * self.ranges.middle, chain.signs * self.ranges.g
        loop.slides[:], loop.scale[0] = chain.slides, scale
        meet_poses(self.workspace.I, self.workspace.memory)

    def meet_points(self) -> None:
        """The equations of a point; no face."""
        I, folding = self.workspace.I, self.workspace.folding
        rows = point_rows(self.chain, self.claim.target, self.ranges.middle, self.ranges.g, len(self.a))
        self.workspace.equations.E[: len(rows)] = rows
        I[ROWS], I[ALL_ROWS], I[NULL_ROWS] = len(rows), len(rows), 0
        self.workspace.blocks.seen[I[SECOND]] = len(folding.V)
        folding.V[:] = folding.Vt[:] = np.eye(len(folding.V))
        self.workspace.unknowns.report[STEPS] = 0.0

    @property
    def split(self) -> int:
        """Moments of the first arc."""
        return 3 ** len(self.a)

    def refuted(self, margin: float, worth: float = WORTH) -> bool:
        """Whether no moments satisfy the relaxation, by more than a margin; `bound` says by how much.

        With a larger margin it goes on from where it was. What is below `worth` is of no use.
        """
        return refute(self.workspace.I, self.workspace.memory, margin, worth) == REFUTED or self.contradicts

    @property
    def contradicts(self) -> bool:
        """Whether the equations alone cannot be satisfied, as the last call of `refuted` saw."""
        return bool(self.workspace.unknowns.report[LEFT] > CONTRADICTION)

    @property
    def bound(self) -> float:
        """By how much the relaxation was seen to be violated whatever the moments are: 1 if its equations are alone."""
        return 1.0 if self.contradicts else float(self.workspace.unknowns.report[BOUND])

    @property
    def moments(self) -> Floats:
        """The moments that the last call of `refuted` ended with."""
        return self.workspace.unknowns.y

    @property
    def equations(self) -> Floats:
        """What the moments satisfy (rows, moments)."""
        return self.workspace.equations.E[: self.workspace.I[ALL_ROWS]]

    @property
    def arc_matrices(self) -> tuple[Floats, Floats]:
        """L_A and L_B of a pose."""
        return self.workspace.loop.A.T, self.workspace.loop.B.T

    def angles(self) -> tuple[Floats, Floats]:
        """The coordinates that the first moments stand for, and how far each is from being one: 0 if it is, up to 1."""
        y, (middle, g, _, _) = self.moments, self.ranges
        q, spread = np.empty(len(g)), np.empty(len(g))
        for arc, at in ((self.a, 0), (self.b, self.split)):
            for i, j in enumerate(arc):
                unit = 3 ** (len(arc) - 1 - i)
                u, v = y[at + unit], y[at + 2 * unit]
                if self.chain.slides[j]:
                    q[j], spread[j] = middle[j] + self.chain.reach * g[j] * v, u - v * v
                else:
                    c, s = 1.0 - 2.0 * g[j] * g[j] * u, 2.0 * g[j] * v
                    q[j], spread[j] = middle[j] + np.arctan2(s, c), 1.0 - c * c - s * s
        return q, spread


def _arcs(claim: Claim, lower: Floats, upper: Floats, start: int) -> tuple[int, int, tuple[bool, ...]]:
    """What a pack depends on: the joints of both arcs, and which of them have limits."""
    limited = ranges(claim.chain, lower, upper).limited
    a, b = arcs_of(len(limited), start)
    return len(a), len(b), tuple(limited[j] for j in (*a, *b))


@lru_cache(maxsize=16)
def _idle(a: int, b: int, limited: tuple[bool, ...]) -> list[Workspace]:
    """Workspaces that nobody uses."""
    return []


@contextmanager
def relaxed(claim: Claim, lower: Floats, upper: Floats, start: int) -> Iterator[Relaxation]:
    """A relaxation in a workspace that is lent, and taken back at the end."""
    arcs = _arcs(claim, lower, upper, start)
    idle = _idle(*arcs)
    try:
        workspace = idle.pop()
    except IndexError:
        workspace = Workspace(*packed_arcs(*arcs))
    relaxation = Relaxation(claim, lower, upper, start, workspace)
    try:
        yield relaxation
    finally:
        del relaxation.workspace
        idle.append(workspace)


def best_start(claim: Claim) -> int:
    """With which joint the first arc had best begin."""
    return 0 if claim.point else _most_special(claim.chain)


@lru_cache(maxsize=256)
def _most_special(chain: Chain) -> int:
    """Where the arc begins whose axes are the most special, all through one point or parallel; of equals that nearest the base.

    The more of arc B's joints come before the target, the less the tolerances matter.
    """
    claim, n, ranks = Claim(chain, np.eye(4), 0.0, 0.0, False, Way("", np.eye(4))), len(chain.names), []
    for start in range(n - FIRST_ARC + 1):
        with relaxed(claim, *chain.box, start) as relaxation:
            s = np.linalg.svd(relaxation.arc_matrices[0], compute_uv=False)
        ranks.append(int(np.count_nonzero(s > RANK * s[0])))
    return int(np.argmin(ranks))
