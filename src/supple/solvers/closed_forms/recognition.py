"""Which formula an arm has: how its axes lie, within a tolerance, and the arm next to it that fits the formula exactly.

* `MEETING`, `PARALLEL`, `GENERAL`: the last three axes meet (Pieper 1968), and the first two meet, are parallel, or neither.
  In the first two the third angle is had from a quadratic equation, in the last from a quartic.
* `PLANAR`: the second, third and fourth axes are parallel, and the last two meet, as in the arms of Universal Robots.

Each also for the arm reversed. The formula is that of the neighbour, whose axes are moved onto each other; what it gives is
polished on the arm itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.basics.values import Value
from supple.geometry.placements import Floats
from supple.solvers.closed_forms.axes import HINGES, Axes

MEETING, PARALLEL, GENERAL, PLANAR = range(4)
WORDS = (
    "three axes that meet at the end, and two at the beginning",
    "three axes that meet at the end, and two that are parallel at the beginning",
    "three axes that meet at the end",
    "three parallel axes and two that meet",
)
NEARLY = 1e-6  # [rad, and parts of the reach] by which axes may miss
DEGENERATE = 1e-3  # [rad, and parts of the reach] below which two axes count as one for the formula


@dataclass(frozen=True, eq=False, repr=False)
class Formula(Value):
    """The kind of an arm, whether it is taken reversed, and its neighbour that fits exactly, in the order of the formula."""

    kind: int
    backwards: bool
    along: Floats
    through: Floats

    @property
    def words(self) -> str:
        """How the axes lie."""
        return WORDS[self.kind] + (", as seen from the hand" if self.backwards else "")


def recognised(axes: Axes, nearly: float = NEARLY) -> Formula | None:
    """The formula of an arm, the quickest that it has; None if it has none."""
    if len(axes.along) != HINGES:
        return None
    found = [
        formula
        for backwards in (False, True)
        for formula in (_wristed(axes, backwards, nearly), _planar(axes, backwards, nearly))
        if formula is not None
    ]
    return min(found, key=lambda f: (f.kind == GENERAL, f.backwards), default=None)


def _taken(axes: Axes, backwards: bool) -> tuple[Floats, Floats]:
    one = axes.reversed if backwards else axes
    return one.along.copy(), one.through.copy()


def _wristed(axes: Axes, backwards: bool, nearly: float) -> Formula | None:
    h, p = _taken(axes, backwards)
    reach = axes.reach
    centre, miss = common_point(h[3:], p[3:])
    if not (miss < nearly * reach and _apart(h[3], h[4]) and _apart(h[4], h[5])):
        return None
    p[3:] = centre
    _, arm = _off(h[2], p[2], centre)
    if arm < DEGENERATE * reach:
        return None  # the third hinge does not move the wrist's centre
    if _parallel(h[0], h[1], nearly):
        h[1] = np.sign(h[0] @ h[1]) * h[0]
        far = _off(h[0], p[0], p[1])[1] > DEGENERATE * reach
        return Formula(PARALLEL, backwards, h, p) if far and _apart(h[1], h[2]) else None
    shoulder, miss = common_point(h[:2], p[:2])
    if miss < nearly * reach:
        p[:2] = shoulder
        far = _off(h[2], p[2], shoulder)[1] > DEGENERATE * reach
        return Formula(MEETING, backwards, h, p) if far else None
    plain = _apart(h[0], h[1]) and abs(np.cross(h[0], h[1]) @ (p[1] - p[0])) > DEGENERATE * reach
    return Formula(GENERAL, backwards, h, p) if plain else None


def _planar(axes: Axes, backwards: bool, nearly: float) -> Formula | None:
    h, p = _taken(axes, backwards)
    if not (_parallel(h[1], h[2], nearly) and _parallel(h[1], h[3], nearly) and _apart(h[0], h[1])):
        return None
    if not (_apart(h[3], h[4]) and _apart(h[4], h[5])):
        return None
    mean = h[1] + np.sign(h[1] @ h[2]) * h[2] + np.sign(h[1] @ h[3]) * h[3]
    mean /= np.linalg.norm(mean)
    for j in (3, 2, 1):
        h[j] = np.sign(h[1] @ h[j]) * mean
    meet, miss = common_point(h[4:], p[4:])
    long = [_off(mean, p[j], p[j + 1])[1] > DEGENERATE * axes.reach for j in (1, 2)]
    if not (miss < nearly * axes.reach and all(long)):
        return None
    p[4:] = meet
    return Formula(PLANAR, backwards, h, p)


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────────────────
def common_point(h: Floats, p: Floats) -> tuple[Floats, float]:
    """The point that is nearest to some lines, and the farthest that one of them misses it; infinitely if they are parallel."""
    across = np.eye(3) - h[:, :, None] * h[:, None, :]
    A = across.sum(0)
    if np.linalg.eigvalsh(A)[0] < DEGENERATE**2:
        return p[0], np.inf
    x = np.linalg.solve(A, (across @ p[:, :, None]).sum(0)[:, 0])
    return x, float(max(np.linalg.norm(across[j] @ (x - p[j])) for j in range(len(h))))


def _off(h: Floats, p: Floats, x: Floats) -> tuple[Floats, float]:
    """From a line to a point."""
    d = (x - p) - h * (h @ (x - p))
    return d, float(np.linalg.norm(d))


def _parallel(a: Floats, b: Floats, nearly: float) -> bool:
    return bool(np.linalg.norm(np.cross(a, b)) < nearly)


def _apart(a: Floats, b: Floats) -> bool:
    return bool(np.linalg.norm(np.cross(a, b)) > DEGENERATE)
