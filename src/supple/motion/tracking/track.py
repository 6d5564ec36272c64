"""From markers to joint angles.

**Gaps.** Coordinates with no marker to tell them stay where a method has them; afterwards they are drawn straight from the
frame before the gap to the frame behind it, which moves nothing that was seen. Where a loop hangs on such a
coordinate it is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import flag, function, instance
from supple.basics.stopping import Stop
from supple.errors import BadValue, Interrupted, shown
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.motion.markers import Markers
from supple.motion.tracking.clip import Clip, clip_of, errors_of
from supple.motion.tracking.frame_by_frame import FrameByFrame
from supple.motion.tracking.frame_runs import LATE
from supple.motion.tracking.refitting import Refitting
from supple.motion.tracking.rig import CONVERGED, ENDED, ITERATIONS, OPEN
from supple.motion.tracking.tracked import Tracked
from supple.motion.tracking.verdict import Sorted, problems_of, sorted_out, unused_markers


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
    deadline: float | None = None,
) -> Tracked:
    """The motion of a figure whose markers (`Figure.with_markers`) lie nearest to those that were seen, frame by frame.

    `weights` say how much each marker counts: a mapping by name, one number each, or one for each frame and marker in
    the order of the trial; 0 leaves a marker out, inf meets it exactly. `coordinates` maps names to pairs (value,
    weight) to keep near to; without `limits`, joints turn as far as they like. `method` is `FrameByFrame` by default,
    `WholeClip`, `OptimalTracking`, or any solver of single problems; `progress` is called now and then with the
    number of frames that have been fitted since. Frames that are not fitted when the `deadline` [s] passes stand still,
    unconverged, and the notes say so. Ctrl-C raises `Interrupted`. Whether the motion can be believed is `Tracked.ok`; its
    `problems` say what is wrong, such as swapped markers, and what to do.
    """
    stop = Stop(deadline)
    instance(figure, Figure, "what track() takes first")
    instance(markers, Markers, "what track() follows, such as read_markers() gives,")
    limits = flag(limits, "limits, whether joints keep to them,")
    function(progress, "progress")
    clip = replace(clip_of(figure, markers, weights, coordinates, limits), stop=stop)
    if progress is not None:
        clip = replace(clip, progress=progress)
    chosen = _method(method, clip)
    begin = figure.rest if start is None else figure.posture(start)
    begin = np.clip(begin, figure.lower, figure.upper) if limits else begin
    try:
        fits = chosen.fit(clip, begin)
        plain = Sorted(clip, fits, [], [], [])
        found = plain if stop.asked else sorted_out(clip, fits, Refitting(chosen, method_for(clip), begin))
    except KeyboardInterrupt:  # while nothing was fitted that could be told
        raise Interrupted(
            f"interrupted before any of {len(markers.times):,} frames was done", 0, len(markers.times)
        ) from None
    done = int((found.fits.reports[:, ENDED] != LATE).sum())
    return stop.conclude(done, len(markers.times), "frames", lambda: _tracked(found, chosen, markers, done))


def _tracked(out: Sorted, chosen: Any, markers: Markers, done: int) -> Tracked:
    """What a method has found, with errors that are recomputed."""
    clip, fits, figure, count = out.clip, out.fits, out.clip.figure, len(out.fits.q)
    late = [] if done == count else [f"{clip.stop.told(done, count, 'frames')} The others were not fitted."]
    q, untold = bridged(clip, fits.q, _bends(chosen))
    problems, notes = unused_markers(figure, markers)
    errors = errors_of(clip, q)  # whatever the method says
    if not late:  # what was not fitted cannot be judged
        problems += problems_of(out, errors)
    return Tracked(
        figure,
        q,
        markers.times,
        errors,
        figure.source,
        markers=clip.names,
        iterations=fits.reports[:, ITERATIONS].astype(int),
        converged=fits.reports[:, ENDED] == CONVERGED,
        gap=fits.reports[:, OPEN],
        bridged=untold,
        notes=(*markers.notes, *notes, *out.notes, *late),
        problems=tuple(problems),
    )


def _bends(method: Any) -> int:
    """The longest gap that a method bends postures across by itself, in frames."""
    if isinstance(method, FrameByFrame):
        return 0
    from supple.motion.tracking.whole_clip import WholeClip

    return method.bends if isinstance(method, WholeClip) else 0


def method_for(clip: Clip) -> Any:
    """The method of a clip for which none is named."""
    plain = FrameByFrame()
    if not plain.refusals(clip):
        return plain
    from supple.motion.tracking.by_solver import BySolver
    from supple.solvers.levenberg_marquardt.levenberg_marquardt import LevenbergMarquardt

    return BySolver(LevenbergMarquardt())


def _method(method: Any, clip: Clip) -> Any:
    """The method itself; a solver of single problems is run frame by frame."""
    if method is None:
        return method_for(clip)
    if isinstance(method, type):
        raise BadValue(f"track() takes a method itself: write {method.__name__}(), not {method.__name__}")
    if isinstance(method, FrameByFrame):
        return method
    from supple.motion.optimal_tracking.settings import OptimalTracking  # the other methods bring many modules

    if isinstance(method, OptimalTracking):
        from supple.motion.optimal_tracking.by_natural import ByNatural

        return ByNatural(method)
    if hasattr(method, "fit"):
        return method
    if hasattr(method, "refuse"):
        from supple.motion.tracking.by_solver import BySolver

        return BySolver(method)
    raise BadValue(f"track() takes a method such as FrameByFrame() or a solver such as Newton(), not {shown(method)}")


def bridged(clip: Clip, q: Floats, bent: int = 0) -> tuple[Floats, np.ndarray]:
    """The postures with what no marker told drawn straight across each gap; and which these were (frames, size).

    Gaps of up to `bent` frames with something told on either side are left as the method has bent them.
    """
    figure, out = clip.figure, q.copy()
    untold = clip.untold.copy()
    for loop in figure.loops:
        untold[:, [figure.coordinates.index(name) for name in figure.chain(loop.a, loop.b)]] = False
    frames = np.arange(len(q))
    for k in np.flatnonzero(untold.any(axis=0)):
        known = ~untold[:, k]
        if known.any():
            kept = known | _inside(frames[known], len(q), bent)
            out[:, k] = np.where(kept, q[:, k], np.interp(frames, frames[known], q[known, k]))
    return out, untold


def _inside(known: np.ndarray, count: int, longest: int) -> np.ndarray:
    """The frames of gaps between known frames that are no longer than that."""
    inside = np.zeros(count, dtype=bool)
    for a, b in pairwise(known.tolist()):
        if b - a <= longest + 1:
            inside[a + 1 : b] = True
    return inside
