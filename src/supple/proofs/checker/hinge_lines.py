"""A chain of six hinges as the lines that they turn about, in balls; and how far its motions are from those of a neighbour.

**Lines.** With all coordinates at zero hinge j turns about the line through p_j along h_j, and the frame is at M. It is at T
exactly when ``E_1(q_1) … E_6(q_6) = g = T M⁻¹``.

**A neighbour.** Let the lines h′, p′ be others. ``Rot(h, x) = 1 + sin x K + (1 − cos x) K²`` with ``‖K − K′‖ = |h − h′|`` and
``‖K² − K′²‖ ≤ 2 |h − h′|``, so turns by the same angle differ by no more than ``5 |h − h′|``. With d from p′ to the nearest
point of the line itself, the image of a point y under both turns differs by no more than ``2 |d| + 5 |h − h′| |y − p′|``.
Put one after the other, ``E_1 … E_6`` and ``E′_1 … E′_6`` differ by no more than the sums: in rotation of ``5 |h_j − h′_j|``,
in where the origin goes of the others, with y the origin moved by the hinges behind, at most as far away as the way to it
along the points of the lines is long. So a posture whose motion is g has, on the neighbour, a motion within that slack of g.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from supple.geometry.placements import Floats
from supple.proofs.checker.balls import Unproved, need_flint, norm, still, turned_back
from supple.proofs.checker.mechanism import Claim

HINGES = 6
Three = Sequence[Any]


@dataclass(frozen=True, eq=False)
class Lines:
    """Directions of length one and points of lines, the frame at zero, and the target: all in balls."""

    along: tuple[Three, ...]
    through: tuple[Three, ...]
    home: Any
    target: Any

    @staticmethod
    def of(claim: Claim) -> Lines:
        """The lines of a claim's chain."""
        chain = claim.chain
        if claim.point or len(chain.unknowns) != HINGES or min(chain.unknowns) < 0 or any(chain.slides):
            raise Unproved("it is not about the pose of a frame that six hinges move")
        here, along, through = still(), [], []
        for before, sign in zip(chain.before, chain.signs, strict=True):
            here = here * before
            along.append([sign * here[i, 2] for i in range(3)])
            through.append([here[i, 3] for i in range(3)])
        return Lines(tuple(along), tuple(through), here * chain.behind, claim.target)

    def motion(self, backwards: bool) -> tuple[list[list[Any]], list[Any]]:
        """g, or its inverse: rows of its rotation, and its translation."""
        g = self.target * turned_back(self.home)
        g = turned_back(g) if backwards else g
        return [[g[i, j] for j in range(3)] for i in range(3)], [g[i, 3] for i in range(3)]

    def taken(self, backwards: bool) -> tuple[list[Three], list[Three]]:
        """Directions and points, or those of the arm reversed."""
        if not backwards:
            return list(self.along), list(self.through)
        return [[-x for x in h] for h in self.along[::-1]], list(self.through[::-1])


def unit(a: Any) -> list[Any]:
    """A direction of length one, in balls."""
    arb = need_flint().arb
    values = [arb(float(x)) for x in a]
    long = dot(values, values)
    if not long > 0.5:
        raise Unproved("a direction of the neighbour is none")
    return [x / long.sqrt() for x in values]


def slack(along: Sequence[Three], through: Sequence[Three], near: Sequence[Three], at: Floats) -> tuple[Any, Any]:
    """By how much motions of both arms differ at most: rotations, and where the origin goes."""
    arb = need_flint().arb
    turn, shift = arb(0), arb(0)
    points, offs = [], []
    for h, p, there in zip(along, through, at, strict=True):
        way = minus([arb(float(x)) for x in there], p)
        foot = times(dot(h, way), h)
        points.append(plus(p, foot))
        offs.append(norm(minus(way, foot)))
    far = norm(points[-1])
    for j in range(len(points) - 1, -1, -1):
        if j < len(points) - 1:
            far = far + norm(minus(points[j + 1], points[j]))
        bent = 5 * norm(minus(along[j], near[j]))
        turn, shift = turn + bent, shift + 2 * offs[j] + bent * (far + offs[j])
    return turn.abs_upper(), shift.abs_upper()


# ── vectors of balls ─────────────────────────────────────────────────────────────────────────────────────────────────
def dot(a: Three, b: Three) -> Any:
    """``a·b``."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Three, b: Three) -> list[Any]:
    """``a × b``."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def plus(a: Three, b: Three) -> list[Any]:
    """``a + b``."""
    return [x + y for x, y in zip(a, b, strict=True)]


def minus(a: Three, b: Three) -> list[Any]:
    """``a − b``."""
    return [x - y for x, y in zip(a, b, strict=True)]


def times(f: Any, a: Three) -> list[Any]:
    """``f a``."""
    return [f * x for x in a]


def applied(rows: Sequence[Three], a: Three) -> list[Any]:
    """A matrix times a vector."""
    return [dot(row, a) for row in rows]


def turned(k: Three, c: Any, s: Any, a: Three) -> list[Any]:
    """a turned about the unit axis k by the angle of cosine c and sine s."""
    across, held = cross(k, a), dot(k, a) * (1 - c)
    return [c * x + s * y + held * z for x, y, z in zip(a, across, k, strict=True)]
