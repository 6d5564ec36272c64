"""Markers as cameras saw them: named points over time, with gaps.

Files hold them in millimetres or metres, with y or z up, and mark a missing sample in half a dozen ways; readers convert all
that at the door, so that here positions are metres, z is up, and what was not seen is NaN. `notes` say what was converted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supple.basics.checks import finite, instance, items, mapping, names_in, number, numbers, part_of, text, whole
from supple.basics.values import Value
from supple.errors import BadValue, find
from supple.figure.figure import Source
from supple.geometry.placements import Floats, frozen

MOST_ORDER = 20  # of a filter; beyond it rounding takes over


@dataclass(frozen=True, eq=False, repr=False)
class Markers(Value):
    """Positions (frames, markers, 3) [m] of the named markers at `times` (frames,) [s]; NaN where one was not seen."""

    names: Sequence[str]
    positions: Floats
    times: Floats
    source: Source | None = None
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        names = names_in(self.names, "the names of markers")
        if self.source is not None:
            instance(self.source, Source, "the source of markers")
        for name, count in Counter(names).items():
            if count > 1:
                raise BadValue(f"{count} markers are called {name!r}: rename them")
        times = numbers(self.times, "the times of markers")
        times = frozen(finite(times, times.shape[:1] or (1,), "the times of markers"))
        for k in np.flatnonzero(np.diff(times) <= 0.0)[:1]:
            raise BadValue(
                f"the times of markers must rise, not go from {times[k]} to {times[k + 1]} s (frame {k + 1})"
            )
        positions = np.array(numbers(self.positions, "the positions of markers"))
        if positions.shape != (len(times), len(names), 3):
            shape = (len(times), len(names), 3)
            raise BadValue(f"the positions of markers must have shape {shape}, not {positions.shape}")
        if np.isinf(positions).any():
            raise BadValue("the positions of markers must be finite, or NaN where a marker was not seen")
        positions[np.isnan(positions).any(axis=2)] = np.nan
        for name, value in (("names", names), ("positions", frozen(positions)), ("times", times)):
            object.__setattr__(self, name, value)
        notes = items(self.notes, "the notes of markers")
        object.__setattr__(self, "notes", tuple(text(note, "each note of markers") for note in notes))

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
        names = names_in(names, "the markers to keep")
        chosen = [find(tuple(self.names), name, "marker", "the trial") for name in names]
        return replace(self, names=tuple(names), positions=self.positions[:, chosen])

    def renamed(self, names: Mapping[str, str]) -> Markers:
        """Other names for some of the markers."""
        names = mapping(names, "the new names of markers")
        for name in names:
            find(tuple(self.names), name, "marker", "the trial")
        return replace(self, names=tuple(names.get(name, name) for name in self.names))

    def filtered(self, cutoff: float, order: int = 4) -> Markers:
        """The ways of all markers through a low-pass Butterworth filter of `cutoff` [Hz], there and back, so nothing lags.

        The order is that of both passes together. Gaps stay gaps: each piece between them is filtered on its own, and pieces
        too short for the filter stay as they are.
        """
        from scipy.signal import butter, sosfiltfilt

        what = f"the cutoff, between 0 and half the rate, {0.5 * self.rate:g} Hz,"
        cutoff = number(cutoff, what, above=0.0, below=0.5 * self.rate)
        order = whole(order, "the order of a filter", 2, MOST_ORDER)
        if order % 2:
            raise BadValue(f"the order of a filter that runs there and back is even, 2 or more, not {order!r}")
        passes = order // 2
        corner = cutoff / (2.0**0.5 - 1.0) ** (
            0.5 / passes
        )  # so that both passes together halve the power at the cutoff
        sections: Any = butter(passes, min(corner, 0.499 * self.rate), fs=self.rate, output="sos")
        padding = 3 * (2 * len(sections) + 1)
        out = self.positions.copy()
        for k in range(len(self.names)):
            seen = np.flatnonzero(self.seen[:, k])
            for piece in np.split(seen, np.flatnonzero(np.diff(seen) > 1) + 1):
                if len(piece) > padding:
                    out[piece, k] = sosfiltfilt(sections, out[piece, k], axis=0)
        return replace(self, positions=out, notes=(*self.notes, f"Filtered: Butterworth, {cutoff:g} Hz."))

    def frames(self, first: int, last: int, step: int = 1) -> Markers:
        """The frames from `first` up to, not including, `last`."""
        part = part_of(first, last, step)
        return replace(self, positions=self.positions[part], times=self.times[part])
