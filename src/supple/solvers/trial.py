"""What is asked of a tracked figure, frame by frame: markers with weights, things held exactly, driven angles, half-spaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.effectors import Direction, Point
from supple.errors import BadValue, find
from supple.figure import Figure
from supple.goals import Beyond
from supple.goals.base import numbers
from supple.space import Floats, finite, frozen, unit
from supple.values import Value


@dataclass(frozen=True, eq=False, repr=False)
class Held(Value):
    """A point at a position, or a direction along a unit vector, exactly: a planted sole. NaN: not in this frame."""

    effector: Point | Direction
    target: Any  # (3,) or (frames, 3)

    def __post_init__(self) -> None:
        if not isinstance(self.effector, Point | Direction):
            raise BadValue(f"what is held is a Point or a Direction, not {self.effector!r}")
        object.__setattr__(self, "target", frozen(numbers(self.target, f"the target of the held {self.effector}")))

    def targets(self, frames: int) -> Floats:
        """The target of every frame (frames, 3); a direction's has unit length."""
        target = _spread(self.target, (frames, 3), f"the target of the held {self.effector}")
        if isinstance(self.effector, Direction):
            what = f"the target of the held {self.effector}"
            target = np.array([t if np.isnan(t).any() else unit(t, what) for t in target])
        return target


@dataclass(frozen=True, eq=False, repr=False)
class DrivenAngle(Value):
    """A coordinate of the figure that should have the given values: a goniometer. NaN: not in this frame.

    It counts as ``½ weight (q − value)²``, an infinite weight means exactly.
    """

    coordinate: str
    values: Any  # a number or (frames,)
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.weight >= 0.0:
            raise BadValue(f"the weight of the driven angle {self.coordinate!r} must not be negative: {self.weight}")
        object.__setattr__(self, "values", frozen(numbers(self.values, f"the values of {self.coordinate!r}")))


def _spread(values: Any, shape: tuple[int, ...], what: str) -> Floats:
    """The values as an array of that shape, repeated over frames if there is one for all; NaN may stay, infinity not."""
    try:
        array = np.array(np.broadcast_to(np.asarray(values, dtype=float), shape))
    except (TypeError, ValueError) as error:
        raise BadValue(f"{what} must have shape {shape}, not {np.shape(values)}") from error
    if np.isinf(array).any():
        raise BadValue(f"{what} must be finite, or NaN where there is none")
    return array


@dataclass(frozen=True, eq=False)
class Trial:
    """A checked trial: `positions` (frames, m, 3) are finite, and `weights` (frames, m) zero where nothing was seen."""

    figure: Figure
    points: tuple[Point, ...]
    positions: Floats
    weights: Floats
    start: Floats
    held: tuple[Held, ...]
    driven: tuple[DrivenAngle, ...]
    beyond: tuple[tuple[Point, Beyond], ...]
    holds: Floats  # (frames, h, 3), NaN where not held
    values: Floats  # (frames, a), NaN where not driven

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.positions)


def checked_trial(
    figure: Figure,
    points: Sequence[Point],
    positions: ArrayLike,
    weights: ArrayLike | None,
    start: ArrayLike | None,
    held: Sequence[Held],
    driven: Sequence[DrivenAngle],
    beyond: Sequence[tuple[Point, Beyond]],
) -> Trial:
    """A trial, or an error that names what is wrong with it."""
    points, owner = tuple(points), f"figure {figure.name!r}"
    effectors = [*points, *(h.effector for h in held), *(point for point, _ in beyond)]
    for effector in effectors:
        find(figure.segments, effector.segment, "segment", owner)
    for angle in driven:
        find(figure.joints, angle.coordinate, "coordinate", owner)
    for point, side in beyond:
        if not isinstance(point, Point) or not isinstance(side, Beyond) or side.relative_to is not None:
            raise BadValue(f"a contact is a pair (Point, Beyond) in the world, not {(point, side)!r}")
    where = np.array(positions, dtype=float)
    if where.ndim != 3 or where.shape[1:] != (len(points), 3):
        raise BadValue(f"positions must have shape (frames, {len(points)}, 3), not {where.shape}")
    if np.isinf(where).any():
        raise BadValue("positions must be finite, or NaN where a marker was not seen")
    frames = len(where)
    w = np.ones((frames, len(points))) if weights is None else np.array(
        np.broadcast_to(finite(weights, np.shape(weights), "the weights of markers"), (frames, len(points)))
    )  # fmt: skip
    if (w < 0.0).any():
        raise BadValue("the weights of markers must not be negative")
    unseen = np.isnan(where).any(axis=2)
    where[unseen], w[unseen] = 0.0, 0.0
    holds = np.array([h.targets(frames) for h in held]).reshape(len(held), frames, 3).transpose(1, 0, 2)
    values = np.array([_spread(a.values, (frames,), f"the values of {a.coordinate!r}") for a in driven])
    q = figure.rest if start is None else figure.posture(start)
    return Trial(
        figure, points, where, w, np.array(q), tuple(held), tuple(driven), tuple(beyond),
        np.ascontiguousarray(holds), np.ascontiguousarray(values.reshape(len(driven), frames).T),
    )  # fmt: skip
