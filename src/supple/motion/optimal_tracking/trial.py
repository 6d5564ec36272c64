"""What is asked of a tracked figure, frame by frame: markers with weights, things held exactly, driven angles, half-spaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import check_fields, instance, items, named, number, numbers, whole
from supple.basics.values import Value
from supple.errors import BadValue, find, shown
from supple.figure.effectors import Direction, Point
from supple.figure.figure import Figure
from supple.geometry.placements import Floats, frozen, unit
from supple.problem.goals import Beyond


@dataclass(frozen=True, eq=False, repr=False)
class Held(Value):
    """A point at a position, or a direction along a unit vector, exactly: a planted sole. NaN: not in this frame."""

    effector: Point | Direction
    target: Any  # (3,) or (frames, 3)

    def __post_init__(self) -> None:
        instance(self.effector, (Point, Direction), "what is held")
        object.__setattr__(self, "target", frozen(numbers(self.target, f"the target of the held {self.effector}")))
        if self.target.ndim not in (1, 2) or self.target.shape[-1] != 3 or np.isinf(self.target).any():
            raise BadValue(f"the target of the held {self.effector} is finite or NaN, (3,) or (frames, 3)")

    def targets(self, frames: int) -> Floats:
        """The target of every frame (frames, 3); a direction's has unit length."""
        target = _spread(
            self.target, (whole(frames, "the number of frames"), 3), f"the target of the held {self.effector}"
        )
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
        check_fields(self, "a driven angle", coordinate=named, weight=partial(number, least=0.0, endless=True))
        what = f"the values of {self.coordinate!r}"
        object.__setattr__(self, "values", frozen(numbers(self.values, what)))
        _spread(self.values, self.values.shape[:1], what)


def _spread(values: Any, shape: tuple[int, ...], what: str) -> Floats:
    """The values as an array of that shape, repeated over frames if there is one for all; NaN may stay, infinity not."""
    given = numbers(values, what)
    try:
        array = np.array(np.broadcast_to(given, shape))
    except ValueError as error:
        raise BadValue(f"{what} must have shape {shape}, not {given.shape}") from error
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
    owner = f"figure {instance(figure, Figure, 'what track_frames() takes first').name!r}"
    points = items(points, "the points to track", Point)
    held, driven = items(held, "what is held", Held), items(driven, "what is driven", DrivenAngle)
    beyond = items(beyond, "what stays beyond")
    for pair in beyond:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], Point):
            raise BadValue(f"a contact is a pair (Point, Beyond) in the world, not {shown(pair)}")
    effectors = [*points, *(h.effector for h in held), *(point for point, _ in beyond)]
    for effector in effectors:
        find(figure.segments, effector.segment, "segment", owner)
    for angle in driven:
        find(figure.coordinates, angle.coordinate, "coordinate", owner)
    for point, side in beyond:
        if not isinstance(point, Point) or not isinstance(side, Beyond) or side.relative_to is not None:
            raise BadValue(f"a contact is a pair (Point, Beyond) in the world, not {(point, side)!r}")
    where = np.array(numbers(positions, "positions"))
    if where.ndim != 3 or where.shape[1:] != (len(points), 3):
        raise BadValue(f"positions must have shape (frames, {len(points)}, 3), not {where.shape}")
    if np.isinf(where).any():
        raise BadValue("positions must be finite, or NaN where a marker was not seen")
    frames = len(where)
    w = np.ones((frames, len(points))) if weights is None else numbers(weights, "the weights of markers")
    if w.shape not in ((), (len(points),), (frames, len(points))) or not np.isfinite(w).all():
        raise BadValue(f"the weights of markers are finite, {len(points)} or {frames} × {len(points)} of them")
    w = np.array(np.broadcast_to(w, (frames, len(points))))
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
