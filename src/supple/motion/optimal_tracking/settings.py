"""Markers to postures by the optimal tracking method (Ausejo, Suescun & Celigüeta 2011): one frame after the other.

``minimise ½ (Sx − d)ᵀ W (Sx − d)  subject to Φ(x) = 0`` in natural coordinates x. Two paths lead to the same point: the
paper's own (`paper_path`), to compare with, and a much faster one on the feasible set (`feasible_path`), which also knows
limits and half-spaces. A frame ends when ``‖Φ‖₂`` and the length of the last step are below the tolerance, or after
`iterations` steps; then it is reported as not converged, and the next frame starts from where it got to (on the fast
path from the last frame that met its equations, where that one is nearer to meeting the next one's).

Frames that leave a coordinate unseen have no unique optimum: such a coordinate stays where the frame before had it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import check_fields, flag, not_negative, one_of, positive, whole
from supple.basics.stopping import Stop
from supple.basics.values import Value
from supple.errors import Refused
from supple.figure.effectors import Point
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.motion.optimal_tracking import feasible_path as fast, paper_path as paper
from supple.motion.optimal_tracking.trial import DrivenAngle, Held, Trial, checked_trial
from supple.problem.goals import Beyond


@dataclass(frozen=True, eq=False, repr=False)
class TrackedFrames(Value):
    """Postures of all frames, and how each was reached."""

    q: Floats  # (frames, size)
    iterations: np.ndarray  # (frames,)
    violations: (
        Floats  # (frames,) ‖Φ‖₂; on the fast path that of loops, of what is held and of half-spaces, the rest being 0
    )
    steps: Floats  # (frames,) length of the last step, in x on the paper's path, in q on the fast one
    converged: np.ndarray  # (frames,) bool


@dataclass(frozen=True)
class OptimalTracking:
    """Tracks markers frame by frame, every equation of joints and closed loops met exactly.

    `step` is the rule for the length of a step, `path` "fast" or "paper" (slower, without limits: for comparison).
    """

    step: Literal["merit", "maxmin"] = "merit"
    tolerance: float = 1e-7  # on ‖Φ‖₂ and on the step
    iterations: int = 25  # a frame
    path: Literal["fast", "paper"] = "fast"
    accept: Literal["still", "closed"] = (
        "still"  # "closed", the paper's own rule: as soon as ‖Φ‖₂ is below the tolerance
    )
    limits: bool = True  # keep the figure's limits; the paper's path cannot
    curvature: bool = True  # fast path: second-order steps
    steady: float = 0.0  # fast path: weight of ½‖q − q_before‖², which settles what markers leave open

    def __post_init__(self) -> None:
        one_of(self.step, ("merit", "maxmin"), "the step rule")
        one_of(self.path, ("fast", "paper"), "the path")
        one_of(self.accept, ("still", "closed"), "what is accepted")
        check_fields(self, tolerance=positive, iterations=whole, limits=flag, curvature=flag, steady=not_negative)
        if self.path == "fast" and self.accept == "closed":
            raise Refused(
                "path 'fast' meets the equations of joints at every step: give accept='still', or path 'paper'"
            )
        if self.path == "paper" and (self.limits or self.steady):
            raise Refused("path 'paper' has no inequalities and no memory: give limits=False, steady=0, or path 'fast'")

    def track_frames(
        self,
        figure: Figure,
        points: Sequence[Point],
        positions: ArrayLike,
        weights: ArrayLike | None = None,
        start: ArrayLike | None = None,
        held: Sequence[Held] = (),
        driven: Sequence[DrivenAngle] = (),
        beyond: Sequence[tuple[Point, Beyond]] = (),
    ) -> TrackedFrames:
        """Postures whose `points` are nearest to `positions` (frames, m, 3), NaN where not seen.

        `weights` (frames, m) or (m,) are 1 by default; `start` is a posture near the first frame (the rest); `held` and
        `beyond` are met exactly, `driven` angles to their weights.
        """
        return self.tracked(checked_trial(figure, points, positions, weights, start, held, driven, beyond), Stop())

    def tracked(self, trial: Trial, stop: Stop) -> TrackedFrames:
        """A trial that was looked over; frames that are not reached before it is time to stop have no violations, but NaN."""
        if self.path == "fast":
            q, reports = fast.track(trial, self._settings(), stop)
            steps, done = reports[:, fast.ITERATIONS].astype(int), reports[:, fast.CONVERGED] > 0.0
            return TrackedFrames(q, steps, reports[:, fast.VIOLATION], reports[:, fast.STEP], done)
        if trial.beyond:
            raise Refused("path 'paper' has no inequalities: leave out the half-spaces, or take path 'fast'")
        return self._by_paper(trial, stop)

    def _settings(self) -> Floats:
        """As the kernels of the fast path read them."""
        out = np.zeros(6)
        out[fast.TOLERANCE], out[fast.MOST_STEPS], out[fast.STEADY] = self.tolerance, self.iterations, self.steady
        out[fast.WHOLE], out[fast.CURVED], out[fast.LIMITED] = self.step == "maxmin", self.curvature, self.limits
        return out

    def _by_paper(self, trial: Trial, stop: Stop) -> TrackedFrames:
        model, frames = paper.Model(trial), trial.frames
        Q, (steps, violations, moved) = np.zeros((frames, trial.figure.size)), np.zeros((3, frames))
        x, q, still = model.natural.from_posture(trial.start), trial.start, self.accept == "still"
        for k in range(frames):
            if stop.asked:
                Q[k:], violations[k:], moved[k:] = q, np.nan, np.nan
                break
            with stop:
                ends = self.step, self.tolerance, self.iterations, still
                found, steps[k], violations[k], moved[k] = paper.reconstruct(model, model.frame(k), x, *ends)
                if np.isfinite(found).all():
                    x, q = found, model.natural.to_posture(found, near=q)
            Q[k] = q
        done = (violations < self.tolerance) & (moved < (self.tolerance if still else np.inf))
        return TrackedFrames(Q, steps.astype(int), violations, moved, done)
