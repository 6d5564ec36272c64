"""A figure made to measure: lengths of segments and places of markers from a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import counted, flag, instance, items, mapping, positive, whole
from supple.basics.values import Value
from supple.errors import BadValue, find, shown
from supple.figure.figure import Figure
from supple.figure.scaling import welded_to
from supple.geometry.placements import Floats
from supple.motion.markers import Markers
from supple.motion.subject.fit import Fit, ends_of_loops
from supple.motion.subject.model import Model, Spot
from supple.motion.subject.scales import Scales, groups_of
from supple.motion.tracking.clip import Clip, clip_of
from supple.motion.tracking.track import track
from supple.motion.tracking.tracked import Tracked

WHOLE = "whole"
LOOKED_AT = 1000  # frames of a long trial, at most
TRUST = 0.02  # [m] of markers that are not named
ROUGH = 1e-3  # tolerance of the first round, which fits the scale of the whole alone
WHOLE_SPREAD = 0.3  # σ̄: how far the scale of the whole may be from 1
TOLD = 0.45  # share of its variance that a scale may keep and still be told; of two whose sum is told, each keeps half


@dataclass(frozen=True, eq=False, repr=False)
class Subject(Value):
    """A figure fitted to a person. `scales` holds one factor for each group and "whole", the scale of everything else.

    `figure` has these lengths and its markers placed, `motion` is the trial tracked with it, `moved` how far each marker
    was moved from where it would have been on the scaled figure [m], and `doubt` the standard deviation of each scale.
    `untold` names the scales of which the trial tells next to nothing: they keep near that of the whole. `frames` are those
    that were fitted together, in `steps` steps; `factors` the scale of each segment, and of the ground as None.
    """

    figure: Figure
    motion: Tracked
    scales: Mapping[str, float]
    moved: Mapping[str, float]
    doubt: Mapping[str, float]
    untold: tuple[str, ...]
    frames: tuple[int, ...]
    steps: int
    converged: bool
    factors: Mapping[str | None, float] = field(default_factory=dict)

    def table(self) -> str:
        """Scales and moved markers as plain text, and what the trial does not tell."""
        lines = [f"{'scale':24s} {'factor':>8s} {'±':>8s}"]
        for name, scale in self.scales.items():
            if name not in self.untold:
                lines.append(f"{name:24s} {scale:8.4f} {self.doubt[name]:8.4f}")
        lines.append(f"{'marker':24s} {'moved':>8s} {'rms':>8s}  [mm]")
        rms = self.motion.rms_by_marker
        for name, far in self.moved.items():
            lines.append(f"{name:24s} {1e3 * far:8.1f} {1e3 * rms[name]:8.2f}")
        lines.append(f"{'all':24s} {'':8s} {1e3 * self.motion.rms:8.2f}")
        ended = "converged" if self.converged else "not converged"
        lines.append(f"{len(self.frames)} frames fitted together in {self.steps} steps, {ended}")
        if self.untold:
            lines.append(f"Not told by this trial, hence as the whole: {', '.join(self.untold)}")
        return "\n".join(lines)


def fit_subject(
    figure: Figure,
    markers: Markers,
    *,
    scales: Scales = "segments",
    place: bool | Sequence[str] = True,
    trust: float | Mapping[str, float] = TRUST,
    spread: float = 0.1,
    noise: float = 0.003,
    weights: Mapping[str, float] | ArrayLike | None = None,
    limits: bool = True,
    start: ArrayLike | None = None,
    frames: int | Sequence[int] = 60,
    steps: int = 100,
    tolerance: float = 1e-5,
) -> Subject:
    """The figure scaled, and its markers placed, so that it follows the markers of a trial best: static or a range of motion.

    `scales`: a factor for each of the "segments"; the same on the left and the right ("symmetric"); one for the "whole";
    or a mapping of groups to lists of segments, all others with the scale of the whole. `place` says which markers
    may be moved. What a trial does not tell is as likely as it is near to what was given: a segment's scale within `spread` of
    the whole's, a marker within `trust` [m] of its place, one for all or by name (`MarkerSet.trust`), against a
    `noise` of the markers seen [m]. `frames` that are as different as possible are fitted together, or those that
    are listed. `weights`, `limits` and `start` are those of `track`.
    """
    instance(figure, Figure, "what fit_subject() takes first")
    instance(markers, Markers, "what fit_subject() fits to, such as read_markers() gives,")
    spread, noise = positive(spread, "the spread of scales"), positive(noise, "the noise of markers [m]")
    tolerance, steps = positive(tolerance, "the tolerance of a fit"), counted(steps, "the steps of a fit")
    limits = flag(limits, "limits, whether joints keep to them,")
    clip = clip_of(figure, markers, weights, None, limits)
    if clip.exact:
        raise BadValue(
            f"marker {clip.names[clip.exact[0]]!r} has the weight inf; while lengths change none can be exact"
        )
    frames = int(frames) if isinstance(frames, np.integer) else frames
    groups, placed = groups_of(figure, scales), _placed(place, clip.names)
    sigma = [WHOLE_SPREAD, *[spread] * len(groups), *np.repeat(_trusted(trust, clip.names)[placed], 3)]
    looked = _looked_at(frames, len(markers))
    rough = track(figure, _part(markers, looked), weights=clip.weights[looked], limits=limits, start=start)
    picked = _spread_out(clip, rough.q, looked, frames) if isinstance(frames, int) else np.arange(len(looked))
    fit = _fit_of(clip, groups, placed, np.array(sigma) / noise, looked[picked], rough.q[picked])
    fit.descend(np.array([0]), steps, ROUGH)
    fit.descend(np.arange(len(sigma)), steps, tolerance)
    made = _made(fit, clip)
    motion = track(made, markers, weights=weights, limits=limits, start=start)
    return _subject(fit, made, motion, list(groups), noise, tuple(looked[picked].tolist()))


def _subject(
    fit: Fit, figure: Figure, motion: Tracked, groups: Sequence[str], noise: float, frames: tuple[int, ...]
) -> Subject:
    doubt, untold = _told(fit, groups, noise)
    scales = dict(zip([WHOLE, *groups], fit.scales.tolist(), strict=True))
    moved = dict(zip(motion.markers, np.linalg.norm(fit.moved, axis=1).tolist(), strict=True))
    body, ends = welded_to(figure), (frames, fit.steps, fit.settled)
    factors = {None: float(fit.scales[0]), **{s: float(fit.scales[fit.model.groups[body[s]]]) for s in figure.segments}}
    return Subject(figure, motion, scales, moved, doubt, untold, *ends, factors)


def _placed(place: bool | Sequence[str], names: tuple[str, ...]) -> np.ndarray:
    """Which markers may be moved."""
    if isinstance(place, bool):
        return np.arange(len(names) if place else 0)
    place = items(place, "place, if not True or False, a list of markers,")
    return np.array(sorted({find(names, name, "marker", "what figure and trial share") for name in place}), dtype=int)


def _trusted(trust: float | Mapping[str, float], names: tuple[str, ...]) -> Floats:
    """How far each marker may be from its place [m]."""
    what = "trust, a length [m] (markers that must stay are left out of place),"
    by_name = mapping(trust, "trust") if isinstance(trust, Mapping) else {}
    usual = TRUST if isinstance(trust, Mapping) else positive(trust, what)
    told = {name: positive(value, what) for name, value in by_name.items()}
    return np.array([told.get(name, usual) for name in names])


def _looked_at(frames: int | Sequence[int], count: int) -> np.ndarray:
    """The frames that are tracked first: those listed, or many, evenly."""
    if isinstance(frames, int):
        counted(frames, "how many frames a subject is fitted to")
        return np.arange(0, count, -(-count // max(LOOKED_AT, frames)))
    listed = np.array([whole(k, "each of the frames") for k in items(frames, "frames, a number of them or a list,")])
    listed = np.unique(listed.astype(np.int64))
    if listed.ndim != 1 or listed.dtype.kind != "i" or not len(listed) or listed[0] < 0 or listed[-1] >= count:
        raise BadValue(f"frames are a number of them or indices from 0 to {count - 1}, not {shown(frames)}")
    return listed


def _part(markers: Markers, frames: np.ndarray) -> Markers:
    return Markers(markers.names, markers.positions[frames], markers.times[frames])


def _spread_out(clip: Clip, q: Floats, looked: np.ndarray, count: int) -> np.ndarray:
    """Frames as unlike each other as can be, by where markers are as seen from the first one's segment; blind ones never.

    Each next frame is the one furthest from all chosen so far, the less so the fewer markers it shows.
    """
    figure = clip.figure
    base = figure.placement(q, figure.markers[clip.names[0]].segment)
    places = (figure.marker_places(q, clip.names) - base[:, None, :3, 3]) @ base[:, :3, :3]
    places = places.reshape(len(q), -1)
    shown = (clip.weights[looked] > 0.0).mean(axis=1)
    chosen = [int(np.argmax(shown))]
    apart = np.linalg.norm(places - places[chosen[0]], axis=1)
    while len(chosen) < min(count, int((shown > 0.0).sum())):
        worth = (apart + 1e-9) * shown
        worth[chosen] = -1.0
        chosen.append(int(np.argmax(worth)))
        apart = np.minimum(apart, np.linalg.norm(places - places[chosen[-1]], axis=1))
    return np.array(sorted(chosen))


def _fit_of(
    clip: Clip, groups: Mapping[str, tuple[str, ...]], placed: np.ndarray, sigma: Floats, frames: np.ndarray, q: Floats
) -> Fit:
    """The fit of some frames, from postures q."""
    figure = clip.figure
    points = [figure.markers[name] for name in clip.names]
    spots = [Spot(p.segment, np.array(p.offset), np.zeros(3)) for p in points] + ends_of_loops(figure)
    index = dict.fromkeys(welded_to(figure).values(), 0)
    for g, bodies in enumerate(groups.values(), start=1):
        index.update(dict.fromkeys(bodies, g))
    model = Model(figure, spots, index, 1 + len(groups))
    limited = clip.limits
    return Fit(
        model, spots, placed, clip.positions[frames], clip.weights[frames], sigma, q[:, model.chosen].copy(), limited
    )


def _made(fit: Fit, clip: Clip) -> Figure:
    """The scaled figure with its markers placed; what stands on the world's ground grows with the whole."""
    figure = clip.figure.scaled(float(fit.scales[0])).scaled(
        {body: float(fit.scales[g] / fit.scales[0]) for body, g in fit.model.groups.items()}
    )
    moved = zip(clip.names, fit.moved, strict=True)
    points = {name: (figure.markers[name], m) for name, m in moved}
    return figure.with_markers({name: (p.segment, np.add(p.offset, m)) for name, (p, m) in points.items()})


def _told(fit: Fit, groups: Sequence[str], noise: float) -> tuple[dict[str, float], tuple[str, ...]]:
    """The standard deviation of each scale, and the scales that the trial tells next to nothing of."""
    covariance = noise**2 * fit.covariance()
    variance, prior = np.diag(covariance), (noise * fit.sigma) ** 2
    doubt, untold = {WHOLE: float(np.sqrt(variance[0]))}, [WHOLE] if variance[0] > TOLD * prior[0] else []
    for g, name in enumerate(groups, start=1):
        doubt[name] = float(np.sqrt(variance[0] + variance[g] + 2.0 * covariance[0, g]))
        if variance[g] > TOLD * prior[g]:
            untold.append(name)
    return doubt, tuple(untold)
