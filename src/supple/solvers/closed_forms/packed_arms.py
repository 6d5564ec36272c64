"""An arm and its formula's neighbour as rows of numbers, for kernels to read."""

from __future__ import annotations

import numpy as np

from supple.geometry.placements import Floats
from supple.solvers.closed_forms.axes import HINGES, Axes
from supple.solvers.closed_forms.openings import FLAT, TOUCHING
from supple.solvers.closed_forms.rows_of_arms import (
    ALONG,
    ARM_ROWS,
    HOME,
    LOWER,
    OWN_ALONG,
    OWN_THROUGH,
    SIZE,
    THROUGH,
    TOUCH,
    UPPER,
)


def packed_arm(axes: Axes, along: Floats, through: Floats) -> Floats:
    """What the kernels read of an arm and the neighbour that has its formula."""
    arm = np.zeros((ARM_ROWS, 3))
    arm[ALONG : ALONG + HINGES], arm[THROUGH : THROUGH + HINGES] = along, through
    arm[OWN_ALONG : OWN_ALONG + HINGES], arm[OWN_THROUGH : OWN_THROUGH + HINGES] = axes.along, axes.through
    arm[HOME : HOME + 4] = axes.home[:3].T
    arm[LOWER : LOWER + 2], arm[UPPER : UPPER + 2] = axes.lower.reshape(2, 3), axes.upper.reshape(2, 3)
    arm[SIZE, 0], arm[TOUCH] = axes.reach, (TOUCHING, FLAT, 0.0)
    return arm
