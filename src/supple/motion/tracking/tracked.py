"""What tracking answers with: a motion, and how well it follows its markers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from supple.basics.checks import whole
from supple.geometry.placements import Floats
from supple.motion.motion import Motion
from supple.motion.tracking.doubt import doubts

SAMPLE = 24  # frames that are asked what the markers tell
HARDLY = 0.15  # [rad, m] a doubt that is much


@dataclass(frozen=True, eq=False, repr=False)
class Tracked(Motion):
    """A motion found from markers; ``errors[t, k]`` is how far marker k was missed in frame t [m], NaN where it was not seen.

    `converged` says of each frame whether its fit ended by itself with all exact conditions met, and `gap` how far these
    are open [m].
    Coordinates that no marker told in a frame are bridged from the frames around it; `bridged` (frames, size) says
    which and when. `problems` are what is wrong with the trial or the figure, each with its remedy; `notes` are not.
    """

    markers: tuple[str, ...] = ()
    iterations: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int))
    converged: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=bool))
    gap: Floats = field(default_factory=lambda: np.empty(0))
    bridged: np.ndarray = field(default_factory=lambda: np.empty((0, 0), dtype=bool))
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every frame converged and nothing seems wrong."""
        return bool(self.converged.all()) and not self.problems

    @property
    def verdict(self) -> str:
        """In one sentence whether the motion can be believed, then what is wrong, one sentence each."""
        lost = int((~self.converged).sum())
        frames = [f"{lost} of {len(self)} frames did not converge: raise the method's steps."] if lost else []
        wrong = [*self.problems, *frames]
        return "\n".join(["Not to be relied on:", *wrong]) if wrong else "Nothing seems wrong."

    @property
    def rms(self) -> float:
        """The root mean square of all errors [m]."""
        return _rms(self._told)

    @property
    def rms_by_frame(self) -> Floats:
        """The root mean square of the errors of each frame [m]; NaN where nothing was seen."""
        return np.array([_rms(row) for row in self._told])

    @property
    def rms_by_marker(self) -> dict[str, float]:
        """The root mean square of the errors of each marker [m]."""
        return {name: _rms(column) for name, column in zip(self.markers, self._told.T, strict=True)}

    @property
    def _told(self) -> Floats:
        assert self.errors is not None
        return self.errors

    @property
    def doubt(self) -> Floats:
        """How far each coordinate could be off for all that the markers of its frame tell (frames, size): standard deviations.

        From the errors of the markers and how they move with the coordinates; what no marker tells has all of its range.
        """
        return doubts(self.figure, self.q, self.markers, self._told)

    @property
    def hardly_told(self) -> dict[str, float]:
        """The coordinates that markers hardly tell, and by how much they could be off in the middle one of the frames."""
        some = np.unique(np.linspace(0, len(self) - 1, SAMPLE).astype(int))
        off = np.median(doubts(self.figure, self.q[some], self.markers, self._told[some]), axis=0)
        free = self.figure.upper > self.figure.lower
        return {n: float(x) for n, x, can in zip(self.figure.coordinates, off, free, strict=True) if can and x > HARDLY}

    def worst(self, count: int = 5) -> list[int]:
        """The frames with the largest errors, worst first, none of them within a twentieth of the clip of a worse one."""
        count, found = whole(count, "the count of the worst frames"), list[int]()
        for t in np.argsort(-np.nan_to_num(self.rms_by_frame)).tolist():
            if len(found) < count and all(abs(t - other) > len(self) // 20 for other in found):
                found.append(t)
        return found

    def table(self) -> str:
        """The errors as plain text: each marker's, in millimetres, and what happened to the frames."""
        lines = [f"{'marker':24s} {'seen':>6s} {'rms':>8s} {'median':>8s} {'largest':>8s}  [mm]"]
        for name, column in zip(self.markers, 1e3 * self._told.T, strict=True):
            seen = column[np.isfinite(column)]
            if len(seen):
                share = 100.0 * len(seen) / len(column)
                lines.append(f"{name:24s} {share:5.1f}% {_rms(seen):8.2f} {np.median(seen):8.2f} {seen.max():8.2f}")
            else:
                lines.append(f"{name:24s}   0.0%")
        lines.append(f"{'all':24s} {'':6s} {1e3 * self.rms:8.2f}")
        lines.append(f"{len(self)} frames, {int((~self.converged).sum())} not converged; "
                     f"{int(self.bridged.any(axis=1).sum())} bridged in part")  # fmt: skip
        if told := self.hardly_told:
            lines.append("Hardly told by the markers: " + ", ".join(f"{n} ±{_far(x)}" for n, x in told.items()))
        return "\n".join([*lines, *self.notes, self.verdict])


def _far(x: float) -> str:
    return "any" if np.isinf(x) else f"{x:.2f}"


def _rms(values: Floats) -> float:
    seen = values[np.isfinite(values)]
    return float(np.sqrt(np.mean(seen**2))) if len(seen) else float("nan")
