"""What a differential step reads and writes: settings, the plan of its levels, and scratch."""

from __future__ import annotations

from typing import Any, NamedTuple

from supple.kernels.layouts import PROBLEM
from supple.kernels.opening import Scratch, of
from supple.kernels.tables import EVALUATION

DT, GAIN, DAMPING, EASE, SPEED = range(5)  # settings; then speeds, least and greatest velocities, of each coordinate
# plan: levels, how many of them are hard, where each begins (and the last ends); then the residuals in their order, and the
# levels of posture goals
LEVELS, HARD, FIRST = range(3)
TURNS, FAILED = range(2)  # report: factorisations, and 1 if a number was not finite
REPORT = 2
FREE, LOCKED = 0.0, 2.0  # in `held`; −1 and 1 are held at the lower and the upper bound


class StepBox(NamedTuple):
    """Where a step may end, seen from q, and where it does."""

    lower: Any = of("COORDINATES")
    upper: Any = of("COORDINATES")
    x: Any = of("COORDINATES")
    to: Any = of("COORDINATES")  # the minimum over the free coordinates
    held: Any = of("COORDINATES")


class LevelMetric(NamedTuple):
    """The metric of a level."""

    D: Any = of("COORDINATES")
    c: Any = of("COORDINATES")  # weights of posture goals
    z: Any = of("COORDINATES")


class LevelRows(NamedTuple):
    """The residuals and their derivatives."""

    rho: Any = of("RESIDUALS")  # as tasks have them
    J: Any = of("RESIDUALS", "COORDINATES")
    A: Any = of("RESIDUALS", "COORDINATES")  # J in the order of the levels
    wanted: Any = of("RESIDUALS")  # likewise
    w: Any = of("RESIDUALS")  # multipliers


class LeastNorm(NamedTuple):
    """A problem of least norm (`least_norm`)."""

    B: Any = of("RESIDUALS", "COORDINATES + RESIDUALS")
    y: Any = of(1, "COORDINATES + RESIDUALS")
    front: Any = of("RESIDUALS")
    corner: Any = of("RESIDUALS")
    beta: Any = of("RESIDUALS")
    place: Any = of("RESIDUALS")


BOX, METRIC = Scratch(StepBox, PROBLEM), Scratch(LevelMetric, PROBLEM)
ROWS, LEAST_NORM = Scratch(LevelRows, PROBLEM), Scratch(LeastNorm, PROBLEM)
open_box, open_metric, open_rows, open_least_norm = BOX.open, METRIC.open, ROWS.open, LEAST_NORM.open


class StepScratch(NamedTuple):
    """All of it."""

    box: Any = of(BOX)
    metric: Any = of(METRIC)
    rows: Any = of(ROWS)
    least: Any = of(LEAST_NORM)
    evaluation: Any = of(EVALUATION)


STEP = Scratch(StepScratch, PROBLEM)
open_step = STEP.open
