"""From markers to joint angles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.checks import flag, function, instance
from supple.errors import BadValue, shown
from supple.figure import Figure
from supple.markers import Markers
from supple.solvers.levenberg_marquardt import LevenbergMarquardt
from supple.solvers.optimal_tracking import OptimalTracking
from supple.tracked import Tracked
from supple.tracking.by_frame import FrameByFrame, bridged
from supple.tracking.by_natural import ByNatural
from supple.tracking.by_solver import BySolver
from supple.tracking.clip import Clip, clip_of
from supple.tracking.fitting import CONVERGED, ENDED, ITERATIONS, OPEN
from supple.tracking.whole import WholeClip


def track(
    figure: Figure,
    markers: Markers,
    method: Any = None,
    *,
    weights: Mapping[str, float] | ArrayLike | None = None,
    coordinates: Mapping[str, tuple[float, float]] | None = None,
    limits: bool = True,
    start: ArrayLike | None = None,
    progress: Callable[[int], None] | None = None,
) -> Tracked:
    """The motion of a figure whose markers (`Figure.with_markers`) lie nearest to those that were seen, frame by frame.

    `weights` say how much each marker counts: a mapping by name, one number each, or one for each frame and marker in
    the order of the trial; 0 leaves a marker out, inf meets it exactly. `coordinates` maps names to pairs (value,
    weight) to keep near to; without `limits`, joints turn as far as they like. `method` is `FrameByFrame` by default,
    `WholeClip`, `OptimalTracking`, or any solver of single problems; `progress` is called now and then with the
    number of frames that have been fitted since.
    """
    instance(figure, Figure, "what track() takes first")
    instance(markers, Markers, "what track() follows, such as read_markers() gives,")
    limits = flag(limits, "limits, whether joints keep to them,")
    function(progress, "progress")
    clip = clip_of(figure, markers, weights, coordinates, limits)
    if progress is not None:
        clip = replace(clip, progress=progress)
    chosen = _method(method, clip)
    begin = figure.rest if start is None else figure.posture(start)
    fits = chosen.fit(clip, np.clip(begin, figure.lower, figure.upper) if limits else begin)
    q, untold = bridged(clip, fits.q, chosen.bends if isinstance(chosen, WholeClip) else 0)
    errors = np.linalg.norm(figure.marker_places(q, clip.names) - clip.positions, axis=2)  # whatever the method says
    return Tracked(
        figure,
        q,
        markers.times,
        np.where(clip.weights > 0.0, errors, np.nan),
        figure.source,
        markers=clip.names,
        iterations=fits.told[:, ITERATIONS].astype(int),
        converged=fits.told[:, ENDED] == CONVERGED,
        gap=fits.told[:, OPEN],
        bridged=untold,
        notes=tuple(markers.notes),
    )


def _method(method: Any, clip: Clip) -> Any:
    """The method itself; a solver of single problems is run frame by frame."""
    if method is None:
        plain = FrameByFrame()
        return BySolver(LevenbergMarquardt()) if plain.refusals(clip) else plain
    if isinstance(method, type):
        raise BadValue(f"track() takes a method itself: write {method.__name__}(), not {method.__name__}")
    if isinstance(method, OptimalTracking):
        return ByNatural(method)
    if hasattr(method, "fit"):
        return method
    if hasattr(method, "refuse"):
        return BySolver(method)
    raise BadValue(f"track() takes a method such as FrameByFrame() or a solver such as Newton(), not {shown(method)}")
