"""Markers as cameras saw them: named points over time, with gaps.

Files hold them in millimetres or metres, with y or z up, and mark a missing sample in half a dozen ways; readers convert all
that at the door, so that here positions are metres, z is up, and what was not seen is NaN. `notes` say what was converted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from supple.errors import BadValue, find
from supple.figure import Source
from supple.space import Floats, finite, frozen


@dataclass(frozen=True, eq=False)
class Markers:
    """Positions (frames, markers, 3) [m] of the named markers at `times` (frames,) [s]; NaN where one was not seen."""

    names: Sequence[str]
    positions: Floats
    times: Floats
    source: Source | None = None
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        names = tuple(self.names)
        for name in {n for n in names if names.count(n) > 1}:
            raise BadValue(f"two markers are called {name!r}: rename one")
        times = np.asarray(self.times)
        times = frozen(finite(self.times, times.shape[:1] or (1,), "the times of markers"))
        for k in np.flatnonzero(np.diff(times) <= 0.0)[:1]:
            raise BadValue(
                f"the times of markers must rise, not go from {times[k]} to {times[k + 1]} s (frame {k + 1})"
            )
        positions = np.array(self.positions, dtype=np.float64)
        if positions.shape != (len(times), len(names), 3):
            shape = (len(times), len(names), 3)
            raise BadValue(f"the positions of markers must have shape {shape}, not {positions.shape}")
        if np.isinf(positions).any():
            raise BadValue("the positions of markers must be finite, or NaN where a marker was not seen")
        positions[np.isnan(positions).any(axis=2)] = np.nan
        for name, value in (("names", names), ("positions", frozen(positions)), ("times", times)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "notes", tuple(self.notes))

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, name: str) -> Floats:
        """The way of one marker (frames, 3)."""
        return self.positions[:, find(tuple(self.names), name, "marker", "the trial")]

    @property
    def seen(self) -> np.ndarray:
        """Which marker was seen when (frames, markers)."""
        return ~np.isnan(self.positions[:, :, 0])

    @property
    def rate(self) -> float:
        """Frames per second, on average."""
        if len(self) < 2:
            raise BadValue(f"markers of {len(self)} frames have no rate: it takes two")
        return float((len(self) - 1) / (self.times[-1] - self.times[0]))

    def only(self, names: Sequence[str]) -> Markers:
        """The named markers, in that order."""
        chosen = [find(tuple(self.names), name, "marker", "the trial") for name in names]
        return replace(self, names=tuple(names), positions=self.positions[:, chosen])

    def renamed(self, names: Mapping[str, str]) -> Markers:
        """Other names for some of the markers."""
        for name in names:
            find(tuple(self.names), name, "marker", "the trial")
        return replace(self, names=tuple(names.get(name, name) for name in self.names))

    def frames(self, first: int, last: int, step: int = 1) -> Markers:
        """The frames from `first` up to, not including, `last`."""
        part = slice(first, last, step)
        return replace(self, positions=self.positions[part], times=self.times[part])
