"""The two-arc relaxation: whether moments of two arcs can agree where the arcs meet.

The closed loop of a chain (`chain`) is cut into an arc A of three joints and an arc B of the others, the target among
these: ``A B = ±1``, hence ``L_A h_A = ± L_B h_B`` with 8-row matrices L (B's conjugated). Squared, the sign is gone:

    L_A E[h_A h_Aᵀ] L_Aᵀ = L_B E[h_B h_Bᵀ] L_Bᵀ                                               (36 equations)
    N L_B E[h_B h_Bᵀ] = 0    for N L_A = 0                               (facial rows, where L_A has not full rank)
    E[h_A h_Aᵀ] ⪰ 0,  E[h_B h_Bᵀ] ⪰ 0,  E[(1 − u_j) h hᵀ] ⪰ 0 for each joint with limits

are linear in the moments y of both arcs (`moments`). If nothing satisfies them, no posture reaches the pose. The
equations (`equations`) are eliminated (`eliminating`), and the rest is a feasibility problem for `interior`. Where only
a point has a target, the equations are those of `points`.
"""

from __future__ import annotations

import threading
from functools import lru_cache

import numpy as np

from supple.geometry.placements import Floats
from supple.proofs.checker.moments import FIRST_ARC, Ranges, arcs_of, ranges
from supple.proofs.claims import Claim
from supple.proofs.relaxation.arcs import Loop, arc_matrices
from supple.proofs.relaxation.elimination import refute
from supple.proofs.relaxation.equations import RANK, Room, meet_points, meet_poses, room
from supple.proofs.relaxation.interior_point import REFUTED
from supple.proofs.relaxation.moments import Layout, layout
from supple.proofs.relaxation.points import point_rows
from supple.proofs.serial_chain import Chain, dual_of

CONTRADICTION = 1e-6  # what is left of an equation without unknowns
WORTH = 1e-6  # a bound that is worth looking at
_rooms = threading.local()


class Relaxation:
    """The problem for one claim and one box of joint ranges; its first arc begins with joint `start`.

    Those of one layout share a thread's memory: only the last that was made can be asked.
    """

    def __init__(self, claim: Claim, lower: Floats, upper: Floats, start: int) -> None:
        chain = claim.chain
        self.lower, self.upper = lower, upper
        self.ranges = ranges(chain, lower, upper)
        self.a, self.b = arcs_of(len(chain.names), start)
        order = np.array([*self.a, *self.b])
        self.chain = chain
        self.layout: Layout = layout(len(self.a), len(self.b), tuple(self.ranges.limited[j] for j in order.tolist()))
        kappa = self.ranges.kappa[order]
        self.room: Room = _room(self.layout)
        if claim.point:
            rows = point_rows(chain, claim.target, self.ranges.middle, self.ranges.g, len(self.a))
            meet_points(self.layout, self.room, kappa, rows)
        else:
            meet_poses(self.layout, self.room, kappa, loop(chain, claim.target, self.ranges, order))

    @property
    def split(self) -> int:
        """Moments of the first arc."""
        return 3 ** len(self.a)

    def refuted(self, margin: float, worth: float = WORTH) -> bool:
        """Whether no moments satisfy the relaxation, by more than a margin; `bound` says by how much.

        With a larger margin it goes on from where it was. What is below `worth` is of no use.
        """
        return refute(self.layout, self.room, margin, worth) == REFUTED or self.contradicts

    @property
    def contradicts(self) -> bool:
        """Whether the equations alone cannot be satisfied, as the last call of `refuted` saw."""
        return bool(self.room.out[3] > CONTRADICTION)

    @property
    def bound(self) -> float:
        """By how much the relaxation was seen to be violated whatever the moments are: 1 if its equations are alone."""
        return 1.0 if self.contradicts else float(self.room.out[0])

    @property
    def moments(self) -> Floats:
        """The moments that the last call of `refuted` ended with."""
        return self.room.bench.y

    @property
    def equations(self) -> Floats:
        """What the moments satisfy (rows, moments)."""
        return self.room.E[: self.room.count[1]]

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


def _room(shape: Layout) -> Room:
    """This thread's memory for programs of one layout."""
    known = _rooms.__dict__.setdefault("known", {})
    if id(shape) not in known:
        if len(known) >= 16:
            known.clear()
        known[id(shape)] = (shape, room(shape))
    return known[id(shape)][1]


def loop(chain: Chain, target: Floats, ranges: Ranges, order: np.ndarray) -> Loop:
    """A chain and its target for kernels, the arcs in this order of joints."""
    n, scale = len(order), 2.0 / chain.reach
    return Loop(
        chain.duals, dual_of(target, scale), 0.5 * chain.signs * ranges.middle, chain.signs * ranges.g, chain.slides,
        scale, order, FIRST_ARC, np.zeros((n, 8)), np.zeros((2, 8)), np.zeros((2**FIRST_ARC, 8)),
        np.zeros((2 ** (n - FIRST_ARC), 8)),
    )  # fmt: skip


def matrices(chain: Chain, target: Floats, ranges: Ranges, order: np.ndarray) -> tuple[Floats, Floats]:
    """L_A and L_B of the arcs in this order of joints."""
    L_a, L_b = np.empty((8, 2**FIRST_ARC)), np.empty((8, 2 ** (len(order) - FIRST_ARC)))
    arc_matrices(loop(chain, target, ranges, order), L_a, L_b)
    return L_a, L_b


def best_start(claim: Claim) -> int:
    """With which joint the first arc had best begin."""
    return 0 if claim.point else _most_special(claim.chain)


@lru_cache(maxsize=256)
def _most_special(chain: Chain) -> int:
    """Where the arc begins whose axes are the most special, all through one point or parallel; of equals that nearest the base.

    The more of arc B's joints come before the target, the less the tolerances matter.
    """
    whole, n, ranks = ranges(chain, *chain.box), len(chain.names), []
    for start in range(n - FIRST_ARC + 1):
        order = np.array([j for arc in arcs_of(n, start) for j in arc])
        s = np.linalg.svd(matrices(chain, np.eye(4), whole, order)[0], compute_uv=False)
        ranks.append(int(np.count_nonzero(s > RANK * s[0])))
    return int(np.argmin(ranks))
