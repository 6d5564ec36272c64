"""An arm as the axes of its six hinges.

With the coordinates at zero, hinge j turns about the line through the point p_j along the unit vector h_j, and the frame that
is to be placed is at M. In the posture q it is at ``E_1(q_1) … E_6(q_6) M``, ``E_j(q)`` the turn about line j; it is at T when

    E_1 E_2 E_3 E_4 E_5 E_6 = g,    g = T M⁻¹.

The inverse of that, ``E_6⁻¹ … E_1⁻¹ = g⁻¹``, is an arm too: its lines in reversed order and direction. What is said of a
wrist at the end of an arm is so said of one at its beginning.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.basics.values import Value
from supple.geometry.placements import Floats
from supple.proofs.serial_chain import Chain
from supple.solvers.closed_forms.rows_of_arms import (
    ALONG,
    ARM_ROWS,
    HOME,
    LOWER,
    OWN_ALONG,
    OWN_THROUGH,
    SIZE,
    THROUGH,
    UPPER,
)

HINGES = 6


@dataclass(frozen=True, eq=False, repr=False)
class Axes(Value):
    """Unit vectors along the hinges' axes (n, 3), points on them (n, 3), the frame, all at zero; and the hinges' ranges."""

    along: Floats
    through: Floats
    home: Floats
    lower: Floats
    upper: Floats

    @staticmethod
    def of(chain: Chain) -> Axes:
        """The axes of a chain of hinges, from its placements with all coordinates at zero."""
        T, along, through = np.eye(4), [], []
        for before, sign in zip(chain.before, chain.signs, strict=True):
            T = T @ before
            along.append(sign * T[:3, 2] / np.linalg.norm(T[:3, 2]))
            through.append(T[:3, 3])
        return Axes(np.array(along), np.array(through), T @ chain.behind, chain.lower, chain.upper)

    @property
    def reversed(self) -> Axes:
        """The arm that undoes what this one does; its home is not said."""
        return Axes(-self.along[::-1], self.through[::-1], np.eye(4), self.lower[::-1], self.upper[::-1])

    @cached_property
    def reach(self) -> float:
        """The sum of the lengths from axis to axis and to the frame; 1 if there is none."""
        steps = np.diff(self.through, axis=0)
        along = (steps * self.along[1:]).sum(1)[:, None] * self.along[1:]
        last = np.linalg.norm(self.home[:3, 3] - self.through[-1])
        return float(np.linalg.norm(steps - along, axis=1).sum() + np.linalg.norm(along, axis=1).sum() + last) or 1.0

    def packed(self, along: Floats, through: Floats) -> Floats:
        """What the kernels read of an arm of six, and of the neighbour that has its formula, whose axes these are."""
        arm = np.zeros((ARM_ROWS, 3))
        arm[ALONG : ALONG + HINGES], arm[THROUGH : THROUGH + HINGES] = along, through
        arm[OWN_ALONG : OWN_ALONG + HINGES], arm[OWN_THROUGH : OWN_THROUGH + HINGES] = self.along, self.through
        arm[HOME : HOME + 4] = self.home[:3].T
        arm[LOWER : LOWER + 2], arm[UPPER : UPPER + 2] = self.lower.reshape(2, 3), self.upper.reshape(2, 3)
        arm[SIZE, 0] = self.reach
        return arm

    def placement(self, q: Floats) -> Floats:
        """Where the frame is."""
        T = np.array(self.home)
        for h, p, x in list(zip(self.along, self.through, q, strict=True))[::-1]:
            T = turn_about(h, p, float(x)) @ T
        return T


def turn_about(h: Floats, p: Floats, x: float) -> Floats:
    """The turn by x about the line through p along h."""
    K = np.array([[0, -h[2], h[1]], [h[2], 0, -h[0]], [-h[1], h[0], 0]])
    T = np.eye(4)
    T[:3, :3] += np.sin(x) * K + (1.0 - np.cos(x)) * (K @ K)
    T[:3, 3] = p - T[:3, :3] @ p
    return T
