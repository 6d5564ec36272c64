"""The search for pulls: which wishes are pulled, and boxes cut until all are empty; its proof is a certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from supple.geometry.placements import Floats
from supple.problem.problem import Problem
from supple.proofs.certificate import Certificate, links_between
from supple.proofs.checker.mechanism import box_of
from supple.proofs.checker.proof import Proof, Split
from supple.proofs.checker.statement import Link, Statement, Wish
from supple.proofs.claims import wishes_of
from supple.proofs.pulling import Tree
from supple.proofs.serial_chain import Undecidable

WORK = 300  # joints of all boxes together
NEEDED = 1e-3  # share of the pull with which a wish is likely to be needed
NARROW = 1e-3  # [rad, m] a range that is not cut
LARGEST = 300  # joints of a tree that is looked at


class Pulled(NamedTuple):
    """A certificate, or none; and how many boxes were looked at."""

    certificate: Certificate | None
    boxes: int


def pulled(problem: Problem, boxes: int, late: Callable[[], bool] = lambda: False) -> Pulled:
    """A proof that nothing meets all wishes of a problem, found in no more than some boxes."""
    wishes = wishes_of(problem)
    links = links_between(problem, [(w.segment, w.seen_from) for w in wishes])
    insist_on(problem, links)
    first = _Search(links, wishes, 1, late)
    proof = first.proof()
    most = min(boxes, 1 + WORK // max(len(first.tree.moving), 1))
    if proof is None:
        further = _Search(links, wishes, most, late)
        proof, looked = further.proof(), further.boxes
        return Pulled(None if proof is None else _certificate(problem, links, wishes, proof), looked)
    needed = [w for w, share in zip(wishes, first.shares, strict=True) if share > NEEDED]
    fewer = links_between(problem, [(w.segment, w.seen_from) for w in needed])
    if len(needed) < len(wishes) and (own := _Search(fewer, needed, 1, late).proof()) is not None:
        return Pulled(_certificate(problem, fewer, needed, own), 2)
    return Pulled(_certificate(problem, links, wishes, proof), 1)


def insist_on(problem: Problem, links: Sequence[Link]) -> None:
    """Refuse joints of which certificates do not speak."""
    for link in links:
        if problem.figure.joint_of[link.key].drive is not None:
            raise Undecidable(f"joint {link.name!r} follows others")
        if not link.is_fixed and problem.free[problem.figure.coordinates.index(link.name)] == 0.0:
            raise Undecidable(f"joint {link.name!r} is locked: lock it in the figure instead, with locked()")
        if any(link.turn) and any(link.slide):
            raise Undecidable(f"joint {link.name!r} turns and slides at once")
        if any(link.slide) and abs(np.linalg.norm(link.slide) - 1.0) > 1e-15:
            raise Undecidable(f"joint {link.name!r} slides by another length than its coordinate")
    if not any(not link.is_fixed for link in links):
        raise Undecidable("it has no task on joints that move")
    if len(links) > LARGEST:
        raise Undecidable(f"{len(links)} joints lie on its ways; up to {LARGEST} are looked at")


def _certificate(problem: Problem, links: Sequence[Link], wishes: Sequence[Wish], proof: Proof) -> Certificate:
    said = Statement(problem.figure.name, tuple(links), tuple(wishes))
    return Certificate(said, proof, problem.figure, problem.limits)


class _Search:
    """Boxes of a tree's joints, cut where the mixture of postures is widest."""

    def __init__(self, links: Sequence[Link], wishes: Sequence[Wish], most: int, late: Callable[[], bool]) -> None:
        self.tree, self.most, self.late, self.boxes = Tree(links, wishes), most, late, 0
        self.box = box_of(links, wishes)
        self.shares = np.zeros(len(wishes))

    def proof(self) -> Proof | None:
        """The proof that all is empty, if it is found."""
        return self.prove(*self.box)

    def prove(self, lower: Floats, upper: Floats) -> Proof | None:
        """The proof that a box is empty; None if the boxes are used up, or cut too narrow."""
        if self.boxes >= self.most or self.late():
            return None
        self.boxes += 1
        answer = self.tree.solved(lower, upper)
        if answer.pull is not None:
            size = np.linalg.norm(answer.pull.forces, axis=1) * self.tree.unit
            self.shares = np.maximum(self.shares, size + np.linalg.norm(answer.pull.turns, axis=(1, 2)))
            return answer.pull
        if self.boxes >= self.most:
            return None
        count = len(self.tree.moving)
        width = upper[:count] - lower[:count]
        spread = np.where((width > NARROW) & np.isfinite(width), answer.spread, -1.0)
        joint = int(np.argmax(spread))
        if spread[joint] <= 0.0:
            return None
        at = 0.5 * float(lower[joint] + upper[joint])
        top, bottom = upper.copy(), lower.copy()
        top[joint] = bottom[joint] = at
        below = self.prove(lower, top)
        above = None if below is None else self.prove(bottom, upper)
        return None if below is None or above is None else Split(joint, at, below, above)
