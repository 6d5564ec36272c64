"""A figure in motion: one posture for each moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.basics.checks import finite, instance, numbers, part_of, whole
from supple.basics.values import Value
from supple.errors import BadValue
from supple.figure.figure import Figure, Source
from supple.geometry.placements import Floats, frozen


@dataclass(frozen=True, eq=False, repr=False)
class Motion(Value):
    """Postures `q` (frames, size) of a figure at `times` (frames,) [s], which rise from frame to frame.

    `errors` is what the maker of the motion has to say about its quality, one row or number for each frame (a tracked
    motion: how far each marker was missed [m], NaN where it was not seen). `source` is the file it came from; the
    figure's own by default.
    """

    figure: Figure
    q: Floats
    times: Floats
    errors: Floats | None = None
    source: Source | None = None

    def __post_init__(self) -> None:
        what = f"a motion of {instance(self.figure, Figure, 'what moves in a motion').name!r}"
        times = numbers(self.times, f"the times of {what}")
        times = frozen(finite(times, times.shape[:1] or (1,), f"the times of {what}"))
        for k in np.flatnonzero(np.diff(times) <= 0.0)[:1]:
            raise BadValue(f"the times of {what} must rise, not go from {times[k]} to {times[k + 1]} s (frame {k + 1})")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "q", frozen(finite(self.q, (len(times), self.figure.size), f"the postures of {what}")))
        if self.errors is not None:
            errors = frozen(numbers(self.errors, f"the errors of {what}"))
            if errors.shape[:1] != times.shape:
                raise BadValue(f"the errors of {what} must have {len(times)} rows, not shape {errors.shape}")
            object.__setattr__(self, "errors", errors)
        if self.source is not None:
            instance(self.source, Source, f"the source of {what}")
        else:
            object.__setattr__(self, "source", self.figure.source)
        super().__post_init__()

    def __len__(self) -> int:
        return len(self.times)

    def posture(self, frame: int) -> Floats:
        """The coordinates q of one frame."""
        return self.q[whole(frame, "the number of a frame", -len(self), len(self) - 1)]

    def frames(self, first: int = 0, last: int | None = None, step: int = 1) -> Motion:
        """The frames from `first` up to, not including, `last` (to the end by default), every `step`-th of them.

        Numbers below 0 count from the end. Times stay as they are.
        """
        part = part_of(first, last, step)
        errors = None if self.errors is None else self.errors[part]
        return Motion(self.figure, self.q[part], self.times[part], errors, self.source)

    @property
    def rate(self) -> float:
        """Frames per second, on average."""
        if len(self) < 2:
            raise BadValue(f"a motion of {len(self)} frames has no rate: it takes two")
        return float((len(self) - 1) / (self.times[-1] - self.times[0]))
