"""Which loop takes a problem: the lean one (`shape`), else the wide one (`wide_shape`), else none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from supple.problem.problem import Problem
from supple.solvers.lean.shape import Numbers, Refused, Shape, shaped

if TYPE_CHECKING:
    from supple.solvers.lean.wide_shape import WideNumbers, WideShape


def formed(problem: Problem, start: np.ndarray) -> tuple[Shape | WideShape, Numbers | WideNumbers]:
    """Shape and numbers for the loop that takes a problem; `Refused` says why none does."""
    from supple.solvers.lean.wide_shape import widened

    try:
        return shaped(problem, start)
    except Refused:
        return widened(problem, start)


def takes(problem: Problem, start: np.ndarray) -> bool:
    """Whether a GPU takes a problem."""
    try:
        formed(problem, start)
    except Refused:
        return False
    return True
