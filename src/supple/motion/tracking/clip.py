"""A figure and a trial brought together: the markers they share, what each counts when, how far each is missed; packed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from supple.basics.checks import numbers
from supple.basics.stopping import Stop
from supple.errors import BadValue, find, shown
from supple.figure.effectors import Point
from supple.figure.figure import Figure
from supple.figure.packing import Packed, pack_tree
from supple.geometry.placements import Floats
from supple.motion.markers import Markers
from supple.motion.tracking.rig import LOOP, RIG, WORLD_PIN

LARGE = 0.025  # of the extent: markers missed by more may be swapped, or no samples at all
ARM = 0.1  # [m] how far from its origin the frames of a loop are pinned


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
    def first(self) -> int:
        """The first of the frames that show most markers: where tracking begins."""
        return int(np.argmax((self.weights > 0.0).sum(axis=1)))

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
    if not len(markers.times):
        raise BadValue("the trial has no frames: there is nothing to follow")
    frames, positions = len(markers.times), markers.positions[:, [markers.names.index(name) for name in shared]]
    table = _weights(weights, shared, frames)
    exact = tuple(k for k in range(len(shared)) if np.isinf(table[:, k]).any())
    for k in exact:
        if not np.isin(table[:, k], (0.0, np.inf)).all():
            raise BadValue(f"marker {shared[k]!r} is met exactly (weight inf) or not at all (0), in every frame")
    table = np.where(np.isinf(table), 1.0, table) * ~np.isnan(positions[:, :, 0])
    for k in np.flatnonzero(~(table > 0.0).any(axis=0)):
        if k in exact:
            raise BadValue(f"marker {shared[k]!r} must be met exactly but is never seen")
    if not table.any():
        raise BadValue("no marker with a weight above 0 is ever seen: there is nothing to follow")
    step = 1.0 / markers.rate if frames > 1 else 1.0
    return Clip(figure, shared, np.nan_to_num(positions), table, _near(figure, coordinates), exact, limits, step)


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


# ── how far its markers are missed ─────────────────────────────────────────────────────────────────────────────────────
def extent_of(clip: Clip) -> float:
    """From corner to corner of the box around the figure's markers at rest [m]."""
    places = clip.figure.marker_places(clip.figure.rest, clip.names)
    return float(np.linalg.norm(np.ptp(places, axis=0))) or 1.0


def errors_of(clip: Clip, q: Floats) -> Floats:
    """How far each marker is missed (frames, m) [m], NaN where it does not count."""
    off = np.linalg.norm(clip.figure.marker_places(q, clip.names) - clip.positions, axis=2)
    return np.where(clip.weights > 0.0, off, np.nan)


def mean_squares(errors: Floats) -> Floats:
    """Root mean squares of the columns; NaN where nothing was seen."""
    seen = np.isfinite(errors).sum(axis=0)
    return np.where(seen > 0, np.sqrt(np.nansum(errors**2, axis=0) / np.maximum(seen, 1)), np.nan)


def stretch(bad: np.ndarray, frames: int) -> str:
    """Which frames, in words."""
    which = np.flatnonzero(bad)
    if len(which) >= 0.95 * frames:
        return "in the whole clip"
    return f"in {len(which)} of {frames} frames, from frame {which[0]} to {which[-1]}"


# ── its pack ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class Packing:
    """A figure and some of its markers, packed; `points` are these, in order, and `exact` those that must be met."""

    figure: Figure
    points: Sequence[Point]
    exact: Sequence[int] = ()
    limits: bool = True

    @cached_property
    def _ends(self) -> set[str]:
        loops = {segment for loop in self.figure.loops for segment in (loop.a, loop.b)}
        return {point.segment for point in self.points} | loops

    @cached_property
    def chosen(self) -> np.ndarray:
        """The figure's coordinates that move a marker or a loop."""
        used = {name for segment in self._ends for name in self.figure.chain(None, segment)}
        return np.array([i for i, name in enumerate(self.figure.coordinates) if name in used], dtype=np.int64)

    @cached_property
    def tree(self) -> Packed:
        """The joints above markers and loops, over the chosen coordinates."""
        return pack_tree(self.figure.joints.values(), [self.figure.coordinates[i] for i in self.chosen], self._ends)

    @cached_property
    def links(self) -> Links:
        """The tree of links."""
        return find_links(self.tree, {self.tree.row[segment] for segment in self._ends})

    @property
    def is_tree(self) -> bool:
        """Whether every coordinate moves one link only."""
        return sorted(self.links.axis) == list(range(self.tree.size))

    @cached_property
    def packed(self) -> tuple[np.ndarray, np.ndarray]:
        """All tables: integers and floats."""
        tree, figure, links = self.tree, self.figure, self.links
        pins, pin_at = self._pins()
        lower, upper = figure.lower[self.chosen], figure.upper[self.chosen]
        if not self.limits:
            lower, upper = np.full_like(lower, -np.inf), np.full_like(upper, np.inf)
        held, link_of = np.isfinite(lower) | np.isfinite(upper), {r: k for k, r in enumerate(links.row)}
        counts = {
            "MARKERS": len(self.points), "PINS": len(pins), "LINKS": len(links.row) - 1, "TWIST_TERMS": len(links.term),
        }  # fmt: skip
        tables = {
            "CARRIER": [link_of[tree.row[p.segment]] for p in self.points],
            "PIN": [[link_of[a], link_of.get(b, b), k] for a, b, k in pins], "LINK_ROW": links.row, "LINK_UP": links.up,
            "LINK_FIRST": links.first, "LINK_AXIS": links.axis, "TWIST_BEGIN": links.begin, "TWIST_TERM": links.term,
            "MARKER_AT": [tree.in_row(p.segment, np.array(p.offset)) for p in self.points], "PIN_AT": pin_at,
            "RIG_LOWER": lower, "RIG_UPPER": upper,
        }  # fmt: skip
        return tree.with_charts(RIG, set(links.row), held, counts, tables)

    def _pins(self) -> tuple[list[list[int]], list[np.ndarray]]:
        """Loops first, then the markers that must be met: rows of both ends and a marker, and where in these rows."""
        pins, at, tree = [], [], self.tree
        for loop in self.figure.loops:
            for arm in [np.zeros(3)] if loop.point else [np.zeros(3), *(ARM * np.eye(3)[:2])]:
                x = tree.in_row(loop.a, loop.at_a[:3, :3] @ arm + loop.at_a[:3, 3])
                y = tree.in_row(loop.b, loop.at_b[:3, :3] @ arm + loop.at_b[:3, 3])
                pins.append([tree.row[loop.a], tree.row[loop.b], LOOP])
                at.append(np.concatenate([x, y]))
        for k in self.exact:
            point = self.points[k]
            pins.append([tree.row[point.segment], WORLD_PIN, k])
            at.append(np.concatenate([tree.in_row(point.segment, np.array(point.offset)), np.zeros(3)]))
        return pins, at


class Links(NamedTuple):
    """The tables of a rig that tell of links."""

    row: list[int]
    up: list[int]
    first: list[int]
    axis: list[int]
    begin: list[int]
    term: list[tuple[int, int]]


def find_links(tree: Packed, seen: set[int]) -> Links:
    """Runs of joints that nothing is seen between, parents first; `seen` are rows of the world table."""
    children = np.bincount(np.array(tree.parent[1:], dtype=int), minlength=tree.count + 1)
    drives, link_of, out = tree.drives, {0: 0}, Links([0], [0], [0, 0], [], [0], [])
    run: list[int] = []
    for joint in range(tree.count):
        run.append(joint)
        if joint + 1 not in seen and children[joint + 1] == 1:
            continue  # the next joint hangs on this one alone
        terms: dict[int, list[tuple[int, int]]] = {}
        for j in run:
            for coordinate, term in drives[j]:
                terms.setdefault(coordinate, []).append((j + 1, term))
        link_of[joint + 1] = len(out.row)
        out.row.append(joint + 1)
        out.up.append(link_of[tree.parent[run[0] + 1]])
        for coordinate, rows in terms.items():
            out.axis.append(coordinate)
            out.term.extend(rows)
            out.begin.append(len(out.term))
        out.first.append(len(out.axis))
        run = []
    return out
