"""What is known before anything is solved: rotations that are given, and directions that rotations must keep.

The world's rotation is known, and that of a body whose frame is to be placed is a target. A hinge on such a body gives its
neighbour one direction, ``R a = w``: then ``R = W Rot(e_z, φ) Aᵀ`` with W and A frames whose third axes are w and a, and the
positive semidefinite matrix of R lies in a face of rank 2 (see `lifted_blocks`). Relaxations that leave such faces in have
no interior, and solvers then err; so they are taken out. A direction is handed on through hinges parallel to it:
the bodies of planar mechanisms are discs, all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from supple.geometry.placements import Floats
from supple.solvers.rank_one.bodies import Hinge, Tree, along_z, parallel
from supple.solvers.rank_one.targets import Aim, Turn, frame_of

FLIP = np.diag([1.0, -1.0, -1.0])


@dataclass(frozen=True, eq=False)
class Face:
    """``R = outer · Rot(e_z, φ) · innerᵀ``, `outer` (3, 3, 1 + p) in the targets.

    If the direction comes through a `hinge` from a body whose rotation R₀ is known, ``R₀ᵀ outer = seen``.
    """

    outer: Floats
    inner: Floats
    hinge: Hinge | None = None
    seen: Floats | None = None


@dataclass
class Knowledge:
    """Rotations that are known, by body; directions that are known; and which hinges and aims have said so."""

    tree: Tree
    parameters: int
    turns: dict[int, Floats] = field(default_factory=dict)  # (3, 3, 1 + p)
    faces: dict[int, Face] = field(default_factory=dict)
    used: set[Hinge | Turn] = field(default_factory=set)  # what holds by construction
    plain: set[int] = field(default_factory=set)  # bodies that carry targets themselves: theirs must not be one

    def __post_init__(self) -> None:
        world = np.zeros((3, 3, self.parameters))
        world[:, :, 0] = np.eye(3)
        self.turns[0] = world

    def aim(self, aim: Aim, turn: Turn) -> None:
        """Take in what a goal in the world says."""
        node = self.tree.nodes[aim.segment]
        own = node.turn @ aim.frame[:3, :3]
        if aim.base is not None or node.body in self.turns or node.body in self.plain:
            return
        target = frame_of(turn.first, self.parameters)
        if len(turn.axes) == 3:
            self.turns[node.body] = np.einsum("abk,bc->ack", target, own.T)
            self.used.add(turn)
        elif node.body not in self.faces:
            self.faces[node.body] = Face(np.roll(target, -1, axis=1), along_z(own[:, turn.axes[0]]))
            self.used.add(turn)

    def spread(self) -> None:
        """Hand directions on through hinges until nothing is new."""
        waiting, new = list(self.tree.hinges), True
        while new:
            new = False
            for hinge in waiting:
                if hinge not in self.used and self._through(hinge):
                    new = True

    def _through(self, hinge: Hinge) -> bool:
        """Whether a hinge tells one of its bodies a direction."""
        parent, child = self.tree.nodes[hinge.parent], self.tree.nodes[hinge.child]
        ends = [(parent.body, parent.turn @ hinge.rest @ hinge.axis), (child.body, child.turn @ hinge.axis)]
        for (knows, axis), (learns, own) in (ends, ends[::-1]):
            if learns in self.turns or learns in self.faces or knows == learns:
                continue
            if knows in self.turns:
                seen = along_z(axis)
                new = Face(np.einsum("abk,bc->ack", self.turns[knows], seen), along_z(own), hinge, seen)
            elif knows in self.faces:
                face = self.faces[knows]
                sign = parallel(face.inner[:, 2], axis)
                if sign == 0.0:
                    continue
                outer = face.outer if sign > 0.0 else np.einsum("abk,bc->ack", face.outer, FLIP)
                new = Face(outer, along_z(own))
            else:
                continue
            if learns in self.plain and new.outer[..., 1:].any():
                continue
            self.faces[learns] = new
            self.used.add(hinge)
            return True
        return False


def knowledge_of(tree: Tree, aims: Sequence[Aim], parameters: int, given: bool) -> Knowledge:
    """What the world and, if targets are `given` as equations, the aims tell."""
    out = Knowledge(tree, parameters, plain={tree.nodes[aim.base].body for aim in aims if aim.base is not None})
    if given:
        for whole in (True, False):
            for aim in aims:
                for turn in aim.turns:
                    if (len(turn.axes) == 3) == whole:
                        out.aim(aim, turn)
    out.spread()
    return out
