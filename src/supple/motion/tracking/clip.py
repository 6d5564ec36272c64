"""A figure and a trial brought together: which markers they share, how much each counts when, and what is left untold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from supple.basics.checks import numbers
from supple.basics.stopping import Stop
from supple.errors import BadValue, find, shown
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.motion.markers import Markers
from supple.motion.tracking.rig import Packing


@dataclass(frozen=True, eq=False)
class Clip:
    """What is to be tracked: positions (frames, m, 3), 0 where nothing was seen, and weights (frames, m), 0 there too.

    A marker of weight `inf` is met exactly; its weight here is 1 where it was seen. `near` (2, size) are weights and
    values of a posture to keep near to.
    """

    figure: Figure
    names: tuple[str, ...]
    positions: Floats
    weights: Floats
    near: Floats
    exact: tuple[int, ...] = ()
    limits: bool = True
    step: float = 1.0  # from frame to frame [s]
    progress: Callable[[int], None] = lambda _: None  # told how many frames have been fitted, some of them twice
    stop: Stop = field(default_factory=Stop)

    @cached_property
    def packing(self) -> Packing:
        """Figure and markers, packed."""
        points = [self.figure.markers[name] for name in self.names]
        return Packing(self.figure, points, self.exact, self.limits)

    @cached_property
    def untold(self) -> np.ndarray:
        """Of each frame and coordinate, whether no marker that was seen moves with it (frames, size)."""
        packing = self.packing
        links, up = packing.links, packing.links.up
        carrier = np.array([links.row.index(packing.tree.row[p.segment]) for p in packing.points])
        told = np.zeros((len(self.positions), len(up)), dtype=bool)
        for k, link in enumerate(carrier):
            told[:, link] |= self.weights[:, k] > 0.0
        for link in range(len(up) - 1, 0, -1):
            told[:, up[link]] |= told[:, link]
        seen = np.zeros((len(self.positions), self.figure.size), dtype=bool)
        for link in range(1, len(up)):
            for axis in links.axis[links.first[link] : links.first[link + 1]]:
                seen[:, packing.chosen[axis]] |= told[:, link]
        out = np.zeros_like(seen)
        out[:, packing.chosen] = ~seen[:, packing.chosen]
        return out


def clip_of(
    figure: Figure,
    markers: Markers,
    weights: Any = None,
    coordinates: Mapping[str, tuple[float, float]] | None = None,
    limits: bool = True,
) -> Clip:
    """The clip of the markers that both the figure and the trial have, in the trial's order."""
    if not isinstance(figure, Figure):
        raise BadValue(f"markers are followed by a Figure, such as load() gives, not by {shown(figure)}")
    shared = tuple(name for name in markers.names if name in figure.markers)
    if not figure.markers:
        raise BadValue(f"figure {figure.name!r} has no markers: give it some with with_markers()")
    if not shared:
        raise BadValue(
            f"no marker of the trial ({', '.join(markers.names[:5])}, …) is one of figure {figure.name!r} "
            f"({', '.join(list(figure.markers)[:5])}, …): rename them with markers.renamed()"
        )
    if not len(markers):
        raise BadValue("the trial has no frames: there is nothing to follow")
    table = _weights(weights, shared, len(markers))
    trial = markers.only(shared)
    exact = tuple(k for k in range(len(shared)) if np.isinf(table[:, k]).any())
    for k in exact:
        if not np.isin(table[:, k], (0.0, np.inf)).all():
            raise BadValue(f"marker {shared[k]!r} is met exactly (weight inf) or not at all (0), in every frame")
    table = np.where(np.isinf(table), 1.0, table) * trial.seen
    for k in np.flatnonzero(~(table > 0.0).any(axis=0)):
        if k in exact:
            raise BadValue(f"marker {shared[k]!r} must be met exactly but is never seen")
    if not table.any():
        raise BadValue("no marker with a weight above 0 is ever seen: there is nothing to follow")
    step = 1.0 / markers.rate if len(markers) > 1 else 1.0
    return Clip(figure, shared, np.nan_to_num(trial.positions), table, _near(figure, coordinates), exact, limits, step)


def _weights(weights: Any, names: tuple[str, ...], frames: int) -> Floats:
    """Weights (frames, m) from none, a mapping by name, one for each marker, or one for each sample."""
    if weights is None:
        return np.ones((frames, len(names)))
    if isinstance(weights, Mapping):
        for name in weights:
            find(names, name, "marker", "what figure and trial share")
        weights = [weights.get(name, 1.0) for name in names]
    table = numbers(weights, "weights")
    if table.shape not in ((len(names),), (frames, len(names))):
        raise BadValue(
            f"weights are a mapping by name, {len(names)} numbers (the markers {', '.join(names[:4])}, …), or "
            f"{frames} × {len(names)} of them, not of shape {table.shape}"
        )
    wrong = ~(table >= 0.0).reshape(-1, len(names)).all(axis=0)
    if wrong.any():
        culprit = names[int(np.argmax(wrong))]
        raise BadValue(
            f"the weight of marker {culprit!r} must be a number and not negative: 0 leaves it out, inf meets it exactly"
        )
    return np.broadcast_to(table, (frames, len(names))).copy()


def _near(figure: Figure, coordinates: Mapping[str, tuple[float, float]] | None) -> Floats:
    """Weights and values of the coordinates to keep near to (2, size)."""
    near = np.zeros((2, figure.size))
    if coordinates is not None and not isinstance(coordinates, Mapping):
        raise BadValue(f"coordinates is a mapping of names to pairs (value, weight), not {shown(coordinates)}")
    for name, pair in (coordinates or {}).items():
        k = find(figure.coordinates, name, "coordinate", f"figure {figure.name!r}")
        given = numbers(pair, f"what coordinate {name!r} is to keep near to")
        if given.shape != (2,) or not np.isfinite(given).all() or given[1] < 0.0:
            raise BadValue(f"coordinate {name!r} keeps near to a pair (value, weight), not {shown(pair)}")
        near[:, k] = given[1], given[0]
    return near
