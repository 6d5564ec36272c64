"""Where attempts begin: all over the ranges of the coordinates, in a sequence that leaves no gaps."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.kernels.layouts import PROBLEM, view
from supple.problem.problem import Problem

INNER = 0.8  # share of each range from which starts are drawn
FAR_TURN, FAR_SLIDE = np.pi, 1.0  # half of the range from which starts are drawn where there is no limit


def ranges_of(problem: Problem, start: np.ndarray, coordinate: np.ndarray, slide: np.ndarray) -> tuple[np.ndarray, Any]:
    """Limits of coordinates, those that are held at the start; middle and span of the ranges from which starts are drawn."""
    I, F, _ = problem.pack
    held = np.asarray(problem.free)[coordinate] == 0.0
    lower, upper = (view(PROBLEM, I, F, name)[coordinate].copy() for name in ("LOWER", "UPPER"))
    lower[held], upper[held] = start[coordinate][held], start[coordinate][held]
    loose, half = ~np.isfinite(upper - lower), np.where(slide, FAR_SLIDE, FAR_TURN)
    low = np.where(loose, start[coordinate] - half, lower)
    high = np.where(loose, start[coordinate] + half, upper)
    return np.stack([lower, upper]), (0.5 * (low + high), INNER * (high - low))


def strides(n: int) -> np.ndarray:
    """How far a start is from the last one, as shares of the ranges: the powers of the generalised golden ratio."""
    golden = 2.0
    for _ in range(80):
        golden = (1.0 + golden) ** (1.0 / (n + 1))
    return golden ** -np.arange(1.0, n + 1.0) % 1.0
